"""Tests the tools, resources and prompts as a client in the same process sees them."""

import inspect
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import McpError, ToolError

import server
from core.lessons.briefing import instructions
from core.lessons.log import cached_log
from protocol import call as frame
from protocol.arguments import LONE_SURROGATE
from tests.support import room_tools
from tests.support.sentences import sentence

SURFACE = Path(__file__).parents[2] / "tests" / "data" / "tool_surface.json"
GAP: dict[str, Any] = {"topic": "payment", "missing_context": "two", "lesson": "rule"}
MARKER, INTERNAL_ERROR = "zebra crossing at noon", -32603
ARGUMENTS = (
    "topic, missing_context, lesson, ask_next_time, type, compact_threshold, source_ids, paths,"
    " when"
)
TOKEN = re.compile(r"[0-9a-f]{16}@[0-9a-f]{6}")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SENTINEL_MEMORY_LANG", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SENTINEL_MEMORY_PROJECT", str(tmp_path))
    return tmp_path


@pytest.fixture
def log(project: Path) -> Path:
    return project / ".context" / "memory_log.jsonl"


def ask(question: Callable[[Client[Any]], Any]) -> Any:
    return room_tools.ask(server.mcp, question)


def call(tool: str, **arguments: Any) -> str:
    result = ask(lambda client: client.call_tool(tool, arguments))
    [content] = result.content
    assert (content.type, result.structured_content) == ("text", None)  # it travels once
    return str(content.text)


def refused(tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(tool, **arguments)
    return str(caught.value)


def failing(error: Exception) -> Callable[..., str]:
    def broken(*_: object, **__: object) -> str:
        raise error

    return broken


def save(gap: str, topic: str = "payment", **more: Any) -> str:
    lesson = more.pop("lesson", f"rule for {gap}")
    return call("log_memory", topic=topic, missing_context=gap, lesson=lesson, **more)


@pytest.mark.row("001 1-2.a", "001 2-1.c", "001 3-1.e")
def test_the_surface_that_a_model_sees_is_the_recorded_one() -> None:
    tools = ask(lambda client: client.list_tools())
    surface = [
        tool.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude={"meta": {"fastmcp"}}
        )
        for tool in tools
    ]
    assert surface == json.loads(SURFACE.read_text(encoding="utf-8"))
    # What a session pays for it, and what every client takes.
    assert len(json.dumps(surface, ensure_ascii=False, separators=(",", ":")).encode()) < 3_900
    assert max(len(tool.description.encode()) for tool in tools) < 1_024
    assert len(instructions().encode()) <= 512


@pytest.mark.row("001 3-1.a")
def test_direct_calls_by_place_save_find_and_group(project: Path, log: Path) -> None:
    text = server.log_memory("auth", "missing", "lesson", "ask", "log", 50)
    assert text.splitlines()[0] == sentence(
        "en", "answers.saved_new", type="log", topic="auth", seen=1, count=1, project=str(project)
    )
    [line] = log.read_text("utf-8").splitlines()
    keys = ("topic", "missing_context", "lesson", "ask_next_time", "type")
    assert [json.loads(line)[key] for key in keys] == ["auth", "missing", "lesson", "ask", "log"]
    assert "→ lesson" in server.search_memory("x", "auth")
    assert "→ lesson" in server.search_memory("")
    assert "→ lesson" in server.compact_memory("auth", 50)
    server.log_memory("auth", "", "both", type="principle")
    assert "principle" in server.search_memory("x", "auth")
    strange = [f"strange-{number}" for number in range(5_000)]
    assert server.compact_memory(delete_ids=strange).endswith("strange-59, +4940 more")


REFUSALS: list[tuple[Any, tuple[Any, ...], str]] = [
    (server.log_memory, ("  ", "gap", "rule"), "blank_field"),
    (server.log_memory, ("auth", "gap", "x" * 1025), "field_too_long"),
    (server.log_memory, ("auth", "gap", "rule", "", "note"), "unknown_type"),
    (server.log_memory, ("auth", "gap", "rule", "", "log", 0), "threshold"),
    (server.log_memory, ("auth", "gap", "rule", "", "log", 50, ["x@y"]), "source_ids_of_log"),
    (server.log_memory, ("auth", "gap \ud800", "rule"), "lone_surrogate"),
    (server.compact_memory, (None, -1), "threshold"),
]

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("compact_memory", {"delete_ids": 7}, "delete_ids: Input should be a valid list."),
    ("log_memory", {**GAP, "summary": MARKER},
     f"summary: Unexpected keyword argument; known: {ARGUMENTS}."),
    ("log_memory", {**GAP, "lesson": LONE_SURROGATE},
     "lesson: it contains half of a character (a lone surrogate). Send the text again without it."),
    ("log_memory", {"topic": [MARKER], "missing_context": "gap", "lesson": {"x": MARKER}},
     "topic: Input should be a valid string.\nlesson: Input should be a valid string."),
]  # fmt: skip


def test_a_refusal_is_a_value_error_and_over_the_protocol_a_sentence_without_the_value(
    log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for tool, values, key in REFUSALS:
        with pytest.raises(ValueError) as direct:
            tool(*values)
        assert direct.value.key == key  # type: ignore[attr-defined]
        if key not in ("unknown_type", "lone_surrogate"):  # refused before the tool is called
            arguments = dict(zip(inspect.signature(tool).parameters, values, strict=False))
            assert refused(tool.__name__, **arguments) == str(direct.value)
    for name, arguments, said in REFUSED:
        end = f"Nothing was changed. Call {name} again with other arguments."
        assert refused(name, **arguments) == f"{said} {end}"
    assert MARKER not in caplog.text
    assert not log.parent.exists()


def test_a_change_that_a_cancellation_came_too_late_for_is_said_on_standard_error(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(frame, "is_cancelled", lambda: True)
    server.log_memory("auth", "gap", "rule")
    said = sentence("en", "protocol.stored_cancelled", tool="log_memory")
    assert capsys.readouterr().err == f"server.py: {said}\n"


# compaction


@pytest.mark.skipif(os.name == "nt", reason="a script of a shell")
def test_git_is_asked_by_a_compaction_alone(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path_factory.mktemp("programs")
    (programs / "git").write_text(f"#!/bin/sh\n: >'{programs}/asked'\nexit 1\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(programs), os.environ["PATH"])))
    save("one")
    save("one", lesson="newer")
    call("search_memory", query="one")
    call("log_memory", topic="other", lesson="p", type="principle")
    assert not (programs / "asked").exists()
    call("compact_memory")
    assert (programs / "asked").exists()


# resources


def test_a_resource_that_cannot_be_had_is_an_internal_error_for_a_log_and_names_it_if_too_large(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused_resource() -> McpError:
        with pytest.raises(McpError, match=r"memory_log\.jsonl") as caught:
            ask(lambda client: client.read_resource("memory://log"))
        return caught.value

    log.mkdir(parents=True)
    assert refused_resource().code == INTERNAL_ERROR
    log.rmdir()
    save("one")
    monkeypatch.setattr(server, "MOST_RESOURCE_BYTES", 10)  # above what a client can hold
    assert refused_resource()


def test_an_unexpected_error_or_a_program_that_is_gone_is_a_sentence_without_values(
    project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "search_answer", failing(RuntimeError("priv" + "ate words")))
    assert refused("search_memory", query="x") == sentence("en", "protocol.unexpected")
    assert "unexpected RuntimeError" in caplog.text
    assert "private" not in caplog.text
    # An upgrade or a moved folder leaves a server that cannot load what it has not used yet.
    monkeypatch.setattr(server, "search_answer", failing(ModuleNotFoundError()))
    assert refused("search_memory", query="x") == sentence("en", "protocol.program_gone")
    monkeypatch.setattr(server, "search_answer", failing(FileNotFoundError()))
    monkeypatch.setattr("protocol.call.__file__", str(project / "gone.py"))
    assert refused("search_memory", query="x") == sentence("en", "protocol.program_gone")


def test_no_call_parses_the_file_more_than_once(project: Path, log: Path) -> None:
    save("one")
    cached_log.cache_clear()
    [token] = TOKEN.findall(call("compact_memory"))
    call("search_memory", query="x")
    call("search_memory", topic="none such")
    assert cached_log.cache_info().misses == 1
    for tool, arguments in {"log_memory": GAP, "compact_memory": {"delete_ids": [token]}}.items():
        cached_log.cache_clear()
        call(tool, **arguments)
        call("search_memory", query="x")
        assert cached_log.cache_info().misses == 2  # before the change, and after it
