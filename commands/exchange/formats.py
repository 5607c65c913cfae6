"""The memory as Markdown, in which no text of a record can pass for a heading, a list or a tag.

Pure. Code between single backticks stays as it is, because nothing in there is read as Markdown;
everything else that could be is escaped. What a reader would not see is spelled out.
"""

import re
from collections.abc import Iterable, Sequence

from commands.documents.facts import MARKER, facts, introduction, labelled, parts
from commands.exchange.export_words import word
from core.lessons.answers.rendering import warning
from core.lessons.record import Record
from core.messages import Language
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


def markdown(records: Sequence[Record], project: str, lang: Language, *, now: str) -> str:
    """The document: a heading for each type and topic, an item for each record."""
    lines = [f"# {heading(word(lang, 'title', project=project))}", ""]
    lines.append(introduction(records, lang, now) if records else word(lang, "empty"))
    for part in parts(records, lang):
        lines += ["", f"## {part.heading}"]
        for group in part.groups:
            lines += ["", f"### {heading(group.topic)}", ""]
            for record in group.records:
                lines += _item(record, lang)
    return "\n".join([*lines, "", MARKER]) + "\n"


def lessons(records: Iterable[Record], lang: Language) -> list[str]:
    """Items that a model is to read: the lesson, what to ask first, and the files it is about."""
    lines: list[str] = []
    for record in records:
        lines += listed("- ", escaped_lines(record.lesson))
        if record.ask_next_time.strip():
            lines += listed(f"  - {word(lang, 'ask')}: ", escaped_lines(record.ask_next_time))
        lines += _paths(record, lang)
    return lines


def heading(text: str) -> str:
    """A text for the line of a heading."""
    return _inline(one_line(text).strip()).replace("#", r"\#") or EMPTY


def escaped_lines(text: str) -> list[str]:
    """The lines of a text that are not blank, each as it may stand in a paragraph."""
    return [started(_inline(line)) for line in shown_lines(text)]


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


def _item(record: Record, lang: Language) -> list[str]:
    lines = listed("- ", escaped_lines(record.lesson))
    if noted := warning(record, lang):
        lines.append(f"  - **{_inline(one_line(noted))}**")
    for label, text in labelled(record, lang):
        lines += listed(f"  - {label}: ", escaped_lines(text))
    lines += _paths(record, lang)
    told = "; ".join(_inline(one_line(fact)) for fact in facts(record, lang))
    return [*lines, f"  - {told}"]


def _paths(record: Record, lang: Language) -> list[str]:
    if not record.paths:
        return []
    shown = ", ".join(_code(one_line(path)) for path in record.paths)
    return [f"  - {word(lang, 'paths')}: {shown}"]


def _inline(text: str) -> str:
    """A text of one line, escaped but for its code."""
    out, at = "", 0
    for code in _SPAN.finditer(text):
        if "<!--" in code[0] or "-->" in code[0]:  # the end of a block that is looked for as text
            continue
        out += _escaped(text[at : code.start()]) + code[0]
        at = code.end()
    return out + _escaped(text[at:])


def _code(text: str) -> str:
    """A name as code where it can be."""
    return _inline(text if "`" in text else f"`{text}`")


def _escaped(text: str) -> str:
    text = _TAG.sub(lambda found: _AS_ENTITY[found[0]], text)
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", text)
