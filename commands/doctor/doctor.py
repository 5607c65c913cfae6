"""The doctor: what is wrong with a project's memory, what to do about it, and repairs on request.

Without `--fix` it only looks. With it, every line that leaves the log goes to a file beside it.
"""

import argparse
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from commands.clients.configured import Configured, configured_clients
from commands.doctor.surroundings import around
from commands.doctor.words import word
from commands.terminal.console import Opened, add_project, add_threshold, open_memory
from commands.terminal.safe_text import plain, plain_json
from core.errors import LogReadError
from core.lessons.files import ASIDE_NAME
from core.lessons.log import MemoryLog
from core.lessons.record import utc_now
from core.lessons.upkeep.health import Finding, Severity, examine
from core.messages import Language

SERVER = Path(__file__).resolve().parents[2] / "server.py"
RUNS_SHOWN = 8
FACT_CHARS = 1_000
GIT_FIXES = ("no_union", "lock_not_ignored")
# Problems of a client that another machine with the same file need not have.
LOCAL_PROBLEMS = ("command_missing", "script_missing", "project_missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """Everything that was found at one moment."""

    findings: list[Finding]
    clients: list[Finding]
    count: int
    lines: int
    size: int

    @property
    def all(self) -> list[Finding]:
        """The findings, those of the clients last."""
        return [*self.findings, *self.clients]

    @property
    def fails(self) -> bool:
        """Whether anything is worse than a note; clients do not count.

        One person's broken configuration must not stop a team's pipeline.
        """
        return any(finding.severity != "note" for finding in self.findings)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py doctor`."""
    add_project(parser)
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_threshold(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look, repair if asked, and tell; 1 when an error or a warning is left."""
    opened = open_memory(arguments, writes=arguments.fix)
    checkup = look(opened, arguments.threshold)
    fixable = [finding for finding in checkup.findings if finding.fixable]
    fixed, aside = list[Finding](), ""
    if arguments.fix and fixable:
        aside = _fix(opened, fixable)
        checkup = look(opened, arguments.threshold)
        left = {(finding.kind, finding.lines) for finding in checkup.findings}
        fixed = [finding for finding in fixable if (finding.kind, finding.lines) not in left]
    if arguments.json:
        print(plain_json(_as_json(opened, checkup, fixed, aside)))
    else:
        tell = _fixed_lines if arguments.fix else _looked_lines
        print("\n".join([*_head(opened, checkup), *tell(opened.lang, checkup, fixed, aside)]))
    return int(checkup.fails)


def look(opened: Opened, threshold: int) -> Checkup:
    """Examine the log and what is around it; nothing is changed."""
    data, unreadable = b"", None
    try:
        data = opened.store.read_bytes()
    except LogReadError as error:
        unreadable = error
    log = MemoryLog.parse(data)
    surroundings = around(opened.project, opened.store, os.environ, unreadable)
    return Checkup(
        findings=[*examine(log, now=utc_now(), threshold=threshold), *surroundings],
        clients=[_client_finding(found, opened) for found in _configured(opened)],
        count=log.count,
        lines=len(log.lines),
        size=len(data),
    )


def _configured(opened: Opened) -> list[Configured]:
    root, home = opened.project.root, Path(os.path.expanduser("~"))
    return configured_clients(root, server=SERVER, home=home, environment=os.environ)


def _client_finding(found: Configured, opened: Opened) -> Finding:
    """A client that would speak of another project is told, and only a flaw is a warning.

    A file of the project is shared: what is only missing on this machine is a note there.
    """
    facts = {
        "client": found.client,
        "path": str(found.path),
        "entry": found.entry,
        "project": str(found.project or ""),
        "source": found.source,
    }
    if found.problem:
        shared = found.path.is_relative_to(opened.project.root)
        severity: Severity = "note" if shared and found.problem in LOCAL_PROBLEMS else "warning"
        return Finding(kind=f"client_{found.problem}", severity=severity, facts=facts)
    here = found.project is not None and _same(found.project, opened.project.root)
    return Finding(kind="client_here" if here else "client_elsewhere", severity="note", facts=facts)


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _fix(opened: Opened, fixable: Sequence[Finding]) -> str:
    """Repair these; the path of the file that took what left the log, "" if nothing did."""
    if any(finding.kind in GIT_FIXES for finding in fixable):
        opened.store.tell_git()
    if all(finding.kind in GIT_FIXES for finding in fixable):
        return ""  # a log that cannot be read is none of git's business
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    name = f"{ASIDE_NAME}-{moment}.txt"
    if opened.store.repair(aside_name=name):
        return str(opened.store.path.with_name(name))
    return ""


def _head(opened: Opened, checkup: Checkup) -> list[str]:
    project, lang = opened.project, opened.lang
    facts = {"count": checkup.count, "lines": checkup.lines, "size": checkup.size}
    return [
        word(lang, "project", path=plain(str(project.root)), source=project.source),
        word(lang, "log", path=plain(str(project.log_path)), **facts),
    ]


def _looked_lines(
    lang: Language, checkup: Checkup, _fixed: Sequence[Finding], _aside: str
) -> list[str]:
    lines = ["", *_told(lang, checkup)]
    fixable = sum(finding.fixable for finding in checkup.findings)
    if fixable:
        lines.append(word(lang, "would_fix", count=fixable))
    return lines


def _fixed_lines(
    lang: Language, checkup: Checkup, fixed: Sequence[Finding], aside: str
) -> list[str]:
    lines = ["", word(lang, "nothing_to_fix")]
    if fixed:
        lines = ["", word(lang, "fixed", count=len(fixed)), *_finding_lines(lang, fixed)]
    if aside:
        lines.append(word(lang, "aside", path=plain(aside)))
    return [*lines, "", word(lang, "remaining"), *_told(lang, checkup)]


def _told(lang: Language, checkup: Checkup) -> list[str]:
    counts = {
        f"{severity}s": sum(finding.severity == severity for finding in checkup.all)
        for severity in ("error", "warning", "note")
    }
    return [
        *(_finding_lines(lang, checkup.findings) or [word(lang, "no_findings")]),
        word(lang, "clients"),
        *(_finding_lines(lang, checkup.clients) or [f"  {word(lang, 'no_clients')}"]),
        word(lang, "summary", **counts),
    ]


def _finding_lines(lang: Language, findings: Iterable[Finding]) -> list[str]:
    """One line for each kind of finding, the gravest first; lines of the same kind together."""
    grouped: dict[tuple[str, str], list[int]] = {}
    order = ["error", "warning", "note"]
    for finding in sorted(findings, key=lambda found: order.index(found.severity)):
        key = (word(lang, finding.severity), text_of(lang, finding))
        grouped.setdefault(key, []).extend(finding.lines)
    width = max((len(severity) for severity, _ in grouped), default=0)
    shown = []
    for (severity, text), numbers in grouped.items():
        where = f"{_where(lang, numbers)}: " if numbers else ""
        shown.append(f"  {severity:<{width}}  {where}{text}")
    return shown


def text_of(lang: Language, finding: Finding) -> str:
    """What a finding says, without its lines; facts cannot break out of the line."""
    facts = {
        name: plain(fact)[:FACT_CHARS] if isinstance(fact, str) else fact
        for name, fact in finding.facts.items()
    }
    if "reason" in facts and finding.kind in ("unreadable", "mendable"):
        facts["reason"] = word(lang, str(facts["reason"]), key=facts["key"])
    return word(lang, finding.kind, **facts)


def _where(lang: Language, numbers: Sequence[int]) -> str:
    """`line 3`, or `lines 3-5, 9`: runs of lines, the first few of many."""
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
    def told(findings: Iterable[Finding]) -> list[dict[str, object]]:
        return [
            {
                "kind": finding.kind,
                "severity": finding.severity,
                "lines": list(finding.lines),
                "facts": dict(finding.facts),
                "fixable": finding.fixable,
                "text": text_of(opened.lang, finding),
            }
            for finding in findings
        ]

    return {
        "project": str(opened.project.root),
        "source": opened.project.source,
        "log": str(opened.project.log_path),
        "records": checkup.count,
        "lines": checkup.lines,
        "bytes": checkup.size,
        "findings": told(checkup.findings),
        "clients": told(checkup.clients),
        "fixed": told(fixed),
        "aside": aside,
    }
