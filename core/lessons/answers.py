"""Answers of search_memory and log_memory, and the lines beside the records in every answer."""

import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.config import CONTEXT_DIRECTORY, LOG_NAME, Settings
from core.guard.injection import HIDDEN_TEXT, marks_of, order_marks
from core.lessons import record_text
from core.lessons.log import MemoryLog, obstacle_in
from core.lessons.record import LIMITS_BYTES, Record, normalise_topic
from core.lessons.record_text import is_harmless, is_usable, topic_text, version_id_text
from core.messages import Facts, Language, language, say
from core.text.plain import Budget, estimate_tokens, one_line
from core.text.wording import find_similar, is_source_code, scope_of, usable_topics

if TYPE_CHECKING:  # a hook starts faster without these
    from core.lessons.changes import Outcome
    from core.text.ranking import Entries, Ranking

Need = Literal["required", "optional", "pointless"]

TOPICS_SHOWN = 40
TOPICS_AFTER_A_SAVE = 12  # the search before the task has shown more
NEAREST_JUDGED = 100
HIDERS_SHOWN = 3
VERSION_IDS_SHOWN, MOST_NAME_CHARS = 60, 1_000
OTHERS_SHOWN = 5
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
    is_second_part: bool = False  # behind a deletion, which spoke of git; its reader has the steps

    @property
    def budget(self) -> Budget:
        return Budget(self.settings.budget_tokens, self.settings.budget_chars)

    def with_half_budget(self) -> "Frame":
        """Return the frame for an answer's second part."""
        tokens, chars = self.settings.budget_tokens // 2, self.settings.budget_chars // 2
        settings = self.settings._replace(budget_tokens=tokens, budget_chars=chars)
        return replace(self, settings=settings, is_second_part=True)


def search_answer(log: MemoryLog, frame: Frame, *, query: str, topic: str = "") -> str:
    """Show all records, or one topic; above the budget the most relevant and an index."""
    topic = normalise_topic(topic)
    records = [record for record in log.records if record.topic == topic] if topic else log.records
    facts: Facts = {"topic": topic and topic_text(topic), "shown": len(records), "count": log.count}
    head = f"answers.{'head_topic' if topic and records else 'head_all'}"
    lines = [say(head, project=one_line(frame.project), **facts), *log_notes(log, frame)]
    if not records:
        text = list_topics(topic, log, frame, query) if log.count else say("answers.nothing_found")
        return "\n".join([*lines, text, say("answers.questions")])

    ranking = None  # only a memory above its budget is ranked
    topics, budget_tokens = log.topics.most_common(), frame.settings.budget_tokens
    listing = topic_listing(topics, budget_tokens)
    if listing.left_out_count and query.strip() and not topic:
        ranking = ranking_of(query, records)
        names = ranking.topics([record.topic for record in records])
        listing = topic_listing([(name, log.topics[name]) for name in names], budget_tokens)
    lines.append(say("answers.topics", topics=listing.text))
    budget = frame.budget
    budget.spend("\n".join(lines))
    texts = record_text.fit_all(records, budget)
    if texts is None:
        ranking = ranking or ranking_of(query, records)
        texts = record_text.fit_best([records[at] for at in ranking.order()], budget)
    return "\n".join(lines + texts)


def list_topics(topic: str, log: MemoryLog, frame: Frame, query: str = "") -> str:
    """List all topics with counts: similar names, topics about it, names to avoid last."""
    from core.sanitizer import redact  # a caller may have written any text

    topics = [record.topic for record in log.records]
    related_names = ranking_of(f"{topic} {query}", log.records).topics(topics)
    names = list(dict.fromkeys([*find_similar(topic, list(log.topics)), *related_names]))
    nearest_names, others = names[:NEAREST_JUDGED], names[NEAREST_JUDGED:]
    names = sorted(nearest_names, key=lambda name: bool(scope_of(name))) + others
    counts = [(name, log.topics[name]) for name in names]
    listing = topic_listing(counts, frame.settings.budget_tokens)
    name = topic_text(redact(topic[:MOST_NAME_CHARS]).text)
    return say("answers.no_topic", topic=name, topics=listing.text)


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
    ranked_records = [records[at] for at in ranking_of(query, records).order()]
    fitting_records, _ = record_text.fit_records(ranked_records, budget, at_least_one=True)
    if fitting_records:
        return [heading, *(block.text for block in record_text.blocks_by_topic(fitting_records))]
    key = "prompt_nothing_fits" if records else "nothing_found"
    return [heading, say(f"answers.{key}", count=len(records))]


def lessons_on(question: str, records: Sequence[Record]) -> "Entries":
    """Return the lessons that hold much of a question and read like no order."""
    from core.text.ranking import Entries, Entry

    coverage = ranking_of(question, records).coverage()
    parts = coverage.good_shares()
    usable_places = [at for at in parts if is_usable(records[at]) and is_harmless(records[at])]
    places = usable_places[:MOST_GATHERED]
    frequencies = coverage.frequencies()
    if not coverage.may_answer(parts, places):
        return Entries(frequencies=frequencies)
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
    return Entries(entries, frequencies)


def save_answer(
    outcome: "Outcome", frame: Frame, *, question_bytes: int = 0, caller_notes: Sequence[str] = ()
) -> str:
    """Say what one save did, which topics exist, and whether a compaction is due.

    question_bytes: of a question that was cut, else 0. caller_notes: of the caller.
    """
    record, count = outcome.records[0], outcome.log.count
    is_repeated, topic = bool(record.updated), topic_text(record.topic)
    topics, may_show_topic = outcome.log.topics.copy(), "topic" not in outcome.suspicious_fields
    if not may_show_topic:  # an answer goes into transcripts: do not repeat it there
        topic = say("answers.not_repeated")
        del topics[record.topic]
    facts: Facts = {"type": record.type, "topic": topic, "project": one_line(frame.project)}
    key = "saved_same" if not outcome.is_written else "saved_again" if is_repeated else "saved_new"
    lines = [say(f"answers.{key}", seen=record.seen, count=count, **facts)]
    if record.seen > 1 and outcome.is_written and not is_repeated:
        lines.append(say("answers.came_back"))
    if len(outcome.earlier_versions[0]) > 1:
        lines.append(say("answers.settled", count=len(outcome.earlier_versions[0])))
    if outcome.removed_records:
        lines.append(say("answers.replaced", count=len(outcome.removed_records)))
        if frame.is_uncommitted():
            lines.append(say("answers.uncommitted"))
    lines += removal_notes(outcome, frame)
    lines += _caution_lines(outcome, question_bytes, caller_notes)
    members = (other for other in outcome.log.records if other.topic == record.topic)
    others = [other for other in members if other.id != record.id]
    if others and record.type == "principle" and not outcome.removed_records:
        call = "target_topic=" + (topic if topic.startswith('"') else f'"{topic}"')
        if frame.usual_threshold:
            call += f", compact_threshold={frame.settings.threshold}"
        principles = sum(other.type == "principle" for other in others)
        counts: Facts = {"logs": len(others) - principles, "principles": principles}
        note = say("answers.originals_stay", count=len(others), topic=topic, call=call, **counts)
        shown_records = others[:OTHERS_SHOWN] if may_show_topic else ()
        lines += [note, *map(record_text.index_line, shown_records)]
    is_new = topics[record.topic] == 1 and not is_repeated
    if is_new and (names := usable_topics(find_similar(record.topic, topics))):
        listed_names = ", ".join(map(topic_text, names[:5]))
        lines.append(say("answers.similar_topic", topic=topic, topics=listed_names))
    budget_tokens = frame.settings.budget_tokens
    listing = topic_listing(topics.most_common(), budget_tokens, at_most=TOPICS_AFTER_A_SAVE)
    lines.append(say("answers.topics", topics=listing.text))
    return "\n".join(lines + log_notes(outcome.log, frame))


def _caution_lines(outcome: "Outcome", used_bytes: int, caller_notes: Sequence[str]) -> list[str]:
    """Say what was changed or is suspicious; fields are named, since answers are kept elsewhere."""
    lines, record = [], outcome.records[0]
    if outcome.secret_kinds:
        kinds = ", ".join(dict.fromkeys(outcome.secret_kinds))
        lines.append(say("answers.redacted", count=len(outcome.secret_kinds), kinds=kinds))
    lines += [say("answers.suspicious", field=name) for name in outcome.suspicious_fields]
    names = LIMITS_BYTES if record.marks else ()  # nearly none has any
    pairs = ((name, mark) for name in names for mark in marks_of(getattr(record, name)))
    if marks := ", ".join(f"{mark} ({name})" for name, mark in pairs):
        only_hidden = record.marks == (HIDDEN_TEXT,)
        lines.append(say("answers.marked_hidden" if only_hidden else "answers.marked", found=marks))
    if used_bytes:
        kept_bytes = len(record.ask_next_time.encode("utf-8", "replace"))
        limits: Facts = {"kept_bytes": kept_bytes, "limit_bytes": LIMITS_BYTES["ask_next_time"]}
        lines.append(say("answers.shortened", used_bytes=used_bytes, **limits))
    lines += caller_notes
    if (scope := scope_of(record.topic)) and "topic" not in outcome.suspicious_fields:
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


def log_notes(log: MemoryLog, frame: Frame) -> list[str]:
    """Say whether a compaction is due, and which flaws the file has.

    A threshold of this call alone is named, lest the next answer contradict it.
    """
    threshold, default = frame.settings.threshold, frame.usual_threshold or frame.settings.threshold
    if need_of(log.records, log.count, min(threshold, default)) != "required":
        return flaw_notes(log)
    key = "compact_required"
    if threshold != default:
        key = "compact_required_here" if log.count > threshold else "compact_later_here"
    facts: Facts = {"count": log.count, "threshold": threshold, "default": default}
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
    """Name hidden records, unsettled versions, conflicts, unreadable lines or files."""
    lines = []
    if log.hidden_pairs:
        hiders = {hider.version_id: hider for _, hider in log.hidden_pairs}.values()
        pairs = ((topic_text(hider.id[:8]), topic_text(hider.topic)) for hider in hiders)
        names = ", ".join(f"{name} [{topic}]" for name, topic in [*pairs][:HIDERS_SHOWN])
        lines.append(say("answers.hidden", count=len(log.hidden_pairs), by=names))
    if log.rivals:
        topics = dict.fromkeys(topic_text(versions[0].topic) for versions in log.rivals)
        names = ", ".join([*topics][:HIDERS_SHOWN])
        lines.append(say("answers.unsettled", count=len(log.rivals), topics=names))
    obstacle = obstacle_in(b"".join(log.lines[:2])) if log.unreadable_count else ""
    if obstacle:
        lines.append(say(f"errors.{obstacle}", path=f"{CONTEXT_DIRECTORY}/{LOG_NAME}"))
    elif log.unreadable_count:
        lines.append(say("answers.skipped", skipped=log.unreadable_count))
    if log.conflict_count:
        lines.append(say("answers.conflict", conflicts=log.conflict_count))
    return lines


class Listing(NamedTuple):
    """A list in one line."""

    text: str
    left_out_count: int  # how many texts had no room


def listing_of(
    texts: Iterable[str], count: int, most_tokens: float, *, more: str = "and_more", sep: str = ", "
) -> Listing:
    """List as many texts as fit into `most_tokens` (estimated), at least one: `a, b, +3 more`.

    count: of all texts. more: sentence for a cut list.
    """
    fitting_texts: list[str] = []
    for text in texts:
        most_tokens -= estimate_tokens(text) + 1
        if most_tokens < 0 and fitting_texts:
            break
        fitting_texts.append(text)
    line, left_out = sep.join(fitting_texts), count - len(fitting_texts)
    if left_out > 0:
        line = say(f"answers.{more}", listed=line, more=left_out)
    return Listing(line, left_out)


def topic_listing(
    counts: Sequence[tuple[str, int]], budget_tokens: float = inf, *, at_most: int = TOPICS_SHOWN
) -> Listing:
    """List topics as `payment (2), auth (1)`, within a share of the whole answer's budget."""
    most_tokens = LIST_SHARE * budget_tokens
    return _list_counts(tuple(counts[:at_most]), len(counts), most_tokens, language())


@lru_cache(maxsize=8)  # most calls list the topics that the call before has listed
def _list_counts(
    counts: tuple[tuple[str, int], ...], topic_count: int, most_tokens: float, _: Language
) -> Listing:
    texts = [
        say("answers.topic_reads_like", topic=topic_text(topic), count=count)
        if order_marks((), (topic,))
        else f"{topic_text(topic)} ({count})"
        for topic, count in counts
    ]
    return listing_of(texts, topic_count, most_tokens)


def removal_notes(outcome: "Outcome", frame: Frame) -> list[str]:
    """Say which version ids removed nothing, and which hidden records went."""
    ids_by_key = (
        ("token_changed", outcome.changed_ids),
        ("token_gone", outcome.gone_ids),
        ("token_absent", outcome.absent_ids),
    )
    lists = [(key, joined_ids(ids, frame)) for key, ids in ids_by_key if ids]
    lines = [say(f"answers.{key}", tokens=names) for key, names in lists]
    if outcome.is_written and outcome.before.hidden_pairs:
        ids = [record.version_id for record, _ in outcome.before.hidden_pairs]
        lines.append(say("answers.hidden_went", count=len(ids), tokens=joined_ids(ids, frame)))
    return lines


def joined_ids(version_ids: Sequence[str], frame: Frame) -> str:
    from core.sanitizer import redact  # as above

    names = (name[:MOST_NAME_CHARS] for name in version_ids[:VERSION_IDS_SHOWN])
    texts = (one_line(redact(name).text)[:80] for name in names)
    return listing_of(texts, len(version_ids), LIST_SHARE * frame.settings.budget_tokens).text
