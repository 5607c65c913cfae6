"""Tests many processes that save sessions at once, and processes killed while they save."""

import contextlib
import json
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.settings import Settings
from rooms.sessions.config import FOLDER
from rooms.sessions.session import Draft
from rooms.sessions.store import open_sessions
from tests.support.faults import Child
from tests.support.session_crowd import Saver, kept, rows, shown, told, wrong_with

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes as POSIX forks them")

PROCESSES, SAVES = 8, 100
KILLS, SEED = 40, 20261123


@contextlib.contextmanager
def reading(root: Path) -> Iterator[list[str]]:
    """Read all the while, as another process does; what is read wrong is in the list."""
    ends, wrong = threading.Event(), list[str]()
    path = root / FOLDER / "current.json"

    def read() -> None:
        before = 0
        while not ends.is_set():
            with contextlib.suppress(FileNotFoundError):
                json.loads(path.read_text("utf-8"))  # torn, it raises
                [(count,)] = rows(path.with_name("history.db"), "SELECT count(*) FROM contexts")
                if count < before:
                    wrong.append(f"{count} sessions after {before}")
                before = count

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield wrong
    finally:
        ends.set()
        thread.join()


@pytest.mark.row("003 T83")
@pytest.mark.long
def test_eight_processes_that_save_a_hundred_times_lose_nothing(tmp_path: Path) -> None:
    with contextlib.ExitStack() as running:
        crowd = [
            running.enter_context(Child(Saver(tmp_path, f"p{at}", SAVES)))
            for at in range(PROCESSES)
        ]
        crowd[0].hear()
        with reading(tmp_path) as wrong:
            ends = [child.end() for child in crowd]
    assert [code for code, _ in ends] == [0] * PROCESSES, ends[0][1][-200:]
    acknowledged = told("".join(said for _, said in ends))
    assert wrong == []
    assert acknowledged.keys() == set(range(1, PROCESSES * SAVES + 1))
    assert kept(tmp_path) == acknowledged
    assert wrong_with(tmp_path, acknowledged) == []
    newest = "SELECT id FROM contexts ORDER BY updated_at DESC, revision DESC LIMIT 1"
    [(last,)] = rows(tmp_path / FOLDER / "history.db", newest)
    assert shown(tmp_path)["id"] == last


@pytest.mark.long
def test_processes_that_begin_at_once_share_one_new_database(tmp_path: Path) -> None:
    for turn in range(5):
        root = tmp_path / str(turn)
        root.mkdir()
        with contextlib.ExitStack() as running:
            crowd = [running.enter_context(Child(Saver(root, f"p{at}", 2))) for at in range(6)]
            ends = [child.end() for child in crowd]
        assert [code for code, _ in ends] == [0] * 6, ends
        assert wrong_with(root, told("".join(said for _, said in ends))) == []
        assert len(kept(root)) == 12


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T83")
def test_the_same_goal_of_one_client_in_many_processes_is_one_session(tmp_path: Path) -> None:
    def work(_: object) -> str:
        store = open_sessions(tmp_path, Settings(lock_timeout_s=60))
        for at in range(5):
            tags = (f"{os.getpid()}-{at}",)
            store.save(Draft(goal="one", tags=tags), agent="codex", process=str(os.getpid()))
        return ""

    with contextlib.ExitStack() as running:
        crowd = [running.enter_context(Child(work)) for _ in range(4)]
        assert [child.end()[0] for child in crowd] == [0] * 4
    assert list(kept(tmp_path)) == [1]


@pytest.mark.long
def test_processes_killed_at_any_moment_lose_nothing_and_leave_no_litter(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    acknowledged: dict[int, tuple[str, str]] = {}
    for turn in range(KILLS):
        with contextlib.ExitStack() as running:
            pair = [
                running.enter_context(Child(Saver(tmp_path, f"k{turn}-{at}", 10_000)))
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
        with Child(Saver(tmp_path, f"after{turn}", 1)) as after:  # the next start just works
            code, said = after.end()
        assert code == 0, said
        acknowledged.update(told(said))
        assert wrong_with(tmp_path, acknowledged) == []
        assert shown(tmp_path)["goal"] == f"goal-after{turn}-0"
    assert len(acknowledged) > 2 * KILLS
    assert len(kept(tmp_path)) - len(acknowledged) <= 2 * KILLS  # stored, not yet told


def test_a_process_killed_before_its_first_save_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    """The directory, an empty `.gitignore`, an empty database: as far as one may come."""
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for name in (".gitignore", "history.db", ".current.json.tmp"):
        (folder / name).touch()
    with Child(Saver(tmp_path, "after", 1)) as after:
        code, said = after.end()
    assert code == 0
    assert wrong_with(tmp_path, told(said)) == []
    assert (folder / ".gitignore").read_text().startswith("#")
