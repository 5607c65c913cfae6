"""Tests how a file is cut into lines, and that a line without an end is none of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RefusedError
from core.lessons import upkeep
from core.lessons.log import MemoryLog, split_lines
from core.lessons.record import MOST_LINE_BYTES, Draft, new_record, parse_line
from core.lessons.upkeep import examine, look
from tests.support.changes import upsert
from tests.support.sentences import raised

NOW = "2026-03-02T10:30:00+00:00"
DRAFT = Draft(topic="payment", missing_context="VAT", lesson="Round each line of an invoice.")


@given(st.binary(max_size=60).map(lambda data: data.replace(b"a", b"\n").replace(b"b", b"\r")))
def test_lines_end_with_a_line_feed_and_nothing_is_lost(data: bytes) -> None:
    lines = split_lines(data)
    assert b"".join(lines) == data
    assert all(line.endswith(b"\n") for line in lines[:-1])
    assert all(line.count(b"\n") <= 1 and line for line in lines)


def large(size: int) -> bytes:
    """The line of a record with a key of another program, and so many bytes."""
    line = new_record(DRAFT, now=NOW).to_line()
    return line[:-2] + b', "x": "' + b"y" * (size - len(line) - 9) + b'"}\n'


def test_a_line_above_the_limit_is_no_record_and_stays() -> None:
    assert len(large(MOST_LINE_BYTES)) == MOST_LINE_BYTES
    assert parse_line(large(MOST_LINE_BYTES))
    data = large(MOST_LINE_BYTES + 1)
    assert parse_line(data) is None
    log = MemoryLog.parse(data)
    assert (log.count, log.skipped, log.to_bytes()) == (0, 1, data)
    after, _, _ = upsert(log, DRAFT, now=NOW)
    assert (after.count, after.lines[0]) == (1, data)
    [finding] = examine(log, now=NOW)
    assert (finding.kind, finding.facts["reason"]) == ("unreadable", "too_long_line")


def test_no_change_writes_a_line_that_nobody_could_read() -> None:
    log = MemoryLog.parse(large(MOST_LINE_BYTES))
    with raised(RefusedError, "record_too_large"):
        upsert(log, DRAFT, now="2026-03-09T10:30:00+00:00")  # it would note when and how often


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("most", [MOST_LINE_BYTES, pytest.param(4_194_304, marks=pytest.mark.long)])
def test_a_long_line_is_looked_at_for_secrets_and_keeps_the_rest(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert upkeep.MOST_LOOKED_BYTES == 4_194_304
    monkeypatch.setattr(upkeep, "MOST_LOOKED_BYTES", most)
    secret = b"password = 'Tr0ub4dor&3xyz' "
    line = secret + b"." * most + secret + b"\n"
    [looked] = look(MemoryLog.parse(line))
    assert len(looked.spots) == 1
    assert looked.raw.startswith(b"password = ")
    assert looked.raw.endswith(b"." + secret + b"\n")
