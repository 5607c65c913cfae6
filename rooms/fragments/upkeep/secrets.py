"""Finds secrets in everything that is kept of the fragments, and takes them out.

A save redacts already: such a text is older than a rule, or another program's. Columns are read
raw. The log, replicas and backups of a server are out of reach.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from core.room.documents import as_json
from core.room.redaction import Held, Redaction, cleaned
from core.sanitizer import has_secret, safe
from rooms.fragments.fragment import Activity, TaskFeedback, ToolFeedback, hash_of
from rooms.fragments.storage.columns import ENTRIES, FRAGMENTS, VERSIONS, Table, is_moment
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.rows import Rows

_AT_ONCE = 500
_BESIDE = [ENTRIES[kind] for kind in (ToolFeedback, TaskFeedback, Activity)]
_LEFT_BEHIND = "NOT EXISTS (SELECT 1 FROM fragments WHERE fragments.id = fragment_id)"
_MADE_HERE = {"id", "fragment_id", "content_hash"}  # nobody writes a secret into them
_LISTS = {"keywords", "tool_highlights", "tool_pain_points"}
_TEXTS = {
    table: {
        table.columns[field.name]
        for field in fields(table.row)
        if field.type in (str, tuple[str, ...]) and not is_moment(field.name)
    }
    - _MADE_HERE
    for table in (FRAGMENTS, VERSIONS, *_BESIDE)
}

_Row = dict[str, Any]  # by column


class _Group(NamedTuple):
    """Rows that may give away each other's secrets.

    name: id of their fragment, "" for none. changes: table, None for the state; row before and
    after.
    """

    name: str
    kinds: tuple[str, ...]
    changes: list[tuple[Table | None, _Row, _Row]]


def secrets_held(engine: Engine) -> list[Held]:
    """Return the fragments and other tables with secrets. Raises DatabaseError."""
    place = engine.name if engine.keeps_agents_apart else Path(engine.name)
    with engine.reading() as rows:
        return [Held(place, safe(group.name), group.kinds) for group in _groups(rows)]


def redact_held(engine: Engine) -> Redaction:
    """Take the secrets out, from the bytes and a cache as well. Raises DatabaseError.

    The bytes go even if nothing is found: an earlier run may have stopped before that.
    """
    held = secrets_held(engine)
    if not engine.exists():
        return Redaction([], [], [])
    if held:
        with engine.writing() as rows:
            for group in list(_groups(rows)):
                _write(rows, group)
    if held and engine.keeps_agents_apart:
        with engine.writing() as rows:  # behind the triggers, which tell of agents by their names
            names = [name for (name,) in rows.run("SELECT agent_id FROM revisions").fetchall()]
            condition, values = rows.any_of("agent_id", filter(has_secret, names))
            rows.run(f"DELETE FROM revisions WHERE {condition}", values)
    is_purged = engine.purge()
    return Redaction(held, secrets_held(engine), [] if is_purged else [Path(engine.name)])


def _groups(rows: Rows) -> Iterator[_Group]:
    after = 0
    while page := _read(rows, FRAGMENTS, "number > ? ORDER BY number LIMIT ?", [after, _AT_ONCE]):
        after = page[-1]["number"]
        condition, ids = rows.any_of("fragment_id", [row["id"] for row in page])
        former = defaultdict[str, list[_Row]](list)
        for row in _read(rows, VERSIONS, f"{condition} ORDER BY id", ids):
            former[row["fragment_id"]].append(row)
        for row in page:
            versions = [(VERSIONS, version) for version in former[row["id"]]]
            yield from _group(str(row["id"]), [(FRAGMENTS, row), *versions])
    others = [(VERSIONS, f"{_LEFT_BEHIND} ORDER BY id")]
    others += [(table, f"1 = 1 ORDER BY {rows.ordered(table.order)}") for table in _BESIDE]
    for table, rest in others:
        yield from _group("", [(table, row) for row in _read(rows, table, rest)])
    columns = [*rows.state_key("", ""), "value"]
    state = rows.run(f"SELECT {', '.join(columns)} FROM state").fetchall()
    yield from _group("", [(None, dict(zip(columns, row, strict=True))) for row in state])


def _read(rows: Rows, table: Table, rest: str, values: Iterable[Any] = ()) -> list[_Row]:
    def plain(value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return as_json(value) if isinstance(value, list) else value

    found = rows.run(f"SELECT {table.selected} FROM {table.name} WHERE {rest}", values).fetchall()
    columns = table.columns.values()
    return [dict(zip(columns, map(plain, row), strict=True)) for row in found]


def _group(name: str, found: Sequence[tuple[Table | None, _Row]]) -> Iterator[_Group]:
    texts = [
        {column: value for column, value in row.items() if not table or column in _TEXTS[table]}
        for table, row in found
    ]
    clean, kinds = cleaned(texts, _LISTS)
    if kinds:
        changed = zip(found, clean, strict=True)
        yield _Group(name, kinds, [(table, row, row | new) for (table, row), new in changed])


def _write(rows: Rows, group: _Group) -> None:
    """Store clean rows; a fragment gets its new hash and loses its vector."""
    for table in dict.fromkeys(table for table, _, _ in group.changes):
        changes = [(before, after) for it, before, after in group.changes if it is table]
        if table is None:
            _write_state(rows, changes)
            continue
        new = [table.read(list(after.values())) for _, after in changes]
        if table is FRAGMENTS:
            rows.replace([replace(it, content_hash=hash_of(it.content)) for it in new])
            rows.drop_vectors([it.number for it in new])
            continue
        if table is VERSIONS:
            ids = {before["fragment_id"] for before, _ in changes}
            condition, values = rows.any_of("fragment_id", ids)
            rows.run(f"DELETE FROM {table.name} WHERE {condition}", values)
        else:
            rows.forget_entries(table.row)
        rows.note(new)


def _write_state(rows: Rows, changes: Iterable[tuple[_Row, _Row]]) -> None:
    """Store the state anew; figures of a secret agent name become the room's."""
    for before, after in changes:
        if before != after:
            key = {column: value for column, value in before.items() if column != "value"}
            condition = " AND ".join(f"{column} = ?" for column in key)
            rows.run(f"DELETE FROM state WHERE {condition}", key.values())
            if after["value"].isdecimal():
                rows.count_up({after["name"]: int(after["value"])})
            else:
                rows.set_state({after["name"]: after["value"]})
