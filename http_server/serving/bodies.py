"""Takes the body of a request whole, within bounds of size, of time and of memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from anyio import fail_after
from starlette.types import Message, Receive, Scope

MOST_BYTES = 4 * 1024 * 1024  # of a call
MOST_FORM_BYTES = 64 * 1024  # of what strangers may send: forms, registrations
MOST_HELD_BYTES = 128 * 1024 * 1024  # of all requests of the process
WITHIN_S = 20.0


class BodyRefusal(Exception):
    """A body is not taken. status: of HTTP. key: of the sentence, facts: what it names."""

    def __init__(self, status: int, key: str, **facts: str | int) -> None:
        super().__init__(key)
        self.status, self.key, self.facts = status, key, facts


class Bodies:
    """Takes bodies; what all of them hold at a moment is bounded."""

    def __init__(self) -> None:
        self.held_bytes = 0

    @contextmanager
    def room(self) -> Iterator["Room"]:
        """Yield what a body is taken into; what it holds counts until the request is done."""
        room = Room(self)
        try:
            yield room
        finally:
            self.held_bytes -= room.bytes


class Room:
    """Holds one body. bytes: how many count."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies, self.bytes = bodies, 0

    async def body(
        self, scope: Scope, receive: Receive, most: int, *, within_s: float = WITHIN_S
    ) -> bytes:
        """Return the body once it is complete. most: how many bytes. Raises BodyRefusal."""
        named = {name: value for name, value in scope["headers"] if name.startswith(b"content-")}
        if named.get(b"content-encoding", b"identity").strip().lower() not in (b"", b"identity"):
            raise BodyRefusal(415, "no_encoding")
        declared = named.get(b"content-length", b"")
        if declared.isdigit() and (len(declared) > 12 or int(declared) > most):
            raise BodyRefusal(413, "too_large", most=most)
        try:
            with fail_after(within_s):
                return await self._read(receive, most)
        except TimeoutError as error:
            raise BodyRefusal(408, "too_slow", seconds=round(within_s)) from error

    async def _read(self, receive: Receive, most: int) -> bytes:
        pieces = bytearray()
        while True:
            message = await receive()
            piece = message.get("body", b"")
            self.bytes += len(piece)
            self._bodies.held_bytes += len(piece)
            if self.bytes > most:
                raise BodyRefusal(413, "too_large", most=most)
            if self._bodies.held_bytes > MOST_HELD_BYTES:
                raise BodyRefusal(503, "too_busy")
            pieces += piece
            if message["type"] != "http.request":
                raise BodyRefusal(400, "bad_json")  # nobody is there any more to read it
            if not message.get("more_body"):
                return bytes(pieces)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was taken to whoever asks next, and then what comes."""
    is_given = False

    async def again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
