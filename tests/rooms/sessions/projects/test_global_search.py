"""Tests that one search finds the sessions of all projects that share, and can follow a hit."""

import os
import shutil
from pathlib import Path

import pytest

from core.config import STATE_VARIABLE, Settings
from rooms.sessions.projects.searching import find_elsewhere, search_all
from rooms.sessions.projects.sharing import share, unshare
from rooms.sessions.search.found import Criteria
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.archive import archive_before, whole
from tests.support.room import OLD, a_room, act, saved

SETTINGS = Settings()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))


@pytest.fixture
def shop(tmp_path: Path) -> SessionStore:
    """A project that does not share, with two sessions."""
    store = a_room(tmp_path / "shop")
    saved(store, "Write the README")
    saved(store, "Add a basket", summary="OAuth was left for another day")
    return store


@pytest.fixture
def bank(tmp_path: Path) -> SessionStore:
    """A project that shares."""
    store = a_room(tmp_path / "bank")
    saved(store, "OAuth 로그인을 구현한다", OLD, tags=("인증", "OAuth"))
    saved(store, "Print statements", "2026-06-01T00:00:00+00:00", status="coding")
    share(store, os.environ)
    return store


def found(store: SessionStore, **criteria: object) -> list[tuple[str, int, str]]:
    page = search_all(store, Criteria(**criteria), limit=20)  # type: ignore[arg-type]
    assert page.total == len(page.hits)
    return [(hit.project, hit.session.number, hit.session.date) for hit in page.hits]


@pytest.mark.row("003 T44", "003 T72")
def test_hits_of_all_projects_stand_in_one_order_each_with_its_project(
    shop: SessionStore, bank: SessionStore
) -> None:
    assert found(shop, query="OAuth 로그인") == [("bank", 1, "2024-03-01"), ("", 2, "2026-05-01")]
    assert found(shop) == [
        *(("bank", 2, "2026-06-01"), ("", 2, "2026-05-01")),
        *(("", 1, "2026-05-01"), ("bank", 1, "2024-03-01")),
    ]


def test_filters_and_pages_hold_over_all_projects(shop: SessionStore, bank: SessionStore) -> None:
    assert found(shop, tags=("인증",)) == [("bank", 1, "2024-03-01")]
    assert found(shop, status="coding") == [("bank", 2, "2026-06-01")]
    assert found(shop, until="2025-01-01") == [("bank", 1, "2024-03-01")]
    page = search_all(shop, Criteria(), limit=1, offset=3)
    assert (page.total, [hit.session.goal for hit in page.hits]) == (4, ["OAuth 로그인을 구현한다"])


def test_a_project_that_shares_no_more_or_is_gone_is_passed_over(
    shop: SessionStore, bank: SessionStore
) -> None:
    unshare(bank.root, os.environ)
    assert found(shop, query="로그인") == []
    share(bank, os.environ)
    assert found(shop, query="로그인") == [("bank", 1, "2024-03-01")]
    shutil.rmtree(bank.root)
    assert found(shop, query="로그인") == []


def test_without_any_project_that_shares_it_is_the_search_of_this_one(shop: SessionStore) -> None:
    assert found(shop, query="OAuth") == [("", 2, "2026-05-01")]


def test_a_hit_of_another_project_can_be_read_whole(shop: SessionStore, bank: SessionStore) -> None:
    session = bank.get("1")
    act(bank, session, "npm test")
    archive_before(bank, "2025-01-01")
    elsewhere = find_elsewhere(session.id, SETTINGS, but=shop.root)
    assert elsewhere is not None
    store, hint = elsewhere
    assert (store.root, hint.archive) == (bank.root, "archive-2024.db")
    read, actions = whole(store, hint)
    assert (read.goal, [it.content for it in actions]) == (session.goal, ["npm test"])


def test_a_session_of_a_project_that_does_not_share_is_not_read(
    shop: SessionStore, bank: SessionStore
) -> None:
    own = shop.get("1").id
    assert find_elsewhere(own, SETTINGS, but=bank.root) is None
    session = bank.get("1").id
    assert find_elsewhere(session, SETTINGS, but=bank.root) is None
    unshare(bank.root, os.environ)
    assert find_elsewhere(session, SETTINGS, but=shop.root) is None


@pytest.mark.parametrize("query", ["", "README"])
def test_an_offset_beyond_all_numbers_finds_nothing_there(
    shop: SessionStore, bank: SessionStore, query: str
) -> None:
    page = search_all(shop, Criteria(query=query), limit=5, offset=10**30)
    assert (page.hits, page.total > 0) == ([], True)
