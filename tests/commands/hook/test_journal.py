"""Tests what hooks remember of a session, and that nothing in its file can do harm."""

import json
import os
import zlib
from pathlib import Path

import pytest

from commands.hook.journal import KEPT_DAYS, Session, forget_old, open_session, sessions_in
from core.config import state_directory
from tests.support.rows import none_of
from tests.support.tables import table

DAY_S = 86_400
posix = pytest.mark.skipif(os.name == "nt", reason="permissions and paths of POSIX")


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "shop-1")


def noted(directory: str, session: str = "s") -> Session:
    return open_session(directory, session)


def test_what_was_noted_is_there_for_the_next_hook_and_empty_facts_are_left_out(
    directory: str,
) -> None:
    session = noted(directory)
    assert (session.events, os.path.exists(directory)) == ([], False)
    before = session.note("before-action", agent="", shown=["a@1"], changed=True, tokens=0)
    assert before == session
    (event,) = noted(directory).events
    assert isinstance(event.pop("at"), int)
    assert event == {"event": "before-action", "shown": ["a@1"], "changed": True}
    session.note("stop", agent="가\n\ud800")
    data = Path(session.path).read_bytes()
    assert data.isascii() and data.endswith(b"\n") and data.count(b"\n") == 2
    assert json.loads(data.splitlines()[1])["agent"] == "가\n\ud800"


@posix
def test_nobody_else_may_read_the_file(directory: str) -> None:
    session = noted(directory)
    session.note("stop")
    assert os.stat(directory).st_mode & 0o777 == 0o700
    assert os.stat(session.path).st_mode & 0o777 == 0o600


def test_of_two_that_note_the_same_only_the_first_finds_it_missing(directory: str) -> None:
    one, other = noted(directory), noted(directory)
    assert not one.note("stop", reminded=True).has("reminded")
    assert other.note("stop", reminded=True).has("reminded")


def test_lines_that_are_no_events_are_passed_over(directory: str) -> None:
    noted(directory).note("stop", reminded=True)
    with open(noted(directory).path, "ab") as file:
        file.write(b'\xff\n[]\n{"at": "x", "event": "stop"}\n{"at": 1, "event": 2}\n')
        file.write(b'{"at": 1, "event": "stop", "shown": "all"}\n' + b"[" * 100_000 + b"\n")
        file.write(b'{"at": 5, "event": "stop", "shown": [1, null, "a@1"], "agent": ["x"]}\n{"at"')
    assert [event["at"] == 5 for event in noted(directory).events] == [False, True]
    assert noted(directory).shown("") == set()


def test_sessions_without_an_id_are_told_apart_by_their_beginning(directory: str) -> None:
    of_an_older_version = {"withheld": ["x@1"], "triggered": ["y@1"]}  # which says nothing now
    noted(directory, "").note("before-action", shown=["a@1"], reminded=True, **of_an_older_version)
    assert noted(directory, "").shown("") == {"a@1"}
    noted(directory, "").note("session-start")
    noted(directory, "").note("before-action", shown=["b@1"])
    noted(directory, "").note("session-start", agent="x")
    session = noted(directory, "")
    assert (session.shown(""), session.has("reminded")) == ({"b@1"}, False)
    assert [len(it.events) for it in sessions_in(directory)] == [1, 3]


def test_an_id_becomes_the_name_of_a_file_in_the_directory(directory: str) -> None:
    names = {
        "5f3c-9a1e": "5f3c-9a1e",
        "../../etc/passwd": f"etc-passwd-{zlib.crc32(b'../../etc/passwd'):08x}",
        "..": f"-{zlib.crc32(b'..'):08x}",
        "가": f"-{zlib.crc32('가'.encode()):08x}",
        "\ud800": f"-{zlib.crc32(b'?'):08x}",
        "x" * 500: f"{'x' * 60}-{zlib.crc32(b'x' * 500):08x}",
    }
    none_of(
        session
        for session, name in names.items()
        if noted(directory, session).path != os.path.join(directory, f"{name}.jsonl")
    )


def test_the_oldest_are_listed_first_and_removed_when_nobody_touched_them_for_long(
    directory: str,
) -> None:
    for at, name in enumerate(("b", "a", "new")):
        noted(directory, name).note("stop")
        if name != "new":
            os.utime(noted(directory, name).path, (at, at))
    stranger = Path(directory, "notes.txt")
    stranger.write_text("mine")
    os.utime(stranger, (1, 1))
    names = [os.path.basename(it.path) for it in sessions_in(directory)]
    assert names == ["b.jsonl", "a.jsonl", "new.jsonl"]
    recent_s = os.stat(noted(directory, "new").path).st_mtime - (KEPT_DAYS - 1) * DAY_S
    os.utime(noted(directory, "new").path, (recent_s, recent_s))
    forget_old(directory)
    assert sorted(os.listdir(directory)) == ["new.jsonl", "notes.txt"]


@pytest.mark.parametrize("directory", ["", "/nonexistent/sessions"])
def test_where_there_is_no_directory_there_are_no_sessions(directory: str) -> None:
    assert list(sessions_in(directory)) == []
    forget_old(directory)
    assert open_session("", "s") == Session("")
    with pytest.raises(OSError):
        open_session("", "s").note("stop")


@posix
@pytest.mark.parametrize(
    ("platform", "environment", "base"),
    table("commands/journal")["each_system_has_its_place_for_the_state"],
)
def test_each_system_has_its_place_for_the_state(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    platform: str,
    environment: dict[str, str],
    base: str,
) -> None:
    monkeypatch.setenv("HOME", "/home/dev")
    found = state_directory(str(tmp_path / "결제 shop"), environment, platform)
    real = os.path.realpath(tmp_path / "결제 shop")
    changed = f"shop-{zlib.crc32('결제 shop'.encode()):08x}"
    assert found == f"{base}/{changed}-{zlib.crc32(real.encode()):08x}"


@posix
def test_a_link_to_a_project_leads_to_its_state_and_no_home_to_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to("shop")
    environment = {"SENTINEL_MEMORY_STATE": str(tmp_path)}
    places = {state_directory(str(tmp_path / name), environment) for name in ("shop", "link")}
    assert len(places) == 1
    monkeypatch.setenv("HOME", "nowhere")
    assert state_directory("/shop", {}) == ""
