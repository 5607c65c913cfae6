"""Tests what one line of a log can do to the others, whoever wrote it."""

from dataclasses import replace
from typing import Any

import pytest

from core.lessons.changes import upsert
from core.lessons.log import MemoryLog
from core.lessons.merging import MOST_HIDDEN
from core.lessons.record import Record
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record

RECORDS = [
    a_record(f"gap {number}", topic=f"topic {number}", lesson=f"rule {number} of the tax office")
    for number in range(12)
]
EVERY_TOKEN = tuple(record.token for record in RECORDS)
PRINCIPLE = upsert(MemoryLog(), a_principle(), now=LATER)[1]


def log_of(*records: Record) -> MemoryLog:
    return MemoryLog.parse(b"".join(record.to_line() for record in records))


def hostile(**changed: Any) -> Record:
    return replace(a_record("anything", now=LATER), source_ids=EVERY_TOKEN, **changed)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"updated": "2999-01-01T00:00:00+00:00"},
        {"topic": "topic 1"},
        {"lesson": "[REDACTED]", "missing_context": "[REDACTED]"},
        {"lesson": "", "missing_context": ""},
        {"lesson": "rule", "missing_context": "gap"},
        {"lesson": "\n".join("abcdefghij"), "missing_context": " \n\n "},
    ],
    ids=str,
)
def test_a_log_hides_no_record_that_it_never_was(changed: dict[str, Any]) -> None:
    for lines in ([*RECORDS, hostile(**changed)], [hostile(**changed), *RECORDS]):
        log = log_of(*lines)
        assert log.count == 13
        assert log.hidden == []


def test_a_log_under_another_topic_still_hides_what_it_was() -> None:
    renamed = replace(
        a_record("gap 1", topic="renamed", lesson=RECORDS[1].lesson),
        updated=LATER,
        source_ids=(RECORDS[1].token,),
    )
    log = log_of(renamed, *RECORDS)
    assert log.hidden == [(RECORDS[1], renamed)]


def test_a_log_hides_no_principle() -> None:
    line = hostile(lesson=PRINCIPLE.lesson)
    line = replace(line, source_ids=(PRINCIPLE.token,))
    assert log_of(PRINCIPLE, line).count == 2


def test_a_principle_hides_nothing_that_came_after_it() -> None:
    newer = [replace(record, created="2026-03-09T09:00:00+00:00") for record in RECORDS]
    principle = replace(PRINCIPLE, source_ids=tuple(record.token for record in newer))
    assert log_of(principle, *newer).count == 13
    assert log_of(*newer, principle).count == 1  # in the order of the file


def test_a_principle_that_lists_more_than_a_compaction_replaces_hides_nothing() -> None:
    records = [a_record(f"gap {number}") for number in range(MOST_HIDDEN + 1)]
    principle = replace(PRINCIPLE, source_ids=tuple(record.token for record in records))
    assert log_of(*records, principle).count == MOST_HIDDEN + 2
    assert log_of(*records[1:], principle).count == 1


def test_what_a_principle_hides_is_named_with_it() -> None:
    principle = replace(PRINCIPLE, source_ids=EVERY_TOKEN)
    log = log_of(*RECORDS, principle)
    assert log.records == [principle]
    assert log.hidden == [(record, principle) for record in RECORDS]


def test_a_save_tells_which_hidden_records_it_took_out() -> None:
    log = log_of(*RECORDS, replace(PRINCIPLE, source_ids=EVERY_TOKEN))
    after, _, removal = upsert(log, a_draft("new"), now=LATER)
    assert removal.hidden == tuple(RECORDS)
    assert after.count == 2


def test_an_id_that_does_not_fit_its_text_takes_no_place_from_a_record() -> None:
    wanted = a_record("new", now=LATER)
    squatter = replace(a_record("squatter"), id=wanted.id)
    after, saved, _ = upsert(log_of(squatter), a_draft("new"), now=LATER)
    assert saved.id == wanted.id
    assert after.records == [squatter, saved]
    again, _, _ = upsert(after, a_draft("new", lesson="newer"), now=NOW)
    assert [record.lesson for record in again.records] == [squatter.lesson, "newer"]


@pytest.mark.parametrize("seen", [10**9, 10**30, -1, 2.5, True, "9"])
def test_a_count_that_no_program_wrote_makes_the_line_unreadable(seen: object) -> None:
    line = RECORDS[0].to_line().replace(b'"meta": {', f'"meta": {{"seen": {seen!r}, '.encode())
    log = MemoryLog.parse(line + RECORDS[1].to_line())
    assert log.count == 1
    assert log.skipped == 1


def test_a_date_far_ahead_does_not_keep_a_gap_from_being_saved() -> None:
    ahead = replace(RECORDS[0], updated="2999-01-01T00:00:00+00:00")
    draft = a_draft("gap 0", topic="topic 0", lesson="what holds today")
    after, saved, _ = upsert(log_of(ahead), draft, now=LATER)
    assert after.records == [saved]
    merged = MemoryLog.parse(after.to_bytes() + ahead.to_line())
    assert merged.records == [saved]
