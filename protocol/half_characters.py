"""Changes a request with half a character so that it gets an answer.

A JSON escape such as `\\ud800` alone is half of a character. The protocol library drops the whole
line without an answer, and the client waits until its own timeout. Here such an argument becomes
`LONE_SURROGATE`, which is no text, so that the server can refuse it with a sentence.
"""

import json
import re
from typing import Any

LONE_SURROGATE = {"lone_surrogate": True}

_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def answerable(line: bytes) -> bytes:
    """Return the line, or the same message with each half character replaced."""
    if not _ESCAPE.search(line):
        return line
    try:
        message = json.loads(line)
        params = message["params"]
        changed = _replaced(message, "\ufffd")
        if message.get("method") == "tools/call" and _has_surrogate(params.get("arguments")):
            changed["params"]["arguments"] = _replaced(params["arguments"], LONE_SURROGATE)
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return line
    return line if changed == message else json.dumps(changed).encode("ascii") + b"\n"


def _has_surrogate(value: Any) -> bool:
    return bool(_SURROGATE.search(json.dumps(value, ensure_ascii=False)))


def _replaced(value: Any, substitute: Any) -> Any:
    """Return the value with every text that holds a half character replaced (in keys by U+FFFD)."""
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        return _SURROGATE.sub(substitute, value) if isinstance(substitute, str) else substitute
    if isinstance(value, list):
        return [_replaced(item, substitute) for item in value]
    if isinstance(value, dict):
        return {
            _SURROGATE.sub("\ufffd", key): _replaced(item, substitute)
            for key, item in value.items()
        }
    return value
