"""Tests which clients may register, and what the documents of the server tell them."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from http_server.provider import CLIENT_NAME_CHARS, MOST_URIS, redirect_fault
from tests.support.login_flow import BACK, URL, Site, sent_back


def test_a_redirect_goes_to_https_to_this_machine_or_to_a_program() -> None:
    good = (
        "https://claude.ai/api/mcp/auth_callback",
        "http://localhost:33418/callback?x=1",
        "http://127.0.0.1/",
        "http://[::1]:5000/cb",
        "cursor://anysphere.cursor-retrieval/oauth/callback",
        "com.example.app:/oauth",
    )
    bad = (
        "http://memory.example.org/cb",
        "http://127.0.0.1.example.org/",
        "https:///cb",
        "https://user@example.org/cb",
        "https://example.org/cb#part",
        "cursor://x/#",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ms-msdt:/id",
        "https://example.org/a b",
        "https://example.org/" + "a" * 1_000,
        "no address",
    )
    assert {it: redirect_fault(it) for it in good if redirect_fault(it)} == {}
    assert [it for it in bad if not redirect_fault(it)] == []


@pytest.mark.row("002 2.9.b")
def test_a_registration_keeps_the_least_and_gives_no_secret(site: Site) -> None:
    answer = site.register(
        client_name="My\u202e \u0007Client",
        token_endpoint_auth_method="client_secret_post",
        scope="openid email",
        logo_uri="https://example.org/logo.png",
        software_id="x",
    )
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    given = answer.json()
    assert given.pop("client_id") and given.pop("client_id_issued_at")
    assert given == {
        "client_name": "My Client",
        "grant_types": ["authorization_code", "refresh_token"],
        "redirect_uris": [BACK],
        "response_types": ["code"],
        "scope": "memory",
        "token_endpoint_auth_method": "none",
    }


def test_a_registration_has_limits(site: Site) -> None:
    faults: tuple[dict[str, Any], ...] = (
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": [f"{BACK}{n}" for n in range(MOST_URIS + 1)]},
        {"client_name": "x" * (CLIENT_NAME_CHARS + 1)},
    )
    for given in faults:
        assert site.register(**given).status_code == 400, given
    assert site.register(software_id="x" * 20_000).status_code == 413


@pytest.mark.long  # it costs much
def test_an_address_registers_no_more_than_some_clients(site: Site) -> None:
    codes = [site.register().status_code for _ in range(21)]
    assert codes == [201] * 20 + [429]
    assert int(site.register().headers["retry-after"]) > 0


@pytest.mark.row("002 2.8", "002 2.8.a")
def test_both_documents_are_where_clients_look(site: Site) -> None:
    server = site.http.get("/.well-known/oauth-authorization-server")
    assert server.json() == {
        "issuer": f"{URL}/",
        "authorization_endpoint": f"{URL}/authorize",
        "token_endpoint": f"{URL}/token",
        "registration_endpoint": f"{URL}/register",
        "revocation_endpoint": f"{URL}/revoke",
        "scopes_supported": ["memory"],
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
    resource = site.http.get("/.well-known/oauth-protected-resource/mcp")
    assert resource.json() == {
        "resource": f"{URL}/mcp",
        "authorization_servers": [f"{URL}/"],
        "scopes_supported": ["memory"],
        "bearer_methods_supported": ["header"],
    }
    for path, document in (
        ("oauth-authorization-server/mcp", server),
        ("oauth-protected-resource", resource),
    ):
        assert site.http.get(f"/.well-known/{path}").json() == document.json(), path
    headers = {"Origin": "https://inspector.example", "Access-Control-Request-Method": "POST"}
    allowed = site.http.options("/token", headers=headers).headers
    assert allowed["access-control-allow-origin"] == "*"


def test_a_client_that_nobody_registered_is_unknown(site: Site) -> None:
    client = site.client()
    facts, _, signature = client.partition(".")
    other, _, others = site.client().partition(".")
    for made_up in ("x.y", f"{facts}.", f"{facts}.x", f"{other}.{signature}", f"{facts}.{others}"):
        assert site.authorize(made_up).status_code == 400, made_up
    session = site.access.grants.seal.sealed("session", {"name": "x", "redirect_uris": [BACK]})
    assert site.authorize(session).status_code == 400  # sealed for another use
    assert site.authorize(client).status_code == 302


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_each_name_of_this_machine_logs_in(tmp_path: Path, name: str) -> None:
    site = Site(tmp_path / "http_server.db", url="http://127.0.0.1:8123")
    url = f"http://{name}:8123"
    site.http.base_url = httpx2.URL(url)
    told = site.http.get("/mcp").headers.get("www-authenticate", "")
    assert "resource_metadata" not in told or url in told
    document = site.http.get("/.well-known/oauth-protected-resource/mcp").json()
    assert document["resource"] == f"{url}/mcp"
    assert document["authorization_servers"] == [f"{url}/"]
    server = site.http.get("/.well-known/oauth-authorization-server").json()
    assert {server["issuer"], server["token_endpoint"]} == {f"{url}/", f"{url}/token"}
    client, key = site.client(), site.keys.add("laptop")
    address = site.authorize(client, resource=f"{url}/mcp").headers["location"]
    assert address.startswith(f"{url}/consent?")
    code = sent_back(site.answer(site.http.get(address), key))["code"]
    tokens = site.exchange(client, code, resource=f"{url}/mcp").json()
    assert site.is_open(tokens["access_token"])
