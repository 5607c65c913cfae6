"""Finds the sessions in what somebody wants to import: a directory, a JSON file, a database."""

import json
import os
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from core.room.database import SQLITE, open_foreign, rows_of
from core.text.plain import shown_path
from rooms.sessions.errors import ExchangeError
from rooms.sessions.exchange.document import MARK
from rooms.sessions.exchange.incoming import Incoming, incoming
from rooms.sessions.exchange.json_form import VERSION

CURRENT, SNAPSHOTS, HISTORY = "current.json", "snapshots", "history.db"
MOST_BYTES = 256_000_000  # fits an export of 100,000 sessions
MOST_SNAPSHOTS = 10_000
_LINE_BYTES = 100  # in which an export for people says what it is


class Fault(NamedTuple):
    """Something that is not imported. why: the end of the key of the sentence that says so."""

    place: str
    why: str


@dataclass(slots=True)
class Source:
    """What was found. path: as it is shown."""

    path: str
    items: list[Incoming] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def holds_sessions(folder: Path) -> bool:
    """Return whether a directory has the files of sessions, of this program or the former one."""
    return any(os.path.lexists(folder / name) for name in (CURRENT, SNAPSHOTS, HISTORY))


def read_source(path: Path) -> Source:
    """Read a directory such as `.context-sync`, or one file of it or of ours.

    Raises ExchangeError where that has no sessions; what cannot be used is among the faults.
    """
    source, path = Source(shown_path(path)), Path(os.path.realpath(path))
    if path.is_dir():
        _read_file(path / CURRENT, CURRENT, source, is_needed=False)
        _read_snapshots(path / SNAPSHOTS, source)
        _read_file(path / HISTORY, HISTORY, source, is_needed=False)
    else:
        _read_file(path, path.name, source)
    return _checked(source)


def read_text(data: bytes, name: str) -> Source:
    """Read the text of a JSON file. name: for what is said of it. Raises ExchangeError."""
    source = Source(name)
    _read_json(data, name, source)
    return _checked(source)


def of_rows(rows: Sequence[tuple[int, Any]], name: str) -> Source:
    """Return the sessions of the rows of an export, which begins with the newest."""
    source = Source(name)
    for number, value in reversed(rows):
        _add(value, str(number), source)
    return source


def _checked(source: Source) -> Source:
    if not source.items and all(it.why == "not_a_session" for it in source.faults):
        raise ExchangeError("no_source", path=source.path)
    return source


def _read_snapshots(folder: Path, source: Source) -> None:
    try:
        names = sorted(it for it in os.listdir(folder) if it.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        source.faults.append(Fault(SNAPSHOTS, "unreadable"))
        return
    if os.path.islink(folder):
        source.faults.append(Fault(SNAPSHOTS, "link"))
        return
    for name in names[:MOST_SNAPSHOTS]:
        _read_file(folder / name, f"{SNAPSHOTS}/{name}", source)
    if names[MOST_SNAPSHOTS:]:
        source.faults.append(Fault(SNAPSHOTS, "too_many"))


def _read_file(path: Path, place: str, source: Source, *, is_needed: bool = True) -> None:
    """Read one file. is_needed: whether it is a fault where there is none."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):  # a clone may bring one that leads to a secret
            source.faults.append(Fault(place, "link"))
            return
        if not stat.S_ISREG(status.st_mode):
            source.faults.append(Fault(place, "not_a_file"))
            return
        with open(path, "rb") as file:
            head = file.read(len(SQLITE))
            data = b"" if head == SQLITE else head + file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        if is_needed:
            source.faults.append(Fault(place, "unreadable"))
        return
    except OSError:
        source.faults.append(Fault(place, "unreadable"))
        return
    if head == SQLITE:
        _read_database(path, place, source)
    elif len(data) > MOST_BYTES:
        source.faults.append(Fault(place, "too_large"))
    else:
        _read_json(data, place, source)


def _read_json(data: bytes, place: str, source: Source) -> None:
    if f"<!-- {MARK}:".encode("ascii") in data[:_LINE_BYTES]:
        raise ExchangeError("exported_document", path=source.path)
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        source.faults.append(Fault(place, "not_json"))
        return
    listed = value.get("contexts") if isinstance(value, dict) else value
    if not isinstance(listed, list):
        _add(value, place, source)
        return
    if isinstance(value, dict) and value.get("format") == MARK and value.get("version") != VERSION:
        version = shown_path(value.get("version"))[:20]
        raise ExchangeError("newer_export", path=source.path, version=version)
    for at, it in reversed([*enumerate(listed, 1)]):  # an export begins with the newest
        _add(it, f"{place} ({at})", source)


def _add(value: object, place: str, source: Source) -> None:
    found = incoming(value, place)
    if found is None:
        source.faults.append(Fault(place, "not_a_session"))
    elif not found.session.goal.strip():
        source.faults.append(Fault(place, "no_goal"))
    else:
        source.items.append(found)


def _read_database(path: Path, place: str, source: Source) -> None:
    """Read the tables `contexts` and `actions` of a database, which stays as it is."""
    try:
        with closing(open_foreign(path)) as connection:
            rows = list(rows_of(connection, "contexts"))
            if not rows:
                source.faults.append(Fault(place, "not_a_session"))
            actions = dict[str, list[dict[str, Any]]]()
            for it in rows_of(connection, "actions"):
                told = {**it, "filePath": it.get("file_path"), "createdAt": it.get("created_at")}
                actions.setdefault(str(it.get("context_id")), []).append(told)
            for row in rows:
                if row.get("archive"):  # its texts are in another file
                    source.faults.append(Fault(place, "archived"))
                else:
                    given = {**_context_of(row), "actions": actions.get(str(row.get("id")), [])}
                    _add(given, place, source)
    except (sqlite3.Error, OSError, OverflowError):
        source.faults.append(Fault(place, "unreadable"))


def _context_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the declared object of a row of `contexts`."""
    renamed = {
        "parentId": row.get("parent_id"),
        "startedAt": row.get("started_at"),
        "endedAt": row.get("ended_at"),
        "createdAt": row.get("created_at"),
        "updatedAt": row.get("updated_at"),
        "tags": _value(row.get("tags")),
        "metadata": _value(row.get("metadata")),
    }
    return {**row, **renamed}


def _value(text: object) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
