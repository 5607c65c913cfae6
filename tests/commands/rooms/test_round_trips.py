"""Tests that each room comes back from the one file of an export, and what others have, too."""

import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core.config import Settings
from rooms.fragments.draft import Draft, remember
from rooms.fragments.room import Room
from rooms.sessions.document import export
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.cli_process import TOKEN, Command
from tests.support.fragment_sources import DUMP, GRAPH, make_lines, make_memory_db
from tests.support.fragments_room import a_room
from tests.support.git_clones import path_of
from tests.support.room_samples import a_fragment, stored
from tests.support.session_samples import make_sample_store


@pytest.fixture
def other(tmp_path: Path) -> SessionStore:
    """The sessions of another project."""
    (tmp_path / "other").mkdir()
    return make_sample_store(tmp_path / "other", 3)


def elsewhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project of another user, in which commands are given from now on."""
    folder = project.parent / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(folder.parent / "new" / "memory.db"))
    return folder


def lines_in(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# Ours.


@pytest.mark.row("003 T91")
def test_all_rooms_go_into_one_file_and_come_back_from_it(
    project: Path,
    log: bytes,
    sessions: SessionStore,
    room: Room,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backup = project.parent / "backup.jsonl"
    done = command("export", "-o", str(backup))
    assert done.lines == [f"Written: {backup} (Lessons 1, Sessions 2, Fragments 1)."]
    assert done.errors.startswith("For you alone: 3 (sessions, private fragments).")
    head, *rows = lines_in(backup)
    assert (head["format"], head["version"]) == ("sentinel-memory-export", 2)
    assert [it["room"] for it in rows] == ["lessons", "sessions", "sessions", "fragments"]
    new = elsewhere(project, monkeypatch)
    done = command("import", str(backup), "--yes")
    assert done.lines[0] == (
        f"{backup}: an export of this program, into {new}. To save: Lessons 1, Sessions 2,"
        " Fragments 1."
    )
    assert path_of(new).read_bytes() == log
    kept, came = sessions, open_sessions(new, Settings())
    for number in ("1", "2"):
        assert came.get(number) == kept.get(number)
        assert came.actions(came.get(number)) == kept.actions(kept.get(number))
    assert stored(a_room(project.parent / "new")) == stored(room)
    again = command("import", str(backup), "--yes")
    assert again.lines[-1] == "Nothing to save."
    assert (
        command("export", "--format", "jsonl").out.splitlines()[1:]
        == (backup.read_text(encoding="utf-8").splitlines()[1:])
    )


@pytest.mark.usefixtures("log", "sessions")
def test_a_room_alone_goes_out_and_comes_in(
    project: Path, room: Room, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = project.parent / "backup.jsonl"
    assert command("export", "--room", "lessons", "-o", str(backup)).errors == ""
    assert [it.get("room") for it in lines_in(backup)] == [None, "lessons"]
    with room.engine.writing() as writing:
        writing.add([replace(a_fragment("publ0001"), privacy="public")])
    out = command("export", "--room", "fragments", "--public", "-o", "f.jsonl")
    assert (out.lines, out.errors) == (["Written: f.jsonl (Fragments 1)."], "")
    command("export", "-o", str(backup), "--force")
    new = elsewhere(project, monkeypatch)
    assert "Sessions 2." in command("import", str(backup), "--room", "sessions", "--yes").lines[0]
    assert not path_of(new).exists()
    assert stored(a_room(project.parent / "new")) == {}


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
@pytest.mark.usefixtures("log", "sessions")
@pytest.mark.parametrize("name", ["a.jsonl", "a.md"])
def test_what_is_private_is_in_a_file_that_nobody_else_reads(
    project: Path, command: Command, name: str
) -> None:
    command("export", "--room", "lessons", "-o", name)
    before = (project / name).stat().st_mode & 0o777
    assert before & 0o044
    command("export", "-o", name, "--force")
    assert (project / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("log", "sessions", "room")
def test_a_document_for_people_shows_every_room(project: Path, command: Command) -> None:
    done = command("export")
    text = done.out
    assert "For you alone: 3 (" in done.errors
    assert "For you alone" not in command("export", "--kind", "principle").errors
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Lessons", "## Sessions", "## Fragments"]
    assert "- NOAUTH" in text
    (project / "memory.md").write_text(text, encoding="utf-8")
    assert "is an export for people" in command("import", "memory.md", "--yes").errors


def test_secrets_that_came_in_otherwise_do_not_go_out(
    sessions: SessionStore, room: Room, command: Command
) -> None:
    with sessions.writing() as connection:
        connection.execute("UPDATE contexts SET goal = ?", (f"Use {TOKEN}",))
    with room.engine.writing() as writing:
        writing.add([a_fragment("leak0001", f"It is {TOKEN}.")])
    for form in ("jsonl", "markdown"):
        text = command("export", "--format", form).out
        assert TOKEN not in text
        assert text.count("REDACTED") >= 3


@pytest.mark.usefixtures("log")
def test_a_row_of_no_room_and_a_torn_line_are_told(project: Path, command: Command) -> None:
    text = command("export", "--format", "jsonl").out + '{"room": "attic", "row": {}}\n{"room": \n'
    (project / "x.jsonl").write_text(text, encoding="utf-8")
    done = command("import", "x.jsonl", "-n")
    assert "  of no room that is here: 2 (3, 4)" in done.lines


# Of others.


def make_former(project: Path, goal: str = "Build the login") -> Path:
    folder = project / ".context-sync"
    folder.mkdir()
    work = {"goal": goal, "status": "coding", "startedAt": "2020-12-20T09:00:00Z"}
    context = {"id": "x", "currentWork": work, "updatedAt": "2020-12-20T11:00:00Z"}
    (folder / "current.json").write_text(json.dumps(context), encoding="utf-8")
    return folder


@pytest.mark.row("003 T73.a")
def test_a_former_directory_is_shown_then_saved_then_known(project: Path, command: Command) -> None:
    folder = make_former(project, f"Build the login with {TOKEN}")
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / "a.json").write_text("{", encoding="utf-8")
    shown = [
        f".context-sync: Sessions, into {project}. To save: Sessions 1.",
        "",
        "  id  day          kind    topic  text",
        "  -   20 Dec 2020  coding         Build the login with [REDACTED]",
        "",
        "Secrets that are redacted: 1 (github-token 1).",
        "",
        "Left out, with the lines:",
        "  not readable as JSON: 1 (snapshots/a.json)",
        "",
    ]
    dry = command("import", ".context-sync", "--dry-run")
    assert dry.lines == [*shown, "Nothing was saved (--dry-run)."]
    asked = command("import", ".context-sync")
    assert asked.code == 1
    assert asked.errors.startswith("Nothing was saved: there is no terminal to confirm on.")
    assert not (project / ".context").exists()
    done = command("import", ".context-sync", "--yes")
    assert done.lines[:-2] == shown
    assert done.lines[-2].startswith("Saved in one transaction: 1.")
    assert "--rooms lessons,sessions`" in done.lines[-1]
    again = command("import", ".context-sync", "--yes")
    assert "Already in this project: 1." in again.lines
    assert again.lines[-1] == "Nothing to save."
    assert TOKEN not in "".join((dry.out, asked.out, done.out, again.out))


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", ["x.json", "x.md", "history.db", "current.json", "."])
def test_each_source_of_sessions_is_recognised_by_what_is_in_it(
    project: Path, command: Command, other: SessionStore, name: str
) -> None:
    export(other, "json", output="x.json")
    export(other, "markdown", output="x.md")
    assert other.project()
    folder = other.root if name.startswith("x.") else other.path.parent
    done = command("import", str(folder / name), "--yes")
    if name == "x.md":
        assert "is an export for people" in done.errors
        return
    count = 1 if name == "current.json" else 3
    assert f"To save: Sessions {count}." in done.lines[0]
    assert open_sessions(project, Settings()).get(str(count)).goal


def test_hostile_texts_and_names_stay_in_their_lines(project: Path, command: Command) -> None:
    folder = make_former(project, "a\x1b[31m\nb\u202e##vso[x]")
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / "x\x1b[0m\n##[error].json").write_text("{", encoding="utf-8")
    out = command("import", ".context-sync", "-n").out
    assert not {"\x1b", "\u202e"} & set(out)
    assert "##vso[" not in out and "##[" not in out
    assert out.count("\n") == 9


ITEM = ("mem-000001", "semantic", f"Use {TOKEN}.", 0.7, "public", "2020-01-02 10:00:00", 1)
LONG = ("mem-000002", "semantic", "x" * 2_000, 0.7, "public", "2020-01-02 10:00:00", 0)


def test_a_memory_db_is_shown_then_saved_then_known(
    tmp_path: Path, project: Path, command: Command
) -> None:
    make_memory_db(project / "memory.db", ITEM, LONG)
    room = a_room(tmp_path / "data")
    dry = command("import", "memory.db", "--dry-run")
    assert dry.lines[0] == "memory.db: Fragments. To save: Fragments 1."
    assert dry.lines[3].endswith("2 Jan 2020  fact  general  * Use [REDACTED].")
    assert "Secrets that are redacted: 1 (github-token 1)." in dry.lines
    long = "longer than 1,024 bytes; save each as several fragments"
    assert f"  {long}: 1 (2)" in dry.lines
    assert command("import", "memory.db").code == 1
    assert not room.engine.exists()
    done = command("import", "memory.db", "--yes")
    assert done.lines[-2].startswith("Saved: 1.")
    assert "--rooms lessons,fragments`" in done.lines[-1]
    again = command("import", "memory.db", "--yes")
    assert "Already here, by id or by what they say: 1." in again.lines
    assert again.lines[-1] == "Nothing to save."
    assert TOKEN not in dry.out + done.out + again.out


def test_rows_of_a_table_come_through_standard_input_from_anywhere_in_korean(
    tmp_path: Path, project: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_EMBEDDINGS", "http://127.0.0.1:9/v1")
    data = "\n".join(map(json.dumps, DUMP)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    monkeypatch.chdir(project.parent)
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    done = command("import", "-", "--yes")
    assert done.lines[0] == "<stdin>: 조각. 저장할 것: 조각 2."
    assert "새로 생기는 연결: 1개." in done.lines
    assert done.lines[-1] == "뜻으로도 찾으려면: `python cli.py fragments embed`"
    assert len(stored(a_room(tmp_path / "data"))) == 2


def test_a_graph_goes_into_the_log_unless_it_is_to_be_fragments(
    tmp_path: Path, project: Path, command: Command
) -> None:
    make_lines(project / "memory.jsonl", *GRAPH)
    assert "a file of server-memory" in command("import", "memory.jsonl", "-n").out
    done = command("import", "memory.jsonl", "--room", "fragments", "-y")
    assert done.lines[0] == "memory.jsonl: Fragments. To save: Fragments 4."
    came = stored(a_room(tmp_path / "data")).values()
    assert "Kim works on shop" in {it.content for it in came}


def test_an_export_of_fragments_by_an_older_version_comes_in(
    tmp_path: Path, project: Path, command: Command
) -> None:
    kept = remember(a_room(tmp_path / "data"), Draft(content="The port is 56332.")).fragment
    head = {"format": "sentinel-memory-fragments", "version": 1}
    row = {"kind": "fragment", "id": kept.id, "content": kept.content, "topic": kept.topic}
    make_lines(project / "a.jsonl", head, row)
    assert "Already here, by id or by what they say: 1." in command("import", "a.jsonl").lines


def test_a_topic_is_of_lessons_and_a_list_has_no_fragments(project: Path, command: Command) -> None:
    make_former(project)
    refused = command("import", ".context-sync", "--topic", "auth").refused
    assert refused == "--topic can only be used with Lessons"
    (project / "rules.md").write_text("- Run the linter.\n", encoding="utf-8")
    named = command("import", "rules.md", "--room", "fragments")
    assert named.errors.startswith("rules.md contains no fragments")
