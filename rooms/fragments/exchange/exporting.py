"""Gives fragments out, with all that belongs to them, to be imported again."""

from collections.abc import Iterator
from typing import Any

from core.room.redaction import without_secrets
from rooms.fragments.exchange.lines import HARMLESS, Row
from rooms.fragments.fragment import (
    Activity,
    Entry,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
    Wanted,
)
from rooms.fragments.storage.engine import pages_of
from rooms.fragments.storage.rows import Rows

# Beside fragments, links and versions, and only in an export of the whole room.
_NOTES: tuple[type[Entry], ...] = (ToolFeedback, TaskFeedback, Activity)
_AT_ONCE = 500


def rows_of(reading: Rows, wanted: Wanted, *, only_public: bool) -> Iterator[Row]:
    """Yield the fragments that are meant, then their links, versions and what was noted.

    No secret is in any of them. only_public: leaves out what nobody else may see.
    """
    ids = set[str]()
    for page in pages_of(reading, wanted, _AT_ONCE):
        chosen = [it for it in page if it.privacy == "public" or not only_public]
        ids.update(it.id for it in chosen)
        yield from map(_clean, chosen)
    for some in _batches(sorted(ids)):
        links, here = reading.links(some), {*some}
        yield from (it for it in links if it.from_id in here and it.to_id in ids)
    for some in _batches(sorted(ids)):
        for id_ in some:
            yield from map(_clean, reading.entries(Version, of=id_))
    is_part = only_public or wanted != Wanted(state=wanted.state)
    for kind in () if is_part else _NOTES:
        yield from map(_clean, reading.entries(kind))
    suspicions: list[Suspicion] = reading.entries(Suspicion)
    yield from (it for it in suspicions if {it.first_id, it.second_id} <= ids)


def _batches(ids: list[str]) -> Iterator[list[str]]:
    for at in range(0, len(ids), _AT_ONCE):
        yield ids[at : at + _AT_ONCE]


def _clean(value: Any) -> Any:
    done, _ = without_secrets(value, HARMLESS)
    return done
