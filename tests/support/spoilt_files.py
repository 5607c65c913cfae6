"""Puts something else in the place of a database, and runs work that permissions hold for."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.faults import Child
from tests.support.session_crowd import rows
from tests.support.stdio_client import bound_by_permissions


def as_ordinary_user(work: Callable[[], str]) -> str:
    """What this gives back in a process that the permissions of files hold for."""

    def bound(_: object) -> str:
        bound_by_permissions()
        return work()

    with Child(bound) as child:
        code, said = child.end()
    assert code == 0, said
    return said


def newer(path: Path) -> None:
    rows(path, "PRAGMA user_version = 99")


def foreign(path: Path) -> None:
    path.unlink()
    rows(path, "CREATE TABLE theirs (a)")


def garbage(path: Path) -> None:
    path.write_bytes(b"\x00\xffgarbage" * 3_000)


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def cut_short(path: Path) -> None:
    os.truncate(path, 100)


def spoilt_header(path: Path) -> None:
    path.write_bytes(b"SQLite format 4" + path.read_bytes()[15:])


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def linked(path: Path) -> None:
    path.rename(path.with_name("theirs"))
    path.symlink_to("theirs")


def linked_journal(path: Path) -> None:
    path.with_name("theirs").write_bytes(b"theirs")
    path.with_name(f"{path.name}-wal").symlink_to("theirs")


def stolen(path: Path) -> None:
    [(application_id,)] = rows(path, "PRAGMA application_id")
    rows(path, f"PRAGMA application_id = {application_id + 1}")


# what is done to the file, and what is said of it
PLACES: Mapping[Callable[[Path], None], str] = {
    newer: "newer version of this program",
    foreign: "a database of another program",
    stolen: "a database of another program",
    garbage: "is damaged",
    truncated: "is damaged",
    cut_short: "is damaged",
    spoilt_header: "is damaged",
    directory: "cannot be read",
    linked: "is a symbolic link",
    linked_journal: "is a symbolic link",
}


def state(folder: Path) -> dict[str, bytes | str]:
    """Everything below a directory but what SQLite makes for readers."""
    found: dict[str, bytes | str] = {}
    for path in folder.iterdir():
        if path.is_symlink():
            found[path.name] = os.readlink(path)
        elif path.is_file() and not path.name.endswith("-shm"):
            found[path.name] = path.read_bytes()
        found.setdefault(path.name, "")
    empty = {name for name, data in found.items() if name.endswith(("-wal", "-shm")) and not data}
    return {name: data for name, data in found.items() if name not in empty}
