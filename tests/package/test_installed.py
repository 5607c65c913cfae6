"""Tests the wheel and the source archive as strangers meet them: installed, beside their own code.

The archive makes the same wheel. At night it is installed with its packages for the newest Python
of this machine that will do, otherwise it borrows the packages of the tests.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import COMMANDS, TOOLS
from server import VERSION
from tests.support.cli_process import TOKEN
from tests.support.tables import ROOT

pytestmark = pytest.mark.long

PROGRAM = ("server.py", "cli.py", "LICENSE", "core", "protocol", "rooms", "http_server", "commands")
OURS = ("server", "cli", "core", "protocol", "rooms", "http_server", "commands")
LESSON = "Begin the read-me with what the program does."
STRANGER = {"name": "a stranger", "version": "1"}
SERVER = "sentinel-memory-server"
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": STRANGER}
LISTED = """
import importlib.metadata, json
files = importlib.metadata.files("sentinel-memory")
print(json.dumps([importlib.metadata.version("sentinel-memory"), [str(file) for file in files]]))
"""


def newest_python() -> str:
    """The newest Python of this machine that the program takes."""
    folders = os.environ["PATH"].split(os.pathsep)
    folders += map(str, (Path.home() / ".pyenv" / "versions").glob("*/bin"))
    named = (f"{folder}/python3.{minor}" for minor in range(29, 10, -1) for folder in folders)
    for path in named:
        # It has to run (it may be a stub), and to make environments.
        words = [path, "-c", "import ensurepip, venv"]
        if os.access(path, os.X_OK) and not subprocess.run(words, capture_output=True).returncode:
            return path
    return sys.executable


def run(*words: str | Path, cwd: Path, given: str = "", **environment: str) -> str:
    """The output of a program, which must end well."""
    done = ended(*words, cwd=cwd, given=given, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ended(
    *words: str | Path, cwd: Path, given: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """A program that has ended, in an environment without the variables of the tests."""
    where: dict[str, Any] = {"cwd": cwd, "env": {**clean(os.environ), **environment}}
    how: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "timeout": 300}
    return subprocess.run(words, input=given, **where, **how)


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without the variables of the tests."""
    ours = ("PYTHON", "SENTINEL_MEMORY_", "CLAUDE_PROJECT_DIR", "VIRTUAL_ENV")
    return {name: value for name, value in environment.items() if not name.startswith(ours)}


@dataclass(frozen=True)
class Installed:
    """An environment into which the program was installed, and a project beside it."""

    scripts: Path
    project: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a user whose PATH leads to the commands."""
        path = f"{self.scripts}{os.pathsep}{os.environ['PATH']}"
        home = str(self.project.parent)
        return {"PATH": path, "HOME": home, "USERPROFILE": home, "PYTHONPATH": "."}

    def run(self, name: str, *words: str, given: str = "") -> str:
        """The output of one of its commands, started in the project."""
        program = self.scripts / name
        return run(program, *words, cwd=self.project, given=given, **self.environment)

    def ask(self, *words: str, method: str, lang: str = "en", **params: Any) -> dict[str, Any]:
        """The answer to a request, of a server that these words start."""
        requests: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": GREETING},
            {"method": "notifications/initialized"},
            {"id": 2, "method": method, "params": params},
        ]
        given = "".join(f"{json.dumps({'jsonrpc': '2.0', **it})}\n" for it in requests)
        program = shutil.which(words[0], path=self.environment["PATH"])
        assert program
        environment = {**self.environment, "SENTINEL_MEMORY_LANG": lang}
        said = run(program, *words[1:], cwd=self.project, given=given, **environment)
        answers = {it["id"]: it for it in map(json.loads, said.splitlines()) if "id" in it}
        assert answers[1]["result"]["serverInfo"]["version"] == VERSION
        return dict(answers[2]["result"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, of which the source archive makes the same."""
    folder = tmp_path_factory.mktemp("built")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    python = environment(folder / "builder", sys.executable)
    pip(python, *settings["build-system"]["requires"], cwd=folder)
    run(python, "-m", "hatchling", "build", "-d", str(folder / "dist"), cwd=ROOT)
    [built], [archive] = (list((folder / "dist").glob(kind)) for kind in ("*.whl", "*.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    source = folder / archive.name.removesuffix(".tar.gz")
    run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "again"), cwd=source)
    [again] = (folder / "again").glob("*.whl")
    assert contents(again) == contents(built)
    return built


def contents(wheel: Path) -> dict[str, int]:
    """The checksums of the files in a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        return {it.filename: it.CRC for it in packed.infolist()}


def environment(folder: Path, python: str, *, borrows: bool = False) -> Path:
    """A new virtual environment, as its interpreter.

    borrows: whether it has the packages of whoever runs the tests.
    """
    run(python, "-m", "venv", "--without-pip", str(folder), cwd=folder.parent)
    if borrows:
        [packages] = folder.glob("lib/*/site-packages")
        lines = [it for it in sys.path if it.endswith("site-packages")]
        (packages / "borrowed.pth").write_text("\n".join(lines))
    return folder / "bin" / "python"


def pip(python: Path, *words: str | Path, cwd: Path) -> None:
    """Install something into the environment of an interpreter."""
    options = ("-qq", "--disable-pip-version-check")  # its warnings are about this machine
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, *words, cwd=cwd)


@pytest.fixture(scope="module", params=["borrows", pytest.param("newest", marks=pytest.mark.night)])
def installed(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    """The program, installed, and a project whose modules have the names of ours and raise."""
    folder = tmp_path_factory.mktemp("installed")
    if request.param == "newest":
        python = environment(folder / "venv", newest_python())
        pip(python, wheel, cwd=folder)
    else:
        python = environment(folder / "venv", sys.executable, borrows=True)
        pip(python, "--no-deps", wheel, cwd=folder)
    project = folder / "project"
    for name in OURS:
        for path in (project / f"{name}.py", project / name / "__init__.py"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("raise SystemExit('a module of the user was imported')\n")
    yield Installed(python.parent, project)
    shutil.rmtree(folder)  # a hundred megabytes


def test_all_lies_below_one_directory_and_names_itself(
    installed: Installed, tmp_path: Path
) -> None:
    """And no module of the user is taken for one of ours."""
    python = installed.scripts / "python"
    version, files = json.loads(run(python, "-I", "-c", LISTED, cwd=installed.project))
    assert version == VERSION
    tops = {Path(file).parts[0] for file in files if "bin" not in Path(file).parts}
    assert tops == {"sentinel_memory", f"sentinel_memory-{VERSION}.dist-info"}
    there = {file for file in files if "__pycache__" not in file}
    below = {file.removeprefix("sentinel_memory/") for file in there if "-" not in file}
    kept = run("git", "ls-files", "--cached", "--others", "--exclude-standard", *PROGRAM, cwd=ROOT)
    assert below == set(kept.split())

    assert "errors: 0" in installed.run("sentinel-memory", "doctor")
    answer = installed.ask(SERVER, method="tools/list")
    assert {tool["name"] for tool in answer["tools"]} == set(TOOLS["lessons"])
    for name in COMMANDS:
        assert f"usage: {name} [" in installed.run(name, "--help")
    assert installed.run(SERVER, "--version") == f"{VERSION}\n"
    assert "sentinel-memory setup" in installed.run("sentinel-memory", "demo")
    untouched = Installed(installed.scripts, tmp_path / "project")  # where no setup has run
    untouched.project.mkdir()
    said = untouched.run("sentinel-memory", "doctor")
    assert "\n    sentinel-memory setup CLIENT\n" in said
    assert "cli.py" not in said


def test_commands_that_setup_writes_start_with_rules_and_sentences(installed: Installed) -> None:
    """The server saves a lesson without its secret, and the hook of an edit brings it back."""
    installed.run("sentinel-memory", "setup", "claude-code", "--yes")
    text = (installed.project / ".mcp.json").read_text("utf-8")
    entry = json.loads(text)["mcpServers"]["sentinel-memory"]
    assert (entry["command"], entry["args"]) == (SERVER, [])
    gap = {"topic": "docs", "missing_context": "How a read-me begins", "paths": ["README.md"]}
    call: Any = {"name": "log_memory", "arguments": {**gap, "lesson": f"{LESSON} {TOKEN}"}}
    saved = installed.ask(SERVER, method="tools/call", **call)
    assert "Secrets redacted: 1" in saved["content"][0]["text"]
    hooks = json.loads((installed.project / ".claude/settings.json").read_text("utf-8"))["hooks"]
    [line] = [handler["command"] for group in hooks["PreToolUse"] for handler in group["hooks"]]
    assert line.startswith("sentinel-memory hook ")
    given = json.dumps({"tool_name": "Edit", "tool_input": {"file_path": "README.md"}})
    shell, where = ("sh", "-c", line), installed.environment
    said = run(*shell, cwd=installed.project, given=given, **where)
    assert LESSON in said and TOKEN not in said
    call["arguments"] = {**gap, "lesson": " "}
    refused = installed.ask(SERVER, method="tools/call", lang="ko", **call)
    assert refused["isError"] and "비어 있습니다" in refused["content"][0]["text"]


def test_an_editable_installation_runs_the_checkout(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", sys.executable, borrows=True)
    pip(python, "--no-deps", "-e", ROOT, cwd=tmp_path)
    installed = Installed(python.parent, tmp_path / "project")
    installed.project.mkdir()
    said = installed.run("sentinel-memory", "doctor")
    assert "\n    sentinel-memory setup CLIENT\n" in said
    found = "import sentinel_memory.cli as it; print(it.__file__)"
    assert Path(run(python, "-c", found, cwd=tmp_path).strip()).samefile(ROOT / "cli.py")


def test_pre_commit_installs_the_hooks_and_refuses_a_secret(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", sys.executable)
    pip(python, "pre-commit", cwd=tmp_path)
    source = shutil.copytree(ROOT, tmp_path / "source", ignore=_left_out)
    about = source / "pyproject.toml"
    packages = re.compile(r"^dependencies = \[.*?\]", re.M | re.S)  # a scan needs none of them
    about.write_text(packages.sub("dependencies = []", about.read_text("utf-8")), "utf-8")
    committed(source)
    revision = run("git", "rev-parse", "HEAD", cwd=source).strip()
    project = tmp_path / "project"
    log = project / ".context" / "memory_log.jsonl"
    log.parent.mkdir(parents=True)
    settings = {"repo": source.as_uri(), "rev": revision, "hooks": [{"id": "sentinel-memory-scan"}]}
    (project / ".pre-commit-config.yaml").write_text(json.dumps({"repos": [settings]}))
    log.write_text(f'{{"lesson": "the token is ghp_{"b8Kq2ZrT" * 4}abcd"}}\n')
    committed(project)
    words = (python.parent / "pre-commit", "run", "--all-files")
    done = ended(*words, cwd=project, PRE_COMMIT_HOME=str(tmp_path / "kept"))
    assert "memory_log.jsonl:1: github-token" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1


_left_out = shutil.ignore_patterns(".git", ".venv", "node_modules", "__pycache__", ".*_cache")


def committed(folder: Path) -> Path:
    """A directory as a repository with all of its files committed."""
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    run("git", "init", "--quiet", cwd=folder)
    run("git", "add", "--all", cwd=folder)
    run("git", *name, "commit", "--quiet", "--message", "all", cwd=folder)
    return folder


def test_a_hook_reads_no_metadata_of_packages(installed: Installed) -> None:
    """An entry point of older tools read it, which takes longer than the hook."""
    python = (installed.scripts / "python", "-X", "importtime")
    hook = ("hook", "before-action", "--client", "claude-code")
    words = (*python, installed.scripts / "sentinel-memory", *hook)
    given = json.dumps({"tool_name": "Edit", "tool_input": {"file_path": "README.md"}})
    done = ended(*words, cwd=installed.project, given=given, **installed.environment)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert (done.returncode, "commands.hook.journal" in imported) == (0, True), done.stderr
    assert not {name for name in imported if name.startswith(("importlib.metadata", "fastmcp"))}
