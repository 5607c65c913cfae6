"""Tests the ways of a file alone: rows of other programs and versions, vectors multiplied here."""

import array
import math
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.room.database import rows_of
from rooms.fragments import fragment
from rooms.fragments.fragment import Query
from rooms.fragments.recall import recall
from rooms.fragments.room import Room
from rooms.fragments.storage.columns import FRAGMENTS, UNKNOWN_MOMENT
from rooms.fragments.storage.rows import INDEX_STATE
from rooms.fragments.storage.sqlite import SqliteEngine, SqliteRows, Vectors, migrations
from rooms.fragments.versions import promote
from tests.support.fragments_room import Clock, a_room
from tests.support.tables import DATA, table

DATE = "2026-05-01T10:00:00+00:00"
RECORD = "0123456789abcdef@123abc"
VALUES = ("''", "'text'", "x'ff00'", "-1", "9e999", "1e30", "'[1, \"a\", null]'", "'2026-05-01'",
          "char(0)", "9223372036854775807")  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> SqliteEngine:
    engine = SqliteEngine(tmp_path / "memory.db", timeout_s=60)
    add_one(engine)
    return engine


def add_one(engine: SqliteEngine) -> None:
    with engine.writing() as rows:
        rows.add([fragment.Fragment(id="f", content="a zebra", keywords=("k",), created_at=DATE)])
        rows.put_links([fragment.Link(from_id="f", to_id="g")])


def change(engine: SqliteEngine, statement: str) -> None:
    """Change the database as another program does."""
    with closing(sqlite3.connect(engine.path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.10.c")
@pytest.mark.parametrize("column", sorted({*FRAGMENTS.columns.values()} - {"number", "id"}))
def test_every_verb_goes_on_with_any_value_in_a_column(engine: SqliteEngine, column: str) -> None:
    for value in VALUES:
        change(engine, f"UPDATE fragments SET {column} = {value}")
        with engine.writing() as rows:
            [it] = rows.find(fragment.Filter(state="all"), order="worth")
            assert 0 <= it.importance <= 1 and isinstance(it.keywords, tuple)
            assert isinstance(it.access_count, int) and isinstance(it.is_anchor, bool)
            assert {*map(type, (it.content, it.topic, it.source, it.agent))} == {str}
            assert min(it.created_at, it.used_at) >= UNKNOWN_MOMENT
            rows.replace([it])
            rows.set_fields([it.number], {"access_count": 1})
            assert rows.drop(["f"]) == 1
        add_one(engine)


def test_a_list_that_is_none_and_words_that_are_none(engine: SqliteEngine) -> None:
    words = "type = 'x', lifetime = 'x', ttl_tier = 'x', privacy_scope = 'x', created_at = 'x'"
    change(engine, f"UPDATE fragments SET {words}, keywords = '{{[', importance = 7")
    change(engine, "UPDATE fragment_links SET relation_type = 'x', created_at = 'x'")
    with engine.reading() as rows:
        [it] = rows.find(fragment.Filter())
        read = (it.keywords, it.kind, it.lifetime, it.tier, it.privacy, it.importance)
        assert read == ((), "fact", "semantic", "warm", "private", 1.0)
        assert it.created_at == UNKNOWN_MOMENT
        [link] = rows.links(["f"])
        assert (link.relation, link.created_at) == ("related", UNKNOWN_MOMENT)


def test_an_index_that_another_program_has_left_behind_is_made_anew(engine: SqliteEngine) -> None:
    def coverage(rows: Any, word: str) -> int:
        return len(rows.coverage(word, 9).shares(0.25))

    zebras = [fragment.Fragment(id=f"g{at}", content="a zebra", created_at=DATE) for at in "123"]
    with engine.writing() as rows:
        rows.add(zebras)
        assert not rows.mend_index()
    change(engine, "UPDATE fragments SET content = 'walrus walrus walrus' WHERE id = 'g2'")
    with engine.writing() as rows:
        assert rows.drop(["f", "g1", "g2"]) == 3
    with engine.reading() as rows:
        assert (coverage(rows, "zebra"), coverage(rows, "walrus")) == (1, 0)
    change(engine, "UPDATE fragments SET content = 'walrus' WHERE id = 'g3'")
    with engine.writing() as rows:
        assert rows.mend_index() and not rows.mend_index()
        assert coverage(rows, "walrus") == 1
    change(engine, "UPDATE state SET value = 'of another version' WHERE name = 'index'")
    change(engine, "DELETE FROM fragments_fts")
    with engine.writing() as rows:
        assert coverage(rows, "walrus") == 1


# A file of version 1, made by the program of then, and the answers of that program over it.
_OF_VERSION_1, _ANSWERED = "fragments_version_1.sql", "fragments_version_1"
_NOW = "2026-05-03T10:00:00+00:00"  # when it was asked
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '*_fts*'"


def contents(path: Path) -> tuple[dict[str, list[dict[str, Any]]], set[tuple[str, str]]]:
    """The rows of each table, but for the number of the index; and the schema."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute(_TABLES)]
        rows = {name: list(rows_of(connection, name)) for name in tables}
        schema = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        made = {*schema.fetchall()}
    rows["state"] = [it for it in rows["state"] if it["name"] != INDEX_STATE]
    return {name: sorted(some, key=repr) for name, some in rows.items()}, made


def answers(room: Room, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answer to each question, in the form of the recording."""
    told = []
    for query in (it["query"] for it in asked):
        given: Any = {key: tuple(it) if key == "keywords" else it for key, it in query.items()}
        found = recall(room, Query(**given), count=lambda *_: None)
        linked = [it.fragment.id for it in found.linked]
        told.append({"query": query, "found": [it.id for it in found.fragments], "linked": linked})
    return told


@pytest.mark.parametrize("version", range(1, len(migrations())))
def test_a_file_of_each_version_before_is_upgraded_with_its_data_and_answers_alike(
    version: int, tmp_path: Path
) -> None:
    room, new = (a_room(tmp_path / it, clock=Clock(_NOW)) for it in ("old", "new"))
    room.config.path.parent.mkdir()
    with closing(sqlite3.connect(room.config.path)) as connection:  # one of this version
        connection.executescript((DATA / _OF_VERSION_1).read_text(encoding="utf-8"))
        for statement in chain.from_iterable(migrations()[1:version]):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    (before, _), recorded = contents(room.config.path), table(_ANSWERED)
    assert all(before[it] for it in before.keys() - {"sqlite_sequence"})  # each table has rows
    assert answers(room, recorded) == recorded  # by the index of then
    for each in (room, new):
        with each.engine.writing():
            pass
    assert answers(room, recorded) == recorded
    after, made = contents(room.config.path)
    for name, rows in before.items():
        columns = rows[0].keys()
        kept = [{column: row[column] for column in columns} for row in after[name]]
        assert sorted(kept, key=repr) == rows, name
    assert after.keys() == before.keys()
    assert made == contents(new.config.path)[1]
    with room.engine.writing() as rows_now:
        [activity], [of_tool], [of_task] = (
            rows_now.entries(it)
            for it in (fragment.Activity, fragment.ToolFeedback, fragment.TaskFeedback)
        )
        assert (activity.agent, of_tool.agent, of_task.agent) == ("kim", "default", "default")
        theirs = replace(activity, agent="lee")  # another agent's session of this name
        rows_now.put_entries([theirs])
        of_session = rows_now.entries(fragment.Activity, subject=activity.session_id)
        assert of_session == [activity, theirs]
    [lesson, *_] = recorded[0]["found"]
    assert promote(room, lesson, RECORD).promoted == RECORD
    room.engine.close()
    new.engine.close()


PLANS: dict[str, tuple[fragment.Filter, dict[str, Any], str]] = {
    "what says the same": (
        fragment.Filter(agents=("a",), content_hash="h", state="all"),
        {},
        "_hash (agent_id=? AND content_hash=?)",
    ),
    "the best": (fragment.Filter(agents=("a",)), {"order": "worth", "limit": 9}, "_worth"),
    "the newest": (fragment.Filter(since="2026-05", state="all"), {"order": "newest"}, "_created"),
    "a topic": (fragment.Filter(topics=("t",)), {}, "_topic"),
    "chosen ones": (fragment.Filter(numbers=(1, 2), state="all"), {}, "PRIMARY KEY"),
    "a keyword": (fragment.Filter(keywords=("k",), state="all"), {}, "fragment_keywords"),
}


@pytest.mark.row("002 2.13.b", "002 2.13.e")
@pytest.mark.parametrize("case", PLANS)
def test_a_question_that_has_an_index_is_answered_by_it(engine: SqliteEngine, case: str) -> None:
    plans = list[str]()

    class Watched(SqliteRows):
        """Rows that tell how SQLite means to answer."""

        def run(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
            bound = list(values)
            found = self._connection.execute(f"EXPLAIN QUERY PLAN {statement}", bound)
            plans.extend(row[3] for row in found)
            return super().run(statement, bound)

    wanted, how, index = PLANS[case]
    with engine.database.reading() as connection:
        assert connection is not None
        rows = Watched(connection)
        _ = rows.find(wanted, **how) if how else rows.count(wanted)
    assert index in "\n".join(plans)


# Vectors.

with_numpy = pytest.mark.skipif(find_spec("numpy") is None, reason="needs numpy")


def a_vector(*numbers: float) -> bytes:
    return array.array("f", numbers).tobytes()


@contextmanager
def coverage(vectors: Iterable[tuple[int, Any]]) -> Iterator[sqlite3.Connection]:
    """A database of these vectors, by number."""
    put = "INSERT INTO fragment_vectors (number, embedding) VALUES (?, ?)"
    with closing(sqlite3.connect(":memory:")) as connection:
        [table] = [it for it in migrations()[0] if it.startswith("CREATE TABLE fragment_vectors")]
        connection.execute(table)
        connection.executemany(put, vectors)
        yield connection


@pytest.mark.row("002 2.14", "004 4.10")
@with_numpy
@given(
    st.lists(st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4).map(
        lambda it: a_vector(*(one / (math.hypot(*it) or 1.0) for one in it))), min_size=1,
        max_size=40),
    st.integers(1, 6), st.sets(st.integers(1, 40)),
)  # fmt: skip
def test_numpy_and_python_say_the_same(vectors: list[bytes], most: int, allowed: set[int]) -> None:
    with coverage(enumerate(vectors, 1)) as connection:
        by_numpy, by_python = (
            Vectors(uses_numpy=uses).nearest_cosines(connection, 1, vectors[0], allowed, most)
            for uses in (True, False)
        )
    assert [number for number, _ in by_numpy] == [number for number, _ in by_python]
    for (_, one), (_, other) in zip(by_numpy, by_python, strict=True):
        assert one == pytest.approx(other, abs=2e-6)


@pytest.mark.parametrize("uses_numpy", [False, pytest.param(True, marks=with_numpy)])
def test_bytes_that_are_no_vector_of_this_length_are_passed_over(uses_numpy: bool) -> None:
    none = [a_vector(1.0), a_vector(math.nan, 1.0), a_vector(math.inf, 0.0), "1234 678", b"odd"]
    every = [a_vector(0.6, 0.8), *none, b"", a_vector(1.0, 0.0, 0.0)]
    vectors, allowed = Vectors(uses_numpy=uses_numpy), range(1, 10)
    with coverage(enumerate(every, 1)) as connection:
        for asked, expected in (
            (a_vector(0.0, 1.0), [(1, 0.8)]),
            (a_vector(math.nan, 1.0), []),
            (a_vector(1.0), [(2, 1.0)]),  # another model's
            (a_vector(0.0, 1.0), [(1, 0.8)]),
        ):
            assert vectors.nearest_cosines(connection, 1, asked, allowed, 9) == expected


def test_a_file_that_took_the_place_of_another_is_read_anew(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "memory.db", timeout_s=5)
    for cosines in ((1.0, 0.0), (0.0, 1.0)):
        other = SqliteEngine(tmp_path / "other" / "memory.db", timeout_s=5)
        with other.writing() as rows:
            [it] = rows.add([fragment.Fragment(id="f", content="c", created_at=DATE)])
            rows.put_vectors([fragment.Embedding(it.number, a_vector(*cosines))])
        assert other.purge()
        other.close()
        for name in ("-wal", "-shm"):
            Path(f"{engine.path}{name}").unlink(missing_ok=True)
        other.path.replace(engine.path)
        with engine.reading() as rows:
            nearest = rows.nearest_cosines(a_vector(1.0, 0.0), fragment.Filter(), 5)
        assert nearest == [(1, cosines[0])]


def test_a_vector_that_was_never_kept_is_near_to_nothing(engine: SqliteEngine) -> None:
    def nearest() -> list[tuple[int, float]]:
        with engine.reading() as rows:
            return rows.nearest_cosines(a_vector(1.0, 0.0), fragment.Filter(), 5)

    with engine.writing() as rows:
        [it] = rows.add([fragment.Fragment(id="new", content="c", created_at=DATE)])
        rows.put_vectors([fragment.Embedding(it.number, a_vector(1.0, 0.0))])
    assert nearest() == [(it.number, 1.0)]
    with pytest.raises(KeyError), engine.writing() as rows:
        rows.put_vectors([fragment.Embedding(it.number, a_vector(0.0, 1.0))])
        assert rows.nearest_cosines(a_vector(1.0, 0.0), fragment.Filter(), 5) == [(it.number, 0.0)]
        raise KeyError
    assert nearest() == [(it.number, 1.0)]
