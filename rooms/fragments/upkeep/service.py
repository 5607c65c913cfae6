"""Does the upkeep of an HTTP server in a thread, for every agent.

Processes of one database take turns, and each may end at any moment: a piece is one transaction.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from core.config import Settings
from core.errors import SentinelError, WaitEndedError
from core.program import NO_CANCELLATION, Cancellation, warn
from rooms.fragments.draft import GONE, end_idle_sessions, end_session
from rooms.fragments.errors import UpkeepBusyError
from rooms.fragments.fragment import Wanted
from rooms.fragments.models.embedding import embedder_of
from rooms.fragments.models.judge import judge_of
from rooms.fragments.models.vectors import fill
from rooms.fragments.room import Room, open_room
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
_IDLE_PAUSE_S = 3_600.0  # at most, between two looks for idle sessions, which read all of them


class ServedFragments:
    """The fragments of an HTTP server. Raises FragmentsError for a wrong setting.

    silent_for: after so long without a call a session ends, a quarter later at most. pause_s:
    between two rounds. figures: counted in each round, {} while the database is away. cancellation:
    of the calls, whose connections the upkeep shares.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        cancellation: Cancellation = NO_CANCELLATION,
        *,
        silent_for: timedelta = GONE,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._open = partial(open_room, settings, environment, cancellation)
        self._environment, self._silent_for, self._pause_s = environment, silent_for, pause_s
        self._engine, self.figures = self._open().engine, dict[str, float]()
        self._idle_at_s, self._failure = time.monotonic(), ""

    @property
    def name(self) -> str:
        return self._engine.name

    def checks(self) -> dict[str, Callable[[], None]]:
        """Return a function for the database, and for a Redis, that raises where it is away."""
        cache = self._engine.cache

        def read() -> None:
            with self._engine.reading():
                pass

        def ask_cache() -> None:
            if cache and not cache.answers():
                raise ConnectionError

        return {"engine": read, "redis": ask_cache} if cache else {"engine": read}

    def end_session(self, agent: str, session: str) -> None:
        """End a session as the agent of its credential; a second call changes nothing.

        Raises SentinelError.
        """
        end_session(self._open().for_agent(agent), session)

    def gauges(self) -> dict[str, Callable[[], float]]:
        """Return a function for each figure, by name; none asks the database."""
        engine, asked = self._engine, dict[str, Callable[[], float]]()
        for name in (*_COUNTED, _ENDED, *_FAILURES):
            asked[name] = partial(lambda it: self.figures.get(it, math.nan), name)
        for name in engine.figures():
            asked[name] = partial(lambda it: engine.figures()[it], name)
        if pool := getattr(engine, "pool", None):  # a file has none
            asked["db_connections_in_use"] = lambda: pool.usage().in_use
            asked["db_connections_idle"] = lambda: pool.usage().idle
            asked["db_calls_waiting"] = lambda: pool.usage().waiting
        return asked

    def begin(self) -> None:
        """Start a daemon thread for the upkeep."""
        work = partial(self.tend, threading.Event())
        threading.Thread(target=work, name="upkeep", daemon=True).start()

    def tend(self, stop: threading.Event) -> None:
        """Do the upkeep in rounds until `stop` is set; never raise.

        An error, such as a database that is away, is logged once and tried again.
        """
        while not stop.is_set():
            try:
                self._go_round(self._open().for_all(), stop)
                self._failure = ""
            except (UpkeepBusyError, WaitEndedError):
                pass  # another process is at it, or this one ends
            except (SentinelError, OSError) as error:
                self.figures.clear()
                if str(error) != self._failure:
                    self._failure = str(error)
                    said = "the upkeep of the fragments has to wait, and is tried again (%s)"
                    warn(said, self._failure)
            stop.wait(self._pause_s)

    def _go_round(self, room: Room, stop: threading.Event) -> None:
        judge, embedder = judge_of(self._environment), embedder_of(self._environment)
        failures = (float(it.failures) if it else 0.0 for it in (judge, embedder))
        figures = dict(zip(_FAILURES, failures, strict=True)) | {_ENDED: 0.0}
        with room.engine.reading() as rows:
            for name, wanted in _COUNTED.items():
                figures[name] = sum(rows.count(wanted).values())
            with suppress(ValueError):  # none was ended, or another program wrote that
                ended = datetime.fromisoformat(rows.state().get(ENDED, ""))
                figures[_ENDED] = ended.timestamp()
        self.figures.update(figures)
        if not room.engine.exists():
            return
        do_daily(room, compares=judge is None, goes_on=lambda: not stop.is_set())
        now_s = time.monotonic()
        ends_idle = now_s >= self._idle_at_s
        if not (ends_idle or embedder) or stop.is_set():
            return

        def check_goes_on(_done: int, _total: int) -> None:
            if stop.is_set():
                raise WaitEndedError(path=room.engine.name)

        with room.engine.only_one(timeout_s=0):
            if ends_idle:
                end_idle_sessions(room, silent_for=self._silent_for)
            if embedder:
                fill(room, embedder, progress=check_goes_on)
        if ends_idle:
            self._idle_at_s = now_s + min(_IDLE_PAUSE_S, self._silent_for.total_seconds() / 4)
