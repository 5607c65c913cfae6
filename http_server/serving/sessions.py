"""Gives clients of the older protocol their sessions, and tells the tools who calls.

The protocol library serves each request by itself (stateless), so that any process can; a session
is a paper. A client of 2026-07-28 has none. https://modelcontextprotocol.io/specification
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from anyio.to_thread import run_sync
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.config import DEFAULT_AGENT
from core.messages import say
from http_server.access.tries import Allowance
from http_server.keys import Credential
from http_server.serving.answers import RETRY, note, of_failure, refusal, refused, rpc_error
from http_server.serving.bodies import MOST_BYTES, Bodies, BodyRefusal, replayed
from http_server.serving.book import Book, Session
from http_server.serving.streams import Streams
from http_server.wire.messages import (
    EVENTS,
    MessageRefusal,
    check_kinds,
    is_answer,
    listed,
    message_of,
)
from protocol.arguments import answerable
from protocol.call import Caller, calling

ID_HEADER, VERSION_HEADER = "mcp-session-id", "mcp-protocol-version"
WITH_SESSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "")
SESSIONS_AT_ONCE = 200  # that one credential begins; then one a second
MOST_CALLS = 256  # under way at a time; the threads of the tools are some more
METHODS = ["GET", "POST", "DELETE"]
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
NOBODY = Credential(agent=DEFAULT_AGENT, paper="", name="")  # of a server that is open


def credential_of(scope: Scope) -> Credential | None:
    """Return the credential of a request, None where it has none that is good."""
    user = scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return None
    claims = getattr(user.access_token, "claims", None) or {}
    facts = {name: str(claims.get(name, "")) for name in ("agent", "paper", "name")}
    return Credential(**facts) if facts["agent"] and facts["paper"] else None


class Sessions:
    """The application behind /mcp, which only credentials that are good get to.

    in_json, in_events: serve one message of the protocol, and answer in that form. is_open: whether
    callers need no credential.
    """

    def __init__(
        self,
        in_json: ASGIApp,
        in_events: ASGIApp,
        book: Book,
        streams: Streams,
        bodies: Bodies,
        *,
        is_open: bool,
        most_calls: int = MOST_CALLS,
    ) -> None:
        self._in_json, self._in_events = in_json, in_events
        self._book, self._streams, self._bodies = book, streams, bodies
        self._nobody = NOBODY if is_open else None
        self._beginning = Allowance(SESSIONS_AT_ONCE, 1.0)  # each is a row that lives for a while
        self._most_calls, self.calls = most_calls, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        who = credential_of(scope) or self._nobody
        if who is None:
            await refusal(401, "needs_key")(scope, receive, send)
        elif scope["method"] == "POST":
            await self._post(who, scope, receive, send)
        elif scope["method"] == "DELETE":
            await (await self._delete(who, Headers(scope=scope)))(scope, receive, send)
        elif answer := await self._stream(who, scope, receive, send):
            await answer(scope, receive, send)

    async def _post(self, who: Credential, scope: Scope, receive: Receive, send: Send) -> None:
        if self.calls >= self._most_calls:
            answer = rpc_error(503, say("http.serving.too_busy"), headers=RETRY)
            await answer(scope, receive, send)
            return
        with self._bodies.room() as room:
            try:
                body = answerable(await room.body(scope, receive, MOST_BYTES))
            except BodyRefusal as error:
                text = say(f"http.serving.{error.key}", **error.facts)
                close = {"Connection": "close"}  # the rest of the body may still come
                await rpc_error(error.status, text, headers=close)(scope, receive, send)
                return
            headers = Headers(scope=scope)
            try:
                check_kinds(headers.get("content-type", ""), headers.get("accept", ""))
                message = message_of(body)
            except MessageRefusal as error:
                await refused(error)(scope, receive, send)
                return
            self.calls += 1
            try:
                await self._call(who, message, scope, replayed(body, receive), send)
            finally:
                self.calls -= 1

    async def _call(
        self, who: Credential, message: dict[str, Any], scope: Scope, receive: Receive, send: Send
    ) -> None:
        headers = Headers(scope=scope)
        session_id, begins = headers.get(ID_HEADER), message.get("method") == "initialize"
        session, client = None, _client(message, begins=begins)
        is_older = headers.get(VERSION_HEADER, "") in WITH_SESSIONS
        if session_id is not None and is_older and not begins:
            session = await run_sync(self._book.use, session_id, who)
            if session is None:
                answer = rpc_error(404, say("http.serving.no_session"), of=message.get("id"))
                await answer(scope, receive, send)
                return
        name, client_name = (session.name, session.client) if session else ("", client["client"])
        if is_answer(message):
            await Response(status_code=202)(scope, receive, send)
            return
        if begins and is_older:
            if wait_s := self._beginning.take(who.paper):
                retry = {"Retry-After": str(ceil(wait_s))}
                text = say("http.serving.too_many_sessions")
                answer = rpc_error(429, text, of=message.get("id"), headers=retry)
                await answer(scope, receive, send)
                return
            send = _Greeting(send, self._book, who, client).send
        with calling(Caller(agent=who.agent, session=name, client=client_name)):
            app = self._in_events if _wants_events(message, headers) else self._in_json
            await app(scope, receive, send)

    async def _delete(self, who: Credential, headers: Headers) -> Response:
        session_id = headers.get(ID_HEADER, "")
        session = await run_sync(self._book.end, session_id, who) if session_id else None
        if session is None:
            return rpc_error(404, say("http.serving.no_session"))
        self._streams.end(session.name)
        return Response(status_code=204)

    async def _stream(
        self, who: Credential, scope: Scope, receive: Receive, send: Send
    ) -> Response | None:
        """Serve a stream; return an answer instead where there is none."""
        headers = Headers(scope=scope)
        session_id = headers.get(ID_HEADER, "")
        if scope["method"] != "GET" or not session_id:
            text, allowed = say("http.serving.no_stream"), {"Allow": "POST, DELETE"}
            return rpc_error(405, text, headers=allowed)
        accepted = headers.get("accept", "*/*")
        if not {EVENTS, "text/*", "*/*"} & listed(accepted):
            return rpc_error(406, say("http.serving.not_acceptable"))
        session = await run_sync(self._book.use, session_id, who)
        if session is None:
            return rpc_error(404, say("http.serving.no_session"))
        if not self._streams.has_place(session.name):
            return rpc_error(503, say("http.serving.too_busy"), headers=RETRY)

        async def is_alive() -> bool:
            return await self._used(session_id, who) is not None

        await self._streams.serve(session.name, receive, send, is_alive=is_alive)
        return None

    async def _used(self, session_id: str, who: Credential) -> Session | None:
        return await run_sync(self._book.use, session_id, who)


class _Greeting:
    """Holds the answer to `initialize` back until a session was begun for it, if it is one."""

    def __init__(self, send: Send, book: Book, who: Credential, client: Mapping[str, str]) -> None:
        self._send, self._book, self._who, self._client = send, book, who, client
        self._held: list[Message] = []

    async def send(self, message: Message) -> None:
        """Take one message of the answer; the last one sends all."""
        self._held.append(message)
        if message["type"] != "http.response.body" or message.get("more_body"):
            return
        start, *pieces = self._held
        result = _result(b"".join(it.get("body", b"") for it in pieces))
        if start["status"] == 200 and result is not None:
            client = {**self._client, "protocol": str(result.get("protocolVersion", ""))}
            try:
                session_id = await run_sync(self._book.begin, self._who, client)
            except Exception as error:
                note(error)
                scope: Scope = {"type": "http"}
                await of_failure(error)(scope, _nothing, self._send)
                return
            header = (ID_HEADER.encode(), session_id.encode())
            start = {**start, "headers": [*start["headers"], header]}
        for held in (start, *pieces):
            await self._send(held)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def _wants_events(message: Mapping[str, Any], headers: Headers) -> bool:
    """Return whether more than the answer may come: progress needs a stream of events."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    asked = isinstance(meta, dict) and "progressToken" in meta
    is_lasting = str(message.get("method", "")).startswith("subscriptions/")
    return (asked or is_lasting) and EVENTS in headers.get("accept", "")


def _client(message: Mapping[str, Any], *, begins: bool) -> dict[str, str]:
    """Return what a client says of itself, as far as it says it in the right form."""
    params = message.get("params")
    if not begins and isinstance(params, dict):
        params = params.get("_meta")
    given = params.get("clientInfo" if begins else _CLIENT_KEY) if isinstance(params, dict) else {}
    info = given if isinstance(given, dict) else {}
    return {"client": _text(info.get("name")), "version": _text(info.get("version"))}


def _text(value: object) -> str:
    return "".join(it for it in value[:80] if it.isprintable()) if isinstance(value, str) else ""


def _result(body: bytes) -> dict[str, Any] | None:
    """Return the result that an answer holds, as JSON or as the last event of a stream."""
    for line in reversed(body.splitlines()):
        try:
            message = message_of(line.removeprefix(b"data:"))
        except MessageRefusal:
            continue  # another line of an event
        if isinstance(message.get("result"), dict):
            return dict(message["result"])
    return None
