"""Names the records whose paths match no file of the project."""

from collections.abc import Iterator
from pathlib import Path

from commands.doctor.mending import cli_line
from core.git import known_files
from core.lessons.anchors import MOST_PATHS
from core.lessons.log import MemoryLog
from core.lessons.reach import names_of, paths_nowhere
from core.lessons.upkeep import Finding
from core.sanitizer import safe

MOST_NAMED = 8


def unreachable(log: MemoryLog, root: Path) -> Iterator[Finding]:
    """Yield a finding for each of the first such records, and one that counts the others."""
    files = known_files(root) if any(record.paths for record in log.records) else []
    places = {id(record): at + 1 for at, record in log.all_records()}
    found = list[Finding]()
    for record in log.records if files else ():
        names = names_of(paths_nowhere(record.paths[:MOST_PATHS], root, files))
        if names and safe(record.token):  # a command must name it
            line = places.get(id(record))
            command = cli_line("edit", record.token, "--project", str(root))
            facts = {"paths": names, "command": command}
            found.append(
                Finding("path_nowhere", "note", lines=(line,) if line else (), facts=facts)
            )
    yield from found[:MOST_NAMED]
    if len(found) > MOST_NAMED:
        yield Finding("more_path_nowhere", "note", facts={"more": len(found) - MOST_NAMED})
