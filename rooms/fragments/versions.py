"""Corrects and replaces fragments, bins, restores and pins them, and hands them over to a log.

Former texts are kept. A fragment that a memory log has leaves recall and names its record: nothing
is lost or told twice. The caller writes the log first.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

from rooms.fragments import activity, draft
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Amendment, Filter, Fragment, FragmentsError, Link, Version
from rooms.fragments.links import bring_back, drop_suspicions, successors_of, supersede
from rooms.fragments.room import Config, Room, agents_for, find_changeable, opened_change, owner_for
from rooms.fragments.storage.rows import Rows, pages_of
from rooms.fragments.texts import CONTENT_CHARS, clean_fields_of, keywords_of, plain_id
from rooms.fragments.upkeep.life import is_pinned

IMPORTANCE, SESSIONS = 0.8, 3  # that earn a place in a log; so many sessions with a recall
KINDS = ("error", "procedure")
TEAM = "team"  # the privacy of a fragment whose author wants it to be promoted
_AT_ONCE = 300
# A fragment that takes the place of another has its knowledge, but not its use.
_UNUSED: dict[str, Any] = {"number": 0, "access_count": 0, "sessions_count": 0, "utility": 1.0}
_UNUSED |= dict.fromkeys(("accessed_at", "last_session", "checked_at", "decayed_at"), "")


class Amended(NamedTuple):
    fragment: Fragment
    before: Fragment
    is_new: bool  # another one took its place
    redacted: tuple[str, ...] = ()  # kinds of secrets taken out
    is_long: bool = False  # longer than recommended


def amend(room: Room, amendment: Amendment, *, agent: str = "", session: str = "") -> Amended:
    """Correct a fragment; on disk when this returns.

    It keeps its id and links; its former text becomes a version. An amendment without a change
    confirms it. With `supersedes` its place goes to a new fragment, or to the fragment that has the
    new content already.
    """
    content, topic, keywords = amendment.content, amendment.topic, amendment.keywords
    if topic is not None and not topic.strip():
        raise FragmentsError("blank", field="topic")
    given = content, topic or "", "", keywords or ()
    fields, redacted = clean_fields_of(*given, strict=room.settings.strict)
    ready = replace(
        amendment,
        content=fields["content"] or None,
        topic=fields["topic"] or None,
        keywords=None if keywords is None else fields["keywords"],
    )
    if ready == Amendment(id=ready.id):
        raise FragmentsError("nothing_given")
    agents, now = agents_for(room, agent), room.clock()
    with opened_change(room, amendment.id) as rows:
        before = find_changeable(rows, room, ready.id, agents)
        if before.promoted:
            raise FragmentsError("is_promoted", id=before.id, record=before.record_id)
        if before.superseded_at:  # nobody reads it any more
            for other in rows.by_ids(successors_of(rows, before.id)):
                raise FragmentsError("has_successor", id=before.id, other=other.id)
            raise FragmentsError("is_superseded", id=before.id)
        after = _amended(before, ready, room.config, now)
        if ready.supersedes:
            done = _replaced(rows, before, after, now)
        else:
            done = _corrected(rows, before, after, owner_for(room, agent), now)
        activity.note(rows, room, session, agent, wrote=int(ready.supersedes))
    is_long = content is not None and len(done.content) > CONTENT_CHARS
    return Amended(done, before, ready.supersedes, redacted, is_long)


def _amended(before: Fragment, ready: Amendment, config: Config, now: str) -> Fragment:
    content = ready.content or before.content
    keywords = before.keywords if ready.keywords is None else ready.keywords
    if ready.keywords is None and content != before.content:
        keywords = () if keywords == keywords_of(before.content) else keywords
    after = replace(
        before,
        topic=ready.topic or before.topic,
        keywords=keywords or keywords_of(content),
        importance=before.importance if ready.importance is None else ready.importance,
    )
    if content != before.content:
        after = replace(after, **draft.content_fields_of(content))
    if ready.is_anchor is not None:
        after = draft.with_anchor(after, is_anchor=ready.is_anchor)
    if before.is_anchor and not after.is_anchor:
        after = draft.renew(after, now)
    row = draft.type_row_of(ready.type, config) if ready.type else None
    if not row or (row.kind, row.lifetime) == (before.kind, before.lifetime):
        return after
    return replace(after, **draft.type_fields_of(row, now), session="")


def _corrected(rows: Rows, before: Fragment, after: Fragment, agent: str, now: str) -> Fragment:
    if after.content_hash != before.content_hash:
        same = draft.find_same_content(rows, after.agent, after.content_hash)
        if same and same.id != after.id:
            key = "same_content_in_bin" if same.deleted_at else "same_content"
            raise FragmentsError(key, other=same.id)
    if after == before:
        rows.set_fields([before.number], {"verified_at": now})
        return replace(before, verified_at=now)
    kept: dict[str, Any] = {field: getattr(before, field) for field in schema.AMENDED}
    version = Version(fragment_id=before.id, **kept, amended_at=now, amended_by=agent)
    after = replace(after, updated_at=now, verified_at=now, checked_at="")
    rows.note([version])
    rows.replace([after])
    rows.count_up({"amended": 1})
    return after


def _replaced(rows: Rows, before: Fragment, after: Fragment, now: str) -> Fragment:
    if after.content_hash == before.content_hash:
        raise FragmentsError("nothing_new")
    same = draft.find_same_content(rows, before.agent, after.content_hash)
    if same:
        bring_back(rows, same, now)
        back = {**draft.RECALLABLE, "promoted": same.promoted}
        back["importance"] = max(same.importance, after.importance)
        made = replace(draft.renew(same, now), **back)
        made = draft.with_anchor(made, is_anchor=same.is_anchor or after.is_anchor)
        rows.replace([made])
    else:
        tier = "permanent" if after.is_anchor else "hot"
        new = {**_UNUSED, "id": draft.make_id(rows), "created_at": now, "tier": tier}
        made = draft.add_fragment(rows, replace(draft.renew(after, now), **new)).fragment
        rows.drop_links([Link(from_id=made.id, to_id=before.id)])
    drop_suspicions(rows, [(before.id, made.id)])
    supersede(rows, before, made, now)
    return made


class ForgetOutcome(NamedTuple):
    fragments: list[Fragment]  # as they were
    kept: int  # own fragments that stayed
    is_gone: bool  # away for good, not in the bin
    shared: int = 0  # others' fragments, which stayed


def forget(
    room: Room,
    *,
    id: str = "",
    topic: str = "",
    force: bool = False,
    hard: bool = False,
    agent: str = "",
    is_meant: Callable[[Fragment], bool] = lambda _: True,
) -> ForgetOutcome:
    """Move a fragment, or all of a topic, to the bin.

    id: wins over the topic. hard: remove for good, from the bin, too. force: as `hard`, pinned
    fragments as well. is_meant: False keeps a fragment that changed since the caller saw it. A
    pinned fragment, or another agent's, is refused by its id and kept in a topic. An unknown topic
    forgets none.
    """
    agents, is_gone, now = agents_for(room, agent), force or hard, room.clock()
    key, topic = plain_id(id), topic.strip()
    if not (key or topic):
        raise FragmentsError("id_or_topic")
    if not (key or room.engine.exists()):
        return ForgetOutcome([], 0, is_gone)
    with opened_change(room, key) as rows:
        if key:
            seen = [find_changeable(rows, room, key, agents, in_bin=is_gone)]
        else:  # the bin counts only if they are to be gone
            wanted = Filter(agents=agents, topics=(topic,), state="all" if is_gone else "kept")
            seen = [each for page in pages_of(rows, wanted) for each in page]
        own = [each for each in seen if room.owns(each)]
        meant = list(filter(is_meant, own))
        gone = [each for each in meant if force or not is_pinned(each)]
        if key and meant and not gone:
            raise FragmentsError("pinned", id=own[0].id)
        if is_gone:
            rows.count_up({"purged": rows.drop(each.id for each in gone)})
        else:
            rows.replace([replace(each, deleted_at=now, deletion="forgotten") for each in gone])
            rows.count_up({"forgotten": len(gone)})
    if gone and is_gone:
        room.engine.purge()
    return ForgetOutcome(gone, len(own) - len(gone), is_gone, len(seen) - len(own))


def restore(room: Room, id_: str) -> Fragment:
    """Bring a fragment back into recall: from the bin, a successor or a log.

    It ages anew. A live fragment stays as it is. Refused if another has its content by now.
    """
    now = room.clock()
    with opened_change(room, id_) as rows:
        found = find_changeable(rows, room, id_, agents_for(room, ""), in_bin=True)
        if found.is_live:
            return found
        same = draft.find_same_content(rows, found.agent, found.content_hash)
        if same and same.id != found.id and not same.deleted_at:
            raise FragmentsError("same_content", other=same.id)
        bring_back(rows, found, now)
        changed = {**draft.RECALLABLE, "tier": "permanent" if found.is_anchor else "hot"}
        back = replace(draft.renew(found, now), session="", **changed)
        rows.replace([back])
    return back


def pin(room: Room, id_: str, *, pinned: bool) -> Fragment:
    """Pin a fragment, so that it neither ages nor goes without force; or let it age from now on."""
    with opened_change(room, id_) as rows:
        found = find_changeable(rows, room, id_, agents_for(room, ""))
        if found.is_anchor == pinned:
            return found
        done = draft.renew(draft.with_anchor(found, is_anchor=pinned), room.clock())
        rows.replace([done])
    return done


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
        found = rows.by_ids(end for end in ends if end != fragment.id)
        others = [each for each in found if each.is_live or (each.promoted and not each.deleted_at)]
        beside = others[-1].content if others else ""
    said = (
        RecordTexts(fragment.content, beside) if is_error else RecordTexts(beside, fragment.content)
    )
    return fragment, said


def promote(room: Room, id_: str, record: str) -> Fragment:
    """Take a fragment out of recall. record: its id in the log."""
    now = room.clock()
    with opened_change(room, id_) as rows:
        found = find_changeable(rows, room, id_, agents_for(room, ""))
        done = replace(found, superseded_at=found.superseded_at or now, promoted=record)
        rows.replace([done])
    return done


def find_promotable(rows: Rows, agents: Sequence[str], most: int) -> list[Fragment]:
    """Return fragments that belong into a log by their privacy or use, the former first.

    agents: whose, () for all. If the log has one of an error and its cure, both are left out.
    """
    asked = find_important(rows, Filter(agents=tuple(agents), privacy=TEAM))
    used = Filter(agents=tuple(agents), kinds=KINDS)
    # Pinned fragments are listed apart, so that the most important come first in each list.
    lists = (find_important(rows, replace(used, is_anchor=it), IMPORTANCE) for it in (True, False))
    by_use = chain.from_iterable(lists)
    earned = (it for it in by_use if it.privacy != TEAM and it.sessions_count >= SESSIONS)
    candidates, found = chain(asked, earned), list[Fragment]()
    while len(found) < most and (some := [*islice(candidates, _AT_ONCE)]):
        links = rows.links([it.id for it in some], ["resolved_by"])
        pairs = [{it.from_id, it.to_id} for it in links]
        ends = rows.by_ids(set[str]().union(*pairs))
        promoted = {it.id for it in ends if it.promoted and not it.deleted_at}
        told = {end for pair in pairs if pair & promoted for end in pair}
        found += [it for it in some if it.id not in told]
    return found[:most]


def find_important(rows: Rows, wanted: Filter, least: float = 0.0) -> Iterator[Fragment]:
    """Yield pinned fragments, then the most important, until one is below `least`.

    wanted: only pinned fragments, or only others, if there is a `least`.
    """
    at = 0
    while page := rows.find(wanted, order="worth", limit=_AT_ONCE, offset=at):
        for fragment in page:
            if fragment.importance < least:
                return
            yield fragment
        at += len(page)
