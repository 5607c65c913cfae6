"""Remembers drafts as fragments, the results of a session as several, and ends sessions.

A draft whose content is known returns the fragment that says the same.
"""

import os
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from core.lessons.record_text import minute_of
from core.messages import Facts, say
from core.text.plain import estimate_tokens
from rooms.fragments import activity, texts
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Draft, Filter, Fragment, FragmentsError, Link, Reflection
from rooms.fragments.links import bring_back, find_links
from rooms.fragments.room import Config, Room, agents_for, check_name, find_visible, owner_for
from rooms.fragments.storage.rows import Rows, pages_of
from rooms.fragments.upkeep.life import moment_before

MOST_LINKED = 20
ITEM_BYTES, MOST_ITEMS = 8_192, 50  # of a reflection
QUESTION_KEYWORD = "open question"
TOPIC = "session"  # of the fact that a session wrote and did not reflect
GONE = timedelta(days=1)  # after so long without a call a session is ended by the upkeep
# Of a fragment that is out of bin, successor and log.
RECALLABLE: dict[str, Any] = {"deleted_at": "", "deletion": "", "superseded_at": "", "promoted": ""}
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another
_ID_CHARS = 8
_TYPES = {  # of the items of a reflection
    "summary": "episodic",
    "decisions": "decision",
    "errors_resolved": "error",
    "new_procedures": "procedure",
    "open_questions": "fact",
}


class Remembered(NamedTuple):
    """The fragment, and whether it is new."""

    fragment: Fragment
    is_new: bool
    redacted: tuple[str, ...] = ()  # kinds of secrets taken out
    is_long: bool = False  # longer than recommended
    links: tuple[Link, ...] = ()  # made by themselves
    proposals: tuple[Link, ...] = ()  # `superseded_by`, from fragments that may be outdated
    was: str = ""  # `bin` or `superseded` if it came back, `promoted` if a memory log has it


def remember(room: Room, draft: Draft, *, agent: str = "", session: str = "") -> Remembered:
    """Store a fragment; on disk when this returns. Known content returns its fragment.

    A known fragment comes back from the bin or a successor, and lives at least as long as the draft
    asks. agent: owner, "" for the default.
    """
    clean, redacted = clean_draft(draft, strict=room.settings.strict)
    with room.engine.writing() as rows:
        done = store_draft(rows, room, clean, agent=agent, session=session)
        activity.note(rows, room, session, agent, wrote=int(done.is_new))
    return done._replace(redacted=redacted)


def clean_draft(draft: Draft, *, strict: bool = False) -> tuple[Draft, tuple[str, ...]]:
    """Return a clean draft, and the kinds of secrets taken out. strict: refuse a secret."""
    linked_to = tuple(dict.fromkeys(filter(None, map(texts.plain_id, draft.linked_to))))
    texts.check_count("linkedTo", len(linked_to), MOST_LINKED)
    given = draft.content, draft.topic, draft.source, draft.keywords
    fields, redacted = texts.clean_fields_of(*given, strict=strict)
    return replace(draft, **fields, linked_to=linked_to), redacted


def store_draft(rows: Rows, room: Room, draft: Draft, *, agent: str, session: str) -> Remembered:
    """Store a clean draft in a transaction, which a FragmentsError from here must end."""
    owner, now = owner_for(room, agent), room.clock()
    session = check_name("sessionId", session) if draft.is_working else ""
    if draft.is_working and not session:
        raise FragmentsError("session_needed")
    linked_to = [find_visible(rows, id_, agents_for(room, agent)).id for id_ in draft.linked_to]
    row = type_row_of(draft.type, room.config, is_working=draft.is_working)
    if same := find_same_content(rows, owner, schema.hash_of(draft.content)):
        done = _said_again(rows, room, same, draft, row, session)
    else:
        new = fragment_of(
            rows,
            draft.content,
            row,
            now,
            topic=draft.topic or next(iter(draft.keywords), schema.DEFAULT_TOPIC),
            keywords=draft.keywords or texts.keywords_of(draft.content),
            importance=row.importance if draft.importance is None else draft.importance,
            source=draft.source,
            agent=owner,
            session=session,
            privacy=draft.privacy,
            tier="permanent" if draft.is_anchor else "hot",
            is_anchor=draft.is_anchor,
        )
        done = add_fragment(rows, new, owner=room.agent)
    if linked_to:
        id_ = done.fragment.id
        known = {id_}.union(*((link.from_id, link.to_id) for link in rows.links([id_])))
        new_ends = [other for other in linked_to if other not in known]
        rows.put_links(Link(from_id=id_, to_id=other, created_at=now) for other in new_ends)
    return done._replace(is_long=len(draft.content) > texts.CONTENT_CHARS)


def add_fragment(rows: Rows, fragment: Fragment, *, owner: str = "") -> Remembered:
    """Store a new fragment and its links. owner: see `find_links`."""
    links, proposals = find_links(rows, fragment, owner=owner)
    [fragment] = rows.add([fragment])
    rows.put_links(links)
    rows.count_up({"remembered": 1})
    return Remembered(fragment, True, links=tuple(links), proposals=tuple(proposals))


def _said_again(
    rows: Rows, room: Room, same: Fragment, draft: Draft, row: schema.TypeRow, session: str
) -> Remembered:
    if same.promoted and not same.deleted_at:
        return Remembered(same, False, was="promoted")
    now = room.clock()
    is_anchor = same.is_anchor or draft.is_anchor
    changed: dict[str, Any] = {"session": session if same.session else "", "is_anchor": is_anchor}
    changed |= {"tier": "permanent" if is_anchor else "hot", "verified_at": now, "updated_at": now}
    expires_at = expiry_of(row, now)
    if same.expires_at and (not expires_at or same.expires_at < expires_at):
        changed |= {"lifetime": row.lifetime, "stale_days": row.stale_days}
        changed["expires_at"] = expires_at
    proposals, was = list[Link](), ""
    if not same.is_live:
        was = "bin" if same.deleted_at else "superseded"
        importance = draft.importance
        if importance is None:
            importance = max(same.importance, row.importance)
        proposals = bring_back(rows, same, now)
        changed |= {**RECALLABLE, "importance": importance, "decayed_at": now}
    fragment = replace(same, **changed)
    rows.replace([fragment])
    return Remembered(fragment, False, proposals=tuple(proposals), was=was)


class Reflected(NamedTuple):
    saved: list[Remembered]  # in the order of the reflection, some of them known
    parted: int = 0  # items too long for one fragment
    redacted: tuple[str, ...] = ()  # kinds of secrets taken out


def reflect(room: Room, reflection: Reflection, *, agent: str = "", session: str = "") -> Reflected:
    """Store the summary and each other item as fragments, all or nothing.

    A text above `CONTENT_BYTES` is parted where sentences end; its parts are linked with the first.
    The session counts as reflected.
    """
    session, owner, now = check_name("sessionId", session), owner_for(room, agent), room.clock()
    if not reflection.summary.strip():
        raise FragmentsError("blank", field="summary")
    given, how = list[texts.Text](), reflection.effectiveness
    for field in _TYPES:
        items = [reflection.summary] if field == "summary" else getattr(reflection, field)
        texts.check_count(field, len(items), MOST_ITEMS)
        given += [texts.Text(field, text, ITEM_BYTES, in_bytes=True) for text in items]
    field, most = "task_effectiveness", texts.SUGGESTION_CHARS
    said = [*how.tool_highlights, *how.tool_pain_points] if how else []
    texts.check_count(field, len(said), MOST_ITEMS)
    of_tools = [texts.Text(field, text, most) for text in said]
    clean, redacted = texts.clean_texts([*given, *of_tools], strict=room.settings.strict)
    draft = Draft(content="", topic=schema.DEFAULT_TOPIC, source=reflection.source)
    saved, parted = list[Remembered](), 0
    with room.engine.writing() as rows:
        for item, text in zip(given, clean, strict=False):
            made, is_question = list[Remembered](), item.field == "open_questions"
            for part in texts.parts_of(text):
                keywords = (QUESTION_KEYWORD, *texts.keywords_of(part)) if is_question else ()
                fact = replace(draft, content=part, type=_TYPES[item.field], keywords=keywords)
                made.append(store_draft(rows, room, clean_draft(fact)[0], agent=agent, session=""))
            ids = list(dict.fromkeys(each.fragment.id for each in made))
            rows.put_links(
                Link(from_id=id_, to_id=ids[0], relation="part_of", created_at=now)
                for id_ in ids[1:]
            )
            saved += made
            parted += int(len(made) > 1)
        if how:
            middle = len(given) + len(how.tool_highlights)
            feedback = replace(
                how,
                session_id=session,
                tool_highlights=tuple(filter(None, clean[len(given) : middle])),
                tool_pain_points=tuple(filter(None, clean[middle:])),
                created_at=now,
                agent=owner,
            )
            rows.note([feedback])
        wrote = sum(each.is_new for each in saved)
        activity.note(rows, room, session, agent, wrote=wrote, has_reflected=True)
    return Reflected(saved, parted, redacted)


def end_session(room: Room, session: str) -> Fragment | None:
    """End a session: its unpinned working memory goes to the bin.

    If it wrote something and nobody reflected, save a fact that says so for 48 hours, and return
    it. A second call changes nothing. Two agents may have sessions of one name: the room's agent
    counts.
    """
    key, now = check_name("sessionId", session), room.clock()
    if not key or not room.engine.exists():
        return None
    with room.engine.writing() as rows:
        wanted = Filter(session=key, lifetimes=("working",), state="kept", is_anchor=False)
        gone = [each for page in pages_of(rows, wanted) for each in page if room.owns(each)]
        rows.replace([replace(each, deleted_at=now, deletion="ended") for each in gone])
        rows.count_up({"ended": len(gone)})
        known = activity.find_activity(rows, room, key)
        if not known or known.ended_at:
            return None
        rows.note([replace(known, ended_at=now)])
        if known.reflected_at or not known.written:
            return None
        try:
            start, last = map(datetime.fromisoformat, (known.started_at, known.last_at))
            minutes = max(round((last - start).total_seconds() / 60), 0)  # a clock may be set back
        except (TypeError, ValueError):  # moments of another program
            minutes = 0
        facts: Facts = {"agent": known.agent, "calls": known.calls, "written": known.written}
        facts |= {"date": minute_of(known.started_at), "minutes": minutes}
        content = say("fragments.saving.unreflected", **facts)
        if same := find_same_content(rows, known.agent, schema.hash_of(content)):
            return same
        fact = fragment_of(
            rows,
            content,
            schema.TYPES["episodic"],
            now,
            topic=TOPIC,
            keywords=(TOPIC, known.agent),
            source=known.session_id,
            agent=known.agent,
            checked_at=now,  # two sessions are two facts, however alike their words are
            expires_at=expiry_of(schema.TYPES["working"], now),
        )
        rows.count_up({"remembered": 1})
        [made] = rows.add([fact])
    return made


def end_idle_sessions(room: Room, *, idle_limit: timedelta = GONE) -> int:
    """End the sessions without a call for so long, each as its own agent; return how many."""
    end = moment_before(room.clock(), seconds=idle_limit.total_seconds())
    with room.engine.reading() as rows:
        found: list[schema.Activity] = rows.entries(schema.Activity)
    idle = [each for each in found if not each.ended_at and each.last_at < end]
    for each in idle:
        end_session(room.for_agent(each.agent), each.session_id)
    return len(idle)


def find_same_content(rows: Rows, agent: str, content_hash: str) -> Fragment | None:
    """Return the agent's fragment with this content, a live one first."""
    wanted = Filter(agents=(agent,), content_hash=content_hash, state="all")
    found = rows.find(wanted, order="newest", limit=10)
    return min(found, key=lambda each: (each.deleted_at, each.superseded_at), default=None)


def make_id(rows: Rows) -> str:
    """Return an unused id, such as `f9c24b7a`: a letter first, as `59e89878` reads as a number."""
    while True:
        id_ = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(_ID_CHARS))
        if id_[0].isalpha() and not rows.by_ids([id_]):
            return id_


def type_row_of(word: str, config: Config, *, is_working: bool = False) -> schema.TypeRow:
    """Return the meaning of a type under these settings; is_working: in working memory."""
    row = schema.TYPES[word or schema.DEFAULT_TYPE]
    if is_working:
        return row._replace(lifetime="working", hours=schema.TYPES["working"].hours, stale_days=0)
    days = dict(config.stale_days).get(word or schema.DEFAULT_TYPE, row.stale_days)
    return row._replace(stale_days=days) if row.stale_days else row


def fragment_of(rows: Rows, content: str, row: schema.TypeRow, now: str, **others: Any) -> Fragment:
    """Return a new fragment, not stored yet. row: of its type. others: fields of it alone."""
    moments = {"created_at": now, "updated_at": now, "verified_at": now}
    of_type = {"importance": row.importance, **type_fields_of(row, now)}
    return Fragment(
        id=make_id(rows), **{**content_fields_of(content), **moments, **of_type, **others}
    )


def content_fields_of(content: str) -> dict[str, Any]:
    """Return a content with the fields that follow from it."""
    tokens = estimate_tokens(content)
    return {"content": content, "content_hash": schema.hash_of(content), "estimated_tokens": tokens}


def type_fields_of(row: schema.TypeRow, now: str) -> dict[str, Any]:
    """Return the fields that its type gives to a fragment of this moment."""
    fields = {"kind": row.kind, "lifetime": row.lifetime, "stale_days": row.stale_days}
    return {**fields, "expires_at": expiry_of(row, now)}


def expiry_of(row: schema.TypeRow, now: str) -> str:
    """Return when a new fragment expires, "" for never."""
    if not row.hours:
        return ""
    return (datetime.fromisoformat(now) + timedelta(hours=row.hours)).isoformat(timespec="seconds")


def renew(fragment: Fragment, now: str) -> Fragment:
    """Return a fragment whose lifetime, use and decay begin anew."""
    expires_at = expiry_of(schema.TYPES[fragment.lifetime], now) if fragment.expires_at else ""
    return replace(fragment, expires_at=expires_at, updated_at=now, verified_at=now, decayed_at=now)


def with_anchor(fragment: Fragment, *, is_anchor: bool) -> Fragment:
    if fragment.is_anchor == is_anchor:
        return fragment
    return replace(fragment, is_anchor=is_anchor, tier="permanent" if is_anchor else "warm")
