"""Gives each person of a story a home, a clone, a language and clients, with every room on."""

import gzip
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.cli_process import Run
from tests.support.client_events import Payload, run_hook
from tests.support.git_clones import git, run_git
from tests.support.stdio_client import ServerProcess

ROOMS = "lessons,sessions,fragments"


@dataclass
class Person:
    """Somebody with a home of their own, a clone of the project in it, and a client.

    client: as its hooks name it, `claude-code` or `codex`. start: starts a server as the fixture
    `start_server` does.
    """

    home: Path
    lang: str
    client: str
    start: Callable[..., ServerProcess]

    @property
    def clone(self) -> Path:
        return self.home / "shop"

    @property
    def environment(self) -> dict[str, str]:
        names = {"HOME": "", "XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state"}
        places = {name: str(self.home / folder) for name, folder in names.items()}
        return {"PATH": os.environ["PATH"], "SENTINEL_MEMORY_LANG": self.lang, **places}

    def join(self, origin: Path) -> None:
        """Clone the project into a new home."""
        self.home.mkdir()
        git(self.home, "clone", "--quiet", str(origin), str(self.clone))

    def opens(self) -> ServerProcess:
        """Open the client: it starts a server with every room."""
        words = ("--project", str(self.clone), "--rooms", ROOMS)
        place = {"cwd": self.home, "environment": self.environment}
        name = {"codex": "codex-mcp-client"}.get(self.client, self.client)
        return self.start(*words, client=name, **place)

    def hook(self, event: str, given: Payload) -> str:
        """Run a hook as the client does; what reaches the model."""
        words = (event, "--client", self.client)
        ran = run_hook(*words, given=given, cwd=self.home, environment=self.environment)
        return ran.text

    def types(self, *words: str) -> Run:
        """Type a command in the clone."""
        return Run.placed(*words, cwd=self.clone, environment=self.environment)

    def push(self, message: str) -> None:
        """Commit all there is, take in what others have pushed, and push."""
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "--message", message)
        if run_git(self.clone, "rev-parse", "--verify", "--quiet", "origin/main").stdout:
            self.pull()
        git(self.clone, "push", "--quiet", "origin", "HEAD:main")

    def pull(self) -> None:
        """Take in what others have pushed, by a merge where both have something new."""
        git(self.clone, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")


def sources(answer: str) -> list[str]:
    """The source of each line of a recall over several rooms; a relation is below its line."""
    lines = answer.splitlines()
    return [line.partition(" ")[0] for line in lines if not line.startswith(" ")]


def everything_in(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """All files below a folder, unpacked, and all that git keeps there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            yield path, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if path.name == "objects" and path.is_dir():
            words = ("git", "cat-file", "--batch", "--batch-all-objects")
            yield path, subprocess.run(words, cwd=path.parent, check=True, stdout=-1).stdout
