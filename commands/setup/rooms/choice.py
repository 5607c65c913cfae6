"""Reads the rooms of the memory that a person chose by an option, and says what they cost."""

import argparse

from commands.setup.files import Job
from commands.terminal.printing import print_lines
from core.errors import RoomsError
from core.messages import has_sentence, say
from core.project import FRAGMENTS_PLACE
from core.settings import read_rooms

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
        arguments.refuse(say("setup.bad_rooms", known=str(error.facts["known"])))
        return None


def tell_rooms(job: Job) -> None:
    """Say what a room that was asked for does, and what it costs."""
    for room in job.rooms or () if not (job.remove or job.url) else ():
        if has_sentence(f"setup.room_{room}"):
            facts = {"tokens": TOKENS[room], "core": TOKENS.get(f"{room}:core", 0)}
            print_lines([say(f"setup.room_{room}", **facts)])
        if room.startswith("fragments") and job.machine.variable(FRAGMENTS_PLACE):
            print_lines([say("setup.place_stays", variable=FRAGMENTS_PLACE)])
