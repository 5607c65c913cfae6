"""A project and a home directory in which nothing of this machine is configured."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.project import CONTEXT_DIRECTORY, LOG_NAME
from tests.support.cli_process import Run

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
        return self.root / CONTEXT_DIRECTORY / LOG_NAME

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """What a process needs to start, these variables, and nothing of whoever runs the tests."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        homes = dict.fromkeys(("HOME", "USERPROFILE"), str(self.home))
        local = {"APPDATA": str(self.home / "Roaming"), "LOCALAPPDATA": str(self.home / "Local")}
        git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return {**kept, **homes, **(local if os.name == "nt" else {}), **git, **variables}

    def run(self, *words: str, cwd: Path | None = None, **variables: str) -> Run:
        """Carry out a command where the project is."""
        environment = self.environment(variables)
        return Run.forked(*words, cwd=cwd or self.root, environment=environment)

    def started(
        self,
        *words: str,
        cwd: Path | None = None,
        options: tuple[str, ...] = (),
        **variables: str,
    ) -> Run:
        """The same as a process of its own."""
        environment = self.environment(variables)
        place = cwd or self.root
        return Run.started(*words, cwd=place, environment=environment, options=options)
