"""Tests the one prompt over all rooms: each gets its share of the budget, and what others left."""

from pathlib import Path

import pytest

from core.text.budget import Budget
from core.text.tokens import estimate_tokens
from protocol.injection import injection
from protocol.words import say
from tests.conftest import StartServer
from tests.support.stdio_client import ServerProcess

ROOMS = "lessons,sessions,fragments"
HEADS = ("Lessons of earlier tasks", "Earlier sessions (", "What is known across projects (")


def injected(server: ServerProcess, **arguments: str) -> str:
    asked = server.request("prompts/get", {"name": "memory_injection", "arguments": arguments})
    [message] = asked["result"]["messages"]
    return str(message["content"]["text"])


def filled(server: ServerProcess) -> None:
    """Keep the same in every room."""
    gap = "Nobody said that the vault has two doors"
    server.call("log_memory", topic="vault", missing_context=gap, lesson="Close both doors")
    server.call("context_save", goal="Close both doors of the vault")
    server.call("remember", content="The vault has two doors, and both have locks")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}


def test_every_room_that_is_on_adds_what_it_holds(
    tmp_path: Path, environment: dict[str, str], start_server: StartServer
) -> None:
    given = {"cwd": tmp_path, "environment": environment}
    server = start_server("--project", str(tmp_path), "--rooms", ROOMS, **given)
    filled(server)
    said = injected(server, query="doors of the vault")
    places = [said.index(head) for head in HEADS]
    assert places == sorted(places)
    short = injected(server, query="doors of the vault", token_budget="200")
    assert estimate_tokens(short) <= 200
    without = start_server("--project", str(tmp_path), "--rooms", "sessions,fragments", **given)
    said = injected(without, query="doors of the vault")
    assert [head in said for head in HEADS] == [False, True, True]
    alone = start_server("--project", str(tmp_path), "--rooms", "fragments:core", **given)
    assert injected(alone).splitlines()[1].endswith("The vault has two doors, and both have locks")
    assert injected(alone, query="bread and butter") == say("en", "prompt_nothing")


def test_what_one_room_leaves_the_next_may_spend() -> None:
    seen = []

    def spends(tokens: int, query: str, budget: Budget) -> list[str]:
        seen.append(round(budget.tokens))
        budget.tokens -= tokens
        return [query]

    rooms = [lambda query, budget, it=it: spends(it, query, budget) for it in (0, 300, 100)]
    assert injection("x", "600", rooms) == "x\nx\nx"
    assert seen == [200, 300, 300]


def test_rooms_that_hold_nothing_say_so() -> None:
    assert injection("x", "600", [lambda _query, _budget: []]) == say("en", "prompt_nothing")
