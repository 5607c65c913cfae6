"""Corrects and replaces fragments, bins, restores and pins them, and hands them over to a log.

Former texts are kept. A fragment that a memory log has leaves recall and names its record: nothing
is lost or returned twice. The caller writes the log first.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

from rooms.fragments import activity, draft
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Amendment, Filter, Fragment, FragmentsError, Link, Version
from rooms.fragments.links import bring_back, drop_suspicions, successors_of, supersede
from rooms.fragments.room import Room, agents_for, find_changeable, open_change, owner_for
from rooms.fragments.storage.rows import Rows, pages_of
from rooms.fragments.texts import CONTENT_CHARS, keywords_of, plain_id, redact_fields
from rooms.fragments.upkeep.life import is_pinned

IMPORTANCE, SESSIONS = 0.8, 3  # that earn a place in a log; so many sessions with a recall
KINDS = ("error", "procedure")
TEAM = "team"  # the privacy of a fragment whose author wants it to be promoted
_PAGE_SIZE = 300
# A fragment that takes the place of another has its knowledge, but not its use.
_NO_USE: dict[str, Any] = {"number": 0, "access_count": 0, "sessions_count": 0, "utility": 1.0}
_NO_USE |= dict.fromkeys(("accessed_at", "last_session", "checked_at", "decayed_at"), "")


class AmendOutcome(NamedTuple):
    fragment: Fragment
    before: Fragment
    is_new: bool = False  # a new one took its place
    secret_kinds: tuple[str, ...] = ()  # kinds of secrets taken out
    is_long: bool = False  # longer than recommended


def amend(room: Room, amendment: Amendment, *, agent: str = "", session: str = "") -> AmendOutcome:
    """Correct a fragment; on disk when this returns.

    It keeps its id and links; its former text becomes a version. An amendment without a change
    confirms it. With `supersedes` its place goes to a new fragment, or to the fragment that has the
    new content already.
    """
    content, topic, keywords = amendment.content, amendment.topic, amendment.keywords
    if topic is not None and not topic.strip():
        raise FragmentsError("blank", field="topic")
    raw_fields = content, topic or "", "", keywords or ()
    fields, secret_kinds = redact_fields(*raw_fields, strict=room.settings.strict)
    changes: dict[str, Any] = {name: fields[name] or None for name in ("content", "topic")}
    changes["keywords"] = None if keywords is None else fields["keywords"]
    amendment = replace(amendment, **changes)
    if amendment == Amendment(id=amendment.id):
        raise FragmentsError("nothing_given")
    agents, now = agents_for(room, agent), room.clock()
    with open_change(room, amendment.id) as rows:
        before = find_changeable(rows, room, amendment.id, agents)
        if before.promoted:
            raise FragmentsError("is_promoted", id=before.id, record=before.record_id)
        if before.superseded_at:  # nobody reads it any more
            for other in rows.by_ids(successors_of(rows, before.id)):
                raise FragmentsError("has_successor", id=before.id, other=other.id)
            raise FragmentsError("is_superseded", id=before.id)
        after = _apply_amendment(before, amendment, now)
        if amendment.supersedes:
            result = _store_successor(rows, before, after, now)
        else:
            result = _correct(rows, before, after, owner_for(room, agent), now)
        activity.count_call(rows, room, session, agent, new_count=int(result.is_new))
    is_long = content is not None and len(result.fragment.content) > CONTENT_CHARS
    return result._replace(secret_kinds=secret_kinds, is_long=is_long)


def _apply_amendment(before: Fragment, amendment: Amendment, now: str) -> Fragment:
    content = amendment.content or before.content
    keywords = before.keywords if amendment.keywords is None else amendment.keywords
    if amendment.keywords is None and content != before.content:
        keywords = () if keywords == keywords_of(before.content) else keywords
    after = replace(
        before,
        topic=amendment.topic or before.topic,
        keywords=keywords or keywords_of(content),
        importance=before.importance if amendment.importance is None else amendment.importance,
    )
    if content != before.content:
        after = replace(after, **draft.content_fields_of(content))
    if amendment.is_anchor is not None:
        after = draft.with_anchor(after, is_anchor=amendment.is_anchor)
    if is_pinned(before) and not is_pinned(after):
        after = draft.renew(after, now)
    row = schema.TYPES[amendment.type] if amendment.type else None
    if not row or (row.kind, row.lifetime) == (before.kind, before.lifetime):
        return after
    return replace(after, **draft.type_fields_of(row, now), session="")


def _correct(rows: Rows, before: Fragment, after: Fragment, agent: str, now: str) -> AmendOutcome:
    if after.content_hash != before.content_hash:
        twin = draft.find_same_content(rows, after.agent, after.content_hash)
        if twin and twin.id != after.id:
            key = "same_content_in_bin" if twin.deleted_at else "same_content"
            raise FragmentsError(key, other=twin.id)
    if after == before:
        rows.set_fields([before.number], {"verified_at": now})
        return AmendOutcome(replace(before, verified_at=now), before)
    fields: dict[str, Any] = {field: getattr(before, field) for field in schema.VERSION_FIELDS}
    version = Version(fragment_id=before.id, **fields, amended_at=now, amended_by=agent)
    after = replace(after, updated_at=now, verified_at=now, checked_at="")
    rows.put_entries([version])
    rows.replace([after])
    rows.count_up({"amended": 1})
    return AmendOutcome(after, before)


def _store_successor(rows: Rows, before: Fragment, after: Fragment, now: str) -> AmendOutcome:
    if after.content_hash == before.content_hash:
        raise FragmentsError("nothing_new")
    twin = draft.find_same_content(rows, before.agent, after.content_hash)
    if twin and twin.promoted and not twin.deleted_at:
        successor = twin  # the log has it, and recall does not return it beside the lesson
    elif twin:
        bring_back(rows, twin, now)
        fields = {**draft.RECALLABLE, "importance": max(twin.importance, after.importance)}
        successor = replace(draft.renew(twin, now), **fields)
        is_anchor = is_pinned(twin) or after.is_anchor
        successor = draft.with_anchor(successor, is_anchor=is_anchor)
        rows.replace([successor])
    else:
        tier = "permanent" if after.is_anchor else "hot"
        fields = {**_NO_USE, "id": draft.make_id(rows), "created_at": now, "tier": tier}
        successor = draft.add_fragment(rows, replace(draft.renew(after, now), **fields)).fragment
        rows.drop_links([Link(from_id=successor.id, to_id=before.id)])
    drop_suspicions(rows, [(before.id, successor.id)])
    supersede(rows, before, successor, now)
    return AmendOutcome(successor, before, is_new=twin is None)


class ForgetOutcome(NamedTuple):
    fragments: list[Fragment]  # as they were
    kept_count: int  # own fragments that stayed
    is_gone: bool  # away for good, not in the bin
    shared_count: int = 0  # others' fragments, which stayed


def forget(
    room: Room,
    *,
    id: str = "",
    topic: str = "",
    force: bool = False,
    hard: bool = False,
    agent: str = "",
    is_meant: Callable[[Fragment], bool] = lambda _: True,
    purges: bool = True,
) -> ForgetOutcome:
    """Move a fragment, or all of a topic, to the bin.

    id: wins over the topic. hard: remove for good, from the bin, too. force: as `hard`, pinned
    fragments as well. is_meant: False keeps a fragment that changed since the caller saw it. A
    pinned fragment, or another agent's, is refused by its id and kept in a topic. An unknown topic
    forgets none. purges: False for a caller who takes out the bytes once, for many.
    """
    agents, is_gone, now = agents_for(room, agent), force or hard, room.clock()
    key, topic = plain_id(id), topic.strip()
    if not (key or topic):
        raise FragmentsError("id_or_topic")
    if not (key or room.engine.exists()):
        return ForgetOutcome([], 0, is_gone)
    with open_change(room, key) as rows:
        if key:
            matches = [find_changeable(rows, room, key, agents, in_bin=is_gone)]
        else:  # the bin counts only if they are to be gone
            filter_ = Filter(agents=agents, topics=(topic,), state="all" if is_gone else "kept")
            matches = [fragment for page in pages_of(rows, filter_) for fragment in page]
        own_rows = [fragment for fragment in matches if room.owns(fragment)]
        meant_rows = list(filter(is_meant, own_rows))
        gone_rows = [row for row in meant_rows if force or not is_pinned(row)]
        if key and meant_rows and not gone_rows:
            raise FragmentsError("pinned", id=own_rows[0].id)
        if is_gone:
            rows.count_up({"purged": rows.drop(row.id for row in gone_rows)})
        else:
            rows.replace([replace(row, deleted_at=now, deletion="forgotten") for row in gone_rows])
            rows.count_up({"forgotten": len(gone_rows)})
    if gone_rows and is_gone and purges:
        room.engine.purge()
    kept_count, shared_count = len(own_rows) - len(gone_rows), len(matches) - len(own_rows)
    return ForgetOutcome(gone_rows, kept_count, is_gone, shared_count)


def restore(room: Room, id_: str) -> Fragment:
    """Bring a fragment back into recall: from the bin, a successor or a log.

    It ages anew. A live fragment stays as it is. Refused if another has its content by now.
    """
    now = room.clock()
    with open_change(room, id_) as rows:
        fragment = find_changeable(rows, room, id_, agents_for(room, ""), in_bin=True)
        if fragment.is_live:
            return fragment
        twin = draft.find_same_content(rows, fragment.agent, fragment.content_hash)
        if twin and twin.id != fragment.id and not twin.deleted_at:
            raise FragmentsError("same_content", other=twin.id)
        bring_back(rows, fragment, now)
        fields = {**draft.RECALLABLE, "tier": "permanent" if fragment.is_anchor else "hot"}
        fragment = replace(draft.renew(fragment, now), session="", **fields)
        rows.replace([fragment])
    return fragment


def pin(room: Room, id_: str, *, pinned: bool) -> Fragment:
    """Pin a fragment, so that it neither ages nor goes without force; or let it age from now on."""
    with open_change(room, id_) as rows:
        fragment = find_changeable(rows, room, id_, agents_for(room, ""))
        changed = draft.with_anchor(fragment, is_anchor=pinned)
        if changed == fragment:
            return fragment
        fragment = draft.renew(changed, room.clock())
        rows.replace([fragment])
    return fragment


class RecordTexts(NamedTuple):
    """The texts of a record; "" where the fragments say none."""

    gap: str
    lesson: str


def record_texts_of(room: Room, id_: str) -> tuple[Fragment, RecordTexts]:
    """Return a fragment, and the gap and lesson of its record.

    An error is the gap, its cure the lesson. Another fragment is the lesson, the error that it
    resolves the gap.
    """
    with room.engine.reading() as rows:
        fragment = find_changeable(rows, room, id_, agents_for(room, ""))
        if fragment.superseded_at and not fragment.promoted:
            raise FragmentsError("is_superseded", id=fragment.id)
        is_error = fragment.kind == "error"
        links = rows.links([fragment.id], ["resolved_by"])
        ends = [link.to_id if is_error else link.from_id for link in links]
        peers = rows.by_ids(end for end in ends if end != fragment.id)
        peers = [row for row in peers if row.is_live or (row.promoted and not row.deleted_at)]
        other = peers[-1].content if peers else ""
    texts = (fragment.content, other) if is_error else (other, fragment.content)
    return fragment, RecordTexts(*texts)


def promote(room: Room, id_: str, record: str) -> Fragment:
    """Take a fragment out of recall. record: its id in the log."""
    now = room.clock()
    with open_change(room, id_) as rows:
        fragment = find_changeable(rows, room, id_, agents_for(room, ""))
        fragment = replace(fragment, superseded_at=fragment.superseded_at or now, promoted=record)
        rows.replace([fragment])
    return fragment


def find_promotable(rows: Rows, agents: Sequence[str], most: int) -> list[Fragment]:
    """Return fragments that belong into a log by their privacy or use, the former first.

    agents: whose, () for all. If the log has one of an error and its cure, both are left out.
    """
    for_team = find_important(rows, Filter(agents=tuple(agents), privacy=TEAM))
    filter_ = Filter(agents=tuple(agents), kinds=KINDS)
    # Pinned fragments are listed apart, so that the most important come first in each list.
    filters = (replace(filter_, is_anchor=is_anchor) for is_anchor in (True, False))
    by_use = chain.from_iterable(find_important(rows, choice, IMPORTANCE) for choice in filters)
    earned = (row for row in by_use if row.privacy != TEAM and row.sessions_count >= SESSIONS)
    candidates, fragments = chain(for_team, earned), list[Fragment]()
    while len(fragments) < most and (page := [*islice(candidates, _PAGE_SIZE)]):
        links = rows.links([row.id for row in page], ["resolved_by"])
        pairs = [{link.from_id, link.to_id} for link in links]
        ends = rows.by_ids(set[str]().union(*pairs))
        promoted_ids = {row.id for row in ends if row.promoted and not row.deleted_at}
        known_ids = {end for pair in pairs if pair & promoted_ids for end in pair}
        fragments += [row for row in page if row.id not in known_ids]
    return fragments[:most]


def find_important(rows: Rows, filter_: Filter, least: float = 0.0) -> Iterator[Fragment]:
    """Yield pinned fragments, then the most important, until one is below `least`.

    filter_: only pinned fragments, or only others, if there is a `least`.
    """
    offset = 0
    while page := rows.find(filter_, order="worth", limit=_PAGE_SIZE, offset=offset):
        for fragment in page:
            if fragment.importance < least:
                return
            yield fragment
        offset += len(page)
