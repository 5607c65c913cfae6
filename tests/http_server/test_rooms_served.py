"""Tests every room over HTTP at once, as two agents of a team use a server with a project."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from http_server.keys import Keys
from http_server.papers import papers_of
from tests.support.git_clones import git
from tests.support.http_server import STATELESS, HttpServer
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

ROOMS = "lessons,sessions,fragments"


class Team:
    """A server with a project, and a key for each of two agents."""

    def __init__(self, server: HttpServer, keys: dict[str, str]) -> None:
        self.server, self.keys = server, keys

    def call(self, agent: str, name: str, **arguments: object) -> str:
        """Call a tool by the key of an agent; the text of its answer."""
        params = {"name": name, "arguments": arguments}
        _, _, answer = self.server.call("tools/call", params, key=self.keys[agent])
        return str(answer["result"]["content"][0]["text"])


@pytest.fixture(scope="module")
def team(team_server: TeamServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    home = tmp_path_factory.mktemp("rooms")
    project = home / "shop"
    project.mkdir()
    git(project, "init", "--quiet")
    environment = {"SENTINEL_MEMORY_FRAGMENTS": team_server.new_dsn()}
    papers = papers_of(environment)
    keys = Keys(papers, keeps_agents_apart=True)
    secrets = {agent: keys.add(f"laptop of {agent}", agent) for agent in ("alice", "bob")}
    papers.close()
    given = ("--rooms", ROOMS, "--project", str(project))
    with HttpServer(home, *given, environment=environment) as running:
        yield Team(running, secrets)


def counted(team: Team) -> list[str]:
    """What the figures say of calls of tools."""
    figures = team.server.ask("GET", "/metrics")[2].decode().splitlines()
    return [it for it in figures if it.startswith("mcp_tool_calls_total")]


@pytest.mark.long  # it costs much
def test_the_tools_of_every_room_are_offered_in_both_eras(team: Team) -> None:
    before = counted(team)
    _, _, older = team.server.call("tools/list", key=team.keys["alice"])
    _, newest = team.server.call_stateless("tools/list", {})
    names = {it["name"] for it in older["result"]["tools"]}
    assert {"search_memory", "log_memory", "context_save", "context_get", "recall"} <= names
    assert names == {it["name"] for it in newest["result"]["tools"]}
    assert counted(team) == before  # to be offered is not to be called


@pytest.mark.long  # it costs much
def test_two_agents_keep_sessions_of_one_project(team: Team) -> None:
    saved = {
        agent: team.call(agent, "context_save", goal=f"Mend the login page, said {agent}")
        for agent in team.keys
    }
    assert saved["alice"].startswith("Saved #") and saved["bob"].startswith("Saved #")
    assert len({it.split()[1] for it in saved.values()}) == 2
    for agent in team.keys:
        found = team.call(agent, "context_search", query="login page")
        assert "said alice" in found and "said bob" in found  # a project's are everybody's
    again = team.call("bob", "context_save", goal="Mend the login page, said alice")
    assert again.startswith(("Updated #", "Saved #"))


@pytest.mark.long  # it costs much
def test_what_one_agent_logs_the_other_finds_and_fragments_stay_apart(team: Team) -> None:
    logged = team.call(
        "alice",
        "log_memory",
        topic="payment",
        missing_context="Nobody said that amounts are in cents",
        lesson="Keep amounts as whole cents",
    )
    assert "payment" in logged or logged.startswith(("Saved", "Logged"))
    assert "whole cents" in team.call("bob", "search_memory", query="amounts")
    team.call("alice", "remember", content="My editor wraps lines at 100", topic="editor")
    assert "wraps lines" in team.call("alice", "recall", text="editor lines")
    assert "wraps lines" not in team.call("bob", "recall", text="editor lines")
    _, _, log = team.server.call("resources/read", {"uri": "memory://log"}, key=team.keys["bob"])
    assert "whole cents" in log["result"]["contents"][0]["text"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "rooms", ["lessons", "sessions", pytest.param("lessons,sessions", marks=pytest.mark.long)]
)
def test_rooms_of_a_project_are_served_without_fragments(tmp_path: Path, rooms: str) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    with HttpServer(tmp_path, "--rooms", rooms, "--project", str(project)) as server:
        _, _, answer = server.call("tools/list", session=server.begin())
        names = {it["name"] for it in answer["result"]["tools"]}
        assert ("search_memory" in names) is ("lessons" in rooms)
        assert ("context_save" in names) is ("sessions" in rooms) and "recall" not in names
        health = json.loads(server.ask("GET", "/health")[2])
        assert health["status"] == "ok" and list(health["checks"]) == ["papers"]
        assert STATELESS in str(server.call_stateless("server/discover", {}))
    with HttpServer(tmp_path, "--rooms", rooms, waits=False) as refused:
        assert refused.process.wait(60) == 2
        assert "--project DIR" in refused.said and rooms.split(",")[0] in refused.said
