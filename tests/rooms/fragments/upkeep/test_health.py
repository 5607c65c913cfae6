"""Tests what is said of the fragments' file, and what a repair does to it."""

import array
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from core.config import FRAGMENTS_PLACE, Settings
from core.lessons.upkeep import Finding
from core.room.database import DatabaseError
from rooms.fragments.fragment import Embedding, Fragment
from rooms.fragments.storage.sqlite import SqliteEngine, migrations
from rooms.fragments.upkeep.health import look
from tests.support.sentences import raised

SETTINGS = Settings(lock_timeout_s=5)
DATE = "2026-05-01T10:00:00+00:00"
COUNT = 20


@pytest.fixture
def place(tmp_path: Path) -> Mapping[str, str]:
    return {FRAGMENTS_PLACE: str(tmp_path / "memory.db")}


@pytest.fixture
def engine(tmp_path: Path) -> SqliteEngine:
    """Some fragments with vectors; one is in the bin."""
    engine = SqliteEngine(tmp_path / "memory.db", timeout_s=5)
    with engine.writing() as rows:
        added = rows.add(
            [
                Fragment(id=f"f{at:03}", content=f"word{at} zebra", created_at=DATE)
                for at in range(COUNT)
            ]
        )
        vector = array.array("f", (0.6, 0.8)).tobytes()
        rows.put_vectors([Embedding(it.number, vector) for it in added])
        rows.touch([added[0].number], {"deleted_at": DATE, "deletion": "forgotten"})
    engine.close()
    return engine


def change(engine: SqliteEngine, statement: str) -> None:
    with closing(sqlite3.connect(engine.path)) as connection:
        connection.execute(statement)
        connection.commit()


def wrong(place: Mapping[str, str]) -> list[Finding]:
    return [it for it in look(SETTINGS, place) if it.severity != "ok"]


def kinds(place: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    prefix = "fragments.health."
    return [(it.kind.removeprefix(prefix), it.severity, it.fixable) for it in wrong(place)]


def mended(place: Mapping[str, str]) -> Mapping[str, object]:
    """Repair the only thing that is wrong; what is said of it."""
    [finding] = (it for it in wrong(place) if it.fix)
    assert finding.fix
    return finding.fix() or {}


def test_where_nothing_was_ever_saved_there_is_nothing_to_say(
    tmp_path: Path, place: Mapping[str, str]
) -> None:
    assert look(SETTINGS, place) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long  # it costs much
def test_a_database_that_is_well_says_how_many_and_how_large(
    engine: SqliteEngine, place: Mapping[str, str]
) -> None:
    before = engine.path.read_bytes()
    [well] = look(SETTINGS, place)
    counts = {"count": COUNT - 1, "in_bin": 1, "schema": len(migrations()), "agents": 0}
    file = {"path": str(engine.path), "bytes": len(before), "mode": "600", "engine": ""}
    assert (well.severity, well.facts) == ("ok", counts | file)
    assert engine.path.read_bytes() == before


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("statement", [
    "UPDATE fragments SET content = 'a walrus' WHERE id = 'f007'",
    "UPDATE fragments SET deleted_at = '2026-05-01T10:00:00+00:00' WHERE id = 'f007'",
    "DELETE FROM fragments WHERE id = 'f007'",
    "DELETE FROM fragments_fts WHERE rowid = 8",
])  # fmt: skip
def test_an_index_out_of_step_is_noticed_and_made_anew(
    engine: SqliteEngine, place: Mapping[str, str], statement: str
) -> None:
    change(engine, statement)
    assert kinds(place) == [("index", "warning", True)]
    mended(place)
    assert kinds(place) == []
    with engine.reading() as reading:
        having = reading.holding("word7", 99).shares(0.25)
        stored = reading.by_ids(["f007"])
        is_found = bool(stored and stored[0].is_live and "word7" in stored[0].content)
        assert (8 in having) == is_found


@pytest.mark.skipif(os.name == "nt", reason="modes as POSIX has them")
def test_a_file_that_others_may_read_is_made_the_users_own(
    engine: SqliteEngine, place: Mapping[str, str]
) -> None:
    engine.path.chmod(0o644)
    assert kinds(place) == [("mode", "warning", True)]
    mended(place)
    assert engine.path.stat().st_mode & 0o777 == 0o600
    assert kinds(place) == []


def test_vectors_of_several_lengths_are_named(
    engine: SqliteEngine, place: Mapping[str, str]
) -> None:
    with engine.writing() as writing:
        writing.put_vectors([Embedding(3, array.array("f", (1.0,)).tobytes())])
    assert kinds(place) == [("vectors", "warning", False)]
    assert wrong(place)[0].facts["lengths"] == f"2 ({COUNT - 1}), 1 (1)"


def test_a_place_that_is_no_path_and_a_foreign_file_are_said(tmp_path: Path) -> None:
    assert kinds({FRAGMENTS_PLACE: "here.db"}) == [("config", "error", False)]
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    (tmp_path / "theirs.db").chmod(0o600)
    place = {FRAGMENTS_PLACE: str(tmp_path / "theirs.db")}
    assert kinds(place) == [("unusable", "error", False)]


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="needs permissions that hold")
def test_a_repair_that_may_not_write_says_so(
    engine: SqliteEngine, place: Mapping[str, str]
) -> None:
    engine.path.write_bytes(b"no database " * 900)
    engine.path.parent.chmod(0o500)
    try:
        with raised(DatabaseError, "not_mended"):
            mended(place)
    finally:
        engine.path.parent.chmod(0o700)
