"""Refuses a request by its head alone."""

from starlette.responses import Response
from starlette.types import Scope

from http_server.serving.answers import refusal

MOST_HEAD_BYTES = 32 * 1024
_CLOSE = {"Connection": "close"}  # where the next request would begin nobody can tell


def head_refusal(scope: Scope) -> Response | None:
    """Return the answer to a head that is too large, or that gives two lengths of its body.

    uvicorn bounds only what comes in pieces; of two lengths a proxy may have believed the other.
    """
    headers = scope["headers"]
    held = sum(len(name) + len(value) for name, value in headers)
    if held + len(scope["raw_path"]) + len(scope["query_string"]) > MOST_HEAD_BYTES:
        return refusal(431, "large_head", headers=_CLOSE, most=MOST_HEAD_BYTES)
    if {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}:
        return refusal(400, "two_lengths", headers=_CLOSE)
    return None
