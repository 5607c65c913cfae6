"""Starts `server.py` for the tests, and speaks to it as clients do: over its streams or HTTP.

No protocol library, and no wait without an end.
"""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from tests.support.nursery import begin
from tests.support.tables import ROOT

Era = Literal["2025-11-25", "2026-07-28"]

HANDSHAKE: Era = "2025-11-25"
STATELESS: Era = "2026-07-28"
WAIT_S = 60.0

KEY = "a-key-for-the-tests-0123456789"
BEARER = f"Authorization: Bearer {KEY}"
OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", HANDSHAKE)

Message = dict[str, Any]
Seen = TypeVar("Seen")

_SERVED = re.compile(r"http://[a-z0-9.]+:(\d+)/mcp")
_OWN_VARIABLES = ("SENTINEL_MEMORY_", "CLAUDE_PROJECT_DIR", "FASTMCP_")
_OF_A_TEAM = (
    *("XDG_", "POSTGRES_", "DB_", "MEMENTO_", "REDIS_"),
    *("ALLOWED_ORIGINS", "SESSION_TTL_", "LOG_DIR", "PORT"),
)


class ServerProcess:
    """One `server.py` process; starting it returns at once, the first request waits for it.

    Nothing waits for longer than WAIT_S: then an AssertionError shows the process's output.

    cwd: its working directory; its output for people is kept in `stderr_path`.
    environment: added to that of the tests, without variables that would configure a server there.
    script: the file that is run, that of the checkout unless another copy is meant.
    client: the name of the client.
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
        self._client = client
        self.stderr_path = stderr_path
        self.stdout_lines: list[bytes] = []
        self._answers: dict[int, Message] = {}
        self._last_id = 0
        self._greeting: Message | None = None
        self._ended = False
        self._news = threading.Condition()
        with stderr_path.open("wb") as stderr:
            self.process = begin(
                [str(script), *arguments],
                cwd=cwd,
                environment={**_inherited(*_OWN_VARIABLES), **(environment or {})},
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
        """The result of `initialize` or of `server/discover`."""
        if self._greeting is None:
            if self.era == STATELESS:
                answer = self.answer(self._ask("server/discover", {}))
            else:
                answer = self.answer(self._ask("initialize", hello(name=self._client)))
                self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            assert "result" in answer, answer
            self._greeting = dict(answer["result"])
        return self._greeting

    def ask(self, method: str, params: Message | None = None) -> int:
        """Send a request without waiting; the id of its answer."""
        if self.era == HANDSHAKE:
            self.greet()
        return self._ask(method, params or {})

    def answer(self, request_id: int) -> Message:
        """The whole answer to a request, error or result."""
        with self._news:
            self._news.wait_for(lambda: request_id in self._answers or self._ended, WAIT_S)
            assert request_id in self._answers, f"no answer; stderr:\n{self.stderr()[-2000:]}"
            return self._answers[request_id]

    def is_answered(self, request_id: int) -> bool:
        with self._news:
            return request_id in self._answers

    def request(self, method: str, params: Message | None = None) -> Message:
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
        """The server's output for people so far."""
        return self.stderr_path.read_text("utf-8")

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
            params = {**params, "_meta": _meta(self._client)}
        return {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}

    def _ask(self, method: str, params: Message) -> int:
        request = self.unsent(method, params)
        self.send(request)
        return int(request["id"])

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


def _inherited(*but: str) -> dict[str, str]:
    """Return the environment of the tests without the variables that begin so."""
    return {name: it for name, it in os.environ.items() if not name.startswith(but)}


def _message(line: bytes) -> Message | None:
    try:
        value = json.loads(line.decode("utf-8"))
    except ValueError:
        return None
    is_message = isinstance(value, dict) and value.get("jsonrpc") == "2.0" and line.endswith(b"\n")
    return value if is_message else None


class HttpServer:
    """One process. home: the folder of all its files. Its output is in `home/stderr*`.

    key: of the environment, "" for none. port: 0 for any that is free.
    is_new: whether it must have an interpreter of its own; see `nursery`.
    """

    def __init__(
        self,
        home: Path,
        *arguments: str,
        key: str = KEY,
        port: int = 0,
        environment: Mapping[str, str] | None = None,
        waits: bool = True,
        is_new: bool = False,
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.key, self.port = key, port
        self.stderr_path = home / f"stderr-{time.monotonic_ns()}.txt"
        inherited = _inherited(*_OWN_VARIABLES, *_OF_A_TEAM)
        own = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), **(environment or {})}
        keys = {"SENTINEL_MEMORY_ACCESS_KEY": key} if key else {}
        command = [str(ROOT / "server.py"), "--rooms", "fragments"]
        with self.stderr_path.open("wb") as stderr:
            self.process = begin(
                [*command, "--http", str(port), *arguments],
                cwd=home,
                environment={**inherited, **keys, **own},
                said=stderr,
                is_new=is_new,
            )
        if waits:
            try:
                until(lambda: self.process.poll() is not None or _SERVED.search(self.said))
                served = _SERVED.search(self.said)
                assert served, f"the server did not start: {self.said}"
            except AssertionError:
                self.process.kill()
                raise
            self.port = port or int(served[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def said(self) -> str:
        return self.stderr_path.read_text(encoding="utf-8")

    @property
    def resident_bytes(self) -> int:
        """How much memory it takes, as Linux tells it."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4_096

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and return how the process ended."""
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | dict[str, Any] | None = None,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request; the status, the headers in lower case and the body of the answer.

        key: None for that of the environment, "" for none.
        """
        key = self.key if key is None else key
        sent = {"Accept": "application/json, text/event-stream"}
        sent |= {"Authorization": f"Bearer {key}"} if key else {}
        if isinstance(body, dict):
            body, sent = json.dumps(body).encode(), {**sent, "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        with contextlib.closing(connection):
            connection.request(method, path, body, {**sent, **(headers or {})})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()

    def raw(self, *pieces: bytes) -> bytes:
        """Send bytes as they are, and return all that comes until the server closes."""
        got = b""
        with (
            socket.create_connection(("127.0.0.1", self.port), WAIT_S) as client,
            contextlib.suppress(ConnectionError),  # it closed while something was on its way
        ):
            for piece in pieces:
                client.sendall(piece)
            while some := client.recv(65_536):
                got += some
        return got

    @contextlib.contextmanager
    def stream(self, path: str, *headers: str) -> Iterator[Callable[[bytes], bytes]]:
        """Ask for a stream of events; lend a function that reads until a text has come.

        It returns all bytes so far. headers: lines, such as `Authorization: …`.
        """
        lines = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Accept: text/event-stream", *headers)
        got = b""

        def read_until(part: bytes) -> bytes:
            nonlocal got
            while part not in got:
                some = client.recv(65_536)
                assert some, f"it ended with {got!r}"
                got += some
            return got

        with socket.create_connection(("127.0.0.1", self.port), WAIT_S) as client:
            client.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
            yield read_until

    def begin(self, version: str = OLDER[-1], *, key: str | None = None) -> str:
        status, headers, answer = self.call("initialize", hello(version), key=key)
        assert status == 200 and answer["result"]["protocolVersion"] == version, answer
        return headers["mcp-session-id"]

    def call(
        self, method: str, params: Mapping[str, Any] | None = None, session: str = "", **more: Any
    ) -> tuple[int, dict[str, str], Any]:
        """Send a message of the older protocol; status, headers and the message of the answer."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        headers = {"Mcp-Session-Id": session} if session else {}
        status, found, body = self.ask("POST", "/mcp", message, headers=headers, **more)
        return status, found, _told(body)

    def call_stateless(self, method: str, params: Mapping[str, Any]) -> tuple[int, Any]:
        """Send a message of the newest protocol; the status and the message of the answer."""
        given = {**params, "_meta": _meta("tests")}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
        headers |= {"Mcp-Name": params["name"]} if "name" in params else {}
        status, _, body = self.ask("POST", "/mcp", message, headers=headers)
        return status, _told(body)

    def tool(self, name: str, session: str = "", **arguments: Any) -> str:
        """Call a tool; the text of its answer."""
        _, _, answer = self.call("tools/call", {"name": name, "arguments": arguments}, session)
        return str(answer["result"]["content"][0]["text"])

    def figure(self, name: str) -> float:
        [found] = re.findall(rf"^{name} (\S+)$", self.ask("GET", "/metrics")[2].decode(), re.M)
        return float(found)


def _told(body: bytes) -> Any:
    """Return the message of an answer, which may be the last event of a stream."""
    text = body.decode()
    events = [line.removeprefix("data:") for line in text.splitlines() if line[:5] == "data:"]
    text = events[-1] if events else text
    return json.loads(text) if text.strip() else None


def hello(version: str = OLDER[-1], name: str = "tests") -> dict[str, Any]:
    """Return the parameters with which a client of the older protocol begins a session."""
    info = {"name": name, "version": "1"}
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": info}


def _meta(name: str) -> dict[str, Any]:
    """Return the metadata that a client of the newest protocol sends with each request."""
    prefix = "io.modelcontextprotocol"
    return {
        f"{prefix}/protocolVersion": STATELESS,
        f"{prefix}/clientInfo": {"name": name, "version": "1"},
        f"{prefix}/clientCapabilities": {},
    }


def until(look: Callable[[], Seen]) -> Seen:
    """Return the result of `look` as soon as it is true. Raises AssertionError after WAIT_S."""
    ends_at = time.monotonic() + WAIT_S
    while not (seen := look()):
        assert time.monotonic() < ends_at, f"it has not come about; last seen: {seen!r}"
        time.sleep(0.02)
    return seen
