"""Tests what setup does where a file of a client is a link, or no file at all."""

import os
import stat
from itertools import product

import pytest

from commands.clients.table import CLIENTS
from tests.support.costly import enough
from tests.support.faults import tree
from tests.support.sentences import sentence
from tests.support.setup_bench import Bench
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
CLIENT = {"root/.mcp.json": "claude-code", "root/.codex/config.toml": "codex"}
EACH = pytest.mark.parametrize("name", THEIRS)


def refused(bench: Bench, name: str) -> list[str]:
    """Put in and take out again; the problems of the file by name, each with a next step."""
    keys = []
    for remove in (False, True):
        for problem in bench.do(CLIENT.get(name, "claude-code"), remove=remove).problems:
            said = sentence("en", f"setup.{problem.key}", **problem.facts)
            assert "then repeat the command" in said
            if problem.facts["path"] == str(bench.path(name)):
                keys.append(problem.key)
    return keys


@EACH
def test_a_link_within_the_project_stays_one_and_its_file_is_given_back(
    name: str, bench: Bench
) -> None:
    link = bench.path(name)
    real = bench.root / "shared" / link.name
    bench.put({f"root/shared/{link.name}": THEIRS[name]})
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(real, link.parent))
    planned = bench.plan(CLIENT.get(name, "claude-code"))
    for change in planned.changes:
        change.write(bench.root)
    assert link.is_symlink() and real.read_text() != THEIRS[name]
    assert refused(bench, name) == []
    assert link.is_symlink()


@EACH
def test_a_link_out_of_the_project_or_to_nothing_is_refused(name: str, bench: Bench) -> None:
    link, outside = bench.path(name), bench.top / "outside"
    outside.write_text(THEIRS[name])
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    assert refused(bench, name)[:1] == ["leads_out"]
    assert (link.is_symlink(), outside.read_text()) == (True, THEIRS[name])
    link.unlink()
    link.symlink_to("gone")
    assert refused(bench, name)[:1] == ["unreadable"]
    assert os.readlink(link) == "gone"


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
        for change in bench.plan("codex", "claude-code", remove=remove).changes:
            change.write(bench.root)
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
    others = [key for key in KEYS if key != "claude-desktop"]
    planned = clone.plan(*others, remove=remove)
    for change in planned.changes:
        change.write(clone.root)
    after = {at: item for at, item in tree(clone.home).items() if not at.startswith(".copilot")}
    assert after == before  # Copilot's approvals, which are the user's, aside
    assert link.is_symlink()
    found = [problem for problem in planned.problems if problem.key == "leads_out"]
    assert {problem.facts["link"] for problem in found} <= {str(link)}
    assert found or remove or name.startswith(".cursor/rules")  # which setup writes no more
    for problem in found:
        assert str(problem.facts["target"]).startswith(str(target))


def test_with_every_link_at_once_nothing_outside_changes(clone: Bench) -> None:
    for name, target in LINKS.items():
        link = clone.root / name
        if not link.parent.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(clone.home / target)
    before = tree(clone.home / ".ssh"), (clone.home / ".bashrc").read_bytes()
    for change in clone.plan(*KEYS).changes:
        change.write(clone.root)
    assert (tree(clone.home / ".ssh"), (clone.home / ".bashrc").read_bytes()) == before


def test_a_link_to_the_file_of_another_client_is_told_from_that_file(clone: Bench) -> None:
    """The user's own file of Claude Desktop is edited; by the link of the clone it is not."""
    own = "home/.config/Claude/claude_desktop_config.json"
    clone.put({own: "{}\n"})
    (clone.root / ".vscode").mkdir()
    (clone.root / ".vscode" / "mcp.json").symlink_to(clone.path(own))
    planned = clone.do("claude-desktop", "vscode")
    assert [problem.key for problem in planned.problems] == ["leads_out"]
    assert list(clone.data(own)) == ["mcpServers"]


def test_a_git_directory_is_outside(clone: Bench) -> None:
    (clone.root / "AGENTS.md").symlink_to(".git/config")
    planned = clone.do("codex")
    assert [problem.key for problem in planned.problems] == ["leads_out"]
    assert clone.files()["root/.git/config"] == b"[core]\n"


def test_a_file_of_the_user_may_be_a_link_to_anywhere(clone: Bench) -> None:
    clone.put({"home/dotfiles/claude.json": "{}\n", "home/dotfiles/.git/config": ""})
    own = clone.home / ".config" / "Claude" / "claude_desktop_config.json"
    own.parent.mkdir()
    own.symlink_to(clone.home / "dotfiles" / "claude.json")
    planned = clone.plan("claude-desktop")
    assert planned.problems == []
    for change in planned.changes:
        change.write(clone.root)
    assert own.is_symlink()
    assert b"sentinel-memory" in clone.files()["home/dotfiles/claude.json"]
