"""Reads lessons from the lists of a Markdown document.

Pure. Only an item of a list is a lesson; what is nested in it belongs to it. The reader notes all
other lines and why they hold none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from commands.exchange.blocks import Lines, Passed, indent_of
from commands.exchange.topics import about, has_words, heading_text

NESTED_INDENT = 2

# Former versions wrote files of this kind into the folders of clients.
_RULES = "<!-- sentinel-memory rules: generated from the memory, changes made here are lost -->\n"
_FRONT_MATTER = re.compile(r"\ufeff?---\n.*?\n---\n\s*", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-+)[ \t]*")
_BREAK = re.compile(r" {0,3}([-*_])(?:[ \t]*+\1){2,}+[ \t]*+")
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d{1,9}[.)])(?:\s++(?P<text>.*)|$)")
_BOX = re.compile(r"\A\[[ xX]\]\s+")
_CONTENTS = re.compile(r"\[[^\]]*+\]\(#[^)]*+\)")
_REFERENCE = re.compile(r"@\S+")


class Lesson(NamedTuple):
    """An item of a list, with the topic and context that its headings give."""

    line: int
    topic: str
    text: str


@dataclass(slots=True)
class _Heading:
    line: int
    level: int
    text: str
    is_used: bool = False


@dataclass(slots=True)
class _Item:
    line: int
    indent: int
    headings: tuple[_Heading, ...]
    lines: list[str]
    nested_indent: int = 0


def read_markdown(text: str) -> tuple[list[Lesson], list[Passed]]:
    """Return the lessons of a document, and the lines without one."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT_MATTER.match(text)
    if text.startswith(_RULES, front.end() if front else 0):
        return [], [Passed(at, "ours") for at, line in enumerate(text.split("\n"), 1) if line]
    lines = Lines(text.split("\n"))
    reader = _Reader(lines)
    reader.read()
    titles = [heading for heading in reader.headings if heading.level == 1]
    title = titles[0] if len(titles) == 1 else None
    lessons = [found for item in reader.items for found in _lesson(item, title, lines.passed)]
    lines.passed += [Passed(it.line, "heading") for it in reader.headings if not it.is_used]
    return lessons, sorted(lines.passed)


def _lesson(item: _Item, title: _Heading | None, passed: list[Passed]) -> Iterator[Lesson]:
    """Yield the lesson of an item, if it is one, and mark the headings above it as used."""
    text = "\n".join(item.lines).strip()
    if not has_words(text):
        passed.append(Passed(item.line, "no_words"))
    elif _CONTENTS.fullmatch(text):
        passed.append(Passed(item.line, "contents"))
    elif _REFERENCE.fullmatch(text):
        passed.append(Passed(item.line, "reference"))
    else:
        for heading in item.headings:
            heading.is_used = True
        has_title = title is not None and item.headings[:1] == (title,)
        above = [heading.text for heading in item.headings]
        topic, context = about(above[1:], above[0]) if has_title else about(above, "")
        yield Lesson(item.line, topic, f"{context}: {text}" if context else text)


@dataclass(slots=True)
class _Reader:
    """Reads items and headings. item: the one that the next line may continue."""

    lines: Lines
    items: list[_Item] = field(default_factory=list)
    headings: list[_Heading] = field(default_factory=list)
    above: tuple[_Heading, ...] = ()
    item: _Item | None = None
    after_blank: bool = True

    def read(self) -> None:
        """Read all lines."""
        lines = self.lines
        lines.skip_front_matter()
        while lines.at < len(lines.lines):
            line = lines.line()
            if not line.strip():
                self.after_blank = True
                lines.at += 1
            elif lines.skip_block(takes_code=self.item is None and self.after_blank):
                if self.item and indent_of(line) < self.item.indent + NESTED_INDENT:
                    self.item = None  # a block that is not inside the item ends it
                self.after_blank = True
            else:
                if not (self._read_heading(line) or self._read_item(line)):
                    self._read_text(line)
                self.after_blank = False

    def _read_heading(self, line: str) -> bool:
        """Read a heading, or a rule, which ends a list, too; return whether it was one."""
        if heading := _HEADING.fullmatch(line):
            self._add_heading(len(heading[1]), heading[2] or "")
        elif _BREAK.fullmatch(line):
            self.item = None
        elif not (self._goes_on(line) or _ITEM.fullmatch(line)) and (
            underline := _UNDERLINE.fullmatch(self.lines.line(1))
        ):
            self._add_heading(1 if underline[1] else 2, line)
            self.lines.at += 1
        else:
            return False
        self.lines.at += 1
        return True

    def _goes_on(self, line: str) -> bool:
        """Return whether a line of plain text continues the item above it."""
        if not self.item:
            return False
        return not self.after_blank or indent_of(line) >= self.item.indent + NESTED_INDENT

    def _add_heading(self, level: int, text: str) -> None:
        shown = heading_text(_without_comments(text)[0])
        heading = _Heading(self.lines.at + 1, level, shown)
        self.headings.append(heading)
        self.above = (*(above for above in self.above if above.level < level), heading)
        self.item = None

    def _read_item(self, line: str) -> bool:
        """Read the first line of an item; return whether it is one."""
        item = _ITEM.fullmatch(line)
        if not item:
            return False
        indent = indent_of(line)
        if self.item and indent >= self.item.indent + NESTED_INDENT:
            self.item.nested_indent = self.item.nested_indent or indent
            depth = max(indent - self.item.nested_indent, 0)
            self.item.lines.append(" " * depth + self._content(line))
        else:
            text = _BOX.sub("", item["text"] or "", count=1)
            self.item = _Item(self.lines.at + 1, indent, self.above, [])
            self.items.append(self.item)
            self.item.lines.append(self._content(text))
        self.lines.at += 1
        return True

    def _read_text(self, line: str) -> None:
        """Read a line that continues an item, or is running text."""
        if not self._goes_on(line):
            self.item = None
        if not self.item:
            why = "reference" if _REFERENCE.fullmatch(line.strip()) else "prose"
            self.lines.skip(self.lines.at + 1, why)
            return
        text = self._content(line)
        if self.after_blank:
            self.item.lines.append(text)
        else:
            self.item.lines[-1] += f" {text}"
        self.lines.at += 1

    def _content(self, text: str) -> str:
        """Return a line without comments; skip the lines of a comment that it opens."""
        text, goes_on = _without_comments(text)
        if goes_on:
            self.lines.at += 1
            self.lines.skip_comment()
            self.lines.at -= 1  # the caller moves to the next line
        return text.strip()


def _without_comments(text: str) -> tuple[str, bool]:
    """Remove comments outside of code; return whether the last one is still open."""
    out, at = "", 0
    while True:
        comment, code = text.find("<!--", at), text.find("`", at)
        if comment < 0:
            return out + text[at:], False
        end = text.find("`", code + 1) + 1 if 0 <= code < comment else 0
        if end:
            out, at = out + text[at:end], end
            continue
        out, at = out + text[at:comment], text.find("-->", comment) + 3
        if at < 3:
            return out, True
