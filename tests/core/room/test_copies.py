"""Tests the daily copies of a database: whole or not there, two of them, and back in its place."""

import errno
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from unittest import mock

import pytest

from core.room.copies import copies_of, date_of, flaw_of, is_due, keep_copy, remove_copies
from core.room.database import Database, DatabaseBusyError, DatabaseError
from tests.core.room import conftest as notes
from tests.support.faults import CODES, Child, Fault, Faults, fill_disk, tree
from tests.support.sentences import in_language, raised


def copied(path: Path) -> list[list[str]]:
    """The texts of each copy, the newest first."""
    found = list[list[str]]()
    for copy in copies_of(path):
        with closing(sqlite3.connect(f"{copy.as_uri()}?immutable=1", uri=True)) as connection:
            rows = connection.execute("SELECT text FROM notes ORDER BY rowid")
            found.append([text for (text,) in rows])
    return found


def whole_copy(database: Database) -> str:
    flaw = database.find_flaw(lambda _: True)
    assert flaw is not None
    return flaw.copy


def passes(_: sqlite3.Connection) -> None:
    """Any database is ours."""


def age(path: Path, days: float) -> None:
    """Make all copies so many days older."""
    for copy in reversed(copies_of(path)):
        stamp = datetime.strptime(copy.name[-16:], "%Y%m%dT%H%M%SZ") - timedelta(days=days)
        copy.rename(copy.with_name(f"{path.name}.copy-{stamp:%Y%m%dT%H%M%SZ}"))


def days_of(database: Database, days: int) -> None:
    """So many days, on each of which a text is saved, and a copy made; the last is today."""
    for at in range(days):
        age(database.path, 1)
        notes.put(database, f"day {at}")
        database.keep_copy()


def broken(path: Path) -> None:
    path.write_bytes(notes.DAMAGED)
    for name in ("-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)


def test_a_copy_is_whole_and_one_a_day_and_two_are_kept(path: Path, opened: notes.Opened) -> None:
    database, begun = opened(), path.with_name(".data.db.0123456789abcdef.tmp")
    database.keep_copy()
    assert list(path.parent.iterdir()) == []  # nothing is made where there is no database
    begun.write_bytes(b"SQLite format 3")
    notes.put(database, "one", "둘")
    database.keep_copy()
    [copy] = copies_of(path)
    assert flaw_of(copy, passes) == ""
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    now = datetime.now(UTC)
    moments = (now, now - timedelta(seconds=50))
    assert date_of(copy) in [f"{it:%Y-%m-%d %H:%M} UTC" for it in moments]
    names = {it.name for it in path.parent.iterdir()}
    assert begun.name in names  # its process may be at it
    assert names <= {"data.db", "data.db-wal", "data.db-shm", copy.name, begun.name}
    notes.put(database, "later that day")
    database.keep_copy()
    assert copied(path) == [["one", "둘"]]
    os.utime(begun, (0, 0))
    days_of(database, 3)
    former = ["one", "둘", "later that day", "day 0", "day 1"]
    assert copied(path) == [[*former, "day 2"], former]
    assert not begun.exists()  # the copy that a killed process has begun


def test_a_copy_of_any_date_is_due_after_a_change(path: Path, opened: notes.Opened) -> None:
    database = opened()
    days_of(database, 1)
    database.close()
    for file in path.parent.glob("data.db*"):
        os.utime(file, (0, 0))
    age(path, 3)
    assert not is_due(path)
    notes.put(database, "more")
    assert is_due(path)
    age(path, -40_000)
    for centuries in (["20", "21"], ["20", "20"]):  # one dated ahead does not outlive two others
        days_of(database, 1)
        assert [it.name[13:15] for it in copies_of(path)] == centuries


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("is_repair", [False, True])
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_call_of_the_system_that_fails_costs_neither_the_former_copies_nor_a_saved_note(
    path: Path, opened: notes.Opened, is_killed: bool, is_repair: bool
) -> None:
    """A copy or a repair, with each call spoilt in turn, by a kill or by an error."""
    database = opened()
    days_of(database, 2)
    if not is_repair:
        age(path, 1)
        notes.put(database, "today")
    database.close()
    if is_repair:
        broken(path)
    kept, wrong = path.parent.with_name("kept"), list[object]()
    shutil.copytree(path.parent, kept)

    def spoilt(fault: Fault, _: object) -> str:
        said = ""
        with Faults(path.parent, fault) as faults:
            try:
                database = opened(timeout_s=1)
                work: Callable[[], object] = database.keep_copy
                if is_repair:
                    work = database.put_back_copy
                work()
            except DatabaseError as error:
                said = f"{error.key}: {error}"
            except OSError:
                assert is_repair
        return f"{len(faults.calls)} {said}"

    modes = ("killed before", "killed after") if is_killed else ("refused",)
    for at, mode in ((at, mode) for at in count(1) for mode in modes):
        code = CODES[(at - 1) % len(CODES)]
        shutil.rmtree(path.parent)
        shutil.copytree(kept, path.parent)
        with Child(partial(spoilt, Fault(at, mode, code))) as child:
            status, told = child.end()
        calls, _, said = told.partition(" ")
        copies, flaws = copied(path), [flaw_of(it, passes) for it in copies_of(path)]
        if is_repair:
            files = [it.read_bytes() for it in path.parent.glob("data.db*") if it.is_file()]
            wrong += [] if notes.DAMAGED in files else ["the damaged file is gone"]
            wrong += [] if flaws == ["", ""] else ["a copy is gone"]
            if path.read_bytes() == notes.DAMAGED:  # without a file, it raises
                opened().put_back_copy()
        else:
            is_new = copies[0][-1:] == ["today"]
            wrong += [it for it in flaws if it]
            wrong += [] if is_new or copies[-2:] == [["day 0", "day 1"], ["day 0"]] else copies
            is_said = said.startswith("copy: ") and "copies that were there" in said
            if not (is_new or is_said or status or code == errno.ENOENT):  # as if none was
                wrong.append(f"silent: {said}")
        if notes.texts(opened()) != ["day 0", "day 1", *(() if is_repair else ("today",))]:
            wrong.append("the database is another")
        if not status and int(calls) < at:
            assert at > 5
            break
    assert wrong == []


def test_a_disk_that_is_full_is_said_and_loses_nothing(path: Path, opened: notes.Opened) -> None:
    database = opened()
    days_of(database, 2)
    age(path, 1)
    notes.put(database, "word " * 20_000)
    database.close()
    before = tree(path.parent)

    def work(_: object) -> str:
        fill_disk(40_000)
        with raised(DatabaseError, "copy") as caught:
            opened(timeout_s=1).keep_copy()
        return str(caught.value)

    with Child(work) as child:
        code, said = child.end()
    assert code == 0 and said.startswith(f"The daily copy of the database {path} could not be made")
    assert "Make room" in said
    after = tree(path.parent)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() <= {"data.db-wal", "data.db-shm"}


def test_a_save_waits_for_no_copy_and_of_two_one_is_made(path: Path, opened: notes.Opened) -> None:
    database = opened()
    days_of(database, 2)
    age(path, 1)

    def write(target: Path) -> None:
        notes.put(opened(timeout_s=0.0), "today")
        thread = threading.Thread(target=opened().keep_copy)
        thread.start()
        thread.join()
        notes.from_outside(path, f"VACUUM INTO '{target}'")

    keep_copy(path, write, passes)
    assert notes.texts(database) == ["day 0", "day 1", "today"]
    assert [it[-1] for it in copied(path)] == ["today", "day 1"]


# removals


def test_a_text_removed_for_good_is_in_no_copy(path: Path, opened: notes.Opened) -> None:
    database = opened()
    notes.put(database, "day 0", "a telling text")
    database.keep_copy()
    for suffix in ("tmp", "tmp-journal"):
        path.with_name(f".data.db.0123456789abcdef.{suffix}").write_bytes(b"a telling text")
    with database.writing() as connection:
        connection.execute("DELETE FROM notes WHERE text LIKE '%telling%'")
    with mock.patch.object(Path, "unlink", side_effect=PermissionError(errno.EACCES, "denied")):
        assert not database.purge()  # a copy that cannot be removed is told of
    assert database.purge() and copies_of(path) == []
    left = b"".join(it.read_bytes() for it in path.parent.iterdir())
    assert b"telling" not in left
    database.keep_copy()
    assert copied(path) == [["day 0"]]


@pytest.mark.parametrize("moment", ["begun", "written", "torn"])
def test_a_copy_that_is_not_whole_or_in_the_making_at_a_removal_is_not_kept(
    path: Path, opened: notes.Opened, moment: str
) -> None:
    notes.filled(opened())

    def write(target: Path) -> None:
        if moment != "begun":
            target.write_bytes(path.read_bytes())
        if moment == "torn":
            notes.without_a_page(target)
            return
        assert remove_copies(path)
        if moment == "begun":
            with pytest.raises(FileNotFoundError):
                os.open(target, os.O_WRONLY)

    with pytest.raises(sqlite3.DatabaseError) if moment == "torn" else nullcontext():
        keep_copy(path, write, passes)
    assert copies_of(path) == [] and not list(path.parent.glob(".*"))


# damage


@pytest.mark.parametrize(
    "spoil",
    [
        *("page", "cut", "empty", "garbage"),
        "UPDATE notes SET text = CAST(x'6164ff' AS TEXT) WHERE rowid = 7",
        "PRAGMA application_id = 8",
        "CREATE TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; END",
    ],
)
def test_a_broken_copy_is_passed_over(path: Path, opened: notes.Opened, spoil: str) -> None:
    database = opened()
    notes.filled(database)
    days_of(database, 2)
    database.close()
    [newest, older] = copies_of(path)
    data = newest.read_bytes()
    others = {"cut": data[: len(data) // 2], "empty": b"", "garbage": notes.DAMAGED}
    if spoil == "page":
        notes.without_a_page(newest)
    elif spoil in others:
        newest.write_bytes(others[spoil])
    else:
        notes.from_outside(newest, spoil)
    broken(path)
    assert whole_copy(database) == date_of(older)
    done = database.put_back_copy()
    assert done.copy == older and done.aside.read_bytes() == notes.DAMAGED
    assert notes.texts(database)[-1] == "day 0" and len(notes.texts(database)) == 91
    notes.put(database, "goes on")
    assert newest.exists() and older.exists()


def test_a_link_is_no_copy_and_without_one_an_empty_file_begins_and_the_damaged_one_stays(
    path: Path, opened: notes.Opened, tmp_path: Path
) -> None:
    database = opened()
    days_of(database, 1)
    copies_of(path)[0].rename(tmp_path / "theirs")
    path.with_name("data.db.copy-20260101T000000Z").symlink_to(tmp_path / "theirs")
    assert copies_of(path) == []
    assert database.purge() and (tmp_path / "theirs").exists()
    database.close()
    broken(path)
    assert whole_copy(database) == ""
    with raised(DatabaseError, "damaged", match="There is no daily copy yet"):
        notes.put(database, "two")
    done = database.put_back_copy()
    assert (done.copy, done.aside.read_bytes()) == (None, notes.DAMAGED)
    assert notes.texts(database) == []
    notes.put(database, "three")


def test_a_repair_waits_its_turn_and_keeps_the_journal(path: Path, opened: notes.Opened) -> None:
    database = opened(timeout_s=0.1)
    days_of(database, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("SELECT count(*) FROM notes").fetchone()
        notes.put(database, "only in the journal")
        other.execute("BEGIN IMMEDIATE")
        names = sorted(it.name for it in path.parent.iterdir())
        with pytest.raises(DatabaseBusyError):
            database.put_back_copy()
        assert sorted(it.name for it in path.parent.iterdir()) == names
        other.execute("ROLLBACK")
        done = database.put_back_copy()
        assert b"only in the journal" in Path(f"{done.aside}-wal").read_bytes()
    assert notes.texts(database) == ["day 0"]
    assert notes.from_outside(done.aside, "SELECT count(*) FROM notes") == [(2,)]


def test_nobody_is_told_that_a_save_is_kept_which_a_repair_leaves_behind(
    path: Path, opened: notes.Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened()
    days_of(database, 1)
    unlink, told = Path.unlink, list[str]()

    def late(_: object) -> str:
        with pytest.raises(DatabaseBusyError):
            notes.put(opened(timeout_s=0.1), "late")
        return "busy"

    def unlink_late(file: Path, missing_ok: bool = False) -> None:
        if file.name == "data.db-wal":  # the damaged file has its second name, nothing is replaced
            with Child(late) as other:
                told.append(other.end()[1])
        unlink(file, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink_late)
    database.put_back_copy()
    assert told == ["busy"]


def test_damage_stops_writes_until_the_copy_is_back(path: Path, opened: notes.Opened) -> None:
    database = opened()
    notes.filled(database)
    days_of(database, 2)
    notes.filled(database)
    notes.without_a_page(path)
    before, copies = path.read_bytes(), copies_of(path)
    with raised(DatabaseError, "damaged"):
        notes.texts(database)
    with raised(DatabaseError, "damaged") as caught:
        notes.put(database, "more")
    date = date_of(copies[0])
    assert f"There is a daily copy of {date}. Run" in str(caught.value)
    assert f"{date}의 일일 사본이 있습니다" in in_language("ko", str, caught.value)
    assert path.read_bytes() == before and not Path(f"{path}-wal").exists()
    age(path, 2)
    copies = copies_of(path)
    with raised(DatabaseError, "damaged"):
        opened().keep_copy()
    assert copies_of(path) == copies and whole_copy(database) == date_of(copies[0])
    opened().put_back_copy()
    notes.put(database, "more")
    assert notes.texts(database)[-2:] == ["day 1", "more"]
