"""Looks for the fragments' tables on a server, and makes the missing ones.

The statements stand in `schema.postgres.sql`. `sentinel_room` is for one agent: it sees its own
fragments and those of agent `default`, and changes its own alone. `sentinel_upkeep` owns the tables
and sees all rows. Neither logs in, and no name that an agent gives itself means anything.
"""

import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.postgres.address import ServerError
from core.postgres.pool import ROOM_ROLE, UPKEEP_ROLE, Pool
from rooms.fragments.storage.rows import statements_of

if TYPE_CHECKING:
    from psycopg import Connection

_STATEMENTS_FILE = "schema.postgres.sql"
SCHEMA, ROLES = "agent_memory", (ROOM_ROLE, UPKEEP_ROLE)
SCHEMA_VERSION = 4  # the version of the tables that this program makes
VECTOR, NO_VECTOR = "vector", "real[]"  # of an embedding, with the extension and without
SPECIFIED_DIMENSIONS = 1_536
MOST_FLOATS, MOST_INDEXED = 2_000, 4_000  # dimensions of an index: of floats, of halved ones

# Keeps others from the tables until the transaction ends.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('sentinel-memory: schema', 0))"
_TRIES = 3  # while other databases of the server get their tables, too
_CLASH_CODE = "XX000"  # several have changed a role at once

TABLES = (
    *("fragments", "fragment_links", "fragment_versions", "tool_feedback", "task_feedback"),
    *("activities", "suspicions", "revisions", "state", "schema_version", "papers"),
)
_STATE_QUERY = f"""SELECT current_user,
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
class SchemaState:
    user: str  # of the address
    encoding: str
    roles: list[str]  # of ours, those that are there
    usable_roles: list[str]  # of ours, those that the user may take
    vector_schema: str  # the schema of the extension `vector`, "" without a new one
    has_vectors: bool  # whether the server offers that extension
    has_schema: bool
    table_names: list[str]  # of the tables
    embedding_type: str  # the column's type
    version: int = 0  # 0 without our tables

    @property
    def is_foreign(self) -> bool:
        """Whether another program has made the tables."""
        return bool(self.table_names) and not self.version

    @property
    def is_current(self) -> bool:
        """Whether nothing is missing."""
        return self.version == SCHEMA_VERSION and len(self.usable_roles) == len(ROLES)

    @property
    def has_waiting_vectors(self) -> bool:
        """Whether the extension came after the tables."""
        return bool(self.version and self.vector_schema) and self.embedding_type != VECTOR

    @property
    def search_path(self) -> str:
        """The schemas in which names are looked up."""
        return f"{SCHEMA}, {self.vector_schema}" if self.vector_schema else SCHEMA


class Schema:
    """The tables of one server, for the engines of a process. Safe for threads.

    Every method but `has_vectors` raises DatabaseError.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool, self._lock = pool, threading.Lock()
        self._state: SchemaState | None = None

    @property
    def has_vectors(self) -> bool:
        """Known once the tables are there."""
        state = self._state
        return bool(state and state.vector_schema and state.embedding_type == VECTOR)

    def is_ready(self) -> bool:
        """Return whether there are tables, brought up to date."""
        if self._state is None:
            state = self.read_state()
            if not state.table_names:
                return False
            if state.is_current:
                self._pool.path, self._state = state.search_path, state
            else:
                self.bring_up_to_date()
        return True

    def prepare(self) -> None:
        """Make missing tables."""
        if self._state is None:
            with self._lock:
                if not self.is_ready():
                    self.bring_up_to_date()

    def read_state(self) -> SchemaState:
        with self._pool.login_transaction(changes=False) as connection:
            return self._state_of(connection)

    def secure(self) -> None:
        """Secure existing tables anew."""
        with self._pool.login_transaction() as connection:
            connection.execute(_LOCK)
            connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
            for statement in statements_of(_STATEMENTS_FILE)["security"]:
                connection.execute(statement)

    def bring_up_to_date(self, *, with_vectors: bool = False) -> SchemaState:
        """Make what is missing, by one process. with_vectors: even rewrite a table for them."""
        path = self._pool.server.name
        for tries_left in reversed(range(_TRIES)):
            try:
                with self._pool.login_transaction() as connection:
                    connection.execute(_LOCK)
                    state = self._state_of(connection)
                    if state.is_foreign:
                        raise ServerError("schema_foreign", path=path)
                    is_done = state.is_current and not (with_vectors and state.has_waiting_vectors)
                    if not is_done and state.encoding != "UTF8":
                        raise ServerError("no_such_encoding", path=path)
                    if not is_done:
                        state = self.make_tables(connection, state)
                self._pool.path, self._state = state.search_path, state
                return state
            except ServerError as error:
                if not tries_left or error.facts.get("state") != _CLASH_CODE:
                    raise
        raise AssertionError("the last try returns or raises")

    def make_tables(self, connection: "Connection[Any]", state: SchemaState) -> SchemaState:
        """Make the missing parts in a transaction of the address's user; return what is there."""
        from psycopg import Error
        from psycopg.errors import InsufficientPrivilege

        try:
            for statement in _statements_for_user(state):
                connection.execute(statement)
            if state.vector_schema:
                for role in ROLES:  # a right that may not be granted is only a warning
                    connection.execute(f"SET LOCAL ROLE {role}")
                    connection.execute(f"SELECT '{state.vector_schema}.vector'::regtype")
                connection.execute("RESET ROLE")
            elif state.has_vectors:
                # In a savepoint: the room works without.
                with suppress(Error), connection.transaction():
                    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            state = self._state_of(connection)
            connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
            connection.execute(f"SET LOCAL search_path = {state.search_path}")
            for statement in _statements_for_owner(state):
                connection.execute(statement)
            connection.execute("RESET ROLE; RESET search_path")
            return self._state_of(connection)
        except InsufficientPrivilege as error:
            reason = (error.diag.message_primary or "").strip()
            raise ServerError("no_right", path=self._pool.server.name, reason=reason) from error

    def _state_of(self, connection: "Connection[Any]") -> SchemaState:
        from psycopg.errors import InsufficientPrivilege

        path = self._pool.server.name
        try:
            row = connection.execute(_STATE_QUERY, {"roles": list(ROLES)}).fetchone()
            state = SchemaState(*row or ())
            if "schema_version" in state.table_names:  # only the owner of the tables may read it
                connection.execute(f"SET LOCAL ROLE {UPKEEP_ROLE}")
                newest = f"SELECT max(version) FROM {SCHEMA}.schema_version"
                [version] = connection.execute(newest).fetchone() or (0,)
                connection.execute("RESET ROLE")
                state = replace(state, version=int(version or 0))
        except InsufficientPrivilege as error:
            user = _quote(connection.info.user)
            raise ServerError("not_member", path=path, user=user) from error
        if state.version > SCHEMA_VERSION:
            raise ServerError("schema_newer", path=path, found=state.version, known=SCHEMA_VERSION)
        if state.version and len(state.roles) < len(ROLES):
            raise ServerError("no_roles", path=path)
        return state


def statements_for_admin(state: SchemaState) -> list[str]:
    """Return the statements that an administrator runs for a user who may not."""
    extension = list[str]()
    if state.has_vectors:
        extension = ["CREATE EXTENSION IF NOT EXISTS vector"]
        state = replace(state, vector_schema=state.vector_schema or "public")
    return [
        "BEGIN",
        *_statements_for_user(state),
        *extension,
        f"SET LOCAL ROLE {UPKEEP_ROLE}",
        f"SET LOCAL search_path = {state.search_path}",
        *_statements_for_owner(state),
        "COMMIT",
    ]


def index_name(dimensions: int) -> str:
    return f"idx_fragments_embedding_{dimensions:d}"


def index_expression(dimensions: int) -> str:
    """Return the indexed SQL: above MOST_FLOATS dimensions floats are halved."""
    kind = "vector" if dimensions <= MOST_FLOATS else "halfvec"
    return f"embedding::{kind}({dimensions:d})"


def index_statement(dimensions: int) -> str:
    """Return the statement for an index; a question uses it by the same conditions and casts."""
    operators = "vector_cosine_ops" if dimensions <= MOST_FLOATS else "halfvec_cosine_ops"
    return (
        f"CREATE INDEX IF NOT EXISTS {index_name(dimensions)} ON {SCHEMA}.fragments USING hnsw"
        f" (({index_expression(dimensions)}) {operators}) WITH (m = 16, ef_construction = 64)"
        f" WHERE embedding IS NOT NULL AND vector_dims(embedding) = {dimensions:d}"
    )


def _statements_for_user(state: SchemaState) -> list[str]:
    """Return the statements that the address's user or an administrator runs."""
    user = _quote(state.user)
    statements = [  # another database of the server may have made them
        f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB;"
        " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        for role in ROLES
        if role not in state.roles
    ]
    statements += [f"GRANT {role} TO {user}" for role in ROLES if role not in state.usable_roles]
    if state.vector_schema not in ("", "public"):
        statements.append(f"GRANT USAGE ON SCHEMA {state.vector_schema} TO {', '.join(ROLES)}")
    if not state.has_schema:
        statements.append(f"CREATE SCHEMA {SCHEMA} AUTHORIZATION {UPKEEP_ROLE}")
    return statements


def _statements_for_owner(state: SchemaState) -> list[str]:
    """Return the statements that the owner of the tables runs."""
    sections, statements = statements_of(_STATEMENTS_FILE), list[str]()
    for version in range(state.version + 1, SCHEMA_VERSION + 1):
        kind = VECTOR if state.vector_schema else NO_VECTOR
        statements += [text.replace("EMBEDDING", kind) for text in sections[f"version {version}"]]
        statements.append(f"INSERT INTO {SCHEMA}.schema_version (version) VALUES ({version})")
    if state.has_waiting_vectors:
        statements += [
            f"DROP TRIGGER IF EXISTS revise_vectors ON {SCHEMA}.fragments",  # it knows the type
            f"ALTER TABLE {SCHEMA}.fragments ALTER COLUMN embedding TYPE vector"
            " USING embedding::vector",
        ]
    if state.vector_schema:
        statements.append(index_statement(SPECIFIED_DIMENSIONS))
    return [*statements, *sections["always"], *sections["security"]]


def _quote(user: str) -> str:
    return '"' + user.replace('"', '""') + '"'
