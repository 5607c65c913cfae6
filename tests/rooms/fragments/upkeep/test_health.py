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
from rooms.fragments.fragment import Embedding
from rooms.fragments.room import Room
from rooms.fragments.storage.sqlite import migrations
from rooms.fragments.upkeep.health import look
from tests.support.fragments_room import add, stored
from tests.support.sentences import raised

SETTINGS = Settings(lock_timeout_s=5)
COUNT = 20


@pytest.fixture
def place(tmp_path: Path) -> Mapping[str, str]:
    return {FRAGMENTS_PLACE: str(tmp_path / "memory.db")}


@pytest.fixture
def path(room: Room) -> Path:
    """The file of some fragments with vectors; one is in the bin."""
    added = add(room, *(f"word{at} zebra" for at in range(COUNT)))
    vector = array.array("f", (0.6, 0.8)).tobytes()
    with room.engine.writing() as rows:
        rows.put_vectors([Embedding(it.number, vector) for it in added])
        rows.touch([added[0].number], {"deleted_at": room.clock(), "deletion": "forgotten"})
    room.engine.close()
    return room.config.path


def wrong(place: Mapping[str, str]) -> list[Finding]:
    return [it for it in look(SETTINGS, place) if it.severity != "ok"]


def kinds(place: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    prefix = "fragments.health."
    return [(it.kind.removeprefix(prefix), it.severity, it.fixable) for it in wrong(place)]


def mend(place: Mapping[str, str]) -> None:
    """Repair the only thing that is wrong."""
    [finding] = (it for it in wrong(place) if it.fix)
    assert finding.fix
    finding.fix()


def test_where_nothing_was_ever_saved_there_is_nothing_to_say(
    tmp_path: Path, place: Mapping[str, str]
) -> None:
    assert look(SETTINGS, place) == []
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_well_says_how_many_and_how_large(
    path: Path, place: Mapping[str, str]
) -> None:
    before = path.read_bytes()
    [well] = look(SETTINGS, place)
    counts = {"count": COUNT - 1, "in_bin": 1, "schema": len(migrations()), "agents": 0}
    file = {"path": str(path), "bytes": len(before), "mode": "600", "engine": ""}
    assert (well.severity, well.facts) == ("ok", counts | file)
    assert path.read_bytes() == before


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("statement", [
    "UPDATE fragments SET content = 'a walrus' WHERE id = 'f7'",
    "UPDATE fragments SET deleted_at = '2026-05-01T10:00:00+00:00' WHERE id = 'f7'",
    "DELETE FROM fragments WHERE id = 'f7'",
    "DELETE FROM fragments_fts WHERE rowid = 8",
])  # fmt: skip
def test_an_index_out_of_step_is_noticed_and_made_anew(
    room: Room, path: Path, place: Mapping[str, str], statement: str
) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    assert kinds(place) == [("index", "warning", True)]
    mend(place)
    assert kinds(place) == []
    with room.engine.reading() as reading:
        having = reading.holding("word7", 99).shares(0.25)
    is_found = any(it.is_live and "word7" in it.content for it in stored(room, "f7"))
    assert (8 in having) == is_found


@pytest.mark.skipif(os.name == "nt", reason="modes as POSIX has them")
def test_a_file_that_others_may_read_is_made_the_users_own_and_vectors_of_several_lengths_named(
    room: Room, path: Path, place: Mapping[str, str]
) -> None:
    path.chmod(0o644)
    assert kinds(place) == [("mode", "warning", True)]
    mend(place)
    assert path.stat().st_mode & 0o777 == 0o600
    assert kinds(place) == []
    with room.engine.writing() as writing:
        writing.put_vectors([Embedding(3, array.array("f", (1.0,)).tobytes())])
    assert kinds(place) == [("vectors", "warning", False)]
    assert wrong(place)[0].facts["lengths"] == f"2 ({COUNT - 1}), 1 (1)"


def test_a_place_that_is_no_path_and_a_foreign_file_are_said(
    tmp_path: Path, place: Mapping[str, str]
) -> None:
    assert kinds({FRAGMENTS_PLACE: "here.db"}) == [("config", "error", False)]
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    (tmp_path / "memory.db").chmod(0o600)
    assert kinds(place) == [("unusable", "error", False)]


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="needs permissions that hold")
def test_a_repair_that_may_not_write_says_so(path: Path, place: Mapping[str, str]) -> None:
    path.write_bytes(b"no database " * 900)
    path.parent.chmod(0o500)
    try:
        with raised(DatabaseError, "not_mended"):
            mend(place)
    finally:
        path.parent.chmod(0o700)
