"""Scans the sessions of a project, where it has any; without them nothing of the room is loaded."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commands.scan.lines import INDENT, shown_path
from commands.scan.words import word
from commands.terminal.console import Opened
from commands.terminal.safe_text import plain
from core.messages import Language
from core.project import CONTEXT_DIRECTORY

if TYPE_CHECKING:
    from rooms.sessions.store import SessionStore
    from rooms.sessions.upkeep.secrets import Held, Redaction

_FOLDER = "sessions"


def secrets_in_sessions(opened: Opened) -> "list[Held] | None":
    """Return what holds secrets among the sessions; None in a project without any."""
    if not _has_folder(opened):
        return None
    from rooms.sessions.upkeep.secrets import secrets_held

    return secrets_held(_store(opened), os.environ)


def redact_sessions(opened: Opened) -> "Redaction | None":
    """Redact the sessions in place; None in a project without any."""
    if not _has_folder(opened):
        return None
    from rooms.sessions.upkeep.secrets import redact_held

    return redact_held(_store(opened), os.environ)


def aside_lines(opened: Opened) -> list[str]:
    """Name the damaged databases that a repair has kept, since nobody looks into them."""
    if not _has_folder(opened):
        return []
    from rooms.sessions.upkeep.secrets import kept_aside

    found = kept_aside(_store(opened))
    return [word(opened.lang, "aside", path=_shown(opened.lang, path)) for path in found]


def held_lines(lang: Language, held: "Sequence[Held]") -> list[str]:
    """Return a line for each place: where, which session, which rules; never the value."""
    lines = []
    for it in held:
        facts = {"where": _shown(lang, it.path), "kinds": ", ".join(it.kinds)}
        key = "in_session" if it.name else "in_sessions"
        lines.append(word(lang, key, name=plain(it.name), **facts))
    return lines


def held_json(lang: Language, held: "Sequence[Held]") -> list[dict[str, object]]:
    """Return the places as data, without any secret."""
    return [
        {"path": _shown(lang, it.path), "session": it.name or None, "kinds": list(it.kinds)}
        for it in held
    ]


def redaction_lines(lang: Language, redaction: "Redaction") -> list[str]:
    """Say what was redacted, what is left, and where the bytes are still in a file."""
    lines = list[str]()
    if redaction.changed:
        lines.append(word(lang, "sessions_redacted", count=len(redaction.changed)))
        lines += [INDENT + line for line in held_lines(lang, redaction.changed)]
    if redaction.left:
        lines += [word(lang, "left"), *held_lines(lang, redaction.left)]
    paths = [_shown(lang, path) for path in redaction.unpurged]
    return [*lines, *(word(lang, "unpurged", path=path) for path in paths)]


def _has_folder(opened: Opened) -> bool:
    return os.path.isdir(opened.project.root / CONTEXT_DIRECTORY / _FOLDER)


def _store(opened: Opened) -> "SessionStore":
    from rooms.sessions.store import open_sessions

    return open_sessions(opened.project.root, opened.settings)


def _shown(lang: Language, path: Path) -> str:
    return shown_path(lang, str(path).removeprefix(os.path.join(os.getcwd(), "")))
