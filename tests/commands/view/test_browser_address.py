"""Tests in a real browser that every state of the page is in its address, to link and go back."""

from pathlib import Path

import pytest
from selenium.webdriver import Keys

from core.messages import Language
from tests.support.shown_pages import Shown, needs_browser

pytestmark = needs_browser

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


def test_back_and_forward_go_through_the_states(browser: Shown, gaps: Path) -> None:
    browser.open(gaps)
    browser.seek("refund")
    browser.type(Keys.ENTER)
    browser.choose("type", "principle")
    browser.js("document.querySelector('#found-records .of').click()")
    browser.frames()
    assert (browser.state(), browser.open_topics()) == ("#topic=payment", ["payment"])

    def gone(by: int) -> tuple[str, int]:
        browser.js_later(
            "const [by, done] = arguments;"
            "addEventListener('popstate', () => setTimeout(done), { once: true });"
            "history.go(by);",
            by,
        )
        return browser.state(), len(browser.records())

    assert gone(-1) == ("#q=refund&type=principle", 1)
    assert gone(-1) == ("#q=refund", 3)
    assert gone(-1) == ("", 9)
    assert gone(2) == ("#q=refund&type=principle", 1)
    assert browser.js("return document.querySelector('#type').value") == "principle"


def test_a_word_is_one_place_to_come_back_to_however_long_it_takes(
    browser: Shown, gaps: Path
) -> None:
    browser.open(gaps)
    before = browser.js("return history.length")
    for part in ("re", "fu", "nd"):
        browser.js("document.querySelector('#query').focus()")
        browser.type(part)
        browser.js_later("setTimeout(arguments[0], 700)")
    assert browser.state() == "#q=refund"
    assert browser.js("return history.length") == before + 1


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
