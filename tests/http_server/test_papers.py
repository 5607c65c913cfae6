"""Tests the promises of papers, on a SQLite file and on a PostgreSQL server, also in races."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from http_server.access_keys import Credential, Keys
from http_server.grants import Grants, Seal, Tokens
from http_server.papers import Paper, Papers, hash_of
from tests.http_server.login_flow import URL, Clock, papers_at
from tests.support.tables import ROOT
from tests.support.team_engines import team_server as team_server

Open = Callable[[], Papers]
CLIENT, RACES = "c1", 1_000
PAPER = Paper(
    kind="access",
    key="a1",
    agent="alice",
    parent="k1",
    body={"client": "c", "list": [1, "둘"]},
    expires_at=1_800_001_000.0,
    made_at=1_800_000_000.5,
    used_at=1_800_000_000.5,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A file that is not there yet, or the address of an emptied database."""
    if request.param == "sqlite":
        return tmp_path / "http_server.db"
    return request.getfixturevalue("team_server").emptied_dsn()


@pytest.fixture
def opens(place: Any, clock: Clock) -> Iterator[Open]:
    """Opens the papers of one place, each time as another process would."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(papers_at(place, clock)))


def test_a_paper_comes_back_as_it_was_put_until_it_expires_the_oldest_first(
    opens: Open, clock: Clock
) -> None:
    papers = opens()
    papers.check()
    assert papers.get("access", "a1") is None
    assert papers.get("code", "a\0b") is None  # which a database does not take
    papers.put(PAPER)
    assert papers.get("access", "a1") == PAPER
    assert papers.get("refresh", "a1") is None
    papers.put(replace(PAPER, agent="bob"))
    papers.close()
    papers = opens()
    assert [it.agent for it in papers.list_all("access")] == ["bob"]
    for made_at, key in ((30.0, "c"), (10.0, "a"), (20.0, "b")):
        papers.put(replace(PAPER, key=key, made_at=made_at, expires_at=0.0))
    clock.now = PAPER.expires_at
    assert papers.get("access", "a1") is None
    assert [it.key for it in papers.list_all("access")] == ["a", "b", "c"]
    assert papers.take("access", "a1") is None
    papers.put(PAPER)
    assert (papers.sweep(), papers.sweep()) == (1, 0)


def test_one_of_many_takes_a_paper(opens: Open) -> None:
    opens().put(replace(PAPER, kind="code"))
    several = [opens() for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda n: several[n % 4].take("code", "a1"), range(16)))
        signed = set(threads.map(lambda n: Seal(several[n % 4]).signature("x", "y"), range(16)))
    assert (len([it for it in taken if it]), len(signed)) == (1, 1)


def test_papers_take_the_place_of_one_that_is_as_it_was(opens: Open) -> None:
    papers = opens()
    family = replace(PAPER, kind="refresh", key="f1", body={"secret": "1"})
    renewed, access = replace(family, body={"secret": "2"}), replace(PAPER, parent="f1")
    assert not papers.replace(family, renewed, access)
    papers.put(family)
    assert papers.replace(family, renewed, access)
    assert not opens().replace(family, replace(family, body={"secret": "3"}))
    assert (papers.get("refresh", "f1"), papers.get("access", "a1")) == (renewed, access)
    assert papers.drop("refresh", "f1") == 2
    assert not papers.replace(renewed, family)
    assert papers.list_all("refresh") == []


def test_a_paper_goes_with_the_paper_it_was_given_for(opens: Open) -> None:
    papers = opens()
    below = (
        replace(PAPER, kind="key", key="k1", parent="", expires_at=0.0),
        replace(PAPER, kind="refresh", key="f1", parent="k1"),
        replace(PAPER, parent="f1"),
        replace(PAPER, kind="ended", key="s1", parent="a1"),
    )
    other = replace(PAPER, kind="access", key="other", parent="k2")
    for paper in (*below, other):
        papers.put(paper)
    assert papers.drop("key", "nothing") == 0
    assert papers.drop("key", "k1") == 4
    assert [papers.get(it.kind, it.key) for it in below] == [None] * 4
    assert papers.get("access", "other") == other


# Logins over papers: a renewal and a revocation, in one moment.


class _Meeting(Keys):
    """Keys that let something happen while a renewal looks up whose the login is."""

    def __init__(self, papers: Papers, meanwhile: Callable[[], object]) -> None:
        super().__init__(papers, "")
        self._meanwhile = meanwhile

    def find_credential(self, paper: str) -> Credential | None:
        self._meanwhile()
        return super().find_credential(paper)


def grants_of(papers: Papers, keys: Keys | None = None) -> Grants:
    return Grants(papers, keys or Keys(papers, ""), f"{URL}/mcp")


def login(grants: Grants, credential: Credential) -> Tokens:
    asked = grants.find_question(grants.ask({"client": CLIENT}, "b"), "b")
    assert asked
    tokens = grants.exchange(hash_of(grants.allow(asked, credential) or ""))
    assert tokens
    return tokens


def key_in(papers: Papers) -> Credential:
    credential = Keys(papers, "").check(Keys(papers, "").add("laptop"))
    assert credential
    return credential


def renew(grants: Grants, token: str) -> Tokens | None:
    found = grants.check_refresh(token, CLIENT)
    return grants.rotate(found) if found else None


def living(papers: Papers) -> list[Paper]:
    return [*papers.list_all("access"), *papers.list_all("refresh")]


@pytest.mark.row("002 2.9.b")
@pytest.mark.parametrize("which", ["access", "refresh"])
def test_a_revocation_in_the_middle_of_a_renewal_ends_the_login(opens: Open, which: str) -> None:
    papers = opens()
    grants = grants_of(papers)
    tokens = login(grants, key_in(papers))
    met = _Meeting(papers, lambda: grants.take_back(getattr(tokens, which), CLIENT))
    assert renew(grants_of(opens(), met), tokens.refresh) is None
    assert living(papers) == []


RENEWING = """
import sys
from pathlib import Path
from tests.http_server.test_papers import grants_of, renew
from tests.http_server.login_flow import Clock, papers_at
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
    command = [sys.executable, "-c", RENEWING, str(place)]
    with subprocess.Popen(
        command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin and other.stdout and other.stdout.readline() == "ready\n"
        for number in range(RACES):
            tokens = login(grants, credential)
            print(tokens.refresh, file=other.stdin, flush=True)
            time.sleep(chance.random() * 0.008)
            grants.take_back((tokens.access, tokens.refresh)[number % 2], CLIENT)
            assert other.stdout.readline() == "done\n"
            assert living(papers) == [], number
        other.stdin.close()
