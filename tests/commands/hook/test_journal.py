"""Tests what hooks remember of a session, and that nothing in its file can do harm."""

import json
import os
import zlib
from pathlib import Path

import pytest

from commands.hook.journal import KEPT_DAYS, Session, forget_old, open_session, sessions_in
from core.config import state_directory
from tests.support.tables import none_of, table

DAY_S = 86_400


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "shop-1")


def test_what_was_noted_is_there_for_the_next_hook_without_empty_facts(directory: str) -> None:
    session = open_session(directory, "s")
    assert (session.events, os.path.exists(directory)) == ([], False)
    before = session.note("before-action", agent="", shown=["a@1"], changed=True, tokens=0)
    assert before == session
    (event,) = open_session(directory, "s").events
    assert isinstance(event.pop("at"), int)
    assert event == {"event": "before-action", "shown": ["a@1"], "changed": True}
    session.note("stop", agent="가\n\ud800")
    data = Path(session.path).read_bytes()
    assert data.isascii() and data.endswith(b"\n") and data.count(b"\n") == 2
    assert json.loads(data.splitlines()[1])["agent"] == "가\n\ud800"


def test_nobody_else_may_read_the_file(directory: str) -> None:
    session = open_session(directory, "s")
    session.note("stop")
    assert os.stat(directory).st_mode & 0o777 == 0o700
    assert os.stat(session.path).st_mode & 0o777 == 0o600


def test_of_two_that_note_the_same_only_the_first_finds_it_missing(directory: str) -> None:
    one, other = open_session(directory, "s"), open_session(directory, "s")
    assert not one.note("stop", reminded=True).has("reminded")
    assert other.note("stop", reminded=True).has("reminded")
    with open(one.path, "ab") as file:  # lines that are no events are passed over
        file.write(b'\xff\n[]\n{"at": "x", "event": "stop"}\n{"at": 1, "event": 2}\n')
        file.write(b'{"at": 1, "event": "stop", "shown": "all"}\n' + b"[" * 100_000 + b"\n")
        file.write(b'{"at": 5, "event": "stop", "shown": [1, null, "a@1"], "agent": ["x"]}\n{"at"')
    session = open_session(directory, "s")
    assert [event["at"] == 5 for event in session.events] == [False, False, True]
    assert session.shown("") == set()


def test_sessions_without_an_id_are_told_apart_by_their_beginning(directory: str) -> None:
    def noted(event: str, **facts: object) -> Session:
        open_session(directory, "").note(event, **facts)
        return open_session(directory, "")

    of_an_older_version = {"withheld": ["x@1"], "triggered": ["y@1"]}  # which says nothing now
    first = noted("before-action", shown=["a@1"], reminded=True, **of_an_older_version)
    assert first.shown("") == {"a@1"}
    noted("session-start")
    noted("before-action", shown=["b@1"])
    session = noted("session-start", agent="x")
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
        if open_session(directory, session).path != os.path.join(directory, f"{name}.jsonl")
    )


def test_the_oldest_are_listed_first_and_removed_when_untouched_for_long(directory: str) -> None:
    paths = [Path(directory, f"{name}.jsonl") for name in ("b", "a", "new")]
    for at, path in enumerate(paths):
        open_session(directory, path.stem).note("stop")
        if path.stem != "new":
            os.utime(path, (at, at))
    stranger = Path(directory, "notes.txt")
    stranger.write_text("mine")
    os.utime(stranger, (1, 1))
    assert [Path(it.path) for it in sessions_in(directory)] == paths
    recent_s = paths[-1].stat().st_mtime - (KEPT_DAYS - 1) * DAY_S
    os.utime(paths[-1], (recent_s, recent_s))
    forget_old(directory)
    assert sorted(os.listdir(directory)) == ["new.jsonl", "notes.txt"]


def test_where_there_is_no_directory_there_are_no_sessions() -> None:
    for directory in ("", "/nonexistent/sessions"):
        assert list(sessions_in(directory)) == []
        forget_old(directory)
    assert open_session("", "s") == Session("")
    with pytest.raises(OSError):
        open_session("", "s").note("stop")


def test_each_system_has_its_place_for_the_state_and_a_link_leads_to_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", "/home/dev")
    project = tmp_path / "결제 shop"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    changed = f"shop-{zlib.crc32('결제 shop'.encode()):08x}"
    ours = f"{changed}-{zlib.crc32(os.path.realpath(project).encode()):08x}"
    for platform, environment, base in table("commands/journal")["places"]:
        for path in (project, tmp_path / "link"):
            assert state_directory(str(path), environment, platform) == f"{base}/{ours}"
    monkeypatch.setenv("HOME", "nowhere")
    assert state_directory("/shop", {}) == ""
