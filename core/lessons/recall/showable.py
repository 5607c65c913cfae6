"""Tells which records no action can call up, and which nearly every change would. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from core.lessons.anchors.paths import matches
from core.lessons.recall.reading import (
    MOST_ANCHORS,
    MOST_PATTERN_CHARS,
    MOST_TRIGGERS,
    Reading,
    files_in,
    worded,
)
from core.lessons.record import Record

EVERYWHERE = 0.25  # of the files of a project
LEAST_FILES = 20  # of fewer, a quarter says nothing
# What is looked at, evenly over the files: a matched pattern costs some 2 µs.
MOST_FILES, MOST_PATTERNS = 500, 2_000


def can_be_shown(record: Record) -> bool:
    """Return False where no action can have anything in common with a record.

    It has no path anchor, no trigger, and its texts name no file and have no word that tells more
    than `must` or `always` do.
    """
    if _patterns(record) or any(it.strip() for it in record.when[:MOST_TRIGGERS]):
        return True
    text = worded("\n".join(record.texts))
    reading = Reading(text)
    has_word = any(len(word) > 1 for word in reading.words)  # one syllable tells nothing
    return bool(has_word or reading.names or files_in(text))


def shown_everywhere(
    records: Iterable[Record], files: Sequence[str]
) -> Iterator[tuple[Record, int]]:
    """Yield the records whose path anchors stand for more than a quarter of the files.

    Each with the share in percent. files: those of the project, as `matches` takes them.
    """
    if len(files) < LEAST_FILES:
        return
    looked = files[:: -(-len(files) // MOST_FILES)]
    standing: dict[str, frozenset[str]] = {}
    for record in records:
        found: set[str] = set()
        for pattern in _patterns(record):
            if pattern not in standing and len(standing) < MOST_PATTERNS:
                standing[pattern] = frozenset(it for it in looked if matches(pattern, it))
            found |= standing.get(pattern, frozenset())
        if len(found) > EVERYWHERE * len(looked):
            yield record, round(100 * len(found) / len(looked))


def _patterns(record: Record) -> list[str]:
    return [it for it in record.paths[:MOST_ANCHORS] if it and len(it) <= MOST_PATTERN_CHARS]
