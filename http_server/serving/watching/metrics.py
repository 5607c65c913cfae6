"""Counts what the server does, in the form that Prometheus reads. https://prometheus.io

No label is free text: routes, methods, states and the names of our own tools are all there is.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from fastmcp.server.middleware import Middleware, MiddlewareContext

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ROUTES = frozenset(
    "/mcp /sse /message /health /metrics /authorize /token /register /revoke /consent".split()
)
_METHODS = ("GET", "POST", "DELETE", "OPTIONS", "HEAD")
_WELL_KNOWN, _OTHER = "/.well-known", "other"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

Gauges = Mapping[str, Callable[[], float]]


class Metrics:
    """The figures of this process. Raises ImportError where prometheus-client is missing.

    gauges: figures that are asked for when they are read, by their names.
    """

    def __init__(self, gauges: Gauges, tools: Collection[str]) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._registry, self._tools = CollectorRegistry(), tools
        own: dict[str, Any] = {"registry": self._registry}
        requests = "Requests by route, method and status"
        self._requests = Counter("http_requests", requests, ("route", "method", "status"), **own)
        took = "Seconds until an answer was complete; streams do not count"
        self._seconds = Histogram(
            "http_request_duration_seconds", took, ("route",), buckets=_BUCKETS, **own
        )
        calls = "Calls by tool and outcome"
        self._calls = Counter("mcp_tool_calls", calls, ("tool", "outcome"), **own)
        self._wrong = Counter("http_wrong_credentials", "Credentials that were refused", **own)
        self._rejected = Counter("http_rejected_tries", "Tries that came too often", **own)
        for name, ask in gauges.items():
            Gauge(name, name.replace("_", " ").capitalize(), **own).set_function(ask)

    def note_request(
        self, path: str, method: str, status: int, seconds: float | None, *, has_credential: bool
    ) -> None:
        """Count a request. seconds: None for a stream."""
        route = _route(path)
        self._requests.labels(route, method if method in _METHODS else _OTHER, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(route).observe(seconds)
        if status == 401 and has_credential:
            self._wrong.inc()
        if status == 429:
            self._rejected.inc()

    def note_call(self, tool: str, outcome: str) -> None:
        """Count a call of a tool."""
        self._calls.labels(tool if tool in self._tools else _OTHER, outcome).inc()

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)


class CallCounter(Middleware):
    """Counts the calls of tools: answered, refused with a sentence, or failed."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Run the tool."""
        from fastmcp.exceptions import FastMCPError

        outcome = "failed"
        try:
            result = await call_next(context)
            outcome = "answered"
            return result
        except FastMCPError:
            outcome = "refused"
            raise
        finally:
            self._metrics.note_call(context.message.name, outcome)


def _route(path: str) -> str:
    if path.startswith(_WELL_KNOWN):
        return _WELL_KNOWN
    return path if path in ROUTES else _OTHER
