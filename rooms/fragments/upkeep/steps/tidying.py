"""The step that puts in order what lies around the fragments, and counts what is doubtful."""

from rooms.fragments.engine import Wanted, Writing
from rooms.fragments.fragment import Activity
from rooms.fragments.upkeep import life
from rooms.fragments.upkeep.steps.step import AT_ONCE, At, Page, Step, Work, next_after

ACTIVITY_DAYS = 90


def _tidy(writing: Writing, work: Work, at: At) -> Page:
    """Mend the index, drop links that lead nowhere, and what is known of sessions long past."""
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
