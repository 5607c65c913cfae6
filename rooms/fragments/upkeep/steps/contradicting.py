"""The steps that look for contradictions: among what is new, and again among what waits.

Without a judge a pair is proposed where the texts show a sign, see `signs`, and nothing is decided.
A judge that is sure decides; a pair of which it is not waits for the caller, or for its next look.
"""

from typing import NamedTuple

from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.steps.step import At, Judge, Opening, Page, Step, Verdict, Work
from rooms.fragments.upkeep.suspecting import Pair, drop, pairs_with, pending, settle, still

SURE = 0.8
NEARLY_EQUAL = 0.92  # without a verdict so near a pair waits though it shows no sign
MOST_JUDGED = 100  # pairs in one run: a judge takes time, and may cost money
MOST_AGAIN = 10
_AT_ONCE = 10  # fragments, each of which is compared with all
_NEVER = "0"  # before every moment: only what was never compared


class _Judged(NamedTuple):
    """A pair, and what the judge says of it; None without one, or where it did not answer."""

    pair: Pair
    verdict: Verdict | None

    def says(self, label: str) -> bool:
        """Whether the judge is sure of this."""
        sure = self.verdict is not None and self.verdict.confidence >= SURE
        return sure and self.verdict is not None and self.verdict.label == label

    @property
    def is_cleared(self) -> bool:
        """Whether the judge is sure that the two agree, or say nothing of each other."""
        return self.says("entailment") or self.says("neutral")


class _Compared(NamedTuple):
    """Fragments that were compared, and the pairs that were found."""

    fragments: list[Fragment]
    judged: list[_Judged]


def _compare(opening: Opening, work: Work, at: At) -> _Compared:
    """Find what is about the same as each new fragment, and ask the judge."""
    if not work.compares:
        return _Compared([], [])
    with opening() as reading:
        new = Wanted(checked_before=_NEVER, after=at.after)
        fragments = reading.find(new, limit=_AT_ONCE)
        pairs = [pair for it in fragments for pair in pairs_with(reading, it, work.now)]
    left = max(MOST_JUDGED - at.so_far.get("judged", 0), 0)
    return _Compared(
        fragments,
        [_judged(work.judge if place < left else None, it) for place, it in enumerate(pairs)],
    )


def _judged(judge: Judge | None, pair: Pair) -> _Judged:
    try:
        verdict = judge.verdict(pair.earlier.content, pair.later.content) if judge else None
    except ServiceError:
        verdict = None
    return _Judged(pair, verdict)


def _contradictions(writing: Rows, work: Work, at: At) -> Page:
    """Note what was found."""
    compared: _Compared = at.asked
    there = writing.by_numbers(it.number for it in compared.fragments)
    same = {it.number: it.content_hash for it in compared.fragments}
    checked = [it.number for it in there if it.content_hash == same[it.number]]
    writing.touch(checked, {"checked_at": work.now})
    figures = {"checked": len(checked), "judged": 0, "suspected": 0, "linked": 0}
    for it in compared.judged:
        pair = still(writing, it.pair)
        figures["judged"] += it.verdict is not None
        if not pair or it.is_cleared:
            continue
        if it.says("contradiction") and settle(writing, pair, work.now):
            figures["linked"] += 1
        elif pair.signs or it.verdict or (pair.similarity >= NEARLY_EQUAL and work.judge):
            writing.note([pair.suspicion])
            figures["suspected"] += 1
    is_full = len(compared.fragments) == _AT_ONCE
    return Page(figures, compared.fragments[-1].number if is_full else None)


def _look_again(opening: Opening, work: Work, at: At) -> list[_Judged]:
    """Ask the judge of some pairs that have waited since an earlier run."""
    if not work.judge:
        return []
    with opening() as reading:
        waiting = [it for it in pending(reading, work.now)[0] if it.found_at < work.now]
    return [_judged(work.judge, it) for it in waiting[:MOST_AGAIN]]


def _suspicions(writing: Rows, work: Work, at: At) -> Page:
    """Settle what the judge is sure of, and forget what nobody has to settle any more."""
    again: list[_Judged] = at.asked
    linked, over = 0, pending(writing, work.now)[1]
    for it in again:
        pair = still(writing, it.pair)
        if pair and it.says("contradiction"):
            linked += settle(writing, pair, work.now)
        elif it.is_cleared:
            over.append(it.pair.suspicion)
    dropped = drop(writing, over)
    figures = {"judged": sum(it.verdict is not None for it in again), "linked": linked}
    return Page({**figures, "dropped": dropped, "waiting": len(pending(writing, work.now)[0])})


CONTRADICTIONS_STEP = Step(
    "contradictions",
    _contradictions,
    ("checked", "judged", "suspected", "linked"),
    ("suspected", "linked"),
    _compare,
)
SUSPICIONS_STEP = Step(
    "suspicions",
    _suspicions,
    ("judged", "linked", "dropped", "waiting"),
    ("linked", "dropped"),
    _look_again,
)
