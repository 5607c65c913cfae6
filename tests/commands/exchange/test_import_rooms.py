"""Tests how the command import recognises sessions, what it shows of them, and that it asks."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from core.config import Settings
from rooms.fragments.engine import Wanted
from rooms.fragments.room import Room
from rooms.fragments.saving.drafting import Draft
from rooms.fragments.saving.remembering import remember
from rooms.sessions.exchange.exporting import FormName, export
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.cli_process import TOKEN, Command
from tests.support.fragment_sources import DUMP, GRAPH, make_lines, make_memory_db
from tests.support.fragments_room import a_room
from tests.support.session_samples import make_sample_store

SAVED = [
    "Saved in one transaction: {count}. python cli.py list --room sessions lists them.",
    "To have agents use them: `python cli.py setup --all --rooms lessons,sessions`",
]


@pytest.fixture
def other(tmp_path: Path) -> SessionStore:
    """The sessions of another project."""
    (tmp_path / "other").mkdir()
    return make_sample_store(tmp_path / "other", 3)


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
    head = f"Import of sessions from .context-sync into {project}. To save: "
    shown = [
        f"{head}1.",
        "",
        "  saved        status  goal",
        "  20 Dec 2020  coding  Build the login with [REDACTED]",
        "",
        "Secrets that are redacted: 1 (github-token 1).",
        "Skipped:",
        "  snapshots/a.json: not readable as JSON",
        "",
    ]
    dry = command("import", ".context-sync", "--dry-run")
    assert dry.lines == [*shown, "Nothing was saved (--dry-run)."]
    assert not (project / ".context").exists()
    asked = command("import", ".context-sync")
    assert asked.code == 1
    assert asked.errors.startswith("Nothing was saved: there is no terminal to confirm on.")
    assert not (project / ".context").exists()
    done = command("import", ".context-sync", "--yes")
    assert done.lines == [*shown, *(line.format(count=1) for line in SAVED)]
    again = command("import", ".context-sync", "--yes")
    assert again.lines[:3] == [f"{head}0.", "", "Already in this project: 1."]
    assert again.lines[-1] == "Nothing to save."
    assert TOKEN not in "".join((dry.out, asked.out, done.out, again.out))


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T91")
@pytest.mark.parametrize("name", ["export.json", "history.db", "current.json", "."])
def test_each_source_is_recognised_by_what_is_in_it(
    project: Path, command: Command, other: SessionStore, name: str
) -> None:
    export(other, "json", output="x.json")
    assert other.project()
    source = other.path.parent / name
    if name == "export.json":
        source = project / "any.name"
        shutil.copy(other.root / "x.json", source)
    done = command("import", str(source), "--yes")
    assert done.code == 0
    count = 1 if name == "current.json" else 3
    assert f"To save: {count}." in done.lines[0]
    assert open_sessions(project, Settings()).get(str(count)).goal


def test_an_export_comes_through_standard_input(
    project: Path, command: Command, other: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = io.TextIOWrapper(io.BufferedReader(io.BytesIO(export(other, "json").text.encode())))
    monkeypatch.setattr("sys.stdin", given)
    assert command("import", "-", "--yes").lines[-2:] == [it.format(count=3) for it in SAVED]


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_an_export_for_people_is_no_list_of_lessons(
    project: Path, command: Command, other: SessionStore, form: FormName
) -> None:
    (project / "a.md").write_text(export(other, form).text, encoding="utf-8")
    done = command("import", "a.md", "--yes")
    assert (done.code, done.out) == (1, "")
    assert done.errors.startswith("a.md is an export of sessions for people")


def test_a_lesson_that_speaks_of_such_keys_stays_a_lesson(project: Path, command: Command) -> None:
    text = '{"type": "entity", "name": "api", "observations": ["\\"currentWork\\": is gone"]}\n'
    (project / "memory.json").write_text(text, encoding="utf-8")
    assert "(server-memory)" in command("import", "memory.json", "--dry-run").lines[0]


def test_a_directory_without_sessions_is_refused_as_before(project: Path, command: Command) -> None:
    assert command("import", ".", "-n").errors.startswith(". is not a regular file.")


def test_a_topic_is_nothing_for_sessions(project: Path, command: Command) -> None:
    make_former(project)
    refused = command("import", ".context-sync", "--topic", "auth").refused
    assert refused == "--topic and --format sessions cannot be used together"


def test_a_format_that_is_named_is_taken_at_its_word(project: Path, command: Command) -> None:
    (project / "x.json").write_text('{"a": 1}', encoding="utf-8")
    done = command("import", "x.json", "--format", "sessions", "-n")
    assert done.errors.startswith("x.json contains no sessions: neither current.json nor")
    make_former(project)
    assert command("import", ".context-sync", "--format", "markdown", "-n").code == 1


def test_a_link_that_leads_out_of_the_project_is_not_followed(
    project: Path, command: Command, other: SessionStore
) -> None:
    (project / ".git").mkdir()
    (project / ".context-sync").symlink_to(other.path.parent)
    done = command("import", ".context-sync", "--yes")
    assert (done.code, done.out) == (1, "")
    assert not (project / ".context").exists()


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


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    """The room into which the command imports."""
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "data" / "memory.db"))
    return a_room(tmp_path / "data")


def contents(room: Room) -> list[str]:
    with room.engine.reading() as reading:
        return [it.content for it in reading.find(Wanted(state="all"), limit=99)]


def test_a_memory_db_is_shown_then_saved_then_known(
    room: Room, project: Path, command: Command
) -> None:
    make_memory_db(project / "memory.db", ITEM, LONG)
    head = "Import of fragments from memory.db (a memory.db with memory_item). To save: "
    shown = [
        f"{head}1.",
        "",
        "  saved        kind  fragment",
        "   2 Jan 2020  fact  Use [REDACTED].",
        "",
        "Secrets that are redacted: 1 (github-token 1).",
        "Left out:",
        "  1: longer than 1,024 bytes; save each as several fragments (rows 2)",
        "",
    ]
    dry = command("import", "memory.db", "--dry-run")
    assert dry.lines == [*shown, "Nothing was saved (--dry-run)."]
    asked = command("import", "memory.db")
    assert asked.code == 1
    assert asked.errors.startswith("Nothing was saved: there is no terminal to confirm on.")
    assert not room.engine.exists()
    done = command("import", "memory.db", "--yes")
    assert done.lines == [
        *shown,
        "Saved: 1. python cli.py list --room fragments lists them.",
        "To have agents use them: `python cli.py setup --all --rooms lessons,fragments`",
    ]
    again = command("import", "memory.db", "--yes")
    assert again.lines[:3] == [f"{head}0.", "", "Already here, by id or by what they say: 1."]
    assert again.lines[-1] == "Nothing to save."
    assert TOKEN not in "".join((dry.out, asked.out, done.out, again.out))


def test_our_export_and_a_dump_are_recognised(
    room: Room, project: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_EMBEDDINGS", "http://127.0.0.1:9/v1")
    remember(room, Draft(content="The port is 56332."))
    assert command("fragments", "export", "-o", "a.jsonl").code == 0
    assert command("import", "a.jsonl").lines[-1] == "Nothing to save."
    make_lines(project / "dump.jsonl", *DUMP)
    done = command("import", "dump.jsonl", "-y")
    assert done.lines[0] == "Import of fragments from dump.jsonl (rows of fragments). To save: 2."
    assert "New links between fragments: 1." in done.lines
    assert done.lines[-1] == "To find them by meaning, too: `python cli.py fragments embed`"
    assert "New former versions, feedback and notes on sessions: 2." in done.lines
    assert len(contents(room)) == 3
    (project / "a.html").write_text("<!-- sentinel-memory-fragments: older -->", "utf-8")
    refused = command("import", "a.html")
    assert refused.errors.startswith("a.html is an export of fragments for people")


def test_a_graph_goes_into_the_log_unless_it_is_to_be_fragments(
    room: Room, project: Path, command: Command
) -> None:
    make_lines(project / "memory.jsonl", *GRAPH)
    assert "(server-memory) into" in command("import", "memory.jsonl", "-n").out
    done = command("import", "memory.jsonl", "--format", "fragments", "-y")
    assert done.lines[0].endswith("(server-memory). To save: 4.")
    assert "Kim works on shop" in contents(room)


def test_standard_input_is_read_and_a_topic_refused(
    room: Room, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = "\n".join(map(json.dumps, DUMP)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    done = command("import", "-", "--yes")
    assert done.lines[0] == "Import of fragments from <stdin> (rows of fragments). To save: 2."
    refused = command("import", "x", "--format", "fragments", "--topic", "x").refused
    assert refused == "--topic and --format fragments cannot be used together"


def test_it_works_outside_of_a_project_and_in_korean(
    room: Room, project: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    make_lines(project.parent / "dump.jsonl", *DUMP)
    monkeypatch.chdir(project.parent)
    done = command("import", "dump.jsonl", "-n")
    assert done.lines[0] == "dump.jsonl(조각의 행)에서 조각을 가져옵니다. 저장할 조각: 2개."
    assert done.lines[-1] == "아무것도 저장하지 않았습니다(--dry-run)."


def test_what_is_neither_stays_with_the_log(room: Room, project: Path, command: Command) -> None:
    (project / "rules.md").write_text("- Run the linter.\n", encoding="utf-8")
    assert "rules.md (Markdown)" in command("import", "rules.md", "-n").out
    make_lines(project / "x.jsonl", {"content": "a", "topic": "b", "lesson": "c"})
    done = command("import", "x.jsonl", "-n")
    assert "none of the formats that can be imported" in done.errors
    named = command("import", "rules.md", "--format", "fragments")
    assert named.errors.startswith("rules.md contains no fragments")
