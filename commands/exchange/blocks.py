"""Finds what a Markdown document holds beside lists: comments, code, tables and front matter."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

CODE_INDENT = 4

_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_OURS = re.compile(r"<!-- sentinel-memory (?P<name>[a-z-]+): begin -->")


class Passed(NamedTuple):
    """A line, counted from 1, that gave no lesson, and why, as the end of a sentence's name."""

    line: int
    why: str


@dataclass(slots=True)
class Lines:
    """The lines of a document, read once; `at` is the next one, from 0, `passed` what is no lesson.

    absent: endings that no further line has; a long file may ask for one at every line.
    """

    lines: Sequence[str]
    at: int = 0
    passed: list[Passed] = field(default_factory=list)
    absent: set[str] = field(default_factory=set)

    def line(self, ahead: int = 0) -> str:
        """The next line, or one further down; "" behind the last one."""
        at = self.at + ahead
        return self.lines[at] if at < len(self.lines) else ""

    def skip(self, end: int, why: str) -> None:
        """Pass over the lines up to `end`, and note those that are not blank."""
        self.passed += [Passed(at + 1, why) for at in range(self.at, end) if self.lines[at].strip()]
        self.at = end

    def skip_front_matter(self) -> None:
        """Pass over what stands between two lines of hyphens at the top."""
        if self.line().rstrip() != "---":
            return
        for end in range(1, len(self.lines)):
            if self.lines[end].rstrip() in ("---", "..."):
                self.skip(end + 1, "front_matter")
                return

    def skip_comment(self) -> None:
        """Pass over the lines of a comment that has begun, and all lines if it has no end."""
        self.skip(self._after("-->") or len(self.lines), "comment")

    def skip_block(self, *, takes_code: bool) -> bool:
        """Pass over a comment, code or a table that begins here; whether one did.

        takes_code: whether a line that is only indented can be code.
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
            self.skip(self._after_all(lambda it: indent_of(it) >= CODE_INDENT), "code")
        elif stripped.startswith("|") or self._begins_table():
            self.skip(self._after_all(lambda it: "|" in it), "table")
        else:
            return False
        return True

    def _after(self, ending: str) -> int:
        """The line after the next one with this ending; 0 where there is none."""
        if ending in self.absent:
            return 0
        for at in range(self.at, len(self.lines)):
            if ending in self.lines[at]:
                return at + 1
        self.absent.add(ending)
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

    def _begins_table(self) -> bool:
        """Whether the line below parts the head of a table from its rows."""
        below = self.line(1)
        return "|" in self.line() and "|" in below and "-" in below and not below.strip("|-: \t")


def indent_of(line: str) -> int:
    """How many columns of blanks a line begins with."""
    line = line[: len(line) - len(line.lstrip())]
    return len(line.expandtabs(4))
