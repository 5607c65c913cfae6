"""Tests that old sessions move to a file whole, and that an import brings them back."""

import os
from pathlib import Path

import pytest

from rooms.sessions import upkeep
from rooms.sessions.search import Criteria, find_session, search
from rooms.sessions.session import Changes, Point, Session, SessionsError
from rooms.sessions.source import carry_out, planned, read_source
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep import archive_before
from tests.support.session_samples import OLD, act, failed, saved

DAY = "2026-01-01"


def a_full_session(store: SessionStore, goal: str = "Fix the login of the shop " * 3) -> Session:
    fields = {
        "summary": "The token expired too early. " * 8,
        "tags": ("auth", "인증"),
        "decisions": (Point(text="use fetch", why="it is there"),),
        "approaches": (failed("retry in a loop", "the server locks the account"),),
        "blockers": (Point(text="no account", is_resolved=True, why="asked for one"),),
        "changes": Changes(modified_files=("src/login.ts",), summary="the expiry"),
    }
    session = saved(store, goal, OLD, **{**fields, "summary": "A first try."})
    act(store, session, "npm test", "git commit -m fix")
    return saved(store, goal, OLD, **fields, id=session.id)


def everything(store: SessionStore) -> list[tuple[Session, list[str]]]:
    sessions = [it.session for it in search(store, Criteria(), limit=999).hits]
    sessions.sort(key=lambda it: it.number)
    return [(it, [action.content for action in store.actions(it)]) for it in sessions]


@pytest.mark.row("003 T78", "003 T78.a")
def test_an_import_brings_archived_sessions_back_as_they_were(store: SessionStore) -> None:
    first = a_full_session(store)
    second = saved(store, "Test the login", OLD, parent=first.id)
    saved(store, "Newer")
    assert store.get("1").former
    before = everything(store)
    done = archive_before(store, DAY)
    assert ([it.id for it in done.sessions], done.open, done.kept) == ([first.id, second.id], 0, [])
    assert [it.number for it, _ in everything(store)] == [3]
    assert search(store, Criteria(query="인증"), limit=5).hits == []
    assert done.path and done.path.stat().st_mode & 0o777 == 0o600
    assert done.path.with_name(".gitignore").read_text() == "*\n"
    for name in ("#1", "1", first.id):
        with pytest.raises(SessionsError) as caught:
            find_session(store, name)
        shown = done.path.relative_to(store.root).as_posix()
        assert f"import {shown}` brings it back" in str(caught.value)
        assert f"archived on {done.path.stem[9:19]}" in str(caught.value)
    back = [carry_out(store, planned(store, read_source(done.path))) for _ in range(2)]
    assert [sorted(it.number for it in sessions) for sessions in back] == [[1, 2], []]
    assert everything(store) == before
    assert [it.number for it in store.chain(second)] == [1, 2]


def test_a_session_with_an_open_blocker_or_a_child_that_stays_stays_and_is_named(
    store: SessionStore,
) -> None:
    first = saved(store, "Plan the login", OLD)
    second = saved(store, "Build the login", OLD, parent=first.id)
    saved(store, "Go on with the login", parent=second.id)
    blocked = saved(store, "Ask for an account", OLD, blockers=(Point(text="no account"),))
    alone = saved(store, "Print the invoices", OLD)
    still_open = saved(store, "Old and open", OLD, status="coding")
    tried = archive_before(store, DAY, dry_run=True)
    assert (tried.sessions, tried.open, tried.path) == ([alone], 1, None)
    assert len(everything(store)) == 6
    done = archive_before(store, DAY)
    assert (done.sessions, done.kept) == ([alone], [first, second, blocked])
    assert [it.number for it, _ in everything(store)] == [1, 2, 3, 4, 6]
    assert archive_before(store, DAY, dry_run=True, with_open=True).sessions == [still_open]


def test_every_form_of_a_date_means_the_same_day_and_what_is_none_archives_nothing(
    store: SessionStore,
) -> None:
    assert archive_before(store, DAY) == ([], None, 0, [])
    assert os.listdir(store.root) == []
    saved(store, "Fix the login", "2025-12-31T10:00:00+00:00")
    saved(store, "Fix the logout", "2026-05-01T10:00:00+00:00")
    for date in ("20260101", "2026-W01-4", "2026-01-01T09:00+09:00"):
        found = archive_before(store, date, dry_run=True)
        assert [it.number for it in found.sessions] == [1]
    with pytest.raises(SessionsError, match="not a date"):
        archive_before(store, "yesterday")


def test_a_session_that_would_come_back_otherwise_stays(store: SessionStore) -> None:
    a_full_session(store)
    (store.path.parent / "archive").write_text("a file in the way")
    with pytest.raises(SessionsError, match="every session is still here"):
        archive_before(store, DAY)
    (store.path.parent / "archive").unlink()
    with store.writing() as connection:  # by another program, which knows another status
        connection.execute("UPDATE contexts SET status = 'done'")
    with pytest.raises(SessionsError, match="would not be the same"):
        archive_before(store, DAY)
    assert [it.status for it, _ in everything(store)] == ["done"]
    assert store.archives() == []


def test_a_session_that_changes_meanwhile_stays(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = a_full_session(store)
    write = upkeep._exported

    def written(*given: object) -> Path:
        path = write(*given)  # type: ignore[arg-type]
        saved(store, session.goal, id=session.id, summary="Saved meanwhile")
        return path

    monkeypatch.setattr(upkeep, "_exported", written)
    archive_before(store, DAY)
    assert [it.summary for it, _ in everything(store)] == ["Saved meanwhile"]
