"""Tests which server an address and the environment name, and what its failures are told as."""

from typing import Any

import psycopg
import pytest
from psycopg.errors import DiskFull, TransactionTimeout
from psycopg.pq import DiagnosticField

from core.errors import placeless
from core.messages import Language
from core.postgres.errors import (
    ConnectionCutError,
    Phase,
    ServerError,
    ServerSettingError,
    error_of,
    failed_connection,
)
from core.postgres.server import server_of
from tests.support.sentences import in_language

NAMES = {
    "POSTGRES_HOST": "db.example",
    "DB_HOST": "other.example",
    "DB_PORT": "6432",
    "DB_NAME": "memory",
    "POSTGRES_USER": "al/ice",
    "DB_PASSWORD": "p@ss/w:rd%",
}


@pytest.mark.row("002 2.70.a", "002 2.70.c")
def test_what_an_address_leaves_out_comes_from_the_environment() -> None:
    from psycopg.conninfo import conninfo_to_dict

    for place in ("postgresql://", "POSTGRES://", "postgresql:///"):
        server = server_of(place, NAMES)
        assert conninfo_to_dict(server.dsn) == {
            "host": "db.example",
            "port": "6432",
            "dbname": "memory",
            "user": "al/ice",
            "password": "p@ss/w:rd%",
        }
        assert server.name == "postgresql://al/ice@db.example:6432/memory"
        assert "p@ss" not in repr(server)


@pytest.mark.row("002 2.70.a")
@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("postgresql://bob:x@h/d", "postgresql://bob@h:6432/d"),
        ("postgresql://bob:x@h:1/d?sslmode=require", "postgresql://bob@h:1/d"),
        ("postgresql://bob@[::1]:1/d?password=hidden", "postgresql://bob@[::1]:1/d"),
        ("postgresql://bob:x@/d?host=/run/pg&port=2", "postgresql://bob@/run/pg:2/d"),
    ],
)
def test_what_an_address_says_stands(place: str, name: str) -> None:
    server = server_of(place, NAMES)
    assert server.name == name
    assert "hidden" not in repr(server)


@pytest.mark.row("002 2.71", "002 2.71.a", "002 2.71.c")
def test_figures_are_those_of_the_environment_or_the_defaults() -> None:
    server = server_of("postgresql://h/d", {})
    assert (server.most_connections, server.idle_s, server.wait_s) == (20, 30.0, 10.0)
    assert (server.query_s, server.prepares) == (30.0, True)
    given = {"DB_MAX_CONNECTIONS": " 3 ", "DB_QUERY_TIMEOUT": "250"}
    server = server_of("postgresql://h/d", {**given, "DB_PREPARED_STATEMENTS": "off"})
    assert (server.most_connections, server.query_s, server.prepares) == (3, 0.25, False)


@pytest.mark.row("002 2.70.b")
@pytest.mark.parametrize("name", ["DB_MAX_CONNECTIONS", "DB_CONN_TIMEOUT_MS", "DB_PORT"])
@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "٣", "9" * 30])
def test_a_wrong_figure_is_refused_without_its_value(name: str, value: str) -> None:
    with pytest.raises(ServerSettingError, match=name) as told:
        server_of("postgresql://h/d", {name: value})
    assert isinstance(told.value, ValueError)
    assert value != "many" or value not in str(told.value)


NO_ADDRESS = {
    "HOST": ("db.example", "host"),
    "PORT": ("6432", "port"),
    "USER": ("alice", "user"),
    "PASSWORD": ("secret", "password"),
}


@pytest.mark.row("002 2.70.a", "002 2.70.b", "002 2.70.c", "002 2.70.d", "002 2.70.e", "002 2.70.f")
@pytest.mark.parametrize("name", [*NO_ADDRESS, "DB"])
def test_each_name_is_read_and_the_longer_one_wins(name: str) -> None:
    from psycopg.conninfo import conninfo_to_dict

    value, part = NO_ADDRESS.get(name, ("memory", "dbname"))
    short, long = "DB_NAME" if name == "DB" else f"DB_{name}", f"POSTGRES_{name}"
    for given in ({short: value}, {long: value}, {long: value, short: "1"}):
        assert conninfo_to_dict(server_of("postgresql://", given).dsn)[part] == value


@pytest.mark.row("002 2.71.a", "002 2.71.b")
def test_times_of_the_environment_are_thousandths_of_a_second() -> None:
    given = {"DB_IDLE_TIMEOUT_MS": "1500", "DB_CONN_TIMEOUT_MS": "250"}
    server = server_of("postgresql://h/d", given)
    assert (server.idle_s, server.wait_s) == (1.5, 0.25)


def test_agents_may_have_a_login_of_their_own() -> None:
    from psycopg.conninfo import conninfo_to_dict

    given = {**NAMES, "POSTGRES_ROOM_USER": "ag/ents", "POSTGRES_ROOM_PASSWORD": "o:ther@"}
    for place in ("postgresql://", "postgresql://bob:x@db.example/memory?user=eve&passfile=f"):
        server = server_of(place, given)
        assert conninfo_to_dict(server.room_dsn) == {
            "host": "db.example",
            "port": "6432",
            "dbname": "memory",
            "user": "ag/ents",
            "password": "o:ther@",
        }
        assert "o:ther" not in repr(server) + server.name
    assert server_of("postgresql://", NAMES).room_dsn == ""


WHERE = 'connection to server at "127.0.0.1", port 5432 failed: '
NO_ENTRY = f'{WHERE}FATAL:  no pg_hba.conf entry for host "127.0.0.1", user "a", database "d", '
WRONG_PASSWORD = f'{WHERE}FATAL:  password authentication failed for user "a"'


@pytest.mark.parametrize(
    ("said", "key", "reason"),
    [
        (
            'server certificate for "db.other" does not match host name "localhost"',
            "not_proven",
            f'{WHERE}server certificate for "db.other" does not match host name "localhost"',
        ),
        (
            "SSL error: certificate verify failed",
            "not_proven",
            f"{WHERE}SSL error: certificate verify failed",
        ),
        (
            "Connection refused\n\tIs the server running on that host and accepting"
            " TCP/IP connections?",
            "unreachable",
            f"{WHERE}Connection refused",
        ),
        ("fe_sendauth: no password supplied", "login", ""),
        (f"{WRONG_PASSWORD}\n{NO_ENTRY}no encryption".removeprefix(WHERE), "login", ""),
        (f"{NO_ENTRY}no encryption".removeprefix(WHERE), "no_entry", 'd", no encryption'),
        (
            f"{NO_ENTRY}SSL encryption\n{NO_ENTRY}no encryption".removeprefix(WHERE),
            "no_entry",
            'd", SSL encryption',
        ),
    ],
)
def test_what_libpq_says_is_told_as_what_happened(said: str, key: str, reason: str) -> None:
    from psycopg import OperationalError

    told = failed_connection("postgresql://a@h/d", OperationalError(f"{WHERE}{said}"))
    assert told.key == key
    assert f"{reason})" in str(told) if reason else "does not let this user in" in str(told)


# As PostgreSQL 18 said it while it recovered from a full disk.
RECOVERING = """connection failed: FATAL:  the database system is not yet accepting connections
DETAIL:  Consistent recovery state has not been yet reached."""


def said(error: psycopg.Error, phase: Phase) -> Any:
    return error_of("postgresql://h/d", error, phase, query_s=30, waited_s=10)


def failed(severity: bytes) -> DiskFull:
    return DiskFull("No space left", info={DiagnosticField.SEVERITY_NONLOCALIZED: severity})


@pytest.mark.parametrize("phase", ["begin", "body", "commit"])
def test_a_full_disk_is_said_to_be_one(phase: Phase) -> None:
    error = said(failed(b"ERROR"), phase)
    assert isinstance(error, ServerError) and error.key == "disk_full"
    assert "is full. Nothing was saved" in str(error)


def test_a_server_that_ends_itself_at_the_commit_may_have_stored_the_change() -> None:
    assert said(failed(b"PANIC"), "commit").key == "unknown"
    assert said(failed(b"PANIC"), "body").key == "disk_full"


def test_a_limit_that_ends_the_connection_is_told_as_its_end() -> None:
    assert isinstance(said(TransactionTimeout("too long"), "body"), ConnectionCutError)


def test_a_server_that_still_recovers_does_not_answer_yet() -> None:
    error = failed_connection("postgresql://h/d", psycopg.OperationalError(RECOVERING))
    assert error.key == "unreachable"
    assert "not yet accepting connections" in str(error) and "DETAIL" not in str(error)


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(
    "why",
    [
        'connection to server on socket "/run/db/.s.PGSQL.5432" failed: No such file or directory',
        'could not translate host name "db.internal" to address: Name or service not known',
        'FATAL:  no pg_hba.conf entry for host "10.0.0.5", user "a", database "d", no encryption',
        'server certificate for "db.other" does not match host name "db.internal"',
    ],
)
def test_a_client_elsewhere_is_not_told_where_the_server_is(why: str, lang: Language) -> None:
    error = failed_connection("postgresql://a@db.internal/d", psycopg.OperationalError(why))
    shown = in_language(lang, placeless, error)
    assert ("the server's log says why" if lang == "en" else "이유는 서버 로그에") in shown
    for piece in ("/run/db", "db.internal", "db.other", "10.0.0.5", '"a"', "postgresql://"):
        assert piece not in shown
    assert why.rpartition("FATAL:  ")[2] in in_language(lang, str, error)  # the operator is told
