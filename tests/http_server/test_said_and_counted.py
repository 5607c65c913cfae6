"""Tests what the server says aloud, to its log and in its figures: nothing that was sent to it."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from http_server.keys import Keys
from http_server.papers import papers_of
from tests.support.http_server import KEY, STATELESS, HttpServer
from tests.support.real_engines import postgres
from tests.support.stdio_client import WAIT_S
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server
from tests.support.waiting import until

PLACE = "SENTINEL_MEMORY_FRAGMENTS"
PASSWORD = "pass-word-of-the-database"
TOKEN = "ghp_" + "a1B2c3D4e5" * 4  # of a kind that is redacted, too


def sent_everywhere(server: HttpServer, secret: str) -> None:
    """Send a text in every place that a request has."""
    call = {"name": "recall", "arguments": {"text": secret, secret: secret, "agentId": secret}}
    tool = {"name": secret, "arguments": {"a": secret}}
    info = {"name": secret, "version": secret}
    hello = {"protocolVersion": secret, "capabilities": {}, "clientInfo": info}
    for method, params in (
        ("initialize", hello),
        ("tools/call", call),
        ("tools/call", tool),
        ("tools/call", {"name": "remember", "arguments": {"content": secret, "type": secret}}),
        ("resources/read", {"uri": f"memory://fragment/{secret}"}),
        ("resources/read", {"uri": secret}),
        ("prompts/get", {"name": secret}),
        (secret, {secret: secret}),
        ("notifications/cancelled", {"requestId": secret, "reason": secret}),
    ):
        body = {"jsonrpc": "2.0", "id": secret, "method": method, "params": params}
        server.ask("POST", "/mcp", body)
        stateless = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": secret, "Mcp-Name": secret}
        server.ask("POST", "/mcp", body, headers=stateless)
    server.ask("POST", "/mcp", secret.encode(), headers={"Content-Type": "application/json"})
    for name in (
        "User-Agent", "Cookie", "Referer", "Origin", "Host", "Mcp-Session-Id", "Content-Type",
        "Accept", "MCP-Protocol-Version", "Last-Event-ID", "X-Forwarded-For", "Content-Encoding",
        "Access-Control-Request-Method", secret,
    ):  # fmt: skip
        for method in ("GET", "POST", "OPTIONS", "DELETE"):
            server.ask(method, "/mcp", b"{}", headers={name: secret})
    server.ask("GET", "/mcp", headers={"Authorization": f"Bearer {secret}"}, key="")
    server.ask("GET", "/mcp", headers={"Authorization": f"Basic {secret}"}, key="")
    for path in ("/{}", "/mcp?{}={}", "/sse?accessKey={}", "/authorize?client_id={}&state={}",
                 "/consent?txn={}", "/.well-known/{}", "/message?session_id={}"):  # fmt: skip
        for method in ("GET", "POST", secret.upper().replace("_", "")[:20]):
            form = f"token={secret}".encode()
            server.ask(method, path.format(secret, secret), form, key="")  # /sse would not end
    for path in ("/token", "/register", "/revoke", "/consent"):
        server.ask("POST", path, f"client_id={secret}&key={secret}".encode(), key="")
        server.ask("POST", path, {"client_name": secret, "redirect_uris": [secret]}, key="")
    server.raw(f"{secret}\r\n\r\n".encode())
    server.raw(f"GET /{secret} HTTP/1.1\r\nHost: {secret}\r\nA{secret}\r\n\r\n".encode())


@pytest.mark.long  # it costs much
def test_no_text_of_anybody_is_in_the_log_the_figures_or_the_health(
    team_server: TeamServer, tmp_path: Path
) -> None:
    log, dsn = tmp_path / "log", team_server.new_dsn().replace("owner@", f"owner:{PASSWORD}@")
    environment = {PLACE: dsn, "LOG_DIR": str(log)}
    with HttpServer(tmp_path / "home", "--sse", environment=environment) as server:
        sent_everywhere(server, TOKEN)
        figures, health = (server.ask("GET", it)[2].decode() for it in ("/metrics", "/health"))
        [file] = log.iterdir()
        for told in (server.said, file.read_text("utf-8"), figures, health):
            assert told
            for secret in (TOKEN, KEY, PASSWORD, TOKEN[:20].upper().replace("_", "")):
                assert secret not in told
        assert "Traceback" not in server.said and "failed" not in server.said


@pytest.mark.long
def test_the_names_of_figures_do_not_grow_with_what_is_sent(tmp_path: Path) -> None:
    with HttpServer(tmp_path) as server:

        def series(round_: str) -> set[str]:
            for it in range(40):
                name = f"{round_}{it}"
                server.ask("GET", f"/{name}")
                server.ask(f"M{name}".upper(), f"/mcp/{name}")
                server.ask("POST", f"/.well-known/{name}", b"{}")
                server.call("tools/call", {"name": name, "arguments": {}})
                server.call(name)
                info = {"name": name, "version": name}
                hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
                server.call("initialize", hello)
                server.tool("recall", topic=name)
            text = server.ask("GET", "/metrics")[2].decode()
            return {it.rpartition(" ")[0] for it in text.splitlines() if not it.startswith("#")}

        server.ask("GET", "/metrics")
        first = series("first")
        assert series("second") == first
        assert len(first) < 400 and not any("first" in it for it in first)


@contextmanager
def locked(dsn: str) -> Iterator[None]:
    """Keep everybody from the fragments."""
    import psycopg

    with psycopg.connect(dsn) as connection:
        connection.execute("LOCK TABLE agent_memory.fragments IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


def figure(server: HttpServer, name: str) -> float:
    text = server.ask("GET", "/metrics")[2].decode()
    [found] = re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)
    return float(found)


def wait_for(server: HttpServer, name: str, value: float) -> None:
    until(lambda: figure(server, name) == value)


@pytest.mark.long
def test_the_figures_tell_how_the_connections_are_used(
    team_server: TeamServer, tmp_path: Path
) -> None:
    dsn = team_server.new_dsn()
    environment = {PLACE: dsn, "DB_MAX_CONNECTIONS": "2", "DB_CONN_TIMEOUT_MS": "15000"}
    with (
        HttpServer(tmp_path, environment=environment) as server,
        ThreadPoolExecutor(5) as threads,
    ):
        server.tool("remember", content="The shop runs on Node 20", topic="shop")
        wait_for(server, "db_connections_in_use", 0)
        assert figure(server, "db_connections_idle") in (1, 2)
        with locked(dsn):
            asked = [threads.submit(server.tool, "recall", text="node") for _ in range(5)]
            wait_for(server, "db_connections_in_use", 2)
            wait_for(server, "db_calls_waiting", 3)
            assert figure(server, "db_connections_idle") == 0
            answers = [it.result(WAIT_S) for it in asked]
        assert all("Nothing was saved" in it for it in answers), answers
        assert any("All 2 connections" in it for it in answers), answers
        assert "postgresql" not in str(answers) and "postgresql" in server.said
        assert "Node 20" in server.tool("recall", text="node")


@pytest.mark.long  # it costs much
def test_one_consolidation_runs_at_a_time(team_server: TeamServer, tmp_path: Path) -> None:
    dsn = team_server.new_dsn()
    with (
        HttpServer(tmp_path, environment={PLACE: dsn, "DB_CONN_TIMEOUT_MS": "60000"}) as server,
        ThreadPoolExecutor(1) as threads,
    ):
        server.tool("remember", content="The shop runs on Node 20", topic="shop")
        with locked(dsn):
            first = threads.submit(server.tool, "memory_consolidate")
            wait_for(server, "mcp_calls_under_way", 1)
            for _ in range(20):
                assert "already, for another call" in server.tool("memory_consolidate")
            assert not first.done()  # none of them has waited for it
        assert "already" not in first.result(WAIT_S)
        assert "already" not in server.tool("memory_consolidate")


@pytest.mark.long
def test_calls_and_health_come_back_with_postgresql(tmp_path: Path) -> None:
    with postgres() as database:
        dsn = database.dsn(database.new_database())
        environment = {PLACE: dsn, "DB_CONN_TIMEOUT_MS": "1000"}
        with HttpServer(tmp_path, environment=environment) as server:
            server.tool("remember", content="The shop runs on Node 20", topic="shop")
            papers = papers_of({PLACE: dsn})
            key = Keys(papers, keeps_agents_apart=True).add("laptop", "alice")
            papers.close()
            session = server.begin(key=key)
            database.stop("fast")  # it keeps what it has not yet on disk
            status, headers, answer = server.call("ping", session=session, key=key)
            assert status == 503 and headers["retry-after"] == "2"
            refused = server.tool("recall", text="node")
            assert "Node 20" not in refused and "Nothing was" in refused
            stranger = server.ask("POST", "/mcp", {}, key="smk_" + "A" * 43)
            login = server.ask("GET", "/authorize?client_id=x&response_type=code", key="")
            health = server.ask("GET", "/health")
            assert stranger[0] == login[0] == health[0] == 503
            for told in (answer, refused, stranger, login, health):
                assert "postgresql" not in str(told) and dsn[-12:] not in str(told)
                assert database.directory.name not in str(told) and database.user not in str(told)
            status, _, body = server.ask("GET", "/health", key=key)  # whose it is nobody can tell
            assert (status, json.loads(body)) == (503, {"status": "failed"})
            assert "mcp_sessions 1.0" in server.ask("GET", "/metrics")[2].decode()
            database.start()
            until(lambda: server.ask("GET", "/health")[0] == 200)
            assert server.call("ping", session=session, key=key)[0] == 200
            assert "Node 20" in server.tool("recall", text="node")
        assert "Traceback" not in server.said


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_directory_for_the_log_that_is_none_is_said(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with HttpServer(tmp_path, environment={"LOG_DIR": str(tmp_path / place)}, waits=False) as one:
        assert one.process.wait(WAIT_S) == 2
        assert "LOG_DIR" in one.said and "did not start" in one.said


@pytest.mark.long  # it costs much
def test_processes_of_one_machine_write_files_of_their_own(tmp_path: Path) -> None:
    log = tmp_path / "home" / "log"
    given = {"LOG_DIR": "~/log", "HOME": str(tmp_path / "home")}
    with (
        HttpServer(tmp_path / "one", environment=given) as one,
        HttpServer(tmp_path / "two", environment=given) as two,
    ):
        names = {it.name for it in log.iterdir()}
        assert names == {f"sentinel-memory-{it.port}.log" for it in (one, two)}
        assert json.loads(one.ask("GET", "/health")[2])["status"] == "ok"
    with HttpServer(tmp_path / "one", "--http", str(one.port), environment=given) as again:
        assert again.end() == 0
    text = (log / f"sentinel-memory-{one.port}.log").read_text("utf-8")
    assert text.count("is served") == 2 and "ends" in text  # goes on where it was
