"""Tests the tools as the specification names them: arguments, ValueError, one threshold."""

import asyncio
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError

import server
from core.store import MemoryStore
from protocol import call as frame
from tests.support.git_clones import path_of
from tests.support.samples import a_draft, a_principle
from tests.support.sentences import pair, sentence

TOOLS = (server.search_memory, server.log_memory, server.compact_memory)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SENTINEL_MEMORY_LANG", "SENTINEL_MEMORY_THRESHOLD", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(tmp_path))
    return tmp_path


def call(tool: str, **arguments: Any) -> str:
    async def connected() -> str:
        async with Client(server.mcp) as client:
            result = await client.call_tool(tool, arguments)
            return str(result.content[0].text)

    return asyncio.run(connected())


def fill(project: Path, logs: int = 0, principles: int = 0) -> None:
    """Save so many logs of one topic, and principles of a topic each."""
    store = MemoryStore(path_of(project))
    for number in range(logs):
        store.upsert_log(a_draft(f"gap {number}"))
    for number in range(principles):
        store.upsert_log(a_principle(f"rule {number}", topic=f"topic{number:02}"))


# Arguments.


@pytest.mark.row("001 3-1.a", "001 3-2.b")
def test_the_schemas_require_what_the_specification_requires() -> None:
    async def listed() -> dict[str, list[str]]:
        async with Client(server.mcp) as client:
            tools = await client.list_tools()
            return {tool.name: tool.input_schema.get("required", []) for tool in tools}

    assert asyncio.run(listed()) == {
        "search_memory": ["query"],
        "log_memory": ["topic", "missing_context", "lesson"],
        "compact_memory": [],
    }


@pytest.mark.row("001 3-1.a")
def test_functions_take_their_arguments_by_place_in_the_order_of_the_specification() -> None:
    orders = [list(inspect.signature(tool).parameters) for tool in TOOLS]
    assert orders[0] == ["query", "topic"]
    assert orders[1][:6] == [
        *("topic", "missing_context", "lesson", "ask_next_time", "type", "compact_threshold")
    ]
    assert orders[2][:2] == ["target_topic", "compact_threshold"]


def test_direct_calls_by_place_save_find_and_group(project: Path) -> None:
    text = server.log_memory("auth", "missing", "lesson", "ask", "log", 50)
    assert text.splitlines()[0] == sentence(
        "en", "answers.saved_new", type="log", topic="auth", seen=1, count=1, project=str(project)
    )
    [line] = path_of(project).read_text("utf-8").splitlines()
    keys = ("topic", "missing_context", "lesson", "ask_next_time", "type")
    assert [json.loads(line)[key] for key in keys] == ["auth", "missing", "lesson", "ask", "log"]
    assert "→ lesson" in server.search_memory("x", "auth")
    assert "→ lesson" in server.search_memory("")
    assert "→ lesson" in server.compact_memory("auth", 50)
    server.log_memory("auth", "", "both", type="principle")
    assert "principle" in server.search_memory("x", "auth")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("tool", "values", "key"),
    [
        (server.log_memory, ("  ", "gap", "rule"), "blank_field"),
        (server.log_memory, ("auth", " ", "rule"), "blank_field"),
        (server.log_memory, ("auth", "gap", ""), "blank_field"),
        (server.log_memory, ("auth", "gap", "x" * 1025), "field_too_long"),
        (server.log_memory, ("a" * 65, "gap", "rule"), "field_too_long"),
        (server.log_memory, ("auth", "gap", "rule", "?" * 513), "field_too_long"),
        (server.log_memory, ("auth", "gap", "rule", "", "note"), "unknown_type"),
        (server.log_memory, ("auth", "gap", "rule", "", "log", 0), "threshold"),
        (server.log_memory, ("auth", "gap", "rule", "", "log", 50, ["x@y"]), "source_ids_of_log"),
        (server.log_memory, ("auth", "gap \ud800", "rule"), "lone_surrogate"),
        (server.compact_memory, (None, -1), "threshold"),
    ],
)
def test_a_refusal_is_a_value_error_and_over_the_protocol_the_same_sentence(
    project: Path, tool: Any, values: tuple[Any, ...], key: str
) -> None:
    with pytest.raises(ValueError) as direct:
        tool(*values)
    assert direct.value.key == key  # type: ignore[attr-defined]
    assert not path_of(project).exists()
    if key in ("unknown_type", "lone_surrogate"):  # refused before the tool is called
        return
    arguments = dict(zip(inspect.signature(tool).parameters, values, strict=False))
    with pytest.raises(ToolError) as sent:
        call(tool.__name__, **arguments)
    assert str(sent.value) == str(direct.value)


def test_failures_that_are_no_refusals_are_os_errors(project: Path) -> None:
    path_of(project).mkdir(parents=True)
    with pytest.raises(OSError, match="cannot be read"):
        server.search_memory("")


@pytest.mark.long  # it costs much
def test_what_clients_leave_out_or_send_as_null_counts_as_empty(project: Path) -> None:
    server.log_memory("auth", "gap", "rule")
    found = call("search_memory", query="")
    assert call("search_memory") == call("search_memory", query=None) == found
    for given in ({}, {"missing_context": None}, {"missing_context": ""}):
        lesson = f"principle {len(given)} {given.get('missing_context')}"
        call("log_memory", topic="auth", lesson=lesson, type="principle", **given)
        line = path_of(project).read_text("utf-8").splitlines()[-1]
        assert json.loads(line)["missing_context"] == ""


@pytest.mark.parametrize("given", [{}, {"missing_context": None}, {"missing_context": " "}])
def test_a_log_without_its_gap_is_refused(project: Path, given: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as caught:
        call("log_memory", topic="auth", lesson="rule", **given)
    assert str(caught.value) == pair("errors.blank_field")[0].format(field="missing_context")
    assert not path_of(project).exists()


def test_a_change_that_a_cancellation_came_too_late_for_is_said_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(frame, "is_cancelled", lambda: True)
    server.log_memory("auth", "gap", "rule")
    said = pair("protocol.stored_cancelled")[0].format(tool="log_memory")
    assert capsys.readouterr().err == f"server.py: {said}\n"


# The threshold.


def spoken(text: str) -> list[str]:
    """The lines of an answer that speak of a compaction that is required."""
    return [line for line in text.splitlines() if re.search(r"[Rr]equired|REQUIRED|필수", line)]


@pytest.mark.row("001 3-2.e")
def test_the_setting_is_the_threshold_of_every_answer(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_THRESHOLD", "2")
    fill(project, logs=2)
    texts = server.log_memory("payment", "gap 0", "x"), server.search_memory("")
    assert [spoken(text) for text in texts] == [[], []]
    notice = sentence("en", "answers.compact_required", count=3, threshold=2)
    assert notice in server.log_memory("payment", "third", "x").splitlines()
    assert notice in server.log_memory("payment", "third", "x", compact_threshold=2).splitlines()
    assert notice in server.search_memory("").splitlines()
    head = sentence(
        "en", "answers.compact_head_required", count=3, threshold=2, project=str(project)
    )
    assert server.compact_memory().splitlines()[0] == head


@pytest.mark.row("001 3-2.e")
def test_a_threshold_of_one_call_is_named_and_handed_on(project: Path) -> None:
    fill(project, logs=3)
    text = server.log_memory("payment", "gap 0", "x", compact_threshold=2)
    notice = sentence("en", "answers.compact_required_here", count=3, threshold=2, default=50)
    assert notice in text.splitlines()
    assert spoken(server.search_memory("")) == []
    [following] = re.findall(r"compact_memory\((.+?)\)", notice)
    assert following == "compact_threshold=2"
    lines = server.compact_memory(compact_threshold=2).splitlines()
    threshold = sentence("en", "answers.threshold_here", threshold=2, default=50)
    facts: dict[str, Any] = {"count": 3, "threshold": threshold, "project": str(project)}
    assert lines[0] == sentence("en", "answers.compact_head_required", **facts)
    assert lines[2] == sentence("en", "answers.compact_threshold_kept", threshold=2)


@pytest.mark.long  # it costs much
def test_a_larger_threshold_of_one_call_says_that_the_others_ask(project: Path) -> None:
    fill(project, logs=51)
    text = server.log_memory("payment", "gap 0", "x", compact_threshold=100)
    notice = sentence("en", "answers.compact_later_here", count=51, threshold=100, default=50)
    assert notice in text.splitlines()
    notice = sentence("en", "answers.compact_required", count=51, threshold=50)
    assert notice in server.search_memory("").splitlines()


@pytest.mark.long  # it costs much
def test_where_nothing_can_be_compacted_no_answer_requires_it(project: Path) -> None:
    fill(project, principles=52)
    again = server.log_memory("topic00", "", "rule 0", type="principle")
    answers = again, server.search_memory(""), server.compact_memory(), server.compact_memory("x")
    assert [spoken(text) for text in answers] == [[], [], [], []]
    assert server.compact_memory().splitlines()[0] == sentence(
        "en", "answers.compact_head_pointless", count=52, threshold=50, project=str(project)
    )
    server.log_memory("topic00", "a gap", "rule")
    notice = sentence("en", "answers.compact_required", count=53, threshold=50)
    assert notice in server.search_memory("").splitlines()
    assert spoken(server.compact_memory("topic01")) == []


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "${THRESHOLD}"])
def test_an_unusable_threshold_is_warned_about_and_the_default_holds(
    project: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_THRESHOLD", value)
    fill(project, logs=51)
    assert sentence(
        "en", "answers.compact_required", count=51, threshold=50
    ) in server.search_memory("")
