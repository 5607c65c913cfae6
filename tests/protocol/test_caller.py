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


def test_over_stdio_a_session_is_what_is_named_else_the_process() -> None:
    assert caller() is None
    assert session_of(" s1 ") == "s1"
    assert session_of() == session_of(" ") == PROCESS


def test_over_http_it_is_the_doors_else_what_is_named_else_the_client_and_the_day() -> None:
    with calling(Caller(agent="alice", session="d1", client="cursor")):
        assert session_of("s1") == session_of() == "d1"
        assert client_name() == "cursor"
    with calling(Caller(agent="alice", client="cursor")):
        assert session_of("s1") == "s1"
        assert session_of() == f"cursor {datetime.now(UTC):%Y-%m-%d}"
    with calling(Caller(agent="alice")):
        assert session_of() == f"{datetime.now(UTC):%Y-%m-%d}"
    assert caller() is None


def test_the_work_of_two_people_with_the_same_client_is_told_apart() -> None:
    assert process_of() == PROCESS
    with calling(Caller(agent="alice", session="d1", client="cursor")):
        assert process_of() == "d1"
    with calling(Caller(agent="alice", client="cursor")):
        alice = process_of()
        assert alice == f"alice {session_of()}"
    with calling(Caller(agent="bob", client="cursor")):
        assert process_of() != alice


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
