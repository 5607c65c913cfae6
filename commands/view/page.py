"""Collects what the page shows: records by topic, and figures.

Pure. It redacts everything, since a line may be edited by hand and a page passed on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from commands.stats.log_figures import Compaction, came_back, compaction, last_s, open_questions
from core.lessons.answers import Frame
from core.lessons.draft import clean_record
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.lessons.record_text import by_topic, is_harmless, token_text
from core.sanitizer import redact

NEWEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record on the page.

    token: empty for an id that could pass for something else. anchor: its unique id in the
    document. reach: how often hooks showed it at work, None where they have noted nothing or may
    not show it.
    """

    record: Record
    token: str
    anchor: str
    reach: int | None = None


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

    newest: the records that were saved last. redacted: the kinds of secrets that were replaced.
    """

    project: str
    log: MemoryLog
    frame: Frame
    now: str
    topics: tuple[Topic, ...]
    newest: tuple[Entry, ...]
    came_back: tuple[Entry, ...]
    questions: tuple[Entry, ...]
    compaction: Compaction
    redacted: tuple[str, ...]

    @property
    def entries(self) -> list[Entry]:
        """All records in the order of the page."""
        return [entry for topic in self.topics for entry in topic.entries]


def page_of(
    log: MemoryLog,
    frame: Frame,
    *,
    project: str,
    now: str,
    times: Mapping[str, int] | None = None,
) -> Page:
    """Return the page of a log. times: how often hooks showed a record, by its id."""
    cleaned = [clean_record(record) for record in log.records]
    entries = _entries(log.records, [clean for clean, _ in cleaned], times)
    by_record = {id(record): entry for record, entry in zip(log.records, entries, strict=True)}

    def shown(records: Iterable[Record]) -> tuple[Entry, ...]:
        return tuple(by_record[id(record)] for record in records)

    return Page(
        project=redact(project)[0],
        log=log,
        frame=frame,
        now=now,
        topics=tuple(_topics(entries)),
        newest=shown(_newest(log.records)),
        came_back=shown(came_back(log.records)),
        questions=shown(open_questions(log.records)),
        compaction=compaction(log.records, frame.settings.threshold),
        redacted=tuple(kind for _, found in cleaned for _, kind in found),
    )


def _entries(
    records: Sequence[Record],
    cleaned: Sequence[Record],
    times: Mapping[str, int] | None,
) -> list[Entry]:
    taken: set[str] = set()
    entries = list[Entry]()
    for record, clean in zip(records, cleaned, strict=True):
        token = record.token if token_text(clean) == clean.token else ""
        anchor = f"r-{clean.id}"
        if not token or anchor in taken:
            anchor = f"record-{len(entries) + 1}"
        taken.add(anchor)
        reach = times.get(record.id, 0) if times is not None and is_harmless(record) else None
        entries.append(Entry(record=clean, token=token, anchor=anchor, reach=reach))
    return entries


def topic_anchor(name: str) -> str:
    """Return the id of a topic in the document, written as an address writes it."""
    return "topic=" + quote(name, safe="!*'()", errors="backslashreplace")


def _topics(entries: Sequence[Entry]) -> list[Topic]:
    """Return the topics, the largest first."""
    by_id = {id(entry.record): entry for entry in entries}
    topics = by_topic(entry.record for entry in entries)
    return [
        Topic(
            name=name,
            entries=tuple(
                sorted((by_id[id(record)] for record in reversed(topics[name])), key=_rank)
            ),
        )
        for name in sorted(topics, key=lambda name: (-len(topics[name]), name.casefold()))
    ]


def _rank(entry: Entry) -> tuple[bool, float]:
    record = entry.record
    return record.type == "log", -last_s(record)


def _newest(records: Sequence[Record]) -> list[Record]:
    return sorted(reversed(records), key=last_s, reverse=True)[:NEWEST]
