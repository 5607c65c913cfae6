"""Lays out the Markdown that this program writes for a terminal: no signs, wrapped at words.

It knows headings, lists, tables, code, strong words and folded parts as `report` writes them, and
is no reader of other Markdown.
"""

import re
from collections.abc import Sequence

from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, table, wrapped

_HEADING = re.compile("#+ +(.*)")
_ITEM = re.compile("( *)- (.*)")
_TAG = re.compile("</?(?:details|summary)>")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?P<code>.+?)(?<!`)\1(?!`)")
_INLINE = re.compile(rf"{_CODE.pattern}|\*\*(?P<strong>.+?)\*\*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_RULE = re.compile("[|: -]+")


def markdown_lines(text: str, screen: Screen) -> list[str]:
    """Return the lines of a document of ours for a person at this terminal."""
    lines, rows = list[str](), list[list[str]]()
    for line in [*map(plain, text.splitlines()), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
            rows = rows[:-1] if _RULE.fullmatch(line) else rows
            continue
        if rows:
            head, *others = table(rows[0], rows[1:], screen.width)
            lines += [screen.painted(head, "bold"), *others]
            rows = []
        lines += _block(_TAG.sub("", line).removesuffix("\\"), screen)
    return _once_blank(lines)


def _block(line: str, screen: Screen) -> list[str]:
    heading, item = _HEADING.fullmatch(line), _ITEM.match(line)
    if heading:
        return wrapped(_bold(_inline(heading[1], screen), screen), screen.text_width, "")
    if item:
        indent = item[1] + INDENT
        first, *rest = wrapped(_inline(item[2], screen), screen.text_width, indent) or [indent]
        return [f"{item[1]}- {first.lstrip(' ')}", *rest]
    indent = line[: len(line) - len(line.lstrip(" "))]
    return wrapped(_inline(line, screen), screen.text_width, indent) or [""]


def _inline(text: str, screen: Screen) -> str:
    """Return a line without escapes and without the signs around code and strong words."""
    out, at = "", 0
    for found in _INLINE.finditer(text):
        out += _ESCAPED.sub(r"\1", text[at : found.start()])
        if found["code"]:
            out += _code(found)
        else:
            out += _bold(_CODE.sub(_code, found["strong"]), screen)
        at = found.end()
    return out + _ESCAPED.sub(r"\1", text[at:])


def _code(found: re.Match[str]) -> str:
    code = found["code"]
    is_padded = len(code) > 2 and code[0] == code[-1] == " "
    return code[1:-1] if is_padded else code


def _bold(text: str, screen: Screen) -> str:
    """Paint each word by itself, since a line may end behind any."""
    return " ".join(screen.painted(word, "bold") for word in text.split())


def _once_blank(lines: Sequence[str]) -> list[str]:
    """Return the lines with no two blank ones in a row, and none at the end."""
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    while kept and not kept[-1]:
        kept.pop()
    return kept
