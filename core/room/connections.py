"""Opens one SQLite file, whatever has its name now, and keeps a connection for the next call.

Raises what the system and SQLite raise; `database.py` says it to people.
"""

import contextlib
import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MODE = 0o600  # what was done on a machine is its user's
JOURNALS = "-wal", "-shm", "-journal"  # SQLite opens them by name, and would follow a link

# Whoever closes a file loses every lock that his process has on it, those of SQLite as well: while
# a file is made and closed, nothing else of this process opens it.
_OPENING = threading.Lock()

_FORKED: list[object] = []  # a connection is for the process that opened it, even its closing

_NO_JOURNAL = sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR

Check = Callable[[sqlite3.Connection], object]  # raises for a database that is not ours
Identity = tuple[int, ...]  # of the database, then of its journal (0 for none); () without a file


class LinkError(OSError):
    """A symbolic link is in the place of the database or of one of its journals."""


class EmptiedError(OSError):
    """The database is empty, but its journal is not."""


class Lent(NamedTuple):
    """A connection that one caller has until it comes back. is_fixed: it sees no later change."""

    connection: sqlite3.Connection
    identity: Identity
    is_fixed: bool = False


class Connections:
    """Connections to one file. Safe to use from several threads, each with its own connection.

    One is kept for the next call; who comes while it is lent opens another one. path: the file.
    slice_s: how long a statement waits for another process before it is busy. check: gets a new
    connection before it changes anything; what it raises prevents that.
    """

    def __init__(self, path: Path, *, slice_s: float, check: Check) -> None:
        self._path, self._slice_s, self._check = path, slice_s, check
        self._kept: Lent | None = None
        self._guard, self._process = threading.Lock(), os.getpid()

    def make(self) -> None:
        """Make the file where it is missing, readable for its user only."""
        if self._identity():
            return
        with _OPENING, contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE))

    def take(self, *, writes: bool) -> Lent | None:
        """Return a connection to the file that has the name now; None where there is none.

        Raises LinkError, EmptiedError, OSError, sqlite3.Error.
        """
        identity = self._identity()
        kept = self._taken()
        if kept and kept.identity == identity:
            return kept
        if kept:
            with contextlib.suppress(sqlite3.Error):
                # Somebody removed the journal: only this connection still sees what was saved
                # into it, and puts it into the database.
                if identity == (*kept.identity[:2], 0):
                    kept.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            kept.connection.close()
        if not identity:
            return None
        with _OPENING:
            self._check_journals()
            try:
                return Lent(self._opened(writes=writes), identity)
            except sqlite3.OperationalError as error:
                code = error.sqlite_errorcode & 0xFF
                if writes or code not in _NO_JOURNAL or self._has_journal():
                    raise
            return Lent(self._opened(is_fixed=True), identity, is_fixed=True)

    def is_there(self, lent: Lent) -> bool:
        """Return whether the file of a connection still has its name."""
        try:
            return self._identity()[:2] == lent.identity[:2]
        except OSError:
            return False

    def give_back(self, lent: Lent) -> None:
        """Keep a connection for the next call, as long as it sees what has the name now."""
        identity: Identity = ()
        with contextlib.suppress(OSError):
            identity = self._identity()
        is_same = bool(identity) and identity[:2] == lent.identity[:2]
        has_journal = is_same and bool(identity[-1])  # without one, it may be a lost one's
        with self._guard:
            if has_journal and not lent.is_fixed and self._kept is None:
                self._kept = Lent(lent.connection, identity)
                return
        lent.connection.close()

    def close(self) -> None:
        """Close the connection that is kept."""
        kept = self._taken()
        if kept:
            kept.connection.close()

    def _taken(self) -> Lent | None:
        """Return the connection that is kept, which then is the caller's."""
        if self._process != os.getpid():
            _FORKED.append(self._kept)
            self._kept, self._guard, self._process = None, threading.Lock(), os.getpid()
        with self._guard:
            kept, self._kept = self._kept, None
        return kept

    def _identity(self) -> Identity:
        """Return what tells this file from another of its name; () where there is none."""
        status = status_of(self._path)
        if status is None:
            return ()
        if stat.S_ISLNK(status.st_mode):
            raise LinkError(str(self._path))
        journal = status_of(f"{self._path}-wal")
        return status.st_dev, status.st_ino, journal.st_ino if journal else 0

    def _check_journals(self) -> None:
        """Raise LinkError for a link that SQLite would follow, EmptiedError for a lost file."""
        for suffix in JOURNALS:
            name = f"{self._path}{suffix}"
            if os.path.islink(name):
                raise LinkError(name)
        if not os.path.getsize(self._path) and size_of(f"{self._path}-wal"):
            raise EmptiedError("the file is empty, its journal is not")

    def _has_journal(self) -> bool:
        """Return whether somebody may be writing, or what was written stands in a journal only."""
        return os.path.exists(f"{self._path}-shm") or bool(size_of(f"{self._path}-wal"))

    def _opened(self, *, writes: bool = False, is_fixed: bool = False) -> sqlite3.Connection:
        """Open the file. is_fixed: without making a journal, as nobody may here."""
        name = self._path.absolute().as_uri()
        connection = sqlite3.connect(
            f"{name}?immutable=1" if is_fixed else f"{name}?mode=rw",  # a reader makes files, too
            uri=True,
            timeout=self._slice_s,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA cell_size_check = ON")  # else a damaged page may look empty
            self._check(connection)
            if writes:
                connection.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
        return connection


def status_of(path: str | Path) -> os.stat_result | None:
    """Return what the system says of a file or a link; None where there is none."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def size_of(path: str | Path) -> int:
    """Return how many bytes a file has, 0 where there is none."""
    status = status_of(path)
    return status.st_size if status else 0
