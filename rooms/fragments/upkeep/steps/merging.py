"""The step that makes one fragment of those of an agent that say the same."""

from collections.abc import Sequence
from dataclasses import replace

from rooms.fragments.fragment import MOST_KEYWORDS, Fragment, Link, Version, Wanted
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.life import is_pinned
from rooms.fragments.upkeep.steps.ageing import into_bin
from rooms.fragments.upkeep.steps.step import At, Page, Step, Work

_AT_ONCE = 50  # groups of equal fragments in one transaction
_MOST_EQUAL = 500


def _merge(writing: Rows, work: Work, at: At) -> Page:
    """Keep the most important of those that are equal. after: how many groups stay several."""
    groups = [
        (agent, same)
        for agent in writing.count(Wanted(), "agent")
        for same in writing.count(Wanted(agents=(agent,)), "content_hash", least=2)
        if same
    ]
    page = groups[at.after : at.after + _AT_ONCE]
    merged = left = 0
    for agent, same in page:
        equal = writing.find(Wanted(agents=(agent,), content_hash=same), limit=_MOST_EQUAL)
        others = _merge_equal(writing, equal, work.now)
        merged += others
        left += len(equal) - others > 1
    return Page({"merged": merged}, at.after + left if len(page) == _AT_ONCE else None)


def _merge_equal(writing: Rows, equal: Sequence[Fragment], now: str) -> int:
    """Merge all but those that are pinned into one; return how many went into the bin."""
    kept = max(equal, key=lambda it: (is_pinned(it), it.importance, it.access_count, -it.number))
    others = [it for it in equal if not is_pinned(it) and it is not kept]
    if not others:
        return 0
    writing.replace([_united(kept, [kept, *others])])
    for other in others:
        _hand_over(writing, other, kept, now)
    handed = [replace(it, access_count=0, sessions_count=0) for it in others]
    into_bin(writing, handed, "merged", now)
    return len(others)


def _united(kept: Fragment, all_: Sequence[Fragment]) -> Fragment:
    """Return what is kept with the figures of all, and the longest of their lives."""
    keywords = dict.fromkeys(keyword for it in all_ for keyword in it.keywords)
    stale_days = [it.stale_days for it in all_]
    longest = max(all_, key=lambda it: (not it.expires_at, it.expires_at))
    last = max(all_, key=lambda it: it.accessed_at)
    return replace(
        kept,
        keywords=tuple(keywords)[: max(MOST_KEYWORDS, len(kept.keywords))],
        access_count=sum(it.access_count for it in all_),
        accessed_at=last.accessed_at,
        sessions_count=sum(it.sessions_count for it in all_),
        last_session=last.last_session,
        verified_at=max(it.verified_at for it in all_),
        lifetime=longest.lifetime,
        session=longest.session,
        expires_at=longest.expires_at,
        stale_days=max(stale_days) if all(stale_days) else 0,
    )


def _hand_over(writing: Rows, other: Fragment, kept: Fragment, now: str) -> None:
    """Give what is kept the links and the versions of another, and link the other to it."""
    known = {(it.from_id, it.to_id) for it in writing.links([kept.id])}
    for link in writing.links([other.id]):
        ends = [kept.id if it == other.id else it for it in (link.from_id, link.to_id)]
        if ends[0] != ends[1] and tuple(ends) not in known:
            writing.put_links([replace(link, from_id=ends[0], to_id=ends[1])])
    writing.note(replace(it, fragment_id=kept.id) for it in writing.entries(Version, of=other.id))
    writing.put_links(
        [Link(from_id=other.id, to_id=kept.id, relation="superseded_by", created_at=now)]
    )


DUPLICATES_STEP = Step("duplicates", _merge, ("merged",), ("merged",))
