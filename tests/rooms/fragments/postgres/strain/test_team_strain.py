"""Tests the fragments of a team while processes are killed and servers and connections end."""

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import psycopg
import pytest

from core.postgres.server import ConnectionCutError
from core.room.database import DatabaseError
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Query, Wanted
from rooms.fragments.links import explore
from rooms.fragments.recall import recall, restore_context
from rooms.fragments.room import Room, repeats_when_cut
from rooms.fragments.storage import Engine
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.statistics import statistics_of
from tests.support.faults import Child
from tests.support.real_engines import Postgres, postgres
from tests.support.room_crowds import (
    Outcome,
    Rememberer,
    draft,
    stored,
    team_room,
    write_until,
    wrong_with,
)

KILLS, SEED = 10, 20261123
CALL_S = 60.0  # what a call may take at most, whatever happens: two waits of 5 s and some work
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


@pytest.fixture
def room(team_database: str) -> Iterator[Room]:
    one = team_room(team_database)
    yield one
    one.engine.close()


@pytest.fixture
def durable() -> Iterator[tuple[Postgres, str]]:
    """A server that keeps what it acknowledges, and the address of a database on it."""
    with postgres(**DURABLE) as running:
        yield running, running.dsn(running.new_database())


@pytest.mark.row("002 2.95.a")
@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="processes as POSIX forks them")
def test_processes_killed_while_they_remember_lose_and_double_nothing(team_database: str) -> None:
    chance, outcomes, last = random.Random(SEED), list[Outcome](), 0
    for turn in range(KILLS):
        with contextlib.ExitStack() as running:
            pair = [
                running.enter_context(Child(Rememberer(team_database, f"p{turn}{at}")))
                for at in range(2)
            ]
            assert all(child.hear() for child in pair)
            time.sleep(chance.random() * 0.3)
            for child in pair:
                child.kill()
                said = child.end()[1].splitlines()
                whole = [it for it in said if it.endswith("country")]
                following = draft(f"p{turn}{pair.index(child)} {len(whole)}").content
                outcomes.append(Outcome(whole, [following], [], 0.0))
                last += len(whole)
    assert last > KILLS
    assert wrong_with(team_database, outcomes) == []


@pytest.mark.long
def test_a_server_that_is_killed_and_comes_back_has_all_it_acknowledged(
    durable: tuple[Postgres, str],
) -> None:
    server, dsn = durable
    room, ended = team_room(dsn, 5.0, DB_CONN_TIMEOUT_MS="1000"), threading.Event()
    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(write_until, ended, room, f"agent{at}") for at in range(4)]
        for _ in range(2):
            time.sleep(1.5)
            server.stop("immediate")
            time.sleep(0.7)
            server.start()
        time.sleep(1.5)
        ended.set()
        outcomes = [it.result() for it in writing]
    assert wrong_with(dsn, outcomes) == []
    refused = [sentence for one in outcomes for sentence in one.refused]
    assert refused and all("Nothing" in it for it in refused)
    assert max(one.longest_s for one in outcomes) < CALL_S
    remember(room.for_agent("agent0"), draft("after all"))  # without a restart of the process
    room.engine.close()


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.95.a")
def test_connections_cut_at_random_lose_and_double_nothing(team_database: str, room: Room) -> None:
    remember(room.for_agent("alice"), draft("first"))
    chance, ended = random.Random(SEED), threading.Event()

    def cut_and_count(connection: psycopg.Connection[Any]) -> tuple[int, int]:
        return connection.execute(
            "SELECT (SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid != pg_backend_pid()"
            " ORDER BY random() LIMIT 1) AS one), (SELECT count(*) FROM agent_memory.fragments)"
        ).fetchone() or (0, 0)

    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(write_until, ended, room, f"agent{at}") for at in range(4)]
        with psycopg.connect(team_database, autocommit=True) as connection:
            cuts = rows = 0
            while (cuts <= 10 or rows <= 20) and not all(it.done() for it in writing):
                cut, rows = cut_and_count(connection)
                cuts += cut
                time.sleep(chance.random() * 0.05)  # spreads the cuts over a call
        ended.set()
        outcomes = [it.result() for it in writing]
    first = Outcome([draft("first").content], [], [], 0.0)
    assert wrong_with(team_database, [*outcomes, first]) == []
    assert sum(len(one.kept) for one in outcomes) > 10


def test_a_lock_of_another_session_is_told_and_ends(team_database: str) -> None:
    room = team_room(team_database, 0.5, DB_CONN_TIMEOUT_MS="500", DB_QUERY_TIMEOUT="60000")
    alice = room.for_agent("alice")
    kept = remember(alice, draft("before")).fragment.content
    with psycopg.connect(team_database) as other:
        other.execute("LOCK TABLE agent_memory.fragments IN EXCLUSIVE MODE")
        with pytest.raises(DatabaseError, match="Nothing"):
            remember(alice, draft("meanwhile"))
        assert recall(alice, Query(text="zebra")).fragments  # who reads does not wait
    after = remember(alice, draft("after")).fragment.content
    assert stored(team_database) == {kept: 1, after: 1}
    room.engine.close()


@pytest.mark.parametrize("moment", ["1999-01-01T00:00:00+00:00", "2090-01-01T00:00:00+00:00"])
def test_a_clock_that_jumps_breaks_neither_order_nor_lifetimes(room: Room, moment: str) -> None:
    alice = room.for_agent("alice")
    first = remember(alice, draft("first")).fragment
    then = remember(replace(alice, clock=lambda: moment), draft("then")).fragment
    last = remember(alice, draft("last")).fragment
    assert first.number < then.number < last.number
    found = {it.id for it in recall(alice, Query(text="zebra tax country")).fragments}
    assert found == {first.id, then.id, last.id}
    kept = replace(draft("brief"), is_working=True)
    working = remember(replace(alice, clock=lambda: moment), kept, session="s1").fragment
    assert working.expires_at > moment
    restored = restore_context(alice, tokens=2_000, types=(), session="s1").working
    assert (working.id in {it.id for it in restored}) is moment.startswith("2090")


# What a call answers whose connection is cut


class Cut:
    """An engine whose connections end in its next transaction, before its first question."""

    def __init__(self, engine: Engine, dsn: str, *, times: int) -> None:
        self._engine, self._dsn, self._left = engine, dsn, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        with self._engine.reading() as reading:
            self._cut()
            yield reading

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Rows]:
        with self._engine.writing(wait_s=wait_s) as writing:
            self._cut()
            yield writing

    def _cut(self) -> None:
        if self._left:
            self._left -= 1
            with psycopg.connect(self._dsn, autocommit=True) as connection:
                connection.execute(  # as a server does that hands over to another
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )


def cut(room: Room, dsn: str, *, times: int = 1) -> Room:
    return replace(room, engine=cast(Engine, Cut(room.engine, dsn, times=times)))


@pytest.mark.long  # it costs much
def test_every_tool_that_reads_answers_all_the_same(team_database: str) -> None:
    room = team_room(team_database).for_agent("alice")
    one = remember(room, draft("one")).fragment
    calls: list[Callable[[Room], Any]] = [
        lambda it: [found.id for found in recall(it, Query(text="zebra tax")).fragments],
        lambda it: restore_context(it, types=("fact",)),
        lambda it: explore(it, one.id),
        lambda it: statistics_of(it),
    ]
    for call in calls:
        # Of recalling, an answer depends on what was counted before: the same question each time.
        assert call(cut(room, team_database)) == call(room)
    with pytest.raises(ConnectionCutError):
        explore(cut(room, team_database, times=2), one.id)
    room.engine.close()


def test_a_reading_that_was_cut_is_made_anew_in_one_state(team_database: str) -> None:
    room = team_room(team_database).for_agent("alice")
    remember(room, draft("one"))
    tries = list[int]()

    @repeats_when_cut
    def counted(of: Room) -> tuple[int, int]:
        tries.append(1)
        with of.engine.reading() as reading:
            before = reading.count(Wanted())[""]
            remember(room, draft("meanwhile"))
            return before, reading.count(Wanted())[""]

    assert counted(cut(room, team_database)) == (1, 1) and len(tries) == 2
    room.engine.close()


def test_what_fails_for_another_reason_is_not_tried_again() -> None:
    tries = list[int]()

    @repeats_when_cut
    def refuses() -> None:
        tries.append(1)
        raise ValueError

    with pytest.raises(ValueError):
        refuses()
    assert tries == [1]


def test_a_change_that_is_cut_is_refused_and_not_made_again(team_database: str) -> None:
    room = team_room(team_database).for_agent("alice")
    with pytest.raises(ConnectionCutError, match="Make the same call again"):
        remember(cut(room, team_database), draft("one"))
    assert not stored(team_database)
    remember(room, draft("one"))
    assert list(stored(team_database).values()) == [1]
    room.engine.close()
