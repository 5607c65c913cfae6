"""Starts the servers of this checkout from a process that has loaded their packages already.

A new interpreter spends nearly all of its start on packages. Here one process loads them, once for
each run, and becomes a server by a fork: the program runs from its first line, in a process of its
own with its own arguments, environment, directory and streams, and ends as an interpreter ends.
What an interpreter or a package reads while it is loaded asks for a new interpreter; so does a
machine without such forks.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import py_compile
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any

_ROOT = Path(__file__).resolve().parents[2]
_IS_POSSIBLE = sys.platform == "linux"
_READ_WHILE_LOADING = ("PYTHON", "FASTMCP_", "PYDANTIC_", "LC_", "LANG", "LD_")
# Packages that a server loads when it first needs them; those that are not installed are left out.
_PACKAGES = (
    *("fastmcp", "mcp.server.stdio", "uvicorn", "sse_starlette", "prometheus_client"),
    *("psycopg", "psycopg_pool", "redis", "filelock"),
)
_OURS = ("core", "protocol", "rooms", "http_server")
_END_S = 10.0
_NUMBER = struct.Struct("=i")


class Born:
    """A process that was forked, with what the tests use of `subprocess.Popen`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdin: int,
        stdout: int | IO[Any],
        stderr: IO[Any],
        cwd: Path,
        environment: Mapping[str, str],
        is_bound: bool,
    ) -> None:
        """See `begin`."""
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.returncode: int | None = None
        if stdin == subprocess.PIPE:
            read, ours = os.pipe()
            self.stdin = os.fdopen(ours, "wb")
        else:
            read = os.open(os.devnull, os.O_RDONLY)
        if isinstance(stdout, int):
            ours, written = os.pipe()
            self.stdout = os.fdopen(ours, "rb")
        else:
            written = os.dup(stdout.fileno())
        self._news, news = os.pipe()
        weakref.finalize(self, os.close, self._news)
        self._guard = threading.Lock()
        words = {
            "command": [*command],
            "cwd": str(cwd),
            "environment": {**environment},
            "is_bound": is_bound,
        }
        descriptors = [read, written, os.dup(stderr.fileno()), news]
        socket.send_fds(_nursery(), [json.dumps(words).encode()], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self.pid = self._next_number()

    def poll(self) -> int | None:
        """Return how it ended, None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended. Raises TimeoutExpired; timeout: seconds."""
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, timeout_s: float | None) -> int | None:
        news = select.poll()
        news.register(self._news, select.POLLIN)
        if self.returncode is None and news.poll(None if timeout_s is None else timeout_s * 1000):
            with self._guard:
                if self.returncode is None:
                    self.returncode = self._next_number()
        return self.returncode

    def _next_number(self) -> int:
        data = os.read(self._news, _NUMBER.size)
        assert len(data) == _NUMBER.size, "the process that forks is gone; see standard error"
        return int(_NUMBER.unpack(data)[0])


Process = subprocess.Popen[bytes] | Born


def begin(
    command: Sequence[str],
    *,
    stdin: int,
    stdout: int | IO[Any],
    stderr: IO[Any],
    cwd: Path,
    environment: Mapping[str, str],
    is_bound: bool = False,
    is_new: bool = False,
) -> Process:
    """Start a program of this checkout: a script and its arguments.

    stdin, stdout: as for `subprocess.Popen`. is_bound: whether it is bound by the permissions of
    files. is_new: whether it must have an interpreter of its own.
    """
    if _IS_POSSIBLE and not is_new and command[0] == str(_ROOT / "server.py"):
        names = {*environment, *os.environ}
        read = {name for name in names if name.startswith(_READ_WHILE_LOADING)}
        if all(environment.get(name) == os.environ.get(name) for name in read):
            return Born(
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                environment=environment,
                is_bound=is_bound,
            )
    from tests.support.stdio_client import bound_by_permissions  # it starts its servers here

    return subprocess.Popen(
        [sys.executable, *command],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
        env=environment,
        preexec_fn=bound_by_permissions if is_bound and os.name == "posix" else None,
    )


@cache
def _nursery() -> socket.socket:
    """Start the process that forks; return its socket, at whose end it ends."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    number = theirs.fileno()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.nursery", str(number)],
        stdin=subprocess.DEVNULL,
        cwd=_ROOT,
        pass_fds=[number],
    )
    theirs.close()
    atexit.register(_end, process, ours)
    return ours


def _end(process: subprocess.Popen[bytes], control: socket.socket) -> None:
    """End it, so that what its children cost counts as what the tests cost."""
    control.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:  # somebody else has its socket
        process.kill()
        process.wait()


# What follows runs in the process that forks, and in its children until they are programs.


def _load() -> None:
    """Load what the servers load, and forget their own modules, which each runs anew."""
    os.environ["FASTMCP_ENV_FILE"] = os.devnull
    for name in _PACKAGES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    importlib.import_module("server")
    for package in _OURS:
        for found in pkgutil.walk_packages([str(_ROOT / package)], f"{package}."):
            with contextlib.suppress(ImportError):
                importlib.import_module(found.name)
    ours = {
        name: module.__file__
        for name, module in [*sys.modules.items()]
        if name.partition(".")[0] in ("server", *_OURS)  # .venv may lie in the checkout, too
    }
    if sys.dont_write_bytecode:  # else each child would compile them
        sys.pycache_prefix = tempfile.mkdtemp(prefix="nursery-")
    for name, path in ours.items():
        del sys.modules[name]
        if sys.dont_write_bytecode and path:
            py_compile.compile(path, doraise=True)
    gc.collect()
    gc.freeze()


def _asked(control: socket.socket) -> dict[str, Any]:
    """Fork for each request; return what was asked for, in the child that is to become it."""
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told, ended = socket.socketpair()
    for each in (told, ended):
        each.setblocking(False)
    signal.set_wakeup_fd(ended.fileno())
    places = select.poll()
    places.register(control, select.POLLIN)
    places.register(told, select.POLLIN)
    waiting: dict[int, int] = {}  # who wants to know how each child ends
    while True:
        ready = dict(places.poll())
        if told.fileno() in ready:
            told.recv(4096)
            _tell(waiting)
        if control.fileno() not in ready:
            continue
        data, descriptors, _, _ = socket.recv_fds(control, 1_000_000, 4)
        if not data:
            if sys.pycache_prefix:
                shutil.rmtree(sys.pycache_prefix, ignore_errors=True)
            os._exit(0)
        *streams, news = descriptors
        if child := os.fork():
            for descriptor in streams:
                os.close(descriptor)
            os.write(news, _NUMBER.pack(child))
            waiting[child] = news
            continue
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (control, told, ended):
            each.close()
        for descriptor in (news, *waiting.values()):
            os.close(descriptor)
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        return dict(json.loads(data))


def _tell(waiting: dict[int, int]) -> None:
    """Tell how the children have ended that did so by now."""
    while waiting:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        news = waiting.pop(child)
        with contextlib.suppress(BrokenPipeError):
            os.write(news, _NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os.close(news)


def _become(command: list[str], cwd: str, environment: dict[str, str]) -> None:
    """Run a script as a new interpreter runs it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    time.tzset()
    tempfile.tempdir = None
    sys.argv = command
    sys.orig_argv = [sys.executable, *command]
    sys.path[0] = os.path.dirname(command[0])
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        errors = "backslashreplace" if name == "stderr" else "strict"
        stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    program = ModuleType("__main__")
    program.__file__ = command[0]
    sys.modules["__main__"] = program
    code = compile(Path(command[0]).read_bytes(), command[0], "exec")
    exec(code, program.__dict__)


if __name__ == "__main__":
    from tests.support.stdio_client import bound_by_permissions

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever runs the tests ends them, not this
    _load()
    asked = _asked(socket.socket(fileno=int(sys.argv[1])))
    if asked.pop("is_bound"):
        bound_by_permissions()
    _become(**asked)
