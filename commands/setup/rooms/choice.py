"""Lets a person choose the rooms of the memory: by an option, or where a terminal can ask."""

import argparse
from collections.abc import Mapping

from commands.clients.table import CLIENTS
from commands.setup.entries import entry_of
from commands.setup.files import Desk, Job
from commands.setup.levels import at_level
from commands.setup.rooms.offered import rooms_text
from commands.setup.words import WORDS, word
from commands.terminal.columns import table
from commands.terminal.console import answer_to, is_attended
from commands.terminal.printing import print_lines
from commands.terminal.safe_text import plain
from commands.terminal.screen import screen_here
from core.errors import RoomsError
from core.messages import Language
from core.parser import language_here
from core.project import FRAGMENTS_PLACE
from core.settings import ROOMS, read_rooms

# What the list of its tools costs in every session, as the tokenizer o200k_base counts it. A test
# of benchmarks/tokens.py holds these.
TOKENS = {
    "lessons": 613,
    "sessions": 1_135,
    "sessions:core": 846,
    "fragments": 1_452,
    "fragments:core": 650,
}


def given_rooms(arguments: argparse.Namespace) -> tuple[str, ...] | None:
    """Return the rooms of `--rooms`, None where it is not given. Refuses unknown: SystemExit(2)."""
    try:
        return None if arguments.rooms is None else read_rooms(arguments.rooms)
    except RoomsError as error:
        arguments.refuse(word(language_here(), "bad_rooms", known=str(error.facts["known"])))
        return None


def asks_rooms(arguments: argparse.Namespace, job: Job) -> bool:
    """Return whether a person is to be asked: no option and no entry has said it yet."""
    if job.rooms is not None or job.remove or job.url or arguments.yes or arguments.dry_run:
        return False
    return is_attended() and _is_unsaid(job)


def _is_unsaid(job: Job) -> bool:
    """Return whether there is a client to set up, and none whose entry names rooms."""
    desk, said = Desk(job.root), list[str]()
    for client in CLIENTS:
        row = at_level(client, job.level) if client.key in job.clients else None
        if row:
            name, entry = entry_of(desk, job, row)
            said.append(rooms_text(entry, name, job, row))
    return bool(said) and not any(said)


def asked_rooms(lang: Language) -> tuple[str, ...] | None:
    """Ask which rooms; () where a person leaves it at the default, None at the end of input."""
    names = {str(number): room for number, room in enumerate(ROOMS, 1)}
    _show_rooms(names, lang)
    while (answer := answer_to(word(lang, "rooms_prompt"))) is not None:
        words = [names.get(it, it) for it in answer.replace(",", " ").split()]
        try:
            rooms = read_rooms(" ".join(words)) if words else ()
        except RoomsError:
            print_lines([word(lang, "no_rooms", text=plain(answer))])
            continue
        if rooms and "lessons" not in rooms:
            print_lines([word(lang, "without_lessons", rooms=",".join(rooms))])
        return rooms
    print()
    return None


def _show_rooms(names: Mapping[str, str], lang: Language) -> None:
    """Print one line for each room, by its number: its price, whose it is, what it remembers."""
    screen = screen_here()
    head = ["", *(word(lang, f"head_{key}") for key in ("room", "tokens", "whose", "what"))]
    rows = [
        [key, room, f"{TOKENS[room]:,}", word(lang, f"whose_{room}"), word(lang, f"what_{room}")]
        for key, room in names.items()
    ]
    top, *lines = table(head, rows, screen.width)
    print("", screen.painted(word(lang, "which_rooms"), "bold"), sep="\n")
    print(screen.painted(top, "dim"), *lines, sep="\n")
    cores = ", ".join(f"{room} {tokens:,}" for room, tokens in TOKENS.items() if ":" in room)
    print_lines([word(lang, "rooms_note", cores=cores)])


def tell_rooms(job: Job) -> None:
    """Say what a room that was asked for does, and what it costs."""
    for room in job.rooms or () if not (job.remove or job.url) else ():
        if f"room_{room}" in WORDS:
            facts = {"tokens": TOKENS[room], "core": TOKENS.get(f"{room}:core", 0)}
            print_lines([word(job.reader, f"room_{room}", **facts)])
        if room.startswith("fragments") and job.machine.variable(FRAGMENTS_PLACE):
            print_lines([word(job.reader, "place_stays", variable=FRAGMENTS_PLACE)])
