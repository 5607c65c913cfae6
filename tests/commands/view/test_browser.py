"""Tests the page of `cli.py view` in a real browser: searching, typing Hangul, and keys."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from selenium.webdriver import Keys

from core.messages import Language
from tests.support.headless import DESKTOP, PHONE
from tests.support.samples import LATER, NOW, a_record
from tests.support.shown_pages import LANGUAGES, NARROW, Shown, html_of, needs_browser
from tests.support.tables import table

ROWS = table("commands/browser")

pytestmark = needs_browser


# What it asks for


@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_asks_for_nothing_and_the_console_stays_empty(
    browser: Shown, team: dict[Language, Path], lang: Language
) -> None:
    browser.open(team[lang])
    browser.unfold()
    browser.seek("payment")
    browser.type(Keys.ENTER)
    assert browser.js("return performance.getEntriesByType('resource').map((it) => it.name)") == []
    assert browser.js("return document.documentElement.lang") == lang
    assert browser.messages() == []


def test_the_page_forbids_itself_what_could_get_into_it(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.js(
        """
        const hole = document.createElement("div");
        hole.innerHTML = '<img src="https://example.invalid/x.png" onerror="document.title = 1">'
          + '<p style="color: red">x</p><form action="https://example.invalid"></form>';
        document.body.append(hole);
        hole.querySelector("form").submit();
        """
    )
    blocked = [re.search(r"[a-z]+-(src|action)(?= ')", it) for it in browser.messages()]
    assert sorted(it[0] if it else "?" for it in blocked) == [
        "default-src",
        "form-action",
        "script-src",
        "style-src",
    ]
    assert browser.js("return document.title") == "Memory of shop"


# Search


def test_words_narrow_the_records_to_one_list_as_they_are_typed(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    assert (browser.said(), len(browser.records())) == ("", 9)
    browser.seek("REFUND")
    assert browser.records()[0] == "Refund by hand"  # the newest first
    assert sorted(browser.records()) == [
        "A refund takes seven days",
        "Refund by hand",
        "Retry the Refund once",
    ]
    assert browser.said() == "Found: 3 of 9"
    browser.type(" retry")
    assert browser.records() == ["Retry the Refund once"]
    assert browser.said() == "Found: 1 of 9"
    assert browser.texts("#overview, #nothing") == []
    assert browser.texts("#found-records .of") == ["payment"]


def test_records_go_back_to_their_topics_after_a_search(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    before = browser.records()
    for query in ("re", "결제", "nowhere", "a"):
        browser.seek(query)
    browser.type(Keys.ESCAPE)
    assert browser.records() == before


def test_what_was_found_is_coloured_and_nothing_else(browser: Shown, gaps: Path) -> None:
    painted = (
        "return [...CSS.highlights.get('found') ?? []]"
        ".map((it) => it.startContainer.data.slice(it.startOffset, it.endOffset))"
    )
    browser.open(gaps)
    browser.seek("fund RE")
    assert set(browser.js(painted)) == {"fund", "Re", "re"}
    colour = "return getComputedStyle(document.querySelector('.lesson'), '::highlight(found)')"
    assert browser.js(f"{colour}.backgroundColor") == "rgb(255, 224, 138)"
    browser.type(Keys.ESCAPE)
    assert browser.js(painted) == []


def test_a_topic_finds_its_records_and_a_label_finds_none(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.seek("cache")
    assert browser.records() == ["Retry when the cache is cold"]
    browser.seek("saved")
    assert browser.records() == []


def test_where_nothing_is_found_a_button_brings_everything_back(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.seek("nowhere")
    assert (browser.records(), browser.said()) == ([], "Found: 0 of 9")
    assert browser.texts("#nothing") == ["No record has all of this."]
    browser.js("document.querySelector('#clear').click()")
    assert (browser.said(), len(browser.records())) == ("", 9)
    assert browser.has_focus("#query")
    assert browser.texts("#nothing, #clear") == []


def test_of_many_hits_a_hundred_are_shown_and_the_rest_on_demand(
    browser: Shown, folder: Path
) -> None:
    page = folder / "many.html"
    page.write_text(html_of(*(a_record(f"gap {at}") for at in range(250))), encoding="utf-8")
    browser.open(page)
    browser.seek("tax")
    assert (len(browser.records()), browser.said()) == (100, "Found: 250 of 250")
    browser.js("document.querySelector('#next').click()")
    assert (len(browser.records()), browser.texts("#next")) == (200, ["Show more"])
    browser.js("document.querySelectorAll('#found-records article')[199].focus()")
    browser.type("j")
    assert (len(browser.records()), browser.texts("#next")) == (250, [])
    shown = "[...document.querySelectorAll('#found-records article')]"
    assert browser.js(f"return {shown}.indexOf(document.activeElement)") == 200


def test_escape_shows_everything_again(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.choose("type", "principle")
    browser.seek("hand")
    assert browser.records() == ["Refund by hand"]
    browser.type(Keys.ESCAPE)
    assert (browser.said(), len(browser.records())) == ("", 9)
    assert browser.js("return document.querySelector('#query').value") == ""
    assert browser.has_focus("#query")


def test_a_kind_narrows_the_records_and_a_word_within_it(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.choose("type", "principle")
    assert (browser.records(), browser.said()) == (["Refund by hand"], "Found: 1 of 9")
    browser.seek("retry")
    assert browser.said() == "Found: 0 of 9"


def test_a_date_narrows_the_records(browser: Shown, folder: Path) -> None:
    early, late = a_record("early", lesson="early"), a_record("late", now=LATER, lesson="late")
    odd = replace(a_record("odd", lesson="odd"), created="someday")
    page = folder / "filters.html"
    page.write_text(html_of(early, late, odd), encoding="utf-8")
    browser.open(page)
    browser.choose("since", LATER[:10])
    assert browser.records() == ["late"]
    browser.choose("since", NOW[:10])
    assert (browser.records(), browser.said()) == (["late", "early"], "Found: 2 of 3")


def test_records_can_be_sorted(browser: Shown, folder: Path) -> None:
    often = replace(a_record("1", lesson="often"), seen=4)
    late = a_record("2", lesson="late", now=LATER)
    last = replace(a_record("3", lesson="last"), updated="2026-03-05T09:00:00+00:00", seen=2)
    page = folder / "sorted.html"
    page.write_text(html_of(often, late, last), encoding="utf-8")
    browser.open(page)
    for order, lessons in (
        ("newest", ["last", "late", "often"]),
        ("oldest", ["often", "late", "last"]),
        ("seen", ["often", "last", "late"]),
    ):
        browser.choose("sort", order)
        assert browser.records() == lessons


def test_topics_are_filtered_by_their_names(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    assert browser.topics() == {"payment": 3, "승인": 2, "주문": 2, "cache": 1, "설비": 1}
    browser.js("document.querySelector('#among-topics').focus()")
    browser.type("PAY")
    assert browser.topics() == {"payment": 3}
    browser.type(Keys.BACKSPACE * 3)
    assert len(browser.topics()) == 5


# Hangul


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKD"])
def test_hangul_is_found_composed_or_not(browser: Shown, gaps: Path, form: Any) -> None:
    browser.open(gaps)
    browser.seek(normalize(form, "결제 완료"))
    assert browser.records() == ["결제 완료는 서버가 확인한다"]


def test_first_letters_find_words(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.seek("ㄱㅈ")
    assert sorted(browser.records()) == ["결재 문서는 따로 둔다", "결제 완료는 서버가 확인한다"]
    browser.seek("ㄱㅈㅇㄹ")  # a blank parts words
    assert browser.records() == []
    browser.seek("ㄱㅈ ㅇㄹ")
    assert browser.records() == ["결제 완료는 서버가 확인한다"]
    browser.seek("ㄳ")  # as an input method joins ㄱ and ㅅ
    assert browser.records() == []


COMPOSED = ROWS["composed"]


@pytest.mark.parametrize(("word", "steps", "lesson"), COMPOSED, ids=[it[0] for it in COMPOSED])
def test_a_record_stays_in_sight_while_its_word_is_composed(
    browser: Shown, gaps: Path, word: str, steps: Sequence[str], lesson: str
) -> None:
    browser.open(gaps)
    browser.type("/")
    for step in steps:
        browser.compose(step)
        assert lesson in browser.records(), step
    browser.insert(word)
    assert lesson in browser.records()


def test_hangul_is_found_where_the_browser_does_not_tell_of_compositions(
    browser: Shown, gaps: Path
) -> None:
    """Safari on iOS takes the syllable away and puts the next one in, as if each were finished."""
    browser.open(gaps)
    browser.type("/")
    for step in ("ㄱ", "겨", "결", "결ㅈ", "결제"):
        browser.js("document.querySelector('#query').select()")
        browser.insert(step)
        assert "결제 완료는 서버가 확인한다" in browser.records(), step
    browser.type(Keys.ENTER)
    assert browser.focused_lesson() == "결제 완료는 서버가 확인한다"


def test_a_key_that_ends_a_composition_does_nothing_else(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.type("/")
    browser.compose("달")
    browser.js(
        "const told = {key: 'Enter', keyCode: 229, bubbles: true};"
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', told))"
    )
    assert browser.has_focus("#query")


# Keys


def test_keys_go_from_record_to_record(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    lessons = browser.texts("article > .lesson")
    assert len(lessons) == 5  # the newest: the topics are folded
    visited = []
    for key, code in (("j", "KeyJ"), ("ㅓ", "KeyJ"), ("j", "KeyJ"), ("ㅏ", "KeyK"), ("k", "KeyK")):
        browser.press(key, code)
        visited.append(browser.focused_lesson())
    assert visited == [lessons[at] for at in (0, 1, 2, 1, 0)]
    browser.press("k", "KeyK")
    assert browser.focused_lesson() == lessons[0]
    for _ in lessons:
        browser.press("j", "KeyJ")
    assert browser.focused_lesson() == lessons[-1]


def test_the_first_key_goes_on_from_what_the_window_shows(
    browser: Shown, team: dict[Language, Path]
) -> None:
    browser.open(team["en"])
    browser.seek("the")
    lessons = browser.records()
    far = "document.querySelectorAll('#found-records article')[10].scrollIntoView({block: 'start'})"
    for key, at in (("j", 11), ("k", 10)):
        browser.js(f"document.activeElement.blur(); {far}; scrollBy(0, 30)")
        browser.type(key)
        assert browser.focused_lesson() == lessons[at]


@pytest.mark.parametrize("size", [DESKTOP, PHONE, NARROW])
def test_a_record_that_is_gone_to_lies_whole_below_the_search(
    browser: Shown, team: dict[Language, Path], size: tuple[int, int]
) -> None:
    browser.open(team["en"], size=size)
    browser.seek("the")
    browser.type(Keys.ENTER)
    for _ in range(8):
        browser.type("j")
        assert 0 < browser.below_the_search() < 16


def test_in_a_low_window_the_search_leaves_room_for_the_records(browser: Shown, gaps: Path) -> None:
    position = "return getComputedStyle(document.querySelector('.search')).position"
    browser.open(gaps, size=(740, 360))
    assert browser.js(position) == "static"
    browser.type("j", "j")
    assert browser.js("return Math.abs(document.activeElement.getBoundingClientRect().top)") < 120
    browser.resize(DESKTOP)
    assert browser.js(position) == "sticky"


def test_enter_and_down_go_from_the_search_to_the_first_record(browser: Shown, gaps: Path) -> None:
    for key in (Keys.ENTER, Keys.ARROW_DOWN):
        browser.open(gaps)
        browser.type("/", "retry", key)
        assert browser.focused_lesson() == browser.records()[0]
        browser.type("/")
        assert browser.has_focus("#query")


def test_a_key_held_with_another_is_left_to_the_browser(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.js("addEventListener('keydown', (event) => { window.taken = event.defaultPrevented; })")
    for key, code in (("j", "KeyJ"), ("k", "KeyK"), ("/", "Slash"), ("ㅏ", "KeyK")):
        for held in ("Control", "Meta", "Alt"):
            browser.press(key, code, held)
            assert browser.js("return window.taken") is False
        assert browser.has_focus("body")
        browser.press(key, code)
        assert browser.js("return window.taken") is True
        browser.js("document.activeElement.blur()")


def test_single_keys_can_be_switched_off_for_good(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.js("document.querySelector('#shortcuts').click()")
    for _ in range(2):
        for key in ("j", "k", "/", "?"):
            browser.type(key)
            assert browser.has_focus("body")
        browser.reload()
    browser.js("document.querySelector('#shortcuts').click()")
    browser.reload()
    browser.type("j")
    assert browser.focused_lesson() == browser.lessons("#overview")[0]


def test_a_key_or_a_button_shows_the_keys(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.type("?")
    assert browser.texts("dialog[open] h2") == ["Keys and colours"]
    browser.type("j")
    assert browser.has_focus("dialog[open] *")
    browser.type(Keys.ESCAPE)
    assert browser.texts("dialog") == []
    browser.js("document.querySelector('#help').click()")
    assert len(browser.texts("dialog[open] .keys > div")) == 5
    browser.js("document.querySelector('dialog button').click()")
    assert browser.texts("dialog") == []


def test_a_click_copies_the_whole_id_and_says_so(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    browser.cdp("Emulation.setFocusEmulationEnabled", enabled=True)  # the clipboard asks for it
    browser.js("location.hash = '#topic=cache'")
    browser.frames()
    token, told = browser.js_later(
        """
        const [done] = arguments;
        const [it, toast] = [".topic[open] .id", ".toast"].map((at) => document.querySelector(at));
        const told = () => toast.textContent && done([it.dataset.copy, toast.textContent]);
        new MutationObserver(told).observe(toast, { childList: true });
        it.click();
        """
    )
    assert told == f"Copied: {token}"
    assert browser.js_later("navigator.clipboard.readText().then(arguments[0])") == token


def test_the_tab_key_visits_everything_and_shows_where_it_is(
    browser: Shown, team: dict[Language, Path]
) -> None:
    browser.open(team["en"])
    visited = []
    for _ in range(80):
        browser.type(Keys.TAB)
        name, outline = browser.js(
            """
            const it = document.activeElement;
            const name = it.id ? "#" + it.id : it.tagName.toLowerCase();
            const to = (it.getAttribute("href") ?? it.closest("details")?.id ?? "").split("=")[0];
            return [name + " " + to, getComputedStyle(it).outline];
            """
        )
        if name == "body ":
            break
        assert "solid 2px" in outline, name
        visited.append(name.strip())
    figures = ["a #topics", "a #type", "a #type", "a #type", "a #topics"]
    filters = ["#type", "#since", "#since", "#since", "#since", "#sort"]
    assert visited[:14] == ["a #records", "#help", *figures, "#query", *filters]
    rest = visited[14:]
    assert rest[:10:2] == ["a #topic"] * 5 and all(it.startswith("a #r-") for it in rest[1:10:2])
    topics = ["#among-topics", *["summary topic"] * len(browser.topics())]
    assert rest[-len(topics) :] == topics


def test_the_skip_link_leads_past_everything(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.type(Keys.TAB)
    assert browser.js("return document.activeElement.getBoundingClientRect().left") > 0
    browser.type(Keys.ENTER)
    assert browser.has_focus("#records")
    browser.type("j")
    assert browser.focused_lesson() == browser.lessons("#overview")[0]


CHOSEN = "#q=refund&type=log&sort=oldest&topics=pay&theme=dark&topic=payment"


def test_a_link_opens_the_page_in_the_state_that_it_names(browser: Shown, gaps: Path) -> None:
    browser.open(gaps, CHOSEN)
    assert sorted(browser.records()) == ["A refund takes seven days", "Retry the Refund once"]
    assert browser.ground() == "rgb(21, 24, 27)"
    browser.js("document.querySelector('#clear').click()")
    assert browser.topics() == {"payment": 3}
    assert browser.open_topics() == ["payment"]


def test_what_is_chosen_gets_into_the_address(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    assert browser.state() == ""
    browser.choose("type", "log")
    browser.choose("sort", "seen")
    browser.choose("since", "2026-03-01")
    assert browser.state() == "#type=log&since=2026-03-01&sort=seen"
    browser.seek("환불 & 50% =?#")
    browser.type(Keys.ENTER)
    assert browser.state() == "#q=환불 & 50% =?#&type=log&since=2026-03-01&sort=seen"
    browser.reload()
    assert browser.js("return document.querySelector('#query').value") == "환불 & 50% =?#"
    browser.seek("")
    browser.type(Keys.ESCAPE)
    assert browser.state() == ""


def gone(browser: Shown, by: int) -> tuple[str, int]:
    """Go back or forward by so many places; return what the address says, and the count shown."""
    browser.js_later(
        "const [by, done] = arguments;"
        "addEventListener('popstate', () => setTimeout(done), { once: true });"
        "history.go(by);",
        by,
    )
    return browser.state(), len(browser.records())


def test_back_and_forward_go_through_the_states(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.seek("refund")
    browser.type(Keys.ENTER)
    browser.choose("type", "principle")
    browser.js("document.querySelector('#found-records .of').click()")
    browser.frames()
    assert (browser.state(), browser.open_topics()) == ("#topic=payment", ["payment"])
    assert gone(browser, -1) == ("#q=refund&type=principle", 1)
    assert gone(browser, -1) == ("#q=refund", 3)
    assert gone(browser, -1) == ("", 9)
    assert gone(browser, 2) == ("#q=refund&type=principle", 1)
    assert browser.js("return document.querySelector('#type').value") == "principle"


def test_a_word_is_one_place_to_come_back_to_however_long_it_takes(
    browser: Shown, gaps: Path
) -> None:
    browser.open(gaps)
    for part in ("re", "fu", "nd"):
        browser.js("document.querySelector('#query').focus()")
        browser.type(part)
        browser.js_later("setTimeout(arguments[0], 700)")
    assert browser.state() == "#q=refund"
    assert gone(browser, -1) == ("", 9)


def test_topics_that_the_reader_unfolds_are_in_the_address(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    for at in (0, 1):
        browser.js("document.querySelectorAll('.topic > summary')[arguments[0]].click()", at)
        browser.frames()
    names = list(browser.topics())[:2]
    assert browser.open_topics() == names
    assert browser.state() == "#topic={}&topic={}".format(*names)
    browser.js("document.querySelector('.topic > summary').click()")
    browser.frames()
    assert browser.state() == f"#topic={names[1]}"


def test_a_figure_leads_to_the_records_that_it_counts(
    browser: Shown, team: dict[Language, Path]
) -> None:
    browser.open(team["en"])
    figures = browser.js(
        "return [...document.querySelectorAll('.figures [data-to]')]"
        ".map((it) => [it.hash, it.querySelector('b').textContent])"
    )
    assert [state for state, _ in figures] == ["#type=principle", "#type=again", "#type=open"]
    for state, count in figures:
        browser.js("location.hash = arguments[0]", state)
        browser.frames()
        assert browser.said() == f"Found: {count} of 45"


def test_a_colour_is_in_the_address_only_when_it_is_chosen(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.choose("type", "log")
    assert browser.state() == "#type=log"
    browser.choose("theme", "dark")
    assert browser.state() == "#type=log&theme=dark"
    browser.choose("type", "")
    assert browser.state() == "#theme=dark"
    browser.choose("theme", "auto")
    assert browser.state() == ""


@pytest.mark.parametrize(
    "fragment",
    [
        "#type=nothing&agent=nobody&sort=up&since=yesterday&theme=pink",
        "#topic=nowhere&show=nothing&unknown=1",
        "#q=%&topic=%zz",
        "#=&==&q=",
        "#q=%ED%A0%80",
    ],
)
def test_an_address_that_makes_no_sense_does_no_harm(
    browser: Shown, gaps: Path, fragment: str
) -> None:
    browser.open(gaps, fragment)
    assert len(browser.records()) in (0, 9)
    browser.seek("refund")
    browser.type(Keys.ENTER)
    assert (browser.said(), browser.messages()) == ("Found: 3 of 9", [])


def test_what_an_address_says_stays_text(browser: Shown, gaps: Path) -> None:
    browser.open(gaps, "#q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&agent=%3Cb%3E")
    assert browser.js("return document.querySelectorAll('img, main b').length") == 0
    assert (browser.records(), browser.messages()) == ([], [])
