"""Tests what `cli.py doctor` says of the fragments that a server keeps."""

import pytest

from core.postgres.pool import Pool
from tests.support.doctor_desk import Desk, Run
from tests.support.team_engines import TeamServer, a_server, team_server

__all__ = ["team_server"]  # a fixture

pytestmark = pytest.mark.long  # each costs much
PASSWORD = "correct-horse-battery"


def doctor(desk: Desk, *options: str, **variables: str) -> Run:
    """With all rights of whoever runs the tests: the server's socket is in a folder of its own."""
    return Run.placed("doctor", *options, **desk.place(**variables), is_bound=False)


def findings(desk: Desk, dsn: str) -> list[tuple[str, str, str]]:
    told = doctor(desk, "--json", SENTINEL_MEMORY_FRAGMENTS=dsn).told["fragments"]
    return [(it["kind"], it["severity"], it["facts"].get("names", "")) for it in told["findings"]]


def test_a_server_that_is_well_is_named_without_its_password(
    healthy: Desk, team_server: TeamServer
) -> None:
    dsn = team_server.new_dsn(password=PASSWORD)
    done = doctor(healthy, SENTINEL_MEMORY_FRAGMENTS=dsn)
    assert "✓ fragments 0" in done.lines[0], done.out
    done = doctor(healthy, "--json", SENTINEL_MEMORY_FRAGMENTS=dsn)
    assert "PostgreSQL 18" in done.out and "pgvector" in done.out and PASSWORD not in done.out
    assert findings(healthy, dsn) == []
    empty = findings(healthy, team_server.empty_dsn())
    assert empty == [("fragments_server_vectors", "note", "")]


def test_what_lets_agents_see_each_other_is_an_error(
    healthy: Desk, team_server: TeamServer
) -> None:
    dsn = team_server.new_dsn()
    pool = Pool(a_server(dsn))
    with pool.as_login() as connection:
        connection.execute("ALTER TABLE agent_memory.fragments NO FORCE ROW LEVEL SECURITY")
        connection.execute("ALTER TABLE agent_memory.papers DISABLE ROW LEVEL SECURITY")
    pool.close()
    expected = [("fragments_server_open", "error", "fragments, papers")]
    assert findings(healthy, dsn) == expected
    done = doctor(healthy, SENTINEL_MEMORY_FRAGMENTS=dsn)
    assert "row security is not forced on fragments, papers" in done.out
    mended = doctor(healthy, "--fix", "--yes", SENTINEL_MEMORY_FRAGMENTS=dsn)
    assert "secured the rows of all tables again" in mended.out, mended
    assert findings(healthy, dsn) == []


def test_keys_that_nobody_uses_and_a_redis_that_is_gone_are_named(
    healthy: Desk, team_server: TeamServer
) -> None:
    dsn = team_server.new_dsn()
    pool = Pool(a_server(dsn))
    with pool.as_login() as connection:
        for name, days in (("old laptop", 91), ("new laptop", 89)):
            connection.execute(
                "INSERT INTO agent_memory.papers (kind, key, body, made_at) VALUES ('key', %s,"
                " jsonb_build_object('name', %s::text), extract(epoch FROM now()) - %s * 86400)",
                (name, name, days),
            )
    pool.close()
    assert findings(healthy, dsn) == [("fragments_server_keys", "note", "old laptop")]
    given = {"SENTINEL_MEMORY_REDIS": f"redis://:{PASSWORD}@127.0.0.1:1"}
    done = doctor(healthy, SENTINEL_MEMORY_FRAGMENTS=dsn, **given)
    assert "redis://127.0.0.1:1/0: Redis is switched on and does not answer." in done.out
    assert PASSWORD not in done.out + done.errors


def test_a_server_that_does_not_answer_stops_no_pipeline(healthy: Desk) -> None:
    dsn = f"postgresql://ann:{PASSWORD}@127.0.0.1:1/team"
    for lang in ("en", "ko"):
        given = {"SENTINEL_MEMORY_FRAGMENTS": dsn, "SENTINEL_MEMORY_LANG": lang}
        done = doctor(healthy, **given, DB_CONN_TIMEOUT_MS="1000")
        assert done.code == 0 and "127.0.0.1" in done.out
        assert PASSWORD not in done.out + done.errors
    assert [it[:2] for it in findings(healthy, dsn)] == [("fragments_server_unusable", "error")]
