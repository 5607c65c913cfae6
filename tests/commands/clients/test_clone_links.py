"""Tests that no link of a clone leads what a command writes or reads out of the project."""

import os
from itertools import product

import pytest

from core.lessons.record import new_record
from tests.support.costly import enough
from tests.support.desk import Desk
from tests.support.faults import tree
from tests.support.git_clones import git
from tests.support.samples import NOW, a_principle, a_record
from tests.support.tables import table

ROWS = table("commands/clone_links")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right there")

MINE = b"export PATH=/mine\n- a lesson of mine\n"
WRITERS = ROWS["writers"]


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """A clone with a memory, and a home with a file in it."""
    principle = new_record(a_principle("Round at the end.", paths=["src/**"]), now=NOW)
    desk.write(a_record(), principle)
    git(desk.root, "init", "-q")
    git(desk.root, "add", ".")
    git(desk.root, "commit", "-qm", "one")
    for name in (".bashrc", ".ssh/authorized_keys"):
        (desk.home / name).parent.mkdir(exist_ok=True)
        (desk.home / name).write_bytes(MINE)
    return desk


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("target", "words"),
    enough(
        product([".bashrc", "gone", ".ssh", "."], WRITERS),
        lambda target, _: target,
        lambda _, words: words,
        names=2,
    ),
)
def test_no_command_follows_a_link_of_the_clone(desk: Desk, words: str, target: str) -> None:
    name = "out.md" if target in (".bashrc", "gone") else "docs"
    link = desk.root / name
    link.symlink_to(desk.home / target)
    path = "out.md" if name == "out.md" else "docs/.bashrc"
    before = tree(desk.root.parent)
    done = desk.run(*words.format(path).split())
    assert (done.code, tree(desk.root.parent)) != (0, before)
    assert tree(desk.root.parent) == before
    real = desk.home / target / (".bashrc" if name == "docs" else "")
    assert f" through the link {link}, which points to {real}" in done.errors
    assert f"(rm {link})" in done.errors
    assert "mine" not in done.out + done.errors.replace(str(real), "")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("words", WRITERS[:-1])
def test_a_place_that_is_named_by_its_real_path_is_written(desk: Desk, words: str) -> None:
    (desk.root / "docs").symlink_to(desk.home)
    done = desk.run(*words.format(desk.home / ".bashrc").split())
    assert done.code == 0, done.errors
    written = "--remove" not in words
    assert ((desk.home / ".bashrc").read_bytes() != MINE) == written


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("words", WRITERS[:-1])
def test_a_link_to_another_place_in_the_repository_is_followed(desk: Desk, words: str) -> None:
    (desk.root / "docs").mkdir()
    (desk.root / "docs" / "page.md").write_bytes(b"")
    (desk.root / "out.md").symlink_to("docs/page.md")
    done = desk.run(*words.format("out.md").split())
    assert done.code == 0, done.errors
    assert (desk.root / "out.md").is_symlink()
    assert bool((desk.root / "docs" / "page.md").read_bytes()) == ("--remove" not in words)


def test_a_link_of_another_clone_is_not_followed_either(desk: Desk) -> None:
    other = desk.root.parent / "other"
    git(desk.root, "clone", "-q", str(desk.root), str(other))
    (other / "out.md").symlink_to(desk.home / ".bashrc")
    done = desk.run("export", "-o", "../other/out.md", "--force")
    assert (done.code, (desk.home / ".bashrc").read_bytes()) == (1, MINE)


def test_a_home_under_git_is_no_project(desk: Desk) -> None:
    git(desk.home, "init", "-q")
    project = desk.home / "unpacked"
    project.mkdir()
    (project / "out.md").symlink_to(desk.home / ".bashrc")
    done = desk.run("export", "-o", "out.md", "--force", cwd=project)
    assert (done.code, (desk.home / ".bashrc").read_bytes()) == (1, MINE)
