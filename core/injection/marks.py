"""Finds the marks of a record's texts, at little cost where there are none.

To compile what a text needs of the rules takes up to 60 ms. Only a text with words that must come
together before any rule can match is worth that; a test proves from the patterns that what the
rules need passes over none of them. That look takes some 0.03 ms a record, so that whoever needs
a few harmless records of many judges them one by one, the best first.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from core.injection.ignorable import BLANKS, HIDDEN_CLASS, is_plain
from core.injection.rules import HIDDEN_TEXT, MARKS, orders

CACHED_RECORDS = 16_384
OTHER = "other"

# Texts, compiled where they are first needed: few hooks need them all.
_HIDDEN = f"[{HIDDEN_CLASS}{BLANKS}]"
# What the rules read as something else: hidden characters, letters of other scripts that look
# like ours, Korean ones in parts, wide and mathematical ones.
_DISGUISED = (
    f"[{HIDDEN_CLASS}\u0130\u0131\u0250-\u02af\u0370-\u058f\u1100-\u11ff\u1d00-\u1d2b\u2100-\u214f"
    "\u24b6-\u24e9\ua4d0-\ua4f7\uff01-\uff5e\U0001d400-\U0001d7ff]"
)

_NO_WORD = "[^a-z0-9]+"

_Rows = tuple[tuple[tuple[str, ...], ...], ...]


@cache
def _table(*, strict: bool, ascii_only: bool) -> _Rows:
    """Return what the rules need of a text with blanks at all borders, or of any text.

    Of a text as it is, one word each is looked for. In ASCII text no other words can stand, and
    what needs one holds for none.
    """

    def sought(word: str) -> str:
        if strict:
            return word.replace("‹", " ").replace("›", " ").replace("+", " ")
        return word.strip("‹›").rpartition("+")[2]

    rows = (
        tuple(
            tuple(it for it in map(sought, group.split(" ")) if it.isascii() or not ascii_only)
            for group in row
        )
        for row in dict.fromkeys(needs for rule in orders() for needs in rule.needs)
    )
    return tuple(row for row in rows if all(row))


def _has_row(rows: _Rows, text: str) -> bool:
    """Return whether every group of some row has a word in the text; it loops to be fast."""
    for row in rows:
        for group in row:
            for word in group:
                if word in text:
                    break
            else:
                break
        else:
            return True
    return False


@lru_cache(maxsize=CACHED_RECORDS)  # a server shows the same records again and again
def marks_of(*texts: str) -> tuple[str, ...]:
    """Return the marks of these texts together; see `suspicions.marks_of`."""
    text = " ".join(texts)
    if not may_have_marks(text):
        return ()
    if _is_disguised(text) or may_hide(text):
        from core.injection.suspicions import marks_of

        return marks_of(*texts)
    from core.injection.phrases import phrases_in

    found = {mark for text in texts for mark, _, _ in phrases_in(text.lower())}
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


def revealed(text: str) -> str:
    """Return the text with its hidden characters spelled out; see `hidden.revealed`."""
    if not may_hide(text):
        return text
    from core.injection.hidden import revealed

    return revealed(text)


def may_hide(text: str) -> bool:
    """Return whether the text has a character that is hidden in some places."""
    return not is_plain(text) and bool(re.search(_HIDDEN, text))


def may_have_marks(text: str) -> bool:
    """Return whether a closer look can find a mark; False is certain."""
    if _is_disguised(text):
        return True
    lowered = text.lower()
    plain = text.isascii()
    if not _has_row(_table(strict=False, ascii_only=plain), lowered):
        return False
    words = f"{lowered} {re.sub(_NO_WORD, ' ', lowered)} "
    return _has_row(_table(strict=True, ascii_only=plain), words)


def _is_disguised(text: str) -> bool:
    """Return whether some character is read as another one or as none."""
    return not is_plain(text) and bool(re.search(_DISGUISED, text))
