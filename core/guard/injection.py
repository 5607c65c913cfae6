"""Marks text of a record that reads like an order to the model which reads the memory.

A marked text stays, and readers see it as data. "override": instructions, approval or the memory
are set aside, something is sent away or hidden from the user. "role": tags and headings of a chat
transcript. "tool-call": its syntax. "hidden-text": characters that no reader sees. A lesson is an
order itself, so a verb counts only with what it sets aside. Quoted attacks count, other languages
than English and Korean do not.

A row of `core/data/orders.jsonl` is a part, which others name as `{{NAME}}`, or a rule:

- `hints`: words, as blanks vary; the pattern is tried where one stands.
- `pattern`: for lower-case text. ` ` stands for the blanks and emphasis between two words, `·` for
  the same or nothing (Korean is spaced freely), `‹` and `›` for the borders of an English word.
- `unless`: makes a match innocent, in its sentence, at most 80 characters before it.
- `needs`: lists of groups; a match needs a word of each group of one list. `+` parts two words.

A look at the words takes 0.03 ms. A test proves that they pass over no match.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from core.data import rows, with_parts
from core.guard.characters import hidden_runs, may_disguise, views_of

HIDDEN_TEXT = "hidden-text"
MARKS = ("override", "role", "tool-call", HIDDEN_TEXT)
OTHER = "other"

_BEFORE_CHARS = 80
_GAP = r"[*_~`\"'’”)\]]{0,3}+\s{1,16}+(?:[>#/|-]{1,3}+\s{1,4}+)?[*_~`\"'‘“(\[]{0,3}+"
_FREE_GAP = r"(?:[\s*_~`\"'‘’“”「」『』()]{0,12}+)"
_SIGNS = (
    (" ", _GAP),
    ("·", _FREE_GAP),
    ("‹", "(?<![a-z0-9])(?<![a-z0-9]_)"),
    ("›", "(?!_?[a-z0-9])"),
)
_NO_WORD = "[^a-z0-9]+"


class OrderRule(NamedTuple):
    """See the head of this file."""

    mark: str
    hints: list[str]
    pattern: str
    needs: list[list[str]]
    unless: str = ""
    note: str = ""


@lru_cache(maxsize=16_384)  # a server shows the same records again and again
def marks_of(*texts: str) -> tuple[str, ...]:
    """Return the marks of these texts, each once, in the order of MARKS."""
    if not may_have_marks(" ".join(texts)):
        return ()
    marks = set[str]()
    for view in (view for text in texts for view in views_of(text)):
        word_view = f"{view} {re.sub(_NO_WORD, ' ', view)} "
        for rule in order_rules():
            if rule.mark in marks or not any(map(view.__contains__, rule.hints)):
                continue
            if not any(_has_needs(map(_bordered_words, needs), word_view) for needs in rule.needs):
                continue  # to compile a rule takes a hundred times as long
            for match in order_expression(rule.pattern).finditer(view):
                text_before = view[max(0, match.start() - _BEFORE_CHARS) : match.start()]
                sentence = re.split(r"[.!?\n]", text_before)[-1]
                if not (rule.unless and order_expression(rule.unless).search(sentence)):
                    marks.add(rule.mark)
                    break
    if any(map(any, map(hidden_runs, texts))):
        marks.add(HIDDEN_TEXT)
    return tuple(mark for mark in MARKS if mark in marks)


def current_marks(stored_marks: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the marks that the texts have now, and OTHER for a stored word that is no mark.

    Older rules may have been wrong, and whoever writes the file can write any name.
    """
    marks = marks_of(*texts)
    return (*marks, OTHER) if any(name not in MARKS for name in stored_marks) else marks


def order_marks(stored_marks: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the marks that keep a text away from places where a model expects orders.

    Hidden characters alone make no order.
    """
    return tuple(mark for mark in current_marks(stored_marks, texts) if mark != HIDDEN_TEXT)


def may_have_marks(text: str) -> bool:
    """Only False is certain."""
    if may_disguise(text):
        return True
    lower_text = text.lower()
    words = "\n".join({"", *lower_text.split()})  # each once: long texts repeat theirs
    possible_needs = [
        needs
        for word, word_needs in _needs_by_word(is_plain=words.isascii()).items()
        if word in words
        for needs in word_needs
        if _has_needs(map(_inner_words, needs), words)
    ]
    word_view = f"{lower_text} {re.sub(_NO_WORD, ' ', lower_text)} " if possible_needs else ""
    return any(_has_needs(map(_bordered_words, needs), word_view) for needs in possible_needs)


@cache
def _needs_by_word(*, is_plain: bool) -> dict[str, list[tuple[str, ...]]]:
    """Return lists by each word of their smallest group: in a plain text no others may stand."""
    by_word: dict[str, list[tuple[str, ...]]] = {}
    for needs in dict.fromkeys(tuple(needs) for rule in order_rules() for needs in rule.needs):
        all_words = map(_inner_words, needs)
        groups = ([word for word in words if word.isascii() or not is_plain] for words in all_words)
        for word in min(groups, key=len):
            by_word.setdefault(word, []).append(needs)
    return by_word


def _has_needs(groups: Iterable[tuple[str, ...]], text: str) -> bool:
    """Return whether a text has a word of every group."""
    return all(any(map(text.__contains__, words)) for words in groups)


@cache
def _inner_words(group: str) -> tuple[str, ...]:
    """Return the part of each word that stands in any text with the word."""
    words = with_parts(group, "orders").split(" ")
    return tuple(word.strip("‹›").rpartition("+")[2] for word in words)


@cache
def _bordered_words(group: str) -> tuple[str, ...]:
    return tuple(re.sub("[‹›+]", " ", word) for word in with_parts(group, "orders").split(" "))


@cache
def order_rules() -> tuple[OrderRule, ...]:
    """Return all rules, not yet spelled out."""
    return tuple(OrderRule(**row) for row in rows("orders") if "part" not in row)


@cache
def order_expression(pattern: str) -> re.Pattern[str]:
    pattern = with_parts(pattern, "orders")
    for sign, sign_pattern in _SIGNS:
        pattern = pattern.replace(sign, sign_pattern)
    return re.compile(pattern)
