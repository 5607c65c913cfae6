"""Counts the sessions of a project; where there are none, nothing of their room is loaded."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commands.terminal.rooms_here import has_sessions
from core.sanitizer import safe
from core.settings import Settings

if TYPE_CHECKING:
    from rooms.sessions.search.effect import Effect
    from rooms.sessions.search.statistics import Statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStats:
    """The figures of the room: how many sessions of which kind, and what came of them."""

    counted: "Statistics"
    effect: "Effect"


def count_sessions(root: Path, settings: Settings) -> SessionStats | None:
    """Return the figures of a project's sessions, None without any. Raises SentinelError."""
    if not has_sessions(root):
        return None
    from rooms.sessions.search.effect import effect_of
    from rooms.sessions.search.statistics import statistics_of
    from rooms.sessions.store import exist_in, open_sessions

    if not exist_in(root):
        return None
    store = open_sessions(root, settings)
    return SessionStats(counted=statistics_of(store), effect=effect_of(store))


def sessions_data(stats: SessionStats) -> dict[str, object]:
    """Return all figures by key, for scripts."""
    counted, effect = stats.counted, stats.effect
    return {
        "sessions": counted.sessions,
        "statuses": {safe(name): count for name, count in counted.by_status.items()},
        "agents": {safe(name): count for name, count in counted.by_agent.items()},
        "with_warnings": effect.warned,
        "failed_approaches": counted.failed,
        "continued": effect.continued,
    }
