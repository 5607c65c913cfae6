"""Puts the entries of several rooms on one question in one order, by one scorer.

It ranks all texts at once, by how common words are in all rooms; the best comes first.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from core.errors import SentinelError
from core.text.ranking import Frequencies, Ranking
from core.text.terms import Term

Source = Literal["lesson", "fragment", "session"]

_RANK: Mapping[Source, int] = {"lesson": 2, "fragment": 1, "session": 0}
_STEPS = 50  # of relevance: two entries of one step are equally relevant


class Entry(NamedTuple):
    """One thing, `what`, of a room that may answer a question.

    text: compared with the question. says: its statements, () if no other entry can repeat it.
    line: returns it for a model. worth: orders the equally relevant of its room. nearness: of its
    vector to the question's, 0 to 1.
    """

    source: Source
    id: str
    text: str
    says: tuple[str, ...]
    line: Callable[[], str]
    worth: tuple[float, str, int] = (0.0, "", 0)
    nearness: float | None = None
    what: Any = None

    def labelled(self) -> str:
        return f"{self.source} {self.line()}"


class Gathered(NamedTuple):
    """The entries of one room for a question. frequencies: of its words in the whole room."""

    entries: Sequence[Entry] = ()
    frequencies: Frequencies = Frequencies(0, {})


Gather = Callable[[str], Gathered]


def gathered_from(rooms: Sequence[Gather], question: str) -> list[Gathered]:
    """Return each room's entries; a room that cannot be read has none now."""
    found = list[Gathered]()
    for gather in rooms:
        with suppress(SentinelError, OSError):
            found.append(gather(question))
    return found


def in_one_order(question: str, gathered: Sequence[Gathered]) -> list[Entry]:
    """Return the entries, the most relevant first.

    Of equally relevant ones lessons come first, then fragments, then sessions. An entry that
    repeats lessons is left out.
    """
    having, of_lessons = Counter[Term](), set[str]()
    for room in gathered:
        having.update(room.frequencies.having)
        for entry in room.entries:
            if entry.source == "lesson":
                of_lessons.update(map(as_said, entry.says))

    def is_repeated(entry: Entry) -> bool:
        said = {words for it in entry.says if (words := as_said(it))}
        return entry.source != "lesson" and bool(said) and said <= of_lessons

    entries = [it for room in gathered for it in room.entries if not is_repeated(it)]
    texts = sum(room.frequencies.texts for room in gathered)
    relevance = _relevance(question, entries, Frequencies(texts, having))
    best = max(relevance, default=0.0) or 1.0

    def key(at: int) -> tuple[int, int, tuple[float, str, int]]:
        entry = entries[at]
        return round(relevance[at] / best * _STEPS), _RANK[entry.source], entry.worth

    return [entries[at] for at in sorted(range(len(entries)), key=key, reverse=True)]


def as_said(text: str) -> str:
    """Return a text without case, and with single blanks, to compare it."""
    return " ".join(text.casefold().split())


def _relevance(question: str, entries: Sequence[Entry], frequencies: Frequencies) -> list[float]:
    """Return the worth of each entry for the question, from 0 to 1.

    Words count as ranked, times the text's share of the question. A vector counts for half, and
    words for less where no text has much of the question. An entry without a vector is as near as
    its words say.
    """
    ranking = Ranking(question, [it.text for it in entries], frequencies)
    scores, shares = ranking.scores(), ranking.holding().shares()
    worths = [scores.get(at, 0.0) * shares.get(at, 0.0) for at in range(len(entries))]
    best = max(worths, default=0.0) or 1.0
    of_words = [worth / best for worth in worths]
    near = [it.nearness for it in entries if it.nearness is not None]
    if not near:
        return of_words
    whole, nearest = max(shares.values(), default=0.0), max(near)
    return [
        0.5 * worth * whole + 0.5 * (worth * nearest if it.nearness is None else it.nearness)
        for worth, it in zip(of_words, entries, strict=True)
    ]
