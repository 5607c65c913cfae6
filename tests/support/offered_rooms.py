"""Gives tests that offer rooms in their own process a project, and puts the rooms back."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rooms.fragments import tools as fragments
from rooms.sessions import tools as sessions


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


@contextmanager
def rooms_at(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the rooms be those of a project, and what is the user's lie beside it."""
    for name in ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_ANSWERS", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(root))
    monkeypatch.setenv("SENTINEL_MEMORY_STATE", str(root.parent / "state"))
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(root.parent / "memory.db"))
    with put_back():
        yield
