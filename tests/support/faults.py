"""Makes a disk misbehave: calls fail, stop half-way or never come back, at a chosen place.

`Faults` sees the calls of Python code to `os`, `open` and `fcntl`. Calls below Python (those
inside one read of a file) are left to strace, in torture.py. `Child` is a process that dies.
"""

import builtins
import contextlib
import errno
import fcntl
import io
import os
import resource
import select
import shutil
import signal
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.errors import SentinelError
from core.lessons.file import LOCK_SUFFIX

CODES = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.ENOENT, errno.EDQUOT, errno.EINTR)
WAIT_S = 60.0

_WATCHED = (
    *("open", "read", "write", "fsync", "fdatasync", "ftruncate", "close", "fstat", "fchmod"),
    *("replace", "rename", "link", "unlink", "remove", "chmod", "chown", "mkdir", "rmdir"),
    *("stat", "lstat", "readlink", "listdir", "scandir", "access", "utime"),
)
_LOOKING = {"read", "close", "fstat", "stat", "lstat", "readlink", "listdir", "scandir", "access"}


class Call(NamedTuple):
    """A system call: its path, as far as known, and the target of a replacement."""

    name: str
    path: str
    changes: bool = False
    target: str = ""

    def __str__(self) -> str:
        return f"{self.name}({Path(self.path).name})"


Perform = Callable[[], Any]
FAILING = ("refused", "refused from there on", "failed afterwards", "torn", "cut short")
FOLDER = ("folder removed", "folder usurped")
KILLING = ("killed before", "killed after", "killed half-way")


@dataclass(frozen=True)
class Fault:
    """A planned failure: the call numbered `at` of an operation, how it fails, with which error.

    Of the mode "full" `at` is how many bytes a file may have: the system itself refuses then.
    """

    at: int
    mode: str
    code: int = errno.EIO

    def __str__(self) -> str:
        return f"{self.mode} at {self.at} ({errno.errorcode[self.code]})"

    @property
    def lasting(self) -> bool:
        """Whether everything fails from there on, as on a disk that is dead."""
        return self.mode.endswith("from there on")

    def spoil(self, root: Path, call: Call, perform: Perform, half: Perform | None) -> Any:
        """Make the call as far as this mode lets it, and end it as the mode says.

        half: a write of half of its data.
        """
        work: Perform | None = perform
        if self.mode in FOLDER:  # somebody removes it, or puts a file in its place
            context = log_path(root).parent
            shutil.rmtree(context, ignore_errors=True)
            if self.mode == "folder usurped":
                context.write_bytes(b"mine")
        elif self.mode == "stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif self.mode == "killed before":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.mode in ("cut short", "killed half-way"):
            work = half or perform
        elif self.mode != "killed after" and self.mode != "failed afterwards":
            work = perform if call.name == "close" else None  # it frees its descriptor all the same
            work = half if self.mode == "torn" else work
        try:
            result = work() if work else None
        finally:
            if self.mode in KILLING:
                os.kill(os.getpid(), signal.SIGKILL)
        if self.mode not in FAILING or self.mode == "cut short":
            return result
        if call.name == "open" and result is not None:
            os.close(result)  # nobody gets it
        raise OSError(self.code, os.strerror(self.code), call.path)


class Faults:
    """While it is entered, counts the calls that concern `root` and spoils the one of the fault.

    Of a lasting fault all later calls are spoilt, too, but for the end of a lock, which asks no
    disk. calls: the calls so far, from number 1. A sync is counted, but the disk is not waited for:
    no test here cuts the power.
    """

    def __init__(self, root: Path, fault: Fault | None = None) -> None:
        self.calls: list[Call] = []
        self.descriptors: dict[int, str] = {}
        self._root, self._fault = root, fault or Fault(0, "refused")
        self._thread, self._resting = threading.get_ident(), True
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "Faults":
        replaced: list[tuple[Any, str, Any]] = [
            *((os, name, partial(self._asked, name, getattr(os, name))) for name in _WATCHED),
            (fcntl, "flock", partial(self._asked, "flock", fcntl.flock)),
            *((it, "open", partial(self._open_to_read, builtins.open)) for it in (builtins, io)),
        ]
        for module, name, replacement in replaced:
            self._undo.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, replacement)
        self._resting = False
        return self

    def __exit__(self, *_: object) -> None:
        self._resting = True
        self._undo.close()

    def reach(self, call: Call, perform: Perform, half: Perform | None = None) -> Any:
        """Make the call, or let the fault happen in its place."""
        self.calls.append(call)
        number, fault = len(self.calls), self._fault
        lasts = fault.lasting and number > fault.at > 0 and call.name != "unlock"
        hit = lasts or number == fault.at
        self._resting = True  # calls of the fault are not calls of the program
        try:
            return fault.spoil(self._root, call, perform, half) if hit else perform()
        finally:
            self._resting = False

    def _about(self, subject: Any) -> str | None:
        """The path that a call is about, None where it is none of ours."""
        if self._resting or threading.get_ident() != self._thread:
            return None
        if isinstance(subject, int):
            return self.descriptors.get(subject)
        path = str(os.fspath(subject)) if isinstance(subject, str | os.PathLike) else ""
        return path if path == str(self._root) or path.startswith(f"{self._root}{os.sep}") else None

    def _asked(self, name: str, real: Callable[..., Any], *args: Any, **options: Any) -> Any:
        path = self._about(args[0] if args else None)
        if path is None:
            return real(*args, **options)
        perform, half, changes = partial(real, *args, **options), None, name not in _LOOKING
        if name == "open":
            changes = bool(args[1] & os.O_CREAT)
        elif name == "write":
            half = partial(real, args[0], bytes(args[1])[: max(len(args[1]) // 2, 1)])
        elif name in ("fsync", "fdatasync"):
            perform = partial(os.fstat, args[0])
        elif name == "close":
            del self.descriptors[args[0]]
        elif name == "flock" and args[1] & fcntl.LOCK_UN:
            name = "unlock"
        target = os.fspath(args[1]) if name == "replace" else ""
        result = self.reach(Call(name, path, changes, target), perform, half)
        if name == "open":
            self.descriptors[result] = path
        return result

    def _open_to_read(self, real: Any, file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
        path = self._about(file)
        if path is None or isinstance(file, int):
            return real(file, mode, *args, **named)
        assert mode == "rb", f"a way to open a file that is not watched: {path}, {mode}"
        raw = self.reach(Call("open", path), partial(_WatchedFile, path, self))
        self.descriptors[raw.fileno()] = path
        return io.BufferedReader(raw)


class _WatchedFile(io.FileIO):
    """A file that is read through `open`, whose reads and close are counted like any call."""

    def __init__(self, path: str, faults: Faults) -> None:
        super().__init__(path, "rb")
        self._path, self._faults = path, faults

    def readall(self) -> bytes:
        data: bytes = self._faults.reach(Call("read", self._path), super().readall)
        return data

    def close(self) -> None:
        if not self.closed:
            self._faults.descriptors.pop(self.fileno(), None)  # it may soon be another file's
            self._faults.reach(Call("close", self._path), super().close)


class Item(NamedTuple):
    """The entry behind one name of a project: a file with its mode, a link or a folder."""

    kind: str
    mode: int
    data: bytes


Tree = dict[str, Item]


def tree(root: Path) -> Tree:
    """Everything below `root`, but no locks."""
    items: Tree = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            items[name] = Item("link", 0, os.fsencode(os.readlink(path)))
        elif path.is_dir():
            items[name] = Item("folder", 0, b"")
        elif path.suffix != LOCK_SUFFIX:
            items[name] = Item("file", stat.S_IMODE(path.lstat().st_mode), path.read_bytes())
    return items


def log_path(root: Path) -> Path:
    return root / "project" / CONTEXT_DIRECTORY / LOG_NAME


Say = Callable[[str], None]


def fill_disk(most_bytes: int = 0) -> None:
    """Let this process write no file beyond so many bytes, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))


class Child:
    """A forked process that does `work` and then ends; its parent hears its texts meanwhile.

    Both must not use the lock of one path: the layer below does not let a child go on with it.
    work gets a function that sends a text, and returns the last text; an error is sent by its
    name. Each wait for the process has a limit, and `with` leaves no process behind.
    """

    def __init__(self, work: Callable[[Say], str]) -> None:
        self.said = ""
        self.code: int | None = None
        self._pipe, inner = os.pipe()
        self.pid = os.fork()
        if not self.pid:  # it never comes back into the program that it was forked from

            def say(text: str) -> None:
                os.write(inner, text.encode())

            try:
                try:
                    said = work(say)
                except BaseException as error:
                    said = error.key if isinstance(error, SentinelError) else type(error).__name__
                say(said)  # an error of this is none of the work
                os._exit(0)
            finally:
                os._exit(1)
        os.close(inner)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        if self.code is None:
            self.kill()
            self.end()

    def hear(self) -> bool:
        """Wait until it says more; False when it has ended and all is heard."""
        if not select.select([self._pipe], [], [], WAIT_S)[0]:
            self.kill()
        part = os.read(self._pipe, 65_536)
        self.said += part.decode()
        return bool(part)

    def end(self) -> tuple[int, str]:
        """Its exit code (minus the signal that killed it) and all that it said."""
        while self.code is None and self.hear():
            pass
        if self.code is None:
            os.close(self._pipe)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code, self.said

    def wait_for_stop(self) -> bool:
        """Wait until it stands still; False when it ended instead."""
        watchdog = threading.Timer(WAIT_S, self.kill)
        watchdog.start()
        try:
            state = os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            return state is not None and state.si_code == os.CLD_STOPPED
        finally:
            watchdog.cancel()

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
