"""Checks a project's memory and what is around it, says what to do, and repairs it with `--fix`.

`--fix` puts every line that leaves the log into a file beside it; without it nothing is changed.
"""

import argparse
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from commands.doctor.clients import client_findings
from commands.doctor.reach import unreachable
from commands.doctor.surroundings import around
from commands.doctor.words import word
from commands.terminal.console import (
    Opened,
    add_confirmation,
    add_examples,
    add_json,
    add_threshold,
    check_confirmation,
    explain,
    is_confirmed,
    open_memory,
)
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.words import word as common_word
from core.errors import LogReadError
from core.lessons.log import MemoryLog
from core.lessons.log_file import ASIDE_NAME
from core.lessons.record import utc_now
from core.lessons.upkeep.health import Finding, Severity, examine
from core.messages import Language
from core.parser import add_project

RUNS_SHOWN = 8
FACT_CHARS = 1_000
GIT_FIXES = ("no_union", "lock_not_ignored")
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """Everything that the doctor found at one moment, and the size of the log."""

    findings: list[Finding]
    clients: list[Finding]
    count: int
    lines: int
    size: int

    @property
    def fails(self) -> bool:
        """Whether anything is worse than a note; clients do not count.

        One person's broken configuration must not stop a team's pipeline.
        """
        return any(finding.severity != "note" for finding in self.findings)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py doctor`."""
    add_project(parser)
    parser.add_argument("--fix", action="store_true", help=explain("doctor_fix"))
    add_confirmation(parser)
    add_json(parser)
    add_threshold(parser)
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "doctor", "doctor --fix --dry-run")


def run(arguments: argparse.Namespace) -> int:
    """Look, repair if asked, and print; 1 when an error or a warning is left."""
    check_confirmation(arguments, "--fix")
    opened = open_memory(arguments, writes=arguments.fix and not arguments.dry_run)
    checkup = look(opened, arguments.threshold)
    fixable = [finding for finding in checkup.findings if finding.fixable]
    fixed, aside = list[Finding](), ""
    if arguments.fix and fixable and not (arguments.yes or arguments.json):
        print("\n".join(_plan_lines(opened, checkup, fixable)))
        if not is_confirmed(arguments, common_word, opened.lang, word(opened.lang, "ask_fix")):
            return int(checkup.fails)
    if arguments.fix and fixable and not arguments.dry_run:
        aside = _fix(opened, fixable)
        checkup = look(opened, arguments.threshold)
        left = {(finding.kind, finding.lines) for finding in checkup.findings}
        fixed = [finding for finding in fixable if (finding.kind, finding.lines) not in left]
    if arguments.json:
        print(plain_json(_as_json(opened, checkup, fixed, aside)))
        return int(checkup.fails)
    lines = [*_head(opened, checkup), ""]
    if arguments.fix:
        lines += [*_fixed_lines(opened.lang, fixed, aside), "", word(opened.lang, "remaining")]
    lines += _checkup_lines(opened.lang, checkup)
    if fixable and not arguments.fix:
        lines.append(word(opened.lang, "would_fix", count=len(fixable)))
    print("\n".join(lines))
    return int(checkup.fails)


def look(opened: Opened, threshold: int) -> Checkup:
    """Examine the log and what is around it; nothing is changed."""
    data, unreadable = b"", None
    try:
        data = opened.store.read_bytes()
    except LogReadError as error:
        unreadable = error
    log = MemoryLog.parse(data)
    home = Path(os.path.expanduser("~"))
    surroundings = around(opened.project, opened.store, os.environ, unreadable)
    return Checkup(
        findings=[
            *examine(log, now=utc_now(), threshold=threshold),
            *unreachable(log, opened.project.root),
            *surroundings,
        ],
        clients=client_findings(opened.project.root, home, os.environ),
        count=log.count,
        lines=len(log.lines),
        size=len(data),
    )


def _fix(opened: Opened, fixable: Sequence[Finding]) -> str:
    """Repair these; the path of the file that took what left the log, "" if nothing did."""
    if any(finding.kind in GIT_FIXES for finding in fixable):
        opened.store.tell_git()
    if all(finding.kind in GIT_FIXES for finding in fixable):
        return ""  # a log that cannot be read is none of git's business
    name = f"{ASIDE_NAME}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%fZ')}.txt"
    return str(opened.store.path.with_name(name)) if opened.store.repair(aside_name=name) else ""


def _head(opened: Opened, checkup: Checkup) -> list[str]:
    project, lang = opened.project, opened.lang
    facts = {"count": checkup.count, "lines": checkup.lines, "size": checkup.size}
    return [
        word(lang, "project", path=plain(str(project.root)), source=project.source),
        word(lang, "log", path=plain(str(project.log_path)), **facts),
    ]


def _plan_lines(opened: Opened, checkup: Checkup, fixable: Sequence[Finding]) -> list[str]:
    lines = [*_head(opened, checkup), "", word(opened.lang, "to_fix", count=len(fixable))]
    return [*lines, *_finding_lines(opened.lang, fixable), ""]


def _fixed_lines(lang: Language, fixed: Sequence[Finding], aside: str) -> list[str]:
    lines = [word(lang, "nothing_to_fix")]
    if fixed:
        lines = [word(lang, "fixed", count=len(fixed)), *_finding_lines(lang, fixed)]
    return [*lines, word(lang, "aside", path=plain(aside))] if aside else lines


def _checkup_lines(lang: Language, checkup: Checkup) -> list[str]:
    found = [finding.severity for finding in (*checkup.findings, *checkup.clients)]
    counts = {f"{severity}s": found.count(severity) for severity in SEVERITIES}
    return [
        *(_finding_lines(lang, checkup.findings) or [word(lang, "no_findings")]),
        word(lang, "clients"),
        *(_finding_lines(lang, checkup.clients) or [f"  {word(lang, 'no_clients')}"]),
        word(lang, "summary", **counts),
    ]


def _finding_lines(lang: Language, findings: Iterable[Finding]) -> list[str]:
    """Return one line for each kind of finding, the gravest first; the same kind together."""
    grouped: dict[tuple[str, str], list[int]] = {}
    for finding in sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)):
        key = (word(lang, finding.severity), text_of(lang, finding))
        grouped.setdefault(key, []).extend(finding.lines)
    width = max((len(severity) for severity, _ in grouped), default=0)
    return [
        f"  {severity:<{width}}  {f'{_where(lang, numbers)}: ' if numbers else ''}{text}"
        for (severity, text), numbers in grouped.items()
    ]


def text_of(lang: Language, finding: Finding) -> str:
    """Return the sentence of a finding, without its lines; facts cannot break out of the line."""
    facts = {
        name: plain(fact)[:FACT_CHARS] if isinstance(fact, str) else fact
        for name, fact in finding.facts.items()
    }
    if "reason" in facts and finding.kind in ("unreadable", "mendable"):
        facts["reason"] = word(lang, str(facts["reason"]), key=facts["key"])
    if finding.kind in ("client_unread", "client_left_alone"):
        facts["reason"] = word(lang, f"left_{facts['reason']}", **facts)
    text, command = word(lang, finding.kind, **facts), str(facts.get("command", ""))
    return text if command in text else f"{text} {word(lang, 'mends', command=command)}"


def _where(lang: Language, numbers: Sequence[int]) -> str:
    """Return `line 3`, or `lines 3-5, 9`: runs of lines, the first few of many."""
    numbers, runs = sorted(set(numbers)), list[list[int]]()
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:RUNS_SHOWN]]
    listed = ", ".join(texts)
    more = sum(map(len, runs[RUNS_SHOWN:]))
    if more:
        listed = word(lang, "more_lines", numbers=listed, more=more)
    return word(lang, "line" if len(numbers) == 1 else "lines", numbers=listed)


def _as_json(
    opened: Opened, checkup: Checkup, fixed: Sequence[Finding], aside: str
) -> dict[str, object]:
    def listed(findings: Iterable[Finding]) -> list[dict[str, object]]:
        return [{**asdict(it), "text": text_of(opened.lang, it)} for it in findings]

    return {
        "project": str(opened.project.root),
        "source": opened.project.source,
        "log": str(opened.project.log_path),
        "records": checkup.count,
        "lines": checkup.lines,
        "bytes": checkup.size,
        "findings": listed(checkup.findings),
        "clients": listed(checkup.clients),
        "fixed": listed(fixed),
        "aside": aside,
    }
