"""Tests the commands for the log over all rooms: what they show, find, forget and count."""

import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from commands.terminal.screen import cells
from core.config import Settings
from core.messages import Language
from rooms.fragments.engine import Wanted
from rooms.fragments.room import Room
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.cli_process import Command, Run
from tests.support.costly import one_in
from tests.support.git_clones import path_of, write
from tests.support.room_samples import RECORD, a_fragment, a_session
from tests.support.sentences import LANGUAGES
from tests.support.session_samples import keep
from tests.support.stdio_client import ROOT
from tests.support.tables import table

ROWS = table("commands/one_terminal")

SETTINGS = Settings()
LOG_LIST = [
    "  id        last    topic  lesson",
    f"  {RECORD.id[:8]}   1 Mar  build  Run make redis before tests",
    "",
    "Records: 1 of 1, the newest first.",
]
TABLES = ROWS["tables"]


def uses_of(room: Room) -> list[int]:
    with room.engine.reading() as reading:
        return [it.access_count for it in reading.find(Wanted(state="all"), limit=9)]


# a search


def test_a_search_shows_below_the_log_what_each_other_room_knows(
    log: bytes, sessions: SessionStore, room: Room, command: Command
) -> None:
    own = command("search", "redis", "--room", "lessons").lines
    assert command("search", "redis").lines == [
        *own,
        "",
        "Sessions found: 2",
        *TABLES["sessions"],
        "",
        "Fragments found: 1",
        *TABLES["fragments"],
    ]
    assert uses_of(room) == [0]  # somebody may have looked for a lesson


def test_five_of_a_room_are_shown_with_the_command_for_the_others(
    log: bytes, project: Path, room: Room, command: Command
) -> None:
    keep(open_sessions(project, SETTINGS), [(a_session(number), []) for number in range(1, 8)])
    with room.engine.writing() as writing:
        writing.add([a_fragment(f"redis00{n}", f"redis {n} needs port {n}") for n in range(2, 8)])
    lines = command("search", "redis").lines
    assert "… 2 more: `python cli.py sessions list redis --limit 7`" in lines
    assert lines[-1] == "… 2 more: `python cli.py fragments search redis --limit 7`"
    assert len([line for line in lines if "Move redis to the new host" in line]) == 5
    assert len(command("sessions", "list", "redis", "--limit", "7").lines) == 10
    assert command("search", "redis", "--limit", "7").out.count("Move redis to the new") == 7


@pytest.mark.long  # it costs much
def test_a_room_that_is_named_alone_answers_by_its_own_command(
    log: bytes, sessions: SessionStore, room: Room, command: Command
) -> None:
    for by, ours in {
        "sessions list redis": "search redis --room sessions",
        "fragments search redis": "search redis --room fragments",
        "sessions list": "list --room sessions",
        "sessions list --limit 1": "list --room sessions --limit 1",
        "sessions list --json": "list --room sessions --json",
        "fragments list": "list --room fragments",
        "sessions show 2": "show 2 --room sessions",
        "fragments show redis001 --json": "show redis001 --room fragments --json",
        "sessions export 1 2 --format markdown": "export --room sessions",
        "sessions list --since 2020-03-02": "list --room sessions --since 2020-03-02",
    }.items():
        told, expected = command(*ours.split()), command(*by.split())
        assert told.code == 0
        assert told.out.partition("Exported")[0] == expected.out.partition("Exported")[0], ours


def test_several_rooms_that_are_named_are_searched_without_the_log(
    log: bytes, sessions: SessionStore, room: Room, command: Command
) -> None:
    found = command("search", "redis", "--room", "fragments", "--room", "sessions")
    assert found.lines == [
        "Sessions found: 2",
        *TABLES["sessions"],
        "",
        "Fragments found: 1",
        *TABLES["fragments"],
    ]


def test_a_search_as_data_has_a_key_for_each_room_that_is_there(
    log: bytes, sessions: SessionStore, room: Room, command: Command
) -> None:
    told = command("search", "redis", "--json").told
    assert [it["id"] for it in told["fragments"]] == ["redis001"]
    assert [it["number"] for it in told["sessions"]] == [2, 1]
    own = command("search", "redis", "--json", "--room", "lessons").told
    assert [*own] == ["project", "query", "total", "found", "records"]
    assert {key: told[key] for key in own} == own
    both = command("search", "redis", "--json", "--room", "lessons", "--room", "sessions").told
    assert [*both] == [*own, "sessions"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("option", ["--topic=build", "--type=log", "--questions"])
def test_an_option_of_the_log_means_the_log_alone(
    log: bytes, sessions: SessionStore, room: Room, command: Command, option: str
) -> None:
    assert "Sessions" not in command("search", "redis", option).out
    assert "Sessions" not in command("list", option).out
    for words in (
        ("search", "redis", option, "--room", "sessions"),
        ("search", "redis", option, "--room", "sessions", "--room", "lessons"),
        ("list", option, "--room", "fragments"),
    ):
        name = option.partition("=")[0]
        assert command(*words).refused == f"{name} can only be used with --room lessons"


@pytest.mark.long  # it costs much
def test_a_room_that_cannot_be_read_takes_nothing_from_the_others(
    log: bytes, sessions: SessionStore, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "memory.db").write_bytes(b"no database" * 400)
    for words in ("search redis", "list", f"show {RECORD.id}", "stats"):
        told = command(*words.split())
        assert (told.code, told.errors.partition(": ")[0]) == (0, "Without fragments"), words
        assert RECORD.id[:8] in told.out or words == "stats"
    named = command("search", "redis", "--room", "sessions", "--room", "fragments")
    assert (named.code, named.out) == (1, "")


# a list


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("has_directory", [False, True])
def test_a_project_with_the_log_alone_has_nothing_of_the_others(
    log: bytes, project: Path, command: Command, has_directory: bool
) -> None:
    if has_directory:  # a server with sessions was started once, and nothing was saved
        (project / ".context" / "sessions").mkdir()
    assert command("list").lines == LOG_LIST
    for words in ("search redis", "stats", f"show {RECORD.id}", "search redis --json"):
        told = command(*words.split())
        assert (told.code, told.errors) == (0, "")
        assert not {"Sessions", "Fragments", "sessions", "fragments"} & {*told.out.split()} - {
            "sessions"
        }, words
        if "json" not in words:
            assert told.out == command(*words.split(), "--room", "lessons").out


COUNTING = ["list", "search redis", f"show {RECORD.id}", "stats", f"forget {RECORD.id} -n"]
COUNTING += ["stats --json", "scan", "view -o -"]
LOADED = """
import sys, cli
assert [cli.main(words.split()) for words in sys.argv[1:]] == [0] * len(sys.argv[1:])
loaded = {"rooms.sessions.store", "rooms.fragments.room", "sqlite3"} & set(sys.modules)
print(sorted(loaded), file=sys.stderr)
"""


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("lines", "has_sessions"),
    [
        (COUNTING, False),
        *one_in(len(COUNTING), [([line], True) for line in COUNTING], names=2),
    ],
)
def test_a_room_is_loaded_only_where_it_is(
    log: bytes, project: Path, lines: list[str], has_sessions: bool
) -> None:
    loaded = "['rooms.sessions.store', 'sqlite3']" if has_sessions else "[]"
    if has_sessions:
        keep(open_sessions(project, SETTINGS), [(a_session(1), [])])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = (sys.executable, "-c", LOADED, *lines)
    told = Run.process(*started, cwd=project, environment=environment)
    assert (told.code, told.errors.splitlines()[-1]) == (0, loaded)


# by an id


@pytest.mark.long  # it costs much
def test_whatever_an_id_names_is_shown(
    log: bytes, sessions: SessionStore, room: Room, command: Command
) -> None:
    each = {
        RECORD.id[:6]: command("show", RECORD.id, "--room", "lessons").out,
        "#2": command("sessions", "show", "2").out,
        "2": command("sessions", "show", "2").out,
        f"ctx_{1:012x}": command("sessions", "show", "1").out,
        "redis001": command("fragments", "show", "redis001").out,
    }
    for name, text in each.items():
        assert command("show", name).out == text
    together = command("show", "redis001", "#2", RECORD.id)
    assert together.out == "\n".join([each[RECORD.id[:6]], each["#2"], each["redis001"]])
    told = command("show", "redis001", "#2", RECORD.id, "--json").told
    assert [*told] == ["project", "records", "sessions", "fragments"]
    assert (told["sessions"][0]["number"], told["fragments"][0]["id"]) == (2, "redis001")


def test_an_id_of_several_rooms_has_to_be_told_which(
    log: bytes, sessions: SessionStore, room: Room, command: Command
) -> None:
    with room.engine.writing() as writing:
        writing.add([a_fragment(RECORD.id[:8], "Another text.")])
    for name in ("show", "forget"):
        told = command(name, RECORD.id[:8])
        assert (told.code, told.errors) == (
            1,
            f"{RECORD.id[:8]} is in several rooms: the log, the fragments. Nothing was changed."
            f" Name the room: `python cli.py {name} {RECORD.id[:8]} --room lessons`\n",
        )
    assert "Another text." in command("show", RECORD.id[:8], "--room", "fragments").out
    assert RECORD.lesson in command("show", RECORD.id[:8], "--room", "lessons").out


# forgetting


@pytest.mark.long  # it costs much
def test_each_room_forgets_in_its_own_way(
    log: bytes, project: Path, sessions: SessionStore, room: Room, command: Command
) -> None:
    names = ("redis001", "#2", RECORD.id)
    for options in ((), ("--dry-run",)):  # there is no terminal to confirm on
        told = command("forget", *names, *options)
        assert told.code == (0 if options else 1)
        assert path_of(project).read_bytes() == log
        assert command("list", "--room", "fragments").out.count("redis001") == 1
    told = command("forget", *names, "--yes")
    assert (told.code, told.errors) == (0, "")
    assert "Removed: 1." in told.lines
    assert "Moved into the bin: 1." in told.out
    assert command("list").lines[0] == "The memory of this project has no records yet."
    assert [it["number"] for it in command("sessions", "--json").told["sessions"]] == [1]
    assert "redis001" in command("fragments", "list", "--state", "bin").out


def test_nothing_goes_where_one_id_names_nothing(
    log: bytes, project: Path, sessions: SessionStore, room: Room, command: Command
) -> None:
    assert command("forget", RECORD.id, "redis001", "nobody12", "--yes").code == 1
    assert path_of(project).read_bytes() == log
    assert command("fragments").out.count("redis001") == 1


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
    assert command("list", "--room", "sessions").lines[0] == "This project has no sessions yet."


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


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_line_is_wider_than_the_terminal(
    log: bytes,
    sessions: SessionStore,
    room: Room,
    command: Command,
    lang: Language,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    for words in (
        *("list", "search redis", "search zzz", "list --topic buil", "topics"),
        *("stats --room sessions", "show '#1' redis001", "sessions chain 1"),
    ):
        for columns in ("40", "60", "80", "132") if words == "topics" else ("30", "60", "80"):
            monkeypatch.setenv("COLUMNS", columns)
            told = command(*words.replace("'", "").split())
            assert told.code == 0
            assert max(map(cells, told.lines)) <= int(columns), words


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
