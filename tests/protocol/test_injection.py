"""Tests the one prompt over all rooms: each gets its share of the budget, and what others left."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from core.room.one_list import Entry, Gathered, Source
from core.text.plain import Budget, estimate_tokens
from protocol.tools import Shown, injection
from tests.conftest import StartServer
from tests.support.sentences import sentence
from tests.support.stdio_client import ServerProcess

ROOMS = "lessons,sessions,fragments"
HEADS = ("Lessons of earlier tasks", "Earlier sessions (", "What is known across projects (")
SOURCES = ["lesson", "fragment", "session"]


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


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.12")
def test_every_room_that_is_on_adds_what_it_holds(
    tmp_path: Path, environment: dict[str, str], start_server: StartServer
) -> None:
    given = {"cwd": tmp_path, "environment": environment}
    server = start_server("--project", str(tmp_path), "--rooms", ROOMS, **given)
    filled(server)
    said = injected(server)
    places = [said.index(head) for head in HEADS]
    assert places == sorted(places)
    asked = injected(server, query="doors of the vault").splitlines()
    assert asked[0] == sentence("en", "protocol.prompt_one_list")
    assert sorted(line.partition(" ")[0] for line in asked[1:]) == sorted(SOURCES)
    short = injected(server, query="doors of the vault", token_budget="200")
    assert estimate_tokens(short) <= 200
    without = start_server("--project", str(tmp_path), "--rooms", "sessions,fragments", **given)
    asked = injected(without, query="doors of the vault").splitlines()
    assert sorted(line.partition(" ")[0] for line in asked[1:]) == sorted(SOURCES[1:])
    alone = start_server("--project", str(tmp_path), "--rooms", "fragments:core", **given)
    assert injected(alone).splitlines()[1].endswith("The vault has two doors, and both have locks")
    assert injected(alone, query="bread and butter") == sentence("en", "protocol.prompt_nothing")


def shown(injected: Callable[[str, Budget], list[str]], *entries: Entry) -> Shown:
    return Shown("room", injected, lambda _question: Gathered(entries))


def test_without_a_question_what_one_room_leaves_the_next_may_spend() -> None:
    seen = []

    def spends(tokens: int, _query: str, budget: Budget) -> list[str]:
        seen.append(round(budget.tokens))
        budget.tokens -= tokens
        return ["x"]

    rooms = [shown(partial(spends, it)) for it in (0, 300, 100)]
    assert injection("", "600", rooms) == "x\nx\nx"
    assert seen == [200, 300, 300]


def test_a_question_gets_one_list_within_the_budget() -> None:
    def entry(source: Source, text: str) -> Entry:
        return Entry(source, text, text, (), lambda: text)

    def nothing(_query: str, _budget: Budget) -> list[str]:
        return []

    rooms = [
        shown(nothing, entry("session", "two doors"), entry("session", "bread")),
        shown(nothing, entry("lesson", "the vault has two doors")),
    ]
    head, *lines = injection("doors of the vault", "600", rooms).splitlines()
    assert head == sentence("en", "protocol.prompt_one_list")
    assert lines == ["lesson the vault has two doors", "session two doors", "session bread"]
    rooms = [shown(nothing, entry("lesson", "vault " * 900)), rooms[0]]
    assert injection("vault doors", "200", rooms).splitlines()[1:] == lines[1:]


def test_rooms_that_hold_nothing_say_so() -> None:
    rooms = [shown(lambda _query, _budget: [])]
    assert injection("x", "600", rooms) == sentence("en", "protocol.prompt_nothing")
    assert injection("x", "600", [*rooms, *rooms]) == sentence("en", "protocol.prompt_nothing")
