"""Tests that a file of an earlier version is brought up to date, with all that it has."""

import sqlite3
from contextlib import closing
from pathlib import Path

from rooms.fragments.fragment import Activity, ToolFeedback
from rooms.fragments.sqlite.adapter import SqliteEngine
from rooms.fragments.sqlite.schema import APPLICATION_ID, MIGRATIONS

DATE = "2026-05-01T10:00:00+00:00"


def test_feedback_and_sessions_of_one_become_those_of_an_agent(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        given = (DATE, DATE)
        connection.execute(
            "INSERT INTO activities VALUES ('s', 'alice', ?, ?, 3, 1, '', '')", given
        )
        connection.execute(
            "INSERT INTO tool_feedback (tool_name, relevant, sufficient, created_at)"
            " VALUES ('recall', 1, 0, ?)",
            (DATE,),
        )
    engine = SqliteEngine(path, timeout_s=5)
    alice = Activity(session_id="s", agent="alice", started_at=DATE, last_at=DATE, calls=3,
                     written=1)  # fmt: skip
    bob = Activity(session_id="s", agent="bob", started_at=DATE, last_at=DATE)
    with engine.reading() as reading:
        assert reading.entries(Activity) == [alice]
        assert reading.entries(ToolFeedback) == [
            ToolFeedback(tool_name="recall", relevant=True, sufficient=False, created_at=DATE)
        ]
    with engine.writing() as writing:
        writing.note([bob])
        assert writing.entries(Activity, of="s") == [alice, bob]
    engine.close()
