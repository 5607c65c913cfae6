"""Tests what becomes of a fragment that a memory log has: out of recall, kept, and back."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rooms.fragments.bin import forget, pin, restore
from rooms.fragments.context import restore_context
from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.links import link
from rooms.fragments.promotion import Said, for_the_log, has_earned_it, promote, said_by
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.storage.sqlite import migrations
from rooms.fragments.upkeep.consolidation import consolidate
from rooms.fragments.versions import Amendment, amend
from tests.support.fragments_room import Clock, a_room, saved, stored
from tests.support.fragments_room import clock as clock
from tests.support.fragments_room import room as room

RECORD = "0123456789abcdef@123abc"


def refused(function: Any, *given: Any, **named: Any) -> str:
    with pytest.raises(FragmentsError) as caught:
        function(*given, **named)
    return str(caught.value)


def found(room: Room, text: str) -> list[str]:
    return [it.id for it in recall(room, Query(text=text)).fragments]


def test_a_promoted_fragment_leaves_recall_and_is_kept(room: Room, clock: Clock) -> None:
    first = saved(room, "Purge the cache before a deploy", type="procedure")
    now = clock.wait(days=1)
    done = promote(room, f"`{first.id}`", RECORD)
    assert done == replace(first, superseded_at=now, promoted=RECORD)
    assert done.record_id == "0123456789abcdef"
    assert stored(room, first.id) == [done]
    assert found(room, "cache deploy") == []
    assert restore_context(room, types=("procedure",)).core == []
    assert for_the_log_of(room) == []


def test_it_comes_back_and_begins_to_age_again(room: Room, clock: Clock) -> None:
    first = saved(room, "Purge the cache before a deploy", type="procedure")
    promote(room, first.id, RECORD)
    later = clock.wait(days=40)
    back = restore(room, first.id)
    assert (back.superseded_at, back.promoted, back.verified_at) == ("", "", later)
    assert stored(room, first.id) == [back]
    assert found(room, "cache deploy") == [first.id]


def test_a_pinned_one_comes_back_pinned(room: Room) -> None:
    first = saved(room, "Purge the cache", type="procedure")
    pin(room, first.id, pinned=True)
    promote(room, first.id, RECORD)
    back = restore(room, first.id)
    assert (back.is_anchor, back.tier) == (True, "permanent")


def test_what_is_remembered_again_stays_a_lesson(room: Room) -> None:
    first = saved(room, "Purge the cache before a deploy", type="procedure")
    done = promote(room, first.id, RECORD)
    draft = Draft(content="Purge the cache  before a deploy", type="error")
    again = remember(room, draft, agent="", session="")
    assert (again.is_new, again.was, again.fragment) == (False, "promoted", done)
    assert stored(room, first.id) == [done]
    assert found(room, "cache deploy") == []


def test_neither_an_amendment_nor_a_link_puts_it_back(room: Room) -> None:
    first = saved(room, "Purge the cache", type="procedure")
    other = saved(room, "The deploy serves the old bundle", type="error")
    link(room, other.id, first.id, "resolved_by")
    done = promote(room, first.id, RECORD)
    sentence = f"{first.id}: it has become the lesson 0123456789abcdef"
    assert sentence in refused(amend, room, Amendment(id=first.id, content="Other"))
    link(room, first.id, other.id, "related")
    assert stored(room, first.id) == [done]


def test_out_of_the_bin_it_is_a_fragment_again(room: Room) -> None:
    first = saved(room, "Purge the cache", type="procedure")
    promote(room, first.id, RECORD)
    forget(room, id=first.id)
    assert restore(room, first.id).promoted == ""
    promote(room, first.id, RECORD)
    forget(room, id=first.id)
    again = remember(room, Draft(content="Purge the cache"), agent="", session="")
    assert (again.fragment.promoted, again.was) == ("", "bin")


def test_one_that_says_the_same_is_not_joined_by_it(room: Room) -> None:
    first = saved(room, "Purge the cache", type="procedure")
    promote(room, first.id, RECORD)
    with room.engine.writing() as writing:
        writing.add([replace(first, number=0, id="twin2345", superseded_at="", promoted="")])
    assert "twin2345" in refused(restore, room, first.id)


def test_an_error_says_what_was_missing_and_its_cure_the_lesson(room: Room) -> None:
    error = saved(room, "The deploy serves the old bundle", type="error")
    assert said_by(room, error.id) == (error, Said(error.content, ""))
    cure = saved(room, "Purge the cache before a deploy", type="procedure")
    assert said_by(room, cure.id)[1] == Said("", cure.content)
    link(room, error.id, cure.id, "resolved_by")
    said = Said(error.content, cure.content)
    assert said_by(room, error.id)[1] == said_by(room, cure.id)[1] == said
    other = saved(room, "Fees are rounded down", type="fact")
    assert said_by(room, other.id)[1] == Said("", other.content)
    forget(room, id=other.id)
    assert "is in the bin" in refused(said_by, room, other.id)
    link(room, error.id, cure.id, "superseded_by")
    assert "superseded" in refused(said_by, room, error.id)


def for_the_log_of(room: Room, most: int = 10) -> list[str]:
    with room.engine.reading() as reading:
        return [it.id for it in for_the_log(reading, room.own, most)]


def test_used_and_important_errors_and_procedures_have_earned_it(room: Room) -> None:
    def used(content: str, sessions: int, **fields: Any) -> Fragment:
        made = saved(room, content, **fields)
        with room.engine.writing() as writing:
            writing.touch([made.number], {"sessions_count": sessions})
        return made

    best = used("alpha", 3, type="error", importance=0.9)
    good = used("bravo", 5, type="procedure", importance=0.8)
    asked = used("charlie", 0, type="fact", privacy="team", importance=0.1)
    pinned = used("delta", 3, type="error", importance=0.8, is_anchor=True)
    used("echo", 2, type="error", importance=1.0)
    used("foxtrot", 9, type="error", importance=0.79)
    used("golf", 9, type="decision", importance=0.9)
    expected = [asked.id, pinned.id, best.id, good.id]
    assert for_the_log_of(room) == expected
    assert for_the_log_of(room, most=2) == expected[:2]
    assert [it.id for it in consolidate(room).for_the_log] == expected
    promote(room, best.id, RECORD)
    assert for_the_log_of(room) == [asked.id, pinned.id, good.id]
    with room.engine.reading() as reading:
        others = reading.find(Wanted(kinds=("decision",)))
    assert not any(map(has_earned_it, others))


def test_half_of_a_pair_that_is_a_lesson_is_not_listed(room: Room) -> None:
    error = saved(room, "The deploy serves the old bundle", type="error", privacy="team")
    cure = saved(room, "Purge the cache before a deploy", type="procedure", privacy="team")
    link(room, error.id, cure.id, "resolved_by")
    assert set(for_the_log_of(room)) == {error.id, cure.id}
    for one in (error, cure):
        promote(room, one.id, RECORD)
        assert for_the_log_of(room) == []
        restore(room, one.id)
    promote(room, error.id, RECORD)
    forget(room, id=error.id)
    assert for_the_log_of(room) == [cure.id]


def test_a_database_of_the_version_before_is_brought_up_to_date(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    first = saved(room, "Purge the cache", type="procedure")
    room.engine.close()
    with closing(sqlite3.connect(room.engine.name)) as connection:
        connection.execute("ALTER TABLE fragments DROP COLUMN promoted")
        connection.execute(f"PRAGMA user_version = {len(migrations()) - 1}")
        connection.commit()
    assert stored(room, first.id) == [first]
    assert promote(room, first.id, RECORD).promoted == RECORD


def test_an_agent_makes_no_lesson_of_what_all_agents_share(room: Room) -> None:
    first = saved(room, "Purge the cache", type="procedure")
    roberts = replace(room, agent="robert")
    assert "all agents share this fragment" in refused(said_by, roberts, first.id)
    assert "all agents share this fragment" in refused(promote, roberts, first.id, RECORD)
    assert stored(room, first.id) == [first]
