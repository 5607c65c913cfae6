"""Lets a person name with `--room` the rooms that a command is about; one alone gets it whole."""

import argparse
import importlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar, cast

from commands.terminal.ask import explain
from core.messages import say

LESSONS, SESSIONS, FRAGMENTS = "lessons", "sessions", "fragments"
ROOMS = (LESSONS, SESSIONS, FRAGMENTS)
_T = TypeVar("_T")
_OF_READING = ("limit", "json", "since")  # options of a list that every room takes
_OF_ANY = ("help", "project", "room")  # options that mean the same in every room


def add_room(parser: argparse.ArgumentParser, *more: str, several: bool = False) -> None:
    """Add `--room`. several: it can be given more than once. more: names beside the rooms'."""
    names = (*ROOMS, *more)
    about = explain("rooms" if several else "room", rooms=", ".join(names))
    action = "append" if several else "store"
    parser.add_argument("--room", action=action, choices=names, metavar="ROOM", help=about)
    parser.set_defaults(refuse=parser.error)


def named_rooms(arguments: argparse.Namespace) -> list[str]:
    """Return the rooms that were named, each once; none means all that exist."""
    given = arguments.room or []
    return list(dict.fromkeys([given] if isinstance(given, str) else given))


def other_room(arguments: argparse.Namespace) -> str:
    """Return the room that was named alone, "" for the log, for several and for none."""
    named = named_rooms(arguments)
    return named[0] if len(named) == 1 and named != [LESSONS] else ""


def hand_over(
    arguments: argparse.Namespace,
    room: str,
    action: str,
    *words: str,
    takes: Sequence[str] = ("since", "limit", "json"),
) -> int:
    """Carry out an action of a room's own command, as if a person had typed it; its exit code.

    words: its arguments. takes: which of the given options it knows, too; any other is refused.
    Raises SentinelError, SystemExit(2).
    """
    if only := typed_beside(arguments, takes):
        _refuse(arguments, only[0])
    typed = [action]
    if room == SESSIONS and arguments.project:  # fragments are of no project
        typed.append(f"--project={arguments.project}")
    for name in takes:
        if (value := getattr(arguments, name)) is True:
            typed.append(f"--{name.replace('_', '-')}")
        elif value:
            typed.append(f"--{name}={since_text(value) if name == 'since' else value}")
    chosen = importlib.import_module(f"commands.{room}.{room}")
    parser = arguments.parsers(room)[room]
    return int(chosen.run(parser.parse_args([*typed, *words])))


def typed_beside(arguments: argparse.Namespace, known: Sequence[str]) -> list[str]:
    """Return the options that were given beside these, as they are spelled.

    known: their names in `arguments`; those that mean the same in every room need not be there.
    """
    parser = cast(argparse.ArgumentParser, arguments.parsers(arguments.command)[arguments.command])
    return [
        it.option_strings[-1]
        for it in parser._actions
        if it.option_strings
        and it.dest not in (*known, *_OF_ANY)
        and getattr(arguments, it.dest) != it.default
    ]


def since_text(moment_s: float | None) -> str:
    """Return the moment of `--since` in ISO 8601, as the rooms take it; "" for none."""
    if moment_s is None:
        return ""
    return datetime.fromtimestamp(moment_s, UTC).isoformat(timespec="seconds")


def _refuse(arguments: argparse.Namespace, option: str) -> None:
    other = f"--room {LESSONS}"
    arguments.refuse(say("terminal.needs", one=option, other=other))
