"""Tests `cli.py setup` as people run it, and what is on disk afterwards."""

import errno
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commands.setup.client_table import CLIENTS
from commands.setup.here import installed, runner_of, tried_hook
from core.lessons.rules import rules
from tests.support.cli_process import Run
from tests.support.costly import one_in
from tests.support.desk import Desk
from tests.support.git_clones import copied_checkout
from tests.support.sentences import sentence
from tests.support.stdio_client import ROOT

KEYS = [client.key for client in CLIENTS]
NAMES = {client.key: client.name for client in CLIENTS}

posix = pytest.mark.skipif(os.name == "nt", reason="terminals and permissions of POSIX")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "my 프로젝트", tmp_path / "home")


@pytest.mark.long  # it costs much
def test_every_client_is_set_up_checked_and_removed(desk: Desk) -> None:
    (desk.root / "README.md").write_bytes(b"ours\n")
    code, out, errors = desk.started("setup", *KEYS, "--yes")
    assert (code, errors) == (0, "")
    for key in KEYS:
        assert f"\n- {sentence('en', f'setup.next_{key}')}\n" in out
    code, told, errors = desk.started("doctor", "--json")
    found = {it["kind"]: it for it in json.loads(told)["findings"]}
    assert set(found) == {"no_git", "clients_ok"} | ({"no_log"} & set(found))
    assert found["clients_ok"]["facts"]["clients"] == ", ".join(NAMES[key] for key in KEYS)

    before = desk.files()
    code, out, errors = desk.run("setup", *KEYS, "--yes")
    assert (code, errors) == (0, "")
    assert out.splitlines()[-1] == sentence("en", "setup.nothing_to_do")
    assert desk.files() == before

    code, out, errors = desk.run("setup", "--all", "--remove", "--yes")
    assert (code, errors) == (0, "")
    left = {name for name in desk.files() if not name.startswith("home/")}
    assert left == {"my 프로젝트/README.md"}
    assert [path.name for path in desk.root.iterdir()] == ["README.md"]
    assert set(desk.files().values()) == {b"ours\n"}
    code, out, errors = desk.run("setup", "--all", "--remove", "--yes")
    assert (code, out.splitlines()[-1]) == (0, sentence("en", "setup.nothing_to_remove"))


@pytest.mark.long  # it costs much
def test_a_hook_is_tried_once_and_leaves_its_byte_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied_checkout(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    here = installed((sys.executable,), str(tmp_path), windows=os.name == "nt")
    assert tried_hook(here) == ""
    made = {path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert {"hook", "events", "journal", "log", "recall", "surroundings"} <= made
    assert not {"server", "setup", "scan", "sanitizer", "suspicion"} & made
    (tmp_path / "commands" / "hook" / "hook.py").write_text("raise OSError('torn')\n")
    assert tried_hook(here).endswith("OSError: torn")
    assert tried_hook(installed((str(tmp_path / "gone"),), str(tmp_path), windows=False)) != ""


@posix
def test_what_a_stranger_left_in_the_project_is_neither_started_nor_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uv.toml").touch()
    for name in ("uv", "python"):
        (tmp_path / name).write_text("#!/bin/sh\n[ ! -e uv.toml ] || echo followed >&2; exit 0\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", "", f".{os.pathsep}/nowhere"):
        assert runner_of("/h/.cache/uv/environments-v2/x/bin/python", {"PATH": path}) is None
    words = (str(tmp_path / "python"),)
    assert Run.process(*words, cwd=tmp_path).errors == "followed\n"
    monkeypatch.setattr("commands.setup.here.COMPLAINT", "followed")
    assert tried_hook(installed(words, str(tmp_path), windows=False)) == ""


@posix
@pytest.mark.long
def test_every_hook_that_is_written_answers_its_client(desk: Desk) -> None:
    """Nothing on standard error: its shell finds it, and it knows its event and its client."""
    lines: set[str] = set()
    for client in (row.key for row in CLIENTS if row.hooks):
        asked = {"SENTINEL_MEMORY_LANG": "ko"}
        assert desk.run("setup", client, "--yes", **asked)[0] == 0
        for path in desk.root.rglob("*.json"):
            lines |= set(re.findall(r'"(?:command|bash)": "([^"]* hook [^"]*)"', path.read_text()))
    assert all(" --lang ko" in line for line in lines)
    called = {line.partition(" --client ")[2].split()[0] for line in lines}
    own = {row.hooks.called or row.key for row in CLIENTS if row.hooks}
    assert called == own
    for line in sorted(lines):
        done = Run.process("sh", "-c", line, given=b"{}", **desk.place())
        assert (done.code, done.errors) == (0, "")


@pytest.mark.long  # it costs much
@posix
@pytest.mark.parametrize(
    ("answer", "code"), one_in(2, [("y\n", 0), ("no\n", 1), ("\n", 1), ("\x04", 1)], names=2)
)
def test_on_a_terminal_it_asks_once(answer: str, code: int, desk: Desk) -> None:
    done = Run.at_terminal("setup", "codex", answer=answer, **desk.place())
    assert (done.code, done.errors) == (code, "")
    assert done.out.count(sentence("en", "setup.ask", count=5)) == 1
    assert bool(desk.files()) == (code == 0)
    assert (sentence("en", "setup.not_changed") in done.out) == (code == 1)


@pytest.mark.long  # it costs much
@posix
def test_who_cannot_see_the_plan_or_cannot_answer_is_not_asked(desk: Desk) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"y\n")
    for stdin, line in ((theirs, "exec "), (subprocess.DEVNULL, "exec <&- ")):
        script = f'{line}"$0" "$1" setup codex'
        command = ("sh", "-c", script, sys.executable, str(ROOT / "cli.py"))
        done = Run.process(*command, stdin=stdin, **desk.place())
        assert (done.code, done.errors) == (1, sentence("en", "setup.no_terminal") + "\n")
    os.close(ours)
    os.close(theirs)
    assert desk.files() == {}


@pytest.mark.long  # it costs much
def test_a_broken_file_is_told_and_the_rest_is_done(desk: Desk) -> None:
    broken = desk.root / ".mcp.json"
    broken.write_bytes(b'{\n"mcpServers": {,}\n}')
    code, out, errors = desk.run("setup", "claude-code", "cursor", "--yes")
    assert (code, errors) == (
        1,
        sentence("en", "setup.json_syntax", path=str(broken), line=2) + "\n",
    )
    assert broken.read_bytes() == b'{\n"mcpServers": {,}\n}'
    assert json.loads((desk.root / ".cursor" / "mcp.json").read_bytes())["mcpServers"]
    code, out, _ = desk.run("setup", "claude-code", "cursor", "--yes")
    assert (code, out.splitlines()[-1]) == (1, sentence("en", "setup.only_problems"))


@pytest.mark.parametrize("place", ["home", "root"])
def test_it_refuses_where_no_project_can_be(place: str, desk: Desk) -> None:
    directory = str(desk.home) if place == "home" else os.path.abspath(os.sep)
    code, out, errors = desk.run("setup", "codex", "--yes", "--project", directory)
    assert (code, out, bool(errors)) == (1, "", True)
    assert desk.files() == {}


@pytest.mark.long  # it costs much
@posix
def test_a_python_without_the_packages_is_told_how_to_get_them(desk: Desk) -> None:
    code, out, errors = desk.started("setup", "codex", "--yes", options=("-S",))
    assert (code, out) == (1, "")
    assert errors.startswith("This Python has no fastmcp, filelock,")
    assert f"-m venv {shlex.quote(str(ROOT / '.venv'))}" in errors
    assert desk.files() == {}


@pytest.mark.long  # it costs much
@posix
def test_what_was_put_in_is_taken_out_without_the_packages(desk: Desk) -> None:
    assert desk.run("setup", "codex", "--yes")[0] == 0
    code, _, errors = desk.started("setup", "codex", "--remove", "--yes", options=("-S",))
    assert (code, errors, desk.files()) == (0, "", {})


@posix
def test_all_takes_the_clients_that_are_found_and_says_by_what(desk: Desk) -> None:
    (desk.root / ".vscode").mkdir()
    (desk.home / ".codex").mkdir()
    program = desk.root.parent / "bin" / "gemini"
    program.parent.mkdir()
    program.write_bytes(b"#!/bin/sh\n")
    program.chmod(0o755)
    code, out, _ = desk.run("setup", "--all", "--dry-run", PATH=str(program.parent))
    assert code == 0
    found = [f"VS Code ({desk.root}/.vscode)", f"Codex ({desk.home}/.codex)", "Gemini CLI (gemini)"]
    assert out.splitlines()[1] == f"Found here: {', '.join(found)}"


@pytest.mark.long  # it costs much
def test_a_directory_inside_the_project_is_told_where_the_files_go(desk: Desk) -> None:
    for name in (".git", ".context", "web app"):
        (desk.root / name).mkdir()
    inner = desk.root / "web app"
    said = sentence("en", "setup.above", here=str(inner), root=str(desk.root))
    code, out, _ = desk.run("setup", "codex", "--dry-run", "--project", str(inner))
    assert (code, out.splitlines()[1]) == (0, said)
    code, told, _ = desk.run("setup", "codex", "--dry-run", "--project", "web app")
    assert (code, told) == (0, out)
    code, out, _ = desk.run("setup", "codex", "--dry-run")
    assert (code, said in out) == (0, False)
    (inner / ".context").mkdir()
    code, out, _ = desk.run("setup", "codex", "--dry-run", "--project", str(inner))
    assert (code, out.splitlines()[0]) == (0, sentence("en", "setup.project", path=str(inner)))
    assert said not in out


@posix
def test_all_without_any_client_is_told(desk: Desk) -> None:
    code, _, errors = desk.run("setup", "--all", "--yes", PATH="/nowhere")
    assert (code, errors) == (1, sentence("en", "setup.none_found", clients=", ".join(KEYS)) + "\n")


@pytest.mark.long  # it costs much
@posix
def test_what_could_not_be_written_is_told_and_the_rest_is_written(desk: Desk) -> None:
    (desk.root / ".cursor" / "rules").mkdir(parents=True)
    (desk.root / ".cursor" / "rules").chmod(0o555)
    code, out, errors = desk.run("setup", "cursor", "--yes")
    assert code == 1
    facts = {"path": ".cursor/rules/sentinel-memory.mdc", "reason": os.strerror(errno.EACCES)}
    assert errors == sentence("en", "setup.not_written", **facts) + "\n"
    written = ".cursor/mcp.json, .cursor/hooks.json, .context/.gitignore, .context/.gitattributes"
    assert sentence("en", "setup.written", files=written) in out.splitlines()
    assert (desk.root / ".cursor" / "hooks.json").is_file()


@pytest.mark.long  # it costs much
def test_a_removal_names_what_is_gone_apart_from_what_it_changed(desk: Desk) -> None:
    (desk.root / "AGENTS.md").write_text("# Ours\n")
    assert desk.run("setup", "codex", "--yes").code == 0
    lines = desk.run("setup", "codex", "--remove", "--yes").out.splitlines()
    gone = ".codex/config.toml, .codex/hooks.json, .context/.gitignore, .context/.gitattributes"
    assert {f"Removed: {gone}", "Changed: AGENTS.md"} <= set(lines)
    assert not any(line.startswith("Written") for line in lines)


@pytest.mark.long  # it costs much
def test_the_locale_sets_the_language_of_the_screen_and_not_that_of_the_rules(desk: Desk) -> None:
    """A team keeps the rules, which models read, beside answers that are English as well."""
    done = desk.run("setup", "cursor", "--yes", LANG="ko_KR.UTF-8")
    assert (done.code, done.errors) == (0, "")
    assert "프로젝트: " in done.out
    written = {name: data.decode() for name, data in desk.files().items()}
    assert any(rules("en").strip() in text for text in written.values())
    assert not any("SENTINEL_MEMORY_LANG" in text for text in written.values())
