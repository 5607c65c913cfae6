"""Finds and repairs faults of a user's fragments, in a file or on a server."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from core.config import Settings
from core.disk import reason_of
from core.errors import SentinelError
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts
from core.postgres.errors import ServerError
from core.postgres.server import Server
from core.room.copies import date_of, kept_aside
from core.room.database import DatabaseError
from core.room.full_text import is_sound
from rooms.fragments.config import (
    config_path,
    database_path,
    database_server,
    read_config,
    unknown_keys,
)
from rooms.fragments.fragment import Wanted
from rooms.fragments.models import check, missing
from rooms.fragments.storage.redis import Cache
from rooms.fragments.storage.rows import Rows
from rooms.fragments.storage.sqlite import INDEX, SqliteEngine, SqliteRows

_OTHERS = 0o077  # of a mode: what is not for the user alone

_OPEN = """SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname = 'agent_memory' AND relkind IN ('r', 'p')
  AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1"""
_STRONG = """SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%s)
  AND (rolsuper OR rolbypassrls OR rolcanlogin) ORDER BY 1"""
_SERVER = """SELECT pg_is_in_recovery(), pg_database_size(current_database()),
  split_part(current_setting('server_version'), ' ', 1),
  coalesce((SELECT ', pgvector ' || extversion FROM pg_extension WHERE extname = 'vector'), '')"""


def look(settings: Settings, environment: Mapping[str, str]) -> list[Finding]:
    """Return faults, and the number of fragments; [] where there are none.

    Nothing changes before a finding is fixed. None holds a password.
    """
    try:
        path, server = database_path(environment), database_server(environment)
    except SentinelError as error:
        return [_said("config", error)]
    aside = (
        [] if server else [_finding("aside", "note", {"path": str(it)}) for it in kept_aside(path)]
    )
    if not server and not os.path.lexists(path):
        return aside
    found = _of_server(server, settings) if server else _of_file(path, settings)
    return [*found, *_of_settings(path, environment), *aside]


def _finding(
    kind: str, severity: Severity, facts: Facts, fix: Callable[[], Facts] | None = None
) -> Finding:
    """Return a finding. fix: repairs it, and returns further facts."""
    is_fixable = fix is not None
    return Finding(f"fragments.health.{kind}", severity, facts=facts, fixable=is_fixable, fix=fix)


def _said(kind: str, error: SentinelError) -> Finding:
    return _finding(kind, "error", {"said": str(error)})


def _counts(rows: Rows) -> Facts:
    kept, in_bin = (sum(rows.count(Wanted(state=it)).values()) for it in ("kept", "bin"))
    agents = len(rows.count(Wanted(state="all"), "agent"))
    return {"count": kept, "in_bin": in_bin, "agents": agents}


def _of_settings(path: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        cache = read_config(environment).cache
        for name in unknown_keys(path):
            facts: Facts = {"path": str(config_path(path)), "name": name}
            yield _finding("unknown_key", "warning", facts)
        if cache:
            with closing(Cache(cache, "")) as asked:
                if not asked.answers():
                    yield _finding("redis", "warning", {"path": cache.name})
    except SentinelError as error:
        yield _said("config", error)
    for problem in (*check(environment), *missing(environment)):
        yield _said("models", problem)


# A file.


def _of_file(path: Path, settings: Settings) -> Iterator[Finding]:
    place: Facts = {"path": str(path)}
    with closing(SqliteEngine(path, timeout_s=settings.lock_timeout_s)) as engine:
        try:
            flaw = engine.database.flaw(_has_whole_index)
            if flaw and flaw.of == "index":
                yield _finding("index", "warning", place, partial(_make_index, engine))
            elif flaw:
                kind = "damaged" if flaw.copy else "damaged_alone"
                facts = place | {"reason": flaw.reason, "copy": flaw.copy}
                yield _finding(kind, "error", facts, partial(_put_back_copy, engine))
        except SentinelError as error:
            yield _said("unusable", error)
        status = os.lstat(path)
        mode = stat.S_IMODE(status.st_mode)
        if os.name == "posix" and mode & _OTHERS and stat.S_ISREG(status.st_mode):
            facts = place | {"mode": f"{mode:o}"}
            yield _finding("mode", "warning", facts, partial(_take_from_others, path))
        try:
            with engine.reading() as rows:
                yield from _of_vectors(rows, place)
                [schema] = rows.run("PRAGMA user_version").fetchone()
                counts = _counts(rows)
        except SentinelError:  # said of the file
            return
        files = (Path(f"{path}{suffix}") for suffix in ("", "-wal"))
        size = sum(it.stat().st_size for it in files if it.exists())
        facts = counts | {"schema": schema, "bytes": size, "mode": f"{mode:o}", "agents": 0}
        yield _finding("ok", "ok", place | facts | {"engine": ""})


def _has_whole_index(connection: sqlite3.Connection) -> bool:
    return is_sound(connection, INDEX) and SqliteRows(connection).is_index_current()


def _of_vectors(rows: Rows, place: Facts) -> Iterator[Finding]:
    lengths = rows.run(
        "SELECT length(embedding) / 4, count(*) FROM fragment_vectors GROUP BY 1 ORDER BY 2 DESC, 1"
    ).fetchall()
    if len(lengths) > 1:
        listed = ", ".join(f"{length} ({count:,})" for length, count in lengths)
        yield _finding("vectors", "warning", place | {"lengths": listed})


def _put_back_copy(engine: SqliteEngine) -> Facts:
    try:
        with closing(engine):
            done = engine.database.put_back_copy()
    except DatabaseError:
        raise
    except OSError as error:
        raise DatabaseError("not_mended", path=engine.name, reason=reason_of(error)) from error
    return {"aside": str(done.aside), "copy": date_of(done.copy)}


def _make_index(engine: SqliteEngine) -> Facts:
    with closing(engine), engine.writing() as rows:
        rows.make_index()
    return {}


def _take_from_others(path: Path) -> Facts:
    for name in ("", "-wal", "-shm"):
        file = Path(f"{path}{name}")
        try:
            if file.exists() and not file.is_symlink():
                file.chmod(stat.S_IMODE(file.stat().st_mode) & ~_OTHERS)
        except OSError as error:
            raise DatabaseError("not_mended", path=str(path), reason=reason_of(error)) from error
    return {}


# A server.


def _of_server(server: Server, settings: Settings) -> Iterator[Finding]:
    from core.postgres.pool import ROOM_ROLE, UPKEEP_ROLE
    from rooms.fragments.storage.postgres import PostgresEngine

    place: Facts = {"path": server.name}
    try:
        with closing(PostgresEngine(server, timeout_s=settings.lock_timeout_s)) as engine:
            found = engine.schema.look()
            with engine.pool.as_login(changes=False) as connection:
                roles = [ROOM_ROLE, UPKEEP_ROLE]
                standing = connection.execute(_SERVER).fetchone()
                is_standby, size, version, vectors = standing or (False, 0, "", "")
                tables = ", ".join(name for (name,) in connection.execute(_OPEN))
                strong = ", ".join(name for (name,) in connection.execute(_STRONG, (roles,)))
            if found.is_foreign:
                yield _finding("server_foreign", "error", place)
                return
            if tables:
                repair = partial(_secure, server, settings)
                yield _finding("server_open", "error", place | {"names": tables}, repair)
            if strong and found.version:
                yield _finding("server_strong", "error", place | {"names": strong})
            if not found.vectors_in or found.has_waiting_vectors:
                yield _finding("server_vectors", "note", place)
            if is_standby:
                yield _said("server_unusable", ServerError("read_only", path=server.name))
            with engine.reading() as rows:
                counts = _counts(rows)
            facts = counts | {"schema": found.version, "bytes": size, "mode": ""}
            facts |= {"engine": f"PostgreSQL {version}{vectors}"}
            yield _finding("ok", "ok", place | facts)
    except SentinelError as error:
        yield _said("server_unusable", error)


def _secure(server: Server, settings: Settings) -> Facts:
    """Force row security again. Raises DatabaseError."""
    from rooms.fragments.storage.postgres import PostgresEngine

    with closing(PostgresEngine(server, timeout_s=settings.lock_timeout_s)) as engine:
        engine.schema.secure()
    return {}
