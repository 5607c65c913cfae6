"""Has processes and threads remember fragments of a team, and judges from outside what is left."""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from core.config import Settings
from core.postgres.server import ServerError
from core.room.database import DatabaseError
from rooms.fragments.draft import Draft, remember
from rooms.fragments.room import Config, Room
from rooms.fragments.storage.postgres import PostgresEngine
from tests.support.faults import Say
from tests.support.team_engines import a_server


def team_room(dsn: str, timeout_s: float = 60.0, **environment: str) -> Room:
    """The room of every agent on a server. environment: such as DB_MAX_CONNECTIONS."""
    engine = PostgresEngine(a_server(dsn, **environment), timeout_s=timeout_s)
    return Room(engine=engine, config=Config(Path("memory.db")), settings=Settings())


def draft(name: str) -> Draft:
    """A fragment whose content no other has."""
    return Draft(content=f"zebra {name} the tax differs by country", topic="strain", type="fact")


@dataclass(frozen=True)
class Outcome:
    """What a writer was told, by contents. kept: acknowledged; unknown: cut while they were stored;
    refused: sentences; longest_s: what the longest call took.
    """

    kept: list[str]
    unknown: list[str]
    refused: list[str]
    longest_s: float


def write_until(ended: threading.Event, room: Room, agent: str) -> Outcome:
    """Remember one fragment after the other until it is over, whatever happens to the server."""
    kept, unknown, refused = list[str](), list[str](), list[str]()
    own, number, longest_s = room.for_agent(agent), 0, 0.0
    while not ended.is_set():
        number += 1
        given, begun = draft(f"{agent} {number}"), time.monotonic()
        try:
            kept.append(remember(own, given).fragment.content)
        except DatabaseError as error:
            if isinstance(error, ServerError) and error.key == "unknown":
                unknown.append(given.content)
            else:
                refused.append(str(error))
                ended.wait(0.02)
        longest_s = max(longest_s, time.monotonic() - begun)
    return Outcome(kept, unknown, refused, longest_s)


@dataclass(frozen=True)
class Rememberer:
    """What a process does: remember without an end, and say each content once it is stored."""

    dsn: str
    agent: str

    def __call__(self, say: Say) -> str:
        own = team_room(self.dsn).for_agent(self.agent)
        for number in range(100_000):
            say(f"{remember(own, draft(f'{self.agent} {number}')).fragment.content}\n")
        return ""


def stored(dsn: str) -> Mapping[str, int]:
    """How often each content is there, as a superuser sees it."""
    with psycopg.connect(dsn) as connection:
        found = connection.execute("SELECT content FROM agent_memory.fragments")
        return Counter(it for (it,) in found)


def wrong_with(dsn: str, outcomes: list[Outcome]) -> list[str]:
    """Whatever promise does not hold for what the writers were told."""
    there, wrong = stored(dsn), list[str]()
    kept = {it for one in outcomes for it in one.kept}
    lost = sorted(it for it in kept if it not in there)
    if lost:
        wrong.append(f"{len(lost)} acknowledged are not there: {lost[:3]}")
    if twice := [it for it, times in there.items() if times > 1]:
        wrong.append(f"{len(twice)} are there twice: {twice[:3]}")
    told = kept | {it for one in outcomes for it in one.unknown}
    if strange := sorted(set(there) - told):
        wrong.append(f"{len(strange)} were said not to be stored: {strange[:3]}")
    return wrong
