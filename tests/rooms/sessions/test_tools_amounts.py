"""Tests how much the tools of the sessions answer where a caller does not say how much."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from rooms.sessions.store import SessionStore
from tests.support.room import saved
from tests.support.session_tools import Call

GOAL = "the login page"


@pytest.fixture
def many(store: SessionStore) -> None:
    """Seven sessions of one kind of work, without a failure."""
    for at in range(7):
        saved(store, f"Build the login page of shop {at}")


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T42", "003 T53", "003 T64")
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("tool", "argument", "count"),
    [
        ("context_search", "query", 5),
        ("context_warn", "currentGoal", 3),
        ("context_recommend", "currentGoal", 5),
    ],
)
def test_so_many_are_named_by_default(call: Call, tool: str, argument: str, count: int) -> None:
    assert len(re.findall(r"^#\d", call(tool, **{argument: GOAL}), re.M)) == count


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T56")
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(("limit", "has_more"), [(None, True), (6, True), (7, False)])
def test_a_warning_says_whether_more_is_there(
    call: Call, monkeypatch: pytest.MonkeyPatch, limit: int | None, has_more: bool
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    told = json.loads(call("context_warn", currentGoal=GOAL, limit=limit))
    assert told["hasMore"] is has_more


@pytest.mark.row("003 T57")
def test_statistics_count_the_days_of_their_range(call: Call, store: SessionStore) -> None:
    for days in (6, 8, 29, 31, 89, 91):
        moment = datetime.now(UTC) - timedelta(days=days)
        saved(store, f"Work of {days} days ago", now=moment.isoformat(timespec="seconds"))
    counted = {
        range_: int(re.findall(r"^Sessions: (\d+)", call("context_stats", range=range_))[0])
        for range_ in ("last_7_days", "last_30_days", "last_90_days", "all")
    }
    assert counted == {"last_7_days": 1, "last_30_days": 3, "last_90_days": 5, "all": 6}
