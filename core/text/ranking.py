"""Puts texts in order: those whose words fit a question come first, the newer before the older.

There is no index and no dictionary. A question becomes a few dozen short terms, and all texts,
joined and in one spelling, are scanned for them, in English and Korean alike; BM25 weighs what is
found. It knows no synonyms and no translations: a Korean question finds an English record only by
words that both contain.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from math import log
from typing import NamedTuple

from core.text.english import FUNCTION_WORDS, OTHER_FORMS, stem_of

_K1 = 0.9  # how soon a repeated term stops adding to the score
_B = 0.4  # how much a long text is damped: little, since records are short
# What was written just before or after is often about the same, and a short text says little
# itself: one of so many characters gains this share of its neighbour's score, a longer one less.
_NEIGHBOUR, _SHORT_CHARS = 0.2, 60
_GRAM_CHARS = 4
_WEAK_WEIGHT = 0.5  # for pieces of a word, or a long word would outweigh the rest of the question
_COMMON_RECORDS = 100  # a word found in more than these is no typing error: its pieces add little
_QUERY_CHARS = 1_000  # the time of a search grows with the words of its question
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


class _Reading(NamedTuple):
    """Texts in the form that is scanned: NFKC, caseless.

    joined: all of them, each on a line. starts: where each begins there, and the end. respelled:
    those that could not be taken over character by character.
    """

    texts: tuple[str, ...]
    joined: str
    starts: list[int]
    respelled: set[int]
    mean_chars: float


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
    `benchmarks/ranking.py` measures it. The last texts are kept for the next call, beside a second
    form of them.
    """
    found = rank_hits(query, texts)
    rest = set(range(len(texts))).difference(found)
    return found + sorted(rest, reverse=True)


def rank_hits(query: str, texts: Sequence[str]) -> list[int]:
    """Return the first part of `rank`: only the texts in which something of the query was found."""
    scores = _leaning(_scores(query, texts), texts)
    return sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)


def _leaning(scores: dict[int, float], texts: Sequence[str]) -> dict[int, float]:
    """Return the scores with what texts gain from their better neighbours: see _NEIGHBOUR."""
    get = scores.get
    return {
        at: score
        + _NEIGHBOUR
        * max(get(at - 1, 0.0), get(at + 1, 0.0))
        * min(1.0, _SHORT_CHARS / (len(texts[at]) or 1))
        for at, score in scores.items()
    }


def rank_topics(query: str, topics: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return each topic once, that of the text most relevant to `query` first.

    topics: the topic of each text, which should also stand in the text. Of equals, and without a
    usable query, the topic of more texts comes first, then the one that was used last.
    """
    best: dict[str, float] = {}
    counts: dict[str, int] = {}
    scores = _leaning(_scores(query, texts), texts)
    for index in reversed(range(len(texts))):
        topic = topics[index]
        counts[topic] = counts.get(topic, 0) + 1
        best[topic] = max(best.get(topic, 0.0), scores.get(index, 0.0))
    return sorted(best, key=lambda topic: (-best[topic], -counts[topic]))


def _scores(query: str, texts: Sequence[str]) -> dict[int, float]:
    """Return BM25 by index, of the texts in which something is found."""
    scores: dict[int, float] = {}
    words = _words(query)
    if not words or not texts:
        return scores
    reading = _read(tuple(texts))
    doubtful: list[_Term] = []
    for strong, *pieces in words:
        if _add(scores, strong, reading) <= _COMMON_RECORDS:
            doubtful += pieces
    for piece in doubtful:
        _add(scores, piece, reading)
    return scores


def _add(scores: dict[int, float], term: _Term, reading: _Reading) -> int:
    """Add what a term is worth to the texts that have it; how many these are."""
    hits = _hits(term, reading)
    count = len(reading.texts)
    rarity = log(1 + (count - len(hits) + 0.5) / (len(hits) + 0.5))
    weight = (_K1 + 1) * rarity * (_WEAK_WEIGHT if term.weak else 1.0)
    short, longer = _K1 * (1 - _B), _K1 * _B / reading.mean_chars
    for index, times in hits.items():
        damping = short + longer * len(reading.texts[index])
        scores[index] = scores.get(index, 0.0) + weight * times / (times + damping)
    return len(hits)


@lru_cache(maxsize=1)  # the next question mostly asks the same texts
def _read(texts: tuple[str, ...]) -> _Reading:
    spelled: list[str] = []
    respelled = set[int]()
    for at, text in enumerate(texts):
        normal = unicodedata.normalize("NFKC", text)
        folded = normal.casefold()
        if len(folded) != len(text) or normal != text:
            respelled.add(at)
            folded = " ".join([normal, *_INNER_PART.findall(normal)]).casefold()
        spelled.append(folded)
    starts = list(accumulate([len(text) + 1 for text in spelled], initial=1))
    mean_chars = sum(map(len, texts)) / len(texts) or 1.0
    return _Reading(texts, "\n".join(["", *spelled, ""]), starts, respelled, mean_chars)


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
    query = unicodedata.normalize("NFKC", query[:_QUERY_CHARS])
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


def _hits(term: _Term, reading: _Reading) -> dict[int, int]:
    """Return by index how often a text has `term`; only texts that have it."""
    hits: dict[int, int] = {}
    starts = reading.starts
    index = end = 0
    for place in _places(term, reading.joined):
        if place >= end:
            index = bisect_right(starts, place, index) - 1
            end = starts[index + 1]
        if not term.begins or _begins(term, reading, index, place):
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


def _begins(term: _Term, reading: _Reading, index: int, place: int) -> bool:
    """Say whether a run of letters, digits or wide characters, or a part of a name, begins here."""
    if _kind(reading.joined[place - 1]) != _kind(term.needle[0]):
        return True
    if index in reading.respelled:
        return False
    return bool(_INNER_START.match(reading.texts[index], place - reading.starts[index]))


def _kind(char: str) -> str:
    """Return the kind of a character; a run ends where it changes."""
    if char.isdecimal():
        return "digit"
    if not char.isalpha():
        return ""
    return "wide" if char >= _FIRST_WIDE else "letter"
