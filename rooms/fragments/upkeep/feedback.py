"""Reports what was said of the tools, and of the work of whole sessions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rooms.fragments.fragment import TaskFeedback, ToolFeedback
from rooms.fragments.storage.rows import Rows

_LATEST = 3


@dataclass(frozen=True, slots=True)
class OfTool:
    """What was said of the answers of one tool.

    relevant, sufficient: the shares of those that were, from 0 to 1. suggestions: the latest, the
    newest first.
    """

    tool: str
    count: int
    relevant: float
    sufficient: float
    suggestions: tuple[str, ...]


class FeedbackReport(NamedTuple):
    """What was said of the tools, those named most first, and of the work of whole sessions.

    success: the share of the sessions that reached their goal, from 0 to 1. highlights,
    pain_points: the latest, the newest first.
    """

    tools: tuple[OfTool, ...] = ()
    tasks: int = 0
    success: float = 0.0
    highlights: tuple[str, ...] = ()
    pain_points: tuple[str, ...] = ()


def feedback_report(reading: Rows) -> FeedbackReport:
    """Return what the feedback says that is kept."""
    by_tool: dict[str, list[ToolFeedback]] = {}
    for it in reading.entries(ToolFeedback):
        by_tool.setdefault(it.tool_name, []).append(it)
    tasks: list[TaskFeedback] = reading.entries(TaskFeedback)
    tools = [_of(tool, given) for tool, given in by_tool.items()]
    return FeedbackReport(
        tools=tuple(sorted(tools, key=lambda it: (-it.count, it.tool))),
        tasks=len(tasks),
        success=_share(it.overall_success for it in tasks),
        highlights=_latest(text for it in tasks for text in it.tool_highlights),
        pain_points=_latest(text for it in tasks for text in it.tool_pain_points),
    )


def _of(tool: str, given: Sequence[ToolFeedback]) -> OfTool:
    return OfTool(
        tool=tool,
        count=len(given),
        relevant=_share(it.relevant for it in given),
        sufficient=_share(it.sufficient for it in given),
        suggestions=_latest(it.suggestion for it in given),
    )


def _share(answers: Iterable[bool]) -> float:
    given = list(answers)
    return sum(given) / len(given) if given else 0.0


def _latest(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the last texts that say something, each once."""
    return tuple(dict.fromkeys(it for it in reversed(list(texts)) if it.strip()))[:_LATEST]
