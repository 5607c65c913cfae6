"""Offers the tools of the sessions to a client in the same process, and holds realistic work."""

import asyncio
import json
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError
from mcp.types import Implementation

from core.program import NO_CANCELLATION
from core.text.ranking import Gathered
from protocol.tools import OfferedRoom, SessionlessServer
from rooms.sessions import tools
from tests.support.tables import ROOT

Call = Callable[..., str]

CLIENT = Implementation(name="tests", version="1")  # which the library names otherwise by version

_WORK = json.loads((ROOT / "tests/data/session_failures.json").read_text("utf-8"))
GOALS: dict[str, str] = {lang: told["goal"] for lang, told in _WORK.items()}
# What was tried, and why it failed.
FAILURES: dict[str, list[tuple[str, str]]] = {lang: it["failures"] for lang, it in _WORK.items()}


def tokens_of(text: str) -> int:
    """How many tokens of o200k a text costs."""
    return len(_encoding().encode(text, disallowed_special=()))


@cache
def _encoding() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("bpe_openai").get_encoding("o200k_base")


class OfferedOnce:
    """Servers that offer the tools of one room alone, each of them made once in a process.

    To make the schemas of the tools takes ten times as long as a call. offer: of the room.
    """

    def __init__(self, name: str, offer: Callable[..., object]) -> None:
        self._name, self._offer = name, offer
        self._made = dict[bool, SessionlessServer]()

    def server(self, *, core_only: bool, beside: str = "") -> SessionlessServer:
        """Return a server after the room was told how it is offered, as if the server were new.

        beside: another room that is on, which holds nothing.
        """
        new: Any = _NoTools()
        if core_only not in self._made:
            new = SessionlessServer(self._name, version="1", instructions="")
            self._made[core_only] = new
        if beside:
            new.rooms[beside] = OfferedRoom(lambda _question: Gathered(), lambda *_: [])
        self._offer(new, NO_CANCELLATION, core_only=core_only)
        return self._made[core_only]


class _NoTools:
    """Takes what a room offers, and makes nothing of it."""

    def __init__(self) -> None:
        self.rooms = dict[str, OfferedRoom]()

    def offer_tools(self, tools: object, *, core_only: bool) -> None:
        """See `SessionlessServer`."""

    def offer_resource(self, function: Call, uri: str, **known: str) -> None:
        """See `SessionlessServer`."""


_SESSIONS = OfferedOnce("sessions", tools.offer)


def offered(*, core_only: bool = False) -> SessionlessServer:
    """A server that offers the tools of the sessions alone, as if the log were beside them."""
    return _SESSIONS.server(core_only=core_only, beside="lessons")


def ask(server: SessionlessServer, question: Callable[[Client[Any]], Any]) -> Any:
    """What a client of this server is answered."""

    async def connected() -> Any:
        async with Client(server, client_info=CLIENT) as client:
            return await question(client)

    return asyncio.run(connected())


def calling(offered: Callable[[], SessionlessServer]) -> Call:
    """Calls a tool as a client does and returns the text of its answer."""

    def called(tool: str, **arguments: Any) -> str:
        result = ask(offered(), lambda client: client.call_tool(tool, arguments))
        [content] = result.content
        return str(content.text)

    return called


def refusing(call: Call) -> Call:
    """Calls a tool that refuses and returns its sentence."""

    def called(tool: str, **arguments: Any) -> str:
        with pytest.raises(ToolError) as caught:
            call(tool, **arguments)
        return str(caught.value)

    return called


def surface(server: SessionlessServer) -> list[dict[str, Any]]:
    """The tools as a client sees them."""
    return [
        tool.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude={"meta": {"fastmcp"}}
        )
        for tool in ask(server, Client.list_tools)
    ]


def as_offered(listed: list[dict[str, Any]]) -> str:
    """What a model reads of these tools, as compact JSON."""
    keys = ("name", "description", "inputSchema")
    kept = [{key: tool[key] for key in keys} for tool in listed]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def work(lang: str, at: int) -> dict[str, Any]:
    """The arguments of a save of one of eight sessions that resemble each other."""
    what, why = FAILURES[lang][at % 8]
    return {
        "goal": GOALS[lang].format(at=at),
        "summary": why,
        "status": "completed",
        "tags": ["checkout"],
        "approaches": [{"description": what, "result": "failed", "reason": why}],
    }
