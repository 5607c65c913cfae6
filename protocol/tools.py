"""Offers functions as tools and prompts, and keeps FastMCP from what this server never needs."""

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from anyio.to_thread import current_default_thread_limiter
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.prompts import Prompt
from fastmcp.server.middleware import Middleware, MiddlewareContext
from fastmcp.tools import Tool
from fastmcp.utilities.versions import VersionSpec
from mcp.types import ToolAnnotations
from pydantic import ValidationError as ArgumentError

from protocol.arguments import argument_sentence
from protocol.call import language

WORKER_THREADS = 400

# Claude Code cuts a longer answer at some 50,000 characters unless the tool asks for more; ours are
# bounded by our own budget, which a user may raise.
LARGE_ANSWERS = {"anthropic/maxResultSizeChars": 500_000}

Answer = TypeVar("Answer", bound=Callable[..., str])


class SessionlessServer(FastMCP):
    """A server whose every client sees every tool and prompt.

    At each look-up the library asks a store of sessions what this client has hidden. Nothing here
    hides anything, and building that store takes longer than the answer to the first call.
    """

    def __init__(self, name: str, *, version: str, instructions: str) -> None:
        super().__init__(
            name,
            version=version,
            instructions=instructions,
            lifespan=_more_threads,
            mask_error_details=True,
        )
        self.add_middleware(_Listings(self))
        self.add_middleware(_ArgumentSentences(self))

    async def get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        """Return the tool of this name, as it is registered."""
        return await self.local_provider.get_tool(name, version)

    async def get_prompt(self, name: str, version: VersionSpec | None = None) -> Prompt | None:
        """Return the prompt of this name, as it is registered."""
        return await self.local_provider.get_prompt(name, version)

    def offer_tool(
        self, title: str, *, reads: bool, destroys: bool, repeats: bool
    ) -> Callable[[Answer], Answer]:
        """Offer a function as a tool; the three flags become the hints that clients act on.

        reads: it changes nothing. destroys: it may take away what was there. repeats: a second
        call with the same arguments changes nothing more.
        """

        def offer(function: Answer) -> Answer:
            with _without_docstring(function) as description:
                tool = Tool.from_function(
                    function,
                    description=description,
                    output_schema=None,  # else every answer travels twice
                    meta=LARGE_ANSWERS,
                    annotations=ToolAnnotations(
                        title=title,
                        read_only_hint=reads,
                        destructive_hint=destroys,
                        idempotent_hint=repeats,
                        open_world_hint=False,
                    ),
                )
            for schema in tool.parameters["properties"].values():
                if schema.get("default", "") is None:  # null would not be of the type shown
                    del schema["default"]
            self.add_tool(tool)
            return function

        return offer

    def offer_prompt(self, title: str) -> Callable[[Answer], Answer]:
        """Offer a function as a prompt."""

        def offer(function: Answer) -> Answer:
            with _without_docstring(function) as description:
                prompt = Prompt.from_function(function, title=title, description=description)
            self.add_prompt(prompt)
            return function

        return offer


@asynccontextmanager
async def _more_threads(_: FastMCP) -> AsyncIterator[None]:
    """Add threads: with the usual 40, that many saves behind a held lock would stop a search."""
    current_default_thread_limiter().total_tokens = WORKER_THREADS
    yield


@contextmanager
def _without_docstring(function: Callable[..., str]) -> Iterator[str | None]:
    """Yield the text a model reads of a function, which has no docstring while this lasts.

    In a docstring the library looks for sections on parameters. Ours have none, and the parser
    is a large package that nothing else needs.
    """
    docstring = function.__doc__
    function.__doc__ = None
    try:
        yield inspect.cleandoc(docstring) if docstring else None  # python -OO keeps no docstrings
    finally:
        function.__doc__ = docstring


class _Listings(Middleware):
    """Answers lists from what is registered; see `SessionlessServer`."""

    def __init__(self, server: FastMCP) -> None:
        self._offered = server.local_provider

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        """Return all tools."""
        return await self._offered.list_tools()

    async def on_list_resources(self, context: Any, call_next: Any) -> Any:
        """Return all resources."""
        return await self._offered.list_resources()

    async def on_list_resource_templates(self, context: Any, call_next: Any) -> Any:
        """Return all templates of resources."""
        return await self._offered.list_resource_templates()

    async def on_list_prompts(self, context: Any, call_next: Any) -> Any:
        """Return all prompts."""
        return await self._offered.list_prompts()


class _ArgumentSentences(Middleware):
    """Refuses arguments of the wrong kind with a sentence that never repeats their value."""

    def __init__(self, server: FastMCP) -> None:
        self._server = server

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Run the tool; a refused argument becomes our own sentence."""
        try:
            return await call_next(context)
        except ValidationError as error:
            cause = error.__cause__
            if not isinstance(cause, ArgumentError):
                raise
            name = context.message.name
            tool = await self._server.get_tool(name)
            known = list(tool.parameters["properties"]) if tool else []
            text = argument_sentence(cause, name, known, language())
            raise ToolError(text, log_level=logging.DEBUG) from error
