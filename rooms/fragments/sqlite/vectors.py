"""Finds the vectors that are nearest to another, among those of one database."""

import array
import sqlite3
from collections.abc import Collection
from heapq import nlargest
from operator import mul


class Vectors:
    """The vectors of a database, read anew for each question."""

    def near(
        self,
        connection: sqlite3.Connection,
        vector: bytes,
        allowed: Collection[int],
        most: int,
    ) -> list[tuple[int, float]]:
        """Return numbers and cosines of the nearest of those allowed, the nearest first."""
        wanted = array.array("f", vector)
        rows = connection.execute("SELECT number, embedding FROM fragment_vectors")
        scored = (
            (sum(map(mul, wanted, array.array("f", stored))), number)
            for number, stored in rows
            if number in allowed and len(stored) == len(vector)
        )
        return [(number, cosine) for cosine, number in nlargest(most, scored)]
