"""Plans and writes the changes of setup, in a project and a home directory with files."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commands.clients.entries import server_entries
from commands.clients.files import Job, Plan
from commands.clients.machine import Machine, installation_in
from commands.clients.plan import plan_setup
from core.config import CONTEXT_DIRECTORY

WITH_SESSIONS = "lessons", "sessions"


@dataclass(frozen=True)
class Bench:
    """A project, a home directory and an installation, all below one directory."""

    top: Path

    @property
    def root(self) -> Path:
        return self.top / "my 프로젝트"

    @property
    def home(self) -> Path:
        return self.top / "home"

    @property
    def tool(self) -> Path:
        return self.top / "도구 상자"

    @property
    def python(self) -> str:
        return str(self.tool / ".venv" / "bin" / "python")

    @property
    def machine(self) -> Machine:
        return self.machine_on("linux")

    def machine_on(self, platform: str, **environment: str) -> Machine:
        places = {"root": self.root, "home": self.home, "server": self.tool / "server.py"}
        return Machine(**places, environment=environment, platform=platform)

    def plan(self, *clients: str, machine: Machine | None = None, **asked: Any) -> Plan:
        """The changes that setup would make for these clients. asked: fields of a `Job`."""
        machine = machine or self.machine
        old_clients = frozenset(it.client for it in server_entries(machine) if it.entry)
        here = installation_in((self.python,), str(self.tool), windows=False)
        asked = {"installation": here, "old_clients": old_clients, **asked}
        return plan_setup(Job(clients=clients, machine=machine, **asked))

    def do(self, *clients: str, **asked: Any) -> Plan:
        """Plan, and write the planned files, without the safety of a real write."""
        planned = self.plan(*clients, **asked)
        for change in planned.changes:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            change.path.write_bytes((change.new_text or "").encode())
            if change.new_text is None:
                change.path.unlink()
        return planned

    def put(self, files: Mapping[str, bytes | str | dict[str, Any]]) -> None:
        """Write files; names begin with `root/` or `home/`. A dictionary is written as JSON."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(content, indent=2) + "\n" if isinstance(content, dict) else content
            path.write_bytes(text.encode() if isinstance(text, str) else text)

    def path(self, name: str) -> Path:
        directory, _, below = name.partition("/")
        places = {"root": self.root, "home": self.home, "tool": self.tool}
        return places.get(directory, self.top / directory) / below

    def name(self, path: Path) -> str:
        """The name of a file as `put` takes it."""
        place = "root" if path.is_relative_to(self.root) else "home"
        return f"{place}/{path.relative_to(getattr(self, place)).as_posix()}"

    def files(self) -> dict[str, bytes]:
        """Every file but those of the memory, by a name as `put` takes it."""
        return {
            f"{name}/{path.relative_to(directory).as_posix()}": path.read_bytes()
            for name, directory in (("root", self.root), ("home", self.home))
            for path in sorted(directory.rglob("*"))
            if path.is_file() and path.parent.name != CONTEXT_DIRECTORY
        }

    def data(self, name: str) -> Any:
        """The data in a file of JSON or TOML."""
        text = self.path(name).read_text("utf-8")
        return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """An empty project and home, beside an installation whose files exist."""
    made = Bench(tmp_path)
    made.put({})
    for path in (Path(made.python), made.tool / "server.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(made.home))
    return made
