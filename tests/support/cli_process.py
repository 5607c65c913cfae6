"""Runs a command of `cli.py`: in the process of the test, or in one of its own.

`Desk` gives it a project and a home directory in which nothing of this machine is configured.
"""

import contextlib
import functools
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Self
from unittest import mock

import pytest

import cli
from commands.hook import hook, start, surroundings
from core.lessons.record import Record
from tests.support.git_clones import path_of, write
from tests.support.nursery import bound_by_permissions, bound_by_permissions_here
from tests.support.servers import WAIT_S
from tests.support.tables import ROOT

SETTINGS = (
    *(f"SENTINEL_MEMORY_{name}" for name in ("LANG", "PROJECT", "STRICT", "BUDGET", "THRESHOLD")),
    *("CLAUDE_PROJECT_DIR", "NO_COLOR", "GITHUB_STEP_SUMMARY", "GIT_INDEX_FILE", "GIT_DIR"),
    *("LC_ALL", "LC_MESSAGES", "LANG"),
)
CLI = ROOT / "cli.py"
STARTED = f"{sys.executable} {CLI}"
# `cli.py` for somebody who has typed `python cli.py`, wherever the tests are.
AS_TYPED = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from core import program
program.CLI = "python cli.py"
import cli
cli.run()
"""
TOKEN = "ghp" + "_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"

# Modules that keep open files, connections and models for the next call of the same process.
_KEEPING = ("rooms", "core.disk", "core.room", "core.postgres")
# Time limits of commands: a loaded machine must not change an answer.
_LIMITS = ((hook, "MOST_S"), (hook, "MOST_WORK_S"), (surroundings, "MOST_S"), (start, "WAIT_S"))
_STREAMS = ("stdin", "stdout", "stderr")
_MOST_S = 300  # then a command is taken to wait for ever
_CACHE = type(functools.lru_cache(lambda: None))

Command = Callable[..., "Run"]  # carries out a command of the test's own


class Run(NamedTuple):
    code: int
    out: str
    errors: str

    @classmethod
    def of(cls, capsys: pytest.CaptureFixture[str], *arguments: str) -> Self:
        """Carry out `cli.py` with these arguments, which may be refused."""
        capsys.readouterr()
        try:
            code = cli.main(arguments)
        except SystemExit as error:
            code = int(str(error.code))
        captured = capsys.readouterr()
        return cls(code, captured.out, captured.err)

    @classmethod
    def placed(
        cls,
        *words: str,
        cwd: Path,
        environment: Mapping[str, str],
        given: bytes = b"",
        is_bound: bool = True,
    ) -> Self:
        """Carry it out in the process of the test, in this directory and environment.

        given: standard input. is_bound: without root's right to pass over permissions; a command
        that calls `os.access` needs a process of its own.
        """
        threads = {*threading.enumerate()}
        with contextlib.ExitStack() as then:
            files = [then.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(given)
            files[0].seek(0)
            with (
                contextlib.chdir(cwd),
                mock.patch.dict(os.environ, environment, clear=True),
                as_new(),
                _streams(*files),
                bound_by_permissions_here() if is_bound else contextlib.nullcontext(),
            ):
                try:
                    code = cli.main(words)
                except SystemExit as error:
                    code = error.code if isinstance(error.code, int) else 1
                _await_the_end({*threading.enumerate()} - threads)
            for file in files:
                file.seek(0)
            return cls(code, files[1].read().decode(), files[2].read().decode())

    @classmethod
    def started(
        cls, *words: str, options: Sequence[str] = (), script: Path = CLI, **where: Any
    ) -> Self:
        """Carry it out with an interpreter of its own, which gets these options; see `process`."""
        return cls.process(sys.executable, *options, str(script), *words, **where)

    @classmethod
    def process(
        cls,
        *command: str,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        given: bytes = b"",
        stdin: int | None = None,
        stdout: int | None = None,
    ) -> Self:
        """Run any program, without root's right to pass over permissions.

        given: its standard input, unless stdin names a file. stdout: a file for its output.
        """
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=stdin,
            input=given if stdin is None else None,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            timeout=60,
            preexec_fn=bound_by_permissions,
        )
        out, errors = (text.decode() for text in (done.stdout or b"", done.stderr))
        # However the test has started it, a sentence names the command as the tests know it.
        named = (it.replace(STARTED, "python cli.py") for it in (out, errors))
        return cls(done.returncode, *named)

    @classmethod
    def typed(cls, *words: str, **where: Any) -> Self:
        """Carry it out as if `python cli.py` had been typed, so that lines have that width."""
        return cls.process(sys.executable, "-c", AS_TYPED, *words, **where)

    @classmethod
    def at_terminal(cls, *words: str, answer: str = "", **where: Any) -> Self:
        """Carry it out at a terminal where somebody has typed this answer."""
        ours, theirs = os.openpty()
        os.write(ours, answer.encode())
        done = cls.typed(*words, stdin=theirs, stdout=theirs, **where)
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # a terminal without its other side
            while part := os.read(ours, 65_536):
                seen += part
        os.close(ours)
        return cls(done.code, seen.decode().replace("\r\n", "\n"), done.errors)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def told(self) -> Any:
        """The data that a run with --json printed."""
        return json.loads(self.out)


class GoodRun(Run):
    """One finished command; who reads its lines or data expects that it went well."""

    @property
    def lines(self) -> list[str]:
        assert (self.code, self.errors, self.out[-1:] in ("", "\n")) == (0, "", True)
        return super().lines

    @property
    def told(self) -> Any:
        assert (self.code, self.errors) == (0, "")
        return super().told


class DiscreetRun(Run):
    """One finished command that has printed no part of TOKEN, in any case."""

    def __init__(self, *_: object) -> None:
        said = f"{self.out}\n{self.errors}".lower()
        for at in range(len(TOKEN) - 5):
            assert TOKEN[at : at + 6].lower() not in said


@contextlib.contextmanager
def as_new() -> Iterator[None]:
    """Begin and end without the state that a run keeps for the next one, and without time limits.

    Signal handlers and the garbage collector are restored at the end.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    handlers = {number: signal.getsignal(number) for number in numbers}
    collector = gc.enable if gc.isenabled() else gc.disable
    _forget()
    with pytest.MonkeyPatch.context() as patch:
        for module, limit in _LIMITS:
            patch.setattr(module, limit, 3_600)
        signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"no end after {_MOST_S} s"))
        signal.alarm(_MOST_S)
        try:
            yield
        finally:
            signal.alarm(0)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            collector()
            _forget()


def _forget() -> None:
    for module in [it for name, it in sys.modules.items() if name.startswith(_KEEPING)]:
        for cache in vars(module).values():
            if isinstance(cache, _CACHE):
                cache.cache_clear()


def _await_the_end(threads: set[threading.Thread]) -> None:
    """Wait for threads that a command has started, and which a process would take with it."""
    if threads:
        _forget()
        gc.collect()  # a pool of connections ends its threads when it goes
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive(), f"{thread} goes on behind the command"


@contextlib.contextmanager
def _streams(*files: IO[bytes]) -> Iterator[None]:
    """Put files in the places of the standard streams, for children of the command as well."""
    with contextlib.ExitStack() as undo:
        for number, (name, file) in enumerate(zip(_STREAMS, files, strict=True)):
            copy = os.dup(number)
            undo.callback(os.close, copy)
            undo.callback(os.dup2, copy, number)
            os.dup2(file.fileno(), number)
            stream = os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
            undo.enter_context(mock.patch.object(sys, name, stream))
        yield
        sys.stdout.flush()
        sys.stderr.flush()


def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the settings of whoever runs the tests, for this program and for git."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


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
        """These variables and those that a process needs; none of the person who runs the tests."""
        homes = dict.fromkeys(("HOME", "USERPROFILE"), str(self.home))
        git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return {"PATH": os.environ["PATH"], **homes, **git, **variables}

    def run(self, *words: str, cwd: Path | str = "", **variables: str) -> Run:
        """Carry out a command in this directory of the project, or elsewhere."""
        environment = self.environment(**variables)
        return Run.placed(*words, cwd=self.root / cwd, environment=environment)

    def place(self, **variables: str) -> dict[str, Any]:
        """Where a process is started, for `Run.process` and its like."""
        return {"cwd": self.root, "environment": self.environment(**variables)}
