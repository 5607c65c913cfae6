"""Tests what is said of the fragments' file, and that damage is repaired with the daily copy."""

import array
import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from core.config import FRAGMENTS_PLACE, Settings
from core.lessons.upkeep import Finding
from core.room.copies import copies_of, date_of
from core.room.database import DatabaseDamagedError, DatabaseError
from rooms.fragments.fragment import Embedding, Fragment, Link, Suspicion, Version, Wanted
from rooms.fragments.storage.sqlite import SqliteEngine, migrations
from rooms.fragments.upkeep.health import look
from tests.support.sentences import raised

SETTINGS = Settings(lock_timeout_s=5)
PAGE = 4096
DATE = "2026-05-01T10:00:00+00:00"
COUNT = 200


@pytest.fixture
def place(tmp_path: Path) -> Mapping[str, str]:
    return {FRAGMENTS_PLACE: str(tmp_path / "memory.db")}


@pytest.fixture
def engine(tmp_path: Path, made: Path) -> SqliteEngine:
    """Two hundred fragments with links, versions and vectors; one is in the bin."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return SqliteEngine(tmp_path / "memory.db", timeout_s=5)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with their database."""
    directory = tmp_path_factory.mktemp("made")
    engine = SqliteEngine(directory / "memory.db", timeout_s=60)
    with engine.writing() as writing:
        added = writing.add([
            Fragment(id=f"f{at:03}", content=f"word{at} " + "zebra " * 100, topic=f"t{at % 5}",
                     keywords=("kay", "stripes"), created_at=DATE)
            for at in range(COUNT)
        ])  # fmt: skip
        writing.put_links(
            [
                Link(from_id=f"f{at:03}", to_id=f"f{at + 1:03}", created_at=DATE)
                for at in range(COUNT - 1)
            ]
        )
        writing.note(
            [Version(fragment_id=it.id, content="before", amended_at=DATE) for it in added]
        )
        writing.note([Suspicion(first_id="f001", second_id="f002", similarity=0.5, found_at=DATE)])
        vector = array.array("f", (0.6, 0.8)).tobytes()
        writing.put_vectors([Embedding(it.number, vector) for it in added])
        writing.set_state({"model": "m"})
        writing.touch([added[0].number], {"deleted_at": DATE, "deletion": "forgotten"})
    close(engine)
    return directory


def close(engine: SqliteEngine) -> None:
    engine.close()
    with closing(sqlite3.connect(engine.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


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


def spoil(path: Path, text: str) -> int:
    """Fill the pages of rows that hold this text; return how many there are."""
    data, spoilt = bytearray(path.read_bytes()), 0
    for start in range(PAGE, len(data), PAGE):
        if data[start] == 13 and text.encode() in data[start : start + PAGE]:
            data[start : start + PAGE] = b"\xee" * PAGE
            spoilt += 1
    path.write_bytes(data)
    return spoilt


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
@pytest.mark.row("002 2.96")
def test_the_daily_copy_comes_back_and_the_damaged_file_stays(
    engine: SqliteEngine, place: Mapping[str, str]
) -> None:
    engine.keep_copy()
    [copy] = copies_of(engine.path)
    with engine.writing() as writing:
        writing.add([Fragment(id="lost", content="later", created_at=DATE)])
    close(engine)
    assert spoil(engine.path, "word120 zebra")
    before = engine.path.read_bytes()
    assert kinds(place) == [("damaged", "error", True)]
    assert wrong(place)[0].facts["copy"] == date_of(copy)
    with pytest.raises(DatabaseDamagedError) as caught, engine.reading() as reading:
        reading.find(Wanted())
    assert f"There is a daily copy of {date_of(copy)}" in str(caught.value)
    told = mended(place)
    aside = Path(str(told["aside"]))
    assert aside.read_bytes() == before and aside.name.startswith("memory.db.damaged-2")
    assert told["copy"] == date_of(copy)
    assert kinds(place) == [("aside", "note", False)]
    with engine.reading() as reading:
        assert reading.count(Wanted(state="all")) == {"": COUNT}
        assert reading.count(Wanted(state="bin")) == {"": 1}
        assert len(reading.find(Wanted(keywords=("stripes",)))) == COUNT - 1
        assert reading.holding("word120", 9).shares(0.25)
        assert len(reading.near(array.array("f", (1.0, 0.0)).tobytes(), Wanted(), 500)) == COUNT - 1
        assert [it.first_id for it in reading.entries(Suspicion)] == ["f001"]
        assert reading.state() == {"model": "m"}
    with engine.writing() as writing:
        [it] = writing.add([Fragment(id="new", content="new", created_at=DATE)])
    assert it.number == COUNT + 1


def test_a_file_without_a_copy_begins_anew_beside_what_was_there(
    engine: SqliteEngine, place: Mapping[str, str]
) -> None:
    engine.path.write_bytes(b"no database " * 900)
    assert kinds(place) == [("damaged_alone", "error", True)]
    told = mended(place)
    assert (told["copy"], Path(str(told["aside"])).read_bytes()[:11]) == ("", b"no database")
    with engine.writing() as writing:
        writing.add([Fragment(id="new", content="new", created_at=DATE)])


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
