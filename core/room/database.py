"""A SQLite file of a room: acknowledged writes are on disk, and no two writers undo each other.

A write begins with `BEGIN IMMEDIATE`: a transaction that becomes one later fails where another
writes. The write-ahead log is synced at each commit; readers and a writer do not wait for each
other. https://sqlite.org/wal.html
"""

import contextlib
import os
import re
import shlex
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from core.disk import Identity, identity_of, status_of
from core.errors import DiskError, SentinelError, WaitEndedError
from core.messages import say
from core.program import NO_CANCELLATION, Cancellation
from core.room import copies
from core.room.copies import BUSY_CODES, JOURNALS, Flaw, code_of, reason_of, size_of

SQLITE = b"SQLite format 3\0"  # with which each database begins

_CREATION = re.compile(r"CREATE (?:TABLE|INDEX) (\w+)")  # SQLite keeps the statement as it is
_ALTERATION = re.compile(r"ALTER TABLE (\w+)")
_SLICE_S = 0.02  # SQLite asks ever more rarely; begun anew, a wait ends soon after its reason
_DAMAGE_CODES = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB
_NO_JOURNAL_CODES = sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR
_INDEXES = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5(%'"

# Of a database of somebody else:
_MOST_S = 60
_MOST_VALUE_BYTES = 10_000_000
_STEPS = 100_000  # between two looks at the clock
_IS_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"

# Whoever closes a file loses every lock that his process has on it, those of SQLite as well: while
# a file is made and closed, nothing else of this process opens it.
_OPENING = threading.Lock()
_FORKED_LOANS: list[object] = []  # the connections of a parent, which are never closed here

Migrations = Sequence[Sequence[str]]  # for each version the statements that lead to it
_Result = TypeVar("_Result")


class DatabaseError(DiskError):
    """A database cannot be used. Facts: path, and those of the sentence."""

    table = "disk"


class DatabaseDamagedError(DatabaseError):
    """The file, or a page of it, is damaged. Facts: path, reason, copy: a moment or ""."""

    key = "damaged"

    def sentence(self) -> str:
        return say("disk.damaged" if self.facts.get("copy") else "disk.damaged_alone", **self.facts)


class DatabaseBusyError(DatabaseError, TimeoutError):
    """Another process wrote for too long. Facts: path, waited_s."""

    key = "busy"


class DatabaseWaitEndedError(DatabaseError, WaitEndedError):
    """The call was cancelled while it waited. Facts: path."""

    key = "wait_ended"


class _File(NamedTuple):
    """Tells a file from another one of its name, and its journal; 0 for no journal."""

    device: int
    inode: int
    journal: int


class _Loan(NamedTuple):
    """A connection, its file, and the only process that may close it.

    file: None where it sees no later change.
    """

    connection: sqlite3.Connection
    file: _File | None
    process: int


class Database:
    """One SQLite file, for any number of threads; all methods raise DatabaseError.

    One connection is kept; while it is lent, a call opens another. application_id: 32 bits in the
    file that say whose it is. timeout_s: the wait for other processes.
    """

    def __init__(
        self,
        path: Path,
        migrations: Migrations,
        *,
        application_id: int,
        timeout_s: float,
        cancellation: Cancellation = NO_CANCELLATION,
    ) -> None:
        self.path = path
        self._migrations, self._application_id = migrations, application_id
        self._timeout_s, self._slice_s = timeout_s, min(_SLICE_S, timeout_s)
        self._cancellation = cancellation
        statements = list(chain.from_iterable(migrations))
        tables = {match[1] for match in map(_ALTERATION.match, statements) if match}  # altered
        creations = filter(None, map(_CREATION.match, statements))
        self._statements = {match[1]: match.string for match in creations if match[1] not in tables}
        self._kept_loans: list[_Loan] = []
        self._damage: tuple[Identity, str] | None = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection that sees one state of the data; None without a file."""
        with self._borrow("read") as loan:
            if loan is None:
                yield None
                return
            connection = loan.connection

            def begin() -> int:
                if connection.in_transaction:  # of a try before
                    connection.execute("ROLLBACK")
                connection.execute("BEGIN")
                return self._schema_version(connection)

            version = self._retry(begin)
            if 0 < version < len(self._migrations):
                connection.execute("ROLLBACK")
                with self.writing():
                    pass  # brings the schema up to date
                version = self._retry(begin)
            yield connection if version else None
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a write transaction, which is on disk once this ends without error.

        A missing file is made, a damaged one is not written. wait_s: None for `timeout_s`.
        """
        with self._borrow("write") as loan:
            if loan is None:
                raise DatabaseError("moved", path=str(self.path))
            connection = loan.connection

            def begin() -> None:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("BEGIN IMMEDIATE")

            self._retry(begin, wait_s)
            if self._cancellation.is_requested():  # while it waited for its turn
                raise DatabaseWaitEndedError(path=str(self.path))
            for statements in self._migrations[self._schema_version(connection) :]:
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {self._application_id}")
                connection.execute(f"PRAGMA user_version = {len(self._migrations)}")
            yield connection
            if self._find_same_file(loan) is None:
                raise DatabaseError("moved", path=str(self.path))
            self._retry(lambda: connection.execute("COMMIT"))

    def close(self) -> None:
        if loan := self._take_kept_loan():
            loan.connection.close()

    def purge(self) -> bool:
        """Write the file anew without deleted bytes, and remove its copies; False where that fails.

        https://sqlite.org/lang_vacuum.html, https://sqlite.org/fts5.html#the_optimize_command
        """
        is_without_copies = copies.remove_copies(self.path)
        try:
            with self.writing() as connection:
                for (index,) in connection.execute(_INDEXES).fetchall():
                    connection.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")
            with self._borrow("write") as loan:
                if loan is None:
                    return is_without_copies
                connection = loan.connection
                self._retry(lambda: connection.execute("VACUUM"))
                connection.execute(f"PRAGMA busy_timeout = {1000 * self._timeout_s:.0f}")
                [is_busy, *_] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                connection.execute(f"PRAGMA busy_timeout = {1000 * self._slice_s:.0f}")
                return not is_busy and is_without_copies
        except SentinelError:
            return False

    def find_flaw(self, is_index_whole: Callable[[sqlite3.Connection], bool]) -> Flaw | None:
        flaw = None
        try:
            with self.reading() as connection:
                if connection is not None:
                    flaw = copies.flaw_in(connection, "quick_check")
                    if flaw is None and not is_index_whole(connection):
                        flaw = Flaw("index")
        except DatabaseDamagedError as error:
            flaw = Flaw("pages", str(error.facts["reason"]))
        if flaw and flaw.part == "pages":
            with contextlib.suppress(OSError):  # `put_back_copy` says so
                copy = copies.newest_whole_copy(self.path, self._check)
                return flaw._replace(copy=copies.date_of(copy))
        return flaw

    def keep_copy(self) -> None:
        """Copy the file if that is due; an error leaves older copies."""

        def write(empty_file: Path) -> None:
            with self._borrow("copy") as loan:
                if loan:
                    loan.connection.execute("VACUUM INTO ?", (str(empty_file),))

        try:
            if copies.is_due(self.path):
                copies.keep_copy(self.path, write, self._check)
        except SentinelError:  # some are OSErrors
            raise
        except (OSError, sqlite3.Error) as error:
            raise self._error_from(error, "copy") from error

    def put_back_copy(self) -> copies.Repair:
        """Put the newest whole copy, or a new database, in the place of a damaged file.

        The damaged one stays beside it.
        """
        self.close()
        try:
            repair = copies.put_back(self.path, self._check, timeout_s=self._timeout_s)
        except sqlite3.Error as error:
            raise DatabaseBusyError(path=str(self.path), waited_s=round(self._timeout_s)) from error
        except OSError as error:
            raise self._error_from(error, "not_mended") from error
        with contextlib.suppress(SentinelError), self.writing():
            pass  # else the next write begins the new database
        return repair

    def damage_error(self, reason: str) -> DatabaseDamagedError:
        copy = ""
        with contextlib.suppress(OSError):
            copy = next(map(copies.date_of, copies.copies_of(self.path)), "")
        return DatabaseDamagedError(path=str(self.path), reason=reason, copy=copy)

    def _schema_version(self, connection: sqlite3.Connection) -> int:
        """Return the schema's version, 0 in an empty file; refuse a foreign or newer one."""
        # Whose it is comes last: another process may make all three meanwhile, in one transaction.
        [tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        [version] = connection.execute("PRAGMA user_version").fetchone()
        [application_id] = connection.execute("PRAGMA application_id").fetchone()
        newest = len(self._migrations)
        if application_id == self._application_id:
            if version > newest:
                raise DatabaseError("newer", path=str(self.path), found=version, known=newest)
            return int(version)
        if application_id or version or tables:
            raise DatabaseError("foreign", path=str(self.path))
        return 0

    def _check(self, connection: sqlite3.Connection) -> None:
        """Raise DatabaseError for a stranger's view, trigger or column: it may never end.

        Tables of other names may stay.
        """
        self._schema_version(connection)
        query = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        for kind, name, statement in connection.execute(query):
            own_statement = self._statements.get(name, statement)
            if kind in ("view", "trigger") or own_statement != statement:
                raise DatabaseError("foreign", path=str(self.path))

    @contextlib.contextmanager
    def _borrow(self, action: Literal["read", "write", "copy"]) -> Iterator[_Loan | None]:
        try:
            loan = self._retry(lambda: self._take_loan(writes=action == "write"))
        except SentinelError:  # some are OSErrors
            raise
        except (OSError, sqlite3.Error) as error:
            raise self._error_from(error, action) from error
        if loan is None:
            yield None
            return
        try:
            yield loan
        except BaseException as error:
            loan.connection.close()
            if isinstance(error, sqlite3.Error):
                raise self._error_from(error, action) from error
            raise
        file = self._find_same_file(loan)
        if file and file.journal and not self._kept_loans:
            self._kept_loans.append(loan._replace(file=file))
        else:  # without a journal, it may be a lost one's
            loan.connection.close()

    def _take_loan(self, *, writes: bool) -> _Loan | None:
        if writes and self._damage and identity_of(self.path) == self._damage[0]:
            raise self.damage_error(self._damage[1])
        file, loan = self._find_file(), self._take_kept_loan()
        if loan and loan.file:
            if file == loan.file:
                return loan
            with contextlib.suppress(sqlite3.Error):
                # Somebody removed the journal: only this connection still sees the changes in
                # it, and puts them into the database.
                if file == loan.file._replace(journal=0):
                    loan.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            loan.connection.close()
        is_new = writes and not file
        if is_new:
            with _OPENING, contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, copies.MODE))
            file = self._find_file()
        if not file:
            return None
        with _OPENING:
            for path in (f"{self.path}{suffix}" for suffix in ("", *JOURNALS)):
                if os.path.islink(path):  # SQLite would follow it
                    raise DatabaseError("link", path=path, rm=shlex.join(["rm", path]))
            journal_bytes = size_of(f"{self.path}-wal")
            is_empty = not os.path.getsize(self.path)
            if is_empty and (journal_bytes or (not is_new and copies.copies_of(self.path))):
                raise self.damage_error("the file is empty, its journal or copy is not")
            connect = partial(copies.connect, self.path, check=self._check, timeout_s=self._slice_s)
            try:
                return _Loan(connect("mode=rw"), file, os.getpid())
            except sqlite3.OperationalError as error:
                # Somebody may be writing, or changes stand in a journal only.
                needs_journal = writes or journal_bytes or os.path.exists(f"{self.path}-shm")
                if needs_journal or code_of(error) not in _NO_JOURNAL_CODES:
                    raise
            return _Loan(connect("immutable=1"), None, os.getpid())

    def _take_kept_loan(self) -> _Loan | None:
        with contextlib.suppress(IndexError):  # another thread may be faster
            loan = self._kept_loans.pop()
            if loan.process == os.getpid():
                return loan
            _FORKED_LOANS.append(loan)
        return None

    def _find_file(self) -> _File | None:
        status = status_of(self.path)
        if status is None:
            return None
        journal_status = status_of(f"{self.path}-wal")
        return _File(status.st_dev, status.st_ino, journal_status.st_ino if journal_status else 0)

    def _find_same_file(self, loan: _Loan) -> _File | None:
        with contextlib.suppress(OSError):
            file = self._find_file()
            if file and loan.file and file[:-1] == loan.file[:-1]:
                return file
        return None

    def _retry(self, action: Callable[[], _Result], wait_s: float | None = None) -> _Result:
        deadline = time.monotonic() + (self._timeout_s if wait_s is None else wait_s)
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if code_of(error) not in BUSY_CODES or time.monotonic() >= deadline:
                    raise
                if self._cancellation.ends_wait():
                    raise DatabaseWaitEndedError(path=str(self.path)) from error

    def _error_from(self, error: Exception, key: str) -> DatabaseError:
        path, reason = str(self.path), reason_of(error)
        if code_of(error) in BUSY_CODES:
            return DatabaseBusyError(path=path, waited_s=round(self._timeout_s))
        is_of_pages, code = code_of(error) in _DAMAGE_CODES, getattr(error, "sqlite_errorcode", 0)
        if is_of_pages and code != sqlite3.SQLITE_CORRUPT_VTAB:
            with contextlib.suppress(OSError):
                self._damage = identity_of(self.path), reason
        if is_of_pages or copies.is_unreadable_text(error):
            return self.damage_error(reason)
        if key == "write" and code == sqlite3.SQLITE_IOERR_FSYNC:
            key = "unsynced"  # a whole transaction in the journal counts once all have ended
        return DatabaseError(key, path=path, reason=reason)


def open_foreign(path: Path) -> sqlite3.Connection:
    """Open a database to read it for a minute at most. Raises sqlite3.Error, OSError."""
    is_settled = not size_of(f"{path}-wal")
    name = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_settled else ''}"
    connection = sqlite3.connect(name, uri=True, isolation_level=None)
    deadline = time.monotonic() + _MOST_S
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE_BYTES)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def rows_of(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, if there is one, by column. Raises sqlite3.Error."""
    if connection.execute(_IS_TABLE, (table,)).fetchone():  # a view may never end
        cursor = connection.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        yield from (dict(zip(names, row, strict=True)) for row in cursor)
