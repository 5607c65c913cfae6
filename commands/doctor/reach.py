"""Finds records that no hook can show, that nearly every change would, and paths of no file."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from commands.doctor.mending import cli_line
from core.git import known_files, tracked_files
from core.lessons.anchors import MOST_PATHS
from core.lessons.log import MemoryLog
from core.lessons.reach import can_be_shown, names_of, paths_nowhere, shown_everywhere
from core.lessons.record import Record
from core.lessons.upkeep import Finding
from core.messages import Facts
from core.sanitizer import safe

MOST_NAMED = 8

_Found = tuple[Record, Facts]


def unreachable(log: MemoryLog, root: Path) -> Iterator[Finding]:
    """Yield what hooks cannot do with the records of a log, the first few of each kind by name."""
    never = [(record, Facts()) for record in log.records if not can_be_shown(record)]
    yield from _named("never_shown", "more_never_shown", never, log, root)
    if any(record.paths for record in log.records):
        everywhere = shown_everywhere(log.records, tracked_files(root))
        shares = [(record, Facts(percent=percent)) for record, percent in everywhere]
        yield from _named("shown_everywhere", "more_shown_everywhere", shares, log, root)
        yield from _named("path_nowhere", "more_path_nowhere", _astray(log, root), log, root)


def _astray(log: MemoryLog, root: Path) -> Iterator[_Found]:
    """Yield the records with paths that match no file."""
    files = known_files(root)
    for record in log.records:
        nowhere = paths_nowhere(record.paths[:MOST_PATHS], root, files)
        if names := names_of(nowhere):
            yield record, Facts(paths=names)


def _named(
    kind: str, more: str, found: Iterable[_Found], log: MemoryLog, root: Path
) -> Iterator[Finding]:
    places = {id(record): at + 1 for at, record in log.all_records()}
    shown = [it for it in found if safe(it[0].token)]  # a command must name it
    for record, facts in islice(shown, MOST_NAMED):
        command = cli_line("edit", record.token, "--project", str(root))
        line = places.get(id(record))
        lines = (line,) if line else ()
        yield Finding(kind, "note", lines=lines, facts={**facts, "command": command})
    if len(shown) > MOST_NAMED:
        yield Finding(more, "note", facts={"more": len(shown) - MOST_NAMED})
