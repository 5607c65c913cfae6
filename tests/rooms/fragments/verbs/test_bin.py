"""Tests what forgetting, restoring and pinning do, and that every step is counted."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from core.room.copies import copies_of
from rooms.fragments.bin import forget, pin, restore
from rooms.fragments.fragment import Version
from rooms.fragments.links import link
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import IN_A_FILE
from tests.support.fragments_room import (
    Clock,
    changed,
    figures,
    is_unused,
    links_of,
    refused,
    saved,
    stored,
)


@pytest.mark.row("002 2.30.c")
def test_a_forgotten_fragment_goes_to_the_bin_and_can_come_back(room: Room, clock: Clock) -> None:
    first = saved(room, "The shop runs on Node")
    now = clock.wait(days=2)
    done = forget(room, id=f"`{first.id}`")
    assert (done.fragments, done.kept, done.is_gone) == ([first], 0, False)
    assert stored(room, first.id) == [replace(first, deleted_at=now, deletion="forgotten")]
    assert recall(room, Query(text="shop")).fragments == []
    later = clock.wait(days=29)
    back = restore(room, first.id)
    assert (back.deleted_at, back.deletion, back.used_at) == ("", "", later)
    assert stored(room, first.id) == [back]
    assert restore(room, first.id) == back
    assert figures(room) == {"remembered": 1, "forgotten": 1, "restored": 1}
    assert [it.id for it in recall(room, Query(text="shop")).fragments] == [first.id]


@pytest.mark.row("002 2.18.i")
def test_hard_removes_at_once_with_its_links_also_from_the_bin(room: Room) -> None:
    first, other = saved(room, "alpha bravo"), saved(room, "other")
    link(room, first.id, other.id)
    amend(room, Amendment(id=first.id, importance=0.9))
    assert forget(room, id=first.id, hard=True).is_gone
    assert stored(room, first.id) == []
    with room.engine.reading() as rows:
        assert rows.entries(Version) == []
    assert links_of(room, other.id) == set()
    forget(room, id=other.id)
    assert "is in the bin" in refused(room, forget, id=other.id)
    assert forget(room, id=other.id, hard=True).is_gone
    assert figures(room) == {"remembered": 2, "amended": 1, "forgotten": 1, "purged": 2}
    assert "there is no such fragment" in refused(room, forget, id=other.id, hard=True)


@pytest.mark.row("002 2.40.d")
def test_an_agent_forgets_its_own_and_what_is_everybodys(room: Room) -> None:
    mine, shared = saved(room, "mine", agent="cursor", topic="t"), saved(room, "all", topic="t")
    theirs = saved(room, "theirs", agent="codex", topic="t")
    assert "no such fragment" in refused(room, forget, id=theirs.id, agent="cursor")
    assert forget(room, topic="t", agent="cursor").fragments == [mine, shared]
    assert stored(room, theirs.id) == [theirs]


def test_a_fragment_that_is_another_by_now_than_was_seen_is_kept(room: Room) -> None:
    first, other = saved(room, "alpha", topic="t"), saved(room, "bravo", topic="t")
    done = forget(room, topic="t", is_meant=lambda it: it.id == first.id)
    assert (done.fragments, done.kept) == ([first], 1)
    assert forget(room, id=other.id, is_meant=lambda it: False).fragments == []
    assert stored(room, other.id) == [other]


def test_a_superseded_fragment_is_restored_into_recall(room: Room) -> None:
    old, new = saved(room, "The shop runs on Node"), saved(room, "The shop runs on Bun")
    link(room, old.id, new.id, "superseded_by")
    forget(room, id=old.id)
    assert restore(room, old.id).is_live
    assert links_of(room, old.id) == set()
    link(room, old.id, new.id, "superseded_by")
    assert restore(room, old.id).is_live
    assert figures(room)["restored"] == 1


def test_what_another_says_by_now_is_not_restored(room: Room) -> None:
    first, twin = saved(room, "alpha"), saved(room, "bravo")
    forget(room, id=first.id)
    changed(room, twin, content="alpha", content_hash=first.content_hash)
    assert refused(room, restore, first.id).startswith(f"{twin.id}: this fragment says the same")


def test_what_expired_or_ended_begins_a_new_life_when_restored(room: Room, clock: Clock) -> None:
    first = saved(room, "alpha", is_working=True, session="s1")
    forget(room, id=first.id)
    clock.wait(days=20)
    back = restore(room, first.id)
    assert (back.session, back.tier, back.decayed_at) == ("", "hot", clock())
    assert back.expires_at == "2026-05-23T10:00:00+00:00"


@pytest.mark.row("004 4.7")
def test_a_pinned_fragment_is_permanent_and_ages_again_once_unpinned(
    room: Room, clock: Clock
) -> None:
    first = saved(room, "alpha", type="episodic")
    done = pin(room, first.id, pinned=True)
    assert (done.is_anchor, done.tier, stored(room, first.id)) == (True, "permanent", [done])
    clock.wait(days=400)
    assert pin(room, first.id, pinned=True) == done
    loose = pin(room, first.id, pinned=False)
    assert (loose.is_anchor, loose.tier, loose.used_at) == (False, "warm", clock())
    assert loose.expires_at > clock()
    forget(room, id=first.id)
    assert f"restore {first.id}" in refused(room, pin, first.id, pinned=True)


def test_where_nothing_was_ever_stored_nothing_is_changed_or_made(room: Room) -> None:
    assert forget(room, topic="t").fragments == []
    for said in (
        refused(room, forget, id="a"),
        refused(room, restore, "a"),
        refused(room, pin, "a", pinned=True),
        refused(room, link, "a", "b"),
        refused(room, amend, Amendment(id="a", topic="t")),
    ):
        assert said.startswith("a: there is no such fragment")
    assert refused(room, forget).startswith("forget: neither id nor topic")
    assert is_unused(room)


@IN_A_FILE
def test_what_is_gone_for_good_leaves_no_word_in_the_index(room: Room) -> None:
    for at in range(20):
        saved(room, f"The shop has door {at}")
    gone = saved(room, "Zanzibaromat is the name of the vault")
    room.engine.keep_copy()
    assert len(copies_of(room.config.path)) == 1
    forget(room, id=gone.id, hard=True)
    room.engine.close()
    assert copies_of(room.config.path) == []
    files = room.config.path.parent.glob("memory.db*")
    assert not any(b"zanzibaromat" in it.read_bytes().lower() for it in files)


@IN_A_FILE
def test_a_fragment_is_gone_though_its_bytes_have_to_wait(room: Room) -> None:
    room = replace(room, engine=SqliteEngine(room.config.path, timeout_s=0.2))
    gone = saved(room, "The vault has two doors")
    purge = room.engine.purge

    def purge_while_another_writes() -> bool:
        with closing(sqlite3.connect(room.config.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            return purge()

    room.engine.purge = purge_while_another_writes  # type: ignore[method-assign]
    assert forget(room, id=gone.id, hard=True).is_gone
    assert stored(room, gone.id) == []
