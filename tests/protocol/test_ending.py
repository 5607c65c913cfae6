"""Tests the end of a server process: pending requests are answered or named; nothing holds it."""

import io
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from core.config import CONTEXT_DIRECTORY
from protocol.stdio import AnswerOutput, OpenRequests, RequestInput
from tests.conftest import StartServer
from tests.support.cli_process import Run
from tests.support.costly import one_in
from tests.support.git_clones import path_of
from tests.support.sentences import sentence
from tests.support.servers import HANDSHAKE, STATELESS, WAIT_S, Era, ServerProcess
from tests.support.tables import ROOT, table

PATIENT = {"SENTINEL_MEMORY_LOCK_TIMEOUT_S": "3600"}  # longer than any of these tests waits


def gap(number: int) -> dict[str, Any]:
    return {"topic": "auth", "missing_context": f"gap {number}", "lesson": f"rule {number}"}


def stored(project: Path) -> list[str]:
    """The gaps in the file, each line of which must be whole."""
    path = path_of(project)
    if not path.exists():
        return []
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line)["missing_context"] for line in data.decode().splitlines()]


def strays(project: Path) -> list[str]:
    directory = project / CONTEXT_DIRECTORY
    return [name for name in os.listdir(directory) if name.endswith(".tmp")]


def close(server: ServerProcess, stream: str) -> None:
    getattr(server.process, stream).close()


@pytest.fixture(params=[HANDSHAKE, STATELESS])
def server(request: pytest.FixtureRequest, start_server: StartServer, tmp_path: Path) -> Any:
    era: Era = request.param
    process = start_server(cwd=tmp_path, era=era, environment=PATIENT)
    process.greet()
    return process


@pytest.mark.row("P2", "P14")
@pytest.mark.parametrize(
    ("server", "count"),
    one_in(3, [(HANDSHAKE, 50), (STATELESS, 7), (HANDSHAKE, 1)]),
    indirect=["server"],
)
def test_requests_under_way_are_answered(server: ServerProcess, tmp_path: Path, count: int) -> None:
    requests = [server.ask_tool("log_memory", **gap(number)) for number in range(count)]
    params = {"name": "search_memory", "arguments": {"query": "rule"}}
    search = server.unsent("tools/call", params)
    server.send(json.dumps(search).encode())  # a last line without its end
    assert server.close() == 0
    assert all(server.tool_text(request).startswith("Saved") for request in requests)
    assert server.tool_text(search["id"]).startswith("[memory_log - ")
    assert sorted(stored(tmp_path)) == sorted(f"gap {number}" for number in range(count))
    assert (server.strange_lines(), server.stderr()) == ([], "")


@pytest.mark.long  # it costs much
def test_a_lock_that_is_let_go_in_time_lets_saves_through_or_their_answers_say_so(
    server: ServerProcess, tmp_path: Path
) -> None:
    (tmp_path / CONTEXT_DIRECTORY).mkdir()
    with FileLock(f"{path_of(tmp_path)}.lock"):
        requests = [server.ask_tool("log_memory", **gap(number)) for number in range(5)]
        close(server, "stdin")
    assert server.wait() == 0
    texts = [server.answer(request)["result"]["content"][0]["text"] for request in requests]
    said = [f"gap {number}" for number, text in enumerate(texts) if text.startswith("Saved")]
    assert sorted(stored(tmp_path)) == said


@pytest.mark.long  # it costs much
@pytest.mark.row("P7")
@pytest.mark.parametrize(
    ("server", "count"), [(HANDSHAKE, 1), (STATELESS, 50)], indirect=["server"]
)
def test_waiting_saves_let_a_server_end(server: ServerProcess, tmp_path: Path, count: int) -> None:
    (tmp_path / CONTEXT_DIRECTORY).mkdir()
    with FileLock(f"{path_of(tmp_path)}.lock"):
        requests = [server.ask_tool("log_memory", **gap(number)) for number in range(count)]
        assert server.close() == 0
    for request in requests:
        assert "Nothing was saved" in server.tool_text(request, is_error=True)
    assert stored(tmp_path) == []


@pytest.mark.row("P7")
def test_a_cancelled_save_that_waits_is_not_stored(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / CONTEXT_DIRECTORY).mkdir()
    with FileLock(f"{path_of(tmp_path)}.lock"):
        first, second, third = (server.ask_tool("log_memory", **gap(n)) for n in (1, 2, 3))
        server.call("search_memory", query="")  # the saves are waiting by now
        for request in (first, third):  # one polls the lock, the other waits behind a thread
            params = {"requestId": request, "reason": "changed my mind"}
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        server.call("search_memory", query="")
    server.tool_text(second)
    assert stored(tmp_path) == ["gap 2"]
    assert server.close() == 0
    assert not server.is_answered(first)
    assert not server.is_answered(third)
    assert (stored(tmp_path), server.stderr()) == (["gap 2"], "")


@pytest.mark.parametrize(
    ("number", "phase"),
    # By default an interruption while it is idle, and a request to end while it waits.
    one_in(3, itertools.product((signal.SIGINT, signal.SIGTERM), ("idle", "waiting"))),
)
def test_a_signal_ends_the_process_at_once(
    start_server: StartServer, tmp_path: Path, number: signal.Signals, phase: str
) -> None:
    server = start_server(cwd=tmp_path, environment=PATIENT, is_new=phase == "idle")
    server.call("log_memory", **gap(0))
    with FileLock(f"{path_of(tmp_path)}.lock"):
        if phase == "waiting":
            server.ask_tool("log_memory", **gap(1))
            server.call("search_memory", query="")
        server.process.send_signal(number)
        assert server.wait() == -number
    assert (stored(tmp_path), strays(tmp_path)) == (["gap 0"], [])
    assert server.stderr() == ""


@pytest.fixture
def unread(start_server: StartServer, tmp_path: Path) -> ServerProcess:
    """A server that has answered once, and whose output the test closes."""
    server = start_server(cwd=tmp_path, era=STATELESS, is_read=False)
    server.ask_tool("search_memory", query="")
    assert server.process.stdout is not None
    assert server.process.stdout.readline().startswith(b'{"jsonrpc"')
    return server


@pytest.mark.long  # it costs much
@pytest.mark.row("P2")
@pytest.mark.parametrize(
    ("before", "lesson", "after"),  # without a lesson it only searches
    [
        *((["stdout"], lesson, []) for lesson in ("rule", " ", "")),
        *([[], "rule", ["stdin", "stdout"]], [[], "rule", ["stdout", "stdin"]]),
    ],
)
def test_a_lesson_stored_for_a_client_that_left_is_said_and_nothing_else(
    unread: ServerProcess, tmp_path: Path, before: list[str], lesson: str, after: list[str]
) -> None:
    for stream in before:
        close(unread, stream)
    arguments = gap(1) | {"lesson": lesson} if lesson else {}
    request = unread.ask_tool("log_memory" if lesson else "search_memory", **arguments)
    for stream in after:
        close(unread, stream)
    assert unread.wait() == 0
    calls = [f"log_memory (id {request})"] if lesson.strip() else []
    assert stored(tmp_path) == ["gap 1"] * len(calls)
    said = [sentence("en", "protocol.stored_unanswered", calls=it) for it in calls]
    is_taken = after and unread.stderr() == ""  # the pipe took the answer
    assert is_taken or unread.stderr() == "".join(f"server.py: {it}\n" for it in said)


@pytest.mark.long
def test_answers_that_nobody_reads_do_not_hold_the_end(
    unread: ServerProcess, tmp_path: Path
) -> None:
    for number in range(40):
        unread.ask_tool("log_memory", **{**gap(number), "lesson": "x" * 1_000})
    for _ in range(40):  # more than a pipe holds
        unread.ask_tool("search_memory", query="")
    close(unread, "stdin")
    assert unread.process.wait(WAIT_S) == 0
    assert len(stored(tmp_path)) == 40


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_any_moment_leaves_a_whole_file_and_no_litter_for_good(
    start_server: StartServer, tmp_path: Path, number: signal.Signals
) -> None:
    chance = random.Random(16)
    acknowledged: set[str] = set()
    for turn in range(12):
        server = start_server(cwd=tmp_path)
        server.greet()
        requests = {}
        for at in range(chance.randrange(1, 12)):
            fields = gap(100 * turn + at)
            requests[server.ask_tool("log_memory", **fields)] = fields["missing_context"]
        time.sleep(chance.random() * 0.15)
        server.process.send_signal(number)
        assert server.wait() == -number
        for request, text in requests.items():
            # A save that still waits for the lock is answered that it was not saved.
            if server.is_answered(request) and not server.answer(request)["result"].get("isError"):
                acknowledged.add(text)
        assert acknowledged <= set(stored(tmp_path))
        assert "Traceback" not in server.stderr()
    server = start_server(cwd=tmp_path)
    server.call("log_memory", **gap(9_999))
    assert strays(tmp_path) == []


@pytest.mark.long  # it costs much
def test_a_server_without_its_streams_says_so(tmp_path: Path) -> None:
    for closed in ["<&-", ">&-"]:
        command = f'"{sys.executable}" "{ROOT / "server.py"}" {closed}'
        done = Run.process("/bin/sh", "-c", command, cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert done.errors == f"server.py: {sentence('en', 'protocol.no_streams')}\n"


def test_an_output_that_does_not_block_takes_long_answers_whole(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    failures: list[OSError] = []
    output = AnswerOutput(theirs, OpenRequests(), failures.append)
    line = b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 300_000 + b'"}\n'
    thread = threading.Thread(target=output.write, args=[line])
    thread.start()
    data = b""
    while len(data) < len(line):
        data += os.read(ours, 65_536)
    thread.join()
    assert (data, failures) == (line, [])
    os.close(ours)
    output.write(line)
    assert [type(error) for error in failures] == [BrokenPipeError]
    os.close(theirs)


@pytest.mark.row("P14")
def test_lines_arrive_whole_with_any_buffer_and_no_others_reach_the_wire(
    capfdbinary: Any,
) -> None:
    for size in [1, 7, 70_000]:
        request = b'{"jsonrpc": "2.0", "id": "x", "method": "tools/list"}'
        given = [b"\n", b'{"a": "' + b"x" * 20_000 + b'"}\n', request]
        ended: list[bool] = []
        source = io.BytesIO(b"".join(given))
        lines = RequestInput(source, OpenRequests(), partial(ended.append, True))
        assert list(io.BufferedReader(lines, buffer_size=size)) == [*given[:2], request + b"\n"]
        assert ended
    ours, theirs = os.pipe()
    AnswerOutput(theirs, OpenRequests(), print).write(b"hello\n")
    os.close(theirs)
    assert os.read(ours, 9) == b""
    os.close(ours)
    sys.stderr.flush()
    assert b"hello" in capfdbinary.readouterr().err


def test_requests_are_under_way_until_answered_and_at_the_end_only_changes_are_named() -> None:
    def line(**message: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    requests = OpenRequests()
    for number in (1, 2, "2", 'three "\n'):
        requests.note_line(line(id=number, method="tools/list"))
    requests.note_line(line(method="notifications/initialized"))
    requests.note_line(line(id=9, method="subscriptions/listen"))  # open for as long as it is
    requests.note_line(line(id=1, result={}))
    requests.note_line(b"torn\n")
    assert not requests.wait(0)
    requests.note_line(line(method="notifications/cancelled", params={"requestId": 1}))
    requests.note_line(line(method="notifications/cancelled"))
    answers = [b'"id":2,"result":{}', b'"id":"2","error":{}', b'"id":"three \\"\\n","result":{}']
    for at, answer in enumerate(answers):
        assert not requests.wait(0), at
        requests.note_answer(b'{"jsonrpc":"2.0",' + answer + b"}\n", is_delivered=True)
    assert requests.wait(0)
    assert requests.report() == []
    for tool, arguments, is_named in table("stdio")["changes"]:
        requests, params = OpenRequests(), {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        requests.note_line(json.dumps(request).encode() + b"\n")
        assert [f"{tool} (id 1)" in line for line in requests.report()] == [True] * is_named


ASLEEP = """
import signal, threading
from protocol.stdio import Ending, OpenRequests

Ending(OpenRequests()).watch()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print("asleep", flush=True)
threading.Event().wait()
"""


def test_a_signal_that_the_main_thread_does_not_see_ends_the_process(tmp_path: Path) -> None:
    """It may sleep in its loop already, when the signal comes between a look and that sleep."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", ASLEEP], stdout=subprocess.PIPE, cwd=tmp_path, env=environment
    ) as process:
        assert process.stdout and process.stdout.readline() == b"asleep\n"
        process.send_signal(signal.SIGTERM)
        try:
            ended = process.wait(WAIT_S)
        finally:
            process.kill()  # else the test would wait for it
        assert ended in (-signal.SIGTERM, 128 + signal.SIGTERM)
