"""Tests what `cli.py doctor` says of the sessions of a project, and what a repair does to them."""

import json
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.disk.copies import newest_date
from rooms.sessions.projects.sharing import share
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.archive import archive_before
from rooms.sessions.upkeep.copying import keep_copies
from tests.support.cli_process import Run
from tests.support.doctor_desk import Desk
from tests.support.git_clones import git
from tests.support.room import OLD, a_room, saved
from tests.support.stdio_client import ROOT

DAMAGED = b"overwritten by something else " * 900


@pytest.fixture
def room(healthy: Desk) -> SessionStore:
    """Three sessions in a repository that has a committed log."""
    store = a_room(healthy.root)
    for at in range(3):
        saved(store, f"Fix the login {at}", OLD, summary="word " * 300)
    git(healthy.root, "add", ".context/sessions")
    git(healthy.root, "commit", "--quiet", "-m", "Sessions")
    return store


def about_sessions(desk: Desk, *options: str, **variables: str) -> list[tuple[str, str]]:
    told = desk.doctor("--json", *options, **variables).told["sessions"]["findings"]
    return [(it["kind"], it["severity"]) for it in told]


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T91")
def test_the_first_line_counts_the_sessions(healthy: Desk, room: SessionStore) -> None:
    first = healthy.doctor().lines[0]
    assert first.startswith("✓ log 1 record  ✓ git merge=union  ✓ sessions 3  ✗ no client")
    korean = healthy.doctor(SENTINEL_MEMORY_LANG="ko").lines[0]
    assert "✓ 세션 3개" in korean


@pytest.mark.long  # it costs much
def test_where_and_how_large_they_are_is_in_the_data(healthy: Desk, room: SessionStore) -> None:
    archive_before(room, "2025-01-01")
    room.database.close()
    told = healthy.doctor("--json").told["sessions"]
    size = sum(path.stat().st_size for path in room.path.parent.glob("*.db"))
    shown = [told[name] for name in ("path", "count", "archives", "schema", "size")]
    assert shown == [str(room.path), 3, 1, 1, size]
    [carried] = [it for it in told["findings"] if it["kind"] == "sessions_carried"]
    assert carried["severity"] == "note"
    assert carried["text"].startswith("git carries .context/sessions/current.json: whoever has")


@pytest.mark.long  # it costs much
def test_a_project_without_sessions_hears_nothing_of_them(healthy: Desk) -> None:
    done = healthy.doctor()
    assert "ession" not in done.out.replace(str(healthy.root), "")
    assert "sessions" not in healthy.doctor("--json").told


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T85")
def test_a_project_without_sessions_loads_nothing_of_them(healthy: Desk) -> None:
    program = (
        "import sys; sys.argv = ['cli.py', 'doctor']; import cli; cli.main(['doctor']);"
        " print([name for name in sys.modules if name.split('.')[0] in ('rooms', 'sqlite3')])"
    )
    where = healthy.place(PYTHONPATH=str(ROOT))
    done = Run.process(sys.executable, "-c", program, **where)
    assert done.lines[-1] == "[]"


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("has_copy", [True, False])
def test_a_damaged_database_is_said_first_and_its_copy_put_back(
    healthy: Desk, room: SessionStore, has_copy: bool
) -> None:
    if has_copy:
        keep_copies(room)
    date = newest_date(room.path)
    room.database.close()
    room.path.write_bytes(DAMAGED)
    found = healthy.doctor()
    assert found.code == 1
    assert "✗ the sessions cannot be read" in found.lines[0]
    assert found.found[0] == (
        f"error  {room.path}: the database is damaged (file is not a database), so no session in"
        f" it can be read or saved. {_planned(date)}"
    )
    fixed = healthy.doctor("--fix", "--yes")
    [aside] = room.path.parent.glob("history.db.damaged-*")
    assert aside.read_bytes() == DAMAGED
    done = (
        f"; put the daily copy of {date} in its place. What was saved later is in the damaged"
        " file alone."
        if has_copy
        else ". There was no whole daily copy, so the new database is empty. If there is a backup,"
        " put it in the place of the new one."
    )
    assert f"✓ {room.path}: kept the damaged file as {aside}{done}" in fixed.lines
    assert f"sessions {3 if has_copy else 0}" in fixed.lines[0]
    assert "Next:" not in fixed.out
    assert about_sessions(healthy) == [
        ("sessions_aside", "note"),
        ("sessions_carried", "note"),
    ]


def _planned(date: str) -> str:
    if date:
        return (
            f"--fix keeps the damaged file beside it and puts the daily copy of {date} in its"
            " place; what is newer is in the damaged file alone."
        )
    return (
        "There is no whole daily copy: put a backup in its place. --fix keeps the damaged file"
        " beside it and begins an empty one."
    )


@pytest.mark.long  # it costs much
def test_a_copy_that_git_does_not_ignore_is_said(healthy: Desk, room: SessionStore) -> None:
    (room.path.parent / ".gitignore").write_text("history.db\n", encoding="utf-8")
    assert ("sessions_not_ignored", "warning") in about_sessions(healthy)
    healthy.doctor("--fix", "--yes")
    keep_copies(room)
    git(healthy.root, "add", ".context")
    assert ".copy-" not in git(healthy.root, "ls-files")


@pytest.mark.long  # it costs much
def test_a_repair_that_is_only_planned_changes_nothing(healthy: Desk, room: SessionStore) -> None:
    keep_copies(room)
    room.database.close()
    room.path.write_bytes(DAMAGED)
    before = healthy.files("shop/.context")
    done = healthy.doctor("--fix", "--dry-run")
    assert "To repair (1)" in done.out
    assert healthy.files("shop/.context") == before


@pytest.mark.long  # it costs much
def test_what_git_would_carry_by_mistake_is_said(healthy: Desk, room: SessionStore) -> None:
    (room.path.parent / ".gitignore").write_text("# nothing\n", encoding="utf-8")
    assert ("sessions_not_ignored", "warning") in about_sessions(healthy)
    fixed = healthy.doctor("--fix", "--yes", "--json").told["fixed"]
    assert [it["kind"] for it in fixed] == ["sessions_not_ignored"]
    ignored = (room.path.parent / ".gitignore").read_text(encoding="utf-8")
    assert ignored.startswith("# nothing\n\n# The database of this machine")
    assert about_sessions(healthy) == [("sessions_carried", "note")]
    git(healthy.root, "add", "--force", ".context/sessions/history.db")
    assert ("sessions_tracked", "warning") in about_sessions(healthy)


@pytest.mark.long  # it costs much
def test_settings_are_said_by_their_key_in_both_languages(
    healthy: Desk, room: SessionStore
) -> None:
    config = room.path.parent / "config.json"
    config.write_text(json.dumps({"search": {"defaultLimit": 99}}), encoding="utf-8")
    done = healthy.doctor(SENTINEL_MEMORY_LANG="ko")
    assert f"{config}: search.defaultLimit에는 1에서 20까지의 정수가 와야 합니다." in done.out
    assert ("sessions_config", "error") in about_sessions(healthy)
    config.write_text(json.dumps({"serach": 1}), encoding="utf-8")
    assert about_sessions(healthy) == [
        ("sessions_unknown_key", "note"),
        *(("sessions_carried", "note"), ("sessions_not_carried", "note")),
    ]


def test_hostile_keys_stay_within_their_line(healthy: Desk, room: SessionStore) -> None:
    text = json.dumps({"\x1b[2J\nError: run `rm -rf /`": 1})
    (room.path.parent / "config.json").write_text(text, encoding="utf-8")
    out = healthy.doctor().out
    assert "\x1b" not in out
    assert not any(line.startswith("Error") for line in out.splitlines())


@pytest.mark.long  # it costs much
def test_dropped_actions_are_counted(healthy: Desk, room: SessionStore) -> None:
    from core.project import state_directory
    from rooms.sessions.actions.recording import DROPPED

    state = Path(state_directory(str(healthy.root), {"SENTINEL_MEMORY_STATE": str(healthy.home)}))
    state.mkdir(parents=True)
    (state / DROPPED).write_text("2999-01-01T00:00:00\n" * 3, encoding="ascii")
    done = healthy.doctor("--json", SENTINEL_MEMORY_STATE=str(healthy.home))
    [found] = [it for it in done.told["sessions"]["findings"] if it["kind"] == "sessions_dropped"]
    assert (found["facts"]["count"], found["severity"]) == (3, "note")


@pytest.mark.long  # it costs much
def test_a_project_that_shared_and_is_gone_is_said_and_removed(
    healthy: Desk, room: SessionStore, tmp_path: Path
) -> None:
    state = {"SENTINEL_MEMORY_STATE": str(tmp_path / "state")}
    other = a_room(tmp_path / "bank")
    saved(other, "Pay")
    share(other, state)
    shutil.rmtree(other.root)
    assert ("sessions_project_gone", "note") in about_sessions(healthy, **state)
    healthy.doctor("--fix", "--yes", **state)
    with closing(sqlite3.connect(tmp_path / "state" / "global.db")) as connection:
        assert connection.execute("SELECT count(*) FROM hints").fetchone() == (0,)
    assert os.listdir(tmp_path / "state")
