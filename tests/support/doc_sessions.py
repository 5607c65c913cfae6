"""Plays the calls of the rooms' tools that a document shows, with the real server."""

import ast
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.stdio_client import ServerProcess

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
    told = []
    with ServerProcess(
        *("--project", str(project), "--rooms", rooms),
        cwd=project,
        stderr_path=project.with_name(f"{project.name} {client}.txt"),
        environment=environment,
        client=client,
    ) as server:
        for block in blocks:
            text, tool, arguments = call_of(ready(block))
            answer = server.request("tools/call", {"name": tool, "arguments": arguments})
            parts = answer["result"]["content"]
            said = "\n".join(part["text"] for part in parts if part["type"] == "text")
            told.append(f"{text}\n\n{said}\n")
        assert server.close() == 0
    return told
