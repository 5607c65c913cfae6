"""Opens the fragments of one SQLite file."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from core.disk import held, make_directory, reason_of
from core.errors import BusyError, SentinelError
from core.program import NO_CANCELLATION, Cancellation
from core.room.database import Database, DatabaseError
from rooms.fragments.errors import UpkeepBusyError, UpkeepError
from rooms.fragments.sqlite import index
from rooms.fragments.sqlite.reading import SqliteReading
from rooms.fragments.sqlite.schema import APPLICATION_ID, MIGRATIONS
from rooms.fragments.sqlite.vectors import Vectors
from rooms.fragments.sqlite.writing import SqliteWriting

LOCK_SUFFIX = ".upkeep.lock"


class SqliteEngine:
    """See `Engine`. path: the file, which the first write makes, with its directory."""

    def __init__(
        self, path: Path, *, timeout_s: float, cancellation: Cancellation = NO_CANCELLATION
    ) -> None:
        self.path = path
        self.database = Database(
            path,
            MIGRATIONS,
            application_id=APPLICATION_ID,
            timeout_s=timeout_s,
            cancellation=cancellation,
        )
        self._vectors = Vectors()

    @property
    def name(self) -> str:
        """See `Engine`."""
        return str(self.path)

    @property
    def keeps_agents_apart(self) -> bool:
        """See `Engine`."""
        return False

    def keeps_vectors(self) -> bool:
        """See `Engine`."""
        return True

    def for_agent(self, agent: str) -> "SqliteEngine":
        """See `Engine`."""
        return self

    @contextmanager
    def only_one(self, *, timeout_s: float) -> Iterator[None]:
        """See `Engine`."""
        path = f"{self.path}{LOCK_SUFFIX}"
        try:
            with held(path, timeout_s=timeout_s):
                yield
        except BusyError as error:
            raise UpkeepBusyError(path=path) from error
        except SentinelError:  # some are OSErrors
            raise
        except OSError as error:
            raise UpkeepError("lock", path=path, reason=reason_of(error)) from error

    @contextmanager
    def reading(self) -> Iterator[SqliteReading]:
        """See `Engine`."""
        with self.database.reading() as connection:
            if connection is not None:
                yield SqliteReading(connection, self._vectors, self._file())
                return
        with closing(nothing()) as connection:
            yield SqliteReading(connection, self._vectors)

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[SqliteWriting]:
        """See `Engine`."""
        try:
            make_directory(self.path.parent)
        except OSError as error:
            raise DatabaseError("write", path=self.name, reason=reason_of(error)) from error
        with self.database.writing(wait_s=wait_s) as connection:
            index.keep_current(connection)
            yield SqliteWriting(connection, self._vectors, self._file())

    def exists(self) -> bool:
        """See `Engine`."""
        return os.path.lexists(self.path)

    def purge(self) -> bool:
        """See `Engine`."""
        return self.database.purge()

    def keep_copy(self) -> None:
        """See `Engine`."""
        self.database.keep_copy()

    def close(self) -> None:
        """See `Engine`."""
        self.database.close()
        self._vectors.forget()

    def _file(self) -> object:
        """Return what tells the file from another one of its name, None for none."""
        try:
            status = os.lstat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino


def nothing() -> sqlite3.Connection:
    """Return an empty database in memory: where there is no file, there are no fragments."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statements in MIGRATIONS:
        for statement in statements:
            connection.execute(statement)
    return connection
