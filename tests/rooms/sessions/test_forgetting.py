"""Tests that a forgotten session is gone from every file, and that the others stay whole."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.config import STATE_VARIABLE
from core.room.copies import copies_of
from core.room.database import DatabaseDamagedError
from rooms.sessions.removal import forget
from rooms.sessions.search import Criteria, search
from rooms.sessions.session import NoSuchSessionError
from rooms.sessions.store import SessionStore, keep_copy
from tests.support.room import OLD, a_room, act, every_byte, failed, saved


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def store(tmp_path: Path, state: Path) -> SessionStore:
    """Thirty sessions, of which the middle ones speak of zebras."""
    store = a_room(tmp_path / "shop")
    for at in range(30):
        word = "zebra" if 10 <= at < 20 else "giraffe"
        session = saved(
            store,
            f"Feed the {word}s of house {at}",
            OLD if at % 2 else "2026-05-01T10:00:00+00:00",
            summary=f"{word} " * 200,
            tags=(word, "얼룩말" if word == "zebra" else "기린"),
            approaches=(failed(f"hay for a {word}"),),
        )
        act(store, session, f"npm run {word}")
    keep_copy(store)
    state.mkdir(exist_ok=True)
    (state / "global.db").write_bytes(b"zebra, of an older version")
    return store


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T91")
def test_nothing_of_it_is_left_in_any_file(
    store: SessionStore, tmp_path: Path, state: Path
) -> None:
    zebras = [store.get(str(at + 1)) for at in range(10, 20)]
    before = every_byte(store.root, state)
    assert b"zebra" in before and "얼룩말".encode() in before
    assert len(copies_of(store.path)) == 1
    done = forget(store, [it.id for it in zebras])
    assert ([it.number for it in done.sessions], done.unpurged) == ([*range(11, 21)], [])
    assert copies_of(store.path) == []
    after = every_byte(store.root, state)
    assert (b"zebra" in after, "얼룩말".encode() in after) == (False, False)
    assert [it.id.encode() in after for it in zebras] == [False] * 10
    assert b"giraffe" in after


@pytest.mark.long  # it costs much
def test_the_others_are_whole_and_found(store: SessionStore) -> None:
    forget(store, [store.get(str(at + 1)).id for at in range(10, 20)])
    assert search(store, Criteria(), limit=50).total == 20
    assert search(store, Criteria(query="zebra"), limit=50).total == 0
    assert search(store, Criteria(query="giraffe"), limit=50).total == 20
    session = store.get("2")
    actions = store.actions(session)
    assert (session.summary, [it.content for it in actions]) == (
        *("giraffe " * 200, ["npm run giraffe"]),
    )
    with pytest.raises(NoSuchSessionError):
        store.get("11")
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('optimize')")
        rows = "SELECT count(*) FROM contexts_fts WHERE contexts_fts MATCH ?"
        counts = [connection.execute(rows, (word,)).fetchone()[0] for word in ("zebra", "giraffe")]
    assert counts == [0, 20]


@pytest.mark.long  # it costs much
def test_a_number_is_not_given_again(store: SessionStore) -> None:
    forget(store, [store.get("30").id])
    assert saved(store, "Feed the lions").number == 31


def test_what_continues_it_stays_without_its_link(tmp_path: Path, state: Path) -> None:
    store = a_room(tmp_path / "shop")
    first = saved(store, "First")
    second = saved(store, "Second", parent=first.id)
    saved(store, "Third", parent=second.id)
    forget(store, [second.id])
    assert [(it.number, it.parent_id) for it in store.chain(store.get("3"))] == [(3, "")]


def test_the_projection_shows_none_that_is_gone(tmp_path: Path, state: Path) -> None:
    store = a_room(tmp_path / "shop")
    current = store.path.parent / "current.json"
    first, second = saved(store, "First"), saved(store, "Second")
    forget(store, [second.id])
    assert b'"goal": "First"' in current.read_bytes()
    forget(store, [first.id])
    assert not current.exists()


def test_a_session_that_is_not_there_is_passed_over(tmp_path: Path, state: Path) -> None:
    store = a_room(tmp_path / "shop")
    saved(store, "First")
    assert forget(store, ["ctx_none"]) == ([], [])


def test_a_reader_that_holds_the_old_state_is_told_of(tmp_path: Path, state: Path) -> None:
    store = a_room(tmp_path / "shop")
    first = saved(store, "Feed the zebra")
    saved(store, "Feed the lion")
    with closing(sqlite3.connect(store.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchone()
        assert forget(store, [first.id]).unpurged == [store.path]
    assert forget(store, []).unpurged == []
    assert b"zebra" not in every_byte(store.root)


@pytest.mark.long  # it costs much
def test_it_goes_from_an_archive_that_an_older_version_made(store: SessionStore) -> None:
    store.database.close()
    archive = store.path.with_name("archive-2024.db")
    archive.write_bytes(store.path.read_bytes())
    zebras = [store.get(str(at + 1)).id for at in range(10, 20)]
    assert forget(store, zebras).unpurged == []
    assert (b"zebra" in every_byte(store.root), b"giraffe" in archive.read_bytes()) == (False, True)
    archive.write_bytes(b"no database" * 999)
    with pytest.raises(DatabaseDamagedError):
        forget(store, [store.get("1").id])
    assert store.get("1").number == 1
