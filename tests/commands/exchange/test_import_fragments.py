"""Tests how the command import recognises fragments, what it shows of them, and that it asks."""

import io
import json
import sys
from pathlib import Path

import pytest

from rooms.fragments.engine import Wanted
from rooms.fragments.room import Room
from rooms.fragments.saving.drafting import Draft
from rooms.fragments.saving.remembering import remember
from tests.support.cli_process import TOKEN, Command
from tests.support.fragment_sources import DUMP, GRAPH, make_lines, make_memory_db
from tests.support.fragments_room import a_room

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
        "Saved: 1. python cli.py fragments lists them.",
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
