"""Tests the page of consent in a real browser, before a real server: who can use it, and how."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from selenium.webdriver import Keys

from core.messages import Language
from tests.http_server.login_flow import question
from tests.support.headless import DESKTOP, NARROW, PHONE, Browser, needs_axe, needs_browser
from tests.support.sentences import LANGUAGES, sentence
from tests.support.servers import KEY, HttpServer, until

pytestmark = needs_browser

ZOOMED, ZOOMED_TWICE = (640, 450), (320, 256)  # DESKTOP at 200 %, and a low one at 400 %
PRIVATE = "cursor://anysphere.cursor-mcp/oauth/callback"
LONG_NAME = ("A client of a name that goes on " * 4)[:100]
LONG_HOST = f"https://{'a' * 60}.{'b' * 60}.example.com/callback"


class Person:
    """Somebody whom a client has sent to the page."""

    def __init__(self, browser: Browser, server: HttpServer) -> None:
        self.browser, self.server = browser, server
        self.back = f"http://127.0.0.1:{server.port}/landed"

    def is_asked(
        self,
        name: str = "Claude Code",
        back: str = "",
        *,
        size: tuple[int, int] = DESKTOP,
        lang: Language = "en",
        dark: bool = False,
        scripts: bool = True,
    ) -> None:
        """Come to the page, as a client of this name sends its person there."""
        back = back or self.back
        body = {"client_name": name, "redirect_uris": [back]}
        status, _, told = self.server.ask("POST", "/register", body, key="")
        assert status == 201, told
        query = question(json.loads(told)["client_id"], redirect_uri=back)
        self.browser.resize(size)
        self.browser.emulate(dark=dark)
        page = f"{self.back.removesuffix('/landed')}/authorize?{urlencode(query)}"
        self.browser.visit(page, languages=lang, scripts=scripts)
        assert self.browser.texts("h1") == [sentence(lang, "http.page.title")]

    def sends(self, *keys: str) -> None:
        """Type where the focus is, then Enter, and wait for the next page."""
        self.browser.js("window.isBefore = true")
        self.browser.type(*keys, Keys.ENTER)
        until(lambda: self.browser.js("return !window.isBefore && document.readyState[0] === 'c'"))

    def answer(self) -> dict[str, list[str]]:
        """The answer to the client, once the browser has come back to it."""
        until(lambda: self.browser.driver.current_url.startswith(f"{self.back}?"))
        return parse_qs(urlsplit(self.browser.driver.current_url).query)

    def focus(self) -> str:
        """The element that has the focus: its id, or a button's value."""
        script = "const it = document.activeElement; return it.id || it.value || it.tagName"
        return str(self.browser.js(script))


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    """Somebody with a browser of their own: one that was sent to a program takes no more keys."""
    with Browser(tmp_path / "profile") as browser, HttpServer(tmp_path) as server:
        yield Person(browser, server)


def test_a_key_and_enter_lead_back_with_a_code_and_deny_without_one(person: Person) -> None:
    person.is_asked()
    person.sends(Keys.TAB, KEY)
    assert person.answer()["code"][0].startswith("smc_")
    assert person.answer()["state"] == ["s&1"]
    person.is_asked()
    person.sends(Keys.TAB, Keys.TAB, Keys.TAB)
    issuer = person.back.removesuffix("landed")
    assert person.answer() == {"error": ["access_denied"], "state": ["s&1"], "iss": [issuer]}


def test_the_tab_key_goes_from_the_key_to_allow_to_deny_and_is_seen(person: Person) -> None:
    person.is_asked(size=ZOOMED_TWICE)  # a small window shows first who asks
    assert person.browser.js("return [scrollY, document.activeElement.tagName]") == [0, "BODY"]
    person.is_asked()
    assert person.focus() == "BODY"  # whoever hears the page hears first who asks
    for at in ("key", "allow", "deny"):
        person.browser.type(Keys.TAB)
        outline = person.browser.js("return getComputedStyle(document.activeElement).outline")
        assert (person.focus(), "solid 3px" in outline) == (at, True)


@pytest.mark.parametrize("given", ["smk_wrong", ""])
def test_a_wrong_key_is_told_above_its_field_and_with_it(person: Person, given: str) -> None:
    person.is_asked(size=PHONE)
    person.sends(Keys.TAB, *([given] if given else []))
    fault = "wrong_key" if given else "no_key_given"
    assert person.browser.texts(".fault") == [sentence("en", f"http.page.{fault}")]
    assert person.focus() == "key"
    facts = person.browser.js(
        "const key = document.activeElement, fault = document.querySelector('.fault');"
        "const above = fault.getBoundingClientRect(), at = key.getBoundingClientRect();"
        "return [key.ariaInvalid, key.getAttribute('aria-describedby').split(' ')[0] === fault.id,"
        " above.top >= 0, above.bottom <= at.top, at.top - above.bottom < 20]"
    )
    assert facts == ["true", True, True, True, True]
    person.sends(KEY)
    assert "code" in person.answer()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_program_with_an_address_of_its_own_is_gone_back_to_by_a_link(
    person: Person, scripts: bool
) -> None:
    person.is_asked("Cursor", PRIVATE, scripts=scripts)
    assert "cursor://anysphere.cursor-mcp" in person.browser.texts("dd")[1]
    person.sends(Keys.TAB, KEY)
    assert person.browser.texts("h1") == [sentence("en", "http.page.allowed")]
    link, head = person.browser.js(
        "return [document.querySelector('a').href,"
        " document.querySelector('meta[http-equiv=refresh]').content]"
    )
    assert link.startswith(f"{PRIVATE}?code=smc_")
    assert head == f"0;url={link}"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_is_wider_than_the_window(person: Person, lang: Language) -> None:
    for name, back in ((LONG_NAME, ""), ("W" * 100, LONG_HOST), ("כלוד (127.0.0.1) קוד", PRIVATE)):
        person.is_asked(name, back, lang=lang)
        for size in (DESKTOP, PHONE, NARROW, ZOOMED, ZOOMED_TWICE):
            person.browser.resize(size)
            person.browser.frames()
            assert person.browser.overflow() <= 0, (name, size)
            assert person.browser.js(
                "return [...document.querySelectorAll('main *')].every((it) =>"
                " it.getBoundingClientRect().right <= innerWidth)"
            ), (name, size)


def test_a_name_covers_nothing_and_is_one_that_is_seen(person: Person) -> None:
    pictures = list[str]()
    for name in ("Z", "Z" + "\u0323\u0316" * 49):
        person.is_asked(name)
        where = person.browser.js(
            "const it = document.querySelectorAll('dd')[1].getBoundingClientRect();"
            "return {x: it.x, y: it.y, width: it.width, height: it.height, scale: 1}"
        )
        pictures.append(person.browser.cdp("Page.captureScreenshot", clip=where)["data"])
    assert pictures[0] == pictures[1]
    person.is_asked("\u3164\u2800")
    assert person.browser.texts(".name") == [sentence("en", "http.page.nameless")]


@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_everybody_can_use_it(person: Person, lang: Language, dark: bool) -> None:
    def against(heading: str) -> list[str]:
        assert person.browser.texts("h1") == [sentence(lang, f"http.page.{heading}")]
        found = list[str]()
        for size in (DESKTOP, PHONE):
            person.browser.resize(size)
            found += person.browser.violations()
        return found

    person.browser.visit(f"{person.back.removesuffix('/landed')}/consent?txn=x", languages=lang)
    person.browser.emulate(dark=dark)
    assert against("gone_title") == []
    person.is_asked("Cursor", PRIVATE, lang=lang, dark=dark)
    assert person.browser.js("return document.documentElement.lang") == lang
    assert against("title") == []
    person.sends(Keys.TAB, "smk_wrong")
    assert len(person.browser.texts(".fault")) == 1
    assert against("title") == []
    person.sends(KEY)
    assert against("allowed") == []
