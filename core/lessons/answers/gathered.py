"""Gathers the lessons that may answer a question beside what other rooms of the memory hold."""

from collections.abc import Sequence

from core.lessons.answers.fitting import Searchable, is_harmless, is_usable
from core.lessons.answers.rendering import day_of, topic_text
from core.lessons.record import Record
from core.text.holding import Frequencies, good_parts, is_telling
from core.text.printable import flat
from core.text.ranking import Ranking
from core.together.one_list import Entry, Gathered

MOST = 50  # whose texts are ranked beside those of the other rooms
_ID_CHARS = 16


def lessons_on(question: str, records: Sequence[Record]) -> Gathered:
    """Return the records that have a good part of a question, and read like no order to a model.

    records: all of the log, in its order.
    """
    found = Ranking(question, Searchable(records)).found()
    parts = good_parts(found)
    places = [at for at in parts if is_usable(records[at]) and is_harmless(records[at])][:MOST]
    frequencies = Frequencies(len(records), {it.term: len(it.places) for it in found})
    if not is_telling(found, parts, places):
        return Gathered(frequencies=frequencies)
    return Gathered([_entry(records[at], at) for at in places], frequencies)


def _entry(record: Record, at: int) -> Entry:
    return Entry(
        source="lesson",
        id=record.id,
        text=" ".join(record.texts),
        says=(record.missing_context, record.lesson),
        line=lambda: lesson_line(record),
        worth=(0.0, record.updated or record.created, at),
    )


def lesson_line(record: Record) -> str:
    """Return a whole record as one line: its id, date and topic, the gap, the lesson, the question.

    No text of it can pass for another line: none has a line end or hidden characters.
    """
    day = day_of(record.compacted_at or record.created)
    told = [f"{flat(record.id)[:_ID_CHARS]} {day} [{topic_text(record.topic)}]"]
    if record.missing_context.strip():
        told.append(flat(record.missing_context))
    told.append(f"→ {flat(record.lesson)}")
    if record.ask_next_time.strip():
        told.append(f"ask: {flat(record.ask_next_time)}")
    return " ".join(told)
