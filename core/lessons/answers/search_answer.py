"""What search_memory answers: the records, or what to ask where there are none."""

from collections.abc import Sequence

from core.lessons.answers.fitting import (
    Relevance,
    records_that_fit,
    records_within,
    topics_by_relevance,
)
from core.lessons.answers.frame import Frame
from core.lessons.answers.notes import counted, is_shortened, notes, topic_line
from core.lessons.answers.rendering import topic_text
from core.lessons.compaction import similar_to
from core.lessons.log import MemoryLog
from core.lessons.record import Record, normalise_topic
from core.messages import Facts, say
from core.text.budget import Budget
from core.text.printable import one_line
from core.text.wording import scope_of

NEAREST_JUDGED = 100


def search_answer(log: MemoryLog, frame: Frame, *, query: str, topic: str = "") -> str:
    """Show all records, or those of one topic; above the budget the most relevant and an index."""
    everything = log.records
    wanted = normalise_topic(topic)
    records = [it for it in everything if it.topic == wanted] if wanted else everything
    facts: Facts = {"count": len(everything), "project": one_line(frame.project)}
    if wanted and records:
        head = say("answers.head_topic", topic=topic_text(wanted), shown=len(records), **facts)
    else:
        head = say("answers.head_all", **facts)
    lines = [head, *notes(log, frame)]
    if not records:
        missed = no_topic(wanted, log, frame, query) if everything else say("answers.nothing_found")
        return "\n".join([*lines, missed, say("answers.questions")])
    relevance = Relevance(query, records)
    lines.append(_topics(log, frame, relevance if query.strip() and not wanted else None))
    budget = frame.budget
    budget.spend("\n".join(lines))
    return "\n".join(lines + records_within(records, query, budget, relevance=relevance))


def lessons_in_prompt(
    records: Sequence[Record], frame: Frame, query: str, budget: Budget
) -> list[str]:
    """Return the records that fit, the most relevant first, below a line on what they are."""
    heading = say("answers.prompt_injection", project=one_line(frame.project))
    budget.spend(heading)
    shown = records_that_fit(records, query, budget)
    missed = "prompt_nothing_fits" if records else "nothing_found"
    return [heading, shown or say(f"answers.{missed}", count=len(records))]


def _topics(log: MemoryLog, frame: Frame, relevance: Relevance | None) -> str:
    """Return the topics that exist, those with the most records first; where not all are shown,
    those that a question is about."""
    counts, budget_tokens = log.topics.most_common(), frame.settings.budget_tokens
    if relevance and is_shortened(counts, budget_tokens):
        counts = [(name, log.topics[name]) for name in relevance.topics()]
    return topic_line(counts, budget_tokens)


def no_topic(topic: str, log: MemoryLog, frame: Frame, query: str = "") -> str:
    """List all topics with counts: those like the missing one, those about it, then those that
    should not be used."""
    topics = log.topics
    alike = similar_to(topic, list(topics))
    about = topics_by_relevance(f"{topic} {query}", log.records)
    closest = list(dict.fromkeys([*alike, *about]))
    closest[:NEAREST_JUDGED] = sorted(
        closest[:NEAREST_JUDGED], key=lambda name: bool(scope_of(name))
    )
    nearest = [(name, topics[name]) for name in closest]
    listed = counted(nearest, budget_tokens=frame.settings.budget_tokens)
    return say("answers.no_topic", topic=topic_text(topic), topics=listed)
