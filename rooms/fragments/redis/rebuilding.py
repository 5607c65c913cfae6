"""Makes the keyword sets of agents anew, from what their fragments say."""

from typing import NamedTuple

from rooms.fragments.engine import Engine, Wanted, pages_of
from rooms.fragments.redis.engine import CachedEngine
from rooms.fragments.redis.keyword_sets import words_of

_AT_ONCE = 2_000


class Rebuilt(NamedTuple):
    """What was done: agents whose sets are new, and were right already."""

    made: int = 0
    current: int = 0


def rebuild(engine: CachedEngine) -> Rebuilt:
    """Make the keyword sets anew of all agents whose sets are behind.

    engine: that of all agents. Ends early where the server does not answer. Raises DatabaseError.
    """
    with engine.inner.reading() as reading:
        agents = list(reading.count(Wanted(state="all"), by="agent"))
    made = current = 0
    for agent in agents:
        bound = engine.for_agent(agent)
        with bound.inner.reading() as reading:
            revision = reading.revisions().get(agent, "")
            if not revision:  # of rows that came in beside the program: nothing tells their state
                continue
            if bound.cache.sets.are_of(agent, revision):
                current += 1
                continue
            numbers = dict[str, list[int]]()
            for some in pages_of(reading, Wanted(agents=(agent,)), _AT_ONCE):
                for it in some:
                    for word in words_of(it.keywords):
                        numbers.setdefault(word, []).append(it.number)
        if not bound.cache.sets.put(agent, revision, numbers):
            break
        made += 1
    return Rebuilt(made, current)


def keep_current(engine: Engine) -> None:
    """Make the keyword sets anew that are behind, as after very many changes or a restart of Redis.

    engine: that of all agents, which may have no Redis beside it. Where all are right, each agent
    costs a question here and one there. Raises DatabaseError.
    """
    if isinstance(engine, CachedEngine) and engine.cache.client.is_worth_asking:
        rebuild(engine)
