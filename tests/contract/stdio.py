import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.contract.given import ROOT, SETTINGS
from tests.support.nursery import begin

WAIT_S = 60.0


class Server:
    def __init__(self, cwd: Path, *arguments: str, **settings: str) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = begin(
            [str(ROOT / "server.py"), *arguments],
            cwd=cwd,
            environment=environment | settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        self.watchdog = threading.Timer(WAIT_S, self.process.kill)
        self.watchdog.start()
        self.number = 0
        self.hello = self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "outsider", "version": "1"},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        assert self.process.stdout
        while True:
            message = json.loads(self.process.stdout.readline().decode("utf-8"))
            if message.get("id") == self.number and "method" not in message:
                result: dict[str, Any] = message["result"]
                return result

    def call(self, tool: str, **arguments: Any) -> str:
        result = self.request("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return "\n".join(part["text"] for part in result["content"])

    def refusal(self, tool: str, **arguments: Any) -> str:
        result = self.request("tools/call", name=tool, arguments=arguments)
        assert result["isError"], result
        return "\n".join(part["text"] for part in result["content"])

    def said(self) -> str:
        return os.pread(self.errors.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def close(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait(WAIT_S)
        self.process.stdout.close()
        self.watchdog.cancel()
        self.errors.close()
