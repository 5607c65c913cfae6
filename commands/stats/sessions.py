"""Counts and prints the sessions of a project; without any nothing of their room is loaded."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commands.stats.figures import Stats
from commands.stats.fragments import FragmentStats, listed
from commands.stats.parts import Page
from commands.terminal.rooms_here import has_sessions
from core.config import Settings
from core.messages import say
from core.sanitizer import safe

if TYPE_CHECKING:
    from rooms.sessions.search.statistics import Effect, Statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStats:
    """The figures of the room: how many sessions of which kind, and what came of them."""

    counted: "Statistics"
    effect: "Effect"


def count_sessions(root: Path, settings: Settings) -> SessionStats | None:
    """Return the figures of a project's sessions, None without any. Raises SentinelError."""
    if not has_sessions(root):
        return None
    from rooms.sessions.search.statistics import effect_of, statistics_of
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


def session_lines(stats: SessionStats, page: Page) -> list[str]:
    """Return the section, its title first."""
    counted, effect = stats.counted, stats.effect
    lines = [say("stats_sessions.sessions", count=counted.sessions)]
    if not counted.sessions:
        return lines
    lines += page.said(say("stats_sessions.statuses", listed=listed(counted.by_status)))
    lines += page.said(say("stats_sessions.warned", warned=effect.warned, failed=counted.failed))
    return [*lines, *page.said(say("stats_sessions.continued", continued=effect.continued))]


def room_lines(
    stats: Stats, sessions: SessionStats | None, fragments: FragmentStats | None, page: Page
) -> list[str]:
    """Return a line for each room where there are several, [] where there is the log alone."""
    if not sessions and not fragments:
        return []
    back = len(stats.came_back)
    lines = [say("stats_sessions.of_lessons", count=stats.log.count, back=back)]
    if sessions:
        lines.append(say("stats_sessions.of_sessions", count=sessions.counted.sessions))
    if fragments:
        facts = {"count": fragments.counted.live, "used": fragments.used}
        lines.append(say("stats_sessions.of_fragments", **facts))
    return lines
