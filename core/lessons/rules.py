"""Tells an agent how to use the memory: rules for its project, instructions of the server.

Rules say when, tools say how; a client may show only one of both. Texts:
`core/data/{instructions,rules.*}.md`.
"""

import re
from collections.abc import Sequence
from functools import cache

from core.data import data_text
from core.messages import Language


def instructions(rooms: Sequence[str] = ("lessons",)) -> str:
    """Return what the server says of itself to every client.

    rooms: on offer, as `read_rooms` returns them.
    """
    return _of_rooms("instructions.md", rooms)


def rules(spoken: Language, rooms: Sequence[str] = ("lessons",)) -> str:
    """Return the rules that setup puts into a project. rooms: as of `instructions`."""
    return _of_rooms(f"rules.{spoken}.md", rooms)


def front_matter(spoken: Language) -> str:
    """Return the lines before the rules that make Cursor show them in every conversation."""
    return _sections(f"rules.{spoken}.md")["front_matter"]


def language_of(text: str) -> Language:
    return "ko" if re.search("[가-힣]", text) else "en"


def _of_rooms(name: str, rooms: Sequence[str]) -> str:
    sections, names = _sections(name), {room.partition(":")[0] for room in rooms}
    return "\n".join(sections[it] for it in ("lessons", "sessions", "fragments") if it in names)


@cache
def _sections(name: str) -> dict[str, str]:
    _, *parts = re.split(r"<!-- (\w+) -->\n", data_text(name))
    return dict(zip(parts[::2], parts[1::2], strict=True))
