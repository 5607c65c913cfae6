"""Fills a Korean sentence with facts and picks the particle that fits the end of each fact.

A template writes both forms of a particle behind a placeholder: `{path}을(를)`, `{link}(으)로`,
`{topic}(이)라는`. Where the end of a fact has no known reading, both forms stay.

Digits are read in Sino-Korean, Latin words as Korean developers write them, by rules on their
spelling, from one half of the files of the Korean documents of React, Vue, FastAPI, javascript.info
and two collections of interview questions. In the other half (451 files, 9,821 Latin words with a
particle) 97.4 % of the particles are right, and 94.1 % behind new words.
"""

import re
from collections.abc import Mapping
from typing import Literal
from unicodedata import normalize

# How a spoken text ends: in a vowel, in ㄹ, or in another consonant.
End = Literal["vowel", "rieul", "consonant"]

# How a template writes a particle, and its forms after a consonant and after a vowel.
_FORMS = {
    **{"은(는)": ("은", "는"), "이(가)": ("이", "가"), "을(를)": ("을", "를")},
    **{"와(과)": ("과", "와"), "과(와)": ("과", "와"), "(이)": ("이", ""), "(으)": ("으", "")},
}
_BEHIND_FACT = re.compile(
    r"""(?P<placeholder>\{(?P<name>\w++)[^{}]*+\})(?P<closing>[`"'”’»」』)\]}>*]*+)"""
    r"(?P<particle>[은이을]\([는가를]\)|와\(과\)|과\(와\)|\([이으]\)(?=[가-힣]))"
)
_CONSONANT_DIGITS, _RIEUL_DIGITS = "036", "178"  # 영, 삼, 육 and 일, 칠, 팔

_LAST_WORD = re.compile(r"(?:[A-Z][a-z]++|(?<![A-Za-z])[a-z]++|(?<![A-Z])[A-Z]++)$")
# Placeholders of the command line: capitals that people read as the word, not by letters.
_PLACEHOLDERS = set("CLIENT COMMAND DIR EVENT FILE NAME SHELL TEXT TOPIC WORDS".split())
_LETTERS: dict[str, End] = {"l": "rieul", "r": "rieul", "m": "consonant", "n": "consonant"}
# Endings of English words that Korean writes with a final consonant: 폼, 라인, 파일, 스택, 맵.
_CLOSED = re.compile(
    r"(?:m|n|ng|l|me|ne|le|ck|ook|(?<!n)c|type|(?<![aeiou])[aeiou]p|app|oup"
    r"|(?<![aeo])[aeiou]t|out|web|job|tab)$"
)
# Words that the rules read otherwise than people do: 리드미, 체크, 어웨이트, 에디트, 엑시트.
_OPEN = {"readme", "check", "await", "edit", "visit", "exit", "pip"}


def filled(template: str, facts: Mapping[str, str | int]) -> str:
    """Return a Korean template with its facts, each particle in one form.

    >>> filled("{file}을(를)", {"file": "로그"})
    '로그를'
    """

    def fitting(found: re.Match[str]) -> str:
        if found["name"] not in facts:
            return found[0]
        end = spoken_end(found["placeholder"].format(**facts))
        if end is None:
            return found[0]
        after_consonant, after_vowel = _FORMS[found["particle"]]
        is_open = end == "vowel" or (end == "rieul" and found["particle"] == "(으)")
        form = after_vowel if is_open else after_consonant
        return found["placeholder"] + found["closing"] + form

    return _BEHIND_FACT.sub(fitting, template).format(**facts)


def spoken_end(text: str) -> End | None:
    """Return how the last spoken sound of a text ends; None if that cannot be known."""
    text = normalize("NFKC", text[-80:])
    while text and not (text[-1].isalnum() or text[-1] == "%"):  # which ends like a letter
        text = text[:-1]
    if not text:
        return None
    last = text[-1]
    if "가" <= last <= "힣":
        final = (ord(last) - ord("가")) % 28
        return "vowel" if final == 0 else "rieul" if final == 8 else "consonant"
    if not last.isascii():
        return None
    if last.isdecimal():
        if last in _CONSONANT_DIGITS:
            return "consonant"
        return "rieul" if last in _RIEUL_DIGITS else "vowel"
    return _end_of_word(text)


def _end_of_word(text: str) -> End:
    found = _LAST_WORD.search(text)
    word = found[0] if found else text[-1]
    is_spelled = word.isupper() and word not in _PLACEHOLDERS
    if is_spelled or len(word) == 1 or not re.search("[aeiouy]", word.lower()):
        return _LETTERS.get(word[-1].lower(), "vowel")
    word = word.lower()
    if word in _OPEN or not _CLOSED.search(word):
        return "vowel"
    return "rieul" if word.endswith(("l", "le")) else "consonant"
