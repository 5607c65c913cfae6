"""Tests what a page in a browser may do: which origins may call, and what they are told of it."""

from collections.abc import Iterator

import pytest

from tests.support.http_server import KEY, HttpServer
from tests.support.real_engines import free_port
from tests.support.waiting import until

OURS, OTHER = "https://pages.example", "https://evil.example"
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,mcp-session-id,"
    "mcp-protocol-version,mcp-method",
}
ALLOW = "access-control-allow-"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    given = {"ALLOWED_ORIGINS": f"{OURS},http://localhost:3000"}
    with HttpServer(tmp_path_factory.mktemp("browsers"), "--sse", environment=given) as running:
        yield running


def allowed(headers: dict[str, str], what: str) -> set[str]:
    return {it.strip().lower() for it in headers.get(ALLOW + what, "").split(",")}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("origin", [OURS, "http://localhost:3000"])
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/message", "/health"])
def test_a_page_of_a_named_origin_may_ask_before_it_calls(
    server: HttpServer, origin: str, path: str
) -> None:
    status, headers, _ = server.ask(
        "OPTIONS", path, key="", headers={**PREFLIGHT, "Origin": origin}
    )
    assert status == 200 and headers[ALLOW + "origin"] == origin
    assert {"get", "post", "delete"} <= allowed(headers, "methods")
    assert set(PREFLIGHT["Access-Control-Request-Headers"].split(",")) <= allowed(
        headers, "headers"
    )
    assert "origin" in headers["vary"].lower() and int(headers["access-control-max-age"]) <= 600
    assert ALLOW + "credentials" not in headers  # a key travels in a header, never by itself


@pytest.mark.long  # it costs much
def test_a_page_of_a_named_origin_reads_answers_and_its_session(server: HttpServer) -> None:
    info = {"name": "page", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    status, headers, _ = server.ask("POST", "/mcp", hello, headers={"Origin": OURS})
    assert status == 200 and headers[ALLOW + "origin"] == OURS
    exposed = headers["access-control-expose-headers"].lower()
    assert headers["mcp-session-id"] and {"mcp-session-id", "www-authenticate"} <= set(
        exposed.replace(" ", "").split(",")
    )
    status, headers, _ = server.ask("POST", "/mcp", hello, key="", headers={"Origin": OURS})
    assert status == 401 and headers[ALLOW + "origin"] == OURS  # so that it can ask for a login
    assert "resource_metadata" in headers["www-authenticate"]


@pytest.mark.parametrize(
    "origin",
    [
        OTHER,
        "null",
        "",
        OURS.upper() + ".evil.example",
        OURS + ":8443",
        OURS.replace("https", "http"),
        "https://xpages.example",
        "https://pages.example@evil.example",
        "http://localhost.evil.example:3000",
    ],
)
def test_a_page_of_another_origin_is_told_nothing(server: HttpServer, origin: str) -> None:
    for method, path in (
        ("OPTIONS", "/mcp"),
        ("POST", "/mcp"),
        ("GET", "/mcp"),
        ("GET", "/health"),
    ):
        headers = {**PREFLIGHT, "Origin": origin} if method == "OPTIONS" else {"Origin": origin}
        status, found, _ = server.ask(method, path, b"{}", headers=headers)
        assert found.get(ALLOW + "origin", "") not in ("*", origin or OTHER)
        assert status in ((400, 403, 405) if method == "OPTIONS" else (403,)) or not origin
        assert "mcp-session-id" not in found


def test_pages_of_any_origin_find_the_login_and_no_more(server: HttpServer) -> None:
    for path in (
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
    ):
        status, headers, _ = server.ask("GET", path, key="", headers={"Origin": OURS})
        assert status == 200 and headers[ALLOW + "origin"] in ("*", OURS)
    status, headers, _ = server.ask("GET", "/consent?txn=x", key="", headers={"Origin": OTHER})
    assert status in (400, 403) and ALLOW + "origin" not in headers
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.long  # it costs much
def test_without_a_named_origin_no_page_may_call(tmp_path_factory: pytest.TempPathFactory) -> None:
    with HttpServer(tmp_path_factory.mktemp("closed")) as closed:
        headers = {**PREFLIGHT, "Origin": OURS}
        status, found, _ = closed.ask("OPTIONS", "/mcp", key="", headers=headers)
        assert status in (403, 405) and not [name for name in found if name.startswith(ALLOW)]
        own = f"http://127.0.0.1:{closed.port}"
        assert closed.ask("GET", "/health", headers={"Origin": own})[0] == 200


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "LOCALHOST", "[::1]"])
def test_a_server_without_an_address_answers_to_the_names_of_its_machine(
    server: HttpServer, host: str
) -> None:
    for name in (host, f"{host}:{server.port}"):
        assert server.ask("GET", "/health", headers={"Host": name})[0] == 200


@pytest.mark.long  # it costs much
def test_a_server_with_an_address_answers_to_its_name(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home, port = tmp_path_factory.mktemp("named"), free_port()
    given = ("--url", "https://memory.example", "--http", str(port))
    with HttpServer(home, *given, waits=False) as named:
        named.port = port
        until(lambda: "is served" in named.said or named.process.poll() is not None)
        assert named.process.poll() is None, named.said
        for host, status in {
            "memory.example": 200,
            "memory.example:443": 200,
            "MEMORY.example": 200,
            "memory.example.evil.example": 421,
            "xmemory.example": 421,
        }.items():
            assert named.ask("GET", "/health", headers={"Host": host})[0] == status, host
        own = {"Host": "memory.example", "Origin": "https://memory.example"}
        assert named.ask("GET", "/health", headers=own)[0] == 200
        _, found, _ = named.ask("POST", "/mcp", {}, key="", headers={"Host": "memory.example"})
        assert KEY not in str(found)
        assert "https://memory.example/.well-known/" in found["www-authenticate"]
