"""Tests the sessions on the page in a real browser: search, filters, links, keys, paper, aids."""

import re
from pathlib import Path

import pytest
from selenium.webdriver import Keys

from core.messages import Language
from tests.commands.view.test_fragment_page import a_fragment
from tests.support.fragment_pages import found_of, page_with_fragments, sample_found
from tests.support.fragment_samples import sample_fragments
from tests.support.samples import a_record
from tests.support.session_pages import page_with
from tests.support.session_samples import sample_sessions
from tests.support.shown_pages import LANGUAGES, Shown, needs_browser
from tests.support.tables import table

ROWS = table("commands/view_sessions_browser")

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
    ("name", "value", "fits"), ROWS["a_filter_leaves_what_it_names_and_its_address_opens_the_same"]
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


# Texts of strangers, and aids


FRAGMENTS, LESSONS = 20, 2


@pytest.fixture(scope="module")
def mine(folder: Path) -> dict[Language, Path]:
    """Two lessons beside twenty fragments, in both languages."""
    records = [
        a_record("The docker build is slow", topic="docker", lesson="Copy the lock file first"),
        a_record("결제 승인", topic="결제", lesson="결제 승인은 서버가 확인한다"),
    ]
    pages = {}
    for lang in LANGUAGES:
        pages[lang] = folder / f"mine.{lang}.html"
        text = page_with_fragments(sample_found(FRAGMENTS, 2_500), *records, lang=lang)
        pages[lang].write_text(text, encoding="utf-8")
    return pages


def found_fragments(browser: Shown) -> list[str]:
    """What the fragments say that are found."""
    return browser.texts("#found-records .fragment > .lesson")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_is_pinned_is_open_and_the_kinds_below_are_folded(
    browser: Shown, mine: dict[Language, Path], lang: Language
) -> None:
    browser.open(mine[lang])
    [group] = browser.texts(".group[open] > summary h3")
    assert group == ("Pinned" if lang == "en" else "고정된 조각")
    assert len(browser.texts(".group > summary")) == 8
    assert browser.messages() == []


def test_one_search_finds_lessons_and_fragments_in_one_list(
    browser: Shown, mine: dict[Language, Path]
) -> None:
    browser.open(mine["en"])
    browser.seek("docker")
    assert "Copy the lock file first" in browser.records()
    assert len(found_fragments(browser)) == 3  # one of them by its keyword alone
    assert browser.said() == f"Found: 4 of {FRAGMENTS + LESSONS}"
    assert len(browser.texts("#found-records .what")) == 3


def test_kinds_states_and_agents_can_be_chosen(browser: Shown, mine: dict[Language, Path]) -> None:
    fragments = sample_fragments(FRAGMENTS)
    counts = {
        "fragment": FRAGMENTS,
        "error": sum(it.kind == "error" for it in fragments),
        "pinned": 2,
        "superseded": 1,
        "public": 2,
        "lesson": LESSONS,
    }
    browser.open(mine["en"])
    for kind, count in counts.items():
        browser.choose("type", kind)
        assert browser.said() == f"Found: {count} of {FRAGMENTS + LESSONS}", kind
    browser.choose("type", "")
    browser.choose("agent", "codex")
    assert len(found_fragments(browser)) == sum(it.agent == "codex" for it in fragments)


def test_the_figures_lead_to_the_fragments(browser: Shown, mine: dict[Language, Path]) -> None:
    browser.open(mine["en"])
    assert browser.texts(".figures li")[-2:] == ["Fragments 2,500", "Pinned 2"]
    browser.js("document.querySelector('.figures [data-to=\"type=pinned\"]').click()")
    browser.frames()
    assert len(found_fragments(browser)) == 2
    browser.js("document.querySelector('.fragment .keywords .of').click()")
    browser.frames()
    assert browser.state().endswith("&type=fragment") and found_fragments(browser)


def test_a_link_leads_to_a_fragment_in_a_folded_group(
    browser: Shown, mine: dict[Language, Path]
) -> None:
    for searched in (False, True):
        browser.open(mine["en"])
        if searched:
            browser.seek("nothing at all")
        browser.js("location.hash = 'f-frag0003'")
        browser.frames()
        assert browser.js("return document.activeElement.id") == "f-frag0003"
        assert -1 < browser.below_the_search() < 48
    browser.js("document.activeElement.querySelector('.ties a').click()")
    browser.frames()
    assert browser.js("return document.activeElement.id") == "f-frag0004"


def test_a_link_opens_the_first_group_again(browser: Shown, mine: dict[Language, Path]) -> None:
    browser.open(mine["en"])
    browser.js("document.querySelector('.group').open = false")
    browser.js("location.hash = 'f-frag0001'")
    browser.frames()
    assert browser.js("return document.activeElement.id") == "f-frag0001"
    assert browser.texts("#f-frag0001 > .lesson")


def test_where_many_are_pinned_they_are_folded(browser: Shown, folder: Path) -> None:
    page = folder / "pinned-fragments.html"
    many = [a_fragment(at, f"text {at}", is_anchor=True) for at in range(1, 40)]
    page.write_text(page_with_fragments(found_of(many)), encoding="utf-8")
    browser.open(page)
    assert browser.texts(".group > summary h3") == ["Pinned"]
    assert browser.texts(".group[open]") == []
