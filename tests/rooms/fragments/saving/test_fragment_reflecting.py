"""Tests what a reflection becomes: one fragment for each thing, and nothing of it lost."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.activity import unreflected
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Activity, TaskFeedback, Wanted
from rooms.fragments.reflection import Reflected, Reflection, parts_of, reflect
from rooms.fragments.room import Room
from tests.support.both_engines import SELDOM_ON_A_SERVER
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import START, Clock, a_room, links_of, saved

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def reflected(room: Room, summary: str = "The deploy works", **fields: Any) -> Reflected:
    return reflect(room, Reflection(summary=summary, **fields), agent="cursor", session="s1")


def refused(room: Room, summary: str = "x", **fields: Any) -> str:
    with pytest.raises(FragmentsError) as caught:
        reflected(room, summary, **fields)
    with room.engine.reading() as reading:
        assert reading.find(Wanted(state="all"), limit=9) == []
    return str(caught.value)


@pytest.mark.row("002 2.44.a", "002 2.44.f", "002 2.44.g")
def test_each_thing_that_was_learnt_is_a_fragment_by_itself(room: Room) -> None:
    done = reflected(
        room,
        decisions=("Use pnpm", "Use Bun for scripts"),
        errors_resolved=("NOAUTH: set REDIS_PASSWORD",),
        new_procedures=("test, build, push, apply",),
        open_questions=("Who owns the DNS?",),
        source="shop",
    )
    found = [(it.fragment.content, it.fragment.kind, it.fragment.lifetime) for it in done.saved]
    assert found == [
        ("The deploy works", "fact", "episodic"),
        ("Use pnpm", "decision", "semantic"),
        ("Use Bun for scripts", "decision", "semantic"),
        ("NOAUTH: set REDIS_PASSWORD", "error", "semantic"),
        ("test, build, push, apply", "procedure", "procedural"),
        ("Who owns the DNS?", "fact", "semantic"),
    ]
    assert {(it.fragment.agent, it.fragment.source, it.fragment.topic) for it in done.saved} == {
        ("cursor", "shop", "general")
    }
    assert done.saved[-1].fragment.keywords == ("open question", "owns", "DNS")
    assert (done.new, done.parted, done.redacted) == (6, 0, ())


def test_a_session_that_reflected_is_no_more_among_the_others(room: Room, clock: Clock) -> None:
    saved(room, "alpha", agent="cursor", session="s1")
    with room.engine.reading() as reading:
        assert [it.session_id for it in unreflected(reading, ())] == ["s1"]
    now = clock.wait(hours=1)
    reflected(room, decisions=("Use pnpm",))
    with room.engine.reading() as reading:
        assert reading.entries(Activity) == [
            Activity(
                session_id="s1",
                agent="cursor",
                started_at=START,
                last_at=now,
                calls=2,
                written=3,
                reflected_at=now,
            )
        ]
        assert unreflected(reading, ()) == []


@pytest.mark.row(
    "002 2.17.a", "002 2.17.b", "002 2.17.c", "002 2.17.d", "002 2.17.e", "002 2.44.a", "002 2.45"
)
def test_how_the_work_went_is_noted_with_the_session(room: Room) -> None:
    how = TaskFeedback(
        overall_success=False,
        tool_highlights=("recall: fast", " "),
        tool_pain_points=(f"login {TOKEN}",),
    )
    assert reflected(room, effectiveness=how).redacted
    with room.engine.reading() as reading:
        assert reading.entries(TaskFeedback) == [
            TaskFeedback(
                session_id="s1",
                overall_success=False,
                tool_highlights=("recall: fast",),
                tool_pain_points=("login [REDACTED]",),
                created_at=START,
                agent="cursor",
            )
        ]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.44.g")
def test_an_item_above_the_limit_becomes_several_that_are_linked(room: Room) -> None:
    sentences = [f"Sentence {at} of a long procedure says what to do next." for at in range(40)]
    done = reflected(room, new_procedures=(" ".join(sentences),))
    parts = [it.fragment for it in done.saved[1:]]
    assert done.parted == 1
    assert len(parts) == 3
    assert " ".join(it.content for it in parts).split(" ") == " ".join(sentences).split(" ")
    assert all(it.content.endswith(".") and it.kind == "procedure" for it in parts)
    first, *rest = parts
    assert {(it.id, "part_of", first.id) for it in rest} <= links_of(room, first.id)


@pytest.mark.long  # it costs much
def test_a_secret_is_found_before_a_text_is_parted_and_in_every_item(room: Room) -> None:
    for padding in range(960, 1_030, 7):
        text = "x " * (padding // 2) + TOKEN + " more" * 30
        done = reflected(room, decisions=(f"{padding} {text}",), open_questions=(f"is {TOKEN} it",))
        assert done.redacted
    with room.engine.reading() as reading:
        everything = repr(reading.find(Wanted(state="all"), limit=1_000))
    assert TOKEN[4:12] not in everything
    assert TOKEN[-8:] not in everything


def test_what_is_refused_stores_nothing_of_a_reflection(room: Room) -> None:
    assert "decisions: 51 given" in refused(room, decisions=("x",) * 51)
    assert "summary: 8,193 bytes" in refused(room, "x" * 8_193)
    assert "open_questions: it contains half" in refused(room, open_questions=("a", "\ud800"))
    how = TaskFeedback(tool_highlights=("x" * 501,))
    assert "task_effectiveness: 501 characters" in refused(room, effectiveness=how)
    how = TaskFeedback(tool_highlights=("x",) * 51)
    assert "task_effectiveness: 51 given" in refused(room, effectiveness=how)
    assert "topic: " in refused(room, decisions=("Use pnpm",), topic="x" * 51)


@pytest.mark.long  # it costs much
@SELDOM_ON_A_SERVER
def test_a_reflection_that_is_broken_off_stores_nothing(tmp_path: Path) -> None:
    left = iter(range(100))

    def clock() -> str:
        if next(left) >= most:
            raise KeyboardInterrupt
        return START

    counts = set()
    for most in range(1, 12):
        left = iter(range(100))
        room = a_room(tmp_path / str(most), clock=clock)
        with suppress(KeyboardInterrupt):
            reflected(room, decisions=("Use pnpm", "Use Bun"), open_questions=("Who owns it?",))
        with room.engine.reading() as reading:
            counts.add((len(reading.find(Wanted(state="all"), limit=9)), len(reading.state())))
    assert counts == {(0, 0), (4, 1)}


@pytest.mark.long  # it costs much
@given(st.text(max_size=600).filter(str.strip), st.integers(4, 60))
def test_parting_a_text_loses_nothing_but_blanks(text: str, most: int) -> None:
    if any("\ud800" <= char <= "\udfff" for char in text):
        return
    parts = parts_of(text, most)
    assert all(0 < len(it.encode()) <= most for it in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_a_text_within_the_limit_stays_as_it_is() -> None:
    text = "One.  Two\n\n three. "
    assert parts_of(text) == [text.strip()]
