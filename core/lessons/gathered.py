"""Gathers the lessons that may answer a question beside what other rooms of the memory hold."""

from collections.abc import Sequence

from core.lessons.record import Record
from core.lessons.record_text import lesson_line
from core.lessons.selection import is_harmless, is_usable, searched_texts
from core.room.one_list import Entry, Gathered
from core.text.ranking import Ranking
from core.text.shares import Frequencies, good_parts, is_telling

MOST = 50  # whose texts are ranked beside those of the other rooms


def lessons_on(question: str, records: Sequence[Record]) -> Gathered:
    """Return the records that have a good part of a question, and read like no order to a model.

    records: all of the log, in its order.
    """
    found = Ranking(question, searched_texts(records)).found()
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
