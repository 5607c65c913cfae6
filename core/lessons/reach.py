"""Says which anchors of a lesson reach too many files of a project, and which reach none.

A trigger in too many files brings its lesson up until nobody heeds it; a path without files mostly
has a slip.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.git import files_with, list_files
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
from core.sanitizer import has_secret, safe_name
from core.text.plain import one_line

MOST_PERCENT = 3
FEW_FILES = 3  # not too many in any project, however small
MOST_FILES = 50_000  # of more nobody says which path matches nothing: a pattern takes 2 µs each
_Anchors = str | Sequence[str]


class Reach(NamedTuple):
    triggers: tuple[str, ...]  # to save
    common_triggers: tuple[Facts, ...]  # of triggers that are left out
    unmatched_paths: tuple[str, ...]  # paths without a file

    @property
    def notes(self) -> list[str]:
        lines = [say("answers.trigger_common", **facts) for facts in self.common_triggers]
        if names := joined_paths(self.unmatched_paths):
            lines.append(say("answers.path_nowhere", paths=names))
        return lines


def joined_paths(paths: Iterable[str]) -> str:
    """Return paths for a sentence, without those that could do harm there."""
    return ", ".join(filter(None, (safe_name(one_line(path)) for path in paths)))


def reach_of(
    paths: _Anchors, when: _Anchors, root: Path, old_triggers: Collection[str] = ()
) -> Reach:
    """Return what anchors reach among the files of the project at `root`.

    A trigger in more than 3 % of the tracked files and more than three is too common; files of the
    lesson's own `paths` do not count. old_triggers: they stay. Without git every anchor passes.
    """
    patterns = normalise_paths(paths, str(root), most=None)
    triggers = normalise_triggers(when, most=max(MOST_TRIGGERS, len(old_triggers)))
    # No other program gets a secret.
    pieces = [piece for piece in triggers if piece not in old_triggers and not has_secret(piece)]
    file_lists, total = files_with(pieces, root) if pieces else ([], 0)
    most_files = max(FEW_FILES, total * MOST_PERCENT // 100)
    facts: dict[str, Facts] = {}
    for piece, files in zip(pieces, file_lists, strict=True):
        count = len(files)
        if count > most_files:
            count = sum(not any(matches(pattern, file) for pattern in patterns) for file in files)
        if count > most_files:
            number = triggers.index(piece) + 1
            facts[piece] = Facts(number=number, files=count, tracked=total, percent=MOST_PERCENT)
    suspects = [path for path in patterns if not os.path.lexists(root / path)]  # most name a file
    return Reach(
        triggers=tuple(piece for piece in triggers if piece not in facts),
        common_triggers=tuple(facts.values()),
        unmatched_paths=find_unmatched(suspects, root, list_files(root)) if suspects else (),
    )


def find_unmatched(patterns: Iterable[str], root: Path, files: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns that stand for no file of `list_files`.

    A file that git ignores counts, and a folder unknown to git may hold one.
    """
    if not 0 < len(files) <= MOST_FILES:
        return ()
    joined_files, nowhere = "\n".join(files), list[str]()
    for pattern in patterns:
        if could_match(pattern, joined_files) and any(matches(pattern, file) for file in files):
            continue
        prefix = re.split(r"[*?\[]", pattern)[0]
        folder = pattern if prefix == pattern else prefix.rpartition("/")[0]
        is_known = prefix != pattern and f"\n{folder}/" in f"\n{joined_files}"
        if not folder or is_known or not os.path.lexists(root / folder):
            nowhere.append(pattern)
    return tuple(nowhere)


def find_unmatched_records(log: MemoryLog, root: Path) -> list[tuple[tuple[int, ...], Facts]]:
    """Return lines and facts of records with a path that matches no file."""
    files = list_files(root) if any(record.paths for record in log.records) else []
    places = {id(record): at + 1 for at, record in log.all_records()}
    findings = list[tuple[tuple[int, ...], Facts]]()
    for record in log.records if files else ():
        names = joined_paths(find_unmatched(record.paths[:MOST_PATHS], root, files))
        if names and safe_name(record.version_id):  # a command must name it
            line = places.get(id(record))
            findings.append(((line,) if line else (), {"paths": names, "id": record.version_id}))
    return findings
