"""Defines what the room asks of the place where fragments are kept.

The verbs are small and dumb: rows in, rows out. Every rule stands above them, in plain Python, and
is the same on every engine; `tests/support/engine_contract.py` says what an engine must do.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from core.text.ranking import Holding
from rooms.fragments.fragment import (
    Activity,
    Embedding,
    Fragment,
    Link,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
)

State = Literal["live", "superseded", "bin", "kept", "all"]
Order = Literal["number", "newest", "worth"]
Entry = Version | ToolFeedback | TaskFeedback | Activity | Suspicion
By = Literal[
    "kind", "lifetime", "tier", "topic", "agent", "deletion", "privacy", "content_hash", ""
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which fragments are meant; what is left empty does not count.

    agents: whose; () for all. kinds, lifetimes, tiers, topics: any of them. keywords: all of them.
    Topics and keywords are compared as `plain_keyword` spells them: case does not count. since,
    until: days or moments of the creation, both included. state: `live` for those that can be
    recalled, `superseded` for those with a successor, `bin` for those that were deleted, `kept` for
    all but the bin, `all`. used_before, expires_before, deleted_before, checked_before: moments;
    what has none for `checked_at` was never checked and counts as before. has_vector: whether it
    has an embedding. after: a number, for going on where a page ended.
    """

    agents: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    lifetimes: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    session: str = ""
    source: str = ""
    privacy: str = ""
    content_hash: str = ""
    since: str = ""
    until: str = ""
    state: State = "live"
    is_anchor: bool | None = None
    has_vector: bool | None = None
    used_before: str = ""
    expires_before: str = ""
    deleted_before: str = ""
    checked_before: str = ""
    after: int = 0


class Reading(Protocol):
    """One state of the data, to be read."""

    def by_ids(self, ids: Iterable[str]) -> list[Fragment]:
        """Return the fragments of these ids, in their order; what is not there is left out."""

    def by_numbers(self, numbers: Iterable[int]) -> list[Fragment]:
        """Return the fragments of these numbers, in their order."""

    def find(
        self, wanted: Wanted, *, order: Order = "number", limit: int = 0, offset: int = 0
    ) -> list[Fragment]:
        """Return fragments. limit: how many at most, 0 for all.

        order: by `number`, ascending; `newest` first; or by `worth`: anchors first, then by
        importance, then the newest. Of equals that with the greater number comes first.
        """

    def count(self, wanted: Wanted, by: By = "", *, least: int = 0) -> dict[str, int]:
        """Return how many there are by each value of a field that any has; all of them below ""
        without one. least: of a value, or that is left out.
        """

    def has(self, wanted: Wanted, count: int = 1) -> bool:
        """Return whether so many fragments are meant, or more: it counts no further."""

    def with_keywords(
        self, keywords: Sequence[str], wanted: Wanted, most: int
    ) -> list[tuple[int, int]]:
        """Return numbers and how many of the keywords each has, if it has any.

        Those with most come first, of equals the greater number.
        """

    def holding(self, query: str, most: int) -> Holding:
        """Return which live fragments have the strong terms of a question.

        most: how many that have one of the rarest terms are looked at.
        """

    def near(self, vector: bytes, wanted: Wanted, most: int) -> list[tuple[int, float]]:
        """Return numbers and cosines, to six decimals, of the fragments nearest to a vector.

        The nearest come first, of equals the greater number. A vector of another length, or one
        that is none, is near to nothing.
        """

    def vectors(self, numbers: Iterable[int]) -> list[Embedding]:
        """Return the embeddings of these fragments by number; what has none is left out."""

    def links(self, ids: Iterable[str], relations: Sequence[str] = ()) -> list[Link]:
        """Return the links from and to these fragments, oldest first. relations: () for all."""

    def count_links(self, wanted: Wanted) -> dict[str, int]:
        """Return how many links there are by relation, from the fragments that are meant."""

    def entries(
        self, kind: type[Entry], *, of: str = "", since: str = "", limit: int = 0
    ) -> list[Any]:
        """Return what was noted, oldest first. limit: 0 for all.

        of: the fragment or session that it is about; a suspicion is about two.
        """

    def count_entries(self, kind: type[Entry]) -> int:
        """Return how many of a kind were noted."""

    def state(self) -> dict[str, str]:
        """Return what the room keeps by name: figures, and where upkeep is."""

    def revisions(self) -> Mapping[str, str]:
        """Return the revision of each agent whose fragments are seen; {} where nobody keeps any.

        A revision is a text that stands for what `with_keywords`, `holding` and `near` look at of
        one agent in this state: each change makes one that never was. "" for an agent that never
        had a fragment.
        """


class Writing(Reading, Protocol):
    """One transaction: all of it is on disk once it ends without an error, or nothing."""

    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        """Store new fragments, and return them with their numbers."""

    def replace(self, fragments: Sequence[Fragment]) -> None:
        """Put fragments in the place of those with the same numbers; what is not there is left out.

        One whose text changes loses its vector.
        """

    def touch(self, numbers: Iterable[int], values: Mapping[str, Any]) -> None:
        """Set fields to the same values for some fragments."""

    def drop(self, ids: Iterable[str]) -> int:
        """Remove fragments with their links, versions, suspicions and vectors; return how many
        there were.
        """

    def put_links(self, links: Iterable[Link]) -> int:
        """Store links; return how many are new. A pair that is linked gets the new relation."""

    def drop_links(self, links: Iterable[Link]) -> int:
        """Remove links by their two ends; return how many there were."""

    def put_vectors(self, embeddings: Iterable[Embedding]) -> None:
        """Store vectors of fragments, in the place of those that are there."""

    def drop_vectors(self, numbers: Iterable[int] | None = None) -> None:
        """Remove the vectors of these fragments; None for all, as another model makes others."""

    def note(self, entries: Iterable[Entry]) -> None:
        """Note entries; an activity and a suspicion take the place of the one with their key."""

    def forget_entries(self, kind: type[Entry], *, of: str = "", before: str = "") -> int:
        """Remove what was noted of one fragment or session, or before a moment, or all; return how
        many there were.
        """

    def mend_index(self) -> bool:
        """Make what finds texts and keywords anew if it has got out of step; return whether so."""

    def set_state(self, values: Mapping[str, str]) -> None:
        """Keep values by name; "" removes one."""

    def count_up(self, figures: Mapping[str, int]) -> None:
        """Add to figures of the state."""

    def revised(self) -> Mapping[str, tuple[str, str]]:
        """Return the former and the new revision of each agent that this transaction changes.

        To be asked last of all.
        """


class Engine(Protocol):
    """Where fragments are kept. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """What people call it: the path of a file, or a server without its password."""

    def reading(self) -> AbstractContextManager[Reading]:
        """Read one state; nothing is made where there is nothing yet. Raises DatabaseError."""

    def writing(self, *, wait_s: float | None = None) -> AbstractContextManager[Writing]:
        """Change it in one transaction. Raises DatabaseError, WaitEndedError.

        wait_s: for others who write, None for as long as the settings allow.
        """

    @property
    def keeps_agents_apart(self) -> bool:
        """Whether an agent sees nothing of another; False where all is one person's."""

    def keeps_vectors(self) -> bool:
        """Return whether embeddings are kept; False for a server without the extension."""

    def for_agent(self, agent: str) -> "Engine":
        """Return the engine as an agent has it: its fragments and those of DEFAULT_AGENT, of which
        it changes only its own. "" for all agents, as upkeep and whoever runs the server has it.
        Itself where all is one person's.
        """

    def only_one(self, *, timeout_s: float) -> AbstractContextManager[None]:
        """Keep other processes and threads from the upkeep; one that is killed lets go at once.

        Raises UpkeepBusyError, UpkeepError.
        """

    def exists(self) -> bool:
        """Return whether anything was ever stored."""

    def purge(self) -> bool:
        """Remove the bytes of what was deleted; False where that has to wait."""

    def keep_copy(self) -> None:
        """Make the daily copy, if it is due; that of a server is its operator's business.

        Raises DatabaseError.
        """

    def close(self) -> None:
        """Let go of connections and what was kept in memory."""


def pages_of(reading: Reading, wanted: Wanted, at_once: int = 500) -> Iterator[list[Fragment]]:
    """Yield all fragments that are meant, by their numbers, some at a time."""
    from dataclasses import replace

    while True:
        some = reading.find(wanted, limit=at_once)
        if some:
            yield some
        if len(some) < at_once:
            return
        wanted = replace(wanted, after=some[-1].number)
