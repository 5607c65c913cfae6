"""Tests what the doctor says of the entries for a server that others run."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from commands.clients.table import TEAM_ENTRY
from tests.support.doctor_desk import Desk
from tests.support.git_clones import commit

pytestmark = pytest.mark.skipif(os.name == "nt", reason="places of POSIX")

URL = "https://memory.example.com/mcp"
KEY = "smk_" + "k" * 43


def found(desk: Desk, *options: str, **variables: str) -> list[tuple[str, str]]:
    told = desk.doctor("--json", *options, **variables).told
    return [(it["kind"], it["severity"]) for it in told["clients"] if "team_" in it["kind"]]


def write(desk: Desk, url: str, sent: str) -> None:
    entry = {"type": "http", "url": url, "headers": {"Authorization": sent}}
    text = json.dumps({"mcpServers": {TEAM_ENTRY: entry}})
    (desk.root / ".mcp.json").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "client", ["cursor", "claude-code", "vscode", "codex", "gemini", "copilot"]
)
def test_what_setup_writes_is_well_where_the_variable_is_set(client: str, healthy: Desk) -> None:
    assert healthy.run("setup", client, "--url", URL, "--yes").code == 0
    assert found(healthy, SENTINEL_MEMORY_KEY=KEY) == [("team_by_key", "note")]
    assert found(healthy) == [("team_key_unset", "warning")]
    assert healthy.run("setup", client, "--url", URL, "--oauth", "--yes").code == 0
    assert found(healthy) == [("team_by_login", "note")]
    assert healthy.run("setup", client, "--remove", "--yes").code == 0
    assert found(healthy) == []


def test_a_key_in_a_file_is_an_error_and_is_not_shown(healthy: Desk) -> None:
    write(healthy, URL, f"Bearer {KEY}")
    assert found(healthy) == [("team_key_in_file", "error")]
    commit(healthy.root)
    for lang in ("en", "ko"):
        assert KEY not in healthy.doctor("--verbose", SENTINEL_MEMORY_LANG=lang).out
    assert found(healthy) == [("team_key_tracked", "error")]


def test_an_address_that_gives_something_away_is_said_and_not_shown(healthy: Desk) -> None:
    write(healthy, f"{URL}?key={KEY}", "Bearer ${SENTINEL_MEMORY_KEY}")
    assert found(healthy) == [("team_bad_url", "error")]
    assert KEY not in healthy.doctor("--verbose").out
    write(healthy, "http://memory.example.com/mcp", "Bearer ${SENTINEL_MEMORY_KEY}")
    expected = [("team_plain_http", "warning"), ("team_by_key", "note")]
    assert found(healthy, SENTINEL_MEMORY_KEY=KEY) == expected


class _Health(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(f"{self.path} {self.headers.get('authorization')}")
        code, body = (200, {"status": "ok"}) if len(self.asked) == 1 else (503, {"status": "down"})
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """Says that it is well, then that it is not."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_server_is_asked_only_on_demand_and_without_the_key(
    healthy: Desk, server: ThreadingHTTPServer
) -> None:
    write(healthy, f"http://127.0.0.1:{server.server_port}/mcp", "Bearer ${SENTINEL_MEMORY_KEY}")
    by_key = ("team_by_key", "note")
    assert found(healthy, SENTINEL_MEMORY_KEY=KEY) == [by_key]
    asked = {"SENTINEL_MEMORY_KEY": KEY}
    assert found(healthy, "--online", **asked) == [by_key, ("team_answers", "note")]
    assert found(healthy, "--online", **asked) == [by_key, ("team_unwell", "error")]
    assert _Health.asked == ["/health None"] * 2
    server.shutdown()
    server.server_close()
    assert found(healthy, "--online", **asked) == [by_key, ("team_silent", "error")]
