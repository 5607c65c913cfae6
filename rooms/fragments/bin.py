"""Moves fragments to the bin, or away for good; takes them out again; pins and unpins them."""

from collections.abc import Callable, Iterable, Sequence
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
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import plain_id


class Forgotten(NamedTuple):
    """The fragments that were forgotten, as they were, and how many pinned ones were kept.

    is_gone: they are away for good, not in the bin. shared: how many of the topic were kept since
    they are not the caller's.
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
    """Move a fragment, or those of a topic, to the bin; counted in the state.

    id: wins over the topic. hard: away at once, from the bin, too. force: so, and pinned ones with
    the others. A pinned one that was named by its id is refused, one of a topic kept; so is one
    that the agent of the room only reads. A topic that no fragment has forgets none. is_meant: one
    that is another by now than the caller has seen is kept. Raises FragmentsError, DatabaseError.
    """
    agents, is_gone = readers(room, agent), force or hard
    key, topic = plain_id(id), topic.strip()
    if not (key or topic):
        raise SavingError("id_or_topic")
    if not room.engine.exists() and not key:
        return Forgotten([], 0, is_gone)
    with changing(room, key) as writing:
        if key:
            seen = [changeable(writing, room, key, agents, in_bin=is_gone)]
        else:
            seen = _of_topic(writing, topic, agents, is_gone)
        found = [it for it in seen if room.owns(it)]
        if not any(map(is_meant, found)):
            return Forgotten([], len(found), is_gone, len(seen) - len(found))
        gone = [it for it in found if is_meant(it) and (force or not is_pinned(it))]
        if key and not gone:
            raise SavingError("pinned", id=found[0].id)
        _remove(writing, gone, is_gone, room.clock())
    if gone and is_gone:
        room.engine.purge()
    return Forgotten(gone, len(found) - len(gone), is_gone, len(seen) - len(found))


def restore(room: Room, id_: str) -> Fragment:
    """Put a fragment back into recall: out of the bin, or where a fragment or lesson has its place.

    It begins to age again. One that is live stays as it is; one whose content another fragment
    holds by now is refused. Raises FragmentsError, DatabaseError.
    """
    now = room.clock()
    with changing(room, id_) as writing:
        found = changeable(writing, room, id_, readers(room, ""), in_bin=True)
        if found.is_live:
            return found
        same = same_content(writing, found.agent, found.content_hash)
        if same and same.id != found.id and not same.deleted_at:
            raise SavingError("same_content", other=same.id)
        brought_back(writing, found.id, now)
        back = replace(
            recallable(renewed(found, now)),
            session="",
            tier="permanent" if found.is_anchor else "hot",
        )
        writing.replace([back])
        writing.count_up({"restored": int(bool(found.deleted_at))})
    return back


def pin(room: Room, id_: str, *, pinned: bool) -> Fragment:
    """Pin a fragment, so that it neither ages nor goes without force; or unpin it.

    What is unpinned begins to age from now on. Raises FragmentsError, DatabaseError.
    """
    with changing(room, id_) as writing:
        found = changeable(writing, room, id_, readers(room, ""))
        if found.is_anchor == pinned:
            return found
        done = renewed(with_anchor(found, is_anchor=pinned), room.clock())
        writing.replace([done])
    return done


def is_pinned(fragment: Fragment) -> bool:
    """Return whether only force removes a fragment."""
    return fragment.is_anchor or fragment.tier == "permanent"


def _of_topic(writing: Rows, topic: str, agents: Sequence[str], is_gone: bool) -> list[Fragment]:
    """Return the fragments of a topic, those in the bin only where they are to be gone."""
    wanted = Wanted(agents=tuple(agents), topics=(topic,), state="all" if is_gone else "kept")
    return [it for some in pages_of(writing, wanted) for it in some]


def _remove(writing: Rows, gone: Iterable[Fragment], is_gone: bool, now: str) -> None:
    if is_gone:
        writing.count_up({"purged": writing.drop(it.id for it in gone)})
        return
    binned = [replace(it, deleted_at=now, deletion="forgotten") for it in gone]
    writing.replace(binned)
    writing.count_up({"forgotten": len(binned)})
