"""Bounds the requests of strangers: wrong secrets, size, time, number.

A right secret is let in at once, whatever others at its address have tried: an old key in one
client must not lock out an office, and nobody can lock out a team.
"""

import ipaddress
import logging
import math
import time
import traceback
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar

from anyio import fail_after
from mcp.types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.errors import SentinelError
from core.messages import say
from core.program import LOGGER
from protocol.call import tell_operator

PATH = "/mcp"
MOST_BYTES = 4 * 1024 * 1024  # of a call
MOST_FORM_BYTES = 16 * 1024  # of what strangers may send: forms, registrations
MOST_HELD_BYTES = 128 * 1024 * 1024  # of all requests of the process at a time
MOST_HEAD_BYTES = 32 * 1024
BODY_S, FORM_S = 20.0, 10.0  # in which a body must have arrived
RETRY = {"Retry-After": "2"}
WRONG_KEY = "wrong_key"  # in the scope of a request: whether its form had one
SAFE_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_MOST_ADDRESSES = 10_000  # remembered; the longest unseen goes
# A subscriber of IPv6 has a /64, and often a /56 or a /48: these may try that many times as often.
_NETWORKS = {64: 1, 56: 4, 48: 16}
_BODY_PATHS = (PATH, f"{PATH}/", "/message")  # taken behind the credential
_CLOSE = {"Connection": "close"}  # the rest of the request may still come
# Refusals for which the libraries have no sentence.
_PLAIN_KEYS = {400: "bad_json", 401: "needs_key", 403: "wrong_origin", 404: "no_page"}
_PLAIN_KEYS |= {405: "no_method", 406: "not_acceptable", 421: "wrong_host"}

_log = logging.getLogger(LOGGER)
_current_scope: ContextVar[Scope | None] = ContextVar("request", default=None)
NoteRequest = Callable[[Scope, int, float | None], None]  # status, seconds; None for a stream


class Allowance:
    """Allows a name `at_once` uses, then one every `every_s` seconds; for one thread.

    most: names that are remembered; a forgotten name begins anew.
    """

    def __init__(
        self,
        at_once: int,
        every_s: float,
        *,
        most: int = _MOST_ADDRESSES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._at_once, self._every_s, self._most, self._clock = at_once, every_s, most, clock
        self._full_at: OrderedDict[str, float] = OrderedDict()  # when the whole allowance is back

    def take(self, name: str) -> float:
        """Use one up and return 0, or return the seconds to wait."""
        now, factors = self._clock(), {name[:64]: 1}  # the networks, with factors of the allowance
        with suppress(ValueError):
            address = ipaddress.ip_address(name)
            address = getattr(address, "ipv4_mapped", None) or address
            factors = {str(address): 1}
            if address.version == 6:
                nets = [ipaddress.ip_network((address, bits), strict=False) for bits in _NETWORKS]
                factors = dict(zip(map(str, nets), _NETWORKS.values(), strict=True))
        starts = {network: max(self._full_at.get(network, now), now) for network in factors}
        full_at = {name: starts[name] + self._every_s / times for name, times in factors.items()}
        wait_s = max(full_at.values()) - now - self._at_once * self._every_s
        if wait_s > 0:
            return wait_s
        for network, moment in full_at.items():
            self._full_at[network] = moment
            self._full_at.move_to_end(network)
            if len(self._full_at) > self._most:
                self._full_at.popitem(last=False)
        return 0.0


class Refusal(Exception):
    """A request is not served. key, facts: of the sentence. id: of the refused message."""

    def __init__(
        self,
        status: int,
        key: str,
        headers: Mapping[str, str] = _CLOSE,
        *,
        id: object = None,
        **facts: str | int,
    ) -> None:
        super().__init__(key)
        self.status, self.key, self.headers, self.id, self.facts = status, key, headers, id, facts

    @property
    def sentence(self) -> str:
        return say(f"http.serving.{self.key}", **self.facts)

    def answer(self, path: str = "") -> Response:
        """Return the answer, at /mcp as an error of JSON-RPC, whose sentence clients show."""
        body: dict[str, object] = {"error": self.sentence}
        if path.rstrip("/") == PATH:
            is_id = isinstance(self.id, str | int) and not isinstance(self.id, bool)
            code = INVALID_REQUEST if self.status < 500 else INTERNAL_ERROR
            fault = {"code": code, "message": self.sentence}
            body = {"jsonrpc": "2.0", "id": self.id if is_id else None, "error": fault}
        return JSONResponse(body, self.status, headers=self.headers)


class Bodies:
    """Reads whole bodies; together they hold at most `MOST_HELD_BYTES`."""

    def __init__(self) -> None:
        self.held_bytes = 0

    @asynccontextmanager
    async def open_body(
        self, scope: Scope, receive: Receive, most: int, within_s: float
    ) -> AsyncIterator[bytes]:
        """Yield a body, counted until its request is served. Raises Refusal."""
        headers, body = Headers(scope=scope), bytearray()
        if headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise Refusal(415, "no_encoding")  # a few bytes could unfold to many
        if headers.get("content-type", "").lower().startswith("multipart/"):
            raise Refusal(415, "in_parts")  # it would name the codec by which it is read
        declared = headers.get("content-length", "")
        if declared.isdigit() and int(declared) > most:
            raise Refusal(413, "too_large", most=most)
        has_more = True
        try:
            try:
                with fail_after(within_s):
                    while has_more:
                        message = await receive()
                        piece = message.get("body", b"")
                        body += piece
                        self.held_bytes += len(piece)
                        if message["type"] != "http.request":
                            raise Refusal(400, "bad_http")  # the client has gone
                        if len(body) > most:
                            raise Refusal(413, "too_large", most=most)
                        if self.held_bytes > MOST_HELD_BYTES:
                            raise Refusal(503, "too_busy", {**RETRY, **_CLOSE})
                        has_more = bool(message.get("more_body"))
            except TimeoutError as error:
                raise Refusal(408, "too_slow", seconds=round(within_s)) from error
            yield bytes(body)
        finally:
            self.held_bytes -= len(body)


def with_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body first."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


class Guard:
    """The outermost application: bounds requests, counts wrong secrets, keeps answers safe."""

    def __init__(
        self,
        app: ASGIApp,
        bodies: Bodies,
        note_request: NoteRequest,
        tries: Allowance | None = None,  # of wrong secrets, by address
        with_current_url: Callable[[str], str] = str,  # puts the request's own address into a text
    ) -> None:
        self._app, self._bodies, self._note_request = app, bodies, note_request
        self.tries, self.with_current_url = tries, with_current_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer, started_at = _Answer(self, scope, send), time.monotonic()
        _current_scope.set(scope)  # each request is a task of its own
        try:
            head_bytes = sum(len(name) + len(value) for name, value in scope["headers"])
            if head_bytes + len(scope["raw_path"]) + len(scope["query_string"]) > MOST_HEAD_BYTES:
                raise Refusal(431, "large_head", most=MOST_HEAD_BYTES)
            if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
                raise Refusal(400, "two_lengths")  # a proxy may have believed the other
            if scope["path"] in _BODY_PATHS or scope["method"] in ("GET", "HEAD", "OPTIONS"):
                await self._app(scope, receive, answer.send)
            else:
                reading = self._bodies.open_body(scope, receive, MOST_FORM_BYTES, FORM_S)
                async with reading as body:
                    await self._app(scope, with_body(body, receive), answer.send)
        except Refusal as refusal:
            await refusal.answer(scope["path"])(scope, receive, answer.send)
        except Exception as error:
            log_error(error)
            if not answer.status:
                await Refusal(500, "failed").answer(scope["path"])(scope, receive, answer.send)
        finally:
            seconds = None if answer.is_stream else time.monotonic() - started_at
            self._note_request(scope, answer.status, seconds)


class _Answer:
    """Adds the safe headers, and a sentence to a bare refusal of a library."""

    def __init__(self, guard: Guard, scope: Scope, send: Send) -> None:
        self._guard, self._scope, self._send = guard, scope, send
        self.status, self.is_stream, self._is_replaced = 0, False, False

    async def send(self, message: Message) -> None:
        if self._is_replaced:
            return
        if message["type"] != "http.response.start":
            await self._send(message)
            return
        headers, self.status = MutableHeaders(raw=list(message["headers"])), message["status"]
        kind = headers.get("content-type", "text/plain")
        self.is_stream = kind.startswith("text/event-stream")
        key = _PLAIN_KEYS.get(self.status, "") if kind.startswith("text/plain") else ""
        has_secret = self._scope["path"] == "/token" or has_credential(self._scope)
        if self.status == 401 and has_credential(self._scope) and self._scope["path"] != "/token":
            key = "wrong_key"  # which a client shows
        tries = self._guard.tries if self.status == 401 and has_secret else None
        if tries and (wait_s := tries.take(address_of(self._scope))):
            self.status, key = 429, "too_many_tries"
            headers = MutableHeaders({"retry-after": str(math.ceil(wait_s))})
        if "www-authenticate" in headers:  # it names where to log in
            headers["www-authenticate"] = self._guard.with_current_url(headers["www-authenticate"])
        for name, value in SAFE_HEADERS.items():
            headers.setdefault(name, value)
        body, self._is_replaced = b"", bool(key)
        if key:
            body = bytes(Refusal(self.status, key).answer(self._scope["path"]).body)
            headers["content-type"] = "application/json"
            headers["content-length"] = str(len(body))
        await self._send({**message, "status": self.status, "headers": headers.raw})
        if key:
            await self._send({"type": "http.response.body", "body": body})


def current_host() -> str:
    """Return the Host of the current request in small letters, with its port."""
    headers = dict((_current_scope.get() or {}).get("headers", ()))
    return str(headers.get(b"host", b"").decode("latin-1").lower())


def address_of(scope: Scope) -> str:
    return str(scope["client"][0]) if scope.get("client") else ""


def has_credential(scope: Scope) -> bool:
    """Return whether there is a bearer, right or wrong."""
    return any(name == b"authorization" for name, _ in scope["headers"])


def log_error(error: Exception) -> None:
    """Log a SentinelError as its sentence, another error as class and place alone."""
    if isinstance(error, SentinelError):
        tell_operator(error)
    else:
        _log.error("%s", say("http.serving.failed_request", error=type(error).__name__))
        _log.error("%s", "".join(traceback.format_tb(error.__traceback__, limit=-3)))
