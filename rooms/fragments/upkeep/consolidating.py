"""Consolidates the fragments in eleven steps, one process at a time, and reports what was done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from core.errors import WaitEndedError
from rooms.fragments.errors import UpkeepError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.promotion.promoting import for_the_log
from rooms.fragments.room import Room
from rooms.fragments.saving.activity import end_idle_sessions
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep import life
from rooms.fragments.upkeep.feedback import FeedbackReport, feedback_report
from rooms.fragments.upkeep.running import STEPS, Run, carry_out, run_of
from rooms.fragments.upkeep.steps.step import Judge, Work
from rooms.fragments.upkeep.suspecting import MOST_PROPOSED, Pair, pending

if TYPE_CHECKING:
    from rooms.fragments.embeddings.embedder import Embedder

MOST_LISTED = 10
_AT_ONCE = 300

Progress = Callable[[int, int, str], object]
_consolidating = Lock()


@dataclass(frozen=True, slots=True)
class Done:
    """What one step has done. count: how much it changed. figures: all of its figures by name."""

    name: str
    count: int
    figures: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a consolidation did, and what it leaves to whoever asked for it.

    steps: [] for an agent of a team, as they count what others have. suspicions: pairs that may
    contradict each other, for the caller to settle with `link` or `amend`. stale: what nobody has
    verified for long, to be looked at. promotable: what may be worth pinning. for_the_log: what has
    earned a place in the log of a project. feedback: what was said of the tools.
    """

    steps: list[Done]
    suspicions: list[Pair]
    stale: list[Fragment]
    promotable: list[Fragment]
    for_the_log: list[Fragment]
    feedback: FeedbackReport


def consolidate(
    room: Room,
    *,
    progress: Progress | None = None,
    judge: Judge | None = None,
    embedder: "Embedder | None" = None,
) -> Report:
    """Carry out the eleven steps, and go on with a run that was killed or stopped.

    The run is of the whole room, whoever asks for it; what is left to be settled is what the agent
    of the room may change. progress: called with the place of each step, from 1, their count, and
    its name. judge: who decides on contradictions. embedder: what makes embeddings; where it fails,
    the other steps go on, and its step counts that.

    Raises UpkeepBusyError while another process is at it, UpkeepError when it was stopped,
    DatabaseError. Creates nothing where nothing was ever saved.
    """

    def begins(place: int) -> None:
        if progress:
            progress(place + 1, len(STEPS), STEPS[place].name)

    if not room.engine.exists():
        with room.engine.reading() as reading:
            return _report(reading, Run("asked", room.clock()), room)
    whole = room.for_all()
    with whole.engine.only_one(timeout_s=room.settings.lock_timeout_s):
        end_idle_sessions(whole)
        fill = _filling(whole, embedder) if embedder else None
        run = _done(whole, judge, fill, begins)
        _keep_sets_current(whole)
    with room.engine.reading() as reading:
        return _report(reading, run, room)


def _keep_sets_current(room: Room) -> None:
    if room.config.cache:
        from rooms.fragments.redis.engine import keep_current  # only a team has one

        keep_current(room.engine)


def _filling(room: Room, embedder: "Embedder") -> Callable[[], object]:
    from rooms.fragments.embeddings.filling import fill  # only who has a model needs it

    return lambda: fill(room, embedder)


def _done(
    room: Room,
    judge: Judge | None,
    fill: Callable[[], object] | None,
    begins: Callable[[int], None],
) -> Run:
    with room.engine.reading() as reading:
        run = run_of(reading.state(), "asked", room.clock())
    work = Work(run.begun_at, room.config, judge=judge, fill=fill)
    step = run.step

    def begun(place: int) -> None:
        nonlocal step
        step = place
        begins(place)

    try:
        return carry_out(room, work, run, goes_on=lambda: True, begins=begun)
    except WaitEndedError as error:
        raise UpkeepError("stopped", step=step + 1, steps=len(STEPS)) from error


def _report(reading: Rows, run: Run, room: Room) -> Report:
    steps = list[Done]()
    for step in () if room.agent else STEPS:
        figures = {it: run.figures.get(step.name, {}).get(it, 0) for it in step.figures}
        steps.append(Done(step.name, sum(figures[it] for it in step.counted), figures))
    return Report(
        steps=steps,
        suspicions=_unsettled(reading, run.begun_at, room),
        stale=_doubtful(reading, run.begun_at, room),
        promotable=_promotable(reading, room),
        for_the_log=for_the_log(reading, room.own, MOST_LISTED),
        feedback=feedback_report(reading),
    )


def _by_worth(reading: Rows, wanted: Wanted) -> Iterator[Fragment]:
    """Yield fragments, the most important first."""
    at = 0
    while page := reading.find(wanted, order="worth", limit=_AT_ONCE, offset=at):
        yield from page
        at += len(page)


def _unsettled(reading: Rows, now: str, room: Room) -> list[Pair]:
    waiting = pending(reading, now)[0]
    return [it for it in waiting if room.owns(it.earlier) and room.owns(it.later)][:MOST_PROPOSED]


def _doubtful(reading: Rows, now: str, room: Room) -> list[Fragment]:
    found = list[Fragment]()
    for it in _by_worth(reading, Wanted(agents=room.own, kinds=("procedure",))):
        if life.is_doubtful(it, now, room.config):
            found.append(it)
        if len(found) == MOST_LISTED:
            break
    return found


def _promotable(reading: Rows, room: Room) -> list[Fragment]:
    """Return what may be worth pinning, that of most use first."""
    found = list[Fragment]()
    for it in _by_worth(reading, Wanted(agents=room.own, is_anchor=False)):
        if it.importance < life.ANCHOR_IMPORTANCE:
            break
        if life.is_worth_pinning(it):
            found.append(it)
    return sorted(found, key=lambda it: (-life.utility_of(it), it.number))[:MOST_LISTED]


@contextmanager
def in_turn(*, waits: bool) -> Iterator[None]:
    """Be the one that consolidates. waits: else raise UpkeepError where another call does."""
    if not _consolidating.acquire(blocking=waits):
        raise UpkeepError("under_way")
    try:
        yield
    finally:
        _consolidating.release()
