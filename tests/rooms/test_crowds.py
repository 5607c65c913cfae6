"""Tests many processes that save into a room at once, and processes killed while they save."""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faults import Child
from tests.support.room_crowds import CROWDS, Crowd, Sessions, Told, all_of, told

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes as POSIX forks them")

PROCESSES, SAVES = 8, 100
KILLS, SEED = 40, 20261123


@pytest.fixture(params=CROWDS)
def crowd(request: pytest.FixtureRequest, tmp_path: Path) -> Crowd:
    return CROWDS[request.param](tmp_path)


@contextlib.contextmanager
def reading(crowd: Crowd) -> Iterator[list[str]]:
    """Read all the while, as another process does; what is read wrong is in the list."""
    ends, wrong = threading.Event(), list[str]()

    def read() -> None:
        before = 0
        while not ends.is_set():
            with contextlib.suppress(FileNotFoundError):
                if isinstance(crowd, Sessions):
                    crowd.shown()  # torn, it raises
                count = len(crowd.kept())
                if count < before:
                    wrong.append(f"{count} rows after {before}")
                before = count

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield wrong
    finally:
        ends.set()
        thread.join()


@pytest.mark.row("002 2.95", "003 T83")
@pytest.mark.long
def test_eight_processes_that_save_a_hundred_times_lose_nothing(crowd: Crowd) -> None:
    with all_of([crowd.process(f"p{at}", SAVES) for at in range(PROCESSES)]) as children:
        children[0].hear()
        with reading(crowd) as wrong:
            ends = [child.end() for child in children]
    assert [code for code, _ in ends] == [0] * PROCESSES, ends[0][1][-200:]
    acknowledged = told("".join(said for _, said in ends))
    assert wrong == []
    assert acknowledged.keys() == set(range(1, PROCESSES * SAVES + 1))
    assert crowd.kept() == acknowledged
    assert crowd.wrong_with(acknowledged) + crowd.wrong_shown() == []


@pytest.mark.row("002 2.80")
@pytest.mark.long
@pytest.mark.parametrize("room", CROWDS)
def test_processes_that_begin_at_once_share_one_new_database(room: str, tmp_path: Path) -> None:
    for turn in range(5):
        root = tmp_path / str(turn)
        root.mkdir()
        crowd = CROWDS[room](root)
        with all_of([crowd.process(f"p{at}", 2) for at in range(6)]) as children:
            ends = [child.end() for child in children]
        assert [code for code, _ in ends] == [0] * 6, ends
        assert crowd.wrong_with(told("".join(said for _, said in ends))) == []
        assert len(crowd.kept()) == 12


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.12.h", "003 T83")
def test_the_same_of_one_client_in_many_processes_is_one(crowd: Crowd) -> None:
    def work(_: object) -> str:
        store = crowd.opened(60)
        for _ in range(5):
            crowd.save_the_same(store)
        return ""

    with all_of([Child(work) for _ in range(4)]) as children:
        assert [child.end()[0] for child in children] == [0] * 4
    assert list(crowd.kept()) == [1]


@pytest.mark.row("002 2.95", "003 T83")
@pytest.mark.long
def test_processes_killed_at_any_moment_lose_nothing_and_leave_no_litter(crowd: Crowd) -> None:
    chance, acknowledged = random.Random(SEED), Told()
    for turn in range(KILLS):
        with all_of([crowd.process(f"k{turn}-{at}", 10_000) for at in range(2)]) as pair:
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
        with crowd.process(f"after{turn}", 1) as after:  # the next start just works
            code, said = after.end()
        assert code == 0, said
        acknowledged.update(told(said))
        assert crowd.wrong_with(acknowledged) + crowd.wrong_shown() == []
    assert len(acknowledged) > KILLS
    assert len(crowd.kept()) - len(acknowledged) <= 2 * KILLS  # stored, not yet told


def test_a_process_killed_before_its_first_save_leaves_nothing_in_the_way(crowd: Crowd) -> None:
    """The directory, empty files: as far as one may come."""
    crowd.folder.mkdir(parents=True)
    for name in (crowd.file, *crowd.companions - {"current.json"}):
        (crowd.folder / name).touch()
    if "current.json" in crowd.companions:
        (crowd.folder / ".current.json.tmp").touch()
    assert crowd.wrong_with(crowd.left_whole("after", 1)) + crowd.wrong_shown() == []
    if ".gitignore" in crowd.companions:
        assert (crowd.folder / ".gitignore").read_text().startswith("#")
