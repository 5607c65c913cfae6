"""Finds other memories of the same repository, above and below, and says how two become one.

A session uses the nearest `.context` above the directory in which it starts, so that a second one
hides the first from whoever works there. Nothing is changed or created.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from commands.doctor.mending import cli_line, line_of
from core.config import CONTEXT_DIRECTORY, LOG_NAME, Project
from core.git import HistoryError, WorkTree
from core.lessons.file import COMPANIONS, LOCK_SUFFIX
from core.lessons.upkeep import Finding

MOST_FOLDERS = 50_000  # some 10 µs each
MOST_NAMED = 8
# Where no project of one's own lies, but many files do.
_PASSED = frozenset(
    (".git", CONTEXT_DIRECTORY, "node_modules", "site-packages", ".venv", "venv", "__pycache__")
)
_OURS = frozenset((*COMPANIONS, LOG_NAME + LOCK_SUFFIX))


def other_memories(project: Project) -> Iterator[Finding]:
    """Yield the memories above this project's in the same repository, and those below it."""
    root = project.root
    for directory in (root, *root.parents):
        if directory != root and os.path.isfile(_log(directory)):
            kind = "memory_above" if os.path.isfile(_log(root)) else "other_memory"
            facts = {"path": str(_log(directory)), **_joining(root, directory)}
            yield Finding(kind, "note", facts=facts)
        if os.path.exists(directory / ".git"):
            break
    for folder in _not_ignored(root, [*_folders_below(root)][:MOST_NAMED]):
        yield Finding(_kind_below(folder), "note", facts=_joining(folder, root))


def _log(directory: Path) -> Path:
    return directory / CONTEXT_DIRECTORY / LOG_NAME


def _joining(folder: Path, into: Path) -> dict[str, str]:
    """Return the facts of a memory that could become part of another project's."""
    context = folder / CONTEXT_DIRECTORY
    return {
        "folder": str(folder),
        "context": str(context),
        "root": str(into),
        "take": cli_line("import", str(_log(folder)), "--project", str(into)),
        "mv": line_of("mv", str(context), f"{context}.imported"),
        "rm": line_of("rm", "-r", str(context)),
    }


def _kind_below(folder: Path) -> str:
    if os.path.isfile(_log(folder)):
        return "memory_below"
    try:
        names = set(os.listdir(folder / CONTEXT_DIRECTORY))
    except OSError:
        return "context_of_others"
    return "context_below" if names <= _OURS else "context_of_others"


def _folders_below(root: Path) -> Iterator[Path]:
    """Yield the directories below that hold a `.context`; other repositories are passed over."""
    walked = 0
    for place, folders, files in os.walk(root):
        walked += 1
        is_top = place == str(root)
        if walked > MOST_FOLDERS or (not is_top and ".git" in (*folders, *files)):
            folders.clear()
            continue
        if not is_top and CONTEXT_DIRECTORY in folders:
            yield Path(place)
        folders[:] = sorted(name for name in folders if name not in _PASSED)


def _not_ignored(root: Path, found: Sequence[Path]) -> Sequence[Path]:
    """Return those of these directories that are no build output or the like, as git is told."""
    try:
        tree = WorkTree(root) if found else None
        ask = ("check-ignore", "--quiet", "--")
        return [it for it in found if tree and tree.run(*ask, str(it)).returncode]
    except HistoryError:  # git says nothing here
        return found
