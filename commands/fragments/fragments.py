"""Lists what is known across projects, or carries out one of the actions on it."""

import argparse
import importlib
from typing import Any

from commands.fragments import list as listing
from commands.terminal.ask import add_examples, explain, summary_of
from core.messages import say

# For each action its module here, which defines `add_arguments(parser)` and `run(arguments)`.
ACTIONS = {
    "list": "list",
    "search": "search",
    "show": "show",
    "pin": "pin",
    "unpin": "pin",
    "forget": "forget",
    "restore": "pin",
    "consolidate": "consolidate",
    "export": "export",
    "embed": "embed",
    "migrate": "migrate",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments`; without an action they are those of `list`."""
    title = explain("fragments_actions")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title=title)
    takes = dict[str, set[str]]()
    for name, module in ACTIONS.items():
        key = f"fragments_{name}"
        below = actions.add_parser(name, help=explain(key), description=summary_of(key))
        _module(module).add_arguments(below)
        takes[name] = {it.dest for it in below._actions}
    listing.add_filters(parser, None)
    parser.set_defaults(refuse=parser.error, takes=takes)
    add_examples(parser, "fragments", "fragments --topic deployment --type error")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action and return its exit code. Raises SentinelError."""
    action = arguments.action or "list"
    for name in listing.FILTERS:
        if getattr(arguments, name) and name not in arguments.takes[action]:
            facts = {"one": f"--{name}", "other": "fragments list"}
            arguments.refuse(say("terminal.needs", **facts))
    return int(_module(ACTIONS[action]).run(arguments))


def _module(name: str) -> Any:
    return importlib.import_module(f"commands.fragments.{name}")
