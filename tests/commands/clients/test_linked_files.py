"""Tests that no link of a clone leads what a command reads or writes out of the project."""

import os
import shutil
import stat
from itertools import product
from pathlib import Path

import pytest

from commands.clients.files import Plan
from commands.clients.table import CLIENTS
from core.lessons.record import new_record
from tests.commands.clients.conftest import Bench
from tests.support.cli_process import Desk
from tests.support.client_events import claude_edit, environment_of, run_hook
from tests.support.costly import enough
from tests.support.faults import tree
from tests.support.git_clones import git
from tests.support.samples import NOW, a_principle, a_record
from tests.support.sentences import sentence
from tests.support.tables import table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")

MINE = b"machine example.com login me password Xk29vQp7Lm\n"
LOG = ".context/memory_log.jsonl"
WRITERS = table("commands/clone_links")["writers"]
COMMANDS = table("commands/linked_log")["commands"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of such a desk, from which each test gets a copy."""
    top = tmp_path_factory.mktemp("made")
    desk = Desk(top / "shop", top / "home")
    desk.write(a_record(), new_record(a_principle("Round at the end.", paths=["src/**"]), now=NOW))
    git(desk.root, "init", "-q")
    for text in ("one", "two"):
        (desk.root / "lessons.md").write_text(f"# Ours\n- Say {text}.\n")
        git(desk.root, "add", ".")
        git(desk.root, "commit", "-qm", text)
    for name in (".bashrc", ".netrc", "notes.jsonl", "private/.netrc", ".ssh/authorized_keys"):
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


# What a command writes.


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
        assert "Xk29vQp7Lm" not in done.out + done.errors
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


# What a clone gives out as its memory log.


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


# The files of clients.

KEYS = [client.key for client in CLIENTS]
LINKS = table("commands/setup_links")["links"]
OURS = b"<!-- sentinel-memory rules: begin -->\nmine\n<!-- sentinel-memory rules: end -->\n"
THEIRS = {
    "root/.mcp.json": '{"mcpServers": {"theirs": {"command": "x"}}}\n',
    "root/.codex/config.toml": 'model = "o"\n',
    "root/AGENTS.md": "Be kind.\n",
    "root/.claude/settings.json": '{"model": "o"}\n',
}
CLIENT = {"root/.codex/config.toml": "codex"}


def written(bench: Bench, *clients: str, remove: bool = False) -> Plan:
    """Plan, and write with the care of a real write."""
    planned = bench.plan(*clients, remove=remove)
    for change in planned.changes:
        change.file.write(change.after, bench.root)
    return planned


def refused(bench: Bench, name: str) -> list[str]:
    """Put in and take out again; the problems of the file by name, each with a next step."""
    keys = []
    for remove in (False, True):
        for problem in written(bench, CLIENT.get(name, "claude-code"), remove=remove).problems:
            said = sentence("en", f"setup.{problem.key}", **problem.facts)
            assert "then repeat the command" in said
            if problem.facts["path"] == str(bench.path(name)):
                keys.append(problem.key)
    return keys


@pytest.mark.parametrize("name", THEIRS)
def test_a_link_within_the_project_stays_and_any_other_is_refused(name: str, bench: Bench) -> None:
    link, outside = bench.path(name), bench.top / "outside"
    real = bench.root / "shared" / link.name
    bench.put({f"root/shared/{link.name}": THEIRS[name]})
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(real, link.parent))
    written(bench, CLIENT.get(name, "claude-code"))
    assert link.is_symlink() and real.read_text() != THEIRS[name]
    assert refused(bench, name) == []
    assert link.is_symlink()
    outside.write_text(THEIRS[name])
    for target, key in ((str(outside), "leads_out"), ("gone", "unreadable")):
        link.unlink()
        link.symlink_to(target)
        assert refused(bench, name)[:1] == [key]
        assert (os.readlink(link), outside.read_text()) == (target, THEIRS[name])


@pytest.mark.parametrize(
    ("kind", "name"),
    enough(product(["directory", "pipe"], THEIRS), lambda k, _: k, lambda _, n: n, names=2),
)
def test_what_is_no_file_is_refused(kind: str, name: str, bench: Bench) -> None:
    path = bench.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir() if kind == "directory" else os.mkfifo(path)
    assert refused(bench, name)[:1] == ["unreadable"]
    assert path.is_dir() == (kind == "directory")


def test_a_file_keeps_its_mode(bench: Bench) -> None:
    bench.put(THEIRS)
    path = bench.root / "AGENTS.md"
    path.chmod(0o640)
    for remove in (False, True):
        written(bench, "codex", "claude-code", remove=remove)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("Be kind.\n", 0o640)


@pytest.fixture
def clone(bench: Bench) -> Bench:
    settings = (".claude/settings.json", ".cursor/mcp.json", ".gemini/settings.json")
    bench.put({f"home/{name}": "{}\n" for name in (*settings, ".claude.json")})
    bench.put({f"home/{name}": OURS for name in (".bashrc", ".profile", ".ssh/config")})
    bench.put({f"home/{name}": "" for name in (".codex/config.toml", ".config/Code/User/mcp.json")})
    bench.put({"home/.config/autostart/x.desktop": "mine\n", "root/.git/config": "[core]\n"})
    return bench


@pytest.mark.parametrize(
    ("name", "remove"),
    enough(
        product(LINKS, [False, True]),
        lambda name, _: name,
        lambda name, remove: (name.count("/"), remove),
        names=2,
    ),
)
def test_no_link_of_a_clone_is_followed_out_of_it(clone: Bench, name: str, remove: bool) -> None:
    link, target = clone.root / name, clone.home / LINKS[name]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    before = tree(clone.home)
    planned = written(clone, *(key for key in KEYS if key != "claude-desktop"), remove=remove)
    after = {at: item for at, item in tree(clone.home).items() if not at.startswith(".copilot")}
    assert after == before  # Copilot's approvals, which are the user's, aside
    assert link.is_symlink()
    found = [problem for problem in planned.problems if problem.key == "leads_out"]
    assert {problem.facts["link"] for problem in found} <= {str(link)}
    assert found or remove or name.startswith(".cursor/rules")  # which setup writes no more
    for problem in found:
        assert str(problem.facts["target"]).startswith(str(target))


def test_a_link_to_git_or_to_another_client_is_told_from_that_file(clone: Bench) -> None:
    """The user's own file of Claude Desktop is edited; by the link of the clone it is not."""
    own = "home/.config/Claude/claude_desktop_config.json"
    clone.put({own: "{}\n"})
    (clone.root / ".vscode").mkdir()
    (clone.root / ".vscode" / "mcp.json").symlink_to(clone.path(own))
    planned = written(clone, "claude-desktop", "vscode")
    assert [problem.key for problem in planned.problems] == ["leads_out"]
    assert list(clone.data(own)) == ["mcpServers"]
    (clone.root / "AGENTS.md").unlink()
    (clone.root / "AGENTS.md").symlink_to(".git/config")
    assert [problem.key for problem in written(clone, "codex").problems] == ["leads_out"]
    assert clone.files()["root/.git/config"] == b"[core]\n"


def test_a_file_of_the_user_may_be_a_link_to_anywhere(clone: Bench) -> None:
    clone.put({"home/dotfiles/claude.json": "{}\n", "home/dotfiles/.git/config": ""})
    own = clone.home / ".config" / "Claude" / "claude_desktop_config.json"
    own.parent.mkdir()
    own.symlink_to(clone.home / "dotfiles" / "claude.json")
    assert written(clone, "claude-desktop").problems == []
    assert own.is_symlink()
    assert b"sentinel-memory" in clone.files()["home/dotfiles/claude.json"]
