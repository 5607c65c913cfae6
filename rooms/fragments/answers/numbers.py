"""Writes what memory_stats answers."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from core.lessons.record_text import day_of
from core.messages import Facts, say
from core.text.plain import flat
from rooms.fragments.upkeep.statistics import Statistics

_NAME_CHARS, _MOST = 40, 10


def text(numbers: Statistics) -> str:
    """Return the counts, a line for each kind of them."""
    lines = [say("fragments.answers.stats_live", count=numbers.live, anchors=numbers.anchors)]
    for key, counts in (
        ("stats_kinds", numbers.kinds),
        ("stats_lifetimes", numbers.lifetimes),
        ("stats_tiers", numbers.tiers),
        ("stats_agents", numbers.agents),
        ("stats_links", numbers.links),
    ):
        if counts:
            lines.append(say(f"fragments.answers.{key}", listed=_listed(counts)))
    away: Facts = {"superseded": numbers.superseded, "listed": _listed(numbers.deleted)}
    if numbers.figures:
        lines.append(say("fragments.answers.stats_away", purged=numbers.figures["purged"], **away))
    else:  # an agent gets none: they count what others have
        lines.append(say("fragments.answers.stats_away_own", **away))
    facts: Facts = {"versions": numbers.versions, "suspicions": numbers.suspicions}
    lines.append(say("fragments.answers.stats_more", unreflected=numbers.unreflected, **facts))
    lines.append(_embeddings(numbers))
    key = "stats_upkeep" if numbers.upkeep_at else "stats_no_upkeep"
    lines.append(say(f"fragments.answers.{key}", date=day_of(numbers.upkeep_at)))
    return "\n".join(lines)


def declared(numbers: Statistics) -> dict[str, Any]:
    """Return the object that memory_stats gives."""
    return {"success": True, "total": numbers.live, **asdict(numbers)}


def _embeddings(numbers: Statistics) -> str:
    if not numbers.model:
        return say("fragments.answers.stats_no_model")
    share = round(100 * numbers.with_vector / numbers.live) if numbers.live else 0
    facts = {"with_vector": numbers.with_vector, "count": numbers.live, "share": share}
    return say("fragments.answers.stats_model", model=flat(numbers.model)[:_NAME_CHARS], **facts)


def _listed(counts: Mapping[str, int]) -> str:
    most = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    told = [f"{flat(name)[:_NAME_CHARS]} {count:,}" for name, count in most[:_MOST] if count]
    return ", ".join([*told, *(["…"] if len(most) > _MOST else [])]) or say(
        "fragments.answers.none"
    )
