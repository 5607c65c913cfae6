"""Makes untrusted text safe to print: no escape codes, invisible characters, CI commands.

GitHub Actions and Azure Pipelines obey `##[` and `##vso[` anywhere in a line, GitHub also `::` at
its start.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Sequence

from commands.terminal.screen import Style, disarmed, screen_here, wrapped
from core.guard.characters import hidden_runs

_COMMAND = re.compile(r"(##(?:vso)?)\[", re.IGNORECASE)
_KINDS = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def complain(text: str, style: Style = "red", block: Sequence[str] = ()) -> None:
    """Print an error safely on standard error, its first sentence in `style`.

    Only a terminal gets it wrapped. block: safe lines to copy, as they are.
    """
    screen, shown = screen_here(sys.stderr), plain(text)
    lines = wrapped(shown, screen.text_width, "") if screen.is_terminal else [shown]
    left = len(shown.partition(". ")[0].split(" "))
    for line in lines:
        words = line.split(" ")
        first = " ".join(words[:left])
        parts = [*([screen.painted(first, style)] if first else ()), *words[left:]]
        print(disarmed(" ".join(parts)), file=sys.stderr)
        left = max(0, left - len(words))
    for line in block:
        print(line, file=sys.stderr)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    complain(text, "yellow")


def plain(text: str) -> str:
    """Return one safe line: a line end or tab as a blank, an unsafe character as U+FFFD."""
    return _shown(" ".join(text.splitlines()).replace("\t", " "))


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text, an unsafe character as U+FFFD."""
    return [disarmed(_shown(line.replace("\t", "    "))) for line in text.splitlines()]


def plain_json(value: object, *, indent: int | None = 2) -> str:
    r"""Return JSON with only unsafe characters escaped (`\u`)."""
    text = _COMMAND.sub(r"\1\\u005b", json.dumps(value, ensure_ascii=False, indent=indent))
    if text.isascii() and "\x7f" not in text:  # JSON escapes the other controls
        return text
    hidden = _hidden_places(text)
    return "".join(
        char if char == "\n" or _is_seen(char, at, hidden) else json.dumps(char)[1:-1]
        for at, char in enumerate(text)
    )


def _shown(text: str) -> str:
    text = _COMMAND.sub("\\1\ufffd", text)
    if text.isascii() and text.isprintable():
        return text
    hidden = _hidden_places(text)
    return "".join(char if _is_seen(char, at, hidden) else "\ufffd" for at, char in enumerate(text))


def _hidden_places(text: str) -> set[int]:
    return {at for run in hidden_runs(text) for at in range(*run)}


def _is_seen(char: str, at: int, hidden: set[int]) -> bool:
    return at not in hidden and unicodedata.category(char) not in _KINDS
