"""Offers functions as tools, resources and prompts, and spares what FastMCP needs not do."""

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import current_default_thread_limiter
from fastmcp import FastMCP
from fastmcp.exceptions import (
    NotFoundError,
    PromptError,
    ResourceError,
    ToolError,
    ValidationError,
)
from fastmcp.prompts import Prompt
from fastmcp.server.middleware import Middleware, MiddlewareContext
from fastmcp.tools import Tool
from fastmcp.utilities.versions import VersionSpec
from mcp import MCPError
from mcp.types import INVALID_PARAMS, ToolAnnotations
from pydantic import ValidationError as ArgumentError

from core.messages import say
from core.text.printable import one_line
from protocol.arguments import argument_sentence
from protocol.call import with_sentences

WORKER_THREADS = 400
MOST_CALLS = 360  # the others read requests and write answers, whatever the calls wait for

# Claude Code cuts a longer answer at some 50,000 characters unless the tool asks for more; ours are
# bounded by our own budget, which a user may raise.
LARGE_ANSWERS = {"anthropic/maxResultSizeChars": 500_000}

Answer = TypeVar("Answer", bound=Callable[..., str])


class RoomTool(NamedTuple):
    """A function that a room offers as a tool; see `SessionlessServer.offer_tool`.

    is_core: the work of a day needs it.
    """

    function: Callable[..., str]
    title: str
    reads: bool
    repeats: bool
    is_core: bool = False
    destroys: bool = False
    shown_defaults: Mapping[str, object] | None = None


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
        self._may_leave_out: dict[str, tuple[str, ...]] = {}
        self.add_middleware(_Listings(self))
        self.add_middleware(_ArgumentSentences(self, self._may_leave_out))
        self.add_middleware(_MissingOnes(self))

    async def get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        """Return the tool of this name, as it is registered."""
        return await self.local_provider.get_tool(name, version)

    async def get_prompt(self, name: str, version: VersionSpec | None = None) -> Prompt | None:
        """Return the prompt of this name, as it is registered."""
        return await self.local_provider.get_prompt(name, version)

    def offer_tool(
        self,
        title: str,
        *,
        reads: bool,
        repeats: bool,
        destroys: bool = False,
        may_leave_out: tuple[str, ...] = (),
        shown_defaults: Mapping[str, object] | None = None,
    ) -> Callable[[Answer], Answer]:
        """Offer a function as a tool; the two flags become the hints that clients act on.

        reads: it changes nothing. repeats: a second call with the same arguments changes nothing
        more. destroys: what it removes may be gone for good; what leaves the log is kept beside it.
        may_leave_out: required arguments that count as "" in a call without them. shown_defaults:
        by argument, what the schema shows where the function has None.
        """

        def offer(function: Answer) -> Answer:
            spoken = with_sentences(function, ToolError)
            with _without_docstring(spoken) as description:
                tool = Tool.from_function(
                    spoken,
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
            _simplify(tool, shown_defaults or {})
            self._may_leave_out[tool.name] = may_leave_out
            self.add_tool(tool)
            return function

        return offer

    def offer_tools(self, tools: Iterable[RoomTool], *, core_only: bool) -> None:
        """Offer the tools of a room. core_only: those that the work of a day needs."""
        for it in tools:
            if it.is_core or not core_only:
                offered = self.offer_tool(
                    it.title,
                    reads=it.reads,
                    repeats=it.repeats,
                    destroys=it.destroys,
                    shown_defaults=it.shown_defaults,
                )
                offered(it.function)

    def offer_resource(
        self, uri: str, *, name: str, title: str, mime_type: str
    ) -> Callable[[Answer], Answer]:
        """Offer a function as a resource, or as a template where `uri` holds its arguments."""

        def offer(function: Answer) -> Answer:
            spoken = with_sentences(function, ResourceError)
            with _without_docstring(spoken) as description:
                self.resource(
                    uri, name=name, title=title, description=description, mime_type=mime_type
                )(spoken)
            return function

        return offer

    def offer_prompt(self, title: str) -> Callable[[Answer], Answer]:
        """Offer a function as a prompt."""

        def offer(function: Answer) -> Answer:
            spoken = with_sentences(function, PromptError)
            with _without_docstring(spoken) as description:
                prompt = Prompt.from_function(spoken, title=title, description=description)
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

    A paragraph is one line: a model pays for each line end.

    In a docstring the library looks for sections on parameters. Ours have none, and the parser
    is a large package that nothing else needs.
    """
    docstring = function.__doc__
    function.__doc__ = None
    try:
        paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        yield text or None  # python -OO keeps no docstrings
    finally:
        function.__doc__ = docstring


def _inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema with each definition where it is referred to; ours never go in circles.

    Where one is left, the library does it for each list of tools, with a package that loads a
    client of the web for it: a twentieth of a start.
    """
    if isinstance(schema, list):
        return [_inlined(it, definitions) for it in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: _inlined(it, definitions) for key, it in schema.items() if key != "$defs"}
    if reference := inner.pop("$ref", ""):
        inner = {**_inlined(definitions[reference.rpartition("/")[2]], definitions), **inner}
    return inner


def _simplify(tool: Tool, shown: Mapping[str, object]) -> None:
    """Take references out of the schema, and null as a default, which is not of the type shown.

    shown: by argument, what stands there instead.
    """
    tool.parameters = _inlined(tool.parameters, tool.parameters.get("$defs", {}))
    for name, schema in tool.parameters["properties"].items():
        if name in shown:
            schema["default"] = shown[name]
        elif schema.get("default", "") is None:
            del schema["default"]


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

    def __init__(self, server: FastMCP, may_leave_out: Mapping[str, tuple[str, ...]]) -> None:
        self._server = server
        self._may_leave_out = may_leave_out
        self._turns = CapacityLimiter(MOST_CALLS)

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Run the tool; a refused argument becomes our own sentence."""
        given = context.message.arguments or {}
        empty = dict.fromkeys(self._may_leave_out.get(context.message.name, ()), "")
        if empty.keys() - given.keys():
            completed = context.message.model_copy(update={"arguments": {**empty, **given}})
            context = context.copy(message=completed)
        try:
            async with self._turns:
                return await call_next(context)
        except ValidationError as error:
            cause = error.__cause__
            if not isinstance(cause, ArgumentError):
                raise
            name = context.message.name
            tool = await self._server.get_tool(name)
            schema = tool.parameters if tool else {}
            text = argument_sentence(cause, name, schema)
            raise ToolError(text, log_level=logging.DEBUG) from error


class _MissingOnes(Middleware):
    """Refuses resources and prompts that do not exist, and arguments that a prompt does not have.

    The library's code for it stays, "invalid params"; its text repeats what was sent.
    """

    def __init__(self, server: FastMCP) -> None:
        self._server = server

    async def on_read_resource(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Read the resource."""
        try:
            return await super().on_read_resource(context, call_next)
        except NotFoundError as error:
            known = ", ".join(await self._resources())
            text = say(
                "protocol.no_such_resource" if known else "protocol.no_resources", known=known
            )
            data = {"uri": str(context.message.uri)}
            raise MCPError(code=INVALID_PARAMS, message=text, data=data) from error

    async def _resources(self) -> list[str]:
        """Return the addresses that can be read."""
        offered = self._server.local_provider
        resources, templates = (
            await offered.list_resources(),
            await offered.list_resource_templates(),
        )
        return [*(str(it.uri) for it in resources), *(it.uri_template for it in templates)]

    async def on_get_prompt(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        """Fill in the prompt."""
        name = context.message.name
        prompts = {
            prompt.name: prompt for prompt in await self._server.local_provider.list_prompts()
        }
        if name not in prompts:
            text = say("protocol.no_such_prompt", known=", ".join(prompts))
            raise MCPError(code=INVALID_PARAMS, message=text)
        known = [argument.name for argument in prompts[name].arguments or ()]
        strange = next((it for it in context.message.arguments or () if it not in known), None)
        if strange is not None:
            key = "unknown_prompt_argument" if known else "no_prompt_argument"
            facts = {"field": one_line(strange)[:40], "prompt": name, "known": ", ".join(known)}
            raise MCPError(code=INVALID_PARAMS, message=say(f"protocol.{key}", **facts))
        return await call_next(context)
