"""Tests resources and prompts that cannot be had: an error code that clients know, our sentence."""

from pathlib import Path
from typing import Any

import pytest

from core.messages import Language
from tests.conftest import StartServer
from tests.support.sentences import sentence
from tests.support.stdio_client import HANDSHAKE, STATELESS, Era, ServerProcess

INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
RESOURCES = {"known": "memory://log, memory://record/{id}"}
PROMPTS = "start_task, finish_task, compact, memory_injection"


@pytest.fixture(scope="module")
def servers(
    start_server: StartServer, tmp_path_factory: pytest.TempPathFactory
) -> dict[Era, ServerProcess]:
    project = tmp_path_factory.mktemp("requests")
    return {
        HANDSHAKE: start_server(cwd=project),
        STATELESS: start_server(
            cwd=project, environment={"SENTINEL_MEMORY_LANG": "ko"}, era=STATELESS
        ),
    }


@pytest.fixture(params=[HANDSHAKE, STATELESS])
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


def error_of(server: ServerProcess, method: str, params: dict[str, Any]) -> tuple[int, str]:
    error = server.request(method, params)["error"]
    return error["code"], error["message"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("method", "params", "key", "facts"),
    [
        ("resources/read", {"uri": "memory://record/none"}, "no_such_record", {}),
        ("resources/read", {"uri": "memory://record/%E2%80%8B"}, "no_such_record", {}),
        ("resources/read", {"uri": "memory://other"}, "no_such_resource", RESOURCES),
        ("resources/read", {"uri": "memory://record/../log"}, "no_such_resource", RESOURCES),
        ("resources/read", {"uri": "file:///etc/passwd"}, "no_such_resource", RESOURCES),
        ("prompts/get", {"name": "other"}, "no_such_prompt", {"known": PROMPTS}),
        *(
            (
                "prompts/get",
                {"name": "memory_injection", "arguments": {"token_budget": value}},
                "bad_budget",
                {"least": 200},
            )
            for value in ("abc", "0", "-5", "199", "1e5", "9" * 30, "", "²", "٣٠٠")
        ),
        (
            "prompts/get",
            {"name": "start_task", "arguments": {"tasks": "x"}},
            "unknown_prompt_argument",
            {"field": "tasks", "prompt": "start_task", "known": "task"},
        ),
        (
            "prompts/get",
            {"name": "compact", "arguments": {"x\ny": "z"}},
            "no_prompt_argument",
            {"field": "x y", "prompt": "compact"},
        ),
    ],
)
def test_what_cannot_be_had_is_invalid_params_with_our_sentence(
    servers: dict[Era, ServerProcess],
    era: Era,
    method: str,
    params: dict[str, Any],
    key: str,
    facts: dict[str, Any],
) -> None:
    lang: Language = "en" if era == HANDSHAKE else "ko"
    assert error_of(servers[era], method, params) == (
        INVALID_PARAMS,
        sentence(lang, f"protocol.{key}", **facts),
    )
    assert servers[era].stderr() == ""


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/read", {}),
        ("resources/read", {"uri": 5}),
        ("prompts/get", {}),
        ("prompts/get", {"name": ["start_task"]}),
        ("prompts/get", {"name": "start_task", "arguments": {"task": 5}}),
        ("prompts/get", {"name": "start_task", "arguments": ["task"]}),
    ],
)
def test_params_of_another_form_are_invalid_params_too(
    servers: dict[Era, ServerProcess], era: Era, method: str, params: dict[str, Any]
) -> None:
    assert error_of(servers[era], method, params)[0] == INVALID_PARAMS
    assert servers[era].stderr() == ""


def test_a_missing_resource_is_named_beside_the_sentence(
    servers: dict[Era, ServerProcess], era: Era
) -> None:
    error = servers[era].request("resources/read", {"uri": "memory://other"})["error"]
    assert error["data"] == {"uri": "memory://other"}


@pytest.mark.long  # it costs much
def test_a_log_that_cannot_be_read_is_an_internal_error(
    start_server: StartServer, tmp_path: Path
) -> None:
    (tmp_path / ".context" / "memory_log.jsonl").mkdir(parents=True)
    server = start_server(cwd=tmp_path)
    for params in ({"uri": "memory://log"}, {"uri": "memory://record/none"}):
        code, text = error_of(server, "resources/read", params)
        assert code == INTERNAL_ERROR
        assert "cannot be read" in text
    code, text = error_of(server, "prompts/get", {"name": "memory_injection"})
    assert code == INTERNAL_ERROR
    assert "cannot be read" in text
    assert server.stderr() == ""
