"""Tests that a person can archive, share and forget sessions, and sees first what will happen."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.project import STATE_VARIABLE
from rooms.sessions.errors import NoSuchSessionError
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.archive import archives_of
from tests.support.cli_process import Command
from tests.support.room import OLD, a_room, act, every_byte, saved


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def store(project: Path) -> SessionStore:
    """An old session that has ended, one that has not, and a new one that continues the first."""
    store = a_room(project)
    first = saved(store, "Feed the zebra", OLD, summary="It eats hay.")
    act(store, first, "npm run zebra")
    saved(store, "Feed the lion", OLD, status="paused")
    saved(store, "Feed the bear", OLD, status="coding")
    saved(store, "Feed the foal", parent=first.id)
    return store


# archive


def test_an_archive_is_planned_first_and_made_with_yes(
    store: SessionStore, command: Command
) -> None:
    planned = command("sessions", "archive", "--before", "2025-01-01", "--dry-run")
    assert (planned.code, planned.lines[0]) == (0, "To archive: 2 (archive-2024.db: 2).")
    assert [line.split()[0] for line in planned.lines[2:4]] == ["1", "2"]
    assert planned.lines[4:] == [
        "As old, but not ended, so they stay: 1. --open archives them, too.",
        "Nothing was changed (--dry-run).",
    ]
    assert archives_of(store) == []
    asked = command("sessions", "archive", "--before", "2025-01-01")
    assert (asked.code, archives_of(store)) == (1, [])
    done = command("sessions", "archive", "--before", "2025-01-01", "--open", "--yes")
    assert done.lines[-1] == (
        "Archived: 3. They are still found, and shown whole from the files in"
        f" {store.path.parent}/; back these up with the database."
    )
    assert [store.get(name).archive for name in "1234"] == ["archive-2024.db"] * 3 + [""]
    again = command("sessions", "archive", "--before", "2025-01-01", "--yes")
    assert again == (0, "No session is that old; nothing was archived.\n", "")


def test_an_archive_needs_a_date(store: SessionStore, command: Command) -> None:
    assert command("sessions", "archive").code == 2
    assert command("sessions", "archive", "--before", "soon").code == 2


# share


def test_sharing_says_what_leaves_and_how_to_stop(store: SessionStore, command: Command) -> None:
    assert command("sessions", "share") == (
        0,
        "Your other projects on this machine now find the sessions of this one: 4.\n"
        "They get short goals, tags, dates, status, client and the name of the project; a session"
        " is read whole from here. To stop: python cli.py sessions share --off\n",
        "",
    )
    assert command("sessions", "share", "--off") == (
        0,
        "Your other projects no longer find the sessions of this one. Hints removed: 4.\n",
        "",
    )


def test_a_repository_cannot_share_by_what_it_carries(
    store: SessionStore, command: Command, state: Path
) -> None:
    for name in ("sessions-are-shared", "share"):
        (store.path.parent / name).write_text(str(store.root), encoding="utf-8")
    (store.path.parent / "config.json").write_text('{"share": true}', encoding="utf-8")
    saved(a_room(store.root), "Feed the cat")
    assert not state.exists()


# forget


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("words", [("sessions", "forget", "1"), ("forget", "#1")])
def test_what_goes_is_shown_and_gone_from_every_byte(
    store: SessionStore, command: Command, state: Path, words: tuple[str, ...]
) -> None:
    command("sessions", "share")
    planned = command(*words, "--dry-run")
    assert planned.code == 0
    assert planned.lines[0] == "To remove for good: 1. There is no way back."
    assert "#1  Feed the zebra" in planned.lines
    assert "  Continued by #4; only that link goes." in planned.lines
    assert "npm run zebra" in planned.out
    assert command(*words).code == 1
    assert store.get("1").goal == "Feed the zebra"

    done = command(*words, "--yes")
    assert (done.code, done.lines[-1], done.errors) == (0, "Removed: 1.", "")
    assert b"zebra" not in every_byte(store.root, state)
    assert store.get("4").parent_id == ""
    with pytest.raises(NoSuchSessionError):
        store.get("1")


def test_an_archived_session_is_shown_whole_and_forgotten_in_its_archive(
    store: SessionStore, command: Command
) -> None:
    command("sessions", "archive", "--before", "2025-01-01", "--yes")
    done = command("sessions", "forget", store.get("1").id, "--yes")
    assert "npm run zebra" in done.out
    assert done.lines[-1] == "Removed: 1."
    assert b"zebra" not in every_byte(store.root)


def test_a_session_that_is_not_there_stops_all(store: SessionStore, command: Command) -> None:
    done = command("sessions", "forget", "1", "99", "--yes")
    assert done.code == 1
    assert "99: this project has no such session." in done.errors
    assert store.get("1").goal == "Feed the zebra"


@pytest.mark.long
def test_bytes_that_another_process_holds_are_said(store: SessionStore, command: Command) -> None:
    with closing(sqlite3.connect(store.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchone()
        done = command("sessions", "forget", "1", "--yes")
    assert done.code == 1
    assert done.errors == (
        f"{store.path}: the bytes of what was removed are still in this file, because another"
        " process reads it or there is no room. End the clients that use this project, then run"
        " python cli.py scan --redact.\n"
    )
    command("scan", "--redact")
    assert b"zebra" not in every_byte(store.root)
