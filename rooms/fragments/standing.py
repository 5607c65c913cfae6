"""Says which fragments a caller may see and change, and how a fragment begins and comes back."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta

from core.config import NAME_CHARS
from core.text.plain import SURROGATE
from rooms.fragments.config import Config
from rooms.fragments.errors import NoSuchFragmentError, SavingError
from rooms.fragments.fragment import (
    DEFAULT_TYPE,
    TYPES,
    Fragment,
    Link,
    TypeRow,
    Wanted,
)
from rooms.fragments.room import Room
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import plain_id

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another
_ID_CHARS = 8


def fresh_id(reading: Rows) -> str:
    """Return an id that no fragment has."""
    while True:
        id_ = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(_ID_CHARS))
        if not reading.by_ids([id_]):
            return id_


def row_of(word: str, config: Config) -> TypeRow:
    """Return what a word of `type` means by these settings."""
    row = TYPES[word or DEFAULT_TYPE]
    given: Mapping[str, int] = dict(config.stale_days)
    days = given.get(word or DEFAULT_TYPE, row.stale_days) if row.stale_days else 0
    return row._replace(stale_days=days)


def working(row: TypeRow) -> TypeRow:
    """Return the row of a fragment that lives as long as its session."""
    return row._replace(lifetime="working", hours=TYPES["working"].hours, stale_days=0)


def expiry(row: TypeRow, now: str) -> str:
    """Return when a fragment of this moment expires, "" for never."""
    return after(now, row.hours) if row.hours else ""


def after(now: str, hours: int) -> str:
    """Return the moment so many hours later."""
    return (datetime.fromisoformat(now) + timedelta(hours=hours)).isoformat(timespec="seconds")


def renewed(fragment: Fragment, now: str) -> Fragment:
    """Return a fragment that begins to age again: its lifetime, its use and its decay."""
    expires_at = expiry(TYPES[fragment.lifetime], now) if fragment.expires_at else ""
    return replace(fragment, expires_at=expires_at, updated_at=now, verified_at=now, decayed_at=now)


def recallable(fragment: Fragment) -> Fragment:
    """Return a fragment that is recalled again, wherever it was: bin, another's place, a log."""
    return replace(fragment, deleted_at="", deletion="", superseded_at="", promoted="")


def with_anchor(fragment: Fragment, *, is_anchor: bool) -> Fragment:
    """Return a fragment that is pinned, or not any more."""
    if fragment.is_anchor == is_anchor:
        return fragment
    tier = "permanent" if is_anchor else "warm"
    return replace(fragment, is_anchor=is_anchor, tier=tier)  # type: ignore[arg-type]


SUPERSEDED_IMPORTANCE = 0.3


def changing(room: Room, id_: str) -> AbstractContextManager[Rows]:
    """Return the transaction in which a fragment is changed: where none is, no database is made.

    Raises NoSuchFragmentError.
    """
    if not room.engine.exists():
        raise NoSuchFragmentError(id=plain_id(id_))
    return room.engine.writing()


def visible(reading: Rows, id_: str, agents: Sequence[str]) -> Fragment:
    """Return a fragment of these agents, () for all, wherever it is. Raises NoSuchFragmentError."""
    key = plain_id(id_)
    if len(key) <= NAME_CHARS and not SURROGATE.search(key):
        for found in reading.by_ids([key]):
            if not agents or found.agent in agents:
                return found
    raise NoSuchFragmentError(id=key)


def kept(reading: Rows, id_: str, agents: Sequence[str]) -> Fragment:
    """Return a fragment of these agents that is not in the bin. Raises FragmentsError."""
    found = visible(reading, id_, agents)
    if found.deleted_at:
        raise SavingError("in_bin", id=found.id)
    return found


def changeable(
    reading: Rows, room: Room, id_: str, agents: Sequence[str], *, in_bin: bool = False
) -> Fragment:
    """Return a fragment of these agents that may be changed here. Raises FragmentsError.

    in_bin: whether one in the bin may be.
    """
    found = visible(reading, id_, agents)
    if not room.owns(found):
        raise SavingError("shared", id=found.id, owner=found.agent)
    return found if in_bin else kept(reading, found.id, agents)


def same_content(reading: Rows, agent: str, content_hash: str) -> Fragment | None:
    """Return the agent's fragment with this content: a live one before one that is put away."""
    wanted = Wanted(agents=(agent,), content_hash=content_hash, state="all")
    found = reading.find(wanted, order="newest", limit=10)
    return min(found, key=lambda it: (it.deleted_at, it.superseded_at), default=None)


def successors(reading: Rows, id_: str) -> list[str]:
    """Return the ids of the fragments that have taken the place of one."""
    return [it.to_id for it in reading.links([id_], ["superseded_by"]) if it.from_id == id_]


def superseded(fragment: Fragment, now: str) -> Fragment:
    """Return a fragment whose place another has: out of recall, and of little importance."""
    return replace(
        fragment,
        importance=min(fragment.importance, SUPERSEDED_IMPORTANCE),
        superseded_at=fragment.superseded_at or now,
    )


def brought_back(writing: Rows, id_: str, now: str, *, owner: str = "") -> list[Link]:
    """Take away that others have the place of a fragment; propose that it has theirs.

    owner: whose place it may have, "" for anybody's.
    """
    others = successors(writing, id_)
    writing.drop_links(Link(from_id=id_, to_id=it) for it in others)
    found = writing.by_ids(others)
    live = [it.id for it in found if it.is_live and owner in ("", it.agent)]
    return [Link(from_id=it, to_id=id_, relation="superseded_by", created_at=now) for it in live]
