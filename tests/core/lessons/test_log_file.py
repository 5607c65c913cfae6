"""Tests that a write leaves the old file or the new one, and keeps replaced lines beside it."""

import errno
import json
import os
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import DiskError, LogReadError
from core.lessons import changes
from core.lessons.file import GITATTRIBUTES, MOST_SIDE_BYTES, REPLACED_NAME, LogFile, Replacement
from core.lessons.record import Record
from core.store import MemoryStore
from tests.support.changes import log_of
from tests.support.cli_process import TOKEN
from tests.support.samples import NOW, a_draft, a_record
from tests.support.sentences import raised

RECORD = b'{"id": "0123456789abcdef", "topic": "t", "lesson": "l"}\n'
STRAY = ".{}.0123456789abcdef.tmp"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".context" / "memory_log.jsonl"


@pytest.fixture
def linked(path: Path, tmp_path: Path) -> Path:
    """The file that the log is a link to."""
    target = tmp_path / "shared" / "log.jsonl"
    for folder in (target.parent, path.parent):
        folder.mkdir(parents=True)
    target.write_bytes(RECORD)
    path.symlink_to(target)
    return target


def log_at(path: Path) -> LogFile:
    return LogFile(path, lock_timeout_s=1)


def write(path: Path, data: bytes) -> None:
    log_at(path).rewrite(lambda _: Replacement(data, None))


def set_aside(path: Path, data: bytes) -> None:
    log_at(path).rewrite(lambda _: Replacement(data, None, b"old\n"), aside_name="aside.txt")


@pytest.mark.row("001 2-2.d", "I4", "P6", "P9", "001 5-1.b", "P8")
def test_equal_bytes_are_not_written_and_companions_of_the_user_stay(path: Path) -> None:
    assert log_at(path).read() == b""
    assert not path.parent.exists()
    write(path, b"one\n")
    before = path.stat()
    write(path, b"one\n")
    after = path.stat()  # the time of the last access may change: the file is read
    assert (after.st_ino, after.st_mode, after.st_mtime_ns, after.st_ctime_ns) == (
        *(before.st_ino, before.st_mode, before.st_mtime_ns, before.st_ctime_ns),
    )
    for it in path.parent.iterdir():
        it.unlink()
    (path.parent / ".gitignore").write_text("mine")
    write(path, b"one\n")
    assert (path.parent / ".gitignore").read_text() == "mine"
    assert (path.parent / ".gitattributes").read_text() == GITATTRIBUTES
    (path.parent / ".gitattributes").unlink()
    write(path, b"two\n")
    assert not (path.parent / ".gitattributes").exists()


@pytest.mark.row("P8", "P9")
def test_a_link_stays_one_and_strays_beside_both_ends_are_swept(path: Path, linked: Path) -> None:
    strays = [it.with_name(STRAY.format(it.name)) for it in (linked, path)]
    kept = path.with_name(".memory_log.jsonl.backup.tmp")
    for file in (*strays, kept):
        file.write_bytes(b"half")
    log_at(path).write_companions()
    assert not any(it.exists() for it in strays)
    assert (kept.read_bytes(), linked.read_bytes()) == (b"half", RECORD)
    write(path, b"new\n")
    assert (path.is_symlink(), linked.read_bytes()) == (True, b"new\n")


@pytest.mark.row("P9")
def test_a_new_file_follows_the_umask_and_one_keeps_its_mode_and_its_owner(path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(path, b"one\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write(path, b"two\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    if os.geteuid() == 0:  # only root may give files away
        os.chown(path, 12345, 54321)
        write(path, b"three\n")
        assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def with_file_for_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_bytes(b"mine")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "not a regular file"),
        (os.mkfifo, "not a regular file"),  # which does not block
        (with_file_for_folder, "Not a directory"),
    ],
)
def test_a_folder_or_pipe_in_the_place_of_the_file_is_an_error_and_stays(
    path: Path, make: Callable[[Path], None], reason: str
) -> None:
    path.parent.mkdir(parents=True)
    make(path)
    before = [(it, it.lstat().st_ino) for it in sorted(path.parent.parent.rglob("*"))]
    with pytest.raises(LogReadError) as caught:
        log_at(path).read()
    assert caught.value.facts == {"path": str(path), "reason": reason}
    with raised(DiskError, "log_write" if make is with_file_for_folder else "log_read"):
        write(path, b"x\n")
    assert [it for it in before if it[0].lstat().st_ino != it[1]] == []


@pytest.mark.row("001 2-1.i", "P2")
def test_the_file_is_synced_before_the_rename_and_the_directory_after(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    steps: list[int | str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        steps.append(os.fstat(descriptor).st_ino)
        real_fsync(descriptor)

    def replace(source: Any, target: Any) -> None:
        steps.append(f"rename {Path(target).name}")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "fdatasync", fsync, raising=False)
    monkeypatch.setattr(os, "replace", replace)
    write(path, b"old\n")
    assert steps[0] == path.parent.parent.stat().st_ino  # of the new folder
    steps.clear()
    set_aside(path, b"new\n")
    log, folder, aside = (it.stat().st_ino for it in (path, path.parent, path.parent / "aside.txt"))
    assert steps == [log, aside, "rename aside.txt", folder, "rename memory_log.jsonl", folder]
    with raised(DiskError, "log_write"):  # another file has that name
        set_aside(path, b"two\n")
    assert (path.parent / "aside.txt").read_bytes() == b"old\n"
    for _ in range(2):  # the second line is added to the file of the first
        log_at(path).rewrite(lambda data: Replacement(data + b"\n", None, side_lines=b"line\n"))
    assert steps.count((path.parent / REPLACED_NAME).stat().st_ino) == 2

    def failing(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", failing)
    write(path, b"newer\n")  # since the file is replaced
    assert path.read_bytes() == b"newer\n"
    assert "directory not synced" in caplog.text


@pytest.mark.row("P7")
def test_a_file_that_others_write_meanwhile_is_read_again_until_it_stands_still(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, b"one\n")
    seen: list[bytes] = []

    def append(data: bytes) -> Replacement[str]:
        seen.append(data)
        if len(seen) == 1:
            path.write_bytes(b"one\ntwo\n")  # an editor: no lock, the same file
        if len(seen) == 2:
            path.unlink()  # git: a new file in its place
            path.write_bytes(b"one\ntwo\nthree\n")
        return Replacement(data + b"mine\n", "done")

    assert log_at(path).rewrite(append) == "done"
    assert seen == [b"one\n", b"one\ntwo\n", b"one\ntwo\nthree\n"]
    assert path.read_bytes() == b"one\ntwo\nthree\nmine\n"
    write(path, b"")
    seen.clear()

    def restless(data: bytes) -> Replacement[None]:
        seen.append(data)
        path.write_bytes(data + b"theirs\n")
        return Replacement(data + b"mine\n", None)

    with raised(DiskError, "log_unsettled") as caught:
        log_at(path).rewrite(restless)
    assert caught.value.facts == {"path": str(path)}
    assert (path.read_bytes(), len(seen)) == (b"theirs\n" * 5, 5)
    write(path, b"one\n")
    path.write_bytes(b"")  # an editor has emptied the file and is about to write it
    monkeypatch.setattr(time, "sleep", lambda _: path.write_bytes(b"one\ntwo\n"))
    log_at(path).rewrite(lambda data: Replacement(data + b"mine\n", None))
    assert path.read_bytes() == b"one\ntwo\nmine\n"
    path.unlink()  # and it stays away
    monkeypatch.undo()
    monkeypatch.setattr(os.path, "lexists", lambda _: True)  # a directory that is not up to date
    with raised(LogReadError, "log_read"):
        MemoryStore(path).read()
    monkeypatch.undo()
    write(path, b"mine\n")
    assert path.read_bytes() == b"mine\n"


# Lines that a change takes out of the log are kept beside it.


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    (tmp_path / ".context").mkdir()
    return MemoryStore(tmp_path / ".context" / "memory_log.jsonl", now=lambda: NOW)


def side_of(store: MemoryStore) -> Path:
    return store.path.with_name(REPLACED_NAME)


def left_of(record: Record) -> changes.ReplacedRecord:
    return changes.ReplacedRecord(record=record, version_id=record.version_id, at=NOW)


def kept(store: MemoryStore) -> list[changes.ReplacedRecord]:
    side = side_of(store)
    return list(changes.replaced_records_in(side.read_bytes())) if side.exists() else []


def test_of_a_very_large_file_only_the_end_is_read(store: MemoryStore) -> None:
    store.upsert_log(a_draft(lesson="first"))
    side = side_of(store)
    with open(side, "wb") as file:
        file.truncate(3 * MOST_SIDE_BYTES)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + left_of(a_record("kept before")).to_line())
    assert len(store.read_side_records()) == 1
    store.upsert_log(a_draft(lesson="second"))
    assert [it.record.lesson for it in kept(store)][:1] == ["first"]
    assert len(kept(store)) == 2
    assert side.stat().st_size < MOST_SIDE_BYTES


def keep_beside(store: MemoryStore, *lines: bytes) -> bytes:
    """The side file after one change of the log that leaves these lines."""
    change = Replacement(store.read_bytes() + b"\n", None, side_lines=b"".join(lines))
    LogFile(store.path, lock_timeout_s=1).rewrite(lambda _: change)
    return side_of(store).read_bytes()


@pytest.mark.row("P8")
def test_a_line_is_added_behind_a_torn_one_and_a_megabyte_is_kept(store: MemoryStore) -> None:
    lines = [left_of(a_record(f"gap {number}")).to_line() for number in range(3)]
    store.path.touch(0o600)  # who may not read the log may not read replaced lines
    keep_beside(store, lines[0])
    assert stat.S_IMODE(side_of(store).stat().st_mode) == 0o600
    before = side_of(store).stat().st_ino
    assert keep_beside(store, lines[1]) == b"".join(lines[:2])
    assert side_of(store).stat().st_ino == before  # its lines are not written again
    with side_of(store).open("ab") as side:
        side.write(lines[2][:100])  # as a killed save has left it
    torn = [*lines[:2], lines[2][:100] + b"\n", lines[2]]
    assert keep_beside(store, lines[2]) == b"".join(torn)
    assert [it.record.missing_context for it in kept(store)] == ["gap 2", "gap 1", "gap 0"]
    side_of(store).unlink()
    records = [a_record(f"gap {number}", lesson="x" * 100_000) for number in range(9)]
    large = [left_of(record).to_line() for record in records]
    assert keep_beside(store, *large) == b"".join(large)  # of one change, however much it is
    newest = keep_beside(store, *large)
    assert newest == b"".join([*large[-4:], *large])  # the whole lines of the newest half
    assert keep_beside(store, *large[:1]) == b"".join([*large[-4:], large[0]])


def test_a_replaced_record_is_read_once_under_its_own_id_and_holds_no_secret() -> None:
    with_key, other = replace(a_record(), extra={"team": "blue"}), a_record("other")
    twice = left_of(with_key).to_line()
    assert json.loads(twice) == with_key.as_json() | {"replaced": {"at": NOW}}
    torn = b'torn\n{"replaced": 1}\n\xff\n'
    log, moved = log_of(with_key, other), log_of(other, with_key)
    assert changes.find_replaced_records(log, moved, lambda: NOW) == []  # none has left the file
    mine = log_of(replace(with_key, meta_extra={"by": "me"}), other)
    assert len(changes.find_replaced_records(mine, log, lambda: NOW)) == 1  # a key of it has
    data = twice + other.to_line() + torn + twice  # one in the form of the log
    pairs = [(it.record, it.version_id) for it in changes.replaced_records_in(data)]
    assert pairs == [(with_key, with_key.version_id), (other, other.version_id)]
    wanted, forged = a_record(), a_record(lesson="forged")
    for lesson, token in (("forged", forged.version_id), ("forged [REDACTED]", wanted.version_id)):
        line = replace(left_of(wanted), record=replace(forged, lesson=lesson)).to_line()
        assert [it.version_id for it in changes.replaced_records_in(line)] == [token]
    cleaned_once = changes.redact_side_file(a_record(lesson=TOKEN).to_line() + b"torn\n")
    assert TOKEN.encode() not in cleaned_once
    assert changes.redact_side_file(cleaned_once) == cleaned_once
    record, hider = replace(a_record(), id=TOKEN), replace(a_record("x"), id=TOKEN)
    hider = replace(hider, source_ids=(record.version_id,))
    [version] = changes.find_replaced_records(log_of(record), log_of(hider), lambda: NOW)
    assert TOKEN.encode() not in version.to_line()
