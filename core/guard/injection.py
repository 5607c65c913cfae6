"""Finds text of a record that reads like an order to the model which reads the memory.

Nothing is removed: the text gets a mark, and a reader sees it as data. Four things count:
phrases that set instructions aside or hide something from the user ("override"), tags and headings
of a chat transcript ("role"), the syntax of a tool call ("tool-call"), and characters no reader
sees ("hidden-text"). A lesson is an order itself, so a verb alone never counts: it must come
together with what it would set aside. What it cannot do: tell a quoted attack from an attack, or
find one in other words or in another language than English and Korean.

The known orders are lines of `core/data/orders.jsonl`. A line is a part, which patterns and words
name as `{{NAME}}`, or a rule:

- `mark`: what a text with it gets. `hints`: the pattern is tried where one of them occurs; they are
  words, as blanks vary.
- `pattern`: for lower-case text. ` ` stands for the blanks and emphasis between two words, `·` for
  the same or nothing (Korean is spaced freely), `‹` and `›` for the borders of an English word.
- `unless`: what makes a place innocent, right before it and within its sentence.
- `needs`: words without which the rule cannot match, so that a look at them is enough for most
  texts. It lists groups, of each of which one word stands in the text in any order; where several
  lists are given, one of them holds. `+` is what parts two words.

To compile what a text needs of the rules takes up to 60 ms, a look at the words some 0.03 ms. A
test proves from the patterns that the words pass over none of them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from core.data import rows, spelled
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


class Order(NamedTuple):
    """One kind of order; see the head of this file. needs: groups of words, parted by blanks."""

    mark: str
    hints: list[str]
    pattern: str
    needs: list[list[str]]
    unless: str = ""
    note: str = ""


@lru_cache(maxsize=16_384)  # a server shows the same records again and again
def marks_of(*texts: str) -> tuple[str, ...]:
    """Return the marks that occur in `texts`, each once, in the order of MARKS."""
    if not may_have_marks(" ".join(texts)):
        return ()
    found = {mark for text in texts for view in views_of(text) for mark in _marks_in(view)}
    if any(map(any, map(hidden_runs, texts))):
        found.add(HIDDEN_TEXT)
    return tuple(mark for mark in MARKS if mark in found)


def shown_marks(stored: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the marks that the texts have now, and OTHER for a stored name that is none of ours.

    What an older version stored counts no longer: its rules may have been wrong. Whoever writes the
    file can write any name there, so that none is shown that is not ours.
    """
    found = marks_of(*texts)
    return (*found, OTHER) if stored and unknown_marks(stored) else found


def orders_in(stored: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the marks that keep a text from where a model takes what it reads for orders.

    Hidden characters alone make no order of a lesson; they are spelled out.
    """
    return tuple(mark for mark in shown_marks(stored, texts) if mark != HIDDEN_TEXT)


def unknown_marks(stored: Iterable[str]) -> tuple[str, ...]:
    """Return the stored marks that this version does not know."""
    return tuple(name for name in stored if name not in MARKS)


def may_have_marks(text: str) -> bool:
    """Return whether a closer look can find a mark; False is certain."""
    if may_disguise(text):
        return True
    lowered = text.lower()
    possible = [
        needs
        for word, begun in _needs_by_word().items()
        if word in lowered
        for needs in begun
        if _has_needs(map(_inner_words, needs), lowered)
    ]
    if not possible:
        return False
    bordered = f"{lowered} {re.sub(_NO_WORD, ' ', lowered)} "
    return any(_has_needs(map(_bordered_words, needs), bordered) for needs in possible)


@cache
def _needs_by_word() -> dict[str, list[tuple[str, ...]]]:
    """Return the lists of groups by each word of their first group, of which most texts have none.

    A look at one word after the other is the fastest.
    """
    found: dict[str, list[tuple[str, ...]]] = {}
    for needs in dict.fromkeys(tuple(needs) for order in orders() for needs in order.needs):
        for word in _inner_words(needs[0]):
            found.setdefault(word, []).append(needs)
    return found


def _has_needs(groups: Iterable[tuple[str, ...]], text: str) -> bool:
    """Return whether the text has a word of every group; it loops to be fast."""
    for words in groups:
        for word in words:
            if word in text:
                break
        else:
            return False
    return True


@cache
def _inner_words(group: str) -> tuple[str, ...]:
    """Return what of each word of a group stands in any text that has the word."""
    words = spelled(group, "orders").split(" ")
    return tuple(word.strip("‹›").rpartition("+")[2] for word in words)


@cache
def _bordered_words(group: str) -> tuple[str, ...]:
    """Return the words of a group as they stand in a text with blanks at all borders."""
    return tuple(re.sub("[‹›+]", " ", word) for word in spelled(group, "orders").split(" "))


@cache
def orders() -> tuple[Order, ...]:
    """Return all kinds of orders; what a text needs none of is not spelled out."""
    return tuple(Order(**row) for row in rows("orders") if "part" not in row)


def _marks_in(view: str) -> Iterator[str]:
    """Yield the mark of each kind of order that stands in a text in lower case."""
    for order in orders():
        if not any(hint in view for hint in order.hints):
            continue
        for match in compiled(order.pattern).finditer(view):
            before = view[max(0, match.start() - _BEFORE_CHARS) : match.start()]
            sentence = re.split(r"[.!?\n]", before)[-1]
            if not (order.unless and compiled(order.unless).search(sentence)):
                yield order.mark
                break


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern or an `unless` of an order."""
    pattern = spelled(pattern, "orders")
    for sign, meaning in _SIGNS:
        pattern = pattern.replace(sign, meaning)
    return re.compile(pattern)
