"""Lays out records as an answer does, for a question and a budget."""

from collections.abc import Sequence

from core.lessons.answers import ranking_of
from core.lessons.record import Record
from core.lessons.record_text import blocks_by_topic, fit_all, fit_best, fit_records
from core.text.plain import Budget


def lines_within(records: Sequence[Record], query: str, budget: Budget) -> list[str]:
    """The lines of an answer with these records."""
    texts = fit_all(records, budget)
    return fit_best(by_relevance(query, records), budget) if texts is None else texts


def by_relevance(query: str, records: Sequence[Record]) -> list[Record]:
    """All records, the most relevant to a question first."""
    return [records[at] for at in ranking_of(query, records).order()]


def whole_records(records: Sequence[Record], query: str, budget: Budget) -> str:
    """Those records that fit whole, at least one."""
    fitting, _ = fit_records(by_relevance(query, records), budget, at_least_one=True)
    return "\n".join(block.text for block in blocks_by_topic(fitting))
