"""Keeps the streams that clients of the older protocol open with GET.

Nothing is sent on them but signs of life: answers and progress travel in the answer to a POST.
"""

from collections.abc import Awaitable, Callable

import anyio
from starlette.types import Receive, Send

MOST_STREAMS = 1_000
PING_S = 15.0
_PING = b": ping\r\n\r\n"
_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # nginx would hold back what is sent
]


class Streams:
    """The streams of this process, at most one for each session."""

    def __init__(self) -> None:
        self._ends: dict[str, anyio.Event] = {}
        self._is_over = False

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._ends)

    def has_place(self, session: str) -> bool:
        """Return whether one more may be opened."""
        return not self._is_over and (session in self._ends or len(self._ends) < MOST_STREAMS)

    def end(self, session: str) -> None:
        """End the stream of a session."""
        if event := self._ends.pop(session, None):
            event.set()

    def end_all(self) -> None:
        """End all streams, and open no more."""
        self._is_over = True
        for session in list(self._ends):
            self.end(session)

    async def serve(
        self,
        session: str,
        receive: Receive,
        send: Send,
        *,
        is_alive: Callable[[], Awaitable[bool]],
    ) -> None:
        """Serve the stream of a session until that ends, or client or process go away.

        is_alive: asked before each sign of life; it notes that the session is in use.
        """
        self.end(session)  # a client that lost its stream opens it again
        over = self._ends[session] = anyio.Event()
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_wait_for_end, receive, over)
                while not over.is_set():
                    await send({"type": "http.response.body", "body": _PING, "more_body": True})
                    with anyio.move_on_after(PING_S):
                        await over.wait()
                    if not over.is_set() and not await is_alive():
                        break
                tasks.cancel_scope.cancel()
        finally:
            if self._ends.get(session) is over:
                del self._ends[session]
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_for_end(receive: Receive, over: anyio.Event) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    over.set()
