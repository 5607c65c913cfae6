"""Opens the fragments that a PostgreSQL server keeps, as one agent has them or with all agents'."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import cast

from core.postgres.errors import ServerBusyError
from core.postgres.pool import Pool
from core.postgres.server import Server
from core.program import NO_CANCELLATION, Cancellation
from rooms.fragments.errors import UpkeepBusyError
from rooms.fragments.postgres.schema import Schema
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.rows import Rows
from rooms.fragments.storage.sqlite import no_rows

_LOCK = "upkeep"


class PostgresEngine(Engine):
    """See `Engine`. agent: whose fragments, with those of DEFAULT_AGENT; "" for every agent's."""

    keeps_agents_apart = True

    def __init__(
        self,
        server: Server,
        *,
        timeout_s: float,
        cancellation: Cancellation = NO_CANCELLATION,
        agent: str = "",
        pool: Pool | None = None,
        schema: Schema | None = None,
    ) -> None:
        """pool, schema: of the engine for other agents, with which it shares its connections."""
        self.server, self.agent, self.name = server, agent, server.name
        self.pool = pool or Pool(server, cancellation=cancellation)
        self.schema = schema or Schema(self.pool)
        self._timeout_s, self._cancellation = timeout_s, cancellation

    def keeps_vectors(self) -> bool:
        """See `Engine`. Where there are no tables yet, nothing has to be embedded, either."""
        return not self.schema.is_ready() or self.schema.has_vectors

    def for_agent(self, agent: str) -> "PostgresEngine":
        """See `Engine`."""
        return PostgresEngine(
            self.server,
            timeout_s=self._timeout_s,
            cancellation=self._cancellation,
            agent=agent,
            pool=self.pool,
            schema=self.schema,
        )

    @contextmanager
    def only_one(self, *, timeout_s: float) -> Iterator[None]:
        """See `Engine`."""
        with ExitStack() as held:
            try:
                held.enter_context(self.pool.lock(_LOCK, timeout_s=timeout_s))
            except ServerBusyError as error:
                raise UpkeepBusyError(path=self.name) from error
            yield

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """See `Engine`."""
        if not self.schema.is_ready():
            with no_rows() as rows:
                yield rows
            return
        from rooms.fragments.postgres.reading import PostgresReading

        with self.pool.transaction(agent=self.agent, changes=False) as connection:
            has_vectors = self.schema.has_vectors
            reading = PostgresReading(connection, self.agent, has_vectors=has_vectors)
            yield cast(Rows, reading)

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Rows]:
        """See `Engine`. The changes of one agent follow each other, and upkeep's follow all."""
        from rooms.fragments.postgres.writing import PostgresWriting

        self.schema.prepare()
        wait_s = self._timeout_s if wait_s is None else wait_s
        with self.pool.transaction(agent=self.agent, wait_s=wait_s) as connection:
            has_vectors = self.schema.has_vectors
            writing = PostgresWriting(connection, self.agent, has_vectors=has_vectors)
            if not self.agent:  # the upkeep, as a change in a file
                writing.keep_index()
            yield cast(Rows, writing)

    def exists(self) -> bool:
        """See `Engine`. Whether the tables are there."""
        return self.schema.is_ready()

    def purge(self) -> bool:
        """See `Engine`. The tables let go of what was deleted as far as no transaction still sees
        it; what the server has written for itself before, its log and its backups, is not touched.
        """
        if self.schema.is_ready():
            self.schema.vacuum()
        return True

    def keep_copy(self) -> None:
        """See `Engine`."""

    def close(self) -> None:
        """See `Engine`."""
        self.pool.close()
