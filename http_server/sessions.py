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
from http_server.limits import BODY_S, MOST_BYTES, RETRY, Allowance, Bodies, Refusal, replayed
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
_OLDER = (*HANDSHAKE_PROTOCOL_VERSIONS, "")
_EVENTS = "text/event-stream"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_STREAM_ID = re.compile(rb"session_id=([0-9a-f]{32})")
OnEnd = Callable[[str, str], None]  # gets the agent and the name of a session that has ended


class Calls:
    """The application behind /mcp, for good credentials alone."""

    def __init__(
        self,
        in_json: ASGIApp,  # both serve one message
        in_events: ASGIApp,
        papers: Papers,
        bodies: Bodies,
        keys: Keys | None,  # None if none is needed
        on_end: OnEnd,  # called perhaps twice for a session
        *,
        ttl_s: float,  # unused for so long, a session is not counted
    ) -> None:
        self._in_json, self._in_events = in_json, in_events
        self._papers, self._seal, self._bodies = papers, Seal(papers), bodies
        self._keys, self._on_end, self._ttl_s = keys, on_end, ttl_s
        self._beginning = Allowance(SESSIONS_AT_ONCE, 1.0)
        self._used: OrderedDict[str, float] = OrderedDict()
        self._streams: dict[str, anyio.Event] = {}
        self.open_calls, self._is_over = 0, False

    @property
    def streams(self) -> int:
        return len(self._streams)

    @property
    def sessions(self) -> int:
        """How many were used here within `ttl_s`."""
        oldest = time.monotonic() - self._ttl_s
        while self._used and (next(iter(self._used.values())) < oldest):
            self._used.popitem(last=False)
        return len(self._used)

    def end_streams(self) -> None:
        """End all streams, and open no more."""
        self._is_over = True
        for event in self._streams.values():
            event.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = credential_of(scope) or (None if self._keys else NOBODY)
        if who is None:
            raise Refusal(401, "needs_key", {})
        if scope["method"] == "POST":
            await self._post(who, scope, receive, send)
            return
        headers = Headers(scope=scope)
        session_id = headers.get(ID_HEADER, "")
        if scope["method"] == "DELETE":
            name, _ = await self._session(who, session_id)
            await run_sync(self._on_end, who.agent, name)
            await run_sync(partial(self._papers.keep, "ended", name, SESSION_S, parent=who.paper))
            self._used.pop(name, None)
            if event := self._streams.pop(name, None):
                event.set()
            await Response(status_code=204)(scope, receive, send)
            return
        if scope["method"] != "GET" or not session_id:
            raise Refusal(405, "no_stream", {"Allow": "POST, DELETE"})
        accepted = headers.get("accept", "*/*").lower().split(",")
        if not {it.partition(";")[0].strip() for it in accepted} & {_EVENTS, "text/*", "*/*"}:
            raise Refusal(406, "not_acceptable", {})
        name, _ = await self._session(who, session_id)
        if self._is_over or len(self._streams) >= MOST_STREAMS:
            raise Refusal(503, "too_busy", RETRY)
        events = EventSourceResponse(self._signs_of_life(name, who), ping=3_600)
        await events(scope, receive, send)

    async def _session(self, who: Credential, sealed: str, of: object = None) -> tuple[str, str]:
        """Return a session's name in the rooms, and its client. Raises Refusal."""
        name = name_of(sealed)

        def found() -> Mapping[str, Any] | None:
            facts = self._seal.verify("session", sealed)
            return None if facts is None or self._papers.get("ended", name) else facts

        facts = await run_sync(found)
        if facts is None or facts["paper"] != who.paper:
            raise Refusal(404, "no_session", {}, of=of)
        self._count(name)
        return name, str(facts["client"])

    def _count(self, name: str) -> None:
        self._used[name] = time.monotonic()
        self._used.move_to_end(name)
        if len(self._used) > _MOST_COUNTED:
            self._used.popitem(last=False)

    async def _post(self, who: Credential, scope: Scope, receive: Receive, send: Send) -> None:
        if self.open_calls >= MOST_CALLS:
            raise Refusal(503, "too_busy", RETRY)
        async with self._bodies.taken(scope, receive, MOST_BYTES, BODY_S) as taken:
            body = without_surrogates(taken)
            self.open_calls += 1
            try:
                await self._call(who, body, scope, replayed(body, receive), send)
            finally:
                self.open_calls -= 1

    async def _call(
        self, who: Credential, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        message: Any = None  # of a body that the library will refuse
        with suppress(ValueError):
            message = from_json(body)
        message = message if isinstance(message, dict) else {}
        headers, name, client = Headers(scope=scope), "", ""
        params, begins = _object(message, "params"), message.get("method") == "initialize"
        meta = params if begins else _object(params, "_meta")
        info = _object(meta, "clientInfo" if begins else _CLIENT_KEY)
        if headers.get(VERSION_HEADER, "") in _OLDER:
            if begins:
                if wait_s := self._beginning.take(who.paper):
                    retry = {"Retry-After": str(ceil(wait_s))}
                    raise Refusal(429, "too_many_sessions", retry, of=message.get("id"))
                facts = {"paper": who.paper, "client": _printable(info.get("name"))}
                sealed = partial(self._seal.sign, "session", facts, lasts_s=SESSION_S)
                send = _with_session(await run_sync(sealed), send, self._count)
            elif ID_HEADER in headers:
                name, client = await self._session(who, headers[ID_HEADER], message.get("id"))
        # Progress needs a stream of events, and so does what a client listens to.
        is_lasting = str(message.get("method", "")).startswith("subscriptions/")
        wants_events = not begins and (is_lasting or "progressToken" in meta)
        takes_events = _EVENTS in headers.get("accept", "*/*").lower()
        app = self._in_events if wants_events and takes_events else self._in_json
        client = _printable(info.get("name")) or client
        with set_caller(Caller(agent=who.agent, session=name, client=client)):
            await app(scope, receive, send)

    async def _signs_of_life(self, name: str, who: Credential) -> AsyncIterator[dict[str, str]]:
        """Yield pings alone: answers travel with a POST."""
        if event := self._streams.pop(name, None):
            event.set()  # a client that lost its stream opens it again

        def is_alive() -> bool:
            is_known = self._keys is None or self._keys.find_credential(who.paper) is not None
            return is_known and self._papers.get("ended", name) is None

        over = self._streams[name] = anyio.Event()
        try:
            while not over.is_set() and await run_sync(is_alive):
                self._count(name)
                yield {"comment": "ping"}
                with anyio.move_on_after(PING_S):
                    await over.wait()
        finally:
            if self._streams.get(name) is over:
                del self._streams[name]


def _with_session(session_id: str, send: Send, count: Callable[[str], None]) -> Send:
    """Add the session id to a result of `initialize`."""
    held: list[Message] = []

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            held.append(message)
            return
        if held:
            start = held.pop()
            if start["status"] == 200 and b'"result":' in message.get("body", b""):
                header = (ID_HEADER.encode(), session_id.encode())
                start = {**start, "headers": [*start["headers"], header]}
                count(name_of(session_id))
            await send(start)
        await send(message)

    return sent


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
        query, opened = parse_qs(scope["query_string"].decode("latin-1")), list[str]()
        bearer = Headers(scope=scope).get("authorization", "").encode("latin-1")
        if scope["path"] == "/message":
            bearer = bearer or self._credentials.get(query.get("session_id", [""])[0], b"")
        elif not bearer and (key := query.get("accessKey", [""])[0]):
            bearer = b"Bearer " + key.encode("latin-1", "replace")
        headers = [header for header in scope["headers"] if header[0] != b"authorization"]
        headers += [(b"authorization", bearer)] if bearer else []
        kept = scope["query_string"] if scope["path"] == "/message" else b""  # a key is in no log
        scope = {**scope, "headers": headers, "query_string": kept}

        async def noting(message: Message) -> None:
            if not opened and (found := _STREAM_ID.search(message.get("body", b""))):
                opened.append(found[1].decode())
                self._credentials[opened[0]] = bearer
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            who = credential_of(scope) or NOBODY
            with anyio.CancelScope(shield=True):  # also where the client has gone
                for session_id in opened:
                    del self._credentials[session_id]
                    await run_sync(self._on_end, who.agent, name_of(session_id))


class LegacyCalls:
    """Tells the tools who calls over a stream of 2024."""

    def __init__(self, app: ASGIApp, bodies: Bodies) -> None:
        self._app, self._bodies = app, bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = credential_of(scope) or NOBODY
        if scope["path"] == "/sse":
            with set_caller(Caller(agent=who.agent)):
                await self._app(scope, receive, send)
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        session = name_of(query.get("session_id", [""])[0])
        async with self._bodies.taken(scope, receive, MOST_BYTES, BODY_S) as taken:
            with set_caller(Caller(agent=who.agent, session=session)):
                await self._app(scope, replayed(without_surrogates(taken), receive), send)


def legacy_routes(server: FastMCP, auth: AuthProvider | None, bodies: Bodies) -> list[Route]:
    """Return the routes of 2024, behind the credential if `auth` is set."""
    made = create_sse_app(server, message_path="/message", sse_path="/sse", auth=auth)
    found = list[Route]()
    for route in made.router.routes:
        if isinstance(route, Route | Mount) and route.path in ("/sse", "/message"):
            inner: Any = route.endpoint if isinstance(route, Route) else route.app
            if auth:
                inner.app = LegacyCalls(inner.app, bodies)
            method = "GET" if route.path == "/sse" else "POST"
            served = inner if auth else LegacyCalls(route.app, bodies)
            found.append(Route(route.path, served, methods=[method]))
    return found


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


def _object(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _printable(name: object) -> str:
    return "".join(it for it in name[:80] if it.isprintable()) if isinstance(name, str) else ""
