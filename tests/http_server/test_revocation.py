"""Tests that a revocation ends a login whatever token it names, also where a renewal meets it.

https://www.rfc-editor.org/rfc/rfc7009
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.postgres.pool import Pool
from http_server.access.grants import Asked, Given, Grants
from http_server.keys import Credential, Keys
from http_server.papers import Paper, Papers, hash_of
from http_server.papers_postgres import PostgresPapers
from http_server.papers_sqlite import SqlitePapers
from tests.support.login_flow import URL, Site
from tests.support.stdio_client import WAIT_S
from tests.support.team_engines import a_server, team_server

__all__ = ["team_server"]
Open = Callable[[], Papers]
CLIENT = "c1"
RACES = [30, pytest.param(500, marks=pytest.mark.long)]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "http_server.db")


def revoke(site: Site, client: str, token: str) -> None:
    answer = site.http.post("/revoke", data={"token": token, "client_id": client})
    assert answer.status_code == 200


def assert_ended(site: Site, client: str, *logins: dict[str, Any]) -> None:
    for tokens in logins:
        assert not site.is_open(tokens["access_token"])
    for tokens in logins:
        assert site.renew(client, tokens["refresh_token"]).status_code == 401


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.9.b")
@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
@pytest.mark.parametrize("of", ["the former", "the new"])
def test_a_revocation_after_a_renewal_ends_the_login(site: Site, of: str, which: str) -> None:
    client = site.client()
    former = site.tokens(client, site.keys.add("laptop"))
    new = site.renew(client, former["refresh_token"]).json()
    revoke(site, client, (former if of == "the former" else new)[which])
    assert_ended(site, client, former, new)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.9.b")
@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_nothing_is_renewed_after_a_revocation(site: Site, which: str) -> None:
    client = site.client()
    tokens = site.tokens(client, site.keys.add("laptop"))
    revoke(site, client, tokens[which])
    assert_ended(site, client, tokens)


@pytest.mark.long  # it costs much
def test_a_former_refresh_token_takes_back_nothing_for_another_client(site: Site) -> None:
    client, other = site.client(), site.client()
    former = site.tokens(client, site.keys.add("laptop"))
    new = site.renew(client, former["refresh_token"]).json()
    revoke(site, other, former["refresh_token"])
    assert site.is_open(new["access_token"])


@pytest.fixture(params=["sqlite", "postgres"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the papers of one place, each time as another process would."""
    opened: list[Papers] = []
    place: Any = tmp_path / "http_server.db"
    if request.param == "postgres":
        place = request.getfixturevalue("team_server").new_dsn()

    def open_papers() -> Papers:
        papers: Papers
        if isinstance(place, Path):
            papers = SqlitePapers(place)
        else:
            papers = PostgresPapers(Pool(a_server(place)))
        opened.append(papers)
        return papers

    yield open_papers
    for papers in opened:
        papers.close()


class _Meeting(Keys):
    """Keys that let something happen while a renewal looks up whose the login is."""

    def __init__(self, papers: Papers, meanwhile: Callable[[], object]) -> None:
        super().__init__(papers, "")
        self._meanwhile = meanwhile

    def of(self, paper: str) -> Credential | None:
        self._meanwhile()
        return super().of(paper)


def grants_of(papers: Papers, keys: Keys | None = None) -> Grants:
    return Grants(papers, keys or Keys(papers, ""), f"{URL}/mcp")


def login(grants: Grants, credential: Credential) -> Given:
    asked = Asked(
        client=CLIENT,
        client_name="",
        redirect="",
        is_explicit=True,
        challenge="",
        state=None,
    )
    code = grants.allow(grants.ask(asked, "b"), "b", credential)
    given = grants.exchange(hash_of(code or ""))
    assert given
    return given


def key_in(papers: Papers) -> Credential:
    credential = Keys(papers, "").check(Keys(papers, "").add("laptop"))
    assert credential
    return credential


def renew(grants: Grants, token: str) -> Given | None:
    found = grants.refresh(token, CLIENT)
    return grants.rotate(found[0].key, found[1]) if found else None


def take_back(grants: Grants, given: Given, which: str) -> None:
    if which == "access":
        grants.revoke("access", hash_of(given.access))
    elif found := grants.refresh(given.refresh, CLIENT):
        grants.revoke("refresh", found[0].key)


def living(papers: Papers) -> list[Paper]:
    return [*papers.listed("access"), *papers.listed("refresh")]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("which", ["access", "refresh"])
def test_a_revocation_in_the_middle_of_a_renewal_ends_the_login(opens: Open, which: str) -> None:
    papers = opens()
    grants = grants_of(papers)
    given = login(grants, key_in(papers))
    met = _Meeting(papers, lambda: take_back(grants, given, which))
    assert renew(grants_of(opens(), met), given.refresh) is None
    assert living(papers) == []


@pytest.mark.row("002 2.9.b")
@pytest.mark.parametrize("races", RACES)
def test_no_token_lives_where_renewals_and_a_revocation_race(opens: Open, races: int) -> None:
    papers = opens()
    several = [grants_of(opens()) for _ in range(3)]
    credential = key_in(papers)
    faults = []
    with ThreadPoolExecutor(3) as threads:
        for number in range(races):
            given = login(several[0], credential)
            which = ("access", "refresh")[number % 2]
            together = threading.Barrier(3, timeout=WAIT_S)

            def act(of: int, given: Given = given, which: str = which, at: Any = together) -> None:
                at.wait()
                if of:
                    renew(several[of], given.refresh)
                else:
                    take_back(several[0], given, which)

            list(threads.map(act, range(3)))
            if left := living(papers):
                faults.append((number, which, [it.kind for it in left]))
                for paper in left:
                    papers.drop(paper.kind, paper.key)
    assert faults == []
