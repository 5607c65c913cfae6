"""Tests what becomes of a fragment that a memory log has: out of recall, kept, and back."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from rooms.fragments.bin import forget, pin, restore
from rooms.fragments.context import restore_context
from rooms.fragments.draft import Draft, remember
from rooms.fragments.fragment import Fragment
from rooms.fragments.links import link
from rooms.fragments.promotion import Said, for_the_log, promote, said_by
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.storage.sqlite import migrations
from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.versions import Amendment, amend
from tests.support.fragments_room import Clock, refused, saved, stored
from tests.support.fragments_room import clock as clock
from tests.support.fragments_room import room as room

RECORD = "0123456789abcdef@123abc"
PURGE, STALE = "Purge the cache before a deploy", "The deploy serves the old bundle"


@pytest.fixture
def first(room: Room) -> Fragment:
    return saved(room, PURGE, type="procedure")


def found(room: Room) -> list[str]:
    return [it.id for it in recall(room, Query(text="cache deploy")).fragments]


def for_the_log_of(room: Room, most: int = 10) -> list[str]:
    with room.engine.reading() as rows:
        return [it.id for it in for_the_log(rows, room.own, most)]


def test_a_promoted_fragment_leaves_recall_and_comes_back_to_age_again(
    room: Room, clock: Clock, first: Fragment
) -> None:
    now = clock.wait(days=1)
    done = promote(room, f"`{first.id}`", RECORD)
    assert done == replace(first, superseded_at=now, promoted=RECORD)
    assert done.record_id == "0123456789abcdef"
    assert stored(room, first.id) == [done]
    assert restore_context(room, types=("procedure",)).core == []
    assert found(room) == []
    later = clock.wait(days=40)
    back = restore(room, first.id)
    assert (back.superseded_at, back.promoted, back.verified_at) == ("", "", later)
    assert stored(room, first.id) == [back]
    assert found(room) == [first.id]
    pin(room, first.id, pinned=True)
    promote(room, first.id, RECORD)
    assert (restore(room, first.id).is_anchor, restore(room, first.id).tier) == (True, "permanent")


def test_neither_saying_it_again_nor_an_amendment_nor_a_link_puts_it_back(
    room: Room, first: Fragment
) -> None:
    other = saved(room, STALE, type="error")
    link(room, other.id, first.id, "resolved_by")
    done = promote(room, first.id, RECORD)
    again = remember(room, Draft(content=f" {PURGE}", type="error"), agent="", session="")
    assert (again.is_new, again.was, again.fragment) == (False, "promoted", done)
    sentence = f"{first.id}: it has become the lesson 0123456789abcdef"
    assert sentence in refused(room, amend, Amendment(id=first.id, content="Other"))
    link(room, first.id, other.id, "related")
    assert stored(room, first.id) == [done]


def test_out_of_the_bin_it_is_a_fragment_again_unless_another_says_the_same(
    room: Room, first: Fragment
) -> None:
    promote(room, first.id, RECORD)
    forget(room, id=first.id)
    assert restore(room, first.id).promoted == ""
    promote(room, first.id, RECORD)
    forget(room, id=first.id)
    again = remember(room, Draft(content=PURGE), agent="", session="")
    assert (again.fragment.promoted, again.was) == ("", "bin")
    promote(room, first.id, RECORD)
    with room.engine.writing() as rows:
        rows.add([replace(first, number=0, id="twin2345", superseded_at="", promoted="")])
    assert "twin2345" in refused(room, restore, first.id)


def test_an_error_says_what_was_missing_and_its_cure_the_lesson(
    room: Room, first: Fragment
) -> None:
    error = saved(room, STALE, type="error")
    assert said_by(room, error.id) == (error, Said(STALE, ""))
    assert said_by(room, first.id)[1] == Said("", PURGE)
    link(room, error.id, first.id, "resolved_by")
    assert said_by(room, error.id)[1] == said_by(room, first.id)[1] == Said(STALE, PURGE)
    other = saved(room, "Fees are rounded down", type="fact")
    assert said_by(room, other.id)[1] == Said("", other.content)
    forget(room, id=other.id)
    assert "is in the bin" in refused(room, said_by, other.id)
    link(room, error.id, first.id, "superseded_by")
    assert "superseded" in refused(room, said_by, error.id)


def test_used_and_important_errors_and_procedures_have_earned_it(room: Room) -> None:
    def used(content: str, sessions: int, **fields: Any) -> str:
        made = saved(room, content, **fields)
        with room.engine.writing() as rows:
            rows.touch([made.number], {"sessions_count": sessions})
        return made.id

    best = used("alpha", 3, type="error", importance=0.9)
    good = used("bravo", 5, type="procedure", importance=0.8)
    asked = used("charlie", 0, type="fact", privacy="team", importance=0.1)
    pinned = used("delta", 3, type="error", importance=0.8, is_anchor=True)
    used("echo", 2, type="error", importance=1.0)
    used("foxtrot", 9, type="error", importance=0.79)
    used("golf", 9, type="decision", importance=0.9)
    assert for_the_log_of(room) == [asked, pinned, best, good]
    assert for_the_log_of(room, most=2) == [asked, pinned]
    assert [it.id for it in consolidate(room).for_the_log] == [asked, pinned, best, good]
    promote(room, best, RECORD)
    assert for_the_log_of(room) == [asked, pinned, good]


def test_half_of_a_pair_that_is_a_lesson_is_not_listed(room: Room) -> None:
    error = saved(room, STALE, type="error", privacy="team").id
    cure = saved(room, PURGE, type="procedure", privacy="team").id
    link(room, error, cure, "resolved_by")
    assert set(for_the_log_of(room)) == {error, cure}
    for one in (error, cure):
        promote(room, one, RECORD)
        assert for_the_log_of(room) == []
        restore(room, one)
    promote(room, error, RECORD)
    forget(room, id=error)
    assert for_the_log_of(room) == [cure]


def test_a_database_of_the_version_before_is_brought_up_to_date(
    room: Room, first: Fragment
) -> None:
    room.engine.close()
    with closing(sqlite3.connect(room.engine.name)) as connection:
        connection.execute("ALTER TABLE fragments DROP COLUMN promoted")
        connection.execute(f"PRAGMA user_version = {len(migrations()) - 1}")
        connection.commit()
    assert stored(room, first.id) == [first]
    assert promote(room, first.id, RECORD).promoted == RECORD


def test_an_agent_makes_no_lesson_of_what_all_agents_share(room: Room, first: Fragment) -> None:
    roberts = replace(room, agent="robert")
    assert "all agents share this fragment" in refused(roberts, said_by, first.id)
    assert "all agents share this fragment" in refused(roberts, promote, first.id, RECORD)
    assert stored(room, first.id) == [first]
