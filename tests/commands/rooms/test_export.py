"""Tests the documents that `export` writes, and the parts of files that `import` reads."""

import re
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commands.clients.merge import markers
from commands.rooms.exchange import BLOCK, export_markdown, lesson_lines
from commands.rooms.sources import MARKER, MOST_TEXT_BYTES, lessons_in_markdown, topic_of
from core.config import Settings
from core.lessons.log import MemoryLog
from core.lessons.record import Record, new_record
from core.messages import Language
from core.store import MemoryStore
from core.text.plain import as_heading, printable_text
from rooms.lessons import item_of
from rooms.room import Item
from rooms.sessions.document import export as export_sessions
from rooms.sessions.store import open_sessions
from tests.support.cli_process import TOKEN, Command, DiscreetRun, Run
from tests.support.fragments_room import a_room
from tests.support.git_clones import path_of, saved, write
from tests.support.room_samples import make_memory_db
from tests.support.samples import LATER, NOW, a_principle, a_record
from tests.support.sentences import in_language
from tests.support.session_samples import make_sample_store
from tests.support.tables import ROOT, none_of, table

ROWS = table("commands/export")
SOURCES = table("commands/import")
DATA = ROOT / "tests" / "data" / "bridges"
BEGIN, END = markers(BLOCK)


# The records of the golden files: both languages, both types, and one that is hostile.
SHOP = MemoryLog.parse((DATA / "shop.jsonl").read_bytes()).records


@pytest.fixture
def export(command: Command, project: Path) -> Command:
    """Carries out one export of the records of the golden files."""
    MemoryStore(path_of(project)).add_all(SHOP)
    return partial(command, "export")


@pytest.fixture
def take(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out one import of a text, as the file `source`."""

    def carry_out(text: str | bytes, *arguments: str) -> DiscreetRun:
        source = project.parent / "source"
        source.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return DiscreetRun.of(capsys, "import", str(source), *arguments)

    return carry_out


# Documents.


def document(records: list[Record], project: str = "shop", *, now: str = LATER) -> str:
    items: list[Item] = [*map(item_of, records)]
    return export_markdown(items, project, counts=Counter(item.room for item in items), now=now)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_markdown_document_is_the_golden_one(lang: Language) -> None:
    golden = (DATA / f"export.{lang}.md").read_bytes().decode("utf-8")
    assert in_language(lang, document, SHOP) == golden


# No text of a record becomes markup there.

PIECES = st.sampled_from(
    [
        *table("commands/report_texts")["pieces"],
        *(BEGIN, END, *markers("rules"), MARKER, "\n---\n", "\x0b", "\ud800", "[x](mdc:.env)"),
        *("@./.env", "@~/.ssh/id_rsa", "@/etc/passwd", "@README.md", "@a\\ b.md", "@../x#y"),
        *("](./.env)", "!`id`", "#file:.env", "{{x}}", "$x$", "`<!-- `", "<svg/onload=x>", "==="),
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=30)


def a_hostile(type: str, topic: str, missing: str, lesson: str, ask: str) -> Record:
    record = a_record() if type == "log" else new_record(a_principle(), now=LATER)
    texts: dict[str, Any] = {"missing_context": missing, "created": missing, "id": lesson}
    texts |= {"lesson": lesson, "ask_next_time": ask, "topic": topic.strip()}
    return replace(record, **texts, paths=(ask,), when=(ask, lesson))


A_HOSTILE = st.builds(a_hostile, st.sampled_from(["log", "principle"]), *[TEXTS] * 4)


def parsed(text: str) -> list[str]:
    """The structure of a Markdown document: blocks but for paragraphs, and inline elements."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    structure = []
    for token in reader.parse(text):
        if token.type == "inline":
            inner = (child.type for child in token.children or ())
            structure += [kind for kind in inner if kind not in ("text", "softbreak", "hardbreak")]
        elif token.nesting >= 0 and token.type != "paragraph_open":
            structure.append(f"{token.type} {token.tag}{token.level}")
    return structure


# A name behind a letter or digit is an address; a link, a file and a command have signs before.
ACTIVE = re.compile(r"(?<![^\W_])@[^\s`]|#(?:file|tool):|\]\(|!`")
SPAN = re.compile(r"\\[\\`]|(?<!`)(?P<ticks>`+)(?!`)(?:.*?[^`])(?P=ticks)(?!`)", re.DOTALL)


def without_code(text: str) -> str:
    """The inline text of a document, without its code and comments."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inline = [token.content for token in tokens if token.type == "inline"]
    return "\n".join(SPAN.sub(lambda it: "``" if it["ticks"] else it[0], it) for it in inline)


def everywhere(text: str) -> list[Record]:
    """A record as a person can write it by hand, with this text in every field."""
    record = new_record(a_principle("x"), now=NOW)
    texts: dict[str, Any] = dict.fromkeys(("lesson", "ask_next_time", "missing_context"), text)
    return [replace(record, **texts, topic=text, paths=("src/**", text, f"`{text}`"))]


@pytest.mark.long  # it costs much
@given(st.lists(A_HOSTILE, min_size=1, max_size=4))
@example([a_record("``x`<b>`", lesson="\\`<b>`")])
@example(everywhere("@./.env"))
@example(everywhere("*x*@./.env `a`@./.env _@./.env [@./.env](@./.env)"))
@example(everywhere("`@./.env` !`id` `@./.env`"))
def test_no_text_forges_the_structure_of_a_document_or_names_a_file(found: list[Record]) -> None:
    text = document(found)
    for document_text in (text, document(found, found[0].lesson), "\n".join(lesson_lines(found))):
        assert ACTIVE.findall(without_code(document_text)) == []
    topics = {item_of(record).topic for record in found}
    structure = [kind for kind in parsed(text) if kind not in ("code_inline", "text_special")]
    headings = [kind for kind in structure if kind.startswith("heading_open")]
    assert headings.count("heading_open h30") == len(topics)
    assert len(headings) == len(topics) + 2
    assert structure.count("list_item_open li1") == len(found)
    allowed = ("heading_open", "bullet_list_open", "list_item_open", "strong_")
    assert [kind for kind in structure if not kind.startswith(allowed)] == ["html_block 0"]
    assert text.endswith(f"\n\n{MARKER}\n")


@given(TEXTS.filter(lambda text: "`" not in text))
def test_a_reader_of_the_markdown_sees_the_text(text: str) -> None:
    record = a_record(lesson=text)
    tokens = MarkdownIt("commonmark").parse("\n".join(lesson_lines([record])))
    inline = next((token for token in tokens if token.type == "inline"), None)
    seen = ""
    for child in (inline.children if inline else None) or ():
        seen += "\n" if child.type.endswith("break") else child.content
    lines = (printable_text(line).strip() for line in re.split("\r\n|[\n\r\u2028\u2029]", text))
    assert seen == ("\n".join(line for line in lines if line) or "—")


def test_a_text_is_escaped_no_more_than_needed_and_reads_as_it_was_written() -> None:
    for text, line in ROWS["a_text_is_escaped_no_more_than_needed"]:
        assert (as_heading(text), lesson_lines([a_record(lesson=text)])) == (line, [f"- {line}"])
    text = "Put it into @./.env of me@shop.kr, `@Bean` stays; see #file:a.md, [it](./b), run !`id`"
    [line] = lesson_lines([a_record(lesson=text)])
    line = line.removeprefix("- ")
    assert line == (
        r"Put it into &#64;./.env of me@shop.kr, `@Bean` stays; see &#35;file:a.md,"
        r" \[it\]\(./b), run !\`id\`"
    )
    [_, token, *_] = MarkdownIt("commonmark").parse(line)
    assert "".join(it.content for it in token.children or ()) == text.replace("`@Bean`", "@Bean")
    name = document([], "<b>\n# x\u202e").splitlines()[0]  # of a project
    assert name == r"# Memory of &lt;b> \# x&lt;U+202E>"


# The block.


@pytest.mark.parametrize(("content", "name", "said"), ROWS["files_that_a_block_leaves_alone"])
def test_a_file_that_a_block_would_harm_is_left_alone(
    export: Command, project: Path, content: str, name: str, said: str
) -> None:
    path = project / "AGENTS.md"
    data = content.replace("BEGIN", BEGIN).encode("latin-1")
    path.write_bytes(data)
    done = export("--block", name)
    assert (done.code, done.errors.splitlines()[-1][: len(said)]) == (1, said)
    assert (path.read_bytes(), [*project.glob("*.md")]) == (data, [path])


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("field", ["topic", "lesson", "ask_next_time", "paths"])
def test_no_marker_in_a_record_keeps_a_line(export: Command, project: Path, field: str) -> None:
    records = []
    for at, mark in enumerate((END, BEGIN, f"{END}\n{BEGIN}", f"`{END}`", f"``{END}``", MARKER)):
        record = new_record(a_principle(f"rule {at}", ask_next_time="y"), now=NOW)
        value: Any = (mark,) if field == "paths" else f"{mark} {at}"
        records.append(replace(record, **{field: value}))
    write(project, *records)
    path, before = project / "AGENTS.md", b"# Ours\r\n\r\nlast"
    path.write_bytes(before)
    assert export("--block", "AGENTS.md").code == 0
    once = path.read_bytes()
    assert (once.count(BEGIN.encode()), once.count(END.encode())) == (1, 1)
    assert export("--block", "AGENTS.md").code == 0
    assert path.read_bytes() == once
    assert export("--block", "AGENTS.md", "--remove").code == 0
    assert path.read_bytes() == before


def lines_of(*records: Record) -> bytes:
    return b"".join(record.to_line() for record in records)


# Markdown.


def read(text: str) -> tuple[list[list[str]], list[str]]:
    """The topics and lessons of a document, and the numbers of its skipped lines."""
    rows, passed = lessons_in_markdown(text, NOW)
    return [[row.data["topic"], row.data["lesson"]] for row in rows], [row.place for row in passed]


def test_each_document_gives_its_topics_lessons_and_lines() -> None:
    for ends in ("\n", "\r\n", "\r"):
        text = (DATA / "CLAUDE.md").read_text(encoding="utf-8").replace("\n", ends)
        assert read("\ufeff" + text)[0] == SOURCES["the_lessons_of_claude_md"]
    none_of(it for it in SOURCES["the_heading_gives_the_topic"] if read(it[0])[0] != [[it[1], "a"]])
    none_of(
        row
        for row in SOURCES["the_lines_of_an_item_are_its_lesson"]
        if [lesson for _, lesson in read(row[0])[0]] != [row[1]]
    )
    for text, passed in SOURCES["a_text_that_is_no_item_is_told_with_its_line"]:
        assert read(text)[1] == passed
    none_of(row for row in SOURCES["a_topic_is_short_and_plain"] if topic_of(row[0]) != row[1])


@given(st.text(st.sampled_from("#-*>`~|<!= \n\tab1.[]()@_\\가"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    lessons, passed = read(text)
    assert all(lesson.strip() for _, lesson in lessons)
    assert all(text.split("\n")[int(line) - 1].strip() for line in passed)


# Lessons.


@pytest.mark.parametrize("name", SOURCES["sources"])
def test_a_source_is_shown_and_saved_as_lessons(take: Command, project: Path, name: str) -> None:
    lines, expected_lines, lessons = SOURCES["sources"][name]
    text = "\n".join(lines).replace("TOKEN", TOKEN).replace("LONG", "가" * 342)
    done = take(text, "--yes")
    assert [line for line in expected_lines if line not in done.lines] == []
    assert [[record.topic, record.lesson] for record in saved(project)] == lessons
    assert TOKEN not in done.out + path_of(project).read_text(encoding="utf-8")
    assert not set(done.out) & set("\x1b\x9b\u202e")


def test_records_that_break_a_rule_are_passed_over(take: Command, project: Path) -> None:
    done = take((DATA / "broken.jsonl").read_bytes(), "--yes")
    at = done.lines.index("Left out, with the lines:")
    assert done.lines[at + 1 : at + 9] == SOURCES["records_that_break_a_rule"]
    assert saved(project) == [a_record("fine")]


# Files that cannot be imported.


def check_refused(refused: Run, project: Path, said: str) -> None:
    begins = refused.errors.startswith(f"{project.parent / 'source'} {said}")
    assert (refused.code, refused.out, begins, [*project.iterdir()]) == (1, "", True, [])


@pytest.mark.parametrize("name", SOURCES["refused"])
def test_an_unusable_source_is_refused_whole(take: Command, project: Path, name: str) -> None:
    text, said = SOURCES["refused"][name]
    data = text.replace("MARKER", MARKER).encode("utf-16" if name == "utf-16" else "latin-1")
    check_refused(take(data, "--yes"), project, said)


@pytest.mark.long  # it costs much
def test_a_source_that_is_too_large_is_refused_whole_and_a_log_may_be_larger(
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

    took(1_000)  # the first one loads modules
    once, twice = (min(took(count), took(count)) for count in (5_000, 10_000))
    assert twice <= 3 * once


# The other rooms.


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", ["x.json", "x.md", "history.db", "current.json", "."])
def test_each_source_of_sessions_is_recognised_by_its_content(
    project: Path, command: Command, tmp_path: Path, name: str
) -> None:
    (tmp_path / "other").mkdir()
    other = make_sample_store(tmp_path / "other", 3)
    export_sessions(other, "json", output="x.json")
    export_sessions(other, "markdown", output="x.md")
    assert other.write_current()
    folder = other.root if name.startswith("x.") else other.path.parent
    done = command("import", str(folder / name), "--yes")
    if name == "x.md":
        assert "is an export for people" in done.errors
        return
    count = 1 if name == "current.json" else 3
    assert f"To save: Sessions {count}." in done.lines[0]
    assert open_sessions(project, Settings()).get(str(count)).goal


ITEM = ("mem-000001", "semantic", f"Use {TOKEN}.", 0.7, "public", "2020-01-02 10:00:00", 1)
LONG = ("mem-000002", "semantic", "x" * 2_000, 0.7, "public", "2020-01-02 10:00:00", 0)


def test_a_memory_db_is_shown_saved_known(tmp_path: Path, project: Path, command: Command) -> None:
    make_memory_db(project / "memory.db", ITEM, LONG)
    dry = command("import", "memory.db", "--dry-run")
    assert dry.lines[0] == "memory.db: Fragments. To save: Fragments 1."
    assert dry.lines[3].endswith("  fact  general  * Use [REDACTED].")
    assert "Secrets that are redacted: 1 (github-token 1)." in dry.lines
    assert "  longer than 1,024 bytes; save each as several fragments: 1 (2)" in dry.lines
    assert command("import", "memory.db").code == 1
    assert not a_room(tmp_path / "data").engine.exists()
    done = command("import", "memory.db", "--yes")
    assert done.lines[-2].startswith("Saved: 1.")
    assert "--rooms lessons,fragments`" in done.lines[-1]
    assert "saved 2020-01-02 10:00" in command("show", "mem-000001").out
    repeat = command("import", "memory.db", "--yes")
    assert "Already here, by id or by what they say: 1." in repeat.lines
    assert TOKEN not in dry.out + done.out + repeat.out
