"""Keeps the server's papers in one SQLite file, for a server of one machine."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from core.disk import make_directory, reason_of
from core.room.database import Database, DatabaseError, Migrations
from http_server.papers import COLUMNS, Kind, Paper, paper_of, row_of

FILE_NAME = "http_server.db"
APPLICATION_ID = 0x534D_0201  # "SM", the server
_WAIT_S = 10.0  # for another process that writes
_FRESH = "(expires_at = 0 OR expires_at > ?)"

# fmt: off
MIGRATIONS: Migrations = (
    (
        """CREATE TABLE papers (
  number INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  agent TEXT NOT NULL,
  parent TEXT NOT NULL,
  body TEXT NOT NULL,
  expires_at REAL NOT NULL,
  made_at REAL NOT NULL,
  used_at REAL NOT NULL,
  UNIQUE (kind, key)
)""",
        "CREATE INDEX papers_parent ON papers (parent) WHERE parent != ''",
        "CREATE INDEX papers_expiry ON papers (expires_at) WHERE expires_at != 0",
    ),
)
_WITH_CHILDREN = """WITH RECURSIVE gone (number, key) AS (
  SELECT number, key FROM papers WHERE kind = ? AND key = ?
  UNION SELECT papers.number, papers.key FROM papers JOIN gone ON papers.parent = gone.key
  WHERE papers.parent != ''
) DELETE FROM papers WHERE number IN (SELECT number FROM gone)"""
# fmt: on


class SqlitePapers:
    """See `Papers`. path: the file, which the first write makes, readable for its user alone."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path, self._clock = path, clock
        self._database = Database(
            path, MIGRATIONS, application_id=APPLICATION_ID, timeout_s=_WAIT_S
        )

    def put(self, paper: Paper) -> None:
        """See `Papers`."""
        with self._writing() as connection:
            _put(connection, paper)

    def get(self, kind: Kind, key: str) -> Paper | None:
        """See `Papers`."""
        papers = self._where(f"kind = ? AND key = ? AND {_FRESH}", kind, key, self._clock())
        return papers[0] if papers else None

    def take(self, kind: Kind, key: str) -> Paper | None:
        """See `Papers`."""
        with self._writing() as connection:
            condition = "kind = ? AND key = ?"
            papers = _selected(connection, f"{condition} AND {_FRESH}", kind, key, self._clock())
            connection.execute(f"DELETE FROM papers WHERE {condition}", (kind, key))
            return papers[0] if papers else None

    def replace(self, before: Paper, *after: Paper) -> bool:
        """See `Papers`."""
        with self._writing() as connection:
            condition = "kind = ? AND key = ?"
            if not any(
                it.body == before.body
                for it in _selected(connection, condition, before.kind, before.key)
            ):
                return False
            for paper in after:
                _put(connection, paper)
            return True

    def touch(self, kind: Kind, key: str, *, used_at: float, expires_at: float) -> bool:
        """See `Papers`."""
        with self._writing() as connection:
            statement = "UPDATE papers SET used_at = ?, expires_at = ? WHERE kind = ? AND key = ?"
            values = (used_at, expires_at, kind, key, self._clock())
            return connection.execute(f"{statement} AND {_FRESH}", values).rowcount > 0

    def drop(self, kind: Kind, key: str) -> int:
        """See `Papers`."""
        with self._writing() as connection:
            before = connection.total_changes  # a count of this statement may be -1
            connection.execute(_WITH_CHILDREN, (kind, key))
            return connection.total_changes - before

    def listed(self, kind: Kind) -> list[Paper]:
        """See `Papers`."""
        return self._where(f"kind = ? AND {_FRESH}", kind, self._clock())

    def count(self, kind: Kind) -> int:
        """See `Papers`."""
        with self._database.reading() as connection:
            if connection is None:
                return 0
            statement = f"SELECT count(*) FROM papers WHERE kind = ? AND {_FRESH}"
            [counted] = connection.execute(statement, (kind, self._clock())).fetchone()
            return int(counted)

    def expired(self, kind: Kind) -> list[Paper]:
        """See `Papers`."""
        return self._where(f"kind = ? AND NOT {_FRESH}", kind, self._clock())

    def sweep(self) -> int:
        """See `Papers`."""
        if not self.path.exists():
            return 0
        with self._writing() as connection:
            statement = f"DELETE FROM papers WHERE NOT {_FRESH}"
            return connection.execute(statement, (self._clock(),)).rowcount

    def check(self) -> None:
        """See `Papers`."""
        self._where("number = 0")

    def close(self) -> None:
        """See `Papers`."""
        self._database.close()

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        try:
            make_directory(self.path.parent)
        except OSError as error:
            raise DatabaseError("write", path=str(self.path), reason=reason_of(error)) from error
        return self._database.writing()

    def _where(self, condition: str, *values: object) -> list[Paper]:
        with self._database.reading() as connection:
            return [] if connection is None else _selected(connection, condition, *values)


def _selected(connection: sqlite3.Connection, condition: str, *values: object) -> list[Paper]:
    """Return the papers that a condition holds for, the oldest first."""
    statement = f"SELECT {COLUMNS} FROM papers WHERE {condition} ORDER BY made_at, number"
    return [paper_of(row) for row in connection.execute(statement, values)]


def _put(connection: sqlite3.Connection, paper: Paper) -> None:
    row = row_of(paper)
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT OR REPLACE INTO papers ({COLUMNS}) VALUES ({marks})", row)
