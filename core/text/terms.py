"""Takes a question or a text apart into the short terms by which one is found in the other.

There is no dictionary, only endings, irregular forms and empty words of English and Korean.
Expressions are compiled at their first use: a hook only asks for stems.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from core.data import word_groups, word_list
from core.text.plain import normal_form

QUERY_CHARS = 1_000  # the time of a search grows with the words of its question
_GRAM_CHARS = 4
_WHOLE_CHARS = 3  # a stem this short must be the whole word, or `api` would find `apiary`

# From this letter on (kana, Han, Hangul) words run together or carry particles: pairs of
# characters are looked for there, whole words before it.
FIRST_WIDE = "\u3040"
_RUN = rf"[^\W\d_\0-\u303f]+|[^\W_{FIRST_WIDE}-\U0010ffff]+"
_CASE_CHANGE = r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z])(?!s(?![a-z])))"  # none in `URLs`
INNER_START = re.compile(_CASE_CHANGE)
INNER_PART = _CASE_CHANGE + r"(?:[A-Z]*s?(?![a-z])|[a-z]*)"
_NAME_TAIL = re.compile(r"(?<=[A-Za-z#+`\"')\]])([0-9]*)([가-힣]++)(?![^\W_])")
# A name of one or two letters that a sign ends (`C#`, `g++`), by how the sign is said: its letters
# alone tell nothing. A particle may follow it.
_SIGNED = re.compile(r"(?<![a-z0-9_])([a-z]{1,2})(\+\+|#)(?![a-z0-9_+#])")
_SIGNS = {"#": "sharp", "++": "plusplus"}
_ENGLISH_ENDING = re.compile(r"(?<=\w{4})(?:ings?|ions?|ies|ed|es|ly|e|y)$|(?<=\w{3})(?<![isu])s$")

_MOST_ENDING_CHARS = 6  # of a Korean noun: two particles, or the verb that makes one of it
# The vowel of a stem, by the one that it becomes with an ending: 치어 is 쳐, 꾸어 is 꿔.
_STEM_VOWELS = {"\u1167": "\u1175", "\u116a": "\u1169", "\u116f": "\u116e", "\u116b": "\u116c"}
_BEHIND_A_JOINED = tuple("서야도라지졌진질집주준줄줘놓버보봤본둔두")
_NAME_IN_NAME = re.compile(r"(?<![^\W_])[A-Za-z]([A-Z][a-z]+)")  # in `OAuth`, `xAxis`
# Of syllables as NFD has them: the last consonants ㅆ, and ㄴ ㄹ ㅁ ㅂ; the vowels ㅣ and ㅜ; ㅏ.
_PAST, _ENDINGS = "\u11bb", ("\u11ab", "\u11af", "\u11b7", "\u11b8")
_OF_VERBS, _A = ("\u1175", "\u116e"), "\u1161"


class Term(NamedTuple):
    """A piece of the question. begins, ends: with it a word of the text must begin or end.

    is_weak: only supports the strong term before it. is_spare: another form, a pair that reaches
    into a particle, or a word that only asks; a text without it lacks nothing. run: the word.
    """

    needle: str
    begins: bool = False
    ends: bool = False
    is_weak: bool = False
    is_spare: bool = False
    run: str = ""


@lru_cache(maxsize=16)
def terms_of(query: str) -> Sequence[Sequence[Term]]:
    """Return strong terms, each followed by the weak ones that support it.

    They are stems of English words, parts of identifiers, and pairs of characters of other scripts.
    """
    terms: dict[tuple[str, bool, bool, bool], Term] = {}
    query = normal_form("NFKC", query[:QUERY_CHARS])
    query = _NAME_TAIL.sub(lambda tail: f"{tail[1]} " if tail[2] in _endings() else tail[0], query)
    inner_names = {name.casefold() for name in _NAME_IN_NAME.findall(query)}
    for run, is_spare in _find_runs(query):
        pieces = _wide_terms if run[0] >= FIRST_WIDE else _narrow_terms
        for term in pieces(run, is_spare):
            if run in inner_names and not term.is_weak:
                term = term._replace(ends=True)  # or `OAuth` would find an author
            key = term[:4]
            if key not in terms or terms[key].is_spare > term.is_spare:
                terms[key] = term
    words: list[list[Term]] = []
    for term in terms.values():
        if term.is_weak and words:
            words[-1].append(term)
        else:
            words.append([term])
    return words


def pieces_of(text: str) -> Iterator[str]:
    """Yield, in one spelling, the words of a text and their pieces.

    An index of words that holds these finds a text by every strong term in it.
    """
    for run, _ in _find_runs(text):
        yield run
        if run[0] >= FIRST_WIDE:
            yield from (run[start : start + 2] for start in range(len(run) - 1))


def names_with_sign(caseless: str) -> list[str]:
    """Return the names that a sign ends, as words: `c#` is csharp, `c++` cplusplus."""
    if "#" not in caseless and "++" not in caseless:
        return []
    return [f"{letters}{_SIGNS[sign]}" for letters, sign in _SIGNED.findall(caseless)]


def kind_of(char: str) -> str:
    """Return the kind of a character; a run ends where it changes."""
    if char.isdecimal():
        return "digit"
    if not char.isalpha():
        return ""
    return "wide" if char >= FIRST_WIDE else "letter"


def one_spelling(text: str) -> str:
    """Return a text in NFKC, each Korean loan word in one spelling: 메세지 is 메시지."""
    text = normal_form("NFKC", text)
    if text.isascii():
        return text
    spellings = _loan_spellings()
    return re.sub("|".join(spellings), lambda match: spellings[match[0]], text)


@cache
def _loan_spellings() -> Mapping[str, str]:
    groups = word_groups("loan_words")
    return {other: spelling for spelling, *others in groups for other in others}


def _find_runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield runs of letters and digits, and whether each is only another form.

    `feeRate`, `fee_rate`, `utf8` come in parts and joined, `C#` as csharp.
    """
    text = one_spelling(text)
    split_runs = re.findall(_RUN, INNER_START.sub(r" \g<0>", text).casefold())
    split_runs += names_with_sign(text.casefold())
    joined_runs = re.findall(_RUN, re.sub(r"(?<=\w)[-_]+(?=\w)", "", text).casefold())
    known_runs = frozenset(split_runs)
    for runs, is_joined in ((split_runs, False), (joined_runs, True)):
        for run in runs:
            is_spare = is_joined and run not in known_runs
            yield run, is_spare
            if run[0] < FIRST_WIDE and not run.isalpha():
                for part in re.findall(r"\d+|[^\W\d_]+", run):
                    yield part, is_spare or part != run


def _wide_terms(run: str, is_spare: bool) -> Iterator[Term]:
    bare_chars = len(without_particle(run))
    is_spare = is_spare or run in word_list("asking")
    # `앱을`, `묶기`: a noun of one syllable, and an ending of hardly another; a verb of one.
    is_one_syllable = run[1:] in word_list("behind_one_syllable") or (
        run[0] in word_list("verbs_of_one_syllable") and run[1:2] in word_list("endings_of_verbs")
    )
    if is_one_syllable:
        yield Term(run[0], begins=True, is_spare=is_spare, run=run)
    for start in range(len(run) - 1):
        yield Term(run[start : start + 2], is_spare=is_spare or start + 2 > bare_chars, run=run)
    if not is_one_syllable:
        yield Term(run[0], begins=True, is_weak=len(run) > 1, is_spare=is_spare, run=run)


def _narrow_terms(word: str, is_spare: bool) -> Iterator[Term]:
    """Yield the stem of an English word, and 4-grams, which survive a typing error."""
    if not word.isalpha():
        yield Term(word, begins=True, ends=word.isdecimal(), is_spare=is_spare, run=word)
        return
    if len(word) == 1 or word in word_list("function_words"):
        return
    for form in _other_forms().get(word, ()):
        yield Term(form, begins=True, ends=True, is_spare=True, run=word)
    stem = stem_of(word)
    yield Term(stem, begins=True, ends=len(stem) <= _WHOLE_CHARS, is_spare=is_spare, run=word)
    if len(stem) >= _GRAM_CHARS - 1:
        yield Term(stem[: _GRAM_CHARS - 1], begins=True, is_weak=True)
        grams = [stem[start : start + _GRAM_CHARS] for start in range(len(stem) - _GRAM_CHARS + 1)]
        yield from (Term(gram, is_weak=True) for gram in grams[::2] + grams[1::2])
        if stem == word:
            yield Term(word[1 - _GRAM_CHARS :], ends=True, is_weak=True)


@cache
def _other_forms() -> Mapping[str, list[str]]:
    groups = word_groups("irregular_forms")
    return {word: [form for form in forms if form != word] for forms in groups for word in forms}


def stem_of(word: str) -> str:
    """Return a lower-case word without the ending of a plural, a tense or an adverb."""
    return _ENGLISH_ENDING.sub("", word)


def without_particle(word: str) -> str:
    """Return a Korean word without its particles; two syllables always stay."""
    for end in range(max(2, len(word) - _MOST_ENDING_CHARS), len(word)):
        if word[end:] in _endings():
            return word[:end]
    return word


@cache
def _endings() -> frozenset[str]:
    particles = word_list("particles")
    pairs = {first + second for first in particles for second in particles}
    return particles.union(pairs, word_list("verbs_behind_nouns"))


def verb_beginning(word: str) -> str:
    """Return the first two syllables of a Korean verb's stem, "" where the word has them.

    >>> verb_beginning("고쳤다")
    '고치'

    Only forms that hardly any noun has are taken apart.
    """
    if len(word) < 2 or not all("가" <= char <= "힣" for char in word[:2]):
        return ""
    letters = unicodedata.normalize("NFD", word[1])
    vowel, final = letters[1], letters[2:]
    is_joined = not final and vowel in _STEM_VOWELS and word[2:3] in _BEHIND_A_JOINED
    if final == _PAST or is_joined:
        vowel = _A if word[1] == "했" else _STEM_VOWELS.get(vowel, vowel)
    elif final not in _ENDINGS or vowel not in _OF_VERBS:
        return ""
    return word[0] + unicodedata.normalize("NFC", letters[0] + vowel)
