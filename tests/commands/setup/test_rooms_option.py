"""Tests how setup switches on rooms in what it writes for clients, and off again."""

import json
import os
import tomllib
from typing import Any

import pytest

from commands.setup.client_table import CLIENTS, RECORDING
from commands.setup.files import LEVELS, Level
from commands.setup.rooms import TOKENS
from core.messages import Language
from tests.support.desk import Desk
from tests.support.sentences import sentence
from tests.support.setup_bench import WITH_SESSIONS, Bench

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")

KEYS = [client.key for client in CLIENTS]
LESSONS = ("lessons",)


def holding(bench: Bench, text: str) -> list[str]:
    return [name for name, data in bench.files().items() if text.encode() in data]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.81")
@pytest.mark.parametrize("client", KEYS)
def test_switching_on_and_off_leaves_what_a_setup_without_it_writes(
    client: str, bench: Bench
) -> None:
    bench.put({})
    bench.do(client)
    before = bench.files()
    for rooms in (WITH_SESSIONS, ("lessons", "fragments")):
        bench.do(client, rooms=rooms)
        assert holding(bench, ",".join(rooms)) != []
        if rooms != WITH_SESSIONS:
            assert holding(bench, f"hook {RECORDING}") == []
        for again in (rooms, None):
            assert bench.plan(client, rooms=again).changes == ()
        bench.do(client, rooms=LESSONS)
        assert bench.files() == before


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("client", [client.key for client in CLIENTS if client.of_user])
def test_every_level_has_the_room(client: str, level: Level, bench: Bench) -> None:
    bench.put({})
    bench.take(bench.plan(client, level=level, rooms=WITH_SESSIONS))
    where = "home/" if level == "user" else "root/"
    assert any(name.startswith(where) for name in holding(bench, "lessons,sessions"))
    assert any(name.startswith(where) for name in holding(bench, f"hook {RECORDING}"))
    assert bench.plan(client, level=level).changes == ()
    bench.take(bench.plan(client, level=level, rooms=LESSONS))
    assert holding(bench, "sessions") == holding(bench, RECORDING) == []


@pytest.mark.long  # it costs much
def test_only_the_tools_of_the_rooms_are_allowed(bench: Bench) -> None:
    bench.put({})
    for rooms, last, count in (
        (WITH_SESSIONS, "context_recommend", 10),
        (("lessons", "sessions:core"), "context_warn", 7),
        (("sessions",), "context_recommend", 7),
        (("lessons", "fragments"), "unpin", 16),
        (("fragments:core",), "unpin", 5),
    ):
        planned = bench.do("claude-code", rooms=rooms)
        assert (planned.tools[-1], len(planned.tools)) == (last, count)
        text = bench.path("root/.claude/settings.local.json").read_text()
        allowed = json.loads(text)["permissions"]["allow"]
        assert allowed == [f"mcp__sentinel-memory__{tool}" for tool in planned.tools]


@pytest.mark.long  # it costs much
def test_codex_passes_on_where_the_fragments_are_and_keeps_the_variables_of_the_user(
    bench: Bench,
) -> None:
    """Its servers get few variables, and would keep fragments where no other client looks."""
    ours = ["SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_AGENT", "XDG_DATA_HOME"]

    def passed() -> object:
        text = bench.path("root/.codex/config.toml").read_text("utf-8")
        return tomllib.loads(text)["mcp_servers"]["sentinel-memory"].get("env_vars")

    bench.put({})
    bench.do("codex")
    before = bench.files()
    bench.do("codex", rooms=("lessons", "fragments:core"))
    assert passed() == ours
    assert bench.plan("codex").changes == ()
    bench.do("codex", rooms=LESSONS)
    assert bench.files() == before
    text = bench.path("root/.codex/config.toml").read_text("utf-8")
    bench.path("root/.codex/config.toml").write_text(text + 'env_vars = ["SHOP"]\n', "utf-8")
    bench.do("codex", rooms=("fragments",))
    assert passed() == ["SHOP", *ours]
    bench.do("codex", rooms=LESSONS)
    assert passed() == ["SHOP"]


def test_an_entry_keeps_the_rooms_that_a_person_wrote(bench: Bench) -> None:
    entry: dict[str, Any] = {"command": "python", "args": [str(bench.tool / "server.py")]}
    for args, env, kept in (
        (["--rooms=lessons,sessions:core"], {}, ["--rooms", "lessons,sessions:core"]),
        ([], {"SENTINEL_MEMORY_ROOMS": "lessons sessions"}, []),
    ):
        given = {**entry, "args": [*entry["args"], *args], "env": env}
        bench.put({"root/.mcp.json": json.dumps({"mcpServers": {"sentinel-memory": given}})})
        bench.do("claude-code")
        [now] = json.loads(bench.path("root/.mcp.json").read_text())["mcpServers"].values()
        assert now["args"] == [str(bench.tool / "server.py"), *kept]
        assert holding(bench, f"hook {RECORDING}") == ["root/.claude/settings.json"]
    bench.do("claude-code", rooms=LESSONS)  # the variable would have the room else
    [now] = json.loads(bench.path("root/.mcp.json").read_text())["mcpServers"].values()
    assert now["args"][-2:] == ["--rooms", "lessons"]
    assert holding(bench, RECORDING) == []


def test_rooms_that_no_server_knows_are_kept_and_count_as_none(bench: Bench) -> None:
    args = [str(bench.tool / "server.py"), "--rooms", "attic"]
    entry = {"command": "python", "args": args}
    bench.put({"root/.mcp.json": json.dumps({"mcpServers": {"sentinel-memory": entry}})})
    bench.do("claude-code")
    assert "attic" in bench.path("root/.mcp.json").read_text()
    assert holding(bench, RECORDING) == []


@pytest.mark.long  # it costs much
def test_hooks_that_two_clients_share_stay_while_one_of_them_has_the_room(bench: Bench) -> None:
    bench.put({})
    shared = ["root/.github/hooks/sentinel-memory.json"]
    bench.do("vscode", rooms=WITH_SESSIONS)
    bench.do("copilot")
    assert holding(bench, RECORDING) == shared
    assert bench.plan("vscode", "copilot").changes == ()
    bench.do("vscode", rooms=LESSONS)
    assert holding(bench, RECORDING) == []
    bench.do("copilot", rooms=WITH_SESSIONS)
    bench.do("vscode")
    assert holding(bench, RECORDING) == shared


def test_the_rules_say_what_the_rooms_of_their_readers_ask_for(bench: Bench) -> None:
    bench.put({})
    bench.do("codex")
    assert holding(bench, "context_save") == []
    bench.do("copilot", rooms=WITH_SESSIONS)
    assert "root/AGENTS.md" in holding(bench, "context_save")
    bench.do("codex")
    assert "root/AGENTS.md" in holding(bench, "context_save")
    bench.do("copilot", rooms=("sessions",))
    text = bench.path("root/AGENTS.md").read_text()
    assert "search_memory" in text and "context_save" in text


def test_no_hook_reminds_of_a_tool_that_is_not_offered(bench: Bench) -> None:
    where = ["root/.claude/settings.json"]
    bench.do("claude-code")
    before = bench.path(where[0]).read_bytes()
    assert holding(bench, "hook stop") == where
    bench.do("claude-code", rooms=("sessions:core",))
    assert (holding(bench, "hook stop"), holding(bench, "hook session-start")) == ([], where)
    bench.do("claude-code", rooms=LESSONS)
    assert bench.path(where[0]).read_bytes() == before


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(
    ("room", "tool"),
    [
        ("sessions", "context_recommend"),
        ("sessions:core", "context_warn"),
        ("fragments", "graph_explore"),
        ("fragments:core", "unpin"),
    ],
)
def test_the_command_says_what_the_room_does_and_costs(
    room: str, tool: str, lang: Language, desk: Desk
) -> None:
    given = ("setup", "claude-code", "--rooms", f"lessons,{room}", "--dry-run")
    code, out, _ = desk.run(*given, SENTINEL_MEMORY_LANG=lang)
    said = " ".join(out.split())
    assert code == 0
    facts = {"tokens": TOKENS[room], "core": TOKENS.get(f"{room}:core", 0)}
    assert sentence(lang, f"setup.room_{room}", **facts) in said
    assert f"{TOKENS[room]:,}" in said
    about = " ".join(sentence(lang, "setup.approves_fragments").split())
    assert (about in said) == room.startswith("fragments")
    assert tool in said


def test_a_room_that_does_not_exist_is_refused_before_anything_is_read(desk: Desk) -> None:
    code, _, errors = desk.run("setup", "claude-code", "--rooms", "lessons,attic", "--yes")
    assert code == 2
    assert "lessons, sessions, sessions:core, fragments, fragments:core" in " ".join(errors.split())
    assert not (desk.root / ".mcp.json").exists()
