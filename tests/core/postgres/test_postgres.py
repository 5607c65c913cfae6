"""Tests connections to a PostgreSQL server: how they are lent, awaited, reported and made anew."""

import logging
import os
import threading
from collections.abc import Iterator
from typing import Any, get_args
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import DiskFull
from psycopg.pq import DiagnosticField

from core.errors import sentence_without_place
from core.postgres import address
from core.postgres.address import ConnectionCutError, NoConnectionError, Server, ServerError
from core.postgres.pool import Pool
from core.program import Cancellation
from core.room.database import DatabaseBusyError, DatabaseError, DatabaseWaitEndedError
from tests.support.real_engines import postgres
from tests.support.sentences import LANGUAGES, in_language, raised
from tests.support.servers import until
from tests.support.tables import table
from tests.support.team_engines import TeamServer, a_server
from tests.support.team_engines import team_database as team_database
from tests.support.team_engines import team_pool as team_pool
from tests.support.team_engines import team_server as team_server


@pytest.fixture
def pool(team_pool: Pool) -> Iterator[Pool]:
    with team_pool.transaction() as connection:
        connection.execute("CREATE TABLE agent_memory.plain (x int)")
        connection.execute("GRANT SELECT, INSERT ON agent_memory.plain TO sentinel_room")
    yield team_pool
    with team_pool.transaction() as connection:
        connection.execute("DROP TABLE agent_memory.plain")


def counted(pool: Pool) -> int:
    with pool.transaction(changes=False) as connection:
        row = connection.execute("SELECT count(*) FROM plain").fetchone()
    return int(row[0]) if row else -1


def kill(pool: Pool, process: int) -> None:
    with pool.login_transaction() as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (process,))


@pytest.mark.row("002 2.95.a")
def test_a_transaction_that_ends_badly_stores_nothing_and_says_what_is_known(pool: Pool) -> None:
    with pytest.raises(ConnectionCutError) as cut, pool.transaction(agent="alice") as connection:
        connection.execute("INSERT INTO plain VALUES (1)")
        kill(pool, connection.info.backend_pid)
        connection.execute("INSERT INTO plain VALUES (2)")
    assert "Nothing of this call was stored" in str(cut.value)
    with pytest.raises(DatabaseError) as undone, pool.transaction(agent="alice") as connection:
        connection.execute("INSERT INTO plain VALUES (1)")
        with pytest.raises(psycopg.Error):  # swallowed inside, and told at the end
            connection.execute("SELECT nothing")
    assert "undid" in str(undone.value)
    with pytest.raises(ZeroDivisionError), pool.transaction(agent="alice") as connection:
        connection.execute("INSERT INTO plain VALUES (1)")
        raise ZeroDivisionError
    with pytest.raises(ServerError) as reading, pool.transaction(changes=False) as connection:
        connection.execute("INSERT INTO plain VALUES (1)")
    assert "takes no changes" in str(reading.value)
    assert counted(pool) == 0
    with raised(ServerError, "unknown") as told, pool.transaction(agent="alice") as connection:
        connection.execute("INSERT INTO plain VALUES (1)")
        kill(pool, connection.info.backend_pid)
    assert "Look before you repeat" in str(told.value)
    assert counted(pool) == 0


@pytest.mark.row("002 2.71.b", "002 2.71.c")
def test_a_full_pool_is_told_in_time_and_a_slow_statement_is_ended(team_database: str) -> None:
    pool = Pool(a_server(team_database, DB_MAX_CONNECTIONS="1", DB_CONN_TIMEOUT_MS="300"))
    one, another = pool.transaction(changes=False), pool.transaction(changes=False)
    with one, pytest.raises(address.ServerBusyError, match="DB_MAX_CONNECTIONS"), another:
        pytest.fail("there were two connections")
    pool.close()
    pool = Pool(a_server(team_database, DB_QUERY_TIMEOUT="100"))
    with raised(ServerError, "slow"), pool.transaction() as connection:
        connection.execute("SELECT pg_sleep(600)")
    pool.close()


@pytest.mark.row("002 2.70.d")
def test_no_setting_of_a_server_changes_what_is_read(team_database: str) -> None:
    odd = quote("-c TimeZone=Asia/Seoul -c DateStyle=German -c row_security=off")
    pool = Pool(a_server(f"{team_database}&options={odd}", DB_PREPARED_STATEMENTS="off"))
    asked = "SELECT timestamptz '2026-05-01T10:00Z'::text, current_setting('row_security')"
    with pool.transaction(agent="alice") as connection:
        assert connection.execute(asked).fetchone() == ("2026-05-01 10:00:00+00", "on")
        assert connection.prepare_threshold is None
    pool.close()


@pytest.mark.row("002 2.71.a")
def test_a_connection_that_nobody_uses_is_let_go_of(team_database: str) -> None:
    pool = Pool(a_server(team_database, DB_IDLE_TIMEOUT_MS="100"))
    with pool.transaction(changes=False):
        pass
    until(lambda: not pool.count_connections()["db_connections_idle"])
    pool.close()


def test_one_agents_changes_wait_for_each_other_until_the_call_is_cancelled(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.postgres.pool._SLICE_S", 0.05)

    def turn_of_alice() -> None:
        with pool.transaction(agent="alice", wait_s=600):
            pass

    patient = threading.Thread(target=turn_of_alice)
    with pool.transaction(agent="alice"):
        with pool.transaction(agent="bob") as connection:
            connection.execute("INSERT INTO plain VALUES (1)")
        with pool.transaction(agent="alice", changes=False):
            pass
        patient.start()
        for agent in ("alice", ""):
            with pytest.raises(DatabaseBusyError), pool.transaction(agent=agent, wait_s=0.1):
                pytest.fail("it had its turn")
        assert patient.is_alive()  # so those waits ended before this one
    patient.join()
    upkeep, alice = pool.transaction(), pool.transaction(agent="alice", wait_s=0.1)
    with upkeep, pytest.raises(DatabaseBusyError), alice:
        pytest.fail("it had its turn")
    looks = list[int]()

    def is_cancelled() -> bool:
        looks.append(1)
        return len(looks) > 2

    other = Pool(pool.server, cancellation=Cancellation(is_cancelled))
    one, another = pool.transaction(agent="alice"), other.transaction(agent="alice", wait_s=600)
    with one, pytest.raises(DatabaseWaitEndedError), another:
        pytest.fail("it had its turn")
    assert len(looks) == 3
    other.close()


def test_a_lock_is_had_by_one_and_let_go_by_who_is_killed(pool: Pool, team_database: str) -> None:
    limited = Pool(a_server(f"{team_database}&options=-c%20transaction_timeout%3D1s"))
    with limited.lock("upkeep", timeout_s=0):
        with pytest.raises(DatabaseBusyError), pool.lock("upkeep", timeout_s=1.5):
            pytest.fail("two have it")
        with pool.lock("another", timeout_s=0):
            pass
        with pool.login_transaction() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks"
                " WHERE locktype = 'advisory' AND pid <> pg_backend_pid() AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        with pool.lock("upkeep", timeout_s=60):
            pass


@pytest.mark.row("002 2.70.e")
def test_a_failed_connection_is_told_to_its_caller_alone_and_without_the_password(
    caplog: pytest.LogCaptureFixture, team_server: TeamServer
) -> None:
    caplog.set_level(logging.DEBUG)
    real, secret = team_server.postgres, "s3cr3t-of-mine"
    socket = f"?host={real.directory}&password={secret}"
    for wrong in (f":{secret}%zz@/x", f":{secret}@/%ff", f"@/postgres{socket}&nonsense=1"):
        with raised(ServerError, "bad_address") as refused:
            address.server_of(f"postgresql://owner{wrong}", {})
        assert secret not in str(refused.value) + in_language("ko", str, refused.value)
    for place in (
        f"postgresql://owner:{secret}@127.0.0.1:1/x",
        f"postgresql://nobody@/postgres{socket}",
        f"postgresql://owner@/no_such_database{socket}",
    ):
        pool = Pool(Server(place, wait_s=2.0))
        for begun in (pool.transaction(), pool.lock("x", timeout_s=0)):
            with pytest.raises(NoConnectionError) as told, begun:
                pytest.fail("it began")
            shown = str(told.value), in_language("ko", str, told.value), repr(pool.server)
            assert not [text for text in (*shown, pool.server.name) if secret in text]
        pool.close()
    assert secret not in caplog.text and "does not answer" not in caplog.text


def test_from_the_login_of_agents_nothing_leads_to_upkeep_and_a_stronger_one_is_refused(
    team_pool: Pool, team_database: str, request: pytest.FixtureRequest
) -> None:
    def as_owner(statements: str) -> None:
        with team_pool.login_transaction() as connection:
            connection.execute(statements)

    user = f"agents_{os.getpid()}"  # it may take the role of agents alone
    as_owner(f"CREATE ROLE {user} LOGIN; GRANT sentinel_room TO {user}")
    request.addfinalizer(lambda: as_owner(f"DROP ROLE {user}"))
    pool = Pool(a_server(team_database, POSTGRES_ROOM_USER=user), path=team_pool.path)
    with pool.transaction() as connection:
        connection.execute("INSERT INTO papers (kind, key) VALUES ('key', 'x')")
    for tried in ("SET ROLE sentinel_upkeep", "RESET ROLE; SELECT * FROM papers",
                  "SET SESSION AUTHORIZATION owner"):  # fmt: skip
        with raised(ServerError, "denied"), pool.transaction(agent="alice") as connection:
            assert connection.info.user == user
            connection.execute(tried)
    pool.close()
    as_owner(f"ALTER ROLE {user} BYPASSRLS")
    for strong in (user, "owner"):
        pool = Pool(a_server(team_database, POSTGRES_ROOM_USER=strong))
        with pool.transaction():
            pass
        with raised(ServerError, "strong_login"), pool.transaction(agent="alice"):
            pytest.fail("it began")
        pool.close()


@pytest.mark.long  # it costs much
def test_a_database_without_the_roles_is_refused_with_the_command() -> None:
    with postgres() as running:  # roles are of a whole server
        pool = Pool(a_server(running.dsn()))
        with raised(ServerError, "no_roles") as told, pool.transaction(agent="alice"):
            pytest.fail("it began")
        assert "fragments migrate" in str(told.value)
        pool.close()


# The server that an address and the environment name, and the sentences of its failures.

TABLES = table("postgres_server")
NAMES = TABLES["names"]


@pytest.mark.row("002 2.70.a", "002 2.70.c")
def test_the_parts_of_an_address_stand_and_the_rest_comes_from_the_environment() -> None:
    for place, name in TABLES["the names of addresses"]:
        server = address.server_of(place, NAMES)
        assert server.name == name
        assert "hidden" not in repr(server)
    wanted = {"host": "db.example", "port": "6432", "dbname": "memory"}
    for place in ("postgresql://", "POSTGRES://", "postgresql:///"):
        server = address.server_of(place, NAMES)
        login = {"user": "al/ice", "password": "p@ss/w:rd%"}
        assert conninfo_to_dict(server.dsn) == wanted | login
        assert server.name == "postgresql://al/ice@db.example:6432/memory"
        assert "p@ss" not in repr(server)
        assert server.room_dsn == "" and address.is_server(place)
    # Agents may have a login of their own.
    given = {**NAMES, "POSTGRES_ROOM_USER": "ag/ents", "POSTGRES_ROOM_PASSWORD": "o:ther@"}
    for place in ("postgresql://", "postgresql://bob:x@db.example/memory?user=eve&passfile=f"):
        server = address.server_of(place, given)
        login = {"user": "ag/ents", "password": "o:ther@"}
        assert conninfo_to_dict(server.room_dsn) == wanted | login
        assert "o:ther" not in repr(server) + server.name


@pytest.mark.row("002 2.70.a", "002 2.70.b", "002 2.70.c", "002 2.70.d", "002 2.70.e")
@pytest.mark.row("002 2.70.f", "002 2.71", "002 2.71.a", "002 2.71.b", "002 2.71.c")
def test_parts_and_figures_come_from_the_environment_and_a_wrong_one_is_refused() -> None:
    for name, part, value in TABLES["parts of an address"]:
        short, long = "DB_NAME" if name == "DB" else f"DB_{name}", f"POSTGRES_{name}"
        for given in ({short: value}, {long: value}, {long: value, short: "1"}):
            assert conninfo_to_dict(address.server_of("postgresql://", given).dsn)[part] == value
    for given, figures in TABLES["figures"]:
        server = address.server_of("postgresql://h/d", given)
        assert {name: getattr(server, name) for name in figures} == figures
    for name in ("DB_MAX_CONNECTIONS", "DB_CONN_TIMEOUT_MS", "DB_PORT"):
        for value in TABLES["wrong figures"]:
            with pytest.raises(address.ServerSettingError, match=name) as told:
                address.server_of("postgresql://h/d", {name: value})
            assert isinstance(told.value, ValueError)
            assert value != "many" or value not in str(told.value)


WHERE = 'connection to server at "127.0.0.1", port 5432 failed: '


def test_an_error_of_libpq_is_told_by_its_cause_and_without_places_to_a_client_elsewhere() -> None:
    for told_as, key, reason in TABLES["said by libpq"]:
        text = f"{WHERE}{told_as.replace('WHERE ', WHERE)}"
        told = address.connection_error_of("postgresql://a@h/d", psycopg.OperationalError(text))
        assert told.key == key
        assert f"{reason})" in str(told) if reason else "does not let this user in" in str(told)
    for lang in LANGUAGES:
        for why in TABLES["not told elsewhere"]:
            cause = psycopg.OperationalError(why)
            error = address.connection_error_of("postgresql://a@db.internal/d", cause)
            shown = in_language(lang, sentence_without_place, error)
            assert ("the server's log says why" if lang == "en" else "이유는 서버 로그에") in shown
            for piece in ("/run/db", "db.internal", "db.other", "10.0.0.5", '"a"', "postgresql://"):
                assert piece not in shown
            reason = why.rpartition("FATAL:  ")[2]
            assert reason in in_language(lang, str, error)  # the operator is told


# As PostgreSQL 18 told_as it while it recovered from a full disk.
RECOVERING = """connection failed: FATAL:  the database system is not yet accepting connections
DETAIL:  Consistent recovery state has not been yet reached."""


def failed(severity: bytes) -> DiskFull:
    return DiskFull("No space left", info={DiagnosticField.SEVERITY_NONLOCALIZED: severity})


def test_a_full_disk_and_the_end_of_a_server_say_whether_anything_may_be_stored() -> None:
    def told_as(error: psycopg.Error, phase: address.Phase) -> Any:
        return address.error_of("postgresql://h/d", error, phase, query_s=30, waited_s=10)

    for phase in get_args(address.Phase):
        error = told_as(failed(b"ERROR"), phase)
        assert isinstance(error, ServerError) and error.key == "disk_full"
        assert "is full. Nothing was saved" in str(error)
    assert told_as(failed(b"PANIC"), "commit").key == "unknown"
    assert told_as(failed(b"PANIC"), "body").key == "disk_full"
    too_long = psycopg.OperationalError("too long", info={DiagnosticField.SQLSTATE: b"25P04"})
    assert isinstance(told_as(too_long, "body"), ConnectionCutError)
    error = address.connection_error_of("postgresql://h/d", psycopg.OperationalError(RECOVERING))
    assert error.key == "unreachable"
    assert "not yet accepting connections" in str(error) and "DETAIL" not in str(error)
