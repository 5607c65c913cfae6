"""Tests that OAuth gives tokens to who has a key, once and to the right client, and to no one else.

https://www.rfc-editor.org/rfc/rfc6749, https://www.rfc-editor.org/rfc/rfc7636
"""

import logging
from pathlib import Path

import pytest

from http_server.grants import ACCESS_S, CODE_S, CONSENT_S, REFRESH_S
from http_server.keys import Credential
from tests.support.login_flow import BACK, URL, Site, sent_back


@pytest.mark.row("002 2.2")
def test_a_key_on_the_page_gives_tokens_that_open_the_door(site: Site) -> None:
    key, client = site.keys.add("laptop"), site.client()
    answer = sent_back(site.answer(site.page(client), key))
    assert (answer["state"], answer["iss"]) == ("s&1", f"{URL}/")
    tokens = site.exchange(client, answer["code"]).json()
    assert tokens["token_type"] == "Bearer"
    assert (tokens["expires_in"], tokens["scope"]) == (3_600, "memory")
    assert site.is_open(tokens["access_token"])
    assert site.is_open(key)
    assert not site.is_open(tokens["refresh_token"])
    assert not site.is_open(tokens["access_token"] + "x")
    [listed] = site.keys.listed()
    assert (listed.name, listed.tokens) == ("laptop", 2)


@pytest.mark.row("002 2.9")
def test_a_challenge_must_be_one_of_s256(site: Site) -> None:
    client = site.client()
    faults: list[dict[str, str | None]] = [
        {"code_challenge": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"code_challenge": "short"},
    ]
    for given in faults:
        address = site.authorize(client, **given).headers["location"]
        assert address.startswith(f"{BACK}?error=invalid_request"), given
        assert "state=s%261" in address


def test_nobody_is_sent_where_the_client_has_not_registered(site: Site) -> None:
    client = site.client()
    for address in ("https://evil.example/", BACK + "/x", "http://127.0.0.1.evil.example/callback"):
        answer = site.authorize(client, redirect_uri=address)
        assert (answer.status_code, "location" in answer.headers) == (400, False), address
    assert site.authorize("nobody").status_code == 400
    at_another_port = site.authorize(client, redirect_uri=BACK.replace("7777", "9999"))
    assert at_another_port.headers["location"].startswith(f"{URL}/consent?txn=")


def test_a_token_is_for_this_server_alone(site: Site) -> None:
    key, client = site.keys.add("laptop"), site.client()
    elsewhere = site.authorize(client, resource="https://other.example/mcp").headers["location"]
    assert "error=invalid_target" in elsewhere
    code = site.code(client, key, resource=None)
    wrong = site.exchange(client, code, resource="https://other.example/mcp")
    assert wrong.json()["error"] == "invalid_target"
    assert site.exchange(client, code).status_code == 200


def test_a_token_opens_no_other_server_of_the_same_database(site: Site) -> None:
    key, client = site.keys.add("laptop"), site.client()
    tokens, code = site.tokens(client, key), site.code(client, key)
    other = Site(site.path, site.clock, url="http://localhost:9123")
    other.verifier = site.verifier
    assert other.exchange(client, code, resource=f"{other.url}/mcp").status_code == 401
    assert other.is_open(key)
    assert not other.is_open(tokens["access_token"])
    resource = f"{other.url}/mcp"
    fields = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert other.token(client, **fields, resource=resource).status_code in (400, 401)
    assert site.is_open(tokens["access_token"])


@pytest.mark.row("002 2.9.a")
def test_a_code_is_for_its_client_its_verifier_and_its_address(site: Site) -> None:
    key, client, other = site.keys.add("laptop"), site.client(), site.client()
    code = site.code(client, key)
    for wrong in (
        site.exchange(other, code),
        site.exchange(client, code, code_verifier="x" * 43),
        site.exchange(client, code, redirect_uri=BACK + "/x"),
        site.exchange(client, code + "x"),
        site.exchange("nobody", code),
    ):
        assert wrong.status_code in (400, 401)
        assert "access_token" not in wrong.text
    assert site.exchange(client, code).status_code == 200


def test_a_code_that_is_used_again_takes_its_tokens_with_it(site: Site) -> None:
    key, client = site.keys.add("laptop"), site.client()
    code = site.code(client, key)
    tokens = site.exchange(client, code).json()
    assert site.is_open(tokens["access_token"])
    assert site.exchange(client, code).json()["error"] == "invalid_grant"
    assert not site.is_open(tokens["access_token"])
    assert site.renew(client, tokens["refresh_token"]).status_code == 401


def test_a_refresh_token_is_no_other_clients(site: Site) -> None:
    key, client, other = site.keys.add("laptop"), site.client(), site.client()
    tokens = site.tokens(client, key)
    assert site.renew(other, tokens["refresh_token"]).status_code == 401


@pytest.mark.long  # it costs much
def test_all_of_it_expires(site: Site) -> None:
    key, client = site.keys.add("laptop"), site.client()
    page = site.page(client)
    site.clock.now += CONSENT_S + 1
    assert site.answer(page, key).status_code == 400
    code = site.code(client, key)
    site.clock.now += CODE_S + 1
    assert site.exchange(client, code).status_code == 401
    tokens = site.tokens(client, key)
    site.clock.now += ACCESS_S + 1
    assert not site.is_open(tokens["access_token"])
    renewed = site.renew(client, tokens["refresh_token"]).json()
    assert site.is_open(renewed["access_token"])
    site.clock.now += REFRESH_S + 1
    assert site.renew(client, renewed["refresh_token"]).status_code == 401


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.10.g")
def test_a_key_that_is_removed_ends_its_tokens_at_once(site: Site) -> None:
    key, other, client = site.keys.add("laptop"), site.keys.add("desk"), site.client()
    tokens, others = site.tokens(client, key), site.tokens(client, other)
    under_way = site.code(client, key)
    assert site.keys.remove("laptop").tokens == 2
    assert not site.is_open(key)
    assert not site.is_open(tokens["access_token"])
    assert site.renew(client, tokens["refresh_token"]).status_code == 401
    assert site.exchange(client, under_way).status_code == 401
    assert site.is_open(others["access_token"])


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.101")
def test_another_process_and_the_next_one_accept_what_this_one_gave(site: Site) -> None:
    key, client = site.keys.add("laptop"), site.client()
    tokens, code = site.tokens(client, key), site.code(client, key)
    beside = Site(site.path, site.clock)
    beside.verifier = site.verifier
    assert beside.is_open(tokens["access_token"])
    assert beside.exchange(client, code).status_code == 200
    site.papers.close()
    after = Site(site.path, site.clock)
    assert after.is_open(tokens["access_token"])
    assert after.renew(client, tokens["refresh_token"]).status_code == 200


def test_the_key_of_the_environment_gives_tokens_until_it_changes(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db", master="m" * 24)
    tokens = site.tokens(site.client(), "m" * 24)
    assert site.is_open(tokens["access_token"])
    changed = Site(site.path, site.clock, master="n" * 24)
    assert not changed.is_open(tokens["access_token"])
    assert changed.keys.check("n" * 24) == Credential(
        agent="default", paper=changed.keys._master, name="environment"
    )


@pytest.mark.row("002 2.9.d")
def test_no_secret_is_kept_or_told(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key, client = site.keys.add("laptop"), site.client()
    address = site.authorize(client).headers["location"]
    txn, page = address.partition("txn=")[2], site.http.get(address)
    code = sent_back(site.answer(page, key))["code"]
    tokens = site.exchange(client, code).json()
    found = site.keys.check(key)
    secrets = [key, txn, code, tokens["access_token"], tokens["refresh_token"].partition(".")[2]]
    kept = b"".join(it.read_bytes() for it in site.path.parent.iterdir()).decode("latin-1")
    ours = "\n".join(it.getMessage() for it in caplog.records if it.name != "httpx2")
    for secret in secrets:
        assert secret not in kept
        assert secret not in repr(found)
        assert secret not in ours
