"""Tests servers as they are found elsewhere: standbys, poolers, those without the extension."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from core.config import FRAGMENTS_PLACE, Settings
from core.postgres.pool import Pool
from core.postgres.server import Server, ServerError
from core.room.full_text import INDEXED_VERSION
from rooms.fragments.fragment import Embedding, Fragment, ServiceError, Wanted
from rooms.fragments.models.vectors import fill, vector_of
from rooms.fragments.room import Room, read_config
from rooms.fragments.storage import postgres_schema as schema
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.postgres_schema import Schema
from rooms.fragments.upkeep.health import look
from tests.support.cli_process import Run
from tests.support.real_engines import postgres
from tests.support.stand_in_service import StandIn, embedder
from tests.support.stand_in_service import service as service
from tests.support.team_engines import TeamServer, a_server


def engine_of(pool: Pool) -> PostgresEngine:
    return PostgresEngine(pool.server, timeout_s=10.0)


def wrong(server: Server) -> list[str]:
    """What is wrong with the fragments of a server."""
    found = look(Settings(), {FRAGMENTS_PLACE: server.dsn})
    return [it.kind.rpartition(".")[2] for it in found if it.severity != "ok"]


@pytest.fixture
def without_vectors(team_server: TeamServer) -> Iterator[Pool]:
    """A database whose tables were made before it got the extension, with one fragment."""
    dsn = team_server.empty_dsn()
    pool = Pool(a_server(dsn))
    statements = schema.script(replace(Schema(pool).look(), has_vectors=False))
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    engine = engine_of(pool)
    with engine.writing() as writing:
        writing.add([Fragment(id="one", content="kept as it is", topic="t", keywords=("kept",))])
    engine.close()
    yield pool
    pool.close()


def test_no_service_is_asked_for_embeddings_that_the_server_would_not_keep(
    without_vectors: Pool, service: StandIn
) -> None:
    engine = engine_of(without_vectors)
    room = Room(engine=engine, settings=Settings(), config=read_config({}))
    with pytest.raises(ServiceError, match="CREATE EXTENSION"):
        fill(room, embedder(service))
    assert service.asked == []
    engine.close()


@pytest.mark.long  # it costs much
def test_the_extension_added_later_is_taken_up_by_the_command_and_by_nothing_else(
    without_vectors: Pool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def migrated(*words: str) -> str:
        done = Run.of(capsys, "fragments", "migrate", *words)
        assert done.code == 0, done.errors
        return " ".join(done.out.split())

    monkeypatch.setenv(FRAGMENTS_PLACE, without_vectors.server.dsn)
    assert "up to date" in migrated("--yes")
    with without_vectors.as_login() as connection:
        connection.execute("CREATE EXTENSION vector")
    assert wrong(without_vectors.server) == ["server_vectors"]
    tables = Schema(without_vectors)
    assert tables.is_ready() and not tables.has_vectors
    shown = migrated("--dry-run")
    assert "written anew" in shown and "Nothing was changed." in shown
    assert "TYPE vector" in migrated("--sql")
    assert Schema(without_vectors).look().embedding == "_float4"
    migrated("--yes")
    assert wrong(without_vectors.server) == []
    engine = engine_of(without_vectors)
    vector = vector_of([0.6, 0.8])
    with engine.writing() as writing:
        [one] = writing.find(Wanted(keywords=("kept",)))
        writing.put_vectors([Embedding(one.number, vector)])
    with engine.reading() as reading:
        assert reading.near(vector, Wanted(), 1) == [(one.number, 1.0)]
    engine.close()
    assert "Nothing was changed." in migrated("--yes")


def test_the_extension_in_a_schema_of_its_own_is_found(team_server: TeamServer) -> None:
    pool = Pool(a_server(team_server.empty_dsn()))
    with pool.as_login() as connection:
        connection.execute("CREATE SCHEMA extensions; CREATE EXTENSION vector SCHEMA extensions")
    tables = Schema(pool)
    tables.prepare()
    assert tables.has_vectors and tables.look().is_current
    pool.close()


def test_terms_of_another_version_are_made_anew_by_the_upkeep(team_pool: Pool) -> None:
    engine = engine_of(team_pool)
    with engine.for_agent("alice").writing() as writing:
        writing.add([Fragment(id="one", content="a lighthouse", topic="sea", agent="alice")])
    with team_pool.transaction() as connection:
        connection.execute("UPDATE fragments SET found_by = NULL")
        connection.execute("INSERT INTO state VALUES ('', 'index', '1')"
                           " ON CONFLICT (agent_id, name) DO UPDATE SET value = '1'")  # fmt: skip
    with engine.writing() as writing:  # as upkeep; what it does is nothing to do with the index
        assert not writing.mend_index()
        assert "index" not in writing.state()
    with team_pool.transaction() as connection:
        noted = connection.execute("SELECT value FROM state WHERE name = 'index'").fetchall()
        found = connection.execute("SELECT id FROM fragments WHERE found_by @@ 'lighthouse'")
        assert (noted, found.fetchall()) == ([(str(INDEXED_VERSION),)], [("one",)])
    engine.close()


@pytest.mark.long  # it costs much
def test_a_standby_is_read_and_says_that_it_takes_no_changes() -> None:
    with postgres() as running:
        server = a_server(running.dsn(running.new_database()))
        engine = PostgresEngine(server, timeout_s=5.0)
        with engine.writing() as writing:
            writing.add([Fragment(id="one", content="kept", topic="t")])
        engine.close()
        running.stop("fast")
        (running.directory / "data" / "standby.signal").touch()
        running.start()
        with engine.reading() as reading:
            assert [it.id for it in reading.find(Wanted())] == ["one"]
        with pytest.raises(ServerError, match="standby"), engine.writing():
            pass
        assert wrong(server) == ["server_unusable"]
        engine.close()


@contextlib.contextmanager
def pooler(directory: Path, behind: Path) -> Iterator[None]:
    """Pass a connection on as a pooler does: it names a process that is not that of the server."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(directory / ".s.PGSQL.5432"))
        listening.listen()

        def pass_on(source: socket.socket, target: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while some := source.recv(65_536):
                    at = some.find(b"K\0\0\0\x0c")
                    if target is not to_server and at >= 0:
                        some = some[: at + 5] + (1).to_bytes(4, "big") + some[at + 9 :]
                    target.sendall(some)

        to_server = socket.socket(socket.AF_UNIX)
        to_server.connect(str(behind / ".s.PGSQL.5432"))

        def serve() -> None:
            client, _ = listening.accept()
            threading.Thread(target=pass_on, args=(client, to_server), daemon=True).start()
            pass_on(to_server, client)

        threading.Thread(target=serve, daemon=True).start()
        yield
        to_server.close()


def prepared(place: str) -> int:
    """How many statements the server has prepared for a connection that asked the same again."""
    pool = Pool(a_server(place, DB_MAX_CONNECTIONS="1"))
    for _ in range(8):
        with pool.transaction(agent="alice") as connection:
            connection.execute("SELECT id FROM agent_memory.fragments WHERE id = %s", ("a",))
            found = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchall()
    pool.close()
    return int(found[0][0])


def test_nothing_is_prepared_where_a_pooler_is_between(
    team_server: TeamServer, tmp_path: Path
) -> None:
    dsn, real = team_server.emptied_dsn(), team_server.postgres.directory
    assert prepared(dsn) > 0
    with pooler(tmp_path, real):
        assert prepared(dsn.replace(str(real), str(tmp_path))) == 0
