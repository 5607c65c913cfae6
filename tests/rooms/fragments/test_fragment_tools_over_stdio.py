"""Tests the tools of the fragments as clients meet them: processes that answer over pipes."""

import json
import os
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.conftest import StartServer
from tests.support.cli_process import Run
from tests.support.stdio_client import HANDSHAKE, ROOT

ROOMS = ("--rooms", "fragments")
STEPS = 11


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}


def column(tmp_path: Path, question: str) -> list[object]:
    connection = sqlite3.connect(tmp_path / "memory.db")
    try:
        return [row[0] for row in connection.execute(question)]
    finally:
        connection.close()


@pytest.mark.row("002 2.10.f", "002 2.51", "002 2.65.a")
def test_upkeep_tells_its_progress_to_who_asks(
    tmp_path: Path, environment: dict[str, str], start_server: StartServer
) -> None:
    server = start_server(*ROOMS, cwd=tmp_path, environment=environment, era=HANDSHAKE)
    server.call("remember", content="Deploys happen on Mondays")
    params = {"name": "memory_consolidate", "arguments": {}, "_meta": {"progressToken": "p1"}}
    assert "result" in server.request("tools/call", params)
    lines = [json.loads(line) for line in server.stdout_lines]
    told = [it["params"] for it in lines if it.get("method") == "notifications/progress"]
    assert [it["progress"] for it in told] == list(range(1, STEPS + 1))
    assert {it["total"] for it in told} == {STEPS}
    assert all(it["message"] for it in told)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.46")
def test_a_save_is_answered_and_working_memory_ended_when_the_input_closes(
    tmp_path: Path, environment: dict[str, str], start_server: StartServer
) -> None:
    server = start_server(*ROOMS, cwd=tmp_path, environment=environment)
    server.call("remember", content="Look at the vault next", scope="session")
    asked = server.ask_tool("remember", content="The vault has two doors")
    assert server.close() == 0
    assert server.tool_text(asked).startswith("Remembered: ")
    kept = "SELECT content FROM fragments WHERE deleted_at = '' AND topic != 'session'"
    assert column(tmp_path, kept) == ["The vault has two doors"]
    assert column(tmp_path, "SELECT ended_at != '' FROM activities") == [1]


@pytest.mark.long  # it costs much
def test_a_held_database_does_not_hold_up_the_end(
    tmp_path: Path, environment: dict[str, str], start_server: StartServer
) -> None:
    environment["SENTINEL_MEMORY_LOCK_TIMEOUT_S"] = "3600"
    server = start_server(*ROOMS, cwd=tmp_path, environment=environment)
    server.call("remember", content="Look at the vault next", scope="session")
    connection = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    assert server.close() == 0
    connection.execute("ROLLBACK")
    connection.close()
    assert column(tmp_path, "SELECT deleted_at FROM fragments") == [""]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.46", "002 2.78")
def test_a_signal_ends_the_session_too(
    tmp_path: Path, environment: dict[str, str], start_server: StartServer
) -> None:
    server = start_server(*ROOMS, cwd=tmp_path, environment=environment)
    server.call("remember", content="Look at the vault next", scope="session")
    server.terminate()
    assert column(tmp_path, "SELECT ended_at != '' FROM activities") == [1]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SENTINEL_MEMORY_EMBEDDINGS", "ftp://models.example"),
        pytest.param("SENTINEL_MEMORY_JUDGE", "oracle", marks=pytest.mark.long),
    ],
)
def test_a_wrong_setting_of_a_model_ends_the_start_where_the_room_is_on(
    variable: str, value: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    given = {**os.environ, **environment, variable: value}
    command = (sys.executable, str(ROOT / "server.py"))
    started = Run.process(*command, *ROOMS, cwd=tmp_path, environment=given)
    assert (started.code, started.out) == (2, "")
    assert started.errors.startswith(f"server.py: {variable}")
    assert value not in started.errors
    other = Run.process(*command, "--version", cwd=tmp_path, environment=given)
    assert other.code == 0
