"""Keeps the connections of one process to a server, and says why it has none."""

import logging
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from core.postgres.errors import ServerBusyError, ServerWaitEndedError, failed_connection
from core.postgres.server import Server
from core.program import Cancellation

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

_SLICE_S = 0.25  # after which a wait asks for its reason anew
_KEEPALIVES = {
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
APPLICATION_NAME = "sentinel-memory"


def parameters(server: Server) -> dict[str, Any]:
    """Return how each connection is made; only what a pooler between understands."""
    return {
        "autocommit": True,  # a transaction begins and ends with statements of ours
        "prepare_threshold": 5 if server.prepares else None,
        "application_name": APPLICATION_NAME,
        "client_encoding": "utf8",
        "connect_timeout": max(round(server.wait_s), 2),
        **_KEEPALIVES,
    }


class Usage(NamedTuple):
    """How many connections serve a call or are being made, how many rest, how many calls wait."""

    in_use: int
    idle: int
    waiting: int


class Lender:
    """Connections of this process; a process that was forked from another makes its own."""

    def __init__(self, server: Server, cancellation: Cancellation) -> None:
        self._server, self._cancellation = server, cancellation
        self._process = os.getpid()
        self._failures = 0
        self._last_failure: Exception | None = None
        self._pool = self._new_pool()

    def is_of_this_process(self) -> bool:
        """Whether the connections may be used here: after a fork they are still the parent's."""
        return self._process == os.getpid()

    def take(self, wait_s: float) -> "Connection[Any]":
        """Return a free connection, or make one. Raises DatabaseError."""
        from psycopg_pool import PoolClosed, PoolTimeout

        begun, before = time.monotonic(), self._failures
        while True:
            left = begun + wait_s - time.monotonic()
            try:
                return self._pool.getconn(timeout=max(min(_SLICE_S, left), 0.001))
            except PoolTimeout as error:
                if self._failures > before:
                    raise failed_connection(self._server.name, self._last_failure) from error
                if self._cancellation.ends_wait():
                    raise ServerWaitEndedError(path=self._server.name) from error
                if left <= 0:
                    raise self._too_late(wait_s) from error
            except PoolClosed as error:
                raise ServerWaitEndedError(path=self._server.name) from error

    def give_back(self, connection: "Connection[Any]") -> None:
        """Take a connection back; one that is broken is closed."""
        self._pool.putconn(connection)

    def look_through(self) -> None:
        """Close the connections that have ended meanwhile, as after a restart of the server."""
        self._pool.check()

    def usage(self) -> Usage:
        """Return what of the connections is used now."""
        stats = self._pool.get_stats()
        idle = stats.get("pool_available", 0)
        in_use = stats.get("pool_size", 0) - idle
        return Usage(in_use, idle, stats.get("requests_waiting", 0))

    def close(self) -> None:
        """Close all connections."""
        if self.is_of_this_process():
            self._pool.close(timeout=1)

    def _too_late(self, wait_s: float) -> Exception:
        if not self._pool.get_stats().get("pool_size"):
            return failed_connection(self._server.name, None)
        most = self._server.most_connections
        waited_s = max(round(wait_s), 1)
        return ServerBusyError("pool", path=self._server.name, waited_s=waited_s, most=most)

    def _failed(self, error: Exception) -> None:
        self._failures, self._last_failure = self._failures + 1, error

    def _new_pool(self) -> "ConnectionPool[Connection[Any]]":
        from psycopg import Connection
        from psycopg_pool import ConnectionPool

        failed = self._failed
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # a caller is told, in full

        class Told(Connection[Any]):
            """A connection that tells us why it could not be made, at once."""

            @classmethod
            def connect(cls, *given: Any, **how: Any) -> Any:
                try:
                    return super().connect(*given, **how)
                except Exception as error:
                    failed(error)
                    raise

        return ConnectionPool(
            self._server.dsn,
            connection_class=Told,
            kwargs=parameters(self._server),
            min_size=0,
            max_size=self._server.most_connections,
            max_idle=self._server.idle_s,
            num_workers=2,
            reconnect_timeout=0,  # whoever asks next tries again
            open=True,
        )
