"""Carries out what only sessions have: an export of their own, archives, and sharing."""

import argparse
import importlib
from typing import Any

from commands.terminal.ask import add_examples, explain, summary_of
from core.parser import add_project

# For each action its module here, which defines `add_arguments(parser)` and `run(arguments)`.
ACTIONS = ("export", "archive", "share")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `cli.py sessions`."""
    title = explain("sessions_actions")
    add_project(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title=title, required=True)
    for name in ACTIONS:
        key = f"sessions_{name}"
        below = actions.add_parser(name, help=explain(key), description=summary_of(key))
        add_project(below, argparse.SUPPRESS)  # `sessions --project DIR archive` means the same
        _module(name).add_arguments(below)
    add_examples(parser, "sessions archive --before 1y --dry-run", "sessions export 12 14")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action and return its exit code. Raises SentinelError."""
    return int(_module(arguments.action).run(arguments))


def _module(name: str) -> Any:
    return importlib.import_module(f"commands.sessions.{name}")
