"""Tests that a reading that is cut in the middle is made once more, and a change is not."""

import psycopg
import pytest

from core.postgres.errors import ConnectionCutError
from core.postgres.repeating import repeats_when_cut
from rooms.fragments.engine import Wanted
from rooms.fragments.postgres.adapter import PostgresEngine
from tests.support.engine_samples import a_fragment
from tests.support.team_engines import a_server
from tests.support.team_engines import team_database as team_database
from tests.support.team_engines import team_server as team_server


@pytest.fixture
def engine(team_database: str) -> PostgresEngine:
    return PostgresEngine(a_server(team_database), timeout_s=5)


def end_others(dsn: str) -> None:
    """End every other connection to a database, as a server does that hands over to another."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


class Cuts:
    """Ends the connections between two questions, so many times."""

    def __init__(self, engine: PostgresEngine, dsn: str, times: int) -> None:
        self.engine, self.dsn, self.left, self.tries = engine, dsn, times, 0

    @repeats_when_cut
    def read(self) -> tuple[int, int]:
        self.tries += 1
        with self.engine.reading() as reading:
            before = reading.count(Wanted())[""]
            if self.left:
                self.left -= 1
                end_others(self.dsn)
                with self.engine.writing() as writing:  # the second try sees one state, too
                    writing.add([a_fragment(f"f{self.tries}")])
            return before, reading.count(Wanted())[""]


def test_a_reading_that_was_cut_is_made_anew_in_one_state(
    engine: PostgresEngine, team_database: str
) -> None:
    with engine.writing() as writing:
        writing.add([a_fragment("first")])
    cuts = Cuts(engine, team_database, times=1)
    assert cuts.read() == (2, 2) and cuts.tries == 2


def test_a_reading_that_is_cut_again_is_refused(engine: PostgresEngine, team_database: str) -> None:
    with engine.writing() as writing:
        writing.add([a_fragment("first")])
    cuts = Cuts(engine, team_database, times=2)
    with pytest.raises(ConnectionCutError):
        cuts.read()
    assert cuts.tries == 2


def test_what_fails_for_another_reason_is_not_tried_again() -> None:
    tries = list[int]()

    @repeats_when_cut
    def refuses() -> None:
        tries.append(1)
        raise ValueError

    with pytest.raises(ValueError):
        refuses()
    assert tries == [1]
