"""Tests that who has no key gets nothing, by whatever request, and leaves nothing behind."""

import base64
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from http_server.keys import Keys
from http_server.papers import FILE_NAME, sqlite_papers
from tests.support.servers import KEY, HttpServer
from tests.support.tables import ROOT

NAME, TEXT = "laptop-of-kim", "The zebra stands at the server"
SECRETS = ("zebra", NAME, "remember", "inputSchema", "serverInfo", "0.10", "sentinel-memory/", KEY)


class Try(NamedTuple):
    """A request, and the status of what answers it."""

    status: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None


def tries() -> Iterator[Try]:
    """Every request of the table, in which a line stands for all its combinations."""
    basic = base64.b64encode(f"default:{KEY}".encode()).decode()
    table = (ROOT / "tests/data/http_strangers.jsonl").read_text("utf-8")
    for line in table.replace("{key}", KEY).replace("{basic}", basic).splitlines():
        row = json.loads(line)
        bodies = [
            it if it is None else (it if isinstance(it, str) else json.dumps(it)).encode("latin-1")
            for it in row.get("bodies", [None])
        ]
        for request in product(row["methods"], row["paths"], row.get("headers", [{}]), bodies):
            yield Try(row["status"], *request)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    home = tmp_path_factory.mktemp("strangers")
    Keys(sqlite_papers(data_of(home) / FILE_NAME)).add(NAME)
    with HttpServer(home, "--sse") as running:
        running.tool("remember", content=TEXT, topic="door")
        running.ask("DELETE", "/mcp", headers={"Mcp-Session-Id": "x"})  # makes the seal, once
        yield running


def data_of(home: Path) -> Path:
    return home / "data" / "sentinel-memory"


def left_behind(server: HttpServer) -> dict[str, Any]:
    """Every file below the home, every row of the databases, and what the server has said."""
    home = server.stderr_path.parent
    found: dict[str, Any] = {"said": server.said}
    journals = ("-wal", "-shm")  # they come and go with who reads
    found["files"] = sorted(str(it) for it in home.rglob("*") if not it.name.endswith(journals))
    for path in data_of(home).glob("*.db"):
        with closing(sqlite3.connect(path)) as rows:
            tables = [name for (name,) in rows.execute("SELECT name FROM sqlite_master")]
            shown = [it for it in tables if "fts" not in it and "sqlite_" not in it]
            for name in shown:
                kind = "SELECT type FROM sqlite_master WHERE name = ?"
                if rows.execute(kind, (name,)).fetchone() == ("table",):
                    found[f"{path.name} {name}"] = list(rows.execute(f"SELECT * FROM {name}"))
    return found


def wrong_with(server: HttpServer, tried: Try) -> str:
    """What a stranger got by a request that is none of theirs, "" for nothing."""
    headers = {"Authorization": "", **tried.headers}
    if not headers["Authorization"]:
        del headers["Authorization"]
    status, found, body = server.ask(tried.method, tried.path, tried.body, key="", headers=headers)
    said = f"{found} {body.decode('utf-8', 'replace')}"
    if status != tried.status:
        return f"{status}, not {tried.status}: {said[:200]}"
    if "mcp-session-id" in found or "set-cookie" in found or "server" in found:
        return f"headers: {found}"
    if (found["x-content-type-options"], found["x-frame-options"]) != ("nosniff", "DENY"):
        return f"may be guessed and framed: {found}"
    if "location" in found or "evil.example" in str(found):
        return f"leads elsewhere: {said[:200]}"
    if any(secret in said for secret in SECRETS):
        return f"tells: {said[:200]}"
    is_told = status in (200, 204) or tried.method == "HEAD" or body.startswith((b"{", b"<!doc"))
    return "" if is_told else f"no sentence: {said[:200]}"


@pytest.mark.row("002 2.5.b", "002 2.7")
def test_a_stranger_gets_nothing_by_any_request_and_leaves_nothing(server: HttpServer) -> None:
    tried = [*tries()]
    assert len({repr(it) for it in tried}) == len(tried) > 170
    before = left_behind(server)
    wrong = [(it, fault) for it in tried if (fault := wrong_with(server, it))]
    assert wrong == []
    assert left_behind(server) == before
    assert json.loads(server.ask("GET", "/health")[2])["sessions"] == 0
    assert "zebra" in server.tool("recall", query="zebra")
