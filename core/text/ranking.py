"""Puts texts in order: those whose words fit a question come first, the newer before the older.

There is no index and no dictionary. A question becomes a few dozen short terms, and all texts,
joined and in one spelling, are scanned for them, in English and Korean alike; BM25 weighs what is
found. It knows no synonyms and no translations: a Korean question finds an English record only by
words that both contain.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from math import log
from typing import NamedTuple

from core.text.english import FUNCTION_WORDS, OTHER_FORMS, stem_of
from core.text.normal_form import normal_form

_K1 = 0.9  # how soon a repeated term stops adding to the score
_B = 0.4  # how much a long text is damped: little, since records are short
# What was written just before or after is often about the same, and a short text says little
# itself: one of so many characters gains this share of its neighbour's score, a longer one less.
_NEIGHBOUR, _SHORT_CHARS = 0.2, 60
_GRAM_CHARS = 4
_WEAK_WEIGHT = 0.5  # for pieces of a word, or a long word would outweigh the rest of the question
_COMMON_RECORDS = 100  # a word found in more than these is no typing error: its pieces add little
_QUERY_CHARS = 1_000  # the time of a search grows with the words of its question
# Texts that are kept for the next question; of more than these, texts that are read at once, and
# how often one of them is looked through for a term: a long question would take its time.
_MOST_KEPT, _PART_TEXTS = 10_000, 2_000
_MOST_SCANS, _LEAST_SCANS = 4_000_000, 12
_WHOLE_CHARS = 3  # a stem this short must be the whole word, or `api` would find `apiary`

# From this letter on (kana, Han, Hangul) words run together or carry particles: pairs of
# characters are looked for there, whole words before it.
_FIRST_WIDE = "\u3040"
_RUN = re.compile(rf"[^\W\d_\0-\u303f]+|[^\W_{_FIRST_WIDE}-\U0010ffff]+")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")
_CASE_CHANGE = r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))"
_INNER_START = re.compile(_CASE_CHANGE)
_INNER_PART = re.compile(_CASE_CHANGE + r"(?:[A-Z]*(?![a-z])|[a-z]*)")
_SEPARATOR = re.compile(r"(?<=\w)[-_]+(?=\w)")


class _Term(NamedTuple):
    """A piece of the question, and whether a word of the text must begin or end with it.

    A weak term only supports the strong one before it.
    """

    needle: str
    begins: bool = False
    ends: bool = False
    weak: bool = False


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

    def __init__(self, term: _Term) -> None:
        self.term, self.places, self.times = term, array("L"), array("L")

    def look(self, part: _Part) -> int:
        """Add what a part has; return how many texts have the term so far."""
        if self.term.needle.isascii() or not part.joined.isascii():
            counted = _count(self.term, part)
            self.places.extend(part.places[at] for at in counted)
            self.times.extend(counted.values())
        return len(self.places)


class Ranking:
    """The texts in their order for one question: what `rank` and `rank_topics` return."""

    def __init__(self, query: str, texts: Sequence[str]) -> None:
        self._texts = texts
        self._scores = _scores(query, texts)

    def order(self) -> list[int]:
        """Return `rank`."""
        scores = self._scores
        rest = (at for at in reversed(range(len(self._texts))) if at not in scores)
        hits = sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)
        return [*hits, *rest]

    def scores(self) -> dict[int, float]:
        """Return by index what each text is worth in which something is found."""
        return self._scores

    def topics(self, topics: Sequence[str]) -> list[str]:
        """Return `rank_topics`."""
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


def rank_topics(query: str, topics: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return each topic once, that of the text most relevant to `query` first.

    topics: the topic of each text, which should also stand in the text. Of equals, and without a
    usable query, the topic of more texts comes first, then the one that was used last.
    """
    return Ranking(query, texts).topics(topics)


def _scores(query: str, texts: Sequence[str]) -> dict[int, float]:
    """Return what each text is worth in which something is found: BM25, and its neighbours'."""
    words = _words(query)
    if not words or not texts:
        return {}
    most = _MOST_SCANS // len(texts) if len(texts) > _MOST_KEPT else _QUERY_CHARS
    found = [[_Hits(term) for term in word] for word in words[: max(most, _LEAST_SCANS)]]
    chars = array("L", [0]) * len(texts)
    for number, part in enumerate(_parts(texts)):
        for at, text in zip(part.places, part.texts, strict=True):
            chars[at] = len(text)
        for strong, *pieces in found:
            if strong.look(part) <= _COMMON_RECORDS:
                for piece in pieces:
                    piece.look(part)
        _drop_pieces(found, most if number == 0 else _QUERY_CHARS)
    return _leaning(_weighed(found, chars), chars)


def _drop_pieces(found: Sequence[list[_Hits]], most: int) -> None:
    """Drop the pieces of words that need none, and those that go beyond so many terms."""
    left = max(most - len(found), _LEAST_SCANS)
    for word in found:
        del word[1 if len(word[0].places) > _COMMON_RECORDS else 1 + left :]
        left -= len(word) - 1


def _weighed(found: Sequence[list[_Hits]], chars: Sequence[int]) -> dict[int, float]:
    """Return BM25 of the texts in which something is found; chars: how long each text is."""
    scores: dict[int, float] = {}
    get, count, mean_chars = scores.get, len(chars), sum(chars) / len(chars) or 1.0
    short, longer = _K1 * (1 - _B), _K1 * _B / mean_chars
    for hits in [*(word[0] for word in found), *(piece for word in found for piece in word[1:])]:
        having = len(hits.places)
        rarity = log(1 + (count - having + 0.5) / (having + 0.5))
        weight = (_K1 + 1) * rarity * (_WEAK_WEIGHT if hits.term.weak else 1.0)
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
            folded = " ".join([normal, *_INNER_PART.findall(normal)]).casefold()
        spelled.append(folded)
    yield _part(chosen, [places[at] for at in wide_at], spelled, respelled)


def _part(
    texts: Sequence[str], places: Sequence[int], spelled: list[str], respelled: set[int]
) -> _Part:
    starts = list(accumulate([len(text) + 1 for text in spelled], initial=1))
    return _Part(texts, places, "\n".join(["", *spelled, ""]), starts, respelled)


def _words(query: str) -> list[list[_Term]]:
    """Return strong terms, each followed by the weak ones that support it."""
    words: list[list[_Term]] = []
    for term in dict.fromkeys(_terms(query)):
        if term.weak and words:
            words[-1].append(term)
        else:
            words.append([term])
    return words


def _terms(query: str) -> Iterator[_Term]:
    for run in _runs(query):
        if run[0] >= _FIRST_WIDE:
            for start in range(len(run) - 1):
                yield _Term(run[start : start + 2])
            yield _Term(run[0], begins=True, weak=len(run) > 1)
        elif run.isdecimal():
            yield _Term(run, begins=True, ends=True)
        elif run.isalpha():
            yield from _word_terms(run)
        else:
            yield _Term(run, begins=True)


def _runs(query: str) -> Iterator[str]:
    """Yield runs of letters and digits; `feeRate`, `fee_rate`, `utf8` come in parts and joined."""
    query = normal_form("NFKC", query[:_QUERY_CHARS])
    split = _INNER_START.sub(r" \g<0>", query)
    joined = _SEPARATOR.sub("", query)
    for run in _RUN.findall(f"{split} {joined}".casefold()):
        yield run
        if run[0] < _FIRST_WIDE:
            yield from _LETTERS_OR_DIGITS.findall(run)


def _word_terms(word: str) -> Iterator[_Term]:
    """Yield the stem of an English word, and its padded 4-grams, which survive a typing error."""
    if len(word) == 1 or word in FUNCTION_WORDS:
        return
    for form in OTHER_FORMS.get(word, ()):
        yield _Term(form, begins=True, ends=True)
    stem = stem_of(word)
    yield _Term(stem, begins=True, ends=len(stem) <= _WHOLE_CHARS)
    if len(stem) >= _GRAM_CHARS - 1:
        yield _Term(stem[: _GRAM_CHARS - 1], begins=True, weak=True)
        grams = [stem[start : start + _GRAM_CHARS] for start in range(len(stem) - _GRAM_CHARS + 1)]
        for gram in grams[::2] + grams[1::2]:
            yield _Term(gram, weak=True)
        if stem == word:
            yield _Term(word[1 - _GRAM_CHARS :], ends=True, weak=True)


def _count(term: _Term, part: _Part) -> dict[int, int]:
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


def _places(term: _Term, joined: str) -> Iterator[int]:
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


def _begins(term: _Term, part: _Part, index: int, place: int) -> bool:
    """Say whether a run of letters, digits or wide characters, or a part of a name, begins here."""
    if _kind(part.joined[place - 1]) != _kind(term.needle[0]):
        return True
    if index in part.respelled:
        return False
    return bool(_INNER_START.match(part.texts[index], place - part.starts[index]))


def _kind(char: str) -> str:
    """Return the kind of a character; a run ends where it changes."""
    if char.isdecimal():
        return "digit"
    if not char.isalpha():
        return ""
    return "wide" if char >= _FIRST_WIDE else "letter"
