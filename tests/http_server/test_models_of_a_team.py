"""Tests a server whose operator has set up embeddings and a judge, each a service of its own."""

import json
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.support.servers import WAIT_S, HttpServer, until
from tests.support.stand_in_service import Answer, Asked, embeddings, stand_in, texts_of
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

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


@pytest.mark.long  # it costs much
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
