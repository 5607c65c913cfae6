"""Lists the keys of a server over HTTP: whose they are and when they were used."""

import argparse
from datetime import UTC, datetime

from commands.keys.papers import open_keys
from commands.terminal.columns import table
from commands.terminal.console import add_examples, explain
from commands.terminal.days import day_text
from commands.terminal.printing import print_within
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import screen_here
from core.messages import say
from http_server.keys import Key


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py keys list`."""
    about = explain("json")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=about)
    add_examples(parser, "keys list", "keys list --json")


def run(arguments: argparse.Namespace) -> int:
    """Print the keys; always 0. Raises HttpServerError, DatabaseError."""
    with open_keys() as keys:
        listed = keys.listed()
    if arguments.json:
        print(plain_json({"keys": [_as_data(it) for it in listed]}))
        return 0
    screen = screen_here()
    if not listed:
        print_within([say("keys.none")])
        return 0
    head = [say(f"keys.{it}") for it in ("name", "agent", "made_on", "used_on", "tokens")]
    first, *lines = table(head, [_row(it) for it in listed], screen.width)
    print_within([screen.painted(first, "bold"), *lines])
    return 0


def _row(key: Key) -> list[str]:
    used = day_text(_moment(key.used_at)) if key.used_at else say("keys.never")
    made = day_text(_moment(key.made_at))
    return [plain(key.name), plain(key.agent), made, used, str(key.tokens)]


def _as_data(key: Key) -> dict[str, object]:
    return {
        "name": key.name,
        "agent": key.agent,
        "madeAt": _moment(key.made_at),
        "usedAt": _moment(key.used_at) if key.used_at else None,
        "tokens": key.tokens,
        "sessions": key.sessions,
    }


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
