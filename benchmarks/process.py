"""A server process that is spoken to by raw JSON-RPC, and what its process tree has cost so far."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

PROTOCOL = "2025-11-25"
LIFETIME_S = 600.0
_TICK_S = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01


class Refused(RuntimeError):
    """The server answered with an error, or not at all."""


class ServerProcess:
    """A server on its pipes. Its standard error is thrown away, as no client shows it."""

    def __init__(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
            cwd=cwd,
        )
        self._id = 0
        # A server that hangs would stop the whole comparison; a killed one closes its pipe.
        self._watch = threading.Timer(LIFETIME_S, self._process.kill)
        self._watch.daemon = True
        self._watch.start()
        client = {"name": "compare", "version": "1"}
        try:
            self.hello = self.request(
                "initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client
            )
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except Refused:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process that was started."""
        return self._process.pid

    def send(self, method: str, **params: Any) -> int:
        """Send a request without waiting; its number."""
        self._id += 1
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def answers(self) -> Iterator[dict[str, Any]]:
        """The answers to requests, in the order in which they come, until the pipe closes."""
        assert self._process.stdout
        for line in self._process.stdout:
            with suppress(ValueError):
                message = json.loads(line)
                if "id" in message and "method" not in message:
                    yield message

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of one request. Raises Refused for an error or a closed pipe."""
        number = self.send(method, **params)
        for message in self.answers():
            if message["id"] == number:
                return result_of(message)
        raise Refused(f"no answer to {method}")

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The text that a tool answers. Raises Refused where the tool reports an error."""
        return text_of(self.request("tools/call", name=tool, arguments=arguments))

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
        """SIGKILL, as the out-of-memory killer does it; answers that were already in the pipe."""
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
            raise Refused("the server has closed its input") from error


def result_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """The result of an answer. Raises Refused for an error of the protocol or of the tool."""
    if "result" not in message or message["result"].get("isError"):
        raise Refused(json.dumps(message, ensure_ascii=False)[:500])
    return dict(message["result"])


def text_of(result: Mapping[str, Any]) -> str:
    """The text of a tool's result; a copy of it as structured content is left out."""
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


def tree(pid: int) -> Iterator[int]:
    """A process and all that descend from it. Linux only."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text("ascii").split():
            yield from tree(int(child))


def processor_s(pid: int) -> float | None:
    """User and system time of a process tree so far; None where the system does not tell."""
    try:
        return sum(_own_processor_s(one) for one in tree(pid))
    except OSError:
        return None


def _own_processor_s(pid: int) -> float:
    # The clock of another process, which counts in nanoseconds; the times in /proc count ticks.
    own = time.clock_gettime((~pid << 3) | 2)
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    ended_children = int(fields[13]) + int(fields[14])
    return own + ended_children * _TICK_S


def resident_mb(pid: int) -> float | None:
    """Resident memory of a process tree in megabytes; None where the system does not tell."""
    try:
        return sum(_own_resident_mb(one) for one in tree(pid))
    except OSError:
        return None


def _own_resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0
