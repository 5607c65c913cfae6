"""Tests that OAuth gives tokens to who has a key, once and to the right client, and to no one else.

https://www.rfc-editor.org/rfc/rfc6749, https://www.rfc-editor.org/rfc/rfc7636
"""

import html
import json
import logging
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import httpx2
import pytest

from core.postgres.address import ServerError
from http_server.grants import ACCESS_S, CODE_S, CONSENT_S, REFRESH_S, TWICE_S
from http_server.limits import Allowance, log_error
from http_server.provider import CLIENT_NAME_CHARS, MOST_URIS, find_redirect_fault
from tests.http_server.login_flow import BACK, URL, Clock, Site, sent_back
from tests.support.tables import table, text_of
from tests.support.team_engines import team_server as team_server

MASTER = "m" * 24
DOCUMENTS: dict[str, Any] = json.loads(text_of("http_login.json", url=URL, back=BACK))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "http_server.db")


@pytest.fixture
def key(site: Site) -> str:
    return site.keys.add("laptop")


@pytest.fixture
def client(site: Site) -> str:
    return site.client()


# Clients: who may register, and the answers to them.


def test_a_redirect_goes_to_https_to_this_machine_or_to_a_program() -> None:
    taken, refused = (DOCUMENTS["redirects"][it] for it in ("taken", "refused"))
    assert [uri for uri in taken if find_redirect_fault(uri)] == []
    assert [uri for uri in refused if not find_redirect_fault(uri)] == []


@pytest.mark.row("002 2.9.b")
def test_a_registration_keeps_the_least_gives_no_secret_and_has_limits(site: Site) -> None:
    answer = site.register(
        client_name="My\u202e \u3164\u0007Client",
        token_endpoint_auth_method="client_secret_post",
        scope="openid email",
        logo_uri="https://example.org/logo.png",
        software_id="x",
    )
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    given = answer.json()
    assert given.pop("client_id") and given.pop("client_id_issued_at")
    assert given == DOCUMENTS["registered"]
    for uris in ([], [BACK, "javascript:alert(1)"], [f"{BACK}{n}" for n in range(MOST_URIS + 1)]):
        assert site.register(redirect_uris=uris).status_code == 400, uris
    assert site.register(client_name="x" * (CLIENT_NAME_CHARS + 1)).status_code == 400
    assert site.register(software_id="x" * 20_000).status_code == 413
    codes = [site.register().status_code for _ in range(21)]
    assert codes[-1] == 429 and set(codes) == {201, 429}
    assert int(site.register().headers["retry-after"]) > 0


@pytest.mark.row("002 2.8", "002 2.8.a")
def test_both_documents_are_where_clients_look(site: Site) -> None:
    documents = {"authorization-server": "server", "protected-resource": "resource"}
    for kind, path in product(documents, ("", "/mcp")):
        found = site.http.get(f"/.well-known/oauth-{kind}{path}").json()
        assert found == DOCUMENTS[documents[kind]], kind + path
    asked = {"method": "POST", "headers": "authorization, content-type, mcp-protocol-version"}
    headers = {f"Access-Control-Request-{name}": value for name, value in asked.items()}
    allowed = site.http.options("/token", headers={"Origin": "https://x.example", **headers})
    assert allowed.is_success and allowed.headers["access-control-allow-origin"] == "*"


def test_a_client_that_nobody_registered_is_unknown(site: Site, client: str) -> None:
    facts, _, signature = client.partition(".")
    other, _, others = site.client().partition(".")
    for made_up in ("x.y", f"{facts}.", f"{facts}.x", f"{other}.{signature}", f"{facts}.{others}"):
        assert site.authorize(made_up).status_code == 400, made_up
    session = site.access.grants.seal.sign("session", {"name": "x", "redirect_uris": [BACK]})
    assert site.authorize(session).status_code == 400  # sealed for another use
    assert site.authorize(client).status_code == 302
    site.http.headers["accept"] = "text/html"
    answer = site.authorize("gone")
    assert answer.status_code == 400 and "add it again" in answer.text


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_each_name_of_this_machine_logs_in(tmp_path: Path, name: str) -> None:
    site = Site(tmp_path / "http_server.db", url="http://127.0.0.1:8123")
    url = f"http://{name}:8123"
    site.http.base_url = httpx2.URL(url)
    assert f'"{url}/.well-known/' in site.http.get("/mcp").headers["www-authenticate"]
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


# The question of a client: where its answer may go.


@pytest.mark.row("002 2.9")
def test_a_challenge_must_be_one_of_s256_and_the_resource_this_server(
    site: Site, client: str
) -> None:
    for given, error in DOCUMENTS["questions"]:
        address = site.authorize(client, **given).headers["location"]
        assert address.startswith(f"{BACK}?error={error}&"), given
        assert "state=s%261" in address or "state" in given, given
        assert address.endswith("&iss=http%3A%2F%2Flocalhost%3A8123%2F"), given  # RFC 9207


def test_no_error_leads_from_this_server_to_an_address_of_a_strangers(
    site: Site, client: str
) -> None:
    for address in ("https://evil.example/", BACK + "/x", "http://127.0.0.1.evil.example/callback"):
        answer = site.authorize(client, redirect_uri=address)
        assert (answer.status_code, "location" in answer.headers) == (400, False), address
    at_another_port = site.authorize(client, redirect_uri=BACK.replace("7777", "9999"))
    assert at_another_port.headers["location"].startswith(f"{URL}/consent?txn=")
    for user in ("bank.example@", "bank.example:443@", ":@", "@"):  # another one's name is shown
        answer = site.authorize(client, redirect_uri=BACK.replace("//", f"//{user}"))
        shown = answer.headers.get("location", "")
        assert "consent" not in shown or "@127" not in site.http.get(shown).text, user
    for address in ("https://evil.example/land", "steam://run/1", "cursor://localhost/x"):
        client = site.register(redirect_uris=[address]).json()["client_id"]
        for fault in ({"response_type": "x"}, {"code_challenge": None}, {"resource": "https://x/"}):
            answer = site.authorize(client, **{"redirect_uri": address, **fault})
            assert (answer.status_code, "location" in answer.headers) == (400, False), address
            assert "you were sent nowhere" in answer.text and "evil" not in answer.text
        assert site.authorize(client, redirect_uri="https://other.example/").status_code == 400


# The page of consent: its text, and that nobody else can answer.


@pytest.mark.row("002 2.9")
def test_the_page_says_who_asks_for_what_and_loads_nothing(site: Site) -> None:
    name = '<script>alert("x")</script>'
    client = site.register(client_name=name).json()["client_id"]
    page = site.page(client)
    for piece in (html.escape(name), "http://127.0.0.1:7777<", URL, "a program on this machine"):
        assert piece in page.text, piece
    assert "<script" not in page.text and "src=" not in page.text
    for uri, is_here in (("cursor://a&lt", True), ("https://a&lt/cb", False)):
        other = site.register(redirect_uris=[uri]).json()["client_id"]
        page = site.page(other, redirect_uri=uri)
        assert ("a program on this machine" in page.text) == is_here
        assert f"{html.escape(uri.removesuffix('/cb'))}<" in page.text
        assert site.answer(page, "", "deny").text.count(html.escape(uri)) == 2
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "form-action 'self'; frame-ancestors 'none'" in policy
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "same-origin"
    for given, lang in (("ko-KR,ko;q=0.9,en;q=0.8", "ko"), ("en-US,ko;q=0.5", "en"), ("de", "en")):
        site.http.headers["accept-language"] = given
        assert f'<html lang="{lang}">' in site.page(client).text


@pytest.mark.row("002 2.9.c")
def test_a_person_denies_or_is_asked_again_until_the_key_is_right(
    site: Site, key: str, client: str
) -> None:
    page = site.page(client)
    for only_shows in (site.http.get, site.http.head):
        assert only_shows(f"{page.url}&answer=allow&key={key}").status_code == 200
    denied = sent_back(site.answer(page, "", "deny"))
    assert denied == {"error": "access_denied", "state": "s&1", "iss": f"{URL}/"}
    list_all = site.papers.list_all
    assert list_all("answered") == list_all("client") == list_all("code") == []
    page = site.page(client)
    again = site.answer(page, "smk_" + "x" * 43)
    assert again.status_code == 403
    assert "This key does not open this server." in again.text and "smk_x" not in again.text
    assert site.answer(page, "").status_code == 403
    assert site.answer(page, f" {key} ").status_code == 200
    assert site.answer(page, key).status_code == 400  # answered


@pytest.mark.row("002 2.9")
def test_only_the_browser_that_was_sent_there_can_answer(site: Site, key: str, client: str) -> None:
    address = site.authorize(client).headers["location"]
    page = site.http.get(address)
    cookie = site.authorize(client).headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie
    site.http.cookies.clear()
    assert site.http.get(address).status_code == 400
    assert site.answer(page, key).status_code == 400
    site.page(client)  # a victim that has a cookie of its own
    assert site.http.get(address).status_code == 400
    assert site.http.get("/consent?txn=x").status_code == 400


def test_over_tls_the_cookie_is_of_this_host_alone(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db", url="https://memory.example")
    cookie = site.authorize(site.client(), resource=None).headers["set-cookie"]
    assert cookie.startswith("__Host-") and "Secure" in cookie and "Path=/;" in cookie
    assert "Domain" not in cookie
    for host in ("localhost", "evil.example"):  # whoever asks, the documents name the server
        document = site.http.get("/.well-known/oauth-protected-resource", headers={"Host": host})
        assert document.json()["resource"] == "https://memory.example/mcp"


def test_a_question_is_answered_once_by_whom_ever_many_ask(site: Site, key: str) -> None:
    found = site.keys.check(key)
    asked = site.access.grants.find_question(site.access.grants.ask({"client": "c"}, "b"), "b")
    assert found and asked
    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(lambda _: site.access.grants.allow(asked, found), range(8)))
    assert len([code for code in codes if code]) == 1


# Codes and tokens.


@pytest.mark.row("002 2.2")
def test_a_key_on_the_page_gives_tokens_that_open_the_door(
    site: Site, key: str, client: str
) -> None:
    answer = sent_back(site.answer(site.page(client), key))
    assert (answer["state"], answer["iss"]) == ("s&1", f"{URL}/")
    tokens = site.exchange(client, answer["code"], resource=f"{URL.upper()}/sse/").json()
    kind, lasts_s, scope = (tokens[it] for it in ("token_type", "expires_in", "scope"))
    assert (kind, lasts_s, scope) == ("Bearer", 3_600, "memory")
    assert site.is_open(tokens["access_token"]) and site.is_open(key)
    assert not site.is_open(tokens["refresh_token"])
    assert not site.is_open(tokens["access_token"] + "x")
    [listed] = site.keys.list_all()
    assert (listed.name, listed.tokens) == ("laptop", 2)


def test_a_token_opens_no_other_server_of_the_same_database(
    site: Site, key: str, client: str
) -> None:
    code = site.code(client, key, resource=None)
    wrong = site.exchange(client, code, resource="https://other.example/mcp")
    assert wrong.json()["error"] == "invalid_target"
    tokens, code = site.exchange(client, code).json(), site.code(client, key)
    other = site.beside(url="http://localhost:9123")
    resource = f"{other.url}/mcp"
    assert other.exchange(client, code, resource=resource).status_code == 401
    assert other.is_open(key) and not other.is_open(tokens["access_token"])
    asked, other.http.cookies = site.page(client).url, site.http.cookies  # which know no port
    assert other.http.get(f"/consent?{asked.query.decode()}").status_code == 400
    fields = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert other.token(client, **fields, resource=resource).status_code in (400, 401)
    assert site.is_open(tokens["access_token"])


@pytest.mark.row("002 2.9.a")
def test_a_code_is_for_its_client_its_verifier_and_its_address(
    site: Site, key: str, client: str
) -> None:
    other, code = site.client(), site.code(client, key)
    for wrong in (
        site.exchange(other, code),
        site.exchange(client, code, code_verifier="x" * 43),
        site.exchange(client, code, redirect_uri=BACK + "/x"),
        site.exchange(client, code + "x"),
        site.exchange("nobody", code),
    ):
        assert wrong.status_code in (400, 401) and "access_token" not in wrong.text
    tokens = site.exchange(client, code)
    assert tokens.status_code == 200
    assert site.renew(other, tokens.json()["refresh_token"]).status_code == 401


def test_all_of_it_expires(site: Site, key: str, client: str) -> None:
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


@pytest.mark.row("002 2.101")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_login_goes_through_two_processes_and_outlives_both(
    request: pytest.FixtureRequest, tmp_path: Path, engine: str
) -> None:
    file = engine == "sqlite"
    place = tmp_path / "x.db" if file else request.getfixturevalue("team_server").emptied_dsn()
    one = Site(place)
    other, key, client = one.beside(), one.keys.add("laptop"), one.client()
    page = other.page(client)
    one.http.cookies = other.http.cookies  # of one browser
    told = one.answer(page, key)
    tokens = other.exchange(client, sent_back(told)["code"]).json()
    assert one.is_open(tokens["access_token"]) and other.is_open(tokens["access_token"])
    for process in (one, other):
        process.papers.close()
    one, other = one.beside(), other.beside()
    assert one.is_open(tokens["access_token"])
    renewed = one.renew(client, tokens["refresh_token"]).json()
    again = other.renew(client, renewed["refresh_token"]).json()
    assert one.is_open(again["access_token"])
    revoke(one, client, again["refresh_token"])
    for process in (other, one):
        assert_ended(process, client, tokens, renewed, again)
        process.papers.close()


def test_the_key_of_the_environment_gives_tokens_until_it_changes(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db", master=MASTER)
    client = site.client()
    tokens, code = site.tokens(client, MASTER), site.code(client, MASTER)
    assert site.is_open(tokens["access_token"])
    changed = site.beside(master="n" * 24)
    assert changed.exchange(client, code).status_code == 401
    for process in (changed, site):  # nor when it changes back
        assert process.renew(client, tokens["refresh_token"]).status_code == 401
    assert not changed.is_open(tokens["access_token"])
    found = changed.keys.check("n" * 24)
    assert found and (found.agent, found.name) == ("default", "environment")


@pytest.mark.row("002 2.9.d")
def test_no_secret_is_kept_or_told(
    site: Site, key: str, client: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = site.authorize(client).headers["location"]
    txn, page = address.partition("txn=")[2], site.http.get(address)
    code = sent_back(site.answer(page, key))["code"]
    tokens = site.exchange(client, code).json()
    secrets = [key, txn, code, tokens["access_token"], tokens["refresh_token"].partition(".")[2]]
    kept = b"".join(it.read_bytes() for it in tmp_path.iterdir()).decode("latin-1")
    ours = "\n".join(it.getMessage() for it in caplog.records if it.name != "httpx2")
    for secret, told in product(secrets, (kept, repr(site.keys.check(key)), ours)):
        assert secret not in told


def test_the_operator_reads_each_kind_of_failure_once_a_minute(
    site: Site, client: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines() -> list[int]:
        for key in ("disk_full", "read_only", "disk_full"):
            log_error(ServerError(key, path="the-server"))
        return [caplog.text.count(it) for it in ("disk of the database", "read only")]

    now = time.monotonic
    assert lines() == [1, 1]
    monkeypatch.setattr(time, "monotonic", lambda: now() + 60)
    assert lines() == [2, 2]
    log_error(ValueError("what somebody wrote"))
    assert "ValueError" in caplog.text and "somebody wrote" not in caplog.text
    del site.access.questions
    assert site.authorize(client).status_code == 500 and "AttributeError" in caplog.text


# A login goes on where answers are lost, and ends with a revocation of any token of it (RFC 7009).


def revoke(site: Site, client: str, token: str) -> None:
    assert site.http.post("/revoke", data={"token": token, "client_id": client}).status_code == 200


def assert_ended(site: Site, client: str, *logins: dict[str, Any]) -> None:
    assert not any(site.is_open(tokens["access_token"]) for tokens in logins)
    for tokens in logins:
        assert site.renew(client, tokens["refresh_token"]).status_code == 401


@pytest.mark.row("002 2.9.a", "002 2.9.b")
@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_a_refresh_is_repeated_and_a_revocation_ends_both(
    site: Site, key: str, client: str, which: str
) -> None:
    other, former = site.client(), site.tokens(client, key)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: site.renew(client, former["refresh_token"]), range(4)))
    assert [it.status_code for it in answers] == [200] * 4
    new = answers[0].json()
    assert all(it.json() == new for it in answers)
    site.clock.now += TWICE_S - 1
    assert site.renew(client, former["refresh_token"]).json()["access_token"] == new["access_token"]
    assert site.is_open(new["access_token"]) and site.is_open(former["access_token"])
    named = {**new, "refresh_token": former["refresh_token"]}[which]
    revoke(site, other, named)
    unknown = site.http.post("/revoke", data={"token": named, "client_id": "?"})
    assert (unknown.status_code, unknown.json()) == (400, {"error": "invalid_client"})
    assert site.is_open(new["access_token"])
    revoke(site, client, named)
    assert_ended(site, client, former, new)


@pytest.mark.row("002 2.9.a", "002 2.10.g")
def test_a_code_or_a_refresh_token_that_comes_again_and_a_removed_key_end_the_login(
    site: Site, key: str, client: str
) -> None:
    code = site.code(client, key)
    tokens = site.exchange(client, code).json()
    assert site.is_open(tokens["access_token"])
    assert site.exchange(client, code).json()["error"] == "invalid_grant"  # a code, twice
    assert_ended(site, client, tokens)

    former = site.tokens(client, key)
    new = site.renew(client, former["refresh_token"]).json()
    site.clock.now += TWICE_S + 1
    assert site.renew(client, former["refresh_token"]).json()["error"] == "invalid_grant"  # late
    assert_ended(site, client, former, new)

    tokens, others = site.tokens(client, key), site.tokens(client, site.keys.add("desk"))
    under_way = site.code(client, key)
    assert site.keys.remove("laptop").tokens == 2
    assert not site.is_open(key)
    assert_ended(site, client, tokens)
    assert site.exchange(client, under_way).status_code == 401
    assert site.is_open(others["access_token"])


def test_clients_of_the_version_before_keep_their_logins(tmp_path: Path) -> None:
    given = table("http_server_0_10")  # its database, and the keys and tokens that it gave
    path = tmp_path / "http_server.db"
    with closing(sqlite3.connect(path)) as rows:
        rows.executescript("\n".join(given["database"]))
    site = Site(path, Clock(given["made_at"] + 60))
    client, tokens = given["client"], given["tokens"]
    for secret in (given["key"], tokens["access_token"], given["former"]["access_token"]):
        assert site.is_open(secret)
    web = "https://claude.ai/api/mcp/auth_callback"  # of a client that has never logged in
    assert site.authorize(given["web_client"], redirect_uri=web).status_code == 302
    assert site.authorize(given["web_client"], redirect_uri=BACK).status_code == 400
    site.clock.now += 20 * 86_400
    for _ in range(4):  # well beyond the time for which the client was kept
        renewed = site.renew(client, tokens["refresh_token"])
        assert renewed.status_code == 200
        tokens = renewed.json()
        assert site.is_open(tokens["access_token"])
        site.clock.now += 25 * 86_400
        site.papers.sweep()
    assert site.authorize(client).status_code == 302
    assert site.is_open(site.tokens(client, given["key"])["access_token"])
    revoke(site, client, tokens["refresh_token"])
    assert_ended(site, client, tokens)


# How often somebody may be wrong; the right key still comes in.


def test_an_allowance_fills_again_by_time_and_forgets_the_name_longest_not_seen() -> None:
    clock = Clock(0.0)
    allowance = Allowance(2, 10.0, clock=clock)
    assert [allowance.take("a" * 64 + end) for end in "abc"] == [0, 0, 10]
    assert allowance.take("b") == 0
    for now, waits in ((10.0, [0, 10]), (1_000.0, [0, 0, 10])):
        clock.now = now
        assert [allowance.take("a" * 64) for _ in waits] == waits
    few = Allowance(2, 10.0, most=100, clock=Clock(0.0))
    assert [few.take(name) for name in [*map(str, range(100)), "0", "100"]] == [0] * 102
    assert [few.take(name) for name in ("0", "1", "1")] == [10, 0, 0]


def test_a_subscriber_is_one_however_many_addresses_it_has() -> None:
    """A /64 is one, as is a /56, which has 256 of them, and a /48."""
    for address, most in DOCUMENTS["subscribers"]:
        tries = Allowance(20, 6.0, clock=Clock(0.0))
        waits = [tries.take(address.format(number % 256)) for number in range(400)]
        assert sum(not wait for wait in waits) == most, address
        assert tries.take("2001:db8:2::1") == tries.take("10.0.0.2") == 0


@pytest.mark.row("002 2.103")
@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        (lambda site, _: site.call("wrong"), 401),
        (lambda site, client: site.exchange(client, "smc_x"), 401),
        (lambda site, client: site.answer(site.page(client), "wrong"), 403),
    ],
    ids=["bearers", "codes", "keys on the page"],
)
def test_wrong_bearers_get_429_and_right_ones_come_in_at_once(
    tmp_path: Path, wrong: Callable[[Site, str], Any], status: int
) -> None:
    site = Site(tmp_path / "http_server.db", master=MASTER)
    key, client = site.keys.add("laptop"), site.client()
    page = site.page(client)
    assert site.http.get("/mcp").status_code == 401
    answers = [wrong(site, client) for _ in range(21)]
    assert [it.status_code for it in answers] == [status] * 20 + [429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert site.call("wrong").status_code == 429  # every wrong secret before counts
    assert site.http.get("/mcp").status_code == 401  # nothing was tried
    assert site.is_open(key) and site.is_open(MASTER)
    assert site.answer(page, key).status_code == 200
