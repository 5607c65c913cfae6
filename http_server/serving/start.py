"""Starts the server over HTTP: papers and keys, who is let in, and what /health looks at."""

import asyncio
import os
from collections.abc import Callable, Sequence
from types import MappingProxyType

from fastmcp import FastMCP

from core.messages import say
from core.program import CLI
from http_server.access.endpoints import Access
from http_server.papers_here import keys_of, papers_of
from http_server.serving.app import Service
from http_server.serving.options import Options, ServingError
from http_server.serving.process import run
from http_server.serving.watching.health import Check
from http_server.serving.watching.metrics import Gauges

# What /health calls them: an address is the operator's, and any key is shown the details.
_CALLED = {"papers": "papers", "engine": "fragments", "redis": "redis"}


def serve(
    server: FastMCP,
    version: str,
    options: Options,
    rooms: Sequence[str],
    *,
    engine: tuple[str, Check] | None,
    cache: tuple[str, Check] | None = None,
    on_session_end: Callable[[str, str], None] = lambda agent, session: None,
    gauges: Gauges = MappingProxyType({}),
) -> None:
    """Serve until a signal comes, and end the process. Raises SentinelError.

    engine: of the fragments, its name and a check of it, None where they are not served. cache: of
    the Redis beside them, without which the server works as well. The others: see `Service`.
    """
    papers = papers_of(os.environ)
    keys, entry = keys_of(os.environ, papers), "without_key" if options.is_open else "with_key"
    if not options.is_open and not keys.any():
        raise ServingError("no_key", cli=CLI)
    looked_at = {"papers": ("", papers.check), "engine": engine, "redis": cache}

    def service(url: str) -> Service:
        return Service(
            server=server,
            version=version,
            tools=_names(server),
            papers=papers,
            auth=None if options.is_open else Access(papers, keys, url=url),
            on_session_end=on_session_end,
            checks={name: (_CALLED[name], it[1]) for name, it in looked_at.items() if it},
            optional=frozenset({"redis"}),
            gauges=gauges,
        )

    def said(url: str) -> str:
        facts = {
            "url": f"{url}/mcp",
            "rooms": ", ".join(rooms),
            "entry": say(f"http.serving.{entry}"),
        }
        return say("http.serving.serving", engine=engine[0] if engine else "-", **facts)

    run(service, options, said=said, at_end=[papers.close])


def _names(server: FastMCP) -> frozenset[str]:
    return frozenset(tool.name for tool in asyncio.run(server.local_provider.list_tools()))
