"""Reads from the database of a user's fragments what the page shows of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.config import Settings
from rooms.fragments.engine import Reading, Wanted, pages_of
from rooms.fragments.fragment import Fragment, Link, Version
from rooms.fragments.room import open_room

MOST_FRAGMENTS = 1_000  # on a page: a reader looks for one of them, and a browser has to show them
MOST_NEWEST = 200  # of those, however little they matter
MOST_VERSIONS = 5  # of each fragment
_AT_ONCE = 400

_KEPT = Wanted(state="kept")


class Found(NamedTuple):
    """What was read: fragments, those that matter most first; how many there are in all.

    links: those between two of these fragments. versions: the last ones of each by its id, the
    newest first; counts: how many it has.
    """

    fragments: Sequence[Fragment]
    total: int
    links: Sequence[Link] = ()
    versions: Mapping[str, Sequence[Version]] = {}
    counts: Mapping[str, int] = {}


def read_fragments(
    settings: Settings,
    environment: Mapping[str, str],
    *,
    is_public: bool = False,
    most: int = MOST_FRAGMENTS,
) -> Found | None:
    """Return the fragments that matter most and the newest, None where there are none.

    is_public: only those that may be passed on. Raises ConfigError and DatabaseError.
    """
    room = open_room(settings, environment)
    if not room.engine.exists():
        return None
    with room.engine.reading() as reading:
        fragments, total = _public(reading, most) if is_public else _all(reading, most)
        if not fragments:
            return None
        versions, counts = _versions(reading, fragments)
        return Found(fragments, total, _links(reading, fragments), versions, counts)


def _all(reading: Reading, most: int) -> tuple[list[Fragment], int]:
    total = reading.count(_KEPT).get("", 0)
    newest = min(MOST_NEWEST, most // 2) if total > most else 0
    some = [
        *reading.find(_KEPT, order="newest", limit=newest),
        *reading.find(_KEPT, order="worth", limit=most),
    ]
    return _chosen(some, most), total


def _public(reading: Reading, most: int) -> tuple[list[Fragment], int]:
    public = [it for some in pages_of(reading, _KEPT) for it in some if it.privacy == "public"]
    newest = min(MOST_NEWEST, most // 2) if len(public) > most else 0
    by_day = sorted(public, key=lambda it: (it.created_at, it.number), reverse=True)
    some = [*by_day[:newest], *sorted(public, key=_worth, reverse=True)]
    return _chosen(some, most), len(public)


def _chosen(some: Iterable[Fragment], most: int) -> list[Fragment]:
    """Return the first fragments of those that are given, each once, by what they are worth."""
    by_number = list({it.number: it for it in some}.values())
    return sorted(by_number[:most], key=_worth, reverse=True)


def _worth(fragment: Fragment) -> tuple[bool, float, str, int]:
    """Return what sorts fragments as the order `worth` of an engine does."""
    return fragment.is_anchor, fragment.importance, fragment.created_at, fragment.number


def _links(reading: Reading, fragments: Sequence[Fragment]) -> list[Link]:
    ids = [it.id for it in fragments]
    shown, found = set(ids), dict[tuple[str, str], Link]()
    for start in range(0, len(ids), _AT_ONCE):
        for link in reading.links(ids[start : start + _AT_ONCE]):
            if link.from_id in shown and link.to_id in shown and link.from_id != link.to_id:
                found[link.from_id, link.to_id] = link
    return sorted(found.values(), key=lambda it: (it.created_at, it.from_id, it.to_id))


def _versions(
    reading: Reading, fragments: Iterable[Fragment]
) -> tuple[dict[str, list[Version]], dict[str, int]]:
    """Return the last versions of fragments that were changed, and how many each has."""
    versions, counts = dict[str, list[Version]](), dict[str, int]()
    for fragment in fragments:
        if found := reading.entries(Version, of=fragment.id):
            versions[fragment.id] = found[: -MOST_VERSIONS - 1 : -1]
            counts[fragment.id] = len(found)
    return versions, counts
