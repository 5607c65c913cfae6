"""Escapes text for Markdown, so that none of it becomes a heading, a list or a tag.

Pure. Code between single backticks stays as it is, since Markdown reads nothing in it. Hidden
characters are spelled out. What a client would take for the name of a file to be read as well
(`@./.env`, `#file:.env`, a link) is written so that it reads the same and names none.
"""

import re
from collections.abc import Sequence

from core.text.plain import LINE_ENDS, one_line, printable

EMPTY = "—"

_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
# VS Code sees a link in `\[a\](b)`, too.
_ACTIVE = re.compile(r"[\\`*\[\]|~]|(?<=\])\(|(?<![^\W_])_|_(?![^\W_])")
# CommonMark takes `\<`, but older Markdown still sees a tag, and `\@` may still be a file's name.
# The @ of an address, behind a letter, is none.
_TAG = re.compile(r"<|&(?=#|\w+;)|(?<![^\W_])@(?!\s)|#(?=\w+:)")
_AS_ENTITY = {"<": "&lt;", "&": "&amp;", "@": "&#64;", "#": "&#35;"}
_HASH = re.compile("(?<!&)#")
_LINE_START = re.compile("[#>=+-]")
_NUMBER = re.compile(r"\d{1,9}(?=[.)])")


def heading(text: str) -> str:
    """Return a text for the line of a heading."""
    return _HASH.sub(r"\#", inline(one_line(text).strip())) or EMPTY


def escaped_lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank, each fit for a paragraph."""
    return [started(inline(line)) for line in shown_lines(text)]


def shown_lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank, hidden characters spelled out."""
    lines = (printable(line).strip() for line in LINE_ENDS.split(text))
    return [line for line in lines if line]


def listed(start: str, lines: Sequence[str]) -> list[str]:
    """Return lines as one item; further ones are indented, a backslash keeps the break before each.

    start: what stands before the first line, with its own indentation.
    """
    first, *rest = lines or [EMPTY]
    indent = " " * (len(start) - len(start.lstrip()) + 2)
    whole = [start + first, *(indent + line for line in rest)]
    return [*(f"{line}\\" for line in whole[:-1]), whole[-1]]


def started(line: str) -> str:
    """Escape what would begin a block of Markdown at the start of a line."""
    number = _NUMBER.match(line)
    if number:
        return f"{number[0]}\\{line[number.end() :]}"
    return f"\\{line}" if _LINE_START.match(line) else line


def inline(text: str) -> str:
    """Escape one line, all but its code."""
    out, at = "", 0
    for code in _SPAN.finditer(text):
        if "<!--" in code[0] or "-->" in code[0]:  # a marker that is found as plain text
            continue
        if text[: code.start()].endswith("!"):  # clients run such a command
            continue
        out += _escaped(text[at : code.start()]) + code[0]
        at = code.end()
    return out + _escaped(text[at:])


def as_code(text: str) -> str:
    """Return a name as code, or escaped if it holds a backtick."""
    return inline(text if "`" in text else f"`{text}`")


def _escaped(text: str) -> str:
    text = _TAG.sub(lambda found: _AS_ENTITY[found[0]], text)
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", text)
