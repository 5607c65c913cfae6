"""All figures of the statistics in one value, and what of a text may be shown with them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from commands.hook.journal import Session
from commands.stats.hook_use import Showings, count_showings
from core.lessons.answers.counting import (
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
from core.lessons.answers.frame import Frame
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.sanitizer import redact

MOST_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """All that is told about one memory; size: the bytes of the file."""

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


def count(data: bytes, sessions: Iterable[Session], frame: Frame, *, now_s: float) -> Stats:
    """Count what is in the bytes of a log, and what hooks noted; now_s: seconds since 1970."""
    log = MemoryLog.parse(data)
    records = log.records
    return Stats(
        frame=frame,
        log=log,
        size=len(data),
        topics=by_topic(records),
        growth=growth(records, now_s=now_s),
        search=search_cost(log, frame),
        came_back=came_back(records),
        questions=open_questions(records),
        compaction=compaction(records, frame.threshold),
        showings=count_showings(records, sessions, now_s=now_s),
    )


@lru_cache(maxsize=1_024)  # the same topics and records are told in many places
def safe(text: str) -> str:
    """The beginning of a text, redacted: a topic and a question are saved as they came."""
    return redact(text[:MOST_CHARS]).text
