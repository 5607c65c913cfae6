"""Tests which projects share their sessions, and that one search finds those of all of them."""

import json
import os
import shutil
from pathlib import Path

import pytest

from rooms.sessions import search
from rooms.sessions.session import NoSuchSessionError, SessionsError
from rooms.sessions.store import SessionStore
from tests.support.room_tools import Call
from tests.support.session_samples import OLD, a_room, failed, saved


@pytest.fixture
def shop(store: SessionStore) -> SessionStore:
    """A project that does not share, with two sessions."""
    saved(store, "Write the README")
    saved(store, "Add a basket", summary="OAuth was left for another day")
    return store


@pytest.fixture
def bank(tmp_path: Path) -> SessionStore:
    """A project that shares."""
    store = a_room(tmp_path / "bank")
    tried = (failed("implicit flow", "it is gone"),)
    saved(store, "OAuth 로그인을 구현한다", OLD, tags=("인증", "OAuth"), approaches=tried)
    saved(store, "Print statements", "2026-06-01T00:00:00+00:00", status="coding")
    search.share(store.root, os.environ)
    return store


def found(store: SessionStore, **criteria: object) -> list[tuple[str, int, str]]:
    page = search.search_all(store, search.Criteria(**criteria), limit=20)  # type: ignore[arg-type]
    assert page.total == len(page.hits)
    return [(hit.project, hit.session.number, hit.session.date) for hit in page.hits]


@pytest.mark.row("003 T44", "003 T72")
def test_hits_of_all_projects_stand_in_one_order_and_filters_and_pages_hold_over_them(
    shop: SessionStore, bank: SessionStore
) -> None:
    of_bank = [("bank", 1, "2024-03-01")]
    assert found(shop, query="OAuth 로그인") == [*of_bank, ("", 2, "2026-05-01")]
    assert found(shop) == [
        *(("bank", 2, "2026-06-01"), ("", 2, "2026-05-01")),
        *(("", 1, "2026-05-01"), ("bank", 1, "2024-03-01")),
    ]
    assert found(shop, tags=("인증",)) == found(shop, until="2025-01-01") == of_bank
    assert found(shop, status="coding") == [("bank", 2, "2026-06-01")]
    page = search.search_all(shop, search.Criteria(), limit=1, offset=3)
    assert (page.total, [hit.session.goal for hit in page.hits]) == (4, ["OAuth 로그인을 구현한다"])
    for query in ("", "README"):  # an offset beyond all numbers
        page = search.search_all(shop, search.Criteria(query=query), limit=5, offset=10**30)
        assert (page.hits, page.total > 0) == ([], True)


@pytest.mark.row("003 T44")
def test_a_session_of_another_project_is_named_and_read_only_with_its_consent(
    shop: SessionStore,
    bank: SessionStore,
    call: Call,
    refused: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, session = shop.get("1"), bank.get("1")
    store, read = search.find_session(shop, session.id)
    assert (store.root, read) == (bank.root, session)
    said = call("context_search", query="로그인", scope="global")
    goal = "OAuth 로그인을 구현한다"
    assert said.splitlines()[1:] == [f"{session.id} 2024-03-01 ! [bank] {goal}"]
    assert call("context_search", query="로그인") == "No session found."
    whole = call("context_get", id=session.id)
    assert whole.startswith(f"[bank] {session.id} · ") and f"goal: {goal}" in whole
    assert "failed: implicit flow (why: it is gone)" in whole
    said = refused("context_save", goal="x", parentId=session.id)
    assert said.startswith(f"{session.id}: this project has no such session")
    assert call("context_search").startswith("Sessions: 2 of 2.")
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    [told] = json.loads(call("context_search", query="로그인", scope="global"))["hints"]
    shown = {"id": session.id, "goal": f"[bank] {goal}", "date": "2024-03-01", "hasWarnings": True}
    assert told == shown
    with pytest.raises(NoSuchSessionError):
        search.find_session(bank, own.id)
    search.unshare(bank.root, os.environ)
    with pytest.raises(NoSuchSessionError):
        search.find_session(shop, session.id)


def test_a_project_that_shares_no_more_is_gone_or_cannot_be_used_is_passed_over(
    shop: SessionStore, bank: SessionStore
) -> None:
    assert search.unshare(bank.root, os.environ)
    assert not search.unshare(bank.root, os.environ)
    assert found(shop, query="로그인") == []
    search.share(bank.root, os.environ)
    assert found(shop, query="로그인") == [("bank", 1, "2024-03-01")]
    config = bank.path.parent / "config.json"
    config.write_text("no settings", encoding="utf-8")
    assert found(shop, query="로그인") == []
    config.unlink()
    shutil.rmtree(bank.root)
    assert found(shop, query="OAuth") == [("", 2, "2026-05-01")]


@pytest.mark.row("003 T72")
def test_nothing_of_a_session_is_written_outside_of_its_project(
    store: SessionStore, state: Path
) -> None:
    saved(store, "Fix the login", summary="summary that stays")
    assert not state.exists()
    for change in (search.share, search.unshare, search.share):  # the copies of an older version go
        state.mkdir(exist_ok=True)
        (state / "global.db").write_bytes(b"short goals of all projects")
        change(store.root, os.environ)
        assert not (state / "global.db").exists()
    saved(store, "Add a basket")
    [consent] = [path for path in state.rglob("*") if path.is_file()]
    assert consent.read_text(encoding="utf-8") == os.path.realpath(store.root)
    assert consent.stat().st_mode & 0o777 == 0o600


def test_the_consent_is_for_one_directory_on_this_machine(
    store: SessionStore, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that only looks the same, as a checksum that another path has, gives none."""
    search.share(store.root, os.environ)
    [path] = [it for it in state.rglob("*") if it.is_file()]
    assert search.shared_roots(state, os.environ) == [os.path.realpath(store.root)]
    for text in (f"{store.root}2", "relative/shop", ""):
        path.write_text(text, encoding="utf-8")
        assert (
            search.shared_roots(store.root, os.environ)
            == search.shared_roots(state, os.environ)
            == []
        )
    environment = {"XDG_STATE_HOME": "relative"}  # an account without a home directory
    monkeypatch.setenv("HOME", "nowhere")
    with pytest.raises(SessionsError):
        search.share(store.root, environment)
    assert not search.unshare(store.root, environment)
    assert search.shared_roots(store.root, environment) == []
