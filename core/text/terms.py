"""Takes a question or a text apart into the short terms by which one is found in the other.

English words become their stems, identifiers their parts, and what is written in scripts that run
words together becomes pairs of characters. There is no dictionary: what is known of English and
Korean are endings, irregular forms and words that carry no meaning. Expressions are compiled where
a text needs them, since a hook only asks for stems.
"""

import re
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
_CASE_CHANGE = r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))"
INNER_START = re.compile(_CASE_CHANGE)
INNER_PART = _CASE_CHANGE + r"(?:[A-Z]*(?![a-z])|[a-z]*)"

_ENGLISH_ENDING = re.compile(r"(?<=\w{4})(?:ings?|ions?|ies|ed|es|ly|e|y)$|(?<=\w{3})(?<![isu])s$")

# fmt: off
# What stands behind a Korean noun: one or two particles, or the verb that makes one of it.
_PARTICLES = (
    "(?:(?:[이가을를은는도만의와과들]|에서?|에게서?|한테|으?로[서써]?|까지|부터|마다|처럼|보다|이?나|이?랑|이?라도?){1,2}"
    "|이고|이다|입니다|[하되](?:다|고|며|면|는|지|기|여|게|도록|려고|거나|세요|십시오)|[한된할될함됨해돼](?:다|야|서|도)?"
    "|(?:했|됐|하였|되었)(?:다|고|는데|습니다)|[합됩]니다)$"
)
# What questions ask with and end in, whatever they are about: `왜`, `어떻게`, `했지`, `있었나요`.
_ASKING = (
    "(?:왜|무슨|어떤|어떻게|어때요?|어느|누가|얼마나|몇|좀|혹시|안|못|[것건게거걸때수]"
    "|알려줘|알려주세요|궁금해요?|합니까|됩니까|입니까|이야|이지|이었지|인가요?|인지"
    "|(?:뭐|뭘|뭔|무엇|언제|얼마|누구|어디)(?:[가를을이에야]|으?로|에?서|까지|부터|쯤|라고|예요|에요"
    "|인가요?|지|죠|였지|였죠|였더라|더라)?"
    "|[하되](?:지|죠|나요?|니|면|려면|는|는지|는데|던|더라|기로)|[할될](?:까요?|지)?"
    "|[한된](?:다면|지)?|[해돼](?:요|야|도)?|[했됐였](?:지|죠|어요?|나요?|더라|던|는지|는데|습니까)"
    "|[있없](?:지|죠|어요?|나요?|니|는|는지|는데|을까요?|었지|었죠|었나요?|었더라|습니까))$"
)
# A noun of one syllable, and what hardly another noun ends in: `앱을`; a verb of one: `묶기`.
_ONE_SYLLABLE = (
    "[가-힣](?:[을를은는에와]|으로|에서)$"
    "|[끊꺾깎닦닫덮맡묶받붙뽑섞싣쌓옮읽잃잊잡찾][기다자고지면어아은는을]"
)
_VOWELS = "ㅏ ㅐ ㅑ ㅒ ㅓ ㅔ ㅕ ㅖ ㅗ ㅗㅏ ㅗㅐ ㅗㅣ ㅛ ㅜ ㅜㅓ ㅜㅔ ㅜㅣ ㅠ ㅡ ㅡㅣ ㅣ".split()
# fmt: on
# The vowel of a stem, by the one that it becomes with an ending: 치어 is 쳐, 꾸어 is 꿔.
_STEM_VOWELS = {"ㅕ": "ㅣ", "ㅗㅏ": "ㅗ", "ㅜㅓ": "ㅜ", "ㅗㅐ": "ㅗㅣ"}
_BEHIND_A_JOINED = tuple("서야도라지졌진질집주준줄줘놓버보봤본둔두")
# A syllable of Hangul is its first consonant, one of 21 vowels and one of 28 tails, none first.
_FIRST_SYLLABLE, _LAST_SYLLABLE, _TAILS = 0xAC00, 0xD7A3, 28
_NO_TAIL, _PAST_TAIL, _TAILS_OF_ENDINGS = 0, 20, (4, 8, 16, 17)  # ㅆ; ㄴ ㄹ ㅁ ㅂ


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
            is_spare = is_spare or bool(re.match(_ASKING, run))
            is_one_syllable = bool(re.match(_ONE_SYLLABLE, run))
            if is_one_syllable:
                yield Term(run[0], begins=True, spare=is_spare, run=run)
            for start in range(len(run) - 1):
                ends_later = start + 2 > bare
                yield Term(run[start : start + 2], spare=is_spare or ends_later, run=run)
            if not is_one_syllable:
                yield Term(run[0], begins=True, weak=len(run) > 1, spare=is_spare, run=run)
        elif run.isalpha():
            yield from _word_terms(run, is_spare)
        else:
            yield Term(run, begins=True, ends=run.isdecimal(), spare=is_spare, run=run)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield runs of letters and digits, and whether each is but another form of those before it.

    `feeRate`, `fee_rate`, `utf8` come in parts and joined.
    """
    text = normal_form("NFKC", text)
    split = re.findall(_RUN, INNER_START.sub(r" \g<0>", text).casefold())
    joined = re.findall(_RUN, re.sub(r"(?<=\w)[-_]+(?=\w)", "", text).casefold())
    known = frozenset(split)
    for runs, are_joined in ((split, False), (joined, True)):
        for run in runs:
            is_spare = are_joined and run not in known
            yield run, is_spare
            if run[0] < FIRST_WIDE and not run.isalpha():
                for part in re.findall(r"\d+|[^\W\d_]+", run):
                    yield part, is_spare or part != run


def _word_terms(word: str, is_spare: bool) -> Iterator[Term]:
    """Yield the stem of an English word, and its padded 4-grams, which survive a typing error."""
    if len(word) == 1 or word in function_words():
        return
    for form in _other_forms().get(word, ()):
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


def function_words() -> frozenset[str]:
    """Return the English words that carry no meaning."""
    return word_list("function_words")


@cache
def _other_forms() -> Mapping[str, list[str]]:
    """Return the other forms of each irregular word, and of each of its forms."""
    groups = word_groups("irregular_forms")
    return {word: [it for it in forms if it != word] for forms in groups for word in forms}


def stem_of(word: str) -> str:
    """Return a lower-case word without the ending of a plural, a tense or an adverb."""
    return _ENGLISH_ENDING.sub("", word)


def without_particle(word: str) -> str:
    """Return a Korean word without what stands behind it, unless but one syllable would be left."""
    found = re.compile(_PARTICLES).search(word, 2)
    return word[: found.start()] if found else word


def verb_beginning(word: str) -> str:
    """Return the first two syllables of a verb as they stand in its stem; "" where they do.

    An ending melts into the second one: 고쳤다, 고쳐서, 고친 and 고침 begin with those of 고치다.
    Only forms that hardly any noun has are taken apart.
    """
    if len(word) < 2 or not all(_FIRST_SYLLABLE <= ord(it) <= _LAST_SYLLABLE for it in word[:2]):
        return ""
    number = ord(word[1]) - _FIRST_SYLLABLE
    consonant, rest = divmod(number, len(_VOWELS) * _TAILS)
    vowel, tail = _VOWELS[rest // _TAILS], rest % _TAILS
    is_joined = tail == _NO_TAIL and vowel in _STEM_VOWELS and word[2:3] in _BEHIND_A_JOINED
    if tail == _PAST_TAIL or is_joined:
        vowel = "ㅏ" if word[1] == "했" else _STEM_VOWELS.get(vowel, vowel)
    elif tail not in _TAILS_OF_ENDINGS or vowel not in ("ㅣ", "ㅜ"):
        return ""
    stem = (consonant * len(_VOWELS) + _VOWELS.index(vowel)) * _TAILS
    return word[0] + chr(_FIRST_SYLLABLE + stem)
