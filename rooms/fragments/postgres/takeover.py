"""Takes over the tables of the specification that another program has made and filled.

The schema with them gets another name and stays as it is; its rows are copied into new tables, in
one transaction. So nothing is lost, nor anything that this program knows nothing about: whoever has
seen that all is there removes the former schema.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.postgres.errors import NotOwnerError, SchemaForeignError, ServerError
from core.postgres.opening import UPKEEP_ROLE
from core.postgres.pool import Pool
from rooms.fragments.fragment import Fragment, hash_of, plain_keyword
from rooms.fragments.kinds import TYPES
from rooms.fragments.postgres import schema, security, tables, terms
from rooms.fragments.postgres.values import speaking

if TYPE_CHECKING:
    from psycopg import Connection

FORMER = "agent_memory_before"
_COPIED = ("fragments", "fragment_links", "fragment_versions", "tool_feedback", "task_feedback")
_NEEDED = frozenset(("id", "content", "topic", "keywords", "type", "importance"))
_AT_ONCE = 500
_COLUMNS = """SELECT attname::text, format_type(atttypid, atttypmod), attnotnull,
  pg_get_expr(adbin, adrelid) FROM pg_attribute LEFT JOIN pg_attrdef d
  ON d.adrelid = attrelid AND d.adnum = attnum
  WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""


@dataclass(frozen=True, slots=True)
class Former:
    """What another program has stored: rows by table, pairs in `linked_to`, vectors."""

    rows: dict[str, int]
    linked: int
    vectors: int


def former(pool: Pool) -> Former:
    """Return what there is to take over. Raises DatabaseError where it is something else."""
    with pool.as_login(changes=False) as connection, _owning(pool):
        found = _foreign(pool, connection)
        connection.execute("SET LOCAL row_security = off")  # hidden rows are an error
        rows = {
            it: _count(connection, f"SELECT count(*) FROM {tables.SCHEMA}.{it}")
            for it in _COPIED
            if it in found.names
        }
        columns = {name for name, *_ in _columns(connection, f"{tables.SCHEMA}.fragments")}
        whole = f"FROM {tables.SCHEMA}.fragments"
        linked = f"SELECT coalesce(sum(cardinality(linked_to)), 0) {whole}"
        vectors = f"SELECT count(embedding) {whole}"
        return Former(
            rows,
            _count(connection, linked) if "linked_to" in columns else 0,
            _count(connection, vectors) if "embedding" in columns else 0,
        )


def take_over(pool: Pool) -> Former:
    """Take the tables over; return what was copied. Raises DatabaseError; then all is as before."""
    counted = former(pool)
    with pool.as_login() as connection, _owning(pool):
        schema.lock(connection)
        found = _foreign(pool, connection)
        connection.execute(f"ALTER SCHEMA {tables.SCHEMA} RENAME TO {FORMER}")
        schema.make_schema(connection, schema.look(connection))
        now = schema.look(connection)
        connection.execute(f"SET LOCAL search_path = {now.path}")
        _as_owner(connection, schema.table_statements(now))
        connection.execute("SET LOCAL row_security = off")
        for table in _COPIED:
            if table in found.names:
                _copy(connection, table)
        if counted.linked:
            _copy_linked(connection)
        _fill(connection)
        _as_owner(connection, security.statements())
        connection.execute("RESET search_path")
    return counted


@contextmanager
def _owning(pool: Pool) -> Iterator[None]:
    """Say of a right that is missing that the tables are somebody else's."""
    from psycopg.errors import InsufficientPrivilege

    try:
        yield
    except InsufficientPrivilege as error:
        reason = (error.diag.message_primary or "").strip()
        raise NotOwnerError(path=pool.server.name, reason=reason) from error


def _foreign(pool: Pool, connection: "Connection[Any]") -> schema.Found:
    """Return what is there, if it is of another program. Raises DatabaseError for anything else."""
    found, path = schema.look(connection), pool.server.name
    if not found.is_foreign or "fragments" not in found.names:
        raise (
            SchemaForeignError(path=path)
            if found.is_foreign
            else ServerError("schema_unknown", path=path, reason="nothing of another program")
        )
    lacks = _NEEDED - {name for name, *_ in _columns(connection, f"{tables.SCHEMA}.fragments")}
    if lacks:
        raise ServerError("schema_unknown", path=path, reason=f"fragments: {', '.join(lacks)}")
    if _count(connection, f"SELECT count(*) FROM pg_namespace WHERE nspname = '{FORMER}'"):
        raise ServerError("schema_unknown", path=path, reason=f"{FORMER} exists")
    return found


def _as_owner(connection: "Connection[Any]", statements: list[str]) -> None:
    connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
    for statement in statements:
        connection.execute(statement)
    connection.execute("RESET ROLE")


def _copy(connection: "Connection[Any]", table: str) -> None:
    """Copy the rows of a table: the columns that both have, and for what is missing our default."""
    before = {name: kind for name, kind, *_ in _columns(connection, f"{FORMER}.{table}")}
    targets, values = [], []
    for name, kind, is_needed, default in _columns(connection, f"{tables.SCHEMA}.{table}"):
        if name in before:
            # 0.3 of single precision is 0.3 in ours, not 0.30000001192092896
            value = f"f.{name}::text" if before[name] == "real" else f"f.{name}"
            value = f"{value}::{kind}"
            targets.append(name)
            values.append(f"coalesce({value}, {default})" if is_needed and default else value)
        elif name == "agent_id":
            targets.append(name)
            values.append("'default'")
    connection.execute(
        f"INSERT INTO {tables.SCHEMA}.{table} ({', '.join(targets)})"
        f" SELECT {', '.join(values)} FROM {FORMER}.{table} f ORDER BY f.id"
    )
    identity = "number" if table == "fragments" else "id"
    if identity in targets:
        connection.execute(
            f"SELECT setval(pg_get_serial_sequence('{tables.SCHEMA}.{table}', '{identity}'),"
            f" max({identity})) FROM {tables.SCHEMA}.{table} HAVING count(*) > 0"
        )


def _copy_linked(connection: "Connection[Any]") -> None:
    """Make links of the pairs in `linked_to` that are in neither direction linked yet."""
    connection.execute(
        "INSERT INTO agent_memory.fragment_links (from_id, to_id, created_at)"
        " SELECT DISTINCT ON (least(f.id, o.id), greatest(f.id, o.id)) f.id, o.id, f.created_at"
        f" FROM {FORMER}.fragments f CROSS JOIN LATERAL unnest(f.linked_to) AS u (id)"
        f" JOIN {FORMER}.fragments o ON o.id = u.id AND o.id <> f.id"
        " WHERE NOT EXISTS (SELECT FROM agent_memory.fragment_links l WHERE"
        " (l.from_id, l.to_id) = (f.id, o.id) OR (l.from_id, l.to_id) = (o.id, f.id))"
        " ORDER BY least(f.id, o.id), greatest(f.id, o.id), f.created_at, f.id"
    )


def _fill(connection: "Connection[Any]") -> None:
    """Fill in what this program knows of a text that another one does not."""
    cursor = speaking(connection.cursor())
    for some in _pages(cursor):
        terms.put(cursor, {(it.agent, it.number): terms.terms_of(it) for it in some})
        cursor.executemany(
            "UPDATE agent_memory.fragments SET plain_topic = %s, plain_keywords = %s,"
            " content_hash = %s, lifetime = %s, stale_days = %s WHERE number = %s",
            [_known(it) for it in some],
        )
    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no table with work to come can be secured


def _pages(cursor: Any) -> Iterator[list[Fragment]]:
    names = ("number", "id", "agent", "content", "topic", "keywords", "kind")
    last = 0
    while True:
        cursor.execute(
            "SELECT number, id, agent_id, content, topic, keywords, type FROM"
            " agent_memory.fragments WHERE number > %s ORDER BY number LIMIT %s",
            (last, _AT_ONCE),
        )
        some = [Fragment(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
        if not some:
            return
        last = some[-1].number
        yield some


def _known(it: Fragment) -> tuple[Any, ...]:
    row = TYPES.get(it.kind, TYPES["fact"])
    keywords = list(dict.fromkeys(map(plain_keyword, it.keywords)))
    return (
        *(plain_keyword(it.topic), keywords, hash_of(it.content)),
        *(row.lifetime, row.stale_days, it.number),
    )


def _columns(connection: "Connection[Any]", table: str) -> list[Any]:
    return connection.execute(_COLUMNS, (table,)).fetchall()


def _count(connection: "Connection[Any]", statement: str) -> int:
    row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0
