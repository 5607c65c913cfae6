"""A list of lessons in Markdown: which items it has, below which headings, and what is no item.

Pure. Only items of lists are lessons. What stands nested in one belongs to it, since it says
little without it; code, tables, comments and running text are told, with their lines.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from commands.exchange.rule_files import is_ours
from commands.exchange.topics import about, has_words, heading_text

NESTED_INDENT, CODE_INDENT = 2, 4

_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-+)[ \t]*")
_BREAK = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d{1,9}[.)])(?:\s+(?P<text>.*)|$)")
_OURS = re.compile(r"<!-- sentinel-memory (?P<name>[a-z-]+): begin -->")
_BOX = re.compile(r"\A\[[ xX]\]\s+")
_CONTENTS = re.compile(r"\[[^\]]*\]\(#[^)]*\)")
_REFERENCE = re.compile(r"@\S+")


class Passed(NamedTuple):
    """A line, counted from 1, that gave no lesson, and why, as the end of a sentence's name."""

    line: int
    why: str


class Lesson(NamedTuple):
    """An item of a list, with the topic and the context that its headings give."""

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
    """The lessons of a document, and the lines that hold none."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if is_ours(text):
        return [], [Passed(at, "ours") for at, line in enumerate(text.split("\n"), 1) if line]
    reader = _Reader(text.split("\n"))
    reader.read()
    titles = [heading for heading in reader.headings if heading.level == 1]
    title = titles[0] if len(titles) == 1 else None
    lessons = [found for item in reader.items for found in _lesson(item, title, reader.passed)]
    reader.passed += [Passed(it.line, "heading") for it in reader.headings if not it.is_used]
    return lessons, sorted(reader.passed)


def _lesson(item: _Item, title: _Heading | None, passed: list[Passed]) -> Iterator[Lesson]:
    """The lesson of an item, if it is one; the headings above it are used then."""
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
    """Goes through the lines once; `at` is the line it looks at, from 0."""

    lines: Sequence[str]
    at: int = 0
    items: list[_Item] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    headings: list[_Heading] = field(default_factory=list)
    chain: tuple[_Heading, ...] = ()
    open: _Item | None = None
    after_blank: bool = True
    absent: set[str] = field(default_factory=set)

    def read(self) -> None:
        """Read all lines."""
        self._front_matter()
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                self.after_blank = True
                self.at += 1
            elif self._block(line):
                if self.open and _indent(line) < self.open.indent + NESTED_INDENT:
                    self.open = None  # what stands beside an item and not in it ends the item
                self.after_blank = True
            else:
                if not (self._heading(line) or self._item(line)):
                    self._text(line)
                self.after_blank = False

    def _front_matter(self) -> None:
        if self.lines[0].rstrip() != "---":
            return
        for end in range(1, len(self.lines)):
            if self.lines[end].rstrip() in ("---", "..."):
                self._pass(end + 1, "front_matter")
                return

    def _pass(self, end: int, why: str) -> None:
        """Pass over the lines up to `end`; those that are not blank are told."""
        self.passed += [Passed(at + 1, why) for at in range(self.at, end) if self.lines[at].strip()]
        self.at = end

    def _block(self, line: str) -> bool:
        """Pass over a comment, code or a table that begins here; whether one did."""
        stripped = line.strip()
        ours, fence = _OURS.match(stripped), _FENCE.fullmatch(line)
        if ours and (end := self._after(f"<!-- sentinel-memory {ours['name']}: end -->")):
            self._pass(end, "ours")
        elif stripped.startswith("<!--"):
            self._pass(self._after("-->") or len(self.lines), "comment")
        elif fence and not (fence["fence"][0] == "`" and "`" in fence["info"]):
            self._pass(self._after_fence(fence["fence"]), "code")
        elif not self.open and self.after_blank and _indent(line) >= CODE_INDENT:
            self._pass(self._after_all(lambda it: _indent(it) >= CODE_INDENT), "code")
        elif stripped.startswith("|") or self._begins_table(line):
            self._pass(self._after_all(lambda it: "|" in it), "table")
        else:
            return False
        return True

    def _after(self, token: str) -> int:
        """The line after the next one with this token; 0 where there is none."""
        if token in self.absent:  # a long file may ask for it at every line
            return 0
        for at in range(self.at, len(self.lines)):
            if token in self.lines[at]:
                return at + 1
        self.absent.add(token)
        return 0

    def _after_all(self, belongs: Callable[[str], bool]) -> int:
        """The line after this one and all that follow it at once and belong to it."""
        places = range(self.at + 1, len(self.lines))
        return next((at for at in places if not belongs(self.lines[at])), len(self.lines))

    def _after_fence(self, fence: str) -> int:
        """The line after the end of this code; one that has no end reaches to the last line."""
        for at in range(self.at + 1, len(self.lines)):
            closing = self.lines[at].strip()
            if len(closing) >= len(fence) and not closing.strip(fence[0]):
                return at + 1
        return len(self.lines)

    def _begins_table(self, line: str) -> bool:
        """Whether the next line parts the head of a table from its rows."""
        below = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        return "|" in line and "|" in below and "-" in below and not below.strip("|-: \t")

    def _heading(self, line: str) -> bool:
        """Read a heading, or a line across the page, which ends a list, too; whether it was one."""
        if heading := _HEADING.fullmatch(line):
            self._add_heading(len(heading[1]), heading[2] or "")
        elif _BREAK.fullmatch(line):
            self.open = None
        elif not (self._goes_on(line) or _ITEM.fullmatch(line)) and self._is_underlined():
            level = 1 if "=" in self.lines[self.at + 1] else 2
            self._add_heading(level, line)
            self.at += 1
        else:
            return False
        self.at += 1
        return True

    def _goes_on(self, line: str) -> bool:
        """Whether a line that begins nothing of its own belongs to the item above it."""
        if not self.open:
            return False
        return not self.after_blank or _indent(line) >= self.open.indent + NESTED_INDENT

    def _is_underlined(self) -> bool:
        below = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        return bool(_UNDERLINE.fullmatch(below))

    def _add_heading(self, level: int, text: str) -> None:
        shown = heading_text(_without_comments(text)[0])
        heading = _Heading(self.at + 1, level, shown)
        self.headings.append(heading)
        self.chain = (*(above for above in self.chain if above.level < level), heading)
        self.open = None

    def _item(self, line: str) -> bool:
        """Read the first line of an item; whether it is one."""
        item = _ITEM.fullmatch(line)
        if not item:
            return False
        indent = _indent(line)
        if self.open and indent >= self.open.indent + NESTED_INDENT:
            self.open.nested_indent = self.open.nested_indent or indent
            depth = max(indent - self.open.nested_indent, 0)
            self.open.lines.append(" " * depth + self._content(line))
        else:
            text = _BOX.sub("", item["text"] or "", count=1)
            self.open = _Item(self.at + 1, indent, self.chain, [])
            self.items.append(self.open)
            self.open.lines.append(self._content(text))
        self.at += 1
        return True

    def _text(self, line: str) -> None:
        """Read a line that goes on with an item, or is running text."""
        if not self._goes_on(line):
            self.open = None
        if not self.open:
            why = "reference" if _REFERENCE.fullmatch(line.strip()) else "prose"
            self._pass(self.at + 1, why)
            return
        text = self._content(line)
        if self.after_blank:
            self.open.lines.append(text)
        else:
            self.open.lines[-1] += f" {text}"
        self.at += 1

    def _content(self, text: str) -> str:
        """The text of a line without comments; the rest of one that goes on is passed over."""
        text, goes_on = _without_comments(text)
        if goes_on:
            self.at += 1
            self._pass(self._after("-->") or len(self.lines), "comment")
            self.at -= 1  # the caller goes on with the next line
        return text.strip()


def _indent(line: str) -> int:
    """How many columns of blanks a line begins with."""
    line = line[: len(line) - len(line.lstrip())]
    return len(line.expandtabs(4))


def _without_comments(text: str) -> tuple[str, bool]:
    """A line without its comments, and whether the last of them goes on; code is left alone."""
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
