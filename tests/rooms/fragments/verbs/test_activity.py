"""Tests what is kept of a session, what its end puts away, and the feedback on tools."""

from dataclasses import replace
from typing import Any

import pytest

from rooms.fragments.activity import (
    end_idle_sessions,
    end_session,
    give_feedback,
    note,
    unreflected,
)
from rooms.fragments.bin import pin
from rooms.fragments.fragment import Activity, ToolFeedback
from rooms.fragments.reflection import Reflection, reflect
from rooms.fragments.room import Room
from tests.support.fragments_room import START, Clock, figures, is_unused, refused, saved, stored
from tests.support.sentences import in_language

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def activities(room: Room) -> list[Activity]:
    with room.engine.reading() as rows:
        return rows.entries(Activity)


def test_the_working_memory_of_a_session_ends_with_it(room: Room, clock: Clock) -> None:
    mine = saved(room, "alpha", is_working=True, session="s1")
    pinned = saved(room, "bravo", is_working=True, session="s1")
    pin(room, pinned.id, pinned=True)
    other = saved(room, "charlie", is_working=True, session="s2")
    durable = saved(room, "delta", session="s1")
    now = clock.wait(hours=1)
    assert end_session(room, " s1 ")
    assert stored(room, mine.id) == [replace(mine, deleted_at=now, deletion="ended")]
    assert all(it.is_live for it in stored(room, pinned.id, other.id, durable.id))
    assert figures(room)["ended"] == 1
    assert end_session(room, "s1") is None


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
    after = replace(idle, deleted_at=now, deletion="ended")
    assert stored(room, idle.id, busy.id) == [after, busy]
    assert [it.session_id for it in activities(room) if it.ended_at] == ["s1"]
    assert end_idle_sessions(room) == 0


@pytest.mark.row("002 2.46.a", "002 2.46.b", "002 2.84.a")
def test_a_session_that_nobody_reflected_on_leaves_one_fact_for_two_days(
    room: Room, clock: Clock
) -> None:
    saved(room, "alpha", agent="cursor", session="s1")
    clock.wait(hours=1.5)
    saved(room, "bravo", agent="cursor", session="s1")
    clock.wait(hours=2)
    noted = end_session(room, "s1")
    assert noted is not None
    assert noted.content == (
        "The session of cursor on 2026-05-01 10:00 (UTC) ended after 90 min without reflect."
        " Calls: 2. Fragments written: 2."
    )
    assert (noted.agent, noted.source, noted.lifetime) == ("cursor", "s1", "episodic")
    assert noted.expires_at == "2026-05-03T13:30:00+00:00"
    assert stored(room, noted.id) == [noted]
    assert end_session(room, "s1") is None
    with room.engine.reading() as rows:
        assert [it.session_id for it in unreflected(rows, ("cursor", "default"))] == ["s1"]
        assert unreflected(rows, ("codex", "default")) == []
        assert unreflected(rows, (), since="2026-05-02") == []


@pytest.mark.row("002 2.46.b")
def test_a_session_that_reflected_or_wrote_nothing_leaves_no_fact(room: Room) -> None:
    assert end_session(room, "s1") is None
    assert is_unused(room)
    saved(room, "alpha", session="s1")
    saved(room, "alpha", session="s2")
    reflect(room, Reflection(summary="It works"), session="s1")
    for session in ("s1", "s2", "never", ""):
        assert end_session(room, session) is None
    with room.engine.reading() as rows:
        assert unreflected(rows, ()) == []


def test_the_fact_is_of_the_language_of_the_call_and_no_clock_keeps_a_session_open(
    room: Room, clock: Clock
) -> None:
    for session in ("s1", "s2", "s3"):
        saved(room, f"says {session}", session=session)
    first, second = end_session(room, "s1"), end_session(room, "s2")
    assert first and first == second  # two sessions that look alike leave one fact
    korean = in_language("ko", end_session, room, "s3")
    assert korean and korean.content.startswith("2026-05-01 10:00(UTC)에 시작한 default 세션이")
    saved(room, "beta", session="back")
    clock.wait(days=-1)
    saved(room, "gamma", session="back")
    ended = end_session(room, "back")
    assert ended and "ended after 0 min" in ended.content
    saved(room, "delta", session="foreign")
    [known] = [it for it in activities(room) if it.session_id == "foreign"]
    with room.engine.writing() as rows:
        rows.note([replace(known, started_at="yesterday")])
    assert end_session(room, "foreign")
    assert all(it.ended_at for it in activities(room))


def test_a_session_that_goes_on_after_its_end_is_open_again(room: Room, clock: Clock) -> None:
    saved(room, "alpha", session="s1")
    end_session(room, "s1")
    clock.wait(hours=1)
    with room.engine.writing() as rows:
        note(rows, room, "s1", "", wrote=2)
        note(rows, room, " ", "")
    [known] = activities(room)
    assert (known.calls, known.written, known.ended_at, known.started_at) == (2, 3, "", START)


@pytest.mark.row("002 2.16.a", "002 2.16.b", "002 2.16.c", "002 2.16.f", "002 2.49.f")
def test_a_feedback_is_noted_without_its_secrets(room: Room) -> None:
    given = ToolFeedback(
        tool_name=" recall ",
        relevant=True,
        sufficient=False,
        suggestion=f"leave {TOKEN} out",
        context="a search",
        session_id="s1",
        trigger_type=" Sampled ",
    )
    give_feedback(room, given)
    with room.engine.reading() as rows:
        [noted] = rows.entries(ToolFeedback)
    assert (noted.tool_name, noted.trigger_type) == ("recall", "sampled")
    assert (noted.suggestion, noted.created_at) == ("leave [REDACTED] out", START)
    assert (noted.relevant, noted.sufficient, noted.context) == (True, False, "a search")
    assert [it.calls for it in activities(room)] == [1]


@pytest.mark.row("002 2.16.d", "002 2.16.e")
def test_a_feedback_that_cannot_be_noted_is_refused(room: Room) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("tool_name: it is blank", {"tool_name": " "}),
        ("suggestion: 501 characters", {"suggestion": "x" * 501}),
        ("context: 201 characters", {"context": "x" * 201}),
        ("context: it contains half of a character", {"context": "\ud800"}),
        ("trigger_type: voluntary, sampled are the words", {"trigger_type": "hook"}),
        ("session_id: 101 characters", {"session_id": "x" * 101}),
    ]
    for said, fields in cases:
        whole = {"tool_name": "recall", "relevant": True, "sufficient": True, **fields}
        assert refused(room, give_feedback, ToolFeedback(**whole)).startswith(said)
    assert is_unused(room)
