"""Tests that two processes with one database are one site for a client that logs in by OAuth."""

from pathlib import Path

import httpx2
import pytest

from tests.support.http_server import HttpServer, free_port
from tests.support.login_flow import URL, Flow, sent_back
from tests.support.team_engines import TeamServer, team_server

__all__ = ["team_server"]


class Balancer(httpx2.HTTPTransport):
    """Hands what is sent to the address of the server to one of its processes."""

    port = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url.copy_with(host="127.0.0.1", port=self.port)
        sent = httpx2.Request(
            request.method,
            url,
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        return super().handle_request(sent)


class Client(Flow):
    """A client and its browser, before a balancer that a test sets."""

    def __init__(self) -> None:
        self.verifier, self._balancer = "v" * 43, Balancer()
        self.http = httpx2.Client(transport=self._balancer, base_url=URL)

    def at(self, server: HttpServer) -> "Client":
        """Let what follows reach this process."""
        self._balancer.port = server.port
        return self


def is_open(server: HttpServer, token: str) -> bool:
    status, _, _ = server.call("tools/list", key=token)
    assert status in (200, 401)
    return status == 200


def remembered(server: HttpServer, token: str, words: str) -> str:
    call = {"name": "recall", "arguments": {"query": words}}
    _, _, answer = server.call("tools/call", call, key=token)
    return str(answer["result"]["content"][0]["text"])


@pytest.mark.long
def test_a_login_goes_through_two_processes_and_outlives_both(
    team_server: TeamServer, tmp_path: Path
) -> None:
    environment = {"SENTINEL_MEMORY_FRAGMENTS": team_server.new_dsn(), "DB_MAX_CONNECTIONS": "4"}

    def started(name: str) -> HttpServer:
        home, port = tmp_path / name, free_port()
        return HttpServer(home, "--url", URL, port=port, environment=environment)

    client = Client()
    with started("one") as one, started("other") as other:
        name = client.at(one).client()
        page = client.at(other).page(name)
        told = client.at(one).answer(page, one.key)
        tokens = client.at(other).exchange(name, sent_back(told)["code"]).json()
        assert is_open(one, tokens["access_token"]) and is_open(other, tokens["access_token"])
        call = {"name": "remember", "arguments": {"content": "The shop runs on Node 20"}}
        one.call("tools/call", call, key=tokens["access_token"])
        assert one.end() == other.end() == 0
    with started("one") as one, started("other") as other:
        assert "Node 20" in remembered(other, tokens["access_token"], "node")
        renewed = client.at(one).renew(name, tokens["refresh_token"]).json()
        assert is_open(other, renewed["access_token"])
        again = client.at(other).renew(name, renewed["refresh_token"]).json()
        assert is_open(one, again["access_token"])
        gone = {"client_id": name, "token": again["refresh_token"]}
        assert client.at(one).http.post("/revoke", data=gone).status_code == 200
        given = (tokens, renewed, again)
        assert [is_open(server, it["access_token"]) for it in given for server in (other, one)] == (
            [False] * 6
        )
        assert client.at(other).renew(name, again["refresh_token"]).status_code == 401
