"""Tests that a login goes on where answers are lost, and ends with a revocation of any token of it.

https://www.rfc-editor.org/rfc/rfc7009
"""

import json
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from http_server.grants import TWICE_S, Grants, Tokens
from http_server.keys import Credential, Keys
from http_server.papers import Paper, Papers, hash_of
from tests.http_server.conftest import Open
from tests.support.login_flow import BACK, URL, Clock, Site
from tests.support.stdio_client import ROOT, WAIT_S

CLIENT = "c1"
FORMER = ROOT / "tests" / "data" / "http_server_0_10.json"


def revoke(site: Site, client: str, token: str) -> None:
    answer = site.http.post("/revoke", data={"token": token, "client_id": client})
    assert answer.status_code == 200


def assert_ended(site: Site, client: str, *logins: dict[str, Any]) -> None:
    for tokens in logins:
        assert not site.is_open(tokens["access_token"])
    for tokens in logins:
        assert site.renew(client, tokens["refresh_token"]).status_code == 401


@pytest.mark.row("002 2.9.a", "002 2.9.b")
@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
@pytest.mark.parametrize("of", ["the former", "the new"])
def test_a_refresh_is_repeated_and_a_revocation_ends_both(site: Site, of: str, which: str) -> None:
    client, other = site.client(), site.client()
    former = site.tokens(client, site.keys.add("laptop"))
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: site.renew(client, former["refresh_token"]), range(4)))
    assert [it.status_code for it in answers] == [200] * 4
    new = answers[0].json()
    assert all(it.json() == new for it in answers)
    site.clock.now += TWICE_S - 1
    assert site.renew(client, former["refresh_token"]).json()["access_token"] == new["access_token"]
    assert site.is_open(new["access_token"]) and site.is_open(former["access_token"])
    named = (former if of == "the former" else new)[which]
    revoke(site, other, named)
    assert site.is_open(new["access_token"])
    revoke(site, client, named)
    assert_ended(site, client, former, new)


@pytest.mark.row("002 2.9.a")
def test_a_refresh_token_that_comes_late_ends_the_login(site: Site) -> None:
    client = site.client()
    former = site.tokens(client, site.keys.add("laptop"))
    new = site.renew(client, former["refresh_token"]).json()
    site.clock.now += TWICE_S + 1
    assert site.renew(client, former["refresh_token"]).json()["error"] == "invalid_grant"
    assert_ended(site, client, former, new)


def test_clients_of_the_version_before_keep_their_logins(tmp_path: Path) -> None:
    given = json.loads(FORMER.read_text("utf-8"))
    path = tmp_path / "http_server.db"
    with closing(sqlite3.connect(path)) as rows:
        rows.executescript("\n".join(given["database"]))
    site = Site(path, Clock(given["made_at"] + 60))
    client, tokens = given["client"], given["tokens"]
    assert site.is_open(given["key"])
    assert site.is_open(tokens["access_token"]) and site.is_open(given["former"]["access_token"])
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


def test_a_client_of_the_version_before_that_never_logged_in_can_do_so(tmp_path: Path) -> None:
    given = json.loads(FORMER.read_text("utf-8"))
    path = tmp_path / "http_server.db"
    with closing(sqlite3.connect(path)) as rows:
        rows.executescript("\n".join(given["database"]))
    site = Site(path, Clock(given["made_at"]))
    web = "https://claude.ai/api/mcp/auth_callback"
    assert site.authorize(given["web_client"], redirect_uri=web).status_code == 302
    assert site.authorize(given["web_client"], redirect_uri=BACK).status_code == 400


class _Meeting(Keys):
    """Keys that let something happen while a renewal looks up whose the login is."""

    def __init__(self, papers: Papers, meanwhile: Callable[[], object]) -> None:
        super().__init__(papers, "")
        self._meanwhile = meanwhile

    def of(self, paper: str) -> Credential | None:
        self._meanwhile()
        return super().of(paper)


def grants_of(papers: Papers, keys: Keys | None = None) -> Grants:
    return Grants(papers, keys or Keys(papers, ""), f"{URL}/mcp", clock=Clock())


def login(grants: Grants, credential: Credential) -> Tokens:
    asked = grants.asked(grants.ask({"client": CLIENT}, "b"), "b")
    assert asked
    tokens = grants.exchange(hash_of(grants.allow(asked, credential) or ""))
    assert tokens
    return tokens


def key_in(papers: Papers) -> Credential:
    credential = Keys(papers, "").check(Keys(papers, "").add("laptop"))
    assert credential
    return credential


def renew(grants: Grants, token: str) -> Tokens | None:
    found = grants.refresh(token, CLIENT)
    return grants.rotate(found) if found else None


def living(papers: Papers) -> list[Paper]:
    return [*papers.listed("access"), *papers.listed("refresh")]


@pytest.mark.parametrize("which", ["access", "refresh"])
def test_a_revocation_in_the_middle_of_a_renewal_ends_the_login(opens: Open, which: str) -> None:
    papers = opens()
    grants = grants_of(papers)
    tokens = login(grants, key_in(papers))
    met = _Meeting(papers, lambda: grants.take_back(getattr(tokens, which), CLIENT))
    assert renew(grants_of(opens(), met), tokens.refresh) is None
    assert living(papers) == []


@pytest.mark.row("002 2.9.b")
def test_no_token_lives_where_renewals_and_a_revocation_race(opens: Open) -> None:
    papers = opens()
    several = [grants_of(opens()) for _ in range(3)]
    credential, faults = key_in(papers), []
    with ThreadPoolExecutor(3) as threads:
        for number in range(30):
            tokens = login(several[0], credential)
            which = ("access", "refresh")[number % 2]
            together = threading.Barrier(3, timeout=WAIT_S)

            def act(of: int, it: Tokens = tokens, which: str = which, at: Any = together) -> None:
                at.wait()
                if of:
                    renew(several[of], it.refresh)
                else:
                    several[0].take_back(getattr(it, which), CLIENT)

            list(threads.map(act, range(3)))
            faults += [(number, which, it.kind) for it in living(papers)]
            papers.drop("refresh", tokens.refresh.removeprefix("smr_").partition(".")[0])
    assert faults == []


RENEWING = """
import sys
from pathlib import Path
from tests.http_server.conftest import papers_at
from tests.http_server.test_revocation import grants_of, renew
from tests.support.login_flow import Clock
place = sys.argv[1]
grants = grants_of(papers_at(Path(place) if place.startswith("/") else place, Clock()))
print("ready", flush=True)
for line in sys.stdin:
    renew(grants, line.strip())
    print("done", flush=True)
"""


@pytest.mark.long
@pytest.mark.row("002 2.9.b")
def test_no_token_lives_after_a_thousand_races_of_two_processes(place: Any, opens: Open) -> None:
    papers = opens()
    grants, credential, chance = grants_of(papers), key_in(papers), random.Random(1)
    alive = 0
    command = [sys.executable, "-c", RENEWING, str(place)]
    with subprocess.Popen(
        command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin and other.stdout and other.stdout.readline() == "ready\n"
        for number in range(1_000):
            tokens = login(grants, credential)
            print(tokens.refresh, file=other.stdin, flush=True)
            time.sleep(chance.random() * 0.008)
            grants.take_back((tokens.access, tokens.refresh)[number % 2], CLIENT)
            assert other.stdout.readline() == "done\n"
            alive += bool(living(papers))
            for paper in living(papers):
                papers.drop(paper.kind, paper.key)
        other.stdin.close()
    assert alive == 0
