"""Tests that old sessions move to archives whole, once, and can be read back."""

import contextlib
import os
import signal
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.config import CONTEXT_DIRECTORY
from core.room.database import DatabaseDamagedError, DatabaseError
from rooms.sessions.errors import UpkeepError
from rooms.sessions.search.found import Criteria
from rooms.sessions.search.searching import search
from rooms.sessions.session import Blocker, Changes, Decision, Draft, Session
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.archive import archive_before, archives_of, whole
from tests.support.costly import one_in
from tests.support.faults import Child
from tests.support.room import OLD, a_room, act, failed, saved

DAY = "2026-01-01"


def a_full_session(store: SessionStore, goal: str = "Fix the login of the shop " * 3) -> Session:
    session = saved(
        store,
        goal,
        OLD,
        summary="The token expired too early. " * 8,
        tags=("auth", "인증"),
        decisions=(Decision(what="use fetch", why="it is there"),),
        approaches=(failed("retry in a loop", "the server locks the account"),),
        blockers=(Blocker(description="no test account"),),
        changes=Changes(modified_files=("src/login.ts",), summary="the expiry"),
    )
    act(store, session, "npm test", "git commit -m fix")
    return session


@pytest.mark.row("003 T78")
def test_an_old_session_moves_with_its_actions_and_is_read_back_as_it_was(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    session = a_full_session(store)
    actions = store.actions(session)
    archived = archive_before(store, DAY)
    assert (archived.sessions, archived.files) == ([session], {"archive-2024.db": 1})

    hint = store.get("#1")
    assert hint.archive == "archive-2024.db"
    assert (hint.goal, hint.summary) == (session.goal_short, session.summary_short)
    assert (hint.decisions, hint.approaches, hint.blockers) == ((), (), ())
    assert (hint.id, hint.tags, hint.status, hint.has_warnings) == (
        *(session.id, session.tags, session.status, True),
    )
    assert store.actions(hint) == []
    read, read_actions = whole(store, hint)
    assert (read.goal, read.summary, read.metadata()) == (
        *(session.goal, session.summary, session.metadata()),
    )
    assert [it.content for it in read_actions] == ["npm test", "git commit -m fix"]
    assert read_actions == actions


@pytest.mark.row("003 T78.a")
def test_an_archived_session_is_found_as_a_hint_and_in_its_chain(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    first = a_full_session(store)
    second = saved(store, "Test the login", parent=first.id)
    archive_before(store, DAY)
    hits = search(store, Criteria(query="인증"), limit=5).hits
    assert [hit.session.id for hit in hits] == [first.id]
    assert [it.number for it in store.chain(second)] == [1, 2]


def test_what_is_newer_open_or_only_tried_stays(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    old = saved(store, "Old and ended", OLD)
    still_open = saved(store, "Old and open", OLD, status="coding")
    saved(store, "New")
    planned = archive_before(store, DAY, dry_run=True)
    assert (planned.sessions, planned.left_open, archives_of(store)) == ([old], 1, [])
    assert archive_before(store, DAY).sessions == [old]
    assert [store.get(name).archive for name in "123"] == ["archive-2024.db", "", ""]
    assert archive_before(store, DAY, with_open=True).sessions == [still_open]
    assert archive_before(store, DAY, with_open=True).sessions == []


def test_a_project_without_sessions_gets_none(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    assert archive_before(store, DAY) == ([], {}, 0)
    assert os.listdir(tmp_path) == []


def test_a_date_that_is_none_archives_nothing(tmp_path: Path) -> None:
    with pytest.raises(UpkeepError, match="not a date"):
        archive_before(a_room(tmp_path), "yesterday")


def test_a_session_in_both_places_is_taken_as_it_is_in_the_database(tmp_path: Path) -> None:
    """As after a kill between the two, and a save before the next run."""
    store = a_room(tmp_path)
    session = a_full_session(store)
    store.database.close()
    before = store.path.read_bytes()
    archive_before(store, DAY)
    store.database.close()
    store.path.write_bytes(before)

    store.save(Draft(goal="Fix it at last", id=session.id), agent="", process="", now=OLD)
    archive_before(store, DAY)
    read, actions = whole(store, store.get("#1"))
    assert (read.goal, len(actions)) == ("Fix it at last", 2)
    with closing(sqlite3.connect(archives_of(store)[0])) as connection:
        assert connection.execute("SELECT count(*) FROM contexts").fetchone() == (1,)


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T78.a")
@pytest.mark.parametrize("written", one_in(7, [40_000, 0, 1, 200_000, 120_000, 280_000, 360_000]))
def test_a_kill_at_any_moment_loses_and_doubles_nothing(tmp_path: Path, written: int) -> None:
    """written: bytes of the archive and its journal, at which the process dies."""
    store = a_room(tmp_path)
    with store.writing() as connection:
        connection.executemany(
            "INSERT INTO contexts (id, goal, summary, metadata, started_at, ended_at, created_at,"
            " updated_at) VALUES (?, ?, ?, '{}', ?1, ?4, ?4, ?4)",
            [(f"ctx_{at}", f"goal {at} " * 9, f"summary {at}", OLD) for at in range(600)],
        )
        connection.executemany(
            "INSERT INTO actions VALUES (?, ?, 'command', ?, '', '', ?)",
            [(f"act_{at}", f"ctx_{at}", f"command {at}", OLD) for at in range(600)],
        )
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('rebuild')")
    store.database.close()

    def work(_: object) -> str:
        return str(len(archive_before(a_room(tmp_path), DAY).sessions))

    with Child(work) as child:
        while _size(tmp_path) < written and not has_ended(child.pid):
            time.sleep(0.001)
        child.kill()
        assert child.end()[0] == -signal.SIGKILL

    seen = {it.id: _told(store, it) for it in _all(store)}
    assert seen == {f"ctx_{at}": (f"goal {at} " * 9, [f"command {at}"]) for at in range(600)}
    archive_before(store, DAY)
    assert {it.archive for it in _all(store)} == {"archive-2024.db"}
    assert {it.id: _told(store, it) for it in _all(store)} == seen
    with closing(sqlite3.connect(archives_of(store)[0])) as connection:
        for table in ("contexts", "actions"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (600,)


def has_ended(process: int) -> bool:
    return bool(os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT))


def _size(root: Path) -> int:
    size = 0
    for path in (root / CONTEXT_DIRECTORY / "sessions").glob("archive-*"):
        with contextlib.suppress(FileNotFoundError):  # a journal that has just gone
            size += path.stat().st_size
    return size


def _all(store: SessionStore) -> list[Session]:
    return [hit.session for hit in search(store, Criteria(), limit=999).hits]


def _told(store: SessionStore, session: Session) -> tuple[str, list[str]]:
    read, actions = whole(store, session)
    return read.goal, [it.content for it in actions]


def test_an_archive_that_cannot_be_read_leaves_the_hint_and_says_so(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    a_full_session(store)
    archive_before(store, DAY)
    hint, [path] = store.get("#1"), archives_of(store)

    data = path.read_bytes()
    path.unlink()
    with pytest.raises(UpkeepError) as missing:
        whole(store, hint)
    assert str(missing.value) == (
        f"#1 is archived in {path}, and that file is missing. Its goal and summary in short are"
        " still here; nothing was changed. Put the file back into that directory, then try again."
    )
    path.write_bytes(b"no database at all" * 99)
    with pytest.raises(DatabaseDamagedError):
        whole(store, hint)
    path.write_bytes(data)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(DatabaseError, match="newer version"):
        whole(store, hint)
    assert store.get("#1") == hint


@pytest.mark.parametrize("name", ["../../secret.db", "archive-2024.db/../x", "archive-2023.db"])
def test_the_name_of_an_archive_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    store = a_room(tmp_path)
    a_full_session(store)
    archive_before(store, DAY)
    (tmp_path / "secret.db").write_bytes(archives_of(store)[0].read_bytes())
    with store.writing() as connection:
        connection.execute("UPDATE contexts SET archive = ?", (name,))
    with pytest.raises(UpkeepError):
        whole(store, store.get("#1"))
    assert sorted(os.listdir(tmp_path)) == [CONTEXT_DIRECTORY, "secret.db"]


def test_a_child_resolves_the_blocker_of_an_archived_session(tmp_path: Path) -> None:
    store = a_room(tmp_path)
    blocker = Blocker(description="no test account")
    saved(store, "Fix the login", OLD, blockers=(blocker,))
    saved(store, "Fix the logout", OLD, blockers=(blocker,), approaches=(failed("retry"),))
    archive_before(store, DAY)
    for parent in ("#1", "#2"):
        cure = replace(blocker, resolved=True, resolution="asked for one")
        draft = Draft(goal=f"Go on with {parent}", parent=parent, blockers=(cure,))
        store.save(draft, agent="", process=parent)
        session, _ = whole(store, store.get(parent))
        [read] = session.blockers
        assert (read.resolved, read.resolution) == (True, "asked for one")
    assert not store.get("#1").has_warnings
    assert store.get("#2").has_warnings  # an approach failed
    assert store.get("#1").archive == "archive-2024.db"


@pytest.mark.parametrize("damage", [None, b"no database"])
def test_a_save_holds_where_the_archive_of_its_parent_cannot_be_used(
    tmp_path: Path, damage: bytes | None
) -> None:
    store = a_room(tmp_path)
    a_full_session(store)
    archive_before(store, DAY)
    [path] = archives_of(store)
    path.unlink()
    if damage:
        path.write_bytes(damage * 99)
    cure = Blocker(description="no test account", resolved=True)
    draft = Draft(goal="Go on", parent="#1", blockers=(cure,))
    done = store.save(draft, agent="", process="p")
    assert (done.session.number, done.resolved) == (2, ())
    assert store.get("#1").has_warnings
    assert path.exists() is bool(damage)


@pytest.mark.parametrize("date", ["20260101", "2026-W01-4", "2026-01-01T09:00+09:00"])
def test_every_form_of_a_date_means_the_same_day(tmp_path: Path, date: str) -> None:
    store = a_room(tmp_path)
    saved(store, "Fix the login", "2025-12-31T10:00:00+00:00")
    saved(store, "Fix the logout", "2026-05-01T10:00:00+00:00")
    assert [it.number for it in archive_before(store, date).sessions] == [1]
