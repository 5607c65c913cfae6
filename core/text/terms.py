"""Takes a question or a text apart into the short terms by which one is found in the other.

English words become their stems, identifiers their parts, and what is written in scripts that run
words together becomes pairs of characters.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from core.text.english import function_words, other_forms, stem_of
from core.text.hangul import asks_only, one_syllable_of, without_particle
from core.text.normal_form import normal_form

QUERY_CHARS = 1_000  # the time of a search grows with the words of its question
_GRAM_CHARS = 4
_WHOLE_CHARS = 3  # a stem this short must be the whole word, or `api` would find `apiary`

# From this letter on (kana, Han, Hangul) words run together or carry particles: pairs of
# characters are looked for there, whole words before it.
FIRST_WIDE = "\u3040"
_RUN = re.compile(rf"[^\W\d_\0-\u303f]+|[^\W_{FIRST_WIDE}-\U0010ffff]+")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")
_CASE_CHANGE = r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))"
INNER_START = re.compile(_CASE_CHANGE)
INNER_PART = re.compile(_CASE_CHANGE + r"(?:[A-Z]*(?![a-z])|[a-z]*)")
_SEPARATOR = re.compile(r"(?<=\w)[-_]+(?=\w)")


class Term(NamedTuple):
    """A piece of the question, and whether a word of the text must begin or end with it.

    A weak term only supports the strong one before it. A spare one is another form of what the
    question has, reaches into a particle or only makes a question of the other words: a
    text that lacks it lacks nothing. run: the word of the question that it is a piece of.
    """

    needle: str
    begins: bool = False
    ends: bool = False
    weak: bool = False
    spare: bool = False
    run: str = ""


@lru_cache(maxsize=16)
def words_of(query: str) -> Sequence[Sequence[Term]]:
    """Return strong terms, each followed by the weak ones that support it."""
    terms: dict[tuple[str, bool, bool, bool], Term] = {}
    for term in _terms(query[:QUERY_CHARS]):
        same = term[:4]
        if same not in terms or terms[same].spare > term.spare:
            terms[same] = term
    words: list[list[Term]] = []
    for term in terms.values():
        if term.weak and words:
            words[-1].append(term)
        else:
            words.append([term])
    return words


def pieces_of(text: str) -> Iterator[str]:
    """Yield, in one spelling, the words of a text and what they are made of.

    An index over whole words that holds these, too, finds a text by every strong term that stands
    in it: by a part of an identifier, and by a pair of characters of a script without blanks.
    """
    for run, _ in _runs(text):
        yield run
        if run[0] >= FIRST_WIDE:
            for start in range(len(run) - 1):
                yield run[start : start + 2]


def kind_of(char: str) -> str:
    """Return the kind of a character; a run ends where it changes."""
    if char.isdecimal():
        return "digit"
    if not char.isalpha():
        return ""
    return "wide" if char >= FIRST_WIDE else "letter"


def _terms(query: str) -> Iterator[Term]:
    for run, is_spare in _runs(query):
        if run[0] >= FIRST_WIDE:
            bare = len(without_particle(run))
            is_spare = is_spare or asks_only(run)
            if one := one_syllable_of(run):
                yield Term(one, begins=True, spare=is_spare, run=run)
            for start in range(len(run) - 1):
                ends_later = start + 2 > bare
                yield Term(run[start : start + 2], spare=is_spare or ends_later, run=run)
            if not one:
                yield Term(run[0], begins=True, weak=len(run) > 1, spare=is_spare, run=run)
        elif run.isdecimal():
            yield Term(run, begins=True, ends=True, spare=is_spare, run=run)
        elif run.isalpha():
            yield from _word_terms(run, is_spare)
        else:
            yield Term(run, begins=True, spare=is_spare, run=run)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield runs of letters and digits, and whether each is but another form of those before it.

    `feeRate`, `fee_rate`, `utf8` come in parts and joined.
    """
    text = normal_form("NFKC", text)
    split = _RUN.findall(INNER_START.sub(r" \g<0>", text).casefold())
    for runs, known in ((split, ()), (_RUN.findall(_SEPARATOR.sub("", text).casefold()), split)):
        others = frozenset(known)
        for run in runs:
            is_spare = bool(others) and run not in others
            yield run, is_spare
            if run[0] < FIRST_WIDE and not run.isalpha():
                for part in _LETTERS_OR_DIGITS.findall(run):
                    yield part, is_spare or part != run


def _word_terms(word: str, is_spare: bool) -> Iterator[Term]:
    """Yield the stem of an English word, and its padded 4-grams, which survive a typing error."""
    if len(word) == 1 or word in function_words():
        return
    for form in other_forms().get(word, ()):
        yield Term(form, begins=True, ends=True, spare=True, run=word)
    stem = stem_of(word)
    yield Term(stem, begins=True, ends=len(stem) <= _WHOLE_CHARS, spare=is_spare, run=word)
    if len(stem) >= _GRAM_CHARS - 1:
        yield Term(stem[: _GRAM_CHARS - 1], begins=True, weak=True)
        grams = [stem[start : start + _GRAM_CHARS] for start in range(len(stem) - _GRAM_CHARS + 1)]
        for gram in grams[::2] + grams[1::2]:
            yield Term(gram, weak=True)
        if stem == word:
            yield Term(word[1 - _GRAM_CHARS :], ends=True, weak=True)
