"""Lays out what the doctor has found: one line on everything that matters, then each finding."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commands.doctor.fragments import FragmentsCheckup
from commands.doctor.sessions import SessionsCheckup
from commands.doctor.surroundings import LINKS
from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, Sign, cells, said
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts, say

RUNS_SHOWN = 8
FACT_CHARS = 1_000
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
# What the first line says already; --json tells of each place.
FOLDED = ("client_here", "client_elsewhere", "sessions_carried", "sessions_not_carried")
_OF_GIT = frozenset(
    "git_missing git_refuses objects_missing no_git ignored untracked uncommitted unmerged"
    " companion_untracked no_union lock_not_ignored overruled lock_tracked"
    " side_tracked".split()
)
MISSING = frozenset(("log_deleted", "log_sparse", "log_passed_over", "log_not_checked_out"))
_DAMAGED = "sessions_damaged", "fragments_damaged"
_NOT_SHARED = {
    "no_git": "head_no_git",
    "ignored": "head_ignored",
    "untracked": "head_untracked",
    "uncommitted": "head_uncommitted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """Everything that the doctor found at one moment, and the size of the log.

    sessions: None in a project without any. fragments: None for a user without any. without_client:
    the sentence, and its facts, that is said when no client starts the server.
    """

    findings: list[Finding]
    clients: list[Finding]
    sessions: SessionsCheckup | None
    fragments: FragmentsCheckup | None
    count: int
    lines: int
    size: int
    is_readable: bool
    without_client: tuple[str, Facts]

    @property
    def fails(self) -> bool:
        """Whether anything is worse than a note; clients and fragments do not count.

        What one person has broken on a machine must not stop a team's pipeline.
        """
        return any(finding.severity != "note" for finding in self.of_project)

    @property
    def of_project(self) -> list[Finding]:
        """The findings that are about the project, not about what one person has."""
        return [*self.findings, *(self.sessions.findings if self.sessions else ())]

    @property
    def of_memory(self) -> list[Finding]:
        """The findings that are about the project, and those about the fragments of its user."""
        return [*self.of_project, *(self.fragments.findings if self.fragments else ())]


def first_lines(checkup: Checkup, screen: Screen) -> list[str]:
    """Say in one line how the log is, and the sessions, what git makes of it, and which clients
    start the server.

    Where a terminal is too narrow for that, a further line begins with one of these.
    """
    of_git = [it for it in checkup.findings if it.kind in _OF_GIT]
    of_log = [it for it in checkup.findings if it.kind not in _OF_GIT]
    parts = [_log(checkup, of_log), _git(of_git)]
    parts += [_room("sessions", checkup.sessions)] if checkup.sessions else []
    parts += [_room("fragments", checkup.fragments)] if checkup.fragments else []
    parts.append(_clients(checkup))
    lines, line = list[str](), ""
    for part in (f"{screen.sign(sign)} {text}" for sign, text in parts):
        longer = f"{line}  {part}" if line else part
        if line and screen.is_terminal and cells(longer) > screen.width:
            lines.append(line)
            longer = part
        line = longer
    return [*lines, line]


def _log(checkup: Checkup, findings: Sequence[Finding]) -> tuple[Sign, str]:
    if not checkup.is_readable:
        return "error", say("doctor.head_unreadable")
    if any(it.kind in MISSING for it in findings):
        return "warning", say("doctor.head_missing")
    if any(it.kind == "no_log" for it in findings):
        return "note", say("doctor.head_no_log")
    key = "head_log_1" if checkup.count == 1 else "head_log"
    return _worst(findings), say(f"doctor.{key}", count=checkup.count)


def _git(findings: Sequence[Finding]) -> tuple[Sign, str]:
    kinds = {it.kind for it in findings}
    if kinds & _NOT_SHARED.keys() and _worst(findings) == "ok":
        key = next(key for kind, key in _NOT_SHARED.items() if kind in kinds)
        return "note", say(f"doctor.{key}")
    sign = "note" if findings and _worst(findings) == "ok" else _worst(findings)
    return sign, say("doctor.head_git" if sign == "ok" else "doctor.head_git_other")


def _room(name: str, room: SessionsCheckup | FragmentsCheckup) -> tuple[Sign, str]:
    if room.count is None:
        return "error", say(f"doctor.head_no_{name}")
    key = f"head_{name}_1" if room.count == 1 else f"head_{name}"
    return _worst(room.findings), say(f"doctor.{key}", count=room.count)


def _clients(checkup: Checkup) -> tuple[Sign, str]:
    found = [it for it in checkup.clients if it.kind == "client_here"]
    here = dict.fromkeys(str(it.facts["client"]) for it in found)
    if not here:
        key, facts = checkup.without_client
        return "error", plain(say(f"doctor.{key}", **facts))
    return _worst(checkup.clients), say("doctor.head_clients", clients=plain(", ".join(here)))


def _worst(findings: Iterable[Finding]) -> Sign:
    """Return the gravest severity; a note leaves things well."""
    found = {it.severity for it in findings}
    return "error" if "error" in found else "warning" if "warning" in found else "ok"


def finding_lines(findings: Iterable[Finding], screen: Screen) -> list[str]:
    """Return each kind of finding, the gravest first, the same kind together.

    A command that mends it is a line of its own.
    """
    grouped: dict[tuple[Severity, str, str], list[int]] = {}
    for finding in sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)):
        key = (finding.severity, text_of(finding), str(finding.facts.get("command", "")))
        grouped.setdefault(key, []).extend(finding.lines)
    lines = []
    for (severity, text, command), numbers in grouped.items():
        where = f"{where_text(numbers)}: " if numbers else ""
        what = text.removesuffix(f"`{command}`").rstrip() if command else text
        lines += said(where + what, screen, f"{screen.sign(severity)} ", INDENT)
        if what != text:
            lines.append(INDENT * 2 + plain(command))
    return lines


def done_lines(fixed: Iterable[Finding], screen: Screen) -> list[str]:
    """Return what a repair did, the same kind together."""
    grouped: dict[str, tuple[Finding, list[int]]] = {}
    for finding in fixed:
        key = say(f"doctor.done_{_name(finding)}", where="", **_shown_facts(finding))
        grouped.setdefault(key, (finding, []))[1].extend(finding.lines)
    lines = []
    for finding, numbers in grouped.values():
        where = where_text(numbers)
        text = say(f"doctor.done_{_name(finding)}", where=where, **_shown_facts(finding))
        lines += said(text, screen, f"{screen.sign('ok')} ", INDENT)
    return lines


def summary_line(found: Iterable[Finding]) -> str:
    """Count these findings, which are printed above."""
    severities = [finding.severity for finding in found]
    counts = {f"{severity}s": severities.count(severity) for severity in SEVERITIES}
    return say("doctor.summary", **counts)


def text_of(finding: Finding) -> str:
    """Return the sentence of a finding, without its lines; facts cannot break out of the line."""
    facts = _shown_facts(finding)
    if "reason" in facts and finding.kind in ("unreadable", "mendable"):
        facts["reason"] = say(f"doctor.{facts['reason']}", key=facts["key"])
    if finding.kind in ("client_unread", "client_left_alone"):
        facts["reason"] = say(f"doctor.left_{facts['reason']}", **facts)
    text, command = say(_key(finding), **facts), str(facts.get("command", ""))
    if command in text:
        return text
    return f"{text.removesuffix('.')}. {say('doctor.mends', command=command)}"


def _key(finding: Finding) -> str:
    """Return the key of the sentence on a finding; on a link it is that of the store's refusal."""
    table = "errors" if finding.kind in LINKS else "doctor"
    return f"{table}.{_name(finding)}"


def _name(finding: Finding) -> str:
    """Return the name of its sentence: one of damage says whether there is a copy."""
    has_no_copy = finding.kind in _DAMAGED and not finding.facts.get("copy")
    return f"{finding.kind}_alone" if has_no_copy else finding.kind


def _shown_facts(finding: Finding) -> dict[str, str | int]:
    return {
        name: plain(fact)[:FACT_CHARS] if isinstance(fact, str) else fact
        for name, fact in finding.facts.items()
    }


def where_text(numbers: Sequence[int]) -> str:
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
        listed = say("doctor.more_lines", numbers=listed, more=more)
    return say("doctor.line" if len(numbers) == 1 else "doctor.lines", numbers=listed)
