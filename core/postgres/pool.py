"""Lends connections to a PostgreSQL server, each for one transaction in a role without rights.

    pool = Pool(server)
    with pool.transaction(agent="alice") as connection: ...

Whatever role the address names, a superuser's among them, a transaction runs as `sentinel_room`,
which row security applies to, or as `sentinel_upkeep`, which sees the rows of all agents.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from core.postgres.server import Server

if TYPE_CHECKING:
    from psycopg import Connection

ROOM_ROLE, UPKEEP_ROLE = "sentinel_room", "sentinel_upkeep"
AGENT_SETTING = "app.current_agent_id"


class Pool:
    """Connections of this process. Safe to use from several threads."""

    def __init__(self, server: Server) -> None:
        self.server = server

    @contextmanager
    def transaction(
        self, *, agent: str = "", wait_s: float | None = None, changes: bool = True
    ) -> Iterator["Connection[Any]"]:
        """Yield a connection in a transaction, which is committed unless an error is raised.

        agent: whose rows are seen, with those of all; "" for the rows of every agent. wait_s: for
        locks of others, None for as long as the server's settings allow. changes: False for one
        that only reads, and sees one state. Raises DatabaseError.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Let go of all connections; the next transaction opens new ones."""
