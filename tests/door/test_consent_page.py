"""Tests what a person sees at the door, and that nobody else can answer."""

import html
from pathlib import Path

import pytest

from tests.support.door_flow import BACK, URL, Door, sent_back


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path / "door.db")


@pytest.mark.row("002 2.9")
def test_the_page_says_who_asks_for_what_and_loads_nothing(door: Door) -> None:
    name = '<script>alert("x")</script>'
    client = door.register(client_name=name).json()["client_id"]
    page = door.page(client)
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


def test_the_page_speaks_the_language_of_the_browser(door: Door) -> None:
    client = door.client()
    for given, lang in (
        ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("en-US,ko;q=0.5", "en"),
        ("de,fr", "en"),
        ("", "en"),
    ):
        door.http.headers["accept-language"] = given
        assert f'<html lang="{lang}">' in door.page(client).text, given


@pytest.mark.row("002 2.9.c")
def test_a_wrong_key_shows_the_page_again_and_the_right_one_then_works(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    page = door.page(client)
    again = door.answer(page, "smk_" + "x" * 43)
    assert again.status_code == 403
    assert "This key does not open this server." in again.text
    assert "smk_x" not in again.text
    assert door.answer(page, "").status_code == 403
    assert door.answer(page, f" {key} ").status_code == 200
    assert door.answer(page, key).status_code == 400  # answered


@pytest.mark.row("002 2.9.c")
def test_deny_tells_the_client_so(door: Door) -> None:
    client = door.client()
    page = door.page(client)
    assert sent_back(door.answer(page, "", "deny")) == {"error": "access_denied", "state": "s&1"}
    assert door.http.get(door.authorize(client).headers["location"]).status_code == 200
    assert door.answer(page, door.keys.add("laptop")).status_code == 400


@pytest.mark.row("002 2.9")
def test_only_the_browser_that_was_sent_there_can_answer(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    address = door.authorize(client).headers["location"]
    page = door.http.get(address)
    cookie = door.authorize(client).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    door.http.cookies.clear()
    assert door.http.get(address).status_code == 400
    assert door.answer(page, key).status_code == 400
    door.page(client)  # a victim that has a cookie of its own
    assert door.http.get(address).status_code == 400
    assert door.http.get("/consent?txn=x").status_code == 400


def test_a_person_is_told_where_the_server_does_not_know_the_client(door: Door) -> None:
    query = {"client_id": "gone", "redirect_uri": BACK, "response_type": "code"}
    answer = door.http.get("/authorize", params=query, headers={"Accept": "text/html"})
    assert answer.status_code == 400
    assert "add it again" in answer.text


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.103")
def test_wrong_keys_are_limited_and_the_right_one_still_opens(door: Door) -> None:
    key, client = door.keys.add("laptop"), door.client()
    page = door.page(client)
    codes = [door.answer(page, f"wrong{n}").status_code for n in range(21)]
    assert codes == [403] * 20 + [429]
    refused = door.answer(page, "wrong")
    assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (429, True)
    assert door.answer(page, key).status_code == 200
