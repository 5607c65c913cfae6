"""Prints the figures of sessions as one section, and one line for each of several rooms."""

from commands.stats.figures import Stats
from commands.stats.fragments.figures import FragmentStats
from commands.stats.fragments.lines import listed
from commands.stats.parts import Page
from commands.stats.sessions.figures import SessionStats
from core.messages import say


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
