"""Tests a server as a process: its start, end, log and models, and the data that outlive it."""

import json
import signal
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest

from tests.support.servers import BEARER, WAIT_S, HttpServer, until
from tests.support.stand_in_service import Answer, Asked, embeddings, stand_in, texts_of
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

pytestmark = pytest.mark.long  # each costs a process or more
ORIGIN, MEMENTO_KEY = "https://pages.example", "the-key-of-the-specification-0123"
NODE = "The shop runs on Node 20"


@pytest.mark.row("002 2.67", "002 2.68", "002 2.69")
def test_the_names_of_the_specification_work_and_each_process_has_its_log(tmp_path: Path) -> None:
    log = tmp_path / "home" / "log"
    given = {
        "MEMENTO_ACCESS_KEY": MEMENTO_KEY,
        "ALLOWED_ORIGINS": ORIGIN,
        "LOG_DIR": "~/log",
        "HOME": str(tmp_path / "home"),
    }
    with (
        HttpServer(tmp_path / "one", key="", environment=given) as one,
        HttpServer(tmp_path / "two", key="", environment=given) as two,
    ):
        names = {f"sentinel-memory-{server.port}.log" for server in (one, two)}
        assert {it.name for it in log.iterdir()} == names
        assert one.ask("POST", "/mcp", {})[0] == 401
        claimed = [{"X-Forwarded-For": f"203.0.113.{it}"} for it in range(21)]  # without a proxy
        assert [one.ask("GET", "/mcp", key="x", headers=it)[0] for it in claimed][-1] == 429
        one.begin(key=MEMENTO_KEY)
        status, headers, body = one.ask("GET", "/health", headers={"Origin": ORIGIN})
        assert status == 200 and headers["access-control-allow-origin"] == ORIGIN
        assert json.loads(body) == {"status": "ok"}
        taken = ("--http", str(one.port))
        with HttpServer(tmp_path / "one", *taken, environment=given, waits=False) as other:
            assert other.process.wait(WAIT_S) == 2
            assert "taken" in other.said and "did not start" in other.said
    with HttpServer(tmp_path / "one", *taken, environment=given) as again:
        assert again.end() == 0
    file = log / f"sentinel-memory-{one.port}.log"
    text = file.read_text("utf-8")
    assert text.count("is served") == 2 and "ends" in text  # goes on where it was
    assert one.url in text and MEMENTO_KEY not in text + one.said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.row("002 2.67")
def test_without_a_key_it_starts_only_for_this_machine(tmp_path: Path) -> None:
    with HttpServer(tmp_path, key="", waits=False) as server:
        assert server.process.wait(WAIT_S) == 2 and "keys add NAME" in server.said
    rooms = ("--rooms", "lessons,sessions", "--project", str(tmp_path))  # none is the fragments
    with HttpServer(tmp_path / "home", "--no-auth", *rooms, key="") as server:
        _, _, answer = server.call("tools/list", session=server.begin())
        names = {it["name"] for it in answer["result"]["tools"]}
        assert {"search_memory", "context_save"} < names and "recall" not in names
        server.tool("context_save", session := server.begin(), goal="Mend the login")
        assert "· tests ·" in server.tool("context_get", session, id="1")  # the client's name
        health = json.loads(server.ask("GET", "/health")[2])
        assert health["status"] == "ok" and list(health["checks"]) == ["papers"]
        assert server.call_stateless("server/discover", {})[0] == 200


@pytest.mark.row("002 2.4", "002 2.10.g", "002 2.67.a", "002 2.101")
def test_a_session_outlives_its_process_and_ends_where_it_is_silent(tmp_path: Path) -> None:
    with HttpServer(tmp_path) as first:
        session = first.begin()
        first.tool("remember", session, content=NODE, topic="shop")
        with HttpServer(tmp_path) as second:
            assert second.call("ping", session=session)[0] == 200
        assert first.end() == 0

    def is_noted(server: HttpServer) -> bool:
        return "Calls: 1." in server.tool("recall", topic="session", includeLinks=False)

    def begun_anew_it_is_noted() -> bool:
        with HttpServer(tmp_path, environment={"SESSION_TTL_MINUTES": "0.01"}) as third:
            silent = third.begin()
            until(lambda: json.loads(third.ask("GET", "/health")[2])["sessions"] == 0)
            assert third.call("ping", session=silent)[0] == 200  # no id expires
            return is_noted(third)

    with HttpServer(tmp_path) as third:
        assert "Node 20" in third.tool("recall", session, text="node")
        assert not is_noted(third)
    until(begun_anew_it_is_noted)
    with HttpServer(tmp_path) as last:
        assert last.ask("DELETE", "/mcp", headers={"Mcp-Session-Id": session})[0] == 204


@pytest.mark.row("002 2.5", "002 2.78")
def test_a_signal_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    saved = list[str]()

    def save(busy: HttpServer, number: int) -> None:
        while True:
            text = f"Fact {number}-{len(saved)} of a busy day"
            try:
                answer = busy.tool("remember", content=text, topic=f"t{number}")
            except (OSError, AssertionError, ValueError):
                return
            assert answer
            saved.append(text)

    with (
        HttpServer(tmp_path, "--sse") as busy,
        ThreadPoolExecutor(4) as workers,
        ExitStack() as streams,
    ):
        session = f"Mcp-Session-Id: {busy.begin()}"
        for path in ("/mcp", "/sse"):  # which end, too
            streams.enter_context(busy.stream(path, BEARER, session))(b"200 OK")
        tasks = [workers.submit(save, busy, number) for number in range(4)]
        until(lambda: len(saved) >= 8)
        assert busy.end() == 0
        for task in tasks:
            task.result()
        assert "Traceback" not in busy.said
    with HttpServer(tmp_path) as again:
        stats = again.tool("memory_stats")
    assert saved and str(len(saved)) in stats.replace(",", "")


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    patient = {"SENTINEL_MEMORY_LOCK_TIMEOUT_S": f"{2 * WAIT_S:.0f}"}
    with HttpServer(tmp_path, environment=patient) as one, ThreadPoolExecutor(1) as threads:
        one.tool("remember", content=NODE)
        path = tmp_path / "data" / "sentinel-memory" / "memory.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # every save waits
            waiting = threads.submit(one.tool, "remember", content="A save that waits")
            until(lambda: one.figure("mcp_calls_under_way") == 1)
            one.process.send_signal(signal.SIGTERM)
            with pytest.raises(OSError):  # it takes nobody new while it waits for the save
                until(lambda: not one.ask("GET", "/health"))
            assert one.process.poll() is None
            assert one.end(signal.SIGTERM) == 128 + signal.SIGTERM
            assert waiting.exception()
    with HttpServer(tmp_path) as again:
        assert "waits" not in again.tool("recall", query="waits")


TOKEN = "ghp_" + "a1B2c3D4e5" * 4
MODEL_KEY = "sk-the-key-of-the-operator-0123456789"
QUESTION = "pool connections"
SLOW, FAST = "The pool holds at most 20 connections.", "The pool holds at most 50 connections."


def meaning(asked: Asked) -> Answer:
    """Answer as if all that is said of the pool were about the same."""
    texts = ["the pool" if "pool" in it else it for it in asked.body["input"]]
    return embeddings(asked._replace(body={**asked.body, "input": texts}))


def verdict(asked: Asked) -> Answer:
    said = json.dumps({"label": "contradiction", "confidence": 0.97})
    return Answer({"choices": [{"message": {"role": "assistant", "content": said}}]})


@pytest.mark.row("002 2.38.g")
def test_no_secret_leaves_for_a_model_and_without_its_models_a_server_answers_still(
    team_server: TeamServer, tmp_path: Path
) -> None:
    is_over = threading.Event()

    def fail(broken: Answer | None, asked: Asked) -> Answer:
        if broken is None:
            is_over.wait(WAIT_S)
        return broken or Answer({}, 500)

    with ExitStack() as opened:
        embedder = opened.enter_context(stand_in(meaning))
        judge = opened.enter_context(stand_in(verdict))
        environment = {
            "SENTINEL_MEMORY_FRAGMENTS": team_server.new_dsn(),
            "SENTINEL_MEMORY_EMBEDDINGS": embedder.address,
            "EMBEDDING_MODEL": "bge-m3",
            "SENTINEL_MEMORY_JUDGE": "chat",
            "SENTINEL_MEMORY_JUDGE_URL": judge.address,
            "SENTINEL_MEMORY_JUDGE_MODEL": "small",
            "OPENAI_API_KEY": MODEL_KEY,
        }
        server = opened.enter_context(HttpServer(tmp_path, environment=environment))
        server.tool("remember", content=f"The deploy uses {TOKEN} for the registry", topic="deploy")
        for content in (SLOW, FAST):
            assert "Remembered" in server.tool("remember", content=content, topic="pool")
        server.tool("memory_consolidate")
        until(lambda: any("registry" in it for it in texts_of(embedder)))
        server.tool("recall", text=f"which registry has {TOKEN}")
        assert "registry" in server.tool("recall", text="which registry has the token")
        sent = json.dumps([embedder.bodies, judge.bodies])
        assert TOKEN not in sent and "[REDACTED" in sent
        assert any("20 connections" in json.dumps(it) for it in judge.bodies)
        found = server.tool("recall", text="how many connections does the pool hold")
        assert "50 connections" in found
        for least in (None, 0.0):  # the question is hardly near to the pool
            found = server.tool("recall", text="giraffe", threshold=least)
            assert ("connections" in found) == (least is not None)

        before = texts_of(embedder).count(QUESTION)
        for broken in (Answer({"error": "overloaded"}, 500), Answer(b"<html>", 200), None):
            embedder.answer = judge.answer = partial(fail, broken)
            content = f"{broken and broken.status} is its limit: {FAST}"
            assert "Remembered" in server.tool("remember", content=content)
            for _ in range(3):  # each is answered while a model hangs
                assert "50 connections" in server.tool("recall", text=QUESTION)
            if broken:
                report = server.tool("memory_consolidate")
                assert "Traceback" not in report and MODEL_KEY not in report
            assert server.ask("GET", "/health")[0] == 200
        is_over.set()
        assert texts_of(embedder).count(QUESTION) - before < 9  # it is not asked again at once
        for told in (server.said, server.ask("GET", "/metrics")[2].decode()):
            assert TOKEN not in told and MODEL_KEY not in told and embedder.address not in told
        assert "Traceback" not in server.said
