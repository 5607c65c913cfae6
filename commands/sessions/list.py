"""Lists sessions, the newest or the most relevant first, in one line each."""

import argparse
import shlex
from typing import TYPE_CHECKING

from commands.sessions.lines import session_table
from commands.sessions.room import Room, as_data, empty_lines, open_room
from commands.terminal.ask import add_examples, explain, near_to, positive, when
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import print_within, screen_here
from core.messages import say

if TYPE_CHECKING:
    from rooms.sessions.search.found import Criteria

MOST_ROWS = 25  # on a terminal, unless --limit says otherwise
FILTERS = "status", "tag", "agent", "since", "until", "limit", "json"
ALL = 1_000_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py sessions list`."""
    about = explain("sessions_words")
    parser.add_argument("words", metavar="WORD", nargs="*", default=argparse.SUPPRESS, help=about)
    add_filters(parser, argparse.SUPPRESS)
    add_examples(parser, "sessions list login cookie", "sessions list --tag auth --limit 5")


def add_filters(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add what narrows a list down. default: where an option is left out."""
    from rooms.sessions.session import STATUSES

    status = explain("sessions_status", statuses=", ".join(STATUSES))
    tag, since, until = (explain(f"sessions_{name}") for name in ("tag", "since", "until"))
    added = [
        parser.add_argument("--status", choices=STATUSES, metavar="STATUS", help=status),
        parser.add_argument("--tag", action="append", metavar="TAG", help=tag),
        parser.add_argument("--agent", metavar="NAME", help=explain("sessions_agent")),
        parser.add_argument("--since", type=when, metavar="WHEN", help=since),
        parser.add_argument("--until", type=when, metavar="WHEN", help=until),
        parser.add_argument("--limit", type=positive, metavar="N", help=explain("sessions_limit")),
        parser.add_argument("--json", action="store_true", help=explain("json")),
    ]
    for action in added:
        action.default = default


def run(arguments: argparse.Namespace) -> int:
    """Print the sessions; always 0. Raises SentinelError when they cannot be read."""
    from rooms.sessions.search.found import Criteria, Page
    from rooms.sessions.search.searching import search

    room, screen = open_room(arguments), screen_here()
    criteria = Criteria(
        query=" ".join(getattr(arguments, "words", ())),
        tags=tuple(arguments.tag or ()),
        status=arguments.status or "",
        agent=arguments.agent or "",
        since=arguments.since or "",
        until=arguments.until or "",
    )
    limit = arguments.limit or (MOST_ROWS if screen.is_terminal and not arguments.json else ALL)
    page = search(room.store, criteria, limit=limit) if room.is_there else Page([], 0)
    sessions = [hit.session for hit in page.hits]
    if arguments.json:
        print(plain_json(room.as_json(found=page.total, sessions=[*map(as_data, sessions)])))
        return 0
    if not sessions:
        print_within(_nothing(room, criteria))
        return 0
    lines = session_table(sessions, screen)
    key = "found" if criteria.query else "listed"
    lines += ["", say(f"session_commands.{key}", shown=len(sessions), count=page.total)]
    if more := page.total - len(sessions):
        options = options_of(criteria, limit=page.total)
        lines.append(say("session_commands.more_listed", more=more, options=options))
    print_within(lines)
    return 0


def _nothing(room: Room, criteria: "Criteria") -> list[str]:
    """Say why no session is shown, and what resembles a tag or a client that is not there."""
    tags, agents, count = _names_in(room)
    if not count:
        return empty_lines()
    lines = [say("session_commands.none_fits", count=count)]
    given = [("tag", name, tags) for name in criteria.tags]
    given += [("agent", criteria.agent, agents)] if criteria.agent else []
    for kind, name, known in given:
        if name not in known:
            similar = near_to(name, known) or (plain(", ".join(known)) if kind == "agent" else "")
            key = f"no_{kind}_but" if similar else f"no_{kind}"
            lines.append(say(f"session_commands.{key}", name=plain(name), similar=similar))
    return lines


def _names_in(room: Room) -> tuple[list[str], list[str], int]:
    """Return all tags, all clients, and how many sessions there are."""
    if not room.is_there:
        return [], [], 0
    with room.store.database.reading() as connection:
        if connection is None:
            return [], [], 0
        [count] = connection.execute("SELECT count(*) FROM contexts").fetchone()
        rows = connection.execute("SELECT DISTINCT agent FROM contexts WHERE agent != ''")
        agents = [name for (name,) in rows]
        from rooms.sessions.rows import tags_of

        rows = connection.execute("SELECT DISTINCT tags FROM contexts")
        tags = dict.fromkeys(tag for (text,) in rows for tag in tags_of(text))
        return [*tags], agents, count


def options_of(criteria: "Criteria", *, limit: int) -> str:
    """Return the words and options that list the same sessions and more of them."""
    words = criteria.query.split()
    for name in ("status", "agent", "since", "until"):
        if value := getattr(criteria, name):
            words += [f"--{name}", value]
    words += [piece for tag in criteria.tags for piece in ("--tag", tag)]
    return plain(shlex.join([*words, "--limit", str(limit)]))
