"""Checks a project's memory and its surroundings, and repairs them with `--fix`.

A check yields findings, each with a command to type or a repair for `--fix`. Only `--fix` changes
anything, and it sets aside whatever a hand has written.
"""

import argparse
import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain

from commands.clients.findings import client_findings, server_findings
from commands.surroundings import Scene, git, log_place, log_there, other_memory, scene_of
from commands.terminal.ask import check_confirmation, is_confirmed, open_memory
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import INDENT, Screen, cells, said, screen_here
from core.config import CONTEXT_DIRECTORY, Project
from core.errors import SentinelError
from core.lessons.upkeep import Finding, Severity
from core.messages import has_sentence, say
from rooms.room import Opened, Room, rooms_of

Check = Callable[[Scene], Iterable[Finding]]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
RUNS_SHOWN = 8
FACT_CHARS = 1_000
# Findings whose repair changes files that are to be committed.
_SHARED = frozenset(("no_union", "lock_not_ignored"))


CHECKS: tuple[Check, ...] = (
    *(log_there, log_place, git, other_memory),
    lambda scene: client_findings(scene.opened.project),
)


def doctor(arguments: argparse.Namespace) -> int:
    """Look, repair if asked, look again and print; 1 while an error or a warning is left."""
    check_confirmation(arguments, "--fix")
    opened = open_memory(arguments, writes=arguments.fix and not arguments.dry_run)
    checks, screen = list(CHECKS), screen_here()
    if arguments.online:
        checks.append(lambda scene: server_findings(scene.opened.project))
    found, fixed = examined(opened, checks), list[Finding]()
    fixable = [finding for finding in found if finding.fix]
    if arguments.fix and fixable:
        if not (arguments.yes or arguments.json):
            head = [
                *_head(opened.project, (), screen),
                "",
                say("doctor.to_fix", count=len(fixable)),
            ]
            print("\n".join([*head, *finding_lines(fixable, screen), ""]))
            if not is_confirmed(arguments, say("doctor.ask_fix")):
                return status_of(found)
        if not arguments.dry_run:
            done = mended(fixable)
            found = examined(opened, checks)
            left = {(finding.lines, text_of(finding)) for finding in found}
            fixed = [it for it, before in done if (it.lines, before) not in left]
    if arguments.json:
        print(plain_json(_as_json(opened, found, fixed)))
    else:
        lines = [*_fixed(opened.project, found, fixed), ""] if arguments.fix else []
        lines += _report(opened.project, found)
        if fixable and not arguments.fix:
            lines += said(say("doctor.would_fix", count=len(fixable)), screen)
        print("\n".join(lines))
    return status_of(found)


def examined(opened: Opened, checks: Sequence[Check] = CHECKS) -> list[Finding]:
    """Return the findings, the gravest first; change nothing."""
    scene = scene_of(opened)
    of_rooms = map(_of_room, rooms_of(opened))
    of_checks = (check(scene) for check in checks)
    found = [finding for group in chain(of_rooms, of_checks) for finding in _settled(group)]
    order = (*SEVERITIES, "ok")
    return sorted(found, key=lambda finding: order.index(finding.severity))


def _of_room(room: Room) -> Iterable[Finding]:
    try:
        return [*room.findings()]
    except SentinelError as error:
        return [Finding("not_read", "error", facts={"said": str(error)})]


def _settled(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of one check, without an `ok` beside an error or a warning."""
    found = list(findings)
    is_well = all(finding.severity in ("note", "ok") for finding in found)
    return [finding for finding in found if is_well or finding.severity != "ok"]


def status_of(found: Iterable[Finding]) -> int:
    return int(any(finding.severity in ("error", "warning") for finding in found))


def mended(fixable: Iterable[Finding]) -> list[tuple[Finding, str]]:
    """Repair; return the findings as `ok`, each with its former sentence."""
    done: dict[object, dict[str, str | int]] = {}
    for finding in fixable:
        if finding.fix and finding.fix not in done:
            done[finding.fix] = dict(finding.fix() or {})
    return [
        (replace(it, severity="ok", facts={**it.facts, **done[it.fix]}), text_of(it))
        for it in fixable
    ]


# Output.


def _report(project: Project, found: Sequence[Finding]) -> list[str]:
    screen = screen_here()
    lines = finding_lines((it for it in found if it.severity != "ok"), screen)
    severities = [finding.severity for finding in found]
    counts = {f"{severity}s": severities.count(severity) for severity in SEVERITIES}
    end = say("doctor.summary", **counts)
    return [*_head(project, found, screen), "", *lines, *([""] if lines else []), end]


def _head(project: Project, found: Sequence[Finding], screen: Screen) -> list[str]:
    lines = [""]
    for finding in found:
        if finding.severity == "ok":
            part = f"{screen.sign('ok')} {text_of(finding)}"
            longer = f"{lines[-1]}  {part}" if lines[-1] else part
            if screen.is_terminal and cells(longer) > screen.width:
                lines.append(part)
            else:
                lines[-1] = longer
    source = say("doctor.cwd") if project.source == "cwd" else project.source
    whose = say("doctor.project", path=plain(str(project.root)), source=source)
    return [*filter(None, lines), screen.painted(whose, "dim")]


def _fixed(project: Project, found: Iterable[Finding], fixed: Sequence[Finding]) -> list[str]:
    screen = screen_here()
    if not fixed:
        return [say("doctor.nothing_to_fix")]
    lines = [say("doctor.fixed", count=len(fixed)), *finding_lines(fixed, screen)]
    is_shared = any(finding.kind == "git_ok" for finding in found)
    if is_shared and any(it.lines or it.kind in _SHARED for it in fixed):
        is_here = os.path.realpath(os.getcwd()) == os.path.realpath(project.root)
        place = [] if is_here else ["-C", str(project.root)]
        command = shlex.join(["git", *place, "add", CONTEXT_DIRECTORY])
        lines += said(say("doctor.to_commit", command=plain(command)), screen)
    return lines


def finding_lines(findings: Iterable[Finding], screen: Screen) -> list[str]:
    """Return lines by kind of finding, each command on its own line."""
    grouped: dict[tuple[Severity, str, str], list[int]] = {}
    for finding in findings:
        text, command = text_of(finding), str(finding.facts.get("command", ""))
        shown = "" if command in text or finding.severity == "ok" else command
        grouped.setdefault((finding.severity, text, shown), []).extend(finding.lines)
    lines = list[str]()
    for (severity, text, command), numbers in grouped.items():
        where = f"{where_text(numbers)}: " if numbers else ""
        lines += said(where + text, screen, f"{screen.sign(severity)} ", INDENT)
        lines += [INDENT * 2 + plain(command)] if command else []
    return lines


def text_of(finding: Finding) -> str:
    """Return the sentence of a finding, without its lines and with its repair, if any.

    Facts cannot break out of the line. A repaired finding (`ok`) may have another sentence.
    """
    facts = {
        name: plain(fact)[:FACT_CHARS] if isinstance(fact, str) else fact
        for name, fact in finding.facts.items()
    }
    key = finding.kind if "." in finding.kind else f"doctor.{finding.kind}"
    is_done = finding.severity == "ok"
    if is_done and has_sentence(f"{key}_done"):
        return say(f"{key}_done", **facts)
    # A room whose sentences are elsewhere gives its own.
    text = say(key, **facts) if has_sentence(key) else str(facts["said"])
    if finding.fix is None or is_done:
        return text
    fix = say(f"{key}_fix", **facts) if has_sentence(f"{key}_fix") else say("doctor.by_fix")
    return f"{text} {fix}"


def where_text(numbers: Sequence[int]) -> str:
    """Return `line 3`, or `lines 3-5, 9`: at most RUNS_SHOWN runs."""
    numbers, runs = sorted(set(numbers)), list[list[int]]()
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:RUNS_SHOWN]]
    listed, more = ", ".join(texts), sum(map(len, runs[RUNS_SHOWN:]))
    if more:
        listed = say("doctor.more_lines", numbers=listed, more=more)
    return say("doctor.line" if len(numbers) == 1 else "doctor.lines", numbers=listed)


def _as_json(
    opened: Opened, found: Iterable[Finding], fixed: Iterable[Finding]
) -> dict[str, object]:
    def told(finding: Finding) -> dict[str, object]:
        return {
            "kind": finding.kind,
            "severity": finding.severity,
            "lines": finding.lines,
            "facts": dict(finding.facts),
            "fixable": finding.fix is not None,
            "text": text_of(finding),
        }

    return {
        "project": str(opened.project.root),
        "source": opened.project.source,
        "log": str(opened.project.log_path),
        "findings": [*map(told, found)],
        "fixed": [*map(told, fixed)],
    }
