"""Tests which session and which client a call is of, over stdio and over HTTP."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from protocol import call

# By who calls: the session without a name, with the name "s1", and the process.
CALLERS = [
    (call.Caller(agent="alice", session="d1", client="cursor"), "d1", "d1", "d1"),
    (call.Caller(agent="alice", client="cursor"), "cursor {day}", "s1", "alice cursor {day}"),
    (call.Caller(agent="bob", client="cursor"), "cursor {day}", "s1", "bob cursor {day}"),
    (call.Caller(agent="alice"), "{day}", "s1", "alice {day}"),
]


def test_a_session_is_the_doors_else_what_is_named_else_the_client_and_the_day() -> None:
    """Over stdio what is named, else the process; people with one client are told apart."""
    assert (call.session_of(" s1 "), call.session_of(), call.session_of(" ")) == (
        "s1",
        call.PROCESS,
        call.PROCESS,
    )
    assert (call.caller(), call.process_of()) == (None, call.PROCESS)
    for who, session, named, process in CALLERS:
        with call.calling(who):
            found = (call.session_of(), call.session_of("s1"), call.process_of())
            today = f"{datetime.now(UTC):%Y-%m-%d}"
            assert found == tuple(it.format(day=today) for it in (session, named, process))
            assert call.client_name() == who.client
    assert call.caller() is None


def test_where_a_server_over_http_was_started_names_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    monkeypatch.delenv("SENTINEL_MEMORY_PROJECT", raising=False)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.chdir(tmp_path / "shop")
    assert call.project_name() == "shop"
    with call.calling(call.Caller(agent="alice")):
        assert call.project_name() == ""
        monkeypatch.setattr("protocol.call.arguments.project", str(tmp_path / "shop"))
        assert call.project_name() == "shop"
