"""Tests what a session starts with, and what is shown around one fragment."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.text.plain import estimate_tokens
from rooms.fragments.activity import end_session
from rooms.fragments.context import Context, restore_context
from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import NoSuchFragmentError
from rooms.fragments.fragment import Activity, Fragment, Link, Relation, Wanted
from rooms.fragments.links import explore
from rooms.fragments.recall import plain_line
from rooms.fragments.room import Room
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import START, Clock, a_room, add


def _contents(fragments: list[Fragment]) -> list[str]:
    return [it.content for it in fragments]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    made = a_room(tmp_path)
    add(made, "A plain fact", importance=0.2)
    add(made, "A pinned fact", importance=0.2, is_anchor=True)
    add(made, "Comments are Korean", kind="preference", importance=0.9)
    add(made, "NOAUTH: the password is missing", kind="error", importance=0.8)
    add(made, "Test, build, push", kind="procedure", importance=0.7)
    add(made, "Of this session", lifetime="working", session="one")
    add(made, "Of another session", lifetime="working", session="two")
    add(made, "Of no session", lifetime="working")
    return made


@pytest.mark.row("002 2.47.c")
def test_what_is_pinned_comes_first_then_what_is_worth_most(room: Room) -> None:
    found = restore_context(room, session="one")
    assert _contents(found.core) == [
        "A pinned fact",
        "Comments are Korean",
        "NOAUTH: the password is missing",
        "Test, build, push",
    ]
    assert _contents(found.working) == ["Of no session", "Of this session"]
    assert found.left_out == 0
    chosen = restore_context(room, types=("procedural", "error")).core
    assert _contents(chosen) == ["A pinned fact", "NOAUTH: the password is missing"]
    assert _contents(restore_context(room, types=()).core) == ["A pinned fact"]


def test_the_context_keeps_its_budget_and_counts_the_rest_and_is_no_use(room: Room) -> None:
    whole = restore_context(room, session="one")
    for tokens in (1, 60, 100):
        found = restore_context(room, tokens=tokens, session="one")
        shown = [*found.core, *found.working]
        assert sum(estimate_tokens(plain_line(it)) + 1 for it in shown) <= tokens
        assert len(shown) + found.left_out == len([*whole.core, *whole.working])
    with room.engine.reading() as reading:
        assert {it.access_count for it in reading.find(Wanted(state="all"))} == {0}


@pytest.mark.row("002 2.48")
def test_sessions_that_nobody_reflected_on_are_told_for_a_week(tmp_path: Path) -> None:
    clock = Clock()
    room = a_room(tmp_path, clock=clock)
    with room.engine.writing() as writing:
        for name, written, reflected in (("a", 2, ""), ("b", 2, START), ("c", 0, ""), ("d", 1, "")):
            note = Activity(session_id=name, started_at=START, last_at=START, written=written)
            writing.note([replace(note, ended_at=START, reflected_at=reflected)])

    def told(found: Context) -> list[str]:
        return [it.session_id for it in found.unreflected]

    assert told(restore_context(room, session="d")) == ["a"]
    clock.wait(days=8)
    assert told(restore_context(room)) == []


def test_a_session_that_runs_beside_this_one_has_not_ended(tmp_path: Path) -> None:
    clock = Clock()
    room = a_room(tmp_path, clock=clock)
    remember(room, Draft(content="The vault has two doors"), session="other")
    assert restore_context(room, session="this").unreflected == []
    clock.wait(hours=5)  # its client has killed its server
    [found] = restore_context(room, session="this").unreflected
    assert found.session_id == "other"
    remember(room, Draft(content="The vault has three doors"), session="other")
    assert restore_context(room, session="this").unreflected == []
    end_session(room, "other")
    [found] = restore_context(room, session="this").unreflected
    assert found.session_id == "other"


@pytest.mark.row("002 2.52.b")
def test_causes_come_first_then_cures_then_the_rest(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    error, cause, cure, beside, far, effect = add(room, *"abcdef")
    [gone] = add(room, "g", deleted_at=START)
    [foreign] = add(room, "h", agent="bob")
    links: list[tuple[str, str, Relation]] = [
        (error.id, beside.id, "related"),
        (error.id, cure.id, "resolved_by"),
        (effect.id, error.id, "caused_by"),
        (error.id, cause.id, "caused_by"),
        (cause.id, far.id, "caused_by"),
        (error.id, gone.id, "caused_by"),
        (error.id, foreign.id, "part_of"),
    ]
    with room.engine.writing() as writing:
        writing.put_links([Link(from_id=at, to_id=to, relation=word) for at, to, word in links])
    found = explore(room, error.id)
    assert found.start.id == error.id
    told = [(it.link.relation, it.fragment.id) for it in found.steps]
    assert told == [
        ("caused_by", cause.id),
        ("caused_by", effect.id),
        ("resolved_by", cure.id),
        ("part_of", foreign.id),
        ("related", beside.id),
    ]
    assert foreign.id not in [it.fragment.id for it in explore(room, error.id, agent="a").steps]
    for name, agent in ((gone.id, ""), (foreign.id, "alice"), ("nowhere", ""), ("", "")):
        with pytest.raises(NoSuchFragmentError):
            explore(room, name, agent=agent)
