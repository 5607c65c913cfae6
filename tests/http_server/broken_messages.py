"""Holds bodies that no client sends, and makes more of them: each has to be answered in form."""

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.tables import table

CALL: Mapping[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "recall", "arguments": {"query": "zebra"}},
}
TABLE = table("broken_messages")  # texts in Latin-1


def text_of(message: object) -> bytes:
    return json.dumps(message).encode()


def known() -> dict[str, bytes]:
    """Bodies that have broken servers, by a name for each."""
    call = json.dumps(CALL)
    nested = "[" * 20_000 + "]" * 20_000
    texts = {
        **TABLE["whole"],
        **{name: call.replace(*change) for name, change in TABLE["changed"].items()},
        **{name: "".join(it * n for it, n in row) for name, row in TABLE["repeated"].items()},
        "deep arguments": call.replace('"zebra"', nested),
        "a huge number": call.replace('"id": 1', '"id": 1' + "0" * 5_000),
        **{f"without {it}": json.dumps({k: v for k, v in CALL.items() if k != it}) for it in CALL},
    }
    bodies = {name: it.replace("{call}", call).encode("latin-1") for name, it in texts.items()}
    return {**bodies, "UTF-16": call.encode("utf-16")}


def spoilt(seed: int, count: int) -> Iterator[bytes]:
    """So many messages with one or two places spoilt, by a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        message: dict[str, Any] = json.loads(text_of(CALL))
        message["method"] = chance.choice(TABLE["methods"])
        for _ in range(chance.randint(1, 2)):
            params = message.get("params")
            arguments = params.get("arguments") if isinstance(params, dict) else None
            place = chance.choice((message, params, arguments))
            if isinstance(place, dict):
                key = chance.choice([*place, "cursor", "_meta", "protocolVersion"])
                place[key] = chance.choice(TABLE["values"])
        body = text_of(message)
        if chance.random() < 0.2:
            at = chance.randrange(len(body))
            body = body[:at] + chance.randbytes(chance.randint(1, 4)) + body[at + 1 :]
        yield body
