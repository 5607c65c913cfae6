"""Tests what the server answers on the wire: what is no HTTP, is too much, or comes too slowly."""

import os
import resource
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from http_server.limits import MOST_HEAD_BYTES
from http_server.run import HEADERS_S, MOST_CONNECTIONS
from http_server.sessions import MOST_CALLS
from tests.support.http_server import KEY, HttpServer
from tests.support.stdio_client import WAIT_S
from tests.support.waiting import until

HOST = b"Host: 127.0.0.1\r\n"
MINE = (
    HOST
    + f"Authorization: Bearer {KEY}\r\nContent-Type: application/json\r\nAccept: */*\r\n".encode()
)
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(tmp_path_factory.mktemp("connections")) as running:
        yield running


def post(path: bytes, headers: bytes, body: bytes = b"", *, with_key: bool = True) -> bytes:
    return (
        b"POST " + path + b" HTTP/1.1\r\n" + (MINE if with_key else HOST) + headers + b"\r\n" + body
    )


NO_HTTP = [
    b"GARBAGE\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 32,  # a client that speaks TLS
    b"GET /health\r\n\r\n",
    b"GET /health HTTP/1.1\r\n\r\n",
    b"GET /health HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
    b"GET /health\x00 HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET /health HTTP/1.1\r\n" + HOST + b"A b: c\r\n\r\n",
    b"GET /health HTTP/1.1\r\n" + HOST + b"A: b\x00c\r\n\r\n",
    b"GET /h\xc3\xa9 HTTP/1.1\r\n" + HOST + b"\r\n",
    post(b"/mcp", b"Content-Length: -5\r\n", PING),
    post(b"/mcp", b"Content-Length: 5\r\nContent-Length: 6\r\n", PING),
    post(b"/mcp", b"Content-Length: five\r\n", PING),
    post(b"/mcp", b"Transfer-Encoding: chunked\r\n", b"XYZ\r\nabc\r\n0\r\n\r\n"),
    post(b"/mcp", b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n"),
]


def test_what_is_no_http_gets_a_sentence_and_its_connection_ends(server: HttpServer) -> None:
    for sent in NO_HTTP:
        got = server.raw(sent).decode()
        assert got.startswith("HTTP/1.1 400 Bad Request\r\n"), sent
        assert (got.count("HTTP/1.1 400"), "connection: close" in got.lower()) == (1, True), sent
        assert "Nothing was changed. Send " in got and "x-content-type-options: nosniff" in got
    assert server.call("ping")[0] == 200


@pytest.mark.long  # it costs much
def test_a_head_is_bounded_however_it_comes(server: HttpServer) -> None:
    most = b"x" * (MOST_HEAD_BYTES + 1)
    for line in (b"A: " + most, b"Cookie: " + most, b"Authorization: Bearer " + most):
        sent = b"GET /health HTTP/1.1\r\n" + HOST + line + b"\r\n\r\n"
        assert b" 431 " in server.raw(sent) and f"{MOST_HEAD_BYTES:,}".encode() in server.raw(sent)
    assert b" 431 " in server.raw(b"GET /health?" + most + b" HTTP/1.1\r\n" + HOST + b"\r\n")
    pieces = [b"GET /health HTTP/1.1\r\n" + HOST, *[b"A: " + b"x" * 1_000 + b"\r\n"] * 300]
    got = b""
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as client:
        try:
            for piece in pieces:
                client.sendall(piece)
            got = client.recv(1_000)
        except ConnectionError:  # it closed long before the last piece
            return
    assert got.startswith(b"HTTP/1.1 4")


def test_a_length_that_lies_moves_nobody_elses_request(server: HttpServer) -> None:
    short = server.raw(post(b"/mcp", b"Content-Length: 5\r\n", PING + b"\r\n\r\n"))
    assert short.count(b"HTTP/1.1 400 ") == 2  # five bytes are no message, what follows no HTTP
    for length in (5 * 1024 * 1024, 10**15, 10**19):
        got = server.raw(post(b"/mcp", b"Content-Length: %d\r\n" % length, PING))
        assert got.startswith(b"HTTP/1.1 413 ") and b"close" in got.lower()
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as gone:
        gone.sendall(post(b"/mcp", b"Content-Length: 1000\r\n", PING))
    assert server.call("ping")[0] == 200


def test_a_strangers_body_is_bounded_in_chunks_too(server: HttpServer) -> None:
    chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    for path in (b"/register", b"/token", b"/revoke", b"/consent"):
        sent = post(
            path, b"Transfer-Encoding: chunked\r\n", chunk * 2 + b"0\r\n\r\n", with_key=False
        )
        assert b"HTTP/1.1 413 " in server.raw(sent + b"GARBAGE\r\n\r\n"), path


def test_a_pipeline_is_answered_in_its_order(server: HttpServer) -> None:
    ask = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"
    call = post(b"/mcp", b"Content-Length: %d\r\n" % len(PING), PING)
    got = server.raw(ask + call + b"GET /no HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    assert [it[:3] for it in got.split(b"HTTP/1.1 ")[1:]] == [b"200", b"200", b"404"]


def test_nothing_is_put_into_an_answer_that_has_begun(server: HttpServer) -> None:
    session = f"Mcp-Session-Id: {server.begin()}\r\n".encode()
    head = b"GET /mcp HTTP/1.1\r\n" + MINE + session + b"Transfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as stream:
        stream.sendall(head)  # a body that nobody reads is still to come
        got = stream.recv(65_536)
        stream.sendall(b"no length of a piece\r\n")
        while some := stream.recv(65_536):
            got += some
    assert got.startswith(b"HTTP/1.1 200 ") and got.count(b"HTTP/1.1 ") == 1


@pytest.mark.long
def test_what_comes_too_slowly_is_told_so_and_let_go(server: HttpServer) -> None:
    began = time.monotonic()
    slow = {
        b" 408 ": [
            post(b"/mcp", b"Content-Length: 100\r\n", b"{"),
            post(b"/mcp", b"Transfer-Encoding: chunked\r\n", b"1\r\n{\r\n"),
            post(b"/register", b"Content-Length: 100\r\n", b"{", with_key=False),
        ],
        b"": [b"GET /health HTTP/1.1\r\n" + HOST, b"", b"G"],
    }
    asked = [(status, sent) for status, some in slow.items() for sent in some]
    with ThreadPoolExecutor(len(asked)) as threads:
        answers = list(threads.map(lambda it: server.raw(it[1]), asked))
    for (status, sent), got in zip(asked, answers, strict=True):
        assert status in got if status else got == b"", sent
        assert not got or (b"connection: close" in got.lower() and b"within" in got)
    assert HEADERS_S < time.monotonic() - began < 2 * WAIT_S


@contextmanager
def held(server: HttpServer) -> Iterator[None]:
    """Keep every save of a server waiting."""
    path = server.stderr_path.parent / "data" / "sentinel-memory" / "memory.db"
    rows = sqlite3.connect(path, isolation_level=None)
    rows.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        rows.rollback()
        rows.close()


def under_way(server: HttpServer) -> float:
    figures = server.ask("GET", "/metrics")[2].decode().splitlines()
    return next(float(it.split()[1]) for it in figures if it.startswith("mcp_calls_under_way "))


def wait_for_calls(server: HttpServer, count: int) -> None:
    until(lambda: under_way(server) >= count)


def takes_nobody_new(server: HttpServer) -> bool:
    try:
        server.ask("GET", "/health")
    except OSError:
        return True
    return False


@pytest.mark.long  # it costs much
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    patient = {"SENTINEL_MEMORY_LOCK_TIMEOUT_S": f"{2 * WAIT_S:.0f}"}
    with HttpServer(tmp_path, environment=patient) as one, ThreadPoolExecutor(1) as threads:
        one.tool("remember", content="The shop runs on Node 20")
        with held(one):
            waiting = threads.submit(one.tool, "remember", content="A save that waits")
            wait_for_calls(one, 1)
            one.process.send_signal(signal.SIGTERM)
            until(lambda: takes_nobody_new(one))  # while it waits for the save
            assert one.process.poll() is None
            assert one.end(signal.SIGTERM) == 128 + signal.SIGTERM
            assert waiting.exception()
    with HttpServer(tmp_path) as again:
        assert "waits" not in again.tool("recall", query="waits")


@pytest.mark.long
def test_calls_above_the_most_are_told_to_come_again(tmp_path: Path) -> None:
    with HttpServer(tmp_path) as one, ThreadPoolExecutor(MOST_CALLS) as threads:
        one.tool("remember", content="The shop runs on Node 20")
        with held(one):
            saves = [
                threads.submit(one.tool, "remember", content=f"Save {it} of a busy day")
                for it in range(MOST_CALLS)
            ]
            wait_for_calls(one, MOST_CALLS)
            status, headers, answer = one.call("ping")
            assert (status, headers["retry-after"]) == (503, "2")
            assert "busy" in answer["error"]["message"]
            until(lambda: one.ask("GET", "/health")[0] == 200)  # so many threads take their time
        assert all(it.result(WAIT_S) for it in saves)
        assert one.call("ping")[0] == 200


@pytest.mark.long
def test_connections_above_the_most_are_told_to_come_again(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < MOST_CONNECTIONS * 2:
        pytest.skip("the system allows too few connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, MOST_CONNECTIONS * 2), hard))
    with HttpServer(tmp_path) as one, ExitStack() as idle:
        for _ in range(MOST_CONNECTIONS):
            idle.enter_context(socket.create_connection(("127.0.0.1", one.port), WAIT_S))
        got = one.raw(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n")
        assert got.startswith(b"HTTP/1.1 503 ")
        idle.close()
        again = b"GET /health HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
        until(lambda: b" 200 OK" in one.raw(again))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
