"""Remembers drafts as fragments, the results of a session as several, and ends sessions.

A draft whose content is known returns the fragment that says the same.
"""

import os
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from core.messages import Facts, say
from core.text.plain import estimate_tokens, minute_of
from rooms.fragments import activity, texts
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Draft, Filter, Fragment, FragmentsError, Link, Reflection
from rooms.fragments.links import bring_back, find_links
from rooms.fragments.room import Room, agents_for, check_name, find_visible, owner_for
from rooms.fragments.storage.rows import Rows, pages_of
from rooms.fragments.upkeep.life import is_pinned, moment_before

MOST_LINKED = 20
ITEM_BYTES, MOST_ITEMS = 8_192, 50  # of a reflection
QUESTION_KEYWORD = "open question"
TOPIC = "session"  # of the fact that a session wrote and did not reflect
IDLE_LIMIT = timedelta(days=1)  # after so long without a call a session is ended by the upkeep
# Of a fragment that is out of bin, successor and log.
RECALLABLE: dict[str, Any] = {"deleted_at": "", "deletion": "", "superseded_at": "", "promoted": ""}
_ID_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another
_ID_CHARS = 8
_ITEM_TYPE = {  # of the items of a reflection
    "summary": "episodic",
    "decisions": "decision",
    "errors_resolved": "error",
    "new_procedures": "procedure",
    "open_questions": "fact",
}


class RememberOutcome(NamedTuple):
    """The fragment, and whether it is new."""

    fragment: Fragment
    is_new: bool
    secret_kinds: tuple[str, ...] = ()  # kinds of secrets taken out
    is_long: bool = False  # longer than recommended
    links: tuple[Link, ...] = ()  # made by themselves
    proposals: tuple[Link, ...] = ()  # `superseded_by`, from fragments that may be outdated
    was: str = ""  # `bin` or `superseded` if it came back, `promoted` if a memory log has it


def remember(room: Room, draft: Draft, *, agent: str = "", session: str = "") -> RememberOutcome:
    """Store a fragment; on disk when this returns. Known content returns its fragment.

    A known fragment comes back from the bin or a successor, and lives at least as long as the draft
    asks. agent: owner, "" for the default.
    """
    draft, secret_kinds = redact_draft(draft, strict=room.settings.strict)
    with room.engine.writing() as rows:
        result = put_draft(rows, room, draft, agent=agent, session=session)
        activity.count_call(rows, room, session, agent, new_count=int(result.is_new))
    return result._replace(secret_kinds=secret_kinds)


def redact_draft(draft: Draft, *, strict: bool = False) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft redacted and checked, and the kinds of secrets, which `strict` refuses."""
    linked_to = tuple(dict.fromkeys(filter(None, map(texts.plain_id, draft.linked_to))))
    texts.check_count("linkedTo", len(linked_to), MOST_LINKED)
    raw_fields = draft.content, draft.topic, draft.source, draft.keywords
    fields, secret_kinds = texts.redact_fields(*raw_fields, strict=strict)
    return replace(draft, **fields, linked_to=linked_to), secret_kinds


def put_draft(rows: Rows, room: Room, draft: Draft, *, agent: str, session: str) -> RememberOutcome:
    """Store a redacted draft in a transaction, which a FragmentsError from here must end."""
    owner, now = owner_for(room, agent), room.clock()
    session = check_name("sessionId", session) if draft.is_working else ""
    if draft.is_working and not session:
        raise FragmentsError("session_needed")
    linked_to = [find_visible(rows, id_, agents_for(room, agent)).id for id_ in draft.linked_to]
    row = schema.TYPES[draft.type or schema.DEFAULT_TYPE]
    if draft.is_working:
        row = schema.TYPES["working"]._replace(kind=row.kind, importance=row.importance)
    if twin := find_same_content(rows, owner, schema.hash_of(draft.content)):
        result = _reuse_fragment(rows, room, twin, draft, row, session)
    else:
        fragment = fragment_of(
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
        result = add_fragment(rows, fragment, owner=room.agent)
    if linked_to:
        id_ = result.fragment.id
        linked_ids = {id_}.union(*((link.from_id, link.to_id) for link in rows.links([id_])))
        new_ends = [other for other in linked_to if other not in linked_ids]
        rows.put_links(Link(from_id=id_, to_id=other, created_at=now) for other in new_ends)
    return result._replace(is_long=len(draft.content) > texts.CONTENT_CHARS)


def add_fragment(rows: Rows, fragment: Fragment, *, owner: str = "") -> RememberOutcome:
    """Store a new fragment and its links. owner: see `find_links`."""
    links, proposals = find_links(rows, fragment, owner=owner)
    [fragment] = rows.add([fragment])
    rows.put_links(links)
    rows.count_up({"remembered": 1})
    return RememberOutcome(fragment, True, links=tuple(links), proposals=tuple(proposals))


def _reuse_fragment(
    rows: Rows, room: Room, twin: Fragment, draft: Draft, row: schema.TypeRow, session: str
) -> RememberOutcome:
    if twin.promoted and not twin.deleted_at:
        return RememberOutcome(twin, False, was="promoted")
    now = room.clock()
    is_anchor = twin.is_anchor or draft.is_anchor
    fields: dict[str, Any] = {"session": session if twin.session else "", "is_anchor": is_anchor}
    fields |= {"tier": "permanent" if is_anchor else "hot", "verified_at": now, "updated_at": now}
    expires_at = expiry_of(row, now)
    if twin.expires_at and (not expires_at or twin.expires_at < expires_at):
        fields |= {"lifetime": row.lifetime, "stale_days": row.stale_days}
        fields["expires_at"] = expires_at
    proposals, state = list[Link](), ""
    if not twin.is_live:
        state = "bin" if twin.deleted_at else "superseded"
        greater = max(twin.importance, row.importance)
        importance = greater if draft.importance is None else draft.importance
        proposals = bring_back(rows, twin, now)
        fields |= {**RECALLABLE, "importance": importance, "decayed_at": now}
    fragment = replace(twin, **fields)
    rows.replace([fragment])
    return RememberOutcome(fragment, False, proposals=tuple(proposals), was=state)


class ReflectOutcome(NamedTuple):
    saved: list[RememberOutcome]  # in the order of the reflection, some of them known
    parted: int = 0  # items too long for one fragment
    secret_kinds: tuple[str, ...] = ()  # kinds of secrets taken out


def reflect(
    room: Room, reflection: Reflection, *, agent: str = "", session: str = ""
) -> ReflectOutcome:
    """Store the summary and each other item as fragments, all or nothing.

    A text above `CONTENT_BYTES` is parted where sentences end; its parts are linked with the first.
    The session counts as reflected.
    """
    session, owner, now = check_name("sessionId", session), owner_for(room, agent), room.clock()
    if not reflection.summary.strip():
        raise FragmentsError("blank", field="summary")
    raw_texts, feedback = list[texts.Text](), reflection.effectiveness
    for field in _ITEM_TYPE:
        items = [reflection.summary] if field == "summary" else getattr(reflection, field)
        texts.check_count(field, len(items), MOST_ITEMS)
        raw_texts += [texts.Text(field, text, ITEM_BYTES, in_bytes=True) for text in items]
    field, most = "task_effectiveness", texts.SUGGESTION_CHARS
    notes = [*feedback.tool_highlights, *feedback.tool_pain_points] if feedback else []
    texts.check_count(field, len(notes), MOST_ITEMS)
    note_texts = [texts.Text(field, text, most) for text in notes]
    values, secret_kinds = texts.redact_texts(raw_texts + note_texts, strict=room.settings.strict)
    draft = Draft(content="", topic=schema.DEFAULT_TOPIC, source=reflection.source)
    results, parted_count = list[RememberOutcome](), 0
    with room.engine.writing() as rows:
        for item, text in zip(raw_texts, values, strict=False):
            parts, is_question = list[RememberOutcome](), item.field == "open_questions"
            for part in texts.parts_of(text):
                keywords = (QUESTION_KEYWORD, *texts.keywords_of(part)) if is_question else ()
                fact = replace(draft, content=part, type=_ITEM_TYPE[item.field], keywords=keywords)
                parts.append(put_draft(rows, room, redact_draft(fact)[0], agent=agent, session=""))
            ids = list(dict.fromkeys(result.fragment.id for result in parts))
            rows.put_links(
                Link(from_id=id_, to_id=ids[0], relation="part_of", created_at=now)
                for id_ in ids[1:]
            )
            results += parts
            parted_count += int(len(parts) > 1)
        if feedback:
            middle = len(raw_texts) + len(feedback.tool_highlights)
            highlights = tuple(filter(None, values[len(raw_texts) : middle]))
            pain_points = tuple(filter(None, values[middle:]))
            feedback = replace(feedback, tool_highlights=highlights, tool_pain_points=pain_points)
            rows.put_entries([replace(feedback, session_id=session, created_at=now, agent=owner)])
        new_count = sum(result.is_new for result in results)
        activity.count_call(rows, room, session, agent, new_count=new_count, reflects=True)
    return ReflectOutcome(results, parted_count, secret_kinds)


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
        filter_ = Filter(session=key, lifetimes=("working",), state="kept", is_anchor=False)
        working_rows = [row for page in pages_of(rows, filter_) for row in page if room.owns(row)]
        rows.replace([replace(row, deleted_at=now, deletion="ended") for row in working_rows])
        rows.count_up({"ended": len(working_rows)})
        entry = activity.find_activity(rows, room, key)
        if not entry or entry.ended_at:
            return None
        rows.put_entries([replace(entry, ended_at=now)])
        if entry.reflected_at or not entry.written:
            return None
        try:
            start, end = map(datetime.fromisoformat, (entry.started_at, entry.last_at))
            minutes = max(round((end - start).total_seconds() / 60), 0)  # a clock may be set back
        except (TypeError, ValueError):  # moments of another program
            minutes = 0
        facts: Facts = {"agent": entry.agent, "calls": entry.calls, "written": entry.written}
        facts |= {"date": minute_of(entry.started_at), "minutes": minutes}
        content = say("fragments.saving.unreflected", **facts)
        if twin := find_same_content(rows, entry.agent, schema.hash_of(content)):
            return twin
        fact = fragment_of(
            rows,
            content,
            schema.TYPES["episodic"],
            now,
            topic=TOPIC,
            keywords=(TOPIC, entry.agent),
            source=entry.session_id,
            agent=entry.agent,
            checked_at=now,  # two sessions are two facts, however alike their words are
            expires_at=expiry_of(schema.TYPES["working"], now),
        )
        rows.count_up({"remembered": 1})
        [fact] = rows.add([fact])
    return fact


def end_idle_sessions(room: Room, *, idle_limit: timedelta = IDLE_LIMIT) -> int:
    """End the sessions without a call for so long, each as its own agent; return how many."""
    end, count = moment_before(room.clock(), seconds=idle_limit.total_seconds()), 0
    with room.engine.reading() as rows:
        activities: list[schema.Activity] = rows.entries(schema.Activity)
    for entry in activities:
        if not entry.ended_at and entry.last_at < end:
            with suppress(FragmentsError):  # a name that no caller may have, of another program
                end_session(room.for_agent(entry.agent), entry.session_id)
                count += 1
    return count


def find_same_content(rows: Rows, agent: str, content_hash: str) -> Fragment | None:
    """Return the agent's fragment with this content, a live one first."""
    filter_ = Filter(agents=(agent,), content_hash=content_hash, state="all")
    fragments = rows.find(filter_, order="newest", limit=10)
    return min(fragments, key=lambda row: (row.deleted_at, row.superseded_at), default=None)


def make_id(rows: Rows) -> str:
    """Return an unused id, such as `f9c24b7a`: a letter first, as `59e89878` reads as a number."""
    while True:
        id_ = "".join(_ID_LETTERS[byte % len(_ID_LETTERS)] for byte in os.urandom(_ID_CHARS))
        if id_[0].isalpha() and not rows.by_ids([id_]):
            return id_


def fragment_of(rows: Rows, content: str, row: schema.TypeRow, now: str, **fields: Any) -> Fragment:
    """Return a new fragment, not stored yet. row: of its type. fields: of it alone."""
    values: dict[str, Any] = dict.fromkeys(("created_at", "updated_at", "verified_at"), now)
    values |= content_fields_of(content) | type_fields_of(row, now) | {"importance": row.importance}
    return Fragment(id=make_id(rows), **values | fields)


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
    """Return the fragment pinned, or not: another program's may be permanent without an anchor."""
    if is_pinned(fragment) == is_anchor == fragment.is_anchor:
        return fragment
    return replace(fragment, is_anchor=is_anchor, tier="permanent" if is_anchor else "warm")
