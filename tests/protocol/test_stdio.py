"""Tests the server as its clients meet it: a process that answers over pipes, line by line."""

import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from core.config import CONTEXT_DIRECTORY, LOG_NAME
from core.lessons.record import Draft
from core.lessons.rules import instructions as instructions_of
from core.messages import Facts, Language
from core.store import MemoryStore
from server import VERSION
from tests.conftest import StartServer
from tests.support.cli_process import Run
from tests.support.git_clones import path_of
from tests.support.sentences import sentence
from tests.support.stdio_client import HANDSHAKE, ROOT, STATELESS, Era, ServerProcess

GAP: dict[str, Any] = {
    "topic": "결제",
    "missing_context": "부가세율이 나라마다 다르다",
    "lesson": "세금표를 먼저 확인한다",
    "ask_next_time": "어느 나라에 파나요?",
}
ARGUMENTS = (
    "topic, missing_context, lesson, ask_next_time, type, compact_threshold, source_ids, paths,"
    " when"
)
MARKER = "zebra crossing at noon"
UNEXPANDED = "${workspaceFolder}"

posix_only = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and permissions")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")


def log_bytes(project: Path) -> bytes:
    return path_of(project).read_bytes()


def lines_of(project: Path) -> list[dict[str, Any]]:
    """The lines of the memory log as any JSON reader sees them."""
    return [json.loads(line) for line in log_bytes(project).decode("utf-8").splitlines()]


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
    return "\n".join(
        [head, sentence(lang, "answers.nothing_found"), sentence(lang, "answers.questions")]
    )


# Two servers of one kind each, for everything that leaves no trace beside the memory log.


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[Era, Path]:
    base = tmp_path_factory.mktemp("projects")
    found: dict[Era, Path] = {HANDSHAKE: base / "내 프로젝트 1", STATELESS: base / "plain"}
    for project in found.values():
        project.mkdir()
    return found


@pytest.fixture(scope="module")
def pair(start_server: StartServer, projects: dict[Era, Path]) -> dict[Era, ServerProcess]:
    """One server of each revision, each with more than one name for its project."""
    other = projects[HANDSHAKE].parent
    argument, own = str(projects[HANDSHAKE]), str(projects[STATELESS])
    client = {"CLAUDE_PROJECT_DIR": str(other)}
    return {
        HANDSHAKE: start_server(
            *("--project", argument),
            cwd=other,
            environment={"SENTINEL_MEMORY_PROJECT": own, **client},
        ),
        STATELESS: start_server(
            cwd=other, environment={"SENTINEL_MEMORY_PROJECT": own, **client}, era=STATELESS
        ),
    }


@pytest.fixture(params=[HANDSHAKE, STATELESS])
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


@pytest.fixture
def project(projects: dict[Era, Path], era: Era) -> Path:
    clear(projects[era])
    return projects[era]


@pytest.fixture
def server(pair: dict[Era, ServerProcess], era: Era, project: Path) -> Iterator[ServerProcess]:
    yield pair[era]
    assert pair[era].strange_lines() == []


@pytest.mark.long  # it costs much
def test_the_handshake_agrees_on_the_revision_that_was_asked_for(
    pair: dict[Era, ServerProcess],
) -> None:
    assert pair[HANDSHAKE].greet()["protocolVersion"] == HANDSHAKE


def test_discovery_offers_the_stateless_revision(pair: dict[Era, ServerProcess]) -> None:
    assert STATELESS in pair[STATELESS].greet()["supportedVersions"]


@pytest.mark.row("001 2-1.h")
def test_the_server_reports_its_own_name_and_version(pair: dict[Era, ServerProcess]) -> None:
    named = {"name": "sentinel-memory", "version": VERSION}
    assert pair[HANDSHAKE].greet()["serverInfo"] == named
    meta = pair[STATELESS].greet()["_meta"]
    assert meta["io.modelcontextprotocol/serverInfo"] == named


@pytest.mark.row("001 2-3.a")
def test_the_instructions_arrive_whole_and_are_not_cut_by_clients(server: ServerProcess) -> None:
    instructions = server.greet()["instructions"]
    assert instructions == instructions_of()


def test_the_list_of_tools_costs_a_session_at_most_4000_bytes(server: ServerProcess) -> None:
    request_id = server.ask("tools/list")
    answer = server.answer(request_id)
    [line] = [line for line in server.stdout_lines if json.loads(line).get("id") == request_id]
    assert json.loads(line) == answer
    assert len(line) <= 4_000


def test_a_saved_record_stands_in_the_file_word_for_word(
    server: ServerProcess, project: Path
) -> None:
    server.call("log_memory", **GAP)
    [line] = lines_of(project)
    assert {key: line[key] for key in GAP} == GAP
    assert GAP["lesson"].encode("utf-8") in log_bytes(project)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("compact_memory", {"delete_ids": 7}, "delete_ids: Input should be a valid list."),
    ("log_memory", {**GAP, "summary": MARKER},
     f"summary: Unexpected keyword argument; known: {ARGUMENTS}."),
    ("log_memory", {**GAP, "type": MARKER}, "type: Input should be 'log' or 'principle'."),
    ("log_memory", {**GAP, "lesson": f"{MARKER} \ud800"},
     "lesson: Input contains half of a character (a lone surrogate)."),
    ("log_memory", {"topic": [MARKER], "missing_context": "gap", "lesson": 7},
     "topic: Input should be a valid string.\nlesson: Input should be a valid string."),
]  # fmt: skip


@pytest.mark.long  # it costs much
def test_refused_arguments_are_named_and_never_repeated(
    server: ServerProcess, project: Path
) -> None:
    for tool, arguments, said in REFUSED:
        end = f"Nothing was changed. Call {tool} again with other arguments."
        assert server.refusal(tool, **arguments) == f"{said} {end}"
    assert MARKER not in server.stderr()
    assert not (project / CONTEXT_DIRECTORY).exists()


@pytest.mark.row("P14")
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc": "2.0", "id": 1, "meth\n',
        b"\n",
        b"null\n",
        b"[]\n",
        b"\xff\xfe\x00\n",
        b"[" * 5000 + b"\n",
        b'{"jsonrpc": "2.0", "id": null, "method": 5}\n',
        b'{"jsonrpc": "2.0", "method": "notifications/nonsense"}\n',
        b'{"jsonrpc": "2.0", "id": 987654, "result": {}}\n',
        b'{"jsonrpc": "2.0", "method": "tools/list", "params": {"\\ud800": "\\ud800"}}\n',
    ],
    ids=lambda line: line[:44].decode("latin-1"),
)
def test_a_line_that_is_no_request_leaves_the_server_answering(
    server: ServerProcess, line: bytes
) -> None:
    server.send(line)
    assert len(server.request("tools/list")["result"]["tools"]) == 3


def test_an_unknown_method_is_refused_by_its_code(server: ServerProcess) -> None:
    assert server.request("memory/forget")["error"]["code"] == -32601


@pytest.mark.long  # it costs much
@pytest.mark.row("P14")
def test_an_argument_of_ten_megabytes_is_refused_with_its_size(
    pair: dict[Era, ServerProcess], projects: dict[Era, Path]
) -> None:
    clear(projects[STATELESS])
    server = pair[STATELESS]
    facts: Facts = {"used_bytes": 10_000_000, "limit_bytes": 1024, "over_bytes": 9_998_976}
    expected = sentence("en", "errors.field_too_long", field="lesson", syllables=3_332_992, **facts)
    assert server.refusal("log_memory", **{**GAP, "lesson": "x" * 10_000_000}) == expected
    assert server.call("search_memory") == no_records(projects[STATELESS])
    assert server.strange_lines() == []


@pytest.mark.row("001 5-1.f")
def test_saving_waits_for_a_lock_while_other_requests_are_answered(
    server: ServerProcess, project: Path
) -> None:
    before = seed(project)
    with FileLock(f"{path_of(project)}.lock"):
        waiting = server.ask_tool("log_memory", **GAP)
        head = server.call("search_memory").splitlines()[0]
        assert head == sentence("en", "answers.head_all", count=3, project=str(project))
        assert (server.is_answered(waiting), log_bytes(project)) == (False, before)
    server.tool_text(waiting)
    assert [line["topic"] for line in lines_of(project)] == ["auth", "auth", "auth", "결제"]


@pytest.mark.long  # it costs much
@pytest.mark.row("P7")
def test_very_many_waiting_saves_do_not_hold_up_a_search(
    server: ServerProcess, project: Path
) -> None:
    seed(project)
    with FileLock(f"{path_of(project)}.lock"):
        waiting = [
            server.ask_tool("log_memory", **{**GAP, "missing_context": f"gap {number}"})
            for number in range(60)
        ]
        assert server.call("search_memory").startswith("[memory_log - records: 3 ")
        assert not any(map(server.is_answered, waiting))
    for request in waiting:
        server.tool_text(request)
    assert len(lines_of(project)) == 63


@pytest.mark.row("P13")
def test_standard_error_never_holds_the_text_of_a_record(
    server: ServerProcess, project: Path
) -> None:
    server.call("log_memory", **{**GAP, "lesson": MARKER})
    with path_of(project).open("ab") as file:
        file.write(b'{"torn": "' + MARKER.encode() + b"\n")
    server.refusal("log_memory", **{**GAP, "lesson": MARKER * 100})
    assert MARKER in server.call("search_memory", query=MARKER)
    assert "unreadable lines skipped: 1" in server.stderr()
    assert MARKER not in server.stderr()


# An environment that configures, misleads or breaks other servers.


@pytest.fixture(scope="module")
def hostile_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("hostile") / "내 프로젝트 2"
    project.mkdir()
    (project / ".env").write_text(
        "FASTMCP_TRANSPORT=http\nFASTMCP_LOG_LEVEL=NONSENSE\nFASTMCP_MASK_ERROR_DETAILS=perhaps\n"
    )
    return project


@pytest.fixture(scope="module")
def hostile(start_server: StartServer, hostile_project: Path) -> ServerProcess:
    environment = {
        "FASTMCP_TRANSPORT": "http",
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "SENTINEL_MEMORY_BUDGET": "1",
    }
    return start_server(cwd=hostile_project, environment=environment)


@pytest.mark.long  # it costs much
@pytest.mark.row("001 8.c", "P14")
def test_a_hostile_locale_changes_no_letter_of_a_record(
    hostile: ServerProcess, hostile_project: Path
) -> None:
    clear(hostile_project)
    hostile.call("log_memory", **GAP)
    [line] = lines_of(hostile_project)
    assert {key: line[key] for key in GAP} == GAP
    assert hostile.call("search_memory").splitlines()[:3] == [
        sentence("en", "answers.head_all", count=1, project=str(hostile_project)),
        sentence("en", "answers.topics", topics="결제 (1)"),
        "[결제]",
    ]


def test_a_hostile_locale_changes_no_letter_on_standard_error(
    hostile: ServerProcess, hostile_project: Path
) -> None:
    clear(hostile_project)
    seed(hostile_project)
    with path_of(hostile_project).open("ab") as file:
        file.write(b"torn\n")
    hostile.call("search_memory")
    assert f"{path_of(hostile_project)}: unreadable lines skipped: 1" in hostile.stderr()


def test_a_dot_env_file_that_would_break_the_framework_is_not_read(hostile: ServerProcess) -> None:
    assert hostile.greet()["serverInfo"] == {"name": "sentinel-memory", "version": VERSION}


@pytest.mark.row("P14")
def test_variables_of_the_framework_leave_standard_output_to_the_protocol(
    hostile: ServerProcess,
) -> None:
    assert len(hostile.request("tools/list")["result"]["tools"]) == 3
    assert hostile.strange_lines() == []


# Where the project is.


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def places(start_server: StartServer, home: Path) -> dict[str, tuple[ServerProcess, Path]]:
    """Servers that were started, without a project, in a place that is none."""
    unset = {"SENTINEL_MEMORY_PROJECT": UNEXPANDED, "CLAUDE_PROJECT_DIR": " ", "HOME": str(home)}
    root, korean = Path("/"), {"SENTINEL_MEMORY_LANG": "ko"}
    return {
        "home": (start_server("--project", UNEXPANDED, cwd=home, environment=unset), home),
        "root": (start_server(cwd=root, environment=korean), root),
    }


def test_an_argument_comes_before_all_variables(
    pair: dict[Era, ServerProcess], projects: dict[Era, Path]
) -> None:
    clear(projects[HANDSHAKE])
    assert pair[HANDSHAKE].call("search_memory") == no_records(projects[HANDSHAKE])


def test_our_variable_comes_before_that_of_the_client(
    pair: dict[Era, ServerProcess], projects: dict[Era, Path]
) -> None:
    clear(projects[STATELESS])
    assert pair[STATELESS].call("search_memory") == no_records(projects[STATELESS])


@pytest.mark.long  # it costs much
def test_the_variable_of_the_client_comes_before_the_working_directory(
    troubled: ServerProcess, troubled_project: Path
) -> None:
    assert troubled.call("search_memory") == no_records(troubled_project)


@pytest.mark.row("001 2-2.a")
def test_the_working_directory_is_the_project_when_nothing_is_named(
    hostile: ServerProcess, hostile_project: Path
) -> None:
    clear(hostile_project)
    assert hostile.call("search_memory") == no_records(hostile_project)


@pytest.mark.long  # it costs much
@posix_only
def test_answers_are_korean_where_the_user_wants_korean(
    places: dict[str, tuple[ServerProcess, Path]],
) -> None:
    server, root = places["root"]
    assert server.call("search_memory") == no_records(root, "ko")


@pytest.mark.long  # it costs much
def test_an_unexpanded_variable_counts_as_unset_and_the_user_is_told_once(
    places: dict[str, tuple[ServerProcess, Path]],
) -> None:
    server, home = places["home"]
    assert [server.call("search_memory"), server.call("search_memory")] == [no_records(home)] * 2
    assert sorted(server.stderr().splitlines()) == [
        "--project holds an unexpanded variable and is treated as unset",
        "SENTINEL_MEMORY_PROJECT holds an unexpanded variable and is treated as unset",
    ]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("value", "lang"), [pytest.param("0", "en", marks=pytest.mark.long), ("many", "ko")]
)
def test_an_unusable_budget_ends_the_start_with_the_rule(
    tmp_path: Path, value: str, lang: Language
) -> None:
    variable = "SENTINEL_MEMORY_BUDGET"
    environment = {**os.environ, variable: value, "SENTINEL_MEMORY_LANG": lang}
    done = Run.started(script=ROOT / "server.py", cwd=tmp_path, environment=environment)
    text = sentence(lang, "errors.bad_setting", variable=variable, least=1_000, default=20_000)
    assert done == (2, "", f"server.py: {text}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_budget_too_small_for_one_record_is_the_least_one_and_the_user_is_told(
    hostile: ServerProcess, hostile_project: Path
) -> None:
    clear(hostile_project)
    lesson = "가" * 341  # the byte limit
    for topic in ("one", "two"):
        gap = {"topic": topic, "missing_context": lesson, "lesson": lesson}
        hostile.call("log_memory", **gap, ask_next_time="몇" * 170)
    text = hostile.call("search_memory", query="two")
    assert text.count(f"→ {lesson}") == 1
    assert "1 of 2 records in full" in text
    assert [line for line in hostile.stderr().splitlines() if "BUDGET" in line] == [
        "SENTINEL_MEMORY_BUDGET is below the least that is of use; 1000 is used"
    ]


@pytest.mark.row("001 2-2.f")
@posix_only
@pytest.mark.parametrize(("place", "lang"), [("home", "en"), ("root", "ko")])
def test_nothing_is_written_where_no_project_was_named(
    places: dict[str, tuple[ServerProcess, Path]], place: str, lang: Language
) -> None:
    server, directory = places[place]
    before = sorted(os.listdir(directory))
    source = "cwd"
    expected = sentence(
        lang, "errors.project_refused", path=str(directory), kind=place, source=source
    )
    assert server.refusal("log_memory", **GAP) == expected
    assert sorted(os.listdir(directory)) == before


# Trouble with the file: it is as it was, and the server goes on.


@pytest.fixture(scope="module")
def troubled_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("troubled")


@pytest.fixture(scope="module")
def troubled_server(start_server: StartServer, troubled_project: Path, home: Path) -> ServerProcess:
    environment = {
        "CLAUDE_PROJECT_DIR": str(troubled_project),
        "SENTINEL_MEMORY_LOCK_TIMEOUT_S": "1",
    }
    return start_server(cwd=home, environment=environment)


@pytest.fixture
def troubled(troubled_server: ServerProcess, troubled_project: Path) -> Iterator[ServerProcess]:
    """A server whose next save, when the trouble is over, has to work."""
    clear(troubled_project)
    yield troubled_server
    clear(troubled_project)
    troubled_server.call("log_memory", **GAP)
    assert [line["topic"] for line in lines_of(troubled_project)] == ["결제"]
    assert troubled_server.strange_lines() == []


def test_a_directory_in_place_of_the_file_is_no_empty_memory(
    troubled: ServerProcess, troubled_project: Path
) -> None:
    path = path_of(troubled_project)
    path.mkdir(parents=True)
    expected = sentence("en", "errors.log_read", path=str(path), reason="not a regular file")
    assert troubled.refusal("search_memory") == expected
    assert troubled.refusal("log_memory", **GAP) == expected
    assert list(path.iterdir()) == []


def test_a_file_in_place_of_the_directory_is_left_alone(
    troubled: ServerProcess, troubled_project: Path
) -> None:
    path, in_the_way = path_of(troubled_project), troubled_project / CONTEXT_DIRECTORY
    in_the_way.write_bytes(b"a note\n")
    read = sentence("en", "errors.log_read", path=str(path), reason="Not a directory")
    written = sentence("en", "errors.log_write", path=str(path), reason="File exists")
    try:
        assert troubled.refusal("search_memory") == read
        assert troubled.refusal("log_memory", **GAP) == written
        assert in_the_way.read_bytes() == b"a note\n"
    finally:
        in_the_way.unlink()


@pytest.mark.long  # it costs much
@pytest.mark.row("001 5-1.c", "P4")
@linux_only
def test_a_full_disk_leaves_the_file_as_it_was(
    troubled: ServerProcess, troubled_project: Path
) -> None:
    before = seed(troubled_project, 30)
    pid, limits = troubled.process.pid, resource.RLIMIT_FSIZE
    unlimited = resource.prlimit(pid, limits)
    resource.prlimit(pid, limits, (len(before), unlimited[1]))
    try:
        path = str(path_of(troubled_project))
        expected = sentence("en", "errors.log_write", path=path, reason="File too large")
        assert troubled.refusal("log_memory", **GAP) == expected
    finally:
        resource.prlimit(pid, limits, unlimited)
    assert log_bytes(troubled_project) == before
    assert sorted(os.listdir(troubled_project / CONTEXT_DIRECTORY)) == [
        ".gitattributes",
        ".gitignore",
        LOG_NAME,
        f"{LOG_NAME}.lock",
    ]


@pytest.mark.row("P6")
@posix_only
def test_a_directory_that_may_not_be_written_leaves_the_file_as_it_was(
    troubled: ServerProcess, troubled_project: Path
) -> None:
    if troubled.ignores_permissions():
        pytest.skip("the server may write everywhere")
    before = seed(troubled_project)
    directory = troubled_project / CONTEXT_DIRECTORY
    directory.chmod(0o555)
    try:
        path = str(path_of(troubled_project))
        expected = sentence("en", "errors.log_write", path=path, reason="Permission denied")
        assert troubled.refusal("log_memory", **GAP) == expected
        assert log_bytes(troubled_project) == before
        head = sentence("en", "answers.head_all", count=3, project=str(troubled_project))
        assert troubled.call("search_memory").splitlines()[0] == head
    finally:
        directory.chmod(0o755)


@pytest.mark.long  # it costs much
@pytest.mark.row("P7")
def test_a_lock_that_is_never_let_go_is_reported_after_the_timeout(
    troubled: ServerProcess, troubled_project: Path
) -> None:
    before = seed(troubled_project)
    lock_path = f"{path_of(troubled_project)}.lock"
    with FileLock(lock_path):
        expected = sentence("en", "errors.log_busy", path=lock_path, waited_s=1)
        assert troubled.refusal("log_memory", **GAP) == expected
    assert log_bytes(troubled_project) == before


# How a process ends.


@pytest.fixture
def spare(start_server: StartServer, tmp_path: Path) -> ServerProcess:
    """A server to be used up, which `-P` of Python denies the directory of its script."""
    return start_server(cwd=tmp_path, environment={"PYTHONSAFEPATH": "1"})


@pytest.mark.long  # it costs much
@pytest.mark.row("P14")
def test_the_end_of_standard_input_ends_the_process(spare: ServerProcess, tmp_path: Path) -> None:
    spare.call("log_memory", **GAP)
    spare.ask_tool("log_memory", **{**GAP, "topic": "auth"})
    assert spare.close() == 0
    topics = [line["topic"] for line in lines_of(tmp_path)]
    assert topics in (["결제"], ["결제", "auth"])  # what is under way is saved whole or not at all
    assert (spare.strange_lines(), spare.stderr()) == ([], "")


@pytest.mark.row("P14")
@posix_only
@pytest.mark.long
def test_sigterm_ends_the_process(spare: ServerProcess) -> None:
    spare.greet()
    assert spare.terminate() == -signal.SIGTERM


@pytest.mark.row("P3")
@posix_only
@pytest.mark.long
def test_a_killed_server_leaves_a_whole_file_and_the_next_one_goes_on(
    spare: ServerProcess, tmp_path: Path, start_server: StartServer
) -> None:
    spare.call("log_memory", **GAP)
    [acknowledged] = lines_of(tmp_path)
    spare.ask_tool("log_memory", **{**GAP, "topic": "auth"})
    assert spare.kill() == -signal.SIGKILL
    assert acknowledged in lines_of(tmp_path)
    successor = start_server(cwd=tmp_path)
    successor.call("log_memory", **{**GAP, "topic": "css"})
    topics = [line["topic"] for line in lines_of(tmp_path)]
    assert topics in (["결제", "css"], ["결제", "auth", "css"])
