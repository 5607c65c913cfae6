"""Tests the daily copies of a database: whole or not there, two of them, and back in its place."""

import errno
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from core.room.copies import copies_of, date_of, flaw_of, is_due, keep_copy, remove_copies
from core.room.database import (
    Database,
    DatabaseBusyError,
    DatabaseDamagedError,
    DatabaseError,
)
from tests.support.faults import CODES, Child, Faults, killed_after, killed_before, refused, tree
from tests.support.sentences import in_language, raised

ONE = (("CREATE TABLE notes (text TEXT)", "CREATE INDEX idx_notes ON notes(text)"),)
OURS, PAGE = 7, 4096
DAMAGED = b"overwritten by something else " * 900
posix = pytest.mark.skipif(os.name == "nt", reason="files and users as POSIX has them")
resource = pytest.importorskip("resource", reason="faults as POSIX makes them")
Opened = Callable[..., Database]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "room" / "data.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Opened]:
    path.parent.mkdir()
    with ExitStack() as kept:

        def make(timeout_s: float = 60.0) -> Database:
            database = Database(path, ONE, application_id=OURS, timeout_s=timeout_s)
            kept.callback(database.close)
            return database

        yield make


def put(database: Database, *given: str) -> None:
    with database.writing() as connection:
        connection.executemany("INSERT INTO notes VALUES (?)", [(it,) for it in given])


def texts(database: Database) -> list[str]:
    with database.reading() as connection:
        assert connection is not None
        return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY rowid")]


def texts_of(copy: Path) -> list[str]:
    with closing(sqlite3.connect(f"{copy.as_uri()}?immutable=1", uri=True)) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY rowid")]


def age(path: Path, days: float) -> None:
    """Make all copies so many days older."""
    for copy in reversed(copies_of(path)):
        stamp = datetime.strptime(copy.name[-16:], "%Y%m%dT%H%M%SZ") - timedelta(days=days)
        copy.rename(copy.with_name(f"{path.name}.copy-{stamp:%Y%m%dT%H%M%SZ}"))


def passes(_: sqlite3.Connection) -> None:
    """Any database is ours."""


def days_of(database: Database, count: int) -> None:
    """So many days, on each of which a text is saved, and a copy made; the last is today."""
    for at in range(count):
        age(database.path, 1)
        put(database, f"day {at}")
        database.keep_copy()


def test_a_copy_is_whole_one_file_and_its_users_alone(path: Path, opened: Opened) -> None:
    database = opened()
    put(database, "one", "둘")
    database.keep_copy()
    [copy] = copies_of(path)
    assert texts_of(copy) == ["one", "둘"] and flaw_of(copy, passes) == ""
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600 or os.name == "nt"
    now = datetime.now(UTC)
    assert date_of(copy) in {
        f"{it:%Y-%m-%d %H:%M} UTC" for it in (now, now - timedelta(seconds=50))
    }
    assert {it.name for it in path.parent.iterdir()} <= {
        *("data.db", "data.db-wal", "data.db-shm", copy.name)
    }


def test_there_is_one_a_day_and_two_are_kept(path: Path, opened: Opened) -> None:
    database = opened()
    days_of(database, 1)
    put(database, "later that day")
    database.keep_copy()
    assert [texts_of(it) for it in copies_of(path)] == [["day 0"]]
    days_of(database, 3)
    former = ["day 0", "later that day", "day 0", "day 1"]
    assert [texts_of(it) for it in copies_of(path)] == [[*former, "day 2"], former]


def test_what_nobody_has_changed_since_is_not_copied_again(path: Path, opened: Opened) -> None:
    database = opened()
    days_of(database, 1)
    database.close()
    for file in path.parent.glob("data.db*"):
        os.utime(file, (0, 0))
    age(path, 3)
    assert not is_due(path)
    put(database, "more")
    assert is_due(path)


def test_where_there_is_no_database_nothing_is_made(path: Path, opened: Opened) -> None:
    opened().keep_copy()
    assert list(path.parent.iterdir()) == []


def test_a_copy_dated_ahead_neither_stops_the_next_nor_outlives_it(
    path: Path, opened: Opened
) -> None:
    database = opened()
    days_of(database, 1)
    age(path, -40_000)
    days_of(database, 1)
    assert [it.name[13:15] for it in copies_of(path)] == ["20", "21"]
    days_of(database, 1)
    assert [it.name[13:15] for it in copies_of(path)] == ["20", "20"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("code", [*CODES, None])
def test_a_call_of_the_system_that_fails_leaves_the_former_copies_and_a_whole_one_or_none(
    path: Path, opened: Opened, tmp_path: Path, code: int | None
) -> None:
    """code: None for a process that is killed before and after each call."""
    database = opened()
    days_of(database, 2)
    age(path, 1)
    put(database, "today")
    database.close()
    shutil.copytree(path.parent, tmp_path / "kept")
    wrong, at, ended = list[str](), 0, False
    while not ended:
        at += 1
        spoils = [partial(refused, code)] if code else [killed_before, killed_after]
        for spoil in spoils:
            shutil.rmtree(path.parent)
            shutil.copytree(tmp_path / "kept", path.parent)

            def work(_: object, spoil: object = spoil, at: int = at) -> str:
                with Faults(path.parent, at, spoil) as faults:  # type: ignore[arg-type]
                    try:
                        Database(path, ONE, application_id=OURS, timeout_s=1).keep_copy()
                    except DatabaseError as error:
                        assert error.key == "copy"
                        return f"{len(faults.calls)} {error}"
                return f"{len(faults.calls)} "

            with Child(work) as child:
                status, said = child.end()
            ended = ended or (not status and int(said.split()[0]) < at)
            found = [it for it in copies_of(path) if flaw_of(it, passes)]
            wrong += [f"{at}: {it.name} is broken" for it in found]
            made = [texts_of(it) for it in copies_of(path)]
            if made[-2:] != [["day 0", "day 1"], ["day 0"]] and made[0][-1:] != ["today"]:
                wrong.append(f"{at}: {made}")
            is_said = "copies that were there" in said or code == errno.ENOENT  # as if none was
            if not (status or is_said or made[0][-1:] == ["today"]):
                wrong.append(f"{at}: silent: {said}")
            if texts(opened()) != ["day 0", "day 1", "today"]:
                wrong.append(f"{at}: the database is another")
    assert wrong == [] and at > 5


def test_a_kill_in_the_middle_of_writing_leaves_no_copy_and_goes_with_the_next(
    path: Path, opened: Opened
) -> None:
    database = opened()
    put(database, "one")
    database.close()

    def write(target: Path) -> None:
        target.write_bytes(path.read_bytes()[: PAGE + 100])
        os.kill(os.getpid(), signal.SIGKILL)

    def work(_: object) -> str:
        keep_copy(path, write, passes)
        return "not killed"

    with Child(work) as child:
        child.end()
    assert copies_of(path) == []
    [left] = path.parent.glob(".*.tmp")
    database.keep_copy()
    assert left.exists()  # its process may be at it
    os.utime(left, (0, 0))
    age(path, 1)
    put(database, "two")
    database.keep_copy()
    assert not left.exists() and len(copies_of(path)) == 2


def test_a_copy_that_is_not_whole_gets_no_name(path: Path, opened: Opened) -> None:
    database = opened()
    put(database, *(f"{at} " * 300 for at in range(90)))
    database.close()
    data = path.read_bytes()

    def write(target: Path) -> None:
        target.write_bytes(data[: 5 * PAGE] + b"\xee" * PAGE + data[6 * PAGE :])

    with pytest.raises(sqlite3.DatabaseError):
        keep_copy(path, write, passes)
    assert copies_of(path) == [] and not list(path.parent.glob(".*"))


def test_a_disk_that_is_full_is_said_and_loses_nothing(path: Path, opened: Opened) -> None:
    database = opened()
    days_of(database, 2)
    age(path, 1)
    put(database, "word " * 20_000)
    database.close()
    before = tree(path.parent)

    def work(_: object) -> str:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))
        with raised(DatabaseError, "copy") as caught:
            Database(path, ONE, application_id=OURS, timeout_s=1).keep_copy()
        return str(caught.value)

    with Child(work) as child:
        code, said = child.end()
    assert code == 0 and said.startswith(f"The daily copy of the database {path} could not be made")
    assert "Make room" in said
    after = tree(path.parent)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() <= {"data.db-wal", "data.db-shm"}


def test_who_saves_does_not_wait_for_a_copy_that_is_made(path: Path, opened: Opened) -> None:
    database, other = opened(), opened(timeout_s=0.0)
    put(database, "one")

    def write(target: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM notes").fetchone()
            put(other, "meanwhile")
            reader.execute("COMMIT")
            reader.execute("VACUUM INTO ?", (str(target),))

    keep_copy(path, write, passes)
    assert texts(database) == ["one", "meanwhile"] and len(copies_of(path)) == 1


def test_of_two_who_copy_at_once_one_does(path: Path, opened: Opened) -> None:
    database = opened()
    days_of(database, 2)
    age(path, 1)
    put(database, "today")

    def write(target: Path) -> None:
        if threading.current_thread().name != "other":
            thread = threading.Thread(target=opened().keep_copy, name="other")
            thread.start()
            thread.join()
        target.write_bytes(copies_of(path)[0].read_bytes())

    keep_copy(path, write, passes)
    assert [texts_of(it)[-1] for it in copies_of(path)] == ["today", "day 1"]


# removals


def test_what_is_removed_for_good_is_in_no_copy(path: Path, opened: Opened) -> None:
    database = opened()
    days_of(database, 2)
    put(database, "a telling text")
    age(path, 1)
    database.keep_copy()
    path.with_name(".data.db.0123456789abcdef.tmp").write_bytes(b"a telling text")
    with database.writing() as connection:
        connection.execute("DELETE FROM notes WHERE text LIKE '%telling%'")
    assert database.purge() and copies_of(path) == []
    left = b"".join(it.read_bytes() for it in path.parent.iterdir())
    assert b"telling" not in left
    database.keep_copy()
    assert [texts_of(it) for it in copies_of(path)] == [["day 0", "day 1"]]


@pytest.mark.parametrize("moment", ["begun", "written"])
def test_a_copy_that_is_in_the_making_at_a_removal_is_not_kept(
    path: Path, opened: Opened, moment: str
) -> None:
    database = opened()
    put(database, "a telling text")

    def write(target: Path) -> None:
        if moment == "written":
            target.write_bytes(path.read_bytes())
        assert remove_copies(path)
        if moment == "begun":
            with pytest.raises(FileNotFoundError):
                os.open(target, os.O_WRONLY)

    keep_copy(path, write, passes)
    assert copies_of(path) == [] and not list(path.parent.glob(".*"))


@posix
def test_a_copy_that_cannot_be_removed_is_told_of(
    path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened()
    days_of(database, 1)

    def refuse(*_: object, **_named: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        assert not database.purge()
    assert database.purge()


# damage


def broken(path: Path) -> bytes:
    path.write_bytes(DAMAGED)
    for name in ("-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)
    return DAMAGED


@pytest.mark.parametrize("spoil", ["page", "cut", "empty", "garbage", "text", "foreign", "trigger"])
def test_a_copy_that_is_broken_is_passed_over_for_the_older_one(
    path: Path, opened: Opened, spoil: str
) -> None:
    database = opened()
    put(database, *(f"{at} " * 300 for at in range(90)))
    days_of(database, 2)
    database.close()
    [newest, older] = copies_of(path)
    data = newest.read_bytes()
    with closing(sqlite3.connect(newest, isolation_level=None)) as connection:
        if spoil == "page":
            newest.write_bytes(data[: 5 * PAGE] + b"\xee" * PAGE + data[6 * PAGE :])
        elif spoil == "cut":
            newest.write_bytes(data[: len(data) // 2])
        elif spoil == "empty":
            newest.write_bytes(b"")
        elif spoil == "garbage":
            newest.write_bytes(DAMAGED)
        elif spoil == "text":
            connection.execute("UPDATE notes SET text = CAST(x'6164ff' AS TEXT) WHERE rowid = 7")
        elif spoil == "foreign":
            connection.execute("PRAGMA application_id = 8")
        elif spoil == "trigger":
            connection.execute("CREATE TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; END")
    before = broken(path)
    assert database.whole_copy() == date_of(older)
    done = database.put_back_copy()
    assert done.copy == older and done.aside.read_bytes() == before
    assert texts(database)[-1] == "day 0" and len(texts(database)) == 91
    put(database, "goes on")
    assert newest.exists() and older.exists()


@posix
def test_no_link_is_taken_for_a_copy(path: Path, opened: Opened, tmp_path: Path) -> None:
    database = opened()
    days_of(database, 1)
    copies_of(path)[0].rename(tmp_path / "theirs")
    path.with_name("data.db.copy-20260101T000000Z").symlink_to(tmp_path / "theirs")
    assert copies_of(path) == [] and database.whole_copy() == ""
    assert database.purge() and (tmp_path / "theirs").exists()


def test_without_a_whole_copy_an_empty_one_begins_and_the_damaged_file_stays(
    path: Path, opened: Opened
) -> None:
    database = opened()
    put(database, "one")
    database.close()
    before = broken(path)
    with pytest.raises(DatabaseDamagedError, match="There is no daily copy yet"):
        put(database, "two")
    done = database.put_back_copy()
    assert (done.copy, done.aside.read_bytes()) == (None, before)
    assert texts(database) == []
    put(database, "three")


def test_what_only_the_journal_has_stays_beside_the_damaged_file(
    path: Path, opened: Opened
) -> None:
    database = opened()
    days_of(database, 1)
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM notes").fetchone()
        put(database, "only in the journal")
        done = database.put_back_copy()
        assert b"only in the journal" in Path(f"{done.aside}-wal").read_bytes()
    assert texts(database) == ["day 0"]
    with closing(sqlite3.connect(done.aside)) as aside:
        assert aside.execute("SELECT count(*) FROM notes").fetchone() == (2,)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("code", [*CODES, None])
def test_a_repair_that_fails_or_is_killed_anywhere_loses_nothing(
    path: Path, opened: Opened, tmp_path: Path, code: int | None
) -> None:
    database = opened()
    days_of(database, 2)
    database.close()
    before = broken(path)
    shutil.copytree(path.parent, tmp_path / "kept")
    wrong, at, ended = list[str](), 0, False
    while not ended:
        at += 1
        for spoil in [partial(refused, code)] if code else [killed_before, killed_after]:
            shutil.rmtree(path.parent)
            shutil.copytree(tmp_path / "kept", path.parent)

            def work(_: object, spoil: object = spoil, at: int = at) -> str:
                with Faults(path.parent, at, spoil) as faults:  # type: ignore[arg-type]
                    try:
                        Database(path, ONE, application_id=OURS, timeout_s=1).put_back_copy()
                    except OSError:
                        return f"{len(faults.calls)} failed"
                return f"{len(faults.calls)} "

            with Child(work) as child:
                status, said = child.end()
            ended = ended or (not status and int(said.split()[0]) < at)
            files = [it.read_bytes() for it in path.parent.glob("data.db*") if it.is_file()]
            if before not in files:
                wrong.append(f"{at}: the damaged file is gone")
            if len(copies_of(path)) != 2 or any(flaw_of(it, passes) for it in copies_of(path)):
                wrong.append(f"{at}: a copy is gone")
            if not path.exists():
                wrong.append(f"{at}: nothing has its place")
            elif path.read_bytes() != before and texts(opened()) != ["day 0", "day 1"]:
                wrong.append(f"{at}: {texts(opened())}")
            elif path.read_bytes() == before:
                opened().put_back_copy()
                if texts(opened()) != ["day 0", "day 1"]:
                    wrong.append(f"{at}: not after a second time")
    assert wrong == [] and at > 5


def test_a_repair_waits_for_who_writes_and_changes_nothing(path: Path, opened: Opened) -> None:
    database = opened(timeout_s=0.1)
    days_of(database, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        names = sorted(it.name for it in path.parent.iterdir())
        with pytest.raises(DatabaseBusyError):
            database.put_back_copy()
        assert sorted(it.name for it in path.parent.iterdir()) == names


@posix
def test_nobody_is_told_that_a_save_is_kept_which_a_repair_leaves_behind(
    path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened()
    days_of(database, 1)
    unlink, told = Path.unlink, list[str]()

    def unlink_late(file: Path, missing_ok: bool = False) -> None:
        if file.name == "data.db-wal":  # the damaged file has its second name, nothing is replaced
            told.append(_said_by_another_process(path))
        unlink(file, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink_late)
    database.put_back_copy()
    assert told == ["busy"]


def _said_by_another_process(path: Path) -> str:
    """Save a row of the file in a process of its own; `saved`, or `busy`."""
    lines = (
        "import sqlite3, sys",
        "database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0.1)",
        "try: database.execute('BEGIN IMMEDIATE')",
        "except sqlite3.OperationalError: print('busy')",
        "else:",
        "    database.execute(\"INSERT INTO notes VALUES ('late')\")",
        "    database.execute('COMMIT')",
        "    print('saved')",
    )
    command = [sys.executable, "-c", "\n".join(lines), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def damaged_page(path: Path, opened: Opened) -> Database:
    """A database with two copies, of which a page was overwritten, and nobody knows it yet."""
    database = opened()
    put(database, *(f"{at} " * 300 for at in range(90)))
    days_of(database, 2)
    database.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    at = next(
        it
        for it in range(len(data) // PAGE)
        if data[it * PAGE] == 13 and b"40 40 " in data[it * PAGE :][:PAGE]
    )
    path.write_bytes(data[: at * PAGE] + b"\xee" * PAGE + data[(at + 1) * PAGE :])
    return database


def test_a_damaged_database_takes_the_place_of_no_copy(path: Path, opened: Opened) -> None:
    database = damaged_page(path, opened)
    age(path, 2)
    before = copies_of(path)
    with pytest.raises(DatabaseDamagedError):
        database.keep_copy()
    assert copies_of(path) == before and database.whole_copy() == date_of(before[0])


def test_once_damage_was_met_nothing_is_written_until_the_copy_is_back(
    path: Path, opened: Opened
) -> None:
    database = damaged_page(path, opened)
    before = path.read_bytes()
    with pytest.raises(DatabaseDamagedError):
        texts(database)
    with pytest.raises(DatabaseDamagedError) as caught:
        put(database, "more")
    date = date_of(copies_of(path)[0])
    assert f"There is a daily copy of {date}. Run" in str(caught.value)
    assert f"{date}의 일일 사본이 있습니다" in in_language("ko", str, caught.value)
    assert path.read_bytes() == before and not Path(f"{path}-wal").exists()
    opened().put_back_copy()
    put(database, "more")
    assert texts(database)[-2:] == ["day 1", "more"]
