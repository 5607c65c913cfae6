"""Tests which records `--since` leaves."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.lessons.record import Record
from tests.support.cli_process import Command
from tests.support.git_clones import write
from tests.support.samples import a_record

AGES_H = {"hour": 0.5, "day": 20, "week": 24 * 6, "month": 24 * 29, "year": 24 * 360, "old": 10_000}


def aged(gap: str, hours: float) -> Record:
    created = datetime.now(UTC) - timedelta(hours=hours)
    return a_record(gap, now=created.isoformat(timespec="seconds"))


def gaps(command: Command, *words: str) -> list[str]:
    return [it["missing_context"] for it in command("list", *words, "--json").told["records"]]


@pytest.mark.parametrize(
    ("since", "count"),
    [("1h", 1), ("24h", 2), ("1d", 2), ("7d", 3), ("1w", 3), ("1m", 4), ("1y", 5), ("9y", 6)],
)
def test_since_counts_back_from_now(
    command: Command, project: Path, since: str, count: int
) -> None:
    write(project, *(aged(gap, hours) for gap, hours in AGES_H.items()))
    assert gaps(command, "--since", since) == list(AGES_H)[:count]


@pytest.mark.parametrize(
    "since", ["d", "7", "-7d", "7 d", "7D", "12345d", "2026-02-30", "26-01-01"]
)
def test_what_is_no_time_is_refused(command: Command, since: str) -> None:
    assert command("list", f"--since={since}").refused.startswith("--since: it must be a date such")
