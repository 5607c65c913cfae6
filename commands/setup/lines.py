"""Prints a plan of setup: every file with its diff, without anybody's secrets.

A configuration holds keys and environment values of other servers: the diff shows its keys and our
values, "…" for every other value and for comments, and redacts what else a line holds.
"""

import re
from pathlib import Path

from commands.clients.text_file import diff
from commands.setup.files import Change
from commands.terminal.safe_text import plain
from core.messages import say
from core.sanitizer import redact

HIDDEN = "…"
_CONFIGURATIONS = (".json", ".toml")
# Texts, comments and numbers of JSON and of TOML; what means one of them in one means none in the
# other. A text before a colon or an equals sign is a key.
_VALUE = re.compile(
    r"""(?P<text>\"{3}(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\]|\\.)*"|'[^'\r\n]*')"""
    r"""(?P<key>\s*[:=])?|(?P<note>\#|//)[^\r\n]*|/\*.*?\*/|(?<![\w.-])[-+]?\d[\w:.+-]*""",
    re.DOTALL,
)


def change_lines(change: Change, root: Path) -> list[str]:
    """Return the head of one change, and its diff."""
    path = shown_path(change.path, root)
    head = say("setup.gone", path=path) if change.after is None else path
    old, new = ("/dev/null" if text is None else path for text in (change.before, change.after))
    lines = diff(_masked(change, change.before), _masked(change, change.after), old, new)
    safe = (line if line.startswith("@") else plain(redact(line).text) for line in lines[2:])
    return [f"{head}: {_what(change)}", *lines[:2], *safe]


def shown_path(path: Path, root: Path) -> str:
    """Return a path for a person: from the project when it is below it."""
    below = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    return plain(below)


def _what(change: Change) -> str:
    parts: dict[str, list[str]] = {}
    for part, client in change.parts:
        parts.setdefault(part, []).append(client)
    said = []
    for part, clients in parts.items():
        named = ", ".join(client for client in clients if client)
        said.append(say(f"setup.{part}") + (f" ({named})" if named else ""))
    return ", ".join(said)


def _masked(change: Change, text: str | None) -> str:
    """Return the text with its lines, and in a configuration without all that is not ours."""
    if not text or change.path.suffix not in _CONFIGURATIONS:
        return text or ""

    def value(found: re.Match[str]) -> str:
        whole, inside = found[0], (found["text"] or "")[1:-1]
        known = inside.replace("\\\\", "\\").replace('\\"', '"') if found["text"] else whole
        if found["key"] or known in change.shown:
            return whole
        sign = f"{found['note']} {HIDDEN}" if found["note"] else HIDDEN
        hidden = f'"{HIDDEN}"' if found["text"] else sign
        return hidden + f"\n{HIDDEN}" * whole.count("\n")

    return _VALUE.sub(value, text)
