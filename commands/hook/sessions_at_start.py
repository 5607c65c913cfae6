"""Adds to what a session's start shows of the memory what is open or failed in earlier sessions.

The team's lessons come first, and whatever is wrong with the sessions takes nothing from these.
"""

from collections.abc import Callable
from pathlib import Path
from sqlite3 import Error

from core.config import Settings
from core.errors import SentinelError
from core.lessons.briefing import Briefing
from core.text.plain import estimate_tokens


def with_sessions(
    briefing: Briefing, root: str, settings: Settings, complain: Callable[[Exception], None]
) -> Briefing:
    """Return the briefing with the lines on sessions that fit into the rest of a hook's budget."""
    left = settings.hook_tokens - estimate_tokens(briefing.text)
    try:
        from rooms.sessions.answers.at_start import session_lines
        from rooms.sessions.store import exist_in, open_sessions

        if left <= 0 or not exist_in(Path(root)):
            return briefing
        store = open_sessions(Path(root), settings)
        lines = session_lines(store, left)
        store.database.close()
    except (SentinelError, OSError, Error) as error:
        complain(error)
        return briefing
    return briefing._replace(text="\n\n".join(filter(None, (briefing.text, "\n".join(lines)))))
