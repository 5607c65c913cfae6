"""Tests what is counted, exported and taken in of each room."""

import json
import zipfile
from pathlib import Path

import pytest

from rooms.fragments.room import Room
from rooms.sessions.store import SessionStore
from tests.support.cli_process import Command
from tests.support.git_clones import write
from tests.support.room_samples import a_fragment

# figures


def test_the_figures_say_what_came_of_the_sessions(
    log: bytes, sessions: SessionStore, room: Room, command: Command
) -> None:
    lines = command("stats").lines
    section = [
        "Sessions of this project: 2",
        "  By status: coding 2.",
        "  With something that failed or is in the way: 0. Failed approaches: 0.",
        "  Continued by a later session: 1.",
    ]
    assert command("stats", "--room", "sessions").lines == section
    at = lines.index(section[0])
    assert lines[at : at + len(section)] == section
    told = command("stats", "--json").told
    assert told["sessions"] == {
        "sessions": 2,
        "statuses": {"coding": 2},
        "agents": {"": 2},
        "with_warnings": 0,
        "failed_approaches": 0,
        "continued": 1,
    }
    assert [*command("stats", "--json", "--room", "fragments").told] == ["project", "fragments"]


def test_a_room_that_holds_nothing_says_what_it_is(log: bytes, command: Command) -> None:
    assert command("stats", "--room", "sessions").lines[1] == "  This project has no sessions yet."
    assert command("stats", "--room", "fragments").lines[1] == "  There are no fragments yet."


@pytest.mark.long  # it costs much
def test_an_export_of_a_room_takes_its_formats(
    log: bytes, project: Path, sessions: SessionStore, room: Room, command: Command
) -> None:
    written = command("export", "--room", "fragments", "-o", "f.jsonl")
    assert (written.code, written.lines[0]) == (0, "Written: f.jsonl (fragments: 1).")
    assert '"redis001"' in (project / "f.jsonl").read_text("utf-8")
    public = command("export", "--room", "fragments", "--public")
    assert "redis001" not in public.out
    assert command("export", "--room", "sessions", "-o", "s.html").code == 0
    for words, said in {
        "--room sessions --type log": "--type can only be used with --room lessons",
        "--room sessions --public": "--public can only be used with --room lessons",
        "--room fragments --format json": "--format can only be used with --room lessons",
        "--public": "--public can only be used with --room fragments",
    }.items():
        assert command("export", *words.split()).refused == said


FILES = {
    "lessons.json": ("--format", "json"),
    "sessions.json": ("--room", "sessions", "--format", "json"),
    "fragments.jsonl": ("--room", "fragments"),
}


def held_in(path: Path) -> list[object]:
    """What a file holds, without what it says of the project and of its own making."""
    text = path.read_text("utf-8")
    values = [json.loads(it) for it in (text.splitlines() if path.suffix == ".jsonl" else [text])]
    for name in ("exported", "project"):
        values[0].pop(name, None)
    return values


def exported(command: Command, folder: Path) -> dict[str, list[object]]:
    folder.mkdir()
    for name, words in FILES.items():
        assert command("export", *words, "-o", str(folder / name)).code == 0
    return {name: held_in(folder / name) for name in FILES}


@pytest.mark.long  # it costs much
def test_what_each_room_wrote_is_the_same_after_an_import(
    log: bytes,
    sessions: SessionStore,
    room: Room,
    project: Path,
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with room.engine.writing() as writing:
        writing.add([a_fragment("another1", "Only I know this.")])
    ours = exported(command, project / "ours")
    other = tmp_path / "other"
    write(other)
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "others" / "memory.db"))
    monkeypatch.chdir(other)
    for name in FILES:
        taken = command("import", str(project / "ours" / name), "--yes", "--project", str(other))
        assert (taken.code, taken.errors) == (0, ""), name
    assert exported(command, other / "theirs") == ours


def test_a_zip_is_refused_with_what_to_do(log: bytes, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lessons.json", "{}")
    for more in ((), ("--format", "export"), ("--format", "fragments")):
        told = command("import", str(path), "--yes", *more)
        assert (told.code, told.out) == (1, "")
        assert told.errors.startswith(f"{path} is a ZIP file. Nothing was saved. Unpack it")
        assert "python cli.py import lessons.json" in told.errors
