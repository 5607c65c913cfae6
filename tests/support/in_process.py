"""Runs `main` in the process of the test as if it had one of its own, which is fast.

The directory, the environment, the standard streams, the handlers of signals and what a process
keeps for its next call are those of that run; afterwards they are the test's again.
"""

import contextlib
import functools
import gc
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pytest

from commands.hook import hook, surroundings
from tests.support.stdio_client import WAIT_S, bound_by_permissions_here

# What keeps open files, connections and models for the next call of the same process.
_KEEPING = ("rooms", "core.disk", "core.postgres")
_CACHE = type(functools.lru_cache(lambda: None))


def run_in_process(
    main: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    given: bytes = b"",
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `main(arguments)`, run there.

    A new interpreter takes longer to start than most commands take. given: its standard input.
    Permissions of files hold for the run, root or not. The limits of time that a hook sets itself
    are far away: a loaded machine must not change its answer.
    """
    threads = {*threading.enumerate()}
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        stdin.write(given)
        stdin.seek(0)
        with contextlib.ExitStack() as then:
            for place in (
                _without_what_is_kept(),
                _without_limits(),
                _collector(),
                _signals(),
                contextlib.chdir(cwd),
                _variables(environment),
                _streams(stdin, out, errors),
                bound_by_permissions_here(),
            ):
                then.enter_context(place)
            try:
                code = main(arguments)
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
            for thread in {*threading.enumerate()} - threads:
                thread.join(WAIT_S)
                assert not thread.is_alive(), f"{thread} goes on behind the command"
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode())
    return code, texts[0], texts[1]


@contextlib.contextmanager
def _without_what_is_kept() -> Iterator[None]:
    """Begin and end without what an earlier run keeps, as a new process does."""
    _forget()
    try:
        yield
    finally:
        _forget()


def _forget() -> None:
    for module in [it for name, it in sys.modules.items() if name.startswith(_KEEPING)]:
        for cache in _caches(module.__name__):
            cache.cache_clear()


@functools.cache
def _caches(name: str) -> list[Any]:
    """The caches that a module defines."""
    return [it for it in vars(sys.modules[name]).values() if isinstance(it, _CACHE)]


@contextlib.contextmanager
def _without_limits() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, limit in ((hook, "MOST_S"), (hook, "MOST_WORK_S"), (surroundings, "MOST_S")):
            patch.setattr(module, limit, 3_600)
        yield


@contextlib.contextmanager
def _collector() -> Iterator[None]:
    """A command may switch off the collector of garbage."""
    was_enabled = gc.isenabled()
    try:
        yield
    finally:
        (gc.enable if was_enabled else gc.disable)()


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _variables(environment: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(environment)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _streams(*files: IO[bytes]) -> Iterator[None]:
    """Put files in the places of the standard streams, for children of the command as well."""
    before, saved = (sys.stdin, sys.stdout, sys.stderr), [os.dup(number) for number in range(3)]
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for number, copy in enumerate(saved):
            os.dup2(copy, number)
            os.close(copy)
