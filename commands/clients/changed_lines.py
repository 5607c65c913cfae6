"""Finds what a change brings: the lines that differ, without those that only stand around them."""

from collections import Counter


def changed_lines(old: str, new: str) -> list[str]:
    """Return the lines that only one of the texts has, those of the new text first.

    Lines that were moved or indented differ in nothing.
    """
    before, after = old.splitlines(), new.splitlines()
    return [*_beside(after, before), *_beside(before, after)]


def new_lines(text: str, before: str) -> str:
    """Return the lines of a file's new text that it did not have before; all where none differs."""
    lines = text.splitlines()
    return "\n".join(_beside(lines, before.splitlines()) or lines)


def _beside(lines: list[str], others: list[str]) -> list[str]:
    """Return the lines that the others do not have, or not as often."""
    left = Counter(map(str.strip, lines))
    left.subtract(Counter(map(str.strip, others)))
    found = list[str]()
    for line in lines:
        key = line.strip()
        if key and left[key] > 0:
            left[key] -= 1
            found.append(line)
    return found
