"""Tests that no command reads, rewrites or copies what a clone gives out as its memory log."""

import os
import shutil
from pathlib import Path

import pytest

from core.lessons.file import COMPANIONS
from tests.support.cli_process import Desk
from tests.support.client_events import claude_edit, environment_of, run_hook
from tests.support.costly import enough
from tests.support.faults import tree
from tests.support.git_clones import git
from tests.support.samples import a_record
from tests.support.tables import table

ROWS = table("commands/linked_log")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right there")

MINE = b"machine example.com login me password Xk29vQp7Lm\n"
LOG = ".context/memory_log.jsonl"
COMMANDS = ROWS["commands"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of such a desk, from which each test gets a copy."""
    top = tmp_path_factory.mktemp("made")
    desk = Desk(top / "shop", top / "home")
    desk.write(a_record())
    git(desk.root, "init", "-q")
    for text in ("one", "two"):
        (desk.root / "lessons.md").write_text(f"# Ours\n- Say {text}.\n")
        git(desk.root, "add", ".")
        git(desk.root, "commit", "-qm", text)
    for name in (".netrc", ".profile", "notes.jsonl", "private/.netrc"):
        (desk.home / name).parent.mkdir(exist_ok=True)
        (desk.home / name).write_bytes(MINE)
    git(desk.home, "init", "-q")
    git(desk.home, "add", ".")
    git(desk.home, "commit", "-qm", "dotfiles")
    return top


@pytest.fixture
def desk(made: Path, tmp_path: Path) -> Desk:
    """A clone whose history is sound, and a home under git with files in it."""
    shutil.copytree(made, tmp_path, symlinks=True, dirs_exist_ok=True)
    return Desk(tmp_path / "shop", tmp_path / "home")


def linked(desk: Desk, name: str, target: str) -> Path:
    for path in sorted((desk.root / ".context").iterdir()):
        path.unlink()
    link = desk.root / name
    if name == ".context":
        link.rmdir()
    link.symlink_to(desk.home / target)
    return link


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("name", "target", "words"),
    enough(
        (
            (*place, words)
            for place in [(".context", "private"), (LOG, ".netrc"), (LOG, "notes.jsonl")]
            for words in COMMANDS
        ),
        lambda name, target, _: (name, target),
        lambda _, target, words: words,
        names=3,
    ),
)
def test_nothing_of_a_file_that_is_no_memory_is_shown_changed_or_copied(
    desk: Desk, name: str, target: str, words: str
) -> None:
    link = linked(desk, name, target)
    before = tree(desk.root.parent)
    done = desk.run(*words.split())
    assert tree(desk.root.parent) == before
    told = done.out + done.errors
    assert "Xk29vQp7Lm" not in told
    assert "machine example" not in told
    is_about_git = words in ("scan --history", "report HEAD~1..HEAD") and name == LOG
    assert is_about_git or (done.code, f"(rm {link})" in told) == (done.code or 1, True)


@pytest.mark.long  # it costs much
def test_a_hook_says_nothing_of_it(desk: Desk) -> None:
    linked(desk, LOG, "notes.jsonl")
    environment = environment_of(desk.root.parent / "state", HOME=str(desk.home))
    given = claude_edit(desk.root, "lessons.md")
    for event in ("session-start", "before-action", "prompt", "stop"):
        words = (event, "--client", "claude-code")
        ran = run_hook(*words, given=given, cwd=desk.root, environment=environment)
        assert (ran.code, ran.out, "Xk29vQp7Lm" in ran.errors) == (0, "", False), event


@pytest.mark.long  # it costs much
def test_a_companion_that_is_a_link_is_told_and_left_alone(desk: Desk) -> None:
    before = tree(desk.home)
    for name in COMPANIONS:
        companion = desk.root / ".context" / name
        companion.unlink(missing_ok=True)
        companion.symlink_to(desk.home / ".netrc")
        said = f"✗ {companion} is a link or not a regular file, so git does not read it,"
        for words in ("doctor", "doctor --fix --yes"):
            done = desk.run(*words.split())
            assert (done.code, said in done.out) == (1, True)
        assert (tree(desk.home), companion.is_symlink()) == (before, True)
        companion.unlink()
    assert MINE not in desk.files("shop").values()


def test_a_shared_memory_behind_a_link_is_used_like_any_other(desk: Desk) -> None:
    (desk.home / "team").mkdir()
    linked(desk, ".context", "team")
    assert desk.run("doctor").out.count("error ") == 0
    assert desk.run("import", "lessons.md", "--yes", "--topic", "x").code == 0
    assert "Say two." in desk.run("list").out
    assert "lock" not in git(desk.home, "status", "--porcelain", "-uall")
