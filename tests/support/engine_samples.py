"""Makes fragments and vectors as the engines of the fragments store them."""

import array
from typing import Any

from rooms.fragments.fragment import Fragment

DAYS = [f"2026-0{month}-0{day}T10:00:00+00:00" for month in (1, 2) for day in (1, 2, 3)]


def a_fragment(id_: str, content: str = "", **given: Any) -> Fragment:
    """A fragment with what every stored one has."""
    dates = dict.fromkeys(("created_at", "updated_at"), DAYS[0])
    return Fragment(**{"id": id_, "content": content or f"content {id_}", **dates, **given})


def a_vector(*numbers: float) -> bytes:
    return array.array("f", numbers).tobytes()
