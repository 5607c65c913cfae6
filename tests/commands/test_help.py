"""Tests the help of all commands: both languages, the width of a terminal, examples that run."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import cli
from commands.help import EXAMPLES, FIRST, top_parser
from commands.options import OPTIONS, parser_of
from commands.terminal.screen import cells
from core.messages import Language
from core.program import CLI
from tests.support.cli_process import Command, Run
from tests.support.costly import one_in
from tests.support.desk import Desk
from tests.support.git_clones import write
from tests.support.said import sentences
from tests.support.samples import a_record
from tests.support.tables import table

LANGUAGES: tuple[Language, ...] = ("en", "ko")
HANGUL = re.compile("[가-힣]")
NAMES = list(dict.fromkeys(name.partition(" ")[0] for name in cli.COMMANDS))
VAT = a_record()


@pytest.fixture(params=LANGUAGES)
def lang(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Language:
    language: Language = request.param
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", language)
    monkeypatch.setenv("COLUMNS", "80")
    return language


def all_parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each command and each action with its parser, and the one of the first page."""
    yield "", top_parser(cli.COMMANDS)
    for name in {**dict.fromkeys(NAMES), **cli.COMMANDS}:
        yield name, parser_of(name, cli.COMMANDS)


@pytest.mark.long  # it costs much
def test_every_page_is_in_the_language_of_the_reader_and_within_80_cells(lang: Language) -> None:
    wrong, seen = [], 0
    for command, parser in all_parsers():
        texts = {it.dest: it.help for it in parser._actions if command or it.option_strings}
        if command:
            texts |= {"what it is for": parser.description, "examples": parser.epilog}
        texts |= {"the page": parser.format_help()}
        for name, text in texts.items():
            seen += 1
            if not text or bool(HANGUL.search(text)) != (lang == "ko"):
                wrong.append(f"{command} {name}: {text}")
        lines = parser.format_help().partition("\n\n")[2].splitlines()
        wrong += [f"{command}: {line}" for line in lines if cells(line) > 80]
        below = [line for line in lines if line.startswith(" " * 10)]
        wrong += [f"{command}: {line}" for line in below if len(line.split()) < 2]
    assert wrong == []
    assert seen > 150


@pytest.mark.long  # it costs much
def test_every_example_is_a_command_line_that_is_understood() -> None:
    for command, parser in all_parsers():
        lines = re.findall(rf"^  {re.escape(CLI)} (.+)$", parser.format_help(), re.M)
        assert lines or command not in cli.COMMANDS, command
        for line in lines:
            words = shlex.split(line.partition(" < ")[0])
            assert not command or words[: len(command.split())] == command.split()
            name, rest = cli._command_of(words)
            assert parser_of(name, cli.COMMANDS).parse_args(rest).command == name


def test_every_argument_in_the_table_is_one_that_a_command_takes() -> None:
    rows = cli.COMMANDS.values()
    taken = {name for row in rows for name in re.findall(r"\w+", row.takes)}
    assert taken == {*OPTIONS}


FIXED = "about usage of_command more action actions options examples of_project".split()


def test_every_sentence_of_help_is_said_of_a_command_an_argument_or_the_page() -> None:
    keys = {key.removeprefix("help.") for key in sentences("en") if key.startswith("help.")}
    said = {*FIXED, *OPTIONS, *(row.group for row in cli.COMMANDS.values())}
    for name in {*NAMES, *cli.COMMANDS}:
        key = name.replace(" ", "_")
        said |= {f"about_{key}", key if " " in name else f"cmd_{key}"}
    assert keys - said == set()


@pytest.mark.parametrize("example", [it for it in EXAMPLES if it != "demo"])
def test_the_examples_of_the_first_page_run(command: Command, example: str) -> None:
    assert command(*example.split()).code == 0


def test_the_first_page_names_the_commands_of_a_day_and_help_all_in_groups(
    command: Command,
) -> None:
    page = command().out
    assert re.findall(r"^  ([a-z]+) ", page, re.M)[: len(FIRST)] == [*FIRST]
    assert f"More commands ({len(NAMES) - len(FIRST)}): {CLI} help\n" in page
    page = command("help").out
    assert re.findall(r"^  ([a-z]+) ", page, re.M)[: len(NAMES)] == NAMES
    headings = [line for line in page.splitlines() if re.fullmatch("[A-Z][a-z]+", line)]
    groups = ["Start", "Read", "Change", "History", "Team", "Plumbing"]
    assert headings == [*groups, "Options", "Examples"]


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("-p", ".", "--help")])
def test_the_first_page_comes_in_every_usual_way(command: Command, words: tuple[str]) -> None:
    assert command(*words) == command() == Run(0, command().out, "")


def test_help_of_a_command_or_action_is_its_page(command: Command) -> None:
    assert command("help", "list") == command("list", "--help")
    assert command("help", "topics", "rename") == command("topics", "rename", "--help")
    assert command("help", "help").out.startswith("usage: python cli.py help")
    page = command("help", "topics").out
    assert page.startswith("usage: python cli.py topics [-h] [-p DIR] [--json] [ACTION]\n")
    assert re.search(r"\nactions:\n  rename +rename a topic", page)


@pytest.mark.parametrize("option", one_in(2, ["--version", "-V"]))
def test_the_version_is_that_of_the_server(command: Command, option: str) -> None:
    from server import VERSION

    assert command(option) == Run(0, f"sentinel-memory {VERSION}\n", "")


WRONG = [
    *map(tuple, table("commands/arguments")["wrong"]),
    (f"list --limit {'9' * 5_000}", "--limit: it must be a whole number of 1 or more"),
]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("line", "said"), WRONG)
def test_a_wrong_argument_is_told_with_what_was_meant_and_in_korean_without_argparse(
    command: Command, line: str, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said in (command(*line.split()).refused, None)
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    refused, see = command(*line.split()).errors.splitlines()
    assert HANGUL.search(refused)
    assert see.startswith("아무것도 하지 않았습니다. 쓰는 법: python cli.py help")
    for english in ("argument", "invalid", "expected", "required", "unrecognized", "allowed"):
        assert english not in refused


@pytest.mark.long  # it costs much
def test_at_a_terminal_a_refusal_is_broken_between_words(desk: Desk) -> None:
    done = Run.at_terminal("setup", "curser", **desk.place(COLUMNS="50"))
    assert done.code == 2
    assert done.errors.splitlines()[-1].startswith("Nothing was done.")


@pytest.mark.parametrize(
    "before", [("-p", "shop"), ("-pshop",), ("--project", "shop"), ("--project=shop",), ()]
)
def test_the_project_stands_before_or_behind_the_command(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch, before: tuple[str, ...]
) -> None:
    write(project, VAT)
    monkeypatch.chdir(project.parent)
    found = command(*before, "list", *(() if before else ("-p", "shop")), "--json")
    assert VAT.id in found.out
    assert command("-p", ".", "keys").refused == "There is no option --project."


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("option", [("-p", "{}"), ("--project", "{}"), ("-p{}",)])
@pytest.mark.parametrize("is_before", [True, False])
def test_a_hook_takes_the_project_before_it_and_behind_it(
    desk: Desk, option: tuple[str, ...], is_before: bool
) -> None:
    desk.write(VAT)
    named = [word.format(desk.root) for word in option]
    hook = ["hook", "session-start", "--client", "claude-code"]
    words = [*named, *hook] if is_before else [*hook, *named]
    done = Run.placed(
        *words, cwd=desk.home, environment=desk.environment(), given=b'{"source": "startup"}'
    )
    assert done.code == 0
    assert VAT.lesson in done.out
