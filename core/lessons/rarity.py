"""Knows how common words, files and triggers are in one project: what is everywhere tells nothing.

Pure. Each is counted over samples of the project: its past changes and the names of its files.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from math import log

from core.lessons.action import Action, Reading, worded
from core.lessons.anchors import MOST_ANCHORS, MOST_RECALLED_TRIGGERS, could_match, matches
from core.lessons.record import Record

# What is common among so few is an accident.
_FEWEST, _LEAST_SIZE = 3, 20
_COMMON_SHARE, _FEW_FILES = 0.02, 4
# The newest; one that is left out counts as rare. A pattern costs up to 1 ms.
_MOST_PATTERNS = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """How many of some texts have a term. size: how many texts there are."""

    size: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[Collection[str]]) -> "Sample":
        """Count the terms of these texts."""
        return cls(len(texts), Counter(chain.from_iterable(texts)))

    def count(self, term: str) -> int:
        """Return how many texts have a term."""
        return self.counts.get(term, 0)

    def telling(self, term: str, common: float = _COMMON_SHARE) -> float:
        """Return 1 for what at most this share of the texts has, less for what more have."""
        if self.count(term) < _FEWEST or common >= 1:
            return 1.0
        return min(1.0, log(_share(self.count(term), self.size)) / log(common))

    def rarity(self, times: int) -> float:
        """Return 1 for what no text has, nearly 0 for what all have; times: how many have it."""
        return log(1 / _share(times, self.size)) / log(2 * (self.size + 1))


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
        return min(Sample(self.size).rarity(times), self.names.rarity(self.names.count(word)))


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
    texts = [worded("\n".join(record.texts)) for record in records]
    words = Reading("\n".join(texts)).terms
    kept = {word: count for word, count in actions.counts.items() if word in words}
    triggers = dict.fromkeys(
        it for record in records for it in record.when[:MOST_RECALLED_TRIGGERS]
    )
    standing = {it: sum(it in change.text for change in changes) for it in triggers}
    return Surroundings(
        changes=Sample.of([words & _terms(f"{it.paths[0]}\n{it.telling}") for it in changes]),
        actions=Sample(actions.size, kept),
        names=Sample.of([words & _terms(path) for path in files]),
        anchors=_anchors(records, files),
        touched=_anchors(records, [it.paths[0] for it in changes]),
        triggers=Sample(len(changes), standing),
    )


def _anchors(records: Sequence[Record], files: Sequence[str]) -> Sample:
    joined, counts = "\n".join(files), dict[str, int]()
    anchors = (it for record in reversed(records) for it in record.paths[:MOST_ANCHORS])
    for pattern in islice(dict.fromkeys(anchors), _MOST_PATTERNS):
        if could_match(pattern, joined):
            counts[pattern] = sum(matches(pattern, it) for it in files)
    return Sample(len(files), counts)


def _terms(text: str) -> set[str]:
    return Reading(worded(text)).terms


def _share(count: int, size: int) -> float:
    return (count + 0.5) / (size + 1)
