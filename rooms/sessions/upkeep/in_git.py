"""Says what git would carry of the sessions: never the database, the other two files if wanted."""

import os
from collections.abc import Iterator
from pathlib import Path

from core.disk.configuration import CONFIG_NAME
from core.git import HistoryError, WorkTree
from core.lessons.upkeep.health import Finding
from rooms.sessions.config import FOLDER
from rooms.sessions.projection import NAME
from rooms.sessions.store import SessionStore

_DATABASES = "*.db*"


def git_findings(store: SessionStore) -> Iterator[Finding]:
    """Yield what git has of the sessions' directory, and what it would take in by mistake."""
    folder = store.path.parent
    if not folder.is_dir():
        return
    try:
        tree = WorkTree(store.root)
        below = folder.relative_to(store.root).as_posix()
        tracked = _listed(tree, f":(glob){below}/{_DATABASES}")
        for path in tracked:
            yield Finding("sessions_tracked", "warning", facts={"path": path})
        if not tracked and not all(_is_ignored(tree, name) for name in _names_of(store.path)):
            facts = {"path": f"{below}/.gitignore", "name": store.path.name}
            yield Finding("sessions_not_ignored", "warning", facts=facts, fixable=True)
        files = [f"{below}/{NAME}", f"{FOLDER}/{CONFIG_NAME}"]
        present = [path for path in files if os.path.isfile(store.root / path)]
        carried = _listed(tree, *(f":(literal){path}" for path in present)) if present else []
        for path in present:
            kind = "sessions_carried" if path in carried else "sessions_not_carried"
            yield Finding(kind, "note", facts={"path": path})
    except HistoryError:  # no git here; the doctor says so of the log
        return


def _names_of(path: Path) -> tuple[str, str]:
    """Return the database, and the name of a copy, which need not be there."""
    return str(path), f"{path}.copy-0"


def _is_ignored(tree: WorkTree, path: str) -> bool:
    return tree.run("check-ignore", "--quiet", "--no-index", "--", path).returncode == 0


def _listed(tree: WorkTree, *patterns: str) -> list[str]:
    """Return the tracked files of these patterns, relative to the project."""
    return [
        os.fsdecode(it) for it in tree.ask("ls-files", "-z", "--", *patterns).split(b"\0") if it
    ]
