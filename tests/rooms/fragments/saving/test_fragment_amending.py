"""Tests what an amendment changes of a fragment, what it keeps, and what it refuses."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rooms.fragments.bin import forget, pin
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import TYPES, Suspicion, Version, Wanted, hash_of
from rooms.fragments.links import link
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.versions import Amended, Amendment, amend
from tests.support.both_engines import SELDOM_ON_A_SERVER
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import Clock, a_room, figures, links_of, saved, stored
from tests.support.sentences import in_language

NODE = "The shop runs on Node.js 20"


def amended(room: Room, id_: str, agent: str = "", **fields: Any) -> Amended:
    return amend(room, Amendment(id=id_, **fields), agent=agent)


def versions(room: Room, id_: str) -> list[Version]:
    with room.engine.reading() as reading:
        return reading.entries(Version, of=id_)


def refused(room: Room, id_: str, agent: str = "", **fields: Any) -> str:
    with room.engine.reading() as reading:
        before = reading.find(Wanted(state="all"), limit=100), reading.entries(Version)
    with pytest.raises(FragmentsError) as caught:
        amended(room, id_, agent, **fields)
    with room.engine.reading() as reading:
        assert (reading.find(Wanted(state="all"), limit=100), reading.entries(Version)) == before
    assert in_language("ko", str, caught.value) != str(caught.value)
    return str(caught.value)


@pytest.mark.row(
    "002 2.18.a",
    "002 2.18.b",
    "002 2.18.c",
    "002 2.18.d",
    "002 2.18.e",
    "002 2.18.f",
    "002 2.18.g",
    "002 2.18.h",
    "002 2.42",
)
def test_an_amendment_keeps_the_id_and_what_was_said_before(room: Room, clock: Clock) -> None:
    first = saved(room, NODE, topic="node", keywords=("node",))
    now = clock.wait(days=1)
    done = amended(room, f" #{first.id} ", "cursor", content="The shop runs on Node.js 22")
    assert (done.fragment.id, done.before, done.is_new) == (first.id, first, False)
    assert done.fragment.content_hash == hash_of("The shop runs on Node.js 22")
    assert (done.fragment.updated_at, done.fragment.verified_at) == (now, now)
    assert stored(room, first.id) == [done.fragment]
    assert versions(room, first.id) == [
        Version(
            fragment_id=first.id,
            content=NODE,
            topic="node",
            keywords=("node",),
            importance=0.5,
            amended_at=now,
            amended_by="cursor",
        )
    ]
    assert recall(room, Query(text="node 22")).fragments == [done.fragment]


@pytest.mark.row("002 2.12.q")
def test_what_changes_nothing_notes_no_version_but_that_it_holds(room: Room, clock: Clock) -> None:
    first = saved(room, NODE)
    now = clock.wait(days=9)
    for fields in ({"content": NODE}, {"topic": "general"}, {"is_anchor": False}, {"type": "fact"}):
        done = amended(room, first.id, **fields)
        assert done.fragment == replace(first, verified_at=now)
        assert stored(room, first.id) == [done.fragment]
    assert versions(room, first.id) == []


def test_keywords_that_were_found_in_the_content_follow_it(room: Room) -> None:
    found, told = saved(room, NODE), saved(room, "Bun is faster", keywords=("speed",))
    assert amended(room, found.id, content="pnpm installs").fragment.keywords == (
        "pnpm",
        "installs",
    )
    assert amended(room, told.id, content="pnpm is faster").fragment.keywords == ("speed",)
    assert amended(room, told.id, keywords=()).fragment.keywords == ("pnpm", "faster")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("word", TYPES)
def test_another_type_has_another_life(room: Room, clock: Clock, word: str) -> None:
    first = saved(room, NODE, type="episodic" if word != "episodic" else "error", importance=0.33)
    clock.wait(days=5)
    done, row = amended(room, first.id, type=word.upper()).fragment, TYPES[word]
    assert (done.kind, done.lifetime, done.stale_days) == (*row[:2], row.stale_days)
    assert bool(done.expires_at) == bool(row.hours)
    assert done.importance == 0.33


@pytest.mark.long  # it costs much
def test_what_cannot_be_amended_is_refused_and_changes_nothing(room: Room) -> None:
    one, other = saved(room, NODE), saved(room, "other", agent="cursor")
    twin, gone = saved(room, "twin"), saved(room, "gone")
    forget(room, id=gone.id)
    assert "nothing to change" in refused(room, one.id)
    assert "no such fragment" in refused(room, "nosuch", topic="t")
    assert "no such fragment" in refused(room, "\ud800" * 200, topic="t")
    assert "no such fragment" in refused(room, other.id, "codex", topic="t")
    assert "is in the bin" in refused(room, gone.id, topic="t")
    assert "content: it is blank" in refused(room, one.id, content=" ")
    assert "topic: it is blank" in refused(room, one.id, topic=" ")
    assert "importance: " in refused(room, one.id, importance=2)
    assert "type: " in refused(room, one.id, type="idea")
    assert twin.id in refused(room, one.id, content="twin")
    assert "hard=true" in refused(room, one.id, content="gone")
    assert "supersedes: " in refused(room, one.id, content=NODE, supersedes=True)
    assert "supersedes: " in refused(room, one.id, topic="t", supersedes=True)


def test_the_content_of_another_agent_is_no_twin(room: Room) -> None:
    saved(room, "twin", agent="cursor")
    assert amended(room, saved(room, NODE).id, content="twin").fragment.content == "twin"


@pytest.mark.row("002 2.43")
def test_a_fragment_that_supersedes_is_new_and_takes_over_what_was_known(
    room: Room, clock: Clock
) -> None:
    error = saved(room, "The build fails", type="error")
    old = saved(
        room, NODE, topic="node", type="decision", importance=0.8, is_anchor=True, source="shop"
    )
    link(room, error.id, old.id, "resolved_by")
    now = clock.wait(days=200)
    done = amended(room, old.id, content="The shop runs on Bun", supersedes=True)
    new = done.fragment
    assert done.is_new
    assert new.id != old.id
    assert (new.topic, new.kind, new.importance, new.source) == ("node", "decision", 0.8, "shop")
    assert (new.is_anchor, new.tier, new.created_at) == (True, "permanent", now)
    [before] = stored(room, old.id)
    assert before == replace(old, importance=0.3, superseded_at=now)
    assert links_of(room, new.id) == {
        (old.id, "superseded_by", new.id),
        (error.id, "resolved_by", new.id),
    }
    assert recall(room, Query(text="shop runs", with_links=False)).fragments == [new]
    assert versions(room, old.id) == []


@pytest.mark.row("002 2.43")
def test_what_was_superseded_names_its_successor(room: Room) -> None:
    old = saved(room, NODE)
    new = amended(room, old.id, content="The shop runs on Bun", supersedes=True).fragment
    assert new.id in refused(room, old.id, topic="t")
    assert new.id in refused(room, old.id, content="x", supersedes=True)
    forget(room, id=new.id, hard=True)
    assert f"restore {old.id}" in refused(room, old.id, topic="t")


def test_one_that_says_the_new_content_already_takes_the_place(room: Room) -> None:
    old, known = saved(room, NODE), saved(room, "The shop runs on Bun")
    done = amended(room, old.id, content="The shop runs on Bun", supersedes=True)
    assert (done.fragment.id, done.is_new) == (known.id, True)
    assert links_of(room, old.id) == {(old.id, "superseded_by", known.id)}
    back = amended(room, known.id, content=NODE, supersedes=True)
    assert back.fragment.id == old.id
    assert links_of(room, old.id) == {(known.id, "superseded_by", old.id)}
    assert [it.is_live for it in stored(room, old.id, known.id)] == [True, False]


def test_one_in_the_bin_takes_the_place_and_is_counted_as_restored(room: Room) -> None:
    old, gone = saved(room, NODE), saved(room, "The shop runs on Bun")
    forget(room, id=gone.id)
    done = amended(room, old.id, content="The shop runs on Bun", supersedes=True)
    assert done.fragment.is_live
    assert figures(room)["restored"] == 1


def test_what_a_fragment_has_taken_the_place_of_is_suspected_no_more(room: Room) -> None:
    old, third = saved(room, NODE), saved(room, "third")
    with room.engine.writing() as writing:
        pairs = [Suspicion(first_id=old.id, second_id=third.id, similarity=0.9)]
        writing.note(pairs)
    amended(room, old.id, content="third", supersedes=True)
    with room.engine.reading() as reading:
        assert reading.entries(Suspicion) == []


def test_an_unpinned_fragment_can_be_pinned_by_an_amendment_and_back(
    room: Room, clock: Clock
) -> None:
    first = saved(room, NODE, type="episodic")
    assert amended(room, first.id, is_anchor=True).fragment.tier == "permanent"
    assert pin(room, first.id, pinned=True).is_anchor
    clock.wait(days=400)
    loose = amended(room, first.id, is_anchor=False).fragment
    assert (loose.tier, loose.decayed_at, loose.expires_at > clock()) == ("warm", clock(), True)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.43")
@SELDOM_ON_A_SERVER
@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.booleans()), max_size=12
    )
)
@settings(
    max_examples=min(settings().max_examples, 25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_amendments_lose_a_content_or_make_a_circle(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, bool]]
) -> None:
    room = a_room(tmp_path_factory.mktemp("room"))
    ids = {name: saved(room, f"says {name}").id for name in "abcd"}
    said = {f"says {name}" for name in ids}
    for target, content, supersedes in steps:
        try:
            amended(room, ids[target], content=f"says {content}", supersedes=supersedes)
        except FragmentsError as error:
            assert error.key in ("has_successor", "same_content", "nothing_new")
    with room.engine.reading() as reading:
        fragments = reading.find(Wanted(state="all"), limit=100)
        known = {it.content for it in [*fragments, *reading.entries(Version)]}
        ends = {it.from_id: it.to_id for it in reading.links([it.id for it in fragments])}
    assert known >= said
    assert any(it.is_live for it in fragments)
    for start in ends:
        seen, at = {start}, start
        while at in ends:
            at = ends[at]
            assert at not in seen
            seen.add(at)
