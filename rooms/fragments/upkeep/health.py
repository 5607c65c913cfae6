"""Finds what is wrong with the fragments of a user: their file, or the server that keeps them.

Nothing is changed.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.config import Settings
from core.errors import SentinelError
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts
from core.postgres.errors import ServerError
from core.postgres.opening import ROOM_ROLE, UPKEEP_ROLE
from core.postgres.pool import Pool
from core.postgres.server import Server
from core.room.copies import kept_aside
from core.room.full_text import is_sound
from core.sanitizer import safe
from rooms.fragments.config import (
    config_path,
    database_path,
    database_server,
    read_config,
    unknown_keys,
)
from rooms.fragments.models import check, missing
from rooms.fragments.postgres import security, tables
from rooms.fragments.postgres.schema import Found, Schema
from rooms.fragments.redis.place import place_of
from rooms.fragments.storage.sqlite import INDEX, SqliteEngine, SqliteRows

if TYPE_CHECKING:
    from psycopg import Connection

OTHERS = 0o077  # of a mode: what is not for the user alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is known of the fragments of a user.

    path: of the file, or the server's name. count: those that are not in the bin, None where they
    cannot be counted; in_bin: those that are. schema: the version. size: bytes of the file and its
    journal, or of the server's database. mode: who may read the file, as `chmod` takes it. engine:
    the server's version, "" for a file; agents: whose fragments it keeps.
    """

    path: Path | str
    findings: list[Finding] = field(default_factory=list)
    count: int | None = None
    in_bin: int = 0
    schema: int = 0
    size: int = 0
    mode: str = ""
    engine: str = ""
    agents: int = 0


def look(settings: Settings, environment: Mapping[str, str]) -> Health | None:
    """Examine the fragments of this user, None where there are none."""
    try:
        path, server = database_path(environment), database_server(environment)
    except SentinelError as error:
        return Health(path=Path(), findings=[_unusable("fragments.health.config", error)])
    if server:
        health = look_at(server)
        others = [*_about_settings(path, environment), *_about_redis(environment)]
        return replace(health, findings=[*health.findings, *others])
    aside = [
        Finding("fragments.health.aside", "note", facts={"path": str(it)})
        for it in kept_aside(path)
    ]
    if not os.path.lexists(path):
        return Health(path=path, findings=aside, count=0) if aside else None
    engine = SqliteEngine(path, timeout_s=settings.lock_timeout_s)
    try:
        return _look(engine, [*_about_settings(path, environment), *aside])
    finally:
        engine.close()


def _look(engine: SqliteEngine, others: list[Finding]) -> Health:
    path = engine.path
    findings, count, in_bin, schema = [*_about_file(engine)], None, 0, 0
    try:
        with engine.database.reading() as connection:
            if connection:
                count, in_bin = _counted(connection)
                schema = connection.execute("PRAGMA user_version").fetchone()[0]
                findings += _about_vectors(connection, path)
            else:
                count = 0
    except SentinelError:  # said about the file
        pass
    status = os.lstat(path)
    mode = stat.S_IMODE(status.st_mode)
    if os.name == "posix" and mode & OTHERS and stat.S_ISREG(status.st_mode):
        facts = {"path": str(path), "mode": f"{mode:o}"}
        findings.append(Finding("fragments.health.mode", "warning", facts=facts, fixable=True))
    return Health(
        path=path,
        findings=[*findings, *others],
        count=count,
        in_bin=in_bin,
        schema=schema,
        size=sum(map(_size, (path, Path(f"{path}-wal")))),
        mode=f"{mode:o}",
    )


def _about_settings(path: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what is wrong with `config.json`, and what the models that are named lack."""
    try:
        read_config(environment)
        for name in unknown_keys(path):
            facts = {"path": str(config_path(path)), "name": name}
            yield Finding("fragments.health.unknown_key", "warning", facts=facts)
    except SentinelError as error:
        yield _unusable("fragments.health.config", error)
    for problem in (*check(environment), *missing(environment)):
        yield _unusable("fragments.health.models", problem)


def _about_redis(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield that Redis is switched on and does not answer."""
    try:
        place = place_of(environment)
    except SentinelError:  # said about the settings
        return
    if place:
        from rooms.fragments.redis.client import Client

        client = Client(place)
        if not client.ask(lambda redis: redis.ping()):
            yield Finding("fragments.health.redis", "warning", facts={"path": place.name})
        client.close()


def _about_file(engine: SqliteEngine) -> Iterator[Finding]:
    facts = {"path": engine.name}
    try:
        flaw = engine.database.flaw(_has_whole_index)
    except SentinelError as error:
        yield _unusable("fragments.health.unusable", error)
        return
    if flaw and flaw.of == "index":
        yield Finding("fragments.health.index", "warning", facts=facts, fixable=True)
    elif flaw:
        facts |= {"reason": flaw.reason, "copy": flaw.copy}
        kind = "fragments.health.damaged" if flaw.copy else "fragments.health.damaged_alone"
        yield Finding(kind, "error", facts=facts, fixable=True)


def _has_whole_index(connection: sqlite3.Connection) -> bool:
    return is_sound(connection, INDEX) and SqliteRows(connection).is_index_current()


def _counted(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many fragments there are, and how many in the bin."""
    [kept, in_bin] = connection.execute(
        "SELECT count(*) FILTER (WHERE deleted_at = ''), count(*) FILTER (WHERE deleted_at != '')"
        " FROM fragments"
    ).fetchone()
    return kept, in_bin


def _about_vectors(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    rows = connection.execute(
        "SELECT length(embedding) / 4, count(*) FROM fragment_vectors GROUP BY 1 ORDER BY 2 DESC, 1"
    ).fetchall()
    if len(rows) > 1:
        told = ", ".join(f"{length} ({count:,})" for length, count in rows)
        facts = {"path": str(path), "lengths": told}
        yield Finding("fragments.health.vectors", "warning", facts=facts)


def _unusable(kind: str, error: SentinelError) -> Finding:
    """Return a finding that says an error's own sentence."""
    return Finding(kind, "error", facts={"said": str(error)})


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


# on a server

_FEW_FREE, _MOST_SKEW_S, _IDLE_DAYS = 5, 60.0, 90

_OPEN = """SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname = %s AND relname = ANY (%s) AND NOT (relrowsecurity AND relforcerowsecurity)
  ORDER BY 1"""
_STRONG = """SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%s)
  AND (rolsuper OR rolbypassrls OR rolcanlogin) ORDER BY 1"""
_INVALID = """SELECT c.relname::text FROM pg_index JOIN pg_class c ON c.oid = indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE nspname = %s AND NOT (indisvalid AND indisready) ORDER BY 1"""
_IDLE = """SELECT coalesce(body ->> 'name', '?') FROM agent_memory.papers WHERE kind = 'key'
  AND greatest(made_at, used_at) < extract(epoch FROM now()) - %s * 86400 ORDER BY 1"""
_FREE = """SELECT current_setting('max_connections')::int
  - current_setting('superuser_reserved_connections')::int - (SELECT count(*)
    FROM pg_stat_activity WHERE backend_type = 'client backend'),
  extract(epoch FROM clock_timestamp())::float8, pg_database_size(current_database()),
  current_setting('server_version'),
  coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), '')"""
_COUNTED = """SELECT count(*) FILTER (WHERE deleted_at IS NULL),
  count(*) FILTER (WHERE deleted_at IS NOT NULL), count(DISTINCT agent_id) FROM fragments"""


def look_at(server: Server) -> Health:
    """Examine the fragments of a server, as the address's own user and as upkeep.

    An error on the way becomes a finding; no password is in one.
    """
    pool = Pool(server)
    try:
        return _look_at(pool, Schema(pool))
    except SentinelError as error:
        return Health(
            path=server.name, findings=[_unusable("fragments.health.server_unusable", error)]
        )
    finally:
        pool.close()


def _look_at(pool: Pool, schema: Schema) -> Health:
    name = pool.server.name
    found = schema.look()
    with pool.as_login(changes=False) as connection:
        free, now, size, version, vectors = _row(connection, _FREE)
        findings = [*_about_server(connection, name, found, free, now)]
        if _row(connection, "SELECT pg_is_in_recovery()")[0]:
            findings.append(
                _unusable("fragments.health.server_unusable", ServerError("read_only", path=name))
            )
    engine = f"PostgreSQL {version.partition(' ')[0]}" + f", pgvector {vectors}" * bool(vectors)
    if not found.version:
        return Health(path=name, findings=findings, count=0, size=size, engine=engine)
    schema.is_ready()
    with pool.transaction(changes=False) as connection:
        count, in_bin, agents = _row(connection, _COUNTED)
    return Health(
        path=name,
        findings=findings,
        count=count,
        in_bin=in_bin,
        schema=found.version,
        size=size,
        engine=engine,
        agents=agents,
    )


def _about_server(
    connection: "Connection[Any]", name: str, found: Found, free: int, now: float
) -> Iterator[Finding]:
    if found.is_foreign:
        yield Finding("fragments.health.server_foreign", "error", facts={"path": name})
    if found.version:
        wanted = [*security.TABLES]
        checks: tuple[tuple[str, Severity, str, tuple[Any, ...]], ...] = (
            ("fragments.health.server_open", "error", _OPEN, (tables.SCHEMA, wanted)),
            ("fragments.health.server_strong", "error", _STRONG, ([ROOM_ROLE, UPKEEP_ROLE],)),
            ("fragments.health.server_index", "warning", _INVALID, (tables.SCHEMA,)),
        )
        for kind, severity, query, given in checks:
            names = [row[0] for row in connection.execute(query, given)]
            if names:
                facts: Facts = {"path": name, "names": ", ".join(names)}
                yield Finding(kind, severity, facts=facts, fixable=query is _OPEN)
        idle = [row[0] for row in connection.execute(_IDLE, (_IDLE_DAYS,))]
        if idle:
            facts = {"path": name, "names": ", ".join(map(safe, idle)), "days": _IDLE_DAYS}
            yield Finding("fragments.health.server_keys", "note", facts=facts)
    if not found.vectors_in or found.has_waiting_vectors:
        yield Finding("fragments.health.server_vectors", "note", facts={"path": name})
    if free < _FEW_FREE:
        yield Finding(
            "fragments.health.server_full", "warning", facts={"path": name, "free": max(free, 0)}
        )
    skew_s = round(abs(now - datetime.now(UTC).timestamp()))
    if skew_s > _MOST_SKEW_S:
        yield Finding(
            "fragments.health.server_clock", "warning", facts={"path": name, "seconds": skew_s}
        )


def _row(connection: "Connection[Any]", query: str) -> Any:
    return connection.execute(query).fetchone()
