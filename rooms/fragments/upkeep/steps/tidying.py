"""Three steps around the fragments: order, what was said of the tools, missing embeddings."""

from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import Activity, TaskFeedback, ToolFeedback, Wanted
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep import life
from rooms.fragments.upkeep.feedback import feedback_report
from rooms.fragments.upkeep.steps.step import AT_ONCE, At, Opening, Page, Step, Work, next_after

ACTIVITY_DAYS = 90
FEEDBACK_DAYS = 365


def _tidy(writing: Rows, work: Work, at: At) -> Page:
    """Mend the index, drop links that lead nowhere, and what is known of sessions long past.

    Counts what is doubtful as well.
    """
    page = writing.find(Wanted(state="all", after=at.after), limit=AT_ONCE)
    links = writing.links([it.id for it in page])
    ends = {id_ for it in links for id_ in (it.from_id, it.to_id)}
    there = {it.id for it in writing.by_ids(sorted(ends))}
    orphans = [it for it in links if not {it.from_id, it.to_id} <= there]
    dropped = writing.drop_links(orphans)
    doubtful = sum(it.is_live and life.is_doubtful(it, work.now, work.config) for it in page)
    end = life.before(work.now, days=ACTIVITY_DAYS)
    activities = 0 if at.after else writing.forget_entries(Activity, before=end)
    index = 0 if at.after else writing.mend_index()
    figures = {"index": int(index), "links": dropped, "activities": activities}
    return Page({**figures, "doubtful": doubtful}, next_after(page))


_CHANGED = ("index", "links", "activities")
TIDYING_STEP = Step("tidying", _tidy, (*_CHANGED, "doubtful"), _CHANGED)


def _feedback(writing: Rows, work: Work, at: At) -> Page:
    """Reckon up what was said of the tools, and let go of what was said long ago."""
    end = life.before(work.now, days=FEEDBACK_DAYS)
    thinned = sum(writing.forget_entries(kind, before=end) for kind in (ToolFeedback, TaskFeedback))
    report = feedback_report(writing)
    answers = sum(it.count for it in report.tools)
    figures = {"tools": len(report.tools), "answers": answers, "tasks": report.tasks}
    return Page({**figures, "thinned": thinned})


FEEDBACK_STEP = Step("feedback", _feedback, ("tools", "answers", "tasks", "thinned"), ("thinned",))


def _fill(opening: Opening, work: Work, at: At) -> bool:
    """Have them made, once it is known how many are missing; return whether that failed."""
    if not work.fill or not at.after:
        return False
    try:
        work.fill()
    except ServiceError:  # one that is off keeps no other step from its work
        return True
    return False


def _embeddings(writing: Rows, work: Work, at: At) -> Page:
    """Count first, then what was made. after: how many were missing before."""
    missing = sum(writing.count(Wanted(has_vector=False)).values())
    if not at.after:
        return Page({"missing": missing}, missing if missing and work.fill else None)
    return Page({"made": max(at.after - missing, 0), "failed": int(bool(at.asked))})


EMBEDDINGS_STEP = Step("embeddings", _embeddings, ("missing", "made", "failed"), ("made",), _fill)
