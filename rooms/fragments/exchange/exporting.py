"""Gives fragments out as one document, to be imported again."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.room.documents import Target
from core.room.redaction import without_secrets
from core.text.plain import shown_path
from rooms.fragments.engine import Entry, Reading, Wanted, pages_of
from rooms.fragments.errors import ExchangeError
from rooms.fragments.exchange.lines import BEGINS, SUFFIXES, Head, Row, pieces_of
from rooms.fragments.fragment import (
    Activity,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
)
from rooms.fragments.room import Room

# Beside fragments, links and versions, and only in an export of the whole room.
_NOTES: tuple[type[Entry], ...] = (ToolFeedback, TaskFeedback, Activity)
PLAIN = re.compile(r"[0-9TZ:+. -]*|[a-z_]{1,16}|[a-hj-km-np-z2-9]{8}")  # dates, words, our ids
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What goes into a document. topics: () for all. only_public: what may be shared as it is."""

    topics: tuple[str, ...] = ()
    only_public: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """A document that was written. private: how many of its fragments are private."""

    path: Path
    count: int
    private: int


@contextmanager
def document(room: Room, choice: Choice) -> Iterator[tuple[Head, Iterator[str]]]:
    """Yield the head of a document and its pieces, as of one moment, without secrets.

    It has everything, the bin too. Raises DatabaseError.
    """
    with room.engine.reading() as reading:
        source = _Source(reading, choice)
        count, private = source.counts()
        head = Head(count, private, room.clock())
        yield head, pieces_of(head, source.rows())


def export(room: Room, output: str, choice: Choice) -> Exported:
    """Write a document to a file, in the place of an earlier one only.

    Raises ExchangeError, DatabaseError.
    """
    target = _target_of(output)
    with document(room, choice) as (head, pieces):
        path = room.config.path
        like = path if not room.config.server and path.exists() else None
        target.write(pieces, mode=0o600, like=like)
    return Exported(target.path, head.count, head.private)


def _target_of(output: str) -> Target:
    def refused(key: str, **facts: str) -> ExchangeError:
        about = {"path": shown_path(output), "suffixes": ", ".join(SUFFIXES)}
        return ExchangeError(key, **about, **facts)

    given = Path(output)
    return Target(
        given.absolute().parent,
        given.name,
        suffixes=SUFFIXES,
        begins=BEGINS,
        refused=refused,
    )


class _Source:
    """What a choice reads of the room."""

    def __init__(self, reading: Reading, choice: Choice) -> None:
        self._reading, self._choice = reading, choice
        self._wanted = Wanted(topics=choice.topics, state="all")

    def counts(self) -> tuple[int, int]:
        """Return how many fragments there are, and how many of these are private."""
        by_scope = self._reading.count(self._wanted, "privacy")
        if self._choice.only_public:
            return by_scope.get("public", 0), 0
        return sum(by_scope.values()), by_scope.get("private", 0)

    def rows(self) -> Iterator[Row]:
        """Yield everything: fragments, then links, versions and what was noted."""
        ids = set[str]()
        for page in self._pages(self._wanted):
            ids.update(it.id for it in page)
            yield from map(_clean, page)
        is_part = bool(self._choice.topics or self._choice.only_public)
        for some in _batches(sorted(ids)):
            links, here = self._reading.links(some), {*some}
            yield from (it for it in links if it.from_id in here and it.to_id in ids)
        for some in _batches(sorted(ids)):
            for id_ in some:
                yield from map(_clean, self._reading.entries(Version, of=id_))
        for kind in () if is_part else _NOTES:
            yield from map(_clean, self._reading.entries(kind))
        suspicions: list[Suspicion] = self._reading.entries(Suspicion)
        yield from (it for it in suspicions if {it.first_id, it.second_id} <= ids)

    def _is_chosen(self, fragment: Any) -> bool:
        return fragment.privacy == "public" or not self._choice.only_public

    def _pages(self, wanted: Wanted) -> Iterator[list[Any]]:
        for page in pages_of(self._reading, wanted, _AT_ONCE):
            yield [it for it in page if self._is_chosen(it)]


def _batches(ids: list[str]) -> Iterator[list[str]]:
    for at in range(0, len(ids), _AT_ONCE):
        yield ids[at : at + _AT_ONCE]


def _clean(value: Any) -> Any:
    done, _ = without_secrets(value, PLAIN)
    return done
