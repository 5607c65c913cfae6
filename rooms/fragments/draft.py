"""Remembers a draft as a fragment, or returns the fragment that says the same."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from core.text.plain import estimate_tokens, normal_form
from rooms.fragments import activity
from rooms.fragments.config import Config
from rooms.fragments.errors import SavingError
from rooms.fragments.fragment import DEFAULT_TOPIC, Fragment, Link, Tier, TypeRow, hash_of
from rooms.fragments.links import linked_by_itself, put_related
from rooms.fragments.room import Room, named, readers, writer
from rooms.fragments.standing import (
    brought_back,
    expiry,
    fresh_id,
    kept,
    recallable,
    row_of,
    same_content,
    with_anchor,
    working,
)
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import (
    check_count,
    check_importance,
    cleaned,
    given_content,
    given_rest,
    is_long,
    keywords_of,
    plain_id,
    privacy_word,
    split_keywords,
    type_word,
    unique_keywords,
)

MOST_LINKED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a caller wants to be remembered.

    type: one of the ten words of `TYPES`, "" for the default. topic: "" for the first keyword.
    keywords: () for those that the content has. importance: None for that of the type. linked_to:
    ids of fragments that it is related to. is_working: it lives as long as its session.
    """

    content: str
    topic: str = ""
    type: str = ""
    keywords: tuple[str, ...] = ()
    importance: float | None = None
    source: str = ""
    linked_to: tuple[str, ...] = ()
    privacy: str = "private"
    is_anchor: bool = False
    is_working: bool = False


class Prepared(NamedTuple):
    """A draft that may be stored, and the kinds of the secrets that were taken out of it."""

    draft: Draft
    redacted: tuple[str, ...] = ()

    @property
    def is_long(self) -> bool:
        """Whether its content is longer than is recommended."""
        return is_long(self.draft.content)


def prepared(draft: Draft, *, strict: bool = False) -> Prepared:
    """Return the draft as it may be stored. Raises FragmentsError.

    strict: a secret is refused, not taken out.
    """
    type_, privacy = type_word(draft.type), privacy_word(draft.privacy)
    check_importance(draft.importance)
    keywords = split_keywords(draft.keywords)
    linked_to = tuple(dict.fromkeys(filter(None, map(plain_id, draft.linked_to))))
    check_count("linkedTo", linked_to, MOST_LINKED)
    done = cleaned(
        [given_content(draft.content), *given_rest(draft.topic, draft.source, keywords)],
        strict=strict,
    )
    content, topic, source, *words = done.texts
    clean = replace(
        draft,
        content=content,
        topic=normal_form("NFC", topic),
        type=type_,
        keywords=unique_keywords(words),
        source=source,
        linked_to=linked_to,
        privacy=privacy,
    )
    return Prepared(clean, done.redacted)


class Remembered(NamedTuple):
    """What was remembered: the fragment, and whether it is new.

    redacted: the kinds of secrets that were taken out. is_long: it is longer than recommended.
    links: those that were made by themselves. proposals: links `superseded_by` that a caller may
    make, from the one that may be outdated. was: where one that is not new came back from, `bin`
    or `superseded`.
    """

    fragment: Fragment
    is_new: bool
    redacted: tuple[str, ...] = ()
    is_long: bool = False
    links: tuple[Link, ...] = ()
    proposals: tuple[Link, ...] = ()
    was: str = ""


def remember(room: Room, draft: Draft, *, agent: str = "", session: str = "") -> Remembered:
    """Store a fragment; on disk when this returns. The same content again returns what is there.

    One that is in the bin, or was superseded, can be recalled again; one that would not live as
    long as the draft asks for lives as long. agent: whose it is, "" for the default. session: that
    in which it is said. Raises FragmentsError, DatabaseError, WaitEndedError.
    """
    ready = prepared(draft, strict=room.settings.strict)
    with room.engine.writing() as writing:
        done = stored(writing, room, ready, agent=agent, session=session)
        activity.note(writing, room, session, agent, wrote=int(done.is_new))
    return done


def stored(writing: Rows, room: Room, ready: Prepared, *, agent: str, session: str) -> Remembered:
    """Store a fragment in a transaction, which has to end with what this raises: FragmentsError."""
    draft, owner, now = ready.draft, writer(room, agent), room.clock()
    session = named("sessionId", session) if draft.is_working else ""
    if draft.is_working and not session:
        raise SavingError("session_needed")
    linked_to = [kept(writing, it, readers(room, agent)).id for it in draft.linked_to]
    same = same_content(writing, owner, hash_of(draft.content))
    if same:
        done = _said_again(writing, room, same, draft, session)
    else:
        new = _new(draft, _row(draft, room.config), owner, session, now)
        done = added(writing, replace(new, id=fresh_id(writing)), owner=room.agent)
    put_related(writing, done.fragment.id, linked_to, now)
    return done._replace(redacted=ready.redacted, is_long=ready.is_long)


def added(writing: Rows, fragment: Fragment, *, owner: str = "") -> Remembered:
    """Store a new fragment and link it with those that it is like.

    owner: see `linked_by_itself`.
    """
    made = linked_by_itself(writing, fragment, owner=owner)
    [fragment] = writing.add([fragment])
    writing.put_links(made.links)
    writing.count_up({"remembered": 1})
    return Remembered(fragment, True, links=made.links, proposals=made.proposals)


def _row(draft: Draft, config: Config) -> TypeRow:
    row = row_of(draft.type, config)
    return working(row) if draft.is_working else row


def _new(draft: Draft, row: TypeRow, agent: str, session: str, now: str) -> Fragment:
    """Return the fragment of a draft, without an id."""
    return Fragment(
        id="",
        content=draft.content,
        topic=draft.topic or next(iter(draft.keywords), DEFAULT_TOPIC),
        keywords=draft.keywords or keywords_of(draft.content),
        kind=row.kind,
        lifetime=row.lifetime,
        importance=row.importance if draft.importance is None else draft.importance,
        content_hash=hash_of(draft.content),
        source=draft.source,
        agent=agent,
        session=session,
        privacy=draft.privacy,  # type: ignore[arg-type]
        created_at=now,
        updated_at=now,
        verified_at=now,
        tier="permanent" if draft.is_anchor else "hot",
        estimated_tokens=estimate_tokens(draft.content),
        is_anchor=draft.is_anchor,
        stale_days=row.stale_days,
        expires_at=expiry(row, now),
    )


def _said_again(
    writing: Rows, room: Room, same: Fragment, draft: Draft, session: str
) -> Remembered:
    """Return the fragment that says the same, with what the draft asks for beyond it."""
    if same.promoted and not same.deleted_at:
        return Remembered(same, False, was="promoted")
    row, now = _row(draft, room.config), room.clock()
    fragment = _living_longer(same, row, session if same.session else "", now)
    tier: Tier = "permanent" if same.is_anchor else "hot"
    fragment = replace(fragment, verified_at=now, updated_at=now, tier=tier)
    outdated = tuple[Link, ...]()
    if not same.is_live:
        if draft.importance is None:
            importance = max(same.importance, row.importance)
        else:
            importance = draft.importance
        outdated = tuple(brought_back(writing, same.id, now, owner=room.agent))
        writing.count_up({"restored": int(bool(same.deleted_at))})
        fragment = replace(recallable(fragment), importance=importance, decayed_at=now)
    if draft.is_anchor:
        fragment = with_anchor(fragment, is_anchor=True)
    writing.replace([fragment])
    was = "bin" if same.deleted_at else "superseded" if same.superseded_at else ""
    return Remembered(fragment, False, proposals=outdated, was=was)


def _living_longer(fragment: Fragment, row: TypeRow, session: str, now: str) -> Fragment:
    """Return a fragment that lives at least as long as one of this row does from now on."""
    expires_at = expiry(row, now)
    fragment = replace(fragment, session=session)
    if not fragment.expires_at or (expires_at and expires_at <= fragment.expires_at):
        return fragment
    return replace(
        fragment, lifetime=row.lifetime, stale_days=row.stale_days, expires_at=expires_at
    )
