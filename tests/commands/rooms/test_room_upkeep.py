"""Tests what a person does for the upkeep of sessions and fragments."""

import os
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from rooms.fragments.room import Room
from rooms.sessions.everywhere import shared_roots
from rooms.sessions.search import Criteria, search
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.cli_process import Command
from tests.support.room_samples import a_session, stored
from tests.support.session_samples import keep

OLD = "2024-03-01T10:00:00+00:00"


@pytest.fixture
def store(project: Path) -> SessionStore:
    """Two old sessions that have ended, an old one that has not, and a new one."""
    store = open_sessions(project, Settings())
    old = {"created_at": OLD, "updated_at": OLD, "started_at": OLD}
    ended = {"status": "completed", "ended_at": OLD}
    keep(
        store,
        [
            (a_session(1, **old, **ended), []),
            (a_session(2, **old, **ended), []),
            (a_session(3, **old, status="coding", ended_at=""), []),
            (a_session(4, updated_at="2026-03-01T10:00:00+00:00"), []),
        ],
    )
    return store


def test_an_archive_is_planned_first_and_made_with_yes(
    store: SessionStore, command: Command
) -> None:
    words = ("sessions", "archive", "--before", "2025-01-01")
    planned = command(*words, "--dry-run")
    assert (planned.code, planned.lines[0]) == (0, "To archive: 2.")
    assert [line.split()[0] for line in planned.lines[2:4]] == ["#1", "#2"]
    assert planned.lines[4:] == [
        "As old, but not ended, so they stay: 1. --open archives them, too.",
        "Nothing was changed (--dry-run).",
    ]
    assert store.archives() == []
    asked = command(*words)
    assert (asked.code, store.archives()) == (1, [])
    done = command(*words, "--open", "--yes")
    [path] = store.archives()
    assert done.lines[-1] == (
        f"Archived: 3, to {path}. They are no longer found here;"
        f" `python cli.py import {path}` brings them back."
    )
    assert [hit.session.number for hit in search(store, Criteria(), limit=9).hits] == [4]
    again = command(*words, "--yes")
    assert again == (0, "No session is that old; nothing was archived.\n", "")


def test_an_archive_needs_a_date_and_makes_nothing_where_nothing_is(
    project: Path, command: Command
) -> None:
    assert command("sessions", "archive").code == 2
    assert command("sessions", "archive", "--before", "soon").code == 2
    assert command("sessions", "archive", "--before", "1y", "--yes").code == 0
    assert list(project.iterdir()) == []


def test_sharing_says_what_leaves_and_how_to_stop(store: SessionStore, command: Command) -> None:
    assert command("sessions", "share") == (
        0,
        "Your other projects on this machine now find the sessions of this one: 4.\n"
        "They find them by all words and see short goals, tags, dates, status, client and the name"
        " of the project; a session is read whole from here. To stop: python cli.py sessions share"
        " --off\n",
        "",
    )
    for said in (
        "Your other projects no longer find the sessions of this one.\n",
        "This project did not share its sessions. Nothing was changed.\n",
    ):
        assert command("sessions", "share", "--off") == (0, said, "")


def test_a_repository_cannot_share_by_what_it_carries(store: SessionStore, state: Path) -> None:
    for name in ("sessions-are-shared", "share"):
        (store.path.parent / name).write_text(str(store.root), encoding="utf-8")
    (store.path.parent / "config.json").write_text('{"share": true}', encoding="utf-8")
    keep(open_sessions(store.root, Settings()), [(a_session(5), [])])
    assert shared_roots(store.root, os.environ) == []
    assert not state.exists()


def test_fragments_are_pinned_and_unpinned(room: Room, command: Command) -> None:
    pinned = command("fragments", "pin", "redis001")
    assert pinned.lines == ["Pinned: redis001. Nothing ages or removes it."]
    assert stored(room)["redis001"].is_anchor
    unpinned = command("fragments", "unpin", "redis001")
    assert unpinned.lines == ["Unpinned: redis001. It ages from now on."]
    unknown = command("fragments", "pin", "redis001", "nowhere1")
    assert (unknown.code, unknown.errors.partition(":")[0]) == (1, "nowhere1")
    assert not stored(room)["redis001"].is_anchor


@pytest.mark.long  # it costs much
def test_consolidating_says_what_each_step_did(room: Room, command: Command) -> None:
    done = command("fragments", "consolidate").lines
    assert done[0] == "  step            changed  figures"
    assert done[12].startswith("Consolidated. Changes: ")
    told: dict[str, Any] = command("fragments", "consolidate", "--json").told
    assert [it["name"] for it in told["steps"]][:3] == ["tiers", "decay", "expiry"]
    assert len(told["steps"]) == 11


def test_what_needs_a_model_or_a_server_says_which_setting_names_one(
    room: Room, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SENTINEL_MEMORY_EMBEDDINGS", raising=False)
    done = command("fragments", "embed")
    assert (done.code, "SENTINEL_MEMORY_EMBEDDINGS" in done.errors) == (1, True)
    done = command("fragments", "migrate", "--yes")
    assert (done.code, "SENTINEL_MEMORY_FRAGMENTS" in done.out) == (0, True)


def test_an_empty_room_is_consolidated_without_being_made(tmp_path: Path, command: Command) -> None:
    assert command("fragments", "consolidate").lines[-1] == "Consolidated. Changes: 0."
    assert not tmp_path.joinpath("data").exists()
