"""Tests the database: what is acknowledged is there, and all that is not usable is said."""

import contextlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import WaitEndedError
from core.program import Cancellation
from core.room.database import (
    Database,
    DatabaseBusyError,
    DatabaseDamagedError,
    DatabaseError,
    DatabaseWaitEndedError,
)
from tests.support.faults import Child
from tests.support.sentences import raised
from tests.support.stdio_client import bound_by_permissions

ONE = (("CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('first')"),)
TWO = (*ONE, ("ALTER TABLE notes ADD COLUMN kind TEXT DEFAULT 'plain'",))
OURS = 7
MOST_LOOKS = 10  # at whether a wait is to end; one that goes on looks several times a second
posix = pytest.mark.skipif(os.name == "nt", reason="files and users as POSIX has them")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[..., Database]]:
    with contextlib.ExitStack() as kept:

        def make(migrations: object = ONE, **more: object) -> Database:
            settings = {"application_id": OURS, "timeout_s": 60.0, **more}
            database = Database(path, migrations, **settings)  # type: ignore[arg-type]
            kept.callback(database.close)
            return database

        yield make


Opened = Callable[..., Database]


def put(database: Database, text: str) -> None:
    with database.writing() as connection:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))


def texts(database: Database) -> list[str]:
    with database.reading() as connection:
        assert connection is not None
        return [text for (text,) in connection.execute("SELECT text FROM notes")]


def from_outside(path: Path, statement: str) -> list[tuple[object, ...]]:
    """What a plain connection of another program gets."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).fetchall()


def refused(database: Database, *, writes: bool = True) -> DatabaseError:
    """Why neither a read nor, unless said otherwise, a write is possible."""
    with pytest.raises(DatabaseError) as caught, database.reading():
        pass
    if writes:
        with pytest.raises(type(caught.value)):
            put(database, "more")
    return caught.value


def test_reading_what_is_not_there_creates_nothing(path: Path, opened: Opened) -> None:
    with opened().reading() as connection:
        assert connection is None
    assert os.listdir(path.parent) == []


@pytest.mark.row("003 T3", "004 4.17")
def test_a_write_makes_the_file_for_its_user_alone_and_it_is_there_for_others(
    path: Path, opened: Opened
) -> None:
    put(opened(), "second")
    assert from_outside(path, "SELECT text FROM notes") == [("first",), ("second",)]
    assert from_outside(path, "PRAGMA journal_mode") == [("wal",)]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_write_that_fails_inside_leaves_nothing(path: Path, opened: Opened) -> None:
    database = opened()
    put(database, "second")
    with pytest.raises(KeyError), database.writing() as connection:
        connection.execute("INSERT INTO notes VALUES ('third')")
        raise KeyError
    with raised(DatabaseError, "write"), database.writing() as connection:
        connection.execute("INSERT INTO notes VALUES ('third')")
        connection.execute("INSERT INTO nowhere VALUES (1)")
    assert texts(database) == ["first", "second"]
    put(database, "fourth")
    assert texts(database) == ["first", "second", "fourth"]


def test_errors_of_the_caller_go_through_as_they_are(opened: Opened) -> None:
    database = opened()
    put(database, "second")
    for error in (OSError("theirs"), ValueError("theirs"), WaitEndedError(path="theirs")):
        with pytest.raises(type(error)) as caught, database.reading():
            raise error
        assert caught.value is error
        with pytest.raises(type(error)) as caught, database.writing():
            raise error
        assert caught.value is error


def test_a_reader_sees_one_state_while_others_write(opened: Opened) -> None:
    database = opened()
    put(database, "second")
    with database.reading() as connection:
        assert connection is not None
        before = connection.execute("SELECT count(*) FROM notes").fetchone()
        put(database, "third")
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == before
    assert len(texts(database)) == 3


def test_a_file_that_is_still_empty_reads_as_none(path: Path, opened: Opened) -> None:
    path.touch()
    with opened().reading() as connection:
        assert connection is None
    put(opened(), "second")
    assert texts(opened()) == ["first", "second"]


# versions


def test_an_older_schema_is_brought_up_to_date_by_a_write_and_by_a_read(
    path: Path, opened: Opened
) -> None:
    put(opened(ONE), "second")
    with opened(TWO).reading() as connection:  # a reader may come first
        assert connection is not None
        assert list(connection.execute("SELECT * FROM notes")) == [
            ("first", "plain"),
            ("second", "plain"),
        ]
    assert from_outside(path, "PRAGMA user_version") == [(2,)]
    assert texts(opened(TWO)) == ["first", "second"]


def test_a_migration_that_fails_leaves_the_former_version(path: Path, opened: Opened) -> None:
    put(opened(ONE), "second")
    broken = (*ONE, ("ALTER TABLE notes ADD COLUMN kind TEXT", "INSERT INTO nowhere VALUES (1)"))
    with raised(DatabaseError, "write"):
        put(opened(broken), "third")
    assert from_outside(path, "PRAGMA user_version") == [(1,)]
    assert texts(opened(ONE)) == ["first", "second"]


@pytest.mark.row("003 T3.a")
def test_a_newer_version_is_refused_and_stays_as_it_is(path: Path, opened: Opened) -> None:
    put(opened(TWO), "second")
    data = path.read_bytes()
    error = refused(opened(ONE))
    assert error.key == "newer"
    assert (error.facts["found"], error.facts["known"]) == (2, 1)
    assert "written by a newer version" in str(error) and str(path) in str(error)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE theirs (a)", "PRAGMA user_version = 3", "PRAGMA application_id = 99"],
)
def test_the_database_of_another_program_is_refused_and_stays_as_it_is(
    path: Path, opened: Opened, statement: str
) -> None:
    from_outside(path, statement)
    data = path.read_bytes()
    assert refused(opened()).key == "foreign"
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW more AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t)"
        " SELECT n FROM t",
        "CREATE TRIGGER more AFTER INSERT ON notes BEGIN DELETE FROM notes; END",
    ],
)
def test_what_a_stranger_has_added_to_run_by_itself_is_refused(
    path: Path, opened: Opened, statement: str
) -> None:
    database = opened()
    put(database, "second")
    database.close()
    from_outside(path, statement)
    assert refused(opened()).key == "foreign"
    assert from_outside(path, "SELECT text FROM notes") == [("first",), ("second",)]


# damage


@pytest.mark.row("003 T3.a")
def test_garbage_is_damage_and_stays_as_it_is(path: Path, opened: Opened) -> None:
    path.write_bytes(b"no database at all\n" * 500)
    error = refused(opened())
    assert isinstance(error, DatabaseDamagedError)
    assert "no new one was made in its place" in str(error) and "doctor --fix" in str(error)
    assert path.read_bytes() == b"no database at all\n" * 500


def test_a_damaged_page_is_said_by_whoever_meets_it(path: Path, opened: Opened) -> None:
    database = opened()
    for _ in range(200):
        put(database, "x" * 400)
    database.close()
    data = bytearray(path.read_bytes())
    data[4096 * 5 : 4096 * 9] = b"\xee" * 4096 * 4
    path.write_bytes(data)
    with pytest.raises(DatabaseDamagedError):
        texts(opened())
    assert path.read_bytes() == bytes(data)


def test_a_file_that_was_emptied_beside_its_journal_is_damage(path: Path, opened: Opened) -> None:
    database = opened()
    put(database, "second")
    journal = Path(f"{path}-wal").read_bytes()
    database.close()
    path.write_bytes(b"")
    Path(f"{path}-wal").write_bytes(journal)
    assert isinstance(refused(opened()), DatabaseDamagedError)
    assert (path.read_bytes(), Path(f"{path}-wal").read_bytes()) == (b"", journal)


def test_a_text_that_is_no_unicode_is_never_repeated(path: Path, opened: Opened) -> None:
    put(opened(), "second")
    from_outside(path, "INSERT INTO notes VALUES (CAST(X'6d7920736563726574ff' AS TEXT))")
    with pytest.raises(DatabaseDamagedError) as caught:
        texts(opened())
    assert "a text is not UTF-8" in str(caught.value)
    assert "my secret" not in str(caught.value)


# what else may be at the path


@posix
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_link_is_refused_wherever_sqlite_would_follow_it(
    path: Path, opened: Opened, suffix: str
) -> None:
    if suffix:
        put(opened(), "second")
        opened().close()
    target = path.with_name("theirs")
    target.write_bytes(b"theirs")
    link = path.with_name(f"{path.name}{suffix}")
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    fresh = opened()
    error = refused(fresh)
    assert error.key == "link"
    assert f"rm {link}" in str(error)
    assert target.read_bytes() == b"theirs"


def test_a_directory_in_its_place_is_said(path: Path, opened: Opened) -> None:
    path.mkdir()
    assert str(path) in str(refused(opened(), writes=False))
    with raised(DatabaseError, "write"):
        put(opened(), "more")


def test_a_missing_directory_is_said_by_a_write_and_empty_for_a_read(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "data.db"
    database = Database(path, ONE, application_id=OURS, timeout_s=60)
    with database.reading() as connection:
        assert connection is None
    with raised(DatabaseError, "write"):
        put(database, "more")
    assert os.listdir(tmp_path) == []


# removed or replaced meanwhile


@posix
def test_a_file_that_is_removed_is_not_seen_any_more_and_made_anew(
    path: Path, opened: Opened
) -> None:
    database = opened()
    put(database, "second")
    for file in path.parent.iterdir():
        file.unlink()
    with database.reading() as connection:
        assert connection is None
    put(database, "third")
    assert from_outside(path, "SELECT text FROM notes") == [("first",), ("third",)]


@posix
def test_a_file_that_is_replaced_is_read_and_written_as_it_is_now(
    path: Path, opened: Opened
) -> None:
    database = opened()
    put(database, "second")
    other = Database(path.with_name("other.db"), ONE, application_id=OURS, timeout_s=60)
    put(other, "of the other")
    other.close()
    for file in path.parent.glob("data.db*"):
        file.unlink()
    path.with_name("other.db").rename(path)
    assert texts(database) == ["first", "of the other"]
    put(database, "third")
    assert texts(opened()) == ["first", "of the other", "third"]


@posix
def test_a_file_that_is_replaced_during_a_write_is_not_written(path: Path, opened: Opened) -> None:
    database = opened()
    put(database, "second")
    with raised(DatabaseError, "moved") as caught, database.writing() as connection:
        connection.execute("INSERT INTO notes VALUES ('third')")
        for file in path.parent.iterdir():
            file.unlink()
        path.write_bytes(b"another file")
    assert "nothing was saved" in str(caught.value)
    assert path.read_bytes() == b"another file"


@posix
def test_what_was_saved_survives_that_somebody_removes_the_journal(
    path: Path, opened: Opened
) -> None:
    database = opened()
    put(database, "second")
    Path(f"{path}-wal").unlink()
    put(database, "third")
    database.close()
    assert texts(opened()) == ["first", "second", "third"]


# waiting


def test_a_writer_waits_for_another_and_no_longer_than_said(path: Path, opened: Opened) -> None:
    put(opened(), "second")
    patient = threading.Thread(target=put, args=(opened(timeout_s=600), "third"))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        patient.start()
        began = time.monotonic()
        with pytest.raises(DatabaseBusyError) as caught:
            put(opened(timeout_s=0.4), "never")
        assert time.monotonic() - began >= 0.4
        assert patient.is_alive()  # so the wait ended before this one
        assert "busy" in str(caught.value) and "Nothing was saved" in str(caught.value)
        assert texts(opened()) == ["first", "second"]  # reading goes on
        other.execute("ROLLBACK")
    patient.join()
    assert texts(opened()) == ["first", "second", "third"]


def test_readers_wait_too_where_another_program_keeps_them_out(path: Path, opened: Opened) -> None:
    database = opened()
    put(database, "second")
    database.close()
    from_outside(path, "PRAGMA journal_mode = DELETE")
    patient = threading.Thread(target=texts, args=(opened(timeout_s=600),))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        patient.start()
        began = time.monotonic()
        with pytest.raises(DatabaseBusyError):
            texts(opened(timeout_s=0.4))
        assert time.monotonic() - began >= 0.4
        assert patient.is_alive()
    patient.join()
    assert texts(opened()) == ["first", "second"]


@pytest.mark.parametrize("kind", ["is_requested", "is_ending"])
def test_a_wait_that_ends_early_is_said(path: Path, opened: Opened, kind: str) -> None:
    put(opened(), "second")
    looks = list[bool]()

    def look() -> bool:
        looks.append(True)
        return True

    cancellation = Cancellation(**{kind: look})
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseWaitEndedError) as caught:
            put(opened(timeout_s=60, cancellation=cancellation), "third")
    assert 1 <= len(looks) <= MOST_LOOKS
    assert isinstance(caught.value, WaitEndedError)
    assert "waited no longer" in str(caught.value)
    assert texts(opened()) == ["first", "second"]


def test_a_cancelled_call_writes_nothing_and_one_that_ends_takes_a_free_database(
    opened: Opened,
) -> None:
    put(opened(), "second")
    with pytest.raises(DatabaseWaitEndedError):
        put(opened(cancellation=Cancellation(is_requested=lambda: True)), "third")
    put(opened(cancellation=Cancellation(is_ending=lambda: True)), "fourth")
    assert texts(opened()) == ["first", "second", "fourth"]


def test_a_purge_leaves_no_byte_of_what_was_deleted(path: Path, opened: Opened) -> None:
    database = opened()
    put(database, "a telling text " * 200)
    with database.writing() as connection:
        connection.execute("DELETE FROM notes WHERE text LIKE 'a telling%'")
    assert database.purge()
    left = b"".join(file.read_bytes() for file in path.parent.glob("data.db*"))
    assert b"telling" not in left and texts(database) == ["first"]
    with opened(timeout_s=0.2).reading() as reader:
        assert reader is not None
        put(database, "second")
        assert not opened(timeout_s=0.2).purge()  # that one still reads the state before


# threads, forks, users


@pytest.mark.long  # it costs much
def test_threads_write_and_read_without_undoing_each_other(opened: Opened) -> None:
    database = opened(timeout_s=600.0)
    wrong: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(25):
                put(database, f"{number}/{turn}")
                assert f"{number}/{turn}" in texts(database)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sorted(texts(database)) == sorted(
        ["first", *(f"{number}/{turn}" for number in range(6) for turn in range(25))]
    )


@posix
def test_a_forked_process_uses_no_connection_of_its_parent(opened: Opened) -> None:
    database = opened()
    put(database, "second")

    def work(_: object) -> str:
        put(database, "of the child")
        return ",".join(texts(database))

    with Child(work) as child:
        assert child.end() == (0, "first,second,of the child")
    put(database, "third")
    assert texts(database) == ["first", "second", "of the child", "third"]


@pytest.mark.long  # it costs much
@posix
@pytest.mark.parametrize("is_open", [False, True])
def test_a_reader_who_may_not_write_reads_and_writes_nothing(
    path: Path, opened: Opened, is_open: bool
) -> None:
    writer = opened()
    put(writer, "second")
    if not is_open:
        writer.close()
    before = sorted(os.listdir(path.parent))

    def work(_: object) -> str:
        bound_by_permissions()
        database = opened()
        seen = texts(database)
        with raised(DatabaseError, "write") as caught:
            put(database, "third")
        return f"{seen} {'It is unchanged' in str(caught.value)}"

    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        with Child(work) as child:
            assert child.end() == (0, "['first', 'second'] True")
    finally:
        path.parent.chmod(0o700)
    assert sorted(os.listdir(path.parent)) == before


@posix
def test_what_nobody_may_read_is_not_taken_for_empty(path: Path, opened: Opened) -> None:
    put(opened(), "second")
    path.chmod(0)

    def work(_: object) -> str:
        bound_by_permissions()
        return str(refused(opened(), writes=False))

    with Child(work) as child:
        code, said = child.end()
    assert code == 0
    assert "This does not mean that it is empty" in said


@pytest.mark.skipif(os.name == "nt", reason="limits of a process as POSIX has them")
def test_a_write_for_which_there_is_no_room_leaves_the_old_state(
    path: Path, opened: Opened
) -> None:
    import resource
    import signal

    database = opened()
    put(database, "second")
    database.close()

    def work(_: object) -> str:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
        with raised(DatabaseError, "write") as caught:
            put(database, "x" * 100_000)
        return str(caught.value)

    with Child(work) as child:
        code, said = child.end()
    assert code == 0
    assert "It is unchanged, and nothing was saved" in said
    assert texts(opened()) == ["first", "second"]
    put(opened(), "third")


def test_tables_that_somebody_else_has_changed_are_refused(path: Path, opened: Opened) -> None:
    """A column that is worked out from others could keep every reader busy for ever."""
    odd = "CREATE TABLE notes (text TEXT, more AS (replace(hex(zeroblob(9)), '0', text)))"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in (odd, f"PRAGMA application_id = {OURS}", "PRAGMA user_version = 1"):
            connection.execute(statement)
    for action in (texts, lambda database: put(database, "second")):
        with raised(DatabaseError, "foreign"):
            action(opened())
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)


def test_tables_of_others_beside_ours_are_left_alone(path: Path, opened: Opened) -> None:
    put(opened(), "second")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (text TEXT)")
    assert texts(opened()) == ["first", "second"]
