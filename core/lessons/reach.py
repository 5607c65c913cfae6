"""Refuses triggers that stand in too many files of a project for anybody to heed what they show."""

import math
from collections.abc import Collection, Sequence
from pathlib import Path

from core.errors import TriggerTooCommonError
from core.git import files_with
from core.lessons.anchors import MOST_TRIGGERS, normalise_triggers
from core.sanitizer import has_secret

MOST_PERCENT = 3
FEW_FILES = 3  # not too many in any project, however small


def checked_triggers(
    given: str | Sequence[str], root: Path, known: Collection[str] = ()
) -> tuple[str, ...]:
    """Return triggers as the log stores them, none of which stands in too many files below `root`.

    known: those that the record has already; they are not counted in files, and there may be as
    many. Raises TriggerTooCommonError and what `normalise_triggers` raises.
    """
    triggers = normalise_triggers(given, most=max(MOST_TRIGGERS, len(known)))
    # No other program gets a secret.
    added = [piece for piece in triggers if piece not in known and not has_secret(piece)]
    counts, tracked = files_with(added, root) if added else ([], 0)
    most = max(FEW_FILES, math.floor(tracked * MOST_PERCENT / 100))
    for piece, files in zip(added, counts, strict=True):
        if files > most:
            facts = {"number": triggers.index(piece) + 1, "files": files, "tracked": tracked}
            raise TriggerTooCommonError(**facts, percent=MOST_PERCENT)
    return triggers
