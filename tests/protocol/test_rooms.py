"""Tests which tools, prompts and words a server offers by the rooms that it is started with."""

import os
import re
import sys
from pathlib import Path

import pytest

from core.lessons.rules import instructions
from core.messages import Language
from tests.conftest import StartServer
from tests.support.cli_process import Run
from tests.support.costly import one_in
from tests.support.sentences import sentence
from tests.support.stdio_client import HANDSHAKE, ROOT, STATELESS, Era, ServerProcess

LESSONS = ["search_memory", "log_memory", "compact_memory"]
CORE = ["context_save", "context_search", "context_get", "context_warn"]
SESSIONS = [*CORE, "context_stats", "context_export", "context_recommend"]
PROMPTS = ["start_task", "finish_task", "compact", "memory_injection"]
FRAGMENTS_CORE = ["remember", "recall", "forget", "pin", "unpin"]
FRAGMENTS = [
    *("remember", "recall", "forget", "link", "amend", "reflect", "context", "tool_feedback"),
    *("memory_stats", "memory_consolidate", "graph_explore", "pin", "unpin"),
]
KNOWN = "lessons, sessions, sessions:core, fragments, fragments:core"
INSTRUCTIONS = instructions()
SESSIONS_INSTRUCTIONS = instructions(["sessions"])
FRAGMENTS_INSTRUCTIONS = instructions(["fragments:core"])
ALL_INSTRUCTIONS = f"{INSTRUCTIONS}\n{SESSIONS_INSTRUCTIONS}\n{FRAGMENTS_INSTRUCTIONS}"


def names(server: ServerProcess, kind: str) -> list[str]:
    listed = server.request(f"{kind}/list")["result"]
    [items] = [value for value in listed.values() if isinstance(value, list)]
    return [item["name"] for item in items]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.89", "003 T85")
@pytest.mark.parametrize(
    ("rooms", "tools", "instructions"),
    [
        ((), LESSONS, INSTRUCTIONS),
        (("--rooms", "lessons"), LESSONS, INSTRUCTIONS),
        (("--rooms", "lessons,sessions"), LESSONS + SESSIONS,
         f"{INSTRUCTIONS}\n{SESSIONS_INSTRUCTIONS}"),
        (("--rooms", "sessions:core, lessons"), LESSONS + CORE,
         f"{INSTRUCTIONS}\n{SESSIONS_INSTRUCTIONS}"),
        (("--rooms", "sessions"), SESSIONS, SESSIONS_INSTRUCTIONS),
        (("--rooms", "sessions:core"), CORE, SESSIONS_INSTRUCTIONS),
        (("--rooms", "fragments"), FRAGMENTS, FRAGMENTS_INSTRUCTIONS),
        (("--rooms", "fragments:core"), FRAGMENTS_CORE, FRAGMENTS_INSTRUCTIONS),
        (("--rooms", "lessons,sessions:core,fragments"), LESSONS + CORE + FRAGMENTS,
         ALL_INSTRUCTIONS),
    ],
)  # fmt: skip
def test_a_room_brings_its_tools_and_its_instructions(
    rooms: tuple[str, ...],
    tools: list[str],
    instructions: str,
    tmp_path: Path,
    start_server: StartServer,
) -> None:
    server = start_server("--project", str(tmp_path), *rooms, cwd=tmp_path)
    assert server.greet()["instructions"] == instructions
    assert names(server, "tools") == tools
    has_log = tools[0] == LESSONS[0]
    assert names(server, "prompts") == (PROMPTS if has_log else PROMPTS[-1:])
    assert names(server, "resources") == (["log"] if has_log else [])
    templates = ["record"] * has_log + ["fragment"] * ("remember" in tools)
    assert names(server, "resources/templates") == templates


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
def test_without_the_log_what_is_the_logs_is_not_there(
    era: Era, tmp_path: Path, start_server: StartServer
) -> None:
    server = start_server("--project", str(tmp_path), "--rooms", "sessions", cwd=tmp_path, era=era)
    said = server.request("resources/read", {"uri": "memory://log"})["error"]["message"]
    assert said == "Resource not found: 'memory://log'"
    said = server.request("prompts/get", {"name": "start_task"})["error"]["message"]
    assert said == "Unknown prompt: 'start_task'"
    assert server.call("context_save", goal="x", blockers=["no card"]) == "Saved #1."


@pytest.mark.long  # it costs much
def test_the_environment_names_rooms_and_the_command_line_wins(
    tmp_path: Path, start_server: StartServer
) -> None:
    environment = {"SENTINEL_MEMORY_ROOMS": "sessions:core"}
    server = start_server("--project", str(tmp_path), cwd=tmp_path, environment=environment)
    assert names(server, "tools") == CORE
    other = start_server(
        *("--project", str(tmp_path), "--rooms", "lessons"),
        cwd=tmp_path,
        environment={"SENTINEL_MEMORY_ROOMS": "kitchen"},
    )
    assert names(other, "tools") == LESSONS


@pytest.mark.row("003 T85")
@pytest.mark.parametrize(
    "rooms", one_in(4, ["kitchen", "sessions:bare", "sessions,sessions:core", "lessons:x"])
)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_an_unknown_room_ends_the_start_with_a_sentence(
    rooms: str, lang: Language, tmp_path: Path
) -> None:
    command = (sys.executable, str(ROOT / "server.py"), "--rooms", rooms)
    environment = {**os.environ, "SENTINEL_MEMORY_LANG": lang}
    started = Run.process(*command, cwd=tmp_path, environment=environment)
    assert (started.code, started.out) == (2, "")
    assert (
        started.errors
        == f"server.py: {sentence(lang, 'errors.bad_rooms', source='--rooms', known=KNOWN)}\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long  # it costs much
def test_the_instructions_of_all_rooms_are_short_and_name_no_tool_of_another() -> None:
    assert len(ALL_INSTRUCTIONS.encode()) <= 1_024
    assert set(re.findall(r"\w+_\w+", SESSIONS_INSTRUCTIONS)) == {
        *("context_warn", "context_get", "context_save"),
    }
    assert set(re.findall(r"\w+_\w+", FRAGMENTS_INSTRUCTIONS)) == set()
