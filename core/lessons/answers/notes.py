"""Lines that stand beside the records in an answer: topics, what is due, what is damaged."""

from collections.abc import Iterable, Sequence
from math import inf

from core.injection.marks import orders_in
from core.lessons.answers.frame import Frame
from core.lessons.answers.rendering import topic_text
from core.lessons.log import MemoryLog
from core.messages import Facts, say
from core.text.tokens import estimate_tokens

TOPICS_SHOWN = 40
HIDERS_SHOWN = 3
LIST_SHARE = 0.125  # of the tokens of an answer, for a list that could be long


def notes(log: MemoryLog, frame: Frame) -> list[str]:
    """Say whether a compaction is due, and what is wrong with the file."""
    return _due(log, frame) + flaw_notes(log)


def _due(log: MemoryLog, frame: Frame) -> list[str]:
    """Say that a compaction is required; a threshold of this call alone is named as such.

    The next answer goes by the default again: neither may seem to contradict the other.
    """
    default = frame.settings.threshold
    if log.count <= min(frame.threshold, default):
        return []
    from core.lessons.compaction import is_required  # much, for nothing, where a hook starts

    if not is_required(log.records, min(frame.threshold, default)):
        return []
    facts: Facts = {"count": log.count, "threshold": frame.threshold, "default": default}
    if not frame.has_other_threshold:
        return [say("answers.compact_required", **facts)]
    is_above = log.count > frame.threshold
    return [
        say("answers.compact_required_here" if is_above else "answers.compact_later_here", **facts)
    ]


def threshold_text(frame: Frame) -> str:
    """Return the threshold of a call, with the default where that is another one."""
    if not frame.has_other_threshold:
        return str(frame.threshold)
    facts: Facts = {"threshold": frame.threshold, "default": frame.settings.threshold}
    return say("answers.threshold_here", **facts)


def flaw_notes(log: MemoryLog) -> list[str]:
    """Say what a merge or a hand left: hidden records, versions, conflicts, unreadable lines."""
    found = []
    if log.hidden:
        hiders = {hider.token: hider for _, hider in log.hidden}
        named = [*hiders.values()][:HIDERS_SHOWN]
        listed = ", ".join(f"{topic_text(it.id[:8])} [{topic_text(it.topic)}]" for it in named)
        found.append(say("answers.hidden", count=len(log.hidden), by=listed))
    if log.unsettled:
        topics = dict.fromkeys(topic_text(versions[0].topic) for versions in log.unsettled)
        listed = ", ".join([*topics][:HIDERS_SHOWN])
        found.append(say("answers.unsettled", count=len(log.unsettled), topics=listed))
    if log.skipped:
        found.append(say("answers.skipped", skipped=log.skipped))
    if log.conflicts:
        found.append(say("answers.conflict", conflicts=log.conflicts))
    return found


def topic_line(
    counts: Sequence[tuple[str, int]],
    budget_tokens: float,
    *,
    at_most: int = TOPICS_SHOWN,
) -> str:
    """List the topics with the number of their records; a small answer lists fewer.

    budget_tokens: estimated tokens of the whole answer.
    """
    listed = counted(counts, at_most=at_most, budget_tokens=budget_tokens)
    return say("answers.topics", topics=listed)


def counted(
    counts: Sequence[tuple[str, int]],
    *,
    at_most: int = TOPICS_SHOWN,
    budget_tokens: float = inf,
) -> str:
    """List topics with their counts in one line: at most `at_most` of them, at least one."""
    shown = _that_fit(counts, at_most, budget_tokens)
    listed, more = ", ".join(shown), len(counts) - len(shown)
    return say("answers.and_more", listed=listed, more=more) if more > 0 else listed


def is_shortened(counts: Sequence[tuple[str, int]], budget_tokens: float) -> bool:
    """Return whether a line of topics leaves some of these out."""
    return len(_that_fit(counts, TOPICS_SHOWN, budget_tokens)) < len(counts)


def _that_fit(counts: Sequence[tuple[str, int]], at_most: int, budget_tokens: float) -> list[str]:
    texts = (_with_count(topic, count) for topic, count in counts[:at_most])
    return beginning(texts, LIST_SHARE * budget_tokens)


def _with_count(topic: str, count: int) -> str:
    shown = topic_text(topic)
    if orders_in((), (topic,)):
        return say("answers.topic_reads_like", topic=shown, count=count)
    return f"{shown} ({count})"


def beginning(texts: Iterable[str], most_tokens: float) -> list[str]:
    """Return the first texts that fit into so many estimated tokens, at least one."""
    shown: list[str] = []
    for text in texts:
        most_tokens -= estimate_tokens(text) + 1
        if most_tokens < 0 and shown:
            break
        shown.append(text)
    return shown
