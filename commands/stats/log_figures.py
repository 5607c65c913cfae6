"""Figures that the page and the statistics share: what came back, what is asked, what is due.

Pure: records in, figures out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.lessons.answers import Need, need_of
from core.lessons.record import Record, seconds_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Whether a compaction is due, what the principles replaced, and when the last one was."""

    need: Need
    principles: int
    replaced: int
    last: str


def compaction(records: Sequence[Record], threshold: int) -> Compaction:
    """Return the state of compaction, as the server tells it to a model."""
    principles = [record for record in records if record.type == "principle"]
    merged = [record for record in principles if record.source_count]  # an import has none
    return Compaction(
        need=need_of(records, len(records), threshold),
        principles=len(principles),
        replaced=sum(record.source_count or 0 for record in merged),
        last=max((it.compacted_at for it in merged), key=seconds_of, default=""),
    )


def came_back(records: Iterable[Record]) -> list[Record]:
    """Return the records whose gap was logged again, most often first, then the last one."""
    again = [record for record in records if record.seen > 1]
    return sorted(again, key=lambda it: (it.seen, last_s(it)), reverse=True)


def open_questions(records: Iterable[Record]) -> list[Record]:
    """Return the records with a question for next time, the newest first."""
    asking = [record for record in records if record.ask_next_time.strip()]
    return sorted(asking, key=last_s, reverse=True)


def last_s(record: Record) -> float:
    """Return when the gap of a record was last logged, in seconds since 1970."""
    return seconds_of(record.updated or record.created)
