"""Answers of search_memory and log_memory, and the lines beside the records in every answer."""

import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.config import Settings
from core.guard.injection import HIDDEN_TEXT, marks_of, order_marks
from core.lessons import record_text
from core.lessons.log import MemoryLog
from core.lessons.record import LIMITS_BYTES, Record, normalise_topic
from core.lessons.record_text import is_harmless, is_usable, topic_text, version_id_text
from core.messages import Facts, say
from core.text.plain import Budget, estimate_tokens, one_line
from core.text.wording import find_similar, is_source_code, scope_of, usable_topics

if TYPE_CHECKING:  # a hook starts faster without these
    from core.lessons.changes import Outcome
    from core.text.ranking import Finds, Ranking

Need = Literal["required", "optional", "pointless"]

TOPICS_SHOWN = 40
TOPICS_AFTER_A_SAVE = 12  # the search before the task has shown more
NEAREST_JUDGED = 100
HIDERS_SHOWN = 3
TOKENS_SHOWN = 60
BESIDE_SHOWN = 5
LIST_SHARE = 0.125  # of the tokens of an answer, for a list that could be long
MOST_SEARCHED_CHARS = 16_384  # of a record: six times the limits of a save
MOST_GATHERED = 50  # whose texts are ranked beside those of the other rooms


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Whose log an answer is about, and how long the answer may be."""

    project: str
    settings: Settings
    usual_threshold: int | None = None  # of other calls, if theirs differs
    # Whether git lacks a part of the log; slow, asked only where records go.
    is_uncommitted: Callable[[], bool] = bool

    @property
    def budget(self) -> Budget:
        return Budget(self.settings.budget_tokens, self.settings.budget_chars)

    def with_half_budget(self) -> "Frame":
        """Return the frame for an answer's second part, after one that spoke of git."""
        tokens, chars = self.settings.budget_tokens // 2, self.settings.budget_chars // 2
        settings = self.settings._replace(budget_tokens=tokens, budget_chars=chars)
        return replace(self, settings=settings, is_uncommitted=bool)


def search_answer(log: MemoryLog, frame: Frame, *, query: str, topic: str = "") -> str:
    """Show all records, or one topic; above the budget the most relevant and an index."""
    wanted = normalise_topic(topic)
    records = [it for it in log.records if it.topic == wanted] if wanted else log.records
    facts: Facts = {"count": log.count, "project": one_line(frame.project)}
    if wanted and records:
        head = say("answers.head_topic", topic=topic_text(wanted), shown=len(records), **facts)
    else:
        head = say("answers.head_all", **facts)
    lines = [head, *notes(log, frame)]
    if not records:
        missed = no_topic(wanted, log, frame, query) if log.count else say("answers.nothing_found")
        return "\n".join([*lines, missed, say("answers.questions")])

    ranking = None  # only a memory above its budget is ranked
    topics, budget_tokens = log.topics.most_common(), frame.settings.budget_tokens
    listing = listed_topics(topics, budget_tokens)
    if listing.left_out and query.strip() and not wanted:
        ranking = ranking_of(query, records)
        in_order = ranking.topics([record.topic for record in records])
        listing = listed_topics([(name, log.topics[name]) for name in in_order], budget_tokens)
    lines.append(say("answers.topics", topics=listing.text))
    budget = frame.budget
    budget.spend("\n".join(lines))
    texts = record_text.fit_all(records, budget)
    if texts is None:
        ranking = ranking or ranking_of(query, records)
        texts = record_text.fit_best([records[at] for at in ranking.order()], budget)
    return "\n".join(lines + texts)


def no_topic(topic: str, log: MemoryLog, frame: Frame, query: str = "") -> str:
    """List all topics with counts: similar names, topics about it, names to avoid last."""
    about = ranking_of(f"{topic} {query}", log.records).topics([it.topic for it in log.records])
    closest = list(dict.fromkeys([*find_similar(topic, list(log.topics)), *about]))
    judged = closest[:NEAREST_JUDGED]
    in_order = sorted(judged, key=lambda name: bool(scope_of(name))) + closest[NEAREST_JUDGED:]
    counts = [(name, log.topics[name]) for name in in_order]
    listing = listed_topics(counts, frame.settings.budget_tokens)
    return say("answers.no_topic", topic=topic_text(topic), topics=listing.text)


def ranking_of(query: str, records: Sequence[Record]) -> "Ranking":
    from core.text.ranking import Ranking  # a hook has an order of its own

    return Ranking(query, [" ".join(record.texts)[:MOST_SEARCHED_CHARS] for record in records])


# Beside other rooms


def lessons_in_prompt(
    records: Sequence[Record], frame: Frame, query: str, budget: Budget
) -> list[str]:
    """Return a heading and the records that fit, the most relevant first."""
    heading = say("answers.prompt_injection", project=one_line(frame.project))
    budget.spend(heading)
    ranked = [records[at] for at in ranking_of(query, records).order()]
    fitting, _ = record_text.fit_records(ranked, budget, at_least_one=True)
    if fitting:
        return [heading, *(block.text for block in record_text.blocks_by_topic(fitting))]
    missed = "prompt_nothing_fits" if records else "nothing_found"
    return [heading, say(f"answers.{missed}", count=len(records))]


def lessons_on(question: str, records: Sequence[Record]) -> "Finds":
    """Return those of all records that hold much of a question and read like no order."""
    from core.text.ranking import Entry, Finds

    coverage = ranking_of(question, records).coverage()
    parts = coverage.good_shares()
    usable = [at for at in parts if is_usable(records[at]) and is_harmless(records[at])]
    places = usable[:MOST_GATHERED]
    frequencies = coverage.frequencies()
    if not coverage.may_answer(parts, places):
        return Finds(frequencies=frequencies)
    entries = [
        Entry(
            source="lesson",
            id=(record := records[at]).id,
            text=" ".join(record.texts),
            statements=(record.missing_context, record.lesson),
            line=partial(record_text.lesson_line, record),
            worth=(0.0, record.updated or record.created, at),
        )
        for at in places
    ]
    return Finds(entries, frequencies)


def save_answer(
    saved: "Outcome",
    frame: Frame,
    *,
    shortened_from_bytes: int = 0,
    caller_notes: Sequence[str] = (),
) -> str:
    """Say what one save did, which topics exist, and whether a compaction is due.

    shortened_from_bytes: of a question that was cut, else 0. beside: sentences of the caller.
    """
    record, count = saved.records[0], saved.log.count
    again, topic = bool(record.updated), topic_text(record.topic)
    topics, is_told = saved.log.topics.copy(), "topic" not in saved.suspicious
    if not is_told:  # an answer goes into transcripts: do not repeat it there
        topic = say("answers.not_repeated")
        del topics[record.topic]
    facts: Facts = {"type": record.type, "topic": topic, "project": one_line(frame.project)}
    key = "saved_same" if not saved.is_written else "saved_again" if again else "saved_new"
    lines = [say(f"answers.{key}", seen=record.seen, count=count, **facts)]
    if record.seen > 1 and saved.is_written and not again:
        lines.append(say("answers.came_back"))
    if len(saved.earlier[0]) > 1:
        lines.append(say("answers.settled", count=len(saved.earlier[0])))
    if saved.removed:
        lines.append(say("answers.replaced", count=len(saved.removed)))
        if frame.is_uncommitted():
            lines.append(say("answers.uncommitted"))
    lines += left_tokens(saved, frame)
    lines += _cautions(saved, shortened_from_bytes, caller_notes)
    others = list[Record]()
    if record.type == "principle" and not saved.removed:
        others = [it for it in saved.log.records if it.topic == record.topic and it.id != record.id]
    if others:
        call = "target_topic=" + (topic if topic.startswith('"') else f'"{topic}"')
        if frame.usual_threshold:
            call += f", compact_threshold={frame.settings.threshold}"
        principles = sum(it.type == "principle" for it in others)
        counts: Facts = {"logs": len(others) - principles, "principles": principles}
        stay = say("answers.originals_stay", count=len(others), topic=topic, call=call, **counts)
        shown = others[:BESIDE_SHOWN] if is_told else ()
        lines += [stay, *map(record_text.index_line, shown)]
    is_new = topics[record.topic] == 1 and not again
    if is_new and (alike := usable_topics(find_similar(record.topic, topics))):
        near = ", ".join(map(topic_text, alike[:5]))
        lines.append(say("answers.similar_topic", topic=topic, topics=near))
    budget_tokens = frame.settings.budget_tokens
    listing = listed_topics(topics.most_common(), budget_tokens, at_most=TOPICS_AFTER_A_SAVE)
    lines.append(say("answers.topics", topics=listing.text))
    return "\n".join(lines + notes(saved.log, frame))


def _cautions(
    saved: "Outcome", shortened_from_bytes: int, caller_notes: Sequence[str]
) -> list[str]:
    """Say what was changed or is suspicious; fields are named, since answers are kept elsewhere."""
    lines, record = [], saved.records[0]
    if saved.redacted:
        kinds = ", ".join(dict.fromkeys(saved.redacted))
        lines.append(say("answers.redacted", count=len(saved.redacted), kinds=kinds))
    lines += [say("answers.suspicious", field=name) for name in saved.suspicious]
    names = LIMITS_BYTES if record.marks else ()  # nearly none has any
    by_field = {name: marks_of(getattr(record, name)) for name in names}
    found = ", ".join(f"{mark} ({name})" for name, marks in by_field.items() for mark in marks)
    if found:
        only_hidden = record.marks == (HIDDEN_TEXT,)
        lines.append(say("answers.marked_hidden" if only_hidden else "answers.marked", found=found))
    if shortened_from_bytes:
        kept_bytes = len(record.ask_next_time.encode("utf-8", "replace"))
        limits: Facts = {"kept_bytes": kept_bytes, "limit_bytes": LIMITS_BYTES["ask_next_time"]}
        lines.append(say("answers.shortened", used_bytes=shortened_from_bytes, **limits))
    lines += caller_notes
    scope = scope_of(record.topic)
    if scope and "topic" not in saved.suspicious:
        topic, token = topic_text(record.topic), version_id_text(record)
        old = shlex.quote(topic) if topic == record.topic else "OLD"
        lines.append(say(f"answers.topic_{scope}", topic=topic, token=token, old=old))
    if fields := code_fields(record):
        lines.append(say("answers.source_code", fields=fields, token=version_id_text(record)))
    return lines


def code_fields(record: Record) -> str:
    """Name the fields that hold source code, "" for none."""
    texts = ("missing_context", "lesson", "ask_next_time")
    return ", ".join(name for name in texts if is_source_code(getattr(record, name)))


# Beside the records


def notes(log: MemoryLog, frame: Frame) -> list[str]:
    """Say whether a compaction is due, and which flaws the file has.

    A threshold of this call alone is named, lest the next answer contradict it.
    """
    threshold, usual = frame.settings.threshold, frame.usual_threshold or frame.settings.threshold
    if need_of(log.records, log.count, min(threshold, usual)) != "required":
        return flaw_notes(log)
    key = "compact_required"
    if threshold != usual:
        key = "compact_required_here" if log.count > threshold else "compact_later_here"
    facts: Facts = {"count": log.count, "threshold": threshold, "default": usual}
    return [say(f"answers.{key}", **facts), *flaw_notes(log)]


def need_of(records: Collection[Record], count: int, threshold: int) -> Need:
    """Return whether records need a compaction: "required" above the threshold.

    "pointless": each topic is one principle. count: of the whole log.
    """
    topics = {record.topic for record in records if record.type == "principle"}
    if len(topics) == len(records):
        return "pointless"
    return "required" if count > threshold else "optional"


def flaw_notes(log: MemoryLog) -> list[str]:
    """Name hidden records, unsettled versions, conflicts and unreadable lines."""
    lines = []
    if log.hidden:
        hiders = [*{hider.version_id: hider for _, hider in log.hidden}.values()][:HIDERS_SHOWN]
        by = ", ".join(f"{topic_text(it.id[:8])} [{topic_text(it.topic)}]" for it in hiders)
        lines.append(say("answers.hidden", count=len(log.hidden), by=by))
    if log.unsettled:
        topics = dict.fromkeys(topic_text(versions[0].topic) for versions in log.unsettled)
        listed = ", ".join([*topics][:HIDERS_SHOWN])
        lines.append(say("answers.unsettled", count=len(log.unsettled), topics=listed))
    if log.skipped:
        lines.append(say("answers.skipped", skipped=log.skipped))
    if log.conflicts:
        lines.append(say("answers.conflict", conflicts=log.conflicts))
    return lines


class Listing(NamedTuple):
    """A list in one line."""

    text: str
    left_out: int  # how many texts had no room


def listed(
    texts: Iterable[str], count: int, most_tokens: float, *, more: str = "and_more", sep: str = ", "
) -> Listing:
    """List as many texts as fit into `most_tokens` (estimated), at least one: `a, b, +3 more`.

    count: of all texts. more: sentence for a cut list.
    """
    fitting: list[str] = []
    for text in texts:
        most_tokens -= estimate_tokens(text) + 1
        if most_tokens < 0 and fitting:
            break
        fitting.append(text)
    line, left_out = sep.join(fitting), count - len(fitting)
    if left_out > 0:
        line = say(f"answers.{more}", listed=line, more=left_out)
    return Listing(line, left_out)


def listed_topics(
    counts: Sequence[tuple[str, int]], budget_tokens: float = inf, *, at_most: int = TOPICS_SHOWN
) -> Listing:
    """List topics as `payment (2), auth (1)`, within a share of the whole answer's budget."""
    texts = []
    for topic, count in counts[:at_most]:
        text = topic_text(topic)
        if order_marks((), (topic,)):
            texts.append(say("answers.topic_reads_like", topic=text, count=count))
        else:
            texts.append(f"{text} ({count})")
    return listed(texts, len(counts), LIST_SHARE * budget_tokens)


def left_tokens(outcome: "Outcome", frame: Frame) -> list[str]:
    """Say which version ids removed nothing, and which hidden records went."""
    fates = (
        ("token_changed", outcome.changed),
        ("token_gone", outcome.gone),
        ("token_absent", outcome.absent),
    )
    lines = []
    for key, tokens in fates:
        if tokens:
            lines.append(say(f"answers.{key}", tokens=listed_tokens(tokens, frame)))
    if outcome.is_written and outcome.before.hidden:
        went = [record.version_id for record, _ in outcome.before.hidden]
        lines.append(say("answers.hidden_went", count=len(went), tokens=listed_tokens(went, frame)))
    return lines


def listed_tokens(tokens: Sequence[str], frame: Frame) -> str:
    texts = (one_line(token)[:80] for token in tokens[:TOKENS_SHOWN])
    return listed(texts, len(tokens), LIST_SHARE * frame.settings.budget_tokens).text
