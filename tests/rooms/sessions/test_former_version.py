"""Tests that sessions which an older version kept are read, brought back and left as they were."""

import gzip
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.lessons.record import utc_now
from rooms.sessions.actions import Caller, record_save
from rooms.sessions.archive import former_archive
from rooms.sessions.import_plan import carry_out, planned
from rooms.sessions.search import Criteria, search
from rooms.sessions.source import read_source
from rooms.sessions.store import SessionStore
from tests.support.room import a_room, every_byte, saved
from tests.support.stdio_client import ROOT

DATA = ROOT / "tests" / "data" / "sessions"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    """Three sessions, of which the first two were moved to an archive, and an action that waits."""
    store = a_room(tmp_path)
    store.path.parent.mkdir(parents=True)
    for path in DATA.glob("*.db.gz"):
        target = store.path.parent / path.name.removesuffix(".gz")
        target.write_bytes(gzip.decompress(path.read_bytes()))
    return store


def tables_of(path: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        statement = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        return set(connection.execute(statement))


def test_the_tables_stay_so_that_both_versions_can_use_the_file(
    store: SessionStore, tmp_path: Path
) -> None:
    before = tables_of(store.path)
    saved(store, "A save of this version")
    assert tables_of(store.path) == before
    new = a_room(tmp_path / "new")
    saved(new, "A save of this version")
    assert {it for it in tables_of(new.path) if "_fts_" not in it[0]} == {
        it for it in before if "_fts_" not in it[0]
    }


def test_a_hint_says_which_file_has_its_texts(store: SessionStore) -> None:
    hints = [store.get(name) for name in ("1", "2")]
    assert [former_archive(store, it) for it in hints] == [
        ".context/sessions/archive-2024.db",
        ".context/sessions/archive-2024.db",
    ]
    with store.writing() as connection:
        connection.execute("UPDATE contexts SET archive = '../../secret.db'")
    assert former_archive(store, store.get("1")) == ""


@pytest.mark.row("003 T74")
def test_an_import_of_an_archive_brings_whole_sessions_back(store: SessionStore) -> None:
    [path] = store.former_archives()
    assert [it.number for it in carry_out(store, planned(store, read_source(path)))] == [1, 2]
    first, second = store.get("1"), store.get("2")
    assert first.goal == "Let users log in with Google, and keep them logged in for a month"
    assert [it.text for it in first.points()] == [
        "Exchange the code on the server",
        "Exchange the code with fetch",
        "No client secret",
    ]
    assert [it.content for it in store.actions(first)] == ["npm test", "git commit -m login"]
    assert (second.parent_id, second.summary) == (first.id, "금액이 반올림되지 않았다.")
    assert [it.archive for it in (first, second)] == ["", ""]
    assert search(store, Criteria(query="반올림"), limit=5).total == 1
    assert carry_out(store, planned(store, read_source(path))) == []


def test_an_action_that_waits_finds_its_session(store: SessionStore) -> None:
    with store.writing() as connection:
        connection.execute("UPDATE waiting_actions SET created_at = ?", (utc_now(),))
    session = saved(store, "Go on with the cart", utc_now(), status="coding")
    caller = Caller("claude-code", "talk-1")
    assert record_save(store.root, caller, f"Saved #{session.number}.", os.environ)
    assert [it.content for it in store.actions(session)] == ["npm run build"]


def test_nothing_is_lost_of_what_nobody_reads_any_more(store: SessionStore) -> None:
    before = store.path.parent / "archive-2024.db"
    data = before.read_bytes()
    saved(store, "A save of this version")
    assert before.read_bytes() == data
    assert "반올림".encode() in every_byte(store.root)
