"""Tests what is stored of a draft, and what becomes of one that says what is there already."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from rooms.fragments.bin import forget
from rooms.fragments.draft import Draft, Remembered, remember
from rooms.fragments.fragment import TYPES, Activity, Fragment
from rooms.fragments.links import cures, link
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from tests.support.fragments_room import (
    START,
    Clock,
    a_room,
    all_of,
    figures,
    links_of,
    refused,
    stored,
)

NODE = "The shop runs on Node.js 20"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
POOL = "The connection pool of the shop has at most 20 connections and a timeout of two minutes"
LOOP = "Redis NOAUTH at the start of the queue worker in the staging cluster"


def saved(
    room: Room, content: str = NODE, agent: str = "", session: str = "", **fields: Any
) -> Remembered:
    return remember(room, Draft(content=content, **fields), agent=agent, session=session)


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.2")
def test_a_draft_is_stored_with_what_its_type_says(room: Room) -> None:
    for word, row in TYPES.items():
        made = saved(room, f"about {word}", type=word).fragment
        assert (made.kind, made.lifetime, made.importance) == row[:3]
        assert (made.stale_days, bool(made.expires_at)) == (row.stale_days, bool(row.hours))
    assert figures(room)["remembered"] == len(TYPES)
    assert saved(room, "x", type="episodic").fragment.expires_at == "2026-07-30T10:00:00+00:00"


def test_what_a_draft_leaves_out_gets_a_default(room: Room) -> None:
    long = saved(room, "x" * 301, keywords=("Redis", "b"))
    assert (long.fragment.topic, long.fragment.keywords) == ("Redis", ("Redis", "b"))
    assert long.is_long and not saved(room, "가" * 300).is_long
    made = saved(room).fragment
    assert (made.topic, made.keywords) == ("general", ("shop", "runs", "Node.js"))
    assert (made.agent, made.session, made.tier) == ("default", "", "hot")
    assert (made.created_at, made.verified_at) == (START, START)
    assert made.estimated_tokens > 0
    assert stored(room, made.id) == [made]


@pytest.mark.row("002 2.32", "002 2.12.k", "002 2.13.a")
def test_the_same_content_again_returns_what_is_there_of_this_agent(
    room: Room, clock: Clock
) -> None:
    first = saved(room).fragment
    now = clock.wait(days=3)
    again = saved(room, "  The shop  runs on\nNode.js 20 ", agent="default")
    assert (again.is_new, again.was) == (False, "")
    assert again.fragment == replace(first, verified_at=now, updated_at=now)
    assert all_of(room) == [again.fragment]
    ids = {saved(room, agent=agent).fragment.id for agent in ("", "cursor", "codex")}
    assert len(ids) == 3


@pytest.mark.parametrize(
    "name", [TOKEN, *(pytest.param(it, marks=pytest.mark.long) for it in ("x" * 101, "\ud800"))]
)
def test_a_name_that_cannot_be_kept_is_refused(room: Room, name: str) -> None:
    for field, names in (("agentId", {"agent": name}), ("sessionId", {"session": name})):
        said = refused(room, saved, **names)
        assert said.startswith(f"{field}: ") and TOKEN not in said


def test_saying_it_again_pins_and_lengthens_but_never_shortens(room: Room, clock: Clock) -> None:
    saved(room, type="episodic")
    clock.wait(days=80)
    assert saved(room, type="working").fragment.expires_at == "2026-07-30T10:00:00+00:00"
    assert saved(room, type="episodic").fragment.expires_at > "2026-10-01"
    kept = saved(room, type="fact", is_anchor=True).fragment
    assert (kept.expires_at, kept.lifetime, kept.is_anchor) == ("", "semantic", True)
    assert kept.tier == "permanent"
    assert saved(room, type="working").fragment.expires_at == ""


@pytest.mark.row("002 2.28.a")
def test_working_memory_belongs_to_its_session_until_it_is_said_for_good(room: Room) -> None:
    made = saved(room, type="decision", is_working=True, session=" s1 ").fragment
    assert (made.session, made.lifetime, made.kind) == ("s1", "working", "decision")
    assert made.expires_at == "2026-05-03T10:00:00+00:00"
    assert "a fragment of the session needs a session" in refused(room, saved, is_working=True)
    assert saved(room, "other", session="s1").fragment.session == ""
    assert saved(room, is_working=True, session="s2").fragment.session == "s2"
    kept = saved(room).fragment
    assert (kept.session, kept.lifetime, kept.expires_at) == ("", "semantic", "")
    assert saved(room, is_working=True, session="s2").fragment.session == ""


@pytest.mark.row("002 2.32")
def test_one_in_the_bin_comes_back_when_it_is_said_again(room: Room) -> None:
    first = saved(room).fragment
    forget(room, id=first.id)
    back = saved(room)
    assert (back.was, back.is_new, back.fragment.id) == ("bin", False, first.id)
    assert recall(room, Query(text="shop node")).fragments == [back.fragment]
    assert figures(room)["restored"] == 1


def test_one_that_was_superseded_comes_back_and_its_successor_is_proposed(room: Room) -> None:
    old, new = saved(room).fragment, saved(room, "The shop runs on Node.js 22").fragment
    link(room, old.id, new.id, "superseded_by")
    back = saved(room)
    assert (back.was, back.fragment.is_live, back.fragment.importance) == ("superseded", True, 0.5)
    assert [(it.from_id, it.to_id) for it in back.proposals] == [(new.id, old.id)]
    assert "superseded_by" not in repr(links_of(room, old.id))


@pytest.mark.row("002 2.12.j", "002 2.36")
def test_links_that_a_draft_names_are_made_or_nothing_is_saved(room: Room) -> None:
    first, second = saved(room, "alpha").fragment, saved(room, "bravo").fragment
    made = saved(room, linked_to=(f" #{first.id}", second.id, first.id)).fragment
    saved(room, linked_to=(first.id, made.id))
    links = {(made.id, "related", first.id), (made.id, "related", second.id)}
    assert links_of(room, made.id) == links
    hidden = saved(room, "theirs", agent="codex").fragment
    forget(room, id=second.id)
    for wrong, agent, said in (
        ("nosuch", "", "there is no such"),
        ("\ud800", "", "no such"),
        (second.id, "", "is in the bin"),
        (hidden.id, "cursor", "there is no such"),
    ):
        assert said in refused(room, saved, "new", agent, linked_to=(wrong,))
    assert saved(room, "new", linked_to=(hidden.id,)).is_new


def test_a_name_that_a_sign_ends_is_found(room: Room) -> None:
    texts = ["C# records compare by value", "The C++ build needs ninja", "F# runs with fsi"]
    for text in (*texts, "The C compiler is clang", "vitamin C"):
        saved(room, text, keywords=("notes",))
    for query, text in zip(("C#", "c++에서", "f# scripts"), texts, strict=True):
        found = recall(room, Query(text=query)).fragments
        assert [it.content for it in found] == [text]


@pytest.mark.row("002 2.87")
def test_a_session_counts_its_calls_and_what_it_wrote(room: Room, clock: Clock) -> None:
    saved(room, session="s1", agent="cursor")
    clock.wait(hours=1)
    saved(room, session="s1", agent="cursor")
    saved(room, "more", session="s1", agent="cursor")
    told = {"session_id": "s1", "agent": "cursor", "started_at": START, "last_at": clock()}
    with room.engine.reading() as rows:
        assert rows.entries(Activity) == [Activity(**told, calls=3, written=2)]


@pytest.mark.long  # it costs much
def test_threads_that_say_the_same_make_one_fragment(room: Room) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda at: saved(room, f"fact {at % 4}"), range(40)))
    assert sum(it.is_new for it in done) == 4
    assert len({it.fragment.id for it in done}) == 4
    assert figures(room)["remembered"] == 4


def test_stale_days_of_the_settings_hold(tmp_path: Any) -> None:
    room = a_room(tmp_path, stale_days=(("fact", 7), ("error", 9)))
    assert saved(room).fragment.stale_days == 7
    assert saved(room, "e", type="error").fragment.stale_days == 0


# Links by themselves


@pytest.fixture
def crowd(room: Room) -> Room:
    """A room with fragments about other things, so that the words of a test are rare."""
    for at in range(20):
        saved(room, f"filler number{at} about something{at} else{at}")
    return room


def relations(done: Remembered) -> list[tuple[str, str, str]]:
    return [(it.relation, it.from_id, it.to_id) for it in (*done.links, *done.proposals)]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.37", "002 2.37.a", "002 2.37.c")
def test_what_is_alike_is_linked_and_what_is_nearly_the_same_proposed_as_outdated(
    crowd: Room,
) -> None:
    old = saved(crowd, POOL, topic="db").fragment
    new = saved(crowd, f"{POOL} now", topic="db")
    assert new.links == ()
    assert relations(new) == [("superseded_by", old.id, new.fragment.id)]
    assert (links_of(crowd, old.id), stored(crowd, old.id)) == (set(), [old])
    other = saved(crowd, f"{POOL} today", topic="db", type="decision")
    assert other.proposals == ()
    assert ("related", other.fragment.id, old.id) in relations(other)
    assert relations(saved(crowd, f"{POOL} there", topic="web")) == []
    hidden = saved(crowd, f"{POOL} here", topic="db", agent="cursor").fragment
    assert hidden.id not in repr(saved(crowd, f"{POOL} hidden", topic="db", agent="codex"))
    for kind in ("error", "preference", "relation"):
        saved(crowd, f"{POOL} {kind}", topic="db", type=kind)
    assert len(relations(saved(crowd, f"{POOL} so", topic="db", type="procedure"))) == 3


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.37.b")
def test_an_error_and_its_cure_are_linked_from_the_error(crowd: Room) -> None:
    error = saved(crowd, LOOP, type="error", topic="redis").fragment
    cure = saved(crowd, f"{LOOP}: set password", type="procedure", topic="redis")
    assert relations(cure) == [("resolved_by", error.id, cure.fragment.id)]
    earlier = saved(crowd, "Queue worker timeout fixed by visibility", type="decision", topic="q")
    later = saved(crowd, "Queue worker timeout by low visibility", type="error", topic="q")
    assert relations(later) == [("resolved_by", later.fragment.id, earlier.fragment.id)]


@pytest.mark.parametrize(
    ("kind", "content", "is_cure"),
    [
        ("procedure", "set the password", True),
        ("decision", "set the password", False),
        ("decision", "solved by the password", True),
        ("error", "NOAUTH, 비밀번호를 넣어 해결", True),
        ("error", "NOAUTH, 아직 미해결", False),
        ("preference", "solved by the password", False),
    ],
)
def test_a_cure_is_a_procedure_or_says_so(kind: Any, content: str, is_cure: bool) -> None:
    error = Fragment(id="e", content="NOAUTH at the start", kind="error")
    assert cures(Fragment(id="c", content=content, kind=kind), error) == is_cure
    assert not cures(error, replace(error, kind="fact"))
    assert not cures(Fragment(id="c", content=content), replace(error, content="It is fixed"))


@pytest.mark.long  # it costs much
def test_working_memory_is_linked_with_nothing(crowd: Room) -> None:
    saved(crowd, POOL, is_working=True, session="s")
    assert relations(saved(crowd, f"{POOL} here")) == []
    assert relations(saved(crowd, f"{POOL} there", is_working=True, session="s")) == []
