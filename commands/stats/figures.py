"""Counts all figures of the statistics into one value."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commands.hook.journal import Session
from commands.stats.hook_use import Showings, count_showings
from core.lessons.answers import Frame
from core.lessons.counts import (
    Compaction,
    Growth,
    SearchCost,
    TopicCount,
    by_topic,
    came_back,
    compaction,
    growth,
    open_questions,
    search_cost,
)
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.sanitizer import redact

MOST_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """All figures of one memory. size: the bytes of the file."""

    frame: Frame
    log: MemoryLog
    size: int
    topics: Sequence[TopicCount]
    growth: Growth
    search: SearchCost
    came_back: Sequence[Record]
    questions: Sequence[Record]
    compaction: Compaction
    showings: Showings


def count(
    log: MemoryLog,
    size: int,
    sessions: Iterable[Session],
    frame: Frame,
    *,
    now_s: float,
) -> Stats:
    """Count what a log and the sessions hold. size: its bytes. now_s: seconds since 1970."""
    records = log.records
    return Stats(
        frame=frame,
        log=log,
        size=size,
        topics=by_topic(records),
        growth=growth(records, now_s=now_s),
        search=search_cost(log, frame),
        came_back=came_back(records),
        questions=open_questions(records),
        compaction=compaction(records, frame.threshold),
        showings=count_showings(records, sessions, now_s=now_s),
    )


@lru_cache(maxsize=1_024)  # the same texts stand in many sections
def safe(text: str) -> str:
    """Return the beginning of a text, redacted: topics and questions are stored as they came."""
    return redact(text[:MOST_CHARS]).text
