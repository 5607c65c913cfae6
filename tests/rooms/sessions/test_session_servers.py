"""Tests real servers on one project: all save at once, die in the middle, lose their database."""

import contextlib
import os
import random
import re
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rooms.sessions.config import FOLDER
from tests.support.room_crowds import Sessions, rows
from tests.support.stdio_client import HANDSHAKE, STATELESS, ServerProcess

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")

KILLS, SEED = 6, 20261123
_NUMBER = re.compile(r"#([0-9]+)")

Start = Callable[..., ServerProcess]


@pytest.fixture
def start(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    said, started = tmp_path_factory.mktemp("said"), list[ServerProcess]()
    with contextlib.ExitStack() as running:

        def begin(**environment: str) -> ServerProcess:
            server = ServerProcess(
                *("--project", str(tmp_path), "--rooms", "sessions"),
                cwd=tmp_path,
                stderr_path=said / f"{len(started)}.txt",
                era=(HANDSHAKE, STATELESS)[len(started) % 2],
                environment=environment,
            )
            started.append(server)
            return running.enter_context(server)

        yield begin


def save(server: ServerProcess, goal: str) -> int:
    """The number of a session that a server has acknowledged."""
    return number_in(server.call("context_save", goal=goal, summary=f"summary of {goal}"))


def number_in(answer: str) -> int:
    found = _NUMBER.search(answer)
    assert found, answer
    return int(found[1])


@pytest.mark.row("003 T83")
@pytest.mark.long
def test_servers_killed_with_saves_in_flight_lose_nothing_acknowledged(
    start: Start, tmp_path: Path
) -> None:
    chance, told, asked_for = random.Random(SEED), dict[int, str](), set[str]()
    pair = [start(), start()]
    for turn in range(KILLS):
        for server in pair:
            server.greet()
        calls = []
        for at in range(12):
            server, goal = pair[at % 2], f"goal {turn}/{at}"
            asked_for.add(goal)
            calls.append((server, server.ask_tool("context_save", goal=goal, summary="s"), goal))
        victim = chance.randrange(2)
        time.sleep(chance.uniform(0, 0.08))  # spreads the kills over the calls
        assert pair[victim].kill() == -signal.SIGKILL
        for server, number, goal in calls:
            if server is not pair[victim] or server.is_answered(number):
                told[number_in(server.tool_text(number))] = goal
        there = {number: goal for number, (_, goal) in Sessions(tmp_path).kept().items()}
        assert {number: there.get(number) for number in told} == told
        assert set(there.values()) <= asked_for
        pair[victim] = start()
        told[save(pair[victim], f"after {turn}")] = f"after {turn}"
        asked_for.add(f"after {turn}")
        assert rows(tmp_path / FOLDER / "history.db", "PRAGMA integrity_check") == [("ok",)]
    assert Sessions(tmp_path).litter() == []


@pytest.mark.long  # it costs much
def test_a_server_says_what_befalls_its_database_and_stays_up(start: Start, tmp_path: Path) -> None:
    """Everything that others can do to the file while it runs, one after the other."""
    server, folder = start(SENTINEL_MEMORY_LOCK_TIMEOUT_S="1"), tmp_path / FOLDER
    database = folder / "history.db"
    assert save(server, "first") == 1

    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # a writer that hangs
        refused = server.refusal("context_save", goal="second")
        assert "busy for more than 1 s. Nothing was saved" in refused
        assert "first" in server.call("context_search", query="first")
        other.execute("ROLLBACK")
    assert save(server, "second") == 2

    database.with_name("history.db-wal").unlink()  # a journal that somebody clears away
    assert save(server, "third") == 3
    assert [goal for _, goal in Sessions(tmp_path).kept().values()] == ["first", "second", "third"]

    shutil.rmtree(folder)  # the whole directory
    assert "first" not in server.call("context_search", query="first")
    assert "no such session" in server.refusal("context_get", id="#1")
    assert save(server, "anew") == 1
    assert [goal for _, goal in Sessions(tmp_path).kept().values()] == ["anew"]

    for path in folder.glob("history.db*"):
        path.unlink()
    database.write_bytes(b"garbage" * 1_000)
    for said in (
        server.refusal("context_save", goal="x"),
        server.refusal("context_search", query="x"),
        server.refusal("context_get", id="#1"),
        server.refusal("context_warn", currentGoal="x"),
        server.refusal("context_stats"),
    ):
        assert "is damaged" in said and str(database) in said and "doctor --fix" in said
    assert database.read_bytes() == b"garbage" * 1_000

    database.unlink()
    database.symlink_to(tmp_path / "elsewhere.db")
    assert "is a symbolic link" in server.refusal("context_save", goal="x")
    assert not (tmp_path / "elsewhere.db").exists()
    database.unlink()

    (folder / "config.json").write_text("[" * 50_000)
    assert "config.json is not a JSON object" in server.refusal("context_save", goal="x")
    (folder / "config.json").unlink()
    (folder / "current.json").unlink()
    (folder / "current.json").mkdir()
    assert save(server, "last") == 1  # what cannot be shown is saved all the same
    assert (server.close(), server.strange_lines()) == (0, [])
    assert server.stderr().count("current.json: not written") == 1
