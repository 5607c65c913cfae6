"""Tests the step that makes embeddings, with a model that the test hands in."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from rooms.fragments.embeddings.embedder import Embedder
from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import Wanted
from rooms.fragments.room import Room
from rooms.fragments.upkeep.consolidation import consolidate
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.fragments_room import Clock, a_room
from tests.support.upkeep_room import all_of, figures_of, saved


class Numbers:
    """Gives each text two numbers; fails, or ends the process, after some requests."""

    def __init__(self, *, fails: bool = False, dies_after: int = -1) -> None:
        self.fails, self.left, self.asked = fails, dies_after, list[str]()

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        if self.fails:
            raise ServiceError("unreachable")
        if not self.left:
            os._exit(9)
        self.left -= 1
        self.asked += texts
        return [(1.0, float(len(it))) for it in texts]


def embedder(source: Numbers) -> Embedder:
    return Embedder(source, "small")


def fill(room: Room) -> None:
    for at in range(70):
        saved(room, f"Part {at} of the shop", topic=f"t{at}")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.58")
def test_what_is_missing_is_made_by_the_model(room: Room) -> None:
    fill(room)
    report = consolidate(room, embedder=embedder(Numbers()))
    assert figures_of(report)["embeddings"] == {"missing": 70, "made": 70}
    assert all_of(room, Wanted(has_vector=False)) == []
    assert "embeddings" not in figures_of(consolidate(room, embedder=embedder(Numbers())))


@pytest.mark.long  # it costs much
def test_a_model_that_does_not_answer_keeps_no_other_step_from_its_work(room: Room) -> None:
    fill(room)
    report = consolidate(room, embedder=embedder(Numbers(fails=True)))
    assert figures_of(report)["embeddings"] == {"missing": 70, "failed": 1}
    assert figures_of(report)["contradictions"]["checked"] == 70


@pytest.mark.long  # it costs much
@pytest.mark.skipif(os.name == "nt", reason="processes as POSIX has them")
def test_a_run_that_is_killed_while_the_model_works_counts_what_was_made_before(
    tmp_path: Path, clock: Clock
) -> None:
    room = a_room(tmp_path, clock=clock)
    fill(room)
    room.engine.close()
    pid = os.fork()
    if not pid:
        consolidate(a_room(tmp_path, clock=clock), embedder=embedder(Numbers(dies_after=1)))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    made = len(all_of(room, Wanted(has_vector=True)))
    assert 0 < made < 70
    source = Numbers()
    report = consolidate(room, embedder=embedder(source))
    assert figures_of(report)["embeddings"] == {"missing": 70, "made": 70}
    assert len(source.asked) == 70 - made
