"""Lends connections to a PostgreSQL server, each in a transaction of its own.

A transaction sees the rows of one agent and the default agent, for upkeep all rows. Its settings
end with it: a pooler between may lend connections by transaction.

Changes of one agent follow each other, and those of upkeep follow all: rows that a transaction has
read stay the same until it writes. Changes of several agents go on together.
"""

import contextlib
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from core.postgres import address
from core.postgres.address import Server, ServerBusyError, ServerError, ServerWaitEndedError
from core.program import NO_CANCELLATION, Cancellation

if TYPE_CHECKING:
    from psycopg import Connection

    Transaction = contextlib.AbstractContextManager[Connection[Any]]

ROOM_ROLE, UPKEEP_ROLE = "sentinel_room", "sentinel_upkeep"
AGENT_SETTING = "app.current_agent_id"
APPLICATION_NAME = "sentinel-memory"

_ALL_WRITERS = "sentinel-memory: all writers"  # whose lock upkeep has alone, and agents share
_SLICE_S = 0.5  # of a wait, after which it asks whether it is still wanted
_LOCK_SLICE_S = 0.05
_IDLE_S = 300  # in a transaction: of a process that hangs, after which others get its locks
# A role may have this limit from PostgreSQL 17 on; tables and locks take as long as they need.
_NO_TIMEOUT = (
    "SELECT pg_catalog.set_config(name, '0', true) FROM pg_catalog.pg_settings"
    " WHERE name = 'transaction_timeout'"
)
_CHECK = (
    "SELECT current_user, rolsuper OR rolbypassrls, pg_catalog.pg_backend_pid(), {login},"
    " {settings} FROM pg_catalog.pg_roles WHERE rolname = current_user"
)
_IS_STRONG = (  # with `RESET ROLE` a login that bypasses row security would see all
    f"pg_catalog.pg_has_role(session_user, '{UPKEEP_ROLE}', 'MEMBER') OR EXISTS (SELECT FROM"
    " pg_catalog.pg_roles WHERE rolname = session_user AND rolbypassrls)"
)


class _Kind(NamedTuple):
    agent: str | None  # whose rows it sees, "" for all; None for the login's, which takes no turn
    wait_s: float  # for its turn, and for locks on rows
    changes: bool
    in_turn: bool = True


class Pool:
    """Connections of this process, safe for threads and after a fork. path: schemas for names."""

    def __init__(
        self, server: Server, *, cancellation: Cancellation = NO_CANCELLATION, path: str = ""
    ) -> None:
        self.server, self.path = server, path
        self._cancellation = cancellation
        self._mutex = threading.Lock()
        self._lenders = dict[str, _Lender]()  # by address: agents may have a login of their own

    def transaction(
        self,
        *,
        agent: str = "",
        wait_s: float | None = None,
        changes: bool = True,
        in_turn: bool = True,
    ) -> "Transaction":
        """Lend a connection in a transaction, which is committed unless an error is raised.

        agent: whose rows are seen, with those of all; "" for all agents. wait_s: for locks, None
        for the server's setting. changes: False only reads, and sees one state. in_turn: False for
        changes that need not follow others. Raises DatabaseError.
        """
        wait_s = self.server.wait_s if wait_s is None else wait_s
        return self._lend(_Kind(agent, wait_s, changes, in_turn))

    def login_transaction(self, *, changes: bool = True) -> "Transaction":
        """Lend a transaction of the address's own user, of any length. Raises DatabaseError."""
        return self._lend(_Kind(None, self.server.wait_s, changes))

    @contextlib.contextmanager
    def lock(self, name: str, *, timeout_s: float) -> Iterator[None]:
        """Keep others of the same database out for as long as this lasts, in every process.

        A transaction on its own connection has the lock: a killed process lets go of it, and a
        pooler may be between. Raises DatabaseError, and ServerBusyError where another has it.
        """
        connection = open_connection(self.server, prepare_threshold=None)
        key, deadline = _lock_key(f"sentinel-memory: {name}"), time.monotonic() + timeout_s
        try:
            with self._translate_errors("begin", timeout_s):
                connection.execute(
                    f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; {_NO_TIMEOUT}"
                )
                statement = f"SELECT pg_try_advisory_xact_lock({key})"
                while connection.execute(statement).fetchone() != (True,):
                    self._check_cancellation()
                    if time.monotonic() >= deadline:
                        waited_s = max(round(timeout_s), 1)
                        raise ServerBusyError("lock", path=self.server.name, waited_s=waited_s)
                    time.sleep(_LOCK_SLICE_S)
            yield
        finally:
            _roll_back(connection)  # a close alone lets go of the lock a moment later
            connection.close()

    def count_connections(self) -> dict[str, int]:
        """Return the numbers of connections in use and idle, and of calls that wait."""
        totals = Counter[str]()
        for lender in list(self._lenders.values()):
            totals.update(lender.pool.get_stats())
        idle = totals["pool_available"]
        in_use, waiting = totals["pool_size"] - idle, totals["requests_waiting"]
        connections = {"db_connections_in_use": in_use, "db_connections_idle": idle}
        return {**connections, "db_calls_waiting": waiting}

    def close(self) -> None:
        """Let go of all connections; the next transaction opens new ones."""
        with self._mutex:
            lenders, self._lenders = self._lenders, {}
        for lender in lenders.values():
            if lender.process == os.getpid():
                lender.pool.close(timeout=1)

    @contextlib.contextmanager
    def _lend(self, kind: _Kind) -> Iterator["Connection[Any]"]:
        lender, connection = self._open_transaction(kind)
        try:
            with self._translate_errors("body", kind.wait_s):
                yield connection
            if kind.changes and self._cancellation.is_requested():
                raise ServerWaitEndedError(path=self.server.name)
            with self._translate_errors("commit" if kind.changes else "body", kind.wait_s):
                status = connection.execute("COMMIT").statusmessage
            if status != "COMMIT":  # an error inside was swallowed: the server has undone it all
                raise address.ConnectionCutError("undone", path=self.server.name)
        except BaseException:
            _roll_back(connection)
            raise
        finally:
            lender.pool.putconn(connection)

    def _open_transaction(self, kind: _Kind) -> tuple["_Lender", "Connection[Any]"]:
        dsn = self.server.room_dsn if kind.agent and self.server.room_dsn else self.server.dsn
        with self._mutex:
            lender = self._lenders.get(dsn)
            if lender is None or lender.process != os.getpid():
                with address.translate_connect_errors(self.server.name):
                    lender = _Lender(self.server, dsn, self._cancellation)
                self._lenders[dsn] = lender
        for is_last in (False, True):  # a connection may have ended while it lay idle
            connection = lender.take(self.server.wait_s)
            try:
                self._begin(connection, kind)
                return lender, connection
            except BaseException as error:
                _roll_back(connection)
                lender.pool.putconn(connection)
                if is_last or not isinstance(error, address.ConnectionCutError):
                    raise
                lender.pool.check()  # closes those that have ended, as at a restart of the server
        raise AssertionError("the second try returns or raises")

    def _begin(self, connection: "Connection[Any]", kind: _Kind) -> None:
        deadline = time.monotonic() + kind.wait_s
        while True:
            lock_s = min(_SLICE_S, max(deadline - time.monotonic(), 0.001))
            try:
                with self._translate_errors("begin", kind.wait_s):
                    cursor = connection.execute(self._begin_statements(kind, lock_s))
                    while cursor.nextset():
                        pass
                    row = cursor.fetchone()
                break
            except ServerBusyError:
                _roll_back(connection)
                self._check_cancellation()
                if time.monotonic() >= deadline:
                    raise
        role, bypasses, process, is_strong, _ = row or ("", True, 0, True, "")
        if process != connection.info.backend_pid:
            # A pooler is between, which may lend a connection on which another client has
            # prepared another statement by the same name.
            connection.prepare_threshold = None
        if bypasses and kind.agent is not None:
            raise ServerError("bypasses", path=self.server.name, role=role)
        if is_strong:
            user = connection.info.user
            raise ServerError("strong_login", path=self.server.name, user=user)

    def _begin_statements(self, kind: _Kind, lock_s: float) -> str:
        """Return the statements of a begin; the last answers as _CHECK. lock_s: for its turn."""
        agent, statements = kind.agent, list[str]()
        level = "READ COMMITTED READ WRITE" if kind.changes else "REPEATABLE READ READ ONLY"
        settings = {
            "statement_timeout": str(0 if agent is None else _ms_of(self.server.query_s)),
            "lock_timeout": str(_ms_of(lock_s)),
            "idle_in_transaction_session_timeout": str(_IDLE_S * 1_000),
            "row_security": "on",  # a role may have it off, for its backups
            "TimeZone": "UTC",
            "DateStyle": "ISO",
            AGENT_SETTING: agent or "",
        }
        if agent is None:
            statements.append(_NO_TIMEOUT)
        else:
            statements.append(f"SET LOCAL ROLE {ROOM_ROLE if agent else UPKEEP_ROLE}")
            settings |= {"search_path": self.path} if self.path else {}
        if agent:
            # The planner takes all agents to be alike, and for one with many rows it would read and
            # sort them all, where an index has their order. Without bitmaps that index costs least.
            settings["enable_bitmapscan"] = "off"
        statements.append(f"SELECT {', '.join(_set(*setting) for setting in settings.items())}")
        if kind.changes and kind.in_turn and agent:
            own_key = _lock_key(f"sentinel-memory: writer {agent}")
            statements.append(
                f"SELECT pg_catalog.pg_advisory_xact_lock_shared({_lock_key(_ALL_WRITERS)}),"
                f" pg_catalog.pg_advisory_xact_lock({own_key})"
            )
        elif kind.changes and kind.in_turn and agent is not None:
            statements.append(f"SELECT pg_catalog.pg_advisory_xact_lock({_lock_key(_ALL_WRITERS)})")
        login = _IS_STRONG if agent and self.server.room_dsn else "false"
        check = _CHECK.format(login=login, settings=_set("lock_timeout", str(_ms_of(kind.wait_s))))
        return ";".join((f"BEGIN ISOLATION LEVEL {level}", *statements, check))

    def _check_cancellation(self) -> None:
        if self._cancellation.ends_wait():
            raise ServerWaitEndedError(path=self.server.name)

    @contextlib.contextmanager
    def _translate_errors(self, phase: address.Phase, waited_s: float) -> Iterator[None]:
        """Raise the errors of psycopg as ours. phase: of the transaction."""
        from psycopg import Error

        name, query_s = self.server.name, self.server.query_s
        try:
            yield
        except Error as error:
            failure = address.error_of(name, error, phase, query_s=query_s, waited_s=waited_s)
            raise failure from error


class _Lender:
    """Connections of this process to one address; a forked process makes its own."""

    def __init__(self, server: Server, dsn: str, cancellation: Cancellation) -> None:
        from psycopg import Connection
        from psycopg_pool import ConnectionPool

        self._server, self._cancellation = server, cancellation
        self.process = os.getpid()
        self._failures = 0
        self._last_failure: Exception | None = None
        lender = self
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # a caller is told, in full

        class NotedConnection(Connection[Any]):
            @classmethod
            def connect(cls, *arguments: Any, **options: Any) -> Any:
                try:
                    return super().connect(*arguments, **options)
                except Exception as error:
                    lender._failures, lender._last_failure = lender._failures + 1, error
                    raise

        self.pool: ConnectionPool[Connection[Any]] = ConnectionPool(
            dsn,
            connection_class=NotedConnection,
            kwargs=_parameters_for(server),
            min_size=0,
            max_size=server.most_connections,
            max_idle=server.idle_s,
            num_workers=2,
            reconnect_timeout=0,  # whoever asks next tries again
            open=True,
        )

    def take(self, wait_s: float) -> "Connection[Any]":
        """Return a free connection or a new one. Raises DatabaseError."""
        from psycopg_pool import PoolClosed, PoolTimeout

        name, deadline, failures = self._server.name, time.monotonic() + wait_s, self._failures
        while True:
            left_s = deadline - time.monotonic()
            try:
                return self.pool.getconn(timeout=max(min(_SLICE_S / 2, left_s), 0.001))
            except PoolTimeout as error:
                if self._failures > failures:
                    raise address.connection_error_of(name, self._last_failure) from error
                if self._cancellation.ends_wait():
                    raise ServerWaitEndedError(path=name) from error
                if left_s > 0:
                    continue
                if not self.pool.get_stats().get("pool_size"):
                    raise address.connection_error_of(name, None) from error
                waited_s, most = max(round(wait_s), 1), self._server.most_connections
                raise ServerBusyError("pool", path=name, waited_s=waited_s, most=most) from error
            except PoolClosed as error:
                raise ServerWaitEndedError(path=name) from error


def open_connection(server: Server, **parameters: Any) -> "Connection[Any]":
    """Return a connection beside the pool, which the caller closes. Raises DatabaseError."""
    with address.translate_connect_errors(server.name):
        import psycopg

        return psycopg.connect(server.dsn, **_parameters_for(server) | parameters)


def quote_text(text: str) -> str:
    """Quote a text for SQL, whatever the server's settings make of a backslash."""
    body = text.replace("\\", "\\\\").replace("'", "''")
    return f"E'{body}'"


def _parameters_for(server: Server) -> dict[str, Any]:
    """Return parameters that also a pooler between understands."""
    return {
        "autocommit": True,  # a transaction begins and ends with statements of ours
        "prepare_threshold": 5 if server.prepares else None,
        "application_name": APPLICATION_NAME,
        "client_encoding": "utf8",
        "connect_timeout": max(round(server.wait_s), 2),
        **{"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10},
        **{"keepalives_count": 3, "tcp_user_timeout": 60_000},
    }


def _roll_back(connection: "Connection[Any]") -> None:
    from psycopg import Error

    with contextlib.suppress(Error):
        connection.rollback()


def _set(name: str, value: str) -> str:
    return f"pg_catalog.set_config('{name}', {quote_text(value)}, true)"


def _lock_key(name: str) -> str:
    return f"pg_catalog.hashtextextended({quote_text(name)}, 0)"


def _ms_of(seconds: float) -> int:
    return max(round(seconds * 1_000), 1) if seconds else 0
