"""Makes what a new fragment needs: its id, and what its type says of its worth and its life."""

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from rooms.fragments.config import Config
from rooms.fragments.fragment import DEFAULT_TYPE, TYPES, Fragment, TypeRow
from rooms.fragments.storage.rows import Rows

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
