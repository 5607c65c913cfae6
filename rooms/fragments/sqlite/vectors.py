"""Finds the vectors that are nearest to another, among those of one database.

They are kept in memory for the next question; then only those are read that were stored since.
Where numpy is installed it multiplies, else Python does, and both say the same.
"""

import array
import sqlite3
import sys
import threading
from collections.abc import Collection, Iterable
from heapq import nlargest
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from operator import mul
from typing import Any, NamedTuple

MOST_BYTES = 256 * 2**20  # kept in memory; more are read from the file for each question
DIGITS = 6  # of a cosine: what is below that depends on the order of adding up

_AT_ONCE = 2_000  # vectors that are read from the file
_NEAR = 1e-4  # as far may numpy's cosine of 32-bit floats be from the one that is told
_FLOAT_BYTES = 4

Near = list[tuple[int, float]]


class Rows(NamedTuple):
    """Some vectors of one length, one behind the other. A number of 0 is that of none any more."""

    numbers: "array.array[int]"
    data: bytearray


class Vectors:
    """The vectors of a database. Safe to use from several threads.

    most_bytes: how much of them is kept in memory. uses_numpy: None for where it is installed.
    """

    def __init__(self, *, most_bytes: int = MOST_BYTES, uses_numpy: bool | None = None) -> None:
        self._most_bytes = most_bytes
        self._uses_numpy = uses_numpy
        self._guard = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Keep nothing in memory."""
        self._of: tuple[object, int] = None, 0  # which file, and bytes of a vector
        self._kept = _no_rows()
        self._place = dict[int, int]()  # of the vector of a number
        self._gone = 0
        self._revision = 0  # up to which they were read

    def near(
        self,
        connection: sqlite3.Connection,
        vector: bytes,
        most: int,
        *,
        file: object,
        allowed: Collection[int] | None = None,
    ) -> Near:
        """Return numbers and cosines of the nearest, the nearest first, of equals the newest.

        Vectors of another length, and what is none, are passed over. file: what tells the file of
        the connection from another one; None where the connection has changed vectors, which
        nobody else may see before it ends. allowed: the only numbers that may be found.
        """
        if not vector or len(vector) % _FLOAT_BYTES or most < 1:
            return []
        is_kept = file is not None and self._fits(connection, len(vector))
        if not is_kept:
            return self._best(_read(connection, len(vector)), vector, most, allowed)
        with self._guard:
            self._refresh(connection, file, len(vector))
            return self._best([self._kept], vector, most, allowed)

    def _fits(self, connection: sqlite3.Connection, size: int) -> bool:
        [count] = connection.execute("SELECT count(*) FROM fragment_vectors").fetchone()
        return bool(count * size <= self._most_bytes)

    def _refresh(self, connection: sqlite3.Connection, file: object, size: int) -> None:
        """Take in what was stored since the last time; all of it for another file or length."""
        if self._of != (file, size) or self._gone > len(self._place):
            self.forget()
            self._of = file, size
        rows = connection.execute(
            "SELECT revision, number, embedding FROM fragment_vectors WHERE revision > ?"
            " ORDER BY revision",
            (self._revision,),
        )
        for revision, number, stored in rows:
            before = self._place.pop(number, None)
            if before is not None:
                self._kept.numbers[before] = 0
                self._gone += 1
            if _is_vector(stored, size):
                self._place[number] = len(self._kept.numbers)
                self._kept.numbers.append(number)
                self._kept.data.extend(stored)
            self._revision = revision

    def _best(
        self, some: Iterable[Rows], vector: bytes, most: int, allowed: Collection[int] | None
    ) -> Near:
        if self._uses_numpy is None:
            self._uses_numpy = find_spec("numpy") is not None
        told = _told_by_numpy if self._uses_numpy else _told
        found = list[tuple[float, int]]()
        for rows in some:
            more = ((round(it, DIGITS), number) for it, number in told(rows, vector, most, allowed))
            found = nlargest(most, [*found, *more])
        return [(number, cosine) for cosine, number in found]


def _told(
    rows: Rows, vector: bytes, most: int, allowed: Collection[int] | None
) -> Iterable[tuple[float, int]]:
    """Yield the cosines of all that may be found, with their numbers."""
    wanted, size = _floats(vector), len(vector)
    for at, number in enumerate(rows.numbers):
        if number and (allowed is None or number in allowed):
            stored = _floats(rows.data[at * size : (at + 1) * size])
            cosine = sum(map(mul, wanted, stored))
            if isfinite(cosine):
                yield cosine, number


def _told_by_numpy(
    rows: Rows, vector: bytes, most: int, allowed: Collection[int] | None
) -> Iterable[tuple[float, int]]:
    """Return the cosines of those that may be the nearest, a few more than are wanted."""
    if not rows.numbers:
        return []
    numpy: Any = import_module("numpy")
    numbers = numpy.frombuffer(rows.numbers, dtype=numpy.int64)
    matrix = numpy.frombuffer(rows.data, dtype="<f4").reshape(len(numbers), -1)
    wanted = numpy.frombuffer(vector, dtype="<f4")
    with numpy.errstate(all="ignore"):  # what another program stored may be no number
        cosines = matrix @ wanted
    may_be_found = numpy.isfinite(cosines) & (numbers != 0)
    if allowed is not None:
        may_be_found &= numpy.isin(numbers, numpy.fromiter(allowed, numpy.int64, len(allowed)))
    places = numpy.flatnonzero(may_be_found)
    if len(places) > most:
        of_these = cosines[places]
        least = numpy.partition(of_these, len(places) - most)[len(places) - most]
        places = places[of_these >= least - _NEAR]
    exact = matrix[places].astype(numpy.float64) @ wanted.astype(numpy.float64)
    return list(zip(exact.tolist(), numbers[places].tolist(), strict=True))


def _read(connection: sqlite3.Connection, size: int) -> Iterable[Rows]:
    """Yield the vectors of a length, some at a time."""
    cursor = connection.execute("SELECT number, embedding FROM fragment_vectors")
    while some := cursor.fetchmany(_AT_ONCE):
        rows = _no_rows()
        for number, stored in some:
            if _is_vector(stored, size):
                rows.numbers.append(number)
                rows.data.extend(stored)
        yield rows


def _is_vector(stored: object, size: int) -> bool:
    return isinstance(stored, bytes) and len(stored) == size


def _no_rows() -> Rows:
    return Rows(array.array("q"), bytearray())


def _floats(data: bytes | bytearray) -> "array.array[float]":
    """Return 32-bit floats, little endian."""
    floats = array.array("f", bytes(data))
    if sys.byteorder == "big":
        floats.byteswap()
    return floats
