"""Answers of compact_memory: topics to sum up, similar topics, or the deleted records.

Pure. The model that reads them decides and summarises.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from core.lessons import answers, record_text
from core.lessons.answers import LIST_SHARE, Frame, flaw_notes, listing_of, need_of
from core.lessons.changes import Outcome, select_records
from core.lessons.log import MemoryLog
from core.lessons.record import LIMITS_BYTES, Record, normalise_topic
from core.lessons.record_text import Block, may_fit, record_block, topic_text, version_id_text
from core.messages import Facts, say
from core.text.plain import Budget, one_line
from core.text.wording import TOPICS_COMPARED, similar_topics, topic_to_keep

PAIRS_SHOWN = 20
DELETION_SHARE = 0.5  # of the budget of an answer, for records that it repeats in full
LEAST_CHARS = 200  # of a record that is begun

_QUESTION_BYTES = LIMITS_BYTES["ask_next_time"]
_SENTENCE_ENDS = re.compile(r"[?!.](?=\s|$)|[？！。]")


def compaction_answer(
    log: MemoryLog, frame: Frame, *, target_topics: Collection[str] | None = None
) -> str:
    """Show whole topics with version ids, the largest first, and how to compact them."""
    facts: Facts = {"count": log.count, "project": one_line(frame.project)}
    if not log.records:
        return "\n".join([say("answers.compact_empty", **facts), *flaw_notes(log)])
    topics = record_text.group_by_topic(log.records)
    names = None if target_topics is None else [normalise_topic(name) for name in target_topics]
    chosen_topics = {name: topics[name] for name in topics if names is None or name in names}
    records = [record for members in (chosen_topics or topics).values() for record in members]
    threshold, usual_threshold = frame.settings.threshold, frame.usual_threshold
    need, limit = need_of(records, log.count, threshold), str(threshold)
    if usual_threshold:
        limit = say("answers.threshold_here", threshold=threshold, default=usual_threshold)
    lines = [say(f"answers.compact_head_{need}", threshold=limit, **facts), *flaw_notes(log)]
    if not chosen_topics:
        return "\n".join([*lines, answers.list_topics(names[0] if names else "", log, frame)])
    if need != "pointless" and not frame.is_second_part:
        lines.append(say("answers.compact_steps"))
        if frame.is_uncommitted():
            lines.append(say("answers.uncommitted_before"))
        if usual_threshold:
            lines.append(say("answers.compact_threshold_kept", threshold=threshold))
    compared_topics = sorted(topics, key=lambda name: -len(topics[name]))
    if names is None:  # every pair is looked at: bounded, so that no log makes a call hang
        compared_topics = compared_topics[:TOPICS_COMPARED]
    if pairs := similar_topics(compared_topics, among=names):
        texts = list[str]()
        for pair in pairs[:PAIRS_SHOWN]:
            reason = say(f"answers.reason_{pair.reason}", shared=topic_text(pair.shared))
            if kept_topic := topic_to_keep(pair):
                reason += f"; {say('answers.keep_topic', topic=topic_text(kept_topic))}"
            texts.append(f"{topic_text(pair.topic)} ~ {topic_text(pair.other)} ({reason})")
        most_tokens = LIST_SHARE * frame.settings.budget_tokens
        listing = listing_of(texts, len(pairs), most_tokens, more="compact_similar_more", sep="; ")
        lines.append(say("answers.compact_similar", pairs=listing.text))
    budget = frame.budget
    budget.spend("\n".join(lines))
    return "\n".join(lines + _fit_topics(chosen_topics, budget, frame))


def _fit_topics(topics: Mapping[str, Sequence[Record]], budget: Budget, frame: Frame) -> list[str]:
    """Return whole topics, the largest first, compact ones last; the first is at least begun."""

    def layout(record: Record) -> Block | None:
        if not may_fit([record], budget):
            return None
        return Block.from_text(record_block(record, version_id=version_id_text(record)))

    names = sorted(topics, key=lambda name: (_is_compact(topics[name]), -len(topics[name])))
    if may_fit((record for members in topics.values() for record in members), budget):
        texts = [_whole_topic(name, topics[name]) for name in names]
        if all(map(replace(budget).take, texts)):
            return texts
    budget.spend(say("answers.compact_rest", topics=""))
    budget.tokens -= LIST_SHARE * frame.settings.budget_tokens
    lines, rest_counts = list[str](), list[tuple[str, int]]()
    for name in names:
        records = topics[name]
        if may_fit(records, budget) and budget.take(text := _whole_topic(name, records)):
            lines.append(text)
        elif name == names[0]:  # else a topic that must shrink could never be compacted
            facts: Facts = {"topic": topic_text(name), "count": len(records)}
            budget.spend(say("answers.compact_too_large", shown=10**6, **facts))
            texts = [_fit_beginning(records[0], budget, record_block)]
            other_blocks = record_text.fit_blocks(records[1:], budget, layout)
            texts += [block.text for _, block in other_blocks]
            lines += [say("answers.compact_too_large", shown=len(texts), **facts), *texts]
        else:
            rest_counts.append((name, len(records)))
    if rest_counts:
        listing = answers.topic_listing(rest_counts, frame.settings.budget_tokens, at_most=8)
        lines.append(say("answers.compact_rest", topics=listing.text))
    return lines


def _is_compact(records: Sequence[Record]) -> bool:
    return len(records) == 1 and records[0].type == "principle"


def _whole_topic(topic: str, records: Sequence[Record]) -> str:
    is_compact = _is_compact(records)
    questions, left_out = join_questions(record.ask_next_time for record in records)
    key = "group_compact" if is_compact else "group"
    lines = [say(f"answers.{key}", topic=topic_text(topic), count=len(records))]
    ask = left_out > 0  # else one line says them all
    for record in records:
        lines.append(record_block(record, version_id=version_id_text(record), ask=ask))
    if questions and not is_compact:
        joined = "joined_partly" if left_out else "joined"
        lines.append(say(f"answers.{joined}", questions=one_line(questions), left_out=left_out))
    elif questions and not ask:
        lines.append(f"ask: {one_line(questions)}")
    return "\n".join(lines)


def _fit_beginning(record: Record, budget: Budget, layout: Callable[..., str]) -> str:
    """Return a record with its version id, cut with a note if too large."""
    version_id, chars = version_id_text(record), max(budget.chars, LEAST_CHARS)
    if may_fit([record], budget) and budget.take(block := layout(record, version_id=version_id)):
        return block
    while chars >= LEAST_CHARS:
        chars //= 2
        beginning = layout(record_text.shorten_record(record, chars), version_id=version_id)
        block = f"{beginning}\n{say('answers.record_cut')}"
        if budget.take(block):
            return block
    budget.spend(block)
    return block


def fit_deletion(
    log: MemoryLog, version_ids: Sequence[str], frame: Frame
) -> tuple[list[str], list[str]]:
    """Return the version ids whose records fit one answer in full, and those for a later call."""
    records = {record.id: record for record in select_records(log, version_ids).removed_records}
    budget = frame.budget.split_off(DELETION_SHARE)
    now_ids, later_ids = list[str](), list[str]()
    for version_id in version_ids:
        record = records.pop(version_id.rpartition("@")[0] or version_id, None)
        fits = record is None or (
            may_fit([record], budget)
            and budget.take(record_text.headed_block(record, version_id=version_id_text(record)))
        )
        (now_ids if fits or not now_ids else later_ids).append(version_id)
    return now_ids, later_ids


def deletion_answer(outcome: Outcome, frame: Frame, put_off: Sequence[str] = ()) -> str:
    """Show the deleted records in full, and say what became of the other version ids."""
    count = len(outcome.removed_records)
    facts: Facts = {"left": outcome.log.count, "project": one_line(frame.project)}
    lines = [say("answers.deleted" if count else "answers.deleted_none", count=count, **facts)]
    for record in outcome.removed_records:
        share = frame.budget.split_off(DELETION_SHARE)
        lines.append(_fit_beginning(record, share, record_text.headed_block))
    if count and frame.is_uncommitted():
        lines.append(say("answers.uncommitted"))
    if put_off:
        lines.append(say("answers.put_off", tokens=answers.joined_ids(put_off, frame)))
    return "\n".join(lines + answers.removal_notes(outcome, frame))


def join_questions(questions: Iterable[str]) -> tuple[str, int]:
    """Join different questions while they fit into `ask_next_time`; also count the others."""
    joined_text, left_out = "", 0
    for question in dict.fromkeys(" ".join(text.split()) for text in questions):
        longer_text = f"{joined_text} {question}".strip()
        if len(longer_text.encode("utf-8", "replace")) <= _QUESTION_BYTES:
            joined_text = longer_text
        else:
            left_out += 1
    return joined_text, left_out


def fit_question(question: str) -> tuple[str, int]:
    """Return a principle's question within the limit, and its former bytes (0: not shortened).

    It is cut after a question's end in the second half of the limit, else at a whole character.
    """
    encoded = question.encode("utf-8", "surrogatepass")
    if len(encoded) <= _QUESTION_BYTES:
        return question, 0
    head = encoded[:_QUESTION_BYTES].decode("utf-8", "ignore")
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(question, 0, len(head) + 1)]
    last_end = max((end for end in ends if end <= len(head)), default=0)
    return head[:last_end] if 2 * last_end >= len(head) else head, len(encoded)
