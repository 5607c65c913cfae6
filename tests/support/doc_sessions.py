"""Plays the calls of the sessions' tools that a document shows, with the real server."""

import ast
import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.types import Implementation

from tests.support.stdio_client import ROOT

CLIENTS = "claude-code", "cursor-vscode"  # of the first conversation, and of the second


def call_of(block: str) -> tuple[str, str, dict[str, Any]]:
    """Return the text of the call with which a block begins, its tool and its arguments."""
    lines = block.splitlines()
    for end in range(1, len(lines) + 1):
        text = "\n".join(lines[:end])
        try:
            call = ast.parse(text, mode="eval").body
        except SyntaxError:
            continue
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        given = {it.arg: ast.literal_eval(it.value) for it in call.keywords if it.arg}
        return text, call.func.id, given
    raise AssertionError(f"no call: {block}")


def played(blocks: Iterable[str], project: Path, lang: str) -> list[str]:
    """Return each block with what the server answers today: the first to one client, the others
    to another."""
    (project / ".context").mkdir(parents=True)
    first, *others = blocks
    return [
        *asyncio.run(_conversation(CLIENTS[0], [first], project, lang)),
        *asyncio.run(_conversation(CLIENTS[1], others, project, lang)),
    ]


async def _conversation(name: str, blocks: list[str], project: Path, lang: str) -> list[str]:
    arguments = [str(ROOT / "server.py"), "--project", str(project)]
    transport = StdioTransport(
        command=str(ROOT / ".venv/bin/python"),
        args=[*arguments, "--rooms", "lessons,sessions"],
        env={**os.environ, "SENTINEL_MEMORY_LANG": lang},
    )
    answered = []
    async with Client(transport, client_info=Implementation(name=name, version="1")) as client:
        for block in blocks:
            text, tool, arguments_of_call = call_of(block)
            result = await client.call_tool(tool, arguments_of_call)
            said = "\n".join(part.text for part in result.content if part.type == "text")
            answered.append(f"{text}\n\n{said}\n")
    return answered
