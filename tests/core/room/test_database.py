"""Tests the database: an acknowledged write is there, and an unusable file is reported."""

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.errors import WaitEndedError
from core.program import Cancellation
from core.room.database import Database, DatabaseBusyError, DatabaseError, DatabaseWaitEndedError
from tests.core.room import conftest as notes
from tests.support.faults import Child
from tests.support.sentences import raised

TWO = (*notes.ONE, ("ALTER TABLE notes ADD COLUMN kind TEXT DEFAULT 'plain'",))
ANEW = (
    *("ALTER TABLE notes RENAME TO former", "CREATE TABLE notes (text TEXT PRIMARY KEY)"),
    *("INSERT INTO notes SELECT text FROM former", "DROP TABLE former"),
)
MOST_LOOKS = 10  # at whether a wait is to end; one that goes on looks several times a second
Spoil = Callable[[Path], Any]


@pytest.mark.row("003 T3", "004 4.17")
def test_reading_creates_nothing_and_a_write_a_file(path: Path, opened: notes.Opened) -> None:
    def is_nothing() -> bool:
        with opened().reading() as connection:
            return connection is None

    assert is_nothing() and list(path.parent.iterdir()) == []
    path.parent.rmdir()
    assert is_nothing()
    with raised(DatabaseError, "write"):
        notes.put(opened(), "one")
    assert not path.parent.exists()
    path.parent.mkdir()
    path.touch()
    assert is_nothing() and list(path.parent.iterdir()) == [path]
    notes.put(opened(), "one")
    assert notes.texts(opened()) == ["one"]
    for file in path.parent.iterdir():
        file.unlink()
    notes.put(opened(), "one")
    assert notes.from_outside(path, "SELECT text FROM notes") == [("one",)]
    assert notes.from_outside(path, "PRAGMA journal_mode") == [("wal",)]
    notes.from_outside(path, "CREATE TABLE bookmarks (text TEXT)")  # it stays, and does no harm
    assert notes.texts(opened()) == ["one"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_failed_write_leaves_nothing_and_a_reader_sees_one_state(opened: notes.Opened) -> None:
    database = opened()
    notes.put(database, "one")
    with raised(DatabaseError, "write"), database.writing() as connection:
        connection.execute("INSERT INTO notes VALUES ('two')")
        connection.execute("INSERT INTO nowhere VALUES (1)")
    for error in (OSError("theirs"), ValueError("theirs"), WaitEndedError(path="theirs")):
        with pytest.raises(type(error)) as caught, database.writing() as connection:
            connection.execute("INSERT INTO notes VALUES ('two')")
            raise error
        with pytest.raises(type(error)) as caught_too, database.reading():
            raise error
        assert caught.value is caught_too.value is error
    notes.put(database, "three")
    assert notes.texts(database) == ["one", "three"]
    with database.reading() as connection:
        assert connection is not None
        before = connection.execute("SELECT count(*) FROM notes").fetchone()
        notes.put(database, "four")
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == before
    assert notes.texts(database) == ["one", "three", "four"]


# versions


@pytest.mark.parametrize("code", ["SQLITE_IOERR_FSYNC", "SQLITE_IOERR_WRITE"])
def test_a_write_that_the_disk_did_not_confirm_is_not_said_to_be_undone(
    opened: notes.Opened, code: str
) -> None:
    failure = sqlite3.OperationalError("disk I/O error")
    failure.sqlite_errorcode = getattr(sqlite3, code)
    key = "unsynced" if code == "SQLITE_IOERR_FSYNC" else "write"
    with raised(DatabaseError, key), opened().writing():
        raise failure


def test_an_older_schema_is_brought_up_in_one_piece(path: Path, opened: notes.Opened) -> None:
    notes.put(opened(notes.ONE), "one")
    step = ("ALTER TABLE notes ADD COLUMN kind TEXT", "INSERT INTO nowhere VALUES (1)")
    broken = (*notes.ONE, step)
    with raised(DatabaseError, "write"):
        notes.put(opened(broken), "two")
    assert notes.from_outside(path, "PRAGMA user_version") == [(1,)]
    assert notes.texts(opened(notes.ONE)) == ["one"]
    with opened(TWO).reading() as connection:
        assert connection is not None
        assert list(connection.execute("SELECT * FROM notes")) == [("one", "plain")]
    assert notes.from_outside(path, "PRAGMA user_version") == [(2,)]
    assert notes.texts(opened((*TWO, ANEW))) == ["one"]
    assert notes.from_outside(path, "PRAGMA user_version") == [(3,)]


# other things in its place


def told(*statements: str, anew: bool = False) -> Spoil:
    """Another program runs these statements. anew: in a file of its own of this name."""

    def spoil(path: Path) -> None:
        if anew:
            path.unlink()
        notes.from_outside(path, *statements)

    return spoil


def written(change: Callable[[bytes], bytes]) -> Spoil:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def emptied_beside(suffix: str) -> Spoil:
    def spoil(path: Path) -> None:
        path.write_bytes(b"")
        Path(f"{path}{suffix}").write_bytes(b"all that was saved" * 99)

    return spoil


def a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def linked(suffix: str) -> Spoil:
    def spoil(path: Path) -> None:
        link = Path(f"{path}{suffix}")
        link.unlink(missing_ok=True)
        path.with_name("theirs").write_bytes(b"theirs")
        link.symlink_to("theirs")

    return spoil


ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t) SELECT n FROM t"
DELETING = "AFTER INSERT ON notes BEGIN DELETE FROM notes; END"
# A long one keeps every reader busy for ever.
COLUMN = "CREATE TABLE notes (text TEXT, more AS (replace(hex(zeroblob(9)), '0', text)))"
MARKS = (f"PRAGMA application_id = {notes.OURS}", "PRAGMA user_version = 1")
# the damage to the file, and the key of its sentence
PLACES: Mapping[str, tuple[Spoil, str]] = {
    "newer": (told("PRAGMA user_version = 99"), "newer"),
    "stolen": (told("PRAGMA application_id = 8"), "foreign"),
    "table": (told("CREATE TABLE theirs (a)", anew=True), "foreign"),
    "version": (told("PRAGMA user_version = 3", anew=True), "foreign"),
    "identity": (told("PRAGMA application_id = 8", anew=True), "foreign"),
    "view": (told(f"CREATE VIEW more AS {ENDLESS}"), "foreign"),
    "trigger": (told(f"CREATE TRIGGER more {DELETING}"), "foreign"),
    "column": (told(COLUMN, *MARKS, anew=True), "foreign"),
    "garbage": (written(lambda _: notes.DAMAGED), "damaged"),
    "half": (written(lambda data: data[: len(data) // 2]), "damaged"),
    "beginning": (written(lambda data: data[:100]), "damaged"),
    "header": (written(lambda data: b"SQLite format 4" + data[15:]), "damaged"),
    "page": (notes.without_a_page, "damaged"),
    "emptied": (emptied_beside("-wal"), "damaged"),
    "emptied and copied": (emptied_beside(".copy-20260101T000000Z"), "damaged"),
    "directory": (a_directory, "read"),
    **{f"link{it}": (linked(it), "link") for it in ("", "-wal", "-shm", "-journal")},
}


def state(folder: Path) -> dict[str, bytes | str]:
    """All files and links of a directory but those that SQLite makes for readers."""
    found: dict[str, bytes | str] = {}
    for path in folder.iterdir():
        if path.is_symlink():
            found[path.name] = os.readlink(path)
        elif path.is_file() and not (path.name.endswith("-shm") or path.name.endswith("-wal")):
            found[path.name] = path.read_bytes()
        elif path.is_dir() or (path.stat().st_size and path.name.endswith("-wal")):
            found[path.name] = ""
    return found


@pytest.mark.row("002 2.10.h", "003 T3.a")
@pytest.mark.parametrize("name", PLACES)
def test_an_unusable_file_is_said_and_stays(path: Path, opened: notes.Opened, name: str) -> None:
    spoil, key = PLACES[name]
    notes.filled(opened())
    spoil(path)
    before, database = state(path.parent), opened()
    with raised(DatabaseError, key) as caught:
        notes.texts(database)
    said = str(caught.value)
    assert str(path) in said and said.count("\n") == 0
    assert "Nothing was" in said or "Nothing in it was changed" in said
    assert "try again" in said or "doctor --fix" in said
    assert key != "link" or f"rm {path}{name.removeprefix('link')}" in said
    with pytest.raises(DatabaseError), database.writing():
        pytest.fail("it was taken for ours, or a new one was made in its place")
    assert state(path.parent) == before


def test_a_text_that_is_no_unicode_is_never_repeated(path: Path, opened: notes.Opened) -> None:
    notes.put(opened(), "one")
    notes.from_outside(path, "INSERT INTO notes VALUES (CAST(X'6d7920736563726574ff' AS TEXT))")
    with raised(DatabaseError, "damaged") as caught:
        notes.texts(opened())
    assert "a text is not UTF-8" in str(caught.value) and "my secret" not in str(caught.value)


# removed or replaced meanwhile


def test_a_file_removed_or_replaced_is_read_as_it_is_now(path: Path, opened: notes.Opened) -> None:
    database = opened()
    notes.put(database, "one")
    Path(f"{path}-wal").unlink()
    notes.put(database, "two")
    database.close()
    assert notes.texts(opened()) == ["one", "two"]
    database = opened()
    notes.put(database, "one")
    other = Database(path.with_name("other.db"), notes.ONE, application_id=notes.OURS, timeout_s=60)
    notes.put(other, "of the other")
    other.close()
    for file in path.parent.glob("data.db*"):
        file.unlink()
    with database.reading() as connection:
        assert connection is None
    notes.put(database, "two")
    assert notes.from_outside(path, "SELECT text FROM notes") == [("two",)]
    for file in path.parent.glob("data.db*"):
        file.unlink()
    path.with_name("other.db").rename(path)
    assert notes.texts(database) == ["of the other"]
    notes.put(database, "three")
    assert notes.texts(opened()) == ["of the other", "three"]
    with raised(DatabaseError, "moved") as caught, database.writing() as connection:
        connection.execute("INSERT INTO notes VALUES ('two')")
        for file in path.parent.iterdir():
            file.unlink()
        path.write_bytes(b"another file")
    assert "nothing was saved" in str(caught.value)
    assert path.read_bytes() == b"another file"


# waiting


@pytest.mark.parametrize("is_reader", [False, True])
def test_a_wait_is_no_longer_than_said(path: Path, opened: notes.Opened, is_reader: bool) -> None:
    """Readers wait, too, where another program keeps them out."""
    database = opened()
    notes.put(database, "one")
    database.close()
    if is_reader:
        notes.from_outside(path, "PRAGMA journal_mode = DELETE")
    act: Callable[[Database], Any] = notes.texts if is_reader else lambda it: notes.put(it, "two")
    patient = threading.Thread(target=act, args=(opened(timeout_s=600),))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE" if is_reader else "BEGIN IMMEDIATE")
        patient.start()
        began = time.monotonic()
        with pytest.raises(DatabaseBusyError) as caught:
            act(opened(timeout_s=0.4))
        assert time.monotonic() - began >= 0.4
        assert patient.is_alive()  # so the wait ended before this one
        assert "busy" in str(caught.value) and "Nothing was saved" in str(caught.value)
        if not is_reader:
            assert notes.texts(opened()) == ["one"]  # reading goes on
        other.execute("ROLLBACK")
    patient.join()
    assert notes.texts(opened()) == (["one"] if is_reader else ["one", "two"])


def test_a_cancelled_call_writes_nothing_and_waits_no_more(
    path: Path, opened: notes.Opened
) -> None:
    looks = list[bool]()

    def look() -> bool:
        looks.append(True)
        return True

    for cancellation in (Cancellation(is_ending=look), Cancellation(is_requested=look)):
        looks.clear()
        notes.put(opened(), "one")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(DatabaseWaitEndedError) as caught:
                notes.put(opened(cancellation=cancellation), "two")
        assert 1 <= len(looks) <= MOST_LOOKS
        assert isinstance(caught.value, WaitEndedError)
        assert "waited no longer" in str(caught.value)
        if cancellation.is_ending():
            notes.put(opened(cancellation=cancellation), "three")
    with pytest.raises(DatabaseWaitEndedError):
        notes.put(opened(cancellation=cancellation), "two")
    assert notes.texts(opened()) == ["one", "three", "one"]


def test_a_purge_leaves_no_byte_of_a_deleted_text(path: Path, opened: notes.Opened) -> None:
    database = opened()
    notes.put(database, "one", "a telling text " * 200)
    with database.writing() as connection:
        connection.execute("DELETE FROM notes WHERE text LIKE 'a telling%'")
    assert database.purge()
    left = b"".join(file.read_bytes() for file in path.parent.glob("data.db*"))
    assert b"telling" not in left and notes.texts(database) == ["one"]
    with opened(timeout_s=0.2).reading() as reader:
        assert reader is not None
        notes.put(database, "two")
        assert not opened(timeout_s=0.2).purge()  # that one still reads the state before


# threads and forks


@pytest.mark.long  # it costs much
def test_threads_write_and_read_without_undoing_each_other(opened: notes.Opened) -> None:
    database = opened(timeout_s=600.0)

    def work(number: int) -> None:
        for turn in range(25):
            notes.put(database, f"{number}/{turn}")
            assert f"{number}/{turn}" in notes.texts(database)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    saved = sorted(f"{number}/{turn}" for number in range(6) for turn in range(25))
    assert sorted(notes.texts(database)) == saved


def test_a_forked_process_uses_no_connection_of_its_parent(opened: notes.Opened) -> None:
    database = opened()
    with database.writing() as of_parent:
        of_parent.execute("INSERT INTO notes VALUES ('one')")

    def work(_: object) -> str:
        with database.reading() as connection:
            assert connection is not of_parent
        notes.put(database, "of the child")
        return ",".join(notes.texts(database))

    with Child(work) as child:
        assert child.end() == (0, "one,of the child")
    notes.put(database, "two")
    assert notes.texts(database) == ["one", "of the child", "two"]
