"""Writes the short answers of the server: a JSON object with a sentence, and the safe headers."""

import logging
import traceback
from collections.abc import Mapping
from typing import Any

from mcp.types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.responses import JSONResponse, Response

from core.errors import SentinelError
from core.messages import say
from core.program import LOGGER
from http_server.serving.bodies import BodyRefusal
from http_server.wire.messages import MessageRefusal

RETRY = {"Retry-After": "2"}
SAFE_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


_log = logging.getLogger(LOGGER)


def refusal(
    status: int, key: str, *, headers: Mapping[str, str] | None = None, **facts: str | int
) -> Response:
    """Return an answer that says in one sentence why a request is not served."""
    return JSONResponse({"error": say(f"http.serving.{key}", **facts)}, status, headers=headers)


def body_refusal(error: BodyRefusal) -> Response:
    """Return the answer to a body that is not taken; the rest of it may still come."""
    text = say(f"http.serving.{error.key}", **error.facts)
    return JSONResponse({"error": text}, error.status, headers={"Connection": "close"})


def rpc_error(
    status: int,
    text: str,
    *,
    code: int = INVALID_REQUEST,
    of: Any = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error of JSON-RPC. of: the id of the request, None where there is none to name."""
    is_id = isinstance(of, str | int) and not isinstance(of, bool)
    error = {"code": code, "message": text}
    body = {"jsonrpc": "2.0", "id": of if is_id else None, "error": error}
    return JSONResponse(body, status, headers=headers)


def refused(error: MessageRefusal) -> Response:
    """Return the answer to a body that is no message."""
    return rpc_error(error.status, say(f"http.serving.{error.key}"), code=error.code, of=error.id)


def of_failure(error: Exception) -> Response:
    """Return what a client is told of an error: never where the database is, or what it said.

    The client may be a stranger; `note` tells the operator.
    """
    if isinstance(error, SentinelError):
        text = say("http.serving.no_storage")
        return rpc_error(503, text, code=INTERNAL_ERROR, headers=RETRY)
    return rpc_error(500, say("http.serving.failed"), code=INTERNAL_ERROR)


def note(error: Exception) -> None:
    """Write a line on an error: the sentence of ours, of others the kind and the place."""
    said = str(error) if isinstance(error, SentinelError) else type(error).__name__
    _log.error("%s", say("http.serving.failed_request", error=said))
    if not isinstance(error, SentinelError):
        _log.error("%s", "".join(traceback.format_tb(error.__traceback__, limit=-3)))
