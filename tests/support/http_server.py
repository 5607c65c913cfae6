"""Starts `server.py --http` on a free port for the tests, and speaks to it as clients do."""

import http.client
import json
import os
import re
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.support.nursery import begin
from tests.support.stdio_client import WAIT_S
from tests.support.tables import ROOT

KEY = "a-key-for-the-tests-0123456789"
OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = "2026-07-28"
_SERVED = re.compile(r"http://[a-z0-9.]+:(\d+)/mcp")
_OWN = ("SENTINEL_MEMORY_", "CLAUDE_PROJECT_DIR", "FASTMCP_", "XDG_", "POSTGRES_", "DB_")
_MORE = ("MEMENTO_", "REDIS_", "ALLOWED_ORIGINS", "SESSION_TTL_", "LOG_DIR", "PORT")
_META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class HttpServer:
    """One process. home: below which all that it keeps is. What it says is in `home/stderr*`.

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
        inherited = {
            name: it for name, it in os.environ.items() if not name.startswith((*_OWN, *_MORE))
        }
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
            self._wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def said(self) -> str:
        """What it said to people."""
        return self.stderr_path.read_text(encoding="utf-8")

    @property
    def resident_bytes(self) -> int:
        """How much memory it takes, as Linux tells it."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4_096

    @property
    def url(self) -> str:
        """The address of the protocol."""
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
        try:
            connection.request(method, path, body, {**sent, **(headers or {})})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def raw(self, *pieces: bytes) -> bytes:
        """Send bytes as they are, and return all that comes until the server closes."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.port), WAIT_S) as client:
            try:
                for piece in pieces:
                    client.sendall(piece)
                while some := client.recv(65_536):
                    got += some
            except ConnectionError:  # it closed while something was still on its way
                pass
        return got

    def stream(self, path: str, *headers: str) -> "Stream":
        """Ask for a stream of events. headers: lines, such as `Authorization: …`."""
        return Stream(socket.create_connection(("127.0.0.1", self.port), WAIT_S), path, headers)

    def begin(self, version: str = OLDER[-1], *, key: str | None = None) -> str:
        """Begin a session and return its id."""
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
        return status, found, _message(body)

    def call_stateless(self, method: str, params: Mapping[str, Any]) -> tuple[int, Any]:
        """Send a message of the newest protocol; the status and the message of the answer."""
        given = {**params, "_meta": _META}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
        headers |= {"Mcp-Name": params["name"]} if "name" in params else {}
        status, _, body = self.ask("POST", "/mcp", message, headers=headers)
        return status, _message(body)

    def tool(self, name: str, session: str = "", **arguments: Any) -> str:
        """Call a tool; the text of its answer."""
        _, _, answer = self.call("tools/call", {"name": name, "arguments": arguments}, session)
        return str(answer["result"]["content"][0]["text"])

    def figure(self, name: str) -> float:
        """Return one of its figures."""
        [found] = re.findall(rf"^{name} (\S+)$", self.ask("GET", "/metrics")[2].decode(), re.M)
        return float(found)

    def _wait(self) -> None:
        ends_at = time.monotonic() + WAIT_S
        while time.monotonic() < ends_at and self.process.poll() is None:
            if found := _SERVED.search(self.said):
                self.port = self.port or int(found[1])
                return
            time.sleep(0.02)
        self.process.kill()
        raise AssertionError(f"the server did not start: {self.said}")


class Stream:
    """An answer that is still coming."""

    def __init__(self, client: socket.socket, path: str, headers: tuple[str, ...]) -> None:
        self._client, self.got = client, b""
        lines = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Accept: text/event-stream", *headers)
        client.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())

    def until(self, part: bytes) -> bytes:
        """Read on until this has come; return all that came."""
        while part not in self.got:
            some = self._client.recv(65_536)
            assert some, f"it ended with {self.got!r}"
            self.got += some
        return self.got

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


def hello(version: str = OLDER[-1], name: str = "tests") -> dict[str, Any]:
    """Return what a client of the older protocol begins a session with."""
    info = {"name": name, "version": "1"}
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": info}


def bearer(key: str = KEY) -> str:
    """Return the line of a head that brings a key."""
    return f"Authorization: Bearer {key}"


def free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _message(body: bytes) -> Any:
    lines = body.decode().splitlines() or [""]
    events = [line.removeprefix("data:") for line in lines if line.startswith("data:")]
    text = events[-1] if events else body.decode()
    return json.loads(text) if text.strip() else None
