"""Corrects a fragment, and keeps what it said before; or puts a new one in its place."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from core.text.plain import estimate_tokens, normal_form
from rooms.fragments import activity
from rooms.fragments.config import Config
from rooms.fragments.draft import added
from rooms.fragments.errors import FragmentsError, SavingError
from rooms.fragments.fragment import Fragment, Link, Version, hash_of
from rooms.fragments.links import settled, supersede
from rooms.fragments.room import Room, named, readers, writer
from rooms.fragments.standing import (
    brought_back,
    changeable,
    changing,
    expiry,
    fresh_id,
    renewed,
    row_of,
    same_content,
    successors,
    with_anchor,
)
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import (
    check_importance,
    cleaned,
    given_content,
    given_rest,
    is_long,
    keywords_of,
    split_keywords,
    type_word,
    unique_keywords,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """What a caller wants to be different; None leaves a field as it is.

    keywords: () for those that the content has. type: one of the ten words of `TYPES`. supersedes:
    a new fragment takes the place of this one, instead of this one being corrected.
    """

    id: str
    content: str | None = None
    topic: str | None = None
    keywords: tuple[str, ...] | None = None
    type: str | None = None
    importance: float | None = None
    is_anchor: bool | None = None
    supersedes: bool = False


class Amended(NamedTuple):
    """The fragment as it is now, and as it was. is_new: another has taken the place of that one.

    redacted: the kinds of secrets that were taken out. is_long: it is longer than recommended.
    """

    fragment: Fragment
    before: Fragment
    is_new: bool
    redacted: tuple[str, ...] = ()
    is_long: bool = False


class _Ready(NamedTuple):
    """An amendment that may be stored."""

    given: Amendment
    redacted: tuple[str, ...]


def amend(room: Room, amendment: Amendment, *, agent: str = "", session: str = "") -> Amended:
    """Correct a fragment; on disk when this returns. Raises FragmentsError, DatabaseError.

    It keeps its id and its links, and what it said before is kept as a version. What changes
    nothing notes no version, but that somebody says that the fragment holds. With `supersedes` a
    new fragment gets its place, or the one that says the new content already.
    """
    ready, agents, now = (
        _prepared(amendment, room.settings.strict),
        readers(room, agent),
        room.clock(),
    )
    with changing(room, amendment.id) as writing:
        before = changeable(writing, room, ready.given.id, agents)
        _check_live(writing, before)
        after = _amended(before, ready.given, room.config, now)
        if amendment.supersedes:
            done = _replaced(writing, before, after, now)
        else:
            done = _corrected(writing, before, after, writer(room, agent), now)
        activity.note(writing, room, named("sessionId", session), agent, wrote=int(done.is_new))
    text = done.fragment.content if amendment.content is not None else ""
    return done._replace(redacted=ready.redacted, is_long=is_long(text))


def _prepared(given: Amendment, strict: bool) -> _Ready:
    """Return an amendment as it may be stored. Raises FragmentsError."""
    type_ = given.type and type_word(given.type)
    check_importance(given.importance)
    if given.topic is not None and not given.topic.strip():
        raise FragmentsError("blank", field="topic")
    keywords = split_keywords(given.keywords or ())
    rest = given_rest(given.topic or "", "", keywords)
    content = [] if given.content is None else [given_content(given.content)]
    done = cleaned([*rest, *content], strict=strict)
    topic, _, *words = done.texts
    ready = replace(
        given,
        content=words.pop() if content else None,
        topic=normal_form("NFC", topic) or None,
        keywords=None if given.keywords is None else unique_keywords(words),
        type=type_ or None,
    )
    values = (ready.content, ready.topic, ready.keywords, ready.type, ready.importance)
    if all(it is None for it in (*values, ready.is_anchor)) and not ready.supersedes:
        raise SavingError("nothing_given")
    return _Ready(ready, done.redacted)


def _check_live(reading: Rows, fragment: Fragment) -> None:
    """Raise SavingError for a fragment whose place another has: nobody reads it any more."""
    if fragment.promoted:
        raise SavingError("is_promoted", id=fragment.id, record=fragment.record_id)
    if fragment.superseded_at:
        for other in reading.by_ids(successors(reading, fragment.id)):
            raise SavingError("has_successor", id=fragment.id, other=other.id)
        raise SavingError("is_superseded", id=fragment.id)


def _amended(fragment: Fragment, given: Amendment, config: Config, now: str) -> Fragment:
    """Return a fragment as an amendment makes it, its moments and its versions apart."""
    content = fragment.content if given.content is None else given.content
    keywords = fragment.keywords if given.keywords is None else given.keywords
    if content != fragment.content and given.keywords is None:
        keywords = () if keywords == keywords_of(fragment.content) else keywords
    after = replace(
        fragment,
        topic=given.topic or fragment.topic,
        keywords=keywords or keywords_of(content),
        importance=fragment.importance if given.importance is None else given.importance,
    )
    if content != fragment.content:
        hashed, tokens = hash_of(content), estimate_tokens(content)
        after = replace(after, content=content, content_hash=hashed, estimated_tokens=tokens)
    if given.is_anchor is not None:
        after = with_anchor(after, is_anchor=given.is_anchor)
    if fragment.is_anchor and not after.is_anchor:
        after = renewed(after, now)
    row = row_of(given.type, config) if given.type else None
    if not row or (row.kind, row.lifetime) == (fragment.kind, fragment.lifetime):
        return after
    return replace(
        after,
        kind=row.kind,
        lifetime=row.lifetime,
        stale_days=row.stale_days,
        expires_at=expiry(row, now),
        session="",
    )


def _corrected(writing: Rows, before: Fragment, after: Fragment, agent: str, now: str) -> Amended:
    if after.content_hash != before.content_hash:
        _check_same(writing, after)
    if after == before:
        writing.touch([before.number], {"verified_at": now})
        return Amended(replace(before, verified_at=now), before, is_new=False)
    version = Version(
        fragment_id=before.id,
        content=before.content,
        topic=before.topic,
        keywords=before.keywords,
        kind=before.kind,
        importance=before.importance,
        amended_at=now,
        amended_by=agent,
    )
    after = replace(after, updated_at=now, verified_at=now, checked_at="")
    writing.note([version])
    writing.replace([after])
    writing.count_up({"amended": 1})
    return Amended(after, before, is_new=False)


def _check_same(reading: Rows, after: Fragment) -> None:
    """Raise SavingError where another fragment of the agent has this content already."""
    same = same_content(reading, after.agent, after.content_hash)
    if same and same.id != after.id:
        key = "same_content_in_bin" if same.deleted_at else "same_content"
        raise SavingError(key, other=same.id)


def _replaced(writing: Rows, before: Fragment, after: Fragment, now: str) -> Amended:
    """Put a new fragment, or the one with that content, in the place of a fragment."""
    if after.content_hash == before.content_hash:
        raise SavingError("nothing_new")
    same = same_content(writing, before.agent, after.content_hash)
    if same:
        brought_back(writing, same.id, now)
        writing.count_up({"restored": int(bool(same.deleted_at))})
        made = replace(
            renewed(same, now),
            importance=max(same.importance, after.importance),
            deleted_at="",
            deletion="",
            superseded_at="",
        )
        made = with_anchor(made, is_anchor=same.is_anchor or after.is_anchor)
        writing.replace([made])
    else:
        made = added(writing, _begun(writing, after, now)).fragment
        writing.drop_links([Link(from_id=made.id, to_id=before.id)])
    settled(writing, before.id, made.id)
    supersede(writing, before, made, now)
    return Amended(made, before, is_new=True)


def _begun(reading: Rows, after: Fragment, now: str) -> Fragment:
    """Return the new fragment that takes over what another knew, but not how it was used."""
    fresh = Fragment(
        id=fresh_id(reading),
        content="",
        created_at=now,
        tier="permanent" if after.is_anchor else "hot",
    )
    kept_names = (
        "number", "id", "access_count", "accessed_at", "sessions_count", "last_session",
        "created_at", "tier", "utility", "checked_at",
    )  # fmt: skip
    begun = replace(after, **{name: getattr(fresh, name) for name in kept_names})
    return replace(renewed(begun, now), decayed_at="")
