"""Tests what is told where PostgreSQL runs out of disk, ends itself, or recovers."""

from typing import Any

import psycopg
import pytest
from psycopg.errors import DiskFull, TransactionTimeout
from psycopg.pq import DiagnosticField

from core.errors import placeless
from core.messages import Language
from core.postgres.errors import (
    CommitUnknownError,
    ConnectionCutError,
    Phase,
    ServerError,
    ServerUnreachableError,
    failed_connection,
    told,
)
from tests.support.sentences import in_language

# As PostgreSQL 18 said it while it recovered from a full disk.
RECOVERING = """connection failed: FATAL:  the database system is not yet accepting connections
DETAIL:  Consistent recovery state has not been yet reached."""


def said(error: psycopg.Error, phase: Phase) -> Any:
    return told("postgresql://h/d", error, phase, query_s=30, waited_s=10)


def failed(severity: bytes) -> DiskFull:
    return DiskFull("No space left", info={DiagnosticField.SEVERITY_NONLOCALIZED: severity})


@pytest.mark.parametrize("phase", ["begin", "body", "commit"])
def test_a_full_disk_is_said_to_be_one(phase: Phase) -> None:
    error = said(failed(b"ERROR"), phase)
    assert isinstance(error, ServerError) and error.key == "disk_full"
    assert "is full. Nothing was saved" in str(error)


def test_a_server_that_ends_itself_at_the_commit_may_have_stored_the_change() -> None:
    assert isinstance(said(failed(b"PANIC"), "commit"), CommitUnknownError)
    assert said(failed(b"PANIC"), "body").key == "disk_full"


def test_a_limit_that_ends_the_connection_is_told_as_its_end() -> None:
    assert isinstance(said(TransactionTimeout("too long"), "body"), ConnectionCutError)


def test_a_server_that_still_recovers_does_not_answer_yet() -> None:
    error = failed_connection("postgresql://h/d", psycopg.OperationalError(RECOVERING))
    assert isinstance(error, ServerUnreachableError)
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
