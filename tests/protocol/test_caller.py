"""Tests which session and which client a call is of, over stdio and over HTTP."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from protocol.call import (
    PROCESS,
    Caller,
    caller,
    calling,
    client_name,
    process_of,
    project_name,
    session_of,
)

# By who calls: the session without a name, with the name "s1", and the process.
CALLERS = [
    (Caller(agent="alice", session="d1", client="cursor"), "d1", "d1", "d1"),
    (Caller(agent="alice", client="cursor"), "cursor {day}", "s1", "alice cursor {day}"),
    (Caller(agent="bob", client="cursor"), "cursor {day}", "s1", "bob cursor {day}"),
    (Caller(agent="alice"), "{day}", "s1", "alice {day}"),
]


def test_a_session_is_the_doors_else_what_is_named_else_the_client_and_the_day() -> None:
    """Over stdio what is named, else the process; people with one client are told apart."""
    assert (session_of(" s1 "), session_of(), session_of(" ")) == ("s1", PROCESS, PROCESS)
    assert (caller(), process_of()) == (None, PROCESS)
    for who, session, named, process in CALLERS:
        with calling(who):
            found = (session_of(), session_of("s1"), process_of())
            today = f"{datetime.now(UTC):%Y-%m-%d}"
            assert found == tuple(it.format(day=today) for it in (session, named, process))
            assert client_name() == who.client
    assert caller() is None


def test_where_a_server_over_http_was_started_names_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    monkeypatch.delenv("SENTINEL_MEMORY_PROJECT", raising=False)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.chdir(tmp_path / "shop")
    assert project_name() == "shop"
    with calling(Caller(agent="alice")):
        assert project_name() == ""
        monkeypatch.setattr("protocol.call.arguments.project", str(tmp_path / "shop"))
        assert project_name() == "shop"
