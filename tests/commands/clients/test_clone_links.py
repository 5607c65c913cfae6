"""Tests that no link of a clone leads what a command writes or reads out of the project."""

import os

import pytest

from core.lessons.record import new_record
from tests.support.cli_process import Desk
from tests.support.faults import tree
from tests.support.git_clones import git
from tests.support.samples import NOW, a_principle, a_record
from tests.support.tables import table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right there")

MINE = b"export PATH=/mine\n- a lesson of mine\n"
WRITERS = table("commands/clone_links")["writers"]


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
@pytest.mark.parametrize("words", WRITERS)
def test_no_command_follows_a_link_of_the_clone(desk: Desk, words: str) -> None:
    for target, path in (
        (".bashrc", "out.md"),
        ("gone", "out.md"),
        (".ssh", "docs/.bashrc"),
        (".", "docs/.bashrc"),
    ):
        link = desk.root / path.partition("/")[0]
        link.symlink_to(desk.home / target)
        before = tree(desk.root.parent)
        done = desk.run(*words.format(path).split())
        assert (bool(done.code), tree(desk.root.parent)) == (True, before)
        real = desk.home / target / path.partition("/")[2]
        assert f" through the link {link}, which points to {real}" in done.errors
        assert f"(rm {link})" in done.errors
        assert "mine" not in done.out + done.errors.replace(str(real), "")
        link.unlink()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("words", WRITERS[:-1])
def test_a_real_path_and_a_link_within_the_repository_are_written(desk: Desk, words: str) -> None:
    is_written = "--remove" not in words
    page = desk.root / "docs" / "page.md"
    page.parent.mkdir()
    page.write_bytes(b"")
    (desk.root / "out.md").symlink_to("docs/page.md")
    (desk.root / "home").symlink_to(desk.home)
    for path in ("out.md", str(desk.home / ".bashrc")):
        done = desk.run(*words.format(path).split())
        assert done.code == 0, done.errors
    assert (desk.root / "out.md").is_symlink()
    assert bool(page.read_bytes()) == is_written
    assert ((desk.home / ".bashrc").read_bytes() != MINE) == is_written


def test_a_link_of_another_clone_or_below_a_home_under_git_is_not_followed(desk: Desk) -> None:
    other, below = desk.root.parent / "other", desk.home / "unpacked"
    git(desk.root, "clone", "-q", str(desk.root), str(other))
    git(desk.home, "init", "-q")
    below.mkdir()
    for folder, cwd, path in (
        (other, desk.root, "../other/out.md"),
        (below, below, "out.md"),
    ):
        (folder / "out.md").symlink_to(desk.home / ".bashrc")
        done = desk.run("export", "-o", path, "--force", cwd=cwd)
        assert (done.code, (desk.home / ".bashrc").read_bytes()) == (1, MINE)
