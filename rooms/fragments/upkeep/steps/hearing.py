"""The step that reckons up what was said of the tools, and lets go of what is long ago."""

from rooms.fragments.engine import Writing
from rooms.fragments.fragment import TaskFeedback, ToolFeedback
from rooms.fragments.upkeep import life
from rooms.fragments.upkeep.feedback import feedback_report
from rooms.fragments.upkeep.steps.step import At, Page, Step, Work

KEPT_DAYS = 365


def _feedback(writing: Writing, work: Work, at: At) -> Page:
    """Let go of what was said long ago."""
    end = life.before(work.now, days=KEPT_DAYS)
    thinned = sum(writing.forget_entries(kind, before=end) for kind in (ToolFeedback, TaskFeedback))
    report = feedback_report(writing)
    answers = sum(it.count for it in report.tools)
    figures = {"tools": len(report.tools), "answers": answers, "tasks": report.tasks}
    return Page({**figures, "thinned": thinned})


FEEDBACK_STEP = Step("feedback", _feedback, ("tools", "answers", "tasks", "thinned"), ("thinned",))
