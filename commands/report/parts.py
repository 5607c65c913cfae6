"""Writes the parts of a report, each list cut so that GitHub takes the whole as a comment.

Pure. Every part says how many of its items are not shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from commands.documents.github_markdown import inert
from core.messages import say

MOST_CHARS = 65_000  # GitHub refuses a comment of more than 65,536
MOST_ITEMS = (30, 10, 3, 0)  # of a list; the next one where texts are too long for this one
LONG_CHARS = 15_000  # longer than any record of permitted length


@dataclass(frozen=True, slots=True)
class Item:
    """Lines that stay together; topic: what they stand under."""

    lines: Sequence[str]
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the report: its heading, its items, and sentences before and after these."""

    heading: str
    items: Sequence[Item]
    before: Sequence[str] = ()
    after: Sequence[str] = ()


def fitted(head: Sequence[str], parts: Sequence[Part], foot: Sequence[str]) -> str:
    """Return the document with at most MOST_ITEMS of each list.

    An item above LONG_CHARS is only counted: none pushes the rest off the page.
    """
    text = ""
    for most in MOST_ITEMS:
        blocks = [_text(part, most) for part in parts]
        text = "\n\n".join([*head, *blocks, *foot]) + "\n"
        if len(text) <= MOST_CHARS:
            break
    return text


def _text(part: Part, most: int) -> str:
    lines = [f"### {part.heading}", ""]
    topic: str | None = None
    for before in part.before:
        lines += [before, ""]
    shown = [it for it in part.items if sum(map(len, it.lines)) <= LONG_CHARS][:most]
    for item in shown:
        if item.topic is not None and item.topic != topic:
            topic = item.topic
            lines += ["", f"#### {inert(topic)}", ""]
        lines += item.lines
    if more := len(part.items) - len(shown):
        lines += ["", say("report.not_shown", count=more)]
    for after in part.after:
        lines += ["", after]
    return _once_blank(lines)


def _once_blank(lines: Sequence[str]) -> str:
    """Join the lines, with no two blank ones in a row and none at the end."""
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return "\n".join(kept).rstrip("\n")
