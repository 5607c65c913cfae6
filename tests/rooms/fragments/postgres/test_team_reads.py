"""Tests what a call answers whose connection is cut."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import psycopg
import pytest

from core.postgres.errors import ConnectionCutError
from rooms.fragments.context import restore_context
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Wanted
from rooms.fragments.links import explore
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room, repeats_when_cut
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.rows import Rows
from rooms.fragments.upkeep.statistics import statistics_of
from tests.support.team_crowd import draft, stored, team_room
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server


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


@pytest.fixture
def dsn(team_server: TeamServer) -> str:
    return team_server.emptied_dsn()


def cut(room: Room, dsn: str, *, times: int = 1) -> Room:
    return replace(room, engine=cast(Engine, Cut(room.engine, dsn, times=times)))


@pytest.mark.long  # it costs much
def test_every_tool_that_reads_answers_all_the_same(dsn: str) -> None:
    room = team_room(dsn).for_agent("alice")
    one = remember(room, draft("one")).fragment
    calls: list[Callable[[Room], Any]] = [
        lambda it: [found.id for found in recall(it, Query(text="zebra tax")).fragments],
        lambda it: restore_context(it, types=("fact",)),
        lambda it: explore(it, one.id),
        lambda it: statistics_of(it),
    ]
    for call in calls:
        # Of recalling, an answer depends on what was counted before: the same question each time.
        assert call(cut(room, dsn)) == call(room)
    with pytest.raises(ConnectionCutError):
        explore(cut(room, dsn, times=2), one.id)
    room.engine.close()


def test_a_reading_that_was_cut_is_made_anew_in_one_state(dsn: str) -> None:
    room = team_room(dsn).for_agent("alice")
    remember(room, draft("one"))
    tries = list[int]()

    @repeats_when_cut
    def counted(of: Room) -> tuple[int, int]:
        tries.append(1)
        with of.engine.reading() as reading:
            before = reading.count(Wanted())[""]
            remember(room, draft("meanwhile"))
            return before, reading.count(Wanted())[""]

    assert counted(cut(room, dsn)) == (1, 1) and len(tries) == 2
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


def test_a_change_that_is_cut_is_refused_and_not_made_again(dsn: str) -> None:
    room = team_room(dsn).for_agent("alice")
    with pytest.raises(ConnectionCutError, match="Make the same call again"):
        remember(cut(room, dsn), draft("one"))
    assert not stored(dsn)
    remember(room, draft("one"))
    assert list(stored(dsn).values()) == [1]
    room.engine.close()
