"""Tests which session a caller is at that names none."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from rooms.sessions.search.current import current
from rooms.sessions.session import Draft
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.archive import archive_before
from tests.support.room import a_room


def save(store: SessionStore, goal: str, process: str = "p1", hours: float = 0, **more: str) -> str:
    """The name of a session that was saved so many hours ago."""
    now = (datetime.now(UTC) - timedelta(hours=hours)).isoformat(timespec="seconds")
    given = {"status": "coding", **more}
    draft = Draft(goal=goal, status=given["status"])
    done = store.save(draft, agent=given.get("agent", "cursor"), process=process, now=now)
    return f"#{done.session.number}"


def at(store: SessionStore, process: str = "p1", agent: str = "cursor") -> str:
    found = current(store, process, agent=agent)
    return f"#{found.number}" if found else ""


def test_it_is_the_last_that_its_process_saved_whether_it_ended_or_not(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    assert at(store) == ""
    save(store, "Old", hours=3)
    save(store, "New", hours=2, status="completed")
    save(store, "Of another window", "p2", hours=1)
    assert at(store) == "#2"
    assert at(store, "p0", agent="") == at(store, "", agent="") == ""


def test_after_a_restart_it_is_the_one_that_the_client_left_open(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    save(store, "Yesterday", "p2", hours=25)
    save(store, "Done", "p2", hours=3, status="completed")
    save(store, "Of another client", "p2", agent="codex")
    assert at(store) == ""
    save(store, "Open", "p2", hours=2)
    assert at(store) == "#4" and at(store, agent="") == "" and at(store, agent="codex") == "#3"


def test_of_several_that_are_open_nobody_knows_which_one_is_meant(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    save(store, "One", "p2")
    save(store, "Two", "p3")
    assert at(store) == ""


def test_an_archived_session_cannot_go_on(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    save(store, "Old", hours=48, status="completed")
    archive_before(store, datetime.now(UTC).isoformat())
    assert at(store) == ""
