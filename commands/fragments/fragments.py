"""Carries out what only fragments have: pins, upkeep, an export of their own, a server's tables."""

import argparse
import importlib
from typing import Any

from commands.terminal.ask import add_examples, explain, summary_of

# For each action its module here, which defines `add_arguments(parser)` and `run(arguments)`.
ACTIONS = {
    "pin": "pin",
    "unpin": "pin",
    "consolidate": "consolidate",
    "export": "export",
    "embed": "embed",
    "migrate": "migrate",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `cli.py fragments`."""
    title = explain("fragments_actions")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title=title, required=True)
    for name, module in ACTIONS.items():
        key = f"fragments_{name}"
        below = actions.add_parser(name, help=explain(key), description=summary_of(key))
        _module(module).add_arguments(below)
    add_examples(parser, "fragments pin k3fa9x2m", "fragments consolidate --json")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action and return its exit code. Raises SentinelError."""
    return int(_module(ACTIONS[arguments.action]).run(arguments))


def _module(name: str) -> Any:
    return importlib.import_module(f"commands.fragments.{name}")
