"""Tests that what is no message of JSON-RPC is refused in our words, and tells nobody back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.broken_messages import known
from tests.support.http_server import HttpServer

JSON = {"Content-Type": "application/json"}
SENT = "zq-sent-by-a-client-qz"  # nothing of the library's knows it
OK, PARSE, INVALID, NO_METHOD, NO_PARAMS = 0, -32700, -32600, -32601, -32602
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(tmp_path_factory.mktemp("messages")) as running:
        yield running


def a_message(**more: Any) -> bytes:
    given = {"jsonrpc": "2.0", "id": 7, "method": "ping", **more}
    return json.dumps({name: it for name, it in given.items() if it is not ...}).encode()


def a_call(**params: Any) -> bytes:
    return a_message(method="tools/call", params=params)


REFUSED = [
    (400, PARSE, b""),
    (400, PARSE, SENT.encode()),
    (400, PARSE, f'{{"{SENT}": '.encode()),
    (400, PARSE, b"\xef\xbb\xbf" + a_message()),
    (400, PARSE, a_message().decode().encode("utf-16")),
    (400, PARSE, a_message().replace(b"ping", b"\xff\xfe")),
    (400, PARSE, a_message(id="x").replace(b'"x"', b'"\\ud800"')),
    (400, PARSE, b"[" * 100_000),
    (400, PARSE, b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
    (400, INVALID, b"null"),
    (400, INVALID, b"1e999"),
    (400, INVALID, f'"{SENT}"'.encode()),
    (400, INVALID, b"[]"),
    (400, INVALID, b"[" + a_message() + b"," + a_message() + b"]"),
    (400, INVALID, b"{}"),
    (400, INVALID, a_message(jsonrpc=...)),
    (400, INVALID, a_message(jsonrpc="1.0")),
    (400, INVALID, a_message(jsonrpc=SENT)),
    (400, INVALID, a_message(method=...)),
    (400, INVALID, a_message(method=[SENT])),
    (400, INVALID, a_message(id=None)),
    (400, INVALID, a_message(id=True)),
    (400, INVALID, a_message(id=1.5)),
    (400, INVALID, a_message(id={"a": SENT})),
    (400, INVALID, a_message(id=1).replace(b'"id": 1', b'"id": NaN')),
    (400, INVALID, a_message(params=[SENT])),
    (400, INVALID, a_message(params=SENT)),
    (400, INVALID, a_message(result={}, error={}, method=...)),
    (200, NO_METHOD, a_message(method=f"no/{SENT}")),
    (200, NO_METHOD, a_message(method="\x00")),
    (200, NO_PARAMS, a_call()),
    (200, NO_PARAMS, a_call(name=5)),
    (200, NO_PARAMS, a_call(name="recall", arguments=[SENT])),
    (200, NO_PARAMS, a_call(name="recall", arguments=SENT)),
    (200, NO_PARAMS, a_message(method="initialize")),
    (200, NO_PARAMS, a_message(method="initialize", params={"protocolVersion": {"a": SENT}})),
    (200, NO_PARAMS, a_message(method="tools/list", params={"cursor": 5})),
    (200, NO_PARAMS, a_message(method="tools/list", params={"_meta": SENT})),
    (200, NO_PARAMS, a_message(method="logging/setLevel", params={"level": SENT})),
    (200, NO_PARAMS, a_message(method="completion/complete", params={"ref": SENT})),
]


def refused(server: HttpServer, body: bytes, **headers: str) -> tuple[int, dict[str, Any], str]:
    status, _, answer = server.ask("POST", "/mcp", body, headers={**JSON, **headers})
    message = json.loads(answer)
    assert message["jsonrpc"] == "2.0" and set(message) == {"jsonrpc", "id", "error"}, message
    return status, message["error"], answer.decode()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("status", "code", "body"), REFUSED)
def test_what_is_no_message_gets_a_code_and_our_words(
    server: HttpServer, status: int, code: int, body: bytes
) -> None:
    found, error, text = refused(server, body)
    assert (found, error["code"]) == (status, code)
    assert set(error) == {"code", "message"} and "Nothing was changed. " in error["message"]
    assert SENT not in text and "pydantic" not in text and "input_value" not in text


@pytest.mark.long  # it costs much
def test_a_refusal_names_the_request_wherever_it_has_a_name(server: HttpServer) -> None:
    for body in (a_message(jsonrpc="1.0"), a_message(params=[1]), a_message(method="no/such")):
        assert json.loads(refused(server, body)[2])["id"] == 7


def test_an_unknown_tool_is_refused_without_its_name(server: HttpServer) -> None:
    _, _, answer = server.call("tools/call", {"name": SENT, "arguments": {}})
    [content] = answer["result"]["content"]
    assert answer["result"]["isError"] and "tools/list" in content["text"]
    assert SENT not in content["text"]


@pytest.mark.parametrize("body", [a_message(result={}, method=...), a_message(error=1, method=...)])
def test_an_answer_to_no_question_is_taken_and_dropped(server: HttpServer, body: bytes) -> None:
    assert server.ask("POST", "/mcp", body, headers=JSON)[::2] == (202, b"")


@pytest.mark.parametrize("kind", ["", "text/plain", "application/jsonp", "text/json", SENT])
def test_what_is_not_sent_as_json_is_not_taken(server: HttpServer, kind: str) -> None:
    found, error, text = refused(server, a_message(), **{"Content-Type": kind})
    assert (found, error["code"]) == (415, INVALID) and SENT not in text


def test_who_takes_no_json_gets_406(server: HttpServer) -> None:
    for accept in ("text/html", "text/event-stream", SENT):
        found, error, text = refused(server, a_message(), Accept=accept)
        assert (found, error["code"]) == (406, INVALID) and SENT not in text
    for accept in ("application/json", "*/*", "application/*;q=0.5", "text/html, */*;q=0.1"):
        assert server.ask("POST", "/mcp", a_message(), headers={**JSON, "Accept": accept})[0] == 200


@pytest.mark.long  # it costs much
def test_the_words_are_in_the_language_of_the_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home = tmp_path_factory.mktemp("korean")
    with HttpServer(home, environment={"SENTINEL_MEMORY_LANG": "ko"}) as korean:
        for _, _, body in REFUSED:
            assert "바뀐 것은 없습니다." in refused(korean, body)[1]["message"]
        garbage = korean.raw(b"GARBAGE\r\n\r\n").decode()
        assert "HTTP/1.1 400" in garbage and "바뀐 것은 없습니다." in garbage


_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(10**30), max_value=10**30),
    st.sampled_from([2**63, -(2**63) - 1, 10**400, 1e308, -0.0]),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["\x00", "\ud800", "\udfff\ud800", "2.0", "tools/call", SENT, "x" * 3_000]),
)
_values = st.recursive(
    _leaves,
    lambda it: st.lists(it, max_size=4) | st.dictionaries(st.text(max_size=8), it, max_size=4),
    max_leaves=10,
)
_names = st.sampled_from("jsonrpc id method params result error _meta \ud800".split())


@st.composite
def bodies(draw: Any) -> bytes:
    """A message with some of its parts spoilt, named twice, buried deep, or one of a batch."""
    pairs = [("jsonrpc", '"2.0"'), ("id", "1"), ("method", '"tools/call"')]
    pairs += [("params", '{"name": "recall", "arguments": {"query": "x"}}')]
    spoilt = draw(st.lists(st.tuples(_names, _values), min_size=1, max_size=3))
    pairs += [(name, json.dumps(value)) for name, value in spoilt]  # the later of two names counts
    text = "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in pairs) + "}"
    depth = draw(st.sampled_from([0, 0, 0, 1, 150, 3_000]))
    if depth > 1:
        text = text.replace('"x"', "[" * depth + "]" * depth)
    return f"[{text}]".encode() if depth == 1 else text.encode()


@pytest.mark.long  # it costs much
@SHARED
@given(body=bodies())
def test_whatever_is_sent_the_answer_is_json_in_our_words(server: HttpServer, body: bytes) -> None:
    status, found, answer = server.ask("POST", "/mcp", body, headers=JSON)
    assert status in (200, 202, 400, 404), (status, answer)
    if status == 202:
        assert answer == b""
        return
    text = answer.decode()
    if found["content-type"].startswith("text/event-stream"):
        text = next(it[5:] for it in text.splitlines() if it.startswith("data:"))
    error = json.loads(text).get("error")
    assert "pydantic" not in text and "Traceback" not in text
    if error:
        assert error["code"] in (PARSE, INVALID, NO_METHOD, NO_PARAMS)
        if not error["message"].startswith("Unknown prompt: "):  # FastMCP says that one
            assert "Nothing was changed. " in error["message"] and SENT not in error["message"]


@pytest.mark.long  # it costs much
def test_nothing_of_all_that_is_said_aloud(server: HttpServer) -> None:
    for body in known().values():
        server.ask("POST", "/mcp", body, headers=JSON)
    assert "Traceback" not in server.said and SENT not in server.said
    assert len(server.said.splitlines()) == 1  # that it serves
