"""Opens fragments with a Redis server beside their own, which may fail or be wrong at any moment.

What is true, and of which state, only the fragments' own server says: in the snapshot of a reading
it tells the revision of each agent, and an answer that was kept counts for that revision alone.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import cast

from rooms.fragments.fragment import Wanted
from rooms.fragments.redis.cache import Cache
from rooms.fragments.redis.keyword_sets import words_of
from rooms.fragments.redis.reading import CachedReading
from rooms.fragments.redis.writing import WatchedWriting
from rooms.fragments.storage.engine import Engine, pages_of
from rooms.fragments.storage.rows import Rows

_AT_ONCE = 2_000


class CachedEngine(Engine):
    """See `Engine`. agent: whom the inner engine is bound to, "" for all."""

    def __init__(self, inner: Engine, cache: Cache, agent: str = "") -> None:
        self.inner, self.cache, self.agent = inner, cache, agent
        self.name, self.keeps_agents_apart = inner.name, inner.keeps_agents_apart

    def keeps_vectors(self) -> bool:
        """See `Engine`."""
        return self.inner.keeps_vectors()

    def for_agent(self, agent: str) -> "CachedEngine":
        """See `Engine`."""
        return CachedEngine(self.inner.for_agent(agent), self.cache, agent)

    def only_one(self, *, timeout_s: float) -> AbstractContextManager[None]:
        """See `Engine`."""
        return self.inner.only_one(timeout_s=timeout_s)

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        """See `Engine`."""
        with self.inner.reading() as reading:
            yield cast(Rows, CachedReading(reading, self.cache, self.agent))

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Rows]:
        """See `Engine`."""
        with self.inner.writing(wait_s=wait_s) as writing:
            if self.cache.client.is_worth_asking:
                watched = WatchedWriting(writing)
                yield cast(Rows, watched)
                changes = watched.changes()
            else:
                yield writing
                changes = {}
        for agent, change in changes.items():
            self.cache.sets.follow(agent, change)

    def exists(self) -> bool:
        """See `Engine`."""
        return self.inner.exists()

    def purge(self) -> bool:
        """See `Engine`."""
        return self.inner.purge()

    def keep_copy(self) -> None:
        """See `Engine`."""
        self.inner.keep_copy()

    def close(self) -> None:
        """See `Engine`."""
        self.cache.close()
        self.inner.close()


def check_of(engine: Engine) -> tuple[str, Callable[[], None]] | None:
    """Return the name of an engine's layer and a check of it, None for one without it.

    The check raises ConnectionError where the server does not answer.
    """
    if not isinstance(engine, CachedEngine):
        return None
    cache = engine.cache

    def check() -> None:
        if not cache.client.ask(lambda redis: bool(redis.ping())):
            raise ConnectionError

    return cache.place.name, check


def keep_current(engine: Engine) -> None:
    """Make the keyword sets anew that are behind, as after very many changes or a restart of Redis.

    engine: that of all agents, which may have no Redis beside it. Where all are right, each agent
    costs a question here and one there. Ends early where Redis does not answer. Raises
    DatabaseError.
    """
    if not isinstance(engine, CachedEngine) or not engine.cache.client.is_worth_asking:
        return
    with engine.inner.reading() as reading:
        agents = list(reading.count(Wanted(state="all"), by="agent"))
    for agent in agents:
        with engine.inner.for_agent(agent).reading() as reading:
            revision = reading.revisions().get(agent, "")
            # Of rows that came in beside the program nothing tells their state.
            if not revision or engine.cache.sets.are_of(agent, revision):
                continue
            numbers = dict[str, list[int]]()
            for some in pages_of(reading, Wanted(agents=(agent,)), _AT_ONCE):
                for it in some:
                    for word in words_of(it.keywords):
                        numbers.setdefault(word, []).append(it.number)
        if not engine.cache.sets.put(agent, revision, numbers):
            break
