"""Asks the Gemini command line, which has to be installed and signed in.

It is started without a shell, in a directory of its own that is removed afterwards, with constant
arguments; the texts go to its input. It gets no tool, no extension, no hook and no server of the
user's settings, this one among them, and not more than a minute. Its own rule takes the place of
the long one for writing code. What keeps all that away are settings that it only takes from a
directory that nobody else can write to, nor to one above it: without such a one it is not started.
"""

import contextlib
import json
import os
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from rooms.fragments.errors import ServiceError
from rooms.fragments.judging.question import RULE, Verdict, answered, asked
from rooms.fragments.judging.settings import VARIABLE, JudgeSettings

TIMEOUT_S = 60.0
PROGRAM = "gemini"
_ENDINGS = (".cmd", ".exe", ".bat") if os.name == "nt" else ("",)
_MOST_BYTES = 200_000
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ARGUMENTS = ("--extensions", "none", "--allowed-mcp-server-names", "none")
_SETTINGS = {
    "tools": {"core": []},
    "mcp": {"allowed": ["none"]},
    "hooksConfig": {"enabled": False},
}


def is_private(folder: Path, top: Path | None = None) -> bool:
    """Return whether nobody else can write to a directory or to one above it, up to `top`."""
    above = [it for it in (folder, *folder.parents) if top is None or it.is_relative_to(top)]
    return os.name == "nt" or not any(it.stat().st_mode & _OTHERS_WRITE for it in above)


class GeminiJudge:
    """See `OneJudge`."""

    def __init__(
        self,
        settings: JudgeSettings,
        timeout_s: float = TIMEOUT_S,
        is_private: Callable[[Path], bool] = is_private,
    ) -> None:
        self._settings, self._timeout_s, self._is_private = settings, timeout_s, is_private

    def verdict(self, earlier: str, later: str) -> Verdict:
        """See `OneJudge`."""
        program = found_program(self._settings.path)
        if not program:
            raise ServiceError("no_program", variable=VARIABLE, program=PROGRAM)
        above = [Path(it) for it in (self._settings.place, os.path.expanduser("~")) if it]
        try:
            base = next((it for it in above if it.is_dir() and self._is_private(it)), None)
            if base is None:
                raise ServiceError("no_private_place", variable=VARIABLE, program=PROGRAM)
            return answered(_answer(program, base, asked(earlier, later), self._timeout_s))
        except OSError:  # nothing can be written there
            raise ServiceError("no_private_place", variable=VARIABLE, program=PROGRAM) from None
        except ValueError as error:
            if isinstance(error, ServiceError):
                raise
            raise ServiceError("bad_answer", variable=VARIABLE) from None


def found_program(path: str) -> str:
    """Return the program in the directories of a PATH, "" for none.

    Only absolute ones count: the current one may be a stranger's.
    """
    folders = filter(os.path.isabs, path.split(os.pathsep))
    names = (os.path.join(folder, PROGRAM + end) for folder in folders for end in _ENDINGS)
    return next((name for name in names if os.path.isfile(name) and os.access(name, os.X_OK)), "")


def _answer(program: str, base: Path, question: str, timeout_s: float) -> str:
    """Return what the program prints. Raises ServiceError."""
    with tempfile.TemporaryDirectory(
        prefix=".judge-", dir=base, ignore_cleanup_errors=True
    ) as folder:
        settings, rule = Path(folder, "settings.json"), Path(folder, "rule.md")
        settings.write_text(json.dumps(_SETTINGS), encoding="utf-8")
        rule.write_text(RULE, encoding="utf-8")
        # Files, not pipes: a child of the program could keep a pipe open for ever.
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
            given.write(question.encode("utf-8", "replace"))
            given.seek(0)
            environment = _environment(settings, rule)
            status = _run(program, folder, environment, given, printed, timeout_s)
            if status:
                raise ServiceError("program_failed", program=PROGRAM, status=status)
            printed.seek(0)
            return printed.read(_MOST_BYTES).decode("utf-8", "replace")


def _run(
    program: str,
    folder: str,
    environment: Mapping[str, str],
    given: IO[bytes],
    printed: IO[bytes],
    timeout_s: float,
) -> int:
    """Run the program to its end and return its exit code. Raises ServiceError."""
    try:
        process = subprocess.Popen(
            [program, *_ARGUMENTS],
            cwd=folder,
            env=environment,
            stdin=given,
            stdout=printed,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        raise ServiceError("no_program", variable=VARIABLE, program=PROGRAM) from None
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise ServiceError("timeout", variable=VARIABLE, seconds=round(timeout_s)) from None
    finally:
        if process.poll() is None:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with whatever it has started, as far as the system knows that."""
    with contextlib.suppress(OSError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _environment(settings: Path, rule: Path) -> dict[str, str]:
    return {
        **os.environ,
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(settings),  # beats what user and directory say
        "GEMINI_SYSTEM_MD": str(rule),
        "GEMINI_CLI_TRUST_WORKSPACE": "true",  # the directory is ours; else it refuses to start
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "SENTINEL_MEMORY_ROOMS": "lessons",  # should it start this server after all
    }
