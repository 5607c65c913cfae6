"""Finds the texts that have every word of a query, the best first, and the places of the words.

People search with this at a terminal. A word is found in all its forms, in every spelling of an
identifier, and Korean with any particle; a word that no text has is taken as the beginning of one.
Models get `core.text.ranking` instead.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from functools import cached_property
from math import sqrt

from core.text.hangul import in_leads, in_letters, without_particle
from core.text.places import (
    ANYWHERE,
    BEGUN,
    FIRST_WIDE,
    RUN,
    WHOLE,
    Chunk,
    Folded,
    chunks_of,
    folded,
    mapped,
    places_of,
)

STRONG, WEAK = 3.0, 1.0  # what the weights of a lesson and a topic are, and of any other text
_NAME_WEIGHT, _LEAST_NAME_CHARS = 4.0, 4
_NEAR_WORDS = 3


class Entry:
    """Something to find, in the form in which it is searched.

    texts: each with its weight. names: ids and dates, found by their beginnings.
    """

    def __init__(self, texts: Iterable[tuple[float, str]], names: Iterable[str] = ()) -> None:
        self._texts = [(weight, text) for weight, text in texts if text]
        self._names = [name.lower() for name in names]
        self.joined = folded("\n".join([text for _, text in self._texts])).low

    @cached_property
    def texts(self) -> list[tuple[float, Folded]]:
        """The texts, each with its weight: most entries are never looked at so closely."""
        return [(weight, folded(text)) for weight, text in self._texts]

    @cached_property
    def letters(self) -> str:
        """All texts with every syllable as its letters."""
        return self.joined if self.joined.isascii() else in_letters(self.joined)

    @cached_property
    def leads(self) -> str:
        """All texts with every syllable as its first consonant."""
        return self.joined if self.joined.isascii() else in_leads(self.joined)

    def is_named(self, word: str) -> bool:
        """Return whether the id or a date begins with a word."""
        return any(name.startswith(word) for name in self._names)


class Search:
    """A query, asked of some entries.

    loose: a word is found in the middle of other words, too.
    """

    def __init__(self, query: str, entries: Sequence[Entry], *, loose: bool = False) -> None:
        self._entries = entries
        self.chunks = chunks_of(query)
        self._levels = dict.fromkeys(self.chunks, ANYWHERE if loose else WHOLE)
        self._found = {chunk: self._look(chunk) for chunk in self.chunks}

    def _look(self, chunk: Chunk) -> dict[int, float]:
        """Return by entry what its places are worth; take beginnings where no word is whole."""
        found = self._worths(chunk)
        if not found and self._levels[chunk] == WHOLE:
            self._levels[chunk] = BEGUN
            found = self._worths(chunk)
        return found

    def _worths(self, chunk: Chunk) -> dict[int, float]:
        level, worths = self._levels[chunk], dict[int, float]()
        is_name = len(chunk.text) >= _LEAST_NAME_CHARS
        for at, entry in enumerate(self._entries):
            worth = 0.0
            for weight, text in entry.texts if _may_have(chunk, entry, level) else ():
                times = 0.0
                for place in places_of(chunk, text, level):
                    times += place.worth
                if times:
                    worth += weight * times / (times + 1.0)
            if is_name and entry.is_named(chunk.text):
                worth += _NAME_WEIGHT
            if worth:
                worths[at] = worth
        return worths

    def hits(self) -> list[int]:
        """Return the entries that have every word, the best first; of equals, the later first."""
        if not self.chunks:
            return []
        count, whole = len(self._entries), " ".join(chunk.text for chunk in self.chunks)
        is_phrase = len(self.chunks) > 1 or len(self.chunks[0].parts) > 1
        scores = dict[int, float]()
        for at in sorted(set.intersection(*(set(found) for found in self._found.values()))):
            score = 0.0
            for found in self._found.values():
                score += found[at] * sqrt(count / len(found))
            if is_phrase:
                for weight, text in self._entries[at].texts:
                    if whole in text.low:
                        score += weight
            scores[at] = score
        return sorted(scores, key=lambda at: (-scores[at], -at))

    def counts(self) -> dict[str, int]:
        """Return for each word of the query how many entries have it."""
        return {chunk.text: len(found) for chunk, found in self._found.items()}

    def only(self, words: Collection[str]) -> "Search":
        """Return the same search for some of its words, to ask for their places."""
        part = copy(self)
        part.chunks = [chunk for chunk in self.chunks if chunk.text in words]
        return part

    def words_in(self, text: str) -> set[str]:
        """Return which words of the query a text has."""
        form = folded(text)
        return {
            chunk.text
            for chunk in self.chunks
            if any(True for _ in places_of(chunk, form, self._levels[chunk]))
        }

    def places(self, text: str) -> list[tuple[int, int]]:
        """Return where the words are in a text, in order; places that touch are one."""
        form = folded(text)
        found = sorted(
            (place.start, place.end)
            for chunk in self.chunks
            for place in places_of(chunk, form, self._levels[chunk])
        )
        merged = list[tuple[int, int]]()
        for start, end in found:
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged if form.cased == text else mapped(merged, text, form)

    def near(self, word: str) -> list[str]:
        """Return the words of the texts that are written almost like this one, the nearest first.

        Words of up to five letters differ in one letter, longer ones in two; Korean is compared by
        its letters.
        """
        sought = in_letters(without_particle(folded(word).low))
        most = 1 if len(sought) < 6 else 2
        counts = Counter(
            run if run[0] < FIRST_WIDE else without_particle(run)
            for entry in self._entries
            for run in set(RUN.findall(entry.joined))
        )
        found = list[tuple[int, int, str]]()
        for other, count in counts.items():
            letters = in_letters(other)
            # The cheap question first: a change of a letter changes two letters of the set at most.
            if (
                abs(len(letters) - len(sought)) <= most
                and len(letters) > most + 1
                and len(set(letters) ^ set(sought)) <= 2 * most
                and (distance := _distance(sought, letters)) <= most
            ):
                found.append((distance, -count, other))
        return [other for by, _, other in sorted(found)[:_NEAR_WORDS] if by == min(found)[0]]


def _may_have(chunk: Chunk, entry: Entry, level: int) -> bool:
    """Ask the cheap question first: whether all that a word needs is anywhere in an entry."""
    if chunk.is_leads:
        return chunk.text in entry.leads
    if not chunk.parts:
        return chunk.text in entry.joined
    if level == WHOLE:
        joined = entry.joined
        if chunk.joined and any(needle in joined for needle in chunk.joined.needles):
            return True
        return all(any(needle in joined for needle in part.needles) for part in chunk.parts)
    letters = entry.letters
    return any(needle in letters for part in chunk.parts for needle in part.letters)


def _distance(one: str, other: str) -> int:
    """Return how many letters to add, drop, change or swap with the next to make one the other."""
    before, row = list[int](), list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        older, before, row = before, row, [at]
        for place, letter in enumerate(other, 1):
            cost = min(before[place] + 1, row[-1] + 1, before[place - 1] + (char != letter))
            if at > 1 < place and char == other[place - 2] and one[at - 2] == letter:
                cost = min(cost, older[place - 2] + 1)
            row.append(cost)
    return row[-1]
