"""Defines what a step of the upkeep is: pages of work, each small enough for one transaction."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from rooms.fragments.config import Config
from rooms.fragments.fragment import Fragment
from rooms.fragments.storage.rows import Rows

AT_ONCE = 300  # fragments in one transaction: a save waits no longer than for these

Opening = Callable[[], AbstractContextManager[Rows]]


class Verdict(Protocol):
    """What a judge says of two texts: contradiction, entailment or neutral, and how sure."""

    @property
    def label(self) -> str:
        """One of the three words."""

    @property
    def confidence(self) -> float:
        """From 0 to 1."""


class Judge(Protocol):
    """Says whether two texts contradict each other."""

    def verdict(self, earlier: str, later: str) -> Verdict:
        """Return what it thinks. Raises ServiceError."""


class Work(NamedTuple):
    """What every step works with.

    now: the moment at which the run began, which holds for all of it. compares: whether
    it looks for contradictions among what is new. judge: who decides on them, None for
    nobody. fill: makes the embeddings that are missing, None where no model is configured.
    """

    now: str
    config: Config
    compares: bool = True
    judge: Judge | None = None
    fill: Callable[[], object] | None = None


class At(NamedTuple):
    """Where a page begins: after which number, with which figures of the step so far.

    asked: what the step asked for before the transaction began.
    """

    after: int
    so_far: Mapping[str, int]
    asked: Any = None


class Page(NamedTuple):
    """What a page has done, by name, and after which number the next begins; None at the end."""

    figures: Mapping[str, int]
    next: int | None = None


class Step(NamedTuple):
    """One step. page: does a page of it. figures: their names. counted: those that it has changed.

    ask: what is slow, or leaves the machine: it runs before the transaction of each page.
    """

    name: str
    page: Callable[[Rows, Work, At], Page]
    figures: Sequence[str]
    counted: Sequence[str]
    ask: Callable[[Opening, Work, At], Any] | None = None


def next_after(page: Sequence[Fragment]) -> int | None:
    """Return where the page after this one begins; None where there is none."""
    return page[-1].number if len(page) == AT_ONCE else None
