"""Tests a real server that loses its database, or may not use it, while it runs."""

import contextlib
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from rooms.sessions.config import FOLDER
from tests.conftest import StartServer
from tests.support.room_crowds import Sessions
from tests.support.servers import ServerProcess


def save(server: ServerProcess, goal: str) -> int:
    """The number of a session that a server has acknowledged."""
    found = re.search(r"#([0-9]+)", server.call("context_save", goal=goal))
    assert found
    return int(found[1])


@pytest.mark.long  # it costs much
def test_a_server_says_what_befalls_its_database_and_stays_up(
    start_server: StartServer, tmp_path: Path
) -> None:
    """Everything that others can do to the file while it runs, one after the other."""
    words, patience = ("--rooms", "sessions"), {"SENTINEL_MEMORY_LOCK_TIMEOUT_S": "1"}
    server, folder = start_server(*words, cwd=tmp_path, environment=patience), tmp_path / FOLDER
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
