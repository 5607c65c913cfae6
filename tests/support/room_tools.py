"""Offers the tools of a room to a client in the same process, and holds realistic work."""

import asyncio
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from fastmcp import Client
from mcp.types import Implementation

from core.program import NO_CANCELLATION
from core.text.ranking import Entries
from protocol.tools import OfferedRoom, SessionlessServer
from rooms.fragments import tools as fragments
from rooms.sessions import tools as sessions
from tests.support.tables import table

Call = Callable[..., str]

ROOMS: dict[str, Any] = {"sessions": sessions, "fragments": fragments}
_MADE = dict[tuple[str, bool], SessionlessServer]()

CLIENT = Implementation(name="tests", version="1")  # which the library names otherwise by version

_WORK = table("session_failures")
GOALS: dict[str, str] = {lang: told["goal"] for lang, told in _WORK.items()}
# Attempts, and why they failed.
FAILURES: dict[str, list[tuple[str, str]]] = {lang: it["failures"] for lang, it in _WORK.items()}


def tokens_of(text: str) -> int:
    """How many tokens of o200k a text costs."""
    return len(_encoding().encode(text, disallowed_special=()))


@cache
def _encoding() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("bpe_openai").get_encoding("o200k_base")


def offered(room: str, *, core_only: bool = False) -> SessionlessServer:
    """A server that offers the tools of one room alone, after the room was told how, as if new.

    It is made once in a process: to make the schemas takes ten times as long as a call. The
    sessions are offered as if the log were beside them.
    """
    new: Any = SimpleNamespace(  # ignores the tools that a room offers
        rooms={}, offer_tools=lambda *_, **__: None, offer_resource=lambda *_, **__: None
    )
    if (room, core_only) not in _MADE:
        new = _MADE[room, core_only] = SessionlessServer(room, version="1", instructions="")
    if room == "sessions":
        new.rooms["lessons"] = OfferedRoom(lambda _question: Entries(), lambda *_: [])
    ROOMS[room].offer(new, NO_CANCELLATION, core_only=core_only)
    return _MADE[room, core_only]


def ask(server: SessionlessServer, question: Callable[[Client[Any]], Any]) -> Any:
    """The answer that a client of this server gets."""

    async def connected() -> Any:
        async with Client(server, client_info=CLIENT) as client:
            return await question(client)

    return asyncio.run(connected())


def calling(room: str) -> Call:
    """Calls a tool of a room as a client does and returns the text of its answer."""

    def called(tool: str, **arguments: Any) -> str:
        result = ask(offered(room), lambda client: client.call_tool(tool, arguments))
        [content] = result.content
        return str(content.text)

    return called


def surface(server: SessionlessServer) -> list[dict[str, Any]]:
    return [
        tool.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude={"meta": {"fastmcp"}}
        )
        for tool in ask(server, Client.list_tools)
    ]


def as_offered(listed: list[dict[str, Any]]) -> str:
    """The text of these tools that a model reads, as compact JSON."""
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


@contextmanager
def put_back() -> Iterator[None]:
    """Let the rooms be offered otherwise for as long as this lasts."""
    before = [
        (room, name, value)
        for room in (fragments._Room, sessions._Room)
        for name, value in vars(room).items()
        if not name.startswith("__")
    ]
    try:
        yield
    finally:
        for room, name, value in before:
            setattr(room, name, value)
