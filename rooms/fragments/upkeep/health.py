"""Finds and repairs faults of a user's fragments, and finds secrets in all that is kept.

A save redacts already: a text with a secret is older than a rule, or another program's. Columns are
read raw. The log, replicas and backups of a server are out of reach.
"""

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from core.config import DEFAULT_AGENT, Settings
from core.disk import errors_as
from core.errors import SentinelError
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts
from core.postgres.address import Server, ServerError
from core.room.copies import damaged_files, date_of, size_of
from core.room.database import DatabaseError
from core.room.documents import CONFIG_NAME, dump_json
from core.room.full_text import is_index_sound
from core.room.redaction import Redaction, SecretPlace, redact_rows
from core.sanitizer import has_secret, safe_name
from rooms.fragments import room
from rooms.fragments.fragment import Activity, Filter, TaskFeedback, ToolFeedback, hash_of
from rooms.fragments.models import faults_in, find_missing
from rooms.fragments.storage.columns import ENTRY_TABLES, FRAGMENTS, VERSIONS, Table, is_moment
from rooms.fragments.storage.redis import Cache
from rooms.fragments.storage.rows import Engine, Rows
from rooms.fragments.storage.sqlite import INDEX, SqliteEngine, SqliteRows

_OTHERS = 0o077  # of a mode: what is not for the user alone

_OPEN_TABLES = """SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname = 'agent_memory' AND relkind IN ('r', 'p')
  AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1"""
_STRONG_ROLES = """SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%s)
  AND (rolsuper OR rolbypassrls OR rolcanlogin) ORDER BY 1"""
_SERVER_FACTS = """SELECT pg_is_in_recovery(), pg_database_size(current_database()),
  split_part(current_setting('server_version'), ' ', 1),
  coalesce((SELECT ', pgvector ' || extversion FROM pg_extension WHERE extname = 'vector'), '')"""

# Secrets.
_NEXT_PAGE = "number > ? ORDER BY number LIMIT 500"  # of fragments
_USE_TABLES = [ENTRY_TABLES[kind] for kind in (ToolFeedback, TaskFeedback, Activity)]
_IS_ORPHAN = "NOT EXISTS (SELECT 1 FROM fragments WHERE fragments.id = fragment_id)"
_OWN_COLUMNS = {"id", "fragment_id", "content_hash"}  # nobody writes a secret into them
_LISTS = {"keywords", "tool_highlights", "tool_pain_points"}
_TEXTS = {
    table: {
        table.columns[field.name]
        for field in fields(table.row)
        if field.type in (str, tuple[str, ...]) and not is_moment(field.name)
    }
    - _OWN_COLUMNS
    for table in (FRAGMENTS, VERSIONS, *_USE_TABLES)
}


def examine(settings: Settings, environment: Mapping[str, str]) -> list[Finding]:
    """Return faults, and the number of fragments; [] for none. No finding holds a password."""
    try:
        path, server = room.database_path(environment), room.database_server(environment)
    except SentinelError as error:
        return [_finding("config", "error", {"said": str(error)})]
    copies = [] if server else damaged_files(path)
    notes = [_finding("aside", "note", {"path": str(copy)}) for copy in copies]
    if not server and not os.path.lexists(path):
        return notes
    findings = [*(_server_findings(server, settings) if server else _file_findings(path, settings))]
    try:
        cache = room.read_config(environment).cache
        for name in room.unknown_config_keys(path):
            facts: Facts = {"path": str(path.with_name(CONFIG_NAME)), "name": name}
            findings.append(_finding("unknown_key", "warning", facts))
        if cache:
            with closing(Cache(cache, "")) as client:
                if not client.is_reachable():
                    findings.append(_finding("redis", "warning", {"path": cache.name}))
    except SentinelError as error:
        findings.append(_finding("config", "error", {"said": str(error)}))
    texts = map(str, (*faults_in(environment), *find_missing(environment)))
    return [*findings, *(_finding("models", "error", {"said": text}) for text in texts), *notes]


def _finding(
    kind: str, severity: Severity, facts: Facts, fix: Callable[[], Facts | None] | None = None
) -> Finding:
    return Finding(f"fragments.health.{kind}", severity, facts=facts, fixable=bool(fix), fix=fix)


def _count_fragments(rows: Rows) -> Facts:
    live, in_bin = (sum(rows.count(Filter(state=state)).values()) for state in ("live", "bin"))
    agents = len(rows.count(Filter(state="all"), "agent"))
    return {"count": live, "in_bin": in_bin, "agents": agents}


def _file_findings(path: Path, settings: Settings) -> Iterator[Finding]:
    def put_back_copy() -> Facts:
        with closing(engine):
            repair = engine.database.put_back_copy()
        return {"aside": str(repair.aside), "copy": date_of(repair.copy)}

    def make_index() -> None:
        with closing(engine), engine.writing() as rows:
            rows.make_index()

    def hide_from_others() -> None:
        with errors_as(DatabaseError, "not_mended", path):
            for file in (Path(f"{path}{suffix}") for suffix in ("", "-wal", "-shm")):
                if file.exists() and not file.is_symlink():
                    file.chmod(stat.S_IMODE(file.stat().st_mode) & ~_OTHERS)

    place: Facts = {"path": str(path)}
    with closing(SqliteEngine(path, timeout_s=settings.lock_timeout_s)) as engine:
        try:
            flaw = engine.database.find_flaw(
                lambda file: is_index_sound(file, INDEX) and SqliteRows(file).is_index_current()
            )
            if flaw and flaw.part == "index":
                yield _finding("index", "warning", place, make_index)
            elif flaw:
                kind = "damaged" if flaw.copy else "damaged_alone"
                facts = place | {"reason": flaw.reason, "copy": flaw.copy}
                yield _finding(kind, "error", facts, put_back_copy)
        except SentinelError as error:
            yield _finding("unusable", "error", {"said": str(error)})
        status = os.lstat(path)
        mode = stat.S_IMODE(status.st_mode)
        if os.name == "posix" and mode & _OTHERS and stat.S_ISREG(status.st_mode):
            facts = place | {"mode": f"{mode:o}"}
            yield _finding("mode", "warning", facts, hide_from_others)
        try:
            with engine.reading() as rows:
                lengths = rows.run(
                    "SELECT length(embedding) / 4, count(*) FROM fragment_vectors"
                    " GROUP BY 1 ORDER BY 2 DESC, 1"
                ).fetchall()
                if len(lengths) > 1:
                    lengths_text = ", ".join(f"{length} ({count:,})" for length, count in lengths)
                    yield _finding("vectors", "warning", place | {"lengths": lengths_text})
                [schema] = rows.run("PRAGMA user_version").fetchone()
                counts = _count_fragments(rows)
        except SentinelError:  # said of the file
            return
        size = sum(size_of(f"{path}{suffix}") for suffix in ("", "-wal"))
        facts = counts | {"schema": schema, "bytes": size, "mode": f"{mode:o}", "agents": 0}
        yield _finding("ok", "ok", place | facts | {"engine": ""})


def _server_findings(server: Server, settings: Settings) -> Iterator[Finding]:
    from core.postgres.pool import ROOM_ROLE, UPKEEP_ROLE
    from rooms.fragments.storage.postgres import PostgresEngine

    def secure() -> None:
        with closing(engine):
            engine.schema.secure()  # force row security again

    place: Facts = {"path": server.name}
    try:
        with closing(PostgresEngine(server, timeout_s=settings.lock_timeout_s)) as engine:
            state = engine.schema.read_state()
            with engine.pool.login_transaction(changes=False) as connection:
                roles = [ROOM_ROLE, UPKEEP_ROLE]
                row = connection.execute(_SERVER_FACTS).fetchone()
                is_standby, size, version, vectors = row or (False, 0, "", "")
                tables = ", ".join(name for (name,) in connection.execute(_OPEN_TABLES))
                strong = ", ".join(name for (name,) in connection.execute(_STRONG_ROLES, (roles,)))
            if state.is_foreign:
                yield _finding("server_foreign", "error", place)
                return
            if tables:
                facts = place | {"names": tables}
                yield _finding("server_open", "error", facts, secure)
            if strong and state.version:
                yield _finding("server_strong", "error", place | {"names": strong})
            if not state.vector_schema or state.has_waiting_vectors:
                yield _finding("server_vectors", "note", place)
            if is_standby:
                raise ServerError("read_only", path=server.name)
            with engine.for_agent(DEFAULT_AGENT).reading():
                pass  # by the login of agents, which may be none, or too strong
            with engine.reading() as rows:
                counts = _count_fragments(rows)
            facts = counts | {"schema": state.version, "bytes": size, "mode": ""}
            facts |= {"engine": f"PostgreSQL {version}{vectors}"}
            yield _finding("ok", "ok", place | facts)
    except SentinelError as error:
        yield _finding("server_unusable", "error", {"said": str(error)})


# Secrets.

_Row = dict[str, Any]  # by column


class _Group(NamedTuple):
    """Rows that may give away each other's secrets."""

    name: str  # id of their fragment, "" for none
    kinds: tuple[str, ...]
    changes: list[tuple[Table | None, _Row, _Row]]  # None for the state; row before and after


def find_secrets(engine: Engine) -> list[SecretPlace]:
    """Return the fragments and other tables with secrets. Raises DatabaseError."""
    place = engine.name if engine.keeps_agents_apart else Path(engine.name)
    with engine.reading() as rows:
        return [SecretPlace(place, safe_name(name), kinds) for name, kinds, _ in _find_groups(rows)]


def redact_secrets(engine: Engine) -> Redaction:
    """Take the secrets out, from the bytes and a cache as well. Raises DatabaseError.

    The bytes go even if nothing is found: an earlier run may have stopped before that.
    """
    secrets = find_secrets(engine)
    if not engine.exists():
        return Redaction([], [], [])
    if secrets:
        with engine.writing() as rows:
            for group in list(_find_groups(rows)):
                _store_group(rows, group)
    if secrets and engine.keeps_agents_apart:
        with engine.writing() as rows:  # behind the triggers, which tell of agents by their names
            names = [name for (name,) in rows.run("SELECT agent_id FROM revisions").fetchall()]
            condition, values = rows.any_of("agent_id", filter(has_secret, names))
            rows.run(f"DELETE FROM revisions WHERE {condition}", values)
    is_purged = engine.purge()
    return Redaction(secrets, find_secrets(engine), [] if is_purged else [Path(engine.name)])


def _find_groups(rows: Rows) -> Iterator[_Group]:
    after = 0
    while page := _read_rows(rows, FRAGMENTS, _NEXT_PAGE, [after]):
        after = page[-1]["number"]
        condition, ids = rows.any_of("fragment_id", [row["id"] for row in page])
        versions = defaultdict[str, list[_Row]](list)
        for row in _read_rows(rows, VERSIONS, f"{condition} ORDER BY id", ids):
            versions[row["fragment_id"]].append(row)
        for row in page:
            version_rows = [(VERSIONS, version) for version in versions[row["id"]]]
            yield from _find_group(str(row["id"]), [(FRAGMENTS, row), *version_rows])
    others = [(VERSIONS, f"{_IS_ORPHAN} ORDER BY id")]
    others += [(table, f"1 = 1 ORDER BY {rows.order_clause(table.order)}") for table in _USE_TABLES]
    for table, condition in others:
        yield from _find_group("", [(table, row) for row in _read_rows(rows, table, condition)])
    columns = [*rows.state_key("", ""), "value"]
    state = rows.run(f"SELECT {', '.join(columns)} FROM state").fetchall()
    yield from _find_group("", [(None, dict(zip(columns, row, strict=True))) for row in state])


def _read_rows(rows: Rows, table: Table, condition: str, values: Iterable[Any] = ()) -> list[_Row]:
    def decode(value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return dump_json(value) if isinstance(value, list) else value

    result = rows.run(f"SELECT {table.column_list} FROM {table.name} WHERE {condition}", values)
    columns = table.columns.values()
    return [dict(zip(columns, map(decode, row), strict=True)) for row in result]


def _find_group(name: str, table_rows: Sequence[tuple[Table | None, _Row]]) -> Iterator[_Group]:
    texts = [
        {column: value for column, value in row.items() if not table or column in _TEXTS[table]}
        for table, row in table_rows
    ]
    clean_texts, kinds = redact_rows(texts, _LISTS)
    if kinds:
        changes = zip(table_rows, clean_texts, strict=True)
        yield _Group(name, kinds, [(table, row, row | new) for (table, row), new in changes])


def _store_group(rows: Rows, group: _Group) -> None:
    """Store redacted rows; a fragment gets its new hash, and a changed text loses its vector."""
    by_table = defaultdict[Table | None, list[tuple[_Row, _Row]]](list)
    for table, before, after in group.changes:
        by_table[table].append((before, after))
    for table, changes in by_table.items():
        if table is None:
            for before, after in ((old, new) for old, new in changes if old != new):
                key = {column: value for column, value in before.items() if column != "value"}
                condition = " AND ".join(f"{column} = ?" for column in key)
                rows.run(f"DELETE FROM state WHERE {condition}", key.values())
                if after["value"].isdecimal():
                    rows.count_up({after["name"]: int(after["value"])})
                else:
                    rows.set_state({after["name"]: after["value"]})
            continue
        new_rows = [table.read(list(after.values())) for _, after in changes]
        if table is FRAGMENTS:
            rows.replace([replace(row, content_hash=hash_of(row.content)) for row in new_rows])
            continue
        condition, values = "1 = 1", list[Any]()
        if table is VERSIONS:
            ids = {before["fragment_id"] for before, _ in changes}
            condition, values = rows.any_of("fragment_id", ids)
        rows.run(f"DELETE FROM {table.name} WHERE {condition}", values)
        rows.put_entries(new_rows)
