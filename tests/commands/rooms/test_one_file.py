"""Tests the file that carries all rooms: what is in it, and what an import takes from it."""

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.settings import Settings
from rooms.fragments.room import Room
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.cli_process import TOKEN, Command, Run
from tests.support.git_clones import write
from tests.support.room_samples import RECORD, a_fragment, a_session
from tests.support.session_samples import keep

ALL = ["lessons.json", "sessions.json", "fragments.jsonl"]
WRITTEN = "Written to {}. Records: {}, sessions: {}, fragments: {}."


def members(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def packed(path: Path, **files: str) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return str(path)


@pytest.fixture
def elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> Callable[..., Run]:
    """Runs a command in another project, of another user, who has nothing."""
    other = tmp_path / "other"
    write(other)

    @contextmanager
    def there() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "others" / "memory.db"))
            patch.chdir(other)
            yield

    def run(*words: str) -> Run:
        with there():
            return command(*words, "--project", str(other))

    return run


@pytest.fixture
def path(log: bytes, sessions: SessionStore, room: Room, tmp_path: Path, command: Command) -> Path:
    """The file with all that is here."""
    made = tmp_path / "all.zip"
    assert command("export", "-o", str(made)).code == 0
    return made


@pytest.mark.long  # it costs much
def test_all_rooms_go_into_one_file_and_come_out_of_it_as_they_were(
    log: bytes,
    sessions: SessionStore,
    room: Room,
    tmp_path: Path,
    command: Command,
    elsewhere: Callable[..., Run],
) -> None:
    with room.engine.writing() as writing:
        writing.add([a_fragment("another1", "Only I know this.")])
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    told = command("export", "-o", str(first))
    assert told.code == 0
    assert told.lines[0] == WRITTEN.format(first, 1, 2, 2)
    assert "private fragments" in told.out
    assert stat.S_IMODE(os.stat(first).st_mode) == 0o600
    assert [*members(first)] == ALL

    planned = elsewhere("import", str(first), "--dry-run")
    assert (planned.code, planned.lines.count("Nothing was saved (--dry-run).")) == (0, 3)
    assert elsewhere("export", "-o", str(second)).code == 1
    taken = elsewhere("import", str(first), "--yes")
    assert (taken.code, taken.errors) == (0, "")
    assert "`python cli.py setup --all --rooms lessons,sessions,fragments`" in taken.lines[-1]
    assert elsewhere("export", "-o", str(second)).lines[0] == WRITTEN.format(second, 1, 2, 2)
    ours, theirs = members(first), members(second)
    assert json.loads(ours["lessons.json"])["records"] == [RECORD.as_json()]
    for name in ALL:
        assert held_in(name, ours) == held_in(name, theirs), name
    again = elsewhere("import", str(first), "--yes")
    assert (again.code, again.lines.count("Nothing to save.")) == (0, 3)


def held_in(name: str, files: dict[str, str]) -> list[object]:
    """Return what a member holds, without what it says of the project and of its own making."""
    text = files[name]
    lines = text.splitlines() if name.endswith(".jsonl") else [text]
    values = [json.loads(line) for line in lines]
    for name in ("exported", "project"):
        values[0].pop(name, None)
    return values


@pytest.mark.long  # it costs much
def test_each_file_in_it_can_be_imported_alone(
    path: Path, tmp_path: Path, elsewhere: Callable[..., Run]
) -> None:
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "alone")
    for name in ALL:
        told = elsewhere("import", str(tmp_path / "alone" / name), "--yes")
        assert (told.code, told.errors) == (0, ""), name


def test_only_rooms_that_hold_something_are_in_it(
    log: bytes, project: Path, tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "log.ZIP"
    told = command("export", "-o", str(path))
    assert (told.code, told.lines) == (0, [WRITTEN.format(path, 1, 0, 0)])
    assert [*members(path)] == ALL[:1]


def test_a_room_that_is_named_is_there_alone(
    log: bytes, sessions: SessionStore, room: Room, tmp_path: Path, command: Command
) -> None:
    for name, member in zip(("lessons", "sessions", "fragments"), ALL, strict=True):
        path = tmp_path / f"{name}.zip"
        assert command("export", "--room", name, "-o", str(path)).code == 0
        assert [*members(path)] == [member]


def test_nothing_private_is_in_a_public_one(
    log: bytes, sessions: SessionStore, room: Room, tmp_path: Path, command: Command
) -> None:
    with room.engine.writing() as writing:
        writing.add(
            [
                replace(a_fragment("public01", "Everybody may know."), privacy="public"),
                a_fragment("private1", "Only I know this."),
            ]
        )
    path = tmp_path / "all.zip"
    assert command("export", "--public", "-o", str(path)).lines == [WRITTEN.format(path, 1, 0, 1)]
    assert [*members(path)] == ["lessons.json", "fragments.jsonl"]
    assert stat.S_IMODE(os.stat(path).st_mode) & 0o077
    text = members(path)["fragments.jsonl"]
    assert "Everybody may know." in text
    assert "Only I know this." not in text


def test_no_secret_of_any_room_gets_into_it(
    project: Path, room: Room, tmp_path: Path, command: Command
) -> None:
    write(project, replace(RECORD, lesson=f"Use {TOKEN}"))
    keep(open_sessions(project, Settings()), [(a_session(1, goal=f"Use {TOKEN}"), [])])
    with room.engine.writing() as writing:
        writing.add([a_fragment("secret01", f"Use {TOKEN}")])
    path = tmp_path / "all.zip"
    assert command("export", "-o", str(path)).code == 0
    found = members(path)
    assert [*found] == ALL
    assert all(TOKEN not in text and "Use " in text for text in found.values())


def test_a_file_is_replaced_only_by_force(log: bytes, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "all.zip"
    path.write_bytes(b"mine")
    told = command("export", "-o", str(path))
    assert (told.code, path.read_bytes()) == (1, b"mine")
    assert "--force" in told.errors
    assert command("export", "-o", str(path), "--force").code == 0
    assert [*members(path)] == ALL[:1]


def test_a_room_that_cannot_be_read_leaves_no_file(
    log: bytes, sessions: SessionStore, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "memory.db").write_bytes(b"no database" * 400)
    path = tmp_path / "all.zip"
    assert command("export", "-o", str(path)).code == 1
    assert not path.exists()


@pytest.mark.parametrize("option", ["--format json", "--topic a", "--type log", "--block A.md"])
def test_options_of_one_room_are_refused(
    log: bytes, tmp_path: Path, option: str, command: Command
) -> None:
    path = tmp_path / "all.zip"
    told = command("export", *option.split(), "-o", str(path))
    assert (told.code, path.exists()) == (2, False)
    assert f"{option.split()[0]} and -o FILE.zip cannot be used together" in told.errors


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("option", ["--format export", "--topic a", "--agent a"])
def test_an_import_of_all_takes_no_option_of_one_room(
    log: bytes, tmp_path: Path, option: str, command: Command
) -> None:
    path = tmp_path / "all.zip"
    assert command("export", "-o", str(path)).code == 0
    told = command("import", str(path), *option.split())
    assert told.code == 2
    assert f"{option.split()[0]} and {path} cannot be used together" in told.errors


@pytest.mark.long  # it costs much
def test_a_room_of_the_file_that_is_unsound_leaves_all_as_it_was(
    path: Path, tmp_path: Path, elsewhere: Callable[..., Run]
) -> None:
    for name in ALL:
        sound = members(path)
        bad = packed(tmp_path / "bad.zip", **{**sound, name: "{}"})
        told = elsewhere("import", bad, "--yes")
        assert (told.code, told.out) == (1, ""), name
        assert name in told.errors
    assert elsewhere("list", "--json").told["total"] == 0


@pytest.mark.long  # it costs much
def test_a_room_that_cannot_be_saved_does_not_keep_the_others_from_it(
    path: Path, tmp_path: Path, elsewhere: Callable[..., Run]
) -> None:
    (tmp_path / "other" / ".context" / "sessions").write_text("in the way")
    told = elsewhere("import", str(path), "--yes")
    assert told.code == 1
    assert told.errors.startswith("Sessions: ")
    assert told.errors.endswith("The other rooms of the file are not affected.\n")
    assert elsewhere("list", "--json", "--room", "lessons").told["total"] == 1
    assert "redis001" in elsewhere("list", "--room", "fragments").out


def damaged() -> dict[str, bytes]:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lessons.json", json.dumps({"records": [*range(999)]}))
    sound = file.getvalue()
    begin = 30 + len("lessons.json")
    locked = bytearray(sound)
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        locked[locked.index(signature) + flags] |= 1
    return {
        "cut": sound[:-30],
        "only a head": b"PK\3\4",
        "changed": sound[:begin] + bytes(64) + sound[begin + 64 :],
        "locked": bytes(locked),
    }


@pytest.mark.parametrize("name", [*damaged()])
def test_a_damaged_file_is_refused_with_a_sentence(
    log: bytes, tmp_path: Path, name: str, command: Command
) -> None:
    path = tmp_path / "bad.zip"
    path.write_bytes(damaged()[name])
    told = command("import", str(path), "--yes")
    assert (told.code, told.out) == (1, "")
    assert told.errors.startswith(f"{path} cannot be read as a ZIP file (")
    assert "Nothing was saved." in told.errors


def test_a_zip_of_something_else_is_refused(log: bytes, tmp_path: Path, command: Command) -> None:
    path = packed(tmp_path / "photos.zip", **{"../lessons.json": "{}", "a.jpg": "a picture"})
    told = command("import", path, "--yes")
    assert (told.code, told.out) == (1, "")
    assert ", ".join(ALL) in told.errors


@pytest.mark.long  # it costs much
def test_no_more_is_unpacked_than_an_import_takes(
    log: bytes, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commands.exchange.sources.MOST_BYTES", 10_000)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lessons.json", b" " * 50_000_000)
    told = command("import", str(path), "--yes")
    assert told.code == 1
    assert "lessons.json is larger than 10,000 bytes" in told.errors
