"""Checks a project's memory and its surroundings, and repairs them with `--fix`.

A check yields findings, each with a command to type or a repair for `--fix`. Only `--fix` changes
anything, and it sets aside whatever a hand has written.
"""

import argparse
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from commands.clients.findings import client_findings, server_findings
from commands.terminal import screen as terminal
from commands.terminal.ask import check_confirmation, is_confirmed, open_memory
from commands.terminal.screen import INDENT, cells, plain, plain_json, screen_here, sentence_lines
from core.config import CONTEXT_DIRECTORY, LOG_NAME, Project
from core.disk import is_irregular
from core.errors import LogMissingError, LogReadError, ProjectRefusedError, SentinelError
from core.git import HistoryError, WorkTree
from core.lessons.file import ASIDE_NAME, COMPANIONS, LOCK_SUFFIX, REPLACED_NAME
from core.lessons.upkeep import Finding, Severity
from core.messages import has_sentence, say
from core.program import CLI
from core.store import MemoryStore
from rooms.room import Memory, rooms_of

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
RUNS_SHOWN = 8
FACT_CHARS = 1_000
# Findings whose repair changes files that are to be committed.
_SHARED_KINDS = frozenset(("no_union", "lock_not_ignored"))
MOUNTS = Path("/proc/self/mounts")
NETWORK = tuple("nfs cifs smb 9p afs ceph davfs vboxsf fuse.sshfs fuse.rclone".split())
_NO_FILTER = "unspecified", "unset"


def doctor(options: argparse.Namespace) -> int:
    """Look, repair if asked, look again and print; 1 while an error or a warning is left."""
    check_confirmation(options, "--fix")
    memory = open_memory(options, writes=options.fix and not options.dry_run)
    project = memory.project
    findings, repairs, errors = examine(memory, online=options.online), list[Finding](), 0
    faults = [finding for finding in findings if finding.fix]
    if options.fix and faults:
        if not (options.yes or options.json):
            head = [*_head_lines(project, ()), "", say("doctor.to_fix", count=len(faults))]
            print("\n".join([*head, *finding_lines(faults), ""]))
            if not is_confirmed(options, say("doctor.ask_fix")):
                return status_of(findings)
        if not options.dry_run:
            new_facts: dict[object, dict[str, str | int]] = {}  # of each repair
            for fix in dict.fromkeys(finding.fix for finding in faults):
                new_facts[fix] = {}
                try:
                    new_facts[fix] = dict((fix and fix()) or {})
                except SentinelError as error:  # the other repairs are made and told all the same
                    errors += 1
                    terminal.complain(str(error))
            findings = examine(memory, online=options.online)
            left_texts = {(finding.lines, text_of(finding)) for finding in findings}
            repairs = [
                replace(finding, severity="ok", facts={**finding.facts, **new_facts[finding.fix]})
                for finding in faults
                if (finding.lines, text_of(finding)) not in left_texts
            ]
    if options.json:
        value = {
            "project": str(project.root),
            "source": project.source,
            "log": str(project.log_path),
            "findings": list(map(_finding_json, findings)),
            "fixed": list(map(_finding_json, repairs)),
        }
        print(plain_json(value))
    else:
        lines = [*_fixed_lines(findings, repairs), ""] if options.fix else []
        problems = finding_lines(finding for finding in findings if finding.severity != "ok")
        lines += [*_head_lines(project, findings), "", *problems, *([""] if problems else [])]
        severities = [finding.severity for finding in findings]
        counts = {f"{severity}s": severities.count(severity) for severity in SEVERITIES}
        lines.append(say("doctor.summary", **counts))
        if faults and not options.fix:
            lines += sentence_lines(say("doctor.would_fix", count=len(faults)))
        print("\n".join(lines))
    return status_of(findings) or int(errors > 0)


def examine(memory: Memory, *, online: bool) -> list[Finding]:
    """Return the findings, the gravest first; change nothing. online: ask servers as well."""
    read_error, findings, project = None, list[Finding](), memory.project
    try:
        memory.store.read_bytes()
    except LogReadError as error:
        read_error = error
    groups = list[list[Finding]]()
    for room in rooms_of(memory):
        try:
            groups.append([*room.findings()])
        except SentinelError as error:
            groups.append([Finding("not_read", "error", facts={"said": str(error)})])
    checks = [check_place(memory, read_error), check_git(memory, read_error)]
    checks += [check_outer_memories(memory), client_findings(project)]
    checks += [server_findings(project)] if online else []
    for group in [*groups, *map(list, checks)]:
        # No `ok` beside an error or a warning of the same check.
        is_well = all(finding.severity in ("note", "ok") for finding in group)
        findings += [finding for finding in group if is_well or finding.severity != "ok"]
    return sorted(findings, key=lambda finding: (*SEVERITIES, "ok").index(finding.severity))


def status_of(findings: Iterable[Finding]) -> int:
    return int(any(finding.severity in ("error", "warning") for finding in findings))


# The place of the log.


def check_place(memory: Memory, read_error: LogReadError | None) -> Iterator[Finding]:
    """Yield why the log cannot be saved, or is not safe, at its place."""
    log = memory.store.path
    try:
        memory.project.check(os.environ, writes=True)
    except ProjectRefusedError as error:
        yield Finding("refused", "error", facts=error.facts)
    if not (read_error or os.path.exists(log)):
        yield Finding("no_log", "note")
    if read_error and not isinstance(read_error, LogMissingError):
        return
    target = Path(os.path.realpath(log))
    if log.is_symlink() or log.parent.is_symlink():
        yield Finding("link", "note", facts={"path": str(target)})
    folder = target.parent if target.parent.is_dir() else target.parent.parent
    paths = [path for path in (target, folder) if path.exists() and not os.access(path, os.W_OK)]
    if paths:
        yield Finding("read_only", "note", facts={"path": str(paths[0])})
    lock = target.with_name(f"{target.name}{LOCK_SUFFIX}")
    if folder not in paths and lock.is_file() and not os.access(lock, os.R_OK | os.W_OK):
        command = shlex.join(["rm", "-f", str(lock)])
        yield Finding("lock_foreign", "error", facts={"path": str(lock), "command": command})
    if target.exists() and os.stat(target).st_nlink > 1:
        yield Finding("hard_link", "warning")
    if filesystem := _network_filesystem(target):
        yield Finding("network", "note", facts={"filesystem": filesystem})
    for name in (*COMPANIONS, REPLACED_NAME):
        companion = log.with_name(name)
        if is_irregular(companion):
            yield Finding("odd_file", "error", facts={"path": str(companion)})
    for aside_path in sorted(log.parent.glob(f"{ASIDE_NAME}-*")):
        yield Finding("set_aside", "note", facts={"path": str(aside_path)})


def _network_filesystem(path: Path) -> str:
    """Return the network file system of `path`, "" if local or unknown."""
    try:
        mounts = [line.split() for line in MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return ""
    folder = f"{path.parent}{os.sep}"
    points = [(mount[1].replace("\\040", " "), mount[2]) for mount in mounts if len(mount) > 2]
    holders = [point for point in points if folder.startswith(point[0].rstrip("/") + "/")]
    _, kind = max(holders, key=lambda point: len(point[0]), default=("", ""))
    return kind if kind.startswith(NETWORK) else ""


def check_outer_memories(memory: Memory) -> Iterator[Finding]:
    """Yield each memory above this one in its repository, which another session may use."""
    root, log = memory.project.root, memory.store.path
    for directory in (root, *root.parents):
        other = directory / CONTEXT_DIRECTORY / LOG_NAME
        if directory != root and other.is_file():
            facts = {"path": str(other)}
            if log.is_file():
                words = ["import", str(log), "--project", str(directory)]
                facts["command"] = f"{CLI} {shlex.join(words)}"
            kind = "two_memories" if log.is_file() else "other_memory"
            yield Finding(kind, "note", facts=facts)
        if os.path.exists(directory / ".git"):
            return


# git.


def check_git(memory: Memory, read_error: LogReadError | None) -> Iterator[Finding]:
    store, log = memory.store, memory.store.path
    folder = log.parent if os.path.isdir(log.parent) else memory.project.root
    is_bad_link = read_error and read_error.key.startswith("log_link")
    if is_bad_link or not os.access(folder, os.X_OK):
        return  # which is said of the reading
    log_name = log.relative_to(folder).as_posix()
    try:
        tree = WorkTree(folder)
        if not tree.run("check-ignore", "--quiet", "--", log_name).returncode:
            rule = tree.ask("check-ignore", "--verbose", "--", log_name).partition(b"\t")[0]
            yield Finding("ignored", "note", facts={"rule": os.fsdecode(rule)})
            return
        yield from _check_tracking(log, tree, log_name)
        answer = tree.ask("check-attr", "-z", "merge", "filter", "ident", "--", log_name)
        merge, filter_name, ident = map(os.fsdecode, answer.split(b"\0")[2::3])
        flaw = "no_union" if merge != "union" else "ident" if ident == "set" else ""
        yield from _check_rule(flaw, store, ".gitattributes") if flaw else [Finding("git_ok", "ok")]
        if filter_name not in _NO_FILTER:
            yield Finding("filtered", "warning", facts={"filter": filter_name})
        lock_name = log_name + LOCK_SUFFIX
        if tree.run("check-ignore", "--quiet", "--no-index", "--", lock_name).returncode:
            yield from _check_rule("lock_not_ignored", store, ".gitignore")
    except HistoryError as error:
        reason = str(error.facts.get("reason", "")).removeprefix("fatal: ")
        is_none = error.key == "no_repository" and not reason
        if is_none or not any(os.path.exists(parent / ".git") for parent in log.parents):
            yield Finding("no_git", "note")
        elif error.key == "no_git":
            yield Finding("git_missing", "note")
        else:
            kind = "objects_missing" if error.key == "objects_missing" else "git_refuses"
            yield Finding(kind, "warning", facts={"reason": reason or str(error)})


def _check_tracking(log: Path, tree: WorkTree, name: str) -> Iterator[Finding]:
    lock = name + LOCK_SUFFIX
    side, *companions = (
        str(PurePosixPath(name).with_name(companion)) for companion in (REPLACED_NAME, *COMPANIONS)
    )
    entries = tree.ask("ls-files", "-z", "--stage", "--", name, lock, side, *companions)
    rows = [os.fsdecode(row).partition("\t") for row in entries.split(b"\0") if row]
    names = {path for _, _, path in rows}
    for wrong_name in (lock, side):
        if wrong_name in names:
            command = shlex.join(["git", "-C", str(tree.folder), "rm", "--cached", wrong_name])
            facts = {"path": PurePosixPath(wrong_name).name, "command": command}
            yield Finding("tracked_here", "warning", facts=facts)
    if name not in names:
        if os.path.isfile(log):
            yield Finding("untracked", "note")
        return
    if log.is_file() and not log.is_symlink():
        has_head = not tree.run("rev-parse", "--verify", "--quiet", "HEAD").returncode
        if not has_head or not tree.ask("rev-list", "--max-count=1", "HEAD", "--", name):
            yield Finding("uncommitted", "note")
    missing_names = [
        companion
        for companion in COMPANIONS
        if os.path.lexists(log.with_name(companion))
        and str(PurePosixPath(name).with_name(companion)) not in names
    ]
    if missing_names:
        yield Finding("companion_untracked", "note", facts={"names": ", ".join(missing_names)})
    if any(path == name and not stage.endswith(" 0") for stage, _, path in rows):
        yield Finding("unmerged", "error")


def _check_rule(kind: str, store: MemoryStore, name: str) -> Iterator[Finding]:
    """Yield a rule that git lacks; a repair writes it, unless another rule overrules it."""
    companion = store.path.with_name(name)
    if is_irregular(companion) or not (os.path.lexists(companion) or os.path.exists(store.path)):
        return  # that is said already; the first save writes both
    try:
        lines = [line.strip() for line in companion.read_bytes().splitlines()]
    except OSError:
        lines = []
    rules = COMPANIONS[name].encode("ascii").splitlines()
    if all(line in lines for line in rules):
        facts = {"path": str(companion), "rule": rules[0].decode("ascii")}
        yield Finding("overruled", "warning", facts=facts)
    else:
        yield Finding(kind, "warning", fix=store.file.write_companions)


# Output.


def _head_lines(project: Project, findings: Sequence[Finding]) -> list[str]:
    lines, screen = [""], screen_here()
    for finding in findings:
        if finding.severity == "ok":
            part = f"{screen.sign('ok')} {text_of(finding)}"
            longer_line = f"{lines[-1]}  {part}" if lines[-1] else part
            if screen.is_terminal and cells(longer_line) > screen.width:
                lines.append(part)
            else:
                lines[-1] = longer_line
    source = say("doctor.cwd") if project.source == "cwd" else project.source
    project_line = say("doctor.project", path=plain(str(project.root)), source=source)
    return [*filter(None, lines), screen.paint(project_line, "dim")]


def _fixed_lines(findings: Iterable[Finding], repairs: Sequence[Finding]) -> list[str]:
    if not repairs:
        return [say("doctor.nothing_to_fix")]
    lines = [say("doctor.fixed", count=len(repairs)), *finding_lines(repairs)]
    is_shared = any(finding.kind == "git_ok" for finding in findings)
    if is_shared and any(finding.lines or finding.kind in _SHARED_KINDS for finding in repairs):
        lines += sentence_lines(say("doctor.to_commit"))
    return lines


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """Return lines by kind of finding, each command on its own line."""
    groups: dict[tuple[Severity, str, str], list[int]] = {}
    for finding in findings:
        text, command = text_of(finding), str(finding.facts.get("command", ""))
        printed_command = "" if command in text or finding.severity == "ok" else command
        groups.setdefault((finding.severity, text, printed_command), []).extend(finding.lines)
    lines = list[str]()
    for (severity, text, command), numbers in groups.items():
        prefix = f"{line_numbers_text(numbers)}: " if numbers else ""
        lines += sentence_lines(prefix + text, f"{screen_here().sign(severity)} ")
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


def line_numbers_text(numbers: Sequence[int]) -> str:
    """Return `line 3`, or `lines 3-5, 9`: at most RUNS_SHOWN runs."""
    numbers, runs = sorted(set(numbers)), list[list[int]]()
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:RUNS_SHOWN]]
    text, more = ", ".join(texts), sum(map(len, runs[RUNS_SHOWN:]))
    if more:
        text = say("doctor.more_lines", numbers=text, more=more)
    return say("doctor.line" if len(numbers) == 1 else "doctor.lines", numbers=text)


def _finding_json(finding: Finding) -> dict[str, object]:
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "lines": finding.lines,
        "facts": dict(finding.facts),
        "fixable": finding.fix is not None,
        "text": text_of(finding),
    }
