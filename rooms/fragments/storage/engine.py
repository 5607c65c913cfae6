"""Defines what keeps fragments: a file, a server, or whatever else answers like them.

docs/design.md says how to add an engine; `tests/rooms/fragments/test_engines.py` is the contract.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.storage.rows import Rows


class Engine(ABC):
    """Where fragments are kept. Safe to use from several threads.

    name: what people call it, the path of a file or a server without its password.
    keeps_agents_apart: whether an agent sees nothing of another; False where all is one person's.
    """

    name: str
    keeps_agents_apart: bool = False

    @abstractmethod
    def reading(self) -> AbstractContextManager[Rows]:
        """Read one state; nothing is made where there is nothing yet. Raises DatabaseError."""

    @abstractmethod
    def writing(self, *, wait_s: float | None = None) -> AbstractContextManager[Rows]:
        """Change the fragments in one transaction: all of it is on disk once this ends without an
        error, or nothing. Raises DatabaseError, WaitEndedError.

        wait_s: for others who write, None for as long as the settings allow.
        """

    @abstractmethod
    def only_one(self, *, timeout_s: float) -> AbstractContextManager[None]:
        """Keep other processes and threads from the upkeep; one that is killed lets go at once.

        Raises UpkeepBusyError, UpkeepError.
        """

    @abstractmethod
    def exists(self) -> bool:
        """Return whether anything was ever stored."""

    @abstractmethod
    def purge(self) -> bool:
        """Remove the bytes of what was deleted; False where that has to wait."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and what was kept in memory."""

    def keeps_vectors(self) -> bool:
        """Return whether embeddings are kept; False for a server without the extension."""
        return True

    def for_agent(self, agent: str) -> "Engine":
        """Return the engine as an agent has it: its fragments and those of DEFAULT_AGENT, of which
        the agent changes only its own. "" for all agents, as upkeep and whoever runs the server has
        it. Itself where all is one person's.
        """
        return self

    def figures(self) -> dict[str, int]:
        """Return what the engine has counted since it was opened, by flat names."""
        return {}

    def keep_copy(self) -> None:  # noqa: B027 a server has nothing to do
        """Make the daily copy, if it is due; that of a server is its operator's business.

        Raises DatabaseError.
        """


def pages_of(rows: Rows, wanted: Wanted, at_once: int = 500) -> Iterator[list[Fragment]]:
    """Yield all fragments that are wanted, by their numbers, some at a time."""
    while True:
        page = rows.find(wanted, limit=at_once)
        if page:
            yield page
        if len(page) < at_once:
            return
        wanted = replace(wanted, after=page[-1].number)
