"""Makes the items of the page for a new team member, the most important first.

Pure. An item is one line of Markdown: a topic, what was missing and the lesson; or a question.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from commands.documents.github_markdown import inert
from commands.onboard.words import word
from commands.terminal.columns import cells
from core.lessons.answers.counting import came_back, last_s, open_questions
from core.lessons.answers.rendering import day_of
from core.lessons.answers.words import say
from core.lessons.compaction import group_by_topic
from core.lessons.record import Record
from core.messages import Language
from core.text.normal_form import normal_form
from core.text.printable import one_line

NAME_CHARS, NAMES_CHARS = 64, 240

_AFTER_QUESTION = re.compile(r"(?<=[?？])\s+")
_ENDS = " .?!。？！"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line that may stand on the page.

    says: its lesson or question, which the page holds only once. lines: makes its forms, the best
    one first, none shorter than `says`; for most records of a large memory it is never called.
    place: its order within the section.
    """

    says: str
    lines: Callable[[], tuple[str, ...]]
    place: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """The items of one topic, the most frequent first, and the number of its records."""

    name: str
    count: int
    principles: list[Item]
    logs: list[Item]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the sections would show with room for everything, the best of each first."""

    again: list[Item]
    topics: list[Topic]
    ask: list[Item]
    newest: list[Item]

    @property
    def counts(self) -> dict[str, int]:
        """The number of different lessons and questions."""
        return {"lessons": len({item.says for item in self.newest}), "questions": len(self.ask)}


def wanted_of(records: Sequence[Record], lang: Language, *, most_chars: int) -> Wanted:
    """Return all items; one longer than `most_chars` has only the form with its lesson."""
    newest = sorted(reversed(records), key=last_s, reverse=True)
    return Wanted(
        again=_items(came_back(records), lang, most_chars),
        topics=_topics(records, lang, most_chars),
        ask=_questions(records),
        newest=_items(newest, lang, most_chars, dated=True),
    )


def joined(names: Iterable[str]) -> str:
    """Join names, as many as a sentence can hold."""
    text = ""
    for name in names:
        longer = f"{text}, {name}" if text else name
        if size([longer]) > NAMES_CHARS:
            return f"{text}, …"
        text = longer
    return text


def named(name: str) -> str:
    """Return the name of a topic or project for a line of Markdown; cut a long one."""
    flat = _flat(name)
    shown, cut = inert(flat), flat[:NAME_CHARS]
    while size([shown]) > NAME_CHARS:
        shown, cut = inert(f"{cut.rstrip()}…"), cut[:-1]
    return shown


def size(lines: Iterable[str]) -> int:
    """Count the characters of these lines and their ends; one of two cells counts twice."""
    return sum(max(len(line), cells(line)) + 1 for line in lines)


def _topics(records: Sequence[Record], lang: Language, most_chars: int) -> list[Topic]:
    """Return the topics, those with the most experience first, then those with the newest."""
    groups = [group.records for group in group_by_topic(records)]
    groups.sort(key=lambda its: (sum(map(_times, its)), max(map(last_s, its))), reverse=True)
    topics = []
    for at, group in enumerate(groups):
        best = sorted(reversed(group), key=lambda it: (_times(it), last_s(it)), reverse=True)
        principles = [record for record in best if record.type == "principle"]
        logs = [record for record in best if record.type == "log"]
        topics.append(
            Topic(
                name=group[0].topic,
                count=len(group),
                principles=_items(principles, lang, most_chars, row=2 * at),
                logs=_items(logs, lang, most_chars, row=2 * at + 1),
            )
        )
    return topics


def _times(record: Record) -> int:
    """Count how often somebody found out what a record says."""
    return max(record.source_count or 1, 1) + max(record.seen, 1) - 1


def _items(
    records: Iterable[Record], lang: Language, most_chars: int, *, row: int = 0, dated: bool = False
) -> list[Item]:
    """Make an item of each record that has a lesson. dated: with its last date."""
    items = []
    for at, record in enumerate(records):
        if lesson := _flat(record.lesson):
            lines = partial(_lines, record, lang, most_chars, dated=dated)
            items.append(Item(says=lesson, lines=lines, place=(row, at)))
    return items


def _lines(record: Record, lang: Language, most_chars: int, *, dated: bool) -> tuple[str, ...]:
    """Return what was missing with the lesson, unless that is too long, and the lesson alone."""
    lesson, missing = _shown(record.lesson), _shown(record.missing_context)
    notes = _notes(record, lang)
    if dated and record.seen <= 1:  # a note on the gap's return already has the day
        notes.insert(0, day_of(record.updated or record.created))
    label = f"- **{named(record.topic)}**" + (f" ({'; '.join(notes)})" if notes else "")
    line, whole = f"{label}: {lesson}", f"{label}: {missing} → {lesson}"
    return (whole, line) if missing and size([whole]) <= most_chars else (line,)


def _notes(record: Record, lang: Language) -> list[str]:
    """Say that a record is a principle, what it sums up, how often its gap came back."""
    notes = list[str]()
    if record.type == "principle":
        merged = record.source_count
        notes.append(word(lang, "merged", count=merged) if merged else record.type)
    if record.seen > 1:
        last = day_of(record.updated or record.created)
        notes.append(say(lang, "seen", seen=record.seen, date=last))
    return notes


def _questions(records: Sequence[Record]) -> list[Item]:
    """Return the open questions, those of principles and of gaps that came back first.

    A principle repeats the questions of its originals, so each is asked only where it comes first.
    """

    def weight(it: Record) -> tuple[bool, int]:
        return it.type == "principle" or it.seen > 1, _times(it)

    items: list[Item] = []
    asked: set[str] = set()
    for record in sorted(open_questions(records), key=weight, reverse=True):
        new = []
        for question in _AFTER_QUESTION.split(_flat(record.ask_next_time)):
            bare = normal_form("NFKC", question).casefold().strip(_ENDS)
            if bare not in asked:
                asked.add(bare)
                new.append(question)
        if says := " ".join(new):
            lines = partial(_question, record.topic, says)
            items.append(Item(says=says, lines=lines, place=(0, len(items))))
    return items


def _question(topic: str, text: str) -> tuple[str]:
    return (f"- **{named(topic)}**: {_shown(text)}",)


def _shown(text: str) -> str:
    """Return a text in one line that notifies nobody, whatever names it holds."""
    flat = _flat(text)
    return inert(flat) if flat else ""


def _flat(text: str) -> str:
    return " ".join(one_line(text).split())
