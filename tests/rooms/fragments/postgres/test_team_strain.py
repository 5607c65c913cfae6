"""Tests the fragments of a team while processes are killed and servers and connections end."""

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, cast

import psycopg
import pytest

from core.postgres.server import ConnectionCutError
from core.room.database import DatabaseError
from rooms.fragments.activity import statistics_of
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Query, Wanted
from rooms.fragments.links import explore
from rooms.fragments.recall import recall, restore_context
from rooms.fragments.room import Room, repeats_when_cut
from rooms.fragments.storage.rows import Engine, Rows
from tests.support.faults import Child
from tests.support.real_engines import postgres
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


@pytest.mark.row("002 2.95.a")
@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="processes as POSIX forks them")
def test_processes_killed_while_they_remember_lose_and_double_nothing(team_database: str) -> None:
    chance, outcomes, last = random.Random(SEED), list[Outcome](), 0
    for turn in range(KILLS):
        with contextlib.ExitStack() as running:
            makes = (Child(Rememberer(team_database, f"p{turn}{at}")) for at in range(2))
            pair = [running.enter_context(child) for child in makes]
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


@contextmanager
def four_writing(room: Room) -> Iterator[list[Future[Outcome]]]:
    """Four agents who remember until this ends."""
    ended = threading.Event()
    with ThreadPoolExecutor(4) as threads:
        yield [threads.submit(write_until, ended, room, f"agent{at}") for at in range(4)]
        ended.set()


@pytest.mark.long
def test_a_server_that_is_killed_and_comes_back_has_all_it_acknowledged() -> None:
    with postgres(**DURABLE) as server:  # it keeps what it acknowledges
        dsn = server.dsn(server.new_database())
        room = team_room(dsn, 5.0, DB_CONN_TIMEOUT_MS="1000")
        with four_writing(room) as writing:
            for _ in range(2):
                time.sleep(1.5)
                server.stop("immediate")
                time.sleep(0.7)
                server.start()
            time.sleep(1.5)
        outcomes = [it.result() for it in writing]
        assert wrong_with(dsn, outcomes) == []
        refused = [sentence for one in outcomes for sentence in one.refused]
        assert refused and all("Nothing" in it for it in refused)
        assert max(one.longest_s for one in outcomes) < CALL_S
        remember(room.for_agent("agent0"), draft("after all"))  # without a restart of the process
        room.engine.close()


_CUT_ONE = """SELECT (SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid != pg_backend_pid() ORDER BY random() LIMIT 1) AS one
  ), (SELECT count(*) FROM agent_memory.fragments)"""


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.95.a")
def test_connections_cut_at_random_lose_and_double_nothing(team_database: str, room: Room) -> None:
    remember(room.for_agent("alice"), draft("first"))
    chance, cuts, rows = random.Random(SEED), 0, 0
    with (
        four_writing(room) as writing,
        psycopg.connect(team_database, autocommit=True) as connection,
    ):
        while (cuts <= 10 or rows <= 20) and not all(it.done() for it in writing):
            cut, rows = connection.execute(_CUT_ONE).fetchone() or (0, 0)
            cuts += cut
            time.sleep(chance.random() * 0.05)  # spreads the cuts over a call
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
def test_a_clock_that_jumps_breaks_neither_order_nor_lifetimes(alice: Room, moment: str) -> None:
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
    """An engine whose connections end in its next transactions, before their first question."""

    def __init__(self, engine: Engine, dsn: str, times: int) -> None:
        self._engine, self._dsn, self._left = engine, dsn, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def _cut(self, transaction: AbstractContextManager[Rows]) -> Iterator[Rows]:
        with transaction as rows:
            if self._left:
                self._left -= 1
                with psycopg.connect(self._dsn, autocommit=True) as connection:
                    connection.execute(  # as a server does that hands over to another
                        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
            yield rows

    def reading(self) -> AbstractContextManager[Rows]:
        return self._cut(self._engine.reading())

    def writing(self, *, wait_s: float | None = None) -> AbstractContextManager[Rows]:
        return self._cut(self._engine.writing(wait_s=wait_s))


def cut(room: Room, dsn: str, *, times: int = 1) -> Room:
    return replace(room, engine=cast(Engine, Cut(room.engine, dsn, times)))


@pytest.fixture
def alice(room: Room) -> Room:
    return room.for_agent("alice")


@pytest.mark.long  # it costs much
def test_every_tool_that_reads_answers_all_the_same(team_database: str, alice: Room) -> None:
    one = remember(alice, draft("one")).fragment
    calls: list[Callable[[Room], Any]] = [
        lambda it: [found.id for found in recall(it, Query(text="zebra tax")).fragments],
        lambda it: restore_context(it, types=("fact",)),
        lambda it: explore(it, one.id),
        lambda it: statistics_of(it),
    ]
    for call in calls:
        # Of recalling, an answer depends on what was counted before: the same question each time.
        assert call(cut(alice, team_database)) == call(alice)
    with pytest.raises(ConnectionCutError):
        explore(cut(alice, team_database, times=2), one.id)


def test_a_reading_that_was_cut_is_made_anew_in_one_state_and_a_change_is_refused(
    team_database: str, alice: Room
) -> None:
    with pytest.raises(ConnectionCutError, match="Make the same call again"):
        remember(cut(alice, team_database), draft("one"))
    assert not stored(team_database)
    one, tries = remember(alice, draft("one")).fragment.content, list[int]()
    assert stored(team_database) == {one: 1}

    @repeats_when_cut
    def counted(of: Room) -> tuple[int, int]:
        tries.append(1)
        with of.engine.reading() as reading:
            before = reading.count(Wanted())[""]
            remember(alice, draft("meanwhile"))
            return before, reading.count(Wanted())[""]

    assert counted(cut(alice, team_database)) == (1, 1) and len(tries) == 2

    @repeats_when_cut
    def refuses() -> None:  # for another reason: it is not tried again
        tries.append(1)
        raise ValueError

    with pytest.raises(ValueError):
        refuses()
    assert len(tries) == 3
