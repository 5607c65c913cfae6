"""Tests the help of all commands: both languages, the width of a terminal, examples that run."""

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

import cli
from commands.shell.help import EXAMPLES
from commands.terminal.columns import cells
from core.messages import Language
from core.program import CLI
from tests.support.cli_process import Command, Run
from tests.support.costly import one_in

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
    for name, parser in cli.parsers(*cli.COMMANDS).items():
        yield name, parser
        for action in parser._actions if name else ():
            if isinstance(action, argparse._SubParsersAction):
                yield from ((f"{name} {below}", it) for below, it in action.choices.items())


@pytest.mark.long  # it costs much
def test_every_text_of_help_is_in_the_language_of_the_reader(lang: Language) -> None:
    wrong, seen = [], 0
    for command, parser in all_parsers():
        own = [it for it in parser._actions if not isinstance(it, argparse._SubParsersAction)]
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
            assert cli.parsers(words[0])[""].parse_args(words).command == words[0]


@pytest.mark.parametrize("example", [it for it in EXAMPLES if it != "demo"])
def test_the_examples_of_the_first_page_run(command: Command, example: str) -> None:
    assert command(*example.split()).code == 0


def test_the_first_page_names_every_command_once_in_groups(command: Command) -> None:
    page = command().out
    assert re.findall(r"^  ([a-z]+) ", page, re.M)[: len(cli.COMMANDS)] == list(cli.COMMANDS)
    headings = [line for line in page.splitlines() if re.fullmatch("[A-Z][a-z]+", line)]
    groups = ["Start", "Read", "Change", "History", "Team", "Plumbing"]
    assert headings == [*groups, "Options", "Examples"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("words", [("help",), ("--help",), ("-h",), ("-p", ".", "--help")])
def test_the_first_page_comes_in_every_usual_way(command: Command, words: tuple[str]) -> None:
    assert command(*words) == command() == Run(0, command().out, "")


def test_help_of_a_command_is_its_page(command: Command) -> None:
    assert command("help", "list") == command("list", "--help")
    assert command("help", "topics", "rename") == command("topics", "rename", "--help")
    assert command("help", "help").out.startswith("usage: python cli.py help")


def test_an_action_may_be_left_out_and_has_no_empty_heading(command: Command) -> None:
    page = command("help", "topics").out
    assert page.startswith("usage: python cli.py topics [-h] [-p DIR] [--json] [ACTION ...]\n")
    assert re.search(r"\nactions:\n  rename +rename a topic", page)


@pytest.mark.parametrize("option", one_in(2, ["--version", "-V"]))
def test_the_version_is_that_of_the_server(command: Command, option: str) -> None:
    from server import VERSION

    assert command(option) == Run(0, f"sentinel-memory {VERSION}\n", "")
