"""Tells an agent how to use the memory: what to call, when, and what to leave out.

A session shows it in pieces: the rules stand in a file of the project and say when; the
descriptions of the tools say how, their answers what to do next. Not every client shows the
instructions of the server, nor does every project have the rules: either will do. Each text
stands once, here or in `core/data/rules.*.md`; a test compares the copies with it.
"""

import re
from collections.abc import Sequence
from functools import cache

from core.data import data_text
from core.messages import Language

INSTRUCTIONS = """\
Sentinel-Memory keeps this project's prompt gaps: what instructions left out and an agent had to \
find out the hard way.

Before a task call search_memory and follow the lessons that apply. If none does, do not guess: \
ask the user, or state your assumptions where the task is small or nobody can answer. After a task \
call log_memory for each gap, and compact_memory when an answer requires it.
"""

# Where the sessions are offered, behind that of the log or alone.
SESSIONS_INSTRUCTIONS = """\
Sentinel-Memory keeps this project's sessions: goals, decisions, approaches that failed, blockers.

When a task begins call context_warn with its goal, and read what it names with context_get where \
it matters. When work ends, pauses or changes hands call context_save.
"""

# Where the fragments are offered, behind those of the other rooms or alone.
FRAGMENTS_INSTRUCTIONS = """\
Sentinel-Memory keeps fragments across projects: facts, decisions, errors and cures, preferences, \
procedures.

Call recall before you decide, guess or debug. When you learn what a later session will need, call \
remember: one to three sentences, no secrets.
"""


def rules(spoken: Language, rooms: Sequence[str] = ("lessons",)) -> str:
    """Return the rules that setup puts into a project, for a session that shows the tools.

    rooms: those that the server offers, as `read_rooms` returns them.
    """
    sections, names = _sections(spoken), {room.partition(":")[0] for room in rooms}
    return "\n".join(sections[it] for it in ("lessons", "sessions", "fragments") if it in names)


def front_matter(spoken: Language) -> str:
    """Return what stands before the rules so that Cursor shows them before every conversation."""
    return _sections(spoken)["front_matter"]


def language_of(text: str) -> Language:
    """Return the language in which rules of any version are written."""
    return "ko" if re.search("[가-힣]", text) else "en"


@cache
def _sections(spoken: Language) -> dict[str, str]:
    _, *parts = re.split(r"<!-- (\w+) -->\n", data_text(f"rules.{spoken}.md"))
    return dict(zip(parts[::2], parts[1::2], strict=True))
