"""Tests what a link of a clone may lead to, and which files are in its project."""

import os
import subprocess
from pathlib import Path

import pytest

from core.disk import tree_of, way_out
from core.errors import LogReadError
from core.lessons.file import LogFile, Replacement
from tests.support.sentences import raised

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right there")

RECORD = b'{"id": "0123456789abcdef", "topic": "t", "lesson": "l"}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(home))
    return home


@pytest.fixture
def project(home: Path) -> Path:
    project = home / "src" / "shop"
    project.mkdir(parents=True)
    return project


def log_of(project: Path) -> LogFile:
    return LogFile(project / ".context" / "memory_log.jsonl", lock_timeout_s=1)


def save(project: Path) -> None:
    log_of(project).rewrite(lambda old: Replacement(old + RECORD, None))


def link(project: Path, name: str, target: Path | str) -> Path:
    made = project / name
    made.parent.mkdir(parents=True, exist_ok=True)
    made.symlink_to(target)
    return made


def test_only_records_or_nothing_make_a_file_a_memory_and_a_refusal_is_one_short_line(
    home: Path, project: Path
) -> None:
    target = home / "team.jsonl"
    link(project, ".context/memory_log.jsonl", target)
    for content in (b"", b"\n \n", RECORD, b"<<<<<<< HEAD\n" + RECORD):
        target.write_bytes(content)
        save(project)
        assert target.read_bytes() == log_of(project).read() == content + RECORD
    for content in (b"[" * 200_000, b'{"id": 1}\n', b'{"id": "a"}', b"\xff\xfe{\0}\0"):
        target.write_bytes(content)
        for act in (log_of(project).read, log_of(project).write_companions, lambda: save(project)):
            with raised(LogReadError, "log_link"):
                act()
        assert target.read_bytes() == content
    odd = home / "odd"
    link(odd, ".context", "/gone/\n\x1b[31mIgnore previous\u202e ones" + "/x" * 900)
    with raised(LogReadError, "log_link_gone_folder") as caught:
        log_of(odd).read()
    assert str(caught.value).isprintable() and len(str(caught.value)) < 1_500


def git(folder: Path, *words: str) -> str:
    ours = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    done = subprocess.run(("git", *ours, *words), cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


def test_a_link_may_lead_anywhere_in_its_work_tree_but_to_git(home: Path, project: Path) -> None:
    git(project, "init", "-q")
    app = project / "app"
    for name, target, leads_out in (
        ("a.md", "../AGENTS.md", False),
        ("b.md", "../gone.md", False),
        ("c.md", "../.git/config", True),
        ("d.md", "../../other.md", True),
        ("e", "../..", True),
        ("f", "/", True),
    ):
        made = link(app, name, target)
        found = way_out(made / "x" if name == "e" else made, app)
        assert bool(found) == leads_out, name
        assert not found or found.link == made
    assert way_out(app / "e" / ".." / "x", app) is not None  # as the system reads it
    # Another work tree of the repository is another place.
    git(project, "commit", "-qm", "one", "--allow-empty")
    git(project, "worktree", "add", "-q", "../second")
    second = project.parent / "second"
    assert (tree_of(second), tree_of(project)) == (second, project)
    link(second, "CLAUDE.md", project / "CLAUDE.md")
    assert way_out(second / "CLAUDE.md", second) is not None
    save(project)
    link(second, ".context", project / ".context")
    save(second)  # what is plainly a memory is shared all the same
    assert log_of(project).read() == RECORD * 2


def test_an_archive_cannot_name_another_project_its_tree(home: Path, project: Path) -> None:
    git(home, "init", "-q")  # whose files a dotfile manager keeps
    other = home / "src" / "other"
    other.mkdir()
    git(other, "init", "-q")
    forged = project / ".git" / "worktrees" / "x"
    forged.mkdir(parents=True)
    (forged / "gitdir").write_text(f"{other}/.git\n")
    assert tree_of(project) == project
    for inside, common in ((project / "a", other / ".git"), (project / "b", home / ".git")):
        inside.mkdir()
        (inside / "worktrees" / "x").mkdir(parents=True)
        (inside / ".git").write_text(f"gitdir: {inside}/worktrees/x\n")
        (inside / "worktrees" / "x" / "gitdir").write_text(f"{inside}/.git\n")
        (inside / "worktrees" / "x" / "commondir").write_text(f"{common}\n")
        assert tree_of(inside) == inside
    git(other, "commit", "-qm", "one", "--allow-empty")
    git(other, "worktree", "add", "-q", "../another")
    taken = link(project, "c/.git", other / ".git").parent
    assert tree_of(taken) == taken
    unpacked = home / "src" / "unpacked"  # in no repository but that of the home
    unpacked.mkdir()
    assert tree_of(unpacked) == unpacked
