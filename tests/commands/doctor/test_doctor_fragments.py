"""Tests what `cli.py doctor` says of the fragments of a user, and what a repair does to them."""

import sys
from pathlib import Path

import pytest

from core.disk.copies import newest_date
from rooms.fragments.fragment import Fragment
from rooms.fragments.sqlite.adapter import SqliteEngine
from rooms.fragments.sqlite.schema import MIGRATIONS
from tests.support.cli_process import Run
from tests.support.doctor_desk import Desk
from tests.support.stdio_client import ROOT

DATE = "2026-05-01T10:00:00+00:00"
DAMAGED = b"overwritten by something else " * 900


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
@pytest.mark.row("002 2.89")
def test_a_user_without_fragments_hears_and_loads_nothing_of_them(healthy: Desk) -> None:
    assert "ragment" not in healthy.doctor().out.replace(str(healthy.root), "")
    assert "fragments" not in healthy.doctor("--json").told
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
    date = newest_date(engine.path)
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
