"""Tests the real clients against a team's server: HTTP, PostgreSQL, a key or a login each.

Nobody is asked anything, as in test_real_clients.py: setup alone allowed the calls.
"""

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from commands.clients.table import KEY_VARIABLE, TEAM_ENTRY, TOOLS
from tests.clients.desk import (
    CLAUDE_CODE,
    CODEX,
    NEEDS_CLIENTS,
    WAIT_S,
    Client,
    Desk,
    each_client,
    offered,
    rows_of,
)
from tests.clients.desk import cache as cache
from tests.clients.stand_in_model import Call, Script, Step
from tests.support.cli_process import CLI
from tests.support.real_engines import free_port
from tests.support.servers import HttpServer
from tests.support.tables import ROOT
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

pytestmark = NEEDS_CLIENTS

# Which call without a session, as the newest protocol does: theirs is the client and the day.
STATELESS = {"claude-code": "claude-code", "copilot": "copilot-cli"}
OWN, KNOWN = "The refund is half mended", "The shop runs on Node 20"
ASKED = Call("recall", {"query": "what the shop runs on, the refund"})
ROOMS = "fragments,sessions"


class Team:
    """The server over a database. home: of its operator, with the project whose sessions it has."""

    def __init__(self, dsn: str, home: Path) -> None:
        self.home, self.project, self._dsn, self._port = home, home / "served", dsn, free_port()
        self.project.mkdir(parents=True)
        self._environment = {"SENTINEL_MEMORY_FRAGMENTS": dsn, "DB_MAX_CONNECTIONS": "4"}
        self.key("keeper")  # without any the server does not start
        self.server = self._started()

    def restart(self) -> None:
        """End the server as an operator does, and start it again at its address."""
        assert self.server.end() == 0
        self.server = self._started()

    def key(self, agent: str) -> str:
        """Make a key for an agent."""
        done = subprocess.run(
            [sys.executable, str(CLI), "keys", "add", f"of-{agent}", "--agent", agent],
            env={**os.environ, **self._environment, "HOME": str(self.home)},
            cwd=self.home,
            capture_output=True,
            text=True,
            check=True,
        )
        [key] = re.findall(r"\bsmk_\S+", done.stdout)
        return str(key)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the database as its superuser."""
        with psycopg.connect(self._dsn) as connection:
            return connection.execute(query.encode()).fetchall()

    def expire(self) -> int:
        """Let an hour pass for each token; return how many there are."""
        past = "UPDATE agent_memory.papers SET expires_at = %s WHERE kind = 'access'"
        with psycopg.connect(self._dsn) as connection:
            return connection.execute(past, (time.time() - 1,)).rowcount

    def _started(self) -> HttpServer:
        rooms = ("--rooms", ROOMS, "--project", str(self.project))
        return HttpServer(self.home, *rooms, key="", port=self._port, environment=self._environment)


@pytest.fixture(scope="module")
def team(team_server: TeamServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    team = Team(team_server.new_dsn(), tmp_path_factory.mktemp("team"))
    yield team
    team.server.process.kill()
    team.server.process.wait()


@each_client
def test_two_agents_remember_apart_and_go_on_over_a_restart(
    client: Client, team: Team, tmp_path: Path, cache: Path
) -> None:
    desk = Desk(tmp_path, cache, f"{client.key} --url {team.server.url} --rooms {ROOMS}")
    goal, first, second = f"Mend it with {client.key}", f"ann-{client.key}", f"bob-{client.key}"

    def restarted(_: str) -> Step:
        team.restart()
        return ASKED

    script: Script = [
        Call("remember", {"content": KNOWN}),
        Call("remember", {"content": OWN, "scope": "session"}),
        restarted,
        Call("context_save", {"goal": goal}),
    ]
    requests = desk.run(client.with_variables(**{KEY_VARIABLE: team.key(first)}), script)
    assert offered(requests[0]) == sorted([*TOOLS["fragments"], *TOOLS["sessions"]])
    *saved, found, _ = requests[-1].answers
    assert [it for it in saved if "Remembered: " not in it] == []
    assert KNOWN in found and OWN in found
    sessions = team.project / ".context" / "sessions" / "history.db"
    assert rows_of(sessions, "SELECT agent FROM contexts WHERE goal = ?", goal) == [(client.key,)]
    [[session]] = team.rows(
        "SELECT session_id FROM agent_memory.fragments"
        f" WHERE agent_id = '{first}' AND lifetime = 'working'"
    )
    by_day = rf"{STATELESS.get(client.key)} \d{{4}}-\d\d-\d\d"
    assert re.fullmatch(by_day if client.key in STATELESS else "[0-9a-f]{32}", session)

    other = client.with_variables(**{KEY_VARIABLE: team.key(second)})
    answer = desk.run(other, [ASKED])[-1].answers[0]
    assert KNOWN not in answer and OWN not in answer


def log_in(client: Client, desk: Desk, key: str) -> None:
    """Start the login of a client in a terminal; a browser opens, and a person types the key."""
    browser = desk.home / "browser"
    browser.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m'
        ' tests.support.consent_browser "$1"\n')  # fmt: skip
    browser.chmod(0o755)
    import pty  # which Windows has not

    words = ["mcp", "login", TEAM_ENTRY]
    if client is CODEX:
        words += ["-c", f'projects={{"{desk.project}"={{trust_level="trusted"}}}}']
    own = {name: it for name, it in client.environment.items() if it != "URL"}
    own |= {"BROWSER": str(browser), "CONSENT_KEY": key, "TERM": "xterm"}
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [*client.command, *words],
            cwd=desk.project,
            env={**desk.environment(), **own},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ) as process:
            threading.Thread(target=drained, args=[ours], daemon=True).start()
            assert process.wait(WAIT_S) == 0
    finally:
        os.close(theirs)


def drained(terminal: int) -> None:
    """Read the output of a terminal to its end."""
    with contextlib.suppress(OSError), os.fdopen(terminal, "rb") as printed:
        printed.read()


@pytest.mark.parametrize("client", [CODEX, CLAUDE_CODE], ids=lambda client: client.key)
def test_a_client_logs_in_once_and_renews_its_token_in_the_middle_of_its_work(
    client: Client, team: Team, tmp_path: Path, cache: Path
) -> None:
    # in a project, Claude Code wants to be asked about the server before it logs in
    level = "--user" if client is CLAUDE_CODE else ""
    desk = Desk(tmp_path, cache, f"{client.key} --url {team.server.url} --oauth {level}")
    agent, before = f"eve-{client.key}", team.expire()
    log_in(client, desk, team.key(agent))
    expired = list[int]()

    def hour_later(_: str) -> Step:
        expired.append(team.expire())
        return ASKED

    _, found = desk.run(client, [Call("remember", {"content": KNOWN}), hour_later])[-1].answers
    assert KNOWN in found
    assert team.expire() > expired[0] > before
    newest = "SELECT agent_id FROM agent_memory.fragments ORDER BY created_at DESC LIMIT 1"
    assert team.rows(newest) == [(agent,)]
