"""Tests the application of a server in this process: who calls, how many, by which options."""

import argparse
import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from logging.handlers import TimedRotatingFileHandler
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx2
import pytest
from fastmcp import FastMCP
from starlette.testclient import TestClient

from core.parser import add_serving
from http_server.app import Service, assembled
from http_server.keys import Keys
from http_server.login import Access
from http_server.options import Options, ServingError, read_options
from http_server.papers import sqlite_papers
from http_server.run import KEPT_DAYS, daily_file, listen
from http_server.sessions import MOST_CALLS, Calls
from protocol.call import caller
from tests.support.servers import WAIT_S
from tests.support.tables import table

URL, AGENTS, TOGETHER = "http://127.0.0.1:8000", 50, 10
ACCEPT = {"Accept": "application/json, text/event-stream"}
ORIGIN, LOCAL = "https://pages.example", "http://localhost:3000"


@contextmanager
def served(
    server: FastMCP, tmp_path: Path, tool: str, keys: int = 1, **options: Any
) -> Iterator[tuple[TestClient, Calls, dict[str, str]]]:
    """A client of a server with one tool, its calls, and the keys of so many agents."""
    papers = sqlite_papers(tmp_path / "http_server.db")
    known = Keys(papers, keeps_agents_apart=True)
    secrets = {f"agent{it}": known.add(f"key{it}", f"agent{it}") for it in range(keys)}
    access = Access(papers, known, url=options.get("url") or URL)
    service = Service(
        server=server, version="1", tools=frozenset([tool]), papers=papers, auth=access
    )
    app, calls = assembled(service, Options(port=8000, **options))
    with TestClient(app, base_url=URL, headers=ACCEPT) as client:
        yield client, calls, secrets


def call(name: str) -> dict[str, Any]:
    params = {"name": name, "arguments": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.row("002 2.19", "004 4.17")
def test_fifty_agents_at_once_are_each_known_by_their_own_name(tmp_path: Path) -> None:
    server, together = FastMCP("callers"), Barrier(TOGETHER)

    @server.tool
    def whoami() -> str:
        before = caller()
        together.wait(WAIT_S)  # others are in the same place now
        assert before == caller()
        return before.agent if before else ""

    with served(server, tmp_path, "whoami", AGENTS) as (client, _, secrets):

        def ask(agent: str) -> str:
            bearer = {"Authorization": f"Bearer {secrets[agent]}"}
            answer = client.post("/mcp", json=call("whoami"), headers=bearer)
            return str(answer.json()["result"]["content"][0]["text"])

        with ThreadPoolExecutor(AGENTS) as workers:
            assert list(workers.map(ask, secrets)) == list(secrets)
    assert caller() is None


def test_calls_above_the_most_are_told_to_come_again(tmp_path: Path) -> None:
    server, may_end = FastMCP("busy"), asyncio.Event()

    @server.tool
    async def wait() -> str:
        await may_end.wait()
        return "done"

    with served(server, tmp_path, "wait") as (client, calls, secrets):

        async def use() -> None:
            bearer = {"Authorization": f"Bearer {secrets['agent0']}", **ACCEPT}
            transport = httpx2.ASGITransport(client.app)
            async with httpx2.AsyncClient(
                transport=transport, base_url=URL, headers=bearer
            ) as http:
                begun = [
                    asyncio.create_task(http.post("/mcp", json=call("wait")))
                    for _ in range(MOST_CALLS)
                ]
                while calls.under_way < MOST_CALLS:
                    await asyncio.sleep(0.01)
                answer = await http.post("/mcp", json=call("wait"))
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
                assert "busy" in answer.json()["error"]["message"]
                assert (await http.get("/health")).status_code == 200
                may_end.set()
                for it in begun:
                    assert "done" in (await it).text
                assert (await http.post("/mcp", json=call("wait"))).status_code == 200

        assert client.portal
        client.portal.call(use)


def test_without_a_named_origin_no_page_may_call_and_a_server_answers_to_its_name(
    tmp_path: Path,
) -> None:
    with served(FastMCP("closed"), tmp_path, "x") as (client, _, _):
        asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
        answer = client.options("/mcp", headers=asked)
        assert answer.status_code in (403, 405)
        assert not [it for it in answer.headers if it.startswith("access-control-allow-")]
        assert client.get("/health", headers={"Origin": URL}).status_code == 200
    url = "https://memory.example"
    with served(FastMCP("named"), tmp_path / "named", "x", url=url) as (client, _, _):
        names = {f"{it}.example": 200 for it in ("memory", "MEMORY")} | {"memory.example:443": 200}
        others = dict.fromkeys(("memory.example.evil.example", "xmemory.example"), 421)
        for host, status in (names | others).items():
            assert client.get("/health", headers={"Host": host}).status_code == status, host
        own = {"Host": "memory.example", "Origin": url}
        assert client.get("/health", headers=own).status_code == 200
        told = client.post("/mcp", json={}, headers={"Host": "memory.example"}).headers
        assert f"{url}/.well-known/" in told["www-authenticate"]


# Options and the environment.


def options_of(*given: str, rooms: str = "fragments", **environment: str) -> Options:
    parser = argparse.ArgumentParser()
    add_serving(parser)
    parser.add_argument("--project")
    return read_options(parser.parse_args(given), environment, tuple(rooms.split(",")))


@pytest.mark.row("002 2.2", "002 2.3", "002 2.67", "002 2.67.a")
def test_options_and_environment_are_as_specified_and_a_wrong_one_is_refused() -> None:
    read = options_of("--http")
    assert (read.port, read.host, read.ttl_s) == (56332, "127.0.0.1", 3600)
    assert (read.with_sse, read.is_open, read.origins, read.log_directory) == (False, False, (), "")
    given = {"PORT": "8080", "SESSION_TTL_MINUTES": "5", "LOG_DIR": "/var/log/mcp"}
    read = options_of("--http", **given, ALLOWED_ORIGINS=f"{ORIGIN}, {LOCAL}/")
    assert (read.port, read.ttl_s, read.log_directory) == (8080, 300, "/var/log/mcp")
    assert read.origins == (ORIGIN, LOCAL)
    assert options_of("--http", "9000", PORT="8080").port == 9000
    for arguments, given, word in table("http_options"):  # given: rooms, or variables
        with pytest.raises(ServingError) as refused:
            listen(options_of(*arguments.split(), **given)).close()
        assert word in str(refused.value) and "did not start" in str(refused.value)


@pytest.mark.row("002 2.68")
def test_the_log_begins_a_file_each_day_and_keeps_some(tmp_path: Path) -> None:
    daily = daily_file(str(tmp_path), 1)
    assert isinstance(daily, TimedRotatingFileHandler)
    daily.close()
    assert (daily.when, daily.backupCount, daily.utc) == ("MIDNIGHT", KEPT_DAYS, True)
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        with pytest.raises(ServingError, match="LOG_DIR"):
            daily_file(str(tmp_path / place), 1)
