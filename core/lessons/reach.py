"""Says what the anchors of a lesson reach in its project: a trigger too much, a path nothing.

A trigger that stands in too many files brings its lesson up until nobody heeds it. A path that
matches no file mostly has a slip, and the lesson is never brought up by it.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.git import files_with, known_files
from core.lessons.anchors import (
    MOST_TRIGGERS,
    could_match,
    matches,
    normalise_paths,
    normalise_triggers,
)
from core.messages import Facts, say
from core.sanitizer import has_secret, safe
from core.text.plain import one_line

MOST_PERCENT = 3
FEW_FILES = 3  # not too many in any project, however small
MOST_FILES = 50_000  # of more nobody says which path matches nothing: a pattern takes 2 µs each


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What may be saved of the anchors that somebody gave, and what to say of the others.

    triggers: those that stay. common: of each that is left out its facts. nowhere: paths that match
    no file of the project.
    """

    triggers: tuple[str, ...] = ()
    common: tuple[Facts, ...] = ()
    nowhere: tuple[str, ...] = ()

    @property
    def notes(self) -> list[str]:
        """Sentences about what is left out, and about what matches nothing."""
        lines = [say("answers.trigger_common", **facts) for facts in self.common]
        if shown := ", ".join(filter(None, (safe(one_line(it)) for it in self.nowhere))):
            lines.append(say("answers.path_nowhere", paths=shown))
        return lines


def reach_of(
    paths: str | Sequence[str], when: str | Sequence[str], root: Path, known: Collection[str] = ()
) -> Reach:
    """Return what these anchors reach among the files of the project at `root`.

    A trigger is too common that stands in more than 3 % of the tracked files and in more than three
    of them, those not counted for which the lesson's own paths stand. known: triggers that the
    record has already; they are not counted in files, and there may be as many. Without git nothing
    is too common, and nothing matches no file.

    Raises what `normalise_paths` and `normalise_triggers` raise.
    """
    patterns = normalise_paths(paths, str(root), most=None)
    triggers = normalise_triggers(when, most=max(MOST_TRIGGERS, len(known)))
    # No other program gets a secret.
    added = [piece for piece in triggers if piece not in known and not has_secret(piece)]
    found, tracked = files_with(added, root) if added else ([], 0)
    most = max(FEW_FILES, tracked * MOST_PERCENT // 100)
    common: dict[str, Facts] = {}
    for piece, files in zip(added, found, strict=True):
        if len(files) > most:
            count = sum(not any(matches(it, file) for it in patterns) for file in files)
            if count > most:
                number = triggers.index(piece) + 1
                facts = Facts(number=number, files=count, tracked=tracked, percent=MOST_PERCENT)
                common[piece] = facts
    unsure = [it for it in patterns if not os.path.lexists(root / it)]  # most name a file
    return Reach(
        triggers=tuple(piece for piece in triggers if piece not in common),
        common=tuple(common.values()),
        nowhere=paths_nowhere(unsure, root, known_files(root)) if unsure else (),
    )


def paths_nowhere(patterns: Iterable[str], root: Path, files: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns that stand for none of these files of a project, as `known_files` has.

    A file that git ignores is one, and what is below a folder that git does not know can be one.
    """
    if not 0 < len(files) <= MOST_FILES:
        return ()
    joined = "\n".join(files)

    def is_somewhere(pattern: str) -> bool:
        if could_match(pattern, joined) and any(matches(pattern, it) for it in files):
            return True
        fixed = re.split(r"[*?\[]", pattern)[0]
        folder = pattern if fixed == pattern else fixed.rpartition("/")[0]
        is_known = fixed != pattern and f"\n{folder}/" in f"\n{joined}"
        return bool(folder) and not is_known and os.path.lexists(root / folder)

    return tuple(pattern for pattern in patterns if not is_somewhere(pattern))
