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
from typing import NamedTuple

from commands.clients.findings import client_findings, server_findings
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
from rooms.room import Memory, rooms_of

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
RUNS_SHOWN = 8
FACT_CHARS = 1_000
# Findings whose repair changes files that are to be committed.
_SHARED = frozenset(("no_union", "lock_not_ignored"))
MOUNTS = Path("/proc/self/mounts")
NETWORK = (
    *("nfs", "cifs", "smb", "9p", "afs", "ceph", "davfs", "vboxsf"),
    *("fuse.sshfs", "fuse.rclone"),
)
_NO_FILTER = "unspecified", "unset"


class Scene(NamedTuple):
    """The memory to examine. trouble: why its log cannot be read, or None."""

    opened: Memory
    trouble: LogReadError | None

    @property
    def log(self) -> Path:
        """The log's path, which need not exist."""
        return self.opened.store.path


def doctor(arguments: argparse.Namespace) -> int:
    """Look, repair if asked, look again and print; 1 while an error or a warning is left."""
    check_confirmation(arguments, "--fix")
    opened = open_memory(arguments, writes=arguments.fix and not arguments.dry_run)
    project = opened.project
    found, fixed = examined(opened, online=arguments.online), list[Finding]()
    fixable = [finding for finding in found if finding.fix]
    if arguments.fix and fixable:
        if not (arguments.yes or arguments.json):
            head = [*_head(project, ()), "", say("doctor.to_fix", count=len(fixable))]
            print("\n".join([*head, *finding_lines(fixable), ""]))
            if not is_confirmed(arguments, say("doctor.ask_fix")):
                return status_of(found)
        if not arguments.dry_run:
            done: dict[object, dict[str, str | int]] = {}  # the facts of each repair
            for finding in fixable:
                if finding.fix and finding.fix not in done:
                    done[finding.fix] = dict(finding.fix() or {})
            found = examined(opened, online=arguments.online)
            left = {(finding.lines, text_of(finding)) for finding in found}
            fixed = [
                replace(it, severity="ok", facts={**it.facts, **done[it.fix]})
                for it in fixable
                if (it.lines, text_of(it)) not in left
            ]
    if arguments.json:
        value = {
            "project": str(project.root),
            "source": project.source,
            "log": str(project.log_path),
            "findings": list(map(_finding_json, found)),
            "fixed": list(map(_finding_json, fixed)),
        }
        print(plain_json(value))
    else:
        lines = [*_fixed(project, found, fixed), ""] if arguments.fix else []
        wrong = finding_lines(it for it in found if it.severity != "ok")
        lines += [*_head(project, found), "", *wrong, *([""] if wrong else [])]
        severities = [finding.severity for finding in found]
        counts = {f"{severity}s": severities.count(severity) for severity in SEVERITIES}
        lines.append(say("doctor.summary", **counts))
        if fixable and not arguments.fix:
            lines += sentence_lines(say("doctor.would_fix", count=len(fixable)))
        print("\n".join(lines))
    return status_of(found)


def examined(opened: Memory, *, online: bool) -> list[Finding]:
    """Return the findings, the gravest first; change nothing. online: ask servers as well."""
    trouble, found, project = None, list[Finding](), opened.project
    try:
        opened.store.read_bytes()
    except LogReadError as error:
        trouble = error
    scene = Scene(opened=opened, trouble=trouble)
    groups = list[list[Finding]]()
    for room in rooms_of(opened):
        try:
            groups.append([*room.findings()])
        except SentinelError as error:
            groups.append([Finding("not_read", "error", facts={"said": str(error)})])
    checks = [log_place(scene), git(scene), other_memory(scene), client_findings(project)]
    checks += [server_findings(project)] if online else []
    for group in [*groups, *map(list, checks)]:
        # No `ok` beside an error or a warning of the same check.
        is_well = all(finding.severity in ("note", "ok") for finding in group)
        found += [finding for finding in group if is_well or finding.severity != "ok"]
    order = (*SEVERITIES, "ok")
    return sorted(found, key=lambda finding: order.index(finding.severity))


def status_of(found: Iterable[Finding]) -> int:
    return int(any(finding.severity in ("error", "warning") for finding in found))


# The place of the log.


def log_place(scene: Scene) -> Iterator[Finding]:
    """Yield why the log cannot be saved, or is not safe, at its place."""
    try:
        scene.opened.project.check(os.environ, writes=True)
    except ProjectRefusedError as error:
        yield Finding("refused", "error", facts=error.facts)
    if not (scene.trouble or os.path.exists(scene.log)):
        yield Finding("no_log", "note")
    if scene.trouble and not isinstance(scene.trouble, LogMissingError):
        return
    target = Path(os.path.realpath(scene.log))
    if scene.log.is_symlink() or scene.log.parent.is_symlink():
        yield Finding("link", "note", facts={"path": str(target)})
    folder = target.parent if target.parent.is_dir() else target.parent.parent
    closed = [it for it in (target, folder) if it.exists() and not os.access(it, os.W_OK)]
    if closed:
        yield Finding("read_only", "note", facts={"path": str(closed[0])})
    lock = target.with_name(f"{target.name}{LOCK_SUFFIX}")
    if lock.is_file() and not os.access(lock, os.R_OK | os.W_OK):
        command = shlex.join(["rm", "-f", str(lock)])
        yield Finding("lock_foreign", "error", facts={"path": str(lock), "command": command})
    if target.exists() and os.stat(target).st_nlink > 1:
        yield Finding("hard_link", "warning")
    filesystem = _network_filesystem(target)
    if filesystem:
        yield Finding("network", "note", facts={"filesystem": filesystem})
    for name in (*COMPANIONS, REPLACED_NAME):
        beside = scene.log.with_name(name)
        if is_irregular(beside):
            yield Finding("odd_file", "error", facts={"path": str(beside)})
    for kept in sorted(scene.log.parent.glob(f"{ASIDE_NAME}-*")):
        yield Finding("set_aside", "note", facts={"path": str(kept)})


def _network_filesystem(path: Path) -> str:
    """Return the network file system of `path`, "" if local or unknown."""
    try:
        mounts = [line.split() for line in MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return ""
    folder = f"{path.parent}{os.sep}"
    points = [(mount[1].replace("\\040", " "), mount[2]) for mount in mounts if len(mount) > 2]
    below = [(at, kind) for at, kind in points if folder.startswith(at.rstrip("/") + "/")]
    _, kind = max(below, key=lambda point: len(point[0]), default=("", ""))
    return kind if kind.startswith(NETWORK) else ""


def other_memory(scene: Scene) -> Iterator[Finding]:
    """Yield each memory above this one in its repository, which another session may use."""
    root = scene.opened.project.root
    for directory in (root, *root.parents):
        other = directory / CONTEXT_DIRECTORY / LOG_NAME
        if directory != root and other.is_file():
            facts = {"path": str(other)}
            if scene.log.is_file():
                words = ["import", str(scene.log), "--project", str(directory)]
                facts["command"] = f"{CLI} {shlex.join(words)}"
            kind = "two_memories" if scene.log.is_file() else "other_memory"
            yield Finding(kind, "note", facts=facts)
        if os.path.exists(directory / ".git"):
            return


# git.


def git(scene: Scene) -> Iterator[Finding]:
    folder = scene.log.parent if os.path.isdir(scene.log.parent) else scene.opened.project.root
    is_led_away = scene.trouble and scene.trouble.key.startswith("log_link")
    if is_led_away or not os.access(folder, os.X_OK):
        return  # which is said of the reading
    name = scene.log.relative_to(folder).as_posix()
    try:
        tree = WorkTree(folder)
        if not tree.run("check-ignore", "--quiet", "--", name).returncode:
            rule = tree.ask("check-ignore", "--verbose", "--", name).partition(b"\t")[0]
            yield Finding("ignored", "note", facts={"rule": os.fsdecode(rule)})
            return
        yield from _tracked(scene, tree, name)
        answer = tree.ask("check-attr", "-z", "merge", "filter", "ident", "--", name)
        merge, filtered, ident = map(os.fsdecode, answer.split(b"\0")[2::3])
        flaw = "no_union" if merge != "union" else "ident" if ident == "set" else ""
        yield from _not_told(flaw, scene, ".gitattributes") if flaw else [Finding("git_ok", "ok")]
        if filtered not in _NO_FILTER:
            yield Finding("filtered", "warning", facts={"filter": filtered})
        lock = name + LOCK_SUFFIX
        if tree.run("check-ignore", "--quiet", "--no-index", "--", lock).returncode:
            yield from _not_told("lock_not_ignored", scene, ".gitignore")
    except HistoryError as error:
        reason = str(error.facts.get("reason", "")).removeprefix("fatal: ")
        is_none = error.key == "no_repository" and not reason
        if is_none or not any(os.path.exists(parent / ".git") for parent in scene.log.parents):
            yield Finding("no_git", "note")
        elif error.key == "no_git":
            yield Finding("git_missing", "note")
        else:
            kind = "objects_missing" if error.key == "objects_missing" else "git_refuses"
            yield Finding(kind, "warning", facts={"reason": reason or str(error)})


def _tracked(scene: Scene, tree: WorkTree, name: str) -> Iterator[Finding]:
    lock = name + LOCK_SUFFIX
    side, *companions = (
        str(PurePosixPath(name).with_name(beside)) for beside in (REPLACED_NAME, *COMPANIONS)
    )
    listed = tree.ask("ls-files", "-z", "--stage", "--", name, lock, side, *companions)
    rows = [os.fsdecode(row).partition("\t") for row in listed.split(b"\0") if row]
    names = {below for _, _, below in rows}
    for mistaken in (lock, side):
        if mistaken in names:
            command = shlex.join(["git", "-C", str(tree.folder), "rm", "--cached", mistaken])
            facts = {"path": PurePosixPath(mistaken).name, "command": command}
            yield Finding("tracked_here", "warning", facts=facts)
    if name not in names:
        if os.path.isfile(scene.log):
            yield Finding("untracked", "note")
        return
    if scene.log.is_file() and not scene.log.is_symlink():
        has_head = not tree.run("rev-parse", "--verify", "--quiet", "HEAD").returncode
        if not has_head or not tree.ask("rev-list", "--max-count=1", "HEAD", "--", name):
            yield Finding("uncommitted", "note")
    missing = [
        beside
        for beside in COMPANIONS
        if os.path.lexists(scene.log.with_name(beside))
        and str(PurePosixPath(name).with_name(beside)) not in names
    ]
    if missing:
        yield Finding("companion_untracked", "note", facts={"names": ", ".join(missing)})
    if any(below == name and not known.endswith(" 0") for known, _, below in rows):
        yield Finding("unmerged", "error")


def _not_told(kind: str, scene: Scene, name: str) -> Iterator[Finding]:
    """Yield a rule that git lacks; a repair writes it, unless another rule overrules it."""
    companion = scene.log.with_name(name)
    if is_irregular(companion) or not (os.path.lexists(companion) or os.path.exists(scene.log)):
        return  # that is said already; the first save writes both
    try:
        lines = [line.strip() for line in companion.read_bytes().splitlines()]
    except OSError:
        lines = []
    wanted = COMPANIONS[name].encode("ascii").splitlines()
    if all(line in lines for line in wanted):
        facts = {"path": str(companion), "rule": wanted[0].decode("ascii")}
        yield Finding("overruled", "warning", facts=facts)
    else:
        yield Finding(kind, "warning", fix=scene.opened.store.file.write_companions)


# Output.


def _head(project: Project, found: Sequence[Finding]) -> list[str]:
    lines, screen = [""], screen_here()
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
    return [*filter(None, lines), screen.paint(whose, "dim")]


def _fixed(project: Project, found: Iterable[Finding], fixed: Sequence[Finding]) -> list[str]:
    if not fixed:
        return [say("doctor.nothing_to_fix")]
    lines = [say("doctor.fixed", count=len(fixed)), *finding_lines(fixed)]
    is_shared = any(finding.kind == "git_ok" for finding in found)
    if is_shared and any(it.lines or it.kind in _SHARED for it in fixed):
        is_here = os.path.realpath(os.getcwd()) == os.path.realpath(project.root)
        place = [] if is_here else ["-C", str(project.root)]
        command = shlex.join(["git", *place, "add", CONTEXT_DIRECTORY])
        lines += sentence_lines(say("doctor.to_commit", command=plain(command)))
    return lines


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """Return lines by kind of finding, each command on its own line."""
    grouped: dict[tuple[Severity, str, str], list[int]] = {}
    for finding in findings:
        text, command = text_of(finding), str(finding.facts.get("command", ""))
        shown = "" if command in text or finding.severity == "ok" else command
        grouped.setdefault((finding.severity, text, shown), []).extend(finding.lines)
    lines = list[str]()
    for (severity, text, command), numbers in grouped.items():
        where = f"{where_text(numbers)}: " if numbers else ""
        lines += sentence_lines(where + text, f"{screen_here().sign(severity)} ")
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


def _finding_json(finding: Finding) -> dict[str, object]:
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "lines": finding.lines,
        "facts": dict(finding.facts),
        "fixable": finding.fix is not None,
        "text": text_of(finding),
    }
