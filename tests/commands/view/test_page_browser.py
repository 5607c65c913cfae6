"""Tests the page of `cli.py view` in a real browser: how it looks, searches, filters and moves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from selenium.webdriver import Keys

from commands.view import view
from core.messages import Language
from rooms.room import Item
from tests.commands.view.test_page import HOSTILE, an_item
from tests.support.headless import DESKTOP, NARROW, PHONE, Browser, needs_axe, needs_browser
from tests.support.sentences import LANGUAGES, in_language, sentence
from tests.support.tables import table

TEXTS: dict[str, str] = table("commands/browser")["texts and their topics"]
FIRST = ".first"

pytestmark = needs_browser

IS_FREE = "return document.activeElement === document.body"


def few() -> list[Item]:
    """Items whose words are nearly the same, one of each other room among them."""
    items = [
        an_item(text, id=f"{at:016}", topic=topic, date=f"2026-03-{30 - at}T09:00:00+00:00")
        for at, (text, topic) in enumerate(TEXTS.items())
    ]
    texts = [(f"text {at}", "Refund by hand" if at == 5 else "nothing") for at in range(6)]
    session: dict[str, Any] = {"room": "sessions", "id": "#12", "kind": "coding", "mark": "!"}
    session |= {"topic": "payment, build", "texts": (("goal", "Fix the build"), *texts)}
    fragment = an_item("Node 22", room="fragments", id="k3fa9x2m", kind="fact", mark="*")
    rest = (an_item(**session, date="2026-01-02"), replace(fragment, date="2026-01-01", topic=""))
    return [*items, *rest]


class Shown(Browser):
    """A browser with a page of items."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "profile")
        self.page = folder / "page.html"

    def shows(
        self, items: Sequence[Item], address: str = "", lang: Language = "en", **more: Any
    ) -> None:
        text = in_language(lang, view.build_page, items, project="shop")
        self.page.write_text(text, encoding="utf-8")
        self.open(self.page, address, **more)

    def seek(self, text: str) -> None:
        """Go to the search and replace its text with this one."""
        self.js("document.querySelector('#q').select()")
        self.type(text)

    @property
    def state(self) -> str:
        return str(self.js("return decodeURIComponent(location.hash)"))

    @property
    def focused(self) -> str | None:
        """The text of the item that has the focus."""
        script = "return document.activeElement.querySelector(arguments[0])?.textContent"
        text: str | None = self.js(script, FIRST)
        return text


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    with Shown(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


# How it looks


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_first_item_is_on_screen_without_requests(browser: Shown, lang: Language) -> None:
    long = "x" * 4_000
    item = an_item(long, topic=long, kind=long, facts=(long,), texts=(("a", long), (long, long)))
    for size in (NARROW, PHONE, DESKTOP):
        browser.shows(few(), lang=lang, size=size)
        foot = browser.js("return document.querySelector('article').getBoundingClientRect().bottom")
        assert foot < size[1] * 0.6 or size == NARROW
        assert browser.js("return performance.getEntriesByType('resource').length") == 0
        assert (browser.overflow(), browser.messages()) == (0, [])
        browser.shows([item, *few()], lang=lang, size=size)
        assert browser.overflow() <= 0  # long words never make it scroll sideways


def test_the_first_sentence_is_bold_and_code_is_code(browser: Shown) -> None:
    browser.shows(
        [
            an_item("Use `a. b` first. Then e.g. more.\nAnd more."),
            an_item("결제는 서버가 확인한다. 화면은 믿지 않는다.", id="1"),
            an_item("A line\nand another", id="2"),
        ]
    )
    assert browser.texts(f"{FIRST} b") == ["Use a. b first.", "결제는 서버가 확인한다.", "A line"]
    assert browser.texts("code") == ["a. b"]
    assert browser.js("return document.querySelectorAll('[lang=ko]').length") > 0


@pytest.mark.parametrize("lang", LANGUAGES)
@needs_axe
def test_it_can_be_used_by_everybody(browser: Shown, lang: Language) -> None:
    for size in (DESKTOP, PHONE):
        for items in (few(), []):
            browser.shows(items, lang=lang, size=size)
            for dark in (False, True):
                browser.emulate(dark=dark)
                assert browser.violations() == []


def test_colours_follow_the_system_and_paper_has_all_items(browser: Shown) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    browser.shows([an_item(id=f"{at}") for at in range(120)], dark=True)
    assert browser.js(ground) == "rgb(21, 24, 27)"
    assert len(browser.texts("article")) == 30
    browser.cdp("Page.printToPDF")
    assert len(browser.texts("article")) == 120


def test_an_empty_memory_has_three_steps_and_no_script_has_one_sentence(browser: Shown) -> None:
    browser.shows([])
    assert len(browser.texts("li")) == 3
    assert browser.texts(f"{FIRST} b") == [sentence("en", "page.sample_lesson")]
    assert browser.texts("#search") == []
    browser.type("/", "j")
    assert browser.js(IS_FREE) and browser.messages() == []
    browser.shows(few(), scripts=False)
    assert browser.texts("noscript") == [sentence("en", "view.no_script")]
    assert browser.texts("article, #search") == []


def test_markup_that_anybody_wrote_stays_text(browser: Shown) -> None:
    item = an_item(id=HOSTILE, topic=HOSTILE, kind=HOSTILE, room=HOSTILE, facts=(HOSTILE, "<b>"))
    browser.shows(
        [replace(item, texts=((HOSTILE, HOSTILE), (HOSTILE, HOSTILE)))], "#q=%3Cimg%20src"
    )
    assert browser.texts(FIRST) == [HOSTILE]
    names = "'img, main script, main style'"
    assert browser.js(f"return document.querySelectorAll({names}).length") == 0
    assert browser.messages() == []
    assert browser.texts("mark")[:1] == ["<img"]


# Search


def test_a_search_finds_items_with_each_word_in_any_text_and_marks_it(browser: Shown) -> None:
    browser.shows(few())
    browser.seek("REFUND")
    assert browser.texts(FIRST) == [
        "Retry the Refund once",
        "A refund takes seven days. Say so first.",
        "Fix the build",  # in a text that was folded, and is unfolded now
    ]
    assert browser.texts("mark") == ["Refund", "refund", "Refund"]
    browser.seek("fund ret")
    assert browser.texts(FIRST) == ["Retry the Refund once"]
    assert browser.texts("#count") == ["1 of 9"]
    browser.seek("zzz")
    assert browser.texts("#count") == [sentence("en", "page.nothing")]
    browser.type(Keys.ESCAPE)
    assert (len(browser.texts(FIRST)), browser.state) == (9, "")


def test_hangul_is_found_composed_or_not_and_by_first_letters(browser: Shown) -> None:
    browser.shows(few())
    paying, approval = "결제 완료는 서버가 확인한다", "결재 문서는 따로 둔다"
    forms: tuple[Any, ...] = ("NFC", "NFD", "NFKD")
    for text, found, marked in (
        *((normalize(form, "결제 완료"), [paying], ["결제", "완료"]) for form in forms),
        ("ㄱㅈ", [paying, approval], ["결제", "결재"]),
        ("ㄱㅈㅇㄹ", [], []),  # a blank parts words
        ("ㄱㅈ ㅇㄹ", [paying], ["결제", "완료"]),
    ):
        browser.seek(text)
        assert (browser.texts(FIRST), browser.texts("mark")) == (found, marked)


def test_an_item_stays_in_sight_while_its_word_is_composed(browser: Shown) -> None:
    for word, steps, text in table("commands/browser")["composed"]:
        browser.shows(few())
        browser.type("/")
        for step in steps:
            at = len(step)
            browser.cdp("Input.imeSetComposition", text=step, selectionStart=at, selectionEnd=at)
            assert text in browser.texts(FIRST), step
        browser.cdp("Input.insertText", text=word)
        assert text in browser.texts(FIRST)


# Filters and the address


def test_filters_leave_the_items_they_name_and_their_address_opens_the_same(browser: Shown) -> None:
    browser.shows(few())
    assert browser.texts("#rooms button") == ["All 9", "Lessons 7", "Sessions 1", "Fragments 1"]
    browser.js("document.querySelector('[data-topic=payment]').click()")
    assert browser.texts(FIRST)[2:] == ["Fix the build"]
    browser.js("document.querySelector('[data-room=sessions]').click()")  # whose topics are others
    assert (browser.texts(FIRST), browser.state) == (["Fix the build"], "#room=sessions")
    assert browser.texts("#topics button") == ["All topics 1", "payment 1", "build 1"]
    browser.js("history.back()")
    browser.frames()
    assert browser.state == "#topic=payment"
    for name, value in (("kind", "lessons.log"), ("order", "oldest")):
        browser.js(
            "const it = document.getElementById(arguments[0]); it.value = arguments[1];"
            "it.dispatchEvent(new Event('change'))",
            *(name, value),
        )
    expected = ["A refund takes seven days. Say so first.", "Retry the Refund once"]
    assert browser.texts(FIRST) == expected
    browser.driver.refresh()
    assert browser.texts(FIRST) == expected
    assert browser.js("return document.querySelector('#kind').value") == "lessons.log"


def test_an_address_that_makes_no_sense_does_no_harm(browser: Shown) -> None:
    odd = "#room=x&kind=y&topic=z&order=up&q="
    for address in (odd, "#=&==&unknown=1", "#q=%ED%A0%80", "#q=%"):
        browser.shows(few(), address)
        browser.js("document.querySelector('[data-room=\"\"]').click()")
        browser.seek("refund")
        browser.type(Keys.ESCAPE)
        assert (len(browser.texts(FIRST)), browser.messages()) == (9, [])


def test_the_date_of_an_item_is_its_address(browser: Shown) -> None:
    items = [an_item(f"text {at}", id=f"{at:016}") for at in range(80)]
    browser.shows(items, f"#lessons-{60:016}")
    assert browser.focused == "text 60"
    browser.js("document.querySelector('#lessons-0000000000000003 .day').click()")
    browser.frames()
    assert browser.focused == "text 3"


# Keys


def test_keys_go_from_item_to_item_on_any_keyboard(browser: Shown) -> None:
    browser.shows(few())
    texts = browser.texts(FIRST)
    for key, code, at in (("j", "KeyJ", 0), ("ㅓ", "KeyJ", 1), ("ㅏ", "KeyK", 0), ("k", "KeyK", 0)):
        browser.press(key, code)
        assert browser.focused == texts[at]
    browser.press("j", "KeyJ", modifiers=2)  # with Control it is the browser's
    assert browser.focused == texts[0]
    for key in (Keys.ENTER, Keys.ARROW_DOWN):
        browser.type("/")
        browser.seek("retry")
        browser.type(key)
        assert browser.focused == "Retry the Refund once"
    browser.js("document.querySelector('#keys').click(); document.activeElement.blur()")
    browser.type("/", "j")  # are switched off
    assert browser.js(IS_FREE)


def test_an_item_that_is_gone_to_is_below_the_search(browser: Shown) -> None:
    browser.shows([an_item(f"text {at} " * 30, id=f"{at}") for at in range(20)])
    for _ in range(8):
        browser.type("j")
    for key in "kkkkjj":
        browser.type(key)
        above = browser.js(
            "return document.activeElement.getBoundingClientRect().top"
            " - document.querySelector('#search').getBoundingClientRect().bottom"
        )
        assert above >= 0


def test_a_click_copies_the_whole_id(browser: Shown) -> None:
    browser.shows(few())
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    browser.cdp("Emulation.setFocusEmulationEnabled", enabled=True)  # the clipboard asks for it
    browser.js("document.querySelector('.id').click()")
    browser.frames()
    assert browser.js_later("navigator.clipboard.readText().then(arguments[0])") == f"{0:016}"
    assert browser.texts(".id")[0] in (sentence("en", "page.copied"), f"{0:016}")
