"""Tests that a team's database of version 3 of the tables is upgraded, with data and answers."""

import hashlib
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.config import Settings
from rooms.fragments.fragment import Query, Wanted
from rooms.fragments.recall import recall
from rooms.fragments.room import Config, Room
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.rows import INDEX_STATE
from tests.support.tables import ROOT
from tests.support.team_engines import TeamServer, a_server

# Made by version 0.10 with `pg_dump --no-comments`, and what that version answered over it.
DUMP, ANSWERS = ROOT / "tests/data/team_version_3.sql", ROOT / "tests/data/team_version_3.json"
_TABLES = """SELECT relname::text FROM pg_class WHERE relkind = 'r'
  AND relnamespace = 'agent_memory'::regnamespace ORDER BY 1"""
# What the upgrade is there to change.
_OTHER_TABLES = {"schema_version", "fragment_terms"}
_OTHER_COLUMNS = {"found_by", "former", "revision", "made_in", "made_at"}  # of the index


@pytest.fixture
def dsn(team_server: TeamServer) -> str:
    return restored(team_server, DUMP)


def restored(team_server: TeamServer, dump: Path) -> str:
    """The address of a new database into which a dump was read, as docs/operators has it."""
    dsn = team_server.empty_dsn()
    copy = team_server.postgres.directory / dump.name
    shutil.copyfile(dump, copy)
    copy.chmod(0o644)
    team_server.postgres.run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", str(copy), "-d", dsn)
    return dsn


def contents(dsn: str) -> dict[str, list[Any]]:
    """The rows of each table."""
    with psycopg.connect(dsn) as connection:
        tables = {name for (name,) in connection.execute(_TABLES)} - _OTHER_TABLES
        return {name: _rows(connection, name) for name in sorted(tables)}


def _rows(connection: psycopg.Connection[Any], table: str) -> list[Any]:
    rows = connection.execute(f"SELECT to_jsonb(t) FROM agent_memory.{table} t").fetchall()
    kept = (
        {key: row[key] for key in row.keys() - _OTHER_COLUMNS}
        for (row,) in rows
        if row.get("name") != INDEX_STATE
    )
    return sorted(kept, key=lambda row: json.dumps(row, sort_keys=True))


def vector(text: str) -> bytes:
    """The vector that the texts of the dump have."""
    floats = [byte / 255 - 0.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]
    norm = sum(number * number for number in floats) ** 0.5
    return struct.pack("<8f", *(number / norm for number in floats))


def answers(dsn: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What the questions of a recording are answered over a database."""
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    room = Room(
        engine=engine,
        config=Config(path=Path("unused")),
        settings=Settings(),
        clock=lambda: str(asked["clock"]),
    )

    def of(agent: str) -> Room:
        return room.for_agent(agent) if agent else room

    found: dict[str, Any] = {"recalls": [], "keywords": [], "near": [], "worth": []}
    for each in asked["recalls"]:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in each["query"].items()
        }
        answer = recall(of(each["agent"]), Query(**given), count=lambda *_: None)
        ids = [fragment.id for fragment in answer.fragments]
        linked = [it.fragment.id for it in answer.linked]
        found["recalls"].append(each | {"found": ids, "linked": linked})
    for name in ("keywords", "near", "worth"):
        for each in asked[name]:
            with of(each["agent"]).engine.reading() as rows:
                if name == "keywords":
                    some: Any = rows.with_keywords(each["words"], Wanted(), 20)
                elif name == "near":
                    some = rows.near(vector(each["text"]), Wanted(), 5)
                else:
                    some = [it.id for it in rows.find(Wanted(), order="worth", limit=12)]
            found[name].append(each | {"found": some})
    engine.close()
    as_read: dict[str, Any] = json.loads(json.dumps(found))
    return as_read | {"clock": asked["clock"]}


def test_a_database_of_version_3_is_upgraded_with_its_data_and_answers_alike(dsn: str) -> None:
    before, recorded = contents(dsn), json.loads(ANSWERS.read_text("utf-8"))
    assert answers(dsn, recorded) == recorded  # by the terms that the tables had
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    with engine.writing():  # as the upkeep, which also looks after the index
        pass
    engine.close()
    after = contents(dsn)
    for table in before:
        assert after[table] == before[table], table
    assert after.keys() == before.keys()
    assert answers(dsn, recorded) == recorded


_SECURITY = """SELECT tablename::text, policyname::text, cmd, qual, with_check FROM pg_policies
  UNION ALL SELECT relname, relrowsecurity::text, relforcerowsecurity::text, ARRAY(SELECT it::text
    FROM unnest(relacl) it WHERE it::text !~ '^sentinel_upkeep=')::text, ''
  FROM pg_class WHERE relnamespace = 'agent_memory'::regnamespace
  UNION ALL SELECT proname, prosecdef::text, proconfig::text, proacl::text, prosrc
  FROM pg_proc WHERE pronamespace = 'agent_memory'::regnamespace ORDER BY 1, 2, 3"""


@pytest.mark.row("002 2.80")
def test_a_dump_of_the_tables_is_restored_with_data_answers_and_security(
    team_server: TeamServer, dsn: str
) -> None:
    recorded = json.loads(ANSWERS.read_text("utf-8"))
    assert answers(dsn, recorded) == recorded  # which upgrades the tables
    server, dump = team_server.postgres, team_server.postgres.directory / "memory.dump"
    server.run("pg_dump", "--format=custom", "--file", str(dump), dsn)
    other = team_server.empty_dsn()
    server.run("pg_restore", "--exit-on-error", "--single-transaction", "-d", other, str(dump))
    assert contents(other) == contents(dsn)
    with psycopg.connect(dsn) as one, psycopg.connect(other) as another:
        assert one.execute(_SECURITY).fetchall() == another.execute(_SECURITY).fetchall()
    assert answers(other, recorded) == recorded
