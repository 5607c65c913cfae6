"""Tests the server with a foreign client: the command line of the MCP Inspector, run on node."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import TOOLS
from core.config import ROOMS
from core.messages import Facts
from tests.support.http_server import HttpServer
from tests.support.node_packages import command_of, needs_packages
from tests.support.sentences import sentence
from tests.support.stdio_client import ROOT, WAIT_S

INSTALLED = "tests/inspector"
LAUNCHER = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

pytestmark = [pytest.mark.night, needs_packages(INSTALLED)]

Processes = dict[str, "subprocess.Popen[str]"]


def inspector(home: Path, *arguments: str) -> "subprocess.Popen[str]":
    """One run of the Inspector, in a home of its own."""
    environment = {"NO_COLOR": "1", "SENTINEL_MEMORY_FRAGMENTS": str(home / "memory.db")}
    return subprocess.Popen(
        [*command_of(INSTALLED, LAUNCHER), "--cli", *arguments, "--connect-timeout", "60000"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=home,
        env={**os.environ, "HOME": str(home), **environment},
    )


def start(project: Path, *arguments: str, rooms: str = "lessons") -> "subprocess.Popen[str]":
    """One run of the Inspector against a server of its own."""
    server = [sys.executable, str(ROOT / "server.py"), "--project", str(project)]
    return inspector(project.parent, *server, "--rooms", rooms, *arguments)


def shown(process: "subprocess.Popen[str]") -> Any:
    """What the Inspector prints when it is content."""
    stdout, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, stderr
    return json.loads(stdout)


def text_of(process: "subprocess.Popen[str]") -> str:
    """The text of a tool's answer, which must be all of it."""
    [content] = shown(process)["content"]
    assert content["type"] == "text"
    return str(content["text"])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("inspector") / "project"
    project.mkdir()
    return project


@pytest.fixture(scope="module")
def runs(project: Path) -> Iterator[Processes]:
    """Runs that do not depend on each other, started together; each is read by one test."""
    gap = ["topic=결제", "missing_context=세율이 다르다", "lesson=a=b, 먼저 확인"]
    save = ("--method", "tools/call", "--tool-name", "log_memory", "--tool-arg", *gap)
    processes = {
        "log_memory": start(project, *save),
        "tools": start(project, "--strict", "--method", "tools/list"),
        "resources": start(project, "--method", "resources/list"),
        "prompts": start(project, "--method", "prompts/list"),
    }
    yield processes
    for process in processes.values():
        process.kill()
        process.communicate()


def test_what_it_logs_is_what_it_finds(runs: Processes, project: Path) -> None:
    facts: Facts = {"count": 1, "project": str(project)}
    kept = sentence("en", "answers.saved_new", type="log", topic="결제", **facts)
    topics = sentence("en", "answers.topics", topics="결제 (1)")
    assert text_of(runs["log_memory"]) == f"{kept}\n{topics}"
    search = ("--method", "tools/call", "--tool-name", "search_memory", "--tool-arg", "query=세율")
    found = text_of(start(project, "--protocol-era", "modern", *search))
    [line] = (project / ".context" / "memory_log.jsonl").read_text("utf-8").splitlines()
    day = json.loads(line)["meta"]["created"][:10]
    head = sentence("en", "answers.head_all", **facts)
    assert found == f"{head}\n{topics}\n[결제]\n{day} 세율이 다르다\n→ a=b, 먼저 확인"


def test_it_lists_tools_without_a_fault_in_their_schemas_the_log_and_the_prompts(
    runs: Processes,
) -> None:
    names = [tool["name"] for tool in shown(runs["tools"])["tools"]]
    assert names == ["search_memory", "log_memory", "compact_memory"]
    uris = [resource["uri"] for resource in shown(runs["resources"])["resources"]]
    assert uris == ["memory://log"]
    names = [prompt["name"] for prompt in shown(runs["prompts"])["prompts"]]
    assert names == ["start_task", "finish_task", "compact", "memory_injection"]


def test_it_finds_no_fault_with_the_schemas_of_the_rooms(project: Path) -> None:
    listed = start(project, "--strict", "--method", "tools/list", rooms=",".join(ROOMS))
    names = [tool["name"] for tool in shown(listed)["tools"]]
    assert names == [tool for room in ROOMS for tool in TOOLS[room]]


def test_what_it_remembers_is_what_it_recalls(project: Path) -> None:
    call = ("--method", "tools/call", "--tool-name")
    given = ("--tool-arg", "content=세율이 다르다", "type=fact")
    saved = shown(start(project, *call, "remember", *given, rooms="fragments"))
    assert not saved.get("isError"), saved
    asked = ("--tool-arg", "query=세율", 'filters={"type":"fact"}')
    found = shown(start(project, *call, "recall", *asked, rooms="fragments"))
    assert found["content"][0]["text"].endswith(": 세율이 다르다")


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_it_remembers_over_http_with_a_key(era: str, tmp_path: Path) -> None:
    with HttpServer(tmp_path) as server:
        key = ("--header", f"Authorization: Bearer {server.key}", "--protocol-era", era)
        call = ("--method", "tools/call", "--tool-name", "remember")
        given = ("--tool-arg", f"content=세율이 다르다: {era}")
        run = inspector(tmp_path, server.url, "--transport", "http", *key, *call, *given)
        assert shown(run)["content"][0]["text"].startswith("Remembered: ")
        assert "세율이 다르다" in server.tool("recall", query="세율")
