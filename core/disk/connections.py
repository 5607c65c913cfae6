"""Lends connections to one SQLite file, to whatever has its name now, and keeps them for the next.

Raises what the system and SQLite raise; `database.py` says it to people.
"""

import contextlib
import os
import sqlite3
import stat
import threading
from pathlib import Path
from typing import NamedTuple

_MOST_IDLE = 4
_MODE = 0o600  # what was done on a machine is its user's
_JOURNALS = "-wal", "-shm", "-journal"  # SQLite opens them by name, and would follow a link

# Whoever closes a file loses every lock that his process has on it, those of SQLite as well: while
# a file is made and closed, nothing else of this process opens it.
_OPENING = threading.Lock()

_FORKED: list[object] = []  # a connection is for the process that opened it, even its closing

Identity = tuple[int, ...]  # of the database, then of its journal (0 for none); () without a file


class LinkError(OSError):
    """A symbolic link is in the place of the database or of one of its journals."""


class EmptiedError(OSError):
    """The database is empty, but its journal is not."""


class Lent(NamedTuple):
    """A connection that one caller has until it comes back."""

    connection: sqlite3.Connection
    identity: Identity
    is_kept: bool


class Connections:
    """Connections to one file. Safe to use from several threads, each with its own connection.

    path: the file. slice_s: how long a statement waits for another process before it is busy.
    """

    def __init__(self, path: Path, *, slice_s: float) -> None:
        self._path, self._slice_s = path, slice_s
        self._idle: list[tuple[Identity, sqlite3.Connection]] = []
        self._guard, self._process = threading.Lock(), os.getpid()

    def make(self) -> None:
        """Make the file where it is missing, readable for its user only."""
        if self._identity():
            return
        with _OPENING, contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE))

    def take(self, *, writes: bool) -> Lent | None:
        """Return a connection to the file that has the name now; None where there is none.

        Raises LinkError, EmptiedError, OSError, sqlite3.Error.
        """
        identity = self._identity()
        kept = self._kept(identity)
        if not identity:
            return None
        if kept:
            return Lent(kept, identity, is_kept=True)
        is_fixed = not writes and self._is_fixed()
        with _OPENING:
            self._check_journals()
            connection = self._opened(writes=writes, is_fixed=is_fixed)
        return Lent(connection, identity, is_kept=not is_fixed)

    def is_there(self, lent: Lent) -> bool:
        """Return whether the file of a connection still has its name."""
        try:
            return self._identity()[:2] == lent.identity[:2]
        except OSError:
            return False

    def give_back(self, lent: Lent) -> None:
        """Keep a connection for the next caller, as long as it sees what has the name now."""
        identity: Identity = ()
        with contextlib.suppress(OSError):
            identity = self._identity()
        with self._guard:
            is_same = bool(identity) and identity[:2] == lent.identity[:2]
            has_journal = is_same and bool(identity[-1])  # without one, it may be a lost one's
            is_kept = lent.is_kept and has_journal and len(self._idle) < _MOST_IDLE
            if is_kept:
                self._idle.append((identity, lent.connection))
        if not is_kept:
            lent.connection.close()

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._guard:
            kept, self._idle = self._idle, []
        for _, connection in kept:
            connection.close()

    def _kept(self, identity: Identity) -> sqlite3.Connection | None:
        """Return a connection that is kept for this file, and close those for others."""
        if self._process != os.getpid():
            _FORKED.append(self._idle)
            self._idle, self._guard, self._process = [], threading.Lock(), os.getpid()
        with self._guard:
            stale = [kept for kept in self._idle if kept[0] != identity]
            self._idle = [kept for kept in self._idle if kept[0] == identity]
            connection = self._idle.pop()[1] if self._idle else None
        for before, other in stale:
            _part_with(other, has_lost_journal=identity == (*before[:2], 0))
        return connection

    def _identity(self) -> Identity:
        """Return what tells this file from another of its name; () where there is none."""
        status = _status(self._path)
        if status is None:
            return ()
        if stat.S_ISLNK(status.st_mode):
            raise LinkError(str(self._path))
        journal = _status(f"{self._path}-wal")
        return status.st_dev, status.st_ino, journal.st_ino if journal else 0

    def _check_journals(self) -> None:
        """Raise LinkError for a link that SQLite would follow, EmptiedError for a lost file."""
        for suffix in _JOURNALS:
            name = f"{self._path}{suffix}"
            if os.path.islink(name):
                raise LinkError(name)
        if not os.path.getsize(self._path) and _size(f"{self._path}-wal"):
            raise EmptiedError("the file is empty, its journal is not")

    def _is_fixed(self) -> bool:
        """Return whether nobody writes here, and a reader must get along without a journal."""
        is_open = os.path.exists(f"{self._path}-shm")  # by whoever may write
        is_told = bool(_size(f"{self._path}-wal"))
        return not is_open and not is_told and not os.access(self._path.parent, os.W_OK)

    def _opened(self, *, writes: bool, is_fixed: bool) -> sqlite3.Connection:
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
            if writes:
                connection.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
        return connection


def _part_with(connection: sqlite3.Connection, *, has_lost_journal: bool) -> None:
    """Close a connection to what no longer has the name.

    has_lost_journal: only this connection still sees what was saved into the journal; it is put
    into the database.
    """
    with contextlib.suppress(sqlite3.Error):
        if has_lost_journal:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    connection.close()


def _status(path: str | Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _size(path: str) -> int:
    status = _status(path)
    return status.st_size if status else 0
