"""Tests the tools of the sessions as clients meet them: processes that answer over pipes."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.settings import Settings
from rooms.sessions.store import open_sessions
from tests.conftest import StartServer
from tests.support.stdio_client import HANDSHAKE, STATELESS, ServerProcess

ROOMS = ("--rooms", "lessons,sessions")
FAILED = [{"description": "Axios", "result": "failed", "reason": "CORS"}]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    return root


@dataclass(frozen=True)
class Served:
    """A server, and its project."""

    server: ServerProcess
    project: Path


@pytest.fixture(scope="module", params=[HANDSHAKE, STATELESS])
def served(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    start_server: StartServer,
) -> Served:
    """Of several tests, each with a goal of its own."""
    project, era = tmp_path_factory.mktemp("shop"), request.param
    return Served(start_server("--project", str(project), *ROOMS, cwd=project, era=era), project)


@pytest.fixture
def server(served: Served) -> ServerProcess:
    return served.server


def number_in(said: str) -> int:
    found = re.match(r"Saved #(\d+)\.", said)
    assert found, said
    return int(found[1])


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T67")
def test_a_session_is_saved_searched_read_and_warned_of(served: Served) -> None:
    server = served.server
    said = server.call("context_save", goal="Fix the login page", approaches=FAILED)
    one = number_in(said)
    assert said.startswith(f"Saved #{one}.\nFor the team, if it is a rule: log_memory(")
    assert f"#{one} " in server.call("context_search", query="login")
    assert "goal: Fix the login page" in server.call("context_get", id=f"#{one}")
    warned = server.call("context_warn", currentGoal="the login page")
    assert warned.startswith(f"! #{one} Axios: CORS")
    assert server.call("context_save", goal="Fix the login page") == f"Updated #{one}."
    assert open_sessions(served.project, Settings()).get(str(one)).agent == "stdio_client"
    assert not server.strange_lines()


def test_the_tools_of_both_rooms_are_listed(server: ServerProcess) -> None:
    names = [tool["name"] for tool in server.request("tools/list")["result"]["tools"]]
    assert names[:4] == ["search_memory", "log_memory", "compact_memory", "context_save"]
    assert len(names) == 10


def test_a_refusal_is_a_result_with_a_sentence(server: ServerProcess) -> None:
    assert server.refusal("context_get", id="#7").startswith("#7: this project has no such")
    said = server.refusal("context_save", goal="x \ud800", decisions=[{"what": "y \udfff"}])
    assert [line.partition(":")[0] for line in said.splitlines()] == ["goal", "decisions[0].what"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("served", [STATELESS], indirect=True)
def test_two_servers_share_the_sessions_and_each_answers_in_its_form(
    served: Served, start_server: StartServer
) -> None:
    given = {"cwd": served.project, "environment": {"SENTINEL_MEMORY_ANSWERS": "json"}}
    other = start_server("--project", str(served.project), *ROOMS, **given)
    first = served.server.call("context_save", goal="Rotate the backups", status="completed")
    told = json.loads(other.call("context_save", goal="Rotate the backups"))
    assert told["message"] == f"Saved #{number_in(first) + 1}."


@pytest.mark.row("003 T83")
@pytest.mark.long
def test_saves_at_once_are_all_kept(project: Path, start_server: StartServer) -> None:
    servers = [start_server("--project", str(project), *ROOMS, cwd=project) for _ in range(3)]

    def save(server: ServerProcess) -> None:
        asked = [server.ask_tool("context_save", goal=f"{id(server)} {at}") for at in range(10)]
        assert all(server.tool_text(it).startswith("Saved #") for it in asked)

    with ThreadPoolExecutor() as pool:
        list(pool.map(save, servers))
    assert "Sessions: 20 of 30." in servers[0].call("context_search", limit=20)


@pytest.mark.long  # it costs much
def test_a_save_is_answered_although_the_input_closes(
    project: Path, start_server: StartServer
) -> None:
    server = start_server("--project", str(project), *ROOMS, cwd=project)
    asked = server.ask_tool("context_save", goal="Fix the login page")
    assert server.close() == 0
    assert server.tool_text(asked) == "Saved #1."
