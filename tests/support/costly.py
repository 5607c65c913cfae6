"""Leaves a part of many cases to the default run, and tells the cost of work without a clock."""

import sys
from collections.abc import Callable, Hashable, Iterable
from itertools import count
from typing import Any

import pytest


def one_in(each: int, cases: Iterable[Any]) -> list[Any]:
    """Return cases for `parametrize`, one in so many as it is and the others marked as long."""
    return [
        pytest.param(*_arguments(case), marks=[pytest.mark.long] if at % each else [])
        for at, case in enumerate(cases)
    ]


def _arguments(case: Any) -> tuple[Any, ...]:
    return case if type(case) is tuple else (case,)


def enough(cases: Iterable[Any], *views: Callable[..., Hashable]) -> list[Any]:
    """Return cases for `parametrize`, few for the default run and the others marked as long.

    The few have every value of each view of a case: a view of two arguments has all their pairs.
    """
    rows = [*map(_arguments, cases)]
    seen = [{(at, view(*row)) for at, view in enumerate(views)} for row in rows]
    left, chosen = set[tuple[int, Hashable]]().union(*seen), set[int]()
    while left:
        best = max(range(len(rows)), key=lambda at: (len(seen[at] & left), -at))
        chosen.add(best)
        left -= seen[best]
    return [
        pytest.param(
            *row,
            marks=[] if at in chosen else [pytest.mark.long],
            id="-".join(str(getattr(it, "__name__", it)) for it in row),
        )
        for at, row in enumerate(rows)
    ]


def calls(work: Callable[[], object]) -> int:
    """How many calls a piece of work makes."""
    counter = count()
    sys.setprofile(lambda *_: next(counter))
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(counter)
