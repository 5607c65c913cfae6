"""Writes fragments as objects of JSON lines; reads these and the formats of others.

Others are rows of the specified tables, a database with the table `memory_item`, and a graph of
server-memory. `import_plan` says which rows come in.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from core.disk import reason_of
from core.lessons.record import DECODER
from core.room.database import open_foreign
from core.room.database import rows_of as rows_of_table
from core.room.documents import objects_at, text_at, texts_in
from core.room.redaction import without_secrets
from core.text.plain import moment_of, shown_path
from rooms.fragments import fragment as stored
from rooms.fragments.fragment import FragmentsError
from rooms.fragments.storage.columns import ENTRIES, FRAGMENTS, LINKS, VERSIONS, Table, is_moment
from rooms.fragments.storage.rows import Rows, pages_of

Row = stored.Fragment | stored.Link | stored.Entry

# By the field `kind` of a line.
_TABLES: dict[str, Table] = {
    "fragment": FRAGMENTS,
    "link": LINKS,
    "version": VERSIONS,
    "tool_feedback": ENTRIES[stored.ToolFeedback],
    "task_feedback": ENTRIES[stored.TaskFeedback],
    "activity": ENTRIES[stored.Activity],
    "suspicion": ENTRIES[stored.Suspicion],
}
# Dates, our words and our ids: no secret is looked for in them.
HARMLESS = re.compile(r"[0-9TZ:+. -]*|[a-z_]{1,16}|[a-hj-km-np-z2-9]{8}")
# In the first line of an export by an older version.
MARK, VERSION = "sentinel-memory-fragments", 1

_HEAD_BYTES = 100  # in which a graph of server-memory names its entities
_MOST_COUNT = 2**53 - 1
_MOST_SECONDS = 1e11  # a greater number is a moment in milliseconds


class Fault(NamedTuple):
    """A line or row that is not imported."""

    place: int
    why: str  # the key of the reason


class Incoming(NamedTuple):
    """A fragment of a file, with the id from there."""

    place: int
    fragment: stored.Fragment
    word: str  # of `TYPES`


@dataclass(slots=True)
class Source:
    """The rows of a file, unchecked."""

    is_ours: bool  # this program wrote all columns
    items: list[Incoming] = field(default_factory=list)
    links: list[stored.Link] = field(default_factory=list)  # between ids of the items
    entries: list[stored.Entry] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, place: int, row: Row, word: str = "") -> None:
        if isinstance(row, stored.Fragment):
            self.items.append(Incoming(place, row, word or row.kind))
        elif isinstance(row, stored.Link):
            self.links.append(row)
        else:
            self.entries.append(row)

    def pass_over(self, place: int, value: object) -> None:
        why = "not_a_fragment" if isinstance(value, dict) else "not_json"
        self.faults.append(Fault(place, why))


def rows_of(rows: Rows, wanted: stored.Wanted, *, only_public: bool) -> Iterator[Row]:
    """Yield the wanted fragments, then their links, versions and suspicions, without secrets.

    Feedback and activities come only with the whole room. only_public: leave out fragments that
    others may not see.
    """

    def clean(found: Iterable[Any]) -> Iterator[Any]:
        return (without_secrets(each, HARMLESS)[0] for each in found)

    ids = set[str]()
    for page in pages_of(rows, wanted):
        chosen = [each for each in page if each.privacy == "public" or not only_public]
        ids.update(each.id for each in chosen)
        yield from clean(chosen)
    yield from (link for link in rows.links(sorted(ids)) if {link.from_id, link.to_id} <= ids)
    for id_ in sorted(ids):
        yield from clean(rows.entries(stored.Version, of=id_))
    if not only_public and wanted == stored.Wanted(state=wanted.state):
        for kind in (stored.ToolFeedback, stored.TaskFeedback, stored.Activity):
            yield from clean(rows.entries(kind))
    suspicions: list[stored.Suspicion] = rows.entries(stored.Suspicion)
    yield from (each for each in suspicions if {each.first_id, each.second_id} <= ids)


def line_of(row: Row) -> dict[str, Any]:
    """Return the object of a row, without `number`, which means one database."""
    word, table = next((word, it) for word, it in _TABLES.items() if it.row is type(row))
    line: dict[str, Any] = {"kind": word}
    for name, column in table.columns.items():
        value = getattr(row, name)
        line[column] = list(value) if isinstance(value, tuple) else value
    line.pop("number", None)
    return line


def read_source(path: Path) -> Source:
    """Read the table `memory_item` of a database, unchanged. Raises FragmentsError."""
    rows = list[dict[str, Any]]()
    try:
        with closing(open_foreign(path)) as connection:
            for row in rows_of_table(connection, "memory_item"):
                tags, text = text_at(row, "tags"), text_at(row, "content")
                words = _value(tags.encode())  # a list in JSON, or words between commas
                row |= {"keywords": words if isinstance(words, list) else tags.split(",")}
                row |= {"is_anchor": row.get("pinned"), "accessed_at": row.get("last_accessed")}
                rows.append({**row, "content": text, "topic": ""})
    except (sqlite3.Error, OSError, OverflowError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else type(error).__name__
        raise FragmentsError("unreadable", path=shown_path(path), reason=reason) from error
    return _of_others(enumerate(rows, 1), shown_path(path))


def read_text(data: bytes, path: str) -> Source:
    """Read a file. path: as it is shown. Raises FragmentsError."""
    begin, whole = data[:_HEAD_BYTES].lstrip(), None
    if begin.startswith(b"[") or (begin.startswith(b"{") and b'"entities"' in begin):
        whole = _value(data)
    if isinstance(whole, dict):
        parts = ("entity", "entities"), ("relation", "relations")
        whole = [{**each, "type": word} for word, key in parts for each in objects_at(whole, key)]
    if isinstance(whole, list) and whole:
        return _of_others(enumerate(whole, 1), path)
    lines = enumerate(data.split(b"\n"), 1)
    values = [(place, _value(line)) for place, line in lines if line.strip()]
    head = values[0][1] if values else None
    if not isinstance(head, dict) or head.get("format") != MARK:
        return _of_others(values, path)
    if head.get("version") != VERSION:
        version = shown_path(head.get("version"))[:20]
        raise FragmentsError("newer_export", path=path, version=version)
    return of_rows(values[1:], path)


def of_rows(rows: Iterable[tuple[int, Any]], _path: str) -> Source:
    """Return the rows of an export. rows: with their line numbers."""
    source = Source(is_ours=True)
    for place, value in rows:
        table = _TABLES.get(str(value.get("kind"))) if isinstance(value, dict) else None
        if table:
            source.add(place, _row_from(table, value))
        else:
            source.pass_over(place, value)
    return source


def _of_others(values: Iterable[tuple[int, Any]], path: str) -> Source:
    """Return rows of the specification, or of a graph of server-memory.

    Observations become facts. A relation becomes a fragment, linked with the first fact of both
    ends. Raises FragmentsError if there is no fragment.
    """
    source, linked = Source(is_ours=False), list[stored.Link]()
    for place, value in values:
        match value:
            case {"fragment_id": _, "content": _}:
                source.add(place, _row_from(VERSIONS, value))
            case {"content": str(), "topic": _}:
                word = text_at(value, "type")
                word = word if word in stored.TYPES else stored.DEFAULT_TYPE
                line = {"importance": stored.TYPES[word].importance, "ttl_tier": "hot"}
                line |= {name: each for name, each in value.items() if each is not None}
                fragment = _row_from(FRAGMENTS, line)
                source.add(place, fragment, word)
                for end in texts_in(value.get("linked_to")):
                    ends = {"from_id": fragment.id, "to_id": end}
                    linked.append(stored.Link(**ends, created_at=fragment.created_at))
            case {"from_id": _, "to_id": _}:
                source.add(place, _row_from(LINKS, value))
            case {"tool_name": _} | {"overall_success": _}:
                kind = stored.ToolFeedback if "tool_name" in value else stored.TaskFeedback
                source.add(place, _row_from(ENTRIES[kind], value))
            case {"type": "entity", "name": str(name)} if name.strip():
                labels = name.strip(), text_at(value, "entityType").strip()
                texts = [text for text in texts_in(value.get("observations")) if text.strip()]
                id_ = f"entity\n{labels[0]}"  # of the first
                for text in texts or [": ".join(filter(None, labels))]:
                    source.add(place, _labelled(id_, text, "fact", labels))
                    id_ = ""
            case {"type": "relation", "from": str(), "relationType": str(), "to": str()} if all(
                value[key].strip() for key in ("from", "relationType", "to")
            ):
                labels = value["from"].strip(), value["to"].strip()
                text = f"{labels[0]} {value['relationType'].strip()} {labels[1]}"
                fragment = _labelled(f"relation\n{place}", text, "relation", labels)
                source.add(place, fragment)
                for end in fragment.keywords:
                    source.add(place, stored.Link(from_id=fragment.id, to_id=f"entity\n{end}"))
            case _:
                source.pass_over(place, value)
    if not source.items:
        raise FragmentsError("no_source", path=path)
    # A pair that a row of the links joins has the relation of that row alone.
    pairs = {frozenset((link.from_id, link.to_id)) for link in source.links}
    source.links += [it for it in linked if frozenset((it.from_id, it.to_id)) not in pairs]
    return source


def _labelled(id_: str, content: str, kind: stored.Kind, labels: Sequence[str]) -> stored.Fragment:
    keywords = tuple(dict.fromkeys(filter(None, labels)))
    return stored.Fragment(id=id_, content=content, kind=kind, topic=labels[0], keywords=keywords)


def _value(data: bytes) -> object:
    try:
        return DECODER.decode(data.decode("utf-8", "replace").strip())
    except (ValueError, RecursionError):
        return None


def _row_from(table: Table, line: Mapping[str, Any]) -> Any:
    values = list[Any]()
    for each in fields(table.row):
        value = line.get(stored.column_of(each.name)) if each.name != "number" else 0
        if is_moment(each.name):
            value = _moment_from(value)
        elif each.type is bool:
            value = value is True or value == 1
        elif isinstance(value, bool | dict) or (isinstance(value, list) and each.type is str):
            value = None
        elif isinstance(value, int):
            value = min(max(value, 0), _MOST_COUNT)
        values.append(value)
    return table.read(values)


def _moment_from(value: Any) -> str:
    """Return ISO 8601 for a text, seconds or milliseconds; "" for others."""
    if isinstance(value, str):
        return moment_of(value.strip())
    if type(value) not in (int, float):
        return ""
    seconds = value / 1_000 if value > _MOST_SECONDS else value
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
