"""Gives a test a project and a home directory in which nothing of this machine is configured."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.lessons.record import Record
from tests.support.cli_process import Run
from tests.support.git_clones import path_of, write

KEPT = ("PATH", "SYSTEMROOT")  # without them no process starts


@dataclass(frozen=True)
class Desk:
    """Where commands of `cli.py` are given; both directories are made with it."""

    root: Path
    home: Path

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)

    @property
    def log(self) -> Path:
        return path_of(self.root)

    def write(self, *parts: Record | bytes) -> bytes:
        """Put these records and lines into the log; the file."""
        return write(self.root, *parts)

    def files(self, below: str = ".") -> dict[str, bytes]:
        """Every file below the folder of both, or below one of them."""
        top = self.root.parent
        return {
            path.relative_to(top).as_posix(): path.read_bytes()
            for path in sorted((top / below).rglob("*"))
            if path.is_file()
        }

    def environment(self, **variables: str) -> dict[str, str]:
        """What a process needs to start, these variables, and nothing of whoever runs the tests."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        homes = dict.fromkeys(("HOME", "USERPROFILE"), str(self.home))
        folders = {"APPDATA": "Roaming", "LOCALAPPDATA": "Local"} if os.name == "nt" else {}
        local = {name: str(self.home / "AppData" / folder) for name, folder in folders.items()}
        git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return {**kept, **homes, **local, **git, **variables}

    def run(self, *words: str, cwd: Path | str = "", **variables: str) -> Run:
        """Carry out a command in this directory of the project, or elsewhere."""
        environment = self.environment(**variables)
        return Run.placed(*words, cwd=self.root / cwd, environment=environment)

    def started(self, *words: str, options: tuple[str, ...] = (), **variables: str) -> Run:
        """The same as a process of its own."""
        return Run.started(*words, options=options, **self.place(**variables))

    def place(self, **variables: str) -> dict[str, Any]:
        """Where a process is started, for `Run.process` and its like."""
        return {"cwd": self.root, "environment": self.environment(**variables)}
