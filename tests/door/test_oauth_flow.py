"""Tests that OAuth gives tokens to who has a key, once and to the right client, and to no one else.

https://www.rfc-editor.org/rfc/rfc6749, https://www.rfc-editor.org/rfc/rfc7636
"""

import logging
from pathlib import Path

import pytest

from door.access.grants import ACCESS_S, CODE_S, CONSENT_S, REFRESH_S, TWICE_S
from door.keys import Credential
from tests.support.door_flow import BACK, URL, Door, sent_back


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path / "door.db")


@pytest.mark.row("002 2.2")
def test_a_key_on_the_page_gives_tokens_that_open_the_door(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    answer = sent_back(door.answer(door.page(client), key))
    assert answer["state"] == "s&1"
    tokens = door.exchange(client, answer["code"]).json()
    assert tokens["token_type"] == "Bearer"
    assert (tokens["expires_in"], tokens["scope"]) == (3_600, "memory")
    assert door.is_open(tokens["access_token"])
    assert door.is_open(key)
    assert not door.is_open(tokens["refresh_token"])
    assert not door.is_open(tokens["access_token"] + "x")
    [listed] = door.keys.listed()
    assert (listed.name, listed.tokens) == ("laptop", 2)


@pytest.mark.row("002 2.9")
def test_a_challenge_must_be_one_of_s256(door: Door) -> None:
    client = door.client()
    faults: list[dict[str, str | None]] = [
        {"code_challenge": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"code_challenge": "short"},
    ]
    for given in faults:
        address = door.authorize(client, **given).headers["location"]
        assert address.startswith(f"{BACK}?error=invalid_request"), given
        assert "state=s%261" in address
    assert door.papers.listed("consent") == []


def test_nobody_is_sent_where_the_client_has_not_registered(door: Door) -> None:
    client = door.client()
    for address in ("https://evil.example/", BACK + "/x", "http://127.0.0.1.evil.example/callback"):
        answer = door.authorize(client, redirect_uri=address)
        assert (answer.status_code, "location" in answer.headers) == (400, False), address
    assert door.authorize("nobody").status_code == 400
    at_another_port = door.authorize(client, redirect_uri=BACK.replace("7777", "9999"))
    assert at_another_port.headers["location"].startswith(f"{URL}/consent?txn=")


def test_a_token_is_for_this_server_alone(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    elsewhere = door.authorize(client, resource="https://other.example/mcp").headers["location"]
    assert "error=invalid_target" in elsewhere
    code = door.code(client, key, resource=None)
    wrong = door.exchange(client, code, resource="https://other.example/mcp")
    assert wrong.json()["error"] == "invalid_target"
    assert door.exchange(client, code).status_code == 200


def test_a_token_opens_no_other_server_of_the_same_database(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    tokens = door.tokens(client, key)
    other = Door(door.path, door.clock, url="http://localhost:9123")
    assert other.is_open(key)
    assert not other.is_open(tokens["access_token"])
    resource = f"{other.url}/mcp"
    fields = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert other.token(client, **fields, resource=resource).status_code in (400, 401)
    assert door.is_open(tokens["access_token"])


@pytest.mark.row("002 2.9.a")
def test_a_code_is_for_its_client_its_verifier_and_its_address(door: Door) -> None:
    key, client, other = door.keys.add("laptop"), door.client(), door.client()
    code = door.code(client, key)
    for wrong in (
        door.exchange(other, code),
        door.exchange(client, code, code_verifier="x" * 43),
        door.exchange(client, code, redirect_uri=BACK + "/x"),
        door.exchange(client, code + "x"),
        door.exchange("nobody", code),
    ):
        assert wrong.status_code in (400, 401)
        assert "access_token" not in wrong.text
    assert door.exchange(client, code).status_code == 200


def test_a_code_that_is_used_again_takes_its_tokens_with_it(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    code = door.code(client, key)
    tokens = door.exchange(client, code).json()
    assert door.is_open(tokens["access_token"])
    assert door.exchange(client, code).json()["error"] == "invalid_grant"
    assert not door.is_open(tokens["access_token"])
    assert door.renew(client, tokens["refresh_token"]).status_code == 401


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.9.a")
def test_a_refresh_token_works_once_and_its_reuse_ends_all(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    first = door.tokens(client, key)
    second = door.renew(client, first["refresh_token"]).json()
    assert door.is_open(second["access_token"])
    assert door.renew(client, first["refresh_token"]).status_code == 401
    assert door.is_open(second["access_token"])  # two windows of one client at once
    door.clock.now += TWICE_S + 1
    assert door.renew(client, first["refresh_token"]).json()["error"] == "invalid_grant"
    assert not door.is_open(second["access_token"])
    assert door.renew(client, second["refresh_token"]).status_code == 401


def test_a_refresh_token_is_no_other_clients(door: Door) -> None:
    key, client, other = door.keys.add("laptop"), door.client(), door.client()
    tokens = door.tokens(client, key)
    assert door.renew(other, tokens["refresh_token"]).status_code == 401


@pytest.mark.long  # it costs much
def test_all_of_it_expires(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    page = door.page(client)
    door.clock.now += CONSENT_S + 1
    assert door.answer(page, key).status_code == 400
    code = door.code(client, key)
    door.clock.now += CODE_S + 1
    assert door.exchange(client, code).status_code == 401
    tokens = door.tokens(client, key)
    door.clock.now += ACCESS_S + 1
    assert not door.is_open(tokens["access_token"])
    renewed = door.renew(client, tokens["refresh_token"]).json()
    assert door.is_open(renewed["access_token"])
    door.clock.now += REFRESH_S + 1
    assert door.renew(client, renewed["refresh_token"]).status_code == 401


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.10.g")
def test_a_key_that_is_removed_ends_its_tokens_at_once(door: Door) -> None:
    key, other, client = door.keys.add("laptop"), door.keys.add("desk"), door.client()
    tokens, others = door.tokens(client, key), door.tokens(client, other)
    under_way = door.code(client, key)
    assert door.keys.remove("laptop").tokens == 2
    assert not door.is_open(key)
    assert not door.is_open(tokens["access_token"])
    assert door.renew(client, tokens["refresh_token"]).status_code == 401
    assert door.exchange(client, under_way).status_code == 401
    assert door.is_open(others["access_token"])


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.9.b")
def test_a_client_may_take_its_tokens_back(door: Door) -> None:
    key, client, other = door.keys.add("laptop"), door.client(), door.client()
    for which in ("access_token", "refresh_token"):
        tokens = door.tokens(client, key)
        fields = {"token": tokens[which]}
        if which == "access_token":
            assert door.http.post("/revoke", data={**fields, "client_id": other}).status_code == 200
            assert door.is_open(tokens["access_token"])
        assert door.http.post("/revoke", data={**fields, "client_id": client}).status_code == 200
        assert not door.is_open(tokens["access_token"]), which
        assert door.renew(client, tokens["refresh_token"]).status_code == 401, which
    assert door.http.post("/revoke", data={"token": "x"}).status_code == 400


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.101")
def test_another_process_and_the_next_one_accept_what_this_one_gave(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    tokens, code = door.tokens(client, key), door.code(client, key)
    beside = Door(door.path, door.clock)
    beside.verifier = door.verifier
    assert beside.is_open(tokens["access_token"])
    assert beside.exchange(client, code).status_code == 200
    door.papers.close()
    after = Door(door.path, door.clock)
    assert after.is_open(tokens["access_token"])
    assert after.renew(client, tokens["refresh_token"]).status_code == 200


def test_the_key_of_the_environment_gives_tokens_until_it_changes(tmp_path: Path) -> None:
    door = Door(tmp_path / "door.db", master="m" * 16)
    tokens = door.tokens(door.client(), "m" * 16)
    assert door.is_open(tokens["access_token"])
    changed = Door(door.path, door.clock, master="n" * 16)
    assert not changed.is_open(tokens["access_token"])
    assert changed.keys.check("n" * 16) == Credential(
        agent="default", paper=changed.keys._master, name="environment"
    )


@pytest.mark.row("002 2.9.d")
def test_no_secret_is_kept_or_told(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key, client = door.keys.add("laptop"), door.client()
    address = door.authorize(client).headers["location"]
    txn, page = address.partition("txn=")[2], door.http.get(address)
    code = sent_back(door.answer(page, key))["code"]
    tokens = door.exchange(client, code).json()
    found = door.keys.check(key)
    secrets = [key, txn, code, tokens["access_token"], tokens["refresh_token"].partition(".")[2]]
    kept = b"".join(it.read_bytes() for it in door.path.parent.iterdir()).decode("latin-1")
    ours = "\n".join(it.getMessage() for it in caplog.records if it.name != "httpx2")
    for secret in secrets:
        assert secret not in kept
        assert secret not in repr(found)
        assert secret not in ours
