"""Tells an agent how to use the memory: what to call, when, and what to leave out.

A session shows it in pieces: the rules stand in a file of the project and say when; the
descriptions of the tools say how, their answers what to do next. Not every client shows the
instructions of the server, nor does every project have the rules: either will do. Each text
stands once, in `core/data/{instructions,rules.*}.md`; a test compares the copies with it.
"""

import re
from collections.abc import Sequence
from functools import cache

from core.data import data_text
from core.messages import Language


def instructions(rooms: Sequence[str] = ("lessons",)) -> str:
    """Return what the server says of itself to every client.

    rooms: those that the server offers, as `read_rooms` returns them.
    """
    return _of_rooms("instructions.md", rooms)


def rules(spoken: Language, rooms: Sequence[str] = ("lessons",)) -> str:
    """Return the rules that setup puts into a project, for a session that shows the tools.

    rooms: as of `instructions`.
    """
    return _of_rooms(f"rules.{spoken}.md", rooms)


def front_matter(spoken: Language) -> str:
    """Return what stands before the rules so that Cursor shows them before every conversation."""
    return _sections(f"rules.{spoken}.md")["front_matter"]


def language_of(text: str) -> Language:
    """Return the language in which rules of any version are written."""
    return "ko" if re.search("[가-힣]", text) else "en"


def _of_rooms(name: str, rooms: Sequence[str]) -> str:
    sections, names = _sections(name), {room.partition(":")[0] for room in rooms}
    return "\n".join(sections[it] for it in ("lessons", "sessions", "fragments") if it in names)


@cache
def _sections(name: str) -> dict[str, str]:
    _, *parts = re.split(r"<!-- (\w+) -->\n", data_text(name))
    return dict(zip(parts[::2], parts[1::2], strict=True))
