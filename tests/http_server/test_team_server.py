"""Tests a server of a team: real processes over a real PostgreSQL, which strangers and agents try.

Each attack has worked once, or would be the first to be tried.
"""

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
import pytest

from http_server.access_keys import Keys
from http_server.papers import papers_of
from tests.http_server.http_requests import requests_in, wrong_answers
from tests.http_server.login_flow import BACK, question
from tests.rooms.crowds import Outcome, draft, stored, wrong_with
from tests.support.consent_browser import answered
from tests.support.git_clones import git
from tests.support.real_engines import OWNER, free_port, postgres, valkey
from tests.support.servers import KEY, STATELESS, WAIT_S, HttpServer, hello, until
from tests.support.tables import none_of, table, text_of
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

PLACE, AGENTS = "SENTINEL_MEMORY_FRAGMENTS", ("alice", "bob", "default")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PASSWORD = "pass-word-of-the-database"
TOKEN = "ghp_" + "a1B2c3D4e5" * 4  # of a kind that is redacted, too
NODE = "The shop runs on Node 20"


def keys_at(dsn: str) -> dict[str, str]:
    """A key for each agent."""
    papers = papers_of({PLACE: dsn})
    keys = Keys(papers, keeps_agents_apart=True)
    made = {agent: keys.add(agent, agent) for agent in AGENTS}
    papers.close()
    return made


class Team(HttpServer):
    """A server with a project that agents reach with their keys; it believes a proxy who calls."""

    def __init__(self, home: Path, dsn: str) -> None:
        self.dsn, self.keys, self.log, project = dsn, keys_at(dsn), home / "log", home / "shop"
        project.mkdir()
        git(project, "init", "--quiet")
        port = free_port()
        super().__init__(
            *(home, "--rooms", "lessons,sessions,fragments", "--project", str(project)),
            *("--url", f"http://127.0.0.1:{port}", "--sse"),
            port=port,
            environment={
                PLACE: dsn,
                "LOG_DIR": str(self.log),
                "DB_MAX_CONNECTIONS": "2",
                "DB_CONN_TIMEOUT_MS": "15000",
            },
        )

    def by(self, agent: str, name: str, **given: object) -> str:
        """The answer of a tool to an agent."""
        call = {"name": name, "arguments": given}
        _, _, answer = self.call("tools/call", call, key=self.keys[agent])
        return str(answer["result"]["content"][0]["text"])

    def saved(self, agent: str, content: str, **given: object) -> str:
        """The id of a fragment that an agent saves."""
        said = self.by(agent, "remember", content=content, **given)
        [id_] = re.findall(r"^Remembered: (\w+)", said)
        return str(id_)

    def client(self) -> str:
        """The id of a client that registers."""
        answer = self.ask("POST", "/register", {"redirect_uris": [BACK]}, key="")[2]
        return str(json.loads(answer)["client_id"])


@pytest.fixture(scope="module")
def team(team_server: TeamServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    dsn = team_server.new_dsn(password=PASSWORD)
    with Team(tmp_path_factory.mktemp("team"), dsn) as made:
        yield made


# Strangers


def test_a_text_that_the_database_does_not_take_is_unknown(team: Team) -> None:
    tried = requests_in("http_no_texts", {"client": team.client()}, key="")
    none_of(wrong_answers(team, tried))
    assert "DataError" not in team.said


def test_questions_are_counted_by_the_address_that_a_proxy_names(team: Team) -> None:
    asking = f"/authorize?{urlencode(question(team.client()))}"
    flood = {"X-Forwarded-For": "203.0.113.8"}
    codes = [team.ask("GET", asking, key="", headers=flood)[0] for _ in range(40)]
    assert (set(codes[:30]), codes[-1]) == ({302}, 429)
    assert team.figure("http_rejected_tries_total") == codes.count(429)
    refused = team.figure("http_wrong_credentials_total")
    with pytest.raises(OSError, match="403"):
        answered(f"http://127.0.0.1:{team.port}{asking}", "wrong")  # which the operator is shown
    assert team.figure("http_wrong_credentials_total") == refused + 1


@pytest.mark.row("002 2.68")
def test_no_text_of_anybody_is_in_the_log_the_figures_or_the_health(team: Team) -> None:
    places = json.loads(text_of("http_everywhere.json", secret=TOKEN))
    for method, params in places["calls"]:
        body = {"jsonrpc": "2.0", "id": TOKEN, "method": method, "params": params}
        team.ask("POST", "/mcp", body)
        stateless = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": TOKEN, "Mcp-Name": TOKEN}
        team.ask("POST", "/mcp", body, headers=stateless)
    team.ask("POST", "/mcp", TOKEN.encode(), headers={"Content-Type": "application/json"})
    for name, method in product(places["headers"], ("GET", "POST", "OPTIONS", "DELETE")):
        team.ask(method, "/mcp", b"{}", headers={name: TOKEN})
    for kind in ("Bearer", "Basic"):
        team.ask("GET", "/mcp", headers={"Authorization": f"{kind} {TOKEN}"}, key="")
    methods = ("GET", "POST", TOKEN.upper().replace("_", "")[:20])
    for path, method in product(places["paths"], methods):
        team.ask(method, path, f"token={TOKEN}".encode(), key="")  # /sse would not end
    for path in places["forms"]:
        team.ask("POST", path, f"client_id={TOKEN}&key={TOKEN}".encode(), key="")
        team.ask("POST", path, {"client_name": TOKEN, "redirect_uris": [TOKEN]}, key="")
    team.raw(f"{TOKEN}\r\n\r\n".encode())
    team.raw(f"GET /{TOKEN} HTTP/1.1\r\nHost: {TOKEN}\r\nA{TOKEN}\r\n\r\n".encode())
    figures, health = (team.ask("GET", it)[2].decode() for it in ("/metrics", "/health"))
    [file] = team.log.iterdir()
    for told in (team.said, file.read_text("utf-8"), figures, health):
        assert told
        for secret in (TOKEN, KEY, PASSWORD, TOKEN[:20].upper().replace("_", "")):
            assert secret not in told
    assert "Traceback" not in team.said and "failed" not in team.said


# Other agents


MADE_UP = "zzzzzzzz"
NAMING = table("fragments_named")  # by tool: arguments with the id of another's and an own one


def test_a_fragment_of_another_agent_is_as_unknown_as_one_that_never_was(team: Team) -> None:
    theirs = team.saved("alice", "Alice keeps this for herself", topic="vault")
    own = team.saved("bob", "Bob keeps this", topic="vault")
    for tool, given in NAMING.items():
        told = []
        for id_ in (theirs, MADE_UP):
            named = json.loads(json.dumps(given).replace("{id}", id_).replace("{own}", own))
            told.append(team.by("bob", tool.partition(" ")[0], **named).replace(id_, "ID"))
        assert told[0] == told[1], tool
        assert "no such fragment" in told[0], tool
    told = []
    for id_ in (theirs, MADE_UP, f"{theirs}' OR 'a'='a", f"../{theirs}", f"%00{theirs}"):
        uri = f"memory://fragment/{quote(id_, safe='%')}"
        _, _, answer = team.call("resources/read", {"uri": uri}, key=team.keys["bob"])
        assert "for herself" not in json.dumps(answer) and "error" in answer
        told.append(json.dumps(answer).replace(id_, "ID"))
    assert told[0] == told[1]
    assert "for herself" in team.by("alice", "recall", topic="vault")


def test_the_rooms_of_a_project_are_everybodys_and_fragments_stay_apart(team: Team) -> None:
    def counted() -> list[str]:
        figures = team.ask("GET", "/metrics")[2].decode().splitlines()
        return [it for it in figures if it.startswith("mcp_tool_calls_total")]

    before = counted()
    _, _, older = team.call("tools/list", key=team.keys["alice"])
    names = {it["name"] for it in older["result"]["tools"]}
    assert {"search_memory", "log_memory", "context_save", "context_get", "recall"} <= names
    newest = team.call_stateless("tools/list", {})[1]
    assert names == {it["name"] for it in newest["result"]["tools"]}
    assert counted() == before  # to be offered is not to be called
    saved = {it: team.by(it, "context_save", goal=f"Mend the login, said {it}") for it in AGENTS}
    assert all(it.startswith("Saved #") for it in saved.values())
    assert len({it.split()[1] for it in saved.values()}) == len(AGENTS)
    lesson = {"topic": "payment", "missing_context": "Amounts are in cents"}
    team.by("alice", "log_memory", **lesson, lesson="Keep amounts as whole cents")
    for agent in AGENTS:
        found = team.by(agent, "context_search", query="login")
        assert all(f"said {it}" in found for it in AGENTS)
        assert "whole cents" in team.by(agent, "search_memory", query="amounts")
    team.by("alice", "remember", content="My editor wraps lines at 100", topic="editor")
    assert "wraps lines" in team.by("alice", "recall", text="editor lines")
    assert "wraps lines" not in team.by("bob", "recall", text="editor lines")
    old_client = team.stream("/sse", f"Authorization: Bearer {team.keys['alice']}")
    with old_client as read_until:  # it names its key once
        begun = read_until(b"session_id=") and read_until(b"\r\n\r\n")
        path = "/message?session_id=" + begun.split(b"session_id=")[1][:32].decode()
        recall = {"name": "recall", "arguments": {"text": "editor lines"}}
        for method, params in (("initialize", hello()), ("tools/call", recall)):
            body = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
            assert team.ask("POST", path, body, key="")[0] == 202
            read_until(f'"id":"{method}"'.encode())
        assert b"wraps lines" in read_until(b'"isError"')
    _, _, log = team.call("resources/read", {"uri": "memory://log"}, key=team.keys["bob"])
    assert "whole cents" in log["result"]["contents"][0]["text"]


# The database: busy, away, and back.


@contextmanager
def locked(dsn: str) -> Iterator[None]:
    """Keep everybody from the fragments."""
    with psycopg.connect(dsn) as connection:
        connection.execute("LOCK TABLE agent_memory.fragments IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


def wait_for(server: HttpServer, name: str, value: float) -> None:
    until(lambda: server.figure(name) == value)


@pytest.mark.long  # it waits long
def test_the_figures_tell_how_the_connections_are_used(team: Team) -> None:
    team.saved("default", NODE, topic="shop")
    wait_for(team, "db_connections_in_use", 0)
    assert team.figure("db_connections_idle") in (1, 2)
    with ThreadPoolExecutor(5) as threads, locked(team.dsn):
        asked = [threads.submit(team.by, "default", "recall", text="node") for _ in range(5)]
        wait_for(team, "db_connections_in_use", 2)
        wait_for(team, "db_calls_waiting", 3)
        assert team.figure("db_connections_idle") == 0
        answers = [it.result(WAIT_S) for it in asked]
    assert all("Nothing was saved" in it for it in answers), answers
    assert any("All 2 connections" in it for it in answers), answers
    assert "postgresql" not in str(answers) and "postgresql" in team.said
    assert "Node 20" in team.by("default", "recall", text="node")


@pytest.mark.long  # it waits long
def test_one_consolidation_runs_at_a_time(team: Team) -> None:
    with ThreadPoolExecutor(4) as threads, locked(team.dsn):
        callers = ("default", "alice", "bob", "bob")
        asked = [threads.submit(team.by, it, "memory_consolidate") for it in callers]
        until(lambda: sum(it.done() for it in asked) == 3)  # they do not wait for the fourth
        assert all("already, for another call" in it.result() for it in asked if it.done())
    assert "already" not in team.by("bob", "memory_consolidate")


def checks_of(server: HttpServer) -> tuple[int, dict[str, Any]]:
    status, _, body = server.ask("GET", "/health")
    found = json.loads(body).get("checks", {})  # none where nobody can tell whose the key is
    return status, {name: it["status"] for name, it in found.items()}


AWAY = {
    **dict.fromkeys(("/authorize?client_id=x", "/consent?txn=x"), ("GET", "text/html")),
    **dict.fromkeys(("/mcp", "/token", "/register"), ("POST", "application/json")),
}


@pytest.mark.long  # it costs a server of its own
@pytest.mark.row("002 2.6")
def test_health_says_which_of_postgresql_and_redis_is_gone_and_strangers_learn_nothing(
    tmp_path: Path,
) -> None:
    with postgres() as database, valkey() as redis:
        dsn = database.dsn(database.new_database())
        environment = {PLACE: dsn, "SENTINEL_MEMORY_REDIS": redis.address}
        environment["DB_CONN_TIMEOUT_MS"] = "1000"
        with HttpServer(tmp_path, environment=environment) as server:
            server.tool("remember", content=NODE, topic="shop")
            well, key = {"papers": "ok", "engine": "ok", "redis": "ok"}, keys_at(dsn)["alice"]
            session = server.begin(key=key)
            assert checks_of(server) == (200, well)
            redis.kill()
            seen = until(lambda: (it := checks_of(server))[1].get("redis") == "failed" and it)
            assert seen == (200, {**well, "redis": "failed"})
            assert "Node 20" in server.tool("recall", text="node")
            assert server.figure("redis_errors") > 0 == server.figure("redis_hits")
            database.stop("fast")  # it writes all rows to disk first
            until(lambda: checks_of(server)[0] == 503)
            told = [server.call("ping", session=session, key=key)]
            assert (told[0][0], told[0][1]["retry-after"]) == (503, "2")
            health = server.ask("GET", "/health", key=key)  # whose it is nobody can tell
            assert (health[0], json.loads(health[2])) == (503, {"status": "failed"})
            assert "mcp_sessions 1.0" in server.ask("GET", "/metrics")[2].decode()
            refused = server.tool("recall", text="node")
            assert "Node 20" not in refused and "Nothing was" in refused
            for path, (method, kind) in AWAY.items():
                form = b"grant_type=authorization_code&client_id=x&code=y&code_verifier=z"
                given = {"redirect_uris": [BACK]} if path == "/register" else form
                headers = FORM if given == form else {}
                answer = server.ask(method, path, given, key="smk_x", headers=headers)
                told.append(answer)
                text = answer[2].decode()
                assert kind in answer[1]["content-type"], path
                assert ("temporarily_unavailable" in text) == (path in ("/token", "/register"))
                assert (answer[0], answer[1]["retry-after"]) == (503, "2"), path
                assert "cannot use its database" in text
            for piece in ("postgresql", str(database.directory), OWNER, dsn[-12:]):
                assert piece not in str((told, refused, health)), piece
            assert "postgresql://" in server.said  # the operator is told
            database.start()
            until(lambda: server.ask("GET", "/health")[0] == 200)
            assert server.call("ping", session=session, key=key)[0] == 200
            assert "Node 20" in server.tool("recall", text="node")
        assert "Traceback" not in server.said


@pytest.mark.row("002 2.101")
@pytest.mark.long
def test_a_killed_process_loses_nothing_and_others_serve_its_sessions(
    team_server: TeamServer, tmp_path: Path
) -> None:
    dsn = team_server.new_dsn()
    environment = {PLACE: dsn, "DB_MAX_CONNECTIONS": "4"}
    with (
        HttpServer(tmp_path / "one", environment=environment) as one,
        HttpServer(tmp_path / "other", environment=environment) as other,
    ):
        session = one.begin()
        is_over = threading.Event()
        outcomes = [Outcome([], [], []) for _ in range(3)]

        def write(number: int) -> None:
            at = 0
            while not is_over.is_set():
                at += 1
                content = draft(f"{number} {at}").content
                asked = one if one.process.poll() is None else other
                try:
                    asked.tool("remember", session, content=content)
                    outcomes[number].kept.append(content)
                except (OSError, ValueError, TypeError, IndexError, EOFError):
                    outcomes[number].unknown.append(content)  # its process is gone
                except Exception as error:  # of http.client, whose kinds are many
                    assert type(error).__module__ == "http.client", error
                    outcomes[number].unknown.append(content)

        with ThreadPoolExecutor(len(outcomes)) as threads:
            writing = [threads.submit(write, number) for number in range(len(outcomes))]
            until(lambda: all(len(it.kept) > 3 for it in outcomes))
            one.process.kill()
            before = [len(it.kept) for it in outcomes]
            until(lambda: all(len(it.kept) > had for it, had in zip(outcomes, before, strict=True)))
            is_over.set()
            for it in writing:
                it.result(WAIT_S)
        assert wrong_with(dsn, outcomes) == []
        assert len(stored(dsn)) >= sum(len(it.kept) for it in outcomes)
        assert "country" in other.tool("recall", session, query="zebra tax")
        assert KEY not in other.said and "zebra" not in other.said
