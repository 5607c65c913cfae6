"""Lays out records as an answer does, for a question and a budget."""

from collections.abc import Sequence

from core.lessons.record import Record
from core.lessons.selection import blocks_by_topic, by_relevance, records_within, that_fit
from core.text.plain import Budget


def lines_within(records: Sequence[Record], query: str, budget: Budget) -> list[str]:
    """The lines of an answer with these records."""
    return records_within(records, budget, lambda: by_relevance(query, records))


def whole_records(records: Sequence[Record], query: str, budget: Budget) -> str:
    """Those records that fit whole, at least one."""
    fitting, _ = that_fit(by_relevance(query, records), budget, at_least=1)
    return "\n".join(text for text, _ in blocks_by_topic(fitting))
