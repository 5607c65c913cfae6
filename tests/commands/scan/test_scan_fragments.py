"""Tests that `cli.py scan` finds secrets among the fragments, and takes them out of every byte."""

import sys
from pathlib import Path

import pytest

from rooms.fragments.fragment import Fragment
from rooms.fragments.sqlite.adapter import SqliteEngine
from tests.support.cli_process import TOKEN, Run
from tests.support.desk import Desk
from tests.support.room import every_byte
from tests.support.stdio_client import ROOT

DATE = "2026-05-01T10:00:00+00:00"


@pytest.fixture
def place(desk: Desk, tmp_path: Path) -> dict[str, str]:
    """A clean fragment and one that holds a secret, and the variable that says where they are."""
    engine = SqliteEngine(tmp_path / "kept" / "memory.db", timeout_s=5)
    with engine.writing() as writing:
        for id_, content in (("aaaa", "Fix the login"), ("bbbb", f"Rotate {TOKEN}")):
            writing.add([Fragment(id=id_, content=content, created_at=DATE)])
    engine.close()
    return {"SENTINEL_MEMORY_FRAGMENTS": str(engine.path)}


@pytest.mark.row("002 2.99")
def test_which_fragment_holds_what_is_said_and_never_the_value(
    desk: Desk, place: dict[str, str]
) -> None:
    [path] = place.values()
    done = desk.run("scan", **place)
    assert (done.code, done.errors) == (1, "")
    assert done.lines[-3:] == [
        f"{path}: github-token in fragment bbbb",
        "Places with secrets among the fragments (on this machine, over all projects): 1.",
        "Run python cli.py scan --redact to remove them from the log and from the fragments. Rotate"
        " every real secret at its provider.",
    ]
    assert TOKEN not in done.out
    found = {"path": path, "fragment": "bbbb", "kinds": ["github-token"]}
    assert desk.run("scan", "--json", **place).told["fragments"] == [found]
    korean = desk.run("scan", SENTINEL_MEMORY_LANG="ko", **place)
    assert "조각(이 컴퓨터의 모든 프로젝트에서 씀)에서 비밀 값이 있는 곳 1군데." in korean.lines


@pytest.mark.long  # it costs much
def test_a_redaction_shows_its_plan_asks_and_leaves_no_byte(
    desk: Desk, place: dict[str, str]
) -> None:
    [path] = place.values()
    planned = desk.run("scan", "--redact", "--dry-run", **place)
    assert planned.lines[1] == f"  {path}: github-token in fragment bbbb"
    assert TOKEN.encode() in every_byte(Path(path).parent)
    found = {"path": path, "fragment": "bbbb", "kinds": ["github-token"]}
    told = desk.run("scan", "--redact", "--json", "--dry-run", **place).told
    assert told == {"would_redact": [], "would_redact_fragments": [found]}
    done = desk.run("scan", "--redact", "--yes", **place)
    assert done == (
        0,
        "Redacted among the fragments of this machine, also in the bytes of the file (1):\n"
        f"  {path}: github-token in fragment bbbb\n"
        "1. Rotate every real secret at its provider.\n",
        "",
    )
    assert TOKEN.encode() not in every_byte(Path(path).parent)
    assert desk.run("scan", **place).code == 0
    told = desk.run("scan", "--redact", "--json", "--yes", **place).told
    assert told == {"redacted": [], "left": [], "fragments": [], "fragments_left": []}


def test_a_damaged_file_is_named_and_so_is_one_that_was_kept(
    desk: Desk, place: dict[str, str]
) -> None:
    path = Path(place["SENTINEL_MEMORY_FRAGMENTS"])
    kept = path.with_name("memory.db.damaged-20260101T000000000000Z")
    kept.write_bytes(b"x")
    assert f"{kept}: not scanned, a damaged database" in desk.run("scan", **place).out
    for beside in path.parent.glob("memory.db-*"):
        beside.unlink()
    path.write_bytes(b"no database " * 999)
    done = desk.run("scan", **place)
    assert (done.code, f"{path}: damaged, so not scanned." in done.errors) == (2, True)


@pytest.mark.long  # it costs much
def test_a_user_without_fragments_hears_and_loads_nothing_of_them(desk: Desk) -> None:
    assert "fragments" not in desk.run("scan", "--json").told
    program = (
        "import sys; sys.argv = ['cli.py', 'scan']; import cli; cli.main(['scan']);"
        " print([name for name in sys.modules if name.split('.')[0] in ('rooms', 'sqlite3')])"
    )
    done = Run.process(sys.executable, "-c", program, **desk.place(PYTHONPATH=str(ROOT)))
    assert done.lines[-1] == "[]"


def test_what_cannot_be_read_is_named_with_a_sentence(desk: Desk) -> None:
    done = desk.run("scan", SENTINEL_MEMORY_FRAGMENTS="memory.db")
    assert done.code == 2
    assert done.errors.startswith("fragments: cannot be read (SENTINEL_MEMORY_FRAGMENTS does not")
    [unread] = desk.run("scan", "--json", SENTINEL_MEMORY_FRAGMENTS="memory.db").told["unreadable"]
    assert unread["path"] == "fragments"
