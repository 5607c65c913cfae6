"""Corrects and replaces fragments, bins, restores and pins them; former texts are kept."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.text.plain import estimate_tokens
from rooms.fragments import activity
from rooms.fragments.config import Config
from rooms.fragments.draft import added
from rooms.fragments.errors import FragmentsError, SavingError
from rooms.fragments.fragment import CONTENT_CHARS, Fragment, Link, Version, Wanted, hash_of
from rooms.fragments.links import settled, supersede
from rooms.fragments.room import Room, readers, writer
from rooms.fragments.standing import (
    brought_back,
    changeable,
    changing,
    expiry,
    fresh_id,
    recallable,
    renewed,
    row_of,
    same_content,
    successors,
    with_anchor,
)
from rooms.fragments.storage.engine import pages_of
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import check_importance, fields_of, keywords_of, plain_id, type_word
from rooms.fragments.upkeep.life import is_pinned


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """The changes that a caller wants; None leaves a field as it is.

    keywords: () to find them in the content. type: a word of `TYPES`. supersedes: put a new
    fragment in its place.
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
    """The fragment now, and before. is_new: another one took its place.

    redacted: kinds of secrets taken out. is_long: longer than recommended.
    """

    fragment: Fragment
    before: Fragment
    is_new: bool
    redacted: tuple[str, ...] = ()
    is_long: bool = False


def amend(room: Room, amendment: Amendment, *, agent: str = "", session: str = "") -> Amended:
    """Correct a fragment; on disk when this returns. Raises FragmentsError, DatabaseError.

    It keeps its id and links; its former text becomes a version. An amendment without a change
    confirms it. With `supersedes` its place goes to a new fragment, or to the fragment that has the
    new content already.
    """
    ready, redacted = _prepared(amendment, strict=room.settings.strict)
    agents, now = readers(room, agent), room.clock()
    with changing(room, amendment.id) as rows:
        before = changeable(rows, room, ready.id, agents)
        if before.promoted:
            raise SavingError("is_promoted", id=before.id, record=before.record_id)
        if before.superseded_at:  # nobody reads it any more
            for other in rows.by_ids(successors(rows, before.id)):
                raise SavingError("has_successor", id=before.id, other=other.id)
            raise SavingError("is_superseded", id=before.id)
        after = _amended(before, ready, room.config, now)
        if ready.supersedes:
            done = _replaced(rows, before, after, now)
        else:
            done = _corrected(rows, before, after, writer(room, agent), now)
        activity.note(rows, room, session, agent, wrote=int(ready.supersedes))
    is_long = amendment.content is not None and len(done.content) > CONTENT_CHARS
    return Amended(done, before, ready.supersedes, redacted, is_long)


def _prepared(amendment: Amendment, *, strict: bool) -> tuple[Amendment, tuple[str, ...]]:
    type_ = amendment.type and type_word(amendment.type)
    check_importance(amendment.importance)
    if amendment.topic is not None and not amendment.topic.strip():
        raise FragmentsError("blank", field="topic")
    fields = fields_of(
        amendment.content, amendment.topic or "", "", amendment.keywords or (), strict=strict
    )
    ready = replace(
        amendment,
        content=None if amendment.content is None else fields.content,
        topic=fields.topic or None,
        keywords=None if amendment.keywords is None else fields.keywords,
        type=type_ or None,
    )
    if ready == Amendment(id=ready.id):
        raise SavingError("nothing_given")
    return ready, fields.redacted


def _amended(before: Fragment, ready: Amendment, config: Config, now: str) -> Fragment:
    content = before.content if ready.content is None else ready.content
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
        hashed, tokens = hash_of(content), estimate_tokens(content)
        after = replace(after, content=content, content_hash=hashed, estimated_tokens=tokens)
    if ready.is_anchor is not None:
        after = with_anchor(after, is_anchor=ready.is_anchor)
    if before.is_anchor and not after.is_anchor:
        after = renewed(after, now)
    row = row_of(ready.type, config) if ready.type else None
    if not row or (row.kind, row.lifetime) == (before.kind, before.lifetime):
        return after
    return replace(
        after,
        kind=row.kind,
        lifetime=row.lifetime,
        stale_days=row.stale_days,
        expires_at=expiry(row, now),
        session="",
    )


def _corrected(rows: Rows, before: Fragment, after: Fragment, agent: str, now: str) -> Fragment:
    if after.content_hash != before.content_hash:
        same = same_content(rows, after.agent, after.content_hash)
        if same and same.id != after.id:
            key = "same_content_in_bin" if same.deleted_at else "same_content"
            raise SavingError(key, other=same.id)
    if after == before:
        rows.touch([before.number], {"verified_at": now})
        return replace(before, verified_at=now)
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
    rows.note([version])
    rows.replace([after])
    rows.count_up({"amended": 1})
    return after


def _replaced(rows: Rows, before: Fragment, after: Fragment, now: str) -> Fragment:
    if after.content_hash == before.content_hash:
        raise SavingError("nothing_new")
    same = same_content(rows, before.agent, after.content_hash)
    if same:
        brought_back(rows, same, now)
        made = replace(
            renewed(same, now),
            importance=max(same.importance, after.importance),
            deleted_at="",
            deletion="",
            superseded_at="",
        )
        made = with_anchor(made, is_anchor=same.is_anchor or after.is_anchor)
        rows.replace([made])
    else:
        # It takes over the knowledge of the other, but not its use.
        unused = Fragment(id=fresh_id(rows), content="", created_at=now)
        fresh = replace(
            renewed(after, now),
            number=unused.number,
            id=unused.id,
            access_count=unused.access_count,
            accessed_at=unused.accessed_at,
            sessions_count=unused.sessions_count,
            last_session=unused.last_session,
            created_at=now,
            tier="permanent" if after.is_anchor else "hot",
            utility=unused.utility,
            checked_at="",
            decayed_at="",
        )
        made = added(rows, fresh).fragment
        rows.drop_links([Link(from_id=made.id, to_id=before.id)])
    settled(rows, [(before.id, made.id)])
    supersede(rows, before, made, now)
    return made


class Forgotten(NamedTuple):
    """The forgotten fragments, as they were.

    kept: number of own fragments that stayed. is_gone: away for good, not in the bin. shared:
    number of others' fragments, which stayed.
    """

    fragments: list[Fragment]
    kept: int
    is_gone: bool
    shared: int = 0


def forget(
    room: Room,
    *,
    id: str = "",
    topic: str = "",
    force: bool = False,
    hard: bool = False,
    agent: str = "",
    is_meant: Callable[[Fragment], bool] = lambda _: True,
) -> Forgotten:
    """Move a fragment, or all of a topic, to the bin.

    id: wins over the topic. hard: remove for good, from the bin, too. force: as `hard`, pinned
    fragments as well. is_meant: False keeps a fragment that changed since the caller saw it. A
    pinned fragment, or another agent's, is refused by its id and kept in a topic. An unknown topic
    forgets none. Raises FragmentsError, DatabaseError.
    """
    agents, is_gone, now = readers(room, agent), force or hard, room.clock()
    key, topic = plain_id(id), topic.strip()
    if not (key or topic):
        raise SavingError("id_or_topic")
    if not (key or room.engine.exists()):
        return Forgotten([], 0, is_gone)
    with changing(room, key) as rows:
        if key:
            seen = [changeable(rows, room, key, agents, in_bin=is_gone)]
        else:  # the bin counts only if they are to be gone
            wanted = Wanted(agents=agents, topics=(topic,), state="all" if is_gone else "kept")
            seen = [each for page in pages_of(rows, wanted) for each in page]
        own = [each for each in seen if room.owns(each)]
        meant = list(filter(is_meant, own))
        gone = [each for each in meant if force or not is_pinned(each)]
        if key and meant and not gone:
            raise SavingError("pinned", id=own[0].id)
        if is_gone:
            rows.count_up({"purged": rows.drop(each.id for each in gone)})
        else:
            rows.replace([replace(each, deleted_at=now, deletion="forgotten") for each in gone])
            rows.count_up({"forgotten": len(gone)})
    if gone and is_gone:
        room.engine.purge()
    return Forgotten(gone, len(own) - len(gone), is_gone, len(seen) - len(own))


def restore(room: Room, id_: str) -> Fragment:
    """Bring a fragment back into recall: from the bin, a successor or a log.

    It ages anew. A live fragment stays as it is. Refused if another fragment has its content by
    now. Raises FragmentsError, DatabaseError.
    """
    now = room.clock()
    with changing(room, id_) as rows:
        found = changeable(rows, room, id_, readers(room, ""), in_bin=True)
        if found.is_live:
            return found
        same = same_content(rows, found.agent, found.content_hash)
        if same and same.id != found.id and not same.deleted_at:
            raise SavingError("same_content", other=same.id)
        brought_back(rows, found, now)
        back = replace(
            recallable(renewed(found, now)),
            session="",
            tier="permanent" if found.is_anchor else "hot",
        )
        rows.replace([back])
    return back


def pin(room: Room, id_: str, *, pinned: bool) -> Fragment:
    """Pin a fragment, so that it neither ages nor goes without force; or unpin it.

    An unpinned fragment ages from now on. Raises FragmentsError, DatabaseError.
    """
    with changing(room, id_) as rows:
        found = changeable(rows, room, id_, readers(room, ""))
        if found.is_anchor == pinned:
            return found
        done = renewed(with_anchor(found, is_anchor=pinned), room.clock())
        rows.replace([done])
    return done
