"""The eleven steps of the upkeep, and the passes over the fragments in which they run.

A step is a function that adds itself to the list, in the order in which it stands here. Steps one
behind the other that look at the same fragments share a pass, and the transactions of its pages.

    @step("decay", "decayed", over="all")
    def lower_importance(rows: Rows, page: Page, work: Work) -> Counts: ...

Decay comes before merging, which keeps the most important fragment, and merging before the figure
of use, which counts the uses of all that were merged.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from rooms.fragments.config import Config
from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import (
    MOST_KEYWORDS,
    Activity,
    Fragment,
    Link,
    State,
    TaskFeedback,
    ToolFeedback,
    Version,
    Wanted,
)
from rooms.fragments.links import settled
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep import life, suspicions
from rooms.fragments.upkeep.statistics import feedback_by_tool
from rooms.fragments.upkeep.suspicions import Pair

if TYPE_CHECKING:
    from rooms.fragments.models.judge import OneJudge

NEARLY_EQUAL = 0.92  # without a verdict so near a pair waits though it shows no sign
MOST_JUDGED, MOST_AGAIN = 100, 10  # pairs in one run: a judge takes time, and may cost money
ACTIVITY_DAYS, FEEDBACK_DAYS = 90, 365  # for which they are kept

_AT_ONCE = 300  # fragments in one transaction: a save waits no longer than for these
_COMPARED, _GROUPS, _MOST_EQUAL = 10, 50, 500  # in one transaction; of one content
_SAME = 1e-9  # two figures of use that differ by less are one

Counts = dict[str, int]
Opening = Callable[[], AbstractContextManager[Rows]]


class Work(NamedTuple):
    """What every step works with.

    now: the moment at which the run began, which holds for all of it. compares: whether
    it looks for contradictions among what is new. judge: who decides on them, None for
    nobody. fill: makes the embeddings that are missing, None where no model is configured.
    """

    now: str
    config: Config
    compares: bool = True
    judge: "OneJudge | None" = None
    fill: Callable[[], object] | None = None


@dataclass(slots=True)
class Page:
    """What a step works on in one transaction.

    after: where the page begins, a number of the step; 0 for the first page. next: where the next
    page begins, None where there is none; a step that is not `over` fragments sets it. fragments:
    those of a step that is; what an earlier step of the pass has changed does not show in them.
    so_far: what the step has counted in the run. asked: what `ask` returned.
    """

    after: int
    so_far: Mapping[str, int] = field(default_factory=dict)
    asked: Any = None
    fragments: Sequence[Fragment] = ()
    next: int | None = None


StepFunction = Callable[[Rows, Page, Work], Counts]  # returns what it counted
Ask = Callable[[Opening, Page, Work], Any]


class Step(NamedTuple):
    """One step. figures: the names of what it counts. changes: those of them that are changes."""

    name: str
    figures: Sequence[str]
    changes: Sequence[str]
    run: StepFunction


class Pass(NamedTuple):
    """Steps that run together. over: the state of the fragments, None where a step finds its own.

    ask: what is slow, or leaves the machine: it runs before the transaction of each page.
    """

    steps: list[Step]
    over: State | None
    ask: Ask | None

    @property
    def name(self) -> str:
        """The name of its first step."""
        return self.steps[0].name

    def run(self, rows: Rows, page: Page, work: Work) -> dict[str, Counts]:
        """Do one page, and return what each step counted; `page.next` says where to go on."""
        if self.over:
            wanted = Wanted(state=self.over, after=page.after)
            page.fragments = rows.find(wanted, limit=_AT_ONCE)
            page.next = page.fragments[-1].number if len(page.fragments) == _AT_ONCE else None
        return {it.name: it.run(rows, page, work) for it in self.steps}


PASSES: list[Pass] = []


def step(
    name: str,
    figures: str,
    *,
    changes: str | None = None,
    over: State | None = None,
    ask: Ask | None = None,
) -> Callable[[StepFunction], StepFunction]:
    """Add a function to the list as a step.

    figures, changes: see `Step`, with blanks between the names; None where all figures are
    changes. over, ask: see `Pass`.
    """

    def add(run: StepFunction) -> StepFunction:
        if not (over and PASSES and PASSES[-1].over == over):
            PASSES.append(Pass([], over, ask))
        changed = figures if changes is None else changes
        PASSES[-1].steps.append(Step(name, figures.split(), changed.split(), run))
        return run

    return add


@step("tiers", "to_hot to_warm to_cold to_permanent", over="all")
def put_into_tiers(rows: Rows, page: Page, work: Work) -> Counts:
    """Put each live fragment into the tier where it belongs."""
    moved = dict[str, list[int]]()
    for fragment in page.fragments:
        tier = life.tier_of(fragment, work.now)
        if fragment.is_live and tier != fragment.tier:
            moved.setdefault(tier, []).append(fragment.number)
    for name, numbers in moved.items():
        rows.touch(numbers, {"tier": name})
    return {f"to_{name}": len(numbers) for name, numbers in moved.items()}


@step("decay", "decayed", over="all")
def lower_importance(rows: Rows, page: Page, work: Work) -> Counts:
    """Lower the importance of what is cold."""
    decayed, left = 0, dict[life.Decay, list[int]]()
    for fragment in page.fragments:
        decay = life.decay_of(fragment, work.now) if fragment.is_live else None
        if decay:
            left.setdefault(decay, []).append(fragment.number)
            decayed += decay.importance < fragment.importance
    for decay, numbers in left.items():
        rows.touch(numbers, decay._asdict())
    return {"decayed": decayed}


@step("expiry", "expired stale purged", over="all")
def let_go(rows: Rows, page: Page, work: Work) -> Counts:
    """Put into the bin what has expired or gone stale, and away what was there for long."""
    expired, stale, gone = list[int](), list[int](), list[str]()
    end = life.before(work.now, days=life.BIN_DAYS)
    for fragment in page.fragments:
        if fragment.deleted_at:
            gone += [fragment.id] if fragment.deleted_at < end else []
        elif life.is_expired(fragment, work.now):
            expired.append(fragment.number)
        elif fragment.is_live and life.is_stale(fragment, work.now, work.config):
            stale.append(fragment.number)
    _into_bin(rows, expired, "expired", work.now)
    _into_bin(rows, stale, "stale", work.now)
    purged = rows.drop(gone)
    rows.count_up({"purged": purged})
    return {"expired": len(expired), "stale": len(stale), "purged": purged}


@step("duplicates", "merged")
def merge(rows: Rows, page: Page, work: Work) -> Counts:
    """Merge the fragments of an agent that say the same into the most important of them.

    What is pinned stays. after: how many groups of equal fragments stay several for that.
    """
    groups = [
        (agent, same)
        for agent in rows.count(Wanted(), "agent")
        for same in rows.count(Wanted(agents=(agent,)), "content_hash", least=2)
        if same
    ]
    some = groups[page.after : page.after + _GROUPS]
    merged = left = 0
    for agent, same in some:
        equal = rows.find(Wanted(agents=(agent,), content_hash=same), limit=_MOST_EQUAL)
        kept = max(
            equal,
            key=lambda it: (life.is_pinned(it), it.importance, it.access_count, -it.number),
        )
        others = [it for it in equal if not life.is_pinned(it) and it is not kept]
        if others:
            _unite(rows, kept, others, work.now)
        merged += len(others)
        left += len(equal) - len(others) > 1
    page.next = page.after + left if len(some) == _GROUPS else None
    return {"merged": merged}


def _unite(rows: Rows, kept: Fragment, others: Sequence[Fragment], now: str) -> None:
    """Give one fragment the figures, the longest life, the links and the versions of all."""
    equal = [kept, *others]
    keywords = dict.fromkeys(keyword for it in equal for keyword in it.keywords)
    stale_days = [it.stale_days for it in equal]
    longest = max(equal, key=lambda it: (not it.expires_at, it.expires_at))
    last = max(equal, key=lambda it: it.accessed_at)
    united = replace(
        kept,
        keywords=tuple(keywords)[: max(MOST_KEYWORDS, len(kept.keywords))],
        access_count=sum(it.access_count for it in equal),
        accessed_at=last.accessed_at,
        sessions_count=sum(it.sessions_count for it in equal),
        last_session=last.last_session,
        verified_at=max(it.verified_at for it in equal),
        lifetime=longest.lifetime,
        session=longest.session,
        expires_at=longest.expires_at,
        stale_days=max(stale_days) if all(stale_days) else 0,
    )
    rows.replace([united])
    for other in others:
        known = {(it.from_id, it.to_id) for it in rows.links([kept.id])}
        for link in rows.links([other.id]):
            ends = [kept.id if it == other.id else it for it in (link.from_id, link.to_id)]
            if ends[0] != ends[1] and tuple(ends) not in known:
                rows.put_links([replace(link, from_id=ends[0], to_id=ends[1])])
        rows.note(replace(it, fragment_id=kept.id) for it in rows.entries(Version, of=other.id))
        successor = Link(from_id=other.id, to_id=kept.id, relation="superseded_by", created_at=now)
        rows.put_links([successor])
    numbers = [it.number for it in others]
    rows.touch(numbers, {"access_count": 0, "sessions_count": 0})
    _into_bin(rows, numbers, "merged", now)


def _into_bin(rows: Rows, numbers: Sequence[int], why: str, now: str) -> None:
    """Delete fragments so that they can be restored, and count them below the reason."""
    rows.touch(numbers, {"deleted_at": now, "deletion": why})
    rows.count_up({why: len(numbers)})


def _fill(opening: Opening, page: Page, work: Work) -> bool:
    """Have them made, once it is known how many are missing; return whether that failed."""
    try:
        if work.fill and page.after:
            work.fill()
    except ServiceError:  # a service that is off keeps no other step from its work
        return True
    return False


@step("embeddings", "missing made failed", changes="made", ask=_fill)
def count_embeddings(rows: Rows, page: Page, work: Work) -> Counts:
    """Count what is missing, then what was made. after: how many were missing before."""
    missing = sum(rows.count(Wanted(has_vector=False)).values())
    if page.after:
        return {"made": max(page.after - missing, 0), "failed": int(page.asked)}
    page.next = missing if missing and work.fill else None
    return {"missing": missing}


@step("utility", "updated", over="live")
def reckon_use(rows: Rows, page: Page, work: Work) -> Counts:
    """Reckon the figure of use of each live fragment."""
    other = [it for it in page.fragments if abs(it.utility - life.utility_of(it)) > _SAME]
    for utility, some in groupby(sorted(other, key=life.utility_of), key=life.utility_of):
        rows.touch([it.number for it in some], {"utility": utility})
    return {"updated": len(other)}


@step("anchors", "promotable", changes="", over="live")
def count_promotable(rows: Rows, page: Page, work: Work) -> Counts:
    """Count what may be worth pinning; nothing is pinned by a program."""
    return {"promotable": sum(map(life.is_worth_pinning, page.fragments))}


_CLEARED = ("entailment", "neutral")


class _Compared(NamedTuple):
    """Fragments that were new, and the pairs of them with what is about the same."""

    fragments: list[Fragment]
    pairs: list[Pair]


def _judged(judge: "OneJudge | None", pair: Pair) -> Pair:
    try:
        verdict = judge.verdict(pair.earlier.content, pair.later.content) if judge else None
    except ServiceError:
        return pair
    if verdict is None:
        return pair
    return pair._replace(label=verdict.label if verdict.is_sure else "unsure")


def _compare(opening: Opening, page: Page, work: Work) -> _Compared:
    """Find what is about the same as each new fragment, and ask the judge."""
    if not work.compares:
        return _Compared([], [])
    with opening() as rows:
        new = Wanted(checked_before="0", after=page.after)  # never compared
        fragments = rows.find(new, limit=_COMPARED)
        pairs = [pair for it in fragments for pair in suspicions.pairs_with(rows, it, work.now)]
    left = max(MOST_JUDGED - page.so_far.get("judged", 0), 0)
    judged = [_judged(work.judge, it) for it in pairs[:left]]
    return _Compared(fragments, judged + pairs[left:])


@step("contradictions", "checked judged suspected linked", changes="suspected linked", ask=_compare)
def note_contradictions(rows: Rows, page: Page, work: Work) -> Counts:
    """Settle what the judge is sure of; what shows a sign, or was judged unsurely, waits.

    Without a judge nothing is decided: a pair is proposed where the texts show a sign.
    """
    compared: _Compared = page.asked
    fragments = compared.fragments
    same = {it.number: it.content_hash for it in fragments}
    checked = [it.number for it in rows.by_numbers(same) if it.content_hash == same[it.number]]
    rows.touch(checked, {"checked_at": work.now})
    suspected = linked = 0
    for pair in compared.pairs:
        current = suspicions.still(rows, pair)
        if not current or pair.label in _CLEARED:
            continue
        is_near = work.judge and current.similarity >= NEARLY_EQUAL
        if pair.label == "contradiction" and suspicions.settle(rows, current, work.now):
            linked += 1
        elif current.signs or pair.label or is_near:
            rows.note([current.suspicion])
            suspected += 1
    page.next = fragments[-1].number if len(fragments) == _COMPARED else None
    counts = {"checked": len(checked), "judged": _answers(compared.pairs)}
    return {**counts, "suspected": suspected, "linked": linked}


def _answers(pairs: Sequence[Pair]) -> int:
    return sum(it.label != "" for it in pairs)


def _look_again(opening: Opening, page: Page, work: Work) -> list[Pair]:
    """Ask the judge of some pairs that have waited since an earlier run."""
    if not work.judge:
        return []
    with opening() as rows:
        waiting = [it for it in suspicions.pending(rows, work.now)[0] if it.found_at < work.now]
    return [_judged(work.judge, it) for it in waiting[:MOST_AGAIN]]


@step("suspicions", "judged linked dropped waiting", changes="linked dropped", ask=_look_again)
def settle_suspicions(rows: Rows, page: Page, work: Work) -> Counts:
    """Settle what the judge is sure of, and forget what nobody has to settle any more."""
    judged: list[Pair] = page.asked
    linked, over = 0, suspicions.pending(rows, work.now)[1]
    for pair in judged:
        current = suspicions.still(rows, pair)
        if current and pair.label == "contradiction":
            linked += suspicions.settle(rows, current, work.now)
        elif pair.label in _CLEARED:
            over.append(pair.suspicion)
    dropped = settled(rows, ((it.first_id, it.second_id) for it in over))
    counts = {"judged": _answers(judged), "linked": linked}
    return {**counts, "dropped": dropped, "waiting": len(suspicions.pending(rows, work.now)[0])}


@step("feedback", "tools answers tasks thinned", changes="thinned")
def reckon_feedback(rows: Rows, page: Page, work: Work) -> Counts:
    """Reckon up what was said of the tools, and let go of what was said long ago."""
    end = life.before(work.now, days=FEEDBACK_DAYS)
    thinned = sum(rows.forget_entries(kind, before=end) for kind in (ToolFeedback, TaskFeedback))
    answers = [it.count for it in feedback_by_tool(rows)]
    counts = {"tools": len(answers), "answers": sum(answers)}
    return {**counts, "tasks": rows.count_entries(TaskFeedback), "thinned": thinned}


@step("tidying", "index links activities doubtful", changes="index links activities", over="all")
def tidy(rows: Rows, page: Page, work: Work) -> Counts:
    """Mend the index, drop links that lead nowhere, and what is known of sessions long past.

    Counts what is doubtful as well.
    """
    links = rows.links([it.id for it in page.fragments])
    ends = {id_ for it in links for id_ in (it.from_id, it.to_id)}
    there = {it.id for it in rows.by_ids(sorted(ends))}
    lost = [it for it in links if not {it.from_id, it.to_id} <= there]
    live = [it for it in page.fragments if it.is_live]
    doubtful = sum(life.is_doubtful(it, work.now, work.config) for it in live)
    counts = {"links": rows.drop_links(lost), "doubtful": doubtful}
    if page.after:
        return counts
    end = life.before(work.now, days=ACTIVITY_DAYS)
    activities = rows.forget_entries(Activity, before=end)
    return {**counts, "activities": activities, "index": int(rows.mend_index())}


STEPS: Sequence[Step] = [it for some in PASSES for it in some.steps]
