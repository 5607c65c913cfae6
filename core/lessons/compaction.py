"""What compact_memory answers: topics to sum up, similar topics, or the records that it deleted.

Pure: the same log gives the same offer. The model that reads it decides and summarises.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from core.errors import RefusedError
from core.lessons.answers import (
    LIST_SHARE,
    Frame,
    flaw_notes,
    left_tokens,
    listed,
    listed_tokens,
    listed_topics,
    no_topic,
)
from core.lessons.changes import Outcome, select
from core.lessons.log import MemoryLog
from core.lessons.record import LIMITS_BYTES, Record, normalise_topic
from core.lessons.record_text import (
    could_hold,
    headed_block,
    may_fit,
    record_block,
    shortened,
    token_text,
    topic_text,
)
from core.lessons.similar_topics import (
    TOPICS_COMPARED,
    SimilarTopics,
    similar_topics,
    topic_to_keep,
)
from core.messages import Facts, say
from core.text.plain import Budget, estimate_tokens, one_line

Need = Literal["required", "optional", "pointless"]

PAIRS_SHOWN = 20
DELETION_SHARE = 0.5  # of the budget of an answer, for records that it repeats in full
LEAST_CHARS = 200  # of a record that is begun

_SENTENCE_ENDS = re.compile(r"[?!.](?=\s|$)|[？！。]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The records of one topic, in the order of the file.

    questions: their `ask_next_time` joined, whole ones only, within the limit of that field.
    questions_left_out: how many do not fit.
    """

    topic: str
    records: tuple[Record, ...]
    questions: str
    questions_left_out: int

    @property
    def already_compact(self) -> bool:
        """One principle and nothing else: there is nothing to merge."""
        return len(self.records) == 1 and self.records[0].type == "principle"


def compaction_answer(
    log: MemoryLog, frame: Frame, *, target_topics: Collection[str] | None = None
) -> str:
    """Show groups with version ids, whole topics, the largest first, and what to do with them."""
    groups = group_by_topic(log.records)
    wanted = None if target_topics is None else {normalise_topic(name) for name in target_topics}
    chosen = [group for group in groups if wanted is None or group.topic in wanted]
    facts: Facts = {"count": log.count, "project": one_line(frame.project)}
    if not log.records:
        return "\n".join([say("answers.compact_empty", **facts), *flaw_notes(log)])
    need = need_for(chosen or groups, log.count, frame.threshold)
    threshold = str(frame.threshold)
    if frame.has_other_threshold:
        limits: Facts = {"threshold": frame.threshold, "default": frame.settings.threshold}
        threshold = say("answers.threshold_here", **limits)
    lines = [say(f"answers.compact_head_{need}", threshold=threshold, **facts), *flaw_notes(log)]
    if not chosen:
        missed = next(iter(wanted or [""]))
        return "\n".join([*lines, no_topic(missed, log, frame)])
    if need != "pointless":
        lines.append(say("answers.compact_steps"))
        if frame.is_uncommitted():
            lines.append(say("answers.uncommitted_before"))
        if frame.has_other_threshold:
            lines.append(say("answers.compact_threshold_kept", threshold=frame.threshold))
    compared = sorted(groups, key=lambda group: -len(group.records))
    if wanted is None:  # every pair is looked at: bounded, so that no log makes a call hang
        compared = compared[:TOPICS_COMPARED]
    if pairs := similar_topics([group.topic for group in compared], among=wanted):
        lines.append(_similar_line(pairs, frame))
    budget = frame.budget
    budget.spend("\n".join(lines))
    return "\n".join(lines + _groups_within(chosen, budget, frame))


def _groups_within(groups: Sequence[Group], budget: Budget, frame: Frame) -> list[str]:
    """Return whole groups, the largest first; one that is too large alone is begun.

    Groups that are already compact come last: there is nothing to do in them.
    """
    budget_tokens = frame.settings.budget_tokens
    largest_first = sorted(groups, key=lambda group: (group.already_compact, -len(group.records)))
    if could_hold(budget, (record for group in groups for record in group.records)):
        texts = ["\n".join(_group_lines(group)) for group in largest_first]
        if budget.take_all((text, estimate_tokens(text)) for text in texts):
            return texts
    budget.spend(say("answers.compact_rest", topics=""))
    budget.tokens -= LIST_SHARE * budget_tokens
    lines: list[str] = []
    rest: list[Group] = []
    for group in largest_first:
        may_fit_whole = could_hold(budget, group.records)
        if may_fit_whole and budget.take(text := "\n".join(_group_lines(group))):
            lines.append(text)
        elif group is largest_first[0]:  # else what must shrink could never be compacted
            lines += _group_begun(group, budget)
        else:
            rest.append(group)
    if rest:
        counts = [(group.topic, len(group.records)) for group in rest]
        listing = listed_topics(counts, budget_tokens, at_most=8)
        lines.append(say("answers.compact_rest", topics=listing.text))
    return lines


def _group_lines(group: Group) -> list[str]:
    key = "group_compact" if group.already_compact else "group"
    lines = [say(f"answers.{key}", topic=topic_text(group.topic), count=len(group.records))]
    ask = bool(group.questions_left_out)  # else the joined line says them all
    for record in group.records:
        lines.append(record_block(record, token=token_text(record), ask=ask))
    if group.questions and not group.already_compact:
        joined: Facts = {
            "questions": one_line(group.questions),
            "left_out": group.questions_left_out,
        }
        lines.append(say("answers.joined_partly" if ask else "answers.joined", **joined))
    elif group.questions and not ask:
        lines.append(f"ask: {one_line(group.questions)}")
    return lines


def _group_begun(group: Group, budget: Budget) -> list[str]:
    facts: Facts = {"topic": topic_text(group.topic), "count": len(group.records)}
    budget.spend(say("answers.compact_too_large", shown=10**6, **facts))
    blocks: list[str] = []
    for record in group.records:
        if budget.is_spent and blocks:
            break
        bare = "".join("".join(record.texts[1:3]).split())
        if blocks and (len(bare) > budget.chars or estimate_tokens(bare) > budget.tokens):
            continue  # there may be thousands that cannot fit
        laid_out = partial(record_block, token=token_text(record))
        if may_fit(record, budget) and budget.take(block := laid_out(record)):
            blocks.append(block)
        elif not blocks:  # at least one, or the topic could never shrink
            blocks.append(_begun(laid_out, record, budget))
            budget.spend(blocks[0])
    return [say("answers.compact_too_large", shown=len(blocks), **facts), *blocks]


def _similar_line(pairs: Sequence[SimilarTopics], frame: Frame) -> str:
    """Name pairs of topics, why they are alike, and the one to keep where that is clear."""

    def pair_text(pair: SimilarTopics) -> str:
        why = say(f"answers.reason_{pair.reason}", shared=topic_text(pair.shared))
        if kept := topic_to_keep(pair):
            why += f"; {say('answers.keep_topic', topic=topic_text(kept))}"
        return f"{topic_text(pair.topic)} ~ {topic_text(pair.other)} ({why})"

    texts = map(pair_text, pairs[:PAIRS_SHOWN])
    most_tokens = LIST_SHARE * frame.settings.budget_tokens
    listing = listed(texts, len(pairs), most_tokens, more="compact_similar_more", sep="; ")
    return say("answers.compact_similar", pairs=listing.text)


def deletion_that_fits(
    log: MemoryLog, tokens: Sequence[str], frame: Frame
) -> tuple[list[str], list[str]]:
    """Return the version ids to delete now, and those for a later call.

    What is deleted is repeated in full, so no more may go than one answer can hold.
    """
    named = {record.id: record for record in select(log, tokens).removed}
    budget = frame.budget.split_off(DELETION_SHARE)
    now: list[str] = []
    put_off: list[str] = []
    for token in tokens:
        record = named.pop(token.partition("@")[0], None)
        fits = record is None or (
            may_fit(record, budget) and budget.take(headed_block(record, token=token_text(record)))
        )
        (now if fits or not now else put_off).append(token)
    return now, put_off


def deletion_answer(outcome: Outcome, frame: Frame, put_off: Sequence[str] = ()) -> str:
    """Show the deleted records in full, and say what became of the other version ids.

    put_off: tokens for a later call.
    """
    count = len(outcome.removed)
    facts: Facts = {"left": outcome.log.count, "project": one_line(frame.project)}
    lines = [say("answers.deleted" if count else "answers.deleted_none", count=count, **facts)]
    for record in outcome.removed:
        budget = frame.budget.split_off(DELETION_SHARE)
        laid_out = partial(headed_block, token=token_text(record))
        fits = may_fit(record, budget) and budget.take(laid_out(record))
        lines.append(laid_out(record) if fits else _begun(laid_out, record, budget))
    if count and frame.is_uncommitted():
        lines.append(say("answers.uncommitted"))
    if put_off:
        lines.append(say("answers.put_off", tokens=listed_tokens(put_off, frame)))
    return "\n".join(lines + left_tokens(outcome, frame))


def _begun(laid_out: Callable[[Record], str], record: Record, budget: Budget) -> str:
    """Return a record that is larger than its budget: its beginning, and that it goes on."""
    chars, block = max(budget.chars, LEAST_CHARS), ""
    while chars >= LEAST_CHARS and not block:
        chars //= 2
        text = f"{laid_out(shortened(record, chars))}\n{say('answers.record_cut')}"
        if Budget(budget.tokens, budget.chars).take(text) or chars < LEAST_CHARS:
            block = text
    return block


def check_threshold(threshold: int) -> None:
    """Raise RefusedError unless the threshold is 1 or more."""
    if threshold < 1:
        raise RefusedError("threshold")


def need_for(groups: Sequence[Group], count: int, threshold: int) -> Need:
    """Return the need: pointless if no group has things to merge, required above the threshold."""
    if all(group.already_compact for group in groups):
        return "pointless"
    return "required" if count > threshold else "optional"


def group_by_topic(records: Iterable[Record]) -> list[Group]:
    """Return one group for each topic, in the order in which the topics first appear."""
    by_topic: dict[str, list[Record]] = {}
    for record in records:
        by_topic.setdefault(record.topic, []).append(record)
    groups = []
    for topic, members in by_topic.items():
        questions, left_out = join_questions([member.ask_next_time for member in members])
        groups.append(
            Group(
                topic=topic,
                records=tuple(members),
                questions=questions,
                questions_left_out=left_out,
            )
        )
    return groups


def join_questions(questions: Iterable[str]) -> tuple[str, int]:
    """Join the different questions by spaces, whole ones only; return also how many did not fit."""
    joined, left_out = "", 0
    for question in dict.fromkeys(" ".join(text.split()) for text in questions):
        longer = f"{joined} {question}".strip()
        if len(longer.encode("utf-8", "replace")) <= LIMITS_BYTES["ask_next_time"]:
            joined = longer
        else:
            left_out += 1
    return joined, left_out


def shorten_question(text: str, limit_bytes: int = LIMITS_BYTES["ask_next_time"]) -> str:
    """Return a text's beginning within the limit: up to a question's end, else whole characters.

    A question that ends in the first half does not count, since too much would be lost.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= limit_bytes:
        return text
    fitting = encoded[:limit_bytes].decode("utf-8", "ignore")
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(text, 0, len(fitting) + 1)]
    last = max((end for end in ends if end <= len(fitting)), default=0)
    return fitting[:last] if 2 * last >= len(fitting) else fitting


def fit_question(question: str) -> tuple[str, int]:
    """Return a principle's question within the limit, and its bytes before (0: not shortened).

    The store refuses a longer question of a log.
    """
    used_bytes = len(question.encode("utf-8", "surrogatepass"))
    if used_bytes <= LIMITS_BYTES["ask_next_time"]:
        return question, 0
    return shorten_question(question), used_bytes
