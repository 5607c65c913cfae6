"""Remembers one fragment, or returns the one that says the same."""

from dataclasses import replace
from typing import NamedTuple

from core.text.plain import estimate_tokens
from rooms.fragments.config import Config
from rooms.fragments.errors import SavingError
from rooms.fragments.fragment import DEFAULT_TOPIC, Fragment, Link, Tier, TypeRow, hash_of
from rooms.fragments.key_terms import keywords_of
from rooms.fragments.room import Room, named, readers, writer
from rooms.fragments.saving import activity
from rooms.fragments.saving.drafting import Draft, Prepared, prepared
from rooms.fragments.saving.finding import kept, same_content, successors
from rooms.fragments.saving.linking import linked_by_itself, put_related
from rooms.fragments.saving.making import expiry, fresh_id, recallable, row_of, with_anchor, working
from rooms.fragments.storage.rows import Rows


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


def brought_back(writing: Rows, id_: str, now: str, *, owner: str = "") -> list[Link]:
    """Take away that others have the place of a fragment; propose that it has theirs.

    owner: whose place it may have, "" for anybody's.
    """
    others = successors(writing, id_)
    writing.drop_links(Link(from_id=id_, to_id=it) for it in others)
    found = writing.by_ids(others)
    live = [it.id for it in found if it.is_live and owner in ("", it.agent)]
    return [Link(from_id=it, to_id=id_, relation="superseded_by", created_at=now) for it in live]


def _living_longer(fragment: Fragment, row: TypeRow, session: str, now: str) -> Fragment:
    """Return a fragment that lives at least as long as one of this row does from now on."""
    expires_at = expiry(row, now)
    fragment = replace(fragment, session=session)
    if not fragment.expires_at or (expires_at and expires_at <= fragment.expires_at):
        return fragment
    return replace(
        fragment, lifetime=row.lifetime, stale_days=row.stale_days, expires_at=expires_at
    )
