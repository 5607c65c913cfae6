"""Markdown in which no text of a record can pass for a heading, a list or a tag.

Pure. Code between single backticks stays as it is, because nothing in there is read as Markdown;
everything else that could be is escaped. What a reader would not see is spelled out.
"""

import re
from collections.abc import Sequence

from core.text.printable import one_line, printable

EMPTY = "—"

_LINE_ENDS = re.compile("\r\n|[\n\r\u2028\u2029]")
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_ACTIVE = re.compile(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])")
# `\<` would do for CommonMark; readers of older Markdown would still see a tag.
_TAG = re.compile(r"<|&(?=#|\w+;)")
_AS_ENTITY = {"<": "&lt;", "&": "&amp;"}
_LINE_START = re.compile("[#>=+-]")
_NUMBER = re.compile(r"\d{1,9}(?=[.)])")


def heading(text: str) -> str:
    """A text for the line of a heading."""
    return inline(one_line(text).strip()).replace("#", r"\#") or EMPTY


def escaped_lines(text: str) -> list[str]:
    """The lines of a text that are not blank, each as it may stand in a paragraph."""
    return [started(inline(line)) for line in shown_lines(text)]


def shown_lines(text: str) -> list[str]:
    """The lines of a text that are not blank, with what is hidden spelled out."""
    lines = (printable(line).strip() for line in _LINE_ENDS.split(text))
    return [line for line in lines if line]


def listed(start: str, lines: Sequence[str]) -> list[str]:
    r"""Lines as an item: further ones are indented, and a backslash before them keeps the break.

    start: what stands before the first one, with its own indentation.
    """
    first, *rest = lines or [EMPTY]
    indent = " " * (len(start) - len(start.lstrip()) + 2)
    whole = [start + first, *(indent + line for line in rest)]
    return [*(f"{line}\\" for line in whole[:-1]), whole[-1]]


def started(line: str) -> str:
    """A line that begins nothing but a paragraph."""
    number = _NUMBER.match(line)
    if number:
        return f"{number[0]}\\{line[number.end() :]}"
    return f"\\{line}" if _LINE_START.match(line) else line


def inline(text: str) -> str:
    """A text of one line, escaped but for its code."""
    out, at = "", 0
    for code in _SPAN.finditer(text):
        if "<!--" in code[0] or "-->" in code[0]:  # the end of a block that is looked for as text
            continue
        out += _escaped(text[at : code.start()]) + code[0]
        at = code.end()
    return out + _escaped(text[at:])


def as_code(text: str) -> str:
    """A name as code where it can be."""
    return inline(text if "`" in text else f"`{text}`")


def _escaped(text: str) -> str:
    text = _TAG.sub(lambda found: _AS_ENTITY[found[0]], text)
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", text)
