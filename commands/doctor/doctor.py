"""Checks a project's memory and what is around it, says what to do, and repairs it with `--fix`.

`--fix` puts every line that leaves the log into a file beside it; without it nothing is changed.
"""

import argparse
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from commands.doctor.clients import client_findings
from commands.doctor.fragments import is_of_fragments, look_at_fragments, mend_fragments
from commands.doctor.lines import (
    FOLDED,
    Checkup,
    done_lines,
    finding_lines,
    first_lines,
    summary_line,
    text_of,
)
from commands.doctor.mending import line_to_add, way_to_a_client
from commands.doctor.reach import unreachable
from commands.doctor.sessions import is_of_sessions, look_at_sessions, mend_sessions
from commands.doctor.surroundings import around
from commands.doctor.team.entries import server_findings
from commands.setup.here import machine_here
from commands.terminal.ask import (
    add_confirmation,
    add_examples,
    add_json,
    check_confirmation,
    explain,
    is_confirmed,
    open_memory,
)
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import Screen, said, screen_here
from core.errors import LogMissingError, LogReadError
from core.lessons.file import ASIDE_NAME
from core.lessons.log import MemoryLog
from core.lessons.record import utc_now
from core.lessons.upkeep import Finding, examine
from core.lessons.upkeep import look as look_for
from core.messages import say
from core.parser import add_project
from rooms.room import Opened

MOST_SECRETS_BYTES = 2_000_000  # to look through as many takes a second
GIT_FIXES = ("no_union", "lock_not_ignored")
# Where git gets nothing, or what it needs is said already.
_NOTHING_TO_ADD = frozenset(
    "no_git ignored git_missing git_refuses objects_missing untracked uncommitted unmerged".split()
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py doctor`."""
    add_project(parser)
    parser.add_argument("--fix", action="store_true", help=explain("doctor_fix"))
    add_confirmation(parser)
    add_json(parser)
    parser.add_argument("--online", action="store_true", help=explain("doctor_online"))
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "doctor", "doctor --fix --dry-run")


def run(arguments: argparse.Namespace) -> int:
    """Look, repair if asked, and print; 1 when an error or a warning is left."""
    check_confirmation(arguments, "--fix")
    opened = open_memory(arguments, writes=arguments.fix and not arguments.dry_run)
    checkup = look(opened, online=arguments.online)
    fixable = [finding for finding in checkup.of_memory if finding.fixable]
    fixed, aside = list[Finding](), ""
    if arguments.fix and fixable and not (arguments.yes or arguments.json):
        print("\n".join(_plan_lines(opened, checkup, fixable)))
        if not is_confirmed(arguments, say("doctor.ask_fix")):
            return int(checkup.fails)
    if arguments.fix and fixable and not arguments.dry_run:
        of_log = [finding for finding in fixable if not _is_of_room(finding)]
        aside = _fix(opened, of_log)
        of_rooms = [*mend_sessions(opened, fixable), *mend_fragments(opened, fixable)]
        checkup = look(opened, online=arguments.online)
        left = {(finding.kind, finding.lines) for finding in checkup.findings}
        fixed = [finding for finding in of_log if (finding.kind, finding.lines) not in left]
        fixed += of_rooms
    if arguments.json:
        print(plain_json(_as_json(opened, checkup, fixed, aside)))
        return int(checkup.fails)
    repaired = _repaired_lines(opened, checkup, fixed, aside) if arguments.fix else []
    lines = _lines(opened, checkup, repaired)
    if fixable and not arguments.fix:
        lines += said(say("doctor.would_fix", count=len(fixable)), screen_here())
    print("\n".join(lines))
    return int(checkup.fails)


def look(opened: Opened, *, online: bool = False) -> Checkup:
    """Examine the log and what is around it; nothing is changed.

    online: ask the servers that clients reach by a URL whether they answer, too.
    """
    data, unreadable, missing = b"", None, None
    try:
        data = opened.store.read_bytes()
    except LogMissingError as error:
        missing = error
    except LogReadError as error:
        unreadable = error
    log = MemoryLog.parse(data)
    home = Path(os.path.expanduser("~"))
    surroundings = around(opened.project, opened.store, os.environ, unreadable, missing)
    return Checkup(
        findings=[
            *examine(log, now=utc_now(), threshold=opened.settings.threshold),
            *_secrets_of(log),
            *unreachable(log, opened.project.root),
            *surroundings,
        ],
        clients=[
            *client_findings(opened.project.root, home, os.environ),
            *(server_findings(machine_here(opened.project)) if online else ()),
        ],
        sessions=look_at_sessions(opened),
        fragments=look_at_fragments(opened),
        count=log.count,
        lines=len(log.lines),
        size=len(data),
        is_readable=unreadable is None,
        without_client=way_to_a_client(opened.project),
    )


def _secrets_of(log: MemoryLog) -> list[Finding]:
    """Return the lines with secrets, which only a hand or another program can have put there."""
    if sum(map(len, log.lines)) > MOST_SECRETS_BYTES:
        return [Finding("secrets_not_looked_for", "note")]
    spots = [spot for looked in look_for(log) for spot in looked.spots]
    return [
        Finding("secret", "error", lines=(spot.line + 1,), facts={"secret": spot.kind})
        for spot in spots
    ]


def _is_of_room(finding: Finding) -> bool:
    return is_of_sessions(finding) or is_of_fragments(finding)


def _fix(opened: Opened, fixable: Sequence[Finding]) -> str:
    """Repair these; the path of the file that took what left the log, "" if nothing did."""
    if any(finding.kind in GIT_FIXES for finding in fixable):
        opened.store.file.write_companions()
    if all(finding.kind in GIT_FIXES for finding in fixable):
        return ""  # a log that cannot be read is none of git's business
    name = f"{ASIDE_NAME}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%fZ')}.txt"
    return str(opened.store.path.with_name(name)) if opened.store.repair(aside_name=name) else ""


def _lines(opened: Opened, checkup: Checkup, repaired: list[str]) -> list[str]:
    """Return what matters in one line, whose log it is, what was repaired and what is left."""
    screen = screen_here()
    found = [*checkup.of_memory, *checkup.clients]
    found = [it for it in found if it.severity != "note" or it.kind not in FOLDED]
    lines = [*first_lines(checkup, screen), _place(opened, screen)]
    if repaired:
        lines += ["", *repaired]
    if found:
        lines += ["", *([say("doctor.remaining")] if repaired else [])]
        lines += [*finding_lines(found, screen), "", summary_line(found)]
    return lines


def _place(opened: Opened, screen: Screen) -> str:
    """Return the line that says whose memory it is."""
    project = opened.project
    source = say("doctor.cwd") if project.source == "cwd" else project.source
    line = say("doctor.project", path=plain(str(project.root)), source=source)
    return screen.painted(line, "dim")


def _plan_lines(opened: Opened, checkup: Checkup, fixable: Sequence[Finding]) -> list[str]:
    screen = screen_here()
    head = [*first_lines(checkup, screen), _place(opened, screen)]
    planned = finding_lines(fixable, screen)
    return [*head, "", say("doctor.to_fix", count=len(fixable)), *planned, ""]


def _repaired_lines(
    opened: Opened, checkup: Checkup, fixed: Sequence[Finding], aside: str
) -> list[str]:
    """Return what was done, and what a person does now."""
    screen = screen_here()
    if not fixed:
        lines = [say("doctor.nothing_to_fix")]
    else:
        lines = [say("doctor.fixed", count=len(fixed)), *done_lines(fixed, screen)]
    if aside:
        lines += said(say("doctor.aside", path=plain(aside)), screen)
    kinds = {finding.kind for finding in checkup.findings}
    of_git = [it for it in fixed if it.kind != "strays" and not _is_of_room(it)]
    if of_git and not kinds & _NOTHING_TO_ADD:
        command = plain(line_to_add(opened.project))
        lines += said(say("doctor.to_commit", command=command), screen)
    return lines


def _as_json(
    opened: Opened, checkup: Checkup, fixed: Sequence[Finding], aside: str
) -> dict[str, object]:
    def listed(findings: Iterable[Finding]) -> list[dict[str, object]]:
        return [{**asdict(it), "text": text_of(it)} for it in findings]

    rooms = {"sessions": checkup.sessions, "fragments": checkup.fragments}
    of_rooms = {
        name: {**asdict(room), "findings": listed(room.findings)}
        for name, room in rooms.items()
        if room
    }
    return {
        "project": str(opened.project.root),
        "source": opened.project.source,
        "log": str(opened.project.log_path),
        "records": checkup.count,
        "lines": checkup.lines,
        "bytes": checkup.size,
        "findings": listed(checkup.findings),
        "clients": listed(checkup.clients),
        **of_rooms,
        "fixed": listed(fixed),
        "aside": aside,
    }
