"""Tests what a reflection becomes: one fragment for each thing, and nothing of it lost."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.activity import unreflected
from rooms.fragments.fragment import Activity, TaskFeedback
from rooms.fragments.reflection import Reflected, Reflection, parts_of, reflect
from rooms.fragments.room import Room
from tests.support.both_engines import SELDOM_ON_A_SERVER
from tests.support.fragments_room import (
    START,
    Clock,
    a_room,
    all_of,
    links_of,
    refused,
    saved,
    state_of,
)

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def reflected(room: Room, summary: str = "The deploy works", **fields: Any) -> Reflected:
    return reflect(room, Reflection(summary=summary, **fields), agent="cursor", session="s1")


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
    made = [it.fragment for it in done.saved]
    assert [(it.content, it.kind, it.lifetime) for it in made] == [
        ("The deploy works", "fact", "episodic"),
        ("Use pnpm", "decision", "semantic"),
        ("Use Bun for scripts", "decision", "semantic"),
        ("NOAUTH: set REDIS_PASSWORD", "error", "semantic"),
        ("test, build, push, apply", "procedure", "procedural"),
        ("Who owns the DNS?", "fact", "semantic"),
    ]
    assert {(it.agent, it.source, it.topic) for it in made} == {("cursor", "shop", "general")}
    assert made[-1].keywords == ("open question", "owns", "DNS")
    assert (done.parted, done.redacted) == (0, ()) and all(it.is_new for it in done.saved)


@pytest.mark.row("002 2.17.a", "002 2.17.b", "002 2.17.c", "002 2.17.d", "002 2.17.e")
@pytest.mark.row("002 2.44.a", "002 2.45")
def test_the_session_counts_as_reflected_and_how_the_work_went_is_noted(
    room: Room, clock: Clock
) -> None:
    saved(room, "alpha", agent="cursor", session="s1")
    with room.engine.reading() as rows:
        assert [it.session_id for it in unreflected(rows, ())] == ["s1"]
    now = clock.wait(hours=1)
    how = TaskFeedback(
        overall_success=False,
        tool_highlights=("recall: fast", " "),
        tool_pain_points=(f"login {TOKEN}",),
    )
    assert reflected(room, decisions=("Use pnpm",), effectiveness=how).redacted
    session: dict[str, Any] = {"session_id": "s1", "agent": "cursor"}
    noted = replace(
        how,
        tool_highlights=("recall: fast",),
        tool_pain_points=("login [REDACTED]",),
        created_at=now,
        **session,
    )
    times: dict[str, Any] = {"started_at": START, "last_at": now, "reflected_at": now}
    with room.engine.reading() as rows:
        assert rows.entries(TaskFeedback) == [noted]
        assert rows.entries(Activity) == [Activity(**session, **times, calls=2, written=3)]
        assert unreflected(rows, ()) == []


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.44.g")
def test_an_item_above_the_limit_becomes_several_that_are_linked(room: Room) -> None:
    sentences = [f"Sentence {at} of a long procedure says what to do next." for at in range(40)]
    done = reflected(room, new_procedures=(" ".join(sentences),))
    first, *rest = parts = [it.fragment for it in done.saved[1:]]
    assert (done.parted, len(parts)) == (1, 3)
    assert " ".join(it.content for it in parts) == " ".join(sentences)
    assert all(it.content.endswith(".") and it.kind == "procedure" for it in parts)
    assert {(it.id, "part_of", first.id) for it in rest} <= links_of(room, first.id)


@pytest.mark.long  # it costs much
def test_a_secret_is_found_before_a_text_is_parted_and_in_every_item(room: Room) -> None:
    for padding in range(960, 1_030, 7):
        text = "x " * (padding // 2) + TOKEN + " more" * 30
        done = reflected(room, decisions=(f"{padding} {text}",), open_questions=(f"is {TOKEN} it",))
        assert done.redacted
    everything = repr(all_of(room))
    assert TOKEN[4:12] not in everything and TOKEN[-8:] not in everything


def test_what_is_refused_stores_nothing_of_a_reflection(room: Room) -> None:
    long, many = (TaskFeedback(tool_highlights=it) for it in (("x" * 501,), ("x",) * 51))
    for said, fields in (
        ("summary: it is blank", {"summary": " "}),
        ("summary: 8,193 bytes", {"summary": "x" * 8_193}),
        ("decisions: 51 given", {"decisions": ("x",) * 51}),
        ("open_questions: it contains half", {"open_questions": ("a", "\ud800")}),
        ("task_effectiveness: 501 characters", {"effectiveness": long}),
        ("task_effectiveness: 51 given", {"effectiveness": many}),
    ):
        assert refused(room, reflected, **fields).startswith(said)


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
        counts.add((len(all_of(room)), len(state_of(room))))
    assert counts == {(0, 0), (4, 1)}


@pytest.mark.long  # it costs much
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=600).filter(str.strip),
    st.integers(4, 60),
)
def test_parting_a_text_loses_nothing_but_blanks(text: str, most: int) -> None:
    parts = parts_of(text, most)
    assert all(0 < len(it.encode()) <= most for it in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "most", "parts"),
    [
        ("One.  Two\n\n three. ", 1_024, ["One.  Two\n\n three."]),
        ('He said "no." Then (why?) he\nleft', 16, ['He said "no."', "Then (why?) he", "left"]),
        ("가나다. 라마바사아자", 12, ["가나다.", "라마바사", "아자"]),
        ("v1.2.3 is out! Go", 14, ["v1.2.3 is out!", "Go"]),
        ("one two three four", 9, ["one two", "three", "four"]),
    ],
)
def test_a_text_is_parted_where_sentences_end(text: str, most: int, parts: list[str]) -> None:
    assert parts_of(text, most) == parts
