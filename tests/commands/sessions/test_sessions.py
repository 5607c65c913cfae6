"""Tests what only sessions have: an export of their own, archives, sharing."""

import json
from pathlib import Path

import pytest

from core.config import STATE_VARIABLE
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.archive import archives_of
from tests.support.cli_process import Command, Run
from tests.support.room import OLD, a_room, act, saved
from tests.support.session_samples import make_sample_store

EMPTY = [
    "This project has no sessions yet.",
    "Sessions keep what was done: goals, decisions, failures, blockers, commands.",
    "If they are still off: `python cli.py setup --all --rooms lessons,sessions`",
]


@pytest.fixture
def store(project: Path) -> SessionStore:
    """The sessions of the project in which commands are given."""
    return make_sample_store(project, 24)


# an export


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("name", "start"), [("a.md", "<!-- sent"), ("a.json", '{"format'), ("b.html", "<!doctype")]
)
def test_the_name_of_a_file_tells_its_form(
    store: SessionStore, command: Command, project: Path, name: str, start: str
) -> None:
    done = command("sessions", "export", "23", "24", "-o", f"docs/{name}")
    assert done == Run(0, f"Written: docs/{name} (sessions: 2).\n", "")
    assert (project / "docs" / name).read_text(encoding="utf-8").startswith(start)


@pytest.mark.long  # it costs much
def test_an_export_without_a_file_is_printed(store: SessionStore, command: Command) -> None:
    text = command("sessions", "export", "--format", "json", "--since", "2026-11-17").out
    assert len(json.loads(text)["contexts"]) == 3
    assert (
        command("sessions", "export", "--format", "json", "-o", "-").out.count('"id": "ctx_') == 24
    )


@pytest.mark.long  # it costs much
def test_a_relative_file_is_meant_from_where_the_command_is_given(
    store: SessionStore, command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "docs").mkdir()
    monkeypatch.chdir(project / "docs")
    done = command("sessions", "--project", str(project), "export", "-o", "../a.md")
    assert done.out == "Written: a.md (sessions: 24).\n"


def test_without_sessions_there_is_nothing_to_export(project: Path, command: Command) -> None:
    assert command("sessions", "export", "-o", "a.md") == Run(1, "", "\n".join([*EMPTY, ""]))
    assert list(project.iterdir()) == []


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory; the user has no fragments."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "data" / "memory.db"))
    return tmp_path / "state"


@pytest.fixture
def old_store(project: Path) -> SessionStore:
    """An old session that has ended, one that has not, and a new one that continues the first."""
    old_store = a_room(project)
    first = saved(old_store, "Feed the zebra", OLD, summary="It eats hay.")
    act(old_store, first, "npm run zebra")
    saved(old_store, "Feed the lion", OLD, status="paused")
    saved(old_store, "Feed the bear", OLD, status="coding")
    saved(old_store, "Feed the foal", parent=first.id)
    return old_store


# archive


def test_an_archive_is_planned_first_and_made_with_yes(
    old_store: SessionStore, command: Command
) -> None:
    planned = command("sessions", "archive", "--before", "2025-01-01", "--dry-run")
    assert (planned.code, planned.lines[0]) == (0, "To archive: 2 (archive-2024.db: 2).")
    assert [line.split()[0] for line in planned.lines[2:4]] == ["1", "2"]
    assert planned.lines[4:] == [
        "As old, but not ended, so they stay: 1. --open archives them, too.",
        "Nothing was changed (--dry-run).",
    ]
    assert archives_of(old_store) == []
    asked = command("sessions", "archive", "--before", "2025-01-01")
    assert (asked.code, archives_of(old_store)) == (1, [])
    done = command("sessions", "archive", "--before", "2025-01-01", "--open", "--yes")
    assert done.lines[-1] == (
        "Archived: 3. They are still found, and shown whole from the files in"
        f" {old_store.path.parent}/; back these up with the database."
    )
    assert [old_store.get(name).archive for name in "1234"] == ["archive-2024.db"] * 3 + [""]
    again = command("sessions", "archive", "--before", "2025-01-01", "--yes")
    assert again == (0, "No session is that old; nothing was archived.\n", "")


def test_an_archive_needs_a_date(old_store: SessionStore, command: Command) -> None:
    assert command("sessions", "archive").code == 2
    assert command("sessions", "archive", "--before", "soon").code == 2


# share


def test_sharing_says_what_leaves_and_how_to_stop(
    old_store: SessionStore, command: Command
) -> None:
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
    old_store: SessionStore, command: Command, state: Path
) -> None:
    for name in ("sessions-are-shared", "share"):
        (old_store.path.parent / name).write_text(str(old_store.root), encoding="utf-8")
    (old_store.path.parent / "config.json").write_text('{"share": true}', encoding="utf-8")
    saved(a_room(old_store.root), "Feed the cat")
    assert not state.exists()
