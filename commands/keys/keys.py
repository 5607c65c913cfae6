"""Lists the keys of a server over HTTP, or makes or removes one."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from commands.terminal.ask import (
    add_confirmation,
    add_examples,
    explain,
    is_confirmed,
    summary_of,
)
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import day_text, print_lines, print_within, screen_here, table
from core.messages import Facts, say
from core.parser import add_project
from http_server.keys import Key, Keys
from http_server.papers_here import keys_of, papers_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py keys`; without an action they are those of `list`."""
    add_project(parser)
    title, as_json = explain("keys_actions"), explain("json")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title=title)
    below = {
        name: actions.add_parser(
            name, help=explain(f"keys_{name}"), description=summary_of(f"keys_{name}")
        )
        for name in ("list", "add", "remove")
    }
    for one in below.values():
        add_project(one, argparse.SUPPRESS)  # any command takes it
    below["list"].add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help=as_json
    )
    for name in ("add", "remove"):
        below[name].add_argument("name", metavar="NAME", help=explain("keys_name"))
    about = explain("keys_agent")
    below["add"].add_argument("--agent", metavar="AGENT", default="", help=about)
    add_confirmation(below["remove"])
    add_examples(below["list"], "keys list", "keys list --json")
    add_examples(below["add"], "keys add laptop", "keys add ci --agent ci")
    add_examples(below["remove"], "keys remove laptop", "keys remove laptop --dry-run")
    parser.add_argument("--json", action="store_true", help=as_json)
    add_examples(parser, "keys add laptop", "keys remove laptop")


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action and return its exit code. Raises HttpServerError, DatabaseError."""
    action = {"add": _add, "remove": _remove}.get(arguments.action, _list)
    with _open_keys() as keys:
        return action(keys, arguments)


@contextmanager
def _open_keys() -> Iterator[Keys]:
    """Yield the keys of this user's server, or of the team's, and let go of them."""
    papers = papers_of(os.environ)
    try:
        yield keys_of(os.environ, papers)
    finally:
        papers.close()


def _list(keys: Keys, arguments: argparse.Namespace) -> int:
    """Print whose the keys are and when they were used; always 0."""
    listed = keys.listed()
    if arguments.json:
        print(plain_json({"keys": [_as_data(it) for it in listed]}))
        return 0
    if not listed:
        print_within([say("keys.none")])
        return 0
    screen = screen_here()
    head = [say(f"keys.{it}") for it in ("name", "agent", "made_on", "used_on", "tokens")]
    first, *lines = table(head, [_row(it) for it in listed], screen.width)
    print_within([screen.painted(first, "bold"), *lines])
    return 0


def _add(keys: Keys, arguments: argparse.Namespace) -> int:
    """Print the new key on a line of its own, once; always 0."""
    secret = keys.add(arguments.name, arguments.agent)
    key = keys.named(arguments.name)
    print_lines([say("keys.made", name=key.name, agent=key.agent), ""])
    print(secret)  # whole, to be copied
    print_lines(["", say("keys.once"), say("keys.bearer"), say("keys.no_file")])
    return 0


def _remove(keys: Keys, arguments: argparse.Namespace) -> int:
    """Show what goes with the key, ask, remove; 1 when it was not confirmed."""
    key = keys.named(arguments.name)
    print_lines([say("keys.would_remove", **_facts(key))])
    if not is_confirmed(arguments, say("keys.ask_remove")):
        return int(not arguments.dry_run)
    gone = keys.remove(key.name)
    print_lines([say("keys.removed", **_facts(gone))])
    return 0


def _facts(key: Key) -> Facts:
    return {"name": plain(key.name), "tokens": key.tokens, "sessions": key.sessions}


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
