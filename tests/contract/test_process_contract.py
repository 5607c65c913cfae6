import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.given import GAP, LESSON, LOG, QUESTION, demands_compaction, digest
from tests.contract.stdio import Server

KEYS = ["id", "type", "topic", "missing_context", "lesson", "ask_next_time", "meta"]
TOOLS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "search_memory": ({"query": ..., "topic": None}, ["query"]),
    "log_memory": (
        {
            "topic": ...,
            "missing_context": ...,
            "lesson": ...,
            "ask_next_time": None,
            "type": "log",
            "compact_threshold": 50,
        },
        ["topic", "missing_context", "lesson"],
    ),
    "compact_memory": ({"target_topic": None, "compact_threshold": 50}, []),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    with Server(home, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C") as running:
        yield running


def test_a_session_begins_and_offers_tools(server: Server) -> None:
    assert server.hello["serverInfo"]["name"]
    assert "tools" in server.hello["capabilities"]


def test_there_are_exactly_three_tools_with_their_parameters(server: Server) -> None:
    tools = {tool["name"]: tool for tool in server.request("tools/list")["tools"]}
    assert set(tools) == set(TOOLS)
    for name, (parameters, required) in TOOLS.items():
        schema = tools[name]["inputSchema"]
        offered = schema["properties"]
        assert list(offered)[: len(parameters)] == list(parameters)
        assert schema.get("required", []) == required
        for parameter, default in parameters.items():
            assert offered[parameter].get("default") == (None if default is ... else default)
            assert offered[parameter].get("type") in ("string", "integer", None)
        assert tools[name]["description"]


@pytest.mark.row("001 1-1.a")
def test_a_first_session_from_search_to_compaction(server: Server, home: Path) -> None:
    assert "core constraints" in server.call("search_memory", query="payment module")
    assert not (home / LOG).exists()
    first = {"topic": "payment", "missing_context": GAP, "lesson": LESSON}
    server.call("log_memory", **first, ask_next_time=QUESTION)
    server.call("log_memory", topic="결제", missing_context="부가세 😀", lesson="세율표 확인")
    server.call("log_memory", topic="ui", missing_context="", lesson="Rule", type="principle")
    text = (home / LOG).read_bytes().decode("utf-8")
    assert text.endswith("\n") and text.count("\n") == 3
    records = [json.loads(line) for line in text[:-1].split("\n")]
    assert [record["id"] for record in records] == [
        digest("payment" + GAP),
        digest("결제" + "부가세 😀"),
        digest("ui" + "Rule"),
    ]
    assert list(records[0]) == KEYS
    for record in records:
        assert list(record) == [key for key in KEYS if key in record]
        assert next(iter(record["meta"])) == "created"
    assert "세율표 확인" in text and "😀" in text
    answer = server.call("search_memory", query="부가세", topic="결제")
    assert "세율표 확인" in answer and LESSON not in answer
    assert LESSON in server.call("compact_memory", target_topic="payment")


@pytest.mark.row("001 3-2.n")
def test_a_refusal_is_an_error_of_the_tool(server: Server) -> None:
    assert "topic" in server.refusal("log_memory", topic=" ", missing_context="a", lesson="b")
    long = server.refusal("log_memory", topic="x", missing_context="a", lesson="가" * 342)
    assert "lesson" in long and "1026" in long.replace(",", "")
    server.refusal("log_memory", topic="x", missing_context="a", lesson="b", type="note")
    server.refusal("compact_memory", compact_threshold=0)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("team")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / LOG).parent.mkdir()
    (root / LOG).write_bytes("찢어진 줄, a secret note\n{torn\n".encode())
    return root


@pytest.fixture(scope="module")
def team(root: Path) -> Iterator[Server]:
    (root / "src").mkdir()
    settings = {
        "SENTINEL_MEMORY_THRESHOLD": "2",
        "SENTINEL_MEMORY_PROJECT": "${workspaceFolder}",
    }
    with Server(root / "src", **settings) as running:
        yield running


def three_logs(server: Server) -> list[str]:
    return [
        server.call("log_memory", topic="ui", missing_context=f"the gap {n}", lesson="the rule")
        for n in range(3)
    ]


def test_a_team_sets_its_own_threshold(team: Server) -> None:
    assert demands_compaction(three_logs(team)[-1])
    assert demands_compaction(team.call("search_memory", query=""))
    assert "required" in team.call("compact_memory").lower()
    given = {"topic": "ui", "missing_context": "the gap 0", "lesson": "the rule"}
    assert not demands_compaction(team.call("log_memory", **given, compact_threshold=100))


def test_a_setting_that_was_never_filled_in_is_ignored(team: Server, root: Path) -> None:
    three_logs(team)
    assert "SENTINEL_MEMORY_PROJECT" in team.said()
    assert "the gap 2" in (root / LOG).read_text("utf-8")
    assert not (root / "src" / ".context").exists()


def test_what_goes_to_standard_error_holds_no_record(team: Server) -> None:
    three_logs(team)
    team.refusal("log_memory", topic="", missing_context="the gap", lesson="the rule")
    errors = team.said()
    assert "2" in errors
    assert not any(text in errors for text in ("the gap", "the rule", "a secret note", "찢어진"))


def test_an_argument_names_the_project_before_any_setting(tmp_path: Path) -> None:
    for name in ("here", "argument", "ours"):
        (tmp_path / name).mkdir()
    ours = str(tmp_path / "ours")
    argument = str(tmp_path / "argument")
    with Server(tmp_path / "here", "--project", argument, SENTINEL_MEMORY_PROJECT=ours) as server:
        assert "argument" in three_logs(server)[0]
    assert [path.parents[1].name for path in tmp_path.glob("*/" + LOG.as_posix())] == ["argument"]
