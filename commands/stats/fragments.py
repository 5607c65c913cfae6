"""Counts and prints the fragments of the user: how they are kept, and whether they are used.

Where there are none, nothing of their room is loaded.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commands.stats.parts import Page
from commands.terminal.rooms_here import has_fragments
from commands.terminal.safe_text import plain
from core.config import Settings
from core.lessons.record_text import day_of
from core.messages import say
from core.sanitizer import safe

if TYPE_CHECKING:
    from rooms.fragments.upkeep.statistics import Statistics

MOST_VALUES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentStats:
    """The figures of the room. used: how many live fragments were recalled; uses: how often."""

    counted: "Statistics"
    used: int = 0
    uses: int = 0


def count_fragments(settings: Settings) -> FragmentStats | None:
    """Return the figures of this user's fragments, None without any.

    Raises ConfigError and DatabaseError.
    """
    if not has_fragments(os.environ):
        return None
    from rooms.fragments.engine import Wanted, pages_of
    from rooms.fragments.room import open_room
    from rooms.fragments.upkeep.statistics import statistics_of

    room = open_room(settings, os.environ)
    if not room.engine.exists():
        return None
    with room.engine.reading() as reading:
        uses = [it.access_count for some in pages_of(reading, Wanted()) for it in some]
    counted = statistics_of(room)
    return FragmentStats(counted=counted, used=sum(map(bool, uses)), uses=sum(uses))


def fragments_data(stats: FragmentStats) -> dict[str, object]:
    """Return all figures by key, for scripts."""
    counted = stats.counted
    return {
        "live": counted.live,
        "superseded": counted.superseded,
        "bin": dict(counted.deleted),
        "purged": counted.figures.get("purged", 0),
        "kinds": dict(counted.kinds),
        "lifetimes": dict(counted.lifetimes),
        "tiers": dict(counted.tiers),
        "agents": {safe(name): count for name, count in counted.agents.items()},
        "pinned": counted.anchors,
        "recalled": stats.used,
        "recalls": stats.uses,
        "links": dict(counted.links),
        "versions": counted.versions,
        "with_vector": counted.with_vector,
        "model": safe(counted.model),
        "suspicions": counted.suspicions,
        "unreflected": counted.unreflected,
        "last_upkeep": counted.upkeep_at or None,
    }


def fragment_lines(stats: FragmentStats, page: Page) -> list[str]:
    """Return the section, its title first."""
    counted = stats.counted
    lines = [say("stats_fragments.fragments", count=counted.live)]
    if not counted.live and not counted.superseded and not counted.deleted:
        return lines
    columns: Sequence[tuple[str, Mapping[str, int]]] = (
        ("kinds", counted.kinds),
        ("tiers", counted.tiers),
        ("agents", counted.agents),
        ("links", counted.links),
        ("bin", counted.deleted),
    )
    for key, counts in columns:
        if counts:
            lines += page.said(say(f"stats_fragments.{key}", listed=listed(counts)))
    if counted.live:
        facts = {"pinned": counted.anchors, "used": stats.used, "uses": stats.uses}
        lines += page.said(say("stats_fragments.use", count=counted.live, **facts))
    kept = {"superseded": counted.superseded, "versions": counted.versions}
    lines += page.said(say("stats_fragments.kept", purged=counted.figures.get("purged", 0), **kept))
    if counted.with_vector:
        model = plain(safe(counted.model))
        lines += page.said(say("stats_fragments.vectors", count=counted.with_vector, model=model))
    if counted.suspicions or counted.unreflected:
        waiting = {"suspicions": counted.suspicions, "sessions": counted.unreflected}
        lines += page.said(say("stats_fragments.waiting", **waiting))
    key = "upkeep" if counted.upkeep_at else "no_upkeep"
    return [*lines, *page.said(say(f"stats_fragments.{key}", day=day_of(counted.upkeep_at)))]


def listed(counts: Mapping[str, int]) -> str:
    """Return values with their counts, most first; names are those of the data."""
    order = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    named = [f"{plain(safe(name)) or '?'} {count:,}" for name, count in order[:MOST_VALUES]]
    return ", ".join([*named, *(["…"] if len(order) > MOST_VALUES else [])])
