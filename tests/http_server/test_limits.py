"""Tests how often somebody may be wrong at the server, and that the right key still comes in."""

from pathlib import Path

import pytest

from http_server.limits import Allowance
from tests.support.login_flow import Clock, Site

MASTER = "m" * 24


def test_an_allowance_fills_again_by_time_and_is_bounded() -> None:
    clock = Clock(0.0)
    allowance = Allowance(2, 10.0, clock=clock)
    assert [allowance.take("a") for _ in range(3)] == [0, 0, 10]
    assert allowance.take("b") == 0
    clock.now = 10.0
    assert [allowance.take("a") for _ in range(2)] == [0, 10]
    clock.now = 1_000.0
    assert [allowance.take("a") for _ in range(3)] == [0, 0, 10]
    few = Allowance(1, 10.0, most=100, clock=Clock(0.0))
    for number in range(1_000):
        few.take(str(number))
    assert len(few._full_at) == 100


@pytest.mark.parametrize(
    ("address", "most"),
    [
        ("10.0.0.1", 20),
        ("::ffff:10.0.0.1", 20),
        ("2001:db8:1:2::{:x}", 20),  # a /64 is one subscriber
        ("2001:db8:1:2{:02x}::1", 80),  # as is a /56, which has 256 of them
        ("2001:db8:1:{:02x}00::1", 320),  # and a /48
    ],
)
def test_a_subscriber_is_one_however_many_addresses_it_has(address: str, most: int) -> None:
    tries = Allowance(20, 6.0, clock=Clock(0.0))
    waits = [tries.take(address.format(number % 256)) for number in range(400)]
    assert sum(not wait for wait in waits) == most
    assert tries.take("2001:db8:2::1") == tries.take("10.0.0.2") == 0


@pytest.mark.row("002 2.103")
def test_wrong_bearers_get_429_and_right_ones_come_in_at_once(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db", master=MASTER)
    key = site.keys.add("laptop")
    assert site.http.get("/mcp").status_code == 401
    codes = [site.call(f"wrong{n}").status_code for n in range(21)]
    assert codes == [401] * 20 + [429]
    assert int(site.call("wrong").headers["retry-after"]) > 0
    assert site.http.get("/mcp").status_code == 401  # nothing was tried
    assert site.is_open(key) and site.is_open(MASTER)


def test_wrong_codes_and_wrong_keys_on_the_page_count_as_well(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db")
    key, client = site.keys.add("laptop"), site.client()
    page = site.page(client)
    codes = [site.exchange(client, "smc_x").status_code for _ in range(10)]
    pages = [site.answer(page, f"wrong{n}").status_code for n in range(11)]
    assert codes == [401] * 10 and pages == [403] * 10 + [429]
    assert int(site.answer(page, "wrong").headers["retry-after"]) > 0
    assert site.exchange(client, "smc_x").status_code == 429
    assert site.answer(page, key).status_code == 200


def test_strangers_leave_nothing_and_throw_nobody_out(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db")
    client = site.client()
    page = site.page(client)
    site.access.questions = site.access.registrations = Allowance(10_000, 0.001)
    for _ in range(300):
        other = site.client()
        site.authorize(other)
    assert [it.kind for it in site.papers.listed("answered")] == []
    assert site.papers.listed("client") == site.papers.listed("code") == []
    assert site.answer(page, site.keys.add("laptop")).status_code == 200
