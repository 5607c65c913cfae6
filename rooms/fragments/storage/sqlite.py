"""Keeps fragments in one SQLite file of a person: FTS5 for texts, vectors beside them."""

import json
import os
import sqlite3
import struct
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from heapq import nlargest
from importlib.util import find_spec
from math import isfinite
from operator import mul
from pathlib import Path
from typing import Any

from core.disk import errors_as, locked_file, make_directory, status_of
from core.errors import BusyError
from core.program import NO_CANCELLATION, Cancellation
from core.room.database import Database, DatabaseError, Migrations
from core.room.full_text import INDEXED_VERSION, PREFIXES, SqliteTermIndex, with_pieces
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Embedding, Filter, Fragment, UpkeepError, plain_keyword
from rooms.fragments.storage.rows import (
    INDEX_STATE,
    MOST_NUMBER,
    Condition,
    Engine,
    Rows,
    Tallies,
    statements_of,
)

APPLICATION_ID = 0x534D_0002  # "SM", room three
LOCK_SUFFIX = ".upkeep.lock"
INDEX = "fragments_fts"
DIGITS = 6  # of a cosine: further digits depend on the order of adding up

_ANY_OF = "IN (SELECT value FROM json_each(?))"  # of any number of values, in one statement
_LIVE = "deleted_at = '' AND superseded_at = ''"
# What another program may have changed: the index begins with the text that it was made of.
_DIFFERENCES = (
    f"SELECT 1 FROM fragments f LEFT JOIN {INDEX} i ON i.rowid = f.number"
    f" WHERE {_LIVE} AND (i.rowid IS NULL"
    " OR substr(i.content, 1, length(f.content)) != f.content"
    " OR substr(i.topic, 1, length(f.topic)) != f.topic)",
    f"SELECT 1 FROM {INDEX}_docsize WHERE id NOT IN (SELECT number FROM fragments WHERE {_LIVE})",
    "SELECT 1 FROM fragment_keywords k LEFT JOIN fragments f USING (number)"
    f" WHERE f.number IS NULL OR is_live != ({_LIVE})",
)
_BATCH_ROWS = 500  # fragments, while an index is made; vectors that are multiplied
_FLOAT_BYTES = 4


def migrations() -> Migrations:
    """Return the schema's statements by version."""
    return list(statements_of("schema.sqlite.sql").values())


class Vectors:
    """A file's vectors in memory, for any thread. uses_numpy: None if there; else Python."""

    def __init__(self, *, uses_numpy: bool | None = None) -> None:
        self._uses_numpy, self._lock = uses_numpy, threading.Lock()
        self._file: object = None  # which was read, up to the revision
        self._vectors, self._revision = dict[int, bytes](), 0

    def nearest_cosines(
        self,
        connection: sqlite3.Connection,
        file: object,
        vector: bytes,
        pool: Collection[int],
        most: int,
    ) -> list[tuple[int, float]]:
        """Return numbers and cosines, the nearest first, of equals the newest.

        Vectors of another length, and bytes that are none, are passed over. file: identifies the
        connection's file. pool: the only numbers to find.
        """
        size = len(vector)
        if not vector or size % _FLOAT_BYTES:
            return []
        with self._lock:
            if self._file != file:
                self._file, self._vectors, self._revision = file, {}, 0
            statement = (
                "SELECT revision, number, embedding FROM fragment_vectors"
                " WHERE revision > ? ORDER BY revision"
            )
            for revision, number, embedding in connection.execute(statement, (self._revision,)):
                self._vectors[number] = embedding if isinstance(embedding, bytes) else b""
                self._revision = revision
            numbers = [number for number in pool if len(self._vectors.get(number, b"")) == size]
            vectors = [self._vectors[number] for number in numbers]
        if self._uses_numpy is None:
            self._uses_numpy = find_spec("numpy") is not None
        cosines = list[float]()
        if self._uses_numpy:
            import numpy

            query = numpy.frombuffer(vector, "<f4").astype(numpy.float64)
            with numpy.errstate(all="ignore"):  # another program may have stored no number
                for start in range(0, len(vectors), _BATCH_ROWS):
                    rows = numpy.frombuffer(b"".join(vectors[start : start + _BATCH_ROWS]), "<f4")
                    cosines += (rows.reshape(-1, len(query)).astype(numpy.float64) @ query).tolist()
        else:
            layout = struct.Struct(f"<{size // _FLOAT_BYTES}f")
            floats = layout.unpack(vector)
            cosines += [sum(map(mul, floats, layout.unpack(other))) for other in vectors]
        pairs = zip((round(cosine, DIGITS) for cosine in cosines), numbers, strict=True)
        nearest_pairs = nlargest(most, (pair for pair in pairs if isfinite(pair[0])))
        return [(number, cosine) for cosine, number in nearest_pairs]


class SqliteRows(Rows):
    """vectors: kept in memory for a file. file: identifies it."""

    lacks_moment, has_moment = "= ''", "!= ''"
    has_keyword = "number IN (SELECT number FROM fragment_keywords WHERE keyword = ?)"
    has_vector = "number IN (SELECT number FROM fragment_vectors)"
    changed_at = "max(created_at, updated_at, superseded_at, deleted_at)"
    agent_column = "+agent_id"  # nearly all are of one agent: its index is no short way to them

    def __init__(
        self, connection: sqlite3.Connection, vectors: Vectors | None = None, file: object = None
    ) -> None:
        super().__init__()
        self._connection, self._vectors, self._file = connection, vectors or Vectors(), file

    def run(self, statement: str, values: Iterable[Any] = ()) -> sqlite3.Cursor:
        arguments = list(values)
        try:
            return self._connection.execute(statement, arguments)
        except (UnicodeEncodeError, OverflowError):
            for at, value in enumerate(arguments):
                if isinstance(value, str):
                    arguments[at] = value.encode("utf-8", "backslashreplace").decode("utf-8")
                elif isinstance(value, int):
                    arguments[at] = min(value, MOST_NUMBER)
            return self._connection.execute(statement, arguments)

    def any_of(self, column: str, values: Iterable[Any]) -> Condition:
        """Half of a character, or a number too large, is found nowhere."""
        return f"{column} {_ANY_OF}", [json.dumps(list(values))]

    def encode(self, field: str, value: Any) -> Any:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value

    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        new_fragments = list[Fragment]()
        for fragment in fragments:
            row = self.row_of(fragment)
            placeholders = ", ".join("?" * len(row))
            statement = f"INSERT INTO fragments ({', '.join(row)}) VALUES ({placeholders})"
            number = self.run(statement, row.values()).lastrowid or 0
            new_fragments.append(replace(fragment, number=number))
            self.update_index(None, new_fragments[-1])
        return new_fragments

    def update_index(self, before: Fragment | None, after: Fragment | None) -> None:
        """Remove what the index holds of a fragment, then add its new text."""
        if before:
            self.run(f"DELETE FROM {INDEX} WHERE rowid = ?", [before.number])
            self.run("DELETE FROM fragment_keywords WHERE number = ?", [before.number])
        if after and after.is_live:
            texts = after.content, after.topic, " ".join(after.keywords)
            self.run(
                f"INSERT INTO {INDEX}(rowid, content, topic, keywords) VALUES (?, ?, ?, ?)",
                [after.number, *map(with_pieces, texts)],
            )
        if after:
            self._connection.executemany(
                "INSERT OR IGNORE INTO fragment_keywords VALUES (?, ?, ?)",
                [(plain_keyword(word), after.is_live, after.number) for word in after.keywords],
            )

    def term_index(self) -> SqliteTermIndex:
        return SqliteTermIndex(self._connection, INDEX)

    def make_index(self) -> None:
        """Rebuild index and keywords from the fragments."""
        self.run(f"DROP TABLE IF EXISTS {INDEX}")
        self.run(
            f"CREATE VIRTUAL TABLE {INDEX} USING fts5("
            f"content, topic, keywords, prefix='{PREFIXES}', tokenize='unicode61')"
        )
        self.run("DELETE FROM fragment_keywords")
        numbers = [number for (number,) in self.run("SELECT number FROM fragments ORDER BY 1")]
        for start in range(0, len(numbers), _BATCH_ROWS):
            for fragment in self.by_numbers(numbers[start : start + _BATCH_ROWS]):
                self.update_index(None, fragment)
        self.set_state({INDEX_STATE: str(INDEXED_VERSION)})

    def is_index_current(self) -> bool:
        """Return whether the index, unless another version made it, holds the fragments' texts."""
        if not self.is_index_of_this_version():
            return True
        return not any(self.run(f"SELECT EXISTS ({query})").fetchone()[0] for query in _DIFFERENCES)

    def mend_index(self) -> bool:
        if self.is_index_current():
            return False
        self.make_index()
        return True

    def count_keywords(self, keywords: Sequence[str], filter_: Filter, most: int) -> Tallies:
        has_keyword, words = self.any_of("keyword", map(plain_keyword, keywords))
        is_allowed, values = "is_live", list[Any]()
        if filter_ != Filter():  # else the keywords alone tell
            condition, values = self.condition_of(filter_)
            is_allowed = (
                "EXISTS (SELECT 1 FROM fragments"
                f" WHERE fragments.number = fragment_keywords.number AND {condition})"
            )
        statement = (
            f"SELECT number, count(*) FROM fragment_keywords WHERE {has_keyword} AND {is_allowed}"
            " GROUP BY number ORDER BY 2 DESC, 1 DESC LIMIT ?"
        )
        return self.run(statement, [*words, *values, most]).fetchall()

    def nearest_cosines(self, vector: bytes, filter_: Filter, most: int) -> list[tuple[int, float]]:
        condition, values = self.condition_of(filter_)
        statement = f"SELECT number FROM fragments WHERE {condition} AND {self.has_vector}"
        pool = {number for (number,) in self.run(statement, values)}
        return self._vectors.nearest_cosines(self._connection, self._file, vector, pool, most)

    def vectors(self, numbers: Iterable[int]) -> list[Embedding]:
        condition, values = self.any_of("number", numbers)
        statement = f"SELECT number, embedding FROM fragment_vectors WHERE {condition}"
        rows = self.run(f"{statement} ORDER BY number", values)
        return [Embedding(number, vector) for number, vector in rows if isinstance(vector, bytes)]

    def put_vectors(self, embeddings: Iterable[Embedding]) -> None:
        self._vectors = Vectors()  # nobody else sees these before the end, and they may never be
        self._connection.executemany(
            "INSERT OR REPLACE INTO fragment_vectors (number, embedding) VALUES (?, ?)",
            list(embeddings),
        )

    def drop_vectors(self, numbers: Iterable[int] | None = None) -> None:
        condition, values = ("1", []) if numbers is None else self.any_of("number", numbers)
        self.run(f"DELETE FROM fragment_vectors WHERE {condition}", values)


class SqliteEngine(Engine):
    """path: the file, which the first write makes, with its directory."""

    def __init__(
        self, path: Path, *, timeout_s: float, cancellation: Cancellation = NO_CANCELLATION
    ) -> None:
        self.path, self.name = path, str(path)
        self.database = Database(
            path,
            migrations(),
            application_id=APPLICATION_ID,
            timeout_s=timeout_s,
            cancellation=cancellation,
        )
        self._vectors = Vectors()

    @contextmanager
    def locked_upkeep(self, *, timeout_s: float) -> Iterator[None]:
        path = f"{self.path}{LOCK_SUFFIX}"
        try:
            with errors_as(UpkeepError, "lock", path), locked_file(path, timeout_s=timeout_s):
                yield
        except BusyError as error:
            raise schema.UpkeepBusyError(path=path) from error

    @contextmanager
    def reading(self) -> Iterator[SqliteRows]:
        with self.database.reading() as connection:
            if connection is not None:
                yield SqliteRows(connection, self._vectors, self._file_id())
                return
        with no_rows() as rows:
            yield rows

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[SqliteRows]:
        with errors_as(DatabaseError, "write", self.path):
            make_directory(self.path.parent)
        with self.database.writing(wait_s=wait_s) as connection:
            rows = SqliteRows(connection, self._vectors, self._file_id())
            if not rows.is_index_of_this_version():
                rows.make_index()
            yield rows

    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def purge(self) -> bool:
        return self.database.purge()

    def keep_copy(self) -> None:
        self.database.keep_copy()

    def close(self) -> None:
        self.database.close()
        self._vectors = Vectors()

    def _file_id(self) -> object:
        """Tell the file from another of its name, None for none."""
        status = status_of(self.path)
        return status and (status.st_dev, status.st_ino)


@contextmanager
def no_rows() -> Iterator[SqliteRows]:
    """Read an empty database in memory, where nothing was stored."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statements in migrations():
            for statement in statements:
                connection.execute(statement)
        yield SqliteRows(connection)
