"""Makes what clients hand to a hook on standard input, as their documents describe it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.cli_process import Run

Payload = dict[str, Any]


class Ran(Run):
    """One finished hook."""

    @property
    def said(self) -> Any:
        """The JSON on standard output; None for an empty answer. Nothing went wrong."""
        assert (self.code, self.errors) == (0, "")
        return json.loads(self.out) if self.out else None

    @property
    def text(self) -> str:
        """What reaches the model of Claude Code or Codex; "" for an empty answer."""
        said = self.said
        return str(said["hookSpecificOutput"]["additionalContext"]) if said else ""


def environment_of(state: Path, **variables: str) -> dict[str, str]:
    """Nearly nothing: a client that was started from a desktop hands over no more."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, "SENTINEL_MEMORY_STATE": str(state), **variables}


def run_hook(
    *words: str,
    given: Mapping[str, Any] | bytes,
    cwd: Path,
    environment: Mapping[str, str],
    options: tuple[str, ...] = (),
) -> Ran:
    """Start `cli.py hook` as a client does.

    It gets an interpreter of its own where that makes a difference: options, and variables that
    an interpreter reads when it starts.
    """
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    where: dict[str, Any] = {"cwd": cwd, "environment": environment, "given": data}
    if options or any(name.startswith(("PYTHON", "LC_")) for name in environment):
        return Ran.started("hook", *words, options=options, **where)
    return Ran.placed("hook", *words, **where)


def claude(event: str, project: Path, **more: Any) -> Payload:
    """Claude Code, code.claude.com/docs/en/hooks."""
    common = {
        "session_id": "5f3c9a1e",
        "transcript_path": "/home/dev/.claude/projects/shop/5f3c9a1e.jsonl",
        "cwd": str(project),
        "permission_mode": "default",
        "hook_event_name": event,
    }
    return {**common, **more}


def claude_edit(project: Path, path: str, new: str = "pass", **more: Any) -> Payload:
    """Claude Code is about to edit a file of the project."""
    given = {"file_path": str(project / path), "old_string": "", "new_string": new}
    tool = {"tool_name": "Edit", "tool_use_id": "toolu_01", "tool_input": given}
    return claude("PreToolUse", project, **tool, **more)


def cursor(event: str, project: Path, **more: Any) -> Payload:
    """Cursor, cursor.com/docs/hooks."""
    common = {
        "conversation_id": "c0ffee",
        "generation_id": "g1",
        "model": "composer-2.5",
        "hook_event_name": event,
        "cursor_version": "3.20.17",
        "workspace_roots": [str(project)],
        "user_email": "dev@example.invalid",
        "transcript_path": None,
    }
    return {**common, **more}


def cursor_edit(project: Path, path: str, content: str = "pass", **more: Any) -> Payload:
    """Cursor has written a file of the project."""
    given = {"file_path": str(project / path), "content": content}
    tool = {"tool_name": "Write", "tool_input": given, "tool_output": "{}", "tool_use_id": "t1"}
    return cursor("postToolUse", project, **tool, cwd="", duration=12, **more)


def vscode(event: str, project: Path, **more: Any) -> Payload:
    """VS Code's own agent, code.visualstudio.com, agent hooks reference."""
    common = {
        "timestamp": "2026-11-20T10:00:00.000Z",
        "cwd": str(project),
        "session_id": "vs-1",
        "hook_event_name": event,
        "transcript_path": "/home/dev/vs-1.json",
    }
    return {**common, **more}


def copilot(project: Path, **more: Any) -> Payload:
    """VS Code's agent host and Copilot CLI, docs.github.com, hooks reference."""
    return {"sessionId": "co-1", "timestamp": 1763632800000, "cwd": str(project), **more}


def codex(event: str, project: Path, **more: Any) -> Payload:
    """Codex CLI, learn.chatgpt.com/docs/hooks."""
    common = {
        "session_id": "cx-1",
        "transcript_path": None,
        "cwd": str(project),
        "hook_event_name": event,
        "model": "gpt-6",
        "permission_mode": "default",
    }
    return {**common, **more}


def codex_patch(project: Path, path: str, **more: Any) -> Payload:
    """Codex is about to patch a file, which it names from its working directory."""
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-pass\n+return 0\n*** End Patch\n"
    tool = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "turn_id": "1"}
    return codex("PreToolUse", project, **tool, **more)


def gemini(event: str, project: Path, **more: Any) -> Payload:
    """Gemini CLI, geminicli.com/docs/hooks."""
    common = {
        "session_id": "ge-1",
        "transcript_path": "/home/dev/.gemini/ge-1.json",
        "cwd": str(project),
        "hook_event_name": event,
        "timestamp": "2026-11-20T10:00:00Z",
    }
    return {**common, **more}
