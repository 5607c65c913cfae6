"""An error is shown with its causes first, then its cures, then the rest; one step far."""

from pathlib import Path

import pytest

from rooms.fragments.errors import NoSuchFragmentError
from rooms.fragments.fragment import Link
from rooms.fragments.kinds import Relation
from rooms.fragments.recall.exploring import explore
from tests.rooms.fragments.recall.test_fragment_recall import add
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import START, a_room


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


@pytest.mark.parametrize("name", ["nowhere", "", "f1", "f2"])
def test_what_is_not_there_is_said(tmp_path: Path, name: str) -> None:
    room = a_room(tmp_path)
    add(room, "a")
    add(room, "b", deleted_at=START)
    add(room, "c", agent="bob")
    with pytest.raises(NoSuchFragmentError):
        explore(room, name, agent="alice")
