"""Finds what is wrong with the fragments that a PostgreSQL server keeps, for whoever runs it.

It reads as the address's own user and as upkeep; nothing is changed. No password is in a finding.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from core.errors import SentinelError
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts
from core.postgres.errors import ServerError
from core.postgres.opening import ROOM_ROLE, UPKEEP_ROLE
from core.postgres.pool import Pool
from core.postgres.server import Server
from core.sanitizer import safe
from rooms.fragments.postgres import security, tables
from rooms.fragments.postgres.schema import Found, Schema

if TYPE_CHECKING:
    from psycopg import Connection

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


class ServerHealth(NamedTuple):
    """What is known of the server. count: None where the fragments cannot be counted.

    engine: the versions of the server and of its extension for vectors. agents: whose fragments
    there are. size: bytes of the whole database.
    """

    name: str
    findings: list[Finding]
    kept: int | None = None
    in_bin: int = 0
    agents: int = 0
    schema: int = 0
    size: int = 0
    engine: str = ""


def look_at(server: Server) -> ServerHealth:
    """Examine the fragments of a server; an error on the way becomes a finding."""
    pool = Pool(server)
    try:
        return _look(pool, Schema(pool))
    except SentinelError as error:
        return ServerHealth(server.name, [_unusable(error)])
    finally:
        pool.close()


def _look(pool: Pool, schema: Schema) -> ServerHealth:
    name = pool.server.name
    found = schema.look()
    with pool.as_login(changes=False) as connection:
        free, now, size, version, vectors = _row(connection, _FREE)
        findings = [*_about_server(connection, name, found, free, now)]
        if _row(connection, "SELECT pg_is_in_recovery()")[0]:
            findings.append(_unusable(ServerError("read_only", path=name)))
    engine = f"PostgreSQL {version.partition(' ')[0]}" + f", pgvector {vectors}" * bool(vectors)
    if not found.version:
        return ServerHealth(name, findings, kept=0, size=size, engine=engine)
    schema.is_ready()
    with pool.transaction(changes=False) as connection:
        count, in_bin, agents = _row(connection, _COUNTED)
    return ServerHealth(name, findings, count, in_bin, agents, found.version, size, engine)


def _about_server(
    connection: "Connection[Any]", name: str, found: Found, free: int, now: float
) -> Iterator[Finding]:
    if found.is_foreign:
        yield Finding("fragments_server_foreign", "error", facts={"path": name})
    if found.version:
        wanted = [*security.TABLES]
        checks: tuple[tuple[str, Severity, str, tuple[Any, ...]], ...] = (
            ("fragments_server_open", "error", _OPEN, (tables.SCHEMA, wanted)),
            ("fragments_server_strong", "error", _STRONG, ([ROOM_ROLE, UPKEEP_ROLE],)),
            ("fragments_server_index", "warning", _INVALID, (tables.SCHEMA,)),
        )
        for kind, severity, query, given in checks:
            names = [row[0] for row in connection.execute(query, given)]
            if names:
                facts: Facts = {"path": name, "names": ", ".join(names)}
                yield Finding(kind, severity, facts=facts, fixable=query is _OPEN)
        idle = [row[0] for row in connection.execute(_IDLE, (_IDLE_DAYS,))]
        if idle:
            facts = {"path": name, "names": ", ".join(map(safe, idle)), "days": _IDLE_DAYS}
            yield Finding("fragments_server_keys", "note", facts=facts)
    if not found.vectors_in or found.has_waiting_vectors:
        yield Finding("fragments_server_vectors", "note", facts={"path": name})
    if free < _FEW_FREE:
        yield Finding(
            "fragments_server_full", "warning", facts={"path": name, "free": max(free, 0)}
        )
    skew_s = round(abs(now - datetime.now(UTC).timestamp()))
    if skew_s > _MOST_SKEW_S:
        yield Finding("fragments_server_clock", "warning", facts={"path": name, "seconds": skew_s})


def _unusable(error: SentinelError) -> Finding:
    return Finding("fragments_server_unusable", "error", facts={"said": str(error)})


def _row(connection: "Connection[Any]", query: str) -> Any:
    return connection.execute(query).fetchone()
