"""Makes untrusted text safe to print: no escape codes, no invisible characters, no CI commands.

The runners of GitHub Actions and Azure Pipelines obey `##[` and `##vso[` anywhere in a line.
"""

import json
import re
import unicodedata

# Invisible blanks, and selectors that can carry hidden text; none is of the kinds below.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u3164\uffa0\U000e0100-\U000e01ef]"
)
_COMMAND = re.compile(r"(##(?:vso)?)\[", re.IGNORECASE)
_KINDS = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def plain(text: str) -> str:
    """Return a text as one line; a line end or tab becomes a blank, an unsafe character U+FFFD."""
    return _shown(" ".join(text.splitlines()).replace("\t", " "))


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text; an unsafe character becomes U+FFFD."""
    return [_shown(line.replace("\t", "    ")) for line in text.splitlines()]


def plain_json(value: object, *, indent: int | None = 2) -> str:
    r"""Return a value as JSON, in which only an unsafe character is escaped (`\u`)."""
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
