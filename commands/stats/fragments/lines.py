"""Prints the figures of fragments as one section of the statistics."""

from collections.abc import Mapping, Sequence

from commands.stats.fragments.figures import FragmentStats
from commands.stats.parts import Page
from commands.terminal.safe_text import plain
from core.lessons.record_text import day_of
from core.messages import say
from core.sanitizer import safe

MOST_VALUES = 8


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
