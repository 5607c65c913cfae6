"""Fits text into the columns of a terminal: tables that line up, sentences that wrap.

A Hangul syllable takes two cells, a combining mark and the code of a colour none. What is in
backticks, and a command of this program, stays in one line where it fits: it can be copied.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from core.program import CLI, NAME

INDENT = "  "
CACHED_CHARS = 4_096

_CODE = "\x1b\\[[0-9]*m"
_CODES = re.compile(_CODE)
_CHARS = re.compile(f"{_CODE}|.", re.DOTALL)
_COMMAND = rf"(?:{re.escape(CLI)}|{NAME}) [a-z]++(?: (?:-\S++|[A-Z]++(?![a-z])\S*+))*+\S*+"
_WHOLE = re.compile(rf"(?<!\S)(?:[^\s`]*+`[^`\n]++`\S*+|[^\s`]?{_COMMAND})|\s++|\S++")
_UNJOINED = (("\u1160", "\u11ff"), ("\ud7b0", "\ud7ff"))  # vowels and finals of a syllable


def cells(text: str) -> int:
    """Return how many cells a text takes on a terminal."""
    text = uncoloured(text)
    return len(text) if text.isascii() else sum(map(_cells, text))


def uncoloured(text: str) -> str:
    """Return a text without the codes of its colours."""
    return _CODES.sub("", text) if "\x1b" in text else text


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


def wrapped(text: str, width: int, indent: str = INDENT) -> list[str]:
    """Break a sentence at blanks into indented lines; a longer word keeps a line of its own."""
    lines, line = list[str](), ""
    for word in filter(str.strip, _pieces(text, width - len(indent))):
        longer = f"{line} {word}" if line else indent + word
        if line and cells(longer) > width:
            lines.append(line)
            longer = indent + word
        line = longer
    return [*lines, line] if line else lines


def hung(line: str, width: int) -> list[str]:
    """Break a line into as many as it needs, the further ones indented below it."""
    text = line.lstrip(" ")
    first = line[: len(line) - len(text)]
    further = first + INDENT if first else ""
    pieces = broken(text, max(width - len(further), 2))
    return [(further if at else first) + piece for at, piece in enumerate(pieces)]


def broken(text: str, most: int) -> list[str]:
    """Break a text into pieces of at most `most` cells, inside a word only where it must."""
    lines, line, left = list[str](), "", most
    for piece in _pieces(text, most):
        if cells(piece) > left and line.strip() and cells(piece) <= most:
            lines.append(line.rstrip())
            line, left = "", most
            piece = piece.lstrip()
        for char in _CHARS.findall(piece):
            if _width(char) > left and line:
                lines.append(line.rstrip())
                line, left = "", most
                if char.isspace():
                    continue
            line, left = line + char, left - _width(char)
    return [*lines, line.rstrip()]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
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


def _pieces(text: str, most: int) -> Iterator[str]:
    """Yield words and blanks; a command that fits into `most` cells is one word."""
    for found in _WHOLE.finditer(text):
        piece = found[0]
        yield from [piece] if cells(piece) <= most else re.findall(r"\s+|\S+", piece)


def _width(char: str) -> int:
    """Return the cells of a character, or of a code, which has none."""
    return _cells(char) if len(char) == 1 else 0


@lru_cache(maxsize=CACHED_CHARS)  # a long text has few different characters
def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if any(first <= char <= last for first, last in _UNJOINED):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
