"""Stands before everything else: counts, bounds what strangers send, and keeps answers plain."""

import time

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from http_server.serving.answers import SAFE_HEADERS, body_refusal, note, of_failure, refusal
from http_server.serving.bodies import MOST_FORM_BYTES, Bodies, BodyRefusal, replayed
from http_server.serving.watching.metrics import Metrics

OWN_BODIES = ("/mcp", "/message")  # taken behind the credential
_PLAIN = {
    401: "needs_key",
    403: "wrong_origin",
    404: "no_page",
    405: "no_method",
    406: "not_acceptable",
    421: "wrong_host",
}
_OF_TEXT = (b"content-type", b"content-length")
_FORM_S = 10.0
MOST_HEAD_BYTES = 32 * 1024
_CLOSE = {"Connection": "close"}  # where the next request would begin nobody can tell


class Edge:
    """The outermost application."""

    def __init__(self, app: ASGIApp, bodies: Bodies, metrics: Metrics | None) -> None:
        self._app, self._bodies, self._metrics = app, bodies, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the life of the process."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer, began = _Answer(scope, send), time.monotonic()
        try:
            await self._served(scope, receive, answer.send)
        except Exception as error:
            note(error)
            if not answer.status:
                await of_failure(error)(scope, receive, answer.send)
        finally:
            if self._metrics:
                self._metrics.note_request(
                    scope["path"],
                    scope["method"],
                    answer.status,
                    None if answer.is_stream else time.monotonic() - began,
                    has_credential=any(name == b"authorization" for name, _ in scope["headers"]),
                )

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        if answer := head_refusal(scope):
            await answer(scope, receive, send)
            return
        if scope["path"] in OWN_BODIES or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        with self._bodies.room() as room:
            try:
                body = await room.body(scope, receive, MOST_FORM_BYTES, within_s=_FORM_S)
            except BodyRefusal as error:
                await body_refusal(error)(scope, receive, send)
                return
            await self._app(scope, replayed(body, receive), send)


class _Answer:
    """Passes an answer on with the safe headers; a bare refusal of a library gets a sentence."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._is_replaced = False
        self.status, self.is_stream = 0, False

    async def send(self, message: Message) -> None:
        if self._is_replaced:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = dict(message["headers"])
            kind = headers.get(b"content-type", b"text/plain")
            self.is_stream = kind.startswith(b"text/event-stream")
            if self.status in _PLAIN and kind.startswith(b"text/plain"):
                self._is_replaced = True
                kept = [(name, it) for name, it in headers.items() if name not in _OF_TEXT]
                more = {name.decode(): it.decode("latin-1") for name, it in kept}
                answer = refusal(self.status, _PLAIN[self.status], headers=more)
                await answer(self._scope, _nothing, self._with_headers)
                return
        await self._with_headers(message)

    async def _with_headers(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            safe = ((name.encode(), value.encode()) for name, value in SAFE_HEADERS.items())
            more = [(name, value) for name, value in safe if name not in there]
            message = {**message, "headers": [*message["headers"], *more]}
        await self._send(message)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


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
