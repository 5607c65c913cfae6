"""Tests that the documents name the commands and options that there are, and only those."""

import argparse
import re
import shlex

import pytest

import cli
from commands.options import parser_of
from tests.support.documents import DOCUMENTS, blocks, text_of
from tests.support.rows import none_of

COMMANDS = ["docs/commands.md", "docs/commands.ko.md"]
OPTION = r"(?<![\w-])--?[a-zA-Z][\w-]*"
CALL = r"(?:sentinel-memory|(?:python3? )?(?:\S*/)?cli\.py)"
HISTORY = {"CHANGELOG.md"}  # names what there was


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Every spelling of every option."""
    return {name for action in parser._actions for name in action.option_strings}


NAMES = [*dict.fromkeys(name.partition(" ")[0] for name in cli.COMMANDS)]
OPTIONS = {
    command: {
        option
        for name in cli.COMMANDS
        if name.partition(" ")[0] == command
        for option in options_of(parser_of(name, cli.COMMANDS))
    }
    for command in NAMES
}


def names_listed(text: str) -> str:
    return " ".join(re.findall(r"^- (`.+?): ", text, re.M))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_of_all_commands_are_those_of_the_help(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["help"])
    known = set(re.findall(OPTION, re.findall(r"(?:^  -.*\n)+", capsys.readouterr().out, re.M)[-1]))
    assert set(re.findall(OPTION, names_listed(text_of(name).partition("[[[cog")[0]))) == known


def calls(text: str) -> list[tuple[str, str]]:
    """The command and the rest of each call of ours, in blocks and in code within a sentence."""
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    lines = [line for block in blocks(text, "sh") for line in block.splitlines()]
    lines += [line for block in blocks(text, "text") for line in block.splitlines() if "$ " in line]
    found = []
    for span in [*spans, *lines]:
        found += re.findall(rf"(?:^|[\s|]){CALL} ([a-z]+)\b([^|<>&]*)", span)
    return found


def test_every_call_in_a_document_names_a_command_and_options_that_exist() -> None:
    faults = []
    for name in set(DOCUMENTS) - HISTORY:
        for command, rest in calls(text_of(name)):
            action = f"{command} {''.join(rest.split()[:1])}"
            if not {command, action} & cli.COMMANDS.keys():
                faults.append(f"{name}: {action}")
            else:
                unknown = set(re.findall(OPTION, rest)) - OPTIONS[command]
                faults += [f"{name}: {command} {option}" for option in sorted(unknown)]
    none_of(faults)


@pytest.mark.long  # it costs much
def test_every_example_can_be_typed_as_it_is_written() -> None:
    faults = []
    examples = [
        line.split("sentinel-memory ", 1)[1]
        for name in COMMANDS
        for block in blocks(text_of(name), "sh")
        for line in block.splitlines()
    ]
    assert len(examples) > 2 * len(NAMES)
    for example in examples:
        name, words = cli._command_of(shlex.split(example.partition(" < ")[0]))
        try:
            parser_of(name, cli.COMMANDS).parse_args(words)
        except SystemExit:
            faults.append(example)
    none_of(faults)
