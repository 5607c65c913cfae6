"""Says which rooms of the memory a client's entry offers, and how it names them."""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from commands.setup.client_machine import entry_line, expander, script_at, value_of
from commands.setup.client_table import RECORDING, TOOLS, Client
from commands.setup.files import Job
from commands.terminal.screen import print_lines
from core.config import DEFAULT_ROOMS, FRAGMENTS_PLACE, ROOMS_VARIABLE, read_rooms
from core.errors import RefusedError
from core.messages import has_sentence, say

OPTION = "--rooms"
# What one room alone keeps, or asks for by the names of its tools.
_ROOM_OF = {RECORDING: "sessions", "stop": "lessons"}
# What says where a room keeps its data, if that is not in the project, and as whom it is asked.
_PLACES = {"fragments": ("SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_AGENT", "XDG_DATA_HOME")}
# What the list of its tools costs in every session, as the tokenizer o200k_base counts it. A test
# of benchmarks/tokens.py holds these.
TOKENS = {
    "lessons": 613,
    "sessions": 1_135,
    "sessions:core": 846,
    "fragments": 1_452,
    "fragments:core": 650,
}


def rooms_in(entry: Mapping[str, Any], name: str, job: Job, client: Client) -> tuple[str, ...]:
    """Return the rooms that an entry offers; the default for one that names none, or wrong ones."""
    try:
        return read_rooms(_named(entry, name, job, client) or _variable(entry))
    except RefusedError:
        return DEFAULT_ROOMS


def option_for(entry: Mapping[str, Any], name: str, job: Job, client: Client) -> list[str]:
    """Return the words of our entry that name the rooms. entry: the one that is there."""
    if job.rooms is None:
        named = _named(entry, name, job, client)
        return [OPTION, named] if named else []
    is_said = job.rooms != DEFAULT_ROOMS or bool(_variable(entry))
    return [OPTION, ",".join(job.rooms)] if is_said else []


def tools_of(rooms: Iterable[str]) -> list[str]:
    """Return the tools that these rooms offer."""
    return [tool for room in rooms for tool in TOOLS[room]]


def variables_of(rooms: Iterable[str]) -> list[str]:
    """Return the variables that a server of these rooms needs, to find what other clients find."""
    return [name for room in rooms for name in _PLACES.get(room.partition(":")[0], ())]


def idle_events(rooms: Iterable[str]) -> frozenset[str]:
    """Return our events that only another room than these has a use for."""
    offered = {room.partition(":")[0] for room in rooms}
    return frozenset(event for event, room in _ROOM_OF.items() if room not in offered)


def _named(entry: Mapping[str, Any], name: str, job: Job, client: Client) -> str:
    words = entry_line(entry, expander(client, client.places[0], job.machine))
    return value_of(OPTION, words[script_at(words, name, job.machine) + 1 :]) or ""


def _variable(entry: Mapping[str, Any]) -> str:
    env = entry.get("env")
    value = env.get(ROOMS_VARIABLE) if isinstance(env, dict) else None
    return value.strip() if isinstance(value, str) else ""


def given_rooms(arguments: argparse.Namespace) -> tuple[str, ...] | None:
    """Return the rooms of `--rooms`, None where it is not given. Refuses unknown: SystemExit(2)."""
    try:
        return None if arguments.rooms is None else read_rooms(arguments.rooms)
    except RefusedError as error:
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
