"""Tests that rows of another program or an earlier version are read as something that works."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rooms.fragments.fragment import Activity, Fragment, Link, ToolFeedback, Wanted
from rooms.fragments.storage.columns import FRAGMENTS, UNKNOWN_MOMENT
from rooms.fragments.storage.sqlite import APPLICATION_ID, SqliteEngine, migrations

DATE = "2026-05-01T10:00:00+00:00"
VALUES = ("''", "'text'", "x'ff00'", "-1", "9e999", "1e30", "'[1, \"a\", null]'", "'2026-05-01'",
          "char(0)", "9223372036854775807")  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> SqliteEngine:
    engine = SqliteEngine(tmp_path / "memory.db", timeout_s=60)
    add_one(engine)
    return engine


def add_one(engine: SqliteEngine) -> None:
    with engine.writing() as writing:
        writing.add([Fragment(id="f", content="a zebra", keywords=("k",), created_at=DATE)])
        writing.put_links([Link(from_id="f", to_id="g")])


def change(engine: SqliteEngine, statement: str) -> None:
    """Change the database as another program does."""
    with closing(sqlite3.connect(engine.path)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.10.c")
@pytest.mark.parametrize(
    "column", [it for it in FRAGMENTS.columns.values() if it not in ("number", "id")]
)
def test_whatever_a_column_holds_every_verb_goes_on(engine: SqliteEngine, column: str) -> None:
    for value in VALUES:
        change(engine, f"UPDATE fragments SET {column} = {value}")
        check_every_verb(engine)
        add_one(engine)


def check_every_verb(engine: SqliteEngine) -> None:
    with engine.writing() as writing:
        [it] = writing.find(Wanted(state="all"), order="worth")
        assert 0 <= it.importance <= 1 and isinstance(it.keywords, tuple)
        assert isinstance(it.access_count, int) and isinstance(it.is_anchor, bool)
        assert {*map(type, (it.content, it.topic, it.source, it.agent))} == {str}
        for moment in (it.created_at, it.used_at):
            assert moment >= UNKNOWN_MOMENT
        writing.replace([it])
        writing.touch([it.number], {"access_count": 1})
        assert writing.drop(["f"]) == 1


def test_a_list_that_is_none_and_words_that_are_none(engine: SqliteEngine) -> None:
    words = "type = 'x', lifetime = 'x', ttl_tier = 'x', privacy_scope = 'x', created_at = 'x'"
    change(engine, f"UPDATE fragments SET {words}, keywords = '{{[', importance = 7")
    change(engine, "UPDATE fragment_links SET relation_type = 'x', created_at = 'x'")
    with engine.reading() as reading:
        [it] = reading.find(Wanted())
        told = (it.keywords, it.kind, it.lifetime, it.tier, it.privacy, it.importance)
        assert told == ((), "fact", "semantic", "warm", "private", 1.0)
        assert it.created_at == UNKNOWN_MOMENT
        [link] = reading.links(["f"])
        assert (link.relation, link.created_at) == ("related", UNKNOWN_MOMENT)


def test_an_index_that_another_program_has_left_behind_is_made_anew(engine: SqliteEngine) -> None:
    with engine.writing() as writing:
        writing.add([Fragment(id=f"g{at}", content="a zebra", created_at=DATE) for at in "123"])
    change(engine, "UPDATE fragments SET content = 'walrus walrus walrus' WHERE id = 'g2'")
    with engine.writing() as writing:
        assert writing.drop(["f", "g1", "g2"]) == 3
    with engine.reading() as reading:
        assert len(reading.holding("zebra", 9).shares(0.25)) == 1
        assert not reading.holding("walrus", 9).shares(0.25)


def test_feedback_and_sessions_of_one_become_those_of_an_agent(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in migrations()[0]:
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
