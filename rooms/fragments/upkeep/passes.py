"""The eleven steps of the upkeep, and the passes over the fragments in which they run.

`step` makes a function a step, in the order of this file. Consecutive steps over the same fragments
share a pass and its transactions.

Decay comes before merging, which keeps the most important fragment; merging before the utility,
which counts the uses of all that were merged.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
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

_PAGE_FRAGMENTS = 300  # fragments in one transaction: a save waits no longer than for these
_MOST_COMPARED, _MOST_GROUPS, _MOST_EQUAL = 10, 50, 500  # in one transaction; of one content
_LEAST_DIFFERENCE = 1e-9  # two figures of use that differ by less are one

Counts = dict[str, int]
OpenRows = Callable[[], AbstractContextManager[Rows]]


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
    counts: Mapping[str, int] = field(default_factory=dict)  # counts of this run
    answer: Any = None  # result of `ask`
    fragments: Sequence[Fragment] = ()  # of `state`, without changes of earlier steps, or of `ask`
    next: int | None = None  # where the next page begins; a step without `state` sets it


StepFunction = Callable[[Rows, Page, Work], Counts]  # returns what it counted
Ask = Callable[[OpenRows, Page, Work], Any]


class Step(NamedTuple):
    name: str
    figures: Sequence[str]  # names of its counts
    changes: Sequence[str]  # the figures that are changes
    run: StepFunction


class Pass(NamedTuple):
    """Steps that run together."""

    steps: list[Step]
    state: State | None  # of the fragments, None if a step finds its own
    ask: Ask | None  # slow or off the machine; runs before each page's transaction

    @property
    def name(self) -> str:
        return self.steps[0].name

    def run(self, rows: Rows, page: Page, work: Work) -> dict[str, Counts]:
        """Do one page and set its `next`; return the counts by step."""
        if self.state:
            filter_ = Filter(state=self.state, after=page.after)
            page.fragments = fragments = rows.find(filter_, limit=_PAGE_FRAGMENTS)
            page.next = fragments[-1].number if len(fragments) == _PAGE_FRAGMENTS else None
        return {step.name: step.run(rows, page, work) for step in self.steps}


PASSES: list[Pass] = []


def step(
    name: str,
    figures: str,
    *,
    changes: str | None = None,
    state: State | None = None,
    ask: Ask | None = None,
) -> Callable[[StepFunction], StepFunction]:
    """Make a function a step.

    figures, changes: see `Step`, between blanks; None for all figures. state, ask: see `Pass`.
    """

    def add(run: StepFunction) -> StepFunction:
        if not (state and PASSES and PASSES[-1].state == state):
            PASSES.append(Pass([], state, ask))
        change_names = figures if changes is None else changes
        PASSES[-1].steps.append(Step(name, figures.split(), change_names.split(), run))
        return run

    return add


@step("tiers", "to_hot to_warm to_cold to_permanent", state="all")
def update_tiers(rows: Rows, page: Page, work: Work) -> Counts:
    numbers_by_tier = dict[str, list[int]]()
    for fragment in page.fragments:
        tier = life.tier_of(fragment, work.now)
        if fragment.is_live and tier != fragment.tier:
            numbers_by_tier.setdefault(tier, []).append(fragment.number)
    for name, numbers in numbers_by_tier.items():
        rows.set_fields(numbers, {"tier": name})
    return {f"to_{name}": len(numbers) for name, numbers in numbers_by_tier.items()}


@step("decay", "decayed", state="all")
def lower_importance(rows: Rows, page: Page, work: Work) -> Counts:
    decayed, numbers_by_decay = 0, dict[life.Decay, list[int]]()
    for fragment in page.fragments:
        decay = life.decay_of(fragment, work.now) if fragment.is_live else None
        if decay:
            numbers_by_decay.setdefault(decay, []).append(fragment.number)
            decayed += decay.importance < fragment.importance
    for decay, numbers in numbers_by_decay.items():
        rows.set_fields(numbers, decay._asdict())
    return {"decayed": decayed}


@step("expiry", "expired stale purged", state="all")
def expire_fragments(rows: Rows, page: Page, work: Work) -> Counts:
    """Move expired and stale fragments to the bin, and empty it after `BIN_DAYS`."""
    expired_numbers, stale_numbers, ids = list[int](), list[int](), list[str]()
    end = life.moment_before(work.now, days=life.BIN_DAYS)
    for fragment in page.fragments:
        if fragment.deleted_at:
            ids += [fragment.id] if fragment.deleted_at < end else []
        elif life.is_expired(fragment, work.now):
            expired_numbers.append(fragment.number)
        elif fragment.is_live and life.is_stale(fragment, work.now, work.config):
            stale_numbers.append(fragment.number)
    _move_to_bin(rows, expired_numbers, "expired", work.now)
    _move_to_bin(rows, stale_numbers, "stale", work.now)
    purged = rows.drop(ids)
    rows.count_up({"purged": purged})
    return {"expired": len(expired_numbers), "stale": len(stale_numbers), "purged": purged}


@step("duplicates", "merged")
def merge_equal(rows: Rows, page: Page, work: Work) -> Counts:
    """Merge an agent's equal fragments, but pinned ones. `page.after`: groups that stay."""
    groups = [
        (agent, content_hash)
        for agent in rows.count(Filter(), "agent")
        for content_hash in rows.count(Filter(agents=(agent,)), "content_hash", least=2)
        if content_hash
    ]
    batch = groups[page.after : page.after + _MOST_GROUPS]
    merged = kept_groups = 0
    for agent, content_hash in batch:
        twins = rows.find(Filter(agents=(agent,), content_hash=content_hash), limit=_MOST_EQUAL)
        pins = [twin for twin in twins if life.is_pinned(twin)]
        target = max(pins or twins, key=lambda row: (row.importance, row.access_count, -row.number))
        others = [twin for twin in twins if not life.is_pinned(twin) and twin is not target]
        if others:
            _merge_into(rows, target, others, work.now)
        merged += len(others)
        kept_groups += len(twins) - len(others) > 1
    page.next = page.after + kept_groups if len(batch) == _MOST_GROUPS else None
    return {"merged": merged}


def _merge_into(rows: Rows, target: Fragment, others: Sequence[Fragment], now: str) -> None:
    twins = [target, *others]
    keywords = dict.fromkeys(keyword for twin in twins for keyword in twin.keywords)
    stale_days = [twin.stale_days for twin in twins]
    longest = max(twins, key=lambda twin: (not twin.expires_at, twin.expires_at))
    last = max(twins, key=lambda twin: twin.accessed_at)
    merged = replace(
        target,
        keywords=tuple(keywords)[: max(MOST_KEYWORDS, len(target.keywords))],
        access_count=sum(twin.access_count for twin in twins),
        accessed_at=last.accessed_at,
        sessions_count=sum(twin.sessions_count for twin in twins),
        last_session=last.last_session,
        verified_at=max(twin.verified_at for twin in twins),
        lifetime=longest.lifetime,
        session=longest.session,
        expires_at=longest.expires_at,
        stale_days=max(stale_days) if all(stale_days) else 0,
    )
    rows.replace([merged])
    for other in others:
        linked_pairs = {(link.from_id, link.to_id) for link in rows.links([target.id])}
        for link in rows.links([other.id]):
            ends = [target.id if end == other.id else end for end in (link.from_id, link.to_id)]
            if ends[0] != ends[1] and tuple(ends) not in linked_pairs:
                rows.put_links([replace(link, from_id=ends[0], to_id=ends[1])])
        versions = rows.entries(schema.Version, subject=other.id)
        rows.put_entries(replace(version, fragment_id=target.id) for version in versions)
        link = Link(from_id=other.id, to_id=target.id, relation="superseded_by", created_at=now)
        rows.put_links([link])
    numbers = [other.number for other in others]
    rows.set_fields(numbers, {"access_count": 0, "sessions_count": 0})
    _move_to_bin(rows, numbers, "merged", now)


def _move_to_bin(rows: Rows, numbers: Sequence[int], reason: str, now: str) -> None:
    rows.set_fields(numbers, {"deleted_at": now, "deletion": reason})
    rows.count_up({reason: len(numbers)})


def _embed(open_rows: OpenRows, page: Page, work: Work) -> bool:
    try:
        if work.fill and page.after:
            work.fill()
    except ServiceError:  # a service that is off keeps no other step from its work
        return True
    return False


@step("embeddings", "missing made failed", changes="made", ask=_embed)
def count_embeddings(rows: Rows, page: Page, work: Work) -> Counts:
    """Count missing embeddings, then new ones. `page.after`: how many were missing."""
    missing = sum(rows.count(Filter(has_vector=False)).values())
    if page.after:
        return {"made": max(page.after - missing, 0), "failed": int(page.answer)}
    page.next = missing if missing and work.fill else None
    return {"missing": missing}


@step("utility", "updated", state="live")
def update_utility(rows: Rows, page: Page, work: Work) -> Counts:
    numbers_by_utility = dict[float, list[int]]()
    for fragment in page.fragments:
        utility = life.utility_of(fragment)
        if abs(fragment.utility - utility) > _LEAST_DIFFERENCE:
            numbers_by_utility.setdefault(utility, []).append(fragment.number)
    for utility, numbers in sorted(numbers_by_utility.items()):
        rows.set_fields(numbers, {"utility": utility})
    return {"updated": sum(map(len, numbers_by_utility.values()))}


@step("anchors", "promotable", changes="", state="live")
def count_promotable(rows: Rows, page: Page, work: Work) -> Counts:
    """Count fragments worth pinning; no program pins one."""
    return {"promotable": sum(map(life.is_worth_pinning, page.fragments))}


_CLEARED = ("entailment", "neutral")


def _judge_pair(judge: "OneJudge | None", pair: Pair) -> Pair:
    if judge:
        with suppress(ServiceError):
            verdict = judge.verdict(pair.earlier.content, pair.later.content)
            return pair._replace(label=verdict.label if verdict.is_sure else "unsure")
    return pair


def _compare(open_rows: OpenRows, page: Page, work: Work) -> list[Pair]:
    """Return pairs of new fragments with similar fragments."""
    if not work.compares:
        return []
    with open_rows() as rows:
        filter_ = Filter(is_checked=False, after=page.after)
        page.fragments = fragments = rows.find(filter_, limit=_MOST_COMPARED)
        pairs = [pair for fragment in fragments for pair in find_pairs(rows, fragment, work.now)]
    most = max(MOST_JUDGED - page.counts.get("judged", 0), 0)
    return [_judge_pair(work.judge, pair) for pair in pairs[:most]] + pairs[most:]


@step("contradictions", "checked judged suspected linked", changes="suspected linked", ask=_compare)
def note_contradictions(rows: Rows, page: Page, work: Work) -> Counts:
    """Settle pairs of which the judge is sure; others wait if they show a sign or it is unsure."""
    pairs: list[Pair] = page.answer
    hashes = {fragment.number: fragment.content_hash for fragment in page.fragments}
    hashes_now = {fragment.number: fragment.content_hash for fragment in rows.by_numbers(hashes)}
    checked_numbers = [number for number, hash_ in hashes_now.items() if hash_ == hashes[number]]
    rows.set_fields(checked_numbers, {"checked_at": work.now})
    suspected = linked = 0
    for pair in pairs:
        current = reread(rows, pair)
        if not current or pair.label in _CLEARED:
            continue
        is_near = work.judge and current.similarity >= NEARLY_EQUAL
        if pair.label == "contradiction" and settle(rows, current, work.now):
            linked += 1
        elif current.signs or pair.label or is_near:
            ids = {"first_id": current.earlier.id, "second_id": current.later.id}
            similarity, found_at = current.similarity, current.found_at
            rows.put_entries([schema.Suspicion(**ids, similarity=similarity, found_at=found_at)])
            suspected += 1
    page.next = page.fragments[-1].number if len(page.fragments) == _MOST_COMPARED else None
    counts = {"checked": len(checked_numbers), "judged": sum(pair.label != "" for pair in pairs)}
    return {**counts, "suspected": suspected, "linked": linked}


def _judge_again(open_rows: OpenRows, page: Page, work: Work) -> list[Pair]:
    if not work.judge:
        return []
    with open_rows() as rows:
        pairs = [pair for pair in open_pairs_in(rows, work.now)[0] if pair.found_at < work.now]
    return [_judge_pair(work.judge, pair) for pair in pairs[:MOST_AGAIN]]


@step("suspicions", "judged linked dropped waiting", changes="linked dropped", ask=_judge_again)
def settle_suspicions(rows: Rows, page: Page, work: Work) -> Counts:
    """Settle pairs of which the judge is sure, and forget suspicions that are over."""
    judged: list[Pair] = page.answer
    linked, settled_pairs = 0, open_pairs_in(rows, work.now)[1]
    for pair in judged:
        current = reread(rows, pair)
        if current and pair.label == "contradiction":
            linked += settle(rows, current, work.now)
        elif pair.label in _CLEARED:
            settled_pairs.append((pair.earlier.id, pair.later.id))
    dropped = drop_suspicions(rows, settled_pairs)
    counts = {"judged": sum(pair.label != "" for pair in judged), "linked": linked}
    return {**counts, "dropped": dropped, "waiting": len(open_pairs_in(rows, work.now)[0])}


@step("feedback", "tools answers tasks thinned", changes="thinned")
def count_feedback(rows: Rows, page: Page, work: Work) -> Counts:
    """Count feedback, and remove it after `FEEDBACK_DAYS`."""
    end = life.moment_before(work.now, days=FEEDBACK_DAYS)
    kinds = schema.ToolFeedback, schema.TaskFeedback
    thinned = sum(rows.drop_entries(kind, before=end) for kind in kinds)
    answers = [tool.count for tool in feedback_by_tool(rows)]
    counts = {"tools": len(answers), "answers": sum(answers)}
    return {**counts, "tasks": rows.count_entries(schema.TaskFeedback), "thinned": thinned}


@step("tidying", "index links activities doubtful", changes="index links activities", state="all")
def tidy_up(rows: Rows, page: Page, work: Work) -> Counts:
    """Mend the index, drop dead links and old activities, count doubtful fragments."""
    links = rows.links([fragment.id for fragment in page.fragments])
    ends = {id_ for link in links for id_ in (link.from_id, link.to_id)}
    existing_ids = {fragment.id for fragment in rows.by_ids(sorted(ends))}
    dead_links = [link for link in links if not {link.from_id, link.to_id} <= existing_ids]
    live_fragments = [fragment for fragment in page.fragments if fragment.is_live]
    doubtful = sum(life.is_doubtful(fragment, work.now, work.config) for fragment in live_fragments)
    counts = {"links": rows.drop_links(dead_links), "doubtful": doubtful}
    if page.after:
        return counts
    end = life.moment_before(work.now, days=ACTIVITY_DAYS)
    activities = rows.drop_entries(schema.Activity, before=end)
    return {**counts, "activities": activities, "index": int(rows.mend_index())}


STEPS: Sequence[Step] = [step for pass_ in PASSES for step in pass_.steps]
