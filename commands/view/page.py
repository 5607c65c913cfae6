"""Collects what the page shows: records by topic, what git knows of them, and figures.

Pure. It redacts everything, since a line may be edited by hand and a page passed on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, count
from math import isfinite
from urllib.parse import quote

from core.lessons.answers.counting import (
    Compaction,
    SearchCost,
    came_back,
    compaction,
    last_s,
    open_questions,
    search_cost,
)
from core.lessons.answers.fitting import is_harmless
from core.lessons.answers.frame import Frame
from core.lessons.answers.rendering import day_of, record_block, token_text
from core.lessons.clean_record import clean_record
from core.lessons.compaction import group_by_topic
from core.lessons.git.commits import Commit
from core.lessons.git.lineage import Lineage, Point, point_of
from core.lessons.git.versions import originals_of
from core.lessons.log import MemoryLog
from core.lessons.record import Record, seconds_of
from core.text.tokens import estimate_tokens
from core.text_redaction import redacted

NEWEST = 5
GENERATIONS = 12  # of originals below a principle; the page names the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record on the page.

    token: empty for an id that could pass for something else. anchor: its unique id in the
    document, empty for an original. place: how many records of the log are before it. reach: how
    often hooks showed it at work, None where they have noted nothing or may not show it. added: the
    commit that first brought the record. saved: the commit of this version, None if it is the same
    or git has none. deeper: how many originals lie too deep to show.
    """

    record: Record
    token: str
    anchor: str = ""
    place: int = 0
    reach: int | None = None
    added: Commit | None = None
    saved: Commit | None = None
    originals: "tuple[Original, ...]" = ()
    deeper: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """What a principle replaced. entry: None if the version cannot be had."""

    token: str
    entry: Entry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """The records of one topic, principles first, then the newest."""

    name: str
    entries: tuple[Entry, ...]

    @property
    def anchor(self) -> str:
        """The id in the document, which is also what the address says while the topic is open."""
        return topic_anchor(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """All that the page shows.

    newest: the records that were saved last. growth: the memory over time, oldest first, the last
    point now. is_from_git: whether growth tells what was there at each date, or only when today's
    records came. compactions: their days. last_compacted: the principles of the last one. commits:
    what stands before the id in the address of a commit, "" where nobody knows. notes: keys of
    sentences. redacted: the kinds of secrets that were replaced.
    """

    project: str
    log: MemoryLog
    frame: Frame
    now: str
    topics: tuple[Topic, ...]
    newest: tuple[Entry, ...]
    came_back: tuple[Entry, ...]
    questions: tuple[Entry, ...]
    compactions: tuple[str, ...]
    last_compacted: tuple[Entry, ...]
    compaction: Compaction
    search: SearchCost
    growth: tuple[Point, ...]
    is_from_git: bool
    commits: str
    notes: tuple[str, ...]
    redacted: tuple[str, ...]

    @property
    def entries(self) -> list[Entry]:
        """All records in the order of the page."""
        return [entry for topic in self.topics for entry in topic.entries]


def page_of(
    log: MemoryLog,
    lineage: Lineage,
    frame: Frame,
    *,
    project: str,
    now: str,
    times: Mapping[str, int] | None = None,
    commits: str = "",
) -> Page:
    """Return the page of a log. times: how often hooks showed a record, by its id."""
    cleaned = [clean_record(record) for record in log.records]
    entries = _entries(log.records, [clean for clean, _ in cleaned], lineage, times)
    by_record = {id(record): entry for record, entry in zip(log.records, entries, strict=True)}
    growth, is_from_git = _growth(log, lineage, now)
    state = compaction(log.records, frame.threshold)

    def shown(records: Iterable[Record]) -> tuple[Entry, ...]:
        return tuple(by_record[id(record)] for record in records)

    return Page(
        project=redacted(project)[0],
        log=log,
        frame=frame,
        now=now,
        topics=tuple(_topics(entries)),
        newest=shown(_newest(log.records)),
        came_back=shown(came_back(log.records)),
        questions=shown(open_questions(log.records)),
        compactions=_compactions(log.records),
        last_compacted=shown(_compacted_on(state.last, log.records)),
        compaction=state,
        search=search_cost(log, frame),
        growth=growth,
        is_from_git=is_from_git,
        commits=commits,
        notes=lineage.notes,
        redacted=tuple(kind for _, found in cleaned for _, kind in found),
    )


def _entries(
    records: Sequence[Record],
    cleaned: Sequence[Record],
    lineage: Lineage,
    times: Mapping[str, int] | None,
) -> list[Entry]:
    taken: set[str] = set()
    entries = list[Entry]()
    for record, clean in zip(records, cleaned, strict=True):
        entry = _entry(record, clean, lineage)
        anchor = f"r-{clean.id}"
        if not entry.token or anchor in taken:
            anchor = f"record-{len(entries) + 1}"
        taken.add(anchor)
        reach = times.get(record.id, 0) if times is not None and is_harmless(record) else None
        entries.append(replace(entry, anchor=anchor, place=len(entries), reach=reach))
    return entries


def _entry(
    record: Record,
    clean: Record,
    lineage: Lineage,
    *,
    shown: set[str] | None = None,
    generation: int = 0,
) -> Entry:
    """Return a record redacted, with what git knows of the version in the log.

    shown: versions that the page has below this principle already. generation: how far below.
    """
    shown = {record.token} if shown is None else shown
    tokens = originals_of(record) if record.type == "principle" else ()
    is_deepest = generation == GENERATIONS
    below = () if is_deepest else _originals(tokens, lineage, shown, generation + 1)
    added, saved = lineage.added.get(record.id), lineage.saved.get(record.token)
    is_same = added is not None and saved is not None and added.id == saved.id
    return Entry(
        record=clean,
        token=record.token if token_text(clean, "en") == clean.token else "",
        added=_named(added),
        saved=None if is_same else _named(saved),
        originals=tuple(below),
        deeper=len(set(tokens) - shown) if is_deepest else 0,
    )


def _originals(
    tokens: Sequence[str], lineage: Lineage, shown: set[str], generation: int
) -> Iterator[Original]:
    """Yield what a principle replaced, each version once, below its first replacement."""
    found = {token: lineage.versions[token] for token in tokens if token in lineage.versions}
    nearer = {
        token
        for version in found.values()
        for token in (*version.source_ids, *version.tokens())
        if token != version.token
    }
    for token in tokens:
        if token in shown or token in nearer:
            continue
        shown.add(token)
        version = found.get(token)
        entry = None
        if version:
            clean = clean_record(version)[0]
            entry = _entry(version, clean, lineage, shown=shown, generation=generation)
        yield Original(token=redacted(token)[0], entry=entry)


@lru_cache(maxsize=4_096)  # many records share a commit
def _named(commit: Commit | None) -> Commit | None:
    """Return a commit, redacted."""
    if not commit:
        return None
    author, subject = redacted(commit.author)[0], redacted(commit.subject)[0]
    return replace(commit, author=author, subject=subject)


def topic_anchor(name: str) -> str:
    """Return the id of a topic in the document, written as an address writes it."""
    return "topic=" + quote(name, safe="!*'()", errors="backslashreplace")


def _topics(entries: Sequence[Entry]) -> list[Topic]:
    """Return the topics, the largest first."""
    by_id = {id(entry.record): entry for entry in entries}
    groups = group_by_topic([entry.record for entry in entries])
    groups.sort(key=lambda it: (-len(it.records), it.topic.casefold()))
    return [
        Topic(
            name=group.topic,
            entries=tuple(
                sorted((by_id[id(record)] for record in reversed(group.records)), key=_rank)
            ),
        )
        for group in groups
    ]


def _rank(entry: Entry) -> tuple[bool, float]:
    record = entry.record
    return record.type == "log", -last_s(record)


def _newest(records: Sequence[Record]) -> list[Record]:
    return sorted(reversed(records), key=last_s, reverse=True)[:NEWEST]


def _compacted_on(moment: str, records: Iterable[Record]) -> list[Record]:
    """Return what was compacted on the day of this moment, nothing where it is blank."""
    return [it for it in records if moment and it.source_count and _day(it) == day_of(moment)]


def _day(principle: Record) -> str:
    return day_of(principle.compacted_at)


def _compactions(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the days on which principles that are there replaced others, the first one first."""
    days = {_day(it) for it in records if it.source_count}
    return tuple(sorted(day for day in days if day[0] != "?"))


def _growth(log: MemoryLog, lineage: Lineage, now: str) -> tuple[tuple[Point, ...], bool]:
    """Return the points from git, or else from the dates of today's records; then now."""
    points = lineage.growth or _by_date(log.records)
    return (*points, point_of(log, now)), bool(lineage.growth)


def _by_date(records: Iterable[Record]) -> list[Point]:
    """Return today's records at the end of each day on which one of them was created."""
    dated = sorted(
        (it for it in records if isfinite(seconds_of(it.created))),
        key=lambda it: seconds_of(it.created),
    )
    principles = accumulate(record.type == "principle" for record in dated)
    tokens = accumulate(estimate_tokens(record_block(record, "en")) for record in dated)
    sizes = accumulate(len(record.to_line()) for record in dated)
    days = {
        day_of(record.created): Point(
            date=day_of(record.created), records=at, principles=some, tokens=cost, size=size
        )
        for at, record, some, cost, size in zip(
            count(1), dated, principles, tokens, sizes, strict=False
        )
    }
    return list(days.values())
