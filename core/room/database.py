"""Opens a SQLite file so that what it acknowledges is on disk, and no two writers undo each other.

Every write is one transaction that begins as one (`BEGIN IMMEDIATE`): a transaction that only
turns into a write later fails at once where another writes, whatever the time it may wait. The
journal is a write-ahead log, synced at each commit, so that readers and a writer do not wait for
each other. https://sqlite.org/wal.html, https://sqlite.org/lang_transaction.html
"""

import contextlib
import re
import shlex
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from core.disk import Identity, identity_of
from core.errors import DiskError, SentinelError, WaitEndedError
from core.messages import say
from core.program import NO_CANCELLATION, Cancellation, shown
from core.room import copies
from core.room.connections import Connections, EmptiedError, Lent, LinkError

_MADE = re.compile(r"CREATE (?:TABLE|INDEX) (\w+)")  # SQLite keeps the statement as it is
_ALTERED = re.compile(r"ALTER TABLE (\w+)")
_SLICE_S = 0.02  # SQLite asks ever more rarely; begun anew, a wait ends soon after its reason
_BUSY = sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL
_DAMAGED = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB
_REASON_CHARS = 200
_MOST_FLAWS = 3
_INDEXES = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5(%'"

Migrations = Sequence[Sequence[str]]  # for each version the statements that lead to it
_Result = TypeVar("_Result")


class DatabaseError(DiskError):
    """A database cannot be used. Facts: path, and what the sentence of the key names."""

    table = "disk"


class DatabaseDamagedError(DatabaseError):
    """The file is no database any more, or a page of it is not. Facts: path, reason, copy.

    copy: the moment of the newest copy, "" without one.
    """

    key = "damaged"

    def sentence(self) -> str:
        """Say which copy there is, or that there is none."""
        return say("disk.damaged" if self.facts.get("copy") else "disk.damaged_alone", **self.facts)


class DatabaseNewerError(DatabaseError):
    """A newer version of the program has written it. Facts: path, found, known."""

    key = "newer"


class DatabaseForeignError(DatabaseError):
    """Another program's database has this name. Facts: path."""

    key = "foreign"


class DatabaseLinkError(DatabaseError):
    """A symbolic link has this name, or that of a journal beside it. Facts: path, rm."""

    key = "link"


class DatabaseMovedError(DatabaseError):
    """The file was removed or replaced while it was being written. Facts: path."""

    key = "moved"


class DatabaseReadError(DatabaseError):
    """The file is there and cannot be read. Facts: path, reason."""

    key = "read"


class DatabaseWriteError(DatabaseError):
    """The file cannot be written; it is unchanged. Facts: path, reason."""

    key = "write"


class DatabaseCopyError(DatabaseError):
    """The daily copy could not be made. Facts: path, reason."""

    key = "copy"


class DatabaseBusyError(DatabaseError, TimeoutError):
    """Another process wrote for too long. Facts: path, waited_s."""

    key = "busy"


class DatabaseWaitEndedError(DatabaseError, WaitEndedError):
    """The wait for another process ended early: the call was cancelled. Facts: path."""

    key = "wait_ended"


class NotMendedError(DiskError):
    """A file could not be repaired. Facts: path, reason."""

    key = "not_mended"
    table = "upkeep"


class Flaw(NamedTuple):
    """What is wrong: pages are damaged, or the index alone. reason: what SQLite says of pages."""

    of: Literal["pages", "index"]
    reason: str = ""


class _Schema:
    """The tables that a database should have."""

    def __init__(self, path: Path, migrations: Migrations, application_id: int) -> None:
        self._path, self._migrations, self._application_id = path, migrations, application_id
        self.known = len(migrations)
        statements = [statement for version in migrations for statement in version]
        altered = {it[1] for it in map(_ALTERED.match, statements) if it}  # no longer as made
        made = (it for it in map(_MADE.match, statements) if it)
        self._statements = {it[1]: it.string for it in made if it[1] not in altered}

    def version(self, connection: sqlite3.Connection) -> int:
        """Return the version that is there, 0 in a file that is still empty."""
        # Whose it is comes last: another process may make all three meanwhile, in one transaction.
        [tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        [version] = connection.execute("PRAGMA user_version").fetchone()
        [application_id] = connection.execute("PRAGMA application_id").fetchone()
        if application_id == self._application_id:
            if version > self.known:
                raise DatabaseNewerError(path=str(self._path), found=version, known=self.known)
            return int(version)
        if application_id or version or tables:
            raise DatabaseForeignError(path=str(self._path))
        return 0

    def check(self, connection: sqlite3.Connection) -> None:
        """Raise DatabaseError for what is not ours: a view, a trigger or a column that somebody
        else has thought of could run for ever. Tables of other names are nobody's business.
        """
        self.version(connection)
        parts = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        for kind, name, statement in connection.execute(parts):
            ours = self._statements.get(name, statement)
            if kind in ("view", "trigger") or ours != statement:
                raise DatabaseForeignError(path=str(self._path))

    def bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        """Do what is missing, inside the transaction of the write that needs it."""
        version = self.version(connection)
        for statements in self._migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        if version < self.known:
            connection.execute(f"PRAGMA application_id = {self._application_id}")
            connection.execute(f"PRAGMA user_version = {self.known}")


class Database:
    """One SQLite file. Safe to use from several threads; a connection is kept for the next call.

    path: the file, which `writing` makes where it is missing. migrations: for each version of the
    schema, from 1 on, the statements that lead to it. application_id: a number of 32 bits in the
    file that says whose it is. timeout_s: how long to wait for other processes.
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
        self._schema = _Schema(path, migrations, application_id)
        self._timeout_s = timeout_s
        self._cancellation = cancellation
        slice_s = min(_SLICE_S, timeout_s)
        self._connections = Connections(path, slice_s=slice_s, check=self._schema.check)
        self._damage: tuple[Identity, str] | None = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection that sees one state of the data; None where there is no file.

        Creates nothing. Raises DatabaseError.
        """
        with self._lent(writes=False) as lent:
            if lent is None:
                yield None
                return
            connection = lent.connection
            version = self._patiently(lambda: self._begin_reading(connection))
            if 0 < version < self._schema.known:
                connection.execute("ROLLBACK")
                with self.writing():
                    pass  # brings the schema up to date
                version = self._patiently(lambda: self._begin_reading(connection))
            try:
                yield connection if version else None
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a write transaction, which is on disk once this ends without error.

        wait_s: for other processes that write, None for as long as ever. An error inside undoes all
        of it. Raises DatabaseError, of which DatabaseWaitEndedError says
        that the wait for other processes was cut short. What was found to be damaged is not written
        until it was changed.
        """
        self._check_damage()
        with self._lent(writes=True) as lent:
            if lent is None:
                raise DatabaseMovedError(path=str(self.path))
            connection = lent.connection
            self._patiently(lambda: connection.execute("BEGIN IMMEDIATE"), wait_s)
            try:
                if self._cancellation.is_requested():  # while it waited for its turn
                    raise DatabaseWaitEndedError(path=str(self.path))
                self._schema.bring_up_to_date(connection)
                yield connection
                if not self._connections.is_there(lent):
                    raise DatabaseMovedError(path=str(self.path))
                self._patiently(lambda: connection.execute("COMMIT"))
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def purge(self) -> bool:
        """Write the file anew with only what it holds; False where that was not possible just now.

        SQLite marks what is deleted as free and leaves its bytes in the file. Where another process
        still reads the state before, or there is no room, they go with a later purge. The daily
        copies go in any case, since they hold what was deleted; the next save makes a new one.
        https://sqlite.org/lang_vacuum.html, https://sqlite.org/fts5.html#the_optimize_command
        """
        is_without_copies = copies.remove_copies(self.path)
        try:
            with self.writing() as connection:
                for (index,) in connection.execute(_INDEXES).fetchall():
                    connection.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")
            with self._lent(writes=True) as lent:
                return (lent is None or self._is_vacuumed(lent.connection)) and is_without_copies
        except SentinelError:
            return False

    def flaw(
        self, tables: Sequence[str], is_index_whole: Callable[[sqlite3.Connection], bool]
    ) -> Flaw | None:
        """Return what is wrong with the file, None where nothing is. Nothing is changed.

        tables: those whose texts are read, all of them. Raises DatabaseError for another reason why
        it cannot be used.
        """
        try:
            with self.reading() as connection:
                if connection is None:
                    return None
                lines = connection.execute(f"PRAGMA quick_check({_MOST_FLAWS})").fetchall()
                of_pages = copies.flaw_of_pages(lines)
                if of_pages:
                    return Flaw("pages", of_pages)
                for table in tables:
                    deque(connection.execute(f"SELECT * FROM {table}"), maxlen=0)  # is it text
                is_whole = lines == [("ok",)] and is_index_whole(connection)
                return None if is_whole else Flaw("index")
        except DatabaseDamagedError as error:
            return Flaw("pages", str(error.facts["reason"]))

    def keep_copy(self) -> None:
        """Copy the file, if that was not done within a day; see `copies`.

        Raises DatabaseError; the copies that are there then stay.
        """
        try:
            if copies.is_due(self.path):
                copies.keep_copy(self.path, self._write_copy, self._schema.check)
        except DatabaseReadError as error:
            raise DatabaseCopyError(**error.facts) from error
        except SentinelError:
            raise
        except (OSError, sqlite3.Error) as error:
            raise DatabaseCopyError(path=str(self.path), reason=_reason(error)) from error

    def whole_copy(self) -> str:
        """Return the moment of the copy that `put_back_copy` would take, "" without one."""
        found = None
        with contextlib.suppress(OSError):  # `put_back_copy` says so
            found = copies.newest_whole(self.path, self._schema.check)
        return copies.date_of(found) if found else ""

    def put_back_copy(self) -> copies.PutBack:
        """Put the newest whole copy in the place of a damaged file, which is kept beside it.

        Without one a new database takes its place. Raises DatabaseError, OSError.
        """
        self.close()
        try:
            done = copies.put_back(self.path, self._schema.check, timeout_s=self._timeout_s)
        except sqlite3.Error as error:
            raise DatabaseBusyError(path=str(self.path), waited_s=round(self._timeout_s)) from error
        with self.writing():
            return done

    def close(self) -> None:
        """Close the connection that is kept."""
        self._connections.close()

    @contextlib.contextmanager
    def _lent(self, *, writes: bool) -> Iterator[Lent | None]:
        """Lend a connection; None where there is no file."""
        with self._translated(sqlite3.Error, OSError, writes=writes):
            if writes:
                self._connections.make()
            lent = self._patiently(lambda: self._connections.take(writes=writes))
        if lent is None:
            yield None
            return
        with self._translated(sqlite3.Error, writes=writes):
            try:
                yield lent
            except sqlite3.Error:
                lent.connection.close()
                raise
            except BaseException:
                self._connections.give_back(lent)
                raise
        self._connections.give_back(lent)

    @contextlib.contextmanager
    def _translated(self, *kinds: type[Exception], writes: bool) -> Iterator[None]:
        """Turn what SQLite and the system raise into our errors."""
        name = str(self.path)
        try:
            yield
        except SentinelError:  # some are OSErrors
            raise
        except LinkError as error:
            link = str(error)
            raise DatabaseLinkError(path=link, rm=shlex.join(["rm", link])) from error
        except EmptiedError as error:
            raise self.damage(str(error)) from error
        except kinds as error:
            if _is_busy(error):
                raise DatabaseBusyError(path=name, waited_s=round(self._timeout_s)) from error
            if _code(error) in _DAMAGED or copies.is_no_text(error):
                raise self._noted(error) from error
            failure = DatabaseWriteError if writes else DatabaseReadError
            raise failure(path=name, reason=_reason(error)) from error

    def damage(self, reason: str) -> DatabaseDamagedError:
        """Return the error for a file of which something cannot be read."""
        copy = copies.newest_date(self.path)
        return DatabaseDamagedError(path=str(self.path), reason=reason, copy=copy)

    def _noted(self, error: Exception) -> DatabaseDamagedError:
        """Return the error, and remember damage that only another file mends."""
        reason, is_of_pages = _reason(error), _code(error) in _DAMAGED
        if is_of_pages and getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_CORRUPT_VTAB:
            with contextlib.suppress(OSError):
                self._damage = identity_of(self.path), reason
        return self.damage(reason)

    def _check_damage(self) -> None:
        """Raise DatabaseDamagedError where a page was found to be damaged and nothing changed."""
        if self._damage is None:
            return
        identity, reason = self._damage
        is_same = False
        with contextlib.suppress(OSError):
            is_same = identity_of(self.path) == identity
        if is_same:
            raise self.damage(reason)

    def _is_vacuumed(self, connection: sqlite3.Connection) -> bool:
        """Write the file anew and empty its journal; False where another process reads it."""
        self._patiently(lambda: connection.execute("VACUUM"))
        [slice_ms] = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute(f"PRAGMA busy_timeout = {1000 * self._timeout_s:.0f}")
        [is_busy, *_] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.execute(f"PRAGMA busy_timeout = {slice_ms}")
        return not is_busy

    def _write_copy(self, empty: Path) -> None:
        with self._lent(writes=False) as lent:
            if lent:
                lent.connection.execute("VACUUM INTO ?", (str(empty),))

    def _patiently(self, action: Callable[[], _Result], wait_s: float | None = None) -> _Result:
        """Return what an action does as soon as no other process prevents it."""
        deadline = time.monotonic() + (self._timeout_s if wait_s is None else wait_s)
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() >= deadline:
                    raise
                if self._cancellation.ends_wait():
                    raise DatabaseWaitEndedError(path=str(self.path)) from error

    def _begin_reading(self, connection: sqlite3.Connection) -> int:
        """Return the version of the schema in the state that is read from now on."""
        connection.execute("BEGIN")
        try:
            return self._schema.version(connection)
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def _is_busy(error: BaseException) -> bool:
    return _code(error) in _BUSY


def _code(error: BaseException) -> int:
    """Return the primary result code of SQLite; 0 for an error of something else."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _reason(error: Exception) -> str:
    """Return what the system or SQLite says, of which a stranger may have written a part."""
    text = getattr(error, "strerror", None) or str(error)
    if copies.is_no_text(error):  # the message holds the text
        return "a text is not UTF-8"
    return shown(text)[:_REASON_CHARS]
