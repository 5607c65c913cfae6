"""Tests the sessions on the page in a real browser: search, filters, links, keys, paper, aids."""

import re
from pathlib import Path

import pytest
from selenium.webdriver import Keys

from core.messages import Language
from tests.commands.view.test_browser_looks import HOSTILE, violations
from tests.commands.view.test_view_sessions import a_full_session
from tests.support.headless import DESKTOP, PHONE
from tests.support.samples import a_record
from tests.support.session_pages import page_with
from tests.support.session_samples import sample_sessions
from tests.support.shown_pages import LANGUAGES, NARROW, Shown, needs_axe, needs_browser

pytestmark = needs_browser

SESSIONS, RECORDS = 40, 3
OPEN = "return [...document.querySelectorAll('.session details[open][id]')].map((it) => it.id)"


@pytest.fixture(scope="module")
def both(folder: Path) -> dict[Language, Path]:
    """Three lessons beside forty sessions, in both languages."""
    records = [
        a_record("The nightly job is slow", topic="jobs", lesson="Read rows in batches"),
        a_record("결제 승인", topic="결제", lesson="결제 승인은 서버가 확인한다"),
        a_record("cache", topic="cache", lesson="Warm the cache first"),
    ]
    pages = {}
    for lang in LANGUAGES:
        pages[lang] = folder / f"both.{lang}.html"
        text = page_with(sample_sessions(SESSIONS, archived=3), *records, lang=lang, total=2_500)
        pages[lang].write_text(text, encoding="utf-8")
    return pages


def goals(browser: Shown) -> list[str]:
    """The goals of the sessions that are found."""
    return browser.texts("#found-records .session > .lesson")


# The list


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_newest_are_open_and_the_lessons_come_first(
    browser: Shown, both: dict[Language, Path], lang: Language
) -> None:
    browser.open(both[lang])
    [title] = browser.texts(".sessions[open] > summary h3")
    assert title == ("Newest sessions" if lang == "en" else "최신 세션")
    assert len(browser.texts(".sessions > summary")) == 2
    tops = browser.js(
        "return ['#topics', '#sessions']"
        ".map((it) => document.querySelector(it).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)
    assert browser.texts(".session .opens dd.text") == []
    assert browser.messages() == []


def test_a_click_opens_a_session_and_the_address_says_so(
    browser: Shown, both: dict[Language, Path]
) -> None:
    browser.open(both["en"])
    browser.js("document.querySelector('.session .opens summary').click()")
    browser.frames()
    assert browser.state() == "#show=s-40"
    assert len(browser.texts(".session .opens dd.text")) > 1
    browser.reload()
    assert browser.js(OPEN) == ["show=s-40"]
    browser.js("document.querySelector('.session .opens summary').click()")
    browser.frames()
    assert browser.state() == ""


def test_a_link_leads_to_a_session_in_a_folded_list_and_opens_it(
    browser: Shown, both: dict[Language, Path]
) -> None:
    for fragment in ("#s-7", ""):
        browser.open(both["en"], fragment)
        if not fragment:
            browser.seek("batches")
            browser.js("location.hash = 's-7'")
            browser.frames()
        assert browser.state() == "#s-7"
        assert browser.js(OPEN) == ["show=s-7"]
        assert browser.js("return document.activeElement.id") == "s-7"
        assert -1 < browser.below_the_search() < 48


def test_chains_lead_from_session_to_session(browser: Shown, both: dict[Language, Path]) -> None:
    browser.open(both["en"])
    ways = browser.js(
        "return [...document.querySelectorAll('.session .line a')]"
        ".map((it) => [it.closest('article').id, it.hash])"
    )
    assert len(ways) > 10
    assert all((f"#{one}", other.lstrip("#")) != (other, one) for one, other in ways)
    assert {(other.lstrip("#"), f"#{one}") for one, other in ways} == {
        (one, other) for one, other in ways
    }
    browser.js("document.querySelector('.session .line a').click()")
    browser.frames()
    assert browser.js("return '#' + document.activeElement.id") == ways[0][1]


def test_a_key_opens_and_closes_the_session_in_focus(
    browser: Shown, both: dict[Language, Path]
) -> None:
    browser.open(both["en"], "#s-40")
    assert browser.js(OPEN) == ["show=s-40"]
    browser.press("o", "KeyO")
    assert browser.js(OPEN) == []
    browser.press("ㅐ", "KeyO")
    browser.frames()
    assert browser.js(OPEN) == ["show=s-40"]
    browser.press("j", "KeyJ")
    assert browser.js("return document.activeElement.id") == "s-39"
    browser.press("k", "KeyK")
    browser.press("k", "KeyK")
    assert browser.js("return document.activeElement.matches('.brief')")
    before = browser.state()
    browser.press("o", "KeyO")
    assert browser.state() == before
    browser.press("?")
    assert "o" in browser.texts("#keys kbd")
    assert browser.texts("#keys label")[0].endswith("(/, j, k, ?, o)")
    browser.js("document.querySelector('#keys').close()")
    browser.js("document.querySelector('#shortcuts').click()")
    browser.js("document.querySelector('.sessions .session').focus()")
    before = browser.js(OPEN)
    browser.press("o", "KeyO")
    assert browser.js(OPEN) == before


# Search and filters


def test_one_search_finds_lessons_and_sessions_in_one_list(
    browser: Shown, both: dict[Language, Path]
) -> None:
    browser.open(both["en"])
    browser.seek("batches")
    found = browser.records()
    assert "Read rows in batches" in found
    assert len(goals(browser)) == len(found) - 1 > 0
    assert browser.said() == f"Found: {len(found)} of {SESSIONS + RECORDS}"
    browser.seek("결제 승인")
    assert "결제 승인은 서버가 확인한다" in browser.records() and goals(browser)
    browser.seek("webview-nowhere")
    assert browser.texts("#nothing") == ["Nothing has all of this."]
    browser.type(Keys.ESCAPE)
    assert browser.said() == ""


def test_every_word_of_a_session_is_searched(browser: Shown, folder: Path) -> None:
    sessions = [session for session, _ in sample_sessions(SESSIONS)]
    page = folder / "words.html"
    page.write_text(page_with(sample_sessions(SESSIONS)), encoding="utf-8")
    browser.open(page)
    ids = "return [...document.querySelectorAll('#found-records article')].map((it) => it.id)"
    for query in ("auth", "결제", "the provider", "src/auth", "#7", "ctx_00000000000c", "조회"):
        browser.seek(query)
        texts = {
            it.number: " ".join(
                (f"#{it.number}", it.id, *it.texts, *it.tags, *it.changes.modified_files)
            ).lower()
            for it in sessions
        }
        wanted = [
            f"s-{number}"
            for number, text in texts.items()
            if all(word in text.replace("`", "") for word in query.split())
        ]
        assert wanted, query
        assert sorted(browser.js(ids)) == sorted(wanted), query


def test_sessions_go_back_to_their_place_after_a_search(
    browser: Shown, both: dict[Language, Path]
) -> None:
    order = "return [...document.querySelectorAll('.sessions .session')].map((it) => it.id)"
    browser.open(both["ko"])
    before = browser.js(order)
    for query in ("결제", "a", "없는 말", "#"):
        browser.seek(query)
    browser.type(Keys.ESCAPE)
    assert browser.js(order) == before and len(before) == SESSIONS


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        ("type", "session", "it.matches('.session')"),
        ("type", "lesson", "!it.matches('.session')"),
        ("type", "warned", "it.querySelector('.flag')"),
        ("type", "archived", "it.querySelector('.soft')"),
        ("type", "completed", "it.dataset.kinds.includes('completed')"),
        ("agent", "codex", "it.dataset.agent === 'codex'"),
        ("since", "2026-11-10", "it.dataset.day >= '2026-11-10'"),
    ],
)
def test_a_filter_leaves_what_it_names_and_its_address_opens_the_same(
    browser: Shown, both: dict[Language, Path], name: str, value: str, fits: str
) -> None:
    browser.open(both["en"])
    every = "[...document.querySelectorAll('#topics article, .sessions article')]"
    count = browser.js(f"return {every}.filter((it) => {fits}).length")
    assert 0 < count < SESSIONS + RECORDS
    browser.choose(name, value)
    assert browser.said() == f"Found: {count} of {SESSIONS + RECORDS}"
    assert browser.state() == f"#{name}={value}"
    shown = f"return [...document.querySelectorAll('#found-records article')].every((it) => {fits})"
    assert browser.js(shown)
    browser.reload()
    assert browser.said() == f"Found: {count} of {SESSIONS + RECORDS}"


def test_figures_and_tags_lead_to_what_they_name(
    browser: Shown, both: dict[Language, Path]
) -> None:
    browser.open(both["en"])
    figures = browser.texts(".figures li")
    assert "Sessions 2,500" in figures
    [warned] = [it for it in figures if it.startswith("Failed or blocked")]
    browser.js("document.querySelector('.figures [data-to=\"type=warned\"]').click()")
    browser.frames()
    assert browser.said() == f"Found: {warned.split()[-1]} of {SESSIONS + RECORDS}"
    browser.js("document.querySelector('#clear').click()")
    browser.js("document.querySelector('.session .of:not(.number)').click()")
    browser.frames()
    assert browser.state().endswith("&type=session") and goals(browser)


def test_the_filter_of_topics_leaves_the_sessions(
    browser: Shown, both: dict[Language, Path]
) -> None:
    browser.open(both["en"])
    browser.js("document.querySelector('#among-topics').focus()")
    browser.type("cache")
    assert browser.texts("#topics .topic > summary h3") == ["cache"]
    assert len(browser.texts(".sessions > summary")) == 2


# Without scripts, on paper, in narrow windows


def test_without_scripts_every_session_can_be_read(
    browser: Shown, both: dict[Language, Path]
) -> None:
    browser.open(both["en"], scripts=False)
    assert len(browser.texts(".sessions .session > .lesson")) == SESSIONS
    browser.js("document.querySelector('.session .opens summary').click()")
    assert len(browser.texts(".session .opens dd.text")) > 1


def test_sessions_are_printed_with_all_that_they_say(
    browser: Shown, both: dict[Language, Path]
) -> None:
    browser.open(both["en"])
    browser.emulate(media="print")
    browser.js("dispatchEvent(new Event('beforeprint'))")
    assert len(browser.texts(".sessions .session")) == SESSIONS
    assert len(browser.texts(".session .opens dd.text")) > SESSIONS
    assert browser.texts(".session .actions code") == []
    columns = "return getComputedStyle(document.querySelector('#sessions')).columnCount"
    assert browser.js(columns) == "2"
    browser.js("dispatchEvent(new Event('afterprint'))")
    browser.emulate()
    assert browser.js(OPEN) == []
    assert 3 < len(re.findall(rb"/Type\s*/Page\b", browser.printed())) < 12


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sessions_never_make_a_narrow_window_scroll_sideways(
    browser: Shown, both: dict[Language, Path], folder: Path, lang: Language
) -> None:
    browser.open(both[lang])
    browser.unfold()
    for size in ((960, 600), (390, 844), NARROW):
        browser.resize(size)
        assert browser.overflow() <= 0, size
    page = folder / "long-sessions.html"
    page.write_text(page_with([a_full_session("w" * 400)], lang=lang), encoding="utf-8")
    browser.open(page, size=NARROW)
    browser.unfold()
    assert browser.overflow() <= 0


def test_a_finger_finds_every_target_of_a_session(
    browser: Shown, both: dict[Language, Path]
) -> None:
    browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        browser.open(both["en"], size=PHONE)
        browser.unfold()
        small = browser.js(
            """
            for (const it of document.querySelectorAll("article"))
              it.style.contentVisibility = "visible";
            return [...document.querySelectorAll("#sessions :is(a, summary)")]
              .filter((it) => it.checkVisibility())
              .filter((it) => it.getBoundingClientRect().height < 43.9).map((it) => it.outerHTML);
            """
        )
    finally:
        browser.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
    assert small == []


# Texts of strangers, and aids


@pytest.mark.parametrize("scripts", [True, False])
def test_nothing_of_a_session_becomes_more_than_text(
    browser: Shown, folder: Path, scripts: bool
) -> None:
    page = folder / "hostile-sessions.html"
    sessions = [a_full_session(HOSTILE, at, id=f"ctx_{at}") for at in (1, 2)]
    page.write_text(page_with(sessions), encoding="utf-8")
    browser.open(page, scripts=scripts)
    browser.unfold()
    assert browser.js("return document.querySelectorAll('script, img, svg, base').length") == 1
    links = browser.js("return [...document.links].map((it) => it.getAttribute('href'))")
    assert [it for it in links if not it.startswith("#")] == []
    plain = HOSTILE.replace("`<b>`", "<b>")
    assert browser.texts(".session > .lesson") == [plain, plain]
    assert set(browser.texts(".session dd.text code")) == {HOSTILE, "<b>"}
    if scripts:
        browser.seek("alert")
        assert browser.said() == "Found: 2 of 2"
    assert browser.messages() == []


@needs_axe
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_sessions_can_be_used_by_everybody(
    browser: Shown, both: dict[Language, Path], lang: Language, size: tuple[int, int]
) -> None:
    browser.open(both[lang], size=size)
    browser.unfold()
    for dark in (False, True):
        browser.emulate(dark=dark)
        assert violations(browser) == []
    browser.seek("NVDA")
    assert goals(browser)
    for dark in (False, True):
        browser.emulate(dark=dark)
        assert violations(browser) == []
