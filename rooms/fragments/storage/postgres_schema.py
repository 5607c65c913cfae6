"""Finds out what is there of the fragments' tables on a server, and makes what is missing.

The statements stand in `schema.postgres.sql`. `sentinel_room` has what one agent has: it sees its
own fragments and those of `default`, and changes its own alone. `sentinel_upkeep` owns the tables
and sees all rows; the program takes it for what no agent asks for. Neither logs in, and no name
that an agent gives itself means anything.
"""

import re
import threading
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.postgres.errors import ServerError
from core.postgres.pool import ROOM_ROLE, UPKEEP_ROLE, Pool

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA, ROLES = "agent_memory", (ROOM_ROLE, UPKEEP_ROLE)
KNOWN = 4  # the version of the tables that this program makes
VECTOR, NO_VECTOR = "vector", "real[]"  # of an embedding; the latter where there is no extension
SPECIFIED_DIMENSIONS = 1_536
MOST_WHOLE, MOST_INDEXED = 2_000, 4_000  # dimensions of an index: of floats, of halved ones
LOCK = "sentinel-memory: schema"

_TRIES = 3  # while other databases of the server get their tables, too
_CLASHED = "XX000"  # several have changed a role at once

TABLES = (
    *("fragments", "fragment_links", "fragment_versions", "tool_feedback", "task_feedback"),
    *("activities", "suspicions", "revisions", "state", "schema_version", "papers"),
)
_LOOK = f"""SELECT current_user,
  (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()),
  ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%(roles)s)),
  ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%(roles)s) AND pg_has_role(oid,
    CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)),
  coalesce((SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON
    n.oid = extnamespace WHERE extname = 'vector'
    AND string_to_array(extversion, '.')::int[] >= '{{0,8}}'), ''),
  EXISTS (SELECT FROM pg_available_extensions
    WHERE name = 'vector' AND string_to_array(default_version, '.')::int[] >= '{{0,8}}'),
  EXISTS (SELECT FROM pg_namespace WHERE nspname = '{SCHEMA}'),
  ARRAY(SELECT relname::text FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname = '{SCHEMA}' AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1),
  coalesce((SELECT typname::text FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
    JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname = '{SCHEMA}' AND relname = 'fragments' AND attname = 'embedding'), '')"""


@dataclass(frozen=True, slots=True)
class Found:
    """What is there.

    user: of the address. roles: of ours that there are; taken: that the user may take. vectors_in:
    the schema of the extension `vector`, "" without a new one; has_vectors: whether the server has
    it to give. names: of the tables. embedding: the type of that column. version: of the tables, 0
    where there are none of ours.
    """

    user: str
    encoding: str
    roles: list[str]
    taken: list[str]
    vectors_in: str
    has_vectors: bool
    has_schema: bool
    names: list[str]
    embedding: str
    version: int = 0

    @property
    def is_foreign(self) -> bool:
        """Whether another program has made the tables."""
        return bool(self.names) and not self.version

    @property
    def is_current(self) -> bool:
        """Whether nothing is missing."""
        return self.version == KNOWN and len(self.taken) == len(ROLES)

    @property
    def has_waiting_vectors(self) -> bool:
        """Whether the tables were made without the extension, and it has been added since."""
        return bool(self.version and self.vectors_in) and self.embedding != VECTOR

    @property
    def path(self) -> str:
        """The schemas in which the room's names are looked up."""
        return f"{SCHEMA}, {self.vectors_in}" if self.vectors_in else SCHEMA


class Schema:
    """The tables of one server, as the engines of one process know them; safe for threads."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self._guard = pool, threading.Lock()
        self._found: Found | None = None

    @property
    def has_vectors(self) -> bool:
        """Whether the server compares vectors; known once the tables are there."""
        found = self._found
        return bool(found and found.vectors_in and found.embedding == VECTOR)

    def is_ready(self) -> bool:
        """Return whether the tables are there; False where nothing was ever stored.

        Tables of an older version of this program are brought up to date. Raises DatabaseError.
        """
        if self._found is None:
            found = self.look()
            if not found.names:
                return False
            self._use(found if found.is_current else self._make())
        return True

    def prepare(self) -> None:
        """Make the tables where they are missing. Raises DatabaseError."""
        if self._found is None:
            with self._guard:
                if not self.is_ready():
                    self._use(self._make())

    def complete(self) -> Found:
        """Make all that is missing, also what no process makes by itself; return what is there.

        That is a column for vectors, whose table is written anew. Raises DatabaseError.
        """
        self._use(self._make(with_vectors=True))
        return self.look()

    def look(self) -> Found:
        """Return what is there. Raises DatabaseError."""
        with self._pool.as_login(changes=False) as connection:
            return self._looked(connection)

    def secure(self) -> None:
        """Secure the rows of tables that are there anew. Raises DatabaseError."""
        with self._pool.as_login() as connection:
            _lock(connection)
            connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
            for statement in _sections()["security"]:
                connection.execute(statement)

    def _use(self, found: Found) -> None:
        self._pool.path, self._found = found.path, found

    def _make(self, *, with_vectors: bool = False) -> Found:
        """Make what is missing, in one transaction that others wait for; return what is there."""
        path = self._pool.server.name
        for left in reversed(range(_TRIES)):
            try:
                with self._pool.as_login() as connection:
                    _lock(connection)
                    found = self._looked(connection)
                    if found.is_foreign:
                        raise ServerError("schema_foreign", path=path)
                    if found.is_current and not (with_vectors and found.has_waiting_vectors):
                        return found
                    if found.encoding != "UTF8":
                        raise ServerError("no_such_encoding", path=path)
                    make(connection, found, path)
                    return self._looked(connection)
            except ServerError as error:
                if not left or error.facts.get("state") != _CLASHED:
                    raise
        raise AssertionError("the last try returns or raises")

    def _looked(self, connection: "Connection[Any]") -> Found:
        from psycopg.errors import InsufficientPrivilege

        path = self._pool.server.name
        try:
            found = _look(connection)
        except InsufficientPrivilege as error:
            user = _quoted(connection.info.user)
            raise ServerError("not_member", path=path, user=user) from error
        if found.version > KNOWN:
            raise ServerError("schema_newer", path=path, found=found.version, known=KNOWN)
        if found.version and len(found.roles) < len(ROLES):
            raise ServerError("no_roles", path=path)
        return found


def make(connection: "Connection[Any]", found: Found, path: str) -> None:
    """Make what is missing, in a transaction of the address's own user. path: the server's name.

    Raises ServerError where the user may not.
    """
    from psycopg.errors import InsufficientPrivilege

    try:
        for statement in _statements_before(found):
            connection.execute(statement)
        if found.vectors_in:
            for role in ROLES:  # what may not be granted is only a warning
                connection.execute(f"SET LOCAL ROLE {role}")
                connection.execute(f"SELECT '{found.vectors_in}.vector'::regtype")
            connection.execute("RESET ROLE")
        elif found.has_vectors:
            _add_extension(connection)
        now = _look(connection)
        connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
        connection.execute(f"SET LOCAL search_path = {now.path}")
        for statement in _statements_inside(now):
            connection.execute(statement)
        connection.execute("RESET ROLE; RESET search_path")
    except InsufficientPrivilege as error:
        reason = (error.diag.message_primary or "").strip()
        raise ServerError("no_right", path=path, reason=reason) from error


def script(found: Found) -> list[str]:
    """Return what an administrator runs for a user who may not, each statement by itself."""
    extension = list[str]()
    if found.has_vectors:
        extension = ["CREATE EXTENSION IF NOT EXISTS vector"]
        found = replace(found, vectors_in=found.vectors_in or "public")
    return [
        "BEGIN",
        *_statements_before(found),
        *extension,
        f"SET LOCAL ROLE {UPKEEP_ROLE}",
        f"SET LOCAL search_path = {found.path}",
        *_statements_inside(found),
        "COMMIT",
    ]


def index_name(dimensions: int) -> str:
    """Return the name of the index of vectors of one length."""
    return f"idx_fragments_embedding_{dimensions:d}"


def indexed(dimensions: int) -> str:
    """Return what is indexed of a vector: above MOST_WHOLE dimensions its floats are halved."""
    kind = "vector" if dimensions <= MOST_WHOLE else "halfvec"
    return f"embedding::{kind}({dimensions:d})"


def vector_index(dimensions: int) -> str:
    """Return the statement that makes the index of vectors of one length, up to MOST_INDEXED.

    A question finds by it where it says the same two conditions and casts as it does.
    """
    operators = "vector_cosine_ops" if dimensions <= MOST_WHOLE else "halfvec_cosine_ops"
    return (
        f"CREATE INDEX IF NOT EXISTS {index_name(dimensions)} ON {SCHEMA}.fragments"
        f" USING hnsw (({indexed(dimensions)}) {operators}) WITH (m = 16, ef_construction = 64)"
        f" WHERE embedding IS NOT NULL AND vector_dims(embedding) = {dimensions:d}"
    )


@cache
def _sections() -> dict[str, list[str]]:
    """Return the statements of the file by the first words of the comment above them."""
    text = Path(__file__).with_name("schema.postgres.sql").read_text(encoding="utf-8")
    heads = re.split(r"^-- (version \d+|always|security):.*\n", text, flags=re.MULTILINE)[1:]
    bare = (re.sub(r"^--.*\n", "", body, flags=re.MULTILINE) for body in heads[1::2])
    return {
        head: [it.strip() for it in body.split(";\n\n") if it.strip()]
        for head, body in zip(heads[::2], bare, strict=True)
    }


def _look(connection: "Connection[Any]") -> Found:
    """Return what is there, as the address's own user sees it."""
    found = Found(*connection.execute(_LOOK, {"roles": list(ROLES)}).fetchone() or ())
    if "schema_version" not in found.names:
        return found
    connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")  # only the owner of the tables may read it
    row = connection.execute(f"SELECT max(version) FROM {SCHEMA}.schema_version").fetchone()
    connection.execute("RESET ROLE")
    return replace(found, version=int(row[0] or 0) if row else 0)


def _statements_before(found: Found) -> list[str]:
    """Return what the address's own user or an administrator runs: the roles and the schema."""
    user = _quoted(found.user)
    statements = [  # another database of the server may have made them
        f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB;"
        " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        for role in ROLES
        if role not in found.roles
    ]
    statements += [f"GRANT {role} TO {user}" for role in ROLES if role not in found.taken]
    if found.vectors_in not in ("", "public"):
        statements.append(f"GRANT USAGE ON SCHEMA {found.vectors_in} TO {', '.join(ROLES)}")
    if not found.has_schema:
        statements.append(f"CREATE SCHEMA {SCHEMA} AUTHORIZATION {UPKEEP_ROLE}")
    return statements


def _statements_inside(found: Found) -> list[str]:
    """Return what the owner of the tables runs: the tables, and their rows' security."""
    sections, statements = _sections(), list[str]()
    for version in range(found.version + 1, KNOWN + 1):
        kind = VECTOR if found.vectors_in else NO_VECTOR
        statements += [it.replace("EMBEDDING", kind) for it in sections[f"version {version}"]]
        statements.append(f"INSERT INTO {SCHEMA}.schema_version (version) VALUES ({version})")
    if found.has_waiting_vectors:
        statements += [
            f"DROP TRIGGER IF EXISTS revise_vectors ON {SCHEMA}.fragments",  # it knows the type
            f"ALTER TABLE {SCHEMA}.fragments ALTER COLUMN embedding TYPE vector"
            " USING embedding::vector",
        ]
    if found.vectors_in:
        statements.append(vector_index(SPECIFIED_DIMENSIONS))
    return [*statements, *sections["always"], *sections["security"]]


def _quoted(user: str) -> str:
    return '"' + user.replace('"', '""') + '"'


def _lock(connection: "Connection[Any]") -> None:
    """Wait until no other process changes the tables; the lock ends with the transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (LOCK,))


def _add_extension(connection: "Connection[Any]") -> None:
    """Add the extension where the user may; without it the room works without vectors."""
    from psycopg import Error

    try:
        with connection.transaction():  # a savepoint
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except Error:
        return
