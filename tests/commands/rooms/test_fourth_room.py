"""Tests that a room which nobody has heard of is one folder, and appears in every command."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rooms
from tests.support.cli_process import TOKEN, Command
from tests.support.notes_room.notes.for_people import keep, note
from tests.support.tables import ROOT

SALT, SUGAR = note("salt0001", "Salt stands beside the stove."), note("sugar001", "Sugar is out.")


@pytest.fixture(autouse=True)
def notes(
    project: Path, log: bytes, sessions: object, room: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A file of two notes, in a project and for a user with something in each of our rooms."""
    beside = str(ROOT / "tests/support/notes_room")
    monkeypatch.setattr(rooms, "__path__", [*rooms.__path__, beside])
    keep(project / "notes.json", [SALT, SUGAR])
    yield project / "notes.json"
    for name in [it for it in sys.modules if it.startswith("rooms.notes")]:
        del sys.modules[name]


def test_it_is_listed_behind_the_others_searched_and_shown(command: Command, notes: Path) -> None:
    lines = command("list").lines
    assert [line.partition(":")[0] for line in lines if ", the newest first." in line] == [
        *("Lessons", "Sessions", "Fragments", "notes")
    ]
    last = ["  sugar001   4 Mar 2020  note  kitchen  Sugar is out."]
    assert lines[-2:] == [*last, "notes: 2 of 2, the newest first."]
    for words in ("list --room notes", "list --kind note"):
        assert command(*words.split()).lines == lines[-4:]
    told = command("list", "--json").told
    assert [*told] == ["project", "lessons", "sessions", "fragments", "notes"]
    assert told["notes"]["items"][0]["text"] == "Salt stands beside the stove."
    help_page = " ".join(command("list", "--help").out.split())
    assert "lessons, sessions, fragments, notes" in help_page
    assert command("search", "stove").lines[-1] == "notes: 1 of 1 found, the most relevant first."
    shown = ["salt0001  note [kitchen]", "  text: Salt stands beside the stove."]
    assert command("show", "salt0001").lines == [*shown, "  written 2020-03-04"]
    assert "1. 2020-03-04 09:00  in the file" in command("show", "salt0001", "--versions").lines
    assert command("show", "#1", "salt0001").out.endswith(command("show", "salt0001").out)
    notes.unlink()  # what is not there stays away
    assert "notes" not in command("list").out
    assert command("show", "salt0001").code == 1


def test_it_forgets_brings_back_goes_out_and_comes_in(command: Command, notes: Path) -> None:
    before = notes.read_bytes()
    for words in (("forget", "salt0001"), ("forget", "salt0001", "--dry-run")):
        told = command(*words)
        assert (told.code, told.lines[0]) == (int("--dry-run" not in words), "Notes to forget: 1.")
        assert notes.read_bytes() == before
    written = command("export", "-o", "all.jsonl")
    assert written.lines[0].endswith(", notes 2).")
    assert "## notes\n\n### kitchen\n\n- Salt" in command("export", "--room", "notes").out
    assert command("forget", "salt0001", "--yes").lines[-1] == "Forgotten notes: 1."
    assert "Salt" not in command("list").out
    assert "Salt" in command("list", "--forgotten", "--room", "notes").out
    assert command("restore", "salt0001", "--yes").lines[-1] == "The note is back."
    assert "Salt" in command("list").out
    notes.unlink()
    taken = command("import", "all.jsonl", "--yes")
    assert taken.lines[0].endswith(", notes 2.")
    assert (taken.lines[-1], notes.read_bytes()) == ("Saved notes: 2.", before)
    assert "  a known note: 2 (" in command("import", "all.jsonl", "-n").out


def test_it_is_counted_scanned_cleaned_and_mended(command: Command, notes: Path) -> None:
    assert command("stats", "--room", "notes").lines == ["Notes: 2", "  All in one file."]
    assert command("stats", "--json").told["notes"] == {"notes": 2}
    page = command("view", "-o", "-").out
    assert SALT.texts[0][1] in page and '"notes.note": "note"' in page
    keep(notes, [SALT, note("till0001", f"The till takes {TOKEN}.")])
    found = command("scan")
    place = "notes.json: github-token in note till0001"
    assert (found.code, found.lines[-3]) == (1, place)
    assert found.lines[-2] == "Places with secrets among the notes: 1."
    data = {"path": "notes.json", "note": "till0001", "kinds": ["github-token"]}
    assert command("scan", "--json").told["notes"] == [data]
    done = command("scan", "--redact", "--yes")
    assert (done.code, done.lines[0]) == (0, "Redacted among the notes: 1")
    assert TOKEN not in notes.read_text("utf-8")
    assert command("scan").code == 0
    assert "✓ notes 2" in command("doctor").lines[0]
    notes.write_text("{")
    assert "✗ The notes cannot be read. --fix repairs it." in command("doctor").lines
    assert "✓ The notes cannot be read." in command("doctor", "--fix", "--yes").lines
    assert "✓ notes 0" in command("doctor").lines[0]
