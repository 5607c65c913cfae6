"""Asks engines with Redis beside them the same as engines without, in one sequence of chances."""

import random
from collections.abc import Callable
from typing import Any

from rooms.fragments.fragment import Embedding, Wanted
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.redis import Cache, CachedEngine, place_of
from tests.support.engine_samples import DAYS, a_fragment, a_vector
from tests.support.team_engines import a_server

AGENTS = ("alice", "bob", "default")
WORDS = ("node", "redis", "deploy", "lint", "배포", "token")
STEPS, SOME_STEPS = 40, 24


def a_cache(address: str, database: str, **environment: str) -> Cache:
    """What is remembered at an address; a failure is forgotten soon."""
    place = place_of({"SENTINEL_MEMORY_REDIS": address, **environment})
    assert place
    return Cache(place, database, pause_s=0.02)


def an_engine(dsn: str) -> PostgresEngine:
    """The engine of all agents at an address."""
    return PostgresEngine(a_server(dsn), timeout_s=10.0)


def a_cached(dsn: str, address: str) -> CachedEngine:
    """The engine of all agents at an address, with a Redis beside it."""
    inner = an_engine(dsn)
    return CachedEngine(inner, a_cache(address, inner.name))


def everything_asked(engine: Engine, agent: str) -> list[Any]:
    """What an agent is told of every question that may be remembered; each is asked twice."""
    own, both = (agent,), tuple(dict.fromkeys((agent, "default")))
    answers = list[Any]()
    for _ in range(2):
        with engine.for_agent(agent).reading() as reading:
            for agents in (own, both, ()):
                wanted = Wanted(agents=agents)
                answers += [
                    reading.with_keywords(("node", "redis"), wanted, 3),
                    reading.with_keywords(("배포", "unknown"), wanted, 100),
                    reading.with_keywords(("LINT",), Wanted(agents=agents, kinds=("error",)), 9),
                    reading.near(a_vector(1.0, 0.0), wanted, 4),
                ]
            for question in ("deploy the node", "배포 redis token"):
                held = reading.holding(question, 3_000)
                terms = [
                    (it.term, it.having, None if it.numbers is None else [*it.numbers])
                    for it in held.terms
                ]
                answers.append([held.total, terms, held.shares(0.2)])
    return answers


def lived(
    engine: Engine,
    steps: int = STEPS,
    *,
    at: Callable[[int], None] = lambda step: None,
    other: Engine | None = None,
) -> list[list[Any]]:
    """Change fragments by chance, the same each time, and return what agents are told after it.

    at: called before each step. other: an engine of the same data that makes every third change.
    """
    chance, told = random.Random(7), list[list[Any]]()
    for step in range(steps):
        at(step)
        agent = chance.choice(AGENTS)
        _change(
            (other if other and step % 3 == 2 else engine).for_agent(agent), agent, step, chance
        )
        told.append(everything_asked(engine, chance.choice(AGENTS)))
    return told


def _change(engine: Engine, agent: str, step: int, chance: random.Random) -> None:
    words = tuple(chance.sample(WORDS, 2))
    content, verb = f"{' '.join(words)} {step}", chance.randrange(8)
    with engine.writing() as writing:
        own = writing.find(Wanted(agents=(agent,), state="all"))
        one = chance.choice(own) if own else None
        if verb < 3 or one is None:
            kind: Any = chance.choice(("fact", "error"))
            new = a_fragment(f"f{step}", content, keywords=words, agent=agent, kind=kind)
            [added] = writing.add([new])
            vector = a_vector(chance.random(), chance.random())
            writing.put_vectors([Embedding(added.number, vector)])
        elif verb == 3:
            changed = a_fragment(one.id, content, keywords=words, agent=agent, number=one.number)
            writing.replace([changed])
        elif verb == 4:
            writing.touch([one.number], {"deleted_at": "" if one.deleted_at else DAYS[1]})
        elif verb == 5:
            writing.drop([one.id])
        elif verb == 6:
            vector = a_vector(chance.random(), chance.random())
            writing.put_vectors([Embedding(one.number, vector)])
        else:
            writing.touch([one.number], {"access_count": step})
