"""Keeps a server for a team, whose clients are the real ones: PostgreSQL, HTTP, a key each."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from tests.clients.desk import rows_of
from tests.support.cli_process import CLI
from tests.support.http_server import HttpServer, free_port

OFFERED = "fragments,sessions"


class Team:
    """The server over a database. home: of its operator, with the project whose sessions it has."""

    def __init__(self, dsn: str, home: Path) -> None:
        self.home, self.project, self._dsn = home, home / "served", dsn
        self.project.mkdir(parents=True)
        self._environment = {"SENTINEL_MEMORY_FRAGMENTS": dsn, "DB_MAX_CONNECTIONS": "4"}
        self._port = free_port()
        self.key("keeper")  # without any the server does not start
        self.server = self._started()

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.process.kill()
        self.server.process.wait()

    @property
    def url(self) -> str:
        """What a client is set up with."""
        return self.server.url

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
        """Ask the database as nobody but a superuser can."""
        with psycopg.connect(self._dsn) as connection:
            return connection.execute(query.encode()).fetchall()

    def expire(self) -> int:
        """Let an hour pass for each token; return how many there are."""
        past = "UPDATE agent_memory.papers SET expires_at = %s WHERE kind = 'access'"
        with psycopg.connect(self._dsn) as connection:
            return connection.execute(past, (time.time() - 1,)).rowcount

    def worked(self, goal: str) -> list[str]:
        """Who saved the sessions of the project with a goal, as the room calls them."""
        path = self.project / ".context" / "sessions" / "history.db"
        found = rows_of(path, "SELECT agent FROM contexts WHERE goal = ?", goal)
        return [str(name) for [name] in found]

    def _started(self) -> HttpServer:
        rooms = ("--rooms", OFFERED, "--project", str(self.project))
        return HttpServer(self.home, *rooms, key="", port=self._port, environment=self._environment)
