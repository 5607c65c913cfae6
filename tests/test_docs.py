"""Tests that the documents fit the program, name things that exist, and have no dead link.

Their calls and commands are played by test_docs_examples.py.
"""

import argparse
import asyncio
import doctest
import json
import pkgutil
import re
import sqlite3
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
from fastmcp import Client

import cli
import server
from commands.clients.table import TOOLS
from commands.options import parser_of
from core.config import LOG_NAME, VARIABLES
from core.data import Rule
from core.lessons.briefing import instructions_for, rules_for
from core.lessons.file import LOCK_SUFFIX, REPLACED_NAME
from core.lessons.record import Draft, Record, parse_line, record_id
from core.parser import add_serving
from core.sanitizer import MARKER
from http_server.limits import MOST_BYTES
from rooms.fragments.fragment import TYPES
from rooms.sessions.rows import schema_statements
from tests.support.documents import DOCUMENTS, blocks, text_of
from tests.support.tables import ROOT, none_of
from tests.support.templates import Example, expand
from tests.weight import product

sys.path.insert(0, str(ROOT / "docs"))

import generated

REFERENCE, RELIABILITY, TEAM = "docs/reference.md", "docs/reliability.md", "docs/team.md"
COMMANDS = ["docs/commands.md", "docs/commands.ko.md"]
OPERATORS = "docs/operators"
PROMISES = "tests/data/promises.toml"
RULES = [".cursorrules", "docs/cursorrules.ko.md"]
LESSONS = set(TOOLS["lessons"])
NOW = [name for name in DOCUMENTS if name != "CHANGELOG.md"]  # that names former things

OPTION = r"(?<![\w-])--?[a-zA-Z][\w-]*"
CALL = r"(?:^|[\s|])(?:sentinel-memory|(?:python3? )?(?:\S*/)?cli\.py) ([a-z]+)\b([^|<>&\n]*)"
VARIABLE = r"[A-Z][A-Z0-9]*_[A-Z0-9_]+|PORT"
# Names of code that are not ours: of nginx, PostgreSQL, SQLite, uvicorn, a client, an example.
OF_OTHERS = {
    *("FORWARDED_ALLOW_IPS", "MEMORY_NAME", "auto_edit", "login_bug_fix_2026", "max_fails"),
    *("max_tokens", "pg_dump", "pg_restore", "pg_wal", "query_only", "remote_addr"),
    *("target_session_attrs", "verify_token_v2", "memory_log"),
    *("server_memory", "other_memory"),  # of other programs, to compare with
}
METRIC = re.compile(r"(?:http|mcp|redis|sentinel)_\w+")  # its name is made of parts


def code_in(text: str) -> list[str]:
    """The code within sentences."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


@cache
def words_of_the_program() -> set[str]:
    """Every word of its source, its data, its packages and its benchmarks."""
    folders = "core", "protocol", "rooms", "http_server", "commands", "benchmarks", "tests/data"
    kinds = ".py", ".json", ".jsonl", ".sql", ".md", ".toml"
    files = [it for name in folders for it in (ROOT / name).rglob("*") if it.suffix in kinds]
    files += [ROOT / name for name in ("server.py", "cli.py", "pyproject.toml")]
    return {word for file in files for word in re.findall(r"\w+", file.read_text("utf-8"))}


@pytest.mark.row("002 2.66.a", "002 2.66.b", "003 T75", "003 T76", "003 T77")
def test_the_facts_of_the_program_are_in_the_documents_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Commands, tools, settings and limits: `python docs/generated.py` writes them."""
    assert generated.run("--check", "--diff") == 0, capsys.readouterr().out


def test_every_name_of_code_in_a_document_is_one_of_the_program() -> None:
    """A parameter, a key, a column, a variable, a path, a function."""
    name_of_code = rf"(?<![\w./-])(?:[a-z]+(?:_[a-z0-9]+)+|{VARIABLE})(?![\w/-])"
    faults = []
    for document in NOW:
        for span in code_in(text_of(document)):
            names = {it for it in re.findall(name_of_code, span) if not it.startswith("test_")}
            unknown = names - words_of_the_program() - OF_OTHERS
            faults += [f"{document}: {it}" for it in unknown if not METRIC.fullmatch(it)]
            path = re.fullmatch(r"(?:core|protocol|rooms|commands|tests|benchmarks)/[\w./-]*", span)
            if path and not (ROOT / span).exists():
                faults.append(f"{document}: {span}")
            dotted = re.fullmatch(r"(?:server|core|protocol|rooms|commands)\.[\w.]+", span)
            if dotted and not span.endswith(".py"):
                try:
                    pkgutil.resolve_name(span)
                except (ImportError, AttributeError) as error:
                    faults.append(f"{document}: {error}")
    none_of(faults)


def test_no_document_takes_a_name_from_an_index_that_is_not_ours() -> None:
    """A stranger could register the name in an index: the documents install a clone."""
    installs = (
        r"(pip|pipx|uv tool) install +(-\S+ +)*['\"]?sentinel-memory\b"
        r"|uvx +(--from +)?['\"]?sentinel-memory"
    )
    none_of(it for it in DOCUMENTS if re.search(installs, text_of(it)))
    assert re.search(installs, "uv tool install --quiet 'sentinel-memory[team]'")


def options_of(command: str) -> set[str]:
    """Every spelling of every option of a command and of its actions."""
    names = [name for name in cli.COMMANDS if name.partition(" ")[0] == command]
    actions = [it for name in names for it in parser_of(name, cli.COMMANDS)._actions]
    return {option for action in actions for option in action.option_strings}


def test_every_call_in_a_document_names_a_command_and_options_that_exist() -> None:
    faults = []
    for document in NOW:
        text = text_of(document)
        lines = [line for block in blocks(text, "sh") for line in block.splitlines()]
        shown = [line for block in blocks(text, "text") for line in block.splitlines()]
        lines += [line for line in shown if "$ " in line]
        for command, rest in re.findall(CALL, "\n".join([*code_in(text), *lines]), re.M):
            action = f"{command} {''.join(rest.split()[:1])}"
            if not {command, action} & cli.COMMANDS.keys():
                faults.append(f"{document}: {action}")
            else:
                unknown = set(re.findall(OPTION, rest)) - options_of(command)
                faults += [f"{document}: {command} {option}" for option in sorted(unknown)]
    none_of(faults)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_of_all_commands_are_those_of_the_help(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["help"])
    [*_, listed] = re.findall(r"(?:^  -.*\n)+", capsys.readouterr().out, re.M)
    told = re.findall(r"^[|-] (`-.+?)(?: \| |: )", text_of(name).partition("[[[cog")[0], re.M)
    assert set(re.findall(OPTION, " ".join(told))) == set(re.findall(OPTION, listed))


def test_an_example_in_a_docstring_is_so() -> None:
    for path in product():
        if ">>> " in path.read_text(encoding="utf-8"):
            module = pkgutil.resolve_name(".".join(path.relative_to(ROOT).with_suffix("").parts))
            assert doctest.testmod(module).failed == 0, path


def test_every_variable_is_told() -> None:
    """Variables of the program stand in the settings, those of a team's server in its document."""
    texts = "".join(path.read_text(encoding="utf-8") for path in product())
    used = set(re.findall(rf'"({VARIABLE})"', texts))
    ours = {it for it in used if it.startswith("SENTINEL_MEMORY_")} - {"SENTINEL_MEMORY_"}
    assert set(generated.WORDS["settings"]) == ours | set(VARIABLES)
    prefixes = ("POSTGRES_", "DB_", "REDIS_", "CACHE_")
    told = {name for span in code_in(text_of(TEAM)) for name in re.findall(VARIABLE, span)}
    assert {it for it in used if it.startswith(prefixes)} <= told
    parser = argparse.ArgumentParser(add_help=False)
    add_serving(parser)
    flags = {option for action in parser._actions for option in action.option_strings}
    named = {option for span in code_in(text_of(TEAM)) for option in re.findall(OPTION, span)}
    assert flags | {"--rooms"} <= named


def section_of_fragments(number: int) -> str:
    text = text_of("docs/fragments.md")
    [part] = re.findall(rf"^## {number}\..*?(?=^## |\Z)", text, re.M | re.S)
    return str(part)


def figure(name: str) -> str:
    """A value of the program, as the table of figures names it and a document writes it."""
    path, *parts = name.split()
    value = pkgutil.resolve_name(path)
    for part in parts:
        if part == "%":
            value *= 100
        else:
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def test_the_figures_of_fragments_are_those_of_the_program() -> None:
    figures = tomllib.loads(text_of("tests/data/doc_figures.toml"))
    for number, names in figures["digits"].items():
        told = set(re.findall(r"\d+(?:[.,]\d+)*", section_of_fragments(number)))
        none_of(f"{number}. {it}" for it in names if figure(it) not in told)
    none_of(name for name, value in figures["words"].items() if figure(name) != str(value))


def test_the_table_of_types_is_that_of_the_program() -> None:
    """Of a fragment: kind, lifetime, importance, and after how many days it leaves."""
    line = r"^- `(\w+)`: (\w+), (\w+), ([\d.]+); (.+)$"
    rows = re.findall(line, section_of_fragments(5), re.M)
    assert [row[0] for row in rows] == list(TYPES)
    for word, kind, lifetime, importance, leaves in rows:
        row = TYPES[word]
        assert (kind, lifetime, importance) == (row.kind, row.lifetime, str(row.importance))
        ends = row.stale_days or row.doubtful_days or (row.hours if row.hours < 72 else 90)
        assert re.findall(r"\d+", leaves) == ([str(ends)] if ends else [])
    assert TYPES["episodic"].hours == 90 * 24


@pytest.mark.row("003 T7")
def test_the_database_of_the_sessions_has_the_indexes_that_other_programs_count_on() -> None:
    wanted = "contexts_parent contexts_status contexts_agent contexts_created"
    wanted += " actions_context actions_type actions_file"
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in schema_statements():
            connection.execute(statement)
        made = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    assert {f"idx_{name}" for name in wanted.split()} <= made


def test_the_files_of_the_memory_are_those_that_the_program_writes() -> None:
    found = re.findall(r"^[|-] `([.\w…-]*memory_log[^`]*|\.git\w+)`", text_of(REFERENCE), re.M)
    own = [LOG_NAME, ".gitattributes", ".gitignore", LOG_NAME + LOCK_SUFFIX, REPLACED_NAME]
    assert found == [*own, "memory_log.removed-….txt"]


def test_the_test_command_of_contributors_is_the_one_that_ci_runs() -> None:
    for name in ("README.md", "docs/CONTRIBUTING.md"):
        for block in blocks(text_of(name), "sh"):
            if "-m pytest" in block and "python3 -m venv" in block:
                assert block.strip() in text_of(".ci/run")


def test_every_configuration_can_be_parsed_and_starts_the_server() -> None:
    text = text_of("docs/clients.md")
    entries = [json.loads(block) for block in blocks(text, "json")]
    entries += [tomllib.loads(block) for block in blocks(text, "toml")]
    assert len(entries) >= 6
    for entry in entries:
        servers = entry.get("mcpServers") or entry.get("servers") or entry["mcp_servers"]
        configured = servers["sentinel-memory"]
        assert configured["args"][0].endswith("/server.py")
        assert configured["args"][1:2] in ([], ["--project"])


@pytest.mark.parametrize("name", ["docs/format.md", "README.md", "docs/README.ko.md"])
def test_a_record_shown_is_one_that_the_program_would_write(name: str) -> None:
    """The record may be one line, or a block of several lines."""
    shown = [it for kind in ("json", "jsonl") for it in blocks(text_of(name), kind)]
    if name == "docs/format.md":
        shown = [it for block in shown for it in block.splitlines() if it.startswith('{"id"')]
        named = {"meta_extra", "extra", *re.findall(r"^ *- `(\w+)`:", text_of(name), re.M)}
        assert {it.name for it in fields(Record)} <= named
    assert shown
    for text in shown:
        line = json.dumps(json.loads(text), ensure_ascii=False).encode()
        record = parse_line(line)
        assert record is not None
        assert record.to_line() == line + b"\n"
        said = {it: getattr(record, it) for it in ("topic", "missing_context", "lesson", "type")}
        assert record.id == record_id(Draft(**said))


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_to_a_file_leads_somewhere() -> None:
    known, faults = dict[Path, set[str]](), []
    for name in DOCUMENTS:
        for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text_of(name)):
            path = (ROOT / name).parent / target if target else ROOT / name
            if "://" in target:
                continue
            if path.suffix == ".md" and path.exists() and path not in known:
                known[path] = anchors(path.read_text("utf-8"))
            if not path.exists() or (anchor and anchor not in known.get(path, ())):
                faults.append(f"{name}: {target}#{anchor}")
    none_of(faults)


@pytest.mark.row("001 1-3.c", "003 T80")
@pytest.mark.parametrize("name", ["server.py", "cli.py"])
def test_the_header_for_uv_names_the_packages_of_requirements_txt(name: str) -> None:
    header = re.findall(r"^# /// script\n(.*?)^# ///$", text_of(name), re.M | re.S)[0]
    parsed = tomllib.loads(re.sub(r"^# ?", "", header, flags=re.M))
    assert parsed["dependencies"] == text_of("requirements.txt").split()
    assert parsed["requires-python"] == ">=3.11"


@pytest.mark.row("001 6.a", "001 6.g")
def test_the_rules_to_copy_by_hand_have_their_eleven_steps_and_are_those_that_setup_writes() -> (
    None
):
    [korean] = blocks(text_of("docs/cursorrules.ko.md"), "text")
    for name, text, short in zip(
        RULES, (text_of(".cursorrules"), korean), (rules_for("en"), rules_for("ko")), strict=True
    ):
        steps = [int(number) for number in re.findall(r"^(\d+)\. ", text_of(name), re.M)]
        assert steps == list(range(1, 12))
        for word in (*LESSONS, "missing_context", "ask_next_time", "source_ids", "delete_ids"):
            assert word in text
        assert "512" in text
        tasks, head, compaction = short.rpartition("\n[")
        assert text.startswith(tasks)
        assert f"{head}{compaction}" in text


def test_a_text_for_models_names_tools_parameters_and_commands_that_exist() -> None:
    """Each of its texts names every tool, as a client may show only one of them."""

    async def listed() -> Iterator[str]:
        async with Client(server.mcp) as client:
            tools = await client.list_tools()
        return (name for tool in tools for name in (tool.name, *tool.input_schema["properties"]))

    known = set(asyncio.run(listed())) | OF_OTHERS
    for text in (instructions_for(), rules_for("en"), rules_for("ko"), *map(text_of, RULES)):
        assert {tool for tool in LESSONS if tool in text} == LESSONS
        assert set(re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b", text)) <= known
        assert set(re.findall(r"cli\.py ([a-z]+)", text)) <= cli.COMMANDS.keys()
    for name in (*NOW, "tests/data/tool_surface.json"):
        calls = re.findall(r"(?:search|log|compact)_memory\(([^)]*)\)", text_of(name))
        assert {it for call in calls for it in re.findall(r"\b([a-z_]{4,})(?==)", call)} <= known


def test_every_test_that_holds_a_promise_or_that_a_document_names_exists() -> None:
    texts = [text_of(name) for name in (PROMISES, *DOCUMENTS)]
    named = {it for text in texts for it in re.findall(r"(test_\w+)\.py::(\w+)", text)}
    files = {file for file, _ in named}
    paths = [path for path in (ROOT / "tests").rglob("test_*.py") if path.stem in files]
    assert sorted(path.stem for path in paths) == sorted(files)
    sources = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    none_of(
        f"{file}.py::{test}"
        for file, test in sorted(named)
        if not re.search(rf"(def|class) {test}\b|^{test} = ", sources[file], re.M)
    )


def test_every_promise_has_its_tests() -> None:
    """`tests/data/promises.toml` names them, by the section and the beginning of the row."""
    told = set()
    for part in re.split(r"^## \d+\. ", text_of(RELIABILITY), flags=re.M)[1:]:
        title = part.partition("\n")[0]
        if title.startswith(("What one line", "Beyond")):
            rows = re.findall(r"^- (.+?)(?:: |$)", part, re.M)
        elif title.startswith(("What is promised", "The databases", "The server")):
            rows = re.findall(r"^- \*\*(.+?)\*\*", part, re.M)
        else:
            rows = []
        told |= {(title, row) for row in rows}
    held = tomllib.loads(text_of(PROMISES))["promise"]
    assert {(it["section"], it["says"]) for it in held} == told
    named = {it.partition(" ")[0] for row in held for it in row["tests"] or [""]}
    none_of(it for it in named if "::" not in it and not (ROOT / it).is_file())


def test_the_row_that_the_recipe_shows_is_a_rule_that_works() -> None:
    lines = re.findall(r"^   (\{.*\})$", text_of("docs/CONTRIBUTING.md"), re.M)
    rule, example = (json.loads(line) for line in lines)
    pattern, it = Rule(**rule).pattern, Example(**example)
    text, expected = expand(it.example)
    assert re.sub(pattern, MARKER, text) == expected
    assert not re.search(pattern, expand(it.lookalike)[0])


def test_the_changelog_begins_with_the_version_that_the_server_reports() -> None:
    versions = re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), re.M)
    released = [version for version in versions if version != "Unreleased"]
    assert released[0] == server.VERSION
    assert versions.index(released[0]) <= 1


def test_the_files_that_operators_copy_name_settings_flags_and_places_that_exist() -> None:
    yaml = pytest.importorskip("yaml", reason="there is no PyYAML here to parse the file with")
    sample, compose = text_of(f"{OPERATORS}/example.env"), text_of(f"{OPERATORS}/compose.yaml")
    names = re.findall(rf"^({VARIABLE})=", sample, re.M)
    assert "SENTINEL_MEMORY_FRAGMENTS" in names
    none_of(it for it in names if it not in words_of_the_program() | OF_OTHERS)
    services_of = yaml.safe_load(compose)["services"]
    assert set(re.findall(r"(?<!\$)\$\{(\w+)\}", compose)) <= set(names)
    servers = [it for it in services_of.values() if it.get("env_file")]
    assert len(servers) == 2
    assert all("/health" in it["healthcheck"]["test"][-1] for it in servers)
    proxied = text_of(f"{OPERATORS}/Caddyfile")
    memories = [service for service in services_of if service.startswith("memory-")]
    assert [service for service in memories if f"{service}:56332" not in proxied] == []
    started = set(re.findall(r"--(?:http|host|url|rooms)\b", text_of(f"{OPERATORS}/Dockerfile")))
    assert started == {"--http", "--host", "--url", "--rooms"}
    [nginx] = blocks(text_of(TEAM), "nginx")
    [mebibytes] = re.findall(r"client_max_body_size (\d+)m;", nginx)
    assert int(mebibytes) * 1024 * 1024 > MOST_BYTES  # so that the sentence is the server's
    assert "X-Forwarded-For $remote_addr;" in nginx and "Host $host;" in nginx


FOLDERS = sorted(it.name for it in ROOT.iterdir() if it.is_dir() and not it.name.startswith("."))
NAMED = re.compile(
    rf"(?<![A-Za-z0-9_./*-])(?:(?:{'|'.join(FOLDERS)})/[A-Za-z0-9_./-]*[A-Za-z0-9_]|(?:server|cli)\.py)"
)


def is_there(path: str) -> bool:
    return any((ROOT / form).exists() for form in (path, f"{path}.py"))


def test_no_record_names_a_file_that_is_not_there() -> None:
    lines = (ROOT / ".context" / "memory_log.jsonl").read_text(encoding="utf-8").splitlines()
    faults = []
    for record in map(json.loads, lines):
        for field in ("missing_context", "lesson", "ask_next_time"):
            named = NAMED.findall(record.get(field, ""))
            faults += [f"{record['id']} {field}: {it}" for it in named if not is_there(it)]
        for glob in record.get("meta", {}).get("paths", ()):
            if not any(ROOT.glob(glob)):
                faults.append(f"{record['id']} paths: {glob}")
    none_of(faults)
