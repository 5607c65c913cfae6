"""Counts the fragments of the user: how they are kept, and whether they are used.

Where there are none, nothing of their room is loaded.
"""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commands.terminal.rooms_here import has_fragments
from core.sanitizer import safe
from core.settings import Settings

if TYPE_CHECKING:
    from rooms.fragments.upkeep.statistics import Statistics


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
