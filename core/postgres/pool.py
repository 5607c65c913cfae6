"""Lends connections to a PostgreSQL server, each for one transaction in a role without rights.

    pool = Pool(server)
    with pool.transaction(agent="alice") as connection: ...

Whatever role the address names, a superuser's among them, a transaction runs as `sentinel_room`,
which row security applies to, or as `sentinel_upkeep`, which sees the rows of all agents. All that
a transaction sets ends with it, so that a pooler between may lend connections by transaction.

One agent's changes follow each other, and those of upkeep follow all: what a transaction has read
is still so when it writes, as in a file with one writer. Changes of several agents go on together.
"""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from core.postgres.errors import (
    ConnectionCutError,
    Phase,
    ServerBusyError,
    ServerError,
    ServerWaitEndedError,
    connecting,
    translated,
)
from core.postgres.lending import Lender, Usage, parameters
from core.postgres.opening import AGENT_SETTING as AGENT_SETTING
from core.postgres.opening import ROOM_ROLE, UPKEEP_ROLE, Opening, literal
from core.postgres.server import Server
from core.program import NO_CANCELLATION, Cancellation

if TYPE_CHECKING:
    from psycopg import Connection

_SLICE_S = 0.5  # of a wait for a lock, after which it asks whether it is still wanted
_LOCK_SLICE_S = 0.05


class Pool:
    """Connections of this process. Safe to use from several threads, and after a fork.

    path: the schemas in which the names of a transaction's statements are looked up.
    """

    def __init__(
        self, server: Server, *, cancellation: Cancellation = NO_CANCELLATION, path: str = ""
    ) -> None:
        self.server, self.path = server, path
        self._cancellation = cancellation
        self._guard = threading.Lock()
        self._lender: Lender | None = None

    @contextlib.contextmanager
    def transaction(
        self,
        *,
        agent: str = "",
        wait_s: float | None = None,
        changes: bool = True,
        in_turn: bool = True,
    ) -> Iterator["Connection[Any]"]:
        """Yield a connection in a transaction, which is committed unless an error is raised.

        agent: whose rows are seen, with those of all; "" for the rows of every agent. wait_s: for
        locks of others, None for as long as the server's settings allow. changes: False for one
        that only reads, and sees one state. in_turn: False for changes that need not follow the
        changes of others. Raises DatabaseError.
        """
        role, query_s = ROOM_ROLE if agent else UPKEEP_ROLE, self.server.query_s
        opening = Opening(role, agent, changes, query_s, self.path, in_turn)
        with self._in(opening, self.server.wait_s if wait_s is None else wait_s) as connection:
            yield connection

    @contextlib.contextmanager
    def as_login(self, *, changes: bool = True) -> Iterator["Connection[Any]"]:
        """Yield a connection in a transaction of the address's own user, who may make tables.

        A statement takes as long as it needs. Raises DatabaseError.
        """
        opening = Opening("", changes=changes, query_s=0)
        with self._in(opening, self.server.wait_s) as connection:
            yield connection

    @contextlib.contextmanager
    def lock(self, name: str, *, timeout_s: float) -> Iterator[None]:
        """Keep others of the same database out for as long as this lasts, in every process.

        The lock is a transaction's on a connection of its own: whoever is killed lets go of it, and
        a pooler between changes nothing. Raises DatabaseError, of which ServerBusyError says that
        another has it.
        """
        import psycopg

        given: dict[str, Any] = {**parameters(self.server), "prepare_threshold": None}
        with connecting(self.server.name):
            connection: Connection[Any] = psycopg.connect(self.server.dsn, **given)
        try:
            _take(self, connection, name, timeout_s)
            yield
        finally:
            connection.close()

    def usage(self) -> Usage:
        """Return what of the connections is used now; nothing is opened for it."""
        lender = self._lender
        return lender.usage() if lender else Usage(0, 0, 0)

    def close(self) -> None:
        """Let go of all connections; the next transaction opens new ones."""
        with self._guard:
            lender, self._lender = self._lender, None
        if lender:
            lender.close()

    @contextlib.contextmanager
    def _in(self, opening: Opening, wait_s: float) -> Iterator["Connection[Any]"]:
        lender = self._lender_here()
        connection = self._begun(lender, opening, wait_s)
        try:
            with self._told("body", wait_s):
                yield connection
            if opening.changes and self._cancellation.is_requested():
                raise ServerWaitEndedError(path=self.server.name)
            with self._told("commit" if opening.changes else "body", wait_s):
                ended = connection.execute("COMMIT").statusmessage
            if ended != "COMMIT":  # an error inside was swallowed: the server has undone it all
                raise ConnectionCutError("undone", path=self.server.name)
        except BaseException:
            _undo(connection)
            raise
        finally:
            lender.give_back(connection)

    def _begun(self, lender: Lender, opening: Opening, wait_s: float) -> "Connection[Any]":
        """Return a connection that is in a transaction, in its role and in its turn."""
        tries = 2  # a connection that ended while it lay idle is not the call's fault
        while True:
            connection = lender.take(self.server.wait_s)
            try:
                self._open(connection, opening, wait_s)
                return connection
            except BaseException as error:
                _undo(connection)
                lender.give_back(connection)
                tries -= 1
                if not (isinstance(error, ConnectionCutError) and tries):
                    raise
                lender.look_through()

    def _open(self, connection: "Connection[Any]", opening: Opening, wait_s: float) -> None:
        deadline = time.monotonic() + wait_s
        while True:
            lock_s = min(_SLICE_S, max(deadline - time.monotonic(), 0.001))
            try:
                with self._told("begin", wait_s):
                    statements = opening.statements(lock_s=lock_s, wait_s=wait_s)
                    cursor = connection.execute(statements)
                    while cursor.nextset():
                        pass
                    role, bypasses, process, _ = cursor.fetchone() or ("", True, 0, "")
            except ServerBusyError:
                _undo(connection)
                self._go_on_waiting()
                if time.monotonic() >= deadline:
                    raise
                continue
            if process != connection.info.backend_pid:
                # A pooler is between, which may lend a connection on which another client has
                # prepared another statement by the same name.
                connection.prepare_threshold = None
            if bypasses and opening.role:
                raise ServerError("bypasses", path=self.server.name, role=role)
            return

    def _go_on_waiting(self) -> None:
        if self._cancellation.ends_wait():
            raise ServerWaitEndedError(path=self.server.name)

    def _lender_here(self) -> Lender:
        with self._guard:
            if self._lender is None or not self._lender.is_of_this_process():
                with connecting(self.server.name):
                    self._lender = Lender(self.server, self._cancellation)
            return self._lender

    def _told(self, phase: Phase, waited_s: float) -> contextlib.AbstractContextManager[None]:
        query_s = self.server.query_s
        return translated(self.server.name, phase, query_s=query_s, waited_s=waited_s)


def _undo(connection: "Connection[Any]") -> None:
    """Undo a transaction as far as the connection is still there."""
    from psycopg import Error

    with contextlib.suppress(Error):
        connection.rollback()


def _take(pool: Pool, connection: "Connection[Any]", name: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    key = f"hashtextextended({literal(f'sentinel-memory: {name}')}, 0)"
    with pool._told("begin", timeout_s):
        connection.execute("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0")
        while True:
            row = connection.execute(f"SELECT pg_try_advisory_xact_lock({key})").fetchone()
            if row and row[0]:
                return
            pool._go_on_waiting()
            if time.monotonic() >= deadline:
                waited_s = max(round(timeout_s), 1)
                raise ServerBusyError("lock", path=pool.server.name, waited_s=waited_s)
            time.sleep(_LOCK_SLICE_S)
