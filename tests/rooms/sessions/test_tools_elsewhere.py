"""Tests that the tools reach what is in an archive or in another project of the user."""

import json
import os
import re
from pathlib import Path

import pytest

from rooms.sessions.projects.sharing import share
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.archive import archive_before
from tests.support.room import OLD, a_room, act, failed, saved
from tests.support.session_tools import Call

YEARS_LATER = "2025-01-01"


@pytest.fixture
def bank(project: Path) -> SessionStore:
    """Another project, which shares."""
    store = a_room(project.with_name("bank"))
    saved(store, "Build the OAuth login", approaches=(failed("implicit flow", "it is gone"),))
    share(store, os.environ)
    return store


@pytest.fixture
def archived(store: SessionStore) -> SessionStore:
    """A session in an archive and one that is not."""
    old = saved(store, "Build the login page", OLD, summary="All of it", tags=("auth",),
                approaches=(failed("Axios", "CORS"), failed("curl")))  # fmt: skip
    act(store, old, "npm test", "npm start")
    saved(store, "Sell shoes", status="coding")
    archive_before(store, YEARS_LATER)
    return store


def test_an_archived_session_is_a_hint_and_comes_back_whole(
    call: Call, archived: SessionStore
) -> None:
    assert call("context_search", query="login").splitlines()[1] == (
        "#1 2024-03-01 ! (archived) Build the login page"
    )
    said = call("context_get", id=1)
    assert "summary: All of it" in said
    assert "failed: Axios (why: CORS)" in said
    assert said.endswith("actions:\n- command: npm test → success\n- command: npm start → success")


def test_what_is_archived_counts(call: Call, archived: SessionStore) -> None:
    assert call("context_stats") == (
        "Sessions: 2 (all)\nstatus: coding 1, completed 1\nagents: cursor 2\ntags: auth 1\n"
        "failed approaches: 2; actions a session: 1.0"
    )


def test_an_archive_that_is_gone_is_said_and_counts_no_longer(
    call: Call, refused: Call, archived: SessionStore
) -> None:
    (archived.path.parent / "archive-2024.db").unlink()
    assert refused("context_get", id=1)
    assert call("context_search", query="login").startswith("Sessions: 1 of 1.")
    assert "failed approaches: 0" in call("context_stats")


@pytest.mark.long  # it costs much
def test_a_search_of_all_projects_names_the_project_and_the_id_opens_it(
    call: Call, bank: SessionStore, store: SessionStore
) -> None:
    saved(store, "Sell shoes")
    id_ = bank.get("1").id
    said = call("context_search", query="OAuth login", scope="global")
    assert said.splitlines()[1:] == [
        f"{id_} 2026-05-01 ! [bank] Build the OAuth login",
        f"{id_} has failures on this.",
    ]
    assert call("context_search", query="OAuth login") == "No session found."
    whole = call("context_get", id=id_)
    assert "goal: Build the OAuth login" in whole
    assert "failed: implicit flow (why: it is gone)" in whole


def test_a_hit_of_another_project_is_a_declared_hint_too(
    call: Call, bank: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    [hint] = json.loads(call("context_search", query="OAuth", scope="global"))["hints"]
    assert hint == {
        "id": bank.get("1").id,
        "goal": "[bank] Build the OAuth login",
        "date": "2026-05-01",
        "hasWarnings": True,
    }


def test_an_id_that_nobody_has_is_refused(refused: Call, bank: SessionStore) -> None:
    said = refused("context_get", id="ctx_000000000000")
    assert re.match("ctx_000000000000: this project has no such session", said)
