"""Prints a plan of setup: every file with its diff, without anybody's secrets.

A configuration holds keys and environment values of other servers: the diff shows our texts only,
"…" for all others, and redacts what else a line holds.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from commands.documents.text_file import diff
from commands.setup.files import Change
from commands.setup.words import word
from commands.terminal.safe_text import plain
from core.messages import Language
from core.sanitizer import redact

HIDDEN = "…"
_TEXT = re.compile(r"""("(?:[^"\\]|\\.)*(?:"|\Z)|'[^']*(?:'|\Z))(\s*[:=])?""")
# A line of TOML that does not look like one stands within a text of several lines.
_TOML_LINE = re.compile(
    r"""[-+ ]\s*(?:\[.*|[\]}#"'\d].*|[\w."'-]+\s*=\s*(?:["'\[{\d+-].*|true\b.*|false\b.*))?"""
)
_CONFIGURATIONS = (".json", ".toml")


def change_lines(lang: Language, change: Change, root: Path) -> list[str]:
    """Return the head of one change, and its diff."""
    path = shown_path(change.path, root)
    head = word(lang, "gone", path=path) if change.after is None else path
    old, new = ("/dev/null" if text is None else path for text in (change.before, change.after))
    lines = diff(change.before or "", change.after or "", old, new)
    return [
        f"{head}: {_what(lang, change)}",
        *lines[:2],
        *(_safe(line, change) for line in lines[2:]),
    ]


def shown_path(path: Path, root: Path) -> str:
    """Return a path for a person: from the project when it is below it."""
    below = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    return plain(below)


def _what(lang: Language, change: Change) -> str:
    parts: dict[str, list[str]] = {}
    for part, client in change.parts:
        parts.setdefault(part, []).append(client)
    said = []
    for part, clients in parts.items():
        named = ", ".join(client for client in clients if client)
        said.append(word(lang, part) + (f" ({named})" if named else ""))
    return ", ".join(said)


def _safe(line: str, change: Change) -> str:
    if line.startswith("@"):
        return line
    if change.path.suffix in _CONFIGURATIONS:
        line = _TEXT.sub(lambda found: _known(found, change.shown), line)
        if change.path.suffix == ".toml" and not _TOML_LINE.fullmatch(line):
            line = f"{line[0]}{HIDDEN}"
    return plain(redact(line).text)  # a line that gets a comma is a new one, and the user's


def _known(found: re.Match[str], shown: Iterable[str]) -> str:
    """Return a key, or a text of ours, as it is; hide every other text."""
    text, after = found[1], found[2] or ""
    inner = text[1:-1].replace("\\\\", "\\").replace('\\"', '"')
    is_key = bool(after) and text[-1] in "\"'"
    return found[0] if is_key or inner in shown else f'"{HIDDEN}"{after}'
