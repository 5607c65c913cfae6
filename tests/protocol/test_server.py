"""Tests the tools that a server offers by its rooms, as a client sees them, and their cost."""

import inspect
import json
import re
from asyncio import gather
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio.lowlevel import checkpoint
from fastmcp import Client
from fastmcp.exceptions import McpError, ToolError

import server
from commands.clients.table import TOOLS
from core.config import read_rooms
from core.errors import RefusedError
from core.lessons.briefing import instructions_for
from core.lessons.log import cached_log
from core.messages import Facts, Language
from core.text.plain import Budget
from core.text.ranking import Entries, Entry, Source
from protocol import call as frame
from protocol.stdio import WRITING_TOOLS
from protocol.tools import OfferedRoom, SessionlessServer, memory_lines
from tests.conftest import StartServer
from tests.support import room_tools
from tests.support.room_tools import ROOMS, as_offered, offered, surface, tokens_of
from tests.support.sentences import raised, sentence
from tests.support.servers import ServerProcess
from tests.support.tables import none_of, table

GAP: dict[str, Any] = {"topic": "payment", "missing_context": "two", "lesson": "rule"}
MARKER, INTERNAL_ERROR = "zebra crossing at noon", -32603
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
    tools = surface(server.mcp)
    assert tools == table("tool_surface")
    # The cost in each session, and the limit of every client.
    assert len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode()) < 3_900
    assert max(len(tool["description"].encode()) for tool in tools) < 1_024
    assert len(instructions_for().encode()) <= 512


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


def test_a_refusal_is_a_value_error_and_over_the_protocol_a_sentence_without_the_value(
    log: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, values, key in table("refusals"):
        tool = getattr(server, name)
        with pytest.raises(ValueError) as direct:
            tool(*values)
        assert direct.value.key == key  # type: ignore[attr-defined]
        if key not in ("unknown_type", "lone_surrogate"):  # refused before the tool is called
            arguments = dict(zip(inspect.signature(tool).parameters, values, strict=False))
            assert refused(name, **arguments) == str(direct.value)
    assert MARKER not in refused("log_memory", **GAP, summary=[MARKER])
    assert MARKER not in caplog.text
    monkeypatch.setattr("protocol.tools.MOST_ARGUMENTS", 2)
    assert "lesson: it is blank" in refused("log_memory", **GAP)  # it was the third
    assert not log.parent.exists()


def test_a_change_that_a_cancellation_came_too_late_for_is_said_on_standard_error(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(frame, "is_cancelled", lambda: True)
    server.log_memory("auth", "gap", "rule")
    said = sentence("en", "protocol.stored_cancelled", tool="log_memory")
    assert capsys.readouterr().err == f"server.py: {said}\n"


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
    monkeypatch.setattr(server, "MOST_RESOURCE_BYTES", 10)  # above the limit of a client
    assert refused_resource()


def test_an_unexpected_error_or_a_program_that_is_gone_is_a_sentence_without_values(
    project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "search_answer", failing(RuntimeError("priv" + "ate words")))
    assert refused("search_memory", query="x") == sentence("en", "protocol.unexpected")
    assert "unexpected RuntimeError" in caplog.text
    assert "private" not in caplog.text
    # An upgrade or a moved folder leaves a server that cannot load modules it has not used yet.
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


def test_calls_leave_threads_for_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocol.tools.MOST_CALLS", 2)
    crowded, under_way, most = SessionlessServer("crowded"), Counter[str](), list[int]()

    @crowded.tool
    async def busy() -> None:
        under_way["calls"] += 1
        most.append(under_way["calls"])
        for _ in range(99):
            await checkpoint()  # the turn of every other call
        under_way["calls"] -= 1

    calls = room_tools.ask(crowded, lambda it: gather(*(it.call_tool("busy") for _ in range(9))))
    assert (len(calls), max(most)) == (9, 2)


LESSONS, CORE, SESSIONS = (list(TOOLS[it]) for it in ("lessons", "sessions:core", "sessions"))
FRAGMENTS_CORE, FRAGMENTS = list(TOOLS["fragments:core"]), list(TOOLS["fragments"])
PROMPTS = ["start_task", "finish_task", "compact", "memory_injection"]
KNOWN = "lessons, sessions, sessions:core, fragments, fragments:core"
OF_LESSONS = instructions_for()
OF_SESSIONS, OF_FRAGMENTS = instructions_for(["sessions"]), instructions_for(["fragments:core"])
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


OF_ROOMS: Facts = {"source": "--rooms", "known": KNOWN}
OF_BUDGET: Facts = {"variable": "SENTINEL_MEMORY_BUDGET", "least": 1_000, "default": 20_000}
UNUSABLE: list[tuple[list[str], str, Language, str, Facts]] = [
    (["--rooms", "kitchen"], "20000", "en", "bad_rooms", OF_ROOMS),
    ([], "0", "ko", "bad_setting", OF_BUDGET),
]


@pytest.mark.row("003 T85")
def test_an_unknown_room_or_setting_ends_the_start_with_a_sentence(
    tmp_path: Path, start_server: StartServer
) -> None:
    for rooms in ("sessions:bare", "sessions,sessions:core", "lessons:x"):
        with raised(RefusedError, "bad_rooms") as caught:
            read_rooms(rooms, "--rooms")
        assert caught.value.facts == OF_ROOMS
    for words, budget, lang, key, facts in UNUSABLE:
        environment = {"SENTINEL_MEMORY_LANG": lang, "SENTINEL_MEMORY_BUDGET": budget}
        started = start_server(*words, cwd=tmp_path, environment=environment)
        assert (started.wait(), started.stdout_lines) == (2, [])
        assert started.stderr() == f"server.py: {sentence(lang, f'errors.{key}', **facts)}\n"
    assert list(tmp_path.iterdir()) == []


def test_the_instructions_of_all_rooms_are_short_and_name_no_tool_of_another() -> None:
    assert len(OF_ALL.encode()) <= 1_024
    tools = {"context_warn", "context_get", "context_save"}
    assert set(re.findall(r"\w+_\w+", OF_SESSIONS)) == tools
    assert set(re.findall(r"\w+_\w+", OF_FRAGMENTS)) == set()


# The prompt and the recall over all rooms.


def holding(lines: Callable[[str, Budget], list[str]], *entries: Entry) -> OfferedRoom:
    return OfferedRoom(lambda _question: Entries(entries), lines)


def test_tokens_that_one_room_leaves_the_next_may_spend_and_a_question_gets_one_list() -> None:
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


# The parameters of 003, and of 002 with 004: `!` is required, `=` the default that a model sees.
TABLE = table("tool_parameters")


@pytest.fixture(params=ROOMS)
def room(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def tools_of(room: str, *, core_only: bool = False) -> list[dict[str, Any]]:
    return surface(offered(room, core_only=core_only))


@pytest.mark.row("003 T84")
def test_the_surface_of_a_room_is_the_recorded_one(room: str) -> None:
    assert tools_of(room) == table(f"tool_surface_{room}")


def declared(tool: dict[str, Any]) -> str:
    """The parameters of a tool as the table above writes them."""
    schema = tool["inputSchema"]
    words = []
    for name, part in schema["properties"].items():
        mark = "!" if name in schema.get("required", ()) else ""
        if "default" in part:
            mark += f"={json.dumps(part['default'], separators=(',', ':'))}"
        words.append(f"{name}{mark}")
    return " ".join(words)


@pytest.mark.row("002 2.10", "002 2.10.a", "002 2.31", "002 2.36.a", "002 2.38.e", "002 2.38.f")
@pytest.mark.row("002 2.41.a", "002 2.41.b", "002 2.47.a", "002 2.47.b", "002 2.49.a", "002 2.49.b")
@pytest.mark.row("002 2.49.c", "002 2.49.g", "002 2.50.b", "002 2.52", "002 2.90", "003 T32")
@pytest.mark.row("003 T68")
def test_there_are_the_tools_with_the_parameters_of_the_specifications(room: str) -> None:
    assert {tool["name"]: declared(tool) for tool in tools_of(room)} == TABLE[room]["parameters"]
    assert [*TABLE[room]["parameters"]] == list(TOOLS[room])


@pytest.mark.row("002 2.84", "002 2.90", "004 4.11.a")
def test_the_profile_core_offers_tools_of_a_day_and_all_cost_no_more_than_told(room: str) -> None:
    most, tools, core = TABLE[room], tools_of(room), tools_of(room, core_only=True)
    assert [tool["name"] for tool in core] == list(TOOLS[f"{room}:core"]) == most["core"]
    assert tokens_of(as_offered(tools)) <= most["most_tokens"]
    assert tokens_of(as_offered(core)) <= most["most_tokens_of_core"]
    longest = max(len(it["description"].encode()) for it in tools)
    assert longest < most["most_bytes_of_a_description"]


def parts(value: Any, place: str) -> Iterator[tuple[str, str, Any]]:
    """Every key of a schema, with its place and its value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield place, key, each
            yield from parts(each, f"{place}.{key}")
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from parts(each, f"{place}[{at}]")


def test_no_schema_shows_null_a_title_or_a_word_of_python(room: str) -> None:
    none_of(
        f"{place}.{key}: {value}"
        for tool in tools_of(room)
        for place, key, value in parts(tool["inputSchema"], tool["name"])
        if key in ("title", "ge", "le", "anyOf", "$ref", "$defs")
        or (value in (None, "null") and key in ("default", "type"))
    )


def test_every_object_of_the_fragments_shows_properties() -> None:
    """Gemini's interface refuses the whole list for one object without any."""
    none_of(
        f"{place}.{key}"
        for tool in tools_of("fragments")
        for place, key, value in parts(tool["inputSchema"]["properties"], tool["name"])
        if isinstance(value, dict) and value.get("type") == "object" and not value.get("properties")
    )


def test_hints_tell_tools_that_write_destroy_or_may_be_repeated(room: str) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in tools_of(room)}
    for hint, names, holds in (
        ("readOnlyHint", "reading", True),
        ("destructiveHint", "destroying", True),
        ("idempotentHint", "not_to_repeat", False),
    ):
        assert {it for it, told in hints.items() if told[hint] is holds} == {*TABLE[room][names]}
    assert hints.keys() & WRITING_TOOLS.keys() == hints.keys() - {*TABLE[room]["reading"]}
