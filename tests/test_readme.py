"""Tests that the README is short, and that what it shows is what the program does."""

import json
import re
from pathlib import Path

import pytest

from commands.clients.table import CLIENTS
from commands.terminal.screen import cells
from core.config import Project, Settings
from core.lessons.record import Draft, Record, parse_line, record_id
from core.store import open_store
from tests.support.client_events import claude_edit, environment_of, run_hook
from tests.support.documents import blocks, text_of
from tests.support.rows import none_of

ENGLISH, KOREAN = "README.md", "docs/README.ko.md"
READMES = [ENGLISH, KOREAN]
MOST_BYTES = {ENGLISH: 10_000, KOREAN: 12_000}
# What a browser shows of a block in a page of some 1,000 pixels, and what reads well of a lesson.
MOST_CELLS, MOST_LESSON_CELLS = 96, 72
IN_KOREAN = "SENTINEL_MEMORY_LANG=ko "


def shown_record(name: str) -> Record:
    [block] = blocks(text_of(name), "json")
    record = parse_line(json.dumps(json.loads(block)).encode())
    assert record is not None
    return record


def packed(text: str) -> str:
    """The text without blanks and line ends, which a README has to set elsewhere."""
    return "".join(text.split())


def typed(name: str) -> list[str]:
    """The commands of a README, without comments and the choice of a language."""
    lines = [line for block in blocks(text_of(name), "sh") for line in block.splitlines()]
    return [line.split(" # ")[0].strip().removeprefix(IN_KOREAN) for line in lines]


@pytest.mark.parametrize("name", READMES)
def test_it_is_short(name: str) -> None:
    assert len(text_of(name).encode()) <= MOST_BYTES[name]


@pytest.mark.parametrize("name", READMES)
def test_no_block_of_the_first_screen_is_wider_than_the_page(name: str) -> None:
    first = "## ".join(text_of(name).split("## ")[:2])  # the introduction, and how to install
    [lesson], [install] = blocks(first, "text"), blocks(first, "sh")
    assert [line for line in lesson.splitlines() if cells(line) > MOST_LESSON_CELLS] == []
    assert [line for line in install.splitlines() if cells(line) > MOST_CELLS] == []


def test_both_editions_have_the_same_parts_and_commands() -> None:
    english, korean = (text_of(name) for name in READMES)
    for pattern in (r"^(#+) ", r"^(\|)", r"^( *- |\d\. )", r"^(```\w*)$", r"(<details>)"):
        assert re.findall(pattern, english, re.M) == re.findall(pattern, korean, re.M), pattern
    assert typed(ENGLISH) == typed(KOREAN)
    assert blocks(english, "powershell") == blocks(korean, "powershell")


@pytest.mark.parametrize("name", READMES)
def test_the_record_is_one_that_the_program_would_write(name: str) -> None:
    [block] = blocks(text_of(name), "json")
    record = shown_record(name)
    assert record.to_line() == json.dumps(json.loads(block), ensure_ascii=False).encode() + b"\n"
    gap, lesson = record.missing_context, record.lesson
    draft = Draft(topic=record.topic, missing_context=gap, lesson=lesson)
    assert record.id == record_id(draft)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("name", "lang"), [(ENGLISH, "en"), (KOREAN, "ko")])
def test_the_lesson_at_an_edit_is_what_a_hook_says(name: str, lang: str, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".context").mkdir(parents=True)
    (project / ".context/memory_log.jsonl").write_bytes(shown_record(name).to_line())
    [edited] = set(re.findall(r"`(migrations/[^`*]+)`", text_of(name)))
    said = run_hook(
        *("before-action", "--client", "claude-code", "--lang", lang),
        given=claude_edit(project, edited, ""),
        cwd=project,
        environment=environment_of(tmp_path / "state"),
    )
    shown = blocks(text_of(name), "text")[0]
    assert packed(shown) == packed(said.text)
    begun = {packed(line)[:20] for line in said.text.splitlines()}
    assert begun <= {packed(line)[:20] for line in shown.splitlines()}


@pytest.mark.parametrize("name", READMES)
def test_the_tree_holds_the_files_that_the_program_makes(name: str, tmp_path: Path) -> None:
    store = open_store(Project(str(tmp_path), "--project"), Settings())
    for lesson in ("the first words", "better words"):
        store.upsert_log(Draft(topic="payment", missing_context="VAT", lesson=lesson))
    tree = blocks(text_of(name), "text")[1]
    named = re.findall(r"── (\S+)", tree)
    assert sorted(named) == sorted(path.name for path in (tmp_path / ".context").iterdir())


@pytest.mark.parametrize("name", READMES)
def test_it_names_every_client(name: str) -> None:
    text = text_of(name)
    introduction, rest = text.split("\n## ", 1)
    none_of(client.name for client in CLIENTS if client.name not in introduction)
    none_of(client.key for client in CLIENTS if f"`{client.key}`" not in rest)
    without = {client.name for client in CLIENTS if not client.hooks and client.key != "copilot"}
    assert without == {"Claude Desktop"}  # as its sentence says


@pytest.mark.parametrize("name", READMES)
def test_each_row_of_the_costs_is_one_that_was_measured(name: str) -> None:
    rows = re.findall(r"^\| .+? \| (.+?) \| (.+?) \| (.+?) \|$", text_of(name), re.M)[1:]
    rows = [row for row in rows if "---" not in row[0]]
    assert len(rows) > 6
    measured = {
        tuple(re.sub(r" \(.*?\)", "", cell) for cell in row)
        for row in re.findall(
            r"^\| .+? \| ([^|]+) \| ([^|]+) \| ([^|]+) \|(?: [^|]+ \|)?$",
            text_of("docs/benchmarks.md"),
            re.M,
        )
    }
    text = "\n".join("\t".join(row) for row in rows)
    plain = text.replace("**", "").replace("없음, 오류", "none, an error").splitlines()
    assert [row for row in plain if tuple(row.split("\t")) not in measured] == []


@pytest.mark.parametrize("name", READMES)
def test_how_often_hooks_are_right_is_as_the_document_on_hooks_has_it(name: str) -> None:
    [line] = [line for line in text_of(name).splitlines() if "651" in line]
    hooks = text_of("docs/hooks.md")
    [every] = re.findall(r"^\| all \| (\d+) % .*?\| (\d+) % .*?\| (\d+) %", hooks, re.M)
    [anchored] = re.findall(r"^\| with `paths` or `when` \| \d+ % \| (\d+) %", hooks, re.M)
    right, found, silent = every
    assert "651 changes" in hooks
    assert re.findall(r"(\d+) ?%", line) == [found, anchored, right, silent]
