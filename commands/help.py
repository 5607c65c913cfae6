"""Shows the commands on one screen, or the page of one of them."""

import argparse
from collections.abc import Iterable, Mapping

from commands import Command
from commands.options import explain, parser_of
from commands.terminal.screen import INDENT
from core.messages import say
from core.parser import Parser, add_project, add_version, one_of, with_nearest
from core.program import CLI, NAME, version

FIRST = ("setup", "add", "list", "search", "show", "forget", "view", "doctor")
EXAMPLES = ("demo", "list --since 7d", "help add")

Commands = Mapping[str, Command]


def show_help(arguments: argparse.Namespace) -> int:
    """Print the page of a command, or all commands; always 0."""
    name = " ".join(arguments.about)
    if not name:
        print(all_commands(arguments.commands), end="")
        return 0
    known = list(dict.fromkeys([*_names(arguments.commands), *arguments.commands]))
    first, *more = arguments.about
    has_actions = any(it.startswith(f"{first} ") for it in known)
    if more and first in known and not has_actions:
        arguments.refuse(say("parser.too_many", value=more[0]))
    if name not in known:
        arguments.refuse(with_nearest(say("parser.command", value=name), name, known))
    print(parser_of(name, arguments.commands).format_help(), end="")
    return 0


def first_page(commands: Commands) -> str:
    """Return the newcomer's page: the commands of a day."""
    lines = [
        "",
        *_summaries(FIRST, FIRST),
        "",
        explain("more", count=len(_names(commands)) - len(FIRST)),
    ]
    return _page(lines)


def all_commands(commands: Commands) -> str:
    groups = dict[str, dict[str, None]]()  # an action is told with its command, which is there once
    for name, row in commands.items():
        groups.setdefault(row.group, {})[name.partition(" ")[0]] = None
    lines = list[str]()
    for group, members in groups.items():
        lines += ["", explain(group), *_summaries(members, _names(commands))]
    return _page(lines)


def _names(commands: Commands) -> list[str]:
    return list(dict.fromkeys(name.partition(" ")[0] for name in commands))


def _summaries(names: Iterable[str], beside: Iterable[str]) -> list[str]:
    wide = max(map(len, beside)) + len(INDENT)
    return [f"{INDENT}{name:{wide}}{explain(f'cmd_{name}')}" for name in names]


def _page(lines: list[str]) -> str:
    options = {
        "-p, --project DIR": explain("of_project"),
        "-h, --help": say("parser.help"),
        "-V, --version": say("parser.version"),
    }
    wide = max(map(len, options)) + len(INDENT)
    lines = [explain("about"), "", explain("usage"), *lines, "", explain("options")]
    lines += [f"{INDENT}{option:{wide}}{text}" for option, text in options.items()]
    lines += ["", explain("examples"), *(f"{INDENT}{CLI} {example}" for example in EXAMPLES)]
    return "\n".join([*lines, "", explain("of_command"), ""])


def top_parser(commands: Commands) -> Parser:
    """Return the parser of a line without a known command."""
    parser = Parser(prog=CLI, page=lambda: first_page(commands))
    add_project(parser)
    add_version(parser, lambda: f"{NAME} {version()}")
    parser.add_argument("command", metavar="COMMAND", nargs="?", type=one_of(_names(commands)))
    return parser
