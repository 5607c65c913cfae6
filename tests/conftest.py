"""Starts servers for the tests and leaves none behind; sets how long properties are tried."""

import gc
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest
from hypothesis import settings

from core import git, program
from rooms.fragments.upkeep import consolidation

program.CLI = "python cli.py"  # however the tests are started; before anything takes it over

from tests.support.room_tools import put_back
from tests.support.servers import ServerProcess

# The tests read English on a machine of any language, unless they ask for another.
for name in ("LC_ALL", "LC_MESSAGES"):
    os.environ.pop(name, None)
os.environ["LANG"] = "C.UTF-8"

# Nor do they see the data of its user: the fragments of a person are in this directory.
_DATA = tempfile.TemporaryDirectory(prefix="sentinel-memory-tests-")
os.environ["XDG_DATA_HOME"] = _DATA.name

# Directories of tests are in memory where it has room for them, so that no disk is waited for.
_MEMORY, _LEAST_BYTES = "/dev/shm", 4_000_000_000
if os.access(_MEMORY, os.W_OK):
    _status = os.statvfs(_MEMORY)
    if _status.f_bavail * _status.f_frsize > _LEAST_BYTES and not _status.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)

# A job in the background ignores SIGINT, and its children inherit that: one that a test interrupts
# would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Nor does it wait for git, or look after fragments at the end of a write, as short as users
# want it to: a busy machine needs longer.
git.WAIT_S = consolidation.PIECE_S = 60

# No deadline: other workers take the processor at times. `--hypothesis-profile full` looks longer.
settings.register_profile("short", deadline=None, max_examples=10)
settings.register_profile("full", deadline=None, max_examples=200)
settings.load_profile("short")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: a third of the tests wait for git, a disk or a server."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Keep the garbage collector off the objects made so far: forked children share them."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown() -> None:
    """Let garbage be collected again: a hook of a client switches that off, as its process ends."""
    gc.enable()


@pytest.fixture(autouse=True)
def rooms_as_they_were() -> Iterator[None]:
    """A room remembers in its process how it was offered; the next test finds it as it was."""
    with put_back():
        yield


StartServer = Callable[..., ServerProcess]  # see ServerProcess


@pytest.fixture(scope="module")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    said = tmp_path_factory.mktemp("stderr")
    numbers = count(1)
    with ExitStack() as running:

        def start(*arguments: str, **more: Any) -> ServerProcess:
            path = said / f"{next(numbers)}.txt"
            return running.enter_context(ServerProcess(*arguments, stderr_path=path, **more))

        yield start
