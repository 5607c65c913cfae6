"""Tests which server an address and the environment name, and what its failures are told as.

The rows stand in tests/data/postgres_server.json.
"""

from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import DiskFull, TransactionTimeout
from psycopg.pq import DiagnosticField

from core.errors import placeless
from core.messages import Language
from core.postgres.server import (
    ConnectionCutError,
    Phase,
    ServerError,
    ServerSettingError,
    error_of,
    failed_connection,
    server_of,
)
from tests.support.sentences import in_language
from tests.support.tables import table

TABLES = table("postgres_server")
NAMES = TABLES["names"]


@pytest.mark.row("002 2.70.a", "002 2.70.c")
def test_what_an_address_leaves_out_comes_from_the_environment() -> None:
    wanted = {"host": "db.example", "port": "6432", "dbname": "memory"}
    for place in ("postgresql://", "POSTGRES://", "postgresql:///"):
        server = server_of(place, NAMES)
        login = {"user": "al/ice", "password": "p@ss/w:rd%"}
        assert conninfo_to_dict(server.dsn) == wanted | login
        assert server.name == "postgresql://al/ice@db.example:6432/memory"
        assert "p@ss" not in repr(server)
        assert server.room_dsn == ""
    # Agents may have a login of their own.
    given = {**NAMES, "POSTGRES_ROOM_USER": "ag/ents", "POSTGRES_ROOM_PASSWORD": "o:ther@"}
    for place in ("postgresql://", "postgresql://bob:x@db.example/memory?user=eve&passfile=f"):
        server = server_of(place, given)
        login = {"user": "ag/ents", "password": "o:ther@"}
        assert conninfo_to_dict(server.room_dsn) == wanted | login
        assert "o:ther" not in repr(server) + server.name


@pytest.mark.row("002 2.70.a")
@pytest.mark.parametrize(("place", "name"), TABLES["what an address says"])
def test_what_an_address_says_stands(place: str, name: str) -> None:
    server = server_of(place, NAMES)
    assert server.name == name
    assert "hidden" not in repr(server)


@pytest.mark.row("002 2.70.a", "002 2.70.b", "002 2.70.c", "002 2.70.d", "002 2.70.e", "002 2.70.f")
@pytest.mark.parametrize(("name", "part", "value"), TABLES["parts of an address"])
def test_each_name_is_read_and_the_longer_one_wins(name: str, part: str, value: str) -> None:
    short, long = "DB_NAME" if name == "DB" else f"DB_{name}", f"POSTGRES_{name}"
    for given in ({short: value}, {long: value}, {long: value, short: "1"}):
        assert conninfo_to_dict(server_of("postgresql://", given).dsn)[part] == value


@pytest.mark.row("002 2.70.b", "002 2.71", "002 2.71.a", "002 2.71.b", "002 2.71.c")
def test_figures_are_those_of_the_environment_and_a_wrong_one_is_refused_without_its_value() -> (
    None
):
    for given, figures in TABLES["figures"]:
        server = server_of("postgresql://h/d", given)
        assert {name: getattr(server, name) for name in figures} == figures
    for name in ("DB_MAX_CONNECTIONS", "DB_CONN_TIMEOUT_MS", "DB_PORT"):
        for value in TABLES["wrong figures"]:
            with pytest.raises(ServerSettingError, match=name) as told:
                server_of("postgresql://h/d", {name: value})
            assert isinstance(told.value, ValueError)
            assert value != "many" or value not in str(told.value)


WHERE = 'connection to server at "127.0.0.1", port 5432 failed: '


@pytest.mark.parametrize(("said", "key", "reason"), TABLES["said by libpq"])
def test_what_libpq_says_is_told_as_what_happened(said: str, key: str, reason: str) -> None:
    text = f"{WHERE}{said.replace('WHERE ', WHERE)}"
    told = failed_connection("postgresql://a@h/d", psycopg.OperationalError(text))
    assert told.key == key
    assert f"{reason})" in str(told) if reason else "does not let this user in" in str(told)


# As PostgreSQL 18 said it while it recovered from a full disk.
RECOVERING = """connection failed: FATAL:  the database system is not yet accepting connections
DETAIL:  Consistent recovery state has not been yet reached."""


def said(error: psycopg.Error, phase: Phase) -> Any:
    return error_of("postgresql://h/d", error, phase, query_s=30, waited_s=10)


def failed(severity: bytes) -> DiskFull:
    return DiskFull("No space left", info={DiagnosticField.SEVERITY_NONLOCALIZED: severity})


def test_a_full_disk_and_the_end_of_a_server_are_told_as_what_may_have_been_stored() -> None:
    phases: tuple[Phase, ...] = ("begin", "body", "commit")
    for phase in phases:
        error = said(failed(b"ERROR"), phase)
        assert isinstance(error, ServerError) and error.key == "disk_full"
        assert "is full. Nothing was saved" in str(error)
    assert said(failed(b"PANIC"), "commit").key == "unknown"
    assert said(failed(b"PANIC"), "body").key == "disk_full"
    assert isinstance(said(TransactionTimeout("too long"), "body"), ConnectionCutError)
    error = failed_connection("postgresql://h/d", psycopg.OperationalError(RECOVERING))
    assert error.key == "unreachable"
    assert "not yet accepting connections" in str(error) and "DETAIL" not in str(error)


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("why", TABLES["not told elsewhere"])
def test_a_client_elsewhere_is_not_told_where_the_server_is(why: str, lang: Language) -> None:
    error = failed_connection("postgresql://a@db.internal/d", psycopg.OperationalError(why))
    shown = in_language(lang, placeless, error)
    assert ("the server's log says why" if lang == "en" else "이유는 서버 로그에") in shown
    for piece in ("/run/db", "db.internal", "db.other", "10.0.0.5", '"a"', "postgresql://"):
        assert piece not in shown
    assert why.rpartition("FATAL:  ")[2] in in_language(lang, str, error)  # the operator is told
