"""Puts records in order: those whose words fit a question first, the newer before the older.

There is no index and no dictionary. A question becomes a few dozen short terms, and every text
is scanned for them, in English and Korean alike; BM25 weighs what was found. What it cannot do:
synonyms and translations. A Korean question finds an English record only by words both contain.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress
from math import log
from typing import NamedTuple

from core.words import FUNCTION_WORDS, stem_of

_K1 = 0.9  # how soon a repeated term stops adding to the score
_B = 0.4  # how much a long text is damped: little, since records are short
_GRAM_CHARS = 4
_WEAK_WEIGHT = 0.5  # for pieces of a word, or a long word would outweigh the rest of the question
_COMMON_RECORDS = 100  # a word found in more than these is no typing error: its pieces add little
_QUERY_CHARS = 1_000  # the time of a search grows with the words of its question

# From this letter on (kana, Han, Hangul) words run together or carry particles: pairs of
# characters are looked for there, whole words before it.
_FIRST_WIDE = "\u3040"
_RUN = re.compile(rf"[^\W\d_\0-\u303f]+|[^\W_{_FIRST_WIDE}-\U0010ffff]+")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")

# The class of capitals stands first because `re` can then skip quickly through a text.
_CASE_CHANGE = r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))"
_INNER_START = re.compile(_CASE_CHANGE)
_INNER_PART = re.compile(_CASE_CHANGE + r"(?:[A-Z]*(?![a-z])|[a-z]*)")
_SEPARATOR = re.compile(r"(?<=\w)[-_]+(?=\w)")

_WHOLE_CHARS = 3  # a stem this short must be the whole word, or `api` would find `apiary`


class _Term(NamedTuple):
    """A piece of the question, and whether a word of the text must begin or end with it.

    A weak term only supports the strong one before it.
    """

    needle: str
    begins: bool = False
    ends: bool = False
    weak: bool = False


def order(query: str, texts: Sequence[str]) -> list[int]:
    """Indexes of `texts`, most relevant to `query` first; of equals the later (newer) first.

    Every index appears once: nothing is filtered. A query without any usable term (empty,
    punctuation, English function words only) gives newest first. Only the first 1,000
    characters of a query count. Any string is allowed on both sides.
    """
    scores = [0.0] * len(texts)
    terms = list(dict.fromkeys(_terms(query)))
    if terms and texts:
        scores = _scores(terms, [_fold(text) for text in texts])
    newest_first = range(len(texts) - 1, -1, -1)
    return sorted(newest_first, key=scores.__getitem__, reverse=True)


def _scores(terms: Sequence[_Term], folded: Sequence[str]) -> list[float]:
    """BM25 of every text."""
    mean_chars = sum(map(len, folded)) / len(folded) or 1.0
    damping = [_K1 * (1 - _B + _B * len(text) / mean_chars) for text in folded]
    scores = [0.0] * len(folded)
    strong_found = 0
    for term in terms:
        if term.weak and strong_found > _COMMON_RECORDS:
            continue
        hits, counts = _find(term, folded)
        if not term.weak:
            strong_found = len(hits)
        rarity = log(1 + (len(folded) - len(hits) + 0.5) / (len(hits) + 0.5))
        weight = (_K1 + 1) * rarity * (_WEAK_WEIGHT if term.weak else 1.0)
        for index, count in zip(hits, counts, strict=True):
            scores[index] += weight * count / (count + damping[index])
    return scores


# A third of a search is folding, and the next search sees the same records. The bound keeps
# some megabytes at most for records of the permitted size.
@lru_cache(maxsize=2_048)
def _fold(text: str) -> str:
    """`text` in one spelling (NFKC, caseless), with the inner parts of camelCase names added."""
    text = unicodedata.normalize("NFKC", text)
    parts = _INNER_PART.findall(text)
    return " ".join([text, *parts]).casefold()


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
    """Runs of letters and digits; `feeRate`, `fee_rate` and `utf8` as parts and joined."""
    query = unicodedata.normalize("NFKC", query[:_QUERY_CHARS])
    split = _INNER_START.sub(r" \g<0>", query)
    joined = _SEPARATOR.sub("", query)
    for run in _RUN.findall(f"{split} {joined}".casefold()):
        yield run
        if run[0] < _FIRST_WIDE:
            yield from _LETTERS_OR_DIGITS.findall(run)


def _word_terms(word: str) -> Iterator[_Term]:
    """The stem of an English word and its padded 4-grams, which survive a typing error."""
    if len(word) == 1 or word in FUNCTION_WORDS:
        return
    stem = stem_of(word)
    yield _Term(stem, begins=True, ends=len(stem) <= _WHOLE_CHARS)
    if len(stem) >= _GRAM_CHARS - 1:
        yield _Term(stem[: _GRAM_CHARS - 1], begins=True, weak=True)
        for start in range(len(stem) - _GRAM_CHARS + 1):
            yield _Term(stem[start : start + _GRAM_CHARS], weak=True)
        if stem == word:
            yield _Term(word[1 - _GRAM_CHARS :], ends=True, weak=True)


def _find(term: _Term, folded: Sequence[str]) -> tuple[list[int], list[int]]:
    """The indexes of the texts that contain `term`, and how often each does."""
    needle = term.needle
    hits = [index for index, text in enumerate(folded) if needle in text]
    if not (term.begins or term.ends):
        return hits, [folded[index].count(needle) for index in hits]
    counts = [_count_at_borders(term, folded[index]) for index in hits]
    return list(compress(hits, counts)), list(filter(None, counts))


def _count_at_borders(term: _Term, text: str) -> int:
    needle, begins, ends, _ = term
    first, last = _script(needle[0]), _script(needle[-1])
    count = 0
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        if not (begins and start and _script(text[start - 1]) == first):
            if ends and text[end : end + 1] == "s":
                end += 1
            count += not (ends and end < len(text) and _script(text[end]) == last)
        start = text.find(needle, end)
    return count


def _script(char: str) -> str:
    """What a word's border is judged by: a run ends where this changes."""
    if char.isdecimal():
        return "digit"
    if not char.isalpha():
        return ""
    return "wide" if char >= _FIRST_WIDE else "letter"
