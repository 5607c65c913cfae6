"""Tells the tools who calls, and gives clients of the older protocol their sessions.

The library serves each request by itself, so any process can, also after a restart. A session is an
id sealed for a key; only its end is kept here. Its data lies in the rooms, which also end an unused
session. A client of 2026-07-28 has none. https://modelcontextprotocol.io/specification
"""

import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from math import ceil
from typing import Any
from urllib.parse import parse_qs

import anyio
from anyio.to_thread import run_sync
from fastmcp import FastMCP
from fastmcp.server.auth import AuthProvider
from fastmcp.server.http import create_sse_app
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import from_json
from sse_starlette import EventSourceResponse
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.config import DEFAULT_AGENT
from http_server.access_keys import Credential, Keys
from http_server.grants import Seal
from http_server.limits import BODY_S, MOST_BYTES, RETRY, Allowance, Bodies, Refusal, with_body
from http_server.login import RESOURCE
from http_server.papers import Papers, hash_of
from protocol.arguments import without_surrogates
from protocol.call import Caller, set_caller

ID_HEADER, VERSION_HEADER = "mcp-session-id", "mcp-protocol-version"
METHODS = ["GET", "POST", "DELETE"]
SESSIONS_AT_ONCE = 200  # that one credential begins; then one a second
MOST_CALLS = 256  # under way at a time; the tools have more threads
MOST_STREAMS, PING_S = 1_000, 15.0
SESSION_S = 30 * 86_400.0  # after which an ended session is forgotten
NOBODY = Credential(agent=DEFAULT_AGENT, paper="", name="")  # of a server that is open
_MOST_COUNTED = 100_000
_OLDER_VERSIONS = (*HANDSHAKE_PROTOCOL_VERSIONS, "")
_EVENTS = "text/event-stream"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_STREAM_ID = re.compile(rb"session_id=([0-9a-f]{32})")
OnEnd = Callable[[str, str], None]  # gets the agent and the name of a session that has ended


class Calls:
    """The application behind /mcp, for good credentials alone."""

    def __init__(
        self,
        json_app: ASGIApp,  # both serve one message
        sse_app: ASGIApp,
        papers: Papers,
        bodies: Bodies,
        keys: Keys | None,  # None if none is needed
        on_end: OnEnd,  # called perhaps twice for a session
        *,
        ttl_s: float,  # unused for so long, a session is not counted
    ) -> None:
        self._json_app, self._sse_app = json_app, sse_app
        self._papers, self._seal, self._bodies = papers, Seal(papers), bodies
        self._keys, self._on_end, self._ttl_s = keys, on_end, ttl_s
        self._beginnings = Allowance(SESSIONS_AT_ONCE, 1.0)
        self._used_at: OrderedDict[str, float] = OrderedDict()
        self._streams: dict[str, anyio.Event] = {}
        self.open_calls, self._is_over = 0, False

    @property
    def streams(self) -> int:
        return len(self._streams)

    @property
    def sessions(self) -> int:
        """The number of sessions that were used here within `ttl_s`."""
        oldest = time.monotonic() - self._ttl_s
        while self._used_at and (next(iter(self._used_at.values())) < oldest):
            self._used_at.popitem(last=False)
        return len(self._used_at)

    def end_streams(self) -> None:
        """End all streams, and open no more."""
        self._is_over = True
        for event in self._streams.values():
            event.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        credential = credential_of(scope) or (None if self._keys else NOBODY)
        if credential is None:
            raise Refusal(401, "needs_key", {})
        if scope["method"] == "POST":
            if self.open_calls >= MOST_CALLS:
                raise Refusal(503, "too_busy", RETRY)
            async with self._bodies.open_body(scope, receive, MOST_BYTES, BODY_S) as data:
                body = without_surrogates(data)
                self.open_calls += 1
                try:
                    await self._call(credential, body, scope, with_body(body, receive), send)
                finally:
                    self.open_calls -= 1
            return
        headers = Headers(scope=scope)
        session_id = headers.get(ID_HEADER, "")
        if scope["method"] == "DELETE":
            name, _ = await self._resume(credential.paper, session_id)
            await run_sync(self._on_end, credential.agent, name)
            keep = partial(self._papers.keep, "ended", name, SESSION_S, parent=credential.paper)
            await run_sync(keep)
            self._used_at.pop(name, None)
            if event := self._streams.pop(name, None):
                event.set()
            await Response(status_code=204)(scope, receive, send)
            return
        if scope["method"] != "GET" or not session_id:
            raise Refusal(405, "no_stream", {"Allow": "POST, DELETE"})
        types = headers.get("accept", "*/*").lower().split(",")
        if not {part.partition(";")[0].strip() for part in types} & {_EVENTS, "text/*", "*/*"}:
            raise Refusal(406, "not_acceptable", {})
        name, _ = await self._resume(credential.paper, session_id)
        if self._is_over or len(self._streams) >= MOST_STREAMS:
            raise Refusal(503, "too_busy", RETRY)
        events = EventSourceResponse(self._yield_pings(name, credential.paper), ping=3_600)
        await events(scope, receive, send)

    async def _resume(self, paper: str, session_id: str, id: object = None) -> tuple[str, str]:
        """Return a session's name in the rooms and its client. id: of a message. Raises Refusal."""
        name = name_of(session_id)

        def read_facts() -> Mapping[str, Any] | None:
            facts = self._seal.verify("session", session_id)
            return None if facts is None or self._papers.get("ended", name) else facts

        facts = await run_sync(read_facts)
        if facts is None or facts["paper"] != paper:
            raise Refusal(404, "no_session", {}, id=id)
        self._count(name)
        return name, str(facts["client"])

    def _count(self, name: str) -> None:
        self._used_at[name] = time.monotonic()
        self._used_at.move_to_end(name)
        if len(self._used_at) > _MOST_COUNTED:
            self._used_at.popitem(last=False)

    async def _call(
        self, credential: Credential, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        message: Any = None  # of a body that the library will refuse
        with suppress(ValueError):
            message = from_json(body)
        message = message if isinstance(message, dict) else {}
        headers, name, client = Headers(scope=scope), "", ""
        params, is_first = _object_in(message, "params"), message.get("method") == "initialize"
        meta = params if is_first else _object_in(params, "_meta")
        info = _object_in(meta, "clientInfo" if is_first else _CLIENT_KEY)
        if headers.get(VERSION_HEADER, "") in _OLDER_VERSIONS:
            if is_first:
                if wait_s := self._beginnings.take(credential.paper):
                    retry = {"Retry-After": str(ceil(wait_s))}
                    raise Refusal(429, "too_many_sessions", retry, id=message.get("id"))
                facts = {"paper": credential.paper, "client": _printable_name(info.get("name"))}
                sign = partial(self._seal.sign, "session", facts, lasts_s=SESSION_S)
                send = _with_session(await run_sync(sign), send, self._count)
            elif ID_HEADER in headers:
                paper, id = credential.paper, message.get("id")
                name, client = await self._resume(paper, headers[ID_HEADER], id)
        # Progress needs a stream of events, and so does what a client listens to.
        is_lasting = str(message.get("method", "")).startswith("subscriptions/")
        wants_events = not is_first and (is_lasting or "progressToken" in meta)
        takes_events = _EVENTS in headers.get("accept", "*/*").lower()
        app = self._sse_app if wants_events and takes_events else self._json_app
        client = _printable_name(info.get("name")) or client
        with set_caller(Caller(agent=credential.agent, session=name, client=client)):
            await app(scope, receive, send)

    async def _yield_pings(self, name: str, paper: str) -> AsyncIterator[dict[str, str]]:
        """Yield pings alone: answers travel with a POST."""
        if event := self._streams.pop(name, None):
            event.set()  # a client that lost its stream opens it again

        def is_alive() -> bool:
            is_known = self._keys is None or self._keys.find_credential(paper) is not None
            return is_known and self._papers.get("ended", name) is None

        end_event = self._streams[name] = anyio.Event()
        try:
            while not end_event.is_set() and await run_sync(is_alive):
                self._count(name)
                yield {"comment": "ping"}
                with anyio.move_on_after(PING_S):
                    await end_event.wait()
        finally:
            if self._streams.get(name) is end_event:
                del self._streams[name]


def _with_session(session_id: str, send: Send, count: Callable[[str], None]) -> Send:
    """Add the session id to a result of `initialize`."""
    starts: list[Message] = []

    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            starts.append(message)
            return
        if starts:
            start = starts.pop()
            if start["status"] == 200 and b'"result":' in message.get("body", b""):
                header = (ID_HEADER.encode(), session_id.encode())
                start = {**start, "headers": [*start["headers"], header]}
                count(name_of(session_id))
            await send(start)
        await send(message)

    return send_with_id


class LegacyStreams:
    """Serves clients of 2024, who give their key once, in the address of /sse.

    A stream lives in the process that opened it and knows its key; its session ends with it.
    """

    def __init__(self, app: ASGIApp, on_end: OnEnd) -> None:
        self._app, self._on_end = app, on_end
        self._credentials: dict[str, bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in ("/sse", "/message"):
            await self._app(scope, receive, send)
            return
        query, session_ids = parse_qs(scope["query_string"].decode("latin-1")), list[str]()
        bearer = Headers(scope=scope).get("authorization", "").encode("latin-1")
        if scope["path"] == "/message":
            bearer = bearer or self._credentials.get(query.get("session_id", [""])[0], b"")
        elif not bearer and (key := query.get("accessKey", [""])[0]):
            bearer = b"Bearer " + key.encode("latin-1", "replace")
        headers = [header for header in scope["headers"] if header[0] != b"authorization"]
        headers += [(b"authorization", bearer)] if bearer else []
        query_string = scope["query_string"] if scope["path"] == "/message" else b""
        scope = {**scope, "headers": headers, "query_string": query_string}  # a key is in no log

        async def send_and_note(message: Message) -> None:
            if not session_ids and (match := _STREAM_ID.search(message.get("body", b""))):
                session_ids.append(match[1].decode())
                self._credentials[session_ids[0]] = bearer
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            credential = credential_of(scope) or NOBODY
            with anyio.CancelScope(shield=True):  # also where the client has gone
                for session_id in session_ids:
                    del self._credentials[session_id]
                    await run_sync(self._on_end, credential.agent, name_of(session_id))


class LegacyCalls:
    """Tells the tools who calls over a stream of 2024."""

    def __init__(self, app: ASGIApp, bodies: Bodies) -> None:
        self._app, self._bodies = app, bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        credential = credential_of(scope) or NOBODY
        if scope["path"] == "/sse":
            with set_caller(Caller(agent=credential.agent)):
                await self._app(scope, receive, send)
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        session = name_of(query.get("session_id", [""])[0])
        async with self._bodies.open_body(scope, receive, MOST_BYTES, BODY_S) as data:
            with set_caller(Caller(agent=credential.agent, session=session)):
                await self._app(scope, with_body(without_surrogates(data), receive), send)


def legacy_routes(server: FastMCP, auth: AuthProvider | None, bodies: Bodies) -> list[Route]:
    """Return the routes of 2024, behind the credential if `auth` is set."""
    app = create_sse_app(server, message_path="/message", sse_path="/sse", auth=auth)
    routes = list[Route]()
    for route in app.router.routes:
        if isinstance(route, Route | Mount) and route.path in ("/sse", "/message"):
            handler: Any = route.endpoint if isinstance(route, Route) else route.app
            if auth:
                handler.app = LegacyCalls(handler.app, bodies)
            method = "GET" if route.path == "/sse" else "POST"
            endpoint = handler if auth else LegacyCalls(route.app, bodies)
            routes.append(Route(route.path, endpoint, methods=[method]))
        elif isinstance(route, Route) and route.path == f"{RESOURCE}/sse":
            routes.append(route)
    return routes


def credential_of(scope: Scope) -> Credential | None:
    user = scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return None
    claims = getattr(user.access_token, "claims", None) or {}
    facts = {name: str(claims.get(name, "")) for name in ("agent", "paper", "name")}
    return Credential(**facts) if facts["agent"] and facts["paper"] else None


def name_of(session_id: str) -> str:
    """Return the session's name in the rooms, which opens nothing as its id does."""
    return hash_of(session_id)[:32]


def _object_in(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _printable_name(name: object) -> str:
    return "".join(filter(str.isprintable, name[:80])) if isinstance(name, str) else ""
