"""Defines an engine, which keeps fragments.

docs/design.md says how to add one; `tests/rooms/fragments/test_engines.py` is the contract.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.storage.rows import Rows

if TYPE_CHECKING:
    from rooms.fragments.storage.redis import Cache


class Engine(ABC):
    """Keeps fragments. Safe for threads."""

    name: str  # for people, a path or a server without its password
    keeps_agents_apart: bool = False  # whether an agent sees nothing of another
    cache: "Cache | None" = None  # looked into first

    @abstractmethod
    def reading(self) -> AbstractContextManager[Rows]:
        """Read one state; make nothing. Raises DatabaseError."""

    @abstractmethod
    def writing(self, *, wait_s: float | None = None) -> AbstractContextManager[Rows]:
        """Change fragments in one transaction: on disk as a whole at the end, or not at all.

        wait_s: for other writers, None for the settings'. Raises DatabaseError, WaitEndedError.
        """

    @abstractmethod
    def only_one(self, *, timeout_s: float) -> AbstractContextManager[None]:
        """Keep others from the upkeep; a killed process lets go at once. Raises UpkeepError."""

    @abstractmethod
    def exists(self) -> bool:
        """Return whether anything was ever stored."""

    @abstractmethod
    def purge(self) -> bool:
        """Remove the bytes of deleted rows; False if that has to wait."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and memory."""

    def keeps_vectors(self) -> bool:
        """False for a server without the extension."""
        return True

    def for_agent(self, agent: str) -> "Engine":
        """Return an agent's engine, "" for all: it changes its own, and sees the default's, too."""
        return self

    def figures(self) -> dict[str, int]:
        """Return counts since the opening, such as `redis_hits`."""
        return {}

    def keep_copy(self) -> None:  # noqa: B027 a server has nothing to do
        """Make the daily copy, if due; a server has none. Raises DatabaseError."""


@cache
def statements_of(schema: str) -> dict[str, list[str]]:
    """Return the statements of a file beside this one, by the heading above them."""
    text = Path(__file__).with_name(schema).read_text(encoding="utf-8")
    parts = re.split(r"^-- (version \d+|always|security):.*\n", text, flags=re.MULTILINE)[1:]
    bare = (re.sub(r"^--.*\n", "", part, flags=re.MULTILINE) for part in parts[1::2])
    statements = ([it.strip() for it in re.split(r";\n(?:\n|\Z)", part)] for part in bare)
    return dict(zip(parts[::2], ([*filter(None, some)] for some in statements), strict=True))


def pages_of(rows: Rows, wanted: Wanted, at_once: int = 500) -> Iterator[list[Fragment]]:
    """Yield wanted fragments in pages, by number."""
    while True:
        page = rows.find(wanted, limit=at_once)
        if page:
            yield page
        if len(page) < at_once:
            return
        wanted = replace(wanted, after=page[-1].number)
