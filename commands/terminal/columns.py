"""Fits text into the columns of a terminal: tables that line up, sentences that wrap.

A line has 80 cells unless the caller says otherwise. A Hangul syllable takes two cells, a combining
mark none.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

WIDTH = 80
INDENT = "  "
CACHED_CHARS = 4_096

_UNJOINED = (("\u1160", "\u11ff"), ("\ud7b0", "\ud7ff"))  # vowels and finals of a syllable


def cells(text: str) -> int:
    """Return how many cells a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fitted(text: str, most: int) -> str:
    """Cut a text to `most` cells; `…` marks the cut."""
    if cells(text) <= most:
        return text
    kept, left = "", most - 1
    for char in text:
        left -= _cells(char)
        if left < 0:
            break
        kept += char
    return kept.rstrip() + "…"


def wrapped(text: str, indent: str = INDENT) -> list[str]:
    """Break a sentence at blanks into indented lines; a longer word keeps a line of its own."""
    lines, line = list[str](), ""
    for word in text.split():
        longer = f"{line} {word}" if line else indent + word
        if line and cells(longer) > WIDTH:
            lines.append(line)
            longer = indent + word
        line = longer
    return [*lines, line] if line else lines


def broken(text: str, most: int) -> list[str]:
    """Break a text into pieces of at most `most` cells, inside a word only where it must."""
    lines, line, left = list[str](), "", most
    for piece in re.findall(r"\s+|\S+", text):
        if cells(piece) > left and line.strip() and cells(piece) <= most:
            lines.append(line.rstrip())
            line, left = "", most
            piece = piece.lstrip()
        for char in piece:
            if _cells(char) > left and line:
                lines.append(line.rstrip())
                line, left = "", most
                if char.isspace():
                    continue
            line, left = line + char, left - _cells(char)
    return [*lines, line.rstrip()]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int = WIDTH) -> list[str]:
    """Align numbers right and text left; the last column takes the room that is left."""
    columns = list(zip(*rows, strict=True))[:-1]
    widths = [max(map(cells, (name, *column))) for name, column in zip(head, columns, strict=False)]
    numeric = [all(cell.replace(",", "").isdecimal() for cell in column) for column in columns]
    return [
        _row(list(zip(row, widths, numeric, strict=False)), row[-1], width) for row in (head, *rows)
    ]


def _row(aligned: Sequence[tuple[str, int, bool]], last: str, most: int) -> str:
    line = ""
    for text, width, is_number in aligned:
        blank = " " * (width - cells(text))
        line += INDENT + (blank + text if is_number else text + blank)
    return line + INDENT + fitted(last, most - cells(line) - len(INDENT))


@lru_cache(maxsize=CACHED_CHARS)  # a long text has few different characters
def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if any(first <= char <= last for first, last in _UNJOINED):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
