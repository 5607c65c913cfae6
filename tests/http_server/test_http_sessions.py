"""Tests sessions over HTTP from their beginning to what is left of them."""

import json
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from http_server.keys import Keys
from http_server.papers import FILE_NAME, sqlite_papers
from rooms.fragments.upkeep.passes import STEPS
from tests.support.costly import one_in
from tests.support.http_server import KEY, OLDER, STATELESS, HttpServer
from tests.support.stdio_client import WAIT_S
from tests.support.waiting import until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    home = tmp_path_factory.mktemp("sessions")
    with HttpServer(home, "--sse") as running:
        yield running


def end_by_word(server: HttpServer, session: str) -> None:
    """End a session as its client does."""
    assert server.ask("DELETE", "/mcp", headers={"Mcp-Session-Id": session})[0] == 204


def end_by_itself(server: HttpServer, session: str) -> None:
    """Begin servers that look for silent sessions at once, until one of them ends this one."""
    home = server.stderr_path.parent

    def is_ended() -> bool:
        with HttpServer(home, environment={"SESSION_TTL_MINUTES": "0.01"}):
            return len(facts_of(server)) > 0

    until(is_ended)
    assert server.call("ping", session=session)[0] == 200  # its id is no row that could expire


def wait_for_facts(server: HttpServer) -> list[dict[str, Any]]:
    return until(lambda: facts_of(server))


def facts_of(server: HttpServer) -> list[dict[str, Any]]:
    """What was noted of sessions by itself, each as the resource of a fragment shows it."""
    listed = server.tool("recall", topic="session", includeLinks=False)
    found = list[dict[str, Any]]()
    for line in listed.splitlines():
        uri = {"uri": f"memory://fragment/{line.split()[0].lstrip('-').strip()}"} if line else {}
        _, _, answer = server.call("resources/read", uri)
        if "result" in answer:
            found.append(json.loads(answer["result"]["contents"][0]["text"]))
    return found


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("end", one_in(2, [end_by_word, end_by_itself]))
def test_a_session_that_wrote_and_never_reflected_leaves_one_fact_for_two_days(
    tmp_path: Path, end: Callable[[HttpServer, str], None]
) -> None:
    with HttpServer(tmp_path) as server:
        session = server.begin()
        server.tool("remember", session, content="The shop runs on Node 20", topic="shop")
        server.tool("remember", session, content="The port of today is 8123", scope="session")
        assert facts_of(server) == []
        end(server, session)
        [fact] = wait_for_facts(server)
        left = datetime.fromisoformat(fact["expires_at"]) - datetime.now(UTC)
        assert timedelta(hours=47) < left <= timedelta(hours=48)
        assert "8123" not in server.tool("recall", text="port today")  # of the session alone
        assert "Node 20" in server.tool("recall", text="node")
        later = server.begin()
        hint = server.tool("context", later)
        assert "reflect" in hint and session not in hint
        server.tool("reflect", later, summary="Learned that the shop runs on Node 20")
        end(server, later)
        assert len(facts_of(server)) == 1


@pytest.mark.long  # it costs much
def test_a_session_that_only_read_leaves_nothing(server: HttpServer) -> None:
    before, session = facts_of(server), server.begin()
    server.tool("recall", session, text="node")
    end_by_word(server, session)
    assert {it["id"] for it in facts_of(server)} == {it["id"] for it in before}


@pytest.mark.long  # it costs much
def test_a_session_is_its_keys_alone(tmp_path: Path) -> None:
    keys = Keys(sqlite_papers(tmp_path / "data" / "sentinel-memory" / FILE_NAME))
    other = keys.add("other")
    with HttpServer(tmp_path) as server:
        session = server.begin()
        header = {"Mcp-Session-Id": session}
        for method in ("GET", "DELETE"):
            assert server.ask(method, "/mcp", key=other, headers=header)[0] == 404
        status, _, answer = server.call("ping", session=session, key=other)
        assert status == 404 and "unknown or has ended" in answer["error"]["message"]
        assert server.call("ping", session=session)[0] == 200
        theirs = server.begin(key=other)
        keys.remove("other")
        assert server.call("ping", session=theirs, key=other)[0] == 401


@pytest.mark.parametrize("session", ["x", "x" * 199, "x" * 5_000, "%00", "' OR 1=1 --", "..", "é"])
def test_a_session_that_nobody_began_is_unknown(server: HttpServer, session: str) -> None:
    header = {"Mcp-Session-Id": session.encode().decode("latin-1")}
    for method in ("GET", "DELETE"):
        assert server.ask(method, "/mcp", headers=header)[0] == 404
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    status, _, answer = server.ask("POST", "/mcp", body, headers=header)
    assert status == 404 and json.loads(answer)["id"] == 1


def test_progress_of_a_consolidation_comes_in_the_stream_of_its_answer(server: HttpServer) -> None:
    server.tool("remember", content="The shop runs on Node 20", topic="shop")
    call = {"name": "memory_consolidate", "arguments": {}, "_meta": {"progressToken": "p-1"}}
    body = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}
    header = {"Mcp-Session-Id": server.begin()}
    status, headers, answer = server.ask("POST", "/mcp", body, headers=header)
    assert status == 200 and headers["content-type"].startswith("text/event-stream")
    lines = answer.decode().splitlines()
    *told, last = [json.loads(it[5:]) for it in lines if it.startswith("data:")]
    assert [it["params"]["progress"] for it in told] == list(range(1, len(STEPS) + 1))
    assert {it["params"]["progressToken"] for it in told} == {"p-1"}
    assert last["id"] == 9 and not last["result"].get("isError")


def test_progress_that_nobody_can_take_is_left_out(server: HttpServer) -> None:
    call = {"name": "memory_consolidate", "arguments": {}, "_meta": {"progressToken": "p-1"}}
    body = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}
    accept = {"Accept": "application/json"}
    status, headers, answer = server.ask("POST", "/mcp", body, headers=accept)
    assert status == 200 and headers["content-type"] == "application/json"
    assert json.loads(answer)["id"] == 9


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.1.a", "002 2.2", "002 2.4")
@pytest.mark.parametrize("version", OLDER)
def test_a_client_of_every_older_version_goes_through_a_session(
    server: HttpServer, version: str
) -> None:
    session = server.begin(version)
    assert len(session) >= 22
    sent = {"Mcp-Session-Id": session, "MCP-Protocol-Version": version}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert server.ask("POST", "/mcp", ready, headers=sent)[0] == 202
    call = {"name": "remember", "arguments": {"content": f"A client of {version} was here"}}
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    status, _, answer = server.ask("POST", "/mcp", body, headers=sent)
    assert status == 200 and not json.loads(answer)["result"].get("isError")
    end_by_word(server, session)
    assert server.ask("POST", "/mcp", body, headers=sent)[0] == 404


def test_a_version_that_nobody_speaks_is_answered_with_one_that_is(server: HttpServer) -> None:
    info = {"name": "tests", "version": "1"}
    for version in ("1999-01-01", "2099-01-01", ""):
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
        status, headers, answer = server.call("initialize", params)
        assert status == 200 and answer["result"]["protocolVersion"] == OLDER[-1]
        assert headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    status, _, body = server.ask("POST", "/mcp", ping, headers={"MCP-Protocol-Version": "1.0"})
    assert status == 400 and "error" in json.loads(body)


def test_a_client_without_sessions_is_the_same_one_all_day(server: HttpServer) -> None:
    """The newest protocol has none: what it calls itself and the day stand for one."""
    call = {"name": "remember", "arguments": {"content": "A note of today", "scope": "session"}}
    status, answer = server.call_stateless("tools/call", call)
    assert status == 200 and not answer["result"].get("isError")
    status, answer = server.call_stateless("tools/call", {"name": "context", "arguments": {}})
    assert "A note of today" in str(answer["result"]["content"])
    begun = json.loads(server.ask("GET", "/health")[2])["sessions"]
    status, answer = server.call_stateless("server/discover", {})
    assert status == 200 and STATELESS in str(answer["result"])
    assert json.loads(server.ask("GET", "/health")[2])["sessions"] == begun


@pytest.mark.long  # it costs much
def test_a_client_of_2024_calls_a_tool_over_its_stream_and_ends_with_it(
    tmp_path: Path,
) -> None:
    with HttpServer(tmp_path, "--sse") as server:
        path = called_over_a_stream(server)
        assert "old client" in server.tool("recall", text="old client")
        assert len(wait_for_facts(server)) == 1
        assert server.ask("POST", path, {}, key="")[0] == 401  # the stream had its credential


def called_over_a_stream(server: HttpServer) -> str:
    """Begin, save and go away as an old client does; return where its messages went."""
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as stream:
        got = b""

        def read_until(part: bytes) -> None:
            nonlocal got
            while part not in got:
                got += stream.recv(8_000)

        head = f"GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n\r\n"
        stream.sendall(head.encode())
        read_until(b"session_id=")
        path = "/message?session_id=" + got.split(b"session_id=")[1][:32].decode()
        info = {"name": "old", "version": "1"}
        hello = {"protocolVersion": OLDER[0], "capabilities": {}, "clientInfo": info}
        call = {"name": "remember", "arguments": {"content": "An old client was here"}}
        for number, (method, params) in enumerate(
            [("initialize", hello), ("tools/call", call)], start=1
        ):
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            assert server.ask("POST", path, body, key="")[0] == 202
            read_until(f'"id":{number}'.encode())
        assert server.ask("POST", path, {"jsonrpc": "2.0"}, key="wrong-key-of-nobody")[0] == 401
        status, _, refused = server.ask("POST", path, {"jsonrpc": "2.0", "id": 3}, key="")
        assert status == 400
        assert b"pydantic" not in refused and b"Nothing was changed" in refused
    return path
