"""Text of strangers on a terminal: every character shows, none steers the terminal or hides.

Nor does one steer what reads the output in CI: a runner of GitHub Actions or Azure Pipelines takes
`##[` and `##vso[` for a command wherever in a line they stand.
"""

import json
import re
import unicodedata

# Blanks that no reader sees, and selectors that can carry hidden text; not of the kinds below.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u3164\uffa0\U000e0100-\U000e01ef]"
)
_COMMAND = re.compile(r"(##(?:vso)?)\[", re.IGNORECASE)
_KINDS = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def plain(text: str) -> str:
    """Text for a line of ours: line ends and tabs are blanks, what could act or hide is U+FFFD."""
    return _shown(" ".join(text.splitlines()).replace("\t", " "))


def plain_lines(text: str) -> list[str]:
    """The lines of a text, each as it is but for what could act or hide."""
    return [_shown(line.replace("\t", "    ")) for line in text.splitlines()]


def plain_json(value: object, *, indent: int | None = 2) -> str:
    r"""The value as JSON that a terminal can show: characters as they are, hidden ones as `\u`."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(
        char if char == "\n" or _is_seen(char) else json.dumps(char)[1:-1] for char in text
    )


def _shown(text: str) -> str:
    text = _COMMAND.sub("\\1\ufffd", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_seen(char) else "\ufffd" for char in text)


def _is_seen(char: str) -> bool:
    return unicodedata.category(char) not in _KINDS and not _UNSEEN.match(char)
