"""Tests resources and prompts that cannot be had: an error code that clients know, a sentence."""

from pathlib import Path
from typing import Any

import pytest

from core.messages import Language
from tests.conftest import StartServer
from tests.support.sentences import sentence
from tests.support.stdio_client import HANDSHAKE, STATELESS, Era, ServerProcess

INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603


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
        *(
            (
                "prompts/get",
                {"name": "memory_injection", "arguments": {"token_budget": value}},
                "bad_budget",
                {"least": 200},
            )
            for value in ("abc", "0", "-5", "199", "1e5", "9" * 30, "", "²", "٣٠٠", "२००")
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


@pytest.mark.parametrize(
    "uri", ["memory://other", "memory://record/../log", "file:///etc/passwd", "memory://x\ny"]
)
def test_a_missing_resource_is_named(servers: dict[Era, ServerProcess], era: Era, uri: str) -> None:
    error = servers[era].request("resources/read", {"uri": uri})["error"]
    assert error["code"] == INVALID_PARAMS
    assert error["message"] == f"Resource not found: {uri!r}"
    assert error["data"] == {"uri": uri}
    assert servers[era].stderr() == ""


def test_a_missing_prompt_is_named(servers: dict[Era, ServerProcess], era: Era) -> None:
    said = error_of(servers[era], "prompts/get", {"name": "other"})
    assert said == (INVALID_PARAMS, "Unknown prompt: 'other'")
    assert servers[era].stderr() == ""


def test_an_argument_that_a_prompt_does_not_have_is_passed_over(
    servers: dict[Era, ServerProcess], era: Era
) -> None:
    asked = {"name": "start_task", "arguments": {"task": "x", "tasks": "y"}}
    plain = {"name": "start_task", "arguments": {"task": "x"}}
    answers = [servers[era].request("prompts/get", it)["result"] for it in (asked, plain)]
    assert answers[0]["messages"] == answers[1]["messages"]
    assert servers[era].stderr() == ""


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
