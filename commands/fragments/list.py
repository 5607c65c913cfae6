"""Lists fragments, the newest first, in one line each, narrowed down by filters."""

import argparse
import shlex
from typing import TYPE_CHECKING

from commands.fragments.lines import fragment_table
from commands.fragments.room import Opened, as_data, empty_lines, open_fragments
from commands.terminal.ask import add_examples, explain, near_to, positive, when
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import print_within, screen_here
from core.messages import say

if TYPE_CHECKING:
    from rooms.fragments.engine import Wanted

MOST_ROWS = 25  # on a terminal, unless --limit says otherwise
ALL = 1_000_000_000
STATES = "live", "superseded", "bin", "all"
FILTERS = "type", "topic", "tag", "agent", "since", "until", "state", "limit", "json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments list`."""
    add_filters(parser, argparse.SUPPRESS)
    add_examples(parser, "fragments list --since 7d", "fragments list --state bin")


def add_filters(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add what narrows a list down. default: where an option is left out."""
    added = [
        *common_filters(parser),
        parser.add_argument(
            "--state", choices=STATES, metavar="STATE", help=explain("fragments_state")
        ),
    ]
    for action in added:
        action.default = default


def common_filters(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Add what narrows a list or a search down."""
    from rooms.fragments.kinds import WORDS_OF_TYPE

    types = explain("fragments_type", types=", ".join(WORDS_OF_TYPE))
    since, until = explain("fragments_since"), explain("fragments_until")
    topic, agent = explain("fragments_topic"), explain("fragments_agent")
    tag, limit = explain("fragments_tag"), explain("fragments_limit")
    return [
        parser.add_argument("--type", choices=WORDS_OF_TYPE, metavar="TYPE", help=types),
        parser.add_argument("--topic", metavar="TOPIC", help=topic),
        parser.add_argument("--tag", action="append", metavar="TAG", help=tag),
        parser.add_argument("--agent", metavar="NAME", help=agent),
        parser.add_argument("--since", type=when, metavar="WHEN", help=since),
        parser.add_argument("--until", type=when, metavar="WHEN", help=until),
        parser.add_argument("--limit", type=positive, metavar="N", help=limit),
        parser.add_argument("--json", action="store_true", help=explain("json")),
    ]


def run(arguments: argparse.Namespace) -> int:
    """Print the fragments; always 0. Raises SentinelError when they cannot be read."""
    opened, screen = open_fragments(), screen_here()
    wanted = _wanted(arguments)
    limit = arguments.limit or (MOST_ROWS if screen.is_terminal and not arguments.json else ALL)
    with opened.room.engine.reading() as reading:
        count = sum(reading.count(wanted).values())
        shown = reading.find(wanted, order="newest", limit=limit)
    if arguments.json:
        print(plain_json({"found": count, "fragments": [*map(as_data, shown)]}))
        return 0
    if not shown:
        print_within(_nothing(opened, arguments))
        return 0
    lines = fragment_table(shown, screen, of_bin=wanted.state == "bin")
    lines += ["", say("fragment_commands.listed", shown=len(shown), count=count)]
    if more := count - len(shown):
        options = _options(arguments, limit=count)
        lines.append(say("fragment_commands.more_listed", more=more, options=options))
    print_within(lines)
    return 0


def nothing_lines(opened: Opened, arguments: argparse.Namespace, key: str) -> list[str]:
    """Say why no fragment is shown, and what resembles a topic or an agent that is not there.

    key: of what is said where there are fragments.
    """
    from rooms.fragments.engine import Wanted

    with opened.room.engine.reading() as reading:
        topics, agents = (reading.count(Wanted(state="all"), by) for by in ("topic", "agent"))
        live = sum(reading.count(Wanted()).values())
    if not agents:
        return empty_lines()
    lines = [say(f"fragment_commands.{key}", count=live)]
    for kind, name, known in (
        ("topic", arguments.topic, [*topics]),
        ("agent", arguments.agent, [*agents]),
    ):
        if name and name not in known:
            similar = near_to(name, known) or (plain(", ".join(known)) if kind == "agent" else "")
            ending = "_but" if similar else ""
            lines.append(
                say(f"fragment_commands.no_{kind}{ending}", name=plain(name), similar=similar)
            )
    return lines


def _nothing(opened: Opened, arguments: argparse.Namespace) -> list[str]:
    return nothing_lines(opened, arguments, "none_fits")


def _wanted(arguments: argparse.Namespace) -> "Wanted":
    from rooms.fragments.engine import Wanted
    from rooms.fragments.kinds import LIFETIMES

    type_ = arguments.type or ""
    lasts = type_ in LIFETIMES
    return Wanted(
        kinds=(type_,) if type_ and not lasts else (),
        lifetimes=(type_,) if lasts else (),
        topics=(arguments.topic,) if arguments.topic else (),
        keywords=tuple(arguments.tag or ()),
        agents=(arguments.agent,) if arguments.agent else (),
        since=arguments.since or "",
        until=arguments.until or "",
        state=arguments.state or "live",
    )


def _options(arguments: argparse.Namespace, *, limit: int) -> str:
    """Return the options that list the same fragments and more of them."""
    words = list[str]()
    for name in FILTERS[:-2]:
        value = getattr(arguments, name) or ()
        for one in value if isinstance(value, list) else [value] if value else ():
            words += [f"--{name}", str(one)]
    return plain(shlex.join([*words, "--limit", str(limit)]))
