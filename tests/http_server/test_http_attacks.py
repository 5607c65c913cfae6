"""Tests attacks on a team's server as a stranger or another agent tries them: each has worked once,
or would be the first to be tried. A real process over a real PostgreSQL, but where a clock is set.
"""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from core.postgres.pool import Pool
from http_server.keys import Keys
from http_server.papers import postgres_papers
from http_server.sessions import SESSIONS_AT_ONCE
from tests.support.http_server import HttpServer
from tests.support.login_flow import BACK, Site
from tests.support.real_engines import free_port, postgres
from tests.support.team_engines import TeamServer, a_server
from tests.support.team_engines import team_server as team_server

PLACE = "SENTINEL_MEMORY_FRAGMENTS"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
AGENTS = ("alice", "bob", "default")
CHALLENGE = "a" * 43


class Team:
    """A server that agents reach with their keys; it believes a proxy who calls."""

    def __init__(self, home: Path, dsn: str) -> None:
        pool = Pool(a_server(dsn), path="agent_memory")
        keys = Keys(postgres_papers(pool), keeps_agents_apart=True)
        self.keys = {agent: keys.add(agent, agent) for agent in AGENTS}
        pool.close()
        port = str(free_port())
        more = ("--http", port, "--url", f"http://127.0.0.1:{port}", "--sse")
        self.http = HttpServer(home, *more, environment={PLACE: dsn})

    def tool(self, agent: str, name: str, **given: object) -> str:
        """What a tool tells an agent."""
        call = {"name": name, "arguments": given}
        _, _, answer = self.http.call("tools/call", call, key=self.keys[agent])
        return str(answer["result"]["content"][0]["text"])

    def saved(self, agent: str, content: str, **given: object) -> str:
        """The id of a fragment that an agent saves."""
        said = self.tool(agent, "remember", content=content, **given)
        [id_] = re.findall(r"^Remembered: (\w+)", said)
        return str(id_)

    def from_address(self, address: str, method: str, path: str, body: object = None) -> int:
        """The status that somebody at an address gets who has no key."""
        headers = {"X-Forwarded-For": address, "Content-Type": "application/json"}
        sent = json.dumps(body).encode() if body else None
        return self.http.ask(method, path, sent, key="", headers=headers)[0]


@pytest.fixture(scope="module")
def team(team_server: TeamServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    made = Team(tmp_path_factory.mktemp("team"), team_server.new_dsn())
    with made.http:
        yield made


# Strangers


STRANGE = {
    "a client": ("GET", "/authorize?client_id=%00", ""),
    "a client of a token": ("POST", "/token", "grant_type=refresh_token&client_id=%00"),
    "a client of a revocation": ("POST", "/revoke", "token=x&client_id=%00"),
    "a question": ("GET", "/consent?txn=%00", ""),
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("what", STRANGE)
def test_a_text_that_the_database_does_not_take_is_unknown(team: Team, what: str) -> None:
    method, path, form = STRANGE[what]
    status, _, body = team.http.ask(method, path, form.encode(), key="", headers=FORM)
    assert 400 <= status < 500
    assert b"postgresql" not in body
    assert "DataError" not in team.http.said


@pytest.mark.long  # it costs much
def test_a_refresh_token_and_a_state_that_the_database_does_not_take_are_refused(
    team: Team,
) -> None:
    client = _client(team)
    form = f"grant_type=refresh_token&client_id={client}&refresh_token=smr_%00.x"
    assert team.http.ask("POST", "/token", form.encode(), key="", headers=FORM)[0] == 401
    _, headers, _ = team.http.ask("GET", _asking(client, state="a\0b"), key="")
    assert headers["location"].startswith(f"{BACK}?error=invalid_request&")


AWAY = (
    ("POST", "/mcp", "application/json"),
    ("GET", "/authorize?client_id=x", "text/html"),
    ("GET", "/consent?txn=x", "text/html"),
    ("POST", "/token", "application/json"),
    ("POST", "/register", "application/json"),
)


@pytest.mark.long  # it costs much
def test_a_stranger_learns_nothing_of_a_database_that_is_away(tmp_path: Path) -> None:
    with postgres() as server:
        dsn = server.dsn(server.new_database())
        with HttpServer(tmp_path, environment={PLACE: dsn}) as running:
            running.ask("POST", "/mcp", {}, key="smk_x")
            server.stop()
            for method, path, kind in AWAY:
                form = b"grant_type=authorization_code&client_id=x&code=y&code_verifier=z"
                given = {"redirect_uris": [BACK]} if path == "/register" else form
                more = FORM if given == form else {}
                status, headers, body = running.ask(method, path, given, key="smk_x", headers=more)
                told = body.decode()
                assert kind in headers["content-type"], path
                assert ("temporarily_unavailable" in told) == (path in ("/token", "/register"))
                assert (status, headers["retry-after"]) == (503, "2"), path
                assert "cannot use its database" in told
                for piece in ("postgresql", str(server.directory), server.user):
                    assert piece not in told, path
            assert "postgresql://" in running.said  # the operator is told


@pytest.mark.long  # it costs much
def test_no_error_leads_from_this_server_to_an_address_of_a_strangers(site: Site) -> None:
    for address in ("https://evil.example/land", "steam://run/1", "cursor://localhost/x"):
        client = site.register(redirect_uris=[address]).json()["client_id"]
        for fault in ({"response_type": "x"}, {"code_challenge": None}, {"resource": "https://x/"}):
            answer = site.authorize(client, **{"redirect_uri": address, **fault})
            assert (answer.status_code, "location" in answer.headers) == (400, False), address
            assert "you were sent nowhere" in answer.text
            assert "evil" not in answer.text


def test_nobody_is_sent_to_an_address_that_shows_another_ones_name(site: Site) -> None:
    client = site.client()
    for user in ("bank.example@", "bank.example:443@", ":@", "@"):
        answer = site.authorize(client, redirect_uri=BACK.replace("//", f"//{user}"))
        shown = answer.headers.get("location", "")
        assert "consent" not in shown or "@127" not in site.http.get(shown).text, user


@pytest.mark.long  # it costs much
def test_one_address_does_not_crowd_out_the_questions_of_others(team: Team) -> None:
    client = _client(team)
    _, headers, _ = team.http.ask("GET", _asking(client), key="")
    page, cookie = headers["location"], headers["set-cookie"].partition(";")[0]
    codes = [team.from_address("203.0.113.8", "GET", _asking(client)) for _ in range(40)]
    assert (set(codes[:30]), codes[-1]) == ({302}, 429)
    path = page.removeprefix(team.http.url.removesuffix("/mcp"))
    assert team.http.ask("GET", path, key="", headers={"Cookie": cookie})[0] == 200


def test_a_request_with_two_lengths_is_refused_and_its_connection_ends(team: Team) -> None:
    smuggled = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    sent = (
        b"POST /token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled
    )
    with socket.create_connection(("127.0.0.1", team.http.port), timeout=60) as connection:
        connection.sendall(sent)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"its length in two ways" in answer
    assert answer.count(b"HTTP/1.1") == 1


# Other agents


MADE_UP = "zzzzzzzz"
NAMING = {
    "graph_explore": "startId",
    "forget": "id",
    "amend": "id",
    "pin": "id",
    "unpin": "id",
    "link to": "toId",
    "link from": "fromId",
    "remember": "linkedTo",
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("tool", NAMING)
def test_a_fragment_of_another_agent_is_as_unknown_as_one_that_never_was(
    team: Team, tool: str
) -> None:
    theirs = team.saved("alice", f"Alice keeps this for herself: {tool}", topic="vault")
    own = team.saved("bob", f"Bob keeps this: {tool}", topic="vault")
    told = []
    for id_ in (theirs, MADE_UP):
        given: dict[str, object] = {NAMING[tool]: id_}
        if tool.startswith("link "):
            given = {"fromId": own, "toId": own, **given, "relationType": "superseded_by"}
        if tool == "remember":
            given = {"content": "Bob points at it", "linkedTo": [id_]}
        if tool == "amend":
            given |= {"content": "Bob was here", "supersedes": True}
        if tool == "forget":
            given |= {"force": True, "hard": True}
        said = team.tool("bob", tool.partition(" ")[0], **given)
        told.append(said.replace(id_, "ID"))
    assert told[0] == told[1]
    assert "no such fragment" in told[0]
    assert "for herself" in team.tool("alice", "recall", topic="vault")


@pytest.mark.long  # it costs much
def test_the_resource_of_another_agents_fragment_is_unknown(team: Team) -> None:
    theirs = team.saved("alice", "Alice keeps this resource for herself")
    told = []
    for id_ in (theirs, MADE_UP, f"{theirs}' OR 'a'='a", f"../{theirs}", f"%00{theirs}"):
        uri = f"memory://fragment/{quote(id_, safe='%')}"
        _, _, answer = team.http.call("resources/read", {"uri": uri}, key=team.keys["bob"])
        assert "for herself" not in json.dumps(answer)
        told.append(json.dumps(answer).replace(id_, "ID"))
    assert told[0] == told[1]
    assert all('"error"' in it for it in told)


@pytest.mark.long  # it costs much
def test_an_agent_learns_not_how_many_fragments_others_have(team: Team) -> None:
    team.tool("bob", "memory_consolidate")
    team.saved("bob", "Bob has one more for the upkeep")
    alone = team.tool("bob", "memory_consolidate")
    team.saved("bob", "Bob has another one for the upkeep")
    for number in range(5):
        team.saved("alice", f"Alice has number {number} for the upkeep")
    assert team.tool("bob", "memory_consolidate") == alone == "Upkeep done, for all agents."


def test_a_session_and_a_stream_are_their_own_agents(team: Team) -> None:
    session = team.http.begin(key=team.keys["alice"])
    for method in ("POST", "GET", "DELETE"):
        headers = {"Mcp-Session-Id": session}
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"} if method == "POST" else None
        key = team.keys["bob"]
        assert team.http.ask(method, "/mcp", message, key=key, headers=headers)[0] == 404
    assert team.http.call("ping", session=session, key=team.keys["alice"])[0] == 200
    with socket.create_connection(("127.0.0.1", team.http.port), timeout=60) as stream:
        head = f"GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {team.keys['alice']}"
        stream.sendall(f"{head}\r\nAccept: text/event-stream\r\n\r\n".encode())
        told = b""
        while not (found := re.search(rb"session_id=(\w{32})", told)):
            told += stream.recv(4_096)
        path, ping = f"/message?session_id={found[1].decode()}", {"jsonrpc": "2.0", "id": 1}
        ping["method"] = "ping"
        assert team.http.ask("POST", path, ping, key=team.keys["bob"])[0] == 404
        assert team.http.ask("POST", path, ping, key="smk_x")[0] in (401, 429)
        assert team.http.ask("POST", path, ping, key=team.keys["alice"])[0] == 202


def _client(team: Team) -> str:
    body = {"redirect_uris": [BACK]}
    _, _, answer = team.http.ask("POST", "/register", body, key="")
    return str(json.loads(answer)["client_id"])


def _asking(client: str, **given: str) -> str:
    query = {
        "client_id": client,
        "redirect_uri": BACK,
        "response_type": "code",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **given,
    }
    return f"/authorize?{urlencode(query)}"


@pytest.mark.long  # it costs much
def test_one_key_cannot_fill_the_database_with_sessions(team: Team) -> None:
    client = {"name": "flood", "version": "1"}
    given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    begun = 0
    for _ in range(SESSIONS_AT_ONCE * 2):
        status, headers, answer = team.http.call("initialize", given, key=team.keys["bob"])
        if status != 200:
            break
        begun += 1
    assert (status, headers["retry-after"]) == (429, "1")
    assert "too many sessions" in answer["error"]["message"]
    assert SESSIONS_AT_ONCE <= begun < SESSIONS_AT_ONCE * 2
    assert team.http.call("initialize", given, key=team.keys["alice"])[0] == 200
    assert team.saved("bob", "The shop runs on Node")  # a session that is there goes on
