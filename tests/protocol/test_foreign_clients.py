"""Tests the server with a foreign client: the command line of the MCP Inspector, run on node."""

import json
import os
import re
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

pytestmark = pytest.mark.night
with_inspector = needs_packages(INSTALLED)


def run(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """The finished program of node, run in a home of its own."""
    environment = {"NO_COLOR": "1", "SENTINEL_MEMORY_FRAGMENTS": str(home / "memory.db")}
    environment = {**os.environ, "HOME": str(home), **environment}
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": WAIT_S}
    return subprocess.run(command, encoding="utf-8", cwd=home, env=environment, **how)


def inspected(home: Path, *arguments: str) -> Any:
    """The output of the Inspector, run without error in a home of its own."""
    done = run(home, *command_of(INSTALLED, LAUNCHER), "--cli", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def over_stdio(project: Path, *arguments: str, rooms: str = "lessons") -> Any:
    """The output of the Inspector about a server of its own."""
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


@with_inspector
def test_the_inspector_finds_the_memories_that_it_saves(project: Path) -> None:
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


@with_inspector
def test_it_lists_tools_with_sound_schemas_the_log_and_the_prompts(project: Path) -> None:
    listed = over_stdio(project, "--strict", "--method", "tools/list", rooms=",".join(ROOMS))
    names = [tool["name"] for tool in listed["tools"]]
    assert names == [tool for room in ROOMS for tool in TOOLS[room]]
    [log] = over_stdio(project, "--method", "resources/list")["resources"]
    assert log["uri"] == "memory://log"
    names = [it["name"] for it in over_stdio(project, "--method", "prompts/list")["prompts"]]
    assert names == ["start_task", "finish_task", "compact", "memory_injection"]


@with_inspector
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_it_remembers_over_http_with_a_key(era: str, tmp_path: Path) -> None:
    with HttpServer(tmp_path) as server:
        key = ("--header", f"Authorization: Bearer {server.key}", "--protocol-era", era)
        given = (*CALL, "remember", "--tool-arg", f"content=세율이 다르다: {era}")
        told = inspected(tmp_path, server.url, "--transport", "http", *key, *given)
        assert text_of(told).startswith("Remembered: ")
        assert "세율이 다르다" in server.tool("recall", query="세율")


# The official conformance suite of MCP, over HTTP on loopback. It wants tools, resources and
# prompts of its own; the scenarios that need none of them have to pass. The rest is for FastMCP,
# which runs the suite itself.

OF_SUITE = "tests/conformance"
SUITE = "@modelcontextprotocol/conformance/dist/index.js"

PASSES_AS_IT_IS = {
    *("localhost-host-rebinding-rejected", "localhost-host-valid-accepted", "logging-set-level"),
    *("ping", "prompts-list", "resources-list", "server-accepts-multiple-post-streams"),
    *("server-initialize", "tools-list"),
}


@needs_packages(OF_SUITE)
def test_the_server_over_http_passes_checks_that_need_none_of_the_offers(tmp_path: Path) -> None:
    results = tmp_path / "results"
    with HttpServer(tmp_path, "--no-auth", key="") as server:
        command = [*command_of(OF_SUITE, SUITE), "server", "--url", server.url, "--suite", "all"]
        # That it fails in something is no error here.
        done = run(tmp_path, *command, "--output-dir", str(results))
    ran = re.findall(r"^=== Running scenario: (\S+) ===$", done.stdout, re.MULTILINE)
    assert ran, done.stdout + done.stderr
    found: dict[tuple[str, str], str] = {}  # scenario and check: status
    for scenario in ran:
        [path] = results.glob(f"server-{scenario}-20*/checks.json")
        for check in json.loads(path.read_text("utf-8")):
            status = check["status"]
            assert found.setdefault((scenario, check["id"]), status) == status
    assert {check for (_, check), it in found.items() if it == "SUCCESS"} >= PASSES_AS_IT_IS
