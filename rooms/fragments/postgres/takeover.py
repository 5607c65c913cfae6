"""Takes over the tables of the specification that another program has made and filled.

The schema with them gets another name and stays as it is; its rows are copied into new tables, in
one transaction. So nothing is lost, nor anything that this program knows nothing about: whoever has
seen that all is there removes the former schema.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.notices import shown
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
# As statements, what the user lacks to take the tables over. Of a superuser it becomes no member.
_LACKING = """WITH things (name, owner) AS (
  SELECT 'SCHEMA agent_memory', nspowner FROM pg_namespace WHERE nspname = 'agent_memory'
  UNION ALL SELECT format('TABLE agent_memory.%%I', relname), relowner FROM pg_class
  WHERE relnamespace = 'agent_memory'::regnamespace AND relname = ANY (%(copied)s))
SELECT DISTINCT CASE WHEN rolsuper THEN format('ALTER %%s OWNER TO %%I', name, current_user)
  ELSE format('GRANT %%I TO %%I', rolname, current_user) END
  FROM things JOIN pg_roles o ON o.oid = owner WHERE NOT pg_has_role(owner, 'USAGE')
UNION ALL SELECT format('ALTER ROLE %%I INHERIT', rolname) FROM pg_roles
  WHERE rolname = current_user AND NOT rolinherit AND %(version)s < 160000
UNION ALL SELECT format('ALTER TABLE agent_memory.%%I NO FORCE ROW LEVEL SECURITY', relname)
  FROM pg_class, pg_roles WHERE relnamespace = 'agent_memory'::regnamespace
  AND relname = ANY (%(copied)s) AND relrowsecurity AND relforcerowsecurity
  AND rolname = current_user AND NOT (rolsuper OR rolbypassrls)
UNION ALL SELECT format('GRANT CREATE ON DATABASE %%I TO %%I', current_database(), current_user)
  WHERE NOT has_database_privilege(current_database(), 'CREATE')
UNION ALL SELECT format('GRANT USAGE ON SCHEMA %%I TO %%I', nspname, current_user)
  FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'
  AND nspname <> 'agent_memory' AND NOT has_schema_privilege(n.oid, 'USAGE')"""


@dataclass(frozen=True, slots=True)
class Former:
    """What another program has stored: rows by table, pairs in `linked_to`, vectors."""

    rows: dict[str, int]
    linked: int
    vectors: int


def former(pool: Pool) -> Former:
    """Return what there is to take over. Raises DatabaseError where it is something else."""
    with pool.as_login(changes=False) as connection, _owning(pool):
        return _counted(connection, _foreign(pool, connection))


def take_over(pool: Pool) -> Former:
    """Take the tables over; return what was copied. Raises DatabaseError; then all is as before."""
    with pool.as_login() as connection, _owning(pool):
        schema.lock(connection)
        found = _foreign(pool, connection)
        copied = [it for it in _COPIED if it in found.names]
        for table in copied:  # nothing is added while it is copied
            connection.execute(f"LOCK TABLE {tables.SCHEMA}.{table} IN SHARE MODE")
        counted = _counted(connection, found)
        connection.execute(f"ALTER SCHEMA {tables.SCHEMA} RENAME TO {FORMER}")
        schema.make_schema(connection, schema.look(connection))
        now = schema.look(connection)
        connection.execute(f"SET LOCAL search_path = {now.path}")
        _as_owner(connection, schema.table_statements(now))
        for table in copied:
            _copy(connection, table)
        if counted.linked:
            _copy_linked(connection)
        _fill(connection)
        _as_owner(connection, security.statements())
        connection.execute("RESET search_path")
    return counted


def script(pool: Pool) -> list[str]:
    """Return what an administrator runs so that the address's user may take the tables over."""
    with pool.as_login(changes=False) as connection:
        found = schema.look(connection)
        given = {"copied": list(_COPIED), "version": connection.info.server_version}
        rows = connection.execute(_LACKING, given).fetchall()
    lacking = [statement for (statement,) in rows]
    if found.vectors_in == tables.SCHEMA:
        lacking.append("ALTER EXTENSION vector SET SCHEMA public")
        found = replace(found, vectors_in="public")
    if found.has_vectors and not found.vectors_in:
        lacking.append("CREATE EXTENSION IF NOT EXISTS vector")
    lacking += schema.before(found)
    return ["BEGIN", *lacking, "COMMIT"] if lacking else []


def _counted(connection: "Connection[Any]", found: schema.Found) -> Former:
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


@contextmanager
def _owning(pool: Pool) -> Iterator[None]:
    """Say which right is missing, or of what kind the row is that does not fit."""
    from psycopg.errors import DataError, InsufficientPrivilege, IntegrityError

    try:
        yield
    except InsufficientPrivilege as error:
        reason = (error.diag.message_primary or "").strip()
        raise NotOwnerError(path=pool.server.name, reason=reason) from error
    except (DataError, IntegrityError) as error:
        reason = shown((error.diag.message_primary or "").strip())
        raise ServerError("row_unknown", path=pool.server.name, reason=reason) from error


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
    if found.vectors_in == tables.SCHEMA:  # the former schema takes it along when it is removed
        raise NotOwnerError(path=path, reason="the extension vector is in agent_memory")
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
