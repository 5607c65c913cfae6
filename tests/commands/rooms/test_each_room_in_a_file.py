"""Tests that the files of all rooms are a whole copy, and that a ZIP of them is refused."""

import json
import zipfile
from pathlib import Path

import pytest

from rooms.fragments.room import Room
from rooms.sessions.store import SessionStore
from tests.support.cli_process import Command
from tests.support.git_clones import write
from tests.support.room_samples import a_fragment

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
