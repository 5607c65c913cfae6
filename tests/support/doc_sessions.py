"""Plays the calls of the rooms' tools that a document shows, with the real server."""

import ast
import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
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
    first, *others = blocks
    rooms, environment = "lessons,sessions", {"SENTINEL_MEMORY_LANG": lang}
    return [
        *conversation(CLIENTS[0], [first], project, rooms, environment),
        *conversation(CLIENTS[1], others, project, rooms, environment),
    ]


def conversation(
    client: str,
    blocks: Iterable[str],
    project: Path,
    rooms: str,
    environment: Mapping[str, str],
    ready: Callable[[str], str] = lambda block: block,
) -> list[str]:
    """Return each block of one conversation with what the server answers today.

    ready: makes the block that is played of the one that is shown, once those before are answered.
    """
    (project / ".context").mkdir(parents=True, exist_ok=True)
    transport = StdioTransport(
        command=str(ROOT / ".venv/bin/python"),
        args=[str(ROOT / "server.py"), "--project", str(project), "--rooms", rooms],
        env={**os.environ, **environment},
    )

    async def answered() -> list[str]:
        told = []
        async with Client(transport, client_info=Implementation(name=client, version="1")) as it:
            for block in blocks:
                text, tool, arguments = call_of(ready(block))
                result = await it.call_tool(tool, arguments)
                said = "\n".join(part.text for part in result.content if part.type == "text")
                told.append(f"{text}\n\n{said}\n")
        return told

    return asyncio.run(answered())
