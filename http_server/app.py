"""Puts the server together: middleware and routes, health, metrics."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import anyio
from anyio.to_thread import run_sync
from fastmcp import FastMCP
from fastmcp.exceptions import FastMCPError, NotFoundError
from fastmcp.server.middleware import Middleware, MiddlewareContext
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from core.errors import SentinelError, sentence_without_place
from http_server import sessions
from http_server.limits import PATH, RETRY, WRONG_KEY, Bodies, Guard, Refusal, has_credential
from http_server.login import Access, answer_without_database
from http_server.papers import Papers
from http_server.settings import Options
from protocol.call import tell_operator

CHECK_S, FRESH_S = 1.5, 1.0  # for all checks of /health; until an answer is renewed
_OPTIONAL = frozenset({"redis"})  # checks that may fail while the server works
_LEAST_GZIP_BYTES = 1_000
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_ROUTES = "/mcp /sse /message /health /metrics /authorize /token /register /revoke /consent".split()
_METHODS = (*sessions.METHODS, "OPTIONS", "HEAD")
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

Check = Callable[[], None]  # raises any error on a failure
Gauges = Mapping[str, Callable[[], float]]


@dataclass(frozen=True, kw_only=True)
class Service:
    """The server and its hooks."""

    server: FastMCP
    version: str
    tools: frozenset[str]  # the names of all
    papers: Papers
    auth: Access | None  # None for an open server
    on_session_end: sessions.OnEnd = lambda agent, session: None
    checks: Mapping[str, Check] = field(default_factory=dict)  # of /health, by name
    gauges: Gauges = field(default_factory=dict)  # of /metrics


def assemble(service: Service, options: Options) -> tuple[ASGIApp, sessions.Calls]:
    """Return the application, and the calls that a process ends; change `service.server`."""
    server, auth, bodies = service.server, service.auth, Bodies()
    server.auth = auth
    host = urlsplit(options.url).hostname if options.url else None
    protection: dict[str, Any] = {  # the library's own list has the names of this machine
        "host_origin_protection": True,
        "allowed_hosts": [host] if host else [],
        "allowed_origins": [*([options.url] if options.url else []), *options.origins],
    }
    # Two forms of the answer: progress needs events, and all else is cheaper as JSON.
    app = server.http_app(path=PATH, stateless_http=True, json_response=True, **protection)
    streaming_app = server.http_app(path=PATH, stateless_http=True, **protection)
    endpoints: list[Any] = [  # with `auth` each is the check of a bearer, before the application
        next(route.endpoint for route in routes if isinstance(route, Route) and route.path == PATH)
        for routes in (app.routes, streaming_app.routes)
    ]
    json_app, sse_app = (endpoint.app if auth else endpoint for endpoint in endpoints)
    keys, papers, on_end = auth.keys if auth else None, service.papers, service.on_session_end
    calls = sessions.Calls(json_app, sse_app, papers, bodies, keys, on_end, ttl_s=options.ttl_s)
    if auth:
        endpoints[0].app = calls
    endpoint = GZipMiddleware(endpoints[0] if auth else calls, minimum_size=_LEAST_GZIP_BYTES)
    metrics = _Metrics(service, calls, bodies)
    server.add_middleware(metrics)
    app.router.routes[:] = [
        *(route for route in app.router.routes if getattr(route, "path", "") != PATH),
        *(Route(path, endpoint, methods=sessions.METHODS) for path in (PATH, f"{PATH}/")),
        *(sessions.legacy_routes(server, auth, bodies) if options.with_sse else ()),
        Route("/health", _Health(service, calls).show),
        Route("/metrics", metrics.show),
    ]
    lifespan_of_json = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(web_app: Starlette) -> AsyncIterator[None]:
        async with lifespan_of_json(web_app), streaming_app.lifespan(web_app):
            yield

    app.router.lifespan_context = lifespan
    app.router.redirect_slashes = False  # a redirect would name addresses to strangers
    app.add_exception_handler(Exception, _on_error)
    app.add_exception_handler(Refusal, _on_refusal)
    site: ASGIApp = sessions.LegacyStreams(app, on_end) if options.with_sse else app
    if options.origins:
        cors: Any = {"expose_headers": [sessions.ID_HEADER, "WWW-Authenticate"], "max_age": 600}
        site = CORSMiddleware(site, options.origins, [*sessions.METHODS, "OPTIONS"], ["*"], **cors)
    guard_hooks = (auth.tries, auth.with_current_url) if auth else ()
    return Guard(site, bodies, metrics.note_request, *guard_hooks), calls


async def _on_error(request: Request, error: Exception) -> Response:
    """Answer 503 where the database is away, else 500."""
    if not isinstance(error, SentinelError):
        return Refusal(500, "failed").answer()  # no detail: the client may be a stranger
    if request.url.path == "/health":  # nobody can tell whose the key is
        return JSONResponse({"status": "failed"}, 503, headers=RETRY)
    refusal = Refusal(503, "no_storage", RETRY)
    return answer_without_database(request) or await _on_refusal(request, refusal)


async def _on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return error.answer(request.url.path)


class _Health:
    """Answers /health within two seconds; an answer holds for `FRESH_S` seconds."""

    def __init__(self, service: Service, calls: sessions.Calls) -> None:
        self._service, self._calls = service, calls
        self._threads = anyio.CapacityLimiter(2 * len(service.checks) or 1)  # some may hang
        self._turn = anyio.Lock()
        self._faults, self._asked_at = dict[str, str](), float("-inf")

    async def show(self, request: Request) -> Response:
        """Answer 200 or 503; a stranger gets the status alone."""
        service = self._service
        is_let_in = service.auth is None or sessions.credential_of(request.scope) is not None
        if has_credential(request.scope) and not is_let_in:
            return Refusal(401, "needs_key", _CHALLENGE).answer()  # so that it counts as a try
        async with self._turn:
            if time.monotonic() - self._asked_at > FRESH_S:
                await self._run_checks()
                self._asked_at = time.monotonic()
        faults = self._faults
        is_well = not any(faults[name] for name in faults.keys() - _OPTIONAL)
        body: dict[str, Any] = {"status": "ok" if is_well else "failed"}
        if is_let_in:
            checks = {
                name: {"status": "failed", "fault": fault} if fault else {"status": "ok"}
                for name, fault in faults.items()
            }
            body |= {"version": service.version, "checks": checks}
            body |= {"streams": self._calls.streams, "sessions": self._calls.sessions}
        return JSONResponse(body, 200 if is_well else 503)

    async def _run_checks(self) -> None:
        """Note faults by name, "" for none."""
        self._faults = faults = dict.fromkeys(self._service.checks, "no answer")

        async def run_check(name: str, check: Check) -> None:
            try:
                await run_sync(check, limiter=self._threads, abandon_on_cancel=True)
                faults[name] = ""
            except SentinelError as error:
                tell_operator(error)
                faults[name] = sentence_without_place(error)
            except Exception as error:
                faults[name] = type(error).__name__

        with anyio.move_on_after(CHECK_S):
            async with anyio.create_task_group() as tasks:
                for name, check in self._service.checks.items():
                    tasks.start_soon(run_check, name, check)


class _Metrics(Middleware):
    """Counts for Prometheus. No label is free text. Without `prometheus_client` it answers 501."""

    def __init__(self, service: Service, calls: sessions.Calls, bodies: Bodies) -> None:
        self._service, self._registry = service, None
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        except ImportError:
            return
        base: dict[str, Any] = {"registry": CollectorRegistry()}
        self._registry = base["registry"]
        requests = "Requests by route, method and status"
        self._requests = Counter("http_requests", requests, ("route", "method", "status"), **base)
        duration = "Seconds until an answer was complete; streams do not count"
        seconds = "http_request_duration_seconds"
        self._seconds = Histogram(seconds, duration, ("route",), buckets=_BUCKETS, **base)
        outcomes = "Calls by tool and outcome"
        self._tool_calls = Counter("mcp_tool_calls", outcomes, ("tool", "outcome"), **base)
        self._refusals = Counter("http_wrong_credentials", "Credentials that were refused", **base)
        self._rejections = Counter("http_rejected_tries", "Tries that came too often", **base)
        gauges: dict[str, Callable[[], float]] = {
            "mcp_sessions": lambda: calls.sessions,
            "mcp_streams": lambda: calls.streams,
            "mcp_calls_under_way": lambda: calls.open_calls,
            "http_held_body_bytes": lambda: bodies.held_bytes,
            **service.gauges,
        }
        for name, figure in gauges.items():
            Gauge(name, name.replace("_", " ").capitalize(), **base).set_function(figure)

    def note_request(self, scope: Scope, status: int, seconds: float | None) -> None:
        if self._registry is None:
            return
        path, method = scope["path"], scope["method"]
        other_route = "/.well-known" if path.startswith("/.well-known") else "other"
        route = path.rstrip("/") if path.rstrip("/") in _ROUTES else other_route
        labels = route, method if method in _METHODS else "other", str(status)
        self._requests.labels(*labels).inc()
        if seconds is not None:
            self._seconds.labels(route).observe(seconds)
        if scope.get(WRONG_KEY) or (status == 401 and has_credential(scope)):
            self._refusals.inc()
        if status == 429:
            self._rejections.inc()

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Count a call as answered, refused with a sentence, or failed."""
        outcome, name = "failed", context.message.name
        try:
            result = await call_next(context)
            outcome = "answered"
            return result
        except (FastMCPError, NotFoundError):  # no tool has the name
            outcome = "refused"
            raise
        finally:
            if self._registry is not None:
                tool = name if name in self._service.tools else "other"
                self._tool_calls.labels(tool, outcome).inc()

    async def show(self, request: Request) -> Response:
        if self._service.auth and not sessions.credential_of(request.scope):
            return Refusal(401, "needs_key", _CHALLENGE).answer()
        if self._registry is None:
            return Refusal(501, "no_metrics").answer()
        from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

        text = await run_sync(generate_latest, self._registry)
        return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)
