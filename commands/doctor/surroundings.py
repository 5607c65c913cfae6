"""Finds what is wrong around a memory log: on the disk and in git; other memories are named.

Nothing is changed or created.
"""

import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from commands.doctor.memories import other_memories
from core.config import Project
from core.disk import held, is_odd
from core.errors import BusyError, LogMissingError, LogReadError, ProjectRefusedError
from core.git import HistoryError, WorkTree
from core.lessons.file import ASIDE_NAME, COMPANIONS, LOCK_SUFFIX, REPLACED_NAME
from core.lessons.upkeep import Finding
from core.messages import Facts
from core.store import MemoryStore

MOUNTS = Path("/proc/self/mounts")
# What `core.disk` says of a log that is behind a link.
LINKS = ("log_link", "log_link_folder", "log_link_gone_file", "log_link_gone_folder")
NETWORK = (
    *("nfs", "cifs", "smb", "9p", "afs", "ceph", "davfs", "vboxsf"),
    *("fuse.sshfs", "fuse.rclone"),
)


def around(
    project: Project,
    store: MemoryStore,
    environment: Mapping[str, str],
    unreadable: LogReadError | None = None,
    missing: LogMissingError | None = None,
) -> list[Finding]:
    """Return all that somebody should know about the surroundings of this project's log.

    unreadable: why the log could not be read, None when it was. missing: why it is not there.
    """
    findings = list(_about_project(project, environment))
    if unreadable and unreadable.key in LINKS:
        findings.append(Finding(unreadable.key, "error", facts=unreadable.facts))
        return findings  # git would be asked about a place that the link has chosen
    if unreadable:
        findings.append(Finding("not_readable", "error", facts=unreadable.facts))
    else:
        if missing:
            findings.append(Finding(missing.key, "warning", facts=missing.facts))
        findings += _about_disk(store, is_new=missing is None)
    return [*findings, *_about_git(store.path)]


def _about_project(project: Project, environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        project.check(environment, writes=True)
    except ProjectRefusedError as error:
        yield Finding("refused", "error", facts=error.facts)
        return
    yield from other_memories(project)


def _about_disk(store: MemoryStore, *, is_new: bool) -> Iterator[Finding]:
    path = store.path
    target = Path(os.path.realpath(path))
    if is_new and not os.path.exists(path):
        yield Finding("no_log", "note")
    if path.is_symlink() or path.parent.is_symlink():
        yield Finding("link", "note", facts={"path": str(target)})
    folder = target.parent if target.parent.is_dir() else target.parent.parent
    for place in (target, folder):
        if place.exists() and not os.access(place, os.W_OK):
            yield Finding("read_only", "note", facts={"path": str(place)})
            break
    lock = target.with_name(f"{target.name}{LOCK_SUFFIX}")
    if lock.is_file() and not os.access(lock, os.R_OK | os.W_OK):
        rm = shlex.join(["rm", "-f", str(lock)])
        yield Finding("lock_foreign", "error", facts={"path": str(lock), "rm": rm})
    if target.exists() and os.stat(target).st_nlink > 1:
        yield Finding("hard_link", "warning")
    filesystem = _network_filesystem(target)
    if filesystem:
        yield Finding("network", "note", facts={"filesystem": filesystem})
    strays = _strays(store)
    if strays and not _is_held(target):
        facts: Facts = {"count": len(strays), "path": str(strays[0])}
        yield Finding("strays", "note", facts=facts, fixable=True)
    for companion in (path.with_name(name) for name in COMPANIONS):
        if is_odd(companion):
            yield Finding("companion_link", "warning", facts={"path": str(companion)})
    side = path.with_name(REPLACED_NAME)
    if is_odd(side):
        yield Finding("side_odd", "error", facts={"path": str(side)})
    for kept in sorted(path.parent.glob(f"{ASIDE_NAME}-*")):
        yield Finding("set_aside", "note", facts={"path": str(kept)})


def _strays(store: MemoryStore) -> list[Path]:
    try:
        return store.file.strays()
    except OSError:  # a directory that may be entered, but not listed
        return []


def _is_held(target: Path) -> bool:
    """Return whether a writer is at work; a missing lock file is not created to find out."""
    lock = Path(f"{target}{LOCK_SUFFIX}")
    if not lock.is_file() or lock.is_symlink():
        return False
    try:
        with held(str(lock), timeout_s=0):
            return False
    except BusyError:
        return True
    except OSError:
        return False


def _network_filesystem(path: Path) -> str:
    """Return the kind of network file system that holds `path`, "" if it is local or unknown."""
    try:
        mounts = [line.split() for line in MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return ""
    folder = f"{path.parent}{os.sep}"
    points = [(mount[1].replace("\\040", " "), mount[2]) for mount in mounts if len(mount) > 2]
    below = [(at, kind) for at, kind in points if folder.startswith(at.rstrip("/") + "/")]
    _, kind = max(below, key=lambda point: len(point[0]), default=("", ""))
    return kind if kind.startswith(NETWORK) else ""


def _about_git(path: Path) -> list[Finding]:
    """Return what git makes of the log at `path` and of the files beside it."""
    folder = path.parent if os.path.isdir(path.parent) else path.parent.parent
    if not os.access(folder, os.X_OK):
        return []  # which is why the log cannot be read
    try:
        return list(_as_git_has_it(path, WorkTree(folder), path.relative_to(folder).as_posix()))
    except HistoryError as error:
        return [_no_git(path, error)]


def _as_git_has_it(path: Path, tree: WorkTree, name: str) -> Iterator[Finding]:
    """Yield what git makes of the log and its companions. Raises HistoryError."""
    if _said(tree, "check-ignore", name):
        yield Finding("ignored", "note")
        return
    yield from _about_tracking(path, tree, name)
    if not _said(tree, "check-attr", "merge", "--", name).endswith(": union"):
        yield from _about_companion("no_union", path, ".gitattributes")
    if not _said(tree, "check-ignore", "--no-index", name + LOCK_SUFFIX):
        yield from _about_companion("lock_not_ignored", path, ".gitignore")


def _no_git(path: Path, error: HistoryError) -> Finding:
    """Return why git says nothing: because there is no repository, or although there is one."""
    reason = str(error.facts.get("reason", "")).removeprefix("fatal: ")
    is_none = error.key == "no_repository" and not reason
    if is_none or not any(os.path.exists(parent / ".git") for parent in path.parents):
        return Finding("no_git", "note")
    if error.key == "no_git":
        return Finding("git_missing", "note")
    kind = "objects_missing" if error.key == "objects_missing" else "git_refuses"
    return Finding(kind, "warning", facts={"reason": reason or str(error)})


def _said(tree: WorkTree, *arguments: str) -> str:
    """Return what git prints, without its last line end; "" when the answer is no or none."""
    done = tree.run(*arguments)
    return "" if done.returncode else os.fsdecode(done.stdout).removesuffix("\n")


def _about_tracking(path: Path, tree: WorkTree, name: str) -> Iterator[Finding]:
    def listed(*options: str) -> bytes:
        return tree.ask("ls-files", *options)

    if listed("--", name + LOCK_SUFFIX):
        facts = {"path": path.name + LOCK_SUFFIX}
        yield Finding("lock_tracked", "warning", facts=facts)
    if listed("--", str(PurePosixPath(name).with_name(REPLACED_NAME))):
        yield Finding("side_tracked", "warning", facts={"path": REPLACED_NAME})
    tracked = listed("--", name)
    if os.path.isfile(path) and not tracked:
        yield Finding("untracked", "note")
    mode = os.lstat(path).st_mode if os.path.lexists(path) else 0
    if stat.S_ISREG(mode) and tracked:
        has_head = not tree.run("rev-parse", "--verify", "--quiet", "HEAD").returncode
        if not has_head or not tree.ask("rev-list", "--max-count=1", "HEAD", "--", name):
            yield Finding("uncommitted", "note")
    for companion in COMPANIONS if tracked else ():
        beside = str(PurePosixPath(name).with_name(companion))
        if os.path.lexists(path.with_name(companion)) and not listed("--", beside):
            facts = {"path": companion}
            yield Finding("companion_untracked", "note", facts=facts)
    if listed("--unmerged", "--", name):
        yield Finding("unmerged", "error")


def _about_companion(kind: str, path: Path, name: str) -> Iterator[Finding]:
    """Yield a rule that git lacks: `--fix` completes its file, unless another rule overrules it."""
    companion = path.parent / name
    if is_odd(companion) or not (os.path.lexists(companion) or os.path.exists(path)):
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
        yield Finding(kind, "warning", fixable=True)
