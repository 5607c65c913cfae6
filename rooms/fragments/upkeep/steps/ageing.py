"""The steps by which fragments age: tiers, decay, the bin and what leaves it, use, anchors."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from rooms.fragments.fragment import TIERS, Fragment, Wanted
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep import life
from rooms.fragments.upkeep.steps.step import AT_ONCE, At, Page, Step, Work, next_after

_SAME = 1e-9  # two figures of use that differ by less are one


def _tiers(writing: Rows, work: Work, at: At) -> Page:
    """Put each live fragment into the tier where it belongs."""
    page = writing.find(Wanted(after=at.after), limit=AT_ONCE)
    moved = {
        tier: [it.number for it in page if life.tier_of(it, work.now) == tier != it.tier]
        for tier in TIERS
    }
    for tier, numbers in moved.items():
        if numbers:
            writing.touch(numbers, {"tier": tier})
    return Page({f"to_{it}": len(numbers) for it, numbers in moved.items()}, next_after(page))


def _decay(writing: Rows, work: Work, at: At) -> Page:
    """Lower the importance of what is cold."""
    page = writing.find(Wanted(after=at.after), limit=AT_ONCE)
    decayed, left = 0, dict[life.Decay, list[int]]()
    for fragment in page:
        decay = life.decay_of(fragment, work.now)
        if decay:
            left.setdefault(decay, []).append(fragment.number)
            decayed += decay.importance < fragment.importance
    for decay, numbers in left.items():
        writing.touch(numbers, decay._asdict())
    return Page({"decayed": decayed}, next_after(page))


def _expiry(writing: Rows, work: Work, at: At) -> Page:
    """Put into the bin what has expired or gone stale, and away what was there for long."""
    page = writing.find(Wanted(state="all", after=at.after), limit=AT_ONCE)
    expired = [it for it in page if not it.deleted_at and life.is_expired(it, work.now)]
    stale = [
        it
        for it in page
        if it.is_live and it not in expired and life.is_stale(it, work.now, work.config)
    ]
    end = life.before(work.now, days=life.BIN_DAYS)
    gone = [it.id for it in page if it.deleted_at and it.deleted_at < end]
    into_bin(writing, expired, "expired", work.now)
    into_bin(writing, stale, "stale", work.now)
    purged = writing.drop(gone)
    writing.count_up({"purged": purged})
    figures = {"expired": len(expired), "stale": len(stale), "purged": purged}
    return Page(figures, next_after(page))


def into_bin(writing: Rows, fragments: Sequence[Fragment], why: str, now: str) -> None:
    """Delete fragments so that they can be restored, and count them below the reason."""
    writing.replace([replace(it, deleted_at=now, deletion=why) for it in fragments])
    writing.count_up({why: len(fragments)})


def _utility(writing: Rows, work: Work, at: At) -> Page:
    """Reckon the figure of use of each live fragment."""
    page = writing.find(Wanted(after=at.after), limit=AT_ONCE)
    other = [it for it in page if abs(it.utility - life.utility_of(it)) > _SAME]
    for utility, some in groupby(sorted(other, key=life.utility_of), key=life.utility_of):
        writing.touch([it.number for it in some], {"utility": utility})
    return Page({"updated": len(other)}, next_after(page))


def _anchors(writing: Rows, work: Work, at: At) -> Page:
    """Count what may be worth pinning; nobody is pinned by a program."""
    page = writing.find(Wanted(after=at.after), limit=AT_ONCE)
    return Page({"promotable": sum(map(life.is_worth_pinning, page))}, next_after(page))


_REMOVED = ("expired", "stale", "purged")
_MOVED = tuple(f"to_{it}" for it in TIERS)
TIERS_STEP = Step("tiers", _tiers, _MOVED, _MOVED)
DECAY_STEP = Step("decay", _decay, ("decayed",), ("decayed",))
EXPIRY_STEP = Step("expiry", _expiry, _REMOVED, _REMOVED)
UTILITY_STEP = Step("utility", _utility, ("updated",), ("updated",))
ANCHORS_STEP = Step("anchors", _anchors, ("promotable",), ())
