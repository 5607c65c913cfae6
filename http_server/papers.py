"""Keeps keys, codes and tokens, each tied to the paper that it was given for.

They are in a SQLite file or on the team's PostgreSQL server: any process can check a token, and a
restart logs nobody out. A secret is kept as its hash alone.
"""

import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from core.config import FRAGMENTS_VARIABLE, data_directory
from core.disk import errors_as, make_directory
from core.errors import RefusedError
from core.postgres.address import is_server, server_of
from core.room.database import Database, DatabaseDamagedError, DatabaseError, Migrations
from core.text.plain import digest

if TYPE_CHECKING:
    from core.postgres.pool import Pool

# "client", "consent" and "session" were kept until 0.10; of them a client is still known.
Kind = Literal["key", "seal", "client", "answered", "code", "access", "refresh", "ended"]

FILE_NAME = "http_server.db"
APPLICATION_ID = 0x534D_0201  # "SM", the server
_WAIT_S = 10.0  # for another process that writes
_MOST_CONNECTIONS = 4  # a paper is read in a fraction of a millisecond
_COLUMNS = "kind, key, agent, parent, body, expires_at, made_at, used_at"
_UNEXPIRED = "(expires_at = 0 OR expires_at > ?)"

# fmt: off
_TABLE = """CREATE TABLE papers (
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
)"""
_PUT = f"""INSERT INTO papers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (kind, key) DO """
_OVER_FORMER = """UPDATE SET agent = excluded.agent, parent = excluded.parent, body = excluded.body,
expires_at = excluded.expires_at, made_at = excluded.made_at, used_at = excluded.used_at"""
_DROP = """DELETE FROM papers WHERE (kind, key) IN (
  WITH RECURSIVE gone (kind, key) AS (
    SELECT kind, key FROM papers WHERE kind = ? AND key = ?
    UNION SELECT child.kind, child.key FROM papers child JOIN gone ON child.parent = gone.key
    WHERE child.parent <> ''
  ) SELECT kind, key FROM gone)"""
# fmt: on
MIGRATIONS: Migrations = (
    (
        _TABLE,
        "CREATE INDEX papers_parent ON papers (parent) WHERE parent != ''",
        "CREATE INDEX papers_expiry ON papers (expires_at) WHERE expires_at != 0",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """One thing that the server remembers. Times are seconds since 1970, 0 for never."""

    kind: Kind
    key: str  # an id, or the hash of a secret
    agent: str = ""
    parent: str = ""  # the key of the paper that it was given for, and is dropped with
    body: Mapping[str, Any] = field(default_factory=dict)  # for JSON
    expires_at: float = 0.0
    made_at: float = 0.0
    used_at: float = 0.0

    @property
    def name(self) -> str:
        """Return the name of a key."""
        return str(self.body.get("name", ""))


class Papers:
    """Safe for threads and processes; every method raises DatabaseError.

    lend: gets whether anything changes, returns a transaction; a reading one may yield None
    before there is a database.
    """

    def __init__(
        self,
        place: str,  # of the database, as people are told it
        lend: Callable[[bool], AbstractContextManager[Any]],
        close: Callable[[], None],
        *,
        mark: str = "?",  # of a value in a statement
        lock: str = "",  # SQL by which a SELECT locks its row
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.place, self._lend, self.close, self.clock = place, lend, close, clock
        self._mark, self._lock = mark, lock

    def put(self, paper: Paper, *, only_new: bool = False) -> bool:
        """Store a paper over that with its key, or only a new one; return whether it was stored."""
        action = "NOTHING" if only_new else _OVER_FORMER
        with self._lend(True) as rows:
            return int(self._run(rows, _PUT + action, *_row_of(paper)).rowcount) > 0

    def keep(self, kind: Kind, key: str, lasts_s: float, **fields: Any) -> bool:
        """Put a new paper that was never there."""
        return self.put(self.make(kind, key, lasts_s, **fields), only_new=True)

    def make(self, kind: Kind, key: str, lasts_s: float, **fields: Any) -> Paper:
        """Return a paper that begins now, not stored. fields: of `Paper`."""
        now = self.clock()
        times: Any = {"expires_at": now + lasts_s, "made_at": now, "used_at": now}
        return Paper(kind=kind, key=key, **times, **fields)

    def get(self, kind: Kind, key: str) -> Paper | None:
        """Return a paper that has not expired."""
        if "\0" in key:  # which PostgreSQL refuses
            return None
        papers = self._select(f"kind = ? AND key = ? AND {_UNEXPIRED}", kind, key, self.clock())
        return papers[0] if papers else None

    def take(self, kind: Kind, key: str) -> Paper | None:
        """Remove a paper and return it; of several callers one gets it."""
        paper = self.get(kind, key)
        with self._lend(True) as rows:
            result = self._run(rows, "DELETE FROM papers WHERE kind = ? AND key = ?", kind, key)
            return paper if result.rowcount > 0 else None

    def replace(self, before: Paper, *after: Paper) -> bool:
        """Store papers in one transaction if `before` still has its body; return whether it had."""
        query = f"SELECT 1 FROM papers WHERE kind = ? AND key = ? AND body = ?{self._lock}"
        with self._lend(True) as rows:
            values = before.kind, before.key, _json_of(before.body)
            if self._run(rows, query, *values).fetchone() is None:
                return False
            for paper in after:
                self._run(rows, _PUT + _OVER_FORMER, *_row_of(paper))
            return True

    def drop(self, kind: Kind, key: str) -> int:
        """Remove a paper and those given for it, also at this moment; return their number."""
        with self._lend(True) as rows:
            # A statement sees only the rows at its beginning: children that come while it waits
            # for the paper would stay.
            query = f"SELECT 1 FROM papers WHERE kind = ? AND key = ?{self._lock}"
            self._run(rows, query, kind, key).fetchall()
            return max(int(self._run(rows, _DROP, kind, key).rowcount), 0)

    def list_all(self, kind: Kind) -> list[Paper]:
        """Return the papers of a kind that have not expired, oldest first."""
        return self._select(f"kind = ? AND {_UNEXPIRED}", kind, self.clock())

    def sweep(self) -> int:
        with self._lend(False) as rows:
            if rows is None:  # no file is made for it
                return 0
        with self._lend(True) as rows:
            statement = f"DELETE FROM papers WHERE NOT {_UNEXPIRED}"
            return int(self._run(rows, statement, self.clock()).rowcount)

    def check(self) -> None:
        """Raise DatabaseError if the papers cannot be used now."""
        with self._lend(bool(self._lock)) as rows:  # a standby of PostgreSQL begins no change
            if rows is not None:
                self._run(rows, "SELECT 1 FROM papers WHERE 1 = 0")

    def _run(self, rows: Any, statement: str, *values: object) -> Any:
        return rows.execute(statement.replace("?", self._mark), values)

    def _select(self, condition: str, *values: object) -> list[Paper]:
        statement = f"SELECT {_COLUMNS} FROM papers WHERE {condition} ORDER BY made_at, kind, key"
        with self._lend(False) as rows:
            return [_paper_from(row) for row in self._run(rows, statement, *values)] if rows else []


def sqlite_papers(path: Path, *, clock: Callable[[], float] = time.time) -> Papers:
    """Return the papers of a file, readable for its user alone; the first write makes it."""
    database = Database(path, MIGRATIONS, application_id=APPLICATION_ID, timeout_s=_WAIT_S)

    @contextmanager
    def lend(changes: bool) -> Iterator[Any]:
        if changes:
            with errors_as(DatabaseError, "write", path):
                make_directory(path.parent)
        try:
            with database.writing() if changes else database.reading() as rows:
                yield rows
        except DatabaseDamagedError as error:  # the doctor repairs rooms alone
            move = shlex.join(["mv", str(path), f"{path}.damaged"])
            rm = shlex.join(["rm", "-f", f"{path}-wal", f"{path}-shm"])
            facts = {"path": str(path), "reason": error.facts["reason"], "rm": f"{move} && {rm}"}
            raise DatabaseError("http.access.damaged", **facts) from error

    return Papers(str(path), lend, database.close, clock=clock)


def postgres_papers(pool: "Pool", *, clock: Callable[[], float] = time.time) -> Papers:
    """Run as the upkeep: no agent reads papers. pool: must look names up in `agent_memory`."""

    def lend(changes: bool) -> AbstractContextManager[Any]:
        return pool.transaction(changes=changes, in_turn=False)

    return Papers(pool.server.name, lend, pool.close, mark="%s", lock=" FOR UPDATE", clock=clock)


def papers_of(environment: Mapping[str, str]) -> Papers:
    """Choose the fragments' server, else a file, without a look at it. Raises RefusedError."""
    place = environment.get(FRAGMENTS_VARIABLE, "").strip()
    if is_server(place):
        from core.postgres.pool import Pool  # a file needs no driver

        server = replace(server_of(place, environment), most_connections=_MOST_CONNECTIONS)
        return postgres_papers(Pool(server, path="agent_memory"))
    base = data_directory(environment)
    if not base:
        raise RefusedError("http.access.no_place")
    return sqlite_papers(Path(base, FILE_NAME))


def hash_of(secret: str) -> str:
    """Return a secret's SHA-256, without salt: it has enough random bits."""
    return digest(secret)


def _json_of(body: Mapping[str, Any]) -> str:
    return json.dumps(dict(body), ensure_ascii=False)


def _row_of(paper: Paper) -> tuple[object, ...]:
    times = paper.expires_at, paper.made_at, paper.used_at
    return paper.kind, paper.key, paper.agent, paper.parent, _json_of(paper.body), *times


def _paper_from(row: Sequence[Any]) -> Paper:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    if isinstance(values["body"], str):  # PostgreSQL has read it already
        values["body"] = json.loads(values["body"])
    return Paper(**values)
