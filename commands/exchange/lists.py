"""Reads lessons from the bullets of a Markdown document, and their topics from its headings.

Pure. Only a bullet at the left edge is a lesson, with the lines that it is wrapped into. Every
other line with words is noted, with why it holds no lesson.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from commands.exchange.topics import about, has_words, heading_text

# Former versions wrote files with this line into the folders of clients.
_RULES = "<!-- sentinel-memory rules: generated from the memory, changes made here are lost -->"
_BLOCK = re.compile(r"<!-- sentinel-memory (?P<name>[a-z-]+): begin -->")
_FENCE = re.compile(r"`{3,}+(?=[^`]*\Z)|~{3,}+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-+)[ \t]*")
_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d{1,9}[.)])(?:\s++(?P<text>.*)|$)")
_BOX = re.compile(r"\A\[[ xX]\]\s+")
_CONTENTS = re.compile(r"\[[^\]]*+\]\(#[^)]*+\)")
_REFERENCE = re.compile(r"@\S+")


class Lesson(NamedTuple):
    """A bullet, with the topic and context that its headings give."""

    line: int
    topic: str
    text: str


class Passed(NamedTuple):
    """A line, from 1, without a lesson, and why: `passed_` + why is the key of a sentence."""

    line: int
    why: str


@dataclass(slots=True)
class _Heading:
    line: int
    level: int
    text: str
    is_used: bool = False


@dataclass(slots=True)
class _Bullet:
    line: int
    headings: tuple[_Heading, ...]
    lines: list[str]


def read_markdown(text: str) -> tuple[list[Lesson], list[Passed]]:
    """Return the lessons of a document, and the lines without one."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    reader = _Reader(text.split("\n"))
    reader.read()
    titles = [heading for heading in reader.headings if heading.level == 1]
    title = titles[0] if len(titles) == 1 else None
    passed = reader.passed
    lessons = [found for bullet in reader.bullets for found in _lesson(bullet, title, passed)]
    passed += [Passed(it.line, "heading") for it in reader.headings if not it.is_used]
    return lessons, sorted(passed)


def _lesson(bullet: _Bullet, title: _Heading | None, passed: list[Passed]) -> Iterator[Lesson]:
    """Yield the lesson of a bullet, if it is one, and mark the headings above it as used."""
    text = " ".join(bullet.lines).strip()
    if not has_words(text):
        passed.append(Passed(bullet.line, "no_words"))
    elif _CONTENTS.fullmatch(text):
        passed.append(Passed(bullet.line, "contents"))
    elif _REFERENCE.fullmatch(text):
        passed.append(Passed(bullet.line, "reference"))
    else:
        for heading in bullet.headings:
            heading.is_used = True
        has_title = title is not None and bullet.headings[:1] == (title,)
        above = [heading.text for heading in bullet.headings]
        topic, context = about(above[1:], above[0]) if has_title else about(above, "")
        yield Lesson(bullet.line, topic, f"{context}: {text}" if context else text)


@dataclass(slots=True)
class _Reader:
    """Reads bullets and headings.

    above: the headings over the next bullet. bullet: the one that the next line may continue.
    is_nested: whether the next line may continue a bullet below that one.
    """

    lines: Sequence[str]
    bullets: list[_Bullet] = field(default_factory=list)
    headings: list[_Heading] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    above: tuple[_Heading, ...] = ()
    bullet: _Bullet | None = None
    is_nested: bool = False

    def read(self) -> None:
        """Read all lines."""
        at = 0
        while at < len(self.lines):
            text = self.lines[at].strip()
            why, end = self._skipped(text, at)
            for skipped in range(at, end):
                if self.lines[skipped].strip():
                    self.passed.append(Passed(skipped + 1, why))
            if why or not text:
                self.bullet, self.is_nested = None, False
            else:
                self._read_line(at + 1, self.lines[at], text)
            at = max(end, at + 1)

    def _skipped(self, text: str, at: int) -> tuple[str, int]:
        """Return why no lesson is in the lines from here up to another one, "" for none such."""
        fence = _FENCE.match(text)
        if at == 0 and text == "---" and "---" in self.lines[1:]:  # else a heading of its last line
            return "prose", self.lines.index("---", 1) + 1
        if text == _RULES:
            return "ours", len(self.lines)
        if block := _BLOCK.match(text):
            ending = f"<!-- sentinel-memory {block['name']}: end -->"
            return "ours", self._after(at, lambda line: ending in line)
        if text.startswith("<!--"):
            return "comment", self._after(at, lambda line: "-->" in line)
        if fence:
            return "code", self._after(at + 1, lambda line: _closes(fence[0], line.strip()))
        return "", at

    def _after(self, at: int, is_last: Callable[[str], bool]) -> int:
        """Return the line behind the next one that ends a part; all lines if none does."""
        places = range(at, len(self.lines))
        return next((it + 1 for it in places if is_last(self.lines[it])), len(self.lines))

    def _read_line(self, number: int, line: str, text: str) -> None:
        bullet = _BULLET.fullmatch(line)
        goes_on = self.bullet or self.is_nested
        below = "".join(self.lines[number : number + 1])
        if heading := _HEADING.fullmatch(line):
            self._add_heading(number, len(heading[1]), heading[2] or "")
        elif not (bullet or goes_on) and (underline := _UNDERLINE.fullmatch(below)):
            self._add_heading(number, 1 if underline[1] else 2, text)
        elif not (bullet or has_words(text)):  # a rule, or the line below a heading
            self.bullet, self.is_nested = None, False
        elif bullet and not bullet["indent"]:
            words = _BOX.sub("", (bullet["text"] or "").strip(), count=1)
            self.bullet, self.is_nested = _Bullet(number, self.above, [words]), False
            self.bullets.append(self.bullet)
        elif bullet or self.is_nested:
            self.is_nested = True
            self.passed.append(Passed(number, "nested"))
        elif self.bullet:
            self.bullet.lines.append(text)
        else:
            why = "reference" if _REFERENCE.fullmatch(text) else "prose"
            self.passed.append(Passed(number, why))

    def _add_heading(self, line: int, level: int, text: str) -> None:
        heading = _Heading(line, level, heading_text(text))
        self.headings.append(heading)
        self.above = (*(above for above in self.above if above.level < level), heading)
        self.bullet, self.is_nested = None, False


def _closes(fence: str, line: str) -> bool:
    """Return whether a line ends the code that begins with this fence."""
    return len(line) >= len(fence) and not line.strip(fence[0])
