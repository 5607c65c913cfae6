"""Lists, makes and removes the keys of a server over HTTP."""

import argparse
import os
from contextlib import closing
from datetime import UTC, datetime

from commands.terminal import screen as terminal
from commands.terminal.ask import is_confirmed
from commands.terminal.screen import plain, print_lines, print_within, render_table
from core.messages import say
from http_server.access_keys import keys_of
from http_server.papers import papers_of


def list_keys(options: argparse.Namespace) -> int:
    """Print owner and last use of each key; always 0."""
    with closing(papers_of(os.environ)) as papers:
        keys = keys_of(os.environ, papers)
        all_keys, place = keys.list_all(), plain(keys.place)
    if options.json:
        data = [
            {
                "name": key.name,
                "agent": key.paper.agent,
                "madeAt": _iso_of(key.paper.made_at),
                "usedAt": _iso_of(key.paper.used_at) if key.paper.used_at else None,
                "tokens": key.tokens,
            }
            for key in all_keys
        ]
        print(terminal.plain_json({"keys": data}))
        return 0
    if not all_keys:
        print_within([say("keys.none", place=place)])
        return 0
    rows = list[list[str]]()
    for key in all_keys:
        paper = key.paper
        made_on = terminal.day_text(_iso_of(paper.made_at))
        used_on = terminal.day_text(_iso_of(paper.used_at)) if paper.used_at else say("keys.never")
        rows.append([plain(key.name), plain(paper.agent), made_on, used_on, str(key.tokens)])
    head = [say(f"keys.{column}") for column in ("name", "agent", "made_on", "used_on", "tokens")]
    print_within([*render_table(head, rows), "", say("keys.listed", count=len(all_keys))])
    return 0


def add_key(options: argparse.Namespace) -> int:
    """Print the new key once, on its own line; always 0."""
    with closing(papers_of(os.environ)) as papers:
        keys = keys_of(os.environ, papers)
        secret = keys.add(options.name, options.agent)
        key = keys.find_key(options.name)
    print_lines([say("keys.made", name=key.name, agent=key.paper.agent), ""])
    print(secret)  # whole, to be copied
    print_lines(["", say("keys.once"), say("keys.bearer"), say("keys.no_file")])
    return 0


def remove_key(options: argparse.Namespace) -> int:
    """Ask, then remove; 1 when unconfirmed."""
    with closing(papers_of(os.environ)) as papers:
        keys = keys_of(os.environ, papers)
        key = keys.find_key(options.name)
        print_lines([say("keys.would_remove", name=plain(key.name), tokens=key.tokens)])
        if not is_confirmed(options, say("keys.ask_remove")):
            return int(not options.dry_run)
        removed_key = keys.remove(key.name)
    print_lines([say("keys.removed", name=plain(removed_key.name), tokens=removed_key.tokens)])
    return 0


def _iso_of(time_s: float) -> str:
    return f"{datetime.fromtimestamp(time_s, UTC):%Y-%m-%dT%H:%M:%SZ}"
