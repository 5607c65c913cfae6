"""Counts wrong secrets of an address, and answers 429 to those who bring too many."""

import json
import math
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

from http_server.access.tries import Tries

TOKEN_PATH = "/token"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_address: ContextVar[str] = ContextVar("address", default="")


def address_here() -> str:
    """Return the address that this request comes from, "" outside of one."""
    return _address.get()


def address_of(scope: Scope) -> str:
    """Return the address that a request comes from, as the server has found it."""
    client = scope.get("client")
    return str(client[0]) if client else ""


class Watched:
    """Wraps the whole application, behind what turns a key of the address into a header.

    A 401 counts where a secret was brought; over the limit it becomes a 429.
    """

    def __init__(self, app: App, tries: Tries) -> None:
        self._app, self._tries = app, tries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry out one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = address_of(scope)
        marker = _address.set(address)
        is_replaced = False
        has_secret = scope["path"] == TOKEN_PATH or any(
            name == b"authorization" for name, _ in scope["headers"]
        )

        async def sent(message: Scope) -> None:
            nonlocal is_replaced
            if is_replaced:
                return
            if message["type"] == "http.response.start":
                is_wrong = message["status"] == 401 and has_secret
                if is_wrong and (wait_s := self._tries.wrong(address)):
                    is_replaced = True
                    await _answer(send, 429, "too_many_tries", math.ceil(wait_s))
                    return
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            _address.reset(marker)


async def _answer(send: Send, status: int, error: str, retry_s: int) -> None:
    body = json.dumps({"error": error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", str(retry_s).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
