"""Tests that damage is noticed, and repaired with the daily copy; what was damaged stays."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.config import STATE_VARIABLE, Settings
from core.lessons.upkeep import Finding
from core.room.copies import copies_of, date_of
from core.room.database import DatabaseBusyError, DatabaseDamagedError
from rooms.sessions.errors import SessionsError
from rooms.sessions.projects.sharing import share
from rooms.sessions.search.found import Criteria
from rooms.sessions.search.searching import search
from rooms.sessions.store import SessionStore, delete
from rooms.sessions.upkeep.archive import archive_before, archives_of, whole
from rooms.sessions.upkeep.copying import keep_copies
from rooms.sessions.upkeep.health import Health, examine
from rooms.sessions.upkeep.mending import mend
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


def look(store: SessionStore) -> Health:
    return examine(store.root, SETTINGS, os.environ)


def kinds(store: SessionStore) -> list[tuple[str, str, bool]]:
    return [(it.kind, it.severity, it.fixable) for it in look(store).findings]


def mended(store: SessionStore) -> dict[str, object]:
    [done] = mend(
        store.root, [it for it in look(store).findings if it.fixable], SETTINGS, os.environ
    )
    return dict(done.facts)


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
    health = look(store)
    assert (health.findings, health.count, health.schema, health.archives) == ([], 59, 1, 0)
    assert health.size == store.path.stat().st_size
    archive_before(store, "2025-01-01")
    health = look(store)
    assert (health.findings, health.count, health.archives) == ([], 59, 1)


def test_looking_changes_no_byte(store: SessionStore) -> None:
    before = store.path.read_bytes()
    look(store)
    assert store.path.read_bytes() == before


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T3.a")
@pytest.mark.parametrize("damage", ["page", "cut", "garbage"])
def test_the_daily_copy_comes_back_and_the_damaged_file_stays(
    store: SessionStore, state: Path, damage: str
) -> None:
    share(store, os.environ)
    keep_copies(store)
    [copy] = copies_of(store.path)
    lost = saved(store, "After the copy")
    close(store)
    data = store.path.read_bytes()
    if damage == "page":
        spoil(store.path, pages_of(store.path, "word30 ")[-1])
    elif damage == "cut":
        store.path.write_bytes(data[: len(data) // PAGE // 2 * PAGE])
    else:
        store.path.write_bytes(b"overwritten by something else " * 900)
    before = store.path.read_bytes()
    [found] = look(store).findings
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
    with closing(sqlite3.connect(state / "global.db")) as hints:
        gone = hints.execute("SELECT 1 FROM hints WHERE id = ?", (lost.id,)).fetchall()
        assert (gone, hints.execute("SELECT count(*) FROM hints").fetchone()) == ([], (59,))
    assert saved(store, "The next one").number == 61


@pytest.mark.long  # it costs much
def test_the_copy_of_a_damaged_archive_comes_back_like_that_of_the_database(
    store: SessionStore,
) -> None:
    archive_before(store, "2025-01-01")
    keep_copies(store)
    [path] = archives_of(store)
    assert len(copies_of(path)) == len(copies_of(store.path)) == 1
    spoil(path, pages_of(path, "word30 ")[-1])
    assert kinds(store) == [("sessions.health.damaged", "error", True)]
    told = mended(store)
    assert Path(str(told["aside"])).name.startswith("archive-2024.db.damaged-")
    session, actions = whole(store, store.get("60"))
    assert (session.summary, len(actions)) == ("word60 " * 200, 2)
    assert whole(store, store.get("30"))[0].summary == "word30 " * 200


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
    assert mended(store) == {"path": str(store.path)}
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
            "INSERT INTO actions VALUES (?, 'ctx_gone', 'command', 'ls', '', '', ?)",
            [("a", OLD), ("b", OLD)],
        )
        connection.executemany(
            "INSERT INTO waiting_actions VALUES (?, 'cursor', 's', 'command', 'ls', '', '', ?)",
            [("c", OLD), ("d", "2999-01-01T00:00:00+00:00")],
        )
    found = look(store).findings
    assert [(it.kind, it.facts["count"]) for it in found] == [
        ("sessions.health.orphans", 2),
        ("sessions.health.stale", 1),
    ]
    mend(store.root, found, SETTINGS, os.environ)
    assert kinds(store) == []
    with closing(sqlite3.connect(store.path)) as connection:
        counts = [
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("actions", "waiting_actions")
        ]
    assert counts == [118, 1]


def test_a_repair_behind_another_writer_says_that_it_is_busy(store: SessionStore) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        stale = Finding("sessions.health.stale", "note", fixable=True)
        with pytest.raises(DatabaseBusyError):
            mend(store.root, [stale], Settings(lock_timeout_s=0), os.environ)


@pytest.mark.long  # it costs much
def test_a_missing_archive_is_named(store: SessionStore) -> None:
    archive_before(store, "2025-01-01")
    archives_of(store)[0].unlink()
    [found] = look(store).findings
    assert (found.kind, found.severity, found.facts["count"]) == (
        *("sessions.health.archive_missing", "warning", 59),
    )


def test_settings_that_cannot_be_used_are_said_by_their_key(store: SessionStore) -> None:
    config = store.path.parent / "config.json"
    config.write_text('{"search": {"defaultLimit": 0}}', encoding="utf-8")
    [found] = look(store).findings
    assert (found.kind, found.severity) == ("sessions.health.config", "error")
    assert str(found.facts["said"]).startswith(f"{config}: search.defaultLimit must be a whole")
    text = '{"serach": {"defaultLimit": 3}, "storage": {"dbfile": 1}, "search": {}, "x": [1]}'
    config.write_text(text, encoding="utf-8")
    names = [it.facts["name"] for it in look(store).findings]
    assert names == ["serach", "storage.dbfile", "x"]


def test_a_newer_database_is_left_alone(store: SessionStore) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    [found] = look(store).findings
    assert (found.kind, found.severity, found.fixable) == (
        "sessions.health.unusable",
        "error",
        False,
    )
    assert "newer version of this program" in str(found.facts["said"])


@pytest.mark.long  # it costs much
def test_damaged_hints_begin_anew_with_those_of_this_project(
    store: SessionStore, state: Path
) -> None:
    share(store, os.environ)
    (state / "global.db").write_bytes(b"no database" * 999)
    assert kinds(store) == [("sessions.health.hints", "warning", True)]
    mend(store.root, look(store).findings, SETTINGS, os.environ)
    assert kinds(store) == []
    with closing(sqlite3.connect(state / "global.db")) as connection:
        assert connection.execute("SELECT count(*) FROM hints").fetchone() == (59,)


def test_a_project_that_is_gone_leaves_the_hints_when_somebody_repairs(
    store: SessionStore, tmp_path: Path
) -> None:
    other = a_room(tmp_path / "bank")
    saved(other, "Pay")
    share(other, os.environ)
    shutil.rmtree(other.root)
    [found] = look(store).findings
    assert (found.kind, found.facts["root"]) == ("sessions.health.project_gone", str(other.root))
    mend(store.root, [found], SETTINGS, os.environ)
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
    found = [it for it in look(store).findings if it.kind == "sessions.health.not_ignored"]
    with pytest.raises(SessionsError, match="link or a directory"):
        mend(store.root, found, SETTINGS, os.environ)
    assert profile.read_text() == "export A=1\n"


@pytest.mark.long  # it costs much
def test_a_text_that_is_no_unicode_is_damage_that_no_copy_has(store: SessionStore) -> None:
    keep_copies(store)
    with store.writing() as connection:
        odd = "CAST(x'6164ff' AS TEXT)"
        connection.execute(f"UPDATE contexts SET summary = {odd} WHERE number = 7")
    close(store)
    assert kinds(store) == [("sessions.health.damaged", "error", True)]
    mended(store)
    assert store.get("7").summary == "word7 " * 200
