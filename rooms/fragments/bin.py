"""Moves fragments into the bin, out of it or away for good; pins and unpins them."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from rooms.fragments.errors import SavingError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.room import Room, readers
from rooms.fragments.standing import (
    brought_back,
    changeable,
    changing,
    recallable,
    renewed,
    same_content,
    with_anchor,
)
from rooms.fragments.storage.engine import pages_of
from rooms.fragments.texts import plain_id
from rooms.fragments.upkeep.life import is_pinned


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
