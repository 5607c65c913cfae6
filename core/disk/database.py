"""Opens a SQLite file so that what it acknowledges is on disk, and no two writers undo each other.

Every write is one transaction that begins as one (`BEGIN IMMEDIATE`): a transaction that only
turns into a write later fails at once where another writes, whatever the time it may wait. The
journal is a write-ahead log, synced at each commit, so that readers and a writer do not wait for
each other. https://sqlite.org/wal.html, https://sqlite.org/lang_transaction.html
"""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from core.cancellation import NO_CANCELLATION, Cancellation
from core.disk.words import WORDS
from core.errors import SentinelError, WaitEndedError
from core.messages import Table

_SLICE_S = 0.25  # of a wait, after which it asks whether it should go on
_MOST_IDLE = 4
_BUSY = "locked", "busy"
_DAMAGED = "malformed", "not a database", "corrupt"
_MODE = 0o600  # what was done on a machine is its user's

Migrations = Sequence[Sequence[str]]  # for each version the statements that lead to it
Identity = tuple[int, int]


class DatabaseError(SentinelError, OSError):
    """A database cannot be used. Facts: path, and what the sentence of the key names."""

    words: ClassVar[Table] = WORDS


class DatabaseDamagedError(DatabaseError):
    """The file is no database any more, or a page of it is not. Facts: path, reason."""

    key = "damaged"


class DatabaseNewerError(DatabaseError):
    """A newer version of the program has written it. Facts: path, found, known."""

    key = "newer"


class DatabaseForeignError(DatabaseError):
    """Another program's database has this name. Facts: path."""

    key = "foreign"


class DatabaseLinkError(DatabaseError):
    """A symbolic link has this name. Facts: path, rm."""

    key = "link"


class DatabaseReadError(DatabaseError):
    """The file is there and cannot be read. Facts: path, reason."""

    key = "read"


class DatabaseWriteError(DatabaseError):
    """The file cannot be written; it is as it was before. Facts: path, reason."""

    key = "write"


class DatabaseBusyError(DatabaseError, TimeoutError):
    """Another process wrote for too long. Facts: path, waited_s."""

    key = "busy"


class Database:
    """One SQLite file. Safe to use from several threads; connections are kept for the next call.

    path: the file, which `writing` makes where it is missing. migrations: for each version of the
    schema, from 1 on, the statements that lead to it. application_id: a number of 32 bits in the
    file that says whose it is. timeout_s: how long to wait for other writers.
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
        self._migrations = migrations
        self._application_id = application_id
        self._timeout_s = timeout_s
        self._cancellation = cancellation
        self._idle: list[tuple[Identity, sqlite3.Connection]] = []
        self._guard = threading.Lock()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection that sees one state of the data; None where there is no file.

        Creates nothing. Raises DatabaseError.
        """
        if self._identity() is None:
            yield None
            return
        with self._connection(writes=False) as connection, self._translated(writes=False):
            version = self._version(connection)
            if not version:
                yield None
                return
            if version < len(self._migrations):
                with self.writing():
                    pass  # brings the schema up to date
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a write transaction, which is on disk once this ends without error.

        An error inside undoes all of it. Raises DatabaseError, and WaitEndedError where the wait
        for other writers was cut short.
        """
        self._make()
        with self._connection(writes=True) as connection, self._translated(writes=True):
            self._begin(connection)
            try:
                self._migrate(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._guard:
            kept, self._idle = self._idle, []
        for _, connection in kept:
            connection.close()

    def _make(self) -> None:
        """Make the file where it is missing, readable for its user only."""
        if self._identity() is not None:
            return
        try:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise DatabaseWriteError(path=str(self.path), reason=reason) from error

    def _identity(self) -> Identity | None:
        """Return what tells this file from another of its name; None where there is none."""
        try:
            status = os.lstat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise DatabaseReadError(path=str(self.path), reason=reason) from error
        if os.path.islink(self.path):
            import shlex

            raise DatabaseLinkError(path=str(self.path), rm=shlex.join(["rm", str(self.path)]))
        return status.st_dev, status.st_ino

    @contextlib.contextmanager
    def _connection(self, *, writes: bool) -> Iterator[sqlite3.Connection]:
        """Lend a connection to the file that has this name now."""
        identity = self._identity()
        with self._guard:
            found = [kept for kept in self._idle if kept[0] == identity]
            stale = [kept for kept in self._idle if kept[0] != identity]
            connection = found.pop()[1] if found else None
            self._idle = found
        for _, other in stale:  # the file was removed or replaced
            other.close()
        is_fixed = not writes and self._is_fixed()
        if connection is None:
            with self._translated(writes=writes):
                connection = self._open(writes=writes, is_fixed=is_fixed)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._guard:
            is_kept = bool(identity) and not is_fixed and len(self._idle) < _MOST_IDLE
            if identity and is_kept:
                self._idle.append((identity, connection))
        if not is_kept:
            connection.close()

    def _is_fixed(self) -> bool:
        """Return whether nobody can write here, and a reader must get along without a journal."""
        wal = f"{self.path}-wal"
        has_changes = os.path.exists(wal) and os.path.getsize(wal) > 0
        return not has_changes and not os.access(self.path.parent, os.W_OK)

    def _open(self, *, writes: bool, is_fixed: bool) -> sqlite3.Connection:
        name = self.path.absolute().as_uri()
        connection = sqlite3.connect(
            f"{name}?immutable=1" if is_fixed else f"{name}?mode=rw",  # a reader makes files, too
            uri=True,
            timeout=_SLICE_S,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA synchronous = FULL")
            if writes:
                connection.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Wait for the other writers, then begin."""
        deadline = time.monotonic() + self._timeout_s
        while True:
            left_s = deadline - time.monotonic()
            slice_ms = int(1000 * max(min(left_s, _SLICE_S), 0.0))
            connection.execute(f"PRAGMA busy_timeout = {slice_ms}")
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not _says(error, _BUSY) or time.monotonic() >= deadline:
                    raise
                if self._cancellation.ends_wait():
                    raise WaitEndedError(path=str(self.path)) from error
                continue
            if self._cancellation.is_requested():  # while it waited for its turn
                connection.execute("ROLLBACK")
                raise WaitEndedError(path=str(self.path))
            return

    def _version(self, connection: sqlite3.Connection) -> int:
        """Return the version of the schema, 0 for a file that is still empty."""
        [application_id] = connection.execute("PRAGMA application_id").fetchone()
        [version] = connection.execute("PRAGMA user_version").fetchone()
        if application_id == self._application_id:
            if version > len(self._migrations):
                known = len(self._migrations)
                raise DatabaseNewerError(path=str(self.path), found=version, known=known)
            return int(version)
        [tables] = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if application_id or version or tables:
            raise DatabaseForeignError(path=str(self.path))
        return 0

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Bring the schema up to date, inside the transaction of the write that needs it."""
        known = self._version(connection)
        for version, statements in enumerate(self._migrations[known:], known + 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self._application_id}")
            connection.execute(f"PRAGMA user_version = {version}")

    @contextlib.contextmanager
    def _translated(self, *, writes: bool) -> Iterator[None]:
        """Turn what SQLite raises into our errors."""
        try:
            yield
        except sqlite3.Error as error:
            path, reason = str(self.path), str(error)
            if _says(error, _BUSY):
                waited = DatabaseBusyError(path=path, waited_s=round(self._timeout_s))
                raise waited from error
            if _says(error, _DAMAGED):
                raise DatabaseDamagedError(path=path, reason=reason) from error
            if isinstance(error, sqlite3.OperationalError):
                failure = DatabaseWriteError if writes else DatabaseReadError
                raise failure(path=path, reason=reason) from error
            raise


def _says(error: sqlite3.Error, words: Sequence[str]) -> bool:
    return any(word in str(error) for word in words)
