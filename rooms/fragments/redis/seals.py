"""Turns answers into bytes and back, with a seal that only the same revisions open.

The key of a seal is made of revisions, which only the fragments' own server hands out. So what was
written for another state, another agent or another question, what was cut short or changed, and
what somebody else has put there, opens as nothing.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from core.text.ranking import Held, Holding
from core.text.terms import Term

VERSION = "1"  # of all that is kept: names, values, and the terms of a question
SEAL_BYTES = 32


def digest_of(text: bytes, key: bytes = b"") -> bytes:
    """Return 32 characters that stand for a text, and for a key of up to 64 bytes."""
    return hashlib.blake2b(text, digest_size=SEAL_BYTES // 2, key=key).hexdigest().encode()


def key_of(revisions: Mapping[str, str]) -> bytes:
    """Return the key of what is known of agents in one state."""
    told = json.dumps([VERSION, sorted(revisions.items())])
    return hashlib.blake2b(told.encode(), digest_size=32).digest()


def sealed(data: Any, name: str, key: bytes) -> bytes:
    """Return data as bytes that are to be kept below a name."""
    text = json.dumps(data, separators=(",", ":")).encode()
    return digest_of(name.encode() + b"\0" + text, key) + text


def opened(value: object, name: str, key: bytes) -> Any:
    """Return the data that `sealed` was given, None where it is not of this name and key."""
    if not isinstance(value, bytes):
        return None
    seal, text = value[:SEAL_BYTES], value[SEAL_BYTES:]
    if seal != digest_of(name.encode() + b"\0" + text, key):
        return None
    return json.loads(text)


def data_of_holding(holding: Holding) -> list[Any]:
    """Return the data of which terms are held."""
    held = [
        [*it.term, it.having, None if it.numbers is None else [*it.numbers]] for it in holding.terms
    ]
    return [holding.total, held]


def holding_of_data(data: list[Any]) -> Holding:
    """Return which terms are held, by its data."""
    total, held = data
    return Holding(total, [Held(Term(*term), having, it) for *term, having, it in held])


def pairs_of_data(data: list[Any]) -> list[tuple[int, Any]]:
    """Return numbers with what belongs to each, by their data."""
    return [(number, value) for number, value in data]
