"""Opens the fragments that a PostgreSQL server keeps, as one agent has them or with all agents'."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from core.postgres.errors import ServerBusyError
from core.postgres.pool import Pool
from core.postgres.server import Server
from core.program import NO_CANCELLATION, Cancellation
from rooms.fragments.engine import Reading, Writing
from rooms.fragments.errors import UpkeepBusyError
from rooms.fragments.postgres.schema import Schema

_LOCK = "upkeep"


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
        schema: Schema | None = None,
    ) -> None:
        """pool, schema: of the engine for other agents, with which it shares its connections."""
        self.server, self.agent = server, agent
        self.pool = pool or Pool(server, cancellation=cancellation)
        self.schema = schema or Schema(self.pool)
        self._timeout_s, self._cancellation = timeout_s, cancellation

    @property
    def name(self) -> str:
        """See `Engine`."""
        return self.server.name

    @property
    def keeps_agents_apart(self) -> bool:
        """See `Engine`."""
        return True

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
    def reading(self) -> Iterator[Reading]:
        """See `Engine`."""
        if not self.schema.is_ready():
            with _nothing() as reading:
                yield reading
            return
        from rooms.fragments.postgres.reading import PostgresReading

        with self.pool.transaction(agent=self.agent, changes=False) as connection:
            has_vectors = self.schema.has_vectors
            yield PostgresReading(connection, self.agent, has_vectors=has_vectors)

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Writing]:
        """See `Engine`. The changes of one agent follow each other, and upkeep's follow all."""
        from rooms.fragments.postgres.writing import PostgresWriting

        self.schema.prepare()
        wait_s = self._timeout_s if wait_s is None else wait_s
        with self.pool.transaction(agent=self.agent, wait_s=wait_s) as connection:
            has_vectors = self.schema.has_vectors
            writing = PostgresWriting(connection, self.agent, has_vectors=has_vectors)
            if not self.agent:  # the upkeep, as a change in a file
                writing.keep_index()
            yield writing

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


@contextmanager
def _nothing() -> Iterator[Reading]:
    """Read an empty database in memory: where there are no tables, there are no fragments."""
    from rooms.fragments.sqlite.adapter import nothing
    from rooms.fragments.sqlite.reading import SqliteReading
    from rooms.fragments.sqlite.vectors import Vectors

    with closing(nothing()) as connection:
        yield SqliteReading(connection, Vectors())
