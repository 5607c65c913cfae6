"""Remembers a draft as a fragment, or returns the fragment that says the same."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from rooms.fragments import activity
from rooms.fragments.errors import SavingError
from rooms.fragments.fragment import (
    CONTENT_CHARS,
    DEFAULT_TOPIC,
    PRIVACIES,
    Fragment,
    Link,
    hash_of,
)
from rooms.fragments.links import linked_by_itself
from rooms.fragments.room import Room, named, readers, writer
from rooms.fragments.standing import (
    begun,
    brought_back,
    expiry,
    kept,
    recallable,
    row_of,
    same_content,
    with_anchor,
)
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import (
    check_count,
    check_importance,
    fields_of,
    keywords_of,
    plain_id,
    type_word,
)

MOST_LINKED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The fragment that a caller wants.

    type: a word of `TYPES`, "" for the default. topic: "" for the first keyword. keywords: () to
    find them in the content. importance: None for the type's. linked_to: ids. is_working: it lives
    as long as its session.
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
    """A clean draft. redacted: kinds of the secrets taken out."""

    draft: Draft
    redacted: tuple[str, ...] = ()


class Remembered(NamedTuple):
    """The fragment, and whether it is new.

    redacted: kinds of secrets taken out. is_long: longer than recommended. links: made by
    themselves. proposals: links `superseded_by` that a caller may make, from fragments that may be
    outdated. was: `bin` or `superseded` if it came back from there, `promoted` if a memory log has
    it.
    """

    fragment: Fragment
    is_new: bool
    redacted: tuple[str, ...] = ()
    is_long: bool = False
    links: tuple[Link, ...] = ()
    proposals: tuple[Link, ...] = ()
    was: str = ""


def prepared(draft: Draft, *, strict: bool = False) -> Prepared:
    """Return a clean draft. Raises FragmentsError. strict: refuse a secret."""
    type_ = type_word(draft.type)
    privacy = draft.privacy.strip().lower() or PRIVACIES[0]
    if privacy not in PRIVACIES:
        raise SavingError("bad_privacy", known=", ".join(PRIVACIES))
    check_importance(draft.importance)
    linked_to = tuple(dict.fromkeys(filter(None, map(plain_id, draft.linked_to))))
    check_count("linkedTo", len(linked_to), MOST_LINKED)
    fields = fields_of(draft.content, draft.topic, draft.source, draft.keywords, strict=strict)
    clean = replace(
        draft,
        content=fields.content,
        topic=fields.topic,
        type=type_,
        keywords=fields.keywords,
        source=fields.source,
        linked_to=linked_to,
        privacy=privacy,
    )
    return Prepared(clean, fields.redacted)


def remember(room: Room, draft: Draft, *, agent: str = "", session: str = "") -> Remembered:
    """Store a fragment; on disk when this returns. Known content returns its fragment.

    A known fragment comes back from the bin or a successor, and lives at least as long as the draft
    asks. agent: owner, "" for the default. Raises FragmentsError, DatabaseError, WaitEndedError.
    """
    ready = prepared(draft, strict=room.settings.strict)
    with room.engine.writing() as rows:
        done = stored(rows, room, ready, agent=agent, session=session)
        activity.note(rows, room, session, agent, wrote=int(done.is_new))
    return done


def stored(rows: Rows, room: Room, ready: Prepared, *, agent: str, session: str) -> Remembered:
    """Store a fragment in a transaction, which a FragmentsError from here must end."""
    draft, owner, now = ready.draft, writer(room, agent), room.clock()
    session = named("sessionId", session) if draft.is_working else ""
    if draft.is_working and not session:
        raise SavingError("session_needed")
    linked_to = [kept(rows, id_, readers(room, agent)).id for id_ in draft.linked_to]
    same = same_content(rows, owner, hash_of(draft.content))
    if same:
        done = _said_again(rows, room, same, draft, session)
    else:
        row = row_of(draft.type, room.config, is_working=draft.is_working)
        new = replace(
            begun(rows, draft.content, row, now),
            topic=draft.topic or next(iter(draft.keywords), DEFAULT_TOPIC),
            keywords=draft.keywords or keywords_of(draft.content),
            importance=row.importance if draft.importance is None else draft.importance,
            source=draft.source,
            agent=owner,
            session=session,
            privacy=draft.privacy,  # type: ignore[arg-type]
            tier="permanent" if draft.is_anchor else "hot",
            is_anchor=draft.is_anchor,
        )
        done = added(rows, new, owner=room.agent)
    if linked_to:
        id_ = done.fragment.id
        known = {id_}.union(*((link.from_id, link.to_id) for link in rows.links([id_])))
        new_ends = [other for other in linked_to if other not in known]
        rows.put_links(Link(from_id=id_, to_id=other, created_at=now) for other in new_ends)
    is_long = len(draft.content) > CONTENT_CHARS
    return done._replace(redacted=ready.redacted, is_long=is_long)


def added(rows: Rows, fragment: Fragment, *, owner: str = "") -> Remembered:
    """Store a new fragment and its links. owner: see `linked_by_itself`."""
    made = linked_by_itself(rows, fragment, owner=owner)
    [fragment] = rows.add([fragment])
    rows.put_links(made.links)
    rows.count_up({"remembered": 1})
    return Remembered(fragment, True, links=made.links, proposals=made.proposals)


def _said_again(rows: Rows, room: Room, same: Fragment, draft: Draft, session: str) -> Remembered:
    if same.promoted and not same.deleted_at:
        return Remembered(same, False, was="promoted")
    row, now = row_of(draft.type, room.config, is_working=draft.is_working), room.clock()
    fragment = replace(
        same,
        session=session if same.session else "",
        verified_at=now,
        updated_at=now,
        tier="permanent" if same.is_anchor else "hot",
    )
    expires_at = expiry(row, now)
    if same.expires_at and (not expires_at or same.expires_at < expires_at):
        fragment = replace(
            fragment, lifetime=row.lifetime, stale_days=row.stale_days, expires_at=expires_at
        )
    proposals = list[Link]()
    if not same.is_live:
        importance = draft.importance
        if importance is None:
            importance = max(same.importance, row.importance)
        proposals = brought_back(rows, same, now, owner=room.agent)
        fragment = replace(recallable(fragment), importance=importance, decayed_at=now)
    if draft.is_anchor:
        fragment = with_anchor(fragment, is_anchor=True)
    rows.replace([fragment])
    was = "bin" if same.deleted_at else "superseded" if same.superseded_at else ""
    return Remembered(fragment, False, proposals=tuple(proposals), was=was)
