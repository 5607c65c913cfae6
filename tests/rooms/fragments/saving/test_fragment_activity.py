"""Tests what is kept of a session, what its end puts away, and the feedback on tools."""

from dataclasses import replace
from typing import Any

import pytest

from rooms.fragments.activity import (
    Ended,
    end_idle_sessions,
    end_session,
    give_feedback,
    note,
    unreflected,
)
from rooms.fragments.bin import pin
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Activity, ToolFeedback
from rooms.fragments.reflection import Reflection, reflect
from rooms.fragments.room import Room
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import START, Clock, a_room, figures, is_unused, saved, stored
from tests.support.sentences import in_language


def activities(room: Room) -> list[Activity]:
    with room.engine.reading() as reading:
        return reading.entries(Activity)


def test_the_working_memory_of_a_session_ends_with_it(room: Room, clock: Clock) -> None:
    mine = saved(room, "alpha", is_working=True, session="s1")
    pinned = saved(room, "bravo", is_working=True, session="s1")
    pin(room, pinned.id, pinned=True)
    other = saved(room, "charlie", is_working=True, session="s2")
    durable = saved(room, "delta", session="s1")
    now = clock.wait(hours=1)
    assert end_session(room, " s1 ").forgotten == 1
    assert stored(room, mine.id) == [replace(mine, deleted_at=now, deletion="ended")]
    live = [it.id for it in stored(room, pinned.id, other.id, durable.id) if it.is_live]
    assert live == [pinned.id, other.id, durable.id]
    assert figures(room)["ended"] == 1
    assert end_session(room, "s1") == Ended(0)


def test_a_session_without_a_call_for_a_day_is_ended_for_its_client(
    room: Room, clock: Clock
) -> None:
    """A client that kills its server at once leaves it no moment for that."""
    idle = saved(room, "alpha", is_working=True, session="s1")
    clock.wait(hours=23)
    busy = saved(room, "bravo", is_working=True, session="s2")
    assert end_idle_sessions(room) == 0
    now = clock.wait(hours=2)
    assert end_idle_sessions(room) == 1
    assert stored(room, idle.id, busy.id) == [
        replace(idle, deleted_at=now, deletion="ended"),
        busy,
    ]
    assert [it.session_id for it in activities(room) if it.ended_at] == ["s1"]
    assert end_idle_sessions(room) == 0


def test_a_session_with_moments_of_another_program_ends_too(room: Room) -> None:
    saved(room, "alpha", session="s1")
    with room.engine.writing() as writing:
        [known] = writing.entries(Activity)
        writing.note([replace(known, started_at="yesterday")])
    noted = end_session(room, "s1").reflected
    assert noted and activities(room)[0].ended_at


@pytest.mark.row("002 2.46.a", "002 2.46.b", "002 2.84.a")
def test_a_session_that_nobody_reflected_on_leaves_one_fact_for_two_days(
    room: Room, clock: Clock
) -> None:
    saved(room, "alpha", agent="cursor", session="s1")
    clock.wait(hours=1.5)
    saved(room, "bravo", agent="cursor", session="s1")
    clock.wait(hours=2)
    noted = end_session(room, "s1").reflected
    assert noted is not None
    assert noted.content == (
        "The session of cursor on 2026-05-01 10:00 (UTC) ended after 90 min without reflect."
        " Calls: 2. Fragments written: 2."
    )
    assert (noted.agent, noted.source, noted.lifetime) == ("cursor", "s1", "episodic")
    assert noted.expires_at == "2026-05-03T13:30:00+00:00"
    assert stored(room, noted.id) == [noted]
    assert end_session(room, "s1") == Ended(0)
    with room.engine.reading() as reading:
        assert [it.session_id for it in unreflected(reading, ("cursor", "default"))] == ["s1"]
        assert unreflected(reading, ("codex", "default")) == []
        assert unreflected(reading, (), since="2026-05-02") == []


@pytest.mark.row("002 2.46.b")
def test_a_session_that_reflected_or_wrote_nothing_leaves_no_fact(room: Room) -> None:
    saved(room, "alpha", session="s1")
    saved(room, "alpha", session="s2")
    reflect(room, Reflection(summary="It works"), session="s1")
    assert end_session(room, "s1") == end_session(room, "s2") == Ended(0)
    assert end_session(room, "never") == end_session(room, "") == Ended(0)
    with room.engine.reading() as reading:
        assert unreflected(reading, ()) == []


def test_ending_where_nothing_was_stored_makes_nothing(room: Room) -> None:
    assert end_session(room, "s1") == Ended(0)
    assert is_unused(room)


def test_a_clock_that_was_set_back_within_a_session_makes_it_no_shorter_than_nothing(
    room: Room, clock: Clock
) -> None:
    saved(room, "alpha", session="s1")
    clock.wait(days=-1)
    saved(room, "beta", session="s1")
    ended = end_session(room, "s1").reflected
    assert ended and "ended after 0 min" in ended.content


def test_two_sessions_that_look_alike_leave_one_fact(room: Room) -> None:
    for session in ("s1", "s2"):
        saved(room, f"says {session}", session=session)
    first, second = end_session(room, "s1").reflected, end_session(room, "s2").reflected
    assert first == second


def test_the_fact_is_written_in_the_language_of_the_call(tmp_path: Any) -> None:
    room = a_room(tmp_path)
    saved(room, "alpha", session="s1")
    noted = in_language("ko", end_session, room, "s1").reflected
    assert noted is not None
    assert noted.content.startswith("2026-05-01 10:00(UTC)에 시작한 default 세션이")


def test_a_session_that_goes_on_after_its_end_is_open_again(room: Room, clock: Clock) -> None:
    saved(room, "alpha", session="s1")
    end_session(room, "s1")
    clock.wait(hours=1)
    with room.engine.writing() as writing:
        note(writing, room, "s1", "", wrote=2)
        note(writing, room, " ", "")
    [known] = activities(room)
    assert (known.calls, known.written, known.ended_at, known.started_at) == (2, 3, "", START)


@pytest.mark.row("002 2.16.a", "002 2.16.b", "002 2.16.c", "002 2.16.f", "002 2.49.f")
def test_a_feedback_is_noted_without_its_secrets(room: Room) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    given = ToolFeedback(
        tool_name=" recall ",
        relevant=True,
        sufficient=False,
        suggestion=f"leave {token} out",
        context="a search",
        session_id="s1",
        trigger_type=" Sampled ",
    )
    give_feedback(room, given)
    with room.engine.reading() as reading:
        [noted] = reading.entries(ToolFeedback)
    assert noted == replace(
        given,
        tool_name="recall",
        suggestion="leave [REDACTED] out",
        trigger_type="sampled",
        created_at=START,
    )
    assert [it.calls for it in activities(room)] == [1]


@pytest.mark.row("002 2.16.d", "002 2.16.e")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tool_name": " "}, "tool_name: it is blank"),
        ({"suggestion": "x" * 501}, "suggestion: 501 characters"),
        ({"context": "x" * 201}, "context: 201 characters"),
        ({"context": "\ud800"}, "context: it contains half of a character"),
        ({"trigger_type": "hook"}, "trigger_type: voluntary, sampled are the words"),
        ({"session_id": "x" * 101}, "session_id: 101 characters"),
    ],
)
def test_a_feedback_that_cannot_be_noted_is_refused(
    room: Room, fields: dict[str, Any], said: str
) -> None:
    given = ToolFeedback(**{"tool_name": "recall", "relevant": True, "sufficient": True, **fields})
    with pytest.raises(FragmentsError) as caught:
        give_feedback(room, given)
    assert str(caught.value).startswith(said)
    assert is_unused(room)
