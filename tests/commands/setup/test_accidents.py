"""Tests what setup does where a file of a client is a link, read-only or no file at all."""

import json
import os
import stat
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from commands.clients.text_file import ExportError
from commands.setup.client_table import CLIENTS
from commands.setup.plan import Plan
from tests.support.client_files import Target, targets, theirs
from tests.support.costly import enough
from tests.support.faults import tree
from tests.support.sentences import sentence
from tests.support.setup_bench import Bench
from tests.support.tables import table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")

TARGETS = list({target.name: target for target in targets()}.values())
# A link in git's directory is the user's own: no clone brings one.
OF_PROJECT = [it for it in TARGETS if it.name.startswith("root/") and "/.git/" not in it.name]


def of_each_client(files: list[Target]) -> list[Any]:
    """All of them; by default one of each client, and of each kind."""
    return enough(files, lambda it: it.client, lambda it: it.kind)


EACH = pytest.mark.parametrize("target", of_each_client(TARGETS))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path)
    made.put({})
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(made.home))
    return made


def written(bench: Bench, planned: Plan) -> list[str]:
    """Write as `cli.py setup` does; what could not be."""
    failed = []
    for change in planned.changes:
        try:
            change.write(bench.root)
        except ExportError as error:
            failed.append(error.key)
    return failed


def refused(bench: Bench, target: Target) -> list[str]:
    """Put in and take out again; the problems of the file by name, each with a next step."""
    keys = []
    for remove in (False, True):
        planned = target.plan(bench, remove=remove)
        for problem in planned.problems:
            assert "then repeat the command" in sentence(
                "en", f"setup.{problem.key}", **problem.facts
            )
            if problem.facts["path"] == str(bench.path(target.name)):
                keys.append(problem.key)
        assert written(bench, planned) == []
    return keys


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("target", of_each_client(OF_PROJECT))
def test_a_link_within_the_project_stays_one_and_its_file_is_given_back(
    target: Target, bench: Bench
) -> None:
    link = bench.path(target.name)
    real = bench.root / "shared" / link.name
    bench.put({f"root/shared/{link.name}": theirs(target)})
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(real, link.parent))
    before = real.read_bytes()
    assert refused(bench, target) == []
    assert (link.is_symlink(), real.read_bytes()) == (True, before)


@pytest.mark.parametrize("target", of_each_client(OF_PROJECT))
def test_a_link_out_of_the_project_is_refused(target: Target, bench: Bench) -> None:
    link, outside = bench.path(target.name), bench.top / "outside"
    outside.write_text(theirs(target))
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    assert refused(bench, target)[:1] == ["leads_out"]
    assert (link.is_symlink(), outside.read_text()) == (True, theirs(target))


@pytest.mark.long  # it costs much
@EACH
def test_a_link_to_nothing_is_refused(target: Target, bench: Bench) -> None:
    link = bench.path(target.name)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to("gone")
    assert refused(bench, target)[:1] == ["unreadable"]
    assert os.readlink(link) == "gone"


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("kind", "target"),
    enough(
        product(["directory", "pipe", "below a file"], TARGETS),
        lambda kind, target: (kind, target.kind),
        lambda _, target: target.client,
        names=2,
    ),
)
def test_what_is_no_file_is_refused(kind: str, target: Target, bench: Bench) -> None:
    path = bench.path(target.name)
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    if kind == "below a file":
        if path.parent in (bench.root, bench.home):
            return
        path.parent.write_text("mine")
    else:
        path.parent.mkdir(exist_ok=True)
        path.mkdir() if kind == "directory" else os.mkfifo(path)
    assert refused(bench, target)[:1] == ["unreadable"]
    mine = {target.name.rpartition("/")[0]: b"mine"} if kind == "below a file" else {}
    assert bench.files() == mine


@pytest.mark.long  # it costs much
@EACH
def test_a_file_keeps_its_mode_and_under_another_name_what_the_user_had(
    target: Target, bench: Bench
) -> None:
    bench.put({target.name: theirs(target)})
    path, other = bench.path(target.name), bench.top / "other name"
    path.chmod(0o640)
    os.link(path, other)
    assert refused(bench, target) == []
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (theirs(target), 0o640)
    assert other.read_text() == theirs(target)


ROWS = table("commands/setup_links")


KEYS = [client.key for client in CLIENTS]
LINKS = ROWS["links"]
OURS = b"<!-- sentinel-memory rules: begin -->\nmine\n<!-- sentinel-memory rules: end -->\n"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
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
def test_no_link_of_a_clone_is_followed_out_of_it(clone: Bench, name: str, remove: bool) -> None:
    link, target = clone.root / name, clone.home / LINKS[name]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    before = tree(clone.home)
    others = [key for key in KEYS if key != "claude-desktop"]
    planned = clone.do(*others, remove=remove)
    after = {at: item for at, item in tree(clone.home).items() if not at.startswith(".copilot")}
    assert after == before  # Copilot's approvals, which are the user's, aside
    assert link.is_symlink()
    found = [problem for problem in planned.problems if problem.key == "leads_out"]
    assert {problem.facts["link"] for problem in found} <= {str(link)}
    assert found or remove or name == ".cursor/rules"  # which these clients together do not need
    for problem in planned.problems:
        assert str(problem.facts["target"]).startswith(str(target))


@pytest.mark.long  # it costs much
def test_with_every_link_at_once_nothing_outside_changes(clone: Bench) -> None:
    for name, target in LINKS.items():
        link = clone.root / name
        if not link.parent.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(clone.home / target)
    before = tree(clone.home / ".ssh"), (clone.home / ".bashrc").read_bytes()
    clone.do(*KEYS)
    assert (tree(clone.home / ".ssh"), (clone.home / ".bashrc").read_bytes()) == before


def test_a_link_to_the_file_of_another_client_is_told_from_that_file(clone: Bench) -> None:
    """The user's own file of Claude Desktop is edited; by the link of the clone it is not."""
    own = "home/.config/Claude/claude_desktop_config.json"
    clone.put({own: "{}\n"})
    (clone.root / ".vscode").mkdir()
    (clone.root / ".vscode" / "mcp.json").symlink_to(clone.path(own))
    planned = clone.do("claude-desktop", "vscode")
    assert [problem.key for problem in planned.problems] == ["leads_out"]
    assert b"mcpServers" in clone.path(own).read_bytes()
    assert b'"servers"' not in clone.path(own).read_bytes()


def test_a_git_directory_is_outside(clone: Bench) -> None:
    (clone.root / "CLAUDE.md").symlink_to(".git/config")
    planned = clone.do("claude-code")
    assert [problem.key for problem in planned.problems] == ["leads_out"]
    assert clone.files()["root/.git/config"] == b"[core]\n"


@pytest.mark.parametrize("name", ["GEMINI.md", "CLAUDE.md"])
def test_a_link_from_one_file_of_the_project_to_another_is_followed(
    clone: Bench, name: str
) -> None:
    clone.put({"root/AGENTS.md": "# Ours\n"})
    (clone.root / name).symlink_to("AGENTS.md")
    planned = clone.do("gemini" if name == "GEMINI.md" else "claude-code")
    assert planned.problems == ()
    assert (clone.root / name).is_symlink()
    assert b"search_memory" in clone.files()["root/AGENTS.md"]


def test_a_file_of_the_user_may_be_a_link_to_anywhere(clone: Bench) -> None:
    clone.put({"home/dotfiles/claude.json": "{}\n", "home/dotfiles/.git/config": ""})
    folder = clone.home / ".config" / "Claude"
    folder.mkdir()
    own = folder / "claude_desktop_config.json"
    own.symlink_to(clone.home / "dotfiles" / "claude.json")
    planned = clone.do("claude-desktop")
    assert planned.problems == ()
    assert own.is_symlink()
    assert b"sentinel-memory" in clone.files()["home/dotfiles/claude.json"]


@pytest.mark.parametrize(
    "name", [".git/hooks/pre-commit", "a/../../x", ".GIT/config", "x\\.git\\y"]
)
def test_a_setting_of_the_clone_names_no_file_of_git(clone: Bench, name: str) -> None:
    clone.put({"root/.gemini/settings.json": json.dumps({"context": {"fileName": name}})})
    clone.do("gemini")
    assert b"search_memory" in clone.files()["root/GEMINI.md"]
    assert set(clone.files()) & {f"root/{name}", "root/x"} == set()
