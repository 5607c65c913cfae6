"""Tests what a server offers by its rooms, and the answers in which several stand together."""

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from core.config import read_rooms
from core.errors import RefusedError
from core.lessons.briefing import instructions
from core.messages import Facts, Language
from core.text.plain import Budget
from core.text.ranking import Entry, Gathered, Source
from protocol.tools import OfferedRoom, memory_lines
from tests.conftest import StartServer
from tests.support.cli_process import Run
from tests.support.sentences import raised, sentence
from tests.support.servers import ServerProcess
from tests.support.tables import ROOT

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
OF_LESSONS = instructions()
OF_SESSIONS, OF_FRAGMENTS = instructions(["sessions"]), instructions(["fragments:core"])
OF_ALL = f"{OF_LESSONS}\n{OF_SESSIONS}\n{OF_FRAGMENTS}"


@pytest.fixture
def start(tmp_path: Path, start_server: StartServer) -> Callable[..., ServerProcess]:
    """Starts a server with these rooms, whose fragments lie in the project; more: its variables."""

    def started(rooms: str | None = None, **more: str) -> ServerProcess:
        words = ["--project", str(tmp_path), *(("--rooms", rooms) if rooms is not None else ())]
        environment = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db"), **more}
        return start_server(*words, cwd=tmp_path, environment=environment)

    return started


def names(server: ServerProcess, kind: str) -> list[str]:
    listed = server.request(f"{kind}/list")["result"]
    [items] = [value for value in listed.values() if isinstance(value, list)]
    return [item["name"] for item in items]


@pytest.mark.row("002 2.89", "003 T85")
@pytest.mark.long  # it costs much
def test_a_room_brings_its_tools_and_its_instructions(start: Callable[..., ServerProcess]) -> None:
    for rooms, named, tools, said in [
        (None, "", LESSONS, OF_LESSONS),
        (None, "sessions:core", CORE, OF_SESSIONS),
        ("lessons", "kitchen", LESSONS, OF_LESSONS),  # the command line wins
        ("sessions:core, lessons", "", LESSONS + CORE, f"{OF_LESSONS}\n{OF_SESSIONS}"),
        ("sessions", "", SESSIONS, OF_SESSIONS),
        ("fragments:core", "", FRAGMENTS_CORE, OF_FRAGMENTS),
        ("lessons,sessions:core,fragments", "", LESSONS + CORE + FRAGMENTS, OF_ALL),
    ]:
        server = start(rooms, SENTINEL_MEMORY_ROOMS=named)
        assert server.greet()["instructions"] == said
        assert names(server, "tools") == tools
        has_log = tools[0] == LESSONS[0]
        assert names(server, "prompts") == (PROMPTS if has_log else PROMPTS[-1:])
        assert names(server, "resources") == (["log"] if has_log else [])
        templates = ["record"] * has_log + ["fragment"] * ("remember" in tools)
        assert names(server, "resources/templates") == templates
        if not has_log:
            said = server.request("resources/read", {"uri": "memory://log"})["error"]["message"]
            assert said == "Resource not found: 'memory://log'"
            said = server.request("prompts/get", {"name": "start_task"})["error"]["message"]
            assert said == "Unknown prompt: 'start_task'"


BUDGET = "SENTINEL_MEMORY_BUDGET"
OF_ROOMS: Facts = {"source": "--rooms", "known": KNOWN}
OF_BUDGET: Facts = {"variable": BUDGET, "least": 1_000, "default": 20_000}


UNUSABLE: list[tuple[list[str], dict[str, str], Language, str, Facts]] = [
    (["--rooms", "kitchen"], {}, "en", "bad_rooms", OF_ROOMS),
    ([], {BUDGET: "0"}, "ko", "bad_setting", OF_BUDGET),
]


@pytest.mark.row("003 T85")
def test_an_unknown_room_or_setting_ends_the_start_with_a_sentence(tmp_path: Path) -> None:
    for rooms in ("sessions:bare", "sessions,sessions:core", "lessons:x"):
        with raised(RefusedError, "bad_rooms") as caught:
            read_rooms(rooms, "--rooms")
        assert caught.value.facts == OF_ROOMS
    for words, named, lang, key, facts in UNUSABLE:
        environment = {**os.environ, "SENTINEL_MEMORY_LANG": lang, **named}
        command = (sys.executable, str(ROOT / "server.py"), *words)
        started = Run.process(*command, cwd=tmp_path, environment=environment)
        said = sentence(lang, f"errors.{key}", **facts)
        assert (started.code, started.out, started.errors) == (2, "", f"server.py: {said}\n")
    assert list(tmp_path.iterdir()) == []


def test_the_instructions_of_all_rooms_are_short_and_name_no_tool_of_another() -> None:
    assert len(OF_ALL.encode()) <= 1_024
    assert set(re.findall(r"\w+_\w+", OF_SESSIONS)) == {
        *("context_warn", "context_get", "context_save")
    }
    assert set(re.findall(r"\w+_\w+", OF_FRAGMENTS)) == set()


# The prompt and the recall over all rooms.


def holding(lines: Callable[[str, Budget], list[str]], *entries: Entry) -> OfferedRoom:
    return OfferedRoom(lambda _question: Gathered(entries), lines)


def test_what_one_room_leaves_the_next_may_spend_and_a_question_gets_one_list() -> None:
    seen = []

    def spends(tokens: int, _query: str, budget: Budget) -> list[str]:
        seen.append(round(budget.tokens))
        budget.tokens -= tokens
        return ["x"]

    rooms = [holding(partial(spends, it)) for it in (0, 300, 100)]
    assert memory_lines("", "600", rooms) == "x\nx\nx"
    assert seen == [200, 300, 300]

    def entry(source: Source, text: str) -> Entry:
        return Entry(source, text, text, (), lambda: text)

    def nothing(_query: str, _budget: Budget) -> list[str]:
        return []

    rooms = [
        holding(nothing, entry("session", "two doors"), entry("session", "bread")),
        holding(nothing, entry("lesson", "the vault has two doors")),
    ]
    head, *lines = memory_lines("doors of the vault", "600", rooms).splitlines()
    assert head == sentence("en", "protocol.prompt_one_list")
    assert lines == ["lesson the vault has two doors", "session two doors", "session bread"]
    rooms = [holding(nothing, entry("lesson", "vault " * 900)), rooms[0]]
    assert memory_lines("vault doors", "200", rooms).splitlines()[1:] == lines[1:]
    nothing_said = sentence("en", "protocol.prompt_nothing")
    for empty in ([holding(nothing)], [holding(nothing)] * 2):
        assert memory_lines("x", "600", empty) == nothing_said
