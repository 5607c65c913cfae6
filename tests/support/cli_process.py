"""Runs a command of `cli.py`: in the process of the test, or in one of its own."""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

import cli
from tests.support.in_process import run_in_process
from tests.support.stdio_client import ROOT, bound_by_permissions

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


Command = Callable[..., "Run"]  # what carries out a command of the test's own


def read_terminal(ours: int) -> bytes:
    """What is printed at the terminal next; that it stays silent for a minute is a failure."""
    ready, _, _ = select.select([ours], [], [], 60)
    assert ready, "nothing was printed at the terminal for a minute"
    return os.read(ours, 65_536)


def said_yes(*words: str, meanwhile: Callable[[], object]) -> tuple[int, str]:
    """What a command ends with that a person says yes to after something happened meanwhile.

    The second is what it printed on standard error.
    """
    controller, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, str(CLI), *words], stdin=terminal, stdout=terminal, stderr=subprocess.PIPE
    ) as running:
        said = b""
        while b"[y/N]" not in said:
            said += read_terminal(controller)
        meanwhile()
        os.write(controller, b"y\n")
        errors = running.communicate(timeout=60)[1].decode()
    os.close(terminal)
    os.close(controller)
    return running.returncode, errors


class Run(NamedTuple):
    """One finished command."""

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

        given: standard input. is_bound: without root's right to pass over permissions.
        """
        done = run_in_process(cli.main, words, cwd, environment, given, is_bound=is_bound)
        return cls(*done)

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

        given: its standard input, unless stdin names a file. stdout: a file for what it prints.
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
            preexec_fn=bound_by_permissions if os.name == "posix" else None,
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
        """Carry it out where somebody sees what is printed and has typed this answer."""
        ours, theirs = os.openpty()
        os.write(ours, answer.encode())
        done = cls.typed(*words, stdin=theirs, stdout=theirs, **where)
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # a terminal without its other side
            while part := read_terminal(ours):
                seen += part
        os.close(ours)
        return cls(done.code, seen.decode().replace("\r\n", "\n"), done.errors)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def refused(self) -> str:
        """What the arguments lack or have too much; the next line names the page of help."""
        first, second = self.errors.splitlines()
        assert (self.code, self.out) == (2, "")
        name, _, said = first.partition(": ")
        command = name.removeprefix("python cli.py").split()[:1]
        assert " ".join(["python cli.py help", *command]).removesuffix(" help") in second
        return said

    @property
    def told(self) -> Any:
        """What a run with --json printed."""
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
    """One finished command that has said no part of TOKEN, in whatever case."""

    def __init__(self, *_: object) -> None:
        said = f"{self.out}\n{self.errors}".lower()
        for at in range(len(TOKEN) - 5):
            assert TOKEN[at : at + 6].lower() not in said


def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the settings of whoever runs the tests, for this program and for git."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
