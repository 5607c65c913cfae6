"""Remembers one fragment, or returns the one that says the same."""

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from core.text.tokens import estimate_tokens
from rooms.fragments.config import Config
from rooms.fragments.engine import Wanted, Writing
from rooms.fragments.errors import NoSuchFragmentError
from rooms.fragments.fragment import DEFAULT_TOPIC, Fragment, Link, hash_of
from rooms.fragments.kinds import DEFAULT_TYPE, TYPES, TypeRow
from rooms.fragments.room import Room, writer
from rooms.fragments.saving.drafting import Draft, Prepared, prepared

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another
_ID_CHARS = 8


class Remembered(NamedTuple):
    """What was remembered: the fragment, and whether it is new.

    redacted: the kinds of secrets that were taken out. is_long: it is longer than recommended.
    links: those that were made by themselves.
    """

    fragment: Fragment
    is_new: bool
    redacted: tuple[str, ...] = ()
    is_long: bool = False
    links: tuple[Link, ...] = ()


def remember(room: Room, draft: Draft, *, agent: str = "", session: str = "") -> Remembered:
    """Store a fragment; on disk when this returns. The same content again returns what is there.

    agent: whose it is, "" for the default. session: that in which it is said. Raises
    FragmentsError, DatabaseError, WaitEndedError.
    """
    ready, owner = prepared(draft, strict=room.settings.strict), writer(agent)
    with room.engine.writing() as writing:
        now = room.clock()
        same = Wanted(agents=(owner,), content_hash=hash_of(ready.draft.content))
        for found in writing.find(same, order="newest", limit=1):
            return Remembered(found, False, ready.redacted, ready.is_long)
        [fragment] = writing.add([_fresh(writing, ready, room.config, owner, session, now)])
        for other in ready.draft.linked_to:
            if not writing.by_ids([other]):
                raise NoSuchFragmentError(id=other)
            writing.put_links([Link(from_id=fragment.id, to_id=other, created_at=now)])
    return Remembered(fragment, True, ready.redacted, ready.is_long)


def _fresh(
    writing: Writing, ready: Prepared, config: Config, agent: str, session: str, now: str
) -> Fragment:
    draft = ready.draft
    row = row_of(draft.type, config)
    content = draft.content
    importance = row.importance if draft.importance is None else draft.importance
    return Fragment(
        id=fresh_id(writing),
        content=content,
        topic=draft.topic or next(iter(draft.keywords), DEFAULT_TOPIC),
        keywords=draft.keywords,
        kind=row.kind,
        lifetime=row.lifetime,
        importance=min(max(importance, 0.0), 1.0),
        content_hash=hash_of(content),
        source=draft.source,
        agent=agent,
        session=session if draft.is_working else "",
        privacy=draft.privacy,  # type: ignore[arg-type]
        created_at=now,
        updated_at=now,
        verified_at=now,
        tier="permanent" if draft.is_anchor else "hot",
        estimated_tokens=estimate_tokens(content),
        is_anchor=draft.is_anchor,
        stale_days=row.stale_days,
        expires_at=expiry(row, now),
    )


def row_of(word: str, config: Config) -> TypeRow:
    """Return what a word of `type` means by these settings."""
    row = TYPES[word or DEFAULT_TYPE]
    given: Mapping[str, int] = dict(config.stale_days)
    days = given.get(word or DEFAULT_TYPE, row.stale_days) if row.stale_days else 0
    return row._replace(stale_days=days)


def expiry(row: TypeRow, now: str) -> str:
    """Return when a fragment of this moment expires, "" for never."""
    if not row.hours:
        return ""
    return (datetime.fromisoformat(now) + timedelta(hours=row.hours)).isoformat(timespec="seconds")


def fresh_id(writing: Writing) -> str:
    """Return an id that no fragment has."""
    while True:
        id_ = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(_ID_CHARS))
        if not writing.by_ids([id_]):
            return id_


def with_anchor(fragment: Fragment, *, is_anchor: bool) -> Fragment:
    """Return a fragment that is pinned, or not any more."""
    if fragment.is_anchor == is_anchor:
        return fragment
    tier = "permanent" if is_anchor else "warm"
    return replace(fragment, is_anchor=is_anchor, tier=tier)  # type: ignore[arg-type]
