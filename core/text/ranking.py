"""Puts texts in order: those whose words fit a question come first, the newer before the older.

There is no index and no dictionary. A question becomes a few dozen short terms, and all texts,
joined and in one spelling, are scanned for them, in English and Korean alike; BM25 weighs what is
found. It knows no synonyms and no translations: a Korean question finds an English record only by
words that both contain.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

from core.text.normal_form import normal_form
from core.text.shares import Found, Frequencies, of_known_words, rarity_of, share_of, shares
from core.text.terms import (
    INNER_PART,
    INNER_START,
    QUERY_CHARS,
    Term,
    kind_of,
    words_of,
)

_K1 = 0.9  # how soon a repeated term stops adding to the score
_B = 0.4  # how much a long text is damped: little, since records are short
# What was written just before or after is often about the same, and a short text says little
# itself: one of so many characters gains this share of its neighbour's score, a longer one less.
_NEIGHBOUR, _SHORT_CHARS = 0.2, 60
_WEAK_WEIGHT = 0.5  # for pieces of a word, or a long word would outweigh the rest of the question
_COMMON_RECORDS = 100  # a word found in more than these is no typing error: its pieces add little
# Texts that are kept for the next question; of more than these, texts that are read at once, and
# how often one of them is looked through for a term: a long question would take its time.
_MOST_KEPT, _PART_TEXTS = 10_000, 2_000
_MOST_SCANS, _LEAST_SCANS = 4_000_000, 12


class _Part(NamedTuple):
    """Some of the texts in the form that is scanned: NFKC, caseless.

    texts: as they were given. places: which of all texts these are. joined: all of them, each on a
    line. starts: where each begins there, and the end. respelled: those that could not be taken
    over character by character.
    """

    texts: Sequence[str]
    places: Sequence[int]
    joined: str
    starts: list[int]
    respelled: set[int]


class _Hits:
    """Which texts have a term, and how often each has it."""

    __slots__ = ("places", "term", "times")

    def __init__(self, term: Term) -> None:
        self.term, self.places, self.times = term, array("L"), array("L")

    def look(self, part: _Part) -> int:
        """Add what a part has; return how many texts have the term so far."""
        if self.term.needle.isascii() or not part.joined.isascii():
            counted = _count(self.term, part)
            self.places.extend(part.places[at] for at in counted)
            self.times.extend(counted.values())
        return len(self.places)


class Ranking:
    """The texts in their order for one question: as `order` and `topics` return them.

    frequencies: those of all texts, where these are but the candidates that an index has chosen, in
    no order; their own would take for common what they were chosen for.
    """

    def __init__(
        self, query: str, texts: Sequence[str], frequencies: Frequencies | None = None
    ) -> None:
        self._texts = texts
        self._found, chars = _found(query, texts)
        self._total = frequencies.texts if frequencies else len(texts)
        self._having = _having_among(len(texts), frequencies)
        scores = _weighed(self._found, chars, self._rarity)
        self._scores = scores if frequencies else _leaning(scores, chars)

    def order(self) -> list[int]:
        """Return `rank`."""
        scores = self._scores
        rest = (at for at in reversed(range(len(self._texts))) if at not in scores)
        hits = sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)
        return [*hits, *rest]

    def scores(self) -> Mapping[int, float]:
        """Return what each text is worth for the question; one that is missing has nothing."""
        return self._scores

    def shares(self, *, any_word: bool = False) -> dict[int, float]:
        """Return `shares` of the question in each text in which something of it is found.

        any_word: of those words of it that are found in any text.
        """
        found = self.found()
        return shares(of_known_words(found) if any_word else found)

    def found(self) -> list[Found]:
        """Return the strong terms of the question, each with the texts that have it."""
        return [
            Found(it.term, share_of(self._having(it), self._total), it.places)
            for it, *_ in self._found
        ]

    def _rarity(self, hits: _Hits) -> float:
        return rarity_of(self._having(hits), self._total)

    def topics(self, topics: Sequence[str]) -> list[str]:
        """Return each topic once, that of the text most relevant to the question first.

        topics: the topic of each text, which should also stand in the text. Of equals, and without
        a usable question, the topic of more texts comes first, then the one that was used last.
        """
        best: dict[str, float] = {}
        counts: dict[str, int] = {}
        for index in reversed(range(len(topics))):
            topic = topics[index]
            counts[topic] = counts.get(topic, 0) + 1
            best[topic] = max(best.get(topic, 0.0), self._scores.get(index, 0.0))
        return sorted(best, key=lambda topic: (-best[topic], -counts[topic]))


def rank(query: str, texts: Sequence[str]) -> list[int]:
    """Return indexes of `texts`, most relevant to `query` first; of equals, later (newer) first.

    query: words, a question or keywords, in any mixture of languages; only its first 1,000
    characters count. texts: in the order in which they were written. Any string is allowed on
    both sides, empty ones, NUL and lone surrogates, too.

    A text in which something is found gains a little from a neighbour that is relevant, the more
    the shorter it is: what was written one after the other is often about the same.

    Every index appears once: nothing is filtered. A query without any usable term (empty,
    punctuation, English function words only) gives newest first. The same arguments give the same
    order in every process.

    Words are compared without case, in compatibility forms (NFKC), English ones by their stems and
    irregular forms, identifiers also by their parts (`feeRate`, `fee_rate`), Korean and others
    that run together by pairs of characters. A typing error is survived by most English words.
    Synonyms and translations are not found: put them into the query.

    The time grows with the length of the texts and with the different words of the query;
    `benchmarks/ranking.py` measures it. Up to 10,000 texts are kept for the next call,
    beside a second form of them. More are read in parts, so that they may be made only then, and
    of a question as long as a page the last words may not count.
    """
    return Ranking(query, texts).order()


def _found(query: str, texts: Sequence[str]) -> tuple[list[list[_Hits]], Sequence[int]]:
    """Return where the terms of a question are, and how long each text is."""
    words = words_of(query)
    if not words or not texts:
        return [], []
    most = _MOST_SCANS // len(texts) if len(texts) > _MOST_KEPT else QUERY_CHARS
    found = [[_Hits(term) for term in word] for word in words[: max(most, _LEAST_SCANS)]]
    chars = array("L", [0]) * len(texts)
    for number, part in enumerate(_parts(texts)):
        for at, text in zip(part.places, part.texts, strict=True):
            chars[at] = len(text)
        for strong, *pieces in found:
            if strong.look(part) <= _COMMON_RECORDS:
                for piece in pieces:
                    piece.look(part)
        _drop_pieces(found, most if number == 0 else QUERY_CHARS)
    return found, chars


def _drop_pieces(found: Sequence[list[_Hits]], most: int) -> None:
    """Drop the pieces of words that need none, and those that go beyond so many terms."""
    left = max(most - len(found), _LEAST_SCANS)
    for word in found:
        del word[1 if len(word[0].places) > _COMMON_RECORDS else 1 + left :]
        left -= len(word) - 1


def _having_among(count: int, frequencies: Frequencies | None) -> Callable[[_Hits], int]:
    """Return what tells how many of all texts have a term, of which these are so many."""
    total, known = frequencies or Frequencies(count, {})

    def having(hits: _Hits) -> int:
        here = len(hits.places)
        return min(max(known.get(hits.term, here * total // count), here), total)

    return having


def _weighed(
    found: Sequence[list[_Hits]], chars: Sequence[int], rarity: Callable[[_Hits], float]
) -> dict[int, float]:
    """Return BM25 of the texts in which something is found; chars: how long each text is."""
    scores: dict[int, float] = {}
    if not found:
        return scores
    get, mean_chars = scores.get, sum(chars) / len(chars) or 1.0
    short, longer = _K1 * (1 - _B), _K1 * _B / mean_chars
    for hits in [*(word[0] for word in found), *(piece for word in found for piece in word[1:])]:
        weight = (_K1 + 1) * rarity(hits) * (_WEAK_WEIGHT if hits.term.weak else 1.0)
        for at, times in zip(hits.places, hits.times, strict=True):
            damping = short + longer * chars[at]
            scores[at] = get(at, 0.0) + weight * times / (times + damping)
    return scores


def _leaning(scores: dict[int, float], chars: Sequence[int]) -> dict[int, float]:
    """Return the scores with what texts gain from their better neighbours: see _NEIGHBOUR."""
    get = scores.get
    return {
        at: score
        + _NEIGHBOUR
        * max(get(at - 1, 0.0), get(at + 1, 0.0))
        * min(1.0, _SHORT_CHARS / (chars[at] or 1))
        for at, score in scores.items()
    }


def _parts(texts: Sequence[str]) -> Iterable[_Part]:
    """Return the parts of these texts; very many at once would need their memory a second time."""
    if len(texts) <= _MOST_KEPT:
        return _kept(tuple(texts))
    starts = range(0, len(texts), _PART_TEXTS)
    return chain.from_iterable(
        _read(texts[start : start + _PART_TEXTS], range(start, start + _PART_TEXTS))
        for start in starts
    )


@lru_cache(maxsize=1)  # the next question mostly asks the same texts
def _kept(texts: tuple[str, ...]) -> list[_Part]:
    return list(_read(texts, range(len(texts))))


def _read(texts: Sequence[str], places: Sequence[int]) -> Iterator[_Part]:
    """Yield the texts in ASCII, then the others, which need more memory for each character."""
    ascii_at = [at for at, text in enumerate(texts) if text.isascii()]
    if ascii_at:
        chosen = [texts[at] for at in ascii_at]
        spelled = [text.lower() for text in chosen]
        yield _part(chosen, [places[at] for at in ascii_at], spelled, set())
    if len(ascii_at) == len(texts):
        return
    wide_at = [at for at, text in enumerate(texts) if not text.isascii()]
    chosen, spelled = [texts[at] for at in wide_at], []
    respelled = set[int]()
    for at, text in enumerate(chosen):
        normal = normal_form("NFKC", text)
        folded = normal.casefold()
        if len(folded) != len(text) or normal != text:
            respelled.add(at)
            folded = " ".join([normal, *INNER_PART.findall(normal)]).casefold()
        spelled.append(folded)
    yield _part(chosen, [places[at] for at in wide_at], spelled, respelled)


def _part(
    texts: Sequence[str], places: Sequence[int], spelled: list[str], respelled: set[int]
) -> _Part:
    starts = list(accumulate([len(text) + 1 for text in spelled], initial=1))
    return _Part(texts, places, "\n".join(["", *spelled, ""]), starts, respelled)


def _count(term: Term, part: _Part) -> dict[int, int]:
    """Return by index how often a text of this part has `term`; only texts that have it."""
    hits: dict[int, int] = {}
    starts = part.starts
    index = end = 0
    for place in _places(term, part.joined):
        if place >= end:
            index = bisect_right(starts, place, index) - 1
            end = starts[index + 1]
        if not term.begins or _begins(term, part, index, place):
            hits[index] = hits.get(index, 0) + 1
    return hits


def _places(term: Term, joined: str) -> Iterator[int]:
    """Yield where `term` stands, whatever is before it; the `s` of a plural may follow its end."""
    needle = term.needle
    if term.ends and needle[-1].isascii():
        follows = r"(?![0-9])" if needle.isdigit() else r"(?=s?(?![a-z]))"
        for found in re.compile(needle + follows).finditer(joined):
            yield found.start()
        return
    place = joined.find(needle)
    while place >= 0:
        yield place
        place = joined.find(needle, place + len(needle))


def _begins(term: Term, part: _Part, index: int, place: int) -> bool:
    """Say whether a run of letters, digits or wide characters, or a part of a name, begins here."""
    if kind_of(part.joined[place - 1]) != kind_of(term.needle[0]):
        return True
    if index in part.respelled:
        return False
    return bool(INNER_START.match(part.texts[index], place - part.starts[index]))
