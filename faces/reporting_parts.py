"""The parts of a document of limited length: whole items or none, those of the last part go first.

Pure. Every part says how many of its items were left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.messages import Language
from faces.inert import inert
from faces.report_words import word

LEAST_CHARS = 4_000  # everything but the items


@dataclass(frozen=True, slots=True)
class Item:
    """Lines that are shown together or not at all, under the topic if there is one."""

    lines: Sequence[str]
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the report: its heading, what is said before the items, and after them."""

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
    """As many whole items as fit, the first parts before the last."""
    kept = [len(part.items) for part in parts]

    def text() -> str:
        blocks = [_text(part, count, lang) for part, count in zip(parts, kept, strict=True)]
        return "\n\n".join([*head, *blocks, *foot]) + "\n"

    for at in range(len(parts) - 1, -1, -1):
        if fits(text()):
            break
        most, kept[at] = kept[at], 0
        low = 0
        if not fits(text()):
            continue
        while low < most - 1:  # `low` items fit, `most` do not
            kept[at] = (low + most) // 2
            if fits(text()):
                low = kept[at]
            else:
                most = kept[at]
        kept[at] = low
    return text()


def _text(part: Part, count: int, lang: Language) -> str:
    lines = [f"### {part.heading}", ""]
    topic: str | None = None
    for before in part.before:
        lines += [before, ""]
    for item in part.items[:count]:
        if item.topic is not None and item.topic != topic:
            topic = item.topic
            lines += ["", f"#### {inert(topic)}", ""]
        lines += item.lines
    if count < len(part.items):
        lines += ["", word(lang, "left_out", count=len(part.items) - count)]
    for after in part.after:
        lines += ["", after]
    return _once_blank(lines)


def _once_blank(lines: Sequence[str]) -> str:
    """The lines with no two blank ones after each other, and none at the end."""
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return "\n".join(kept).rstrip("\n")
