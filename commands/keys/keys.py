"""Lists the keys of a server over HTTP, or makes or removes one."""

import argparse
import importlib
from typing import Any

from commands.terminal.console import add_examples, explain, summary_of
from core.parser import add_project

# For each action its module here, which defines `add_arguments(parser)` and `run(arguments)`.
ACTIONS = ("list", "add", "remove")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py keys`; without an action they are those of `list`."""
    add_project(parser)
    title = explain("keys_actions")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title=title)
    for name in ACTIONS:
        key = f"keys_{name}"
        below = actions.add_parser(name, help=explain(key), description=summary_of(key))
        add_project(below, argparse.SUPPRESS)  # any command takes it
        _module(name).add_arguments(below)
    parser.add_argument("--json", action="store_true", help=explain("json"))
    add_examples(parser, "keys add laptop", "keys remove laptop")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action and return its exit code. Raises SentinelError."""
    return int(_module(arguments.action or "list").run(arguments))


def _module(name: str) -> Any:
    return importlib.import_module(f"commands.keys.{name}")
