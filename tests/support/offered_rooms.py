"""Gives tests that offer rooms in their own process a project, and puts the rooms back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.cancellation import NO_CANCELLATION
from protocol.tools import SessionlessServer
from rooms.fragments import tools as fragments
from rooms.sessions import tools as sessions


class _NoServer:
    """Takes what a room offers, and makes nothing of it."""

    def offer_tools(self, tools: object, *, core_only: bool) -> None:
        """See `SessionlessServer`."""

    def offer_resource(self, uri: str, **known: str) -> Callable[[Any], Any]:
        """See `SessionlessServer`."""
        return lambda function: function


@cache
def _both() -> SessionlessServer:
    """A server with the tools of both rooms: to make their schemas takes longer than a call."""
    server = SessionlessServer("both", version="1", instructions="")
    _offer(server, has_lessons=True)
    return server


def _offer(server: Any, *, has_lessons: bool) -> None:
    sessions.offer(server, NO_CANCELLATION, core_only=False, has_lessons=has_lessons)
    fragments.offer(server, NO_CANCELLATION, core_only=False)


def both_rooms(*, has_lessons: bool) -> SessionlessServer:
    """Return a server with the sessions and the fragments, which were offered just now."""
    server = _both()
    _offer(_NoServer(), has_lessons=has_lessons)
    return server


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


def rooms_at(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rooms be those of a project, and what is the user's lie beside it."""
    for name in ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_ANSWERS", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(root))
    monkeypatch.setenv("SENTINEL_MEMORY_STATE", str(root.parent / "state"))
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(root.parent / "memory.db"))
