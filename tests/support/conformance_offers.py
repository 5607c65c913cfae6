"""What the scenarios of the conformance suite want a server to offer, added to any FastMCP.

The suite gives the names and the texts: `conformance list` and the descriptions of its scenarios.
"""

import asyncio
import base64
import json
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message
from fastmcp.tools import Tool
from mcp.types import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)

PAUSE_S = 0.05
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
IMAGE = ImageContent(type="image", data=PNG, mime_type="image/png")

# fmt: off
TEXT = {"type": "string"}
OPTIONS = {"type": "string", "enum": ["option1", "option2", "option3"]}
TITLED = [{"const": f"value{at}", "title": f"Choice {at}"} for at in (1, 2, 3)]
NAMES = {"username": TEXT, "email": TEXT}
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS = {
    "untitledSingle": OPTIONS,
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
    "untitledMulti": {"type": "array", "items": OPTIONS},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": TEXT, "city": TEXT}}},
    "properties": {"name": TEXT, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
# fmt: on


def add_offers(mcp: FastMCP) -> None:
    """Add all that the scenarios call for."""
    for add in (_add_tools, _add_speaking_tools, _add_asking_tools, _add_resources, _add_prompts):
        add(mcp)


def _add_tools(mcp: FastMCP) -> None:
    """Add the tools that only answer."""

    @mcp.tool(description="A text")
    def test_simple_text() -> str:
        return "This is a simple text response for testing."

    @mcp.tool(description="An image")
    def test_image_content() -> ImageContent:
        return IMAGE

    @mcp.tool(description="A sound")
    def test_audio_content() -> AudioContent:
        return AudioContent(type="audio", data=WAV, mime_type="audio/wav")

    @mcp.tool(description="A resource within the answer")
    def test_embedded_resource() -> list[ContentBlock]:
        text = "This is an embedded resource content."
        return [_embedded("test://embedded-resource", "text/plain", text)]

    @mcp.tool(description="Several kinds in one answer")
    def test_multiple_content_types() -> list[ContentBlock]:
        text = TextContent(type="text", text="Multiple content types test:")
        data = json.dumps({"test": "data", "value": 123})
        return [text, IMAGE, _embedded("test://mixed-content-resource", "application/json", data)]

    @mcp.tool(description="Fails")
    def test_error_handling() -> str:
        raise ToolError("This tool intentionally returns an error for testing")

    tool = Tool.from_function(
        lambda: "", name="json_schema_2020_12_tool", description="A schema of 2020-12"
    )
    tool.parameters = SCHEMA_2020_12
    mcp.add_tool(tool)


def _add_speaking_tools(mcp: FastMCP) -> None:
    """Add the tools that speak to the client before they answer."""

    @mcp.tool(description="Notes for the log of the client")
    async def test_tool_with_logging(context: Context) -> str:
        for note in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await context.info(note)
            await asyncio.sleep(PAUSE_S)
        return "Done"

    @mcp.tool(description="Progress")
    async def test_tool_with_progress(context: Context) -> str:
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
            await asyncio.sleep(PAUSE_S)
        return "Done"

    @mcp.tool(description="Closes the stream of its answer")
    async def test_reconnection(context: Context) -> str:
        await context.close_sse_stream()
        await asyncio.sleep(PAUSE_S)
        return "Done"


def _add_asking_tools(mcp: FastMCP) -> None:
    """Add the tools that ask the client before they answer."""

    @mcp.tool(description="A question to the client's model")
    async def test_sampling(prompt: str, context: Context) -> str:
        message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        answer = await context.session.create_message(
            [message], max_tokens=100, related_request_id=context.request_id
        )
        return f"LLM response: {answer.content}"

    @mcp.tool(description="A question to the user")
    async def test_elicitation(message: str, context: Context) -> str:
        return f"User response: {await _answer_of(context, message, NAMES, required=[*NAMES])}"

    @mcp.tool(description="A question with defaults")
    async def test_elicitation_sep1034_defaults(context: Context) -> str:
        return f"Elicitation completed: {await _answer_of(context, 'Defaults', DEFAULTS)}"

    @mcp.tool(description="A question with choices")
    async def test_elicitation_sep1330_enums(context: Context) -> str:
        return f"Elicitation completed: {await _answer_of(context, 'Choices', ENUMS)}"


async def _answer_of(
    context: Context, question: str, properties: dict[str, Any], **schema: Any
) -> str:
    answer = await context.session.elicit_form(
        question,
        {"type": "object", "properties": properties, **schema},
        related_request_id=context.request_id,
    )
    return f"action={answer.action}, content={json.dumps(answer.content)}"


def _add_resources(mcp: FastMCP) -> None:
    @mcp.resource("test://static-text", description="A text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @mcp.resource("test://static-binary", description="An image", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PNG)

    @mcp.resource("test://watched-resource", description="A text", mime_type="text/plain")
    def watched() -> str:
        return "Watched"

    @mcp.resource(
        "test://template/{id}/data", description="A template", mime_type="application/json"
    )
    def template(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(mcp: FastMCP) -> None:
    """Add the prompts, and what completes their arguments."""

    @mcp.prompt(description="A text")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @mcp.prompt(description="A text with arguments")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @mcp.prompt(description="A resource within the prompt")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:
        text = "Embedded resource content for testing."
        resource = Message(_embedded(resourceUri, "text/plain", text))
        return [resource, Message("Please process the embedded resource above.")]

    @mcp.prompt(description="An image within the prompt")
    def test_prompt_with_image() -> list[Message]:
        return [Message(IMAGE), Message("Please analyze the image above.")]

    mcp.add_completion_handler(lambda *_: ["paris", "park", "party"])


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)
