"""Tests which pieces of code or command may be triggers, and how triggers are stored and merged."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RefusedError
from core.lessons.anchors import (
    LEAST_TRIGGER_CHARS,
    MOST_TRIGGERS,
    TRIGGER_BYTES,
    normalise_triggers,
)
from core.lessons.log import MemoryLog
from core.lessons.record import Draft, Record, check, parse_line
from core.lessons.renewal import joined
from tests.support.changes import upsert
from tests.support.git_clones import commit, copied, new_project, pull, saved, store_of
from tests.support.samples import LATER, NOW, a_draft, a_line, a_principle, a_record
from tests.support.sentences import raised

SOON = "2026-03-01T15:00:00+00:00"


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


def test_too_long_too_many_and_half_characters_are_refused() -> None:
    for piece in ("가" * (TRIGGER_BYTES // 3) + "abc", "x" * (TRIGGER_BYTES + 1)):
        with raised(RefusedError, "field_too_long") as caught:
            normalise_triggers([piece])
        assert caught.value.facts["field"] == "when"
    pieces = [f"call{at}(" for at in range(MOST_TRIGGERS + 1)]
    assert len(normalise_triggers(pieces[1:])) == MOST_TRIGGERS
    with raised(RefusedError, "too_many_triggers"):
        normalise_triggers(pieces)
    assert len(normalise_triggers(pieces, most=None)) == MOST_TRIGGERS + 1
    with raised(RefusedError, "lone_surrogate"):
        normalise_triggers(["call(\ud800"])


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


def drafted(text: str, *when: str, **more: object) -> Draft:
    given = {"missing_context": text, "lesson": f"rule for {text}", "when": when or None, **more}
    return check(Draft(topic="payment", **given))  # type: ignore[arg-type]


def test_an_update_without_triggers_keeps_them_and_an_empty_list_removes_them() -> None:
    log, record, _ = upsert(MemoryLog(), drafted("VAT", "vat_of("), now=NOW)
    assert record.when == ("vat_of(",)
    log, record, _ = upsert(log, drafted("VAT"), now=LATER)
    assert (record.when, record.seen) == (("vat_of(",), 2)
    log, record, _ = upsert(log, drafted("VAT", when=()), now=LATER)
    assert record.when == ()
    assert "when" not in record.as_json()["meta"]


def test_other_triggers_within_a_day_are_stored() -> None:
    log, _, _ = upsert(MemoryLog(), drafted("VAT", "vat_of("), now=NOW)
    again, _, _ = upsert(log, drafted("VAT", "vat_of("), now=SOON)
    assert again is log
    _, record, _ = upsert(log, drafted("VAT", "tax_of("), now=SOON)
    assert (record.when, record.seen) == (("tax_of(",), 2)


def test_a_principle_takes_over_the_triggers_of_its_originals_unless_it_has_its_own() -> None:
    log, one, _ = upsert(MemoryLog(), drafted("VAT", "vat_of(", "tax_of("), now=NOW)
    log, two, _ = upsert(log, drafted("Refunds", "refund(", "tax_of("), now=NOW)
    tokens = [one.token, two.token]
    _, principle, _ = upsert(log, a_principle("Both"), tokens, now=NOW)
    assert principle.when == ("vat_of(", "tax_of(", "refund(")
    _, principle, _ = upsert(log, a_principle("B", when=("pay(",)), tokens, now=NOW)
    assert principle.when == ("pay(",)
    _, principle, _ = upsert(log, a_principle("B", when=()), tokens, now=NOW)
    assert principle.when == ()


def test_records_that_become_one_have_the_triggers_of_all() -> None:
    one, two = a_record(when=("vat_of(",)), a_record(when=("tax_of(", "vat_of("))
    assert joined([one, two], LATER).when == ("tax_of(", "vat_of(")


def test_triggers_stand_in_the_line_after_the_paths() -> None:
    record = a_record(paths=("a/b",), when=("call(",))
    assert list(record.as_json()["meta"]) == ["created", "paths", "when"]
    assert parse_line(record.to_line().replace(b'["call("]', b'"call("')) is None
    assert parse_line(record.to_line().replace(b'["call("]', b"[3]")) is None
    assert record.fingerprint() != replace(record, when=()).fingerprint()


def test_a_hand_may_write_any_texts_and_the_record_stays_whole() -> None:
    odd = ["", "a", "x" * 5_000, "two\nlines", "\ud800", *(f"piece {at}" for at in range(50_000))]
    line = a_line(a_record()).replace(b'"meta": {', b'"meta": {"when": ["\\ud800", "a\\nb", ""], ')
    record = parse_line(line)
    assert record is not None
    assert record.when == ("\ud800", "a\nb", "")
    assert parse_line(record.to_line()) == record
    many = replace(a_record(), when=tuple(odd))
    assert MemoryLog.parse(many.to_line()).records == [many]


# Two clones.


def lessons(project: Path) -> dict[str, tuple[str, ...]]:
    return {record.lesson: record.when for record in saved(project)}


def merged(tmp_path: Path, mine: Draft, theirs: Draft) -> tuple[Path, Path]:
    """Two clones of one project that have each pulled what the other saved."""
    ours = new_project(tmp_path / "ours", "one")
    other = copied(ours, tmp_path / "theirs")
    store_of(ours, NOW).upsert_log(mine)
    store_of(other, LATER).upsert_log(theirs)
    for clone in (ours, other):
        commit(clone)
    before = copied(ours, tmp_path / "before")
    pull(ours, other)
    pull(other, before)
    return ours, other


@pytest.mark.long  # it costs much
@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_triggers_that_two_clones_gave_one_gap_are_all_kept_by_whoever_settles_it(
    tmp_path: Path,
) -> None:
    mine = a_draft(lesson="mine", when=["vat_of("])
    theirs = a_draft(lesson="theirs", when=["tax_of(", "vat_of("])
    ours, other = merged(tmp_path, mine, theirs)
    for clone in (ours, other):
        shown = lessons(clone)
        assert shown["mine"] == ("vat_of(",)
        assert shown["theirs"] == ("tax_of(", "vat_of(")
    settled = store_of(ours, LATER).upsert_log(a_draft(lesson="both")).record
    assert set(settled.when) == {"vat_of(", "tax_of("}


@pytest.mark.long  # it costs much
@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_of_the_same_words_both_clones_show_the_later_triggers(tmp_path: Path) -> None:
    ours, other = merged(tmp_path, a_draft(when=["vat_of("]), a_draft(when=["tax_of("]))
    shown: list[Record] = [it for it in saved(ours) if it.when]
    assert [it.when for it in shown] == [("tax_of(",)]
    assert shown == [it for it in saved(other) if it.when]
