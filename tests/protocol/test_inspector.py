"""Tests the server with a foreign client: the command line of the MCP Inspector, run on node."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import TOOLS
from core.config import ROOMS
from core.messages import Facts
from tests.support.node_packages import command_of, needs_packages
from tests.support.sentences import sentence
from tests.support.servers import WAIT_S, HttpServer
from tests.support.tables import ROOT

INSTALLED = "tests/inspector"
LAUNCHER = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
CALL = ("--method", "tools/call", "--tool-name")

pytestmark = [pytest.mark.night, needs_packages(INSTALLED)]


def inspected(home: Path, *arguments: str) -> Any:
    """What the Inspector prints in a home of its own, when it is content."""
    environment = {"NO_COLOR": "1", "SENTINEL_MEMORY_FRAGMENTS": str(home / "memory.db")}
    done = subprocess.run(
        [*command_of(INSTALLED, LAUNCHER), "--cli", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=home,
        env={**os.environ, "HOME": str(home), **environment},
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def over_stdio(project: Path, *arguments: str, rooms: str = "lessons") -> Any:
    """What it prints of a server of its own."""
    server = [sys.executable, str(ROOT / "server.py"), "--project", str(project)]
    return inspected(project.parent, *server, "--rooms", rooms, *arguments)


def text_of(told: Any) -> str:
    """The text of a tool's answer, which must be all of it."""
    [content] = told["content"]
    assert content["type"] == "text" and not told.get("isError"), told
    return str(content["text"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_what_it_logs_and_remembers_is_what_it_finds(project: Path) -> None:
    facts: Facts = {"count": 1, "project": str(project)}
    topics = sentence("en", "answers.topics", topics="결제 (1)")
    gap = ("topic=결제", "missing_context=세율이 다르다", "lesson=a=b, 먼저 확인")
    saved = text_of(over_stdio(project, *CALL, "log_memory", "--tool-arg", *gap))
    kept = sentence("en", "answers.saved_new", type="log", topic="결제", **facts)
    assert saved == f"{kept}\n{topics}"
    search = (*CALL, "search_memory", "--tool-arg", "query=세율")
    found = text_of(over_stdio(project, "--protocol-era", "modern", *search))
    [line] = (project / ".context" / "memory_log.jsonl").read_text("utf-8").splitlines()
    day = json.loads(line)["meta"]["created"][:10]
    head = sentence("en", "answers.head_all", **facts)
    assert found == f"{head}\n{topics}\n[결제]\n{day} 세율이 다르다\n→ a=b, 먼저 확인"
    given = ("--tool-arg", "content=세율이 다르다", "type=fact")
    text_of(over_stdio(project, *CALL, "remember", *given, rooms="fragments"))
    asked = ("--tool-arg", "query=세율", 'filters={"type":"fact"}')
    recalled = text_of(over_stdio(project, *CALL, "recall", *asked, rooms="fragments"))
    assert recalled.endswith(": 세율이 다르다")


def test_it_lists_tools_without_a_fault_in_their_schemas_the_log_and_the_prompts(
    project: Path,
) -> None:
    listed = over_stdio(project, "--strict", "--method", "tools/list", rooms=",".join(ROOMS))
    names = [tool["name"] for tool in listed["tools"]]
    assert names == [tool for room in ROOMS for tool in TOOLS[room]]
    [log] = over_stdio(project, "--method", "resources/list")["resources"]
    assert log["uri"] == "memory://log"
    names = [it["name"] for it in over_stdio(project, "--method", "prompts/list")["prompts"]]
    assert names == ["start_task", "finish_task", "compact", "memory_injection"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_it_remembers_over_http_with_a_key(era: str, tmp_path: Path) -> None:
    with HttpServer(tmp_path) as server:
        key = ("--header", f"Authorization: Bearer {server.key}", "--protocol-era", era)
        given = (*CALL, "remember", "--tool-arg", f"content=세율이 다르다: {era}")
        told = inspected(tmp_path, server.url, "--transport", "http", *key, *given)
        assert text_of(told).startswith("Remembered: ")
        assert "세율이 다르다" in server.tool("recall", query="세율")
