"""What the server loads until its first answers, and that a quick start changes no answer.

Start-up is paid in every session of every client. Times are measured in benchmarks/bench.py;
here the modules are counted, which is the same on every machine.
"""

import gc
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from protocol.quick_start import quick_start
from tests.conftest import StartServer
from tests.support.stdio_client import HANDSHAKE, ROOT, STATELESS, Era, ServerProcess

SERVER = ROOT / "server.py"

# Modules of each package after the first answers, with fastmcp 4.1.2, mcp 2.3.0, pydantic 2.14.3.
USUAL = {
    "_cffi_backend": 1,
    "_distutils_hack": 1,
    "_openssl": 2,
    "annotated_types": 1,
    "anyio": 31,
    "backports": 1,
    "click": 12,
    "core": 20,
    "cryptography": 55,
    "cython_runtime": 1,
    "dotenv": 4,
    "exceptiongroup": 4,
    "faces": 5,
    "fastmcp": 100,
    "httpx2": 25,
    "idna": 5,
    "joserfc": 43,
    "mcp": 108,
    "mcp_types": 8,
    "opentelemetry": 23,
    "packaging": 2,
    "platformdirs": 6,
    "pydantic": 50,
    "pydantic_core": 3,
    "pydantic_settings": 22,
    "python_multipart": 4,
    "rich": 42,
    "sse_starlette": 4,
    "starlette": 22,
    "typing_extensions": 1,
    "typing_inspection": 3,
    "uncalled_for": 10,
    "uvicorn": 19,
    "watchfiles": 6,
    "yaml": 18,
}
MOST_MODULES = 950  # it was 916 in Python 3.11
NEVER_AT_START = {
    "beartype": "the store of sessions (SessionlessServer, Listings in server.py)",
    "key_value": "the store of sessions (SessionlessServer, Listings in server.py)",
    "griffe": "the parser of docstrings (described in server.py)",
    "cyclopts": "the command line of FastMCP",
    "docket": "background tasks",
    "fastmcp.cli": "the command line of FastMCP, its banner and its look for updates",
    "fastmcp.client": "the client of FastMCP",
    "core.text.ranking": "only a memory above its budget is ranked",
    "core.sanitizer": "only a save is redacted",
    "core.secrets.service_tokens": "only a save is redacted",
    "commands.terminal.console": "the command line",
}

RUNNER = """
import atexit, contextlib, runpy, sys

server, switched = sys.argv[1], sys.argv[2]
sys.path.insert(0, server.removesuffix("server.py"))
import protocol.quick_start

if switched == "off":
    protocol.quick_start.quick_start = contextlib.nullcontext
sys.argv[:] = [server, *sys.argv[3:]]
atexit.register(lambda: print("LOADED", *sys.modules, file=sys.stderr))
runpy.run_path(server, run_name="__main__")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


def run(tmp_path: Path, project: Path, switched: str, era: Era = HANDSHAKE) -> ServerProcess:
    runner = tmp_path / "runner.py"
    runner.write_text(RUNNER, encoding="utf-8")
    return ServerProcess(
        *(str(SERVER), switched, "--project", str(project)),
        cwd=project,
        stderr_path=tmp_path / f"stderr-{switched}.txt",
        era=era,
        script=runner,
    )


def lists(server: ServerProcess) -> list[dict[str, Any]]:
    kinds = ("tools", "resources", "resources/templates", "prompts")
    return [server.request(f"{kind}/list") for kind in kinds]


def loaded_at_start(tmp_path: Path, project: Path) -> list[str]:
    """The modules of a server that has answered what clients ask first, and one search."""
    with run(tmp_path, project, "on") as server:
        lists(server)
        server.call("search_memory", query="payment")
        server.request("prompts/get", {"name": "start_task"})
        assert server.close() == 0
        said = server.stderr()
    names = [line.split()[1:] for line in said.splitlines() if line.startswith("LOADED ")]
    assert len(names) == 1, said
    return names[0]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    root = tmp_path_factory.mktemp("loaded")
    project = root / "project"
    project.mkdir()
    return loaded_at_start(root, project)


def test_the_server_loads_no_more_modules_than_it_did_and_the_newcomers_are_named(
    loaded: list[str],
) -> None:
    tops = Counter(name.partition(".")[0] for name in loaded)
    foreign = {top: count for top, count in tops.items() if top not in sys.stdlib_module_names}
    grown = {top: count - USUAL.get(top, 0) for top, count in foreign.items()}
    newcomers = ", ".join(
        f"{top} +{more} modules" if top in USUAL else f"{top} (new, {more} modules)"
        for top, more in sorted(grown.items(), key=lambda it: -it[1])
        if more > 0
    )
    assert len(loaded) <= MOST_MODULES, (
        f"{len(loaded)} modules until the first answer, at most {MOST_MODULES} are meant."
        f" More than before: {newcomers or 'only the standard library'}."
        " Import what a first answer does not need where it is needed."
    )


@pytest.mark.parametrize("name", NEVER_AT_START)
def test_what_no_first_answer_needs_is_not_loaded(name: str, loaded: list[str]) -> None:
    found = [it for it in loaded if it == name or it.startswith(f"{name}.")]
    assert not found, (
        f"{name} is loaded at start again ({len(found)} modules). It belongs to:"
        f" {NEVER_AT_START[name]}. Look how the installed FastMCP comes to need it."
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


@pytest.mark.parametrize("era", [HANDSHAKE, STATELESS])
def test_the_first_calls_may_come_all_at_once(
    era: Era, project: Path, start_server: StartServer
) -> None:
    server = start_server("--project", str(project), cwd=project, era=era)
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


def imported(environment: dict[str, str]) -> dict[str, Any]:
    inherited = {k: v for k, v in os.environ.items() if k != "PYDANTIC_DISABLE_PLUGINS"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED],
        cwd=ROOT,
        env={**inherited, **environment},
        capture_output=True,
        check=True,
        timeout=60,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_after_the_imports_the_libraries_are_as_before_and_no_unused_model_is_built() -> None:
    assert imported({}) == {
        "collects": True,
        "frozen": True,
        "plugins": "__all__",
        "base": {},
        # True: pydantic defers no longer. Look in quick_start, and for a new switch.
        "built models": False,
        "docstring": "Lessons of earlier tasks in this project. Call it before you plan or edit"
        " anything.",
    }


def test_a_users_own_choice_of_plugins_stays() -> None:
    assert imported({"PYDANTIC_DISABLE_PLUGINS": "0"})["plugins"] == "0"


@pytest.fixture
def thawed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What quick_start leaves for the whole process is taken back."""
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "0")
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("thawed")
@pytest.mark.parametrize("collects", [True, False])
def test_an_import_that_fails_leaves_the_collector_and_the_models_as_they_were(
    collects: bool,
) -> None:
    before = gc.isenabled(), BaseModel.model_config
    (gc.enable if collects else gc.disable)()
    try:
        with pytest.raises(ImportError, match="gone"), quick_start():
            assert not gc.isenabled()
            raise ImportError("gone")
        assert gc.isenabled() == collects
        assert BaseModel.model_config is before[1]
    finally:
        (gc.enable if before[0] else gc.disable)()


@pytest.mark.usefixtures("thawed")
def test_a_model_that_waits_checks_as_ever() -> None:
    with quick_start():

        class Card(BaseModel):
            number: int

        class Cash(BaseModel):
            coins: int

        union = TypeAdapter[Card | Cash](Card | Cash)
    assert not Card.__pydantic_complete__
    assert Card.model_validate({"number": "1"}) == Card(number=1)
    assert union.validate_python({"coins": "3"}) == Cash(coins=3)
    with pytest.raises(ValidationError):
        union.validate_python({})
