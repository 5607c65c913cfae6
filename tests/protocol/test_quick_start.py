"""Tests that the server loads little until its first answers, and answers as without that care.

Start-up is paid in every session of every client. Times are measured in benchmarks/bench.py;
here the modules are counted, which is the same on every machine.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartServer
from tests.support.cli_process import GoodRun
from tests.support.rows import none_of
from tests.support.stdio_client import HANDSHAKE, ROOT, STATELESS, Era, ServerProcess

SERVER = ROOT / "server.py"

MOST_ADDED = 80  # modules to those of a plain server; they were 68
OURS = ("core", "protocol", "rooms", "http_server", "commands", "server")
MEANT = ("anyio",)  # what a call runs in
NOT_BEFORE_THE_FIRST_ANSWERS = {
    "beartype": "the store of sessions (SessionlessServer)",
    "key_value": "the store of sessions (SessionlessServer)",
    "griffe": "the parser of docstrings (with_sentences of protocol/call.py)",
    "core.text.ranking": "only a memory above its budget is ranked",
    "core.sanitizer": "only a save is redacted",
    "core.guard.values": "only a save is redacted",
    "commands": "the command line",
    "sqlite3": "no memory of another kind is switched on",
    "rooms": "no memory of another kind is switched on",
    "numpy": "no memory of another kind is switched on",
    "psycopg": "no server keeps the fragments",
    "psycopg_pool": "no server keeps the fragments",
    "redis": "no cache is switched on",
    "prometheus_client": "only a server over HTTP counts",
    "http_server": "only a server over HTTP listens",
}

# What the first call of a room needs.
OF_ROOMS = {"sqlite3", "numpy", "jsonref", "core.sanitizer", "core.room.database"}

# A server of the installed FastMCP that answers the same requests, as it comes.
PLAIN = """
import atexit, sys

atexit.register(lambda: print("LOADED", *sys.modules, file=sys.stderr))
from fastmcp import FastMCP

mcp = FastMCP("plain")


@mcp.tool
def search_memory(query: str) -> str:
    return query


@mcp.prompt
def start_task() -> str:
    return "Start"


mcp.run(transport="stdio", show_banner=False, log_level="WARNING")
"""

RUNNER = """
import atexit, runpy, sys

server, switched = sys.argv[1], sys.argv[2]
sys.path.insert(0, server.removesuffix("server.py"))
if switched == "off":  # what is there already is not built late
    import os

    os.environ["FASTMCP_ENV_FILE"] = os.devnull
    import fastmcp, mcp.server.stdio
sys.argv[:] = [server, *sys.argv[3:]]
atexit.register(lambda: print("LOADED", *sys.modules, file=sys.stderr))
runpy.run_path(server, run_name="__main__")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


def run(
    tmp_path: Path,
    project: Path,
    switched: str,
    era: Era = HANDSHAKE,
    rooms: str = "lessons",
    environment: dict[str, str] | None = None,
) -> ServerProcess:
    runner = tmp_path / "runner.py"
    runner.write_text(RUNNER, encoding="utf-8")
    return ServerProcess(
        *(str(SERVER), switched, "--project", str(project), "--rooms", rooms),
        cwd=project,
        stderr_path=tmp_path / f"stderr-{switched}.txt",
        era=era,
        script=runner,
        environment=environment or {},
    )


def lists(server: ServerProcess) -> list[dict[str, Any]]:
    kinds = ("tools", "resources", "resources/templates", "prompts")
    return [server.request(f"{kind}/list") for kind in kinds]


def loaded_at_start(
    tmp_path: Path,
    project: Path,
    rooms: str = "lessons",
    *,
    recalls: bool = False,
    **environment: str,
) -> list[str]:
    """The modules of a server that has answered what clients ask first, and one search."""
    with run(tmp_path, project, "on", rooms=rooms, environment=environment) as server:
        return loaded_by(server, recalls=recalls)


def loaded_by(server: ServerProcess, *, recalls: bool = False) -> list[str]:
    lists(server)
    if recalls:
        server.call("recall", query="payment")
    server.call("search_memory", query="payment")
    server.request("prompts/get", {"name": "start_task"})
    assert server.close() == 0
    said = server.stderr()
    names = [line.split()[1:] for line in said.splitlines() if line.startswith("LOADED ")]
    assert len(names) == 1, said
    return names[0]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.89", "003 T85", "004 4.15.a")
def test_nothing_is_loaded_that_no_first_answer_needs(tmp_path: Path, project: Path) -> None:
    loaded = loaded_at_start(tmp_path, project)
    none_of(
        f"{module}: {belongs}. Look how the server or the installed FastMCP comes to need it."
        for name, belongs in NOT_BEFORE_THE_FIRST_ANSWERS.items()
        for module in loaded
        if module == name or module.startswith(f"{name}.")
    )
    plain = tmp_path / "plain.py"
    plain.write_text(PLAIN, encoding="utf-8")
    with ServerProcess(cwd=project, stderr_path=tmp_path / "plain.txt", script=plain) as server:
        added = {*loaded} - {*loaded_by(server)}
    known = {*OURS, *MEANT, *sys.stdlib_module_names}
    none_of(
        f"{module}: a plain server does without. Look what has come to need it."
        for module in sorted(added)
        if module.partition(".")[0] not in known
    )
    assert len(added) <= MOST_ADDED, (
        f"{len(added)} modules more than a plain server, at most {MOST_ADDED} are meant."
        f" Import what a first answer does not need where it is needed: {sorted(added)}"
    )


@pytest.fixture(scope="module")
def loaded_with_rooms(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules of a server with every room, the fragments of which are a team's."""
    base = tmp_path_factory.mktemp("rooms")
    project = base / "project"
    project.mkdir()
    place = "postgresql://nobody@nowhere.invalid/memory"
    rooms = "lessons,sessions,fragments"
    return {*loaded_at_start(base, project, rooms, SENTINEL_MEMORY_FRAGMENTS=place)}


@pytest.mark.long  # it costs much
def test_the_sessions_load_their_work_at_the_first_call_only(loaded_with_rooms: set[str]) -> None:
    rooms = {name for name in loaded_with_rooms if name.startswith("rooms.sessions")}
    assert rooms == {"rooms.sessions", "rooms.sessions.session", "rooms.sessions.tools"}
    assert not OF_ROOMS & loaded_with_rooms


def test_the_fragments_load_their_work_at_the_first_call_only(loaded_with_rooms: set[str]) -> None:
    rooms = {name for name in loaded_with_rooms if name.startswith("rooms.fragments")}
    assert rooms == {"rooms.fragments", "rooms.fragments.kinds", "rooms.fragments.tools"}
    assert not OF_ROOMS & loaded_with_rooms


@pytest.mark.long  # it costs much
def test_what_a_team_needs_is_loaded_at_the_first_call_on_its_server_only(
    tmp_path: Path, project: Path, loaded_with_rooms: set[str]
) -> None:
    place = str(tmp_path / "memory.db")
    rooms = "lessons,fragments"
    loaded = loaded_at_start(
        tmp_path, project, rooms, recalls=True, SENTINEL_MEMORY_FRAGMENTS=place
    )
    assert "sqlite3" in loaded
    none_of(
        name
        for name in (*loaded, *loaded_with_rooms)
        if name.partition(".")[0] in ("psycopg", "psycopg_pool", "redis", "prometheus_client")
        or name.startswith(("http_server.", "rooms.fragments.postgres"))
    )


@pytest.mark.long
@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
def test_without_the_quick_start_every_answer_is_the_same(
    era: Era, tmp_path: Path, project: Path
) -> None:
    answers: dict[str, list[Any]] = {}
    for switched in ("on", "off"):
        with run(tmp_path, project, switched, era) as server:
            answers[switched] = [
                server.greet(),
                *lists(server),
                server.call("search_memory", query="payment", topic="pay"),
                server.refusal("compact_memory", compact_threshold=0),
                server.refusal("log_memory", topic=[1], lesson="x"),
                server.request("tools/call", {"name": "unknown", "arguments": {}}),
                server.request("tools/call", {"name": ["no text"]}),
                server.request("prompts/get", {"name": "start_task"}),
                server.request("prompts/get", {"name": "unknown"}),
                server.request("resources/read", {"uri": "memory://log"}),
                server.request("resources/read", {"uri": "memory://unknown"}),
                server.request("no/such/method"),
            ]
            assert server.close() == 0
            assert not server.strange_lines()
    assert answers["on"] == answers["off"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
def test_the_first_calls_may_come_all_at_once(
    era: Era, project: Path, start_server: StartServer
) -> None:
    server = start_server("--project", str(project), cwd=project, era=era, is_new=True)
    asked = [server.ask_tool("search_memory", query=f"task {number}") for number in range(40)]
    asked_lists = [server.ask("tools/list") for _ in range(10)]
    assert len({server.tool_text(request) for request in asked}) == 1
    assert len({json.dumps(server.answer(it)["result"]) for it in asked_lists}) == 1


IMPORTED = """
import gc, json, os, sys
import server
from mcp_types import CallToolResult
from pydantic import BaseModel

print(json.dumps({
    "collects": gc.isenabled(),
    "frozen": gc.get_freeze_count() > 50_000,
    "plugins": os.environ["PYDANTIC_DISABLE_PLUGINS"],
    "base": dict(BaseModel.model_config),
    "built models": CallToolResult.__pydantic_complete__,
    "docstring": server.search_memory.__doc__.splitlines()[0],
}))
"""


def imported(environment: dict[str, str]) -> Any:
    inherited = {k: v for k, v in os.environ.items() if k != "PYDANTIC_DISABLE_PLUGINS"}
    command = (sys.executable, "-c", IMPORTED)
    return GoodRun.process(*command, cwd=ROOT, environment={**inherited, **environment}).told


@pytest.mark.long  # it costs much
def test_after_the_imports_the_libraries_are_as_before_and_no_unused_model_is_built() -> None:
    assert imported({}) == {
        "collects": True,
        "frozen": True,
        "plugins": "__all__",
        "base": {},
        # True: pydantic defers no longer. Look at the top of server.py, and for a new switch.
        "built models": False,
        "docstring": "Lessons of earlier tasks in this project. Call it before you plan or edit"
        " anything, unless",
    }


@pytest.mark.long  # it costs much
def test_a_users_own_choice_of_plugins_stays() -> None:
    assert imported({"PYDANTIC_DISABLE_PLUGINS": "0"})["plugins"] == "0"
