"""Tests the tools of the sessions as clients meet them: processes that answer over pipes."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.settings import Settings
from rooms.sessions.store import open_sessions
from tests.conftest import StartServer
from tests.support.stdio_client import HANDSHAKE, STATELESS, Era, ServerProcess

ROOMS = ("--rooms", "lessons,sessions")
FAILED = [{"description": "Axios", "result": "failed", "reason": "CORS"}]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    return root


@pytest.fixture(params=[HANDSHAKE, STATELESS])
def server(
    request: pytest.FixtureRequest, project: Path, start_server: StartServer
) -> Iterator[ServerProcess]:
    era: Era = request.param
    yield start_server("--project", str(project), *ROOMS, cwd=project, era=era)


def test_a_session_is_saved_searched_read_and_warned_of(
    server: ServerProcess, project: Path
) -> None:
    said = server.call("context_save", goal="Fix the login page", approaches=FAILED)
    assert said.startswith("Saved #1.\nFor the team, if it is a rule: log_memory(")
    assert "#1 " in server.call("context_search", query="login")
    assert "goal: Fix the login page" in server.call("context_get", id="#1")
    assert server.call("context_warn", currentGoal="the login page").startswith("! #1 Axios: CORS")
    assert server.call("context_save", goal="Fix the login page") == "Updated #1."
    assert open_sessions(project, Settings()).get("1").agent == "stdio_client"
    assert not server.strange_lines()


def test_the_tools_of_both_rooms_are_listed(server: ServerProcess) -> None:
    names = [tool["name"] for tool in server.request("tools/list")["result"]["tools"]]
    assert names[:4] == ["search_memory", "log_memory", "compact_memory", "context_save"]
    assert len(names) == 10


def test_a_refusal_is_a_result_with_a_sentence(server: ServerProcess) -> None:
    assert server.refusal("context_get", id="#7").startswith("#7: this project has no such")
    said = server.refusal("context_save", goal="x \ud800", decisions=[{"what": "y \udfff"}])
    assert [line.partition(":")[0] for line in said.splitlines()] == ["goal", "decisions[0].what"]


def test_two_servers_share_the_sessions_and_each_answers_in_its_form(
    project: Path, start_server: StartServer
) -> None:
    one, other = (
        start_server("--project", str(project), *ROOMS, cwd=project, environment=environment)
        for environment in ({}, {"SENTINEL_MEMORY_ANSWERS": "json"})
    )
    first = one.call("context_save", goal="Fix the login page", status="completed")
    assert first == "Saved #1."
    told = json.loads(other.call("context_save", goal="Fix the login page"))
    assert told["message"] == "Saved #2."


@pytest.mark.long
def test_saves_at_once_are_all_kept(project: Path, start_server: StartServer) -> None:
    servers = [start_server("--project", str(project), *ROOMS, cwd=project) for _ in range(3)]

    def save(server: ServerProcess) -> None:
        asked = [server.ask_tool("context_save", goal=f"{id(server)} {at}") for at in range(10)]
        assert all(server.tool_text(it).startswith("Saved #") for it in asked)

    with ThreadPoolExecutor() as pool:
        list(pool.map(save, servers))
    assert "Sessions: 20 of 30." in servers[0].call("context_search", limit=20)


def test_a_save_is_answered_although_the_input_closes(
    project: Path, start_server: StartServer
) -> None:
    server = start_server("--project", str(project), *ROOMS, cwd=project)
    asked = server.ask_tool("context_save", goal="Fix the login page")
    assert server.close() == 0
    assert server.tool_text(asked) == "Saved #1."
