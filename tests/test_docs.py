"""Tests that the documents say what the program does: names, limits, commands and links."""

import asyncio
import json
import pkgutil
import re
import sys
import tomllib

import pytest
from fastmcp import Client

import cli
import server
from core.config import LOG_NAME, VARIABLES
from core.data import Rule
from core.lessons.file import LOCK_SUFFIX, REPLACED_NAME
from core.lessons.record import (
    ID_DIGITS,
    Draft,
    parse_line,
    record_id,
)
from core.lessons.rules import instructions, rules
from core.sanitizer import MARKER
from tests.support.documents import DOCUMENTS, blocks, text_of
from tests.support.rows import none_of
from tests.support.stdio_client import ROOT
from tests.support.templates import Example, expand

sys.path.insert(0, str(ROOT / "docs"))

import generated

SOURCES = [
    path
    for room in ("core", "protocol", "rooms", "http_server", "commands")
    for path in ROOT.glob(f"{room}/**/*.py")
]
REFERENCE, CLIENTS, RELIABILITY, CONTRIBUTING = (
    f"docs/{name}.md" for name in ("reference", "clients", "reliability", "CONTRIBUTING")
)
PROMISES = "tests/data/promises.toml"
RULES = [".cursorrules", "docs/cursorrules.ko.md"]
TEXTS = [*DOCUMENTS, "core/messages.py"]
TOOLS = {"search_memory", "log_memory", "compact_memory"}


def parameters() -> dict[str, list[str]]:
    async def listed() -> dict[str, list[str]]:
        async with Client(server.mcp) as client:
            tools = await client.list_tools()
            return {tool.name: list(tool.input_schema["properties"]) for tool in tools}

    return asyncio.run(listed())


@pytest.mark.row("002 2.66.a", "002 2.66.b", "003 T75", "003 T76", "003 T77")
def test_what_the_program_knows_is_in_the_documents_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Commands, tools, settings and limits: `python docs/generated.py` writes them."""
    assert generated.run("--check", "--diff") == 0, capsys.readouterr().out


@pytest.mark.long  # it costs much
def test_no_text_names_a_tool_or_an_argument_that_does_not_exist() -> None:
    known = {argument for arguments in parameters().values() for argument in arguments}
    # The logger, keys of sentences, a schema of PostgreSQL.
    others = {"sentinel_memory", "other_memory", "server_memory", "agent_memory"}
    faults = []
    ours = ("core/data/instructions.md", "core/data/rules.en.md", "core/data/rules.ko.md")
    for name in [*TEXTS, "tests/data/tool_surface.json", *ours]:
        text = text_of(name).replace("\\n", "\n")  # a line end in JSON
        words = {it for it in re.findall(r"\b\w+_memory\b", text) if not it.startswith("test_")}
        calls = re.findall(r"(?:search|log|compact)_memory\(([^)]*)\)", text)
        named = {it for call in calls for it in re.findall(r"\b([a-z_]{4,})(?==)", call)}
        faults += [f"{name}: {it}" for it in (words - TOOLS - others) | (named - known)]
    none_of(faults)


def test_the_table_of_settings_holds_every_variable() -> None:
    used = set()
    for path in [*SOURCES, ROOT / "server.py"]:
        found = re.findall(r"\"(SENTINEL_MEMORY_[A-Z_]+)\"", path.read_text(encoding="utf-8"))
        used |= set(found) - {"SENTINEL_MEMORY_"}
    assert set(generated.WORDS["settings"]) == used | set(VARIABLES)


def test_the_files_of_the_memory_are_those_that_the_program_writes() -> None:
    rows = re.findall(r"^\| `([.\w…-]*memory_log[^`]*|\.git\w+)` \|", text_of(REFERENCE), re.M)
    own = [LOG_NAME, ".gitattributes", ".gitignore", LOG_NAME + LOCK_SUFFIX, REPLACED_NAME]
    assert rows == [*own, "memory_log.removed-….txt"]


def test_the_test_command_of_the_readme_is_the_one_that_ci_runs() -> None:
    [command] = [
        block.strip()
        for block in blocks(text_of("README.md"), "sh")
        if "-m pytest" in block and "venv" in block
    ]
    assert command in text_of(".ci/run")


def test_every_configuration_can_be_parsed_and_starts_the_server() -> None:
    text = text_of(CLIENTS)
    entries = [json.loads(block) for block in blocks(text, "json")]
    entries += [tomllib.loads(block) for block in blocks(text, "toml")]
    assert len(entries) >= 7
    for entry in entries:
        servers = entry.get("mcpServers") or entry.get("servers") or entry["mcp_servers"]
        configured = servers["sentinel-memory"]
        assert configured["args"][0].endswith("/server.py")
        assert configured["args"][1:2] in ([], ["--project"])


@pytest.mark.parametrize("name", [REFERENCE, "docs/format.md"])
def test_a_record_shown_is_one_that_the_program_would_write(name: str) -> None:
    shown = [
        line
        for block in [*blocks(text_of(name), "json"), *blocks(text_of(name), "jsonl")]
        for line in block.splitlines()
        if line.startswith('{"id"')
    ]
    assert shown
    for line in shown:
        record = parse_line(line.encode())
        assert record is not None
        assert record.to_line().decode() == line + "\n"
        draft = Draft(
            topic=record.topic,
            missing_context=record.missing_context,
            lesson=record.lesson,
            type=record.type,
        )
        assert record.id == record_id(draft)
        assert len(record.id) == ID_DIGITS


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.long  # it costs much
def test_every_link_to_a_file_leads_somewhere() -> None:
    faults = []
    for name in DOCUMENTS:
        for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text_of(name)):
            path = (ROOT / name).parent / target if target else ROOT / name
            if "://" in target:
                continue
            if not path.exists() or (anchor and anchor not in anchors(path.read_text("utf-8"))):
                faults.append(f"{name}: {target}#{anchor}")
    none_of(faults)


@pytest.mark.row("001 1-3.c", "003 T80")
@pytest.mark.parametrize("name", ["server.py", "cli.py"])
def test_the_header_for_uv_names_the_packages_of_requirements_txt(name: str) -> None:
    header = re.findall(r"^# /// script\n(.*?)^# ///$", text_of(name), re.M | re.S)[0]
    parsed = tomllib.loads(re.sub(r"^# ?", "", header, flags=re.M))
    assert parsed["dependencies"] == text_of("requirements.txt").split()
    assert parsed["requires-python"] == ">=3.11"


@pytest.mark.row("001 6.a")
@pytest.mark.parametrize("name", RULES)
def test_the_rules_have_their_eleven_steps(name: str) -> None:
    steps = [int(number) for number in re.findall(r"^(\d+)\. ", text_of(name), re.M)]
    assert steps == list(range(1, 12))
    for word in (*TOOLS, "missing_context", "ask_next_time", "source_ids", "delete_ids", "512"):
        assert word in text_of(name)


@pytest.mark.row("001 6.a", "001 6.g")
def test_the_files_to_copy_by_hand_hold_the_rules_that_setup_writes() -> None:
    [korean] = blocks(text_of("docs/cursorrules.ko.md"), "text")
    for text, short in ((text_of(".cursorrules"), rules("en")), (korean, rules("ko"))):
        tasks, section, compaction = short.rpartition("\n[")
        assert text.startswith(tasks)
        assert f"{section}{compaction}" in text


@pytest.mark.parametrize("text", [instructions(), *map(text_of, RULES)], ids=["the server", *RULES])
def test_every_tool_and_parameter_that_the_workflow_names_exists(text: str) -> None:
    known = TOOLS | {name for names in parameters().values() for name in names}
    examples = {"login_bug_fix_2026", "verify_token_v2", "memory_log"}
    assert set(re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", text)) - examples <= known
    assert set(re.findall(r"cli\.py ([a-z]+)", text)) <= cli.COMMANDS.keys()


@pytest.mark.parametrize("text", [instructions(), rules("en"), rules("ko")])
def test_instructions_and_rules_each_name_every_tool(text: str) -> None:
    assert {tool for tool in TOOLS if tool in text} == TOOLS  # a client may show only one of them


def named_tests(text: str) -> list[tuple[str, str]]:
    return re.findall(r"(test_\w+)\.py::(\w+)", text)


def test_every_test_that_holds_a_promise_or_that_a_document_names_exists() -> None:
    named = {it for name in (PROMISES, *DOCUMENTS) for it in named_tests(text_of(name))}
    files = {file for file, _ in named}
    paths = [path for path in (ROOT / "tests").rglob("test_*.py") if path.stem in files]
    assert sorted(path.stem for path in paths) == sorted(files)
    sources = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    none_of(
        f"{file}.py::{test}"
        for file, test in sorted(named)
        if not re.search(rf"(def|class) {test}\b|^{test} = ", sources[file], re.M)
    )


def test_every_room_file_and_function_that_a_document_names_exists() -> None:
    faults = []
    for name in DOCUMENTS:
        text = text_of(name)
        paths = re.findall(r"`((?:core|protocol|rooms|commands|tests|benchmarks)/[\w./-]*)`", text)
        faults += [f"{name}: {path}" for path in paths if not (ROOT / path).exists()]
        dotted = re.findall(r"`((?:server|core|protocol|rooms|commands)\.[\w.]+)`", text)
        for function in {named for named in dotted if not named.endswith(".py")}:
            try:
                pkgutil.resolve_name(function)
            except (ImportError, AttributeError) as error:
                faults.append(f"{name}: {error}")
    none_of(faults)


def test_the_row_that_the_recipe_shows_is_a_rule_that_works() -> None:
    lines = re.findall(r"^   (\{.*\})$", text_of(CONTRIBUTING), re.M)
    rule, example = (json.loads(line) for line in lines)
    pattern, it = Rule(**rule).pattern, Example(**example)
    text, expected = expand(it.example)
    assert re.sub(pattern, MARKER, text) == expected
    assert not re.search(pattern, expand(it.lookalike)[0])


def test_every_promise_has_its_tests() -> None:
    """`tests/data/promises.toml` names them, by the section and the beginning of the row."""
    told = set()
    for part in re.split(r"^## \d+\. ", text_of(RELIABILITY), flags=re.M)[1:]:
        section = part.partition("\n")[0]
        for row in re.findall(r"^\| (.+?) \|", part, re.M):
            bold = re.match(r"\*\*(.+?)\*\*", row)
            if bold or section.startswith(("What one line", "Beyond")):
                told.add((section, bold[1] if bold else row))
    told = {row for row in told if row[1] not in ("Key", "Promise", "---")}
    held = tomllib.loads(text_of(PROMISES))["promise"]
    assert {(it["section"], it["says"]) for it in held} == told
    named = (" ".join(it["tests"]) for it in held)
    assert all(re.search(r"::|stories/|benchmarks/", tests) for tests in named)


def test_the_changelog_begins_with_the_version_that_the_server_reports() -> None:
    versions = re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), re.M)
    released = [version for version in versions if version != "Unreleased"]
    assert released[0] == server.VERSION
    assert versions.index(released[0]) <= 1
