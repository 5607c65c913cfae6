"""Tests that the server answers whatever is sent to it, and that killed processes lose nothing."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.broken_messages import CALL, known, spoilt, text_of
from tests.support.http_server import KEY, HttpServer
from tests.support.stdio_client import WAIT_S
from tests.support.team_crowd import Outcome, draft, stored, wrong_with
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server
from tests.support.waiting import until

PLACE = "SENTINEL_MEMORY_FRAGMENTS"
MOST_GROWTH_MB, SEED = 120.0, 20261123
JSON = {"Content-Type": "application/json"}
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda it: st.lists(it, max_size=4) | st.dictionaries(st.text(max_size=8), it, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    home = tmp_path_factory.mktemp("http")
    with HttpServer(home, environment={PLACE: str(home / "memory.db")}) as one:
        one.begin()
        one.tool("remember", content="The zebra stands at the server")
        yield one


def wrong_answer(server: HttpServer, body: bytes, session: str = "") -> str:
    """What is wrong with the answer to a body, "" for nothing."""
    headers = {**JSON, **({"Mcp-Session-Id": session} if session else {})}
    status, found, answer = server.ask("POST", "/mcp", body, headers=headers)
    if status >= 500 or b"Traceback" in answer or b'.py\\", line' in answer:
        return f"{status}: {answer[:200]!r}"
    if status in (202, 204):
        return "" if not answer.strip() else f"{status} with a body: {answer[:100]!r}"
    text = answer.decode()
    if found.get("content-type", "").startswith("text/event-stream"):
        text = next(it[5:] for it in text.splitlines() if it.startswith("data:"))
    return wrong_message(json.loads(text))


def wrong_message(message: Any) -> str:
    """What is wrong with the form of an answer."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return f"no message: {str(message)[:200]}"
    error = message.get("error")
    if ("result" in message) is (error is not None):
        return f"neither a result nor an error: {str(message)[:200]}"
    is_told = error is None or (type(error["code"]) is int and error["message"])
    return "" if is_told else f"an error without a reason: {error}"


def resident_mb(server: HttpServer) -> float:
    lines = Path(f"/proc/{server.process.pid}/status").read_text("utf-8").splitlines()
    return next(int(it.split()[1]) / 1_000 for it in lines if it.startswith("VmRSS"))


def is_well(server: HttpServer) -> bool:
    status, _, _ = server.ask("GET", "/health")
    return status == 200 and "zebra" in server.tool("recall", query="zebra")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", known())
def test_a_broken_message_is_answered_in_form(server: HttpServer, name: str) -> None:
    assert wrong_answer(server, known()[name]) == ""
    assert is_well(server)


@pytest.mark.long  # it costs much
def test_messages_spoilt_at_random_are_answered_in_form(server: HttpServer) -> None:
    session = server.begin()
    bodies = list(spoilt(SEED, 300))
    with ThreadPoolExecutor(4) as threads:
        wrong = [
            it for it in threads.map(lambda it: wrong_answer(server, it, session), bodies) if it
        ]
    assert wrong == []
    assert is_well(server)
    assert "Traceback" not in server.said


@pytest.mark.long  # it costs much
@SHARED
@given(arguments=_json, name=st.sampled_from(["recall", "remember", "context", "link"]))
def test_whatever_arguments_a_tool_gets_it_answers_in_form(
    server: HttpServer, arguments: Any, name: str
) -> None:
    params = {"name": name, "arguments": arguments}
    assert wrong_answer(server, text_of({**CALL, "params": params})) == ""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory as Linux tells it")
def test_thousands_of_calls_and_broken_messages_do_not_grow_the_server(server: HttpServer) -> None:
    session = server.begin()
    body = text_of(CALL)

    def round_of(seed: int, calls: int) -> list[str]:
        bodies = [*spoilt(seed, calls // 4), *[body] * (calls - calls // 4)]
        with ThreadPoolExecutor(4) as threads:
            answers = threads.map(lambda it: wrong_answer(server, it, session), bodies)
            return [it for it in answers if it]

    assert round_of(1, 1_000) == []
    before = resident_mb(server)
    assert round_of(2, 5_000) == []
    assert resident_mb(server) - before < MOST_GROWTH_MB


@pytest.mark.row("002 2.101")
@pytest.mark.long
def test_a_killed_process_loses_nothing_and_others_serve_its_sessions(
    team_server: TeamServer, tmp_path: Path
) -> None:
    dsn = team_server.new_dsn()
    environment = {PLACE: dsn, "DB_MAX_CONNECTIONS": "4"}
    with (
        HttpServer(tmp_path / "one", environment=environment) as one,
        HttpServer(tmp_path / "other", environment=environment) as other,
    ):
        session = one.begin()
        is_over = threading.Event()
        outcomes = [Outcome([], [], [], 0.0) for _ in range(4)]

        def write(number: int) -> None:
            at = 0
            while not is_over.is_set():
                at += 1
                content = draft(f"{number} {at}").content
                asked = one if one.process.poll() is None else other
                try:
                    asked.tool("remember", session, content=content)
                    outcomes[number].kept.append(content)
                except (OSError, ValueError, TypeError, IndexError, EOFError):
                    outcomes[number].unknown.append(content)  # its process is gone
                except Exception as error:  # of http.client, whose kinds are many
                    assert type(error).__module__ == "http.client", error
                    outcomes[number].unknown.append(content)

        with ThreadPoolExecutor(4) as threads:
            writing = [threads.submit(write, number) for number in range(4)]
            until(lambda: all(len(it.kept) > 3 for it in outcomes))
            one.process.kill()
            before = [len(it.kept) for it in outcomes]
            until(lambda: all(len(it.kept) > had for it, had in zip(outcomes, before, strict=True)))
            is_over.set()
            for it in writing:
                it.result(WAIT_S)
        assert sum(before) > 0
        assert wrong_with(dsn, outcomes) == []
        assert len(stored(dsn)) >= sum(len(it.kept) for it in outcomes)
        assert "country" in other.tool("recall", session, query="zebra tax")
        assert KEY not in other.said and "zebra" not in other.said
