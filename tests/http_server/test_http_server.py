"""Tests a server over HTTP as clients and pages meet it: versions, sessions, streams, origins.

What strangers try is in `test_strangers`, what is no HTTP in `test_connections`.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.auth import OAuth

from http_server.keys import Keys
from http_server.papers import FILE_NAME, sqlite_papers
from http_server.sessions import SESSIONS_AT_ONCE
from rooms.fragments.upkeep.passes import STEPS
from tests.support.broken_messages import known, spoilt
from tests.support.consent_browser import agree
from tests.support.servers import KEY, OLDER, STATELESS, HttpServer, bearer, hello, until

OURS, OTHER = "https://pages.example", "https://evil.example"
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,mcp-session-id,"
    "mcp-protocol-version,mcp-method",
}
ALLOW, JSON, SEED = "access-control-allow-", {"Content-Type": "application/json"}, 20261123
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    home = tmp_path_factory.mktemp("http")
    origins = {"ALLOWED_ORIGINS": f"{OURS},http://localhost:3000"}
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


# Versions and sessions.


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


def test_a_version_that_nobody_speaks_is_answered_with_one_that_is(server: HttpServer) -> None:
    for version in ("1999-01-01", "2099-01-01", ""):
        status, headers, answer = server.call("initialize", hello(version))
        assert status == 200 and answer["result"]["protocolVersion"] == OLDER[-1]
        assert headers["mcp-session-id"]
    status, _, body = server.ask("POST", "/mcp", PING, headers={"MCP-Protocol-Version": "1.0"})
    assert status == 400 and "error" in json.loads(body)
    status, headers, answer = server.call("initialize", {"protocolVersion": 7})
    assert "mcp-session-id" not in headers and (status >= 400 or "error" in answer)


def test_a_slash_behind_the_address_makes_no_difference(server: HttpServer) -> None:
    for padding in (0, 20_000):  # above what a form may have
        call = {"name": "recall", "arguments": {"query": "zebra"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        padded = f"{body}{' ' * padding}".encode()
        status, _, answer = server.ask("POST", "/mcp/", padded, headers=JSON)
        assert status == 200 and "zebra stands" in str(json.loads(answer)["result"]["content"])


@pytest.mark.row("002 2.1.a")
def test_a_client_without_sessions_is_the_same_one_all_day(server: HttpServer) -> None:
    """The newest protocol has none: what it calls itself and the day stand for one."""
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


@pytest.mark.row("002 2.4", "002 2.4.b")
def test_a_session_is_its_keys_alone(server: HttpServer, other_key: str) -> None:
    """Of another key, ended or never begun it is unknown, and the client is told what to do."""
    session, ended = server.begin(), server.begin()
    end(server, ended)
    tried = [(session, other_key), (ended, KEY)]
    tried += [(it, KEY) for it in ("x", "x" * 5_000, "%00", "' OR 1=1 --", "..", "é")]
    for name, key in tried:
        header = of(name.encode().decode("latin-1"))
        for method in ("GET", "DELETE"):
            assert server.ask(method, "/mcp", key=key, headers=header)[0] == 404, name
        status, _, answer = server.ask("POST", "/mcp", PING, key=key, headers=header)
        told = json.loads(answer)
        assert (status, told["id"]) == (404, 1), name
        assert "unknown or has ended" in told["error"]["message"]
        assert "initialize" in told["error"]["message"]
    assert server.call("ping", session=session)[0] == 200
    assert server.call("tools/list")[0] == 200  # a client without one is served


@pytest.mark.long  # it costs much
def test_one_key_cannot_fill_the_database_with_sessions(server: HttpServer, other_key: str) -> None:
    begun = 0
    for _ in range(SESSIONS_AT_ONCE * 2):
        status, headers, answer = server.call("initialize", hello(), key=other_key)
        if status != 200:
            break
        begun += 1
    assert (status, headers["retry-after"]) == (429, "1")
    assert "too many sessions" in answer["error"]["message"]
    assert SESSIONS_AT_ONCE <= begun < SESSIONS_AT_ONCE * 2
    assert server.call("ping", key=other_key)[0] == 200
    assert server.begin()  # of another key


def facts_of(server: HttpServer) -> list[dict[str, Any]]:
    """What was noted of sessions by itself, each as the resource of a fragment shows it."""
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
    with server.stream("/mcp", bearer(), f"Mcp-Session-Id: {session}") as stream:
        assert b"text/event-stream" in stream.until(b": ping")
        end(server, session)
        stream.until(b"0\r\n\r\n")
    status, headers, _ = server.ask("GET", "/mcp")  # a stream needs a session
    assert status == 405 and headers["allow"] == "POST, DELETE"


@pytest.mark.row("002 2.5", "002 2.5.a", "002 2.5.b")
@pytest.mark.parametrize(
    ("path", "headers", "saves"), [(f"/sse?accessKey={KEY}", [], 5), ("/sse", [bearer()], 6)]
)
def test_a_client_of_2024_calls_a_tool_over_its_stream_and_ends_with_it(
    server: HttpServer, other_key: str, path: str, headers: list[str], saves: int
) -> None:
    before = facts_of(server)  # two that ended in one minute with as many calls are one fact
    with server.stream(path, *headers) as stream:
        begun = stream.until(b"session_id=") and stream.until(b"\r\n\r\n")
        path = "/message?session_id=" + begun.split(b"session_id=")[1][:32].decode()
        texts = [{"content": f"An old client was here: {it} of {saves}"} for it in range(saves)]
        calls = [("tools/call", {"name": "remember", "arguments": text}) for text in texts]
        messages = [("initialize", hello(OLDER[0])), *calls]
        for number, (method, params) in enumerate(messages, start=1):
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            assert server.ask("POST", path, body, key="")[0] == 202
            stream.until(f'"id":{number}'.encode())
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
    status, headers, answer = server.ask(
        "POST", "/mcp", body, headers={"Accept": "application/json"}
    )
    assert status == 200 and headers["content-type"] == "application/json"
    assert json.loads(answer)["id"] == 9


# Pages in a browser: which origins may call, and what they are told.


def allowed(headers: dict[str, str], what: str) -> set[str]:
    return {it.strip().lower() for it in headers.get(ALLOW + what, "").split(",")}


def test_a_page_of_a_named_origin_asks_and_reads_answers_and_its_session(
    server: HttpServer,
) -> None:
    for path, origin in product(
        ("/mcp", "/sse", "/message", "/health"), (OURS, "http://localhost:3000")
    ):
        asked = PREFLIGHT | {"Origin": origin}
        status, headers, _ = server.ask("OPTIONS", path, key="", headers=asked)
        assert status == 200 and headers[ALLOW + "origin"] == origin
        assert {"get", "post", "delete"} <= allowed(headers, "methods")
        names = PREFLIGHT["Access-Control-Request-Headers"].split(",")
        assert {*names} <= allowed(headers, "headers")
        assert "origin" in headers["vary"].lower()
        assert int(headers["access-control-max-age"]) <= 600
        assert ALLOW + "credentials" not in headers  # a key travels in a header, never by itself
    begins = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()}
    status, headers, _ = server.ask("POST", "/mcp", begins, headers={"Origin": OURS})
    assert status == 200 and headers[ALLOW + "origin"] == OURS
    exposed = headers["access-control-expose-headers"].lower().replace(" ", "").split(",")
    assert headers["mcp-session-id"] and {"mcp-session-id", "www-authenticate"} <= {*exposed}
    status, headers, _ = server.ask("POST", "/mcp", begins, key="", headers={"Origin": OURS})
    assert status == 401 and headers[ALLOW + "origin"] == OURS  # so that it can ask for a login
    assert "resource_metadata" in headers["www-authenticate"]


@pytest.mark.row("002 2.69", "002 2.82")
def test_a_page_of_another_origin_is_told_nothing(server: HttpServer) -> None:
    for origin in (
        *(OTHER, "null", "", OURS.upper() + ".evil.example", OURS + ":8443"),
        *(OURS.replace("https", "http"), "https://xpages.example"),
        *("https://pages.example@evil.example", "http://localhost.evil.example:3000"),
    ):
        for method, path in (
            *((it, "/mcp") for it in ("OPTIONS", "POST", "GET")),
            ("GET", "/health"),
        ):
            headers = {**PREFLIGHT, "Origin": origin} if method == "OPTIONS" else {"Origin": origin}
            status, found, _ = server.ask(method, path, b"{}", headers=headers)
            assert found.get(ALLOW + "origin", "") not in ("*", origin or OTHER)
            assert status in ((400, 403, 405) if method == "OPTIONS" else (403,)) or not origin
            assert "mcp-session-id" not in found
    # Pages of any origin find the login.
    for name in ("oauth-authorization-server", "oauth-protected-resource"):
        asked = {"Origin": OURS}
        status, headers, _ = server.ask("GET", f"/.well-known/{name}", key="", headers=asked)
        assert status == 200 and headers[ALLOW + "origin"] in ("*", OURS)
    status, headers, _ = server.ask("GET", "/consent?txn=x", key="", headers={"Origin": OTHER})
    assert status in (400, 403) and ALLOW + "origin" not in headers
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.row("002 2.82")
def test_another_host_is_refused(server: HttpServer) -> None:
    served = dict.fromkeys(("localhost", "127.0.0.1", "LOCALHOST", "[::1]"), 200)
    refused = dict.fromkeys(("evil.example", "localhost.evil.example", ""), 421)
    for host, status in (served | refused).items():
        for name in (host, f"{host}:{server.port}" if host else ""):
            found, _, body = server.ask("GET", "/health", headers={"Host": name})
            assert found == status and ("error" in json.loads(body)) is (status == 421), name


# What is broken, and what is counted.


@pytest.mark.row("002 2.6", "002 2.7")
def test_health_tells_a_stranger_the_status_alone(server: HttpServer) -> None:
    assert json.loads(server.ask("GET", "/health", key="")[2]) == {"status": "ok"}
    before = health(server)
    assert before["checks"].keys() == {"engine", "papers"}
    assert {it["status"] for it in before["checks"].values()} == {"ok"}
    for count in (before["sessions"] + 1, before["sessions"] + 2):
        server.begin()
        assert health(server)["sessions"] == server.figure("mcp_sessions") == count


@pytest.mark.row("002 2.7", "002 2.10.g")
def test_metrics_name_tools_and_routes_and_nothing_that_is_sent(
    server: HttpServer,
) -> None:
    server.tool("recall", text="a-text-that-nobody-sees")
    server.call("tools/call", {"name": "no-such-tool-xyz", "arguments": {}})
    server.ask("GET", "/a-path-that-nobody-sees")
    status, _, body = server.ask("GET", "/metrics")
    text = body.decode()
    assert status == 200 and 'mcp_tool_calls_total{outcome="answered",tool="recall"}' in text
    assert "nobody-sees" not in text and "no-such-tool" not in text
    assert 'route="/mcp"' in text and 'tool="other"' in text

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


def wrong_answer(server: HttpServer, body: bytes, session: str = "") -> str:
    """What is wrong with the form of the answer to a body, "" for nothing."""
    headers = JSON | (of(session) if session else {})
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


@pytest.mark.long  # it costs much
def test_messages_spoilt_at_random_are_answered_in_form(server: HttpServer) -> None:
    session = server.begin()
    with ThreadPoolExecutor(4) as threads:
        wrong = threads.map(lambda it: wrong_answer(server, it, session), spoilt(SEED, 300))
        assert [it for it in wrong if it] == []
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
