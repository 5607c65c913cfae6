"""Refuses triggers that stand in too many files of a project for anybody to heed what they show.

Counted is what git tracks, as it stands in the index: no file of the work tree is opened.
"""

import math
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from core.errors import TriggerTooCommonError
from core.lessons.anchors.triggers import MOST_TRIGGERS, normalise_triggers
from core.lessons.git.errors import HistoryError
from core.lessons.git.work_tree import WorkTree
from core.project import CONTEXT_DIRECTORY
from core.text.normal_form import normal_form
from core.text_redaction import has_secret

MOST_PERCENT = 3
FEW_FILES = 3  # not too many in any project, however small
WAIT_S = 1.5  # a save does not wait longer for git

# Where lessons themselves stand: the log, and what clients read as rules.
RULES = (
    *(f"{CONTEXT_DIRECTORY}/**", ".cursor/**", ".claude/**", ".github/instructions/**"),
    *("AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"),
    *(".cursorrules", ".github/copilot-instructions.md"),
)
_COUNTED = (".", *(f":(exclude,glob)**/{pattern}" for pattern in RULES))


def checked_triggers(
    given: str | Sequence[str], root: Path, known: Collection[str] = ()
) -> tuple[str, ...]:
    """Return triggers as the log stores them, none of which stands in too many files below `root`.

    known: those that the record has already; they are not counted in files, and there may be as
    many. Raises TriggerTooCommonError and what `normalise_triggers` raises.
    """
    triggers = normalise_triggers(given, most=max(MOST_TRIGGERS, len(known)))
    added = [piece for piece in triggers if piece not in known]
    counts, tracked = files_with(added, root)
    most = max(FEW_FILES, math.floor(tracked * MOST_PERCENT / 100))
    for piece, files in zip(added, counts, strict=True):
        if files > most:
            facts = {"number": triggers.index(piece) + 1, "files": files, "tracked": tracked}
            raise TriggerTooCommonError(**facts, percent=MOST_PERCENT)
    return triggers


def files_with(pieces: Sequence[str], root: Path) -> tuple[list[int], int]:
    """Return in how many tracked files below `root` each piece stands, and how many there are.

    0 of 0 without git, outside of a repository, and where git needs more than WAIT_S seconds. A
    piece that holds a secret counts as 0: no other program gets it.
    """
    if not pieces:
        return [], 0
    try:
        tree = WorkTree(root, deadline_s=time.monotonic() + WAIT_S)
        tracked = _tracked(tree)
        return [0 if has_secret(piece) else _files(tree, piece) for piece in pieces], len(tracked)
    except (HistoryError, OSError):
        return [0] * len(pieces), 0


def tracked_files(root: Path) -> list[str]:
    """Return the tracked files below `root`, from there, with `/` between names, in their order.

    [] where `files_with` knows of none.
    """
    try:
        found = _tracked(WorkTree(root, deadline_s=time.monotonic() + WAIT_S))
    except (HistoryError, OSError):
        return []
    return [normal_form("NFC", name.decode("utf-8", "replace")) for name in sorted(found)]


def _tracked(tree: WorkTree) -> set[bytes]:
    return _names(tree.ask("ls-files", "-z", "--", *_COUNTED))


def _files(tree: WorkTree, piece: str) -> int:
    asked = ("grep", "--cached", "--no-color", "-z", "-l", "-F", "-e", piece, "--", *_COUNTED)
    return len(_names(tree.run(*asked).stdout))


def _names(listed: bytes) -> set[bytes]:
    """Return the files that git has listed; one with a conflict stands there several times."""
    return {name for name in listed.split(b"\0") if name}
