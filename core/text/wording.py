"""Judges how a record is worded: a topic that is too broad or too narrow, a text that is code.

The rules for agents forbid both, and a save is never refused for them: what is said of a topic is
advice, and a false alarm costs more than a miss. So each test asks for a plain sign.
"""

import re
import unicodedata
from itertools import pairwise
from typing import Literal

from core.data import word_list

Scope = Literal["broad", "narrow"]

MOST_WORDS = 5
JUDGED_CHARS = 128  # no topic that was saved is longer

_SEPARATORS = re.compile(r"[-_/.:\s]+")

_REPAIR_ENDS = ("버그수정", "오류수정", "에러수정", "버그픽스")

_VERSION = re.compile(r"v[0-9]+|v[0-9]+_[0-9]+")

_TICKET = re.compile(r"(?:^|[^A-Za-z0-9])([A-Z][A-Z0-9]{1,9})-[0-9]{2,6}(?![0-9A-Za-z])|#[0-9]+")
# A day or a month; a year stands for one unless it is part of a product's name.
_DATE = re.compile(
    r"(?<![0-9])20[0-9]{2}(?:[-_./]?(?:0[1-9]|1[0-2])(?:[-_./]?[0-3][0-9])?|[-_. ]?q[1-4])(?![0-9])"
)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}년?")


def scope_of(topic: str) -> Scope | None:
    """Return what is wrong with a topic: everything ("broad"), one ticket ("narrow"), or nothing.

    Narrow: a date, a year, a ticket's number, a word for a repair beside others, a verb of change
    before two or more words or beside a version, more than MOST_WORDS words.
    """
    text = unicodedata.normalize("NFKC", topic[:JUDGED_CHARS])
    words = [word for word in _SEPARATORS.split(text.casefold()) if word]
    if "".join(words) in word_list("broad_topics"):
        return "broad"
    is_narrow = (
        len(words) > MOST_WORDS
        or _names_a_moment(text.casefold(), words)
        or _names_a_ticket(text, words)
        or _names_a_change(words)
    )
    return "narrow" if is_narrow else None


def _names_a_moment(folded: str, words: list[str]) -> bool:
    years = [at for at, word in enumerate(words) if _YEAR.fullmatch(word)]
    if any(not at or words[at - 1] not in word_list("named_by_year") for at in years):
        return True
    return bool(_DATE.search(folded)) and not years


def _names_a_ticket(text: str, words: list[str]) -> bool:
    standards, ticket_words = word_list("standards"), word_list("ticket_words")
    if any(not found[1] or found[1] not in standards for found in _TICKET.finditer(text)):
        return True
    return any(word in ticket_words and number.isdigit() for word, number in pairwise(words))


def _names_a_change(words: list[str]) -> bool:
    if len(words) < 2:
        return words[0].endswith(_REPAIR_ENDS) if words else False
    verbs, verbs_of_versions = word_list("verbs_of_change"), word_list("verbs_of_versions")
    if len(words) > 2 and words[0] in verbs:
        return True
    if words[0] in verbs | verbs_of_versions and any(map(_VERSION.fullmatch, words)):
        return True
    repairs, things = word_list("repairs"), word_list("things_of_repairs")
    followers = [*words[1:], ""]
    return any(
        word in repairs and after not in things
        for word, after in zip(words, followers, strict=True)
    )


_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_DIFF = re.compile(r"^(?:diff --git |@@ -[0-9]+(?:,[0-9]+)? \+[0-9]+)", re.MULTILINE)
_CODE_LINE = re.compile(
    r"""
    .*[;{}]$                                                # statements and blocks
    | (?:def|class|func|fn|function|interface|struct|enum)\s+\w.*[:({]
    | import\s+[\w.{*] | from\s+[\w.]+\s+import\b | \#include\b | using\s+[\w.]+; | package\s+\w
    | (?:if|elif|else|for|while|try|except|with|switch)\b.*:$
    | return(?:\s+\S+)?$
    | (?:return|const|let|var|final|public|private|protected|static|await)\s+[\w.\[<].*[=(;]
    | [\w.\[\]"']+\s*(?:[-+*/|&]?=|:=)\s*\S+$             # an assignment
    | </?\w[^>]*>$                                          # an element of markup
    | [\w.]+\(.*\)$                                        # a call
    """,
    re.VERBOSE,
)
_LEAST_CODE_LINES = 3
_LEAST_STATEMENTS = 2


def is_source_code(text: str) -> bool:
    """Return whether a text holds a fenced block or a diff, or is mostly code.

    Code is three lines or more that look like it, or a block in braces with two statements.
    """
    if _FENCE.search(text) or _DIFF.search(text):
        return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    code = sum(bool(_CODE_LINE.match(line)) for line in lines)
    if code >= _LEAST_CODE_LINES and 2 * code > len(lines):
        return True
    return text.count(";") >= _LEAST_STATEMENTS and all(sign in text for sign in "{}()=")
