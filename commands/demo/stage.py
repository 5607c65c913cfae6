"""Sets up the demo's stage: the real server, a scratch project, a screen."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any, TextIO

from commands.terminal.screen import broken, cells, fitted, screen_here, wrapped
from core import git
from core.config import CONTEXT_DIRECTORY, LOG_NAME, STATE_VARIABLE, VARIABLES
from core.errors import SentinelError
from core.messages import LANG_VARIABLE, language, say

SERVER = Path(__file__).resolve().parents[2] / "server.py"
CLI_FILE = SERVER.with_name("cli.py")
PATIENCE_S = 60  # for an answer; a server that needs longer hangs

README = "# Scratch project\n\nMade by the demo of Sentinel-Memory.\n"
_SETTINGS = ("user.name=demo", "user.email=demo@example.invalid", "commit.gpgsign=false")


class DemoFailedError(SentinelError, RuntimeError):
    """A claim did not hold, or the server did not answer. Facts: reason."""

    table, key = "demo", "failed"


class Screen:
    """Prints text, `columns` wide, line by line."""

    def __init__(self, out: TextIO, columns: int) -> None:
        self._out = out
        self._columns = columns
        self.terminal = replace(screen_here(out), width=columns)

    def say(self, text: str) -> None:
        """Print a paragraph."""
        self._write(broken(text, self._columns))

    def head(self, text: str) -> None:
        """Print a paragraph behind a blank line, its first sentence in bold."""
        first, point, rest = text.partition(". ")
        self.say("")
        self.say(self.terminal.painted(first + point.rstrip(), "bold") + point[1:] + rest)

    def fields(self, texts: Mapping[str, str]) -> None:
        """Print texts, each behind its name."""
        wide = max(map(cells, texts)) + 2
        for name, text in texts.items():
            first, *rest = wrapped(text, self._columns, " " * (wide + 2))
            blank = " " * (wide - cells(name))
            self._write([f"  {name}{blank}{first.lstrip(' ')}", *rest])

    def show(self, text: str, *, at_most: int = 14, cut: bool = False) -> None:
        """Print an answer behind a bar: `at_most` lines, then only how many more there are.

        cut: cut long lines with `…` instead of wrapping them.
        """
        room, lines = self._columns - 4, []
        for line in text.splitlines():
            lines += [fitted(line, room)] if cut else broken(line, room)
        self._write([f"  | {line}".rstrip() for line in lines[:at_most]])
        if len(lines) > at_most:
            more = say("demo.more_lines", count=len(lines) - at_most)
            self._write([f"  {more}"])

    def _write(self, lines: list[str]) -> None:
        for line in lines:
            print(line, file=self._out, flush=True)


@dataclass(frozen=True, slots=True)
class ScratchProject:
    """A directory with a small README and, if git is installed, a repository of its own.

    Neither the user's git configuration nor an outer repository affects it.
    """

    root: Path
    has_git: bool

    @classmethod
    def make(cls, root: Path) -> "ScratchProject":
        """Make the project in `root`, a new or empty directory."""
        # With this directory, the server takes no outer project for this one.
        (root / CONTEXT_DIRECTORY).mkdir(parents=True)
        (root / "README.md").write_text(README, encoding="utf-8", newline="\n")
        project = cls(root, _git_works(root))
        if project.has_git:
            project._git("init", "-q")
            project._git("add", "-A")
            project._git("commit", "-q", "--no-verify", "-m", "Start")
        return project

    @property
    def log_path(self) -> Path:
        """Where the server keeps the memory of this project."""
        return self.root / CONTEXT_DIRECTORY / LOG_NAME

    def log_bytes(self) -> bytes:
        """Return the memory log, empty before the first save."""
        return self.log_path.read_bytes() if self.log_path.exists() else b""

    def records(self) -> list[dict[str, Any]]:
        """Return the lines of the memory log, read by a JSON parser and nothing else."""
        return [json.loads(line) for line in self.log_bytes().splitlines()]

    def diff(self) -> str:
        """Return the log's diff to an empty file, as git would show it."""
        name = f"{CONTEXT_DIRECTORY}/{LOG_NAME}"
        new = self.log_bytes().decode("utf-8").splitlines()
        return "\n".join(unified_diff([], new, f"a/{name}", f"b/{name}", lineterm=""))

    def _git(self, *arguments: str) -> str:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        nobodys = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = git.run(self.root, *settings, *arguments, variables=nobodys)
        if done.returncode:
            raise DemoFailedError(reason=f"git {arguments[0]}: {_text(done.stderr)}")
        return _text(done.stdout)


def _git_works(root: Path) -> bool:
    """Return whether git runs; a new Mac has only a stub, which fails."""
    try:
        return git.run(root, "--version").returncode == 0
    except git.HistoryError:
        return False


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "replace").replace("\r\n", "\n").rstrip()


class Stage:
    """What a scene works with: the client's connection, the project, the screen."""

    def __init__(
        self,
        client: Any,
        project: ScratchProject,
        screen: Screen,
        server: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.project = project
        self.screen = screen
        self._client = client
        self._server = server
        self._environment = environment

    async def done(self, tool: str, **arguments: Any) -> str:
        """Return the answer of a tool. Raises DemoFailedError when none comes, or a refusal."""
        try:
            result = await self._client.call_tool(tool, arguments, raise_on_error=False)
            text = str(result.content[0].text)
        except Exception as error:
            reason = f"{self._server.name}: {tool}: {_first_line(error)}"
            raise DemoFailedError(reason=reason) from error
        if result.is_error:
            raise DemoFailedError(reason=f"{self._server.name} refused {tool}: {text}")
        return text

    def command(self, *words: str, given: str = "") -> str:
        """Return what a command of this program prints. Raises DemoFailedError when it fails."""
        line = [sys.executable, str(CLI_FILE), *words]
        done = subprocess.run(
            line,
            input=given.encode(),
            capture_output=True,
            cwd=self.project.root,
            env=self._environment,
            timeout=PATIENCE_S,
            check=False,
        )
        if done.returncode or done.stderr:
            raise DemoFailedError(reason=f"{words[0]}: {_text(done.stderr)}")
        return _text(done.stdout)


@asynccontextmanager
async def on_stage(
    project: ScratchProject, screen: Screen, server: Path, scratch: Path
) -> AsyncIterator[Stage]:
    """Run the server as a process and connect to it over stdio; end it at the end.

    scratch: a directory for what is of no use afterwards. Raises DemoFailedError when it does not
    start.
    """
    environment, stderr_path = _environment(os.environ, scratch), scratch / "stderr"
    os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)  # ignore any `.env` here
    from fastmcp import Client  # takes a second, and only the demo needs it
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(
        command=sys.executable,
        args=[str(server), "--project", str(project.root)],
        env=environment,
        keep_alive=False,
        log_file=stderr_path,
    )
    async with AsyncExitStack() as open_until_the_end:
        client = Client(transport, timeout=PATIENCE_S, init_timeout=PATIENCE_S)
        try:
            await open_until_the_end.enter_async_context(client)
        except Exception as error:
            stderr = stderr_path.read_text("utf-8", "replace") if stderr_path.exists() else ""
            reason = (stderr.strip().splitlines() or [_first_line(error)])[-1]
            reason = f"{server} did not start as a server: {reason}"
            raise DemoFailedError(reason=reason) from error
        yield Stage(client, project, screen, server, environment)


def _environment(environment: Mapping[str, str], state: Path) -> dict[str, str]:
    """Return the user's environment without the settings of this project."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("SENTINEL_MEMORY_") and name not in VARIABLES
    }
    return {**kept, LANG_VARIABLE: language(), STATE_VARIABLE: str(state / "state")}


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__
