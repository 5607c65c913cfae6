"""Tests that `cli.py scan` finds secrets among the sessions, and takes them out of every byte."""

import json
import sys

import pytest

from rooms.sessions.store import SessionStore
from tests.support.cli_process import TOKEN, Run
from tests.support.desk import Desk
from tests.support.room import a_room, act, every_byte, saved, stored
from tests.support.stdio_client import ROOT


@pytest.fixture
def room(desk: Desk) -> SessionStore:
    """A clean session, and one that holds a secret in its goal and in an action."""
    store = a_room(desk.root)
    saved(store, "Fix the login")
    session = stored(store, goal=f"Rotate {TOKEN}")
    act(store, session, f"export TOKEN={TOKEN}")
    saved(store, "Add a basket")
    store.database.close()
    return store


@pytest.mark.row("003 T91")
def test_which_session_holds_what_is_said_and_never_the_value(
    desk: Desk, room: SessionStore
) -> None:
    done = desk.run("scan")
    assert (done.code, done.errors) == (1, "")
    assert ".context/sessions/history.db: github-token in session #2" in done.lines
    assert done.lines[-2:] == [
        "Places with secrets among the sessions: 1.",
        "Run python cli.py scan --redact to remove them from the log and from the sessions. Rotate"
        " every real secret at its provider.",
    ]
    assert TOKEN not in done.out
    assert desk.run("scan", "--json").told["sessions"] == [
        {"path": ".context/sessions/history.db", "session": "#2", "kinds": ["github-token"]}
    ]


@pytest.mark.long  # it costs much
def test_a_redaction_shows_its_plan_asks_and_leaves_no_byte(desk: Desk, room: SessionStore) -> None:
    planned = desk.run("scan", "--redact", "--dry-run")
    assert planned.lines[:2] == [
        "Places among the sessions from which secrets are to be removed: 1.",
        "  .context/sessions/history.db: github-token in session #2",
    ]
    assert TOKEN.encode() in every_byte(desk.root)
    asked = desk.run("scan", "--redact")
    assert (asked.code, TOKEN.encode() in every_byte(desk.root)) == (1, True)

    done = desk.run("scan", "--redact", "--yes")
    assert done == (
        0,
        "Redacted among the sessions, also in the bytes of the files (1):\n"
        "  .context/sessions/history.db: github-token in session #2\n"
        "1. Rotate every real secret at its provider.\n",
        "",
    )
    assert TOKEN.encode() not in every_byte(desk.root)
    assert room.get("2").goal == "Rotate [REDACTED]"
    assert desk.run("scan").code == 0


def test_a_redaction_as_data_names_the_sessions(desk: Desk, room: SessionStore) -> None:
    place = {"path": ".context/sessions/history.db", "session": "#2", "kinds": ["github-token"]}
    told = desk.run("scan", "--redact", "--json", "--dry-run").told
    assert told == {"would_redact": [], "would_redact_sessions": [place]}
    told = desk.run("scan", "--redact", "--json", "--yes").told
    assert told == {"redacted": [], "left": [], "sessions": [place], "sessions_left": []}


def test_a_damaged_database_does_not_hide_what_else_was_found(
    desk: Desk, room: SessionStore
) -> None:
    room.path.write_bytes(b"no database " * 999)
    desk.write(json.dumps({"token": TOKEN}).encode() + b"\n")
    done = desk.run("scan")
    assert done.code == 2
    assert done.errors == (
        ".context/sessions/history.db: damaged, so not scanned. Run python cli.py doctor --fix,"
        " then scan again.\n"
    )
    assert "memory_log.jsonl:1: github-token" in done.out


def test_a_damaged_database_that_was_kept_is_named(desk: Desk, room: SessionStore) -> None:
    room.path.with_name("history.db.damaged-20260101T000000000000Z").write_bytes(b"x")
    assert (
        ".context/sessions/history.db.damaged-20260101T000000000000Z: not scanned, a damaged"
        " database that a repair has kept. Delete it once nothing is missing."
    ) in desk.run("scan").lines


@pytest.mark.long  # it costs much
def test_a_project_without_sessions_hears_and_loads_nothing_of_them(desk: Desk) -> None:
    assert "sessions" not in desk.run("scan", "--json").told
    program = (
        "import sys; sys.argv = ['cli.py', 'scan']; import cli; cli.main(['scan']);"
        " print([name for name in sys.modules if name.split('.')[0] in ('rooms', 'sqlite3')])"
    )
    done = Run.process(sys.executable, "-c", program, **desk.place(PYTHONPATH=str(ROOT)))
    assert done.lines[-1] == "[]"
