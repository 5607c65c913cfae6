"""Says which fragments a caller may see and change, and how a fragment begins and returns."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from core.config import NAME_CHARS
from core.text.plain import SURROGATE, estimate_tokens
from rooms.fragments.config import Config
from rooms.fragments.errors import NoSuchFragmentError, SavingError
from rooms.fragments.fragment import DEFAULT_TYPE, TYPES, Fragment, Link, TypeRow, Wanted, hash_of
from rooms.fragments.room import Room
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import plain_id

# Of a fragment that is out of bin, successor and log.
RECALLABLE: dict[str, Any] = {"deleted_at": "", "deletion": "", "superseded_at": "", "promoted": ""}
_SUPERSEDED_IMPORTANCE = 0.3
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another
_ID_CHARS = 8


def changing(room: Room, id_: str) -> AbstractContextManager[Rows]:
    """Return the transaction of a change, which makes no database."""
    if not room.engine.exists():
        raise NoSuchFragmentError(id=plain_id(id_))
    return room.engine.writing()


def visible(rows: Rows, id_: str, agents: Sequence[str]) -> Fragment:
    """Return a fragment of these agents, () for all; from the bin, too."""
    key = plain_id(id_)
    if len(key) <= NAME_CHARS and not SURROGATE.search(key):
        for found in rows.by_ids([key]):
            if not agents or found.agent in agents:
                return found
    raise NoSuchFragmentError(id=key)


def kept(rows: Rows, id_: str, agents: Sequence[str]) -> Fragment:
    """Return a visible fragment outside the bin."""
    found = visible(rows, id_, agents)
    if found.deleted_at:
        raise SavingError("in_bin", id=found.id)
    return found


def changeable(
    rows: Rows, room: Room, id_: str, agents: Sequence[str], *, in_bin: bool = False
) -> Fragment:
    """Return a visible fragment that this room may change; in_bin: from the bin, too."""
    found = visible(rows, id_, agents)
    if not room.owns(found):
        raise SavingError("shared", id=found.id, owner=found.agent)
    return found if in_bin else kept(rows, found.id, agents)


def same_content(rows: Rows, agent: str, content_hash: str) -> Fragment | None:
    """Return the agent's fragment with this content, a live one first."""
    wanted = Wanted(agents=(agent,), content_hash=content_hash, state="all")
    found = rows.find(wanted, order="newest", limit=10)
    return min(found, key=lambda each: (each.deleted_at, each.superseded_at), default=None)


def successors(rows: Rows, id_: str) -> list[str]:
    """Return the ids of fragments in its place."""
    links = rows.links([id_], ["superseded_by"])
    return [link.to_id for link in links if link.from_id == id_]


def fresh_id(rows: Rows) -> str:
    """Return an unused id, such as `9f2c4b7a`."""
    while True:
        id_ = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(_ID_CHARS))
        if not rows.by_ids([id_]):
            return id_


def row_of(word: str, config: Config, *, is_working: bool = False) -> TypeRow:
    """Return the meaning of a type under these settings; is_working: in working memory."""
    row = TYPES[word or DEFAULT_TYPE]
    if is_working:
        return row._replace(lifetime="working", hours=TYPES["working"].hours, stale_days=0)
    days = dict(config.stale_days).get(word or DEFAULT_TYPE, row.stale_days)
    return row._replace(stale_days=days) if row.stale_days else row


def begun(rows: Rows, content: str, row: TypeRow, now: str) -> Fragment:
    """Return a new fragment, not stored yet. row: of its type."""
    return Fragment(
        id=fresh_id(rows),
        content=content,
        importance=row.importance,
        content_hash=hash_of(content),
        created_at=now,
        updated_at=now,
        verified_at=now,
        estimated_tokens=estimate_tokens(content),
        **typed(row, now),
    )


def typed(row: TypeRow, now: str) -> dict[str, Any]:
    """Return the fields that its type gives to a fragment of this moment."""
    fields = {"kind": row.kind, "lifetime": row.lifetime, "stale_days": row.stale_days}
    return {**fields, "expires_at": expiry(row, now)}


def expiry(row: TypeRow, now: str) -> str:
    """Return when a new fragment expires, "" for never."""
    if not row.hours:
        return ""
    return (datetime.fromisoformat(now) + timedelta(hours=row.hours)).isoformat(timespec="seconds")


def renewed(fragment: Fragment, now: str) -> Fragment:
    """Return a fragment whose lifetime, use and decay begin anew."""
    expires_at = expiry(TYPES[fragment.lifetime], now) if fragment.expires_at else ""
    return replace(fragment, expires_at=expires_at, updated_at=now, verified_at=now, decayed_at=now)


def with_anchor(fragment: Fragment, *, is_anchor: bool) -> Fragment:
    if fragment.is_anchor == is_anchor:
        return fragment
    return replace(fragment, is_anchor=is_anchor, tier="permanent" if is_anchor else "warm")


def superseded(fragment: Fragment, now: str) -> Fragment:
    """Return the fragment, out of recall and of little importance."""
    importance = min(fragment.importance, _SUPERSEDED_IMPORTANCE)
    return replace(fragment, importance=importance, superseded_at=fragment.superseded_at or now)


def brought_back(rows: Rows, fragment: Fragment, now: str, *, owner: str = "") -> list[Link]:
    """Drop the links of a returning fragment to its successors; count it, if from the bin.

    Return links by which it may supersede these. owner: of the successors that count, "" for
    anybody.
    """
    others = successors(rows, fragment.id)
    rows.drop_links(Link(from_id=fragment.id, to_id=other) for other in others)
    if fragment.deleted_at:
        rows.count_up({"restored": 1})
    return [
        Link(from_id=other.id, to_id=fragment.id, relation="superseded_by", created_at=now)
        for other in rows.by_ids(others)
        if other.is_live and owner in ("", other.agent)
    ]
