"""Shows what all commands are for, on one screen, or the page of one of them."""

import argparse
from collections.abc import Mapping

from commands.terminal.ask import add_examples, explain
from commands.terminal.screen import INDENT
from core.messages import say
from core.program import CLI

EXAMPLES = ("demo", "list --since 7d", "help add")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py help`."""
    command = explain("help_command")
    parser.add_argument(
        "about", metavar="COMMAND", nargs="?", choices=parser.get_default("names"), help=command
    )
    parser.add_argument("action", metavar="ACTION", nargs="?", help=explain("help_action"))
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "help list", "help topics rename")


def run(arguments: argparse.Namespace) -> int:
    """Print the page; always 0."""
    name, action = arguments.about or "", arguments.action
    parser = arguments.parsers(name)[name]
    if action:
        below = [it.choices for it in parser._actions if isinstance(it, argparse._SubParsersAction)]
        if not below:
            arguments.refuse(say("parser.too_many", value=action))
        if action not in below[0]:
            known = ", ".join(below[0])
            arguments.refuse(f"argument ACTION: invalid choice: {action!r} (choose from {known})")
        parser = below[0][action]
    print(parser.format_help(), end="")
    return 0


def overview(commands: Mapping[str, tuple[str, str]]) -> str:
    """Return the page of all commands. commands: by name, its module and the key of its group."""
    wide = max(map(len, commands)) + len(INDENT)
    lines = [explain("about"), "", explain("usage")]
    last = ""
    for name, (_, group) in commands.items():
        if group != last:
            lines += ["", explain(group)]
            last = group
        lines.append(f"{INDENT}{name:{wide}}{explain(f'cmd_{name}')}")
    options = {
        "-p, --project DIR": explain("of_project"),
        "-h, --help": say("parser.help"),
        "-V, --version": say("parser.version"),
    }
    wide = max(map(len, options)) + len(INDENT)
    lines += ["", explain("options")]
    lines += [f"{INDENT}{option:{wide}}{text}" for option, text in options.items()]
    lines += ["", explain("examples"), *(f"{INDENT}{CLI} {example}" for example in EXAMPLES)]
    return "\n".join([*lines, "", explain("of_command"), ""])
