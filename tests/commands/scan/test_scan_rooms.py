"""Tests that `cli.py scan` finds secrets among the sessions, and takes them out of every byte."""

import json
from pathlib import Path

import pytest

from rooms.fragments.fragment import Fragment
from rooms.fragments.sqlite.adapter import SqliteEngine
from rooms.sessions.store import SessionStore
from tests.support.cli_process import TOKEN
from tests.support.desk import Desk
from tests.support.room import a_room, act, every_byte, saved, stored


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
        "Run python cli.py scan --redact to remove them from the log and from: sessions. Rotate"
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
        "Redacted among the sessions: 1\n"
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


DATE = "2026-05-01T10:00:00+00:00"


@pytest.fixture
def place(desk: Desk, tmp_path: Path) -> dict[str, str]:
    """A clean fragment and one that holds a secret, and the variable that says where they are."""
    engine = SqliteEngine(tmp_path / "kept" / "memory.db", timeout_s=5)
    with engine.writing() as writing:
        for id_, content in (("aaaa", "Fix the login"), ("bbbb", f"Rotate {TOKEN}")):
            writing.add([Fragment(id=id_, content=content, created_at=DATE)])
    engine.close()
    return {"SENTINEL_MEMORY_FRAGMENTS": str(engine.path)}


@pytest.mark.row("002 2.99")
def test_which_fragment_holds_what_is_said_and_never_the_value(
    desk: Desk, place: dict[str, str]
) -> None:
    [path] = place.values()
    done = desk.run("scan", **place)
    assert (done.code, done.errors) == (1, "")
    assert done.lines[-3:] == [
        f"{path}: github-token in fragment bbbb",
        "Places with secrets among the fragments (on this machine, over all projects): 1.",
        "Run python cli.py scan --redact to remove them from the log and from: fragments (on this"
        " machine, over all projects). Rotate every real secret at its provider.",
    ]
    assert TOKEN not in done.out
    found = {"path": path, "fragment": "bbbb", "kinds": ["github-token"]}
    assert desk.run("scan", "--json", **place).told["fragments"] == [found]
    korean = desk.run("scan", SENTINEL_MEMORY_LANG="ko", **place)
    assert "조각(이 컴퓨터의 모든 프로젝트에서 씀)에서 비밀 값이 있는 곳 1군데." in korean.lines


@pytest.mark.long  # it costs much
def test_a_redaction_of_fragments_shows_its_plan_and_leaves_no_byte(
    desk: Desk, place: dict[str, str]
) -> None:
    [path] = place.values()
    planned = desk.run("scan", "--redact", "--dry-run", **place)
    assert planned.lines[1] == f"  {path}: github-token in fragment bbbb"
    assert TOKEN.encode() in every_byte(Path(path).parent)
    found = {"path": path, "fragment": "bbbb", "kinds": ["github-token"]}
    told = desk.run("scan", "--redact", "--json", "--dry-run", **place).told
    assert told == {"would_redact": [], "would_redact_fragments": [found]}
    done = desk.run("scan", "--redact", "--yes", **place)
    assert done == (
        0,
        "Redacted among the fragments (on this machine, over all projects): 1\n"
        f"  {path}: github-token in fragment bbbb\n"
        "1. Rotate every real secret at its provider.\n",
        "",
    )
    assert TOKEN.encode() not in every_byte(Path(path).parent)
    assert desk.run("scan", **place).code == 0
    told = desk.run("scan", "--redact", "--json", "--yes", **place).told
    assert told == {"redacted": [], "left": [], "fragments": [], "fragments_left": []}


def test_a_damaged_file_is_named_and_so_is_one_that_was_kept(
    desk: Desk, place: dict[str, str]
) -> None:
    path = Path(place["SENTINEL_MEMORY_FRAGMENTS"])
    kept = path.with_name("memory.db.damaged-20260101T000000000000Z")
    kept.write_bytes(b"x")
    assert f"{kept}: not scanned, a damaged database" in desk.run("scan", **place).out
    for beside in path.parent.glob("memory.db-*"):
        beside.unlink()
    path.write_bytes(b"no database " * 999)
    done = desk.run("scan", **place)
    assert (done.code, f"{path}: damaged, so not scanned." in done.errors) == (2, True)


def test_what_cannot_be_read_is_named_with_a_sentence(desk: Desk) -> None:
    done = desk.run("scan", SENTINEL_MEMORY_FRAGMENTS="memory.db")
    assert done.code == 2
    assert done.errors.startswith("fragments: cannot be read (SENTINEL_MEMORY_FRAGMENTS does not")
    [unread] = desk.run("scan", "--json", SENTINEL_MEMORY_FRAGMENTS="memory.db").told["unreadable"]
    assert unread["path"] == "fragments"
