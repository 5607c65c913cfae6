"""Finds what a change brings: the lines that are new, without those that stand around them."""

from collections import Counter


def new_lines(text: str, before: str) -> list[str]:
    """Return the lines of a text that it did not have before; moved and indented ones it had."""
    lines, others = text.splitlines(), before.splitlines()
    left = Counter(map(str.strip, lines))
    left.subtract(Counter(map(str.strip, others)))
    found = list[str]()
    for line in lines:
        key = line.strip()
        if key and left[key] > 0:
            left[key] -= 1
            found.append(line)
    return found
