"""Carries out the steps of the upkeep one page after the other, and goes on where a run ended.

What a page changes and how far the run is are one transaction: a process that is killed has done a
page whole or not at all, and the figures of the run count nothing twice.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from rooms.fragments.room import Room
from rooms.fragments.upkeep.steps.ageing import (
    ANCHORS_STEP,
    DECAY_STEP,
    EXPIRY_STEP,
    TIERS_STEP,
    UTILITY_STEP,
)
from rooms.fragments.upkeep.steps.contradicting import CONTRADICTIONS_STEP, SUSPICIONS_STEP
from rooms.fragments.upkeep.steps.merging import DUPLICATES_STEP
from rooms.fragments.upkeep.steps.step import At, Step, Work
from rooms.fragments.upkeep.steps.tidying import EMBEDDINGS_STEP, FEEDBACK_STEP, TIDYING_STEP

STEPS: Sequence[Step] = (
    TIERS_STEP,
    DECAY_STEP,
    EXPIRY_STEP,
    DUPLICATES_STEP,
    EMBEDDINGS_STEP,
    UTILITY_STEP,
    ANCHORS_STEP,
    CONTRADICTIONS_STEP,
    SUSPICIONS_STEP,
    FEEDBACK_STEP,
    TIDYING_STEP,
)
RUN, ENDED, FIGURES = "upkeep", "upkeep_at", "upkeep_figures"  # names in the state
RESUMED_DAYS = 7  # a run that rests for longer is begun anew

Kind = Literal["asked", "daily"]
Figures = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Run:
    """How far a run is. kind: who wanted it. begun_at: its moment. step, after: what comes next.

    figures: what was done so far, by step.
    """

    kind: Kind
    begun_at: str
    step: int = 0
    after: int = 0
    figures: Figures = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.step >= len(STEPS)

    def as_text(self) -> str:
        """Return it as the state keeps it."""
        return json.dumps([self.kind, self.begun_at, self.step, self.after, self.figures])


def run_of(state: Mapping[str, str], kind: Kind, now: str) -> Run:
    """Return the run of this kind that was not ended, else a new one."""
    fresh = Run(kind, now)
    try:
        run = Run(*json.loads(state.get(RUN, "")))
        begun, here = datetime.fromisoformat(run.begun_at), datetime.fromisoformat(now)
        is_good = type(run.step) is type(run.after) is int and 0 <= run.step < len(STEPS)
        are_figures = all(type(it) is int for its in run.figures.values() for it in its.values())
        is_ours = run.kind == kind and timedelta() <= here - begun <= timedelta(days=RESUMED_DAYS)
        return run if is_good and is_ours and are_figures else fresh
    except (ValueError, TypeError, AttributeError, RecursionError):
        return fresh  # none, or another program's


def is_due(state: Mapping[str, str], now: str, *, hours: int) -> bool:
    """Return whether the last upkeep ended so many hours ago, or lies ahead."""
    try:
        passed = datetime.fromisoformat(now) - datetime.fromisoformat(state.get(ENDED, ""))
    except (ValueError, TypeError):
        return True  # none was ended, or nobody can tell when
    return not timedelta() <= passed < timedelta(hours=hours)


def carry_out(
    room: Room, work: Work, run: Run, *, goes_on: Callable[[], bool], begins: Callable[[int], None]
) -> Run:
    """Do what is left of a run, each page in a transaction of its own; return how far it got.

    goes_on: asked after each page. begins: told the place of each step that begins.
    """
    step = -1
    while not run.is_over:
        if run.step != step:
            step = run.step
            begins(step)
        run = _one_page(room, work, run)
        if not goes_on():
            break
    return run


def _one_page(room: Room, work: Work, run: Run) -> Run:
    step = STEPS[run.step]
    at = At(run.after, run.figures.get(step.name, {}))
    if step.ask:
        at = at._replace(asked=step.ask(room.engine.reading, work, at))
    with room.engine.writing() as writing:
        page = step.page(writing, work, at)
        counted = {it: at.so_far.get(it, 0) + page.figures.get(it, 0) for it in step.figures}
        figures = {**run.figures, step.name: counted}
        if page.next is None:
            run = replace(run, step=run.step + 1, after=0, figures=figures)
        else:
            run = replace(run, after=page.next, figures=figures)
        if run.is_over:
            done = {ENDED: run.begun_at, FIGURES: json.dumps(figures), RUN: ""}
            writing.set_state(done)
        else:
            writing.set_state({RUN: run.as_text()})
    return run
