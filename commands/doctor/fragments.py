"""Asks the room of the fragments how it is, where this user has some, and has it repaired.

They are the user's, on this machine and over all projects; without any, nothing of the room is
loaded.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from commands.terminal.rooms_here import has_fragments
from core.lessons.upkeep import Finding
from rooms.room import Opened

_PREFIX = "fragments_"  # of the kinds of all findings here


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentsCheckup:
    """How the fragments of a user are. count: None where they cannot be counted.

    in_bin: those that were deleted. schema: the version. size: bytes of the database and its
    journal. mode: who may read the file, as `chmod` takes it. engine: the version of the server
    that keeps them, "" for a file; agents: whose fragments it keeps.
    """

    path: str
    findings: list[Finding]
    count: int | None
    in_bin: int
    schema: int
    size: int
    mode: str
    engine: str = ""
    agents: int = 0


def is_of_fragments(finding: Finding) -> bool:
    """Return whether a finding is about the fragments, not about the project."""
    return finding.kind.startswith(_PREFIX)


def look_at_fragments(opened: Opened) -> FragmentsCheckup | None:
    """Examine the fragments of this user; None where there are none. Nothing is changed."""
    if not has_fragments(os.environ):
        return None
    from rooms.fragments.upkeep.health import look

    health = look(opened.settings, os.environ)
    if health is None:
        return None
    return FragmentsCheckup(
        path=str(health.path),
        findings=list(health.findings),
        count=health.count,
        in_bin=health.in_bin,
        schema=health.schema,
        size=health.size,
        mode=health.mode,
        engine=health.engine,
        agents=health.agents,
    )


def mend_fragments(opened: Opened, fixable: Sequence[Finding]) -> list[Finding]:
    """Repair those of these findings that are about fragments; return them with what was done."""
    own = [finding for finding in fixable if is_of_fragments(finding)]
    if not own:
        return []
    from rooms.fragments.upkeep.mending import mend

    return mend(own, opened.settings, os.environ)
