"""Where papers are kept: a SQLite file, and a PostgreSQL server."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.postgres.pool import Pool
from http_server.papers import Papers, postgres_papers, sqlite_papers
from tests.support.login_flow import Clock, Site
from tests.support.team_engines import a_server, team_server

__all__ = ["team_server"]
Open = Callable[[], Papers]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "http_server.db")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A file that is not there yet, or the address of an empty database."""
    if request.param == "sqlite":
        return tmp_path / "http_server.db"
    return request.getfixturevalue("team_server").new_dsn()


@pytest.fixture
def opens(place: Any, clock: Clock) -> Iterator[Open]:
    """Opens the papers of one place, each time as another process would."""
    opened: list[Papers] = []

    def open_papers() -> Papers:
        opened.append(papers_at(place, clock))
        return opened[-1]

    yield open_papers
    for papers in opened:
        papers.close()


def papers_at(place: Any, clock: Clock) -> Papers:
    if isinstance(place, Path):
        return sqlite_papers(place, clock=clock)
    return postgres_papers(Pool(a_server(place), path="agent_memory"), clock=clock)
