"""Holds the shared parts of the benchmarks: server processes, turns, floors, file of results.

A script measures *figures*, prints each beside its limit, ends with 1 under `--check` where one is
missed, and with `--record` writes them to `results.json`, from which the documents are made.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

# A script finds only the modules of its own directory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.lessons.record import Draft, new_record

T = TypeVar("T")
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SERVER = ROOT / "server.py"
RESULTS = HERE / "results.json"
PROTOCOL = "2025-11-25"
LIFETIME_S = 600.0
TOPICS = 200
CREATED = "2026-01-01T00:00:00+00:00"
_TICK_S = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01

# The server of the FastMCP tutorial: one tool that echoes, everything else as it comes.
_BARE = """
from fastmcp import FastMCP

mcp = FastMCP("echo")

@mcp.tool
def echo(text: str) -> str:
    return text

mcp.run()
"""
# The least that a server of this kind can be.
_ECHO = """
import os

os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)
from fastmcp import FastMCP

mcp = FastMCP("echo", version="1")

@mcp.tool(output_schema=None)
def echo(text: str) -> str:
    "The same text."
    return text

mcp.run(transport="stdio", show_banner=False, log_level="WARNING")
"""
BARE, ECHO = ([sys.executable, "-c", source] for source in (_BARE, _ECHO))
ECHO_CALL: tuple[str, Mapping[str, Any]] = ("echo", {"text": "hello"})


# Figures, and the turns in which they are taken.


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. least, most: its limits, None for none. note: words beside it."""

    name: str
    value: float
    unit: str = ""
    least: float | None = None
    most: float | None = None
    note: str = ""

    @property
    def is_missed(self) -> bool:
        below = self.least is not None and self.value < self.least
        return below or (self.most is not None and self.value > self.most)

    def line(self) -> str:
        """Return the row of the table."""
        limits = [("≥", self.least), ("≤", self.most)]
        limit = " ".join(f"{sign} {it:,g}" for sign, it in limits if it is not None)
        verdict = "MISSED" if self.is_missed else ""
        value = f"{self.value:,.0f}" if float(self.value).is_integer() else f"{self.value:,.3f}"
        row = f"{self.name:<56} {value:>10} {self.unit:<7}{limit:<12}{verdict:<7}{self.note}"
        return row.rstrip()


def options(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a script, with the options that all of them take."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="end with 1 where a limit is missed")
    parser.add_argument("--record", action="store_true", help="write the figures to results.json")
    return parser


def reported(figures: Iterable[Figure], given: argparse.Namespace, part: str, data: str) -> int:
    """Print figures as they come, record them where that is asked for, and return the status.

    part: their name in results.json. data: the data behind them.
    """
    found = []
    for figure in figures:
        print(figure.line(), flush=True)
        found.append(figure)
    if given.record:
        record(part, data, {it.name: it.value for it in found})
    return int(given.check and any(it.is_missed for it in found))


def record(part: str, data: str, figures: Mapping[str, Any], path: Path = RESULTS) -> None:
    """Write the figures of a part with today's date and the class of this machine, not its name."""
    results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    rounded = json.loads(json.dumps(figures), parse_float=lambda text: round(float(text), 6))
    memory, version = "", f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        memory = f", {gigabytes:.0f} GB"
    results[part] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{sys.platform}, {os.cpu_count()} processors{memory}, {version}",
        "data": data,
        "figures": rounded,
    }
    text = json.dumps(dict(sorted(results.items())), ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def turns(items: Iterable[T], rounds: int) -> Iterator[tuple[int, T]]:
    """Yield the items in each round, with its number; another one begins each round.

    All items meet the same other work of the machine, and each comes after each other one.
    """
    order = list(items)
    for number in range(rounds):
        first = number % len(order)
        yield from ((number, it) for it in (*order[first:], *order[:first]))


# Servers.


class RefusedError(RuntimeError):
    """The server answered with an error, or not at all."""


class ServerProcess:
    """A server on its pipes, spoken to by raw JSON-RPC. Its other output is dropped."""

    def __init__(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        how: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": cwd}
        how |= {"stderr": subprocess.DEVNULL, "env": {**os.environ, **(environment or {})}}
        self._process = subprocess.Popen([str(part) for part in command], **how)
        self._id, self.pid = 0, self._process.pid
        # A server that hangs would stop the whole comparison; a killed one closes its pipe.
        self._watch = threading.Timer(LIFETIME_S, self._process.kill)
        self._watch.daemon = True
        self._watch.start()
        hello: dict[str, Any] = {"protocolVersion": PROTOCOL, "capabilities": {}}
        hello["clientInfo"] = {"name": "compare", "version": "1"}
        try:
            self.hello = self.request("initialize", **hello)
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except RefusedError:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, method: str, **params: Any) -> int:
        """Send a request without waiting; return its number."""
        self._id += 1
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield the answers to requests, in the order in which they come, until the pipe closes."""
        assert self._process.stdout
        for line in self._process.stdout:
            with suppress(ValueError):
                message = json.loads(line)
                if "id" in message and "method" not in message:
                    yield message

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of one request. Raises RefusedError for an error or a closed pipe."""
        number = self.send(method, **params)
        for message in self.answers():
            if message["id"] == number:
                return result_of(message)
        raise RefusedError(f"no answer to {method}")

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the text that a tool answers. Raises RefusedError where it reports an error."""
        content = self.request("tools/call", name=tool, arguments=arguments)["content"]
        return "\n".join(part["text"] for part in content if part["type"] == "text")

    def close(self) -> None:
        """End the process by closing its input; one that does not end by itself is killed."""
        assert self._process.stdin and self._process.stdout
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._watch.cancel()
        self._process.stdout.close()

    def kill(self) -> list[dict[str, Any]]:
        """End the process by SIGKILL; return answers that were already in the pipe."""
        self._process.kill()
        answered = list(self.answers())
        self.close()
        return answered

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise RefusedError("the server has closed its input") from error


def result_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of an answer. Raises RefusedError for an error of protocol or tool."""
    if "result" not in message or message["result"].get("isError"):
        raise RefusedError(json.dumps(message, ensure_ascii=False)[:500])
    return dict(message["result"])


def ours_on(project: Path, rooms: str = "lessons", **environment: str) -> ServerProcess:
    """Return this server on a project, in which it keeps the fragments too."""
    kept = {"SENTINEL_MEMORY_FRAGMENTS": str(project / "memory.db")}
    command: list[str | Path] = [sys.executable, SERVER, "--project", project, "--rooms", rooms]
    return ServerProcess(command, kept | environment, project)


def processor_s(pid: int) -> float:
    """Return the processor time of a process tree so far; the clock's where no system tells."""
    total = 0.0
    try:
        for each in _tree(pid):
            # The clock of another process counts in nanoseconds; the times in /proc count ticks.
            total += time.clock_gettime((~each << 3) | 2)
            fields = Path(f"/proc/{each}/stat").read_text("utf-8").rpartition(")")[2].split()
            total += (int(fields[13]) + int(fields[14])) * _TICK_S  # of children that have ended
    except OSError:
        return time.perf_counter()
    return total


def resident_mb(pid: int) -> float | None:
    """Return the resident memory of a process tree; None where the system does not tell."""
    total = 0.0
    try:
        for each in _tree(pid):
            lines = Path(f"/proc/{each}/status").read_text("utf-8").splitlines()
            held = [int(line.split()[1]) for line in lines if line.startswith("VmRSS:")]
            total += sum(held) * 1024 / 1e6
    except OSError:
        return None
    return total


def _tree(pid: int) -> Iterator[int]:
    """Yield a process and all that descend from it. Linux only."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text("ascii").split():
            yield from _tree(int(child))


# Projects.


def read_lines(name: str | Path) -> list[Any]:
    """Return the lines of a file of JSON, by its path from this directory."""
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def lessons() -> list[Draft]:
    """Return the curated lessons, half of them Korean: examples of a typical record."""
    return [Draft(**row) for row in read_lines("lessons.jsonl")]


def typical_drafts(count: int) -> Iterator[Draft]:
    """Yield so many different records like the curated lessons, in no more than `TOPICS` topics."""
    known = lessons()
    for number in range(count):
        lesson, turn = known[number % len(known)], number // len(known)
        if turn:
            topic = f"{lesson.topic}-{turn % (TOPICS // len(known) + 1)}"
            gap = f"{lesson.missing_context} ({turn})"
            lesson = replace(lesson, topic=topic, missing_context=gap)
        yield lesson


def make_project(root: Path, count: int) -> Path:
    """Make a project with a memory log of so many records; return the log."""
    log_path = root / CONTEXT_DIRECTORY / LOG_NAME
    log_path.parent.mkdir(parents=True)
    lines = [new_record(draft, now=CREATED).to_line() for draft in typical_drafts(count)]
    log_path.write_bytes(b"".join(lines))
    return log_path
