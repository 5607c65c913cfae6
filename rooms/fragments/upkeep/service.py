"""Does over HTTP what a process over stdio does at its writes: by a thread, for every agent.

Any number of processes may serve one database: one of them is at it at a time, the others look
again later. A process may end at any moment of it, as each piece is one transaction.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from core.config import Settings
from core.errors import SentinelError, WaitEndedError
from core.program import NO_CANCELLATION, Cancellation, warn
from rooms.fragments.activity import GONE, end_idle_sessions, end_session
from rooms.fragments.errors import UpkeepBusyError
from rooms.fragments.fragment import Wanted
from rooms.fragments.models.embedding import embedder_of
from rooms.fragments.models.judge import has_judge, judge_of
from rooms.fragments.models.vectors import fill
from rooms.fragments.room import Room, open_room
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.redis import CachedEngine
from rooms.fragments.upkeep.consolidation import do_daily
from rooms.fragments.upkeep.statistics import ENDED

PAUSE_S = 60.0  # between two looks
_COUNTED = {
    "fragments_live": Wanted(),
    "fragments_superseded": Wanted(state="superseded"),
    "fragments_in_bin": Wanted(state="bin"),
    "fragments_missing_vectors": Wanted(has_vector=False),
}
_ENDED = "fragments_last_upkeep_timestamp_seconds"
_FAILURES = ("judge_failures", "embedding_failures")
FIGURES = (*_COUNTED, _ENDED, *_FAILURES)
_IDLE_PAUSE_S = 3_600.0  # at most, between two looks for idle sessions, which read all of them


class Begun(NamedTuple):
    """What a server over HTTP needs of the room.

    name: of the place. check: raises DatabaseError where it cannot be read. end_session: see
    `end_session_of`, with the agent and the name of the session. cache: the name of a Redis beside
    the place, and what raises ConnectionError where it does not answer. figures: by flat names, to
    be asked for when they are read, which asks no database.
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
    *,
    silent_for: timedelta = GONE,
) -> Begun:
    """Have the upkeep done by a thread for as long as the process lives. Raises FragmentsError.

    silent_for: see `upkeep_of_server`.
    """
    engine, figures = open_room(settings, environment, cancellation).engine, dict[str, float]()

    def check() -> None:
        with engine.reading():
            pass

    def end(agent: str, session: str) -> None:
        end_session_of(settings, environment, agent, session, cancellation)

    def upkeep() -> None:
        upkeep_of_server(
            *(settings, environment, threading.Event(), cancellation),
            silent_for=silent_for,
            figures=figures,
        )

    def check_cache() -> None:
        if isinstance(engine, CachedEngine) and not engine.cache.answers():
            raise ConnectionError

    threading.Thread(target=upkeep, name="upkeep", daemon=True).start()

    def figure(name: str) -> float:
        return figures.get(name, math.nan)

    asked: dict[str, Callable[[], float]] = {name: partial(figure, name) for name in FIGURES}
    asked |= {name: partial(lambda it: engine.figures()[it], name) for name in engine.figures()}
    cache = (engine.cache.place.name, check_cache) if isinstance(engine, CachedEngine) else None
    return Begun(engine.name, check, end, cache, asked | _connections(engine))


def upkeep_of_server(
    settings: Settings,
    environment: Mapping[str, str],
    stop: threading.Event,
    cancellation: Cancellation = NO_CANCELLATION,
    *,
    pause_s: float = PAUSE_S,
    silent_for: timedelta = GONE,
    figures: dict[str, float] | None = None,
) -> None:
    """Do what is due, now and every so many seconds, until somebody stops it.

    Never raises: what keeps it from its work, such as a database that is away, is logged once and
    tried again. cancellation: of the calls, whose connections it shares. silent_for: a session that
    has had no call for so long is ended, a quarter of that time later at most. figures: filled at
    each look, see `FIGURES`; empty while the database is away.
    """
    idle_pause_s = min(_IDLE_PAUSE_S, silent_for.total_seconds() / 4)
    figures, failure, idle_at_s = {} if figures is None else figures, "", time.monotonic()
    while not stop.is_set():
        ends_idle = time.monotonic() >= idle_at_s
        try:
            room = open_room(settings, environment, cancellation).for_all()
            figures.update(_figures(room, environment))
            _do(room, environment, stop, silent_for=silent_for if ends_idle else None)
            if ends_idle:
                idle_at_s = time.monotonic() + idle_pause_s
            failure = ""
        except (UpkeepBusyError, WaitEndedError):
            pass  # another process is at it, or this one ends
        except (SentinelError, OSError) as error:
            figures.clear()
            if str(error) != failure:
                failure = str(error)
                warn("the upkeep of the fragments has to wait, and is tried again (%s)", failure)
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
    room: Room,
    environment: Mapping[str, str],
    stop: threading.Event,
    *,
    silent_for: timedelta | None,
) -> None:
    """Do what is due. silent_for: None to end no session. Raises SentinelError."""
    if not room.engine.exists():
        return
    do_daily(room, compares=not has_judge(environment), goes_on=lambda: not stop.is_set())
    embedder = embedder_of(environment)
    if not (silent_for or embedder) or stop.is_set():
        return

    def check_goes_on(_done: int, _total: int) -> None:
        if stop.is_set():
            raise WaitEndedError(path=room.engine.name)

    with room.engine.only_one(timeout_s=0):
        if silent_for:
            end_idle_sessions(room, silent_for=silent_for)
        if embedder:
            fill(room, embedder, progress=check_goes_on)


def _figures(room: Room, environment: Mapping[str, str]) -> dict[str, float]:
    """Return the figures of a room by the names of `FIGURES`. Raises DatabaseError."""
    models = judge_of(environment), embedder_of(environment)
    figures = {name: it.failures if it else 0.0 for name, it in zip(_FAILURES, models, strict=True)}
    with room.engine.reading() as rows:
        state = rows.state()
        for name, wanted in _COUNTED.items():
            figures[name] = sum(rows.count(wanted).values())
    try:
        figures[_ENDED] = datetime.fromisoformat(state.get(ENDED, "")).timestamp()
    except ValueError:  # none was ended, or another program wrote that
        figures[_ENDED] = 0.0
    return figures


def _connections(engine: Engine) -> dict[str, Callable[[], float]]:
    """Return how many connections are in use, rest and are waited for; none of a file."""
    inner = engine.inner if isinstance(engine, CachedEngine) else engine
    if not inner.keeps_agents_apart:
        return {}
    from rooms.fragments.storage.postgres import PostgresEngine  # a file needs none of it

    assert isinstance(inner, PostgresEngine)
    pool = inner.pool
    return {
        "db_connections_in_use": lambda: pool.usage().in_use,
        "db_connections_idle": lambda: pool.usage().idle,
        "db_calls_waiting": lambda: pool.usage().waiting,
    }
