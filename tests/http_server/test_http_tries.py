"""Tests how often somebody may be wrong at the server."""

from pathlib import Path

import pytest

from http_server.access.tries import Allowance, Tries, group_of
from tests.support.login_flow import Clock, Site


def test_an_allowance_fills_again_by_time() -> None:
    clock = Clock(0.0)
    allowance = Allowance(2, 10.0, clock=clock)
    assert [allowance.take("a") for _ in range(3)] == [0, 0, 10]
    assert allowance.take("b") == 0
    clock.now = 10.0
    assert [allowance.take("a") for _ in range(2)] == [0, 10]
    clock.now = 1_000.0
    assert [allowance.take("a") for _ in range(3)] == [0, 0, 10]


def test_what_is_remembered_is_bounded() -> None:
    allowance = Allowance(1, 10.0, most=100, clock=Clock(0.0))
    for number in range(1_000):
        allowance.take(str(number))
    assert len(allowance._full_at) == 100
    tries = Tries(clock=Clock(0.0))
    assert [bool(tries.wrong(f"10.0.{n // 250}.{n % 250}")) for n in (0, 999)] == [False, False]
    waits = [tries.wrong(f"10.1.{n // 250}.{n % 250}") for n in range(1_000)]
    assert (waits[997], waits[998] > 0) == (0, True)  # a thousand in all


def test_a_subscriber_of_ipv6_is_one() -> None:
    assert group_of("2001:db8:1:2::7") == group_of("2001:db8:1:2:ffff::1") == "2001:db8:1:2::/64"
    assert group_of("2001:db8:1:3::7") != group_of("2001:db8:1:2::7")
    assert group_of("::ffff:10.0.0.1") == group_of("10.0.0.1")
    assert group_of("testclient") == "testclient"


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.103")
def test_wrong_bearers_get_429_and_right_ones_still_come_in(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db", master="m" * 16)
    key = site.keys.add("laptop")
    assert site.http.get("/mcp").status_code == 401
    codes = [site.call(f"wrong{n}").status_code for n in range(21)]
    assert codes == [401] * 20 + [429]
    assert int(site.call("wrong").headers["retry-after"]) > 0
    assert site.http.get("/mcp").status_code == 401  # nothing was tried
    assert site.is_open(key)
    assert not site.is_open("m" * 16)  # it could be guessed


@pytest.mark.long  # it costs much
def test_the_key_of_the_environment_goes_on_where_it_was_right_before(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db", master="m" * 16)
    assert site.is_open("m" * 16)
    for number in range(21):
        site.call(f"wrong{number}")
    assert site.call("wrong").status_code == 429
    assert site.is_open("m" * 16)


@pytest.mark.long  # it costs much
def test_wrong_codes_count_as_well(tmp_path: Path) -> None:
    site = Site(tmp_path / "http_server.db")
    client = site.client()
    codes = [site.exchange(client, "smc_x").status_code for _ in range(21)]
    assert codes == [401] * 20 + [429]
