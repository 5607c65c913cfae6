"""Writes what context_stats answers."""

from collections.abc import Mapping
from typing import Any

from core.messages import say
from rooms.sessions.answers.hints import brief
from rooms.sessions.search.statistics import Statistics

_NAME_CHARS = 50


def text(numbers: Statistics, range_: str) -> str:
    """Return the counts, a line for each kind."""
    lines = [say("sessions.answers.stats_head", count=numbers.sessions, range=range_)]
    for key, counts in (
        ("stats_status", numbers.by_status),
        ("stats_agent", _named(numbers.by_agent)),
        ("stats_tags", numbers.top_tags),
    ):
        if counts:
            listed = ", ".join(f"{brief(it, _NAME_CHARS)} {n:,}" for it, n in counts.items())
            lines.append(say(f"sessions.answers.{key}", listed=listed))
    if numbers.sessions:
        actions = f"{numbers.actions_per_session:.1f}"
        lines.append(say("sessions.answers.stats_failed", failed=numbers.failed, actions=actions))
    return "\n".join(lines)


def declared(numbers: Statistics) -> dict[str, Any]:
    """Return the object ContextStatsOutput."""
    return {
        "totalSessions": numbers.sessions,
        "byStatus": dict(numbers.by_status),
        "byAgent": _named(numbers.by_agent),
        "topTags": [{"tag": tag, "count": count} for tag, count in numbers.top_tags.items()],
        "failedApproaches": numbers.failed,
        "avgActionsPerSession": round(numbers.actions_per_session, 1),
    }


def _named(counts: Mapping[str, int]) -> dict[str, int]:
    return {name or say("sessions.answers.unknown"): count for name, count in counts.items()}
