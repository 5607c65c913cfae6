"""Defines what a source holds: fragments, links and notes of others before they are checked."""

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from rooms.fragments.fragment import Activity, Entry, Fragment, Link, TaskFeedback, ToolFeedback

# Whose form a source has: an export of this room, a database and a dump of the specifications, a
# graph of server-memory.
SourceForm = Literal["export", "memory_db", "dump", "server_memory"]


class Fault(NamedTuple):
    """Something that is not imported: the number of its line or row, and the key of the reason."""

    place: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A fragment that somebody else has kept.

    fragment: with its id there, "" where it has none; its texts are not checked. type: one of the
    words of `TYPES`, "" for the default. importance: None for that of the type. name: what links
    of the source call it. place: its line or row.
    """

    fragment: Fragment
    place: int
    type: str = ""
    importance: float | None = None
    name: str = ""


@dataclass(slots=True)
class Source:
    """What was found in a file. path: as it is shown. links: between names of the items."""

    path: str
    form: SourceForm
    items: list[Incoming] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def is_ours(self) -> bool:
        """Whether this program wrote it, with all columns."""
        return self.form == "export"


def as_of(source: Source, agent: str) -> Source:
    """Return a source whose fragments, feedback and notes on sessions are all one agent's.

    Who amended a fragment stays as it is: that was somebody.
    """
    items = [replace(it, fragment=replace(it.fragment, agent=agent)) for it in source.items]
    own = Activity, ToolFeedback, TaskFeedback
    entries = [replace(it, agent=agent) if isinstance(it, own) else it for it in source.entries]
    return replace(source, items=items, entries=entries)
