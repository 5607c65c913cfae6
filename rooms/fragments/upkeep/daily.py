"""Does the upkeep once a day, at the end of a write, a second at a time, and the daily copy."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.errors import SentinelError
from core.program import warn
from rooms.fragments.errors import UpkeepBusyError
from rooms.fragments.room import Room
from rooms.fragments.saving.activity import end_idle_sessions
from rooms.fragments.upkeep.running import carry_out, is_due, run_of
from rooms.fragments.upkeep.steps.step import Work

HOURS = 24
AT_MOST_S = 1.0
_WAIT_S = 1.5  # for a thread that is at it, which rests after a second
_TENDING = threading.Lock()  # one thread of a process at a time


def go_on(room: Room) -> None:
    """Begin in threads of their own what a write gives rise to: embeddings, and what is due."""
    from rooms.fragments.embeddings.filling import fill_in_background  # an answer needs no model

    room = room.for_all()
    fill_in_background(room)
    if _TENDING.acquire(blocking=False):
        threading.Thread(target=_tend, args=(room,), name="upkeep", daemon=True).start()


@contextmanager
def resting() -> Iterator[None]:
    """Keep the upkeep of this process from its work, as soon as a thread that is at it rests."""
    is_resting = _TENDING.acquire(timeout=_WAIT_S)
    try:
        yield
    finally:
        if is_resting:
            _TENDING.release()


def _tend(room: Room) -> None:
    from rooms.fragments.judging.settings import has_judge

    try:
        tend(room, compares=not has_judge(os.environ))
    finally:
        _TENDING.release()


def tend(room: Room, *, compares: bool = True) -> None:
    """Do what is due, for about a second; the next write goes on where this one ends.

    compares: whether it looks for contradictions by their signs, which leaves nothing to a judge.

    Never fails the write: what keeps it from its work is logged. A process that finds another one
    at it leaves the work to that one.
    """
    end = time.monotonic() + AT_MOST_S
    try:
        do_daily(room, compares=compares, goes_on=lambda: time.monotonic() < end)
    except UpkeepBusyError:
        return
    except (SentinelError, OSError) as error:
        warn("the daily upkeep of the fragments was not done (%s)", error)


def do_daily(room: Room, *, compares: bool, goes_on: Callable[[], bool]) -> None:
    """Do what is due of the daily upkeep, then of the daily copy.

    What is left of the upkeep is gone on with by the next call.

    compares: see `tend`. goes_on: asked after each transaction. Raises UpkeepBusyError where
    another process is at it, FragmentsError, DatabaseError.
    """
    _carry_out_due(room, compares=compares, goes_on=goes_on)
    room.engine.keep_copy()


def _carry_out_due(room: Room, *, compares: bool, goes_on: Callable[[], bool]) -> None:
    now = room.clock()
    with room.engine.reading() as reading:
        if not is_due(reading.state(), now, hours=HOURS):
            return
    with room.engine.only_one(timeout_s=0):
        with room.engine.reading() as reading:
            state = reading.state()
        if not is_due(state, now, hours=HOURS):  # another process was faster
            return
        end_idle_sessions(room)
        run = run_of(state, "daily", now)
        work = Work(run.begun_at, room.config, compares=compares)
        carry_out(room, work, run, goes_on=goes_on, begins=lambda _place: None)
