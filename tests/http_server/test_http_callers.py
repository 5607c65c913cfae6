"""Tests that a tool knows who calls it, whoever else calls at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from fastmcp import FastMCP
from starlette.testclient import TestClient

from http_server.app import Service, assembled
from http_server.keys import Keys
from http_server.login import Access
from http_server.options import Options
from http_server.papers import sqlite_papers
from protocol.call import caller
from tests.support.stdio_client import WAIT_S

URL, AGENTS, TOGETHER = "http://127.0.0.1:8000", 50, 10


@pytest.mark.row("002 2.19", "004 4.17")
def test_fifty_agents_at_once_are_each_known_by_their_own_name(tmp_path: Path) -> None:
    papers = sqlite_papers(tmp_path / "http_server.db")
    keys = Keys(papers, keeps_agents_apart=True)
    secrets = {f"agent{it}": keys.add(f"key{it}", f"agent{it}") for it in range(AGENTS)}
    server = FastMCP("callers")
    together = Barrier(TOGETHER)

    @server.tool
    def whoami() -> str:
        before = caller()
        together.wait(WAIT_S)  # others are in the same place now
        assert before == caller()
        return before.agent if before else ""

    access = Access(papers, keys, url=URL)
    service = Service(
        server=server, version="1", tools=frozenset(["whoami"]), papers=papers, auth=access
    )
    served = assembled(service, Options(port=8000))
    headers = {"Accept": "application/json, text/event-stream"}
    call = {"name": "whoami", "arguments": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    with TestClient(served.app, base_url=URL) as client:

        def ask(agent: str) -> str:
            sent = {**headers, "Authorization": f"Bearer {secrets[agent]}"}
            answer = client.post("/mcp", json=message, headers=sent)
            return str(answer.json()["result"]["content"][0]["text"])

        with ThreadPoolExecutor(AGENTS) as workers:
            assert list(workers.map(ask, secrets)) == list(secrets)
    assert caller() is None
