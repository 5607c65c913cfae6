"""Holds bodies that no client sends, and makes more of them: each has to be answered in form."""

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

CALL: Mapping[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "recall", "arguments": {"query": "zebra"}},
}
HUGE = 10**400
# fmt: off
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**63, HUGE, -HUGE, 1e308, "", " ", "\x00", "\ud800",
    "x" * 5_000, [], [[]], {}, {"": ""}, [None] * 200, {"a": {"b": {"c": []}}}, "tools/call",
    "__proto__", "../..",
)
METHODS = ("tools/call", "tools/list", "initialize", "ping", "resources/read", "prompts/get",
           "notifications/initialized", "completion/complete", "no/such")
# fmt: on


def text_of(message: object) -> bytes:
    """A message as JSON."""
    return json.dumps(message).encode()


def known() -> dict[str, bytes]:
    """Bodies that have broken servers, by what they are."""
    nested = 20_000
    call = text_of(CALL)
    return {
        "nothing": b"",
        "blanks": b" \n\t ",
        "a nul": b"\x00",
        "no JSON": b"hello",
        "half": call[:-10],
        "two at once": call + call,
        "a mark before it": b"\xef\xbb\xbf" + call,
        "UTF-16": call.decode().encode("utf-16"),
        "invalid UTF-8": call.replace(b"zebra", b"\xff\xfe\xc0\x80"),
        "half of a character": call.replace(b"zebra", b"\\ud800"),
        "a NUL in a text": call.replace(b"zebra", b"a\\u0000b"),
        "deep lists": b"[" * nested + b"]" * nested,
        "deep objects": b'{"a":' * nested + b"1" + b"}" * nested,
        "deep arguments": call.replace(b'"zebra"', b"[" * nested + b"]" * nested),
        "unclosed": b"[" * nested,
        "not a number": call.replace(b'"id": 1', b'"id": NaN'),
        "infinity": call.replace(b'"id": 1', b'"id": Infinity'),
        "a huge number": call.replace(b'"id": 1', b'"id": 1' + b"0" * 5_000),
        "the same key twice": call.replace(b'"id": 1', b'"id": 1, "id": 2, "method": "ping"'),
        "a batch": b"[" + call + b"," + call + b"]",
        "an empty batch": b"[]",
        "a long batch": b"[" + b",".join([call] * 500) + b"]",
        "a batch of nothing": b"[1, null, []]",
        "a number": b"1",
        "null": b"null",
        "another version": call.replace(b"2.0", b"1.0"),
        "an answer": b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
        "an error": b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}',
        **{f"without {it}": text_of({k: v for k, v in CALL.items() if k != it}) for it in CALL},
    }


def spoilt(seed: int, count: int) -> Iterator[bytes]:
    """So many messages with one or two places spoilt, by a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        message: dict[str, Any] = json.loads(text_of(CALL))
        message["method"] = chance.choice(METHODS)
        for _ in range(chance.randint(1, 2)):
            place = chance.choice((message, message.get("params"), _arguments(message)))
            if isinstance(place, dict):
                key = chance.choice([*place, "cursor", "_meta", "protocolVersion"])
                place[key] = chance.choice(VALUES)
        body = text_of(message)
        if chance.random() < 0.2:
            at = chance.randrange(len(body))
            body = body[:at] + chance.randbytes(chance.randint(1, 4)) + body[at + 1 :]
        yield body


def _arguments(message: dict[str, Any]) -> object:
    params = message.get("params")
    return params.get("arguments") if isinstance(params, dict) else None
