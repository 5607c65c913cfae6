"""Tests what a person sees at the server, and that nobody else can answer."""

import html
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.login_flow import BACK, URL, Site, sent_back


@pytest.mark.row("002 2.9")
def test_the_page_says_who_asks_for_what_and_loads_nothing(site: Site) -> None:
    name = '<script>alert("x")</script>'
    client = site.register(client_name=name).json()["client_id"]
    page = site.page(client)
    assert html.escape(name) in page.text
    assert "<script" not in page.text
    for piece in ("http://127.0.0.1:7777<", URL, "a program on this machine", 'lang="en"'):
        assert piece in page.text, piece
    assert "src=" not in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "form-action 'self'; frame-ancestors 'none'" in policy
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "same-origin"


def test_the_page_speaks_the_language_of_the_browser(site: Site) -> None:
    client = site.client()
    for given, lang in (
        ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("en-US,ko;q=0.5", "en"),
        ("de,fr", "en"),
        ("", "en"),
    ):
        site.http.headers["accept-language"] = given
        assert f'<html lang="{lang}">' in site.page(client).text, given


@pytest.mark.row("002 2.9.c")
def test_a_wrong_key_shows_the_page_again_and_the_right_one_then_works(site: Site) -> None:
    key, client = site.keys.add("laptop"), site.client()
    page = site.page(client)
    again = site.answer(page, "smk_" + "x" * 43)
    assert again.status_code == 403
    assert "This key does not open this server." in again.text
    assert "smk_x" not in again.text
    assert site.answer(page, "").status_code == 403
    assert site.answer(page, f" {key} ").status_code == 200
    assert site.answer(page, key).status_code == 400  # answered


@pytest.mark.row("002 2.9.c")
def test_deny_tells_the_client_so(site: Site) -> None:
    client = site.client()
    page = site.page(client)
    answer = sent_back(site.answer(page, "", "deny"))
    assert answer == {"error": "access_denied", "state": "s&1", "iss": f"{URL}/"}
    assert site.papers.listed("code") == site.papers.listed("answered") == []


@pytest.mark.row("002 2.9")
def test_only_the_browser_that_was_sent_there_can_answer(site: Site) -> None:
    key, client = site.keys.add("laptop"), site.client()
    address = site.authorize(client).headers["location"]
    page = site.http.get(address)
    cookie = site.authorize(client).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    site.http.cookies.clear()
    assert site.http.get(address).status_code == 400
    assert site.answer(page, key).status_code == 400
    site.page(client)  # a victim that has a cookie of its own
    assert site.http.get(address).status_code == 400
    assert site.http.get("/consent?txn=x").status_code == 400


def test_a_person_is_told_where_the_server_does_not_know_the_client(site: Site) -> None:
    query = {"client_id": "gone", "redirect_uri": BACK, "response_type": "code"}
    answer = site.http.get("/authorize", params=query, headers={"Accept": "text/html"})
    assert answer.status_code == 400
    assert "add it again" in answer.text


def test_over_tls_the_cookie_is_of_this_host_alone(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db", url="https://memory.example")
    cookie = site.authorize(site.client(), resource=None).headers["set-cookie"]
    assert cookie.startswith("__Host-") and "Secure" in cookie and "Path=/;" in cookie
    assert "Domain" not in cookie


def test_a_question_is_answered_once_by_whom_ever_many_ask(site: Site) -> None:
    found = site.keys.check(site.keys.add("laptop"))
    asked = site.access.grants.asked(site.access.grants.ask({"client": "c"}, "b"), "b")
    assert found and asked
    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(lambda _: site.access.grants.allow(asked, found), range(8)))
    assert len([code for code in codes if code]) == 1
