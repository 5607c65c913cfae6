"""The ways on which a story reaches the tools: in this process, over stdio, over HTTP.

Over stdio and HTTP one server serves all stories that have the same environment, in one project
that is emptied between them, as log and sessions are read anew at each call. The fragments keep
their database open: there a server is started for each story.
"""

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.exceptions import ToolError
from mcp.types import Implementation

from tests.stories.story import Answer
from tests.support.room_tools import put_back
from tests.support.servers import WAIT_S, HttpServer, ServerProcess
from tests.support.tables import ROOT

Ask = Callable[[dict[str, Any]], Any]  # what a server answers to the call of a tool


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
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def call(self, agent: str, tool: str, arguments: dict[str, Any]) -> Answer:
        """See `Wire`."""
        if agent not in self._clients:
            who = Implementation(name=agent, version="1")
            client = Client(self._server, client_info=who)
            self._clients[agent] = self._done(self._opened.enter_async_context(client))
        try:
            result = self._done(self._clients[agent].call_tool(tool, arguments))
        except ToolError as error:
            return Answer(str(error), is_refused=True)
        [content] = result.content
        return Answer(content.text)

    def close(self) -> None:
        """Let go of the clients."""
        self._done(self._opened.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        self._loop.close()
        self._rooms.close()

    def _done(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S)


class Servers:
    """Calls tools of server processes, one for each client and environment.

    folder: in which the project is, and what the servers keep. new_dsn: makes a database for the
    fragments of servers elsewhere, over HTTP; without it they are on this machine, over stdio.
    """

    def __init__(self, folder: Path, new_dsn: Callable[[], str] | None = None) -> None:
        self.project, self.home, self._folder = folder / "shop", folder / "home", folder
        self._rooms, self._new_dsn = "", new_dsn
        self._running = dict[tuple[str, ...], tuple[ServerProcess | HttpServer, Ask]]()

    def begin(self, rooms: str) -> None:
        """Empty the project and the user's directory for a story in these rooms."""
        if "fragments" in rooms:
            self.close()
        self._rooms = rooms
        for made in (self.project, self.home):
            made.mkdir(parents=True, exist_ok=True)  # stays: the server works in it
            gone = self._folder / f"gone-{time.monotonic_ns()}"  # a server may still write in it
            gone.mkdir()
            for inside in made.iterdir():
                inside.rename(gone / inside.name)
            shutil.rmtree(gone, ignore_errors=True)

    def call(self, agent: str, tool: str, arguments: dict[str, Any]) -> Answer:
        """See `Wire`."""
        environment = dict(os.environ)
        variables = (f"{name}={value}" for name, value in sorted(environment.items()))
        key = (self._rooms, agent, *variables)
        if key not in self._running:
            self._running[key] = self._started(agent, environment)
        _, ask = self._running[key]
        answer = ask({"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        [content] = answer["result"]["content"]
        return Answer(content["text"], answer["result"].get("isError", False))

    def close(self) -> None:
        """End the servers."""
        for running, _ in self._running.values():
            running.__exit__()
        self._running.clear()

    def _started(
        self, agent: str, environment: dict[str, str]
    ) -> tuple[ServerProcess | HttpServer, Ask]:
        rooms = ("--rooms", self._rooms)
        if not self._new_dsn:
            path = self._folder / f"stderr-{len(self._running)}.txt"
            where: Any = {"cwd": self.project, "environment": environment, "client": agent}
            process = ServerProcess(*rooms, stderr_path=path, **where)
            return process, partial(process.request, "tools/call")
        if "fragments" in self._rooms:
            environment["SENTINEL_MEMORY_FRAGMENTS"] = self._new_dsn()
        options = (*rooms, "--project", str(self.project))
        server = HttpServer(self._folder / "server", *options, environment=environment)
        session = server.begin()
        return server, lambda params: server.call("tools/call", params, session)[2]
