"""Knows how common words, files and triggers are in one project: what is everywhere tells nothing.

Pure. Each is counted over samples of the project: its past changes and the names of its files.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import log

from core.lessons.action import Action, Reading, files_in, worded
from core.lessons.anchors import (
    MOST_ANCHORS,
    MOST_PATTERN_CHARS,
    MOST_RECALLED_TRIGGERS,
    could_match,
    matches,
)
from core.lessons.record import Record

# What is common among so few is an accident.
_FEWEST, _LEAST_SIZE = 3, 20
_COMMON_SHARE, _FEW_FILES = 0.02, 4
# The newest; one that is left out counts as rare. A pattern costs up to 1 ms.
_MOST_PATTERNS = 200


EVERYWHERE = 0.25  # of the files of a project
LEAST_FILES = 20  # of fewer, a quarter says nothing
# What is looked at, evenly over the files: a matched pattern costs some 2 µs.
MOST_FILES, MOST_PATTERNS = 500, 2_000


@dataclass(frozen=True, slots=True)
class Sample:
    """How many of some texts have a term. size: how many texts there are."""

    size: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[Collection[str]]) -> "Sample":
        """Count the terms of these texts."""
        counts, listed = dict[str, int](), list(texts)
        for terms in listed:
            for term in terms:
                counts[term] = counts.get(term, 0) + 1
        return cls(len(listed), counts)

    def count(self, term: str) -> int:
        """Return how many texts have a term."""
        return self.counts.get(term, 0)

    def telling(self, term: str, common: float = _COMMON_SHARE) -> float:
        """Return 1 for what at most this share of the texts has, less for what more have."""
        if self.count(term) < _FEWEST or common >= 1:
            return 1.0
        return min(1.0, log(_share(self.count(term), self.size)) / log(common))


_NOTHING = Sample()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is common in a project, each counted over a sample of it.

    changes: the words of changes in its history. actions: of past actions of agents. names: of the
    names of its files. anchors: the patterns that stand for its files. touched: those for the files
    of the changes. triggers: those that stand in the changes.
    """

    changes: Sample = _NOTHING
    actions: Sample = _NOTHING
    names: Sample = _NOTHING
    anchors: Sample = _NOTHING
    touched: Sample = _NOTHING
    triggers: Sample = _NOTHING

    def weight_of_anchor(self, pattern: str) -> float:
        """Return 1 for a pattern that stands for few files, and for few that change.

        In a small project one file of few is no large share.
        """
        common = max(_COMMON_SHARE, _FEW_FILES / (self.anchors.size or 1))
        return min(it.telling(pattern, common) for it in (self.anchors, self.touched))

    @property
    def is_small(self) -> bool:
        """Whether the project has few files, as far as is known."""
        return self.names.size < _LEAST_SIZE

    @property
    def size(self) -> int:
        """How many changes and actions were counted."""
        return self.changes.size + self.actions.size

    def rarity(self, word: str) -> float:
        """Return 1 for a word that is nowhere in the project, nearly 0 for one everywhere."""
        times = self.changes.count(word) + self.actions.count(word)
        return min(_rarity(times, self.size), _rarity(self.names.count(word), self.names.size))


def surroundings_of(
    records: Sequence[Record],
    changes: Sequence[Action],
    files: Sequence[str],
    actions: Sample = _NOTHING,
) -> Surroundings:
    """Count what these records say.

    changes: past ones, each of one file. files: names of files, relative to the project,
    with `/` between names. actions: as they were counted before; only words of the records stay.
    """
    texts = Reading("\n".join(worded("\n".join(record.texts)) for record in records))
    words = texts.words | texts.names | texts.pairs
    kept = {word: count for word, count in actions.counts.items() if word in words}
    return Surroundings(
        changes=Sample.of(words & _terms(f"{it.paths[0]}\n{it.telling}") for it in changes),
        actions=Sample(actions.size, kept),
        names=Sample.of(words & _terms(path) for path in files),
        anchors=_anchors(records, files),
        touched=_anchors(records, [it.paths[0] for it in changes]),
        triggers=_triggers(records, [it.text for it in changes]),
    )


def _anchors(records: Sequence[Record], files: Sequence[str]) -> Sample:
    joined, counts = "\n".join(files), dict[str, int]()
    anchors = (it for record in reversed(records) for it in record.paths[:MOST_ANCHORS])
    usable = dict.fromkeys(it for it in anchors if len(it) <= MOST_PATTERN_CHARS)
    for pattern in islice(usable, _MOST_PATTERNS):
        if could_match(pattern, joined):
            counts[pattern] = sum(matches(pattern, it) for it in files)
    return Sample(len(files), counts)


def _triggers(records: Iterable[Record], texts: Sequence[str]) -> Sample:
    triggers = dict.fromkeys(
        it for record in records for it in record.when[:MOST_RECALLED_TRIGGERS]
    )
    return Sample(len(texts), {it: sum(it in text for text in texts) for it in triggers})


def _terms(text: str) -> set[str]:
    reading = Reading(worded(text))
    return reading.words | reading.names | reading.pairs


def _rarity(count: int, size: int) -> float:
    return log(1 / _share(count, size)) / log(2 * (size + 1))


def _share(count: int, size: int) -> float:
    return (count + 0.5) / (size + 1)


def can_be_shown(record: Record) -> bool:
    """Return False where no action can have anything in common with a record.

    It has no path anchor, no trigger, and its texts name no file and have no word that tells more
    than `must` or `always` do.
    """
    if _patterns(record) or any(it.strip() for it in record.when[:MOST_RECALLED_TRIGGERS]):
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
