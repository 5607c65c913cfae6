"""Fits a document into a limited length by leaving out whole items, those of the last part first.

Pure. Every part says how many of its items were left out.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from commands.documents.github_markdown import inert
from commands.report.words import word
from core.messages import Language

LEAST_CHARS = 4_000  # everything but the items
LONG_CHARS = 15_000


@dataclass(frozen=True, slots=True)
class Item:
    """Lines that stay together or are left out together; topic: what they stand under."""

    lines: Sequence[str]
    topic: str | None = None

    @property
    def is_very_long(self) -> bool:
        """Whether it is longer than any record of permitted length."""
        return sum(map(len, self.lines)) > LONG_CHARS


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the report: its heading, its items, and sentences before and after these."""

    heading: str
    items: Sequence[Item]
    before: Sequence[str] = ()
    after: Sequence[str] = ()


def fitted(
    head: Sequence[str],
    parts: Sequence[Part],
    foot: Sequence[str],
    lang: Language,
    fits: Callable[[str], bool],
) -> str:
    """Return as many whole items as fit, the first parts before the last.

    Very long items are left out first, whatever their part: none pushes the rest off the page.
    """
    items = [item for part in parts for item in part.items]
    leaving = sorted(reversed(items), key=lambda it: not it.is_very_long)

    def text(left_out: int) -> str:
        gone = set(map(id, leaving[:left_out]))
        blocks = [_text(part, gone, lang) for part in parts]
        return "\n\n".join([*head, *blocks, *foot]) + "\n"

    low, most = 0, len(leaving)  # the least number that has to go is between them
    while low < most:
        middle = (low + most) // 2
        low, most = (low, middle) if fits(text(middle)) else (middle + 1, most)
    return text(most)


def _text(part: Part, gone: Container[int], lang: Language) -> str:
    lines = [f"### {part.heading}", ""]
    topic: str | None = None
    for before in part.before:
        lines += [before, ""]
    shown = [item for item in part.items if id(item) not in gone]
    for item in shown:
        if item.topic is not None and item.topic != topic:
            topic = item.topic
            lines += ["", f"#### {inert(topic)}", ""]
        lines += item.lines
    if left_out := len(part.items) - len(shown):
        lines += ["", word(lang, "left_out", count=left_out)]
    for after in part.after:
        lines += ["", after]
    return _once_blank(lines)


def _once_blank(lines: Sequence[str]) -> str:
    """Join the lines, with no two blank ones in a row and none at the end."""
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return "\n".join(kept).rstrip("\n")
