"""Tests many processes that remember at once, and processes killed while they do."""

import contextlib
import os
import random
import signal
import time
from pathlib import Path

import pytest

from rooms.fragments.saving.drafting import Draft
from rooms.fragments.saving.remembering import remember
from tests.support.faults import Child
from tests.support.fragment_crowd import NAME, Rememberer, fresh, kept, wrong_with
from tests.support.session_crowd import told

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes as POSIX forks them")

PROCESSES, SAVES = 8, 100
KILLS, SEED = 30, 20261123


@pytest.mark.row("002 2.95")
@pytest.mark.long
def test_eight_processes_that_remember_a_hundred_times_lose_nothing(tmp_path: Path) -> None:
    with contextlib.ExitStack() as running:
        crowd = [
            running.enter_context(Child(Rememberer(tmp_path, f"p{at}", SAVES)))
            for at in range(PROCESSES)
        ]
        ends = [child.end() for child in crowd]
    assert [code for code, _ in ends] == [0] * PROCESSES, ends[0][1][-200:]
    acknowledged = told("".join(said for _, said in ends))
    assert acknowledged.keys() == set(range(1, PROCESSES * SAVES + 1))
    assert kept(tmp_path) == acknowledged
    assert wrong_with(tmp_path, acknowledged) == []


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.80")
def test_processes_that_begin_at_once_share_one_new_database(tmp_path: Path) -> None:
    for turn in range(3):
        folder = tmp_path / str(turn) / "kept"
        with contextlib.ExitStack() as running:
            crowd = [
                running.enter_context(Child(Rememberer(folder, f"p{at}", 2))) for at in range(6)
            ]
            ends = [child.end() for child in crowd]
        assert [code for code, _ in ends] == [0] * 6, ends
        assert wrong_with(folder, told("".join(said for _, said in ends))) == []
        assert len(kept(folder)) == 12


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.12.h")
def test_the_same_content_in_many_processes_is_one_fragment(tmp_path: Path) -> None:
    def work(_: object) -> str:
        for _ in range(5):
            remember(fresh(tmp_path, 60), Draft(content="one zebra", keywords=("crowd",)))
        return ""

    with contextlib.ExitStack() as running:
        crowd = [running.enter_context(Child(work)) for _ in range(4)]
        assert [child.end()[0] for child in crowd] == [0] * 4
    assert list(kept(tmp_path)) == [1]


@pytest.mark.row("002 2.95")
@pytest.mark.long
def test_processes_killed_at_any_moment_lose_nothing_and_leave_no_litter(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    acknowledged: dict[int, tuple[str, str]] = {}
    for turn in range(KILLS):
        with contextlib.ExitStack() as running:
            pair = [
                running.enter_context(Child(Rememberer(tmp_path, f"k{turn}-{at}", 10_000)))
                for at in range(2)
            ]
            if turn % 4:  # else one dies while it opens
                pair[0].hear()
            for child in pair:
                time.sleep(chance.uniform(0, 0.02))  # spreads the kills over a save
                child.kill()
            for child in pair:
                code, said = child.end()
                assert code == -signal.SIGKILL, said[-300:]
                new = told(said)
                assert not acknowledged.keys() & new.keys(), "a number was given twice"
                acknowledged.update(new)
        with Child(Rememberer(tmp_path, f"after{turn}", 1)) as after:  # the next start just works
            code, said = after.end()
        assert code == 0, said
        acknowledged.update(told(said))
        assert wrong_with(tmp_path, acknowledged) == []
    assert len(acknowledged) > KILLS
    assert len(kept(tmp_path)) - len(acknowledged) <= 2 * KILLS  # stored, not yet told


def test_a_process_killed_before_its_first_save_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()
    with Child(Rememberer(tmp_path, "after", 1)) as after:
        code, said = after.end()
    assert code == 0
    assert wrong_with(tmp_path, told(said)) == []
