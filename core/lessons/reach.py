"""Says what the anchors of a lesson reach in a project: a trigger too much, a path nothing.

A trigger that stands in too many files brings its lesson up until nobody heeds it. A path that
matches no file mostly has a slip, and the lesson is never brought up by it.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.git import files_with, known_files
from core.lessons.anchors import (
    MOST_PATHS,
    MOST_TRIGGERS,
    could_match,
    matches,
    normalise_paths,
    normalise_triggers,
)
from core.lessons.log import MemoryLog
from core.messages import Facts, say
from core.sanitizer import has_secret, safe
from core.text.plain import one_line

MOST_PERCENT = 3
FEW_FILES = 3  # not too many in any project, however small
MOST_FILES = 50_000  # of more nobody says which path matches nothing: a pattern takes 2 µs each


class Reach(NamedTuple):
    """What may be saved of the anchors of a lesson, and what to say of the others.

    triggers: those that stay. common: of each that is left out its facts. nowhere: paths that match
    no file of the project.
    """

    triggers: tuple[str, ...]
    common: tuple[Facts, ...]
    nowhere: tuple[str, ...]

    @property
    def notes(self) -> list[str]:
        """Sentences about what is left out, and about what matches nothing."""
        lines = [say("answers.trigger_common", **facts) for facts in self.common]
        if names := names_of(self.nowhere):
            lines.append(say("answers.path_nowhere", paths=names))
        return lines


def names_of(paths: Iterable[str]) -> str:
    """Return paths for a sentence; those that could do harm there are left out."""
    return ", ".join(filter(None, (safe(one_line(path)) for path in paths)))


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
        count = len(files)
        if count > most:
            count = sum(not any(matches(it, file) for it in patterns) for file in files)
        if count > most:
            number = triggers.index(piece) + 1
            common[piece] = Facts(number=number, files=count, tracked=tracked, percent=MOST_PERCENT)
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
    joined, nowhere = "\n".join(files), list[str]()
    for pattern in patterns:
        if could_match(pattern, joined) and any(matches(pattern, it) for it in files):
            continue
        fixed = re.split(r"[*?\[]", pattern)[0]
        folder = pattern if fixed == pattern else fixed.rpartition("/")[0]
        is_known = fixed != pattern and f"\n{folder}/" in f"\n{joined}"
        if not folder or is_known or not os.path.lexists(root / folder):
            nowhere.append(pattern)
    return tuple(nowhere)


def records_nowhere(log: MemoryLog, root: Path) -> list[tuple[tuple[int, ...], Facts]]:
    """Return the lines and the facts of the records with a path that matches no file."""
    files = known_files(root) if any(record.paths for record in log.records) else []
    places = {id(record): at + 1 for at, record in log.all_records()}
    found = list[tuple[tuple[int, ...], Facts]]()
    for record in log.records if files else ():
        names = names_of(paths_nowhere(record.paths[:MOST_PATHS], root, files))
        if names and safe(record.token):  # a command must name it
            line = places.get(id(record))
            found.append(((line,) if line else (), {"paths": names, "id": record.token}))
    return found
