"""Leaves a part of many cases to the default run; the others are for the long one."""

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(each: int, cases: Iterable[Any], *, names: int = 1) -> list[Any]:
    """Return cases for `parametrize`, one in so many as it is and the others marked as long.

    names: how many arguments a case has; it is a tuple where there are several.
    """
    return [
        pytest.param(
            *((case,) if names == 1 else case), marks=[pytest.mark.long] if at % each else []
        )
        for at, case in enumerate(cases)
    ]
