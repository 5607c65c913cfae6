"""Serves clients of 2024 that know only /sse and /message, and give their key in the address.

Such a stream lives in the process that opened it.
"""

import re
from collections.abc import Callable
from urllib.parse import parse_qs

from anyio import CancelScope
from anyio.to_thread import run_sync
from fastmcp import FastMCP
from fastmcp.server.auth import AuthProvider
from fastmcp.server.http import create_sse_app
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from http_server.papers import hash_of
from http_server.serving.answers import body_refusal, refused
from http_server.serving.bodies import MOST_BYTES, Bodies, BodyRefusal, replayed
from http_server.serving.sessions import NOBODY, credential_of
from http_server.wire.messages import MessageRefusal, message_of
from protocol.arguments import answerable
from protocol.call import Caller, calling

STREAM, MESSAGES = "/sse", "/message"
_KEY_NAME = "accessKey"
_ID = re.compile(rb"session_id=([0-9a-f]{32})")
_AUTHORIZATION = b"authorization"


class LegacyStreams:
    """Remembers with which credential each stream was opened: its messages come without one.

    app: of the server. on_end: called with the agent and the name of a session that has ended.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._credentials: dict[str, bytes] = {}

    @property
    def count(self) -> int:
        """How many streams are open."""
        return len(self._credentials)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, with its credential in the header where it belongs."""
        if scope["type"] != "http" or scope["path"] not in (STREAM, MESSAGES):
            await self._app(scope, receive, send)
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = next((value for name, value in scope["headers"] if name == _AUTHORIZATION), b"")
        if scope["path"] == MESSAGES:
            given = given or self._credentials.get(query.get("session_id", [""])[0], b"")
            await self._app(_with_credential(scope, given), receive, send)
            return
        if not given and (key := query.get(_KEY_NAME, [""])[0]):
            given = b"Bearer " + key.encode("latin-1", "replace")
        opened = list[str]()

        async def noting(message: Message) -> None:
            found = None if opened else _ID.search(message.get("body", b""))
            if found:
                opened.append(found[1].decode())
                self._credentials[opened[0]] = given
            await send(message)

        try:
            await self._app(
                {**_with_credential(scope, given), "query_string": b""}, receive, noting
            )
        finally:
            for session_id in opened:
                self._credentials.pop(session_id, None)


def legacy_routes(
    server: FastMCP,
    auth: AuthProvider | None,
    bodies: Bodies,
    on_end: Callable[[str, str], None],
) -> list[Route]:
    """Return the routes of the two addresses, behind the credential where one is needed."""
    routes = create_sse_app(server, message_path=MESSAGES, sse_path=STREAM, auth=auth).router.routes
    found = list[Route]()
    for route in routes:
        if not isinstance(route, Route | Mount) or route.path not in (STREAM, MESSAGES):
            continue
        is_stream = route.path == STREAM
        inner = route.endpoint if isinstance(route, Route) else route.app
        if auth:
            served = _Telling(inner.app, bodies, on_end)  # type: ignore[union-attr]
            inner.app = served  # type: ignore[union-attr]
        else:
            served = _Telling(route.app, bodies, on_end)
            inner = served
        found.append(Route(route.path, inner, methods=["GET" if is_stream else "POST"]))
    return found


class _Telling:
    """Tells the tools who calls, and ends the session with its stream."""

    def __init__(self, app: ASGIApp, bodies: Bodies, on_end: Callable[[str, str], None]) -> None:
        self._app, self._bodies, self._on_end = app, bodies, on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = credential_of(scope) or NOBODY
        if scope["path"] == MESSAGES:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("session_id", [""])[0]
            with self._bodies.room() as room:
                try:
                    body = answerable(await room.body(scope, receive, MOST_BYTES))
                    message_of(body)
                except BodyRefusal as error:
                    await body_refusal(error)(scope, receive, send)
                    return
                except MessageRefusal as error:
                    await refused(error)(scope, receive, send)
                    return
                with calling(Caller(agent=who.agent, session=_name(given))):
                    await self._app(scope, replayed(body, receive), send)
            return
        opened = list[str]()

        async def noting(message: Message) -> None:
            found = None if opened else _ID.search(message.get("body", b""))
            if found:
                opened.append(_name(found[1].decode()))
            await send(message)

        try:
            with calling(Caller(agent=who.agent)):
                await self._app(scope, receive, noting)
        finally:
            for name in opened:
                with CancelScope(shield=True):
                    await run_sync(self._on_end, who.agent, name)


def _name(session_id: str) -> str:
    return hash_of(session_id)[:32]


def _with_credential(scope: Scope, given: bytes) -> Scope:
    others = [(name, value) for name, value in scope["headers"] if name != _AUTHORIZATION]
    return {**scope, "headers": [*others, (_AUTHORIZATION, given)] if given else others}
