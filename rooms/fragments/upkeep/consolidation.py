"""Consolidates the fragments, one process at a time: whole when asked, daily in pieces.

A page and the progress of the run are one transaction: no page is half done, no figure counts
twice. The pieces are done by a thread after a write, on an HTTP server by one for every agent.
"""

import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.config import Settings
from core.errors import SentinelError, WaitEndedError
from core.program import NO_CANCELLATION, Cancellation, warn
from rooms.fragments.activity import FIGURES, PROGRESS, UPKEEP_AT, ToolSummary, feedback_by_tool
from rooms.fragments.draft import IDLE_LIMIT, end_idle_sessions, end_session
from rooms.fragments.fragment import Filter, Fragment, UpkeepBusyError, UpkeepError
from rooms.fragments.links import MOST_PROPOSED, Pair, open_pairs_in
from rooms.fragments.room import Room, open_room
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep import life
from rooms.fragments.upkeep.passes import PASSES, STEPS, Counts, Page, Work
from rooms.fragments.versions import find_important, find_promotable

if TYPE_CHECKING:
    from rooms.fragments.models.judge import OneJudge
    from rooms.fragments.models.vectors import Embedder

HOURS, PIECE_S = 24, 1.0  # between two daily upkeeps; of one at the end of a write
RESUMED_DAYS = 7  # a run that rests for longer is begun anew
MOST_LISTED = 10

_PLACES = {pass_.name: place for place, pass_ in enumerate(PASSES)}
QUIET_S = 60.0  # after all is done, before a write looks for what is due
_ANSWER_S = 0.1  # for the answer to a write to be out
_REST_S = 1.5  # until a thread that tends rests
_run_lock, _tend_lock = threading.Lock(), threading.Lock()  # one thread of a process at a time
_quiet_until_s = dict[str, float]()  # by the place of the fragments

PAUSE_S = 60.0  # between two looks of a server
_IDLE_PAUSE_S = 3_600.0  # at most, between two looks for idle sessions, which read all of them
_GAUGE_FILTERS = {
    "fragments_live": Filter(),
    "fragments_superseded": Filter(state="superseded"),
    "fragments_in_bin": Filter(state="bin"),
    "fragments_missing_vectors": Filter(has_vector=False),
}
_ENDED_GAUGE = "fragments_last_upkeep_timestamp_seconds"
_FAILURE_GAUGES = ("judge_failures", "embedding_failures")

Kind = Literal["asked", "daily"]
Progress = Callable[[int, int, str], object]  # the place of a step, from 1, their count, its name


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The work of one step."""

    name: str
    count: int  # of its changes
    figures: dict[str, int]  # all its counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The work of a consolidation, and open questions for its caller."""

    steps: list[StepOutcome]  # [] for an agent of a team, as they count others' fragments
    suspicions: list[Pair]  # to settle with `link` or `amend`
    stale: list[Fragment]  # procedures long unverified
    promotable: list[Fragment]  # may be worth pinning
    for_the_log: list[Fragment]
    feedback: list[ToolSummary]


class Run(NamedTuple):
    """The progress of a run."""

    kind: Kind
    begun_at: str  # its moment, for every step
    next_pass: str = PASSES[0].name  # next pass, "" at the end
    after: int = 0  # where its next page begins
    figures: Mapping[str, Counts] = {}


def run_of(state: Mapping[str, str], kind: Kind, now: str) -> Run:
    """Return the unfinished run of this kind, if it is not too old, else a new one."""
    try:
        run = Run(*json.loads(state.get(PROGRESS, "")))
        age = datetime.fromisoformat(now) - datetime.fromisoformat(run.begun_at)
        numbers = [run.after, *(n for counts in run.figures.values() for n in counts.values())]
        is_good = run.next_pass in _PLACES and all(type(number) is int for number in numbers)
        if is_good and run.kind == kind and timedelta() <= age <= timedelta(days=RESUMED_DAYS):
            return run
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass  # none, or another program's
    return Run(kind, now)


def is_due(state: Mapping[str, str], now: str) -> bool:
    """Return whether the last upkeep began a day ago, or in the future."""
    try:
        age = datetime.fromisoformat(now) - datetime.fromisoformat(state.get(UPKEEP_AT, ""))
    except (ValueError, TypeError):
        return True  # none was ended, or nobody can tell when
    return not timedelta() <= age < timedelta(hours=HOURS)


def do_run(room: Room, work: Work, run: Run, *, progress: Progress | None = None) -> Iterator[Run]:
    """Do the rest of a run, a transaction for each page; yield its progress."""
    last_pass = ""
    while run.next_pass:
        pass_ = PASSES[_PLACES[run.next_pass]]
        if progress and run.next_pass != last_pass:
            for step in pass_.steps:
                progress(STEPS.index(step) + 1, len(STEPS), step.name)
        last_pass = run.next_pass
        page = Page(run.after, run.figures.get(run.next_pass, {}))
        if pass_.ask:
            page.answer = pass_.ask(room.engine.reading, page, work)
        with room.engine.writing() as rows:
            counts = pass_.run(rows, page, work)
            figures = dict(run.figures)
            for step in pass_.steps:
                before, now = figures.get(step.name, {}), counts[step.name]
                sums = {name: before.get(name, 0) + now.get(name, 0) for name in step.figures}
                figures[step.name] = sums
            if page.next is None:
                rest = PASSES[_PLACES[run.next_pass] + 1 :]
                next_pass = rest[0].name if rest else ""
                run = run._replace(next_pass=next_pass, after=0, figures=figures)
            else:
                run = run._replace(after=page.next, figures=figures)
            end_state = {UPKEEP_AT: run.begun_at, FIGURES: json.dumps(run.figures), PROGRESS: ""}
            rows.set_state({PROGRESS: json.dumps(run)} if run.next_pass else end_state)
        yield run


def consolidate(
    room: Room,
    *,
    progress: Progress | None = None,
    judge: "OneJudge | None" = None,
    embedder: "Embedder | None" = None,
    waits: bool = True,
) -> Report:
    """Do the eleven steps, or the rest of a run that was cut off.

    The run is of the whole room; the open questions are of fragments that its agent may change.
    judge: decides on contradictions. embedder: its failure is counted, and the others go on. waits:
    for another call of this process, which else is refused. Raises UpkeepBusyError while another
    process is at it, UpkeepError if refused or stopped, DatabaseError.
    """
    whole_room, embed_missing = room.for_all(), None
    if embedder:
        from rooms.fragments.models.vectors import embed_missing as fill_in  # only with a model

        embed_missing = partial(fill_in, whole_room, embedder)
    run = Run("asked", room.clock())
    if not _run_lock.acquire(blocking=waits):
        raise UpkeepError("under_way")
    try:
        if room.engine.exists():
            with whole_room.engine.locked_upkeep(timeout_s=room.settings.lock_timeout_s):
                end_idle_sessions(whole_room)
                with whole_room.engine.reading() as rows:
                    start = run = run_of(rows.state(), "asked", room.clock())
                work = Work(run.begun_at, room.config, judge=judge, fill=embed_missing)
                try:
                    for run in do_run(whole_room, work, start, progress=progress):  # noqa: B007
                        pass
                except WaitEndedError as error:
                    step = 1 + [step.name for step in STEPS].index(run.next_pass)
                    raise UpkeepError("stopped", step=step, steps=len(STEPS)) from error
    finally:
        _run_lock.release()
    with room.engine.reading() as rows:
        return _build_report(rows, run, room)


def _build_report(rows: Rows, run: Run, room: Room) -> Report:
    steps, now = list[StepOutcome](), run.begun_at
    for step in () if room.agent else STEPS:
        counts = run.figures.get(step.name, {})
        figures = {name: counts.get(name, 0) for name in step.figures}
        steps.append(StepOutcome(step.name, sum(figures[name] for name in step.changes), figures))
    pairs = open_pairs_in(rows, now)[0]
    own_pairs = [pair for pair in pairs if room.owns(pair.earlier) and room.owns(pair.later)]
    procedures = find_important(rows, Filter(agents=room.own_agents, kinds=("procedure",)))
    is_doubtful = partial(life.is_doubtful, now=now, config=room.config)
    filter_ = Filter(agents=room.own_agents, is_anchor=False)
    pins = filter(life.is_worth_pinning, find_important(rows, filter_, life.ANCHOR_IMPORTANCE))
    ranking = sorted(pins, key=lambda pin: (-life.utility_of(pin), pin.number))
    return Report(
        steps=steps,
        suspicions=own_pairs[:MOST_PROPOSED],
        stale=[*islice(filter(is_doubtful, procedures), MOST_LISTED)],
        promotable=ranking[:MOST_LISTED],
        for_the_log=find_promotable(rows, room.own_agents, MOST_LISTED),
        feedback=feedback_by_tool(rows),
    )


def start_due_work(room: Room) -> None:
    """Start threads for the embeddings, and for the upkeep after the answer, if they are due."""
    room = room.for_all()
    if os.environ.get("SENTINEL_MEMORY_EMBEDDINGS"):  # most rooms have no model
        from rooms.fragments.models.vectors import embed_in_background

        embed_in_background(room)

    def work() -> None:
        from rooms.fragments.models.judge import has_judge

        try:
            if tend(room, compares=not has_judge(os.environ)):
                _quiet_until_s[room.engine.name] = time.monotonic() + QUIET_S
        finally:
            _tend_lock.release()

    is_quiet = time.monotonic() < _quiet_until_s.get(room.engine.name, 0.0)
    if not is_quiet and _tend_lock.acquire(blocking=False):
        timer = threading.Timer(_ANSWER_S, work)
        timer.daemon, timer.name = True, "upkeep"
        timer.start()


def close(room: Room) -> None:
    """Close the engine as soon as the thread of the upkeep rests."""
    is_resting = _tend_lock.acquire(timeout=_REST_S)
    try:
        room.engine.close()
    finally:
        if is_resting:
            _tend_lock.release()


def tend(room: Room, *, compares: bool = True) -> bool:
    """Do a second of the daily upkeep; return whether nothing is left.

    The next write goes on. compares: find contradictions by signs, which leaves none to a judge.
    Never raises: an error is logged. False, too, while another process is at it.
    """
    end = time.monotonic() + PIECE_S
    try:
        return do_daily(room, compares=compares, may_go_on=lambda: time.monotonic() < end)
    except UpkeepBusyError:
        return False
    except (SentinelError, OSError) as error:
        warn("the daily upkeep of the fragments was not done (%s)", error)
        return False


def do_daily(room: Room, *, compares: bool, may_go_on: Callable[[], bool]) -> bool:
    """Do the daily upkeep, then the daily copy; return whether all is done.

    compares: see `tend`. may_go_on: asked after each transaction; False leaves the rest to the next
    call. Raises UpkeepBusyError while another process is at it, FragmentsError, DatabaseError.
    """
    now, is_done = room.clock(), True
    with room.engine.reading() as rows:
        is_due_now = is_due(rows.state(), now)
    if is_due_now:
        with room.engine.locked_upkeep(timeout_s=0):
            with room.engine.reading() as rows:
                state = rows.state()
            if is_due(state, now):  # else another process was faster
                end_idle_sessions(room)
                start = run_of(state, "daily", now)
                work = Work(start.begun_at, room.config, compares=compares)
                for run in do_run(room, work, start):
                    if not may_go_on():
                        is_done = not run.next_pass
                        break
    room.engine.keep_copy()
    return is_done


class ServedFragments:
    """The fragments of an HTTP server, and the thread of their upkeep. Refuses a wrong setting.

    idle_limit: after so long without a call a session ends, a quarter later at most. pause_s:
    between two rounds. figures: counted in each round, {} while the database is away. cancellation:
    of the calls, whose connections the upkeep shares.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        cancellation: Cancellation = NO_CANCELLATION,
        *,
        idle_limit: timedelta = IDLE_LIMIT,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._open = partial(open_room, settings, environment, cancellation)
        self._environment, self._idle_limit, self._pause_s = environment, idle_limit, pause_s
        self._engine, self.figures = self._open().engine, dict[str, float]()
        self.name, self._idle_at_s, self._failure = self._engine.name, time.monotonic(), ""

    def checks(self) -> dict[str, Callable[[], None]]:
        """Return a function for the database, and for a Redis, that raises where it is away."""
        cache = getattr(self._engine, "cache", None)  # a file has none

        def read() -> None:
            with self._engine.reading():
                pass

        def ask_cache() -> None:
            if cache and not cache.is_reachable():
                raise ConnectionError

        return {"engine": read, "redis": ask_cache} if cache else {"engine": read}

    def end_session(self, agent: str, session: str) -> None:
        """End a session as the agent of its credential; a second call changes nothing.

        Raises SentinelError.
        """
        end_session(self._open().for_agent(agent), session)

    def gauges(self) -> dict[str, Callable[[], float]]:
        """Return a function for each figure, by name; none asks the database."""
        engine, readers = self._engine, dict[str, Callable[[], float]]()
        for name in (*_GAUGE_FILTERS, _ENDED_GAUGE, *_FAILURE_GAUGES):
            readers[name] = partial(lambda figure: self.figures.get(figure, math.nan), name)
        for name in engine.figures():
            readers[name] = partial(lambda figure: engine.figures()[figure], name)
        if pool := getattr(engine, "pool", None):  # a file has none
            for name in pool.count_connections():
                readers[name] = partial(lambda figure: pool.count_connections()[figure], name)
        return readers

    def begin(self) -> None:
        """Start a daemon thread for the upkeep."""
        work = partial(self.tend, threading.Event())
        threading.Thread(target=work, name="upkeep", daemon=True).start()

    def tend(self, stop: threading.Event) -> None:
        """Do the upkeep in rounds until `stop` is set; log an error once, and try again."""
        while not stop.is_set():
            try:
                self._do_round(self._open().for_all(), stop)
                self._failure = ""
            except (UpkeepBusyError, WaitEndedError):
                pass  # another process is at it, or this one ends
            except (SentinelError, OSError) as error:
                self.figures.clear()
                if str(error) != self._failure:
                    self._failure = str(error)
                    warn("the upkeep of the fragments has to wait, and is tried again (%s)", error)
            stop.wait(self._pause_s)

    def _do_round(self, room: Room, stop: threading.Event) -> None:
        from rooms.fragments.models.judge import judge_of
        from rooms.fragments.models.vectors import embed_missing, embedder_of

        judge, embedder = judge_of(self._environment), embedder_of(self._environment)
        failures = (float(model.failures) if model else 0.0 for model in (judge, embedder))
        figures = dict(zip(_FAILURE_GAUGES, failures, strict=True)) | {_ENDED_GAUGE: 0.0}
        with room.engine.reading() as rows:
            for name, filter_ in _GAUGE_FILTERS.items():
                figures[name] = sum(rows.count(filter_).values())
            with suppress(ValueError):  # none was ended, or another program wrote that
                ended = datetime.fromisoformat(rows.state().get(UPKEEP_AT, ""))
                figures[_ENDED_GAUGE] = ended.timestamp()
        self.figures.update(figures)
        if not room.engine.exists():
            return
        do_daily(room, compares=judge is None, may_go_on=lambda: not stop.is_set())
        now_s = time.monotonic()
        ends_idle = now_s >= self._idle_at_s
        if not (ends_idle or embedder) or stop.is_set():
            return

        def check_stop(_done: int, _total: int) -> None:
            if stop.is_set():
                raise WaitEndedError(path=room.engine.name)

        with room.engine.locked_upkeep(timeout_s=0):
            if ends_idle:
                end_idle_sessions(room, idle_limit=self._idle_limit)
            if embedder:
                embed_missing(room, embedder, progress=check_stop)
        if ends_idle:
            self._idle_at_s = now_s + min(_IDLE_PAUSE_S, self._idle_limit.total_seconds() / 4)
