"""Tests what the doctor finds in the lines of a log, and that a repair loses nothing."""

import json
from dataclasses import replace

import pytest
from hypothesis import given

from core.lessons.log import MemoryLog, following
from core.lessons.record import Record, parse_line
from core.lessons.upkeep import Finding, examine, flaw_of, repair
from tests.core.lessons.test_properties import FILES
from tests.support.changes import upsert
from tests.support.samples import LATER, NOW, a_draft, a_line, a_principle, a_record

BOM = b"\xef\xbb\xbf"
ONE, TWO = a_record("one"), a_record("두 번째")


def file_of(*parts: bytes | Record) -> bytes:
    return b"".join(part.to_line() if isinstance(part, Record) else part for part in parts)


def log_of(*parts: bytes | Record) -> MemoryLog:
    return MemoryLog.parse(file_of(*parts))


def found(*parts: bytes | Record, threshold: int = 50) -> list[tuple[str, str, tuple[int, ...]]]:
    findings = examine(log_of(*parts), now=NOW, threshold=threshold)
    return [(finding.kind, finding.severity, finding.lines) for finding in findings]


def compacted() -> tuple[Record, Record]:
    """A principle and the original that it replaced."""
    log, principle, removal = upsert(
        MemoryLog.parse(ONE.to_line()), a_principle(), [ONE.token], now=LATER
    )
    assert log.records == [principle]
    return principle, removal.removed[0]


def test_a_healthy_log_has_no_findings_and_is_not_touched_by_a_repair() -> None:
    data = file_of(TWO, compacted()[0])
    assert examine(log_of(data), now=LATER) == []
    assert repair(data).data == data
    assert repair(data).aside == b""


def test_an_empty_file_is_healthy() -> None:
    assert examine(log_of(), now=NOW) == []
    assert (repair(b"").data, repair(b"").aside) == (b"", b"")


@pytest.mark.parametrize(
    ("line", "reason", "key"),
    [
        (b"\xff\xfe{}", "not_utf8", ""),
        (b"a note", "not_json", ""),
        (b'{"id": NaN}', "not_json", ""),
        (b"[" * 100_000, "too_deep", ""),
        (b"[1]", "not_object", ""),
        (b'{"id": "a"}', "missing", "type"),
        (a_line(ONE).replace(b'"created"', b'"made"'), "missing", "meta.created"),
        (a_line(ONE).replace(b'"type": "log"', b'"type": "rule"'), "wrong_type", "type"),
        (a_line(ONE).replace(b'"lesson": "', b'"lesson": 1, "x": "'), "wrong_type", "lesson"),
        (a_line(ONE, seen="2"), "wrong_type", "meta.seen"),
        (a_line(ONE, source_ids=[1]), "wrong_type", "meta.source_ids"),
        (b'{"id": "a", "type": "log", "topic": "t", "missing_context": "m", "lesson": "l",'
         b' "meta": []}', "wrong_type", "meta"),
    ],
)  # fmt: skip
def test_an_unreadable_line_is_named_with_its_reason(line: bytes, reason: str, key: str) -> None:
    line = line.rstrip(b"\n") + b"\n"
    [finding] = examine(log_of(ONE, line, TWO), now=NOW)
    assert finding == Finding(
        kind="unreadable",
        severity="error",
        lines=(2,),
        facts={"reason": reason, "key": key},
        fixable=True,
    )
    repaired = repair(file_of(ONE, line, TWO))
    assert repaired.data == file_of(ONE, TWO)
    assert repaired.aside == b"# line 2: unreadable\n" + line


@given(FILES)
def test_a_line_has_a_flaw_exactly_when_it_is_no_record(data: bytes) -> None:
    for line in data.split(b"\n"):
        assert (flaw_of(line) == ("", "")) == (parse_line(line) is not None)


def test_what_editors_leave_is_noted_and_removed() -> None:
    data = BOM + ONE.to_line().replace(b"\n", b"\r\n") + b"\n \r\n" + TWO.to_line().rstrip(b"\n")
    assert found(data) == [
        ("bom", "note", (1,)),
        ("line_ends", "note", (1, 3)),
        ("blank", "note", (2, 3)),
        ("unended", "note", (4,)),
    ]
    assert (repair(data).data, repair(data).aside) == (file_of(ONE, TWO), b"")


def test_the_markers_of_a_conflict_go_and_both_sides_stay() -> None:
    gone = a_record("gone")
    parts: list[bytes | Record] = [
        b"<<<<<<< HEAD\n",
        ONE,
        b"||||||| base\n",
        gone,
        b"=======\n",
        TWO,
        b">>>>>>> x\n",
    ]
    assert found(*parts) == [("conflict", "error", (1, 3, 4, 5, 7))]
    repaired = repair(file_of(*parts))
    assert repaired.data == file_of(ONE, TWO)
    assert repaired.aside == file_of(
        *(b"# line 1: conflict\n", b"<<<<<<< HEAD\n", b"# line 3: conflict\n", b"||||||| base\n"),
        *(b"# line 4: conflict\n", gone, b"# line 5: conflict\n", b"=======\n"),
        *(b"# line 7: conflict\n", b">>>>>>> x\n"),
    )


def test_leftovers_of_a_merge_are_named_by_line_and_moved_aside() -> None:
    principle, original = compacted()
    newer = following(replace(TWO, updated=LATER, lesson="newer"), TWO)
    parts: list[bytes | Record] = [TWO, principle, original, newer]
    assert found(*parts) == [("older_version", "note", (1,)), ("hidden", "warning", (3,))]
    repaired = repair(file_of(*parts))
    assert repaired.data == file_of(principle, newer)
    assert repaired.aside == file_of(
        b"# line 1: leftover\n", TWO, b"# line 3: leftover\n", original
    )


def test_a_principle_saved_on_two_branches_keeps_the_originals_of_both() -> None:
    principle, original = compacted()
    other = replace(principle, updated=LATER, source_ids=(TWO.token,))
    repaired = repair(file_of(principle, other, TWO))
    [left] = MemoryLog.parse(repaired.data).records
    assert left.source_ids == (TWO.token, original.token)
    assert MemoryLog.parse(repaired.data + original.to_line()).records == [left]


def test_an_id_that_no_longer_fits_is_made_to_fit() -> None:
    edited = replace(ONE, missing_context="edited by hand")
    assert found(edited) == [("id_misfit", "warning", (1,))]
    assert repair(file_of(edited)).data == a_record("edited by hand").to_line()


def test_an_edited_record_that_is_another_one_now_is_its_older_or_newer_version() -> None:
    twin = replace(
        a_record("edited"), id=TWO.id, missing_context=ONE.missing_context, updated=LATER
    )
    repaired = repair(file_of(ONE, twin))
    renamed = replace(twin, id=ONE.id)
    assert repaired.data == following(renamed, ONE, renamed).to_line()
    assert repaired.aside == b"# line 1: leftover\n" + ONE.to_line()


def test_an_odd_topic_is_written_as_it_is_read() -> None:
    line = ONE.to_line().replace(b'"payment"', '"  결제 "'.encode())
    assert found(line) == [("id_misfit", "warning", (1,)), ("odd_topic", "note", (1,))]
    assert repair(line).data == a_record("one", topic="결제").to_line()


def test_a_key_that_stands_twice_keeps_its_last_value_and_the_line_is_kept_aside() -> None:
    line = ONE.to_line().replace(b'"lesson": "', b'"lesson": "first", "lesson": "')
    [finding] = examine(log_of(line), now=NOW)
    assert (finding.kind, finding.facts["key"]) == ("key_twice", "lesson")
    repaired = repair(line)
    assert (repaired.data, repaired.aside) == (ONE.to_line(), b"# line 1: key_twice\n" + line)


@pytest.mark.parametrize(
    "line",
    [
        ONE.to_line().rstrip(b"\n") + TWO.to_line(),
        ONE.to_line().rstrip(b"\n") + b", " + TWO.to_line().rstrip(b"\n") + b",\n",
        b"+" + ONE.to_line().rstrip(b"\n") + TWO.to_line(),
    ],
)
def test_records_on_one_line_and_list_commas_are_mended(line: bytes) -> None:
    assert found(line) == [("mendable", "error", (1,))]
    repaired = repair(line)
    assert (repaired.data, repaired.aside) == (file_of(ONE, TWO), b"# line 1: mended\n" + line)


def test_a_line_saved_in_a_korean_code_page_is_mended() -> None:
    line = TWO.to_line().decode().encode("euc-kr")
    assert found(ONE, line) == [("mendable", "error", (2,))]
    assert repair(file_of(ONE, line)).data == file_of(ONE, TWO)


def test_a_record_beside_rubbish_on_one_line_is_not_taken_apart() -> None:
    line = ONE.to_line().rstrip(b"\n") + b" {torn\n"
    assert found(line) == [("unreadable", "error", (1,))]
    assert repair(line).aside == b"# line 1: unreadable\n" + line


def test_what_no_repair_can_decide_is_named_and_left() -> None:
    long = a_record("long", lesson="가" * 400)
    blank = replace(ONE, lesson=" ")
    lost = replace(TWO, updated="yesterday")
    ahead = replace(a_record("ahead"), updated="2030-01-01T00:00:00+00:00")
    odd = replace(a_record("odd"), source_ids=("abc",))
    half = json.dumps(replace(a_record("half"), lesson="\ud800").as_json()).encode() + b"\n"
    parts: list[bytes | Record] = [long, blank, lost, ahead, odd, half]
    assert found(*parts) == [
        ("too_long", "warning", (1,)),
        ("blank_text", "warning", (2,)),
        ("odd_date", "warning", (3,)),
        ("date_ahead", "warning", (4,)),
        ("odd_source", "warning", (5,)),
        ("half_character", "warning", (6,)),
    ]
    assert repair(file_of(*parts)).data == file_of(*parts)


def test_many_records_are_a_note_and_far_too_many_a_warning() -> None:
    records = [a_record(f"gap {number}") for number in range(5)]
    assert found(*records, threshold=5) == []
    assert found(*records, threshold=4) == [("overdue", "note", ())]
    assert found(*records, threshold=2) == [("overdue", "warning", ())]


@pytest.mark.row("P10")
@given(FILES)
def test_a_repair_loses_no_record_and_no_line(data: bytes) -> None:
    before = MemoryLog.parse(data)
    repaired = repair(data)
    after = MemoryLog.parse(repaired.data)
    kept = {(record.type, record.topic, record.key_text, record.lesson) for record in after.records}
    for at, line in enumerate(before.lines):
        content = line.removeprefix(BOM if at == 0 else b"").removesuffix(b"\n")
        record = before.entries[at]
        shown = record and (record.type, record.topic, record.key_text, record.lesson)
        assert shown in kept or not content.strip() or content in repaired.aside


@given(FILES)
def test_after_a_repair_nothing_is_left_that_one_could_mend(data: bytes) -> None:
    repaired = repair(data)
    assert [item for item in examine(log_of(repaired.data), now=LATER) if item.fixable] == []
    again = repair(repaired.data)
    assert (again.data, again.aside) == (repaired.data, b"")


def test_a_repaired_log_takes_the_same_save_as_before() -> None:
    data = file_of(b"<<<<<<< HEAD\n", ONE, b"=======\n", TWO, b">>>>>>> x\n")
    log, saved, _ = upsert(MemoryLog.parse(repair(data).data), a_draft("one"), now=LATER)
    assert (saved.seen, log.records) == (2, [saved, TWO])


def test_a_line_that_goes_for_an_edited_one_lies_aside_as_it_stood_there() -> None:
    twin = replace(ONE, id="0123456789abcdef", updated="2026-02-01T09:00:00+00:00")
    assert found(twin, ONE) == [("same_gap", "warning", (1, 2)), ("id_misfit", "warning", (1,))]
    repaired = repair(file_of(twin, ONE))
    assert MemoryLog.parse(repaired.data).count == 1
    lines = repaired.aside.splitlines(keepends=True)
    assert lines[0].startswith(b"# line ")
    assert lines[1:] in ([twin.to_line()], [ONE.to_line()])


def test_different_records_of_one_id_are_told_and_left() -> None:
    one = a_record("-login missing", topic="auth")
    two = a_record(" missing", topic="auth-login")
    assert found(one, two) == [("shared_id", "warning", (1, 2))]
    assert repair(file_of(one, two)).data == file_of(one, two)


def test_a_file_that_is_only_a_byte_order_mark_is_an_empty_one() -> None:
    assert found(BOM) == [("bom", "note", (1,)), ("blank", "note", (1,)), ("unended", "note", (1,))]
    assert repair(BOM).data == b""


def test_carriage_returns_stay_on_a_line_that_goes_aside() -> None:
    assert repair(b"junk\r\r\n").aside == b"# line 1: unreadable\njunk\r\r\n"


def test_what_a_version_hides_only_once_it_has_taken_over_an_older_one_goes_aside_too() -> None:
    older = replace(TWO, lesson="older", source_ids=(ONE.token,))
    newer = replace(TWO, lesson=ONE.lesson, updated=LATER)
    repaired = repair(file_of(ONE, older, newer))
    assert repaired.aside == file_of(b"# line 2: leftover\n", older, b"# line 1: leftover\n", ONE)
    assert [it.id for it in MemoryLog.parse(repaired.data).records] == [TWO.id]
