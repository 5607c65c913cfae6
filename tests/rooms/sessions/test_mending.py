"""Tests that damage is noticed, and repaired with the daily copy; what was damaged stays."""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.config import STATE_VARIABLE, Settings
from core.lessons.upkeep import Finding
from core.room.copies import copies_of, date_of
from core.room.database import DatabaseBusyError, DatabaseDamagedError
from rooms.sessions.archive import archive_before
from rooms.sessions.everywhere import share
from rooms.sessions.health import examine
from rooms.sessions.search import Criteria, search
from rooms.sessions.session import SessionsError
from rooms.sessions.store import SessionStore, delete, keep_copy
from tests.support.git_clones import git
from tests.support.room import OLD, a_room, act, saved

SETTINGS = Settings(lock_timeout_s=5)
PAGE = 4096


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def store(tmp_path: Path, made: Path) -> SessionStore:
    """Sixty sessions of a page or so each, with two actions each; number 5 was forgotten."""
    shutil.copytree(made, tmp_path / "shop")
    return a_room(tmp_path / "shop")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(STATE_VARIABLE, str(top / "state"))
        return made_in(top / "shop")


def made_in(root: Path) -> Path:
    store = a_room(root)
    for at in range(1, 61):
        session = saved(store, f"Goal {at} of zebras", OLD, summary=f"word{at} " * 200)
        act(store, session, f"command {at}", "npm test")
    with store.writing() as connection:
        delete(connection, store.get("5"))
    close(store)
    return root


def close(store: SessionStore) -> None:
    """Nobody has the database open, and it is one file."""
    store.database.close()
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def look(store: SessionStore, settings: Settings = SETTINGS) -> list[Finding]:
    """What is not well."""
    found = examine(store.root, settings, os.environ)
    return [it for it in found if it.severity != "ok"]


def kinds(store: SessionStore) -> list[tuple[str, str, bool]]:
    return [(it.kind, it.severity, it.fixable) for it in look(store)]


def mended(store: SessionStore, settings: Settings = SETTINGS) -> dict[str, object]:
    """What the repair of all that can be repaired says."""
    fixes = [it.fix for it in look(store, settings) if it.fix]
    return {name: fact for fix in fixes for name, fact in (fix() or {}).items()}


def spoil(path: Path, page: int) -> None:
    """Fill one page of a file, counted from 1, with what is none."""
    with open(path, "rb+") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xee" * PAGE)


def pages_of(path: Path, name: str) -> list[int]:
    """The pages of a table or an index that hold rows, by trying: those that a scan needs."""
    found = []
    data = path.read_bytes()
    for page in range(2, len(data) // PAGE + 1):
        if data[(page - 1) * PAGE] == 13 and name.encode() in data[(page - 1) * PAGE : page * PAGE]:
            found.append(page)
    return found


@pytest.mark.long  # it costs much
def test_a_database_that_is_well_says_how_large_it_is(store: SessionStore) -> None:
    [found] = examine(store.root, SETTINGS, os.environ)
    facts = {"count": 59, "schema": 1, "archives": 0, "bytes": store.path.stat().st_size}
    assert found.facts == {**facts, "path": str(store.path)}
    archive_before(store, "2025-01-01")
    [found] = examine(store.root, SETTINGS, os.environ)
    assert (found.kind, found.facts["count"], found.facts["archives"]) == (
        *("sessions.health.ok", 0, 1),
    )


def test_looking_changes_no_byte(store: SessionStore) -> None:
    before = store.path.read_bytes()
    look(store)
    assert store.path.read_bytes() == before


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T3.a")
@pytest.mark.parametrize("damage", ["page", "cut", "garbage"])
def test_the_daily_copy_comes_back_and_the_damaged_file_stays(
    store: SessionStore, damage: str
) -> None:
    keep_copy(store)
    [copy] = copies_of(store.path)
    saved(store, "After the copy")
    close(store)
    data = store.path.read_bytes()
    if damage == "page":
        spoil(store.path, pages_of(store.path, "word30 ")[-1])
    elif damage == "cut":
        store.path.write_bytes(data[: len(data) // PAGE // 2 * PAGE])
    else:
        store.path.write_bytes(b"overwritten by something else " * 900)
    before = store.path.read_bytes()
    [found] = look(store)
    assert (found.kind, found.severity, found.fixable) == ("sessions.health.damaged", "error", True)
    assert found.facts["copy"] == date_of(copy)
    with pytest.raises(DatabaseDamagedError) as caught:
        search(store, Criteria(), limit=5)
    assert f"There is a daily copy of {date_of(copy)}" in str(caught.value)

    told = mended(store)
    aside = Path(str(told["aside"]))
    assert (told["copy"], aside.read_bytes()) == (date_of(copy), before)
    assert aside.name.startswith("history.db.damaged-2")
    assert kinds(store) == [("sessions.health.aside", "note", False)]
    assert store.get("60").goal == "Goal 60 of zebras"
    assert [it.content for it in store.actions(store.get("60"))] == ["command 60", "npm test"]
    assert search(store, Criteria(query="zebras"), limit=5).total == 59
    assert "Goal 60" in (store.path.parent / "current.json").read_text(encoding="utf-8")
    assert saved(store, "The next one").number == 61


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM contexts_fts_docsize WHERE id = 7",
        "DELETE FROM contexts_fts_data WHERE id > 10",
        "UPDATE contexts_fts_data SET block = x'ee' WHERE id > 10",
    ],
)
def test_an_index_that_alone_is_broken_is_made_anew(store: SessionStore, damage: str) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute(damage)
        connection.commit()
    assert kinds(store) == [("sessions.health.index", "warning", True)]
    assert mended(store) == {}
    assert kinds(store) == []
    with closing(sqlite3.connect(store.path)) as connection:
        match = "SELECT rowid FROM contexts_fts WHERE contexts_fts MATCH 'word7'"
        assert connection.execute(match).fetchall() == [(7,)]
    saved(store, "And goes on")
    assert kinds(store) == []


def test_actions_of_no_session_and_those_that_wait_too_long_are_counted_and_removed(
    store: SessionStore,
) -> None:
    with store.writing() as connection:
        connection.executemany(
            "INSERT INTO actions VALUES (?, ?, 'command', 'ls', '', '', ?)",
            [
                *(("a", "ctx_gone", OLD), ("b", "ctx_gone", OLD)),
                *(("c", "conv:cursor:s", OLD), ("d", "conv:cursor:s", "2999-01-01T00:00:00+00:00")),
            ],
        )
    found = look(store)
    assert [(it.kind, it.facts["count"]) for it in found] == [
        ("sessions.health.orphans", 2),
        ("sessions.health.stale", 1),
    ]
    mended(store)
    assert kinds(store) == []
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("SELECT count(*) FROM actions").fetchone() == (119,)


def test_a_repair_behind_another_writer_says_that_it_is_busy(store: SessionStore) -> None:
    act(store, replace(store.get("1"), id="ctx_gone"), "ls")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseBusyError):
            mended(store, Settings(lock_timeout_s=0))


@pytest.mark.parametrize("is_there", [True, False])
def test_an_archive_of_an_older_version_is_named_where_its_hints_are(
    store: SessionStore, is_there: bool
) -> None:
    path = store.path.with_name("archive-2024.db")
    with store.writing() as connection:
        connection.execute("UPDATE contexts SET archive = ? WHERE number < 4", (path.name,))
    if is_there:
        path.write_bytes(b"whatever it is")
    [found] = look(store)
    kind, severity = ("former_archive", "note") if is_there else ("archive_missing", "warning")
    assert (found.kind, found.severity) == (f"sessions.health.{kind}", severity)
    assert found.facts == {"path": str(path), "count": 3}


def test_settings_that_cannot_be_used_are_said_by_their_key(store: SessionStore) -> None:
    config = store.path.parent / "config.json"
    config.write_text('{"search": {"defaultLimit": 0}}', encoding="utf-8")
    [found] = look(store)
    assert (found.kind, found.severity) == ("sessions.health.config", "error")
    assert str(found.facts["said"]).startswith(f"{config}: search.defaultLimit must be a whole")
    text = '{"serach": {"defaultLimit": 3}, "storage": {"dbfile": 1}, "search": {}, "x": [1]}'
    config.write_text(text, encoding="utf-8")
    names = [it.facts["name"] for it in look(store)]
    assert names == ["serach", "storage.dbfile", "x"]


def test_a_newer_database_is_left_alone(store: SessionStore) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    [found] = look(store)
    assert (found.kind, found.severity, found.fixable) == (
        "sessions.health.unusable",
        "error",
        False,
    )
    assert "newer version of this program" in str(found.facts["said"])


def test_a_project_that_is_gone_leaves_the_list_when_somebody_repairs(
    store: SessionStore, tmp_path: Path
) -> None:
    other = a_room(tmp_path / "bank")
    saved(other, "Pay")
    share(other.root, os.environ)
    shutil.rmtree(other.root)
    [found] = look(store)
    assert (found.kind, found.facts["root"]) == ("sessions.health.project_gone", str(other.root))
    mended(store)
    assert kinds(store) == []


def test_a_gitignore_that_leads_elsewhere_is_not_written_through(
    store: SessionStore, tmp_path: Path
) -> None:
    git(store.root, "init", "-q")
    profile = tmp_path / "profile"
    profile.write_text("export A=1\n")
    ignored = store.path.with_name(".gitignore")
    ignored.unlink()
    ignored.symlink_to(profile)
    assert ("sessions.health.not_ignored", "warning", True) in kinds(store)
    with pytest.raises(SessionsError, match="link or a directory"):
        mended(store)
    assert profile.read_text() == "export A=1\n"


@pytest.mark.long  # it costs much
def test_a_text_that_is_no_unicode_is_damage_that_no_copy_has(store: SessionStore) -> None:
    keep_copy(store)
    with store.writing() as connection:
        odd = "CAST(x'6164ff' AS TEXT)"
        connection.execute(f"UPDATE contexts SET summary = {odd} WHERE number = 7")
    close(store)
    assert kinds(store) == [("sessions.health.damaged", "error", True)]
    mended(store)
    assert store.get("7").summary == "word7 " * 200
