"""Writes what memory_consolidate answers: what was done, and what the caller should settle."""

from collections.abc import Iterable
from typing import Any

from core.messages import say
from core.text.plain import Budget, flat
from rooms.fragments.answers.lines import Scene, json_text
from rooms.fragments.answers.objects import as_object
from rooms.fragments.upkeep.consolidating import Report
from rooms.fragments.upkeep.feedback import OfTool
from rooms.fragments.upkeep.suspecting import Pair

MOST_TOKENS = 1_500  # estimated, of what is to be settled
_MOST_TOOLS, _NAME_CHARS = 5, 40


def text(report: Report, scene: Scene) -> str:
    """Return a line for what was done, and what is to be settled, as far as it fits."""
    changed = sum(it.count for it in report.steps)
    key = "upkept" if changed else "upkept_nothing" if report.steps else "upkept_for_all"
    lines = [say(f"fragments.answers.{key}", changed=changed)]
    done = [f"{it.name} {it.count:,}" for it in report.steps if it.count]
    lines += [", ".join(done)] if done else []
    budget, left = Budget(MOST_TOKENS, 20_000), 0
    listed = (
        ("suspected", [pair_block(it, scene) for it in report.suspicions]),
        ("stale", [scene.line(it) for it in report.stale]),
        ("promotable", [scene.line(it) for it in report.promotable]),
        ("for_the_log", [scene.line(it) for it in report.for_the_log]),
    )
    for heading, blocks in listed:
        kept = [block for block in blocks if budget.take(block)]
        left += len(blocks) - len(kept)
        lines += [say(f"fragments.answers.{heading}", count=len(kept)), *kept] if kept else []
    lines += [say("fragments.answers.upkeep_left_out", count=left)] if left else []
    tools = [_of_tool(it) for it in report.feedback.tools[:_MOST_TOOLS]]
    lines += [say("fragments.answers.feedback_head"), *tools] if tools else []
    return "\n".join(lines)


def pair_block(pair: Pair, scene: Scene) -> str:
    """Return the two lines of a pair, and the call that settles it."""
    earlier, later = json_text(pair.earlier.id), json_text(pair.later.id)
    call = f'  link(fromId={earlier}, toId={later}, relationType="contradicts")'
    return "\n".join((scene.line(pair.earlier), scene.line(pair.later), call))


def declared(report: Report) -> dict[str, Any]:
    """Return the object that memory_consolidate gives."""
    return {
        "success": True,
        "steps": [
            {"name": it.name, "count": it.count, "figures": dict(it.figures)} for it in report.steps
        ],
        "contradictions": [
            {
                "earlier": as_object(it.earlier),
                "later": as_object(it.later),
                "similarity": round(it.similarity, 4),
            }
            for it in report.suspicions
        ],
        "stale": [as_object(it) for it in report.stale],
        "promotable": [as_object(it) for it in report.promotable],
        "for_the_log": [as_object(it) for it in report.for_the_log],
        "feedback": list(_feedback(report.feedback.tools)),
    }


def _feedback(tools: Iterable[OfTool]) -> Iterable[dict[str, Any]]:
    for it in tools:
        yield {
            "tool_name": it.tool,
            "count": it.count,
            "relevant": round(it.relevant, 4),
            "sufficient": round(it.sufficient, 4),
            "suggestions": list(it.suggestions),
        }


def _of_tool(given: OfTool) -> str:
    return say(
        "fragments.answers.feedback_of",
        tool=flat(given.tool)[:_NAME_CHARS],
        count=given.count,
        relevant=round(100 * given.relevant),
        sufficient=round(100 * given.sufficient),
    )
