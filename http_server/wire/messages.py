"""Reads what clients send as JSON-RPC, and says in our words what is none.

https://www.jsonrpc.org/specification
"""

from typing import Any

from fastmcp.exceptions import NotFoundError, ToolError
from fastmcp.server.middleware import Middleware, MiddlewareContext
from mcp import MCPError
from mcp.types import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from pydantic import ValidationError
from pydantic_core import from_json

from core.messages import say

JSON, EVENTS = "application/json", "text/event-stream"


class MessageRefusal(Exception):
    """A body is no message. status: of HTTP. code: of JSON-RPC. key: of the sentence.

    id: what the answer names; None for what has no id that can be named.
    """

    def __init__(self, code: int, key: str, *, status: int = 400, id: object = None) -> None:
        super().__init__(key)
        self.code, self.key, self.status, self.id = code, key, status, id


def check_kinds(content_type: str, accept: str) -> None:
    """Raise MessageRefusal where a message is not sent as JSON, or JSON is not taken back."""
    if content_type.partition(";")[0].strip() != JSON:
        raise MessageRefusal(INVALID_REQUEST, "not_json", status=415)
    if not {JSON, "application/*", "*/*"} & listed(accept):
        raise MessageRefusal(INVALID_REQUEST, "takes_no_json", status=406)


def message_of(body: bytes) -> dict[str, Any]:
    """Return the message that a body is. Raises MessageRefusal.

    Read as the library does, so that what is taken here is not refused there.
    """
    try:
        message = from_json(body)
    except ValueError as error:
        raise MessageRefusal(PARSE_ERROR, "bad_json") from error
    if not isinstance(message, dict) or not _is_message(message):
        given = message.get("id") if isinstance(message, dict) else None
        raise MessageRefusal(INVALID_REQUEST, "bad_message", id=given)
    return message


def is_answer(message: dict[str, Any]) -> bool:
    """Return whether a message answers one of ours; the server asks clients nothing."""
    return "method" not in message


def listed(accepted: str) -> set[str]:
    """Return the kinds that a header Accept lists, without their weights."""
    return {part.partition(";")[0].strip().lower() for part in accepted.split(",")}


def _is_message(message: dict[str, Any]) -> bool:
    id_ = message.get("id", 0)
    if message.get("jsonrpc") != "2.0":
        return False
    if is_answer(message):
        return ("result" in message) != ("error" in message)
    is_id = isinstance(id_, str | int) and not isinstance(id_, bool)
    has_params = isinstance(message.get("params"), dict | None)
    return is_id and has_params and isinstance(message["method"], str)


class Sentences(Middleware):
    """Says in our words what a request lacks; those of the library repeat what was sent."""

    async def on_request(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Carry out a request."""
        try:
            return await call_next(context)
        except ValidationError as error:
            text = say("http.serving.bad_params")
            raise MCPError(code=INVALID_PARAMS, message=text) from error
        except MCPError as error:
            if error.error.code != METHOD_NOT_FOUND:
                raise
            raise MCPError(code=METHOD_NOT_FOUND, message=say("http.serving.bad_method")) from error

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Call a tool."""
        try:
            return await call_next(context)
        except NotFoundError as error:
            raise ToolError(say("http.serving.bad_tool")) from error
