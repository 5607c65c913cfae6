"""Moves fragments to the bin, or removes them for good, once a person has seen which."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from commands.fragments.lines import fragment_table
from commands.fragments.room import FragmentNameError, Opened, add_ids, open_fragments
from commands.terminal.ask import add_confirmation, add_examples, explain, is_confirmed
from commands.terminal.screen import print_lines, print_within, screen_here
from core.messages import say

if TYPE_CHECKING:
    from rooms.fragments.fragment import Fragment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments forget`."""
    add_ids(parser, "*")
    topic = explain("fragments_forget_topic")
    parser.add_argument("--topic", metavar="TOPIC", default=argparse.SUPPRESS, help=topic)
    parser.add_argument("--hard", action="store_true", help=explain("fragments_hard"))
    add_confirmation(parser)
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "fragments forget k3fa9x2m --dry-run", "fragments forget --topic old-shop")


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, forget; 1 when it was not confirmed. Raises SentinelError."""
    if bool(arguments.ids) == bool(arguments.topic):
        arguments.refuse(say("fragment_commands.ids_or_topic"))
    return forget_named(open_fragments(), arguments)


def forget_named(opened: Opened, arguments: argparse.Namespace) -> int:
    """Show what the arguments of `fragments forget` mean, ask, forget; see `run`."""
    going, pinned = _meant(opened, arguments)
    if pinned:
        print_lines([say("fragment_commands.stay_pinned", count=pinned)])
    if not going:
        print(say("fragment_commands.nothing_there"))
        return 0
    print_lines(
        [
            say(
                "fragment_commands.would_drop" if arguments.hard else "fragment_commands.would_bin",
                count=len(going),
            )
        ]
    )
    print_within([*fragment_table(going, screen_here()), ""])
    if not is_confirmed(arguments, say("fragment_commands.ask_forget")):
        return int(not arguments.dry_run)
    done = _forget(opened, arguments, going)
    key = "dropped" if arguments.hard else "binned"
    print_lines([say(f"fragment_commands.{key}", count=len(done), id=going[0].id)])
    return 0


def _meant(opened: Opened, arguments: argparse.Namespace) -> "tuple[list[Fragment], int]":
    """Return what goes, and how many pinned ones of a topic stay. Raises FragmentNameError."""
    from rooms.fragments.engine import Wanted, pages_of
    from rooms.fragments.saving.forgetting import is_pinned

    if arguments.ids:
        named = opened.named(arguments.ids)
        for fragment in named:
            if is_pinned(fragment):
                raise FragmentNameError("pinned_refused", id=fragment.id)
        return [it for it in named if arguments.hard or not it.deleted_at], 0
    wanted = Wanted(topics=(arguments.topic,), state="all" if arguments.hard else "kept")
    with opened.room.engine.reading() as reading:
        found = [it for some in pages_of(reading, wanted) for it in some]
    going = [it for it in found if not is_pinned(it)]
    return going, len(found) - len(going)


def _forget(
    opened: Opened, arguments: argparse.Namespace, going: "Sequence[Fragment]"
) -> "list[Fragment]":
    """Forget what was shown; return what went. Raises SentinelError."""
    from rooms.fragments.saving.forgetting import forget

    room, hard = opened.room, arguments.hard
    if arguments.topic:
        return forget(room, topic=arguments.topic, hard=hard).fragments
    return [it for one in going for it in forget(room, id=one.id, hard=hard).fragments]
