"""Tests the help of all commands: both languages, the width of a terminal, examples that run."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import cli
from commands.help import EXAMPLES, FIRST, top_parser
from commands.options import parser_of
from commands.terminal.screen import cells
from core.lessons.record import Record
from core.messages import Language
from core.program import CLI
from tests.support.cli_process import Command, Run
from tests.support.costly import one_in
from tests.support.desk import Desk
from tests.support.git_clones import write
from tests.support.samples import a_record
from tests.support.tables import table

LANGUAGES: tuple[Language, ...] = ("en", "ko")
HANGUL = re.compile("[가-힣]")


@pytest.fixture(params=LANGUAGES)
def lang(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Language:
    language: Language = request.param
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", language)
    monkeypatch.setenv("COLUMNS", "80")
    return language


def all_parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each command, and each action of a command, with its parser."""
    yield "", top_parser(cli.COMMANDS)
    for name in cli.COMMANDS:
        parser = parser_of(name, cli.COMMANDS)
        yield name, parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from ((f"{name} {below}", it) for below, it in action.choices.items())


@pytest.mark.long  # it costs much
def test_every_text_of_help_is_in_the_language_of_the_reader(lang: Language) -> None:
    wrong, seen = [], 0
    for command, parser in all_parsers():
        own = [it for it in parser._actions if not isinstance(it, argparse._SubParsersAction)]
        own = [it for it in own if command or it.option_strings]
        texts = {action.dest: action.help for action in own}
        if command:
            texts |= {"what it is for": parser.description, "examples": parser.epilog}
        texts |= {"the page": parser.format_help()}
        for name, text in texts.items():
            seen += 1
            if not text or bool(HANGUL.search(text)) != (lang == "ko"):
                wrong.append(f"{command} {name}: {text}")
    assert wrong == []
    assert seen > 150


@pytest.mark.long  # it costs much
def test_no_page_is_wider_than_80_cells_or_leaves_a_word_alone(lang: Language) -> None:
    wrong = []
    for command, parser in all_parsers():
        lines = parser.format_help().partition("\n\n")[2].splitlines()
        wrong += [f"{command}: {line}" for line in lines if cells(line) > 80]
        below = [line for line in lines if line.startswith(" " * 10)]
        wrong += [f"{command}: {line}" for line in below if len(line.split()) < 2]
    assert wrong == []


@pytest.mark.long  # it costs much
def test_every_example_is_a_command_line_that_is_understood() -> None:
    for command, parser in all_parsers():
        lines = re.findall(rf"^  {re.escape(CLI)} (.+)$", parser.format_help(), re.M)
        assert len(lines) in ((3,) if not command else (1, 2)), command
        for line in lines:
            words = shlex.split(line.partition(" < ")[0])
            assert not command or words[: len(command.split())] == command.split()
            name, rest = cli._command_of(words)
            assert parser_of(name, cli.COMMANDS).parse_args(rest).command == name


@pytest.mark.parametrize("example", [it for it in EXAMPLES if it != "demo"])
def test_the_examples_of_the_first_page_run(command: Command, example: str) -> None:
    assert command(*example.split()).code == 0


def test_the_first_page_names_the_commands_of_a_day_and_where_the_others_are(
    command: Command,
) -> None:
    page = command().out
    assert re.findall(r"^  ([a-z]+) ", page, re.M)[: len(FIRST)] == [*FIRST]
    names = {name.partition(" ")[0] for name in cli.COMMANDS}
    assert f"More commands ({len(names - {*FIRST})}): {CLI} help\n" in page


def test_help_names_every_command_once_in_groups(command: Command) -> None:
    page = command("help").out
    names = [name for name in cli.COMMANDS if " " not in name]
    assert re.findall(r"^  ([a-z]+) ", page, re.M)[: len(names)] == names
    headings = [line for line in page.splitlines() if re.fullmatch("[A-Z][a-z]+", line)]
    groups = ["Start", "Read", "Change", "History", "Team", "Plumbing"]
    assert headings == [*groups, "Options", "Examples"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("words", [("--help",), ("-h",), ("-p", ".", "--help")])
def test_the_first_page_comes_in_every_usual_way(command: Command, words: tuple[str]) -> None:
    assert command(*words) == command() == Run(0, command().out, "")


def test_help_of_a_command_is_its_page(command: Command) -> None:
    assert command("help", "list") == command("list", "--help")
    assert command("help", "topics", "rename") == command("topics", "rename", "--help")
    assert command("help", "help").out.startswith("usage: python cli.py help")


def test_an_action_may_be_left_out_and_has_no_empty_heading(command: Command) -> None:
    page = command("help", "topics").out
    assert page.startswith("usage: python cli.py topics [-h] [-p DIR] [--json] [ACTION]\n")
    assert re.search(r"\nactions:\n  rename +rename a topic", page)


@pytest.mark.parametrize("option", one_in(2, ["--version", "-V"]))
def test_the_version_is_that_of_the_server(command: Command, option: str) -> None:
    from server import VERSION

    assert command(option) == Run(0, f"sentinel-memory {VERSION}\n", "")


VAT: Record = a_record()
WRONG = [
    *map(tuple, table("commands/arguments")["wrong"]),
    (f"list --limit {'9' * 5_000}", "--limit: it must be a whole number of 1 or more"),
]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("line", "said"), WRONG)
def test_a_wrong_argument_is_told_with_what_was_meant(
    command: Command, line: str, said: str | None
) -> None:
    refused = command(*line.split()).refused
    assert said in (refused, None)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("line", one_in(3, [line for line, _ in WRONG]))
def test_in_korean_no_word_of_argparse_is_left(
    command: Command, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    refused, see = command(*line.split()).errors.splitlines()
    assert any("가" <= char <= "힣" for char in refused)
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
    assert [it["id"] for it in found.told["records"]] == [VAT.id]


def test_a_command_without_a_project_does_not_take_one(command: Command) -> None:
    assert command("-p", ".", "demo").refused == "There is no option -p."


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
