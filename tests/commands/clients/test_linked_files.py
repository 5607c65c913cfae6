"""Tests that no link of a clone leads what a command reads or writes out of the project."""

import os
import stat
from itertools import product

import pytest

from commands.clients.files import Plan
from commands.clients.table import CLIENTS
from tests.commands.clients.conftest import Bench
from tests.support.costly import enough
from tests.support.faults import tree
from tests.support.sentences import sentence
from tests.support.tables import table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")

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
