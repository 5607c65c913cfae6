"""`cli.py setup` as people run it: real processes, a home of its own, and what is on disk then."""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import cli
from commands.clients.table import CLIENTS
from commands.setup.here import installed, tried_hook
from commands.setup.words import word
from core.messages import Language
from tests.support.forked import forked

ROOT = Path(__file__).resolve().parents[3]
KEYS = [client.key for client in CLIENTS]
NAMES = {client.key: client.name for client in CLIENTS}

posix = pytest.mark.skipif(os.name == "nt", reason="terminals and permissions of POSIX")


@dataclass(frozen=True)
class Desk:
    """A project and a home directory in which nothing is configured."""

    top: Path

    @property
    def root(self) -> Path:
        return self.top / "my 프로젝트"

    @property
    def home(self) -> Path:
        return self.top / "home"

    def environment(self, **more: str) -> dict[str, str]:
        """What a process needs to start, and nothing of the one who runs the tests."""
        kept = {key: os.environ[key] for key in ("SYSTEMROOT", "PATH") if key in os.environ}
        homes = dict.fromkeys(("HOME", "USERPROFILE"), str(self.home))
        folders = {
            "APPDATA": str(self.home / "AppData" / "Roaming"),
            "LOCALAPPDATA": str(self.home / "AppData" / "Local"),
        }
        return {**kept, **homes, **(folders if os.name == "nt" else {}), **more}

    def run(self, *words: str, **more: str) -> tuple[int, str, str]:
        """A command of `cli.py`: exit code, output, errors."""
        if os.name != "posix":
            return self.started(*words, environment=more)
        return forked(cli.main, words, self.root, self.environment(**more))

    def started(
        self,
        *words: str,
        options: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> tuple[int, str, str]:
        """The same as a process of its own."""
        done = subprocess.run(
            [sys.executable, *options, str(ROOT / "cli.py"), *words],
            cwd=self.root,
            env=self.environment(**(environment or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.top).as_posix(): path.read_bytes()
            for path in sorted(self.top.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.root.mkdir()
    made.home.mkdir()
    return made


def test_every_client_is_set_up_checked_and_removed(desk: Desk) -> None:
    (desk.root / "README.md").write_bytes(b"ours\n")
    code, out, errors = desk.started("setup", *KEYS, "--yes")
    assert (code, errors) == (0, "")
    for key in KEYS:
        assert f"\n- {word('en', f'next_{key}')}\n" in out
    code, told, errors = desk.started("doctor", "--json")
    clients = [(it["kind"], it["facts"]["client"]) for it in json.loads(told)["clients"]]
    assert clients == [("client_here", NAMES[key]) for key in KEYS]

    before = desk.files()
    code, out, errors = desk.run("setup", *KEYS, "--yes")
    assert (code, errors) == (0, "")
    assert out.splitlines()[-1] == word("en", "nothing_to_do")
    assert desk.files() == before

    code, out, errors = desk.run("setup", "--all", "--remove", "--yes")
    assert (code, errors) == (0, "")
    left = {name for name in desk.files() if not name.startswith("home/")}
    assert left == {"my 프로젝트/README.md"}
    assert [path.name for path in desk.root.iterdir()] == ["README.md"]
    assert set(desk.files().values()) == {b"ours\n"}
    code, out, errors = desk.run("setup", "--all", "--remove", "--yes")
    assert (code, out.splitlines()[-1]) == (0, word("en", "nothing_to_remove"))


def test_a_hook_is_tried_once_and_leaves_its_byte_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cli.py", "server.py"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("core", "commands", "protocol"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    here = installed((sys.executable,), str(tmp_path), windows=os.name == "nt")
    assert tried_hook(here) == ""
    made = {path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert {"hook", "events", "journal", "log", "for_action", "briefing"} <= made
    assert not {"server", "setup", "scan", "sanitizer", "suspicion"} & made
    (tmp_path / "commands" / "hook" / "hook.py").write_text("raise OSError('torn')\n")
    assert tried_hook(here).endswith("OSError: torn")
    assert tried_hook(installed((str(tmp_path / "gone"),), str(tmp_path), windows=False)) != ""


@posix
@pytest.mark.long
def test_every_hook_that_is_written_answers_its_client(desk: Desk) -> None:
    """Nothing on standard error: its shell finds it, and it knows its event and its client."""
    lines: set[str] = set()
    for client in ("vscode", "claude-code", "cursor", "codex", "gemini"):
        asked = {"SENTINEL_MEMORY_LANG": "ko"}
        assert desk.run("setup", client, "--yes", "--prompt-hook", **asked)[0] == 0
        for path in desk.root.rglob("*.json"):
            lines |= set(re.findall(r'"(?:command|bash)": "([^"]* hook [^"]*)"', path.read_text()))
    assert all(" --lang ko" in line for line in lines)
    called = {line.partition(" --client ")[2].split()[0] for line in lines}
    assert called == {key for key in KEYS if key != "claude-desktop"}
    for line in sorted(lines):
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=desk.root,
            env=desk.environment(XDG_STATE_HOME=str(desk.home / "state")),
            input=b"{}",
            capture_output=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_dry_run_shows_the_change_and_writes_nothing(lang: Language, desk: Desk) -> None:
    words = ("setup", "claude-code", "--dry-run", "--no-hooks", "--no-rules")
    code, out, errors = desk.run(*words, SENTINEL_MEMORY_LANG=lang)
    command, server = (
        json.dumps(it.replace("\\", "/") if os.name == "nt" else it, ensure_ascii=False)
        for it in (sys.executable, str(ROOT / "server.py"))
    )
    said = ['+      "env": {', '+        "SENTINEL_MEMORY_LANG": "ko"', "+      }"]
    said = said if lang == "ko" else []
    assert (code, errors) == (0, "")
    assert out.splitlines() == [
        word(lang, "project", path=str(desk.root)),
        "",
        f".mcp.json: {word(lang, 'entry')} (Claude Code)",
        "--- /dev/null",
        "+++ .mcp.json",
        f"@@ -0,0 +1,{9 + len(said)} @@",
        "+{",
        '+  "mcpServers": {',
        '+    "sentinel-memory": {',
        '+      "type": "stdio",',
        f'+      "command": {command},',
        f'+      "args": [{server}]{"," if said else ""}',
        *said,
        "+    }",
        "+  }",
        "+}",
        "",
        word(lang, "dry"),
    ]
    assert desk.files() == {}


def test_without_a_terminal_and_yes_nothing_is_written(desk: Desk) -> None:
    code, _, errors = desk.run("setup", "codex")
    assert (code, errors) == (1, word("en", "no_terminal") + "\n")
    assert desk.files() == {}


@posix
@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1), ("no\n", 1), ("\x04", 1)])
def test_on_a_terminal_it_asks_once(answer: str, code: int, desk: Desk) -> None:
    ours, theirs = os.openpty()
    os.write(ours, answer.encode())
    done = subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), "setup", "codex"],
        cwd=desk.root,
        env=desk.environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal without its other side
        while part := os.read(ours, 65_536):
            shown += part
    os.close(ours)
    assert (done.returncode, done.stderr) == (code, b"")
    assert shown.decode().count(word("en", "ask", count=3)) == 1
    assert bool(desk.files()) == (code == 0)
    assert (word("en", "not_changed") in shown.decode()) == (code == 1)


@posix
def test_who_cannot_see_the_plan_or_cannot_answer_is_not_asked(desk: Desk) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"y\n")
    for stdin, line in ((theirs, "exec "), (subprocess.DEVNULL, "exec <&- ")):
        done = subprocess.run(
            ["sh", "-c", f'{line}"$0" "$1" setup codex', sys.executable, str(ROOT / "cli.py")],
            cwd=desk.root,
            env=desk.environment(),
            stdin=stdin,
            capture_output=True,
            timeout=60,
        )
        said = (done.returncode, done.stderr.decode())
        assert said == (1, word("en", "no_terminal") + "\n")
    os.close(ours)
    os.close(theirs)
    assert desk.files() == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name clients, or give --all: " + ", ".join(KEYS)),
        (("codex", "--all"), "name clients, or give --all: " + ", ".join(KEYS)),
        (("emacs",), "unknown client 'emacs': choose from " + ", ".join(KEYS)),
    ],
)
def test_wrong_arguments_name_the_clients(words: tuple[str, ...], said: str, desk: Desk) -> None:
    code, out, errors = desk.run("setup", *words)
    assert (code, out) == (2, "")
    assert errors.endswith(f"cli.py setup: error: {said}\n")


def test_a_broken_file_is_told_and_the_rest_is_done(desk: Desk) -> None:
    broken = desk.root / ".mcp.json"
    broken.write_bytes(b'{\n"mcpServers": {,}\n}')
    code, out, errors = desk.run("setup", "claude-code", "cursor", "--yes")
    assert (code, errors) == (1, word("en", "json_syntax", path=str(broken), line=2) + "\n")
    assert broken.read_bytes() == b'{\n"mcpServers": {,}\n}'
    assert json.loads((desk.root / ".cursor" / "mcp.json").read_bytes())["mcpServers"]
    code, out, _ = desk.run("setup", "claude-code", "cursor", "--yes")
    assert (code, out.splitlines()[-1]) == (1, word("en", "only_problems"))


@pytest.mark.parametrize("place", ["home", "root"])
def test_it_refuses_where_no_project_can_be(place: str, desk: Desk) -> None:
    directory = str(desk.home) if place == "home" else os.path.abspath(os.sep)
    code, out, errors = desk.run("setup", "codex", "--yes", "--project", directory)
    assert (code, out, bool(errors)) == (1, "", True)
    assert desk.files() == {}


@posix
def test_a_python_without_the_packages_is_told_how_to_get_them(desk: Desk) -> None:
    code, out, errors = desk.started("setup", "codex", "--yes", options=("-S",))
    assert (code, out) == (1, "")
    assert errors.startswith("This Python has no fastmcp, filelock,")
    assert f"-m venv {shlex.quote(str(ROOT / '.venv'))}" in errors
    assert desk.files() == {}


@posix
def test_what_was_put_in_is_taken_out_without_the_packages(desk: Desk) -> None:
    assert desk.run("setup", "codex", "--yes")[0] == 0
    code, _, errors = desk.started("setup", "codex", "--remove", "--yes", options=("-S",))
    assert (code, errors, desk.files()) == (0, "", {})


@posix
def test_all_takes_the_clients_that_are_found_and_says_by_what(desk: Desk) -> None:
    (desk.root / ".vscode").mkdir()
    (desk.home / ".codex").mkdir()
    program = desk.top / "bin" / "gemini"
    program.parent.mkdir()
    program.write_bytes(b"#!/bin/sh\n")
    program.chmod(0o755)
    code, out, _ = desk.run("setup", "--all", "--dry-run", PATH=str(program.parent))
    assert code == 0
    found = [f"VS Code ({desk.root}/.vscode)", f"Codex ({desk.home}/.codex)", "Gemini CLI (gemini)"]
    assert out.splitlines()[1] == f"Found here: {', '.join(found)}"


def test_a_directory_inside_the_project_is_told_where_the_files_go(desk: Desk) -> None:
    for name in (".git", ".context", "web app"):
        (desk.root / name).mkdir()
    inner = desk.root / "web app"
    said = word("en", "above", here=str(inner), root=str(desk.root))
    code, out, _ = desk.run("setup", "codex", "--dry-run", "--project", str(inner))
    assert (code, out.splitlines()[1]) == (0, said)
    code, told, _ = desk.run("setup", "codex", "--dry-run", "--project", "web app")
    assert (code, told) == (0, out)
    code, out, _ = desk.run("setup", "codex", "--dry-run")
    assert (code, said in out) == (0, False)
    (inner / ".context").mkdir()
    code, out, _ = desk.run("setup", "codex", "--dry-run", "--project", str(inner))
    assert (code, out.splitlines()[0]) == (0, word("en", "project", path=str(inner)))
    assert said not in out


@posix
def test_all_without_any_client_is_told(desk: Desk) -> None:
    code, _, errors = desk.run("setup", "--all", "--yes", PATH="/nowhere")
    assert (code, errors) == (1, word("en", "none_found", clients=", ".join(KEYS)) + "\n")


@posix
def test_what_could_not_be_written_is_told_and_the_rest_is_written(desk: Desk) -> None:
    (desk.root / ".codex").mkdir()
    config = desk.root / ".codex" / "config.toml"
    config.write_bytes(b'model = "o"\n')
    (desk.root / ".codex" / "hooks.json").symlink_to(desk.top / "gone" / "hooks.json")
    code, out, errors = desk.run("setup", "codex", "--yes")
    assert code == 1
    facts = {"path": ".codex/hooks.json", "reason": os.strerror(2)}
    assert errors == word("en", "not_written", **facts) + "\n"
    assert word("en", "written", files=".codex/config.toml, AGENTS.md") in out.splitlines()
    assert config.read_bytes().startswith(b'model = "o"\n\n[mcp_servers.sentinel-memory]\n')
