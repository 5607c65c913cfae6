"""Runs the server in this process: listens, ends when told to, and leaves nothing half answered."""

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

import uvicorn
from sse_starlette.sse import AppStatus

from core.disk import reason_of
from core.errors import SentinelError
from core.messages import say
from core.program import LOGGER, SERVER_COMMAND
from http_server.serving.app import Served, Service, assembled
from http_server.serving.book import LOOK_S, SWEEP_S, Upkeep
from http_server.serving.edge import MOST_HEAD_BYTES
from http_server.serving.options import Options, ServingError, bracketed
from http_server.serving.watching.log_lines import say_in_lines
from http_server.wire.connection import Connection

GRACE_S = 10.0  # for what is under way at the end
KEEP_ALIVE_S = 75  # longer than proxies keep a connection, so that the proxy ends it
_WANTED_FILES = 8_192
_BACKLOG = 1_024

_log = logging.getLogger(LOGGER)


def run(
    service: Callable[[str], Service],
    options: Options,
    *,
    said: Callable[[str], str],
    at_end: Sequence[Callable[[], None]] = (),
) -> None:
    """Serve until a signal comes. Raises ServingError, SentinelError before anything is served.

    service: makes what is served, for the address that clients use. said: returns the line that
    people read at the start. at_end: what is let go of once everything is answered.
    """
    listening = listen(options)
    port = listening.getsockname()[1]
    url = options.url or f"http://{bracketed(options.host)}:{port}"
    try:
        say_in_lines(options.log_directory, port)
        served = assembled(service(url), options)
    except SentinelError:
        listening.close()
        raise
    _allow_many_files()
    AppStatus.enable_automatic_graceful_drain = False  # it would cut the answers that are under way
    upkeep = Upkeep({served.book.end_expired: _look_s(options), served.book.sweep: SWEEP_S})
    server = _Server(_config(served, options), served, said(url))
    upkeep.start()
    try:
        server.run(sockets=[listening])
    finally:
        upkeep.stop(1.0)
        for step in at_end:
            with suppress(SentinelError):
                step()
        logging.shutdown()
    sys.stderr.flush()
    os._exit(0 if server.started else 1)  # no thread that hangs in a call holds the process up


def listen(options: Options) -> socket.socket:
    """Return a socket that listens. Raises ServingError."""
    host = options.host.strip("[]")
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind)
    except OSError as error:
        raise ServingError("bad_host", host=options.host, reason=reason_of(error)) from error
    try:
        if os.name == "posix":  # elsewhere two processes could then share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno in _TAKEN:
            raise ServingError(
                "port_taken",
                port=options.port,
                host=options.host,
                other=options.port % 65_535 + 1,
                server=SERVER_COMMAND,
            ) from error
        raise ServingError("bad_host", host=options.host, reason=reason_of(error)) from error
    listening.set_inheritable(False)
    return listening


_TAKEN = (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE))


def _look_s(options: Options) -> float:
    return max(0.5, min(LOOK_S, options.ttl_s / 4))


def _config(served: Served, options: Options) -> uvicorn.Config:
    return uvicorn.Config(
        served.app,
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(options.url),
        backlog=_BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=round(GRACE_S),
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
    )


class _Server(uvicorn.Server):
    """Ends with 0 after a signal, once everything is answered; a second one ends it at once."""

    def __init__(self, config: uvicorn.Config, served: Served, greeting: str) -> None:
        super().__init__(config)
        self._served, self._greeting = served, greeting

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            os._exit(128 + sig)
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _log.info("%s", self._greeting)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        _log.info("%s", say("http.serving.ending"))
        self._served.streams.end_all()
        ending = asyncio.create_task(self._end_streams())
        await super().shutdown(sockets)
        ending.cancel()

    async def _end_streams(self) -> None:
        """End the streams of the oldest clients once no call is under way any more."""
        while self._served.sessions.calls:
            await asyncio.sleep(0.05)
        AppStatus.should_exit = True


def _allow_many_files() -> None:
    """Allow as many open connections as the system lets a process have, up to what is of use."""
    if os.name != "posix":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, _WANTED_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
