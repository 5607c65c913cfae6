"""Tests the tools of the fragments as clients meet them: processes that answer over pipes."""

import json
import os
import re
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import StartServer
from tests.support.cli_process import Run
from tests.support.sentences import say
from tests.support.stdio_client import HANDSHAKE, ROOT, STATELESS, ServerProcess

ROOMS = ("--rooms", "fragments")
STEPS = 11


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}


@dataclass(frozen=True)
class Served:
    """A server, and the directory with its project and its database."""

    server: ServerProcess
    top: Path


@pytest.fixture(scope="module", params=[HANDSHAKE, STATELESS])
def served(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    start_server: StartServer,
) -> Served:
    """Of several tests, each of which remembers something else."""
    top, era = tmp_path_factory.mktemp("served"), request.param
    (root := top / "shop").mkdir()
    environment = {"SENTINEL_MEMORY_FRAGMENTS": str(top / "memory.db")}
    given = {"cwd": root, "era": era, "environment": environment}
    return Served(start_server("--project", str(root), *ROOMS, **given), top)


@pytest.fixture
def server(served: Served) -> ServerProcess:
    return served.server


def id_in(said: str) -> str:
    [found] = re.findall(r": (\w{8})\.", said)
    return str(found)


def column(tmp_path: Path, question: str) -> list[object]:
    connection = sqlite3.connect(tmp_path / "memory.db")
    try:
        return [row[0] for row in connection.execute(question)]
    finally:
        connection.close()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.10.f", "002 2.84", "004 4.15.a", "004 4.18", "004 4.18.a")
def test_a_fragment_is_kept_recalled_linked_and_forgotten(served: Served) -> None:
    server, tmp_path = served.server, served.top
    one = id_in(server.call("remember", content="The vault has two doors", type="decision"))
    two = id_in(server.call("remember", content="The second door is bricked up", type="fact"))
    assert server.call("link", fromId=one, toId=two) == f"Linked: {one} related {two}."
    assert one in server.call("recall", text="vault doors")
    assert server.call("pin", id=one).startswith("Pinned: ")
    assert server.call("context").splitlines()[1].startswith(f"{one} ")
    [read] = server.request("resources/read", {"uri": f"memory://fragment/{one}"})["result"][
        "contents"
    ]
    assert json.loads(read["text"])["is_anchor"] is True
    assert server.call("forget", id=two, hard=True) == f"Removed for good: 1 ({two})."
    assert column(tmp_path, "SELECT DISTINCT source FROM fragments") == ["shop"]
    assert column(tmp_path, f"SELECT id FROM fragments WHERE id IN ('{one}', '{two}')") == [one]
    assert not list((tmp_path / "shop").iterdir())


def test_a_refusal_is_a_result_with_a_sentence(server: ServerProcess) -> None:
    assert server.refusal("pin", id="unknown").startswith("unknown: there is no such fragment.")
    said = server.refusal("remember", content="x \ud800")
    assert said.startswith("content: it contains half of a character")
    error = server.request("resources/read", {"uri": "memory://fragment/unknown"})["error"]
    assert error["message"].startswith("unknown: there is no such fragment.")
    error = server.request("resources/read", {"uri": "memory://log"})["error"]
    known = "memory://fragment/{id}"
    assert error["message"] == say("en", "no_such_resource", known=known)


@pytest.mark.row("002 2.51", "002 2.65.a")
@pytest.mark.parametrize("served", [HANDSHAKE], indirect=True)
def test_upkeep_tells_its_progress_to_who_asks(server: ServerProcess) -> None:
    server.call("remember", content="Deploys happen on Mondays")
    params = {"name": "memory_consolidate", "arguments": {}, "_meta": {"progressToken": "p1"}}
    assert "result" in server.request("tools/call", params)
    lines = [json.loads(line) for line in server.stdout_lines]
    told = [it["params"] for it in lines if it.get("method") == "notifications/progress"]
    assert [it["progress"] for it in told] == list(range(1, STEPS + 1))
    assert {it["total"] for it in told} == {STEPS}
    assert all(it["message"] for it in told)


@pytest.mark.row("002 2.95", "004 4.18.a")
@pytest.mark.long
def test_writers_at_once_lose_nothing(
    tmp_path: Path, environment: dict[str, str], start_server: StartServer
) -> None:
    servers = [start_server(*ROOMS, cwd=tmp_path, environment=environment) for _ in range(3)]

    def save(server: ServerProcess) -> None:
        asked = [server.ask_tool("remember", content=f"{id(server)} {at}") for at in range(10)]
        assert all(server.tool_text(it).startswith("Remembered: ") for it in asked)

    with ThreadPoolExecutor() as pool:
        list(pool.map(save, servers))
    assert column(tmp_path, "SELECT count(*) FROM fragments") == [30]


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
