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

from commands.hook import hook, start, surroundings
from tests.support.stdio_client import WAIT_S, bound_by_permissions_here

# What keeps open files, connections and models for the next call of the same process.
_KEEPING = ("rooms", "core.disk", "core.room", "core.postgres")
# What a command gives up after: a loaded machine must not change its answer.
_LIMITS: dict[Any, tuple[str, ...]] = {
    hook: ("MOST_S", "MOST_WORK_S"),
    surroundings: ("MOST_S",),
    start: ("WAIT_S",),
}
_MOST_S = 300  # then a command is taken to wait for ever
_CACHE = type(functools.lru_cache(lambda: None))


def run_in_process(
    main: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    given: bytes = b"",
    *,
    is_bound: bool = True,
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `main(arguments)`, run there.

    A new interpreter takes longer to start than most commands take. given: its standard input.
    is_bound: whether permissions of files hold for root, too; what asks `os.access` needs a process
    of its own. Limits of time that the command sets itself are far away.
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
                bound_by_permissions_here() if is_bound else contextlib.nullcontext(),
            ):
                then.enter_context(place)
            try:
                code = main(arguments)
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
            _await_the_end({*threading.enumerate()} - threads)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode())
    return code, texts[0], texts[1]


def _await_the_end(threads: set[threading.Thread]) -> None:
    """Wait for threads that a command has started, and which a process would take with it."""
    if threads:
        _forget()
        gc.collect()  # a pool of connections ends its threads when it goes
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive(), f"{thread} goes on behind the command"


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
        for module, limits in _LIMITS.items():
            for limit in limits:
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
    alarm = getattr(signal, "SIGALRM", None)  # of POSIX
    numbers = (signal.SIGINT, signal.SIGTERM, *([alarm] if alarm else []))
    before = {number: signal.getsignal(number) for number in numbers}
    if alarm:
        signal.signal(alarm, lambda *_: pytest.fail(f"no end after {_MOST_S} s"))
        signal.alarm(_MOST_S)
    try:
        yield
    finally:
        if alarm:
            signal.alarm(0)
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
