"""Tests the links that a caller makes: their ends, what they change, and what they refuse."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rooms.fragments.bin import forget
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import RELATIONS, Fragment, Link, Suspicion
from rooms.fragments.links import link
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from tests.support.both_engines import SELDOM_ON_A_SERVER
from tests.support.fragments_room import (
    START,
    a_room,
    figures,
    links_of,
    now_of,
    refused,
    saved,
    stored,
)


@pytest.mark.row("002 2.15.f", "002 2.15.g")
def test_each_relation_is_read_in_any_spelling_and_takes_the_place_of_another(room: Room) -> None:
    one, other = saved(room, "alpha").id, saved(room, "bravo").id
    for number, relation in enumerate(RELATIONS):
        end = saved(room, f"number {number}").id
        done = link(room, one, end, relation.upper().replace("_", " - "))
        assert (done.link.relation, done.is_new) == (relation, True)
    assert len(links_of(room, one)) == len(RELATIONS)
    assert link(room, other, end).is_new
    assert not link(room, other, end, "related").is_new
    assert not link(room, end, other, "").is_new  # it holds in both directions
    assert not link(room, other, end, "caused_by").is_new
    assert link(room, end, other, "part_of").is_new
    assert links_of(room, other) == {(other, "caused_by", end), (end, "part_of", other)}


@pytest.mark.row("002 2.41.a", "002 2.41.b")
def test_a_link_needs_two_ends_that_can_be_seen(room: Room) -> None:
    one, theirs = saved(room, "alpha").id, saved(room, "bravo", agent="codex").id
    gone = saved(room, "gone").id
    forget(room, id=gone)
    assert "cannot be linked to itself" in refused(room, link, one, f" #{one}")
    assert "is in the bin" in refused(room, link, one, gone)
    assert "is in the bin" in refused(room, link, gone, one)
    assert "no such fragment" in refused(room, link, one, theirs, agent="cursor")
    assert "no such fragment" in refused(room, link, "", one)
    assert "relationType: related," in refused(room, link, one, theirs, "likes")
    assert link(room, one, theirs).is_new


def test_a_successor_by_hand_takes_the_old_one_out_of_recall_and_back(room: Room) -> None:
    old, new = saved(room, "shop on Node", importance=0.9), saved(room, "shop on Bun")
    link(room, old.id, new.id, "superseded_by")
    before = now_of(room, old)
    assert (before.importance, before.superseded_at != "") == (0.3, True)
    assert recall(room, Query(text="shop", with_links=False)).fragments == [new]
    assert not link(room, old.id, new.id, "superseded_by").is_new
    assert figures(room)["superseded"] == 1
    assert not link(room, old.id, new.id, "related").is_new
    assert now_of(room, old).is_live
    found = recall(room, Query(text="shop", with_links=False)).fragments
    assert {it.id for it in found} == {old.id, new.id}


def test_no_fragment_takes_the_place_of_its_own_successor(room: Room) -> None:
    first, second, third = (saved(room, text).id for text in ("one", "two", "three"))
    link(room, first, second, "superseded_by")
    link(room, second, third, "superseded_by")
    for start in (third, second):
        said = refused(room, link, start, first, "superseded_by")
        assert "it has taken the place of" in said


def test_a_successor_gets_the_links_of_the_one_before(room: Room) -> None:
    error, old, new, other = (saved(room, text).id for text in ("error", "old", "new", "other"))
    link(room, error, old, "resolved_by")
    link(room, old, other, "part_of")
    link(room, new, other, "caused_by")
    link(room, old, new, "superseded_by")
    assert links_of(room, new) == {
        (old, "superseded_by", new),
        (error, "resolved_by", new),
        (new, "caused_by", other),
    }


def test_two_that_are_linked_are_suspected_no_more(room: Room) -> None:
    one, other, third = (saved(room, text).id for text in ("one", "two", "three"))
    with room.engine.writing() as rows:
        rows.note(
            Suspicion(first_id=one, second_id=second, similarity=0.9) for second in (other, third)
        )
    link(room, other, one, "contradicts")
    with room.engine.reading() as rows:
        left = [(it.first_id, it.second_id) for it in rows.entries(Suspicion)]
    assert left == [(one, third)]


@pytest.mark.long  # it costs much
@SELDOM_ON_A_SERVER
@given(st.lists(st.permutations("abcd").map(lambda it: (it[0], it[1])), max_size=20), st.data())
@settings(
    max_examples=min(settings().max_examples, 30),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_is_superseded_has_a_successor_and_no_circle_arises(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    room = a_room(tmp_path_factory.mktemp("room"))
    ids = {name: saved(room, f"says {name}").id for name in "abcd"}
    for start, end in pairs:
        relation = data.draw(st.sampled_from(["superseded_by", "superseded_by", "related"]))
        try:
            link(room, ids[start], ids[end], relation)
        except FragmentsError as error:
            assert error.key == "circle"
    links = links_of(room, *ids.values())
    reached = {(start, end) for start, relation, end in links if relation == "superseded_by"}
    replaced = {start for start, _ in reached}
    assert {it.id for it in stored(room, *ids.values()) if it.superseded_at} == replaced
    for middle, start, end in itertools.product(ids.values(), repeat=3):
        if (start, middle) in reached and (middle, end) in reached:
            reached.add((start, end))
    assert not any(start == end for start, end in reached)


@pytest.mark.long  # it costs much
@SELDOM_ON_A_SERVER
def test_a_place_is_taken_over_with_very_many_links_in_one_go(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub, new, calls = saved(room, "The hub of all").id, saved(room, "What comes after").id, []

    def counting(method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            calls.append(method)
            return method(*arguments, **named)

        return called

    spokes = [Fragment(id=f"spoke{at}", content=f"{at}", created_at=START) for at in range(1_200)]
    with room.engine.writing() as rows:
        rows.add(spokes)
        rows.put_links(Link(from_id=hub, to_id=it.id, created_at=START) for it in spokes)
    for name in ("links", "by_ids", "by_numbers", "find", "put_links", "replace", "entries"):
        monkeypatch.setattr(type(rows), name, counting(getattr(type(rows), name)))
    link(room, hub, new, "superseded_by")
    assert 0 < len(calls) < 60  # and not some for each link
    assert len(links_of(room, new)) == len(spokes) + 1
