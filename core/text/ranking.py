"""Puts texts in order: those whose words fit a question come first, the newer before the older.

There is no index and no dictionary. A question becomes a few dozen short terms, and all texts,
joined and in one spelling, are scanned for them, in English and Korean alike; BM25 weighs what is
found. It knows no synonyms and no translations: a Korean question finds an English record only by
words that both contain.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from core.text.plain import normal_form
from core.text.shares import Found, Frequencies, of_known_words, rarity_of, share_of, shares
from core.text.terms import INNER_PART, INNER_START, QUERY_CHARS, Term, kind_of, words_of

_K1 = 0.9  # how soon a repeated term stops adding to the score
_B = 0.4  # how much a long text is damped: little, since records are short
# What was written just before or after is often about the same, and a short text says little
# itself: one of so many characters gains this share of its neighbour's score, a longer one less.
_NEIGHBOUR, _SHORT_CHARS = 0.2, 60
_WEAK_WEIGHT = 0.5  # for pieces of a word, or a long word would outweigh the rest of the question
_COMMON_RECORDS = 100  # a word found in more than these is no typing error: its pieces add little
# Texts that are kept for the next question, and of more than these how often one of them is looked
# through for a term: a long question would take its time.
_MOST_KEPT = 10_000
_MOST_SCANS, _LEAST_SCANS = 4_000_000, 12


class _Part(NamedTuple):
    """Some of the texts in the form that is scanned: NFKC, caseless.

    places: which of all texts these are. texts: as they were written. joined: all of them, each on
    a line. starts: where each begins there, and the end. respelled: those that could not be taken
    over character by character.
    """

    places: Sequence[int]
    texts: Sequence[str]
    joined: str
    starts: Sequence[int]
    respelled: set[int]


class _Hits(NamedTuple):
    """How often each text has a term; only texts that have it."""

    term: Term
    times: Mapping[int, int]


class Ranking:
    """The texts in their order for one question.

    query: words, a question or keywords, in any mixture of languages; only its first 1,000
    characters count. texts: in the order in which they were written. Any string is allowed on both
    sides, empty ones, NUL and lone surrogates, too. frequencies: those of all texts, where these
    are but the candidates that an index has chosen, in no order; their own would take for common
    what they were chosen for.

    Words are compared without case, in compatibility forms (NFKC), English ones by their stems and
    irregular forms, identifiers also by their parts (`feeRate`, `fee_rate`), Korean and others
    that run together by pairs of characters. A typing error is survived by most English words.
    Synonyms and translations are not found: put them into the query. The time grows with the length
    of the texts and with the different words of the query; `benchmarks/ranking.py` measures it.
    """

    def __init__(
        self, query: str, texts: Sequence[str], frequencies: Frequencies | None = None
    ) -> None:
        self._count = len(texts)
        self._total, self._known = frequencies or Frequencies(len(texts), {})
        self._words = _found(query, texts) if texts else []
        scores = self._weighed([len(text) for text in texts])
        self._scores = scores if frequencies else _leaning(scores, texts)

    def order(self) -> list[int]:
        """Return the indexes of all texts, the most relevant first; of equals, the later first.

        Nothing is filtered. A query without any usable term (empty, punctuation, English function
        words only) gives the newest first. The same arguments give the same order in every process.
        """
        scores = self._scores
        rest = (at for at in reversed(range(self._count)) if at not in scores)
        return [*sorted(scores, key=lambda at: (scores[at], at), reverse=True), *rest]

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
            Found(it.term, share_of(self._having(it), self._total), list(it.times))
            for it, *_ in self._words
        ]

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

    def _having(self, hits: _Hits) -> int:
        """Return how many of all texts have a term."""
        here = len(hits.times)
        having = self._known.get(hits.term, here * self._total // self._count)
        return min(max(having, here), self._total)

    def _weighed(self, chars: Sequence[int]) -> dict[int, float]:
        """Return BM25 of the texts in which something is found; chars: how long each text is."""
        scores: dict[int, float] = {}
        mean_chars = sum(chars) / (len(chars) or 1) or 1.0
        short, longer = _K1 * (1 - _B), _K1 * _B / mean_chars
        strong = [word[0] for word in self._words]
        for hits in [*strong, *(piece for word in self._words for piece in word[1:])]:
            weight = (_K1 + 1) * rarity_of(self._having(hits), self._total)
            weight *= _WEAK_WEIGHT if hits.term.weak else 1.0
            for at, times in hits.times.items():
                damping = short + longer * chars[at]
                scores[at] = scores.get(at, 0.0) + weight * times / (times + damping)
        return scores


def rank(query: str, texts: Sequence[str]) -> list[int]:
    """Return the order of a `Ranking` of all texts."""
    return Ranking(query, texts).order()


def _leaning(scores: Mapping[int, float], texts: Sequence[str]) -> dict[int, float]:
    """Return the scores with what texts gain from their better neighbours: see _NEIGHBOUR."""
    leaning: dict[int, float] = {}
    for at, score in scores.items():
        best = max(scores.get(at - 1, 0.0), scores.get(at + 1, 0.0))
        leaning[at] = score + _NEIGHBOUR * best * min(1.0, _SHORT_CHARS / (len(texts[at]) or 1))
    return leaning


def _found(query: str, texts: Sequence[str]) -> list[list[_Hits]]:
    """Return the strong terms of a question, each followed by its pieces, with their texts.

    Where there are very many texts, the last terms of a long question are left out.
    """
    words = words_of(query)
    if not words:
        return []
    are_kept = len(texts) <= _MOST_KEPT
    parts = _kept(tuple(texts)) if are_kept else _read(texts)
    most = QUERY_CHARS if are_kept else _MOST_SCANS // len(texts)
    words = words[: max(most, _LEAST_SCANS)]
    left = max(most - len(words), _LEAST_SCANS)
    found = list[list[_Hits]]()
    for strong, *pieces in words:
        hits = _hits(strong, parts)
        is_common = len(hits.times) > _COMMON_RECORDS
        looked_for = pieces[: 0 if is_common else left]
        found.append([hits, *(_hits(piece, parts) for piece in looked_for)])
        left -= len(looked_for)
    return found


@lru_cache(maxsize=1)  # the next question mostly asks the same texts
def _kept(texts: tuple[str, ...]) -> list[_Part]:
    return _read(texts)


def _read(texts: Sequence[str]) -> list[_Part]:
    """Return the texts in ASCII, then the others, which need more memory for each character."""
    parts = list[_Part]()
    for is_ascii in (True, False):
        places = [at for at, text in enumerate(texts) if text.isascii() is is_ascii]
        chosen = [texts[at] for at in places]
        spelled, respelled = list[str](), set[int]()
        for at, text in enumerate(chosen):
            normal = text if is_ascii else normal_form("NFKC", text)
            folded = normal.lower() if is_ascii else normal.casefold()
            if len(folded) != len(text) or normal != text:
                respelled.add(at)
                folded = " ".join([normal, *re.findall(INNER_PART, normal)]).casefold()
            spelled.append(folded)
        starts = list(accumulate([len(text) + 1 for text in spelled], initial=1))
        if places:
            joined = "\n".join(["", *spelled, ""])
            parts.append(_Part(places, chosen, joined, starts, respelled))
    return parts


def _hits(term: Term, parts: Sequence[_Part]) -> _Hits:
    """Return how often each text has a term."""
    times: dict[int, int] = {}
    for part in parts:
        if part.joined.isascii() and not term.needle.isascii():
            continue
        index = end = 0
        for place in _places(term, part.joined):
            if place >= end:
                index = bisect_right(part.starts, place, index) - 1
                end = part.starts[index + 1]
            if not term.begins or _begins(term, part, index, place):
                at = part.places[index]
                times[at] = times.get(at, 0) + 1
    return _Hits(term, times)


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
