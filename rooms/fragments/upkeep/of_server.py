"""Does over HTTP what a process over stdio does at its writes: by a thread, for every agent.

Any number of processes may serve one database: one of them is at it at a time, the others look
again later. A process may end at any moment of it, as each piece is one transaction.
"""

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from core.config import Settings
from core.errors import SentinelError, WaitEndedError
from core.program import NO_CANCELLATION, Cancellation, warn
from rooms.fragments.embeddings.embedder import embedder_of
from rooms.fragments.embeddings.filling import fill
from rooms.fragments.errors import UpkeepBusyError
from rooms.fragments.judging.settings import has_judge
from rooms.fragments.redis.engine import CachedEngine, check_of, keep_current
from rooms.fragments.room import Room, open_room
from rooms.fragments.saving.activity import end_idle_sessions, end_session
from rooms.fragments.storage.engine import Engine
from rooms.fragments.upkeep.daily import do_daily

PAUSE_S = 60.0  # between two looks
_IDLE_LOOKS = 60  # between two looks for idle sessions and keyword sets, which reads all of them


class Begun(NamedTuple):
    """What a server over HTTP needs of the room.

    name: of the place. check: raises DatabaseError where it cannot be read. end_session: see
    `end_session_of`, with the agent and the name of the session. cache: see `check_of`. figures: of
    the connections to a server, by name.
    """

    name: str
    check: Callable[[], None]
    end_session: Callable[[str, str], None]
    cache: tuple[str, Callable[[], None]] | None
    figures: Mapping[str, Callable[[], float]]


def begin(
    settings: Settings,
    environment: Mapping[str, str],
    cancellation: Cancellation,
) -> Begun:
    """Have the upkeep done by a thread for as long as the process lives. Raises FragmentsError."""
    engine = open_room(settings, environment, cancellation).engine

    def check() -> None:
        with engine.reading():
            pass

    def end(agent: str, session: str) -> None:
        end_session_of(settings, environment, agent, session, cancellation)

    given = (settings, environment, threading.Event(), cancellation)
    threading.Thread(target=upkeep_of_server, args=given, name="upkeep", daemon=True).start()
    return Begun(engine.name, check, end, check_of(engine), _figures(engine))


def _figures(engine: Engine) -> Mapping[str, Callable[[], float]]:
    """Return how many connections are in use, rest and are waited for; none of a file."""
    inner = engine.inner if isinstance(engine, CachedEngine) else engine
    if not inner.keeps_agents_apart:
        return {}
    from rooms.fragments.postgres.adapter import PostgresEngine  # a file needs none of it

    assert isinstance(inner, PostgresEngine)
    pool = inner.pool
    return {
        "db_connections_in_use": lambda: pool.usage().in_use,
        "db_connections_idle": lambda: pool.usage().idle,
        "db_calls_waiting": lambda: pool.usage().waiting,
    }


def upkeep_of_server(
    settings: Settings,
    environment: Mapping[str, str],
    stop: threading.Event,
    cancellation: Cancellation = NO_CANCELLATION,
    *,
    pause_s: float = PAUSE_S,
) -> None:
    """Do what is due, now and every so many seconds, until somebody stops it.

    Never raises: what keeps it from its work, such as a database that is away, is logged once and
    tried again. cancellation: of the calls, whose connections it shares.
    """
    looks, failure = 0, ""
    while not stop.is_set():
        try:
            room = open_room(settings, environment, cancellation).for_all()
            _do(room, environment, stop, ends_idle=looks % _IDLE_LOOKS == 0)
            failure = ""
        except (UpkeepBusyError, WaitEndedError):
            pass  # another process is at it, or this one ends
        except (SentinelError, OSError) as error:
            if str(error) != failure:
                failure = str(error)
                warn("the upkeep of the fragments has to wait, and is tried again (%s)", failure)
        looks += 1
        stop.wait(pause_s)


def end_session_of(
    settings: Settings,
    environment: Mapping[str, str],
    agent: str,
    session: str,
    cancellation: Cancellation = NO_CANCELLATION,
) -> None:
    """End a session over HTTP, as the agent of its credential; ending it again changes nothing.

    Raises SentinelError.
    """
    room = open_room(settings, environment, cancellation)
    end_session(room.for_agent(agent), session)


def _do(
    room: Room, environment: Mapping[str, str], stop: threading.Event, *, ends_idle: bool
) -> None:
    """Do what is due. Raises SentinelError."""
    if not room.engine.exists():
        return
    do_daily(room, compares=not has_judge(environment), goes_on=lambda: not stop.is_set())
    embedder = embedder_of(environment)
    if not (ends_idle or embedder) or stop.is_set():
        return

    def check_goes_on(_done: int, _total: int) -> None:
        if stop.is_set():
            raise WaitEndedError(path=room.engine.name)

    with room.engine.only_one(timeout_s=0):
        if ends_idle:
            end_idle_sessions(room)
            keep_current(room.engine)
        if embedder:
            fill(room, embedder, progress=check_goes_on)
