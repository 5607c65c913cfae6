"""Makes untrusted text safe to print: no escape codes, no invisible characters, no CI commands.

The runners of GitHub Actions and Azure Pipelines obey `##[` and `##vso[` anywhere in a line.
"""

import json
import re
import sys
import unicodedata

from core.injection.hidden import hidden_runs

_COMMAND = re.compile(r"(##(?:vso)?)\[", re.IGNORECASE)
_KINDS = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def complain(text: str) -> None:
    """Print a sentence on standard error, in one line and without anything unsafe."""
    print(plain(text), file=sys.stderr)


def plain(text: str) -> str:
    """Return a text as one line; a line end or tab becomes a blank, an unsafe character U+FFFD."""
    return _shown(" ".join(text.splitlines()).replace("\t", " "))


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text; an unsafe character becomes U+FFFD."""
    return [_shown(line.replace("\t", "    ")) for line in text.splitlines()]


def plain_json(value: object, *, indent: int | None = 2) -> str:
    r"""Return a value as JSON, in which only an unsafe character is escaped (`\u`)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
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
