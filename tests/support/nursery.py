"""Starts the servers of this checkout from a process that has loaded their packages already.

A new interpreter spends nearly all of its start on packages. Here one process loads them, once for
each run, and becomes a server by a fork: the program runs from its first line, in a process of its
own with its own arguments, environment, directory and streams, and ends as an interpreter ends.
A variable that an interpreter or a package reads while it is loaded needs a new interpreter; so
does a machine without such forks.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any

_ROOT = Path(__file__).resolve().parents[2]
_IS_POSSIBLE = sys.platform == "linux"
_READ_WHILE_LOADING = ("PYTHON", "FASTMCP_", "PYDANTIC_", "LC_", "LANG", "LD_")
# Variables that a server sets itself, and so a process of tests that has loaded one.
_SET_BY_SERVERS = {"FASTMCP_ENV_FILE": os.devnull, "PYDANTIC_DISABLE_PLUGINS": "__all__"}
# Packages that a server loads when it first needs them; those that are not installed are left out.
_PACKAGES = (
    *("fastmcp", "mcp.server.stdio", "uvicorn", "sse_starlette", "prometheus_client"),
    *("psycopg", "psycopg_pool", "redis", "filelock"),
)
_OURS = ("core", "protocol", "rooms", "http_server")
_END_S = 10.0
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH, _PR_CAPBSET_DROP = 1, 2, 24
_CAPABILITY_VERSION_3 = 0x20080522
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # loaded before any fork
_NUMBER = struct.Struct("=i")


class Born:
    """A forked process, with the attributes of `subprocess.Popen` that the tests use."""

    def __init__(self, said: IO[bytes], *, is_piped: bool, **request: Any) -> None:
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.returncode: int | None = None
        if is_piped:
            (read, to_it), (from_it, written) = os.pipe(), os.pipe()
            self.stdin, self.stdout = os.fdopen(to_it, "wb"), os.fdopen(from_it, "rb")
        else:
            read, written = os.open(os.devnull, os.O_RDONLY), os.dup(said.fileno())
        self._news, news = os.pipe()
        weakref.finalize(self, os.close, self._news)
        self._guard = threading.Lock()
        descriptors = [read, written, os.dup(said.fileno()), news]
        socket.send_fds(_nursery(), [json.dumps(request).encode()], descriptors)
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


def begin(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    said: IO[bytes],
    is_piped: bool = False,
    is_new: bool = False,
    is_bound: bool = False,
) -> subprocess.Popen[bytes] | Born:
    """Start a program of this checkout: a script and its arguments.

    said: the file of its standard error, and of its output unless is_piped, which also opens its
    input. is_new: in an interpreter of its own. is_bound: by permissions of files, also as root.
    """
    if _IS_POSSIBLE and not is_new and command[0] == str(_ROOT / "server.py"):
        given, ours = _SET_BY_SERVERS | {**environment}, _SET_BY_SERVERS | {**os.environ}
        read = {it for it in given | ours if it.startswith(_READ_WHILE_LOADING)}
        if all(given.get(name) == ours.get(name) for name in read):
            request = {"command": [*command], "cwd": str(cwd), "environment": {**environment}}
            return Born(said, is_piped=is_piped, **request, is_bound=is_bound)
    return subprocess.Popen(
        [sys.executable, *command],
        stdin=subprocess.PIPE if is_piped else subprocess.DEVNULL,
        stdout=subprocess.PIPE if is_piped else said,
        stderr=said,
        cwd=cwd,
        env=environment,
        preexec_fn=bound_by_permissions if is_bound else None,
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
    """End it, so that the cost of its children counts as a cost of the tests."""
    control.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:  # somebody else has its socket
        process.kill()
        process.wait()


def bound_by_permissions() -> None:
    """Take from root the right to read and write where the permissions of a file forbid it.

    For a child process that is about to become another program.
    """
    if _LIBC is None:
        return
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _change_rights(without=1 << _CAP_DAC_OVERRIDE | 1 << _CAP_DAC_READ_SEARCH, for_good=True)


@contextlib.contextmanager
def bound_by_permissions_here() -> Iterator[None]:
    """Do without that right for a while, in this thread and in those that it starts."""
    had = _change_rights(without=1 << _CAP_DAC_OVERRIDE | 1 << _CAP_DAC_READ_SEARCH)
    try:
        yield
    finally:
        _change_rights(back=had)


def _change_rights(*, without: int = 0, back: int = 0, for_good: bool = False) -> int:
    """Take rights from this thread, or give them back; those that it had."""
    if _LIBC is None:
        return 0
    capabilities = (ctypes.c_uint32 * 6)()  # twice: effective, permitted, inheritable
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _LIBC.capget(header, capabilities)
    had = capabilities[0]
    capabilities[0] = had & ~without | back
    if for_good:  # `os.access` asks for what root may take back
        capabilities[1] &= ~without
    _LIBC.capset(header, capabilities)
    return had


# The code below runs in the process that forks, and in its children until they are programs.


def _load() -> None:
    """Load the packages of the servers; forget their own modules, which each server runs anew."""
    os.environ |= _SET_BY_SERVERS
    sys.dont_write_bytecode = False  # else each child would compile them
    for name in _PACKAGES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    importlib.import_module("server")
    for package in _OURS:
        for found in pkgutil.walk_packages([str(_ROOT / package)], f"{package}."):
            with contextlib.suppress(ImportError):
                importlib.import_module(found.name)
    for name in [it for it in sys.modules if it.partition(".")[0] in ("server", *_OURS)]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()


def _asked(control: socket.socket) -> dict[str, Any]:
    """Fork for each request; return it in the child that is to carry it out."""
    places = select.poll()
    places.register(control, select.POLLIN)
    running: dict[int, tuple[int, int]] = {}  # by its pidfd: a child, and whom to tell of its end
    while True:
        ready = [number for number, _ in places.poll()]
        for ended in running.keys() & set(ready):
            child, news = running.pop(ended)
            places.unregister(ended)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with contextlib.suppress(BrokenPipeError):
                os.write(news, _NUMBER.pack(code))
            os.close(news)
            os.close(ended)
        if control.fileno() not in ready:
            continue
        data, descriptors, _, _ = socket.recv_fds(control, 1_000_000, 4)
        if not data:
            os._exit(0)
        *streams, news = descriptors
        if child := os.fork():
            for descriptor in streams:
                os.close(descriptor)
            ended = os.pidfd_open(child)
            running[ended] = child, news
            places.register(ended, select.POLLIN)
            os.write(news, _NUMBER.pack(child))
            continue
        control.close()
        for ended, (_, told) in running.items():
            os.close(ended)
            os.close(told)
        os.close(news)
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        return dict(json.loads(data))


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever runs the tests ends them, not this
    _load()
    asked = _asked(socket.socket(fileno=int(sys.argv[1])))
    if asked.pop("is_bound"):
        bound_by_permissions()
    _become(**asked)
