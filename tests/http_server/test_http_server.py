"""Tests the server over HTTP as clients and strangers meet it, each time a real process."""

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.costly import one_in
from tests.support.http_server import KEY, OLDER, HttpServer
from tests.support.stdio_client import WAIT_S
from tests.support.waiting import until

BAD = "another-key-for-the-tests-987654"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(tmp_path_factory.mktemp("http"), "--sse", is_new=True) as running:
        yield running


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.1.a")
def test_the_stateless_version_needs_no_session(server: HttpServer) -> None:
    status, answer = server.call_stateless("tools/list", {})
    assert status == 200 and len(answer["result"]["tools"]) == 13
    call = {"name": "memory_stats", "arguments": {}}
    status, answer = server.call_stateless("tools/call", call)
    assert status == 200 and not answer["result"].get("isError")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.4")
def test_a_client_without_a_session_is_served_too(server: HttpServer) -> None:
    assert server.call("tools/list")[0] == 200


@pytest.mark.row("002 2.4.b")
def test_a_deleted_session_is_unknown(server: HttpServer) -> None:
    session = server.begin()
    header = {"Mcp-Session-Id": session}
    assert server.ask("DELETE", "/mcp", headers=header)[0] == 204
    status, _, answer = server.call("ping", session=session)
    assert status == 404 and "initialize" in answer["error"]["message"] and answer["id"] == 1
    assert server.ask("DELETE", "/mcp", headers=header)[0] == 404
    assert server.ask("GET", "/mcp", headers=header)[0] == 404


def test_a_refused_greeting_opens_no_session(server: HttpServer) -> None:
    status, headers, answer = server.call("initialize", {"protocolVersion": 7})
    assert "mcp-session-id" not in headers and (status >= 400 or "error" in answer)


@pytest.mark.row("002 2.4.a")
def test_a_stream_shows_that_it_is_alive_and_ends_with_its_session(server: HttpServer) -> None:
    session = server.begin()
    got = b""
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as stream:
        stream.sendall(
            b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            + f"Authorization: Bearer {KEY}\r\nMcp-Session-Id: {session}\r\n\r\n".encode()
        )
        while b": ping" not in got:
            got += stream.recv(1000)
        assert server.ask("DELETE", "/mcp", headers={"Mcp-Session-Id": session})[0] == 204
        while b"0\r\n\r\n" not in got:
            got += stream.recv(1000)
    assert b"text/event-stream" in got


@pytest.mark.row("002 2.4.a")
def test_a_stream_needs_a_session(server: HttpServer) -> None:
    status, headers, _ = server.ask("GET", "/mcp")
    assert status == 405 and headers["allow"] == "POST, DELETE"


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.5.b", "002 2.7")
@pytest.mark.parametrize(
    "path", ["/mcp", "/sse", "/message?session_id=0", "/metrics", "/mcp/", "//mcp", "/MCP"]
)
def test_a_stranger_gets_nothing(server: HttpServer, path: str) -> None:
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"):
        for key in ("", BAD):
            status, headers, body = server.ask(method, path, b"{}", key=key)
            assert status in (401, 404, 405, 429), (method, key)
            assert b"tools" not in body, (method, key)
            assert "mcp-session-id" not in headers and "server" not in headers, (method, key)
            assert headers["x-content-type-options"] == "nosniff", (method, key)
            assert headers["x-frame-options"] == "DENY", (method, key)


def test_a_stranger_leaves_no_line_in_the_log(server: HttpServer) -> None:
    before = server.said
    assert [server.ask("POST", "/mcp", b"{}", key=key)[0] for key in ("", BAD)] == [401, 401]
    assert server.said == before


@pytest.mark.row("002 2.6")
def test_health_tells_a_stranger_the_status_alone(server: HttpServer) -> None:
    assert json.loads(server.ask("GET", "/health", key="")[2]) == {"status": "ok"}
    details = json.loads(server.ask("GET", "/health")[2])
    assert details["checks"]["engine"]["status"] == details["checks"]["papers"]["status"] == "ok"


@pytest.mark.row("002 2.7", "002 2.10.g")
def test_metrics_name_tools_and_routes_and_nothing_else(server: HttpServer) -> None:
    server.tool("recall", text="a-text-that-nobody-sees")
    server.call("tools/call", {"name": "no-such-tool-xyz", "arguments": {}})
    server.ask("GET", "/a-path-that-nobody-sees")
    server.ask("GET", "/health", key=BAD)
    status, _, body = server.ask("GET", "/metrics")
    text = body.decode()
    assert status == 200 and 'mcp_tool_calls_total{outcome="answered",tool="recall"}' in text
    assert "nobody-sees" not in text and "no-such-tool" not in text
    assert 'route="/mcp"' in text and 'tool="other"' in text


@pytest.mark.row("002 2.6", "002 2.7")
def test_sessions_are_counted_in_health_and_metrics(server: HttpServer) -> None:
    before = json.loads(server.ask("GET", "/health")[2])["sessions"]
    for count in (before + 1, before + 2):
        server.begin()
        assert json.loads(server.ask("GET", "/health")[2])["sessions"] == count
        assert f"mcp_sessions {count}.0\n" in server.ask("GET", "/metrics")[2].decode()


@pytest.mark.row("002 2.77")
def test_large_and_compressed_requests_are_refused(server: HttpServer) -> None:
    status, _, _ = server.ask("POST", "/mcp", headers={"Content-Length": str(5 * 1024 * 1024)})
    assert status == 413
    chunks = iter([b"x" * 1_000_000] * 5)
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as client:
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n"
        client.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks:
            try:
                client.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            except OSError:  # it was told already
                break
        assert b" 413 " in client.recv(1000)
    encoded = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    assert server.ask("POST", "/mcp", b"\x1f\x8b", headers=encoded)[0] == 415


@pytest.mark.row("002 2.82")
@pytest.mark.parametrize("name", ["evil.example", "evil.example:80", ""])
def test_another_host_is_refused(server: HttpServer, name: str) -> None:
    status, _, body = server.ask("GET", "/health", headers={"Host": name})
    assert status == 421 and "error" in json.loads(body)


@pytest.mark.row("002 2.69", "002 2.82")
def test_another_origin_is_refused(server: HttpServer) -> None:
    status, headers, _ = server.ask("GET", "/health", headers={"Origin": "https://evil.example"})
    assert status == 403 and "access-control-allow-origin" not in headers


def test_a_half_character_is_answered(server: HttpServer) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall"'
    body += b',"arguments":{"text":"\\ud800"}}}'
    kind = {"Content-Type": "application/json"}
    status, _, answer = server.ask("POST", "/mcp", body, headers=kind)
    assert status == 200 and json.loads(answer)["result"]["isError"]


@pytest.mark.row("002 2.5", "002 2.5.a", "002 2.5.b")
def test_a_client_of_2024_gives_its_key_once_in_the_address(server: HttpServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as stream:
        stream.sendall(f"GET /sse?accessKey={KEY} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        got = b""
        while b"session_id=" not in got:
            got += stream.recv(1000)
        path = "/message?session_id=" + got.split(b"session_id=")[1][:32].decode()
        info = {"name": "old", "version": "1"}
        params = {"protocolVersion": OLDER[0], "capabilities": {}, "clientInfo": info}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        assert server.ask("POST", path, hello, key="")[0] == 202
        while b"serverInfo" not in got:
            got += stream.recv(4000)
    assert KEY not in server.said


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.4", "002 2.10.g", "002 2.101")
def test_a_session_outlives_its_process_and_two_processes_share_it(tmp_path: Path) -> None:
    with HttpServer(tmp_path) as first:
        session = first.begin()
        first.tool("remember", session, content="The shop runs on Node 20", topic="shop")
        with HttpServer(tmp_path) as second:
            assert second.call("ping", session=session)[0] == 200
        assert first.end() == 0
    with HttpServer(tmp_path) as third:
        assert "Node 20" in third.tool("recall", session, text="node")
        header = {"Mcp-Session-Id": session}
        assert third.ask("DELETE", "/mcp", headers=header)[0] == 204


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.67.a")
def test_a_session_that_nobody_uses_is_counted_no_more(tmp_path: Path) -> None:
    with HttpServer(tmp_path, environment={"SESSION_TTL_MINUTES": "0.02"}) as server:
        session = server.begin()
        until(lambda: json.loads(server.ask("GET", "/health")[2])["sessions"] == 0)
        assert server.call("ping", session=session)[0] == 200  # the rooms have ended what was of it


@pytest.mark.long  # it costs much
def test_a_signal_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    saved = list[str]()

    def save(busy: HttpServer, number: int) -> None:
        while True:
            text = f"Fact {number}-{len(saved)} of a busy day"
            try:
                answer = busy.tool("remember", content=text, topic=f"t{number}")
            except (OSError, AssertionError, ValueError):
                return
            assert answer
            saved.append(text)

    with HttpServer(tmp_path) as busy, ThreadPoolExecutor(4) as workers:
        tasks = [workers.submit(save, busy, number) for number in range(4)]
        until(lambda: len(saved) >= 8)
        assert busy.end() == 0
        for task in tasks:
            task.result()
        assert "Traceback" not in busy.said
    with HttpServer(tmp_path) as again:
        stats = again.tool("memory_stats")
    assert saved and str(len(saved)) in stats.replace(",", "")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.5", "002 2.78")
def test_it_ends_though_streams_are_open(tmp_path: Path) -> None:
    with HttpServer(tmp_path, "--sse") as server:
        session = server.begin()
        header = f"Authorization: Bearer {KEY}\r\nMcp-Session-Id: {session}\r\n\r\n"
        streams = []
        for path in ("/mcp", "/sse"):
            stream = socket.create_connection(("127.0.0.1", server.port), WAIT_S)
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}".encode())
            assert b"200 OK" in stream.recv(1000)
            streams.append(stream)
        assert server.end() == 0
        for stream in streams:
            stream.close()


REFUSED = [
    (("--host", "0.0.0.0"), {}, "--url"),
    (("--url", "http://memory.example"), {}, "https"),
    (("--url", "https://memory.example/path"), {}, "without a path"),
    (("--no-auth", "--url", "https://memory.example"), {}, "keys add"),
    (("--host", "no-such-host.invalid"), {}, "--url"),
    ((), {"ALLOWED_ORIGINS": "*"}, "ALLOWED_ORIGINS"),
    ((), {"SESSION_TTL_MINUTES": "soon"}, "SESSION_TTL_MINUTES"),
    (("--rooms", "lessons,sessions"), {}, "--rooms fragments"),
    (("--http", "99999"), {}, "65535"),
]


@pytest.mark.row("002 2.67")
@pytest.mark.parametrize(("arguments", "environment", "word"), one_in(8, REFUSED, names=3))
def test_it_refuses_to_start_with_a_sentence(
    tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str], word: str
) -> None:
    with HttpServer(tmp_path, *arguments, environment=environment, waits=False) as server:
        assert server.process.wait(WAIT_S) == 2
        assert word in server.said and "did not start" in server.said


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.67")
def test_without_a_key_it_starts_only_for_this_machine(tmp_path: Path) -> None:
    with HttpServer(tmp_path, key="", waits=False) as server:
        assert server.process.wait(WAIT_S) == 2 and "keys add NAME" in server.said
    with HttpServer(tmp_path, "--no-auth", key="") as server:
        assert server.call("tools/list", session=server.begin())[0] == 200


@pytest.mark.long  # it costs much
def test_a_taken_port_is_said(tmp_path: Path, server: HttpServer) -> None:
    more = ("--http", str(server.port))
    with HttpServer(tmp_path, *more, waits=False) as other:
        assert other.process.wait(WAIT_S) == 2 and "taken" in other.said


@pytest.mark.long
def test_a_thousand_idle_and_slow_connections_leave_room_for_others(tmp_path: Path) -> None:
    with HttpServer(tmp_path) as server:
        server.begin()
        before = _rss(server.process.pid)
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(1_000)]
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(1_000)]
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n"
        for client in slow:
            client.sendall(head.encode() + b"Content-Length: 1000000\r\n\r\n{")
        assert server.call("ping")[0] == 200  # none of the slow ones has sent its body
        grown = _rss(server.process.pid) - before
        print(f"grown by {grown / 1e6:.1f} MB")
        assert grown < 120_000_000
        for client in (*idle, *slow):
            client.close()


def _rss(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


@pytest.mark.row("002 2.68")
def test_nothing_that_was_sent_is_in_what_the_server_says(server: HttpServer) -> None:
    server.ask("GET", "/mcp?secret=in-the-query", key=BAD)
    threads = [threading.Thread(target=server.begin) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert KEY not in server.said and BAD not in server.said and "in-the-query" not in server.said
    assert "Traceback" not in server.said
