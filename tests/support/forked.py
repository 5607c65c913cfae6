"""Runs `main` in a forked child with a directory and environment of its own, which is fast."""

import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from cli import COMMANDS
from tests.support.stdio_client import bound_by_permissions

TIMEOUT_S = 60


def forked(
    main: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    given: bytes = b"",
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `main(arguments)`, run there (POSIX).

    A new interpreter takes longer to start than most commands take. given: its standard input.
    The child is bound by the permissions of files, and killed after TIMEOUT_S seconds.
    """
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        if arguments[0] in COMMANDS:  # once, not again in each child
            import_module(f"commands.{COMMANDS[arguments[0]][0]}")
        stdin.write(given)
        stdin.seek(0)
        child = os.fork()
        if not child:
            _run(main, arguments, cwd, environment, (stdin, out, errors))
        signal.signal(signal.SIGALRM, _kill(child))
        signal.alarm(TIMEOUT_S)
        _, status = os.waitpid(child, 0)
        signal.alarm(0)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode())
    return os.waitstatus_to_exitcode(status), texts[0], texts[1]


def _kill(child: int) -> Callable[[int, FrameType | None], None]:
    return lambda _number, _frame: os.kill(child, signal.SIGKILL)


def _run(
    main: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
) -> NoReturn:
    """Become that command; nothing of the test process runs on in the child."""
    code = 70
    try:
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        bound_by_permissions()
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        code = main(arguments)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
