"""The eleven steps of the upkeep, and the passes over the fragments in which they run.

`step` makes a function a step, in the order of this file. Consecutive steps over the same fragments
share a pass and its transactions.

Decay comes before merging, which keeps the most important fragment; merging before the utility,
which counts the uses of all that were merged.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from rooms.fragments import fragment as schema
from rooms.fragments.activity import feedback_by_tool
from rooms.fragments.fragment import Filter, Fragment, Link, ServiceError, State
from rooms.fragments.links import Pair, drop_suspicions, find_pairs, open_pairs_in, reread, settle
from rooms.fragments.room import Config
from rooms.fragments.storage.rows import Rows
from rooms.fragments.texts import MOST_KEYWORDS
from rooms.fragments.upkeep import life

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
    """The input of every step."""

    now: str  # start of the run
    config: Config
    compares: bool = True  # find contradictions among new fragments
    judge: "OneJudge | None" = None  # decides on them
    fill: Callable[[], object] | None = None  # makes missing embeddings, None without a model


@dataclass(slots=True)
class Page:
    """The part of a step in one transaction."""

    after: int  # where it begins, 0 at first
    so_far: Mapping[str, int] = field(default_factory=dict)  # counts of this run
    asked: Any = None  # result of `ask`
    fragments: Sequence[Fragment] = ()  # of `over`, without changes of earlier steps, or of `ask`
    next: int | None = None  # where the next page begins; a step without `over` sets it


StepFunction = Callable[[Rows, Page, Work], Counts]  # returns what it counted
Ask = Callable[[Opening, Page, Work], Any]


class Step(NamedTuple):
    name: str
    figures: Sequence[str]  # names of its counts
    changes: Sequence[str]  # the figures that are changes
    run: StepFunction


class Pass(NamedTuple):
    """Steps that run together."""

    steps: list[Step]
    over: State | None  # of the fragments, None if a step finds its own
    ask: Ask | None  # slow or off the machine; runs before each page's transaction

    @property
    def name(self) -> str:
        return self.steps[0].name

    def run(self, rows: Rows, page: Page, work: Work) -> dict[str, Counts]:
        """Do one page and set its `next`; return the counts by step."""
        if self.over:
            wanted = Filter(state=self.over, after=page.after)
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
    """Make a function a step.

    figures, changes: see `Step`, between blanks; None for all figures. over, ask: see `Pass`.
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
    moved = dict[str, list[int]]()
    for fragment in page.fragments:
        tier = life.tier_of(fragment, work.now)
        if fragment.is_live and tier != fragment.tier:
            moved.setdefault(tier, []).append(fragment.number)
    for name, numbers in moved.items():
        rows.set_fields(numbers, {"tier": name})
    return {f"to_{name}": len(numbers) for name, numbers in moved.items()}


@step("decay", "decayed", over="all")
def lower_importance(rows: Rows, page: Page, work: Work) -> Counts:
    decayed, left = 0, dict[life.Decay, list[int]]()
    for fragment in page.fragments:
        decay = life.decay_of(fragment, work.now) if fragment.is_live else None
        if decay:
            left.setdefault(decay, []).append(fragment.number)
            decayed += decay.importance < fragment.importance
    for decay, numbers in left.items():
        rows.set_fields(numbers, decay._asdict())
    return {"decayed": decayed}


@step("expiry", "expired stale purged", over="all")
def let_go(rows: Rows, page: Page, work: Work) -> Counts:
    """Move expired and stale fragments to the bin, and empty it after `BIN_DAYS`."""
    expired, stale, gone = list[int](), list[int](), list[str]()
    end = life.moment_before(work.now, days=life.BIN_DAYS)
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
    """Merge an agent's equal fragments, but pinned ones. after: groups that stay several."""
    groups = [
        (agent, same)
        for agent in rows.count(Filter(), "agent")
        for same in rows.count(Filter(agents=(agent,)), "content_hash", least=2)
        if same
    ]
    some = groups[page.after : page.after + _GROUPS]
    merged = left = 0
    for agent, same in some:
        equal = rows.find(Filter(agents=(agent,), content_hash=same), limit=_MOST_EQUAL)
        kept = max(
            equal, key=lambda it: (life.is_pinned(it), it.importance, it.access_count, -it.number)
        )
        others = [it for it in equal if not life.is_pinned(it) and it is not kept]
        if others:
            _unite(rows, kept, others, work.now)
        merged += len(others)
        left += len(equal) - len(others) > 1
    page.next = page.after + left if len(some) == _GROUPS else None
    return {"merged": merged}


def _unite(rows: Rows, kept: Fragment, others: Sequence[Fragment], now: str) -> None:
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
        rows.note(
            replace(it, fragment_id=kept.id)
            for it in rows.entries(schema.Version, subject=other.id)
        )
        successor = Link(from_id=other.id, to_id=kept.id, relation="superseded_by", created_at=now)
        rows.put_links([successor])
    numbers = [it.number for it in others]
    rows.set_fields(numbers, {"access_count": 0, "sessions_count": 0})
    _into_bin(rows, numbers, "merged", now)


def _into_bin(rows: Rows, numbers: Sequence[int], why: str, now: str) -> None:
    rows.set_fields(numbers, {"deleted_at": now, "deletion": why})
    rows.count_up({why: len(numbers)})


def _fill(opening: Opening, page: Page, work: Work) -> bool:
    try:
        if work.fill and page.after:
            work.fill()
    except ServiceError:  # a service that is off keeps no other step from its work
        return True
    return False


@step("embeddings", "missing made failed", changes="made", ask=_fill)
def count_embeddings(rows: Rows, page: Page, work: Work) -> Counts:
    """Count missing embeddings, then new ones. after: how many were missing before."""
    missing = sum(rows.count(Filter(has_vector=False)).values())
    if page.after:
        return {"made": max(page.after - missing, 0), "failed": int(page.asked)}
    page.next = missing if missing and work.fill else None
    return {"missing": missing}


@step("utility", "updated", over="live")
def reckon_use(rows: Rows, page: Page, work: Work) -> Counts:
    other = [it for it in page.fragments if abs(it.utility - life.utility_of(it)) > _SAME]
    for utility, some in groupby(sorted(other, key=life.utility_of), key=life.utility_of):
        rows.set_fields([it.number for it in some], {"utility": utility})
    return {"updated": len(other)}


@step("anchors", "promotable", changes="", over="live")
def count_promotable(rows: Rows, page: Page, work: Work) -> Counts:
    """Count fragments worth pinning; no program pins one."""
    return {"promotable": sum(map(life.is_worth_pinning, page.fragments))}


_CLEARED = ("entailment", "neutral")


def _judged(judge: "OneJudge | None", pair: Pair) -> Pair:
    if judge:
        with suppress(ServiceError):
            verdict = judge.verdict(pair.earlier.content, pair.later.content)
            return pair._replace(label=verdict.label if verdict.is_sure else "unsure")
    return pair


def _compare(opening: Opening, page: Page, work: Work) -> list[Pair]:
    """Return pairs of new fragments with similar fragments."""
    if not work.compares:
        return []
    with opening() as rows:
        new = Filter(is_checked=False, after=page.after)
        page.fragments = rows.find(new, limit=_COMPARED)
        found = (find_pairs(rows, it, work.now) for it in page.fragments)
        pairs = [pair for some in found for pair in some]
    left = max(MOST_JUDGED - page.so_far.get("judged", 0), 0)
    judged = [_judged(work.judge, it) for it in pairs[:left]]
    return judged + pairs[left:]


@step("contradictions", "checked judged suspected linked", changes="suspected linked", ask=_compare)
def note_contradictions(rows: Rows, page: Page, work: Work) -> Counts:
    """Settle pairs of which the judge is sure; others wait if they show a sign or it is unsure."""
    pairs: list[Pair] = page.asked
    same = {it.number: it.content_hash for it in page.fragments}
    checked = [it.number for it in rows.by_numbers(same) if it.content_hash == same[it.number]]
    rows.set_fields(checked, {"checked_at": work.now})
    suspected = linked = 0
    for pair in pairs:
        current = reread(rows, pair)
        if not current or pair.label in _CLEARED:
            continue
        is_near = work.judge and current.similarity >= NEARLY_EQUAL
        if pair.label == "contradiction" and settle(rows, current, work.now):
            linked += 1
        elif current.signs or pair.label or is_near:
            first, second, found_at = current.earlier.id, current.later.id, current.found_at
            ids = {"first_id": first, "second_id": second}
            rows.note([schema.Suspicion(**ids, similarity=current.similarity, found_at=found_at)])
            suspected += 1
    page.next = page.fragments[-1].number if len(page.fragments) == _COMPARED else None
    judged = sum(it.label != "" for it in pairs)
    counts = {"checked": len(checked), "judged": judged}
    return {**counts, "suspected": suspected, "linked": linked}


def _look_again(opening: Opening, page: Page, work: Work) -> list[Pair]:
    if not work.judge:
        return []
    with opening() as rows:
        waiting = [it for it in open_pairs_in(rows, work.now)[0] if it.found_at < work.now]
    return [_judged(work.judge, it) for it in waiting[:MOST_AGAIN]]


@step("suspicions", "judged linked dropped waiting", changes="linked dropped", ask=_look_again)
def settle_suspicions(rows: Rows, page: Page, work: Work) -> Counts:
    """Settle pairs of which the judge is sure, and forget suspicions that are over."""
    judged: list[Pair] = page.asked
    linked, over = 0, open_pairs_in(rows, work.now)[1]
    for pair in judged:
        current = reread(rows, pair)
        if current and pair.label == "contradiction":
            linked += settle(rows, current, work.now)
        elif pair.label in _CLEARED:
            over.append((pair.earlier.id, pair.later.id))
    dropped = drop_suspicions(rows, over)
    counts = {"judged": sum(it.label != "" for it in judged), "linked": linked}
    return {**counts, "dropped": dropped, "waiting": len(open_pairs_in(rows, work.now)[0])}


@step("feedback", "tools answers tasks thinned", changes="thinned")
def reckon_feedback(rows: Rows, page: Page, work: Work) -> Counts:
    """Count feedback, and remove it after `FEEDBACK_DAYS`."""
    end = life.moment_before(work.now, days=FEEDBACK_DAYS)
    kinds = schema.ToolFeedback, schema.TaskFeedback
    thinned = sum(rows.drop_entries(kind, before=end) for kind in kinds)
    answers = [it.count for it in feedback_by_tool(rows)]
    counts = {"tools": len(answers), "answers": sum(answers)}
    return {**counts, "tasks": rows.count_entries(schema.TaskFeedback), "thinned": thinned}


@step("tidying", "index links activities doubtful", changes="index links activities", over="all")
def tidy(rows: Rows, page: Page, work: Work) -> Counts:
    """Mend the index, drop dead links and old activities, count doubtful fragments."""
    links = rows.links([it.id for it in page.fragments])
    ends = {id_ for it in links for id_ in (it.from_id, it.to_id)}
    there = {it.id for it in rows.by_ids(sorted(ends))}
    lost = [it for it in links if not {it.from_id, it.to_id} <= there]
    live = [it for it in page.fragments if it.is_live]
    doubtful = sum(life.is_doubtful(it, work.now, work.config) for it in live)
    counts = {"links": rows.drop_links(lost), "doubtful": doubtful}
    if page.after:
        return counts
    end = life.moment_before(work.now, days=ACTIVITY_DAYS)
    activities = rows.drop_entries(schema.Activity, before=end)
    return {**counts, "activities": activities, "index": int(rows.mend_index())}


STEPS: Sequence[Step] = [it for some in PASSES for it in some.steps]
