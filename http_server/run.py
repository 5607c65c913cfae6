"""Runs the server in this process: socket, log, signals, connections."""

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from logging.handlers import TimedRotatingFileHandler
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, TextIO

import uvicorn
from fastmcp import FastMCP
from sse_starlette.sse import AppStatus
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.disk import reason_of
from core.errors import SentinelError
from core.messages import say
from core.program import CLI, LOGGER, SERVER_COMMAND, printable_fact
from http_server.access_keys import keys_of
from http_server.app import Check, Gauges, Service, assemble
from http_server.limits import MOST_HEAD_BYTES, SAFE_HEADERS, Refusal, log_error
from http_server.login import Access
from http_server.papers import papers_of
from http_server.sessions import Calls, OnEnd
from http_server.settings import Options, ServingError

GRACE_S, HEADERS_S = 10.0, 15.0  # for calls under way at the end; for a head
UNREAD_S = 20.0  # for which a client may leave an answer that waits: it holds a call of all
KEEP_ALIVE_S = 75  # longer than proxies keep a connection, so that the proxy ends it
MOST_CONNECTIONS, KEPT_DAYS = 4_000, 14
_SWEEP_S = 3_600.0
_OPEN_FILES, _BACKLOG = 8_192, 1_024
_IN_USE = (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE))
_FOREIGN_LOGGERS = ("fastmcp", "mcp", "uvicorn", "uvicorn.error")
_QUIET_LOGGERS = ("uvicorn.access", "httpx", "httpx2", "asyncio", "sse_starlette")

_log = logging.getLogger(LOGGER)


def serve(
    server: FastMCP,
    version: str,
    options: Options,
    rooms: Sequence[str],
    *,
    engine: str = "-",
    checks: Mapping[str, Check] = MappingProxyType({}),
    on_session_end: OnEnd = lambda agent, session: None,
    gauges: Gauges = MappingProxyType({}),
) -> None:
    """Serve until a signal comes, and end the process. Raises SentinelError before that.

    engine: name of the fragments' database, if they are served. The others: see `Service`.
    """
    papers = papers_of(os.environ)
    keys = keys_of(os.environ, papers)
    if not options.is_open and not keys.has_any():
        raise ServingError("no_key", cli=CLI)
    listener = listen(options)
    port = listener.getsockname()[1]
    host = f"[{options.host.strip('[]')}]" if ":" in options.host else options.host
    url = options.url or f"http://{host}:{port}"
    set_up_logs(options.log_directory, port)
    tools = asyncio.run(server.local_provider.list_tools())
    service = Service(
        server=server,
        version=version,
        tools=frozenset(tool.name for tool in tools),
        papers=papers,
        auth=None if options.is_open else Access(papers, keys, url=url),
        on_session_end=on_session_end,
        checks={"papers": papers.check, **checks},
        gauges=gauges,
    )
    app, calls = assemble(service, options)
    greeting = say(
        "http.serving.serving",
        url=f"{url}/mcp",
        rooms=", ".join(rooms),
        engine=engine,
        entry=say("http.serving.without_key" if options.is_open else "http.serving.with_key"),
    )
    _allow_many_files()
    AppStatus.enable_automatic_graceful_drain = False  # it would cut the answers that are under way
    threading.Thread(target=_sweep, args=(papers.sweep,), daemon=True).start()
    web_server = _Server(app, calls, options, greeting)
    try:
        web_server.run(sockets=[listener])
    finally:
        with suppress(SentinelError):
            papers.close()
        logging.shutdown()
    os._exit(0 if web_server.started else 1)  # no thread that hangs in a call holds the process up


def listen(options: Options) -> socket.socket:
    """Return the socket that listens. Raises ServingError."""
    host, port = options.host.strip("[]"), options.port
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = addresses[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        if error.errno not in _IN_USE:
            raise ServingError("bad_host", host=options.host, reason=reason_of(error)) from error
        facts: Any = {"host": options.host, "port": port, "other": port % 65_535 + 1}
        raise ServingError("port_taken", server=SERVER_COMMAND, **facts) from error


def set_up_logs(directory: str, port: int) -> None:
    """Log to standard error, and to a file for the port in a directory, "" for none."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if directory:
        handlers.append(open_daily_log(directory, port))
    for name in (None, *_FOREIGN_LOGGERS, *_QUIET_LOGGERS, LOGGER):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        # Else strangers could fill the disk: a line for each request, for each wrong key.
        logger.setLevel(logging.CRITICAL if name in _QUIET_LOGGERS else logging.ERROR)
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger(LOGGER).setLevel(logging.INFO)
    for handler in handlers:
        handler.setFormatter(_LineFormatter())
        logging.getLogger().addHandler(handler)


def open_daily_log(directory: str, port: int) -> logging.Handler:
    """Return the log file of a port, new each day. Raises ServingError."""
    path = Path(directory).expanduser() / f"sentinel-memory-{port}.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _DailyFile(path, when="midnight", utc=True, backupCount=KEPT_DAYS)
    except OSError as error:
        facts = {"path": printable_fact(path), "reason": reason_of(error)}
        raise ServingError("bad_log_dir", **facts) from error


class _LineFormatter(logging.Formatter):
    """Writes no secret and no text of anybody's: of foreign messages place and kind alone."""

    converter = time.gmtime  # type: ignore[assignment]  # as the library's documents say

    def format(self, record: logging.LogRecord) -> str:
        prefix = f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}Z {record.levelname.lower()}"
        if record.name == LOGGER:
            lines = record.getMessage().splitlines() or [""]
            return "\n".join(f"{prefix} {printable_fact(line)}" for line in lines)
        error_class = record.exc_info[0] if record.exc_info else None
        suffix = f" {error_class.__name__}" if error_class else ""
        return f"{prefix} {record.name} {os.path.basename(record.pathname)}:{record.lineno}{suffix}"


class _DailyFile(TimedRotatingFileHandler):
    """A new file each day, for its user alone."""

    def _open(self) -> TextIO:  # type: ignore[override]
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")


def _sweep(step: Callable[[], object]) -> None:
    while True:
        time.sleep(_SWEEP_S)
        try:
            step()
        except Exception as error:
            log_error(error)


class _Server(uvicorn.Server):
    """After a signal answers the calls under way and ends with 0; a second signal ends at once."""

    def __init__(self, app: ASGIApp, calls: Calls, options: Options, greeting: str) -> None:
        config = uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(options.url),
            limit_concurrency=MOST_CONNECTIONS,
            backlog=_BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=round(GRACE_S),
            h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        )
        super().__init__(config)
        self._calls, self._greeting = calls, greeting

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
        self._calls.end_streams()

        async def end_old_streams() -> None:
            while self._calls.open_calls:
                await asyncio.sleep(0.05)
            AppStatus.should_exit = True

        ending = asyncio.create_task(end_old_streams())
        await super().shutdown(sockets)
        ending.cancel()


def _allow_many_files() -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource  # which Windows lacks

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        file_limit = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
        if soft != resource.RLIM_INFINITY and soft < file_limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (file_limit, hard))


class Connection(H11Protocol):
    """Ends where a head does not come within `HEADERS_S`, or an answer is not read in `UNREAD_S`.

    uvicorn has no timer for them, and writes a second answer into an answer that has begun.
    """

    _timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle  # once an answer has waited

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Head and body of an answer are two packets: the second waits for no word of the client.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_timer = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread_timer.cancel()

    def send_400_response(self, msg: str) -> None:
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            answer = Refusal(400, "bad_http", {**SAFE_HEADERS, "connection": "close"}).answer()
            head = [b"%b: %b\r\n" % header for header in answer.raw_headers]
            lines = [b"HTTP/1.1 400 Bad Request\r\n", *head, b"\r\n", bytes(answer.body)]
            self.transport.write(b"".join(lines))
        self.transport.close()

    def _watch(self) -> None:
        """Run the timer, unless a request is served, or the connection rests or is over."""
        is_served = self.cycle is not None and not self.cycle.response_complete
        is_idle = self.timeout_keep_alive_task is not None  # its own timer ends it
        if is_served or is_idle or self.transport.is_closing():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADERS_S, self.transport.abort)
