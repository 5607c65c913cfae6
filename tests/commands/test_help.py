"""Tests the help of all commands: both languages, the width of a terminal, examples that run."""

import re
import shlex

import pytest

import cli
from commands.options import EXAMPLES, FIRST_COMMANDS, OPTIONS, parser_of, top_parser
from commands.terminal.screen import cells
from core.messages import Language
from core.program import CLI
from tests.support.cli_process import Command, Desk, Run
from tests.support.samples import a_record
from tests.support.sentences import LANGUAGES, sentences

HANGUL = re.compile("[가-힣]")
NAMES = list(dict.fromkeys(name.partition(" ")[0] for name in cli.COMMANDS))
VAT = a_record()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_page_is_in_the_language_of_the_reader_within_80_cells_and_its_examples_are_right(
    lang: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    monkeypatch.setenv("COLUMNS", "80")
    wrong, seen = [], 0
    names = {**dict.fromkeys(NAMES), **cli.COMMANDS}  # each command and each action
    pages = {"": top_parser(cli.COMMANDS)} | {name: parser_of(name, cli.COMMANDS) for name in names}
    for command, parser in pages.items():
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
        examples = re.findall(rf"^  {re.escape(CLI)} (.+)$", parser.format_help(), re.M)
        assert examples or command not in cli.COMMANDS, command
        for line in examples:
            words = shlex.split(line.partition(" < ")[0])
            assert not command or words[: len(command.split())] == command.split()
            name, rest = cli._command_of(words)
            assert parser_of(name, cli.COMMANDS).parse_args(rest).command == name
    assert wrong == []
    assert seen > 150


def test_every_argument_in_the_table_is_one_that_a_command_takes() -> None:
    rows = cli.COMMANDS.values()
    used = {name for row in rows for name in re.findall(r"\w+", row.options)}
    assert used == {*OPTIONS}


FIXED = "about usage of_command more action actions options examples of_project".split()


def test_every_sentence_of_help_is_said_of_a_command_an_argument_or_the_page() -> None:
    keys = {key.removeprefix("help.") for key in sentences("en") if key.startswith("help.")}
    named_keys = {*FIXED, *OPTIONS, *(row.group for row in cli.COMMANDS.values())}
    for name in {*NAMES, *cli.COMMANDS}:
        key = name.replace(" ", "_")
        named_keys |= {f"about_{key}", key if " " in name else f"cmd_{key}"}
    assert keys - named_keys == set()


def test_the_first_page_names_the_daily_commands_and_help_all_in_groups(command: Command) -> None:
    first = command()
    for words in (("--help",), ("-h",), ("-p", ".", "--help")):
        assert command(*words) == first == Run(0, first.out, "")
    assert re.findall(r"^  ([a-z]+) ", first.out, re.M)[: len(FIRST_COMMANDS)] == [*FIRST_COMMANDS]
    assert f"More commands ({len(NAMES) - len(FIRST_COMMANDS)}): {CLI} help\n" in first.out
    for example in EXAMPLES:
        assert example == "demo" or command(*example.split()).code == 0
    page = command("help").out
    assert re.findall(r"^  ([a-z]+) ", page, re.M)[: len(NAMES)] == NAMES
    headings = [line for line in page.splitlines() if re.fullmatch("[A-Z][a-z]+", line)]
    groups = ["Start", "Read", "Change", "History", "Team", "Plumbing"]
    assert headings == [*groups, "Options", "Examples"]


def test_help_of_a_command_or_action_is_its_page(command: Command) -> None:
    from server import VERSION

    assert command("help", "list") == command("list", "--help")
    assert command("help", "topics", "rename") == command("topics", "rename", "--help")
    assert command("help", "help").out.startswith("usage: python cli.py help")
    page = command("help", "topics").out
    assert page.startswith("usage: python cli.py topics [-h] [-p DIR] [--json] [ACTION]\n")
    assert re.search(r"\nactions:\n  rename +rename a topic", page)
    version = command("--version")
    assert version == command("-V") == Run(0, f"sentinel-memory {VERSION}\n", "")


@pytest.mark.long  # it costs much
def test_at_a_terminal_a_refusal_is_broken_between_words(desk: Desk) -> None:
    done = Run.at_terminal("setup", "curser", **desk.place(COLUMNS="50"))
    assert done.code == 2
    assert done.errors.splitlines()[-1].startswith("Nothing was done.")
