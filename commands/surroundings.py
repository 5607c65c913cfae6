"""Checks the surroundings of a memory log: disk, git, other memories. Changes nothing."""

import os
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core import program
from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.disk import is_odd
from core.errors import LogMissingError, LogReadError, ProjectRefusedError
from core.git import HistoryError, WorkTree
from core.lessons.file import ASIDE_NAME, COMPANIONS, LOCK_SUFFIX, REPLACED_NAME
from core.lessons.upkeep import Finding
from rooms.room import Opened

MOUNTS = Path("/proc/self/mounts")
NETWORK = (
    *("nfs", "cifs", "smb", "9p", "afs", "ceph", "davfs", "vboxsf"),
    *("fuse.sshfs", "fuse.rclone"),
)
_NO_FILTER = "unspecified", "unset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The memory to examine. trouble: why its log cannot be read, or None."""

    opened: Opened
    trouble: LogReadError | None

    @property
    def log(self) -> Path:
        """The log's path, which need not exist."""
        return self.opened.store.path

    @property
    def is_led_away(self) -> bool:
        """Whether a link has led the log elsewhere, where nothing is examined."""
        return bool(self.trouble and self.trouble.key.startswith("log_link"))


def scene_of(opened: Opened) -> Scene:
    try:
        opened.store.read_bytes()
    except LogReadError as error:
        return Scene(opened=opened, trouble=error)
    return Scene(opened=opened, trouble=None)


# The place.


def log_there(scene: Scene) -> Iterator[Finding]:
    if scene.trouble:
        yield Finding("not_read", "error", facts={"said": str(scene.trouble)})
    elif not os.path.exists(scene.log):
        yield Finding("no_log", "note")


def log_place(scene: Scene) -> Iterator[Finding]:
    """Yield why the log cannot be saved, or is not safe, at its place."""
    try:
        scene.opened.project.check(os.environ, writes=True)
    except ProjectRefusedError as error:
        yield Finding("refused", "error", facts=error.facts)
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
        if is_odd(beside):
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
                facts["command"] = f"{program.CLI} {shlex.join(words)}"
            kind = "two_memories" if scene.log.is_file() else "other_memory"
            yield Finding(kind, "note", facts=facts)
        if os.path.exists(directory / ".git"):
            return


# git.


def git(scene: Scene) -> Iterator[Finding]:
    folder = scene.log.parent if os.path.isdir(scene.log.parent) else scene.opened.project.root
    if scene.is_led_away or not os.access(folder, os.X_OK):
        return  # which is said of the reading
    name = scene.log.relative_to(folder).as_posix()
    try:
        tree = WorkTree(folder)
        if not tree.run("check-ignore", "--quiet", "--", name).returncode:
            rule = tree.ask("check-ignore", "--verbose", "--", name).partition(b"\t")[0]
            yield Finding("ignored", "note", facts={"rule": os.fsdecode(rule)})
            return
        yield from _tracked(scene, tree, name)
        yield from _told(scene, tree, name)
    except HistoryError as error:
        yield _no_answer(scene.log, error)


def _no_answer(log: Path, error: HistoryError) -> Finding:
    reason = str(error.facts.get("reason", "")).removeprefix("fatal: ")
    is_none = error.key == "no_repository" and not reason
    if is_none or not any(os.path.exists(parent / ".git") for parent in log.parents):
        return Finding("no_git", "note")
    if error.key == "no_git":
        return Finding("git_missing", "note")
    kind = "objects_missing" if error.key == "objects_missing" else "git_refuses"
    return Finding(kind, "warning", facts={"reason": reason or str(error)})


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
    mode = os.lstat(scene.log).st_mode if os.path.lexists(scene.log) else 0
    if name not in names:
        if os.path.isfile(scene.log):
            yield Finding("untracked", "note")
        return
    if stat.S_ISREG(mode):
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


def _told(scene: Scene, tree: WorkTree, name: str) -> Iterator[Finding]:
    said = tree.ask("check-attr", "-z", "merge", "filter", "--", name).split(b"\0")
    merge, filtered = os.fsdecode(said[2]), os.fsdecode(said[5])
    if merge == "union":
        yield Finding("git_ok", "ok")
    else:
        yield from _not_told("no_union", scene, ".gitattributes")
    if filtered not in _NO_FILTER:
        yield Finding("filtered", "warning", facts={"filter": filtered})
    if tree.run("check-ignore", "--quiet", "--no-index", "--", name + LOCK_SUFFIX).returncode:
        yield from _not_told("lock_not_ignored", scene, ".gitignore")


def _not_told(kind: str, scene: Scene, name: str) -> Iterator[Finding]:
    """Yield a rule that git lacks; a repair writes it, unless another rule overrules it."""
    companion = scene.log.with_name(name)
    if is_odd(companion) or not (os.path.lexists(companion) or os.path.exists(scene.log)):
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
