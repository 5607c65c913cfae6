"""Tests the fragments on the page in a real browser: search, filters, links, paper, aids."""

from pathlib import Path

import pytest

from core.messages import Language
from rooms.fragments.fragment import Version
from tests.commands.view.test_browser_looks import HOSTILE, LINES, violations
from tests.commands.view.test_fragment_page import a_fragment, a_full_fragment
from tests.support.fragment_pages import Ends, found_of, page_with_fragments, sample_found
from tests.support.fragment_samples import sample_fragments
from tests.support.headless import DESKTOP, PHONE
from tests.support.samples import a_record
from tests.support.shown_pages import LANGUAGES, NARROW, Shown, needs_axe, needs_browser

pytestmark = needs_browser

COUNT, RECORDS = 20, 2


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
        text = page_with_fragments(sample_found(COUNT, 2_500), *records, lang=lang)
        pages[lang].write_text(text, encoding="utf-8")
    return pages


LAID_OUT = """
for (const it of document.querySelectorAll("article")) it.style.contentVisibility = "visible";
"""


def found(browser: Shown) -> list[str]:
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
    assert len(found(browser)) == 3  # one of them by its keyword alone
    assert browser.said() == f"Found: 4 of {COUNT + RECORDS}"
    assert len(browser.texts("#found-records .what")) == 3


def test_kinds_states_and_agents_can_be_chosen(browser: Shown, mine: dict[Language, Path]) -> None:
    fragments = sample_fragments(COUNT)
    counts = {
        "fragment": COUNT,
        "error": sum(it.kind == "error" for it in fragments),
        "pinned": 2,
        "superseded": 1,
        "public": 2,
        "lesson": RECORDS,
    }
    browser.open(mine["en"])
    for kind, count in counts.items():
        browser.choose("type", kind)
        assert browser.said() == f"Found: {count} of {COUNT + RECORDS}", kind
    browser.choose("type", "")
    browser.choose("agent", "codex")
    assert len(found(browser)) == sum(it.agent == "codex" for it in fragments)


def test_the_figures_lead_to_the_fragments(browser: Shown, mine: dict[Language, Path]) -> None:
    browser.open(mine["en"])
    assert browser.texts(".figures li")[-2:] == ["Fragments 2,500", "Pinned 2"]
    browser.js("document.querySelector('.figures [data-to=\"type=pinned\"]').click()")
    browser.frames()
    assert len(found(browser)) == 2
    browser.js("document.querySelector('.fragment .keywords .of').click()")
    browser.frames()
    assert browser.state().endswith("&type=fragment") and found(browser)


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


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_line_of_a_text_is_too_long_to_read(
    browser: Shown, folder: Path, lang: Language
) -> None:
    text = "Say less, in fewer lines, to those who read it at night; it will still be long. " * 6
    version = Version(fragment_id="frag1", content=text)
    page = folder / "wordy-fragments.html"
    found = found_of([a_fragment(1, text)], versions={"frag1": [version]})
    page.write_text(page_with_fragments(found, lang=lang), encoding="utf-8")
    browser.open(page)
    browser.unfold()
    lines = LINES.replace(".lesson,", ".lesson, .versions .text,")
    assert 40 < browser.js(lines) <= 72


def test_where_many_are_pinned_they_are_folded(browser: Shown, folder: Path) -> None:
    page = folder / "pinned-fragments.html"
    many = [a_fragment(at, f"text {at}", is_anchor=True) for at in range(1, 40)]
    page.write_text(page_with_fragments(found_of(many)), encoding="utf-8")
    browser.open(page)
    assert browser.texts(".group > summary h3") == ["Pinned"]
    assert browser.texts(".group[open]") == []


def test_without_scripts_every_fragment_can_be_read(
    browser: Shown, mine: dict[Language, Path]
) -> None:
    browser.open(mine["en"], scripts=False)
    assert len(browser.texts(".group .fragment > .lesson")) == COUNT


def test_fragments_are_printed_whatever_is_folded(
    browser: Shown, mine: dict[Language, Path]
) -> None:
    browser.open(mine["en"])
    browser.emulate(media="print")
    browser.js("dispatchEvent(new Event('beforeprint'))")
    assert len(browser.texts(".group .fragment > .lesson")) == COUNT
    columns = "return getComputedStyle(document.querySelector('#fragments')).columnCount"
    assert browser.js(columns) == "2"
    browser.js("dispatchEvent(new Event('afterprint'))")
    browser.emulate()
    assert len(browser.texts(".group[open] > summary")) == 1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_fragments_never_make_a_narrow_window_scroll_sideways(
    browser: Shown, mine: dict[Language, Path], folder: Path, lang: Language
) -> None:
    browser.open(mine[lang])
    browser.unfold()
    for size in ((960, 600), (390, 844), NARROW):
        browser.resize(size)
        assert browser.overflow() <= 0, size
    fragments = [a_full_fragment("w" * 1_024), a_full_fragment("\u202e" + "م" * 400, 2)]
    links: list[Ends] = [(0, 1, "related"), (1, 0, "caused_by")]
    page = folder / "long-fragments.html"
    page.write_text(page_with_fragments(found_of(fragments, links), lang=lang), encoding="utf-8")
    browser.open(page, size=NARROW)
    browser.unfold()
    assert browser.overflow() <= 0


def test_a_finger_finds_every_target_of_a_fragment(
    browser: Shown, mine: dict[Language, Path]
) -> None:
    browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        browser.open(mine["en"], size=PHONE)
        browser.unfold()
        small = browser.js(
            LAID_OUT
            + """
            const targets = "#fragments :is(button, summary, a)";
            return [...document.querySelectorAll(targets)].filter((it) => it.checkVisibility())
              .filter((it) => it.getBoundingClientRect().height < 43.9).map((it) => it.outerHTML);
            """
        )
    finally:
        browser.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
    assert small == []


def test_hostile_texts_run_nothing(browser: Shown, folder: Path) -> None:
    fragments = [a_full_fragment(HOSTILE, 1, id=HOSTILE), a_fragment(2, HOSTILE)]
    page = folder / "hostile-fragments.html"
    links: list[Ends] = [(0, 1, "superseded_by"), (1, 0, HOSTILE)]  # type: ignore[list-item]
    page.write_text(page_with_fragments(found_of(fragments, links)), encoding="utf-8")
    browser.open(page)
    browser.unfold()
    assert len(browser.texts("#fragments article")) == 2
    assert (
        browser.js("return document.querySelectorAll('script, img, base, [onfocus]').length") == 1
    )
    browser.seek("alert")
    assert len(found(browser)) == 2
    assert browser.messages() == []


@needs_axe
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_can_be_used_by_everybody(
    browser: Shown, mine: dict[Language, Path], lang: Language, size: tuple[int, int]
) -> None:
    browser.open(mine[lang], size=size)
    browser.unfold()
    browser.js(LAID_OUT)
    for dark in (False, True):
        browser.emulate(dark=dark)
        assert violations(browser) == []
    browser.seek("docker")
    assert violations(browser) == []
