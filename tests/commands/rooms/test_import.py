"""Tests what `cli.py import` takes for a lesson, what it passes over, and what it asks first."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.rooms.sources import MARKER, MOST_TEXT_BYTES, in_markdown, topic_of
from core.lessons.record import Draft, Record, new_record
from core.store import MemoryStore
from tests.support.cli_process import TOKEN, Command
from tests.support.cli_process import DiscreetRun as Run
from tests.support.cli_process import Run as AnyRun
from tests.support.costly import one_in
from tests.support.git_clones import path_of, saved
from tests.support.said import sentences
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record
from tests.support.stdio_client import ROOT
from tests.support.tables import table

ROWS = table("commands/import")
DATA = ROOT / "tests" / "data" / "bridges"
SAVED = "Saved in one write: {count}."
LEFT_OUT = "Left out, with the lines:"

posix = pytest.mark.skipif(os.name == "nt", reason="terminals and pipes of POSIX")


@pytest.fixture
def take(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out one import of a text, as the file `source`, through `cli.main`."""

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


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_claude_md_is_read_item_by_item(ends: str) -> None:
    text = (DATA / "CLAUDE.md").read_text(encoding="utf-8")
    assert read("\ufeff" + text.replace("\n", ends))[0] == ROWS["the_lessons_of_claude_md"]


@pytest.mark.parametrize(("text", "topic"), ROWS["the_heading_gives_the_topic"])
def test_the_heading_gives_the_topic(text: str, topic: str) -> None:
    assert read(text)[0] == [[topic, "a"]]


def test_deeper_headings_go_with_the_lesson() -> None:
    text = "# T\n## A\n### B\n#### C\n- x\n### D\n- y\n## E\n- z"
    assert read(text)[0] == [["a", "B: C: x"], ["a", "D: y"], ["e", "z"]]


@pytest.mark.parametrize(("text", "lesson"), ROWS["what_belongs_to_an_item_is_its_lesson"])
def test_what_belongs_to_an_item_is_its_lesson(text: str, lesson: str) -> None:
    assert [it for _, it in read(text)[0]] == [lesson]


@pytest.mark.parametrize(("text", "lines"), ROWS["what_is_no_item_is_told_with_its_line"])
def test_what_is_no_item_is_told_with_its_line(text: str, lines: list[str]) -> None:
    assert read(text)[1] == lines


@pytest.mark.parametrize(("text", "topic"), ROWS["a_topic_is_short_and_plain"])
def test_a_topic_is_short_and_plain(text: str, topic: str) -> None:
    assert topic_of(text) == topic


@given(st.text(st.sampled_from("#-*>`~|<!= \n\tab1.[]()@_\\가"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    lessons, passed = read(text)
    assert all(lesson.strip() for _, lesson in lessons)
    assert all(text.split("\n")[int(line) - 1].strip() for line in passed)


# Saving.


def test_a_list_becomes_principles_in_one_write(take: Command, project: Path) -> None:
    done = take("## Code\n- Use tabs\n- 함수는 짧게\n", "--yes")
    assert done.lines[:4] == [
        f"{project.parent / 'source'}: a Markdown list, into {project}. To save: Lessons 2.",
        "A statement gives a rule but not what was missing, so it is saved as a principle.",
        "",
        "  id        day     kind       topic  text",
    ]
    assert done.lines[-1] == SAVED.format(count=2)
    records = saved(project)
    drafts = [
        Draft(topic="code", lesson=it, type="principle") for it in ("Use tabs", "함수는 짧게")
    ]
    assert records == [new_record(it, now=records[0].created) for it in drafts]
    assert take("## Code\n- Use tabs\n- 함수는 짧게\n", "--yes").lines[-1] == "Nothing to save."


@pytest.mark.parametrize("name", ROWS["sources"])
def test_what_a_source_becomes_is_shown_and_saved(take: Command, project: Path, name: str) -> None:
    lines, shown, lessons = ROWS["sources"][name]
    text = "\n".join(lines).replace("TOKEN", TOKEN).replace("LONG", "가" * 342)
    done = take(text, "--yes")
    assert [line for line in shown if line not in done.lines] == []
    assert [[it.topic, it.lesson] for it in saved(project)] == lessons
    assert TOKEN not in done.out + path_of(project).read_text(encoding="utf-8")
    assert not set(done.out) & set("\x1b\x9b\u202e")


@pytest.mark.long  # it costs much
@posix
@pytest.mark.parametrize(
    ("answer", "code", "count"), one_in(2, [("예\n", 0, 1), ("\n", 1, 0)], names=3)
)
def test_somebody_at_a_terminal_is_asked(project: Path, answer: str, code: int, count: int) -> None:
    (project / "rules.md").write_bytes(b"- one\n")
    done = Run.at_terminal("import", "rules.md", answer=answer)
    assert (done.code, len(saved(project))) == (code, count)
    assert "\nSave? [y/N] " in done.out
    assert (SAVED.format(count=1) in done.out) == bool(count)


@pytest.mark.long  # it costs much
def test_standard_input_can_be_imported(project: Path) -> None:
    refused = Run.started("import", "-", given="- 하나\n".encode())
    assert refused.code == 1
    assert refused.errors.startswith("Nothing was saved: there is no terminal to confirm on.")
    assert Run.started("import", "-", "--yes", given="- 하나\n".encode()).code == 0
    assert [record.lesson for record in saved(project)] == ["하나"]


def test_a_strict_memory_refuses_a_secret(
    take: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_STRICT", "1")
    done = take(f"- {TOKEN}\n- fine", "--yes")
    why = "lesson seems to contain a secret (github-token), and SENTINEL_MEMORY_STRICT refuses"
    assert any(line.startswith(f"  {why}") for line in done.lines)
    assert [record.lesson for record in saved(project)] == ["fine"]


def test_a_similar_topic_is_named_and_the_same_one_is_used(take: Command, project: Path) -> None:
    store = MemoryStore(path_of(project))
    store.upsert_log(a_draft(topic="Payment"))
    store.upsert_log(a_draft(topic="auth"))
    done = take("## payment\n- one\n## Auth login\n- two", "--yes")
    said = "[auth-login] is a new topic, similar to: auth. --topic T puts all lessons into one."
    assert said in done.lines
    assert [record.topic for record in saved(project)[2:]] == ["Payment", "auth-login"]


def test_one_topic_can_be_named_for_all(take: Command, project: Path) -> None:
    take("## A\n- one\n## B\n- two", "--yes", "--topic", " 규칙 ")
    assert [record.topic for record in saved(project)] == ["규칙", "규칙"]
    take(lines_of(*full_log()), "--yes", "--topic", "new")
    assert [(it.topic, it.former) for it in saved(project)[2:]] == [("new", ()), ("new", ())]
    assert saved(project)[2].id == a_record(topic="new").id


@pytest.mark.parametrize(("arguments", "said"), ROWS["wrong_arguments_are_refused"])
def test_wrong_arguments_are_refused(
    take: Command, project: Path, arguments: list[str], said: str
) -> None:
    refused = take("- one", *arguments)
    assert (refused.code, refused.out, said in refused.errors) == (2, "", True)
    assert list(project.iterdir()) == []


# Our own records; what becomes of each is held by the tests of the store.


def full_log() -> list[Record]:
    """Records with everything that one can have."""
    log = a_record(ask_next_time="어느 국가?", paths=["src/**"], when=["vat_of(", "a, b"])
    log = replace(log, seen=7, updated=LATER, former=("abcdef",), extra={"room": ["me", 1.5]})
    rule = new_record(a_principle(topic="결제", when=[f"f{at}(x)" for at in range(9)]), now=NOW)
    rule = replace(rule, source_count=3, source_ids=("0123456789abcdef@abcdef",))
    return [log, replace(rule, meta_extra={"team": "pay"})]


def test_a_log_comes_without_loss(take: Command, project: Path) -> None:
    done = take(lines_of(*full_log()), "--yes")
    assert (done.code, done.errors) == (0, "")
    assert path_of(project).read_bytes() == lines_of(*full_log())


def test_an_export_of_an_older_version_comes_without_loss(take: Command, project: Path) -> None:
    records = [record.as_json() for record in full_log()]
    document = {"format": "sentinel-memory-export", "version": 1, "records": [*records, 3]}
    assert "  not a record: 1 (3)" in take(json.dumps(document, indent=2), "--yes").lines
    assert path_of(project).read_bytes() == lines_of(*full_log())


def test_a_log_of_another_project_is_merged_and_ours_stays(take: Command, project: Path) -> None:
    store = MemoryStore(path_of(project))
    mine = store.upsert_log(a_draft("one", lesson="mine")).record
    hidden = store.upsert_log(a_draft("three")).record
    rule = replace(new_record(a_principle(), now=LATER), source_ids=(hidden.token,))
    theirs = [a_record("one", lesson="theirs"), a_record("two"), rule]
    done = take(b"a note\n" + lines_of(*theirs), "--yes")
    assert f"a memory log, into {project}. To save: Lessons 3." in done.lines[0]
    at = done.lines.index(LEFT_OUT)
    assert done.lines[at - 4 : at + 2] == [
        "The memory has the gap of these in other words; both are shown until you save it again:"
        " 1.",
        "An imported principle or a later version replaces records of the memory: 1. They are no"
        " longer shown, and the next save removes their lines:",
        f"  {hidden.token} [payment] check the tax table first",
        "",
        LEFT_OUT,
        "  not a record: 1 (1)",
    ]
    assert saved(project) == [mine, *theirs]


def test_what_another_memory_has_kept_stays_beside_its_own_log(
    command: Command, project: Path
) -> None:
    other = MemoryStore(path_of(project.parent / "other"))
    originals = [other.upsert_log(a_draft(gap)).record for gap in ("one", "two")]
    other.upsert_log(a_principle(), [record.token for record in originals])
    assert SAVED.format(count=1) in command("import", str(other.path), "--yes").lines
    assert not MemoryStore(path_of(project)).read_replaced()
    assert len(other.read_replaced()) == 2


def test_records_that_break_a_rule_are_passed_over_with_a_sentence(
    take: Command, project: Path
) -> None:
    broken = [
        replace(a_record("a"), lesson=" "),
        replace(a_record("b"), paths=("/etc",)),
        replace(a_record("c"), lesson="\ud800"),
        replace(a_record("d"), paths=("!x",)),
        replace(a_record("e"), paths=("{a,b}{c,d}{e,f}{g,h}{i,j}",)),
        replace(a_record("f"), when=("call(", "x")),
        replace(a_record("g"), when=("one\ntwo",)),
        replace(a_record("h"), when=("x" * 200,)),
    ]
    done = take(lines_of(*broken, a_record("fine")), "--yes")
    at = done.lines.index(LEFT_OUT)
    assert done.lines[at + 1 : at + 9] == ROWS["records_that_break_a_rule"]
    assert saved(project) == [a_record("fine")]
    assert "import.passed_secret_refused" in sentences("en")


# Files that cannot be imported.


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


def check_refused(refused: AnyRun, project: Path, said: str) -> None:
    assert (refused.code, refused.out) == (1, "")
    assert refused.errors.startswith(f"{project.parent / 'source'} {said}")
    assert list(project.iterdir()) == []


@posix
def test_what_is_no_file_is_not_waited_for_and_no_link_leads_out(
    project: Path, command: Command
) -> None:
    os.mkfifo(project / "pipe")
    (project / ".git").mkdir()
    (project.parent / "far.md").write_text("- one\n", encoding="utf-8")
    (project / "near.md").symlink_to(project.parent / "far.md")
    for name, said in {
        "nope": "nope cannot be read (No such file or directory). Nothing was saved.",
        ".": ". is not a regular file. Nothing was saved. Name a file, or - for standard input.",
        "pipe": "pipe is not a regular file.",
        "near.md": "near.md leaves the project through the link",
    }.items():
        done = command("import", name, "--yes")
        assert (done.code, done.out, done.errors[: len(said)]) == (1, "", said)
