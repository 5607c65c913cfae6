"""Finds the fragments in what somebody wants to import: an export, a database, JSON lines."""

import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from core.disk import reason_of
from core.lessons.record import DECODER
from core.room.database import SQLITE, open_foreign, rows_of
from core.text.plain import shown_path
from rooms.fragments.errors import ExchangeError
from rooms.fragments.exchange.foreign import (
    is_beside,
    is_fragment,
    is_of_graph,
    read_graph,
    read_items,
    read_rows,
)
from rooms.fragments.exchange.incoming import Fault, Incoming, Source
from rooms.fragments.exchange.lines import MARK, TYPE_OF, VERSION, row_of_line
from rooms.fragments.fragment import Fragment, Link

MOST_BYTES = 512_000_000  # fits an export of 100,000 fragments with their versions several times
ITEMS = "memory_item"
_LINE_BYTES = 100  # in which an export for people says what it is
_LOOKED_AT = 1_000  # lines that decide what a file holds
_BOM = b"\xef\xbb\xbf"


def read_source(path: Path) -> Source:
    """Read one file, whatever form it has. Raises ExchangeError where it has no fragments."""
    shown = shown_path(path)
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):  # a link of a clone may lead to a secret
            raise ExchangeError("not_a_file", path=shown)
        with open(path, "rb") as file:
            head = file.read(len(SQLITE))
            data = b"" if head == SQLITE else head + file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ExchangeError("unreadable", path=shown, reason=reason_of(error)) from error
    if head == SQLITE:
        return _read_database(path, shown)
    return read_text(data, shown)


def read_text(data: bytes, shown: str) -> Source:
    """Read the text of a file. Raises ExchangeError."""
    if len(data) > MOST_BYTES:
        raise ExchangeError("too_large_source", path=shown, most=MOST_BYTES)
    if f"<!-- {MARK}:".encode("ascii") in data[:_LINE_BYTES]:
        raise ExchangeError("exported_document", path=shown)
    values = list(_values_in(data.removeprefix(_BOM)))
    objects = [(number, value) for number, value in values if isinstance(value, dict)]
    source = _of_objects(objects, shown)
    if source is None or not (source.items or source.is_ours):
        raise ExchangeError("no_source", path=shown)
    source.faults += [
        Fault(number, "not_json") for number, value in values if not isinstance(value, dict)
    ]
    return source


def _of_objects(objects: list[tuple[int, dict[str, Any]]], shown: str) -> Source | None:
    """Return what the objects of a file are; None where they are nothing that is known."""
    if objects and objects[0][1].get("format") == MARK:
        return _of_export(objects, shown)
    seen = Counter(_kind_of(value) for _, value in objects[:_LOOKED_AT])
    kind = max(seen, key=seen.__getitem__, default="")
    if kind == "dump":
        source = Source(shown, "dump")
        read_rows(objects, source)
    elif kind == "server_memory":
        source = Source(shown, "server_memory")
        read_graph(objects, source)
    else:
        return None
    return source


def _kind_of(value: dict[str, Any]) -> str:
    if is_of_graph(value):
        return "server_memory"
    return "dump" if is_fragment(value) or is_beside(value) else ""


def _of_export(objects: list[tuple[int, dict[str, Any]]], shown: str) -> Source:
    """Return what the lines of a former export hold. Raises ExchangeError."""
    if objects[0][1].get("version") != VERSION:
        version = shown_path(objects[0][1].get("version"))[:20]
        raise ExchangeError("newer_export", path=shown, version=version)
    return of_rows(objects[1:], shown)


def of_rows(rows: Iterable[tuple[int, Any]], shown: str) -> Source:
    """Return what the rows of an export are, each with its line."""
    source = Source(shown, "export")
    for number, value in rows:
        kind = TYPE_OF.get(str(value.get("kind"))) if isinstance(value, dict) else None
        if kind is None:
            source.faults.append(Fault(number, "not_a_fragment"))
        elif kind is Fragment:
            fragment = row_of_line(Fragment, value)
            source.items.append(
                Incoming(
                    fragment=fragment,
                    place=number,
                    type=fragment.kind,
                    importance=fragment.importance,
                    name=fragment.id,
                )
            )
        elif kind is Link:
            source.links.append(row_of_line(Link, value))
        else:
            source.entries.append(row_of_line(kind, value))
    return source


def _values_in(data: bytes) -> Iterator[tuple[int, object]]:
    """Yield the values of JSON lines with their numbers, or those of a list or of a graph."""
    if whole := _whole(data):
        yield from enumerate(whole, 1)
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, _value(line)


def _whole(data: bytes) -> list[object]:
    """Return the values of a file that is one list, or one graph as server-memory answers it."""
    begin = data[:_LINE_BYTES].lstrip()
    is_whole = begin.startswith(b"[") or (begin.startswith(b"{") and b'"entities"' in begin)
    value = _value(data) if is_whole else None
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return []
    parts = (("entity", value.get("entities")), ("relation", value.get("relations")))
    return [
        {**it, "type": word}
        for word, listed in parts
        for it in (listed if isinstance(listed, list) else ())
        if isinstance(it, dict)
    ]


def _value(data: bytes) -> object:
    try:
        return DECODER.decode(data.decode("utf-8", "replace").strip())
    except (ValueError, RecursionError):
        return None


def _read_database(path: Path, shown: str) -> Source:
    """Read the table `memory_item` of a database, which stays as it is. Raises ExchangeError."""
    source = Source(shown, "memory_db")
    try:
        with closing(open_foreign(path)) as connection:
            read_items(rows_of(connection, ITEMS), source)
    except (sqlite3.Error, OSError, OverflowError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else type(error).__name__
        raise ExchangeError("unreadable", path=shown, reason=reason) from error
    if not source.items:
        raise ExchangeError("no_source", path=shown)
    return source
