"""Reads once more where the connection was cut in the middle of it."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from core.disk.database import DatabaseError

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def repeats_when_cut(read: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Have what only reads begin anew, once, where its connection was cut, as when servers change.

    All of it begins anew, so that what it returns is still of one state. A change is never repeated
    by itself: whoever asked for it decides.
    """

    @wraps(read)
    def twice(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        try:
            return read(*given, **named)
        except DatabaseError as error:
            from core.postgres.errors import ConnectionCutError  # most fragments are in a file

            if not isinstance(error, ConnectionCutError):
                raise
        return read(*given, **named)

    return twice
