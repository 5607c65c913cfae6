"""Writes the part of docs/commands.md that the table of commands makes, in both languages.

`python -m tests.support.command_pages` does it; a test finds a document that is another one.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cli
from commands.options import about_of, explain, parser_of
from core import program
from core.messages import Language, language, speaking
from tests.support.stdio_client import ROOT

PROGRAM = program.CLI  # as it was when the commands were imported
BEGIN = "<!-- Written by: python -m tests.support.command_pages -->\n"
END = "<!-- End of what it writes -->\n"
PAGES: dict[Language, Path] = {"en": ROOT / "docs/commands.md", "ko": ROOT / "docs/commands.ko.md"}
HEADS = {"en": ("Option", "What it does"), "ko": ("옵션", "하는 일")}
MORE = {"en": "More", "ko": "더 보기"}
# The document that says more of a command.
DOCUMENTS = {
    "setup": "clients",
    "doctor": "troubleshooting",
    "sessions": "sessions",
    "fragments": "fragments",
    "import": "reference",
    "export": "reference",
    "report": "ci",
    "scan": "SECURITY",
    "hook": "hooks",
}


def page(spoken: Language) -> str:
    """The whole document, with what the table makes of today."""
    head, _, rest = PAGES[spoken].read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    with pytest.MonkeyPatch.context() as patch, speaking(spoken):
        patch.setattr(program, "CLI", program.NAME)
        return "\n".join([head + BEGIN, *_groups(), END + tail])


def _groups() -> Iterator[str]:
    groups = list(dict.fromkeys(row.group for row in cli.COMMANDS.values()))
    for number, group in enumerate(groups, 1):
        yield f"## {number}. {explain(group)}\n"
        names = [name for name, row in cli.COMMANDS.items() if row.group == group]
        for name in dict.fromkeys(name.partition(" ")[0] for name in names):
            yield from _command(name)


def _command(name: str) -> Iterator[str]:
    actions = [other for other in cli.COMMANDS if other.startswith(f"{name} ")]
    yield f"### {name}\n"
    yield f"{about_of(name)}\n"
    if document := DOCUMENTS.get(name):
        korean = f"{document}.ko.md"
        is_korean = language() == "ko" and (PAGES["ko"].parent / korean).exists()
        file = korean if is_korean else f"{document}.md"
        yield f"{MORE[language()]}: [{file}]({file})\n"
    own = [name] if name in cli.COMMANDS else []
    examples = [it for each in (*own, *actions) for it in _examples(each)]
    if examples:
        yield "\n".join(["```sh", *(f"{program.NAME} {it}" for it in examples), "```", ""])
    yield from _table(parser_of(name, cli.COMMANDS))
    for action in actions:
        yield f"**`{action}`**: {about_of(action)}\n"
        yield from _table(parser_of(action, cli.COMMANDS))


def _examples(name: str) -> list[str]:
    epilog = parser_of(name, cli.COMMANDS).epilog or ""
    start = re.compile(rf" +{re.escape(PROGRAM)} ({name} .*|{name})")
    return [found[1] for line in epilog.splitlines() if (found := start.fullmatch(line))]


def _table(parser: argparse.ArgumentParser) -> Iterator[str]:
    rows = [*_rows(parser)]
    if rows:
        first, second = HEADS[language()]
        yield "\n".join([f"| {first} | {second} |", "| --- | --- |", *rows, ""])


def _rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.dest not in ("help", "project", "action"):
            about = str(action.help).replace("|", "\\|")
            about = about if language() == "ko" else about[:1].upper() + about[1:]
            yield f"| {_names(action)} | {about} |"


def _names(action: argparse.Action) -> str:
    values: list[str | None] = [str(action.metavar)] if action.metavar else [None]
    if action.choices and not action.metavar:
        values = [*action.choices]
    names = action.option_strings or [""]
    said = [f"{name} {value}" if value else name for name in names for value in values]
    return ", ".join(f"`{it.strip()}`" for it in said)


def main() -> None:
    """Write both documents."""
    for spoken, path in PAGES.items():
        path.write_text(page(spoken), encoding="utf-8")


if __name__ == "__main__":
    main()
