"""Offers functions as tools, resources and prompts of FastMCP."""

import inspect
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from anyio import CapacityLimiter
from anyio.to_thread import current_default_thread_limiter
from fastmcp import FastMCP
from fastmcp.exceptions import PromptError, ResourceError, ToolError, ValidationError
from fastmcp.prompts import Prompt
from fastmcp.resources import Resource, ResourceTemplate
from fastmcp.server.middleware import Middleware, MiddlewareContext
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.utilities.versions import VersionSpec
from mcp.types import TextContent, ToolAnnotations
from pydantic import ValidationError as ArgumentError

from core.config import read_settings
from core.messages import say
from core.text.plain import Budget
from protocol.arguments import text_of_refusal
from protocol.call import RequestError, with_sentences

if TYPE_CHECKING:  # a server starts faster without it
    from core.text.ranking import Entries

WORKER_THREADS = 400
MOST_CALLS = 360  # the others read requests and write answers, whatever the calls wait for
LEAST_PROMPT_TOKENS = 200
MOST_ARGUMENTS = 100  # more than any tool has: a call with more is refused for these
# Claude Code cuts a longer answer at some 50,000 characters unless the tool asks for more; ours are
# bounded by our own budget, which a user may raise.
LARGE_ANSWERS = {"anthropic/maxResultSizeChars": 500_000}


class RoomTool(NamedTuple):
    """A function to offer as a tool, with hints on which clients act."""

    function: Callable[..., str]
    title: str
    reads: bool  # it changes nothing
    repeats: bool  # a second call with the same arguments changes nothing more
    is_core: bool = False  # the work of a day needs it
    destroys: bool = False  # a removal may be for good; a record that leaves the log is kept
    shown_defaults: Mapping[str, object] = {}  # by argument, in the schema where it has None


class OfferedRoom(NamedTuple):
    """The functions of a room that is on."""

    gather: "Callable[[str], Entries]"  # entries on a question, for one list over all rooms
    prompt_lines: Callable[[str, Budget], list[str]]  # within a budget; for "" the most valuable
    end: Callable[[], None] = lambda: None  # at the end of the process


class SessionlessServer(FastMCP):
    """A server that shows every client everything. rooms: by name; a room that is on adds itself.

    The library (fastmcp 4.2.3) asks a store of sessions for hidden entries. There are none, and to
    build it takes half a second of the first list.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(
            name, lifespan=_add_threads, mask_error_details=True, middleware=[_Calls()], **options
        )
        self.rooms = dict[str, OfferedRoom]()

    async def list_tools(self, **_: Any) -> Sequence[Tool]:
        return await self.local_provider.list_tools()

    async def list_resources(self, **_: Any) -> Sequence[Resource]:
        return await self.local_provider.list_resources()

    async def list_resource_templates(self, **_: Any) -> Sequence[ResourceTemplate]:
        return await self.local_provider.list_resource_templates()

    async def list_prompts(self, **_: Any) -> Sequence[Prompt]:
        return await self.local_provider.list_prompts()

    async def get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        return await self.local_provider.get_tool(name, version)

    async def get_prompt(self, name: str, version: VersionSpec | None = None) -> Prompt | None:
        return await self.local_provider.get_prompt(name, version)

    def offer_tools(self, tools: Iterable[RoomTool], *, core_only: bool = False) -> None:
        """Offer tools. core_only: only tools for the work of a day."""
        for room_tool in tools:
            if core_only and not room_tool.is_core:
                continue
            tool = _TextTool.from_function(
                with_sentences(room_tool.function, ToolError),
                description=_description(room_tool.function),
                output_schema=None,  # else every answer travels twice
                meta=LARGE_ANSWERS,
                annotations=ToolAnnotations(
                    title=room_tool.title,
                    read_only_hint=room_tool.reads,
                    destructive_hint=room_tool.destroys,
                    idempotent_hint=room_tool.repeats,
                    open_world_hint=False,
                ),
            )
            # For a model there are no references, no null and no null defaults. What has the
            # default "" is required there, not in a call.
            schema: dict[str, Any] = _resolve(tool.parameters, tool.parameters.get("$defs", {}))
            required_names = list[str]()
            for name, argument in schema["properties"].items():
                if argument.get("default", "") == "":
                    required_names.append(name)
                if argument.get("default", "") in ("", None):
                    argument.pop("default", None)
                if name in room_tool.shown_defaults:
                    argument["default"] = room_tool.shown_defaults[name]
            tool.parameters = {**schema, "required": required_names} if required_names else schema
            self.add_tool(tool)

    def offer_resource(
        self, function: Callable[..., str], uri: str, *, name: str, title: str, mime_type: str
    ) -> None:
        """Offer a function as a resource, or as a template if `uri` holds its arguments."""
        text = _description(function)
        offer = self.resource(uri, name=name, title=title, description=text, mime_type=mime_type)
        offer(with_sentences(function, ResourceError))

    def offer_prompt(self, function: Callable[..., str], title: str) -> None:
        wrapper, text = with_sentences(function, PromptError), _description(function)
        self.add_prompt(Prompt.from_function(wrapper, title=title, description=text))


class _TextTool(FunctionTool):
    """A tool of text, which the library (fastmcp 4.2.3) would write as JSON and read again."""

    def convert_result(self, raw_value: Any) -> ToolResult:
        return ToolResult([TextContent(type="text", text=raw_value)])


@asynccontextmanager
async def _add_threads(_: FastMCP) -> AsyncIterator[None]:
    """Add threads: with the usual 40, that many waiting saves would stop a search."""
    current_default_thread_limiter().total_tokens = WORKER_THREADS
    yield


def _description(function: Callable[..., str]) -> str | None:
    """Return the docstring, paragraphs in one line, since line ends cost tokens; None with -OO."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs) or None


def _resolve(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Resolve the references of a schema, which form no circle, and drop null.

    For one that is left, the library loads a package with a web client: a twentieth of a start.
    """
    if isinstance(schema, list):
        return [_resolve(item, definitions) for item in schema if item != {"type": "null"}]
    if not isinstance(schema, dict):
        return schema
    fields = {key: _resolve(item, definitions) for key, item in schema.items() if key != "$defs"}
    if reference := fields.pop("$ref", ""):
        fields = {**_resolve(definitions[reference.rpartition("/")[2]], definitions), **fields}
    if len(fields.get("anyOf", ())) == 1:
        fields = {**fields.pop("anyOf")[0], **fields}
    return fields


class _Calls(Middleware):
    """Runs MOST_CALLS calls at once, and refuses wrong arguments without their values."""

    def __init__(self) -> None:
        self._turns = CapacityLimiter(MOST_CALLS)

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        arguments = list((context.message.arguments or {}).items())
        context.message.arguments = dict(arguments[:MOST_ARGUMENTS])
        try:
            async with self._turns:
                return await call_next(context)
        except ValidationError as error:
            if not isinstance(error.__cause__, ArgumentError) or context.fastmcp_context is None:
                raise
            name = context.message.name
            tool = await context.fastmcp_context.fastmcp.get_tool(name)
            text = text_of_refusal(error.__cause__, name, tool.parameters if tool else {})
            raise ToolError(text, log_level=logging.DEBUG) from error


def memory_lines(query: str, token_budget: str, rooms: Sequence[OfferedRoom]) -> str:
    """Return the rooms' lines on a question in one list, the most relevant first.

    Without a question the rooms share the budget. Raises RequestError, and errors of the rooms.
    """
    is_number = token_budget.isascii() and token_budget.isdigit() and len(token_budget) < 8
    if not is_number or int(token_budget) < LEAST_PROMPT_TOKENS:
        raise RequestError("bad_budget", least=LEAST_PROMPT_TOKENS)
    budget = Budget(int(token_budget), read_settings(os.environ).budget_chars)
    lines = list[str]()
    if query.strip() and len(rooms) > 1:
        from core.text.ranking import gather_all, rank_entries  # only this prompt needs it

        heading = say("protocol.prompt_one_list")
        budget.spend(heading)
        entries = rank_entries(query, gather_all([room.gather for room in rooms], query))
        lines = [line for entry in entries if budget.take(line := entry.labelled_line())]
        lines = [heading, *lines] if lines else []
    else:
        for i, room in enumerate(rooms):
            share = budget.split_off(1 / (len(rooms) - i))
            lines += room.prompt_lines(query, share)
            budget.add(share)
    return "\n".join(lines) or say("protocol.prompt_nothing")
