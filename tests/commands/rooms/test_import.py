"""Tests what `import` takes, passes over and refuses, and that each room comes back whole."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.rooms.sources import MARKER, MOST_TEXT_BYTES, in_markdown, topic_of
from core.config import Settings
from core.lessons.record import Record, new_record
from rooms.fragments.room import Room
from rooms.sessions.document import export
from rooms.sessions.store import open_sessions
from tests.support.cli_process import TOKEN, Command
from tests.support.cli_process import DiscreetRun as Run
from tests.support.cli_process import Run as AnyRun
from tests.support.fragments_room import a_room, all_of
from tests.support.git_clones import path_of, saved
from tests.support.room_samples import make_memory_db
from tests.support.samples import LATER, NOW, a_principle, a_record
from tests.support.session_samples import make_sample_store
from tests.support.tables import ROOT, none_of, table

ROWS = table("commands/import")
BRIDGES = ROOT / "tests/data/bridges"

posix = pytest.mark.skipif(os.name == "nt", reason="pipes and modes of POSIX")


@pytest.fixture
def take(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out one import of a text, as the file `source`."""

    def carry_out(text: str | bytes, *arguments: str) -> Run:
        source = project.parent / "source"
        source.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return Run.of(capsys, "import", str(source), *arguments)

    return carry_out


def lines_of(*records: Record) -> bytes:
    return b"".join(record.to_line() for record in records)


# Markdown.


def read(text: str) -> tuple[list[list[str]], list[str]]:
    """The topics and lessons of a document, and the numbers of the lines that are none."""
    rows, passed = in_markdown(text, NOW)
    return [[it.data["topic"], it.data["lesson"]] for it in rows], [it.place for it in passed]


def test_each_document_gives_its_topics_lessons_and_lines() -> None:
    for ends in ("\n", "\r\n", "\r"):
        text = (BRIDGES / "CLAUDE.md").read_text(encoding="utf-8").replace("\n", ends)
        assert read("\ufeff" + text)[0] == ROWS["the_lessons_of_claude_md"]
    none_of(it for it in ROWS["the_heading_gives_the_topic"] if read(it[0])[0] != [[it[1], "a"]])
    none_of(
        row
        for row in ROWS["what_belongs_to_an_item_is_its_lesson"]
        if [lesson for _, lesson in read(row[0])[0]] != [row[1]]
    )
    none_of(it for it in ROWS["what_is_no_item_is_told_with_its_line"] if read(it[0])[1] != it[1])
    none_of(it for it in ROWS["a_topic_is_short_and_plain"] if topic_of(it[0]) != it[1])


@given(st.text(st.sampled_from("#-*>`~|<!= \n\tab1.[]()@_\\가"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    lessons, passed = read(text)
    assert all(lesson.strip() for _, lesson in lessons)
    assert all(text.split("\n")[int(line) - 1].strip() for line in passed)


# Lessons.


@pytest.mark.parametrize("name", ROWS["sources"])
def test_what_a_source_becomes_is_shown_and_saved(take: Command, project: Path, name: str) -> None:
    lines, shown, lessons = ROWS["sources"][name]
    text = "\n".join(lines).replace("TOKEN", TOKEN).replace("LONG", "가" * 342)
    done = take(text, "--yes")
    assert [line for line in shown if line not in done.lines] == []
    assert [[it.topic, it.lesson] for it in saved(project)] == lessons
    assert TOKEN not in done.out + path_of(project).read_text(encoding="utf-8")
    assert not set(done.out) & set("\x1b\x9b\u202e")


def test_a_log_and_an_older_export_come_without_loss(take: Command, project: Path) -> None:
    log = a_record(ask_next_time="어느 국가?", paths=["src/**"], when=["vat_of(", "a, b"])
    log = replace(log, seen=7, updated=LATER, former=("abcdef",), extra={"room": ["me", 1.5]})
    rule = new_record(a_principle(topic="결제", when=[f"f{at}(x)" for at in range(9)]), now=NOW)
    rule = replace(rule, source_count=3, source_ids=("0123456789abcdef@abcdef",))
    records = [log, replace(rule, meta_extra={"team": "pay"})]
    done = take(lines_of(*records), "--yes")
    assert (done.code, done.errors) == (0, "")
    assert path_of(project).read_bytes() == lines_of(*records)
    path_of(project).unlink()
    rows = [*(record.as_json() for record in records), 3]
    document = {"format": "sentinel-memory-export", "version": 1, "records": rows}
    assert "  not a record: 1 (3)" in take(json.dumps(document, indent=2), "--yes").lines
    assert path_of(project).read_bytes() == lines_of(*records)


def test_records_that_break_a_rule_are_passed_over(take: Command, project: Path) -> None:
    done = take((BRIDGES / "broken.jsonl").read_bytes(), "--yes")
    at = done.lines.index("Left out, with the lines:")
    assert done.lines[at + 1 : at + 9] == ROWS["records_that_break_a_rule"]
    assert saved(project) == [a_record("fine")]


# Files that cannot be imported.


def check_refused(refused: AnyRun, project: Path, said: str) -> None:
    assert (refused.code, refused.out) == (1, "")
    assert refused.errors.startswith(f"{project.parent / 'source'} {said}")
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("name", ROWS["refused"])
def test_what_cannot_be_imported_is_refused_whole(take: Command, project: Path, name: str) -> None:
    text, said = ROWS["refused"][name]
    data = text.replace("MARKER", MARKER).encode("utf-16" if name == "utf-16" else "latin-1")
    check_refused(take(data, "--yes"), project, said)


@pytest.mark.long  # it costs much
def test_what_is_too_large_is_refused_whole_and_a_log_may_be_larger(
    take: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"x" * (MOST_TEXT_BYTES + 1)
    said = "is larger than 5,000,000 bytes and neither an export nor a memory log of this program."
    check_refused(take(text, "--yes"), project, said)
    blank = (b" " * 1_000 + b"\n") * (MOST_TEXT_BYTES // 1_000)
    assert take(lines_of(a_record()) + blank, "--dry-run").code == 0
    monkeypatch.setattr("commands.rooms.sources.MOST_BYTES", 10)
    check_refused(take(text, "--yes"), project, "is larger than 10 bytes. Nothing was saved.")


@pytest.mark.long  # it measures time
def test_twice_as_many_lines_take_about_twice_the_time(take: Command, project: Path) -> None:
    def took(count: int) -> float:
        path_of(project).unlink(missing_ok=True)
        text = "".join(f"- Rule {at} of the shop: check table {at}\n" for at in range(count))
        began = time.process_time()
        assert f"Saved in one write: {count:,}." in take(text, "--yes").out
        return time.process_time() - began

    took(1_000)  # what is loaded with the first
    once, twice = (min(took(count), took(count)) for count in (5_000, 10_000))
    assert twice <= 3 * once


# The other rooms.


@pytest.mark.row("003 T91")
def test_all_rooms_go_into_one_file_and_come_back_from_it(
    project: Path, three: Room, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, sessions = path_of(project).read_bytes(), open_sessions(project, Settings())
    backup, new = project.parent / "backup.jsonl", project.parent / "elsewhere"
    done = command("export", "-o", str(backup))
    assert done.lines == [f"Written: {backup} (Lessons 1, Sessions 2, Fragments 1)."]
    head, *lines = backup.read_text(encoding="utf-8").splitlines()
    assert json.loads(head)["version"] == 2
    new.mkdir()
    monkeypatch.chdir(new)  # of another user
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(new.parent / "new" / "memory.db"))
    done = command("import", str(backup), "--yes")
    saving = "To save: Lessons 1, Sessions 2, Fragments 1."
    assert done.lines[0] == f"{backup}: an export of this program, into {new}. {saving}"
    assert path_of(new).read_bytes() == log
    came = open_sessions(new, Settings())
    for number in ("1", "2"):
        assert came.get(number) == sessions.get(number)
        assert came.actions(came.get(number)) == sessions.actions(sessions.get(number))
    assert all_of(a_room(project.parent / "new")) == all_of(three)
    assert command("import", str(backup), "--yes").lines[-1] == "Nothing to save."
    assert command("export", "--format", "jsonl").out.splitlines()[1:] == lines


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", ["x.json", "x.md", "history.db", "current.json", "."])
def test_each_source_of_sessions_is_recognised_by_what_is_in_it(
    project: Path, command: Command, tmp_path: Path, name: str
) -> None:
    (tmp_path / "other").mkdir()
    other = make_sample_store(tmp_path / "other", 3)
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


@posix
def test_hostile_texts_and_names_stay_in_their_lines(project: Path, command: Command) -> None:
    snapshots = project / ".context-sync" / "snapshots"
    snapshots.mkdir(parents=True)
    work = {"goal": "a\x1b[31m\nb\u202e##vso[x]", "status": "coding"}
    current = json.dumps({"id": "x", "currentWork": work, "updatedAt": "2020-12-20T11:00:00Z"})
    (snapshots.parent / "current.json").write_text(current, encoding="utf-8")
    (snapshots / "x\x1b[0m\n##[error].json").write_text("{", encoding="utf-8")
    out = command("import", ".context-sync", "-n").out
    assert not {"\x1b", "\u202e"} & set(out)
    assert "##vso[" not in out and "##[" not in out
    assert out.count("\n") == 9


ITEM = ("mem-000001", "semantic", f"Use {TOKEN}.", 0.7, "public", "2020-01-02 10:00:00", 1)
LONG = ("mem-000002", "semantic", "x" * 2_000, 0.7, "public", "2020-01-02 10:00:00", 0)


def test_a_memory_db_is_shown_saved_known(tmp_path: Path, project: Path, command: Command) -> None:
    make_memory_db(project / "memory.db", ITEM, LONG)
    dry = command("import", "memory.db", "--dry-run")
    assert dry.lines[0] == "memory.db: Fragments. To save: Fragments 1."
    assert dry.lines[3].endswith("2 Jan 2020  fact  general  * Use [REDACTED].")
    assert "Secrets that are redacted: 1 (github-token 1)." in dry.lines
    assert "  longer than 1,024 bytes; save each as several fragments: 1 (2)" in dry.lines
    assert command("import", "memory.db").code == 1
    assert not a_room(tmp_path / "data").engine.exists()
    done = command("import", "memory.db", "--yes")
    assert done.lines[-2].startswith("Saved: 1.")
    assert "--rooms lessons,fragments`" in done.lines[-1]
    again = command("import", "memory.db", "--yes")
    assert "Already here, by id or by what they say: 1." in again.lines
    assert TOKEN not in dry.out + done.out + again.out
