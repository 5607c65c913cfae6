"""Tests `recall` with several rooms on: one list, each line behind its source, one budget."""

import json
from pathlib import Path

import pytest

from core.text.plain import estimate_tokens
from tests.conftest import StartServer
from tests.support.sentences import sentence
from tests.support.stdio_client import ServerProcess

ROOMS = "fragments,lessons,sessions"
QUESTION = "how are fees rounded"


def environment_of(project: Path) -> dict[str, str]:
    return {"SENTINEL_MEMORY_FRAGMENTS": str(project / "memory.db")}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rooms")


@pytest.fixture(scope="module")
def server(project: Path, start_server: StartServer) -> ServerProcess:
    """A server over rooms that each hold something on the question."""
    words = "--project", str(project), "--rooms", ROOMS
    started = start_server(*words, cwd=project, environment=environment_of(project))
    gap = "Nobody said how fees are rounded"
    started.call("log_memory", topic="fee", missing_context=gap, lesson="Fees are rounded half up")
    started.call("context_save", goal="Fees in the export are rounded twice")
    started.call("remember", content="The bank has fees rounded down", topic="bank")
    return started


def sources(answer: str) -> list[str]:
    return [line.partition(" ")[0] for line in answer.splitlines()]


def test_the_limit_and_the_budget_are_those_of_the_whole_list(server: ServerProcess) -> None:
    shown, left_out = server.call("recall", query=QUESTION, limit=1).splitlines()
    assert sources(shown) == ["lesson"]
    assert left_out == sentence("en", "fragments.answers.left_out", count=2)
    for tokens in (1, 60, 90):
        said = server.call("recall", query=QUESTION, tokenBudget=tokens)
        assert estimate_tokens(said) <= max(tokens, estimate_tokens(left_out))


@pytest.mark.long  # it costs much
def test_as_json_the_other_rooms_stand_apart_with_their_rank(
    project: Path, server: ServerProcess, start_server: StartServer
) -> None:
    speaks = {**environment_of(project), "SENTINEL_MEMORY_ANSWERS": "json"}
    words = "--project", str(project), "--rooms", ROOMS
    other = start_server(*words, cwd=project, environment=speaks)
    told = json.loads(other.call("recall", query=QUESTION))
    assert (told["count"], len(told["fragments"])) == (3, 1)
    ranks = {it["source"]: it["rank"] for it in told["others"]}
    assert sorted(ranks) == ["lesson", "session"]
    assert {*ranks.values()} < {1, 2, 3}


@pytest.mark.long  # it costs much
def test_one_room_alone_answers_without_sources(
    project: Path, server: ServerProcess, start_server: StartServer
) -> None:
    words = "--rooms", "fragments:core"
    alone = start_server(*words, cwd=project, environment=environment_of(project))
    [line] = alone.call("recall", query=QUESTION).splitlines()
    assert not line.startswith("fragment ")
    assert line.endswith("The bank has fees rounded down")
