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

_MOST_WORDS = 5
_JUDGED_CHARS = 128  # no topic that was saved is longer

_SEPARATORS = re.compile(r"[-_/.:\s]+")
_REPAIR_ENDS = ("버그수정", "오류수정", "에러수정", "버그픽스")
_VERSION = re.compile(r"v[0-9]+|v[0-9]+_[0-9]+")
_TICKET = re.compile(r"(?:^|[^A-Za-z0-9])([A-Z][A-Z0-9]{1,9})-[0-9]{2,6}(?![0-9A-Za-z])|#[0-9]+")
# A day or a month; a year stands for one unless it is part of a product's name.
_DATE = re.compile(
    r"(?<![0-9])20[0-9]{2}(?:[-_./]?(?:0[1-9]|1[0-2])(?:[-_./]?[0-3][0-9])?|[-_. ]?q[1-4])(?![0-9])"
)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}년?")

_FENCE_OR_DIFF = re.compile(
    r"^(?:[ \t]{0,3}(?:```|~~~)|diff --git |@@ -[0-9]+(?:,[0-9]+)? \+[0-9]+)", re.MULTILINE
)
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
_LEAST_CODE_LINES, _LEAST_STATEMENTS = 3, 2


def scope_of(topic: str) -> Scope | None:
    """Return what is wrong with a topic: everything ("broad"), one ticket ("narrow"), or nothing.

    Narrow: a date, a year, a ticket's number, a word for a repair beside others, a verb of change
    before two or more words or beside a version, more than five words. A year in the name of a
    product and a number in that of a standard are none.
    """
    text = unicodedata.normalize("NFKC", topic[:_JUDGED_CHARS])
    words = [word for word in _SEPARATORS.split(text.casefold()) if word]
    if "".join(words) in word_list("broad_topics"):
        return "broad"
    if not words:
        return None
    first, followed = words[0], list(zip(words, [*words[1:], ""], strict=True))
    years = [before for before, word in pairwise(["", *words]) if _YEAR.fullmatch(word)]
    names_a_moment = any(it not in word_list("named_by_year") for it in years) or (
        not years and _DATE.search(text.casefold())
    )
    names_a_ticket = any(
        it[1] not in word_list("standards") for it in _TICKET.finditer(text)
    ) or any(word in word_list("ticket_words") and it.isdigit() for word, it in followed)
    if len(words) == 1:
        names_a_change = first.endswith(_REPAIR_ENDS)
    else:
        verbs = word_list("verbs_of_change")
        has_version = any(map(_VERSION.fullmatch, words))
        names_a_change = (
            (first in verbs and (len(words) > 2 or has_version))
            or (first in word_list("verbs_of_versions") and has_version)
            or any(
                word in word_list("repairs") and it not in word_list("things_of_repairs")
                for word, it in followed
            )
        )
    is_long = len(words) > _MOST_WORDS
    return "narrow" if is_long or names_a_moment or names_a_ticket or names_a_change else None


def is_source_code(text: str) -> bool:
    """Return whether a text holds a fenced block or a diff, or is mostly code.

    Code is three lines or more that look like it, or a block in braces with two statements.
    """
    if _FENCE_OR_DIFF.search(text):
        return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    code = sum(bool(_CODE_LINE.match(line)) for line in lines)
    if code >= _LEAST_CODE_LINES and 2 * code > len(lines):
        return True
    return text.count(";") >= _LEAST_STATEMENTS and all(sign in text for sign in "{}()=")
