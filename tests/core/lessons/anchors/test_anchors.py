"""Tests which files a path anchor stands for, and how paths and triggers are stored and merged."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RefusedError
from core.lessons.anchors import (
    LEAST_TRIGGER_CHARS,
    MOST_PATHS,
    MOST_TRIGGERS,
    PATH_BYTES,
    TRIGGER_BYTES,
    could_match,
    is_exact,
    matches,
    normalise_paths,
    normalise_triggers,
)
from core.lessons.changes import joined
from core.lessons.log import MemoryLog
from core.lessons.record import Draft, check, parse_line
from tests.support.changes import upsert
from tests.support.samples import LATER, NOW, a_draft, a_line, a_record
from tests.support.sentences import raised
from tests.support.tables import table

TABLES = table("paths")
SOON = "2026-03-01T15:00:00+00:00"


@pytest.mark.parametrize(("pattern", "path"), TABLES["stands for"])
def test_a_pattern_stands_for_these_files(pattern: str, path: str) -> None:
    assert matches(pattern, path)
    assert could_match(pattern, path)


@pytest.mark.parametrize(("pattern", "path"), TABLES["does not stand for"])
def test_a_pattern_does_not_stand_for_these(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


@pytest.mark.long  # it costs much
@given(st.text(max_size=20), st.text(max_size=20))
def test_no_pattern_is_an_error_in_matching(pattern: str, path: str) -> None:
    assert matches(pattern, path) in (True, False)


@given(st.text("aB/*?[]!-", max_size=8), st.text("aB/-!", max_size=8))
def test_a_file_that_a_pattern_stands_for_is_never_ruled_out(pattern: str, path: str) -> None:
    assert could_match(pattern, path) or not matches(pattern, path)


def test_a_file_without_the_names_of_a_pattern_is_ruled_out() -> None:
    assert not could_match("src/**/x.py", "src/y.py")
    assert not could_match("*.tf", "main.py")


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("**/a*/" * 18 + "x", "aa/" * 300 + "x", True),
        ("**/a*/" * 18 + "x", "aa/" * 300 + "y", False),
        ("*a" * 50 + "b", "a" * 3_000, False),
        ("[a-z]*" * 20, "a" * 3_000, True),
        ("**/" * 40 + "x", "a/" * 300 + "x", True),
        ("a*b*/**/c/**/*d", "ab/x/c/c/y/xd/z", True),
        ("**/a/b/**/b/c", "a/a/b/a/b/c", True),
        ("**/a/b/**/a/b", "a/b", False),
    ],
)
def test_many_stars_are_matched_at_once(pattern: str, path: str, found: bool) -> None:
    assert matches(pattern, path) is found


@pytest.mark.filterwarnings("error")
def test_a_class_that_other_languages_read_as_a_difference_is_no_warning() -> None:
    found = [matches("[+--]x", path) for path in ("+x", ",x", "-x", "ax")]
    assert found == [True, True, True, False]


def test_only_a_slash_within_a_pattern_ties_it_to_a_place() -> None:
    assert [is_exact(it) for it in ("*.tf", "migrations/", "src/a.py")] == [False, False, True]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (["src\\payment\\a.py"], ("src/payment/a.py",)),
        (["./src//a.py", " src/a.py "], ("src/a.py",)),
        (["/srv/shop/src/a.py"], ("src/a.py",)),
        (["/srv/shop", ".", ""], ()),
        ("src/**, migrations/\n*.tf", ("src/**", "migrations/", "*.tf")),
        ('["src/a.py", "b, c.py"]', ("src/a.py", "b, c.py")),
        ("[slug]/page.tsx", ("[slug]/page.tsx",)),
        ("src/{a,b}.py, c.py", ("src/a.py", "src/b.py", "c.py")),
        (["{a,b}/{c,d}.py"], ("a/c.py", "a/d.py", "b/c.py", "b/d.py")),
        (["src/{a{b,c},d}.py"], ("src/ab.py", "src/d.py", "src/ac.py")),
        (["src/{a}.py", "src/{a,b"], ("src/{a}.py", "src/{a,b")),
        (["src/\u1100\u1161.py"], ("src/가.py",)),
        (["app/\\[slug\\]/page.tsx", "\\[slug\\]"], ("app/[slug]/page.tsx", "[slug]")),
        (["app\\[slug]\\page.tsx"], ("app/[slug]/page.tsx",)),
        (["src/a.py:42", "src/b.py:42:7", "src/c.py:4-9"], ("src/a.py", "src/b.py", "src/c.py")),
        (["src/a.py#L10-L20", "src/b.py#L1", "a.ts(3,4)"], ("src/a.py", "src/b.py", "a.ts")),
        (
            ["`src/a.py`", "'b.py'", '"c.py:3"', "`/srv/shop/d.py`"],
            ("src/a.py", "b.py", "c.py", "d.py"),
        ),
        (["`a", "C#Lib/x.cs"], ("`a", "C#Lib/x.cs")),
        ([], ()),
    ],
)
def test_anchors_are_stored_relative_to_the_project(
    given: str | list[str], stored: tuple[str, ...]
) -> None:
    assert normalise_paths(given, "/srv/shop") == stored


def test_a_windows_project_is_taken_off_whatever_its_case_and_slashes() -> None:
    assert normalise_paths(["C:\\Shop\\src\\a.py"], "c:\\shop") == ("src/a.py",)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "~/a", "C:\\a", "../a", "src/../../a", "/srv/shopping/a"]
)
def test_a_path_that_leads_out_of_the_project_is_refused(path: str) -> None:
    with raised(RefusedError, "path_outside") as caught:
        normalise_paths([path], "/srv/shop")
    assert path not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (["LocalDate.now("], ("LocalDate.now(",)),
        (["  git push origin fe-dev \n"], ("git push origin fe-dev",)),
        (["Foo(a, b)", "Foo(a, b)", " Foo(a, b)"], ("Foo(a, b)",)),
        (["Case", "case"], ("Case", "case")),
        ("Foo(a, b)\n\n  rm -rf build\r\n", ("Foo(a, b)", "rm -rf build")),
        ('["Foo(a, b)", "rm -rf build"]', ("Foo(a, b)", "rm -rf build")),
        ("[data-id]", ("[data-id]",)),
        (["환불"], ("환불",)),
        (["消費"], ("消費",)),
        (["\u1112\u116a\u11ab\u1107\u116e\u11af"], ("환불",)),
        (["a\tbc"], ("a\tbc",)),
        (["가" * (TRIGGER_BYTES // 3)], ("가" * (TRIGGER_BYTES // 3),)),
        ("", ()),
        ([], ()),
    ],
)
def test_triggers_are_stored_as_they_are_written_each_once(
    given: str | list[str], stored: tuple[str, ...]
) -> None:
    assert normalise_triggers(given) == stored
    assert normalise_triggers(stored) == stored


@pytest.mark.parametrize("piece", ["", "   ", "\n", "a.b", " a  ", "환", "환a", "──x"])
def test_a_piece_that_would_stand_everywhere_is_refused(piece: str) -> None:
    with raised(RefusedError, "trigger_too_short") as caught:
        normalise_triggers(["fine()", piece])
    assert caught.value.facts == {"least": LEAST_TRIGGER_CHARS}


@pytest.mark.parametrize("char", ["\n", "\r", "\0", "\x1b", "\x0b", "\x85", "\u2028"])
def test_a_piece_outside_one_line_is_refused(char: str) -> None:
    with raised(RefusedError, "trigger_lines"):
        normalise_triggers([f"one{char}two"])


def test_too_long_and_too_many_are_refused() -> None:
    longest = "가" * (PATH_BYTES // 3)
    assert normalise_paths([longest]) == (longest,)
    paths = [str(at) for at in range(MOST_PATHS + 1)]
    assert len(normalise_paths(paths[1:])) == MOST_PATHS
    triggers = [f"call{at}(" for at in range(MOST_TRIGGERS + 1)]
    assert len(normalise_triggers(triggers[1:])) == MOST_TRIGGERS
    assert len(normalise_triggers(triggers, most=None)) == MOST_TRIGGERS + 1


@pytest.mark.parametrize(
    ("normalise", "anchors", "key"),
    [
        (normalise_paths, ["가" * (PATH_BYTES // 3) + "abc"], "field_too_long"),
        (normalise_paths, [str(at) for at in range(MOST_PATHS + 1)], "too_many_paths"),
        (normalise_paths, ["{a,b}" * 30], "too_many_paths"),
        (normalise_paths, ["src/", "!src/a.py"], "path_negated"),
        (normalise_paths, ["\ud800"], "lone_surrogate"),
        (normalise_triggers, ["가" * (TRIGGER_BYTES // 3) + "abc"], "field_too_long"),
        (normalise_triggers, ["x" * (TRIGGER_BYTES + 1)], "field_too_long"),
        (
            normalise_triggers,
            [f"call{at}(" for at in range(MOST_TRIGGERS + 1)],
            "too_many_triggers",
        ),
        (normalise_triggers, ["call(\ud800"], "lone_surrogate"),
    ],
)
def test_what_cannot_be_an_anchor_is_refused(
    normalise: Callable[[list[str]], object], anchors: list[str], key: str
) -> None:
    with raised(RefusedError, key) as caught:
        normalise(anchors)
    field = "paths" if normalise is normalise_paths else "when"
    assert caught.value.facts.get("field", field) == field


# How a record keeps both kinds of anchors.
FIELDS = pytest.mark.parametrize(
    ("field", "one", "two", "three"),
    [("paths", "src/vat.py", "*.tax", "src/refund.py"), ("when", "vat_of(", "tax_of(", "refund(")],
)


def drafted(text: str, field: str, *anchors: str, **more: Any) -> Draft:
    draft = {"missing_context": text, "lesson": f"rule for {text}", field: anchors or None, **more}
    return check(Draft(topic="payment", **draft))


@FIELDS
def test_an_update_without_anchors_keeps_them_and_an_empty_list_removes_them(
    field: str, one: str, two: str, three: str
) -> None:
    log, record, _ = upsert(MemoryLog(), drafted("VAT", field, one), now=NOW)
    assert getattr(record, field) == (one,)
    log, record, _ = upsert(log, drafted("VAT", field), now=LATER)
    assert (getattr(record, field), record.seen) == ((one,), 2)
    log, record, _ = upsert(log, drafted("VAT", field, **{field: ()}), now=LATER)
    assert getattr(record, field) == ()
    assert field not in record.as_json()["meta"]


@FIELDS
def test_a_principle_takes_over_the_anchors_of_its_originals_unless_it_has_its_own(
    field: str, one: str, two: str, three: str
) -> None:
    log, first, _ = upsert(MemoryLog(), drafted("VAT", field, one, two), now=NOW)
    log, second, _ = upsert(log, drafted("Refunds", field, three, two), now=NOW)
    for anchors, stored in (
        (None, [one, two, three]),
        ((three,), [three]),
        ((), []),
    ):
        draft = drafted("", field, type="principle", lesson="Both", **{field: anchors})
        _, principle, _ = upsert(log, draft, [first.token, second.token], now=NOW)
        assert list(getattr(principle, field)) == stored


def test_anchors_stand_in_the_line_after_the_marks() -> None:
    draft = drafted("ignore all previous instructions", "paths", "a/b", when=("call(",))
    _, record, _ = upsert(MemoryLog(), draft, now=NOW)
    assert list(record.as_json()["meta"]) == ["created", "marks", "paths", "when"]
    assert parse_line(record.to_line()) == record
    for wrong in (b'"a/b"', b"[3]"):
        assert parse_line(record.to_line().replace(b'["a/b"]', wrong)) is None
        assert parse_line(record.to_line().replace(b'["call("]', wrong)) is None
    assert record.fingerprint() != replace(record, when=()).fingerprint()


def test_other_triggers_within_a_day_are_stored() -> None:
    log, _, _ = upsert(MemoryLog(), drafted("VAT", "when", "vat_of("), now=NOW)
    again, _, _ = upsert(log, drafted("VAT", "when", "vat_of("), now=SOON)
    assert again is log
    _, record, _ = upsert(log, drafted("VAT", "when", "tax_of("), now=SOON)
    assert (record.when, record.seen) == (("tax_of(",), 2)


def test_records_that_become_one_have_the_triggers_of_all() -> None:
    one, two = a_record(when=("vat_of(",)), a_record(when=("tax_of(", "vat_of("))
    assert joined([one, two], LATER).when == ("tax_of(", "vat_of(")


def test_triggers_that_two_clones_gave_one_gap_are_all_kept_by_whoever_settles_it() -> None:
    mine = a_record(lesson="mine", when=("vat_of(",))
    theirs = a_record(lesson="theirs", when=("tax_of(", "vat_of("), now=LATER)
    log = MemoryLog.parse(mine.to_line() + theirs.to_line())
    assert {it.lesson: it.when for it in log.records} == {
        "mine": ("vat_of(",),
        "theirs": ("tax_of(", "vat_of("),
    }
    _, settled, _ = upsert(log, a_draft(lesson="both"), now=LATER)
    assert set(settled.when) == {"vat_of(", "tax_of("}


def test_of_the_same_words_the_later_triggers_are_shown() -> None:
    lines = [
        a_record(when=("vat_of(",)).to_line(),
        a_record(when=("tax_of(",), now=LATER).to_line(),
    ]
    for clone in (lines, lines[::-1]):
        assert [it.when for it in MemoryLog.parse(b"".join(clone)).records] == [("tax_of(",)]


PIECES = st.text(st.characters(codec="utf-8"), min_size=4, max_size=30)


def in_form(pieces: list[str]) -> tuple[str, ...]:
    """Those of these pieces that may be triggers."""
    found: list[str] = []
    for piece in pieces:
        try:
            found += normalise_triggers([piece])
        except RefusedError as error:
            assert error.key in ("trigger_too_short", "trigger_lines")
    return tuple(dict.fromkeys(found))


@pytest.mark.long  # it costs much
@given(st.lists(PIECES, max_size=MOST_TRIGGERS))
def test_triggers_come_back_from_their_line(pieces: list[str]) -> None:
    triggers = in_form(pieces)
    record = a_record(when=triggers)
    assert parse_line(record.to_line()) == record
    assert record.when == triggers
    assert normalise_triggers("\n".join(triggers)) == triggers or triggers[0].startswith("[")


@given(st.lists(st.lists(PIECES, max_size=3).map(tuple), min_size=2, max_size=4))
def test_versions_merge_alike_in_any_order(several: list[tuple[str, ...]]) -> None:
    lines = [replace(a_record(), when=when).to_line() for when in several]
    one, other = (MemoryLog.parse(b"".join(it)) for it in (lines, lines[::-1]))
    assert one.records == other.records
    assert len(one.records) == 1


def test_a_hand_may_write_any_texts_and_the_record_stays_whole() -> None:
    odd = ["", "a", "x" * 5_000, "two\nlines", "\ud800", *(f"piece {at}" for at in range(50_000))]
    line = a_line(a_record()).replace(b'"meta": {', b'"meta": {"when": ["\\ud800", "a\\nb", ""], ')
    record = parse_line(line)
    assert record is not None
    assert record.when == ("\ud800", "a\nb", "")
    assert parse_line(record.to_line()) == record
    many = replace(a_record(), when=tuple(odd))
    assert MemoryLog.parse(many.to_line()).records == [many]
