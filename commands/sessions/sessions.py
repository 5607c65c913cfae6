"""Lists the sessions of a project, or carries out one of the actions on them."""

import argparse
import importlib
from typing import Any

from commands.sessions import list as listing
from commands.terminal.ask import add_examples, explain, summary_of
from core.messages import say
from core.parser import add_project

# For each action its module here, which defines `add_arguments(parser)` and `run(arguments)`.
ACTIONS = ("list", "show", "chain", "export", "archive", "share", "forget")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py sessions`; without an action they are those of `list`."""
    add_project(parser)
    title = explain("sessions_actions")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title=title)
    takes = dict[str, set[str]]()
    for name in ACTIONS:
        key = f"sessions_{name}"
        below = actions.add_parser(name, help=explain(key), description=summary_of(key))
        add_project(below, argparse.SUPPRESS)  # `sessions --project DIR show` means the same
        _module(name).add_arguments(below)
        takes[name] = {it.dest for it in below._actions}
    listing.add_filters(parser, None)
    parser.set_defaults(refuse=parser.error, takes=takes)
    add_examples(parser, "sessions", "sessions --since 7d --status debugging")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action and return its exit code. Raises SentinelError."""
    action = arguments.action or "list"
    for name in listing.FILTERS:
        if getattr(arguments, name) and name not in arguments.takes[action]:
            facts = {"one": f"--{name}", "other": "sessions list"}
            arguments.refuse(say("terminal.needs", **facts))
    return int(_module(action).run(arguments))


def _module(name: str) -> Any:
    return importlib.import_module(f"commands.sessions.{name}")
