"""Tests the server as its clients meet it: a process that answers over pipes, line by line."""

import contextlib
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from core.config import CONTEXT_DIRECTORY
from core.lessons.briefing import instructions_for
from core.lessons.record import Draft
from core.messages import Facts, Language
from core.store import MemoryStore
from server import VERSION
from tests.conftest import StartServer
from tests.support.git_clones import copied_checkout, path_of
from tests.support.nursery import Born
from tests.support.sentences import sentence
from tests.support.servers import HANDSHAKE, STATELESS, ServerProcess
from tests.support.tables import none_of, table

GAP: dict[str, Any] = {
    "topic": "결제",
    "missing_context": "부가세율이 나라마다 다르다",
    "lesson": "세금표를 먼저 확인한다",
    "ask_next_time": "어느 나라에 파나요?",
}
MARKER = "zebra crossing at noon"
UNEXPANDED = "${workspaceFolder}"

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")


def lines_of(project: Path) -> list[dict[str, Any]]:
    """The lines of the memory log as any JSON reader sees them."""
    return [json.loads(line) for line in path_of(project).read_text("utf-8").splitlines()]


def seed(project: Path, count: int = 3) -> bytes:
    """Save records without the server; the bytes of the file."""
    store = MemoryStore(path_of(project))
    for number in range(count):
        store.upsert_log(Draft(topic="auth", missing_context=f"gap {number}", lesson="x" * 1000))
    return store.read_bytes()


def clear(project: Path) -> None:
    shutil.rmtree(project / CONTEXT_DIRECTORY, ignore_errors=True)


def no_records(project: Path, lang: Language = "en") -> str:
    """The answer to a search in an empty memory."""
    head = sentence(lang, "answers.head_all", count=0, project=str(project))
    rest = (sentence(lang, f"answers.{it}") for it in ("nothing_found", "questions"))
    return "\n".join([head, *rest])


# Two servers of one kind each, for everything that leaves no trace beside the memory log.


@pytest.fixture(scope="module", params=[HANDSHAKE, STATELESS])
def served(
    request: pytest.FixtureRequest,
    start_server: StartServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[ServerProcess, Path]:
    """A server of a revision with its project, for which it has more than one name.

    An argument comes before all variables, and ours before that of the client.
    """
    base = tmp_path_factory.mktemp("projects")
    first, other = base / "내 프로젝트 1", base / "plain"
    first.mkdir()
    other.mkdir()
    environment = {"SENTINEL_MEMORY_PROJECT": str(other), "CLAUDE_PROJECT_DIR": str(base)}
    if request.param == HANDSHAKE:
        named = ("--project", str(first))
        return start_server(*named, cwd=base, environment=environment), first
    return start_server(cwd=base, environment=environment, era=STATELESS), other


@pytest.fixture
def project(served: tuple[ServerProcess, Path]) -> Path:
    clear(served[1])
    return served[1]


@pytest.fixture
def server(served: tuple[ServerProcess, Path], project: Path) -> Iterator[ServerProcess]:
    yield served[0]
    assert served[0].strange_lines() == []


@pytest.mark.row("001 2-1.h", "001 2-3.a")
def test_each_revision_greets_with_its_instructions(server: ServerProcess) -> None:
    # This process has loaded the program, too: no interpreter has to do so again.
    assert isinstance(server.process, Born) is (sys.platform == "linux")
    named, greeting = {"name": "sentinel-memory", "version": VERSION}, server.greet()
    assert greeting["instructions"] == instructions_for()
    if server.era == HANDSHAKE:
        assert (greeting["protocolVersion"], greeting["serverInfo"]) == (HANDSHAKE, named)
    else:
        assert STATELESS in greeting["supportedVersions"]
        assert greeting["_meta"]["io.modelcontextprotocol/serverInfo"] == named


# Lines that are no requests; and by method: parameters that name nothing, the code of the error and
# its message, `…` for anything.
TABLE = table("stdio")


@pytest.mark.row("P14")
def test_a_bad_line_or_an_impossible_request_disturbs_no_server(server: ServerProcess) -> None:
    for line in [*TABLE["no_requests"], "[" * 5000 + "\n"]:
        server.send(line.encode("latin-1"))
        assert len(server.request("tools/list")["result"]["tools"]) == 3, line
    wrong, told = [], server.stderr()
    facts = {"record": sentence("en", "protocol.no_such_record")}
    facts["budget"] = sentence("en", "protocol.bad_budget", least=200)
    for method, params, code, said in TABLE["not_to_be_had"]:
        error = server.request(method, params)["error"]
        is_said = said in ("", error["message"]) or facts.get(said) == error["message"]
        if error["code"] != code or not is_said:
            wrong.append((method, params, error))
    none_of(wrong)
    assert server.stderr() == told
    # An argument that a prompt does not have is passed over.
    asked = ({"task": "x", "tasks": "y"}, {"task": "x"})
    first, second = (
        server.request("prompts/get", {"name": "start_task", "arguments": it})["result"]
        for it in asked
    )
    assert first["messages"] == second["messages"]


@pytest.mark.long  # it costs much
@pytest.mark.row("P14")
def test_an_argument_of_ten_megabytes_is_refused_with_its_size(
    server: ServerProcess, project: Path
) -> None:
    expected = "lesson: 10,000,000 bytes of UTF-8, 9,998,976 above the limit of 1,024."
    refusal = server.refusal("log_memory", **{**GAP, "lesson": "x" * 10_000_000})
    assert refusal.startswith(expected)
    assert server.call("search_memory") == no_records(project)


@pytest.mark.row("001 5-1.f", "P7")
@pytest.mark.parametrize("count", [1, pytest.param(60, marks=pytest.mark.long)])
def test_waiting_saves_hold_up_no_search(server: ServerProcess, project: Path, count: int) -> None:
    before = seed(project)
    with FileLock(f"{path_of(project)}.lock"):
        waiting = [
            server.ask_tool("log_memory", **{**GAP, "missing_context": f"gap {number}"})
            for number in range(count)
        ]
        head = server.call("search_memory").splitlines()[0]
        assert head == sentence("en", "answers.head_all", count=3, project=str(project))
        assert not any(map(server.is_answered, waiting))
        assert path_of(project).read_bytes() == before
    for request in waiting:
        server.tool_text(request)
    assert [line["topic"] for line in lines_of(project)] == ["auth"] * 3 + ["결제"] * count


@pytest.mark.row("P13")
def test_standard_error_holds_no_text_of_a_record(server: ServerProcess, project: Path) -> None:
    server.call("log_memory", **{**GAP, "lesson": MARKER})
    with path_of(project).open("ab") as file:
        file.write(b'{"torn": "' + MARKER.encode() + b"\n")
    server.refusal("log_memory", **{**GAP, "lesson": MARKER * 100})
    assert MARKER in server.call("search_memory", query=MARKER)
    assert "unreadable lines skipped: 1" in server.stderr()
    assert MARKER not in server.stderr()


# An environment that configures, misleads or breaks other servers.


@pytest.mark.row("001 8.c", "001 2-2.a", "P14")
def test_a_hostile_environment_changes_no_letter(start_server: StartServer, tmp_path: Path) -> None:
    hostile_project = tmp_path / "내 프로젝트 2"
    hostile_project.mkdir()
    (hostile_project / ".env").write_text(
        "FASTMCP_TRANSPORT=http\nFASTMCP_LOG_LEVEL=NONSENSE\nFASTMCP_MASK_ERROR_DETAILS=perhaps\n"
    )
    environment = {"FASTMCP_TRANSPORT": "http", "LANG": "C", "LC_ALL": "C"}
    environment |= {"PYTHONIOENCODING": "ascii", "SENTINEL_MEMORY_BUDGET": "1"}
    hostile = start_server(cwd=hostile_project, environment=environment)
    assert hostile.greet()["serverInfo"] == {"name": "sentinel-memory", "version": VERSION}
    assert "SENTINEL_MEMORY_BUDGET" in hostile.stderr()  # before any call
    assert len(hostile.request("tools/list")["result"]["tools"]) == 3
    hostile.call("log_memory", **GAP)
    [line] = lines_of(hostile_project)
    assert {key: line[key] for key in GAP} == GAP
    assert GAP["lesson"].encode() in path_of(hostile_project).read_bytes()
    with path_of(hostile_project).open("ab") as file:
        file.write(b"torn\n")
    said = hostile.call("search_memory").splitlines()
    head = sentence("en", "answers.head_all", count=1, project=str(hostile_project))
    topics = sentence("en", "answers.topics", topics="결제 (1)")
    assert (said[0], said[-4]) == (head, "[결제]")
    assert topics in said
    assert f"{path_of(hostile_project)}: unreadable lines skipped: 1" in hostile.stderr()
    assert [line for line in hostile.stderr().splitlines() if "BUDGET" in line] == [
        "SENTINEL_MEMORY_BUDGET is below the least that is of use; 1000 is used"
    ]
    assert hostile.strange_lines() == []


# Servers that were started, without a project, in a place that is none.


@pytest.mark.long  # it costs much
@pytest.mark.row("001 2-2.f")
def test_nothing_is_written_where_no_project_is(start_server: StartServer, tmp_path: Path) -> None:
    directory = Path("/")
    lang: Language = "ko"
    environment = {"SENTINEL_MEMORY_PROJECT": UNEXPANDED, "CLAUDE_PROJECT_DIR": " "}
    environment |= {"HOME": str(tmp_path), "SENTINEL_MEMORY_LANG": lang}
    server = start_server("--project", UNEXPANDED, cwd=directory, environment=environment)
    before = sorted(os.listdir(directory))
    assert [server.call("search_memory") for _ in range(2)] == [no_records(directory, lang)] * 2
    facts = {"path": str(directory), "kind": "root", "source": "cwd"}
    assert server.refusal("log_memory", **GAP) == sentence(lang, "errors.project_refused", **facts)
    assert sorted(os.listdir(directory)) == before
    assert sorted(server.stderr().splitlines()) == [  # each is told once
        "--project holds an unexpanded variable and is treated as unset",
        "SENTINEL_MEMORY_PROJECT holds an unexpanded variable and is treated as unset",
    ]
    error = server.request("resources/read", {"uri": "memory://record/none"})["error"]
    assert error["message"] == sentence(lang, "protocol.no_such_record")


# Trouble with the file: it is as it was, and the server goes on.


@contextlib.contextmanager
def full_disk(server: ServerProcess, path: Path) -> Iterator[Facts]:
    pid, limits = server.process.pid, resource.RLIMIT_FSIZE
    unlimited = resource.prlimit(pid, limits)
    resource.prlimit(pid, limits, (path.stat().st_size, unlimited[1]))
    try:
        yield {"path": str(path), "reason": "File too large"}
    finally:
        resource.prlimit(pid, limits, unlimited)


@contextlib.contextmanager
def read_only(_: ServerProcess, path: Path, *, is_folder: bool) -> Iterator[Facts]:
    place, mode = (path.parent, 0o755) if is_folder else (path, 0o644)
    place.chmod(mode & 0o555)
    try:
        yield {"path": str(path), "reason": "Permission denied"}
    finally:
        place.chmod(mode)


@contextlib.contextmanager
def lock_of_another(_: ServerProcess, path: Path) -> Iterator[Facts]:
    with FileLock(f"{path}.lock"):
        yield {"path": f"{path}.lock", "waited_s": 1}


@pytest.fixture(scope="module")
def troubled(
    start_server: StartServer, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ServerProcess, Path]:
    """A server, and its project that a variable of the client names."""
    project = tmp_path_factory.mktemp("troubled")
    named = {"CLAUDE_PROJECT_DIR": str(project), "SENTINEL_MEMORY_LOCK_TIMEOUT_S": "1"}
    return start_server(cwd=project.parent, environment=named), project


@pytest.mark.row("001 5-1.c", "P4", "P6", "P7")
@pytest.mark.parametrize(
    ("trouble", "key"),
    [
        pytest.param(full_disk, "log_write", marks=[pytest.mark.long, linux_only]),
        (partial(read_only, is_folder=True), "log_write"),
        (partial(read_only, is_folder=False), "log_write"),
        pytest.param(lock_of_another, "log_busy", marks=pytest.mark.long),
    ],
)
def test_trouble_with_the_file_is_said_leaves_it_as_it_was_and_lets_the_next_save_through(
    trouble: Callable[[ServerProcess, Path], contextlib.AbstractContextManager[Facts]],
    key: str,
    troubled: tuple[ServerProcess, Path],
) -> None:
    server, project = troubled
    clear(project)
    before, path = seed(project, 30), path_of(project)
    files = sorted(os.listdir(path.parent))
    with trouble(server, path) as facts:
        assert server.refusal("log_memory", **GAP) == sentence("en", f"errors.{key}", **facts)
        head = sentence("en", "answers.head_all", count=30, project=str(project))
        assert server.call("search_memory").splitlines()[0] == head
        assert path.read_bytes() == before
        assert sorted(os.listdir(path.parent)) == files
    server.call("log_memory", **GAP)
    assert lines_of(project)[-1]["topic"] == "결제"
    assert server.strange_lines() == []


@pytest.mark.row("P3")
@pytest.mark.long
def test_a_killed_server_leaves_a_whole_file(tmp_path: Path, start_server: StartServer) -> None:
    safe = {"PYTHONSAFEPATH": "1"}  # Python leaves out the directory of the script
    killed = start_server(cwd=tmp_path, environment=safe)
    killed.call("log_memory", **GAP)
    [acknowledged] = lines_of(tmp_path)
    killed.ask_tool("log_memory", **{**GAP, "topic": "auth"})
    assert killed.kill() == -signal.SIGKILL
    assert acknowledged in lines_of(tmp_path)
    successor = start_server(cwd=tmp_path)
    successor.call("log_memory", **{**GAP, "topic": "css"})
    topics = [line["topic"] for line in lines_of(tmp_path)]
    assert topics in (["결제", "css"], ["결제", "auth", "css"])


@pytest.mark.long  # it copies the program
def test_a_program_that_is_moved_under_its_server_is_said_and_nothing_is_written(
    start_server: StartServer, tmp_path: Path
) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    before = seed(project)
    checkout = copied_checkout(tmp_path / "checkout")
    moved = start_server(script=checkout / "server.py", cwd=project, is_new=True)
    assert "gap 0" in moved.call("search_memory", query="")
    checkout.rename(tmp_path / "elsewhere")
    assert moved.refusal("log_memory", **GAP) == sentence("en", "protocol.program_gone")
    assert path_of(project).read_bytes() == before
