"""Tests what `cli.py doctor` says of the sessions of a project, and what a repair does to them."""

import json
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.room.copies import copies_of, date_of
from rooms.fragments.fragment import Fragment
from rooms.fragments.sqlite.adapter import SqliteEngine
from rooms.fragments.sqlite.schema import MIGRATIONS
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
@pytest.mark.parametrize("has_copy", [True, False])
def test_a_damaged_database_is_said_first_and_its_copy_put_back(
    healthy: Desk, room: SessionStore, has_copy: bool
) -> None:
    if has_copy:
        keep_copies(room)
    date = next(map(date_of, copies_of(room.path)), "")
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
def test_what_git_would_carry_by_mistake_is_said(healthy: Desk, room: SessionStore) -> None:
    (room.path.parent / ".gitignore").write_text("# nothing\n", encoding="utf-8")
    assert ("sessions_not_ignored", "warning") in about_sessions(healthy)
    fixed = healthy.doctor("--fix", "--yes", "--json").told["fixed"]
    assert [it["kind"] for it in fixed] == ["sessions_not_ignored"]
    ignored = (room.path.parent / ".gitignore").read_text(encoding="utf-8")
    assert ignored.startswith("# nothing\n\n# The database of this machine")
    assert about_sessions(healthy) == [("sessions_carried", "note")]
    keep_copies(room)
    git(healthy.root, "add", ".context")
    assert ".copy-" not in git(healthy.root, "ls-files")
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
    from core.config import state_directory
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


DATE = "2026-05-01T10:00:00+00:00"


@pytest.fixture
def engine(healthy: Desk) -> SqliteEngine:
    """Three fragments where a person keeps them."""
    folder = healthy.home / ".local" / "share" / "sentinel-memory"
    engine = SqliteEngine(folder / "memory.db", timeout_s=5)
    with engine.writing() as writing:
        writing.add([Fragment(id=it, content=f"fact {it}", created_at=DATE) for it in "abc"])
    engine.close()
    return engine


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other platforms, other places")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.99")
def test_the_first_line_counts_the_fragments_and_the_data_say_where_they_are(
    healthy: Desk, engine: SqliteEngine
) -> None:
    assert "✓ fragments 3" in healthy.doctor().lines[0]
    assert "✓ 조각 3개" in healthy.doctor(SENTINEL_MEMORY_LANG="ko").lines[0]
    told = healthy.doctor("--json").told["fragments"]
    assert (told["count"], told["in_bin"], told["findings"]) == (3, 0, [])
    assert (told["path"], told["mode"]) == (str(engine.path), "600")
    assert told["size"] == engine.path.stat().st_size
    assert told["schema"] == len(MIGRATIONS)


def test_settings_that_mean_nothing_and_models_that_are_not_there_are_said(
    healthy: Desk, engine: SqliteEngine
) -> None:
    config = engine.path.with_name("config.json")
    config.write_text('{"linkedFragmentLimits": 5}', encoding="utf-8")
    done = healthy.doctor(SENTINEL_MEMORY_JUDGE="onnx:/nowhere/model")
    assert f"{config}: the key linkedFragmentLimits means nothing here" in done.out
    assert "Models of the fragments: " in done.out and "SENTINEL_MEMORY_JUDGE" in done.out
    config.write_text('{"linkedFragmentLimit": "many"}', encoding="utf-8")
    assert f"{config}: linkedFragmentLimit must be" in healthy.doctor().out


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.89", "003 T85")
def test_who_has_no_other_room_hears_and_loads_nothing_of_it(healthy: Desk) -> None:
    said = healthy.doctor().out.replace(str(healthy.root), "")
    assert "ragment" not in said and "ession" not in said
    assert not {"fragments", "sessions"} & {*healthy.doctor("--json").told}
    program = (
        "import sys; sys.argv = ['cli.py', 'doctor']; import cli; cli.main(['doctor']);"
        " print([name for name in sys.modules if name.split('.')[0] in ('rooms', 'sqlite3')])"
    )
    place = healthy.place(PYTHONPATH=str(ROOT), SENTINEL_MEMORY_FRAGMENTS="/nowhere/memory.db")
    assert Run.process(sys.executable, "-c", program, **place).lines[-1] == "[]"


@pytest.mark.long  # it costs much
def test_a_damaged_file_is_said_and_its_copy_put_back_and_stops_no_pipeline(
    healthy: Desk, engine: SqliteEngine
) -> None:
    engine.keep_copy()
    date = date_of(copies_of(engine.path)[0])
    engine.close()
    engine.path.write_bytes(DAMAGED)
    for name in ("-wal", "-shm"):
        Path(f"{engine.path}{name}").unlink(missing_ok=True)
    found = healthy.doctor()
    assert found.code == 0
    assert "✗ the fragments cannot be read" in found.lines[0]
    assert found.found[0].startswith(
        f"error  {engine.path}: the database of this machine's fragments, over all projects, is"
        " damaged (file is not a database)"
    )
    assert f"puts the daily copy of {date} in its place" in found.found[0]
    planned = healthy.doctor("--fix", "--dry-run")
    assert "To repair (1)" in planned.out and engine.path.read_bytes() == DAMAGED
    fixed = healthy.doctor("--fix", "--yes")
    [aside] = engine.path.parent.glob("memory.db.damaged-*")
    assert aside.read_bytes() == DAMAGED
    done = f"kept the damaged file as {aside}; put the daily copy of {date} in its place."
    assert f"✓ {engine.path}: {done}" in fixed.out and "fragments 3" in fixed.lines[0]
    assert "Next:" not in fixed.out
    left = healthy.doctor("--json").told["fragments"]["findings"]
    assert [it["kind"] for it in left] == ["fragments_aside"]


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.17")
def test_an_open_mode_is_repaired(healthy: Desk, engine: SqliteEngine) -> None:
    engine.path.chmod(0o666)
    done = healthy.doctor("--fix", "--yes", "--json")
    assert [it["kind"] for it in done.told["fixed"]] == ["fragments_mode"]
    assert engine.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.long  # it costs much
def test_a_place_that_is_no_path_is_said_in_both_languages(healthy: Desk) -> None:
    for lang, said in (("en", "does not hold the absolute path"), ("ko", "절대 경로가 아닙니다")):
        place = {"SENTINEL_MEMORY_FRAGMENTS": "here.db", "SENTINEL_MEMORY_LANG": lang}
        assert said in healthy.doctor(**place).out
