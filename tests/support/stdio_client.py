"""Speaks raw JSON-RPC to a server process: no protocol library, and no wait without an end."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from tests.support.nursery import CAP_DAC_OVERRIDE, begin
from tests.support.tables import ROOT

Era = Literal["2025-11-25", "2026-07-28"]


HANDSHAKE: Era = "2025-11-25"
STATELESS: Era = "2026-07-28"
WAIT_S = 60.0

Message = dict[str, Any]

_META: Message = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_OWN_VARIABLES = ("SENTINEL_MEMORY_", "CLAUDE_PROJECT_DIR", "FASTMCP_")


class ServerProcess:
    """One `server.py` process; starting it returns at once, the first request waits for it.

    Nothing waits for longer than WAIT_S: then an AssertionError tells what the process said.

    cwd: its working directory; what it says to people is kept in `stderr_path`.
    environment: added to that of the tests, without what would configure a server there.
    script: the file that is run, that of the checkout unless another copy is meant.
    client: what the client calls itself.
    is_new: whether it must have an interpreter of its own; see `nursery`.
    is_read: whether its output is read; else the test reads and closes `process.stdout` itself.
    """

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        stderr_path: Path,
        environment: Mapping[str, str] | None = None,
        era: Era = HANDSHAKE,
        script: Path = ROOT / "server.py",
        is_read: bool = True,
        is_new: bool = False,
        client: str = "stdio_client",
    ) -> None:
        self.era = era
        self._client = {"name": client, "version": "1"}
        self.stderr_path = stderr_path
        self.stdout_lines: list[bytes] = []
        self._answers: dict[int, Message] = {}
        self._last_id = 0
        self._greeting: Message | None = None
        self._ended = False
        self._news = threading.Condition()
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(_OWN_VARIABLES)
        }
        with stderr_path.open("wb") as stderr:
            self.process = begin(
                [str(script), *arguments],
                cwd=cwd,
                environment={**inherited, **(environment or {})},
                said=stderr,
                is_piped=True,
                is_new=is_new,
                is_bound=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        if is_read:
            self._reader.start()

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def send(self, message: Message | bytes) -> None:
        """Write one message, or these bytes as they are."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        assert self.process.stdin is not None
        watchdog = threading.Timer(WAIT_S, self.process.kill)  # a full pipe would block for ever
        watchdog.start()
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        finally:
            watchdog.cancel()

    def greet(self) -> Message:
        """What the server says of itself: the result of `initialize` or of `server/discover`."""
        if self._greeting is None and self.era == STATELESS:
            self._greeting = self._result("server/discover", {})
        elif self._greeting is None:
            hello = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": self._client}
            self._greeting = self._result("initialize", hello)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self._greeting

    def ask(self, method: str, params: Message | None = None) -> int:
        """Send a request without waiting; the id of its answer."""
        if self.era == HANDSHAKE:
            self.greet()
        return self._ask(method, params or {})

    def answer(self, request_id: int) -> Message:
        """The whole answer to a request, error or result."""
        self._wait(lambda: request_id in self._answers, f"no answer to request {request_id}")
        return self._answers[request_id]

    def is_answered(self, request_id: int) -> bool:
        """Whether the answer has come already."""
        with self._news:
            return request_id in self._answers

    def request(self, method: str, params: Message | None = None) -> Message:
        """Send a request and wait for its whole answer."""
        return self.answer(self.ask(method, params))

    def ask_tool(self, tool: str, /, **arguments: Any) -> int:
        """Call a tool without waiting; the id of its answer."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def tool_text(self, request_id: int, *, is_error: bool = False) -> str:
        """The text of a tool's answer, which must be exactly one, failed or not as said."""
        answer = self.answer(request_id)
        assert "result" in answer, f"the call was refused by the protocol: {answer}"
        result = answer["result"]
        assert (result.get("isError", False), len(result["content"])) == (is_error, 1), result
        assert result["content"][0]["type"] == "text"
        return str(result["content"][0]["text"])

    def call(self, tool: str, /, **arguments: Any) -> str:
        """The text of a tool that does its work."""
        return self.tool_text(self.ask_tool(tool, **arguments))

    def refusal(self, tool: str, /, **arguments: Any) -> str:
        """The text of a tool that refuses or fails."""
        return self.tool_text(self.ask_tool(tool, **arguments), is_error=True)

    def stderr(self) -> str:
        """What the server has said to people so far."""
        return self.stderr_path.read_text("utf-8")

    def ignores_permissions(self) -> bool:
        """Whether the process may write where the permissions of a file forbid it."""
        if sys.platform != "linux":
            return os.name != "posix" or os.geteuid() == 0
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        capabilities = int(status.split("CapEff:")[1].split()[0], 16)
        return bool(capabilities >> CAP_DAC_OVERRIDE & 1)

    def strange_lines(self) -> list[bytes]:
        """Lines on standard output that are no JSON-RPC message."""
        with self._news:
            return [line for line in self.stdout_lines if _message(line) is None]

    def close(self) -> int:
        """Close standard input; the exit code of the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        """The exit code, once the process has ended and all its output is read."""
        try:
            code = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running; stderr:\n{self.stderr()[-2000:]}") from None
        if self._reader.ident:
            self._reader.join(WAIT_S)
        return code

    def kill(self) -> int:
        """End the process at once, as a power cut would; the exit code."""
        self.process.kill()
        code = self.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        return code

    def terminate(self) -> int:
        """Send SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def unsent(self, method: str, params: Message) -> Message:
        """The next request, for whoever sends it in another way."""
        self._last_id += 1
        if self.era == STATELESS:
            meta = {"io.modelcontextprotocol/clientInfo": self._client, **_META}
            params = {**params, "_meta": meta}
        return {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}

    def _ask(self, method: str, params: Message) -> int:
        request = self.unsent(method, params)
        self.send(request)
        return int(request["id"])

    def _result(self, method: str, params: Message) -> Message:
        answer = self.answer(self._ask(method, params))
        assert "result" in answer, answer
        result: Message = answer["result"]
        return result

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = _message(line)
            with self._news:
                self.stdout_lines.append(line)
                if message and "method" not in message and isinstance(message.get("id"), int):
                    self._answers[message["id"]] = message
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _wait(self, condition: Callable[[], bool], complaint: str) -> None:
        with self._news:
            self._news.wait_for(lambda: condition() or self._ended, WAIT_S)
            assert condition(), f"{complaint}; stderr:\n{self.stderr()[-2000:]}"


def _message(line: bytes) -> Message | None:
    try:
        value = json.loads(line.decode("utf-8"))
    except ValueError:
        return None
    is_message = isinstance(value, dict) and value.get("jsonrpc") == "2.0" and line.endswith(b"\n")
    return value if is_message else None
