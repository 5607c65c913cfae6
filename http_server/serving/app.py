"""Puts the server together: what each request passes on its way to the rooms, and back."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import nan
from typing import Any
from urllib.parse import urlsplit

from anyio.to_thread import run_sync
from fastmcp import FastMCP
from fastmcp.server.auth.middleware import RequireAuthMiddleware
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from core.errors import SentinelError
from core.room.database import DatabaseError
from http_server.access.endpoints import Access, without_database
from http_server.access.watched import Watched
from http_server.papers import Papers
from http_server.serving.answers import of_failure, refusal
from http_server.serving.bodies import Bodies
from http_server.serving.book import Book
from http_server.serving.edge import Edge
from http_server.serving.options import Options
from http_server.serving.sessions import ID_HEADER, METHODS, Sessions, credential_of
from http_server.serving.sse import LegacyStreams, legacy_routes
from http_server.serving.streams import Streams
from http_server.serving.watching.health import Check, Health
from http_server.serving.watching.metrics import CONTENT_TYPE, CallCounter, Metrics
from http_server.wire.messages import Sentences

PATH = "/mcp"
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_METADATA = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, kw_only=True)
class Service:
    """What is served, and what the rooms do for it.

    tools: the names of all tools. auth: None where it is open. checks: by name, what /health
    looks at, each with what the details call it; optional: those without which the server works.
    gauges: figures of /metrics. on_session_end: ends the working memory of an agent's session,
    perhaps twice.
    """

    server: FastMCP
    version: str
    tools: frozenset[str]
    papers: Papers
    auth: Access | None
    on_session_end: Callable[[str, str], None] = lambda agent, session: None
    checks: Mapping[str, tuple[str, Check]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    gauges: Mapping[str, Callable[[], float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Served:
    """The application, and the parts of it that a process has to end."""

    app: ASGIApp
    book: Book
    streams: Streams
    sessions: Sessions


def assembled(service: Service, options: Options) -> Served:
    """Return the application for a service."""
    server, bodies, streams = service.server, Bodies(), Streams()
    server.auth = service.auth
    book = Book(service.papers, ttl_s=options.ttl_s, on_end=service.on_session_end)
    guard = _guard(options)
    app = server.http_app(path=PATH, stateless_http=True, json_response=True, **guard)
    streaming = server.http_app(path=PATH, stateless_http=True, **guard)
    inner, with_events = _at(app).endpoint, _at(streaming).endpoint
    both = _behind(inner), _behind(with_events)
    is_open = service.auth is None
    sessions = Sessions(*both, book, streams, bodies, is_open=is_open)
    if isinstance(inner, RequireAuthMiddleware):
        inner.app = sessions
    routes = app.router.routes
    routes[routes.index(_at(app))] = Route(PATH, sessions if is_open else inner, methods=METHODS)
    if options.with_sse:
        routes += legacy_routes(server, service.auth, bodies, service.on_session_end)
    routes += _metadata_alias(app)
    metrics = _metrics(service, book, sessions, streams, bodies)
    server.add_middleware(Sentences())
    routes += _pages(service, book, streams, metrics)
    app.router.lifespan_context = _both(app.router.lifespan_context, streaming.lifespan)
    app.router.redirect_slashes = False  # a redirect would name addresses to strangers
    app.add_exception_handler(Exception, _on_error)
    whole: ASGIApp = Watched(app, service.auth.tries) if service.auth else app
    if options.with_sse:
        whole = LegacyStreams(whole)
    if options.origins:
        exposed = [ID_HEADER, "WWW-Authenticate"]
        methods = [*METHODS, "OPTIONS"]
        whole = CORSMiddleware(
            whole, options.origins, methods, ["*"], expose_headers=exposed, max_age=600
        )
    return Served(app=Edge(whole, bodies, metrics), book=book, streams=streams, sessions=sessions)


def _guard(options: Options) -> dict[str, Any]:
    """Return what the library checks Host and Origin by: its own list has this machine."""
    named = urlsplit(options.url).hostname if options.url else None
    return {
        "host_origin_protection": True,
        "allowed_hosts": [named] if named else [],
        "allowed_origins": [*([options.url] if options.url else []), *options.origins],
    }


def _behind(endpoint: Any) -> ASGIApp:
    """Return what stands behind the check of credentials, if there is one."""
    is_checked = isinstance(endpoint, RequireAuthMiddleware)
    inner: ASGIApp = endpoint.app if is_checked else endpoint
    return inner


def _at(app: Starlette) -> Route:
    [found] = [it for it in app.router.routes if isinstance(it, Route) and it.path == PATH]
    return found


def _metadata_alias(app: Starlette) -> list[Route]:
    """Return the address without the path, where some clients look."""
    found = [it for it in app.router.routes if isinstance(it, Route)]
    return [
        Route(_METADATA, it.endpoint, methods=["GET", "OPTIONS"])
        for it in found
        if it.path == _METADATA + PATH
    ]


def _both(first: Any, second: Any) -> Any:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with first(app), second(app):
            yield

    return lifespan


def _metrics(
    service: Service, book: Book, sessions: Sessions, streams: Streams, bodies: Bodies
) -> Metrics | None:
    def count_sessions() -> float:
        try:
            return book.count()
        except DatabaseError:  # the other figures are worth reading all the more
            return nan

    own: dict[str, Callable[[], float]] = {
        "mcp_sessions": count_sessions,
        "mcp_streams": lambda: streams.count,
        "mcp_calls_under_way": lambda: sessions.calls,
        "http_held_body_bytes": lambda: bodies.held_bytes,
    }
    try:
        metrics = Metrics({**own, **service.gauges}, service.tools)
    except ImportError:
        return None
    service.server.add_middleware(CallCounter(metrics))
    return metrics


def _pages(service: Service, book: Book, streams: Streams, metrics: Metrics | None) -> list[Route]:
    health = Health(service.checks, service.optional)

    def is_let_in(request: Request) -> bool:
        return service.auth is None or credential_of(request.scope) is not None

    async def show_health(request: Request) -> Response:
        if "authorization" in request.headers and not is_let_in(request):
            return refusal(401, "needs_key", headers=_CHALLENGE)  # so that it counts as a try
        is_well, details = await run_sync(health.look)
        body: dict[str, Any] = {"status": "ok" if is_well else "failed"}
        if is_let_in(request):
            body |= {"version": service.version, "checks": details, "streams": streams.count}
            if details.get("papers", {}).get("status") == "ok":
                body["sessions"] = await run_sync(book.count)
        return JSONResponse(body, 200 if is_well else 503)

    async def show_metrics(request: Request) -> Response:
        if not is_let_in(request):
            return refusal(401, "needs_key", headers=_CHALLENGE)
        if metrics is None:
            return refusal(501, "no_metrics")
        return Response(await run_sync(metrics.text), media_type=CONTENT_TYPE)

    return [Route("/health", show_health), Route("/metrics", show_metrics)]


async def _on_error(request: Request, error: Exception) -> Response:
    login = without_database(request) if isinstance(error, SentinelError) else None
    return login or of_failure(error)
