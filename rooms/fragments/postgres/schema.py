"""Finds out what is there of the fragments' tables on a server, and makes what is missing."""

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.postgres.errors import ServerError
from core.postgres.pool import UPKEEP_ROLE, Pool, connected
from rooms.fragments.postgres import security, tables

if TYPE_CHECKING:
    from psycopg import Connection

LOCK = "sentinel-memory: schema"
_AT_ONCE = 3  # how often it is tried while other databases of the server get their tables, too

_EMPTIED = tuple(f"{tables.SCHEMA}.{it}" for it in security.POLICIES)

_LOOK = """SELECT current_user,
  (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()),
  ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%(roles)s)),
  ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%(roles)s) AND pg_has_role(oid,
    CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)),
  (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
    WHERE extname = 'vector' AND string_to_array(extversion, '.')::int[] >= '{0,8}'),
  EXISTS (SELECT FROM pg_available_extensions
    WHERE name = 'vector' AND string_to_array(default_version, '.')::int[] >= '{0,8}'),
  (SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = 'agent_memory'),
  ARRAY(SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname = 'agent_memory' AND relkind IN ('r', 'p', 'v', 'm', 'f')),
  (SELECT typname::text FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
    WHERE attname = 'embedding' AND attrelid =
    (SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname = 'agent_memory' AND relname = 'fragments'))"""


@dataclass(frozen=True, slots=True)
class Found:
    """What is there.

    user: of the address. roles: of ours that there are; taken: that the user may take. vectors_in:
    the schema of the extension `vector`, "" without one that is new enough for `vectors.py`;
    has_vectors: whether the server has it to give. owner: of the schema, "" without one. names: of
    its tables. embedding: the type of that column. version: of the tables, 0 where there are none
    of ours.
    """

    user: str
    encoding: str
    roles: tuple[str, ...]
    taken: tuple[str, ...]
    vectors_in: str
    has_vectors: bool
    owner: str
    names: tuple[str, ...]
    embedding: str
    version: int = 0

    @property
    def is_foreign(self) -> bool:
        """Whether another program has made the tables."""
        return bool(self.names) and not self.version

    @property
    def is_current(self) -> bool:
        """Whether nothing is missing."""
        return self.version == tables.KNOWN and len(self.taken) == len(security.ROLES)

    @property
    def has_waiting_vectors(self) -> bool:
        """Whether the tables were made without the extension, and it has been added since."""
        return bool(self.version and self.vectors_in) and self.embedding != tables.VECTOR

    @property
    def path(self) -> str:
        """The schemas in which the room's names are looked up."""
        return f"{tables.SCHEMA}, {self.vectors_in}" if self.vectors_in else tables.SCHEMA


class Schema:
    """The tables of one server, as the engines of one process know them; safe for threads."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._found: Found | None = None
        self._guard = threading.Lock()

    @property
    def has_vectors(self) -> bool:
        """Whether the server compares vectors; known once the tables are there."""
        found = self._found
        return bool(found and found.vectors_in and found.embedding == tables.VECTOR)

    def is_ready(self) -> bool:
        """Return whether the tables are there; False where nothing was ever stored.

        Tables of an older version of this program are brought up to date. Raises DatabaseError.
        """
        if self._found is None:
            found = self.look()
            if not found.names:
                return False
            self._use(found if found.is_current else self._made())
        return True

    def prepare(self) -> None:
        """Make the tables where they are missing. Raises DatabaseError."""
        if self._found is None:
            with self._guard:
                if not self.is_ready():
                    self._use(self._made())

    def complete(self) -> Found:
        """Make all that is missing, also what no process makes by itself; return what is there.

        That is a column for vectors, whose table is written anew. Raises DatabaseError.
        """
        self._use(self._made(with_vectors=True))
        return self.look()

    def look(self) -> Found:
        """Return what is there. Raises DatabaseError."""
        with self._pool.as_login(changes=False) as connection:
            return self._looked(connection)

    def secure(self) -> None:
        """Secure the rows of tables that are there anew. Raises DatabaseError."""
        with self._pool.as_login() as connection:
            lock(connection)
            connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
            for statement in security.statements():
                connection.execute(statement)

    def vacuum(self) -> None:
        """Let the tables go of deleted rows that nobody sees any more. Raises DatabaseError."""
        connection = connected(self._pool.server)
        try:
            # No role is set: it would outlive this on a connection that a pooler lends on.
            skipped = list[str]()
            connection.add_notice_handler(lambda it: skipped.append(it.severity or ""))
            connection.execute(f"VACUUM {', '.join(_EMPTIED)}")
        finally:
            connection.close()
        if skipped:
            raise ServerError("no_roles", path=self._pool.server.name)

    def _use(self, found: Found) -> None:
        self._pool.path = found.path
        self._found = found

    def _made(self, *, with_vectors: bool = False) -> Found:
        """Make what is missing, in one transaction that others wait for; return what is there."""
        for left in reversed(range(_AT_ONCE)):
            try:
                with self._pool.as_login() as connection:
                    lock(connection)
                    found = self._looked(connection)
                    if found.is_foreign:
                        raise ServerError("schema_foreign", path=self._pool.server.name)
                    if not found.is_current or (with_vectors and found.has_waiting_vectors):
                        self._make(connection, found)
                        found = self._looked(connection)
                    return found
            except ServerError as error:
                if not (left and error.facts.get("state") == "XX000"):
                    raise
        raise ServerError("schema_missing", path=self._pool.server.name)

    def _make(self, connection: "Connection[Any]", found: Found) -> None:
        from psycopg.errors import InsufficientPrivilege

        path = self._pool.server.name
        if found.encoding != "UTF8":
            raise ServerError("no_such_encoding", path=path)
        try:
            make(connection, found)
        except InsufficientPrivilege as error:
            reason = (error.diag.message_primary or "").strip()
            raise ServerError("no_right", path=path, reason=reason) from error

    def _looked(self, connection: "Connection[Any]") -> Found:
        from psycopg.errors import InsufficientPrivilege

        path = self._pool.server.name
        try:
            found = look(connection)
        except InsufficientPrivilege as error:
            user = _quoted(connection.info.user)
            raise ServerError("not_member", path=path, user=user) from error
        if found.version > tables.KNOWN:
            raise ServerError("schema_newer", path=path, found=found.version, known=tables.KNOWN)
        if found.version and len(found.roles) < len(security.ROLES):
            raise ServerError("no_roles", path=path)
        return found


def lock(connection: "Connection[Any]") -> None:
    """Wait until no other process changes the tables; the lock ends with the transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (LOCK,))


def look(connection: "Connection[Any]") -> Found:
    """Return what is there, as the address's own user sees it."""
    row = connection.execute(_LOOK, {"roles": list(security.ROLES)}).fetchone()
    assert row is not None
    user, encoding, roles, taken, vectors_in, has_vectors, owner, names, embedding = row
    version = _version(connection) if "schema_version" in names else 0
    return Found(
        user, encoding, tuple(roles), tuple(taken), vectors_in or "", has_vectors, owner or "",
        tuple(names), embedding or "", version,
    )  # fmt: skip


def _version(connection: "Connection[Any]") -> int:
    """Return the version of the tables; only the role that owns them may read it."""
    connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
    row = connection.execute("SELECT max(version) FROM agent_memory.schema_version").fetchone()
    connection.execute("RESET ROLE")
    return int(row[0] or 0) if row else 0


def make(connection: "Connection[Any]", found: Found) -> None:
    """Make what is missing, in a transaction of the address's own user."""
    for statement in before(found):
        connection.execute(statement)
    if found.vectors_in:
        _try_names(connection, found.vectors_in)
    elif found.has_vectors:
        _add_extension(connection)
    now = look(connection)
    connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
    connection.execute(f"SET LOCAL search_path = {now.path}")
    for statement in inside(now):
        connection.execute(statement)
    connection.execute("RESET ROLE; RESET search_path")


def before(found: Found) -> list[str]:
    """Return what the address's own user or an administrator runs: the roles and the schema."""
    user = _quoted(found.user)
    missing = [it for it in security.ROLES if it not in found.roles]
    made = [security.make_role(it) for it in missing]
    made += [security.grant_role(it, user) for it in security.ROLES if it not in found.taken]
    if found.vectors_in not in ("", "public"):
        made.append(f"GRANT USAGE ON SCHEMA {found.vectors_in} TO {', '.join(security.ROLES)}")
    if not found.owner:
        made.append(f"CREATE SCHEMA {tables.SCHEMA} AUTHORIZATION {UPKEEP_ROLE}")
    return made


def _quoted(user: str) -> str:
    return '"' + user.replace('"', '""') + '"'


def inside(found: Found) -> list[str]:
    """Return what the owner of the tables runs: the tables, and their rows' security."""
    embedding = tables.VECTOR if found.vectors_in else tables.NO_VECTOR
    made = tables.statements(found.version, embedding)
    if found.has_waiting_vectors:
        made.append(
            "ALTER TABLE agent_memory.fragments ALTER COLUMN embedding TYPE vector"
            " USING embedding::vector"
        )
    if found.vectors_in:
        made.append(tables.vector_index(tables.SPECIFIED_DIMENSIONS))
    return made + security.statements()


def script(found: Found) -> list[str]:
    """Return what an administrator runs for a user who may not, each statement by itself."""
    with_vectors = found if found.vectors_in else replace(found, vectors_in="public")
    extension = ["CREATE EXTENSION IF NOT EXISTS vector"] if found.has_vectors else []
    return [
        "BEGIN",
        *before(found),
        *extension,
        f"SET LOCAL ROLE {UPKEEP_ROLE}",
        f"SET LOCAL search_path = {(with_vectors if found.has_vectors else found).path}",
        *inside(with_vectors if found.has_vectors else found),
        "COMMIT",
    ]


def _add_extension(connection: "Connection[Any]") -> None:
    """Add the extension where the user may; without it the room works without vectors."""
    from psycopg import Error

    try:
        with connection.transaction():  # a savepoint
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except Error:
        return


def _try_names(connection: "Connection[Any]", vectors_in: str) -> None:
    """See that both roles reach the extension: what may not be granted is only a warning."""
    for role in security.ROLES:
        connection.execute(f"SET LOCAL ROLE {role}")
        connection.execute(f"SELECT '{vectors_in}.vector'::regtype")
    connection.execute("RESET ROLE")
