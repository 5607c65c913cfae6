"""Tests a server over HTTP as clients and pages meet it: versions, sessions, streams, origins; and
its application in this process: who calls, how many, by which options.
"""

import argparse
import asyncio
import json
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from logging.handlers import TimedRotatingFileHandler
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import httpx2
import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.auth import OAuth
from fastmcp.exceptions import ToolError
from starlette.testclient import TestClient

from core.errors import link_error
from core.parser import add_serving
from core.program import LOGGER
from http_server.access_keys import Keys
from http_server.app import Service, assemble
from http_server.login import Access
from http_server.papers import FILE_NAME, sqlite_papers
from http_server.run import KEPT_DAYS, listen, open_daily_log, set_up_logs
from http_server.sessions import SESSIONS_AT_ONCE, Calls
from http_server.settings import Options, ServingError, read_options
from protocol.call import current_caller, with_sentences
from rooms.fragments.upkeep.passes import STEPS
from tests.http_server.broken_messages import CALL, known, spoilt, text_of
from tests.http_server.http_requests import requests_in, wrong_answers
from tests.support.consent_browser import agree
from tests.support.faults import Child
from tests.support.servers import BEARER, KEY, OLDER, STATELESS, WAIT_S, HttpServer, hello, until
from tests.support.tables import none_of, table, with_tuples

SEED, MOST_GROWTH_BYTES = 20261123, 20_000_000
URL, AGENTS, TOGETHER = "http://127.0.0.1:8000", 50, 10
ORIGIN, LOCAL = "https://pages.example", "http://localhost:3000"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    home = tmp_path_factory.mktemp("http")
    origins = {"ALLOWED_ORIGINS": f"{ORIGIN},{LOCAL}"}
    with HttpServer(home, "--sse", environment=origins, is_new=True) as running:
        running.tool("remember", content="The zebra stands at the server")
        yield running


@pytest.fixture(scope="module")
def other_key(server: HttpServer) -> str:
    papers = server.stderr_path.parent / "data" / "sentinel-memory" / FILE_NAME
    return Keys(sqlite_papers(papers)).add("other")


def of(session: str) -> dict[str, str]:
    return {"Mcp-Session-Id": session}


def end(server: HttpServer, session: str) -> None:
    assert server.ask("DELETE", "/mcp", headers=of(session))[0] == 204


def health(server: HttpServer) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(server.ask("GET", "/health")[2])
    return found


@pytest.mark.row("002 2.4", "002 2.4.b", "002 2.69", "002 2.77", "002 2.82")
def test_a_request_is_answered_as_its_row_tells(server: HttpServer, other_key: str) -> None:
    ended = server.begin()
    end(server, ended)
    facts = {"session": server.begin(), "ended": ended, "other": other_key}
    long = {"many": "x" * 5_000, "spaces": " " * 20_000, "port": str(server.port)}
    none_of(wrong_answers(server, requests_in("http_requests", facts | long)))


@pytest.mark.row("002 2.1.a", "002 2.2", "002 2.4")
@pytest.mark.parametrize("version", OLDER)
def test_a_client_of_every_older_version_goes_through_a_session(
    server: HttpServer, version: str
) -> None:
    session = server.begin(version)
    assert len(session) >= 22
    sent = of(session) | {"MCP-Protocol-Version": version}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert server.ask("POST", "/mcp", ready, headers=sent)[0] == 202
    call = {"name": "remember", "arguments": {"content": f"A client of {version} was here"}}
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    status, _, answer = server.ask("POST", "/mcp", body, headers=sent)
    assert status == 200 and not json.loads(answer)["result"].get("isError")
    end(server, session)
    assert server.ask("POST", "/mcp", body, headers=sent)[0] == 404


@pytest.mark.row("002 2.1.a")
def test_a_client_without_sessions_is_the_same_one_all_day(server: HttpServer) -> None:
    """The newest protocol has none: the client's name and the day stand for one."""
    status, answer = server.call_stateless("tools/list", {})
    assert status == 200 and len(answer["result"]["tools"]) == 13
    call = {"name": "remember", "arguments": {"content": "A note of today", "scope": "session"}}
    status, answer = server.call_stateless("tools/call", call)
    assert status == 200 and not answer["result"].get("isError")
    status, answer = server.call_stateless("tools/call", {"name": "context", "arguments": {}})
    assert "A note of today" in str(answer["result"]["content"])
    begun = health(server)["sessions"]
    status, answer = server.call_stateless("server/discover", {})
    assert status == 200 and STATELESS in str(answer["result"])
    assert health(server)["sessions"] == begun


@pytest.mark.long  # it costs much
def test_one_key_cannot_fill_the_database_with_sessions(server: HttpServer, other_key: str) -> None:
    for begun in range(SESSIONS_AT_ONCE * 2):
        status, headers, answer = server.call("initialize", hello(), key=other_key)
        if status != 200:
            assert begun >= SESSIONS_AT_ONCE
            break
    assert (status, headers["retry-after"]) == (429, "1")
    assert "too many sessions" in answer["error"]["message"]
    assert server.call("ping", key=other_key)[0] == 200
    assert server.begin()  # of another key


def facts_of(server: HttpServer) -> list[dict[str, Any]]:
    """The facts that the server noted of sessions, each as the resource of a fragment shows it."""
    found = list[dict[str, Any]]()
    for line in server.tool("recall", topic="session", includeLinks=False).splitlines():
        uri = {"uri": f"memory://fragment/{line.split()[0].lstrip('-').strip()}"} if line else {}
        _, _, answer = server.call("resources/read", uri)
        if "result" in answer:
            found.append(json.loads(answer["result"]["contents"][0]["text"]))
    return found


def new_facts(server: HttpServer, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    known_ids = {it["id"] for it in before}
    return [it for it in facts_of(server) if it["id"] not in known_ids]


def test_a_session_that_wrote_and_never_reflected_leaves_one_fact_for_two_days(
    server: HttpServer,
) -> None:
    before, session, reader = facts_of(server), server.begin(), server.begin()
    server.tool("recall", reader, text="node")
    server.tool("remember", session, content="The shop runs on Node 20", topic="shop")
    server.tool("remember", session, content="The port of today is 8123", scope="session")
    for _ in range(5):  # more calls than in other sessions of this minute: equal facts are one
        server.tool("recall", session, text="port")
    assert new_facts(server, before) == []
    end(server, reader)  # which has only read
    end(server, session)
    [fact] = until(lambda: new_facts(server, before))
    left = datetime.fromisoformat(fact["expires_at"]) - datetime.now(UTC)
    assert timedelta(hours=47) < left <= timedelta(hours=48)
    assert "8123" not in server.tool("recall", text="port today")  # of the session alone
    assert "Node 20" in server.tool("recall", text="node")
    later = server.begin()
    hint = server.tool("context", later)
    assert "reflect" in hint and session not in hint
    server.tool("reflect", later, summary="Learned that the shop runs on Node 20")
    end(server, later)
    assert len(new_facts(server, before)) == 1


# Streams.


@pytest.mark.row("002 2.4.a")
def test_a_stream_shows_that_it_is_alive_and_ends_with_its_session(server: HttpServer) -> None:
    session = server.begin()
    with server.stream("/mcp", BEARER, f"Mcp-Session-Id: {session}") as read_until:
        assert b"text/event-stream" in read_until(b": ping")
        end(server, session)
        read_until(b"0\r\n\r\n")


@pytest.mark.row("002 2.5", "002 2.5.a", "002 2.5.b")
@pytest.mark.parametrize(
    ("path", "headers", "saves"), [(f"/sse?accessKey={KEY}", [], 5), ("/sse", [BEARER], 6)]
)
def test_a_client_of_2024_calls_a_tool_over_its_stream_and_ends_with_it(
    server: HttpServer, other_key: str, path: str, headers: list[str], saves: int
) -> None:
    before = facts_of(server)  # two that ended in one minute with as many calls are one fact
    with server.stream(path, *headers) as read_until:
        begun = read_until(b"session_id=") and read_until(b"\r\n\r\n")
        path = "/message?session_id=" + begun.split(b"session_id=")[1][:32].decode()
        texts = [{"content": f"An old client was here: {it} of {saves}"} for it in range(saves)]
        calls = [("tools/call", {"name": "remember", "arguments": text}) for text in texts]
        messages = [("initialize", hello(OLDER[0])), *calls]
        for number, (method, params) in enumerate(messages, start=1):
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            assert server.ask("POST", path, body, key="")[0] == 202
            read_until(f'"id":{number}'.encode())
        assert server.ask("POST", path, PING, key="wrong-key-of-nobody")[0] == 401
        assert server.ask("POST", path, PING, key=other_key)[0] == 404
        status, _, refused = server.ask("POST", path, {"jsonrpc": "2.0", "id": 3}, key="")
        assert status == 400
        assert b"pydantic" not in refused and b"Nothing was changed" in refused
    assert "old client" in server.tool("recall", text="old client")
    assert len(until(lambda: new_facts(server, before))) == 1
    assert server.ask("POST", path, {}, key="")[0] == 401  # the stream had its credential
    assert KEY not in server.said


def test_progress_comes_in_the_stream_of_its_answer_where_it_can_be_taken(
    server: HttpServer,
) -> None:
    call = {"name": "memory_consolidate", "arguments": {}, "_meta": {"progressToken": "p-1"}}
    body = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}
    status, headers, answer = server.ask("POST", "/mcp", body, headers=of(server.begin()))
    assert status == 200 and headers["content-type"].startswith("text/event-stream")
    lines = answer.decode().splitlines()
    *told, last = [json.loads(it[5:]) for it in lines if it.startswith("data:")]
    assert [it["params"]["progress"] for it in told] == list(range(1, len(STEPS) + 1))
    assert {it["params"]["progressToken"] for it in told} == {"p-1"}
    assert last["id"] == 9 and not last["result"].get("isError")
    as_json = {"Accept": "application/json"}
    status, headers, answer = server.ask("POST", "/mcp", body, headers=as_json)
    assert status == 200 and headers["content-type"] == "application/json"
    assert json.loads(answer)["id"] == 9


# Broken messages, and counts.


@pytest.mark.row("002 2.6", "002 2.7")
def test_health_tells_a_stranger_the_status_alone(server: HttpServer) -> None:
    assert json.loads(server.ask("GET", "/health", key="")[2]) == {"status": "ok"}
    before = health(server)
    assert before["checks"] == {name: {"status": "ok"} for name in ("engine", "papers")}
    server.begin()
    assert health(server)["sessions"] == server.figure("mcp_sessions") == before["sessions"] + 1


@pytest.mark.row("002 2.7", "002 2.10.g")
def test_metrics_name_tools_and_routes_and_nothing_that_is_sent(server: HttpServer) -> None:
    refused = server.figure("http_wrong_credentials_total")
    assert [server.ask("POST", "/mcp", PING, key=it)[0] for it in ("", "wrong")] == [401, 401]
    assert server.figure("http_wrong_credentials_total") == refused + 1  # who has none tries none
    assert server.figure("http_held_body_bytes") == 0

    def series(round_: str) -> set[str]:
        for name in (f"{round_}{it}" for it in range(4)):
            server.ask("GET", f"/{name}")
            server.ask(f"M{name}".upper(), f"/mcp/{name}")
            server.ask("POST", f"/.well-known/{name}", b"{}")
            server.call("tools/call", {"name": name, "arguments": {}})
            server.call(name)
            server.call("initialize", hello(name=name))
            server.tool("recall", topic=name)
        text = server.ask("GET", "/metrics")[2].decode()
        return {it.rpartition(" ")[0] for it in text.splitlines() if not it.startswith("#")}

    series("zero")
    first = series("first")
    assert series("second") == first
    assert len(first) < 400 and not any("first" in it for it in first)
    assert 'mcp_tool_calls_total{outcome="answered",tool="recall"}' in first
    assert all(
        any(label in it for it in first) for label in ('route="/mcp"', 'refused",tool="other"')
    )


def wrong_answer(server: HttpServer, body: bytes, session: str = "") -> str:
    """The fault in the form of the answer to a body, "" for none."""
    headers = {"Content-Type": "application/json"} | (of(session) if session else {})
    status, found, answer = server.ask("POST", "/mcp", body, headers=headers)
    if status >= 500 or b"Traceback" in answer or b'.py\\", line' in answer:
        return f"{status}: {answer[:200]!r}"
    if status in (202, 204):
        return "" if not answer.strip() else f"{status} with a body: {answer[:100]!r}"
    text = answer.decode()
    if found.get("content-type", "").startswith("text/event-stream"):
        text = next(it[5:] for it in text.splitlines() if it.startswith("data:"))
    message = json.loads(text)
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return f"no message: {str(message)[:200]}"
    error = message.get("error")
    if ("result" in message) is (error is not None):
        return f"neither a result nor an error: {str(message)[:200]}"
    is_told = error is None or (type(error["code"]) is int and error["message"])
    return "" if is_told else f"an error without a reason: {error}"


def test_a_broken_message_is_answered_in_form(server: HttpServer) -> None:
    for name, body in known().items():
        assert (name, wrong_answer(server, body)) == (name, "")
    assert server.ask("GET", "/health")[0] == 200


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory as Linux tells it")
@pytest.mark.long  # it costs much
def test_messages_spoilt_at_random_are_answered_in_form_and_grow_no_server(
    server: HttpServer,
) -> None:
    session, sizes = server.begin(), list[int]()
    for seed, calls in ((SEED, 200), (SEED + 1, 600)):
        bodies = [*spoilt(seed, calls // 2), *[text_of(CALL)] * calls]
        with ThreadPoolExecutor(4) as threads:
            wrong = threads.map(lambda it: wrong_answer(server, it, session), bodies)
            assert [it for it in wrong if it] == []
        sizes.append(server.resident_bytes)
    assert sizes[1] - sizes[0] < MOST_GROWTH_BYTES
    assert "zebra" in server.tool("recall", query="zebra")
    assert "Traceback" not in server.said


# Other people's clients; FastMCP's login is the one of the protocol's own library.


class LoggingIn(OAuth):
    """Its login, with a key instead of a window. pages: how many it opened."""

    pages = 0

    async def redirect_handler(self, authorization_url: str) -> None:
        self.pages += 1
        asyncio.get_running_loop().run_in_executor(None, agree, authorization_url, KEY)


@pytest.mark.long  # it costs much
@pytest.mark.filterwarnings("ignore:Using in-memory token storage")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_client_of_fastmcp_logs_in_once_and_renews_its_token(
    server: HttpServer, mode: Any
) -> None:
    async def use(login: LoggingIn) -> list[str]:
        tokens = []
        async with Client(server.url, auth=login, mode=mode) as client:
            assert len(await client.list_tools()) == 13
            for number in range(2):
                await client.call_tool("remember", {"content": f"FastMCP in {mode}: {number}"})
                assert login.context.current_tokens
                tokens.append(login.context.current_tokens.access_token)
                login.context.token_expiry_time = time.time() - 1
        return tokens

    login = LoggingIn()
    first, second = asyncio.run(use(login))
    assert (login.pages, first == second, first[:4]) == (1, False, "smt_")
    for token in (first, second):
        assert server.call("tools/list", key=token)[0] == 200


# Its application in this process.


@contextmanager
def served(
    server: FastMCP, tmp_path: Path, tool: str, keys: int = 1, check: Any = None, **options: Any
) -> Iterator[tuple[TestClient, Calls, dict[str, str]]]:
    """A client of a server with one tool, its calls, and the keys of so many agents."""
    papers = sqlite_papers(tmp_path / "http_server.db")
    known = Keys(papers, keeps_agents_apart=True)
    secrets = {f"agent{it}": known.add(f"key{it}", f"agent{it}") for it in range(keys)}
    access = Access(papers, known, url=options.get("url") or URL)
    given: dict[str, Any] = {"tools": frozenset([tool]), "papers": papers, "auth": access}
    given["checks"] = {"engine": check} if check else {}
    service = Service(server=server, version="1", **given)
    app, calls = assemble(service, Options(port=8000, **options))
    headers = {"Accept": "application/json, text/event-stream"}
    with TestClient(app, base_url=URL, headers=headers) as client:
        yield client, calls, secrets


def call(name: str) -> dict[str, Any]:
    params = {"name": name, "arguments": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.row("002 2.19", "004 4.17")
def test_fifty_agents_at_once_are_each_known_by_their_own_name(tmp_path: Path) -> None:
    server, together = FastMCP("callers"), Barrier(TOGETHER)

    @server.tool
    def whoami() -> str:
        before = current_caller()
        together.wait(WAIT_S)  # others are in the same place now
        assert before == current_caller()
        return before.agent if before else ""

    with served(server, tmp_path, "whoami", AGENTS) as (client, _, secrets):

        def ask(agent: str) -> str:
            bearer = {"Authorization": f"Bearer {secrets[agent]}"}
            answer = client.post("/mcp", json=call("whoami"), headers=bearer)
            return str(answer.json()["result"]["content"][0]["text"])

        with ThreadPoolExecutor(AGENTS) as workers:
            assert list(workers.map(ask, secrets)) == list(secrets)
    assert current_caller() is None


@pytest.mark.parametrize("key", ["disk.link", "log_link", "log_link_gone_folder", "lock_link"])
def test_an_error_of_the_disk_tells_a_client_no_path_of_the_server(
    key: str, tmp_path: Path
) -> None:
    server, place = FastMCP("failing"), str(tmp_path)

    def save() -> str:
        raise link_error(key, path=place, link=f"{place}/link", target=f"{place}/a file")

    server.tool(with_sentences(save, ToolError))
    with served(server, tmp_path, "save") as (client, _, secrets):
        bearer = {"Authorization": f"Bearer {secrets['agent0']}"}
        answer = client.post("/mcp", json=call("save"), headers=bearer).json()["result"]
    assert answer["isError"] and "Nothing was" in str(answer) and place not in str(answer)


def test_calls_above_the_most_are_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, may_end, most = FastMCP("busy"), asyncio.Event(), 12
    monkeypatch.setattr("http_server.sessions.MOST_CALLS", most)

    @server.tool
    async def wait() -> str:
        await may_end.wait()
        return "done"

    with served(server, tmp_path, "wait") as (client, calls, secrets):

        async def use() -> None:
            headers = {**client.headers, "Authorization": f"Bearer {secrets['agent0']}"}
            to: Any = {"transport": httpx2.ASGITransport(client.app), "base_url": URL}
            async with httpx2.AsyncClient(**to, headers=headers) as http:
                begun = asyncio.gather(*(http.post("/mcp", json=call("wait")) for _ in range(most)))
                while calls.open_calls < most:
                    await asyncio.sleep(0.01)
                answer = await http.post("/mcp", json=call("wait"))
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
                assert "busy" in answer.json()["error"]["message"]
                assert (await http.get("/health")).status_code == 200
                may_end.set()
                assert all("done" in it.text for it in await begun)
                monkeypatch.setattr("http_server.sessions.MOST_STREAMS", 0)
                begin = PING | {"method": "initialize", "params": hello()}
                session = of((await http.post("/mcp", json=begin)).headers["mcp-session-id"])
                stream = await asyncio.wait_for(http.get("/mcp", headers=session), WAIT_S)
                assert stream.status_code == 503
                monkeypatch.setattr("http_server.limits.MOST_HELD_BYTES", 1_000)
                answer = await http.post("/mcp", json=call("w" * 1_000))
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
                assert (await http.post("/mcp", json=call("wait"))).status_code == 200

        assert client.portal
        client.portal.call(use)


@pytest.mark.row("002 2.6")
def test_health_waits_for_no_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("http_server.app.CHECK_S", 0.05)
    monkeypatch.setattr("http_server.app.FRESH_S", 3_600.0)
    is_over, checks = Event(), list[object]()

    def check() -> None:
        checks.append(None)
        is_over.wait(WAIT_S)

    with served(FastMCP("x"), tmp_path, "x", check=check) as (client, _, keys):
        key = {"Authorization": f"Bearer {keys['agent0']}"}
        answer, *_ = [client.get("/health", headers=key) for _ in range(9)]
        is_over.set()
    assert answer.status_code == 503 and len(checks) <= 1  # however many ask
    assert answer.json()["checks"] == {"engine": {"status": "failed", "fault": "no answer"}}


def test_a_server_answers_to_the_name_that_it_was_given(tmp_path: Path) -> None:
    url = "https://memory.example"
    with served(FastMCP("x"), tmp_path, "x", url=url, ttl_s=-1.0) as (client, calls, keys):
        for host, status in table("http_hosts").items():
            assert client.get("/health", headers={"Host": host}).status_code == status, host
        own = {"Host": "memory.example", "Origin": url}
        assert client.get("/health", headers=own).status_code == 200
        assert client.get("/sse", headers=own).status_code == 404  # it was not asked for
        wrong = {"Host": "memory.example", "Authorization": "Bearer wrong"}
        challenge = client.post("/mcp", json=PING, headers=wrong).headers["www-authenticate"]
        assert f"{url}/.well-known/" in challenge
        begin = PING | {"method": "initialize", "params": hello()}
        right = wrong | {"Authorization": f"Bearer {keys['agent0']}"}
        assert "mcp-session-id" in client.post("/mcp", json=begin, headers=right).headers
        assert calls.sessions == 0  # which were used within no time


# Options and the environment.


def options_of(*given: str, rooms: str = "fragments", **environment: str) -> Options:
    parser = argparse.ArgumentParser()
    add_serving(parser)
    parser.add_argument("--project")
    return read_options(parser.parse_args(given), environment, tuple(rooms.split(",")))


@pytest.mark.row("002 2.2", "002 2.3", "002 2.67", "002 2.67.a")
def test_options_and_environment_are_as_specified_and_a_wrong_one_is_refused() -> None:
    for arguments, given, values in table("http_options_read"):
        assert options_of(*arguments.split(), **given) == Options(**with_tuples(values))
    for arguments, given, word in table("http_options"):  # given: rooms, or variables
        with pytest.raises(ServingError) as refused:
            listen(options_of(*arguments.split(), **given)).close()
        assert word in str(refused.value) and "did not start" in str(refused.value)


def test_the_log_has_no_words_of_others_and_no_sign_a_terminal_obeys(tmp_path: Path) -> None:
    def work(_: object) -> str:
        set_up_logs(str(tmp_path), 1)
        logging.getLogger("mcp").error("what somebody wrote", exc_info=ValueError("and why"))
        logging.getLogger(LOGGER).error("of ours\x1b[31m")
        return ""

    with Child(work) as child:
        assert child.end()[0] == 0
    foreign, own = (tmp_path / "sentinel-memory-1.log").read_text("utf-8").splitlines()
    assert "error mcp test_http_server.py:" in foreign and foreign.endswith(" ValueError")
    assert "of ours" in own and "\x1b" not in own


@pytest.mark.row("002 2.68")
def test_the_log_begins_a_file_each_day_and_keeps_some(tmp_path: Path) -> None:
    daily = open_daily_log(str(tmp_path), 1)
    assert isinstance(daily, TimedRotatingFileHandler)
    daily.close()
    assert (daily.when, daily.backupCount, daily.utc) == ("MIDNIGHT", KEPT_DAYS, True)
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        with pytest.raises(ServingError, match="LOG_DIR"):
            open_daily_log(str(tmp_path / place), 1)
