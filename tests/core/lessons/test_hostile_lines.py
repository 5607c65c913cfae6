"""Tests what one line of a log can do to the others, whoever wrote it."""

from dataclasses import replace
from typing import Any

import pytest

from commands.comparison import Comparison
from core.lessons.answers import flaw_notes
from core.lessons.log import MOST_HIDDEN, MemoryLog
from core.lessons.record import Record
from core.lessons.upkeep import examine
from tests.support.changes import log_of, upsert
from tests.support.cli_process import TOKEN
from tests.support.growth import calls
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record

RECORDS = [
    a_record(f"gap {number}", topic=f"topic {number}", lesson=f"rule {number} of the tax office")
    for number in range(12)
]
EVERY_TOKEN = tuple(record.token for record in RECORDS)
PRINCIPLE = upsert(MemoryLog(), a_principle(), now=LATER)[1]


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
        {"lesson": "r[REDACTED]", "missing_context": "g[REDACTED]"},
        {"lesson": "rule", "missing_context": "gap"},
        {"lesson": "\n".join("abcdefghij"), "missing_context": " \n\n "},
    ],
    ids=str,
)
def test_a_log_hides_no_record_that_it_never_was(changed: dict[str, Any]) -> None:
    for lines in ([*RECORDS, hostile(**changed)], [hostile(**changed), *RECORDS]):
        log = log_of(*lines)
        assert (log.count, log.hidden) == (13, [])


def test_a_log_hides_what_it_was_and_no_principle() -> None:
    renamed = a_record("gap 1", topic="renamed", lesson=RECORDS[1].lesson)
    renamed = replace(renamed, updated=LATER, source_ids=(RECORDS[1].token,))
    assert log_of(renamed, *RECORDS).hidden == [(RECORDS[1], renamed)]
    line = replace(hostile(lesson=PRINCIPLE.lesson), source_ids=(PRINCIPLE.token,))
    assert log_of(PRINCIPLE, line).count == 2
    secret = a_record(f"the key of the depot is {TOKEN}", lesson=f"{TOKEN} opens the depot")
    other = a_record("the key of the depot, and more", lesson="XYZ opens the depots")
    clean = a_record("the key of the depot is [REDACTED]", lesson="[REDACTED] opens the depot")
    clean = replace(clean, source_ids=(secret.token, other.token))
    assert log_of(secret, other, clean).records == [other, clean]


def test_a_principle_hides_nothing_that_came_after_it_and_no_more_than_a_compaction_may() -> None:
    newer = [replace(record, created="2026-03-09T09:00:00+00:00") for record in RECORDS]
    principle = replace(PRINCIPLE, source_ids=tuple(record.token for record in newer))
    assert log_of(principle, *newer).count == 13
    assert log_of(*newer, principle).count == 1  # in the order of the file
    records = [a_record(f"gap {number}") for number in range(MOST_HIDDEN + 1)]
    principle = replace(PRINCIPLE, source_ids=tuple(record.token for record in records))
    assert log_of(*records, principle).count == MOST_HIDDEN + 2
    assert log_of(*records[1:], principle).count == 1


def test_what_a_line_hides_is_told_and_no_shadow_or_id_hushes_or_steers_it() -> None:
    principle = replace(PRINCIPLE, source_ids=EVERY_TOKEN)
    log = log_of(*RECORDS, principle)
    assert log.records == [principle]
    assert log.hidden == [(record, principle) for record in RECORDS]
    after, _, removal = upsert(log, a_draft("new"), now=LATER)
    assert [record for record, _ in removal.before.hidden] == RECORDS
    assert after.count == 2
    shadow = replace(a_record("something else"), id=RECORDS[1].id)
    of_one = replace(PRINCIPLE, source_ids=(RECORDS[1].token,))
    log = log_of(*RECORDS, of_one, shadow)
    assert log.hidden == [(RECORDS[1], of_one)]
    kinds = {finding.kind: finding.lines for finding in examine(log, now=LATER)}
    assert kinds["hidden"] == (2,)
    [note] = flaw_notes(log_of(*RECORDS, replace(principle, id="\x1b[31m\nx")))
    assert not {"\x1b", "\n"} & set(note)


def test_neither_an_id_nor_a_date_that_a_hand_wrote_keeps_a_gap_from_being_saved() -> None:
    wanted = a_record("new", now=LATER)
    squatter = replace(a_record("squatter"), id=wanted.id)
    after, saved, _ = upsert(log_of(squatter), a_draft("new"), now=LATER)
    assert saved.id == wanted.id
    assert after.records == [squatter, saved]
    again, _, _ = upsert(after, a_draft("new", lesson="newer"), now=NOW)
    assert [record.lesson for record in again.records] == [squatter.lesson, "newer"]
    ahead = replace(RECORDS[0], updated="2999-01-01T00:00:00+00:00")
    draft = a_draft("gap 0", topic="topic 0", lesson="what holds today")
    after, saved, _ = upsert(log_of(ahead), draft, now=LATER)
    assert after.records == [saved]
    assert log_of(after.to_bytes(), ahead).records == [saved]


@pytest.mark.long  # it costs much
def test_versions_of_one_gap_are_compared_in_linear_time() -> None:
    def looked_at(versions: int) -> None:
        log = log_of(*(a_record(lesson=f"lesson {number}") for number in range(versions)))
        assert log.count == versions
        examine(log, now=LATER)
        Comparison(MemoryLog(), log, {})

    few = calls(lambda: looked_at(100))
    assert calls(lambda: looked_at(800)) < 10 * few


def test_logs_that_list_records_they_never_were_are_passed_over_quickly() -> None:
    texts = "\n".join(f"a long line {number}" for number in range(200))
    line = hostile(lesson=texts, missing_context="anything of [REDACTED] at all")
    lines = [replace(line, id=f"{number:016}").to_line() for number in range(200)]
    told = calls(lambda: log_of(*RECORDS, *lines).count)
    assert told < 1_000 * len(lines)  # to look for secrets in each would be ten times that
