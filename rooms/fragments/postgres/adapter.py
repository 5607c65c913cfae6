"""Opens the fragments that a PostgreSQL server keeps, as one agent has them or with all agents'."""

from collections.abc import Iterator
from contextlib import contextmanager

from core.cancellation import NO_CANCELLATION, Cancellation
from core.postgres.pool import Pool
from core.postgres.server import Server
from rooms.fragments.engine import Reading, Writing


class PostgresEngine:
    """See `Engine`. agent: whose fragments, with those of DEFAULT_AGENT; "" for every agent's."""

    def __init__(
        self,
        server: Server,
        *,
        timeout_s: float,
        cancellation: Cancellation = NO_CANCELLATION,
        agent: str = "",
        pool: Pool | None = None,
    ) -> None:
        """pool: of the engine for other agents, with which it shares its connections."""
        self.server, self.agent = server, agent
        self.pool = pool or Pool(server)
        self._timeout_s, self._cancellation = timeout_s, cancellation

    @property
    def name(self) -> str:
        """See `Engine`."""
        raise NotImplementedError

    @property
    def keeps_agents_apart(self) -> bool:
        """See `Engine`."""
        return True

    def for_agent(self, agent: str) -> "PostgresEngine":
        """See `Engine`."""
        return PostgresEngine(
            self.server,
            timeout_s=self._timeout_s,
            cancellation=self._cancellation,
            agent=agent,
            pool=self.pool,
        )

    @contextmanager
    def only_one(self, *, timeout_s: float) -> Iterator[None]:
        """See `Engine`."""
        raise NotImplementedError

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """See `Engine`."""
        raise NotImplementedError

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Writing]:
        """See `Engine`."""
        raise NotImplementedError

    def exists(self) -> bool:
        """See `Engine`."""
        raise NotImplementedError

    def purge(self) -> bool:
        """See `Engine`."""
        raise NotImplementedError

    def close(self) -> None:
        """See `Engine`."""
        self.pool.close()
