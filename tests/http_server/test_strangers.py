"""Tests that who has no key gets nothing, by whatever request, and leaves nothing behind."""

import base64
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from http_server.keys import Keys
from http_server.papers import FILE_NAME, sqlite_papers
from tests.support.http_server import KEY, STATELESS, HttpServer

NAME, TEXT = "laptop-of-kim", "The zebra stands at the server"
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CALL = {"name": "recall", "arguments": {"query": "zebra"}}
SECRETS = ("zebra", NAME, "remember", "inputSchema", "serverInfo", "0.10", "sentinel-memory/", KEY)


class Try(NamedTuple):
    """A request, and what answers it."""

    status: int
    method: str
    path: str
    headers: Mapping[str, str] = {}
    body: bytes | None = None


def message(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def at_the_protocol() -> Iterator[Try]:
    """Every message and every kind of body, at every address that takes messages."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}}
    modern = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/call", "Mcp-Name": "recall"}
    for body in (
        message("initialize", **hello),
        message("tools/list"),
        message("tools/call", **CALL),
        message("resources/read", uri="memory://fragment/1"),
        message("resources/list"),
        message("prompts/get", name="memory_injection"),
        message("server/discover"),
        message("subscriptions/listen"),
        message("ping"),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b"[]",
        b"{",
        b"\xff\xfe\x00",
    ):
        yield Try(401, "POST", "/mcp", JSON, body)
        yield Try(401, "POST", "/message?session_id=" + "0" * 32, JSON, body)
    for kind in ("text/plain", "application/xml", "multipart/form-data; boundary=x", "", FORM):
        headers = kind if isinstance(kind, dict) else {"Content-Type": kind}
        yield Try(401, "POST", "/mcp", headers, message("tools/call", **CALL))
    for headers in (
        {"Mcp-Session-Id": "x" * 32},
        {"Mcp-Session-Id": "*"},
        {"Mcp-Session-Id": "' OR 1=1 --"},
        {"Last-Event-ID": "1"},
        modern,
        {"Accept": "text/event-stream"},
        {"Content-Encoding": "gzip"},
        {"X-HTTP-Method-Override": "GET"},
        {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1"},
        {"X-Forwarded-User": "default", "Remote-User": "default", "X-Agent": "default"},
        {"Forwarded": "for=127.0.0.1;by=127.0.0.1"},
        {"X-Original-URL": "/health", "X-Rewrite-URL": "/health"},
    ):
        yield Try(401, "POST", "/mcp", {**JSON, **headers}, message("tools/call", **CALL))
    for method in ("GET", "DELETE"):
        yield Try(401, method, "/mcp", {"Mcp-Session-Id": "x" * 32})
    for path in ("/sse", "/metrics", "/mcp", "//mcp", "/MCP"):
        yield Try(404 if path in ("//mcp", "/MCP") else 401, "HEAD", path)
    yield Try(401, "GET", "/sse")
    yield Try(401, "GET", "/metrics")
    yield Try(401, "GET", "/mcp/")
    yield Try(401, "GET", "/mcp%2F")


def with_a_key_in_the_wrong_place() -> Iterator[Try]:
    """The right key where none is looked for, and what is no key where one is."""
    call = message("tools/call", **CALL)
    basic = base64.b64encode(f"default:{KEY}".encode()).decode()
    for name, value in {
        "X-API-Key": KEY,
        "Api-Key": KEY,
        "Access-Key": KEY,
        "Cookie": f"accessKey={KEY}; Authorization=Bearer {KEY}; sentinel_memory_door={KEY}",
        "Proxy-Authorization": f"Bearer {KEY}",
        "X-Authorization": f"Bearer {KEY}",
        "Referer": f"http://127.0.0.1/?accessKey={KEY}",
    }.items():
        yield Try(401, "POST", "/mcp", {**JSON, name: value}, call)
    for given in (KEY, f"Basic {basic}", f"Token {KEY}", f"Bearer{KEY}", "Bearer", "Bearer ", ""):
        yield Try(401, "POST", "/mcp", {**JSON, "Authorization": given}, call)
    for query in ("accessKey", "access_token", "key", "token"):
        yield Try(401, "POST", f"/mcp?{query}={KEY}", JSON, call)
        yield Try(401, "GET", f"/metrics?{query}={KEY}")
    yield Try(401, "POST", "/mcp", FORM, f"access_token={KEY}".encode())
    yield Try(401, "POST", f"/message?accessKey={KEY}", JSON, call)
    for wrong in ("smk_" + "A" * 43, "smt_" + "A" * 43, "smr_" + "A" * 43, "null", f"{KEY} {KEY}"):
        yield Try(401, "POST", "/mcp", {**JSON, "Authorization": f"Bearer {wrong}"}, call)
    yield Try(401, "GET", "/health", {"Authorization": "Bearer x"})


def beside_the_addresses() -> Iterator[Try]:
    """Paths that are nearly one, and methods that none takes."""
    for path in (
        "/", "/mcp/tools", "//mcp", "/./mcp", "/x/../mcp", "/%2e%2e/mcp", "/mcp%00",
        "/mcp;x=1", "/MCP", "/metrics/", "/health/", "/admin", "/docs", "/openapi.json",
        "/.env", "/.git/config", "/http_server.db", "/memory.db", "/../../etc/passwd", "/static/",
        "/consent/", "/authorize/", "/.well-known/", "/.well-known/openid-configuration",
        "/server-status", "/debug", "/sse/", "/message/", "//evil.example/%2e%2e",
        "/\\evil.example",
    ):  # fmt: skip
        yield Try(404, "GET", path)
    for method in ("PUT", "PATCH", "TRACE", "PROPFIND", "CONNECT", "MCP"):
        yield Try(405, method, "/mcp")
        yield Try(405, method, "/health")
    for path in ("/token", "/register", "/revoke"):
        yield Try(405, "GET", path)
        yield Try(204, "OPTIONS", path, JSON, b'{"redirect_uris":["https://a.example/back"]}')
    yield Try(200, "HEAD", "/health")
    yield Try(200, "GET", "/health", {"Accept": "text/html"})


def at_the_login() -> Iterator[Try]:
    """What may be asked without a key, asked wrongly."""
    ask = "response_type=code&client_id=x&code_challenge=y&code_challenge_method=S256"
    for query in (
        ask,
        f"{ask}&redirect_uri=https://evil.example/",
        f"{ask}&redirect_uri=//evil.example",
        f"{ask}&redirect_uri=javascript:alert(1)",
        f"{ask}&state=%0d%0aLocation:%20https://evil.example/",
        "",
    ):
        yield Try(400, "GET", f"/authorize?{query}")
    for query in ("txn=x", f"txn=x&key={KEY}&answer=allow", "txn=../../x", ""):
        yield Try(400, "GET", f"/consent?{query}")
        yield Try(400, "POST", "/consent", FORM, query.encode())
    yield Try(400, "POST", "/consent", {**FORM, "Cookie": "sentinel_memory_door=x"}, b"txn=x")
    for form in (b"", b"grant_type=password&username=default&password=" + KEY.encode()):
        yield Try(401, "POST", "/token", FORM, form)
    for kind in ("authorization_code&code=x", "client_credentials", "refresh_token"):
        yield Try(401, "POST", "/token", FORM, f"client_id=x&grant_type={kind}".encode())
    yield Try(401, "POST", "/token", FORM, f"client_id=x&client_secret={KEY}".encode())
    for metadata in (
        b"",
        b"{}",
        b"[]",
        b'{"redirect_uris":[]}',
        b'{"redirect_uris":["javascript:alert(1)"]}',
        b'{"redirect_uris":["http://evil.example/back"]}',
        b'{"redirect_uris":"x"}',
    ):
        yield Try(400, "POST", "/register", JSON, metadata)
    for form in (b"", b"token=x", b"token=x&client_id=y", f"token={KEY}&client_id=y".encode()):
        yield Try(400, "POST", "/revoke", FORM, form)


def from_elsewhere() -> Iterator[Try]:
    """Names and origins that are another's."""
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1"):
        yield Try(421, "GET", "/health", {"Host": host})
        yield Try(421, "POST", "/mcp", {**JSON, "Host": host}, message("ping"))
    yield Try(421, "GET", "http://evil.example/mcp")
    for origin in ("https://evil.example", "null", "file://", "http://127.0.0.1.evil.example"):
        yield Try(403, "GET", "/health", {"Origin": origin})
        yield Try(403, "POST", "/mcp", {**JSON, "Origin": origin}, message("ping"))


TRIES = [
    *at_the_protocol(),
    *with_a_key_in_the_wrong_place(),
    *beside_the_addresses(),
    *at_the_login(),
    *from_elsewhere(),
]


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
    distinct = {repr(it) for it in TRIES}
    assert len(distinct) == len(TRIES) > 170
    before = left_behind(server)
    wrong = {f"{it.method} {it.path} {it.headers} {it.body!r}": wrong_with(server, it)
             for it in TRIES}  # fmt: skip
    assert [f"{name}: {it}" for name, it in wrong.items() if it] == []
    assert left_behind(server) == before
    assert json.loads(server.ask("GET", "/health")[2])["sessions"] == 0
    assert "zebra" in server.tool("recall", query="zebra")
