"""Finds what a Markdown document holds beside lists: comments, code, tables, front matter."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

CODE_INDENT = 4

_FENCE = re.compile(r"\s*(?P<fence>`{3,}+|~{3,}+)(?P<info>.*)")
_OURS = re.compile(r"<!-- sentinel-memory (?P<name>[a-z-]+): begin -->")


class Passed(NamedTuple):
    """A line, from 1, without a lesson, and why: `passed_` + why is the key of a sentence."""

    line: int
    why: str


@dataclass(slots=True)
class Lines:
    """The lines of a document, read once.

    at: the next line, from 0. passed: the lines without a lesson. absent: endings that no further
    line has, since a long file may ask for one at every line.
    """

    lines: Sequence[str]
    at: int = 0
    passed: list[Passed] = field(default_factory=list)
    absent: set[str] = field(default_factory=set)

    def line(self, ahead: int = 0) -> str:
        """Return the next line, or one further down; an empty text after the last one."""
        at = self.at + ahead
        return self.lines[at] if at < len(self.lines) else ""

    def skip(self, end: int, why: str) -> None:
        """Skip the lines up to `end`, and note those that are not blank."""
        self.passed += [Passed(at + 1, why) for at in range(self.at, end) if self.lines[at].strip()]
        self.at = end

    def skip_front_matter(self) -> None:
        """Skip front matter: lines between two lines of hyphens at the top."""
        if self.line().rstrip() != "---":
            return
        for end in range(1, len(self.lines)):
            if self.lines[end].rstrip() in ("---", "..."):
                self.skip(end + 1, "front_matter")
                return

    def skip_comment(self) -> None:
        """Skip the lines of an open comment, all lines if nothing closes it."""
        self.skip(self._after("-->") or len(self.lines), "comment")

    def skip_block(self, *, takes_code: bool) -> bool:
        """Skip a comment, code or a table that begins here; return whether one did.

        takes_code: whether a line that is only indented may be code.
        """
        line = self.line()
        stripped = line.strip()
        ours, fence = _OURS.match(stripped), _FENCE.fullmatch(line)
        if ours and (end := self._after(f"<!-- sentinel-memory {ours['name']}: end -->")):
            self.skip(end, "ours")
        elif stripped.startswith("<!--"):
            self.skip_comment()
        elif fence and not (fence["fence"][0] == "`" and "`" in fence["info"]):
            self.skip(self._after_fence(fence["fence"]), "code")
        elif takes_code and indent_of(line) >= CODE_INDENT:
            self.skip(self._after_all(lambda below: indent_of(below) >= CODE_INDENT), "code")
        elif stripped.startswith("|") or self._begins_table():
            self.skip(self._after_all(lambda below: "|" in below), "table")
        else:
            return False
        return True

    def _after(self, ending: str) -> int:
        """Return the line after the next one with this ending, 0 without any."""
        if ending in self.absent:
            return 0
        for at in range(self.at, len(self.lines)):
            if ending in self.lines[at]:
                return at + 1
        self.absent.add(ending)
        return 0

    def _after_all(self, belongs: Callable[[str], bool]) -> int:
        """Return the line after the run of lines that belong to this one."""
        places = range(self.at + 1, len(self.lines))
        return next((at for at in places if not belongs(self.lines[at])), len(self.lines))

    def _after_fence(self, fence: str) -> int:
        """Return the line after this code; unclosed code reaches to the last line."""
        for at in range(self.at + 1, len(self.lines)):
            closing = self.lines[at].strip()
            if len(closing) >= len(fence) and not closing.strip(fence[0]):
                return at + 1
        return len(self.lines)

    def _begins_table(self) -> bool:
        """Return whether the line below separates the head of a table from its rows."""
        below = self.line(1)
        return "|" in self.line() and "|" in below and "-" in below and not below.strip("|-: \t")


def indent_of(line: str) -> int:
    """Count the columns of blanks that a line begins with."""
    line = line[: len(line) - len(line.lstrip())]
    return len(line.expandtabs(4))
