"""Lays out records as an answer does, for a question and a budget."""

from collections.abc import Sequence

from core.lessons.record import Record
from core.lessons.record_text import (
    all_within,
    best_within,
    blocks_by_topic,
    searched_texts,
    that_fit,
)
from core.text.plain import Budget
from core.text.ranking import Ranking


def lines_within(records: Sequence[Record], query: str, budget: Budget) -> list[str]:
    """The lines of an answer with these records."""
    blocks = all_within(records, budget)
    return best_within(by_relevance(query, records), budget) if blocks is None else blocks


def by_relevance(query: str, records: Sequence[Record]) -> list[Record]:
    """All records, the most relevant to a question first."""
    return [records[at] for at in Ranking(query, searched_texts(records)).order()]


def whole_records(records: Sequence[Record], query: str, budget: Budget) -> str:
    """Those records that fit whole, at least one."""
    fitting, _ = that_fit(by_relevance(query, records), budget, at_least=1)
    return "\n".join(text for text, _ in blocks_by_topic(fitting))
