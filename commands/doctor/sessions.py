"""Asks the room of the sessions how it is, where a project has one, and has it repaired.

A project without sessions loads nothing of it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from commands.terminal.rooms_here import has_sessions
from core.lessons.upkeep import Finding
from core.messages import Facts
from rooms.room import Opened

_PREFIX = "sessions_"  # of the kinds of all findings here


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsCheckup:
    """How the sessions of a project are. count: None where they cannot be counted.

    schema: the version. size: bytes of the database and its archives.
    """

    path: str
    findings: list[Finding]
    count: int | None
    schema: int
    size: int
    archives: int
    is_shared: bool


def is_of_sessions(finding: Finding) -> bool:
    """Return whether a finding is about the sessions, not about the log or a client."""
    return finding.kind.startswith(_PREFIX)


def look_at_sessions(opened: Opened) -> SessionsCheckup | None:
    """Examine the sessions of a project; None where it has none. Nothing is changed."""
    root = opened.project.root
    if not has_sessions(root):
        return None
    from rooms.sessions.actions.recording import COUNTED_DAYS, dropped
    from rooms.sessions.upkeep.health import examine

    health = examine(root, opened.settings, os.environ)
    findings, lost = list(health.findings), dropped(root, os.environ)
    if lost:
        facts: Facts = {"count": lost, "days": COUNTED_DAYS}
        findings.append(Finding("sessions_dropped", "note", facts=facts))
    return SessionsCheckup(
        path=str(health.path),
        findings=findings,
        count=health.count,
        schema=health.schema,
        size=health.size,
        archives=health.archives,
        is_shared=health.is_shared,
    )


def mend_sessions(opened: Opened, fixable: Sequence[Finding]) -> list[Finding]:
    """Repair those of these findings that are about sessions; return them with what was done."""
    own = [finding for finding in fixable if is_of_sessions(finding)]
    if not own:
        return []
    from rooms.sessions.upkeep.mending import mend

    return mend(opened.project.root, own, opened.settings, os.environ)
