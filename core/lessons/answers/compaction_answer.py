"""What compact_memory answers: records to merge by topic, or the records that it deleted."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from core.lessons.answers.fitting import could_hold, may_be_taken, may_fit, shortened
from core.lessons.answers.frame import Frame
from core.lessons.answers.notes import (
    LIST_SHARE,
    beginning,
    counted,
    flaw_notes,
    threshold_text,
)
from core.lessons.answers.rendering import headed_block, record_block, token_text, topic_text
from core.lessons.answers.saving_answer import listed_tokens, tokens_left, uncommitted_note
from core.lessons.answers.search_answer import no_topic
from core.lessons.changes import select
from core.lessons.compaction import (
    TOPICS_COMPARED,
    Group,
    SimilarTopics,
    group_by_topic,
    need_for,
    similar_topics,
    topic_to_keep,
)
from core.lessons.log import MemoryLog
from core.lessons.outcomes import Removal
from core.lessons.record import Record, normalise_topic
from core.messages import Facts, say
from core.text.budget import Budget
from core.text.printable import one_line

PAIRS_SHOWN = 20
DELETION_SHARE = 0.5
LEAST_CHARS = 200  # of a record that is begun


def deletion_that_fits(
    log: MemoryLog, tokens: Sequence[str], frame: Frame
) -> tuple[list[str], list[str]]:
    """Return the version ids to delete now, and those for a later call.

    What is deleted is repeated in full, so no more may go than one answer can hold.
    """
    named = {gone.id: gone for gone in select(log, tokens).removed}
    budget = frame.budget.split_off(DELETION_SHARE)
    now: list[str] = []
    put_off: list[str] = []
    for token in tokens:
        record = named.pop(token.partition("@")[0], None)
        may = record is None or may_fit(record, budget)
        fits = may and (record is None or budget.take(deleted_block(record)))
        fits = fits or not now
        (now if fits else put_off).append(token)
    return now, put_off


def deleted_block(record: Record) -> str:
    """Lay out a deleted record in full, under its topic."""
    return headed_block(record, token=token_text(record))


def _deleted_blocks(removed: Sequence[Record], frame: Frame) -> Iterator[str]:
    """Yield the deleted records in full; one that alone is larger than its budget is begun."""
    for record in removed:
        budget = frame.budget.split_off(DELETION_SHARE)
        laid_out = partial(headed_block, token=token_text(record))
        fits = may_fit(record, budget) and budget.take(laid_out(record))
        yield laid_out(record) if fits else _begun(laid_out, record, budget)


def deletion_answer(
    removal: Removal, log: MemoryLog, frame: Frame, put_off: Sequence[str] = ()
) -> str:
    """Show the deleted records in full, and say what became of the other version ids.

    removal, log: what a deletion did, and the log afterwards. put_off: tokens for a later call.
    """
    count = len(removal.removed)
    facts: Facts = {"left": log.count, "project": one_line(frame.project)}
    key = "deleted" if count else "deleted_none"
    lines = [say(f"answers.{key}", count=count, **facts)]
    lines += _deleted_blocks(removal.removed, frame)
    lines += uncommitted_note(frame) if count else []
    if put_off:
        lines.append(say("answers.put_off", tokens=listed_tokens(put_off, frame)))
    return "\n".join(lines + tokens_left(removal, frame))


def compaction_answer(
    log: MemoryLog, frame: Frame, *, target_topics: Collection[str] | None = None
) -> str:
    """Show groups with version ids, whole topics, the largest first, and what to do with them."""
    records = log.records
    groups = group_by_topic(records)
    wanted = None if target_topics is None else {normalise_topic(name) for name in target_topics}
    chosen = [group for group in groups if wanted is None or group.topic in wanted]
    facts: Facts = {"count": len(records), "project": one_line(frame.project)}
    if not records:
        lines = [say("answers.compact_empty", **facts), *flaw_notes(log)]
        return "\n".join(lines)
    need = need_for(chosen or groups, len(records), frame.threshold)
    head = say(f"answers.compact_head_{need}", threshold=threshold_text(frame), **facts)
    lines = [head, *flaw_notes(log)]
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
    pairs = similar_topics([group.topic for group in compared], among=wanted)
    if pairs:
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
        if budget.take_all(texts):
            return texts
    budget.spend(say("answers.compact_rest", topics=""))
    budget.tokens -= LIST_SHARE * budget_tokens
    lines: list[str] = []
    rest: list[Group] = []
    for group in largest_first:
        if could_hold(budget, group.records) and budget.take(
            text := "\n".join(_group_lines(group))
        ):
            lines.append(text)
        elif group is largest_first[0]:  # else what must shrink could never be compacted
            lines += _group_begun(group, budget)
        else:
            rest.append(group)
    if rest:
        names = [(group.topic, len(group.records)) for group in rest]
        listed = counted(names, at_most=8, budget_tokens=budget_tokens)
        lines.append(say("answers.compact_rest", topics=listed))
    return lines


def _group_lines(group: Group) -> list[str]:
    key = "group_compact" if group.already_compact else "group"
    lines = [say(f"answers.{key}", topic=topic_text(group.topic), count=len(group.records))]
    ask = bool(group.questions_left_out)  # else the joined line says them all
    for record in group.records:
        lines.append(record_block(record, token=token_text(record), ask=ask))
    if group.questions and not group.already_compact:
        facts: Facts = {
            "questions": one_line(group.questions),
            "left_out": group.questions_left_out,
        }
        lines.append(say("answers.joined_partly" if ask else "answers.joined", **facts))
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
        if blocks and not may_be_taken(record, budget):  # there may be thousands
            continue
        laid_out = partial(record_block, token=token_text(record))
        if may_fit(record, budget) and budget.take(block := laid_out(record)):
            blocks.append(block)
        elif not blocks:  # at least one, or the topic could never shrink
            blocks.append(_begun(laid_out, record, budget))
            budget.spend(blocks[0])
    return [say("answers.compact_too_large", shown=len(blocks), **facts), *blocks]


def _begun(laid_out: Callable[[Record], str], record: Record, budget: Budget) -> str:
    """Return a record that is larger than its budget: its beginning, and that it goes on."""
    chars, block = max(budget.chars, LEAST_CHARS), ""
    while chars >= LEAST_CHARS and not block:
        chars //= 2
        text = f"{laid_out(shortened(record, chars))}\n{say('answers.record_cut')}"
        if Budget(budget.tokens, budget.chars).take(text) or chars < LEAST_CHARS:
            block = text
    return block


def _similar_line(pairs: Sequence[SimilarTopics], frame: Frame) -> str:
    texts = (_pair_text(pair) for pair in pairs[:PAIRS_SHOWN])
    shown = beginning(texts, LIST_SHARE * frame.settings.budget_tokens)
    listed, more = "; ".join(shown), len(pairs) - len(shown)
    if more > 0:
        listed = say("answers.compact_similar_more", pairs=listed, more=more)
    return say("answers.compact_similar", pairs=listed)


def _pair_text(pair: SimilarTopics) -> str:
    """Name two topics, why they are alike, and the one to keep where that is clear."""
    why = say(f"answers.reason_{pair.reason}", shared=topic_text(pair.shared))
    kept = topic_to_keep(pair)
    keep = f"; {say('answers.keep_topic', topic=topic_text(kept))}" if kept else ""
    return f"{topic_text(pair.topic)} ~ {topic_text(pair.other)} ({why}{keep})"
