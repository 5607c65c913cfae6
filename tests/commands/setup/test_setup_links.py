"""Tests that setup writes to no place that a link of a clone has chosen."""

import json
import os
from itertools import product
from pathlib import Path

import pytest

from commands.clients.table import CLIENTS
from tests.support.costly import enough
from tests.support.faults import tree
from tests.support.setup_bench import Bench

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a right there")

KEYS = [client.key for client in CLIENTS]
LINKS = {
    "CLAUDE.md": ".bashrc",
    "AGENTS.md": ".bashrc",
    "GEMINI.md": ".profile",
    "AGENTS.override.md": ".bashrc",
    ".claude": ".claude",
    ".claude/settings.json": ".claude/settings.json",
    ".mcp.json": ".claude.json",
    ".cursor": ".ssh",
    ".cursor/mcp.json": ".cursor/mcp.json",
    ".cursor/rules": ".ssh",
    ".codex": ".codex",
    ".gemini": ".gemini",
    ".gemini/settings.json": ".gemini/settings.json",
    ".vscode": ".config/Code/User",
    ".github": ".ssh",
    ".github/mcp.json": ".mcp-servers.json",
    ".github/hooks": ".config/autostart",
}
OURS = b"<!-- sentinel-memory rules: begin -->\nmine\n<!-- sentinel-memory rules: end -->\n"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path)
    settings = (".claude/settings.json", ".cursor/mcp.json", ".gemini/settings.json")
    made.put({f"home/{name}": "{}\n" for name in (*settings, ".claude.json")})
    made.put({f"home/{name}": OURS for name in (".bashrc", ".profile", ".ssh/config")})
    made.put({f"home/{name}": "" for name in (".codex/config.toml", ".config/Code/User/mcp.json")})
    made.put({"home/.config/autostart/x.desktop": "mine\n", "root/.git/config": "[core]\n"})
    for path in (Path(made.python), made.tool / "server.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(made.home))
    return made


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("name", "remove"),
    enough(
        product(LINKS, [False, True]),
        lambda name, _: name,
        lambda name, remove: (name.count("/"), remove),
        names=2,
    ),
)
def test_no_link_of_a_clone_is_followed_out_of_it(bench: Bench, name: str, remove: bool) -> None:
    link, target = bench.root / name, bench.home / LINKS[name]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    before = tree(bench.home)
    others = [key for key in KEYS if key != "claude-desktop"]
    planned = bench.do(*others, remove=remove)
    after = {at: item for at, item in tree(bench.home).items() if not at.startswith(".copilot")}
    assert after == before  # Copilot's approvals, which are the user's, aside
    assert link.is_symlink()
    found = [problem for problem in planned.problems if problem.key == "leads_out"]
    assert {problem.facts["link"] for problem in found} <= {str(link)}
    assert found or remove or name == ".cursor/rules"  # which these clients together do not need
    for problem in planned.problems:
        assert str(problem.facts["target"]).startswith(str(target))


@pytest.mark.long  # it costs much
def test_with_every_link_at_once_nothing_outside_changes(bench: Bench) -> None:
    for name, target in LINKS.items():
        link = bench.root / name
        if not link.parent.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(bench.home / target)
    before = tree(bench.home / ".ssh"), (bench.home / ".bashrc").read_bytes()
    bench.do(*KEYS)
    assert (tree(bench.home / ".ssh"), (bench.home / ".bashrc").read_bytes()) == before


def test_a_link_to_the_file_of_another_client_is_told_from_that_file(bench: Bench) -> None:
    """The user's own file of Claude Desktop is edited; by the link of the clone it is not."""
    own = "home/.config/Claude/claude_desktop_config.json"
    bench.put({own: "{}\n"})
    (bench.root / ".vscode").mkdir()
    (bench.root / ".vscode" / "mcp.json").symlink_to(bench.path(own))
    planned = bench.do("claude-desktop", "vscode")
    assert [problem.key for problem in planned.problems] == ["leads_out"]
    assert b"mcpServers" in bench.path(own).read_bytes()
    assert b'"servers"' not in bench.path(own).read_bytes()


def test_a_git_directory_is_outside(bench: Bench) -> None:
    (bench.root / "CLAUDE.md").symlink_to(".git/config")
    planned = bench.do("claude-code")
    assert [problem.key for problem in planned.problems] == ["leads_out"]
    assert bench.files()["root/.git/config"] == b"[core]\n"


@pytest.mark.parametrize("name", ["GEMINI.md", "CLAUDE.md"])
def test_a_link_from_one_file_of_the_project_to_another_is_followed(
    bench: Bench, name: str
) -> None:
    bench.put({"root/AGENTS.md": "# Ours\n"})
    (bench.root / name).symlink_to("AGENTS.md")
    planned = bench.do("gemini" if name == "GEMINI.md" else "claude-code")
    assert planned.problems == ()
    assert (bench.root / name).is_symlink()
    assert b"search_memory" in bench.files()["root/AGENTS.md"]


def test_a_file_of_the_user_may_be_a_link_to_anywhere(bench: Bench) -> None:
    bench.put({"home/dotfiles/claude.json": "{}\n", "home/dotfiles/.git/config": ""})
    folder = bench.home / ".config" / "Claude"
    folder.mkdir()
    own = folder / "claude_desktop_config.json"
    own.symlink_to(bench.home / "dotfiles" / "claude.json")
    planned = bench.do("claude-desktop")
    assert planned.problems == ()
    assert own.is_symlink()
    assert b"sentinel-memory" in bench.files()["home/dotfiles/claude.json"]


@pytest.mark.parametrize(
    "name", [".git/hooks/pre-commit", "a/../../x", ".GIT/config", "x\\.git\\y"]
)
def test_a_setting_of_the_clone_names_no_file_of_git(bench: Bench, name: str) -> None:
    bench.put({"root/.gemini/settings.json": json.dumps({"context": {"fileName": name}})})
    bench.do("gemini")
    assert b"search_memory" in bench.files()["root/GEMINI.md"]
    assert set(bench.files()) & {f"root/{name}", "root/x"} == set()
