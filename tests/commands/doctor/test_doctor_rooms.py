"""Tests what `cli.py doctor` says of the rooms beside the log, and what a repair does to them."""

import shutil
import sys
from pathlib import Path

import pytest

from core.config import state_directory
from core.postgres.pool import Pool
from core.room.copies import copies_of, date_of
from rooms.fragments.fragment import Fragment
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.sessions.actions import DROPPED
from rooms.sessions.search import share
from rooms.sessions.store import SessionStore, keep_copy
from tests.commands.doctor.conftest import Desk, Run
from tests.support.cli_process import Run as AnyRun
from tests.support.git_clones import git
from tests.support.session_samples import OLD, a_room, saved
from tests.support.tables import ROOT
from tests.support.team_engines import TeamServer, a_server, team_server

__all__ = ["team_server"]  # a fixture

pytestmark = [
    pytest.mark.long,  # it costs much
    pytest.mark.skipif(sys.platform != "linux", reason="other platforms, other places"),
]
DAMAGED = b"overwritten by something else " * 900
DATE = "2026-05-01T10:00:00+00:00"
PASSWORD = "correct-horse-battery"
SHOWN = (
    "import sys; sys.argv = ['cli.py', 'doctor']; import cli; cli.main(['doctor']);"
    " print([it for it in sys.modules if it.startswith('rooms.') and it.count('.') > 1"
    " and not it.endswith('for_people') or it == 'sqlite3'])"
)


@pytest.fixture
def room(healthy: Desk) -> SessionStore:
    """Three sessions in a repository that has a committed log."""
    store = a_room(healthy.root)
    for at in range(3):
        saved(store, f"Fix the login {at}", OLD, summary="word " * 300)
    git(healthy.root, "add", ".context/sessions")
    git(healthy.root, "commit", "--quiet", "-m", "Sessions")
    return store


@pytest.fixture
def engine(healthy: Desk) -> SqliteEngine:
    """Three fragments where a person keeps them."""
    folder = healthy.home / ".local" / "share" / "sentinel-memory"
    engine = SqliteEngine(folder / "memory.db", timeout_s=5)
    with engine.writing() as writing:
        writing.add([Fragment(id=it, content=f"fact {it}", created_at=DATE) for it in "abc"])
    engine.close()
    return engine


def kinds(desk: Desk, *options: str, **variables: str) -> list[tuple[str, str]]:
    return desk.doctor("--json", *options, **variables).kinds


@pytest.mark.row("002 2.89", "003 T85")
def test_who_has_no_room_loads_nothing_of_one(healthy: Desk) -> None:
    place = healthy.place(PYTHONPATH=str(ROOT), SENTINEL_MEMORY_FRAGMENTS="/nowhere/memory.db")
    assert AnyRun.process(sys.executable, "-c", SHOWN, **place).lines[-1] == "[]"


@pytest.mark.parametrize("has_copy", [True, False])
def test_a_damaged_database_is_said_and_its_copy_put_back(
    healthy: Desk, room: SessionStore, engine: SqliteEngine, has_copy: bool
) -> None:
    if has_copy:
        keep_copy(room)
        engine.keep_copy()
    dates = [next(map(date_of, copies_of(it.path)), "") for it in (room, engine)]
    room.database.close()
    engine.close()
    for path in (room.path, engine.path):
        path.write_bytes(DAMAGED)
        for name in ("-wal", "-shm"):
            Path(f"{path}{name}").unlink(missing_ok=True)
    found = healthy.doctor()
    told = [line for line in found.lines if line.startswith("✗ ")]
    assert found.code == 1
    for path, date, line in zip((room.path, engine.path), dates, told, strict=True):
        assert line.startswith(f"✗ {path}: the database ") and "is damaged (file is" in line
        ends = f"and puts the daily copy of {date} in its place; what is newer is in the damaged"
        assert (ends if has_copy else "beside it and begins an empty one.") in line
    planned = healthy.doctor("--fix", "--dry-run")
    assert "To repair (2)" in planned.out and engine.path.read_bytes() == DAMAGED
    fixed = healthy.doctor("--fix", "--yes")
    for path, date in zip((room.path, engine.path), dates, strict=True):
        [aside] = path.parent.glob(f"{path.name}.damaged-*")
        assert aside.read_bytes() == DAMAGED
        done = f"; put the daily copy of {date} in" if has_copy else ". There was no whole daily"
        assert f"✓ {path}: kept the damaged file as {aside}{done}" in fixed.out
    count = 3 if has_copy else 0
    assert f"✓ sessions {count}  ✓ fragments {count}" in fixed.out
    assert "Next:" not in fixed.out
    assert kinds(healthy) == [(f"{it}.health.aside", "note") for it in ("sessions", "fragments")]


def test_dropped_actions_are_counted_and_a_project_that_is_gone_is_removed(
    healthy: Desk, room: SessionStore, tmp_path: Path
) -> None:
    given = {"SENTINEL_MEMORY_STATE": str(tmp_path / "state")}
    state = Path(state_directory(str(healthy.root), given))
    state.mkdir(parents=True)
    (state / DROPPED).write_text("2999-01-01T00:00:00\n" * 3, encoding="ascii")
    other = a_room(tmp_path / "bank")
    saved(other, "Pay")
    share(other.root, given)
    shutil.rmtree(other.root)
    gone, dropped = ("sessions.health.project_gone", "note"), ("sessions.health.dropped", "note")
    done = healthy.doctor("--json", **given)
    assert (done.code, done.kinds) == (0, [gone, dropped])
    assert done.findings[1]["facts"]["count"] == 3
    healthy.doctor("--fix", "--yes", **given)
    assert kinds(healthy, **given) == [dropped]


# Fragments that a server keeps


def asked(desk: Desk, *options: str, **variables: str) -> Run:
    """With all rights of whoever runs the tests: the server's socket is in a folder of its own."""
    return Run.placed("doctor", *options, **desk.place(**variables), is_bound=False)


def test_agents_that_see_each_other_are_an_error(healthy: Desk, team_server: TeamServer) -> None:
    dsn = team_server.new_dsn(password=PASSWORD)
    place = {"SENTINEL_MEMORY_FRAGMENTS": dsn}
    assert "✓ fragments 0" in asked(healthy, **place).lines[0]
    done = asked(healthy, "--json", **place)
    assert "PostgreSQL 18" in done.out and "pgvector" in done.out and PASSWORD not in done.out
    pool = Pool(a_server(dsn))
    with pool.as_login() as connection:
        connection.execute("ALTER TABLE agent_memory.fragments NO FORCE ROW LEVEL SECURITY")
    pool.close()
    done = asked(healthy, "--json", **place)
    assert done.kinds == [("fragments.health.server_open", "error")]
    mended = asked(healthy, "--fix", "--yes", "--json", **place)
    assert [it["kind"] for it in mended.told["fixed"]] == ["fragments.health.server_open"]
    assert mended.kinds == []


def test_a_server_that_does_not_answer_is_an_error_without_its_password(healthy: Desk) -> None:
    dsn = f"postgresql://ann:{PASSWORD}@127.0.0.1:1/team"
    for lang in ("en", "ko"):
        given = {"SENTINEL_MEMORY_FRAGMENTS": dsn, "SENTINEL_MEMORY_LANG": lang}
        done = asked(healthy, **given, DB_CONN_TIMEOUT_MS="1000")
        assert done.code == 1 and "127.0.0.1" in done.out
        assert PASSWORD not in done.out + done.errors
