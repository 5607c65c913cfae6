"""Keeps fragments on a PostgreSQL server: GIN for texts and keywords, pgvector for meaning.

Two functions of the tables' owner search by GIN, see `schema.postgres.sql`. The server compares few
vectors one by one, and many by an index; then they are compared here, as exactly as in a file.
"""

import struct
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar, cast

from core.config import DEFAULT_AGENT
from core.postgres.address import Server, ServerBusyError, ServerError
from core.postgres.pool import Pool, open_connection
from core.program import NO_CANCELLATION, Cancellation
from core.room.full_text import INDEXED_VERSION, TextRange
from core.text.terms import Term, pieces_of, verb_beginning
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Embedding, Filter, Fragment, plain_keyword
from rooms.fragments.storage import columns
from rooms.fragments.storage import postgres_schema as tables
from rooms.fragments.storage.columns import is_moment
from rooms.fragments.storage.redis import Cache, CachedRows
from rooms.fragments.storage.rows import (
    INDEX_STATE,
    MOST_NUMBER,
    ORDERS,
    Condition,
    Engine,
    Rows,
    Tallies,
    pages_of,
)
from rooms.fragments.storage.sqlite import DIGITS, no_rows

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

MOST_COMPARED = 20_000  # fragments, up to which all vectors are compared
_SPARE_VECTORS = 40  # more of the nearest than are wanted: the server adds up less exactly
_LEAST_EF, _MOST_EF = 400, 1_000  # vectors that the index holds while it looks (`ef_search`)

_MOST_CHARS = 200  # of a term: a lexeme has room for 2,046 bytes
_MOST_SPELLED = 2_000  # texts in which a similar word is looked for
_BATCH_ROWS = 500  # rows of one statement, which may have 65,535 values
_SKIPPED, _PAUSE_S = "55P03", 0.1  # a table that another one looks after; until the next try
_LIVE = "deleted_at IS NULL AND superseded_at IS NULL"
_NULLABLE_FIELDS = frozenset(
    ("content_hash", "source", "session", "last_session", "deletion", "amended_by", "promoted")
)
_TERMS_COLUMN = "found_by || array_to_tsvector(ARRAY['@' || md5(agent_id)])"  # as its index has it
# The same as the function of that name, but of all agents.
_MATCHING_SQL = f"""SELECT q.place, f.number
  FROM unnest(?::tsquery[]) WITH ORDINALITY AS q(question, place) CROSS JOIN LATERAL (
    SELECT number FROM fragments WHERE {_TERMS_COLUMN} @@ q.question AND {_LIVE}
    ORDER BY number DESC LIMIT ?) f"""
# An array, as a join with a function may read every row.
_HAS_WORDS = f"number = ANY (ARRAY(SELECT number FROM keyworded({{}}, {MOST_NUMBER}, false)))"
# None for fragments without a revision: somebody has put them there beside the tables' triggers.
_REVISIONS = """SELECT a.agent, coalesce(r.revision::text,
    CASE WHEN NOT EXISTS (SELECT FROM fragments f WHERE f.agent_id = a.agent) THEN '' END)
  FROM unnest(?::text[]) AS a(agent) LEFT JOIN revisions r ON r.agent_id = a.agent"""


class PostgresRows(Rows):
    """keeps_vectors: whether the server compares vectors."""

    lacks_moment, has_moment = "IS NULL", "IS NOT NULL"
    has_vector = "embedding IS NOT NULL"
    changed_at = "greatest(created_at, updated_at, superseded_at, deleted_at)"
    value_sql: ClassVar = {"found_by": "array_to_tsvector(?::text[])"}

    def __init__(
        self, connection: "Connection[Any]", agent: str = "", *, keeps_vectors: bool
    ) -> None:
        super().__init__(agent)
        self._cursor = columns.adapt_cursor(connection.cursor())
        self._keeps_vectors = keeps_vectors
        self._agents = (agent, DEFAULT_AGENT) if agent else ()
        self.has_keyword = _HAS_WORDS.format("ARRAY[?]") if agent else "plain_keywords @> ARRAY[?]"

    def run(
        self, statement: str, values: Iterable[Any] = (), *, binary: bool = False
    ) -> "Cursor[Any]":
        """binary: as vectors are read."""
        values = [min(value, MOST_NUMBER) if type(value) is int else value for value in values]
        return self._cursor.execute(statement.replace("?", "%s"), values, binary=binary)

    def any_of(self, column: str, values: Iterable[Any]) -> Condition:
        if column == "number":
            numbers = [number for number in values if 0 <= number <= MOST_NUMBER]
            return "number = ANY (?::bigint[])", [numbers]
        return f"{column} = ANY (?::text[])", [list(values)]

    def encode(self, field: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return list(value)
        if is_moment(field):
            if moment := columns.moment_of(value):
                return datetime.fromisoformat(moment).isoformat()
            return columns.UNKNOWN_MOMENT if field == "created_at" else None
        if field in _NULLABLE_FIELDS:
            return value or None
        return value

    def derive_columns(self, fragment: Fragment) -> dict[str, Any]:
        keywords = list(dict.fromkeys(map(plain_keyword, fragment.keywords)))
        index_columns = {"plain_keywords": keywords, "found_by": terms_of(fragment)}
        return super().derive_columns(fragment) | index_columns

    def state_key(self, agent: str, name: str) -> dict[str, str]:
        return {"agent_id": agent, "name": name}

    def order_clause(self, names: Sequence[str]) -> str:
        expressions = {name: f'{name} COLLATE "C"' for name in names}
        expressions |= {name: f"{name} NULLS FIRST" for name in names if is_moment(name)}
        return ", ".join((expressions | {"id": "id"})[name] for name in names)

    def term_index(self) -> "PostgresRows":
        """Return itself: the rows are their own index."""
        return self

    def query_for(self, term: Term) -> str:
        needle = _without_accents(term.needle)
        if term.run.startswith(term.needle) and (stem := verb_beginning(term.run)):
            return self.query_for_any((needle, stem))
        if term.begins and not term.ends:
            return f"{_lexeme_of(needle)}:*"
        words = [needle, f"{needle}s"] if term.ends and needle.isalpha() else [needle]
        return self.query_for_any(words)

    def query_for_any(self, words: Sequence[str]) -> str:
        return " | ".join(map(_lexeme_of, words))

    def words_with_prefix(self, begins: str, most: int) -> list[str]:
        """Look at the newest texts alone."""
        [numbers] = self._find_newest([f"{_lexeme_of(begins)}:*"], _MOST_SPELLED)
        condition, values = self.any_of("number", numbers)
        lexemes = "SELECT DISTINCT lexeme FROM fragments CROSS JOIN LATERAL unnest(found_by)"
        statement = f"{lexemes} WHERE {condition} AND starts_with(lexeme, ?)"
        return sorted(word for (word,) in self.run(statement, [*values, begins]))[:most]

    def newest_texts(
        self, queries: Sequence[str], most: int, within: Sequence[str] = ()
    ) -> list[list[int]]:
        restriction = f" & ({' | '.join(within)})" if within else ""
        return self._find_newest([f"({query}){restriction}" for query in queries], most)

    def _find_newest(self, queries: Sequence[str], most: int) -> list[list[int]]:
        """Return for each query the newest live texts, the newest first."""
        results: list[list[int]] = [[] for _ in queries]
        sql = "SELECT place, number FROM matching(?::tsquery[], ?)" if self.agent else _MATCHING_SQL
        for place, number in self.run(sql, [list(queries), most]):
            results[place - 1].append(number)
        return results

    def find(
        self, filter_: Filter, *, order: schema.Order = "number", limit: int = 0, offset: int = 0
    ) -> list[Fragment]:
        """Read the first of each agent by an index, unless the filter leaves few."""
        agents = list(dict.fromkeys(filter_.agents or self._agents))
        is_few = filter_.keywords or filter_.numbers is not None
        if is_few or not (limit and agents):
            return super().find(filter_, order=order, limit=limit, offset=offset)
        condition, values = self.condition_of(replace(filter_, agents=()))
        ordering = f"ORDER BY {ORDERS[order].format(self.changed_at)} LIMIT ?"
        statement = (
            f"SELECT {columns.FRAGMENTS.column_list} FROM unnest(?::text[]) AS a(agent)"
            " CROSS JOIN LATERAL (SELECT * FROM fragments WHERE agent_id = a.agent"
            f" AND {condition} {ordering}) AS fragments {ordering} OFFSET ?"
        )
        return self.fragments(statement, [agents, *values, limit + offset, limit, offset])

    def count_keywords(self, keywords: Sequence[str], filter_: Filter, most: int) -> Tallies:
        """The agents that are seen anyway are no filter: the index alone answers."""
        words = list(dict.fromkeys(map(plain_keyword, keywords)))
        is_plain = replace(filter_, agents=()) == Filter() and (
            not filter_.agents or {*self._agents} <= {*filter_.agents}
        )
        if self.agent and is_plain:
            statement = "SELECT number, times FROM keyworded(?::text[], ?, true)"
            return self.run(statement, [words, most]).fetchall()
        condition, values = self.condition_of(filter_)
        has_words = _HAS_WORDS.format("words") if self.agent else "plain_keywords && words"
        statement = (
            "SELECT number, times FROM fragments CROSS JOIN LATERAL (SELECT ?::text[] AS words) w"
            " CROSS JOIN LATERAL (SELECT count(*) AS times FROM (SELECT unnest(plain_keywords)"
            f" INTERSECT SELECT unnest(words)) shared) k WHERE {condition} AND {has_words}"
            " ORDER BY 2 DESC, 1 DESC LIMIT ?"
        )
        return self.run(statement, [words, *values, most]).fetchall()

    def nearest_cosines(self, vector: bytes, filter_: Filter, most: int) -> list[tuple[int, float]]:
        floats = columns.floats_of(vector)
        if not floats or most < 1 or not self._keeps_vectors:
            return []
        size, count, rows = len(floats), min(most, 2**31) + _SPARE_VECTORS, list[Any]()
        condition, values = self.condition_of(filter_)
        orders = ["embedding <#> ?::vector, number DESC"]
        if size <= tables.MOST_INDEXED and self.text_range().texts > MOST_COMPARED:
            ef_search = min(max(count * 2, _LEAST_EF), _MOST_EF)
            self.run("SET LOCAL hnsw.iterative_scan = strict_order")
            self.run(f"SET LOCAL hnsw.ef_search = {ef_search:d}")
            expression = tables.index_expression(size)
            orders.insert(0, f"{expression} <=> {expression.replace('embedding', '?')}")
        for order in orders:  # without the index where it finds too few
            if len(rows) < count:
                statement = (
                    f"SELECT number, embedding FROM fragments WHERE {condition} AND"
                    f" {self.has_vector} AND vector_dims(embedding) = {size} ORDER BY {order}"
                    " LIMIT ?"
                )
                arguments = [*values, str([*floats]), count]
                rows = self.run(statement, arguments, binary=True).fetchall()
        cosines = [
            (number, round(sum(map(mul, floats, columns.floats_from_server(embedding))), DIGITS))
            for number, embedding in rows
        ]
        return sorted(cosines, key=lambda pair: (-pair[1], -pair[0]))[:most]

    def vectors(self, numbers: Iterable[int]) -> list[Embedding]:
        if not self._keeps_vectors:
            return []
        condition, values = self.any_of("number", numbers)
        statement = f"SELECT number, embedding FROM fragments WHERE {condition}"
        rows = self.run(f"{statement} AND {self.has_vector} ORDER BY number", values, binary=True)
        vectors = ((number, columns.floats_from_server(value)) for number, value in rows)
        return [Embedding(number, struct.pack(f"<{len(row)}f", *row)) for number, row in vectors]

    def text_range(self) -> TextRange:
        condition, values = self.any_of("agent_id", self._agents) if self.agent else ("true", [])
        live = f"SELECT number FROM fragments WHERE agent_id = r.agent_id AND {_LIVE} ORDER BY"
        rows = self.run(
            f"SELECT ({live} number LIMIT 1), ({live} number DESC LIMIT 1), texts FROM revisions r"
            f" WHERE texts > 0 AND {condition}",
            values,
        ).fetchall()
        rows = [row for row in rows if row[0] is not None]
        first, newest, texts = zip(*rows, strict=True) if rows else ((1,), (0,), (0,))
        return TextRange(min(first), max(newest), sum(texts))

    def revisions(self) -> Mapping[str, str]:
        """Return the revision of each agent that is seen, "" for one that never had a fragment.

        Each change of what `count_keywords` and `coverage` look at makes a new one. {} for all
        agents: nobody repeats their questions.
        """
        if not self.agent:
            return {}
        revisions = dict(self.run(_REVISIONS, [list(dict.fromkeys(self._agents))]))
        return revisions if None not in revisions.values() else {}

    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        """Store many in one statement, which counts the texts once."""
        new_fragments = list[Fragment]()
        for start in range(0, len(fragments), _BATCH_ROWS):
            batch = fragments[start : start + _BATCH_ROWS]
            rows = [self.row_of(fragment) for fragment in batch]
            placeholders = ", ".join(self.value_sql.get(column, "?") for column in rows[0])
            statement = (
                f"INSERT INTO fragments ({', '.join(rows[0])}) VALUES"
                f" {', '.join([f'({placeholders})'] * len(rows))} RETURNING id, number"
            )
            numbers = dict(self.run(statement, [value for row in rows for value in row.values()]))
            new_fragments += [replace(fragment, number=numbers[fragment.id]) for fragment in batch]
        return new_fragments

    def put_vectors(self, embeddings: Iterable[Embedding]) -> None:
        """Bytes that are no vector remove one. The upkeep also makes the index of a length."""
        vectors = [(columns.floats_of(vector), number) for number, vector in embeddings]
        if not vectors or not self._keeps_vectors:
            return
        for size in {len(floats) for floats, _ in vectors} if not self.agent else ():
            name = f"{tables.SCHEMA}.{tables.index_name(size)}"
            is_missing = self.run("SELECT to_regclass(?) IS NULL", [name]).fetchone() == (True,)
            if not (is_missing and 0 < size <= tables.MOST_INDEXED):
                continue
            self.run("SET LOCAL statement_timeout = 0")  # a lost one takes as long as it needs
            self.run("SET CONSTRAINTS ALL IMMEDIATE")  # no index is made with a trigger waiting
            self.run(tables.index_statement(size))
            self.run("SET CONSTRAINTS ALL DEFERRED")
        self._cursor.executemany(
            "UPDATE fragments SET embedding = %s::vector WHERE number = %s",
            [(str([*floats]) if floats else None, number) for floats, number in vectors],
        )

    def drop_vectors(self, numbers: Iterable[int] | None = None) -> None:
        condition, values = ("true", []) if numbers is None else self.any_of("number", numbers)
        self.run(
            f"UPDATE fragments SET embedding = NULL WHERE {self.has_vector} AND {condition}", values
        )

    def mend_index(self) -> bool:
        self.run("SET LOCAL statement_timeout = 0")  # perhaps millions of rows
        changes = 0
        agents = (self.agent,) if self.agent else ()
        for page in pages_of(self, Filter(agents=agents)):
            self._cursor.executemany(
                "UPDATE fragments SET found_by = made.found_by FROM"
                " (SELECT array_to_tsvector(%s::text[]) AS found_by) made"
                " WHERE number = %s AND fragments.found_by IS DISTINCT FROM made.found_by",
                [(terms_of(fragment), fragment.number) for fragment in page],
            )
            changes += max(self._cursor.rowcount, 0)
        condition, values = self.any_of("agent_id", agents) if agents else ("true", [])
        changes += self.run(
            "UPDATE revisions SET texts = counted.texts FROM (SELECT r.agent_id AS agent,"
            f" count(f.id) AS texts FROM revisions r LEFT JOIN fragments f ON {_LIVE}"
            " AND f.agent_id = r.agent_id GROUP BY 1) counted"
            f" WHERE agent_id = agent AND revisions.texts <> counted.texts AND {condition}",
            values,
        ).rowcount
        if not self.agent:
            self.set_state({INDEX_STATE: str(INDEXED_VERSION)})
        return bool(changes)


class PostgresEngine(Engine):
    """agent: whose fragments, besides DEFAULT_AGENT's; "" for all."""

    keeps_agents_apart = True

    def __init__(
        self,
        server: Server,
        *,
        timeout_s: float,
        cancellation: Cancellation = NO_CANCELLATION,
        cache: Cache | None = None,
    ) -> None:
        self.server, self.name, self.agent, self.cache = server, server.name, "", cache
        self.pool = Pool(server, cancellation=cancellation)
        self.schema = tables.Schema(self.pool)
        self._timeout_s = timeout_s

    def keeps_vectors(self) -> bool:
        """Also without tables: nothing has to be embedded."""
        return not self.schema.is_ready() or self.schema.has_vectors

    def for_agent(self, agent: str) -> "PostgresEngine":
        other = copy(self)  # shares the connections
        other.agent = agent
        return other

    @contextmanager
    def locked_upkeep(self, *, timeout_s: float) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(self.pool.lock("upkeep", timeout_s=timeout_s))
            except ServerBusyError as error:
                raise schema.UpkeepBusyError(path=self.name) from error
            yield

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        if not self.schema.is_ready():
            with no_rows() as empty_rows:
                yield empty_rows
            return
        with self.pool.transaction(agent=self.agent, changes=False) as connection:
            rows = PostgresRows(connection, self.agent, keeps_vectors=self.schema.has_vectors)
            yield cast(Rows, CachedRows(rows, self.cache, rows.revisions)) if self.cache else rows

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Rows]:
        """One agent's changes follow each other, and upkeep's follow all."""
        self.schema.prepare()
        wait_s = self._timeout_s if wait_s is None else wait_s
        with self.pool.transaction(agent=self.agent, wait_s=wait_s) as connection:
            rows = PostgresRows(connection, self.agent, keeps_vectors=self.schema.has_vectors)
            if not (self.agent or rows.is_index_of_this_version()):
                rows.mend_index()  # the upkeep alone, as a change in a file
            yield rows

    def exists(self) -> bool:
        """Return whether the tables are there."""
        return self.schema.is_ready()

    def purge(self) -> bool:
        """Let the tables drop deleted rows that no transaction still sees, and clear the cache.

        A keyword or a question may be a secret. The server's log and backups are not touched. False
        where another one looks after a table for too long, or the login may not do so.
        """
        from psycopg import Error

        if self.cache:
            self.cache.clear()
        if not self.schema.is_ready():
            return True
        names, codes = ", ".join(f"{tables.SCHEMA}.{name}" for name in tables.TABLES), set[object]()
        deadline = time.monotonic() + self.server.wait_s
        # No role is set: it would outlive this on a connection that a pooler lends on.
        with suppress(Error, ServerError), closing(open_connection(self.server)) as connection:
            connection.add_notice_handler(lambda notice: codes.add(notice.sqlstate))
            connection.execute(f"VACUUM (SKIP_LOCKED) {names}")
            while _SKIPPED in codes and time.monotonic() < deadline:
                time.sleep(_PAUSE_S)
                codes.clear()
                connection.execute(f"VACUUM (SKIP_LOCKED) {names}")
            return not codes
        return False

    def figures(self) -> dict[str, int]:
        if not self.cache:
            return {}
        return {f"redis_{name}": self.cache.figures[name] for name in ("hits", "misses", "errors")}

    def close(self) -> None:
        if self.cache:
            self.cache.close()
        self.pool.close()


def terms_of(fragment: Fragment) -> list[str]:
    """Return the lexemes that a fragment is found by."""
    pieces = set(pieces_of(fragment.content)) | set(pieces_of(fragment.topic))
    pieces.update(pieces_of(" ".join(fragment.keywords)))
    lexemes = {*map(_without_accents, pieces), *filter(None, map(verb_beginning, pieces))}
    return sorted(lexemes - {""})


def _without_accents(piece: str) -> str:
    """Take the marks off Latin letters, as SQLite's index does."""
    if not piece.isascii():
        parts = (unicodedata.normalize("NFD", char) for char in piece)
        piece = "".join(
            part[0] if len(part) == 2 and part[0].isascii() else unicodedata.normalize("NFC", part)
            for part in parts
        )
    return piece[:_MOST_CHARS]


def _lexeme_of(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
