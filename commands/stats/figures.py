"""Counts all figures of the statistics into one value."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from commands.hook.journal import Session
from commands.stats.hook_use import Showings, count_showings
from commands.stats.log_figures import Compaction, came_back, compaction, open_questions
from core.lessons.answers import Frame, search_answer
from core.lessons.log import MemoryLog
from core.lessons.record import Record, seconds_of
from core.lessons.record_text import by_topic
from core.sanitizer import redact
from core.text.plain import estimate_tokens

# Claude Code warns a user of a tool's answer from here on.
WARNED_TOKENS = 10_000
PERIODS = 12
DAY_S = 86_400
BOUNDLESS = 10**12
MOST_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCount:
    """The records of one topic, and the bytes of their lines."""

    topic: str
    logs: int
    principles: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A week or a month: the records made in it, and all there were at its end with their bytes.

    begins: its first day; None for everything before the periods that are told apart, and for
    records whose date cannot be read or lies ahead.
    """

    begins: date | None
    new: int
    total: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How the records that are there today came together, the earliest period first."""

    unit: Literal["week", "month"]
    periods: tuple[Period, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCost:
    """What a search without a topic puts before a model, in estimated tokens and characters.

    whole_tokens: what it would be if nothing were shortened or left out.
    """

    tokens: int
    chars: int
    whole_tokens: int
    shows_all: bool


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
        topics=_topics(records),
        growth=growth(records, now_s=now_s),
        search=_search_cost(log, frame),
        came_back=came_back(records),
        questions=open_questions(records),
        compaction=compaction(records, frame.settings.threshold),
        showings=count_showings(records, sessions, now_s=now_s),
    )


def _topics(records: Sequence[Record]) -> list[TopicCount]:
    """Return the topics, the one with the most records first."""
    counted = []
    for topic, members in by_topic(records).items():
        principles = sum(record.type == "principle" for record in members)
        logs, size = len(members) - principles, size_of(members)
        counted.append(TopicCount(topic=topic, logs=logs, principles=principles, size=size))
    return sorted(counted, key=lambda it: it.logs + it.principles, reverse=True)


def growth(records: Sequence[Record], *, now_s: float) -> Growth:
    """Count by week up to twelve weeks, else by month for the last twelve that grew.

    One period stands before them for all else: what is earlier, lies ahead or has no date.
    What a compaction replaced is not there any more, so that an old period may lose records.
    """
    moments = [seconds_of(record.created) for record in records]
    days = [day_of(moment_s) if moment_s <= now_s + DAY_S else None for moment_s in moments]
    known = sorted(day for day in days if day)
    is_young = bool(known) and _monday(known[-1]) - _monday(known[0]) < timedelta(weeks=PERIODS)
    begin = _monday if is_young else _first_of_month
    begins = _last_periods(begin(known[0]), begin(known[-1]), is_young=is_young) if known else []
    parts: dict[date | None, list[Record]] = {None: [], **{it: [] for it in begins}}
    for record, day in zip(records, days, strict=True):
        first = begin(day) if day else None
        parts[first if first in parts else None].append(record)
    totals = accumulate(map(len, parts.values()))
    sizes = accumulate(map(size_of, parts.values()))
    periods = [
        Period(begins=first, new=len(part), total=total, size=size)
        for (first, part), total, size in zip(parts.items(), totals, sizes, strict=True)
        if first or part
    ]
    return Growth(unit="week" if is_young else "month", periods=tuple(periods))


def _search_cost(log: MemoryLog, frame: Frame) -> SearchCost:
    """Return what the search costs that begins every task."""
    boundless = frame.settings._replace(budget_tokens=BOUNDLESS, budget_chars=BOUNDLESS)
    answer = search_answer(log, frame, query="")
    whole = search_answer(log, replace(frame, settings=boundless), query="")
    return SearchCost(
        tokens=estimate_tokens(answer),
        chars=len(answer),
        whole_tokens=estimate_tokens(whole),
        shows_all=answer == whole,
    )


def size_of(records: Iterable[Record]) -> int:
    """Return the bytes of the lines of these records."""
    return sum(len(record.to_line()) for record in records)


def day_of(moment_s: float) -> date | None:
    """Return the day of a moment in UTC, None for an unknown one."""
    try:
        return datetime.fromtimestamp(moment_s, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _first_of_month(day: date) -> date:
    return day.replace(day=1)


def _last_periods(first: date, last: date, *, is_young: bool) -> list[date]:
    """Return where the last PERIODS periods from `first` to `last` begin."""
    begins = [last]
    while len(begins) < PERIODS and begins[0] > first:
        before = begins[0] - timedelta(days=7 if is_young else 1)
        begins.insert(0, before if is_young else _first_of_month(before))
    return begins


@lru_cache(maxsize=1_024)  # the same texts stand in many sections
def safe(text: str) -> str:
    """Return the beginning of a text, redacted: topics and questions are stored as they came."""
    return redact(text[:MOST_CHARS]).text
