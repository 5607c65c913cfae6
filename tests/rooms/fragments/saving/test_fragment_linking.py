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
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import START, a_room, figures, links_of, saved, stored
from tests.support.sentences import in_language


def refused(room: Room, from_id: str, to_id: str, relation: str = "", agent: str = "") -> str:
    with pytest.raises(FragmentsError) as caught:
        link(room, from_id, to_id, relation, agent=agent)
    assert in_language("ko", str, caught.value) != str(caught.value)
    return str(caught.value)


@pytest.mark.row("002 2.15.f")
def test_each_relation_is_read_in_any_spelling(room: Room) -> None:
    one = saved(room, "alpha")
    for number, relation in enumerate(RELATIONS):
        other = saved(room, f"number {number}")
        done = link(room, one.id, other.id, relation.upper().replace("_", " - "))
        assert (done.link.relation, done.is_new, done.before) == (relation, True, "")
    assert len(links_of(room, one.id)) == len(RELATIONS)


@pytest.mark.row("002 2.15.g")
def test_the_same_link_again_is_none_and_another_relation_takes_its_place(room: Room) -> None:
    one, other = saved(room, "alpha"), saved(room, "bravo")
    assert link(room, one.id, other.id).is_new
    assert not link(room, one.id, other.id, "related").is_new
    assert not link(room, other.id, one.id, "").is_new
    done = link(room, one.id, other.id, "caused_by")
    assert (done.is_new, done.before) == (False, "related")
    assert link(room, other.id, one.id, "part_of").is_new
    assert links_of(room, one.id) == {
        (one.id, "caused_by", other.id),
        (other.id, "part_of", one.id),
    }


@pytest.mark.row("002 2.41.a", "002 2.41.b")
def test_a_link_needs_two_ends_that_can_be_seen(room: Room) -> None:
    one, theirs = saved(room, "alpha"), saved(room, "bravo", agent="codex")
    gone = saved(room, "gone")
    forget(room, id=gone.id)
    assert "cannot be linked to itself" in refused(room, one.id, f" #{one.id}")
    assert "is in the bin" in refused(room, one.id, gone.id)
    assert "is in the bin" in refused(room, gone.id, one.id)
    assert "no such fragment" in refused(room, one.id, theirs.id, agent="cursor")
    assert "no such fragment" in refused(room, "", one.id)
    assert "relationType: related," in refused(room, one.id, theirs.id, "likes")
    assert links_of(room, one.id, theirs.id, gone.id) == set()
    assert link(room, one.id, theirs.id).is_new


def test_a_successor_by_hand_takes_the_old_one_out_of_recall_and_back(room: Room) -> None:
    old, new = saved(room, "shop on Node", importance=0.9), saved(room, "shop on Bun")
    link(room, old.id, new.id, "superseded_by")
    [before] = stored(room, old.id)
    assert (before.importance, before.superseded_at != "") == (0.3, True)
    assert recall(room, Query(text="shop", with_links=False)).fragments == [new]
    assert not link(room, old.id, new.id, "superseded_by").is_new
    assert figures(room)["superseded"] == 1
    assert link(room, old.id, new.id, "related").before == "superseded_by"
    assert stored(room, old.id)[0].is_live
    found = recall(room, Query(text="shop", with_links=False)).fragments
    assert {it.id for it in found} == {old.id, new.id}


def test_no_fragment_takes_the_place_of_its_own_successor(room: Room) -> None:
    first, second, third = (saved(room, text) for text in ("one", "two", "three"))
    link(room, first.id, second.id, "superseded_by")
    link(room, second.id, third.id, "superseded_by")
    assert "it has taken the place of" in refused(room, third.id, first.id, "superseded_by")
    assert "it has taken the place of" in refused(room, second.id, first.id, "superseded_by")
    assert stored(room, third.id) == [third]


def test_a_successor_gets_the_links_of_the_one_before(room: Room) -> None:
    error, old, new, other = (saved(room, text) for text in ("error", "old", "new", "other"))
    link(room, error.id, old.id, "resolved_by")
    link(room, old.id, other.id, "part_of")
    link(room, new.id, other.id, "caused_by")
    link(room, old.id, new.id, "superseded_by")
    assert links_of(room, new.id) == {
        (old.id, "superseded_by", new.id),
        (error.id, "resolved_by", new.id),
        (new.id, "caused_by", other.id),
    }


def test_two_that_are_linked_are_suspected_no_more(room: Room) -> None:
    one, other, third = (saved(room, text) for text in ("one", "two", "three"))
    with room.engine.writing() as writing:
        writing.note(
            Suspicion(first_id=one.id, second_id=it.id, similarity=0.9) for it in (other, third)
        )
    link(room, other.id, one.id, "contradicts")
    with room.engine.reading() as reading:
        [left] = reading.entries(Suspicion)
    assert (left.first_id, left.second_id) == (one.id, third.id)


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
    arrows = {
        (start, end)
        for start, relation, end in links_of(room, *ids.values())
        if relation == "superseded_by"
    }
    replaced = {start for start, _ in arrows}
    fragments = stored(room, *ids.values())
    assert {it.id for it in fragments if it.superseded_at} == replaced
    reached = set(arrows)
    for middle, start, end in itertools.product(ids.values(), repeat=3):
        if (start, middle) in reached and (middle, end) in reached:
            reached.add((start, end))
    assert not any(start == end for start, end in reached)


def counted(kind: type, patch: pytest.MonkeyPatch) -> list[str]:
    """The names of the methods that are called from now on."""
    calls = list[str]()

    def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            calls.append(name)
            return method(*arguments, **named)

        return called

    for name in dir(kind):
        if name in ("links", "by_ids", "by_numbers", "find", "put_links", "replace", "entries"):
            method = getattr(kind, name)
            patch.setattr(kind, name, noting(name, method))
    return calls


@pytest.mark.long  # it costs much
@SELDOM_ON_A_SERVER
def test_a_place_is_taken_over_with_very_many_links_in_one_go(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub, new = saved(room, "The hub of all"), saved(room, "What comes after")
    with room.engine.writing() as writing:
        spokes = [
            Fragment(id=f"spoke{at}", content=f"{at}", created_at=START) for at in range(1_200)
        ]
        writing.add(spokes)
        writing.put_links(Link(from_id=hub.id, to_id=it.id, created_at=START) for it in spokes)
        calls = counted(type(writing), monkeypatch)
    link(room, hub.id, new.id, "superseded_by")
    assert 0 < len(calls) < 60  # and not some for each link
    with room.engine.reading() as reading:
        assert len(reading.links([new.id], ["related"])) == len(spokes)
