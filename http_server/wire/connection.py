"""Serves one connection of a client: bounds how many there are, and answers what is no HTTP."""

import asyncio
import json

from uvicorn.protocols.http.h11_impl import H11Protocol

from core.messages import say
from http_server.serving.answers import SAFE_HEADERS

HEADERS_S = 15.0  # in which the head of a request must be complete
MOST_CONNECTIONS = 4_000
RETRY_S = 2


class Connection(H11Protocol):
    """A connection that is closed where the head of a request does not come in time.

    One too many is told so and closed at once: it would otherwise be held though it gets nothing.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.write(_answer(503, "too_busy", f"Retry-After: {RETRY_S}"))
            transport.close()
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read as HTTP, unless an answer to it is already under way."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_answer(400, "bad_http"))
        self.transport.close()

    def _watch(self) -> None:
        """Begin to wait for a head, unless a request is being served or none has begun."""
        is_served = self.cycle is not None and not self.cycle.response_complete
        rests = self.timeout_keep_alive_task is not None  # its own timer ends it
        if is_served or rests:
            self._stop()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADERS_S, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_REASONS = {400: "Bad Request", 503: "Service Unavailable"}


def _answer(status: int, key: str, *more: str) -> bytes:
    """Return a whole answer that ends its connection, as bytes: no application has a part in it."""
    body = json.dumps({"error": say(f"http.serving.{key}")}, ensure_ascii=False).encode()
    lines = [
        f"HTTP/1.1 {status} {_REASONS[status]}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in SAFE_HEADERS.items()),
        *more,
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
