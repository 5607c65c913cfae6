"""The ways on which a story reaches the tools: in this process, over stdio, over HTTP.

Over stdio and HTTP one server serves all stories that have the same environment, in one project
that is emptied between them, as log and sessions are read anew at each call. The fragments keep
their database open, and the rows of one outside the project are removed. A story with local steps
looks at them in the user's directory: it has a server of its own.
"""

import asyncio
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, ExitStack, closing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.exceptions import McpError, ToolError
from mcp.types import Implementation

from tests.stories.story import Answer, Story
from tests.support.room_tools import put_back
from tests.support.servers import WAIT_S, HttpServer, ServerProcess
from tests.support.tables import ROOT

Ask = Callable[[str, dict[str, Any]], Any]  # returns a server's answer to a method with parameters


def asked(tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the method and the parameters of a step that calls a tool, `read` or `prompt`."""
    if tool == "read":
        return "resources/read", arguments
    if tool == "prompt":
        given = {name: str(value) for name, value in arguments.items()}
        return "prompts/get", {"name": given.pop("name"), "arguments": given}
    return "tools/call", {"name": tool, "arguments": arguments}


class InProcess:
    """Calls tools in this process, as a client of FastMCP does."""

    def __init__(self, rooms: str) -> None:
        self._rooms = ExitStack()
        self._rooms.enter_context(put_back())
        spec = spec_from_file_location("server_of_stories", ROOT / "server.py")
        assert spec and spec.loader
        program = module_from_spec(spec)  # a server of its own, so that its rooms are its own
        spec.loader.exec_module(program)
        assert not program.offer_rooms(rooms.split(","))
        self._server, self._clients = program.mcp, dict[str, Client[Any]]()
        self._opened = AsyncExitStack()
        self._loop = asyncio.new_event_loop()  # which stands still between two calls

    def call(self, agent: str, tool: str, arguments: dict[str, Any]) -> Answer:
        if agent not in self._clients:
            who = Implementation(name=agent, version="1")
            client = Client(self._server, client_info=who)
            self._clients[agent] = self._done(self._opened.enter_async_context(client))
        client, (method, params) = self._clients[agent], asked(tool, arguments)
        try:
            if method == "resources/read":
                [content] = self._done(client.read_resource(**params))
            elif method == "prompts/get":
                [message] = self._done(client.get_prompt(**params)).messages
                content = message.content
            else:
                [content] = self._done(client.call_tool(**params)).content
        except (ToolError, McpError) as error:
            return Answer(str(error), is_refused=True)
        return Answer(content.text)

    def close(self) -> None:
        self._done(self._opened.aclose())
        self._loop.close()
        self._rooms.close()

    def _done(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, WAIT_S))


class Servers:
    """Calls tools of server processes, one for each client and environment.

    folder: of the project and of the servers' files. emptied_database: removes all fragments and
    returns the place of their database. is_http: whether the servers are elsewhere.
    """

    def __init__(
        self, folder: Path, emptied_database: Callable[[], str], *, is_http: bool = False
    ) -> None:
        self._folder, self._scene = folder, folder / "scene"  # all that a story may reach
        self.project, self.home = self._scene / "shop", self._scene / "home"
        self._emptied_database, self._is_http = emptied_database, is_http
        self._rooms, self._database = "", ""
        self._running = dict[tuple[str, ...], ServerProcess | HttpServer]()
        self._asked = dict[tuple[str, ...], Ask]()  # in this story

    def begin(self, story: Story) -> None:
        """Empty the project, the user's directory and the fragments for a story."""
        self._rooms, self._database = story.rooms, ""
        self._asked.clear()
        # One that keeps fragments in the user's directory would write them there again.
        for key in [key for key in self._running if "fragments" in key[0] and not key[1]]:
            self._running.pop(key).__exit__()
        if "fragments" in story.rooms:
            self._database = "" if story.is_local else self._emptied_database()
        stay = (self._scene, self.project, self.home)  # the server works in them
        for made in stay:
            made.mkdir(parents=True, exist_ok=True)
            gone = self._folder / f"gone-{time.monotonic_ns()}"  # a server may still write in it
            gone.mkdir()
            for inside in made.iterdir():
                if inside not in stay:
                    inside.rename(gone / inside.name)
            shutil.rmtree(gone, ignore_errors=True)

    def call(self, agent: str, tool: str, arguments: dict[str, Any]) -> Answer:
        environment = dict(os.environ)
        variables = (f"{name}={value}" for name, value in sorted(environment.items()))
        key = (self._rooms, self._database, agent, *variables)
        if key not in self._asked:
            if key not in self._running:
                self._running[key] = self._started(agent, environment)
            self._asked[key] = _asking(self._running[key])
        method, params = asked(tool, arguments)
        answer = self._asked[key](method, params)
        if method != "tools/call" and "error" in answer:
            return Answer(answer["error"]["message"], is_refused=True)
        result = answer["result"]
        [content] = result.get("content") or result.get("contents") or result["messages"]
        content = content.get("content", content)  # of a message
        return Answer(content["text"], result.get("isError", False))

    def close(self) -> None:
        for running in self._running.values():
            running.__exit__()

    def _started(self, agent: str, environment: dict[str, str]) -> ServerProcess | HttpServer:
        if self._database:
            environment["SENTINEL_MEMORY_FRAGMENTS"] = self._database
        options = ("--rooms", self._rooms, "--project", str(self.project))
        if self._is_http:
            return HttpServer(self._folder / "server", *options, environment=environment)
        where: Any = {"cwd": self.project, "environment": environment, "client": agent}
        path = self._folder / f"stderr-{time.monotonic_ns()}.txt"
        return ServerProcess(*options[:2], stderr_path=path, **where)


def _asking(server: ServerProcess | HttpServer) -> Ask:
    """Return the function that asks a server; over HTTP in a session that begins now."""
    if isinstance(server, ServerProcess):
        return server.request
    session = server.begin()
    return lambda method, params: server.call(method, params, session)[2]


def emptied_file(path: Path) -> str:
    """Remove all rows of a database of fragments, if it is there, and return its path.

    It stays, and no number is given twice: a server may still count the uses of a former story.
    """
    if path.exists():
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            tables = connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table'"
                " AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'fragments_fts_*'"
            ).fetchall()
            connection.execute("BEGIN IMMEDIATE")
            for (table,) in tables:
                connection.execute(f"DELETE FROM {table}")
            connection.execute("COMMIT")
    return str(path)
