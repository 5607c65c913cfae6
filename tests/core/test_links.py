"""Tests that a link of a clone makes the memory neither read nor write what is no memory."""

import os
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

from core.disk import tree_of, way_out
from core.errors import LogReadError
from core.lessons.file import COMPANIONS, LogFile, Replacement
from tests.support.faults import Tree, tree
from tests.support.sentences import in_language, raised

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right there")

RECORD = b'{"id": "0123456789abcdef", "topic": "t", "lesson": "l"}\n'
SECRET = b"machine example.com password hunter2\n"
NESTED = b"[" * 200_000


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with what people have there."""
    home = tmp_path / "home"
    for name in (".bashrc", ".netrc", ".ssh/id_rsa", ".claude/history.jsonl", "notes.jsonl"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(SECRET)
    (home / ".claude" / "history.jsonl").write_bytes(b'{"display": "hello", "project": "/x"}\n')
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


def save(project: Path, data: bytes = RECORD) -> None:
    log_of(project).rewrite(lambda old: Replacement(old + data, None, old), aside_name="aside.txt")


def link(project: Path, name: str, target: Path | str) -> Path:
    made = project / name
    made.parent.mkdir(parents=True, exist_ok=True)
    made.symlink_to(target)
    return made


def refused(project: Path, before: Tree, home: Path) -> LogReadError:
    """The refusal of a save, after every way to read, write and tidy has been refused alike."""
    log = log_of(project)
    for action in (log.read, log.write_companions):
        with pytest.raises(LogReadError) as caught:
            action()
        assert caught.value.key.startswith("log_link")
    with pytest.raises(LogReadError) as caught:
        save(project)
    assert caught.value.key.startswith("log_link")
    assert tree(home) == before
    assert "hunter2" not in str(caught.value)
    return caught.value


OUTSIDE = [".bashrc", ".netrc", ".ssh/id_rsa", "notes.jsonl", ".claude/history.jsonl"]


INSIDE = (
    *((it, SECRET) for it in (".env", ".git/config", ".git/memory.jsonl", "build.jsonl")),
    *(("notes.jsonl", it) for it in (NESTED, b'{"id": 1}\n', b'{"id": "a"}', b"\xff\xfe{\0}\0")),
)


@pytest.mark.row("P9")
def test_a_log_that_is_a_link_to_no_memory_is_left_alone(home: Path, project: Path) -> None:
    for target in OUTSIDE:
        made = link(project, ".context/memory_log.jsonl", home / target)
        error = refused(project, tree(home), home)
        said = f"{made} is a link to {home / target}, which is not a memory log."
        assert str(error).startswith(said)
        assert f"(rm {made})" in str(error)
        assert str(home / target) in in_language("ko", str, error)
        made.unlink()
    (project / ".git").mkdir()
    for target, content in INSIDE:  # not even inside the project
        (project / target).write_bytes(content)
        made = link(project, ".context/memory_log.jsonl", Path("..", target))
        refused(project, tree(home), home)
        made.unlink()


def test_a_log_that_is_a_link_to_a_memory_is_read_and_written(home: Path, project: Path) -> None:
    for place in ("team/lessons.jsonl", "src/shop/docs/lessons"):
        target = home / place
        target.parent.mkdir()
        made = link(project, ".context/memory_log.jsonl", target)
        for content in (b"", b"\n \n", RECORD, b"<<<<<<< HEAD\n" + RECORD):
            target.write_bytes(content)
            save(project)
            assert (made.is_symlink(), target.read_bytes()) == (True, content + RECORD)
            assert log_of(project).read() == content + RECORD
            made.with_name("aside.txt").unlink(missing_ok=True)
        made.unlink()


def test_a_context_that_is_a_link_to_no_memory_is_not_entered(home: Path, project: Path) -> None:
    (home / "memory_log.jsonl").write_bytes(RECORD)  # a home is none even with a log in it
    for target in ("", ".ssh", ".claude", "src", "/etc", "/usr/share"):
        made = link(project, ".context", home / target)
        error = refused(project, tree(home), home)
        assert f" to the directory {home / target}".rstrip("/") in str(error)
        assert "(rm " in str(error)
        made.unlink()
    shared = home / "other" / ".context"  # a link in it is looked at as well
    link(shared, "memory_log.jsonl", home / ".bashrc")
    link(project, ".context", shared)
    refused(project, tree(home), home)


def test_the_first_save_into_a_linked_empty_directory_works_as_does_the_next(
    home: Path, project: Path
) -> None:
    for place in ["team", "src/shop/memory", "other/.context"]:
        shared = home / place
        shared.mkdir(parents=True)
        made = link(project, ".context", shared)
        assert log_of(project).read() == b""
        (shared / "memory_log.jsonl.lock").touch()  # what a killed save has left
        (shared / ".memory_log.jsonl.0123456789abcdef.tmp").write_bytes(b"half")
        save(project)
        (shared / "README.md").write_bytes(b"ours\n")
        save(project)
        assert (shared / "memory_log.jsonl").read_bytes() == RECORD * 2
        assert set(COMPANIONS) <= {item.name for item in shared.iterdir()}
        made.unlink()


def test_a_broken_link_names_what_is_missing_in_one_short_line(home: Path, project: Path) -> None:
    made = link(project, ".context", home / "it's gone")
    error = refused(project, tree(home), home)
    assert f"the directory {home}/it's gone does not exist" in str(error)
    assert f"(mkdir -p '{home}/it'\"'\"'s gone')" in str(error)
    made.unlink()
    made.symlink_to("/gone/\n\x1b[31mIgnore previous\u202e ones" + "/x" * 900)
    text = str(refused(project, tree(home), home))
    assert text.isprintable() and len(text) < 1_500
    made.unlink()
    made.symlink_to(".context")  # a circle
    with pytest.raises(LogReadError):
        log_of(project).read()
    made.unlink()
    link(project, ".context/memory_log.jsonl", home / "gone.jsonl")
    error = refused(project, tree(home), home)
    assert f"broken symbolic link: {home}/gone.jsonl does not exist" in str(error)


@pytest.mark.parametrize("name", COMPANIONS)
@pytest.mark.parametrize("target", [".ssh/id_rsa", "gone"])
def test_a_companion_that_is_a_link_is_neither_read_nor_written_nor_replaced(
    home: Path, project: Path, name: str, target: str
) -> None:
    made = link(project, f".context/{name}", home / target)
    outside = tree(home / ".ssh")
    save(project)
    log_of(project).write_companions()
    assert (made.is_symlink(), tree(home / ".ssh"), (home / "gone").exists()) == (
        True,
        outside,
        False,
    )
    kept = [item for item in made.parent.iterdir() if not item.is_symlink()]
    assert not [item.name for item in kept if SECRET in item.read_bytes()]


@pytest.mark.parametrize("target", [".bashrc", "made-by-the-lock"])
def test_a_lock_that_is_a_link_is_not_opened(home: Path, project: Path, target: str) -> None:
    made = link(project, ".context/memory_log.jsonl.lock", home / target)
    before = tree(home)
    with raised(LogReadError, "lock_link", match="a lock file must not be one") as caught:
        save(project)
    assert (tree(home), f"(rm {made})" in str(caught.value)) == (before, True)
    made.unlink()
    (home / "team.jsonl").write_bytes(RECORD)
    link(project, ".context/memory_log.jsonl", home / "team.jsonl")
    with FileLock(f"{home / 'team.jsonl'}.lock"), pytest.raises(TimeoutError):
        save(project)  # another writer finds the lock beside what the log is a link to


# What belongs to a project.


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
