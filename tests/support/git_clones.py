"""Makes clones of a small project with real git, saves in them and joins them."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from core.lessons.record import Record
from core.store import MemoryStore
from tests.support.samples import LATER, NOW, a_draft, a_principle
from tests.support.tables import ROOT

Edit = Callable[[Path], object]

LESSON = a_draft().lesson

_SETTINGS = (
    *("user.name=test", "user.email=test@example.invalid", "init.defaultBranch=main"),
    *("init.templateDir=", "gc.auto=0", "maintenance.auto=false", "core.editor=true"),
    *("core.logAllRefUpdates=false", "core.fsync=none", "advice.detachedHead=false"),
    "protocol.file.allow=always",
)
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS")


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One git command with any exit code."""
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    inherited = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    return subprocess.run(
        ["git", *settings, *arguments],
        cwd=folder,
        env={**inherited, **own},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


def git(folder: Path, *arguments: str) -> str:
    """The output of one git command that must succeed."""
    done = run_git(folder, *arguments)
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout


def conflict_styles() -> list[str]:
    """The styles of `merge.conflictStyle` that the installed git knows."""
    found = re.search(r"(\d+)\.(\d+)", git(Path(), "version") if shutil.which("git") else "")
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    return ["merge", "diff3", "zdiff3"] if version >= (2, 35) else ["merge", "diff3"]


def path_of(clone: Path) -> Path:
    return clone / ".context" / "memory_log.jsonl"


def store_of(clone: Path, now: str = NOW) -> MemoryStore:
    return MemoryStore(path_of(clone), now=lambda: now)


def saved(clone: Path) -> list[Record]:
    """The records that a reader sees in the log."""
    return store_of(clone).read().records


def write(project: Path, *parts: Record | bytes) -> bytes:
    """Put these records and lines into the log, as an editor or a merge may leave it; the file."""
    data = b"".join(part.to_line() if isinstance(part, Record) else part for part in parts)
    path_of(project).parent.mkdir(parents=True, exist_ok=True)
    path_of(project).write_bytes(data)
    return data


def new_project(folder: Path, *gaps: str, attributes: str | None = None) -> Path:
    """A repository with these gaps in one commit, and other attributes than the server's."""

    def fill(folder: Path) -> None:
        git(folder, "init", "--quiet")
        (folder / "README").write_text("a project\n", encoding="utf-8", newline="\n")
        if attributes is not None:
            (folder / ".context").mkdir()
            given = folder / ".context" / ".gitattributes"
            given.write_text(attributes, encoding="utf-8", newline="\n")
        for gap in gaps:
            store_of(folder).upsert_log(a_draft(gap))
        commit(folder)

    if folder.is_dir() and any(folder.iterdir()):
        fill(folder)
        return folder
    settings = frozenset((name, value) for name, value in os.environ.items() if name[:4] == "GIT_")
    return made_once((gaps, attributes, settings), fill, folder)


_made: dict[object, tempfile.TemporaryDirectory[str]] = {}


def made_once(what: object, fill: Callable[[Path], object], to: Path) -> Path:
    """A copy of the folder that `fill` made when this was asked for the first time."""
    if what not in _made:
        _made[what] = tempfile.TemporaryDirectory(prefix="project-")
        fill(Path(_made[what].name))
    shutil.copytree(_made[what].name, to, symlinks=True, dirs_exist_ok=True)
    return to


def copied(clone: Path, to: Path) -> Path:
    """The clone once more, history and branches alike, as quick as `git clone --shared`."""
    objects = clone / ".git" / "objects"

    def left_out(folder: str, names: list[str]) -> list[str]:
        return names if Path(folder) == objects else []

    shutil.copytree(clone, to, symlinks=True, ignore=left_out)
    lent = to / ".git" / "objects" / "info"
    lent.mkdir()
    (lent / "alternates").write_text(f"{objects.as_posix()}\n", encoding="utf-8", newline="\n")
    return to


def commit(clone: Path, subject: str = "memory", *options: str) -> None:
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--allow-empty", "--message", subject, *options)


def copied_checkout(to: Path) -> Path:
    """The program once more, to be started from another place."""
    for package in ("core", "commands", "protocol", "rooms", "http_server"):
        shutil.copytree(ROOT / package, to / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("server.py", "cli.py", "LICENSE", "README.md"):
        shutil.copyfile(ROOT / name, to / name)
    return to


def save(gap: str, lesson: str = LESSON, now: str = NOW) -> Edit:
    return lambda clone: store_of(clone, now).upsert_log(a_draft(gap, lesson=lesson))


def compact(lesson: str, *key_texts: str, now: str = LATER) -> Edit:
    """An edit: a principle replaces the records with these key texts, or all of them."""

    def edit(clone: Path) -> None:
        tokens = tokens_of(clone, *key_texts)
        done = store_of(clone, now).upsert_log(a_principle(lesson), tokens)
        assert len(done.removed_records) == len(tokens)

    return edit


def tokens_of(clone: Path, *key_texts: str) -> list[str]:
    """The tokens of the records with these key texts, or of all records."""
    tokens = {record.key_text: record.version_id for record in saved(clone)}
    return [tokens[key_text] for key_text in key_texts or tokens]


def slow_git(path: Path) -> Path:
    """Put there a git that answers as the real one does, a minute too late; return its path."""
    real = shutil.which("git")
    path.write_text(
        f"#!{sys.executable}\nimport os, sys, time\ntime.sleep(60)\n"
        f"os.execv({real!r}, [{real!r}, *sys.argv[1:]])\n"
    )
    path.chmod(0o755)
    return path
