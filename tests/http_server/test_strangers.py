"""Tests that no request without a key gets anything or leaves anything behind, and the answers on
the wire to bytes that are no HTTP, are too many, or come too slowly.
"""

import asyncio
import base64
import json
import resource
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from http_server.access_keys import Keys
from http_server.limits import MOST_BYTES, Bodies, Guard
from http_server.papers import FILE_NAME, sqlite_papers
from http_server.run import KEEP_ALIVE_S, MOST_CONNECTIONS, Connection
from tests.http_server.http_requests import requests_in, wrong_answers
from tests.support.servers import BEARER, KEY, WAIT_S, HttpServer, until
from tests.support.tables import none_of, table

NAME, TEXT = "laptop-of-kim", "The zebra stands at the server"
SECRETS = ("zebra", NAME, "remember", "inputSchema", "serverInfo", "0.10", "sentinel-memory/", KEY)
EVERY: dict[str, Any] = {  # answer to a stranger
    "key": "",
    "told": {"x-content-type-options": ["nosniff"], "x-frame-options": ["deny"]},
    "untold": ["mcp-session-id", "set-cookie", "server", "location"],
    "unsaid": SECRETS,
}


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
    """Every file below the home, every row of the databases, sessions, the output of the server."""
    home = server.stderr_path.parent
    found: dict[str, Any] = {"said": server.said}
    found["sessions"] = json.loads(server.ask("GET", "/health")[2])["sessions"]
    journals = ("-wal", "-shm")  # they come and go with who reads
    found["files"] = sorted(str(it) for it in home.rglob("*") if not it.name.endswith(journals))
    for path in data_of(home).glob("*.db"):
        with closing(sqlite3.connect(path)) as rows:
            names = "SELECT name FROM sqlite_master WHERE type = 'table'"
            for (name,) in list(rows.execute(f"{names} AND name NOT GLOB '*fts*'")):
                found[f"{path.name} {name}"] = list(rows.execute(f"SELECT * FROM {name}"))
    return found


@pytest.mark.row("002 2.5.b", "002 2.7")
def test_a_stranger_gets_nothing_by_any_request_and_leaves_nothing(server: HttpServer) -> None:
    basic = base64.b64encode(f"default:{KEY}".encode()).decode()
    facts = {"key": KEY, "basic": basic, "port": str(server.port)}
    tried = requests_in("http_strangers", facts, **EVERY)
    before = left_behind(server)
    assert len(tried) > 170
    none_of(wrong_answers(server, tried))
    assert left_behind(server) == before
    assert "zebra" in server.tool("recall", query="zebra")


HOST = b"Host: 127.0.0.1\r\n"
MINE = HOST + f"{BEARER}\r\nContent-Type: application/json\r\nAccept: */*\r\n".encode()
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
CLOSING = b"GET /health HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
MOST_GROWTH_BYTES = 120_000_000


def get(headers: bytes, path: bytes = b"/health") -> bytes:
    return b"GET " + path + b" HTTP/1.1\r\n" + HOST + headers + b"\r\n"


def post(path: bytes, headers: bytes, body: bytes = b"", *, mine: bytes = MINE) -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + mine + headers + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked\r\n"
NO_HTTP = table("no_http")  # in Latin-1, with `${mine}` for the lines of a head with a key


def test_bytes_that_are_no_http_get_a_sentence_and_the_connection_ends(server: HttpServer) -> None:
    for name, sent in NO_HTTP.items():
        got = server.raw(sent.encode("latin-1").replace(b"${mine}", MINE)).decode()
        assert got.startswith("HTTP/1.1 400 Bad Request\r\n"), name
        assert (got.count("HTTP/1.1 "), "connection: close" in got.lower()) == (1, True), name
        assert "Nothing was changed. Send " in got and "x-content-type-options: nosniff" in got


def test_a_head_is_bounded_however_it_comes(server: HttpServer) -> None:
    served = get(b"Connection: close\r\nA: " + b"x" * 30_000 + b"\r\n")
    assert server.raw(served).startswith(b"HTTP/1.1 200 ")
    most = b"x" * 32_769
    for line in (b"A: " + most, b"Cookie: " + most, b"Authorization: Bearer " + most):
        got = server.raw(get(line + b"\r\n"))
        assert b" 431 " in got and b"32,768" in got
    assert b" 431 " in server.raw(get(b"", b"/health?" + most))
    got = server.raw(get(b"").removesuffix(b"\r\n"), *[b"A: " + b"x" * 1_000 + b"\r\n"] * 300)
    assert got.startswith(b"HTTP/1.1 4") or not got  # it closed long before the last piece


@pytest.mark.row("002 2.77")
def test_large_and_compressed_requests_are_refused(server: HttpServer) -> None:
    for length in (MOST_BYTES + 1, 10**15, 10**19):
        got = server.raw(post(b"/mcp", b"Content-Length: %d\r\n" % length, PING))
        assert got.startswith(b"HTTP/1.1 413 ") and b"close" in got.lower()
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    assert b" 413 " in server.raw(post(b"/mcp", CHUNKED), *[chunk] * 5)
    encoded = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    assert server.ask("POST", "/mcp", b"\x1f\x8b", headers=encoded)[0] == 415
    chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    for path in (b"/register", b"/token", b"/revoke", b"/consent"):  # of strangers
        sent = post(path, CHUNKED, chunk * 2 + b"0\r\n\r\n", mine=HOST)
        assert b"HTTP/1.1 413 " in server.raw(sent + b"GARBAGE\r\n\r\n"), path


def test_a_pipeline_is_answered_in_its_order_and_a_length_that_lies_moves_nobody_else(
    server: HttpServer,
) -> None:
    call = post(b"/mcp", b"Content-Length: %d\r\n" % len(PING), PING)
    got = server.raw(get(b"") + call + get(b"Connection: close\r\n", b"/no"))
    assert [it[:3] for it in got.split(b"HTTP/1.1 ")[1:]] == [b"200", b"200", b"404"]
    short = server.raw(post(b"/mcp", b"Content-Length: 5\r\n", PING + b"\r\n\r\n"))
    assert short.count(b"HTTP/1.1 400 ") == 2  # five bytes are no message, the rest no HTTP
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as gone:
        gone.sendall(post(b"/mcp", b"Content-Length: 1000\r\n", PING))
    assert server.call("ping")[0] == 200


def test_nothing_is_put_into_an_answer_that_has_begun(server: HttpServer) -> None:
    head = f"{BEARER}\r\nMcp-Session-Id: {server.begin()}\r\n".encode() + CHUNKED
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as stream:
        stream.sendall(get(head, b"/mcp"))  # a body that nobody reads is still to come
        got = stream.recv(65_536)
        stream.sendall(b"no length of a piece\r\n")
        while some := stream.recv(65_536):
            got += some
    assert got.startswith(b"HTTP/1.1 200 ") and got.count(b"HTTP/1.1 ") == 1


class _Ahead(asyncio.SelectorEventLoop):
    """A loop for which a minute goes by whenever a test says so."""

    minutes = 0

    def time(self) -> float:
        return super().time() + 60 * self.minutes

    async def let_a_minute_go_by(self) -> None:
        for minutes in (0, 1):
            self.minutes += minutes
            for _ in range(9):
                await asyncio.sleep(0)  # the turn of everything else


HALF = b"x" * 4_000_000


def test_only_who_is_too_slow_is_let_go() -> None:
    loop = _Ahead()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await loop.let_a_minute_go_by()  # a long call
        length = (b"content-length", b"%d" % (2 * len(HALF)))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        for part in (HALF, b""):  # the second waits until the first is read
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await loop.let_a_minute_go_by()
        await send({"type": "http.response.body", "body": HALF})

    async def ask() -> None:
        guard = Guard(app, Bodies(), lambda *_: None)
        config = uvicorn.Config(guard, log_config=None, timeout_keep_alive=KEEP_ALIVE_S)
        config.load()
        connection = partial(Connection, config, uvicorn.server.ServerState(), {})
        serving = await loop.create_server(connection, "127.0.0.1", 0)
        address = serving.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(*address)
        for _ in range(2):
            writer.write(get(b""))
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(2 * len(HALF))
            await loop.let_a_minute_go_by()  # the connection rests
        for sent, words in table("too_slow"):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(sent.encode())
            await loop.let_a_minute_go_by()
            got = (await asyncio.wait_for(reader.read(), WAIT_S)).decode()
            assert all(word in got for word in words) if words else got == "", sent
        reader, writer = await asyncio.open_connection(*address, limit=1)
        writer.write(get(b""))
        for _ in range(2):
            await loop.let_a_minute_go_by()  # in which nobody reads the answer
        assert len(await reader.read()) < 2 * len(HALF)
        serving.close()

    loop.run_until_complete(ask())
    loop.close()


@pytest.mark.long
def test_idle_and_slow_connections_leave_room_for_others_up_to_the_most(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < MOST_CONNECTIONS * 2:
        pytest.skip("the system allows too few connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, MOST_CONNECTIONS * 2), hard))
    with HttpServer(tmp_path) as one, ExitStack() as opened:

        def open_more(count: int, head: bytes) -> None:
            for _ in range(count):
                client = socket.create_connection(("127.0.0.1", one.port), WAIT_S)
                opened.enter_context(client).sendall(head)

        one.begin()
        before = one.resident_bytes
        open_more(1_000, post(b"/mcp", b"Content-Length: 1000000\r\n", b"{"))
        open_more(1_000, b"")
        assert one.call("ping")[0] == 200  # none of the slow ones has sent its body
        assert one.resident_bytes - before < MOST_GROWTH_BYTES
        open_more(MOST_CONNECTIONS - 2_000, b"")
        assert one.raw(CLOSING).startswith(b"HTTP/1.1 503 ")
        opened.close()
        until(lambda: b" 200 OK" in one.raw(CLOSING))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
