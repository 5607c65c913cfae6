"""Finds names of secrets in English and Korean, and says how sure each name is.

Shapes (`core/data/shapes.jsonl`) begin with a class of letters, so that `re` skips quickly. `key`
is found by its own letters, and judged by the words before it.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from core.data import in_order, listed, shape
from core.guard.values import words_of

_NO_LEAD = frozenset([*" \n\t=:'\"`,;|(){}[]<>/\\&?$", ""])  # most names begin behind one of these


class Certainty(IntEnum):
    """How sure a whole name is a secret's.

    USUAL: `password`. UNUSUAL: `password_legacy_x`. GENERIC: a `key` of any kind. PLURAL: several.
    """

    NONE, USUAL, UNUSUAL, GENERIC, PLURAL = range(5)


class Name(NamedTuple):
    """A name that may be a secret's.

    lead: the identifier before the word. word_start, end: of the word with its tail. word: in lower
    case. is_bare_pass: the verb or noun `pass`, no user before it.
    """

    lead: str
    word_start: int
    end: int
    word: str
    certainty: Certainty
    korean: bool = False
    is_bare_pass: bool = False

    @property
    def start(self) -> int:
        return self.word_start - len(self.lead)

    @property
    def is_password(self) -> bool:
        """Whether a person may have thought the value up."""
        return self.word.startswith(in_order("password_words")) and not self.word.endswith("키")

    @property
    def is_pin(self) -> bool:
        """Whether the value may be a few digits."""
        return self.word.startswith(in_order("pin_words"))

    @property
    def is_phrase(self) -> bool:
        """Whether the value may be several words."""
        return self.word.endswith(in_order("phrase_words"))


def may_have_names(text: str, folded: str) -> bool:
    """Only False is certain."""
    return _may_have_english(text, folded) or _may_have_korean(text, folded)


def _may_have_english(text: str, folded: str) -> bool:
    return any(map(folded.__contains__, in_order("english_hints"))) or "PAT" in text


def _may_have_korean(text: str, folded: str) -> bool:
    return not text.isascii() and any(map(folded.__contains__, in_order("korean_hints")))


def names_in(text: str, folded: str) -> Iterator[Name]:
    """Yield the names, Korean ones last. folded: the text's casefold."""
    if _may_have_english(text, folded):
        at = 0
        while match := shape("english_name").search(text, at):
            at = match.end("word")  # a name may hold the word of another: keystorePassword
            start, word = match.start(), match["word"].casefold()
            if _follows_user(text, start, word):
                continue
            lead = _lead(text, start)
            if certainty := _certainty(text, match, lead):
                is_bare = word == "pass" and not lead
                if is_bare and shape("after_user").search(text, max(0, start - 60), start):
                    is_bare = False
                yield Name(lead, start, match.end(), word, certainty, is_bare_pass=is_bare)
    if not _may_have_korean(text, folded):
        return
    for match in shape("korean_name").finditer(text):
        (start, end), word, certainty = match.span(), match["word"], Certainty.USUAL
        if _follows_user(text, start, word):
            continue
        if word == "키":
            kind = shape("korean_word_before").search(text, max(0, start - 20), start)
            if kind and kind[1] in listed("not_before_korean_key"):
                continue
            certainty = Certainty.GENERIC
        yield Name("", start, end, word.casefold(), certainty, korean=True)


def _follows_user(text: str, start: int, word: str) -> bool:
    """Return whether `user/` stands before a password's name: a pair follows."""
    if "/" not in text[max(0, start - 2) : start]:
        return False
    user = shape("user_and").search(text, max(0, start - 12), start)
    return bool(user) and word.startswith(in_order("password_words"))


def _lead(text: str, start: int) -> str:
    if text[start - 1 : start] in _NO_LEAD:
        return ""
    before = shape("lead").search(text, max(0, start - 40), start)
    lead = before[0] if before else ""
    if lead[:1] in ("n", "r", "t") and text[start - len(lead) - 1 : start - len(lead)] == "\\":
        return lead[1:]  # a line end as it is written in a quoted text
    return lead


def _certainty(text: str, match: re.Match[str], lead: str) -> Certainty:
    written, tail = match["word"], match["tail"]
    word, begin = written.casefold(), match.start() - len(lead)
    assigned = shape("sign_behind").match(text, match.end()) is not None
    if _ends_a_word(written, lead) or _is_in_a_path(text, begin, assigned):
        return Certainty.NONE
    if not shape("written_name").fullmatch(written) or (lead == "1" and word == "password"):
        return Certainty.NONE
    words = words_of(lead)
    if not listed("not_before").isdisjoint(words):
        return Certainty.NONE
    kind = Certainty.USUAL
    if word == "token":
        before = "" if lead else _word_before(text, begin)
        if before in listed("not_before_token_word"):
            return Certainty.NONE
        if not listed("not_before_token").isdisjoint(words):
            return Certainty.NONE
    elif word in ("pass", "credentials"):
        if not listed("not_before_pass").isdisjoint(words):
            return Certainty.NONE
        if not assigned and lead.rstrip("_") in listed("passing_directives"):
            return Certainty.NONE
    elif word == "code":
        is_known = _word_before(text, begin) in listed("code_kinds")
        return Certainty.USUAL if is_known and not lead and not tail else Certainty.NONE
    elif word == "key":
        kind = _key_certainty(text, lead, words, begin)
    return _with_tail(kind, written, tail) if kind and tail else kind


def _with_tail(kind: Certainty, written: str, tail: str) -> Certainty:
    word = written.casefold()
    if tail == "s":
        return Certainty.PLURAL
    if tail[0].isalpha() and (tail[0].islower() or written[-1].isupper()):
        is_glued = tail.casefold() in listed("glued_after") and word != "key"
        return kind if is_glued else Certainty.NONE
    after = [part for part in words_of(tail) if not part.isdigit()]
    if listed("not_after").intersection(after):
        return Certainty.NONE
    if listed("usual_after").issuperset(after) or kind == Certainty.GENERIC:
        return kind
    return Certainty.NONE if word in listed("short_words") else Certainty.UNUSUAL


def _word_before(text: str, begin: int) -> str:
    before = shape("word_before").search(text, max(0, begin - 24), begin)
    return before[1].casefold() if before else ""


def _ends_a_word(word: str, lead: str) -> bool:
    """Return whether a short word ends a longer one, as in `compass`."""
    if not lead[-1:].isalpha():
        return False
    if word.casefold() not in listed("short_words") and word != "PIN":
        return False
    if lead[-1].islower() and word[0].isupper():  # sftpPass, not a piece of Base64
        return not lead.isalpha() or min(map(len, words_of(lead))) < 2
    glued = shape("letters_at_end").search(lead)
    return not glued or glued[0].casefold() not in listed("glued_before")


def _is_in_a_path(text: str, begin: int, assigned: bool) -> bool:
    """Return whether a name ends a path or a cloud's resource name.

    assigned: a sign and a value follow; a path then only says where the name belongs.
    """
    if text[begin - 1 : begin] in ("/", "\\"):
        return not assigned
    if text[max(0, begin - 5) : begin] in (".svg?", "/etc/"):
        return True  # a badge, shown to everyone, and the list of users
    first = max(0, begin - 120)
    return "arn:" in text[first:begin] and bool(shape("resource").search(text, first, begin))


def _key_certainty(text: str, lead: str, words: list[str], begin: int) -> Certainty:
    if words:
        last = "websocket" if words[-2:] == ["web", "socket"] else words[-1]
        if last in listed("not_before_key"):
            return Certainty.NONE
        if last in listed("key_kinds") or last.endswith(("api", "access", "secret")):
            return Certainty.USUAL
        is_word = lead[-1:] in "_-" or lead[-1:].islower()
        return Certainty.GENERIC if is_word else Certainty.NONE
    kind = _word_before(text, begin)
    if not kind:
        return Certainty.NONE
    if kind in listed("key_kinds"):
        return Certainty.USUAL
    if shape("encrypts_with").search(text, max(0, begin - 60), begin):
        return Certainty.USUAL
    is_program = kind in listed("not_before_key") or kind in listed("not_before")
    return Certainty.NONE if is_program else Certainty.GENERIC
