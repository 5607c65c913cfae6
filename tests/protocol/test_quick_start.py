"""Tests that the server loads little until its first answers, and restores the libraries.

Start-up is paid in every session of every client. Times are measured in benchmarks/speed.py;
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
from tests.support.servers import ServerProcess
from tests.support.tables import ROOT, none_of, table

pytestmark = pytest.mark.long  # it costs much

MOST_ADDED = 80  # modules to those of a plain server; they were 68
# By module why nothing needs it before the first answers, or before the first call of a room.
NOT_BEFORE_THE_FIRST_ANSWERS = table("not_before_the_first_answers")
KNOWN = {*sys.stdlib_module_names, "anyio", "core", "protocol", "rooms", "server"}
# Modules that the first call of a room needs, and of a team's fragments.
OF_ROOMS = {"sqlite3", "numpy", "jsonref", "core.sanitizer", "core.room.database"}
OF_TEAMS = ("psycopg", "psycopg_pool", "redis", "prometheus_client", "http_server")

LOADED = """
import atexit, sys

atexit.register(lambda: print("LOADED", *sys.modules, file=sys.stderr))
"""
# A server of the installed FastMCP that answers the same requests, as it comes; and ours.
PLAIN = f"""{LOADED}
from fastmcp import FastMCP

mcp = FastMCP("plain")
mcp.tool(lambda query: query, name="search_memory")
mcp.prompt(lambda: "Start", name="start_task")
mcp.run(transport="stdio", show_banner=False, log_level="WARNING")
"""
RUNNER = f"""{LOADED}
import runpy

del sys.argv[0]
sys.path.insert(0, sys.argv[0].removesuffix("server.py"))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(folder: Path, rooms: str = "lessons", **environment: str) -> ServerProcess:
    """Our server, which prints its loaded modules at its end."""
    runner = folder / "runner.py"
    runner.write_text(RUNNER, encoding="utf-8")
    project, said = folder / "project", folder / f"stderr-{len(rooms)}.txt"
    project.mkdir(exist_ok=True)
    words = (str(ROOT / "server.py"), "--project", str(project), "--rooms", rooms)
    named: dict[str, Any] = {"script": runner, "environment": environment}
    return ServerProcess(*words, cwd=project, stderr_path=said, **named)


def loaded_by(server: ServerProcess, *calls: str) -> set[str]:
    """The modules of a server that has answered the first requests of clients, and these calls."""
    with server:
        for kind in ("tools", "resources", "resources/templates", "prompts"):
            server.request(f"{kind}/list")
        for tool in (*calls, "search_memory"):
            server.call(tool, query="payment")
        server.request("prompts/get", {"name": "start_task"})
        assert server.close() == 0
        said = server.stderr()
    [names] = [line.split()[1:] for line in said.splitlines() if line.startswith("LOADED ")]
    return {*names}


def within(loaded: set[str], packages: tuple[str, ...]) -> list[str]:
    return sorted(it for it in loaded for name in packages if f"{it}.".startswith(f"{name}."))


@pytest.mark.row("002 2.89", "003 T85", "004 4.15.a")
def test_nothing_is_loaded_that_no_first_answer_needs(tmp_path: Path) -> None:
    loaded = loaded_by(run(tmp_path))
    none_of(
        f"{module}: {belongs}. Look how the server or the installed FastMCP comes to need it."
        for name, belongs in NOT_BEFORE_THE_FIRST_ANSWERS.items()
        for module in within(loaded, (name,))
    )
    plain = tmp_path / "plain.py"
    plain.write_text(PLAIN, encoding="utf-8")
    server = ServerProcess(cwd=tmp_path, stderr_path=tmp_path / "plain.txt", script=plain)
    added = loaded - loaded_by(server)
    none_of(
        f"{module}: a plain server does without. Look what has come to need it."
        for module in sorted(added)
        if module.partition(".")[0] not in KNOWN
    )
    assert len(added) <= MOST_ADDED, sorted(added)  # import it where it is needed


def test_a_room_and_the_modules_of_a_team_are_loaded_at_the_first_call_only(tmp_path: Path) -> None:
    place = "postgresql://nobody@nowhere.invalid/memory"
    rooms = "lessons,sessions,fragments"
    loaded = loaded_by(run(tmp_path, rooms, SENTINEL_MEMORY_FRAGMENTS=place))
    assert within(loaded, ("rooms.sessions", "rooms.fragments")) == [
        *("rooms.fragments", "rooms.fragments.fragment", "rooms.fragments.tools"),
        *("rooms.sessions", "rooms.sessions.session", "rooms.sessions.tools"),
    ]
    assert within(loaded, (*OF_ROOMS, *OF_TEAMS)) == []
    place = str(tmp_path / "memory.db")
    server = run(tmp_path, "lessons,fragments", SENTINEL_MEMORY_FRAGMENTS=place)
    recalled = loaded_by(server, "recall")
    assert "sqlite3" in recalled
    of_teams = within(recalled, (*OF_TEAMS, "rooms.fragments.storage.postgres"))
    assert [it for it in of_teams if it != "http_server"] == []


def test_the_first_calls_may_come_all_at_once(tmp_path: Path, start_server: StartServer) -> None:
    server = start_server("--project", str(tmp_path), cwd=tmp_path, is_new=True)
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
    "docstring": server.search_memory.__doc__.splitlines()[0][:37],
}))
"""


def test_after_the_imports_the_libraries_are_as_before_and_no_unused_model_is_built() -> None:
    environment = {**os.environ, "PYDANTIC_DISABLE_PLUGINS": "0"}  # a user's own choice stays
    command = (sys.executable, "-c", IMPORTED)
    assert GoodRun.process(*command, cwd=ROOT, environment=environment).told == {
        "collects": True,
        "frozen": True,
        "plugins": "0",
        "base": {},
        # True: pydantic defers no longer. Look at the top of server.py, and for a new switch.
        "built models": False,
        "docstring": "Lessons of earlier tasks in this proj",
    }
