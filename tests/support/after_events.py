"""Makes what clients hand to a hook once a tool has run.

Claude Code, Codex, Gemini CLI and Copilot CLI have sent such payloads (tests/clients); those of
Cursor and VS Code follow their documents.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.client_events import Payload, claude, codex, copilot, cursor, gemini, vscode

OLD, NEW = "rate = 0.1\n", "rate = 0.2\nmore = 1\n"
# The clients by how they are told apart here: the name in the test, and that in `--client`.
CLIENTS: Mapping[str, str] = {
    "claude-code": "claude-code",
    "codex": "codex",
    "gemini": "gemini",
    "copilot": "vscode",
    "vscode": "vscode",
    "cursor": "cursor",
}


def conversation(client: str, given: Payload, name: str) -> Payload:
    """The same event in another conversation of the client."""
    key = {"copilot": "sessionId", "cursor": "conversation_id"}.get(client, "session_id")
    return {**given, key: name}


def ran(client: str, project: Path, command: str, code: int = 0, printed: str = "") -> Payload:
    """A command has run."""
    return _RAN[client](project, command, code, printed)


def _claude_ran(project: Path, command: str, code: int, printed: str) -> Payload:
    tool = {"tool_name": "Bash", "tool_input": {"command": command, "description": "x"}}
    if code:
        told = {"error": f"Exit code {code}\n{printed}", "is_interrupt": False}
        return claude("PostToolUseFailure", project, **tool, **told, tool_use_id="toolu_1")
    answer = {"stdout": printed, "stderr": "", "interrupted": False, "isImage": False}
    return claude("PostToolUse", project, **tool, tool_response=answer, tool_use_id="toolu_1")


def _codex_ran(project: Path, command: str, code: int, printed: str) -> Payload:
    tool = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "call_1"}
    return codex("PostToolUse", project, **tool, tool_response=printed)


def _gemini_ran(project: Path, command: str, code: int, printed: str) -> Payload:
    end = f"\nExit Code: {code}" if code else ""
    text = f"Output: {printed}{end}\nProcess Group PGID: 14278"
    answer = {
        "llmContent": f"<untrusted_context>\n{text}\n</untrusted_context>",
        "returnDisplay": printed,
    }
    tool = {"tool_name": "run_shell_command", "tool_input": {"command": command}}
    return gemini("AfterTool", project, **tool, tool_response=answer)


def _copilot_ran(project: Path, command: str, code: int, printed: str) -> Payload:
    text = f"{printed}\n<shellId: 1 completed with exit code {code}>"
    answer = {"resultType": "success", "textResultForLlm": text}
    tool = {"toolName": "bash", "toolArgs": {"command": command, "description": "x"}}
    return copilot(project, **tool, toolResult=answer)


def _vscode_ran(project: Path, command: str, code: int, printed: str) -> Payload:
    tool = {"tool_name": "run_in_terminal", "tool_input": {"command": command}}
    return vscode("PostToolUse", project, **tool, tool_use_id="1", tool_response=printed)


def _cursor_ran(project: Path, command: str, code: int, printed: str) -> Payload:
    tool = {"tool_name": "Shell", "tool_input": {"command": command}, "tool_use_id": "t1"}
    if code:
        told = {"error_message": printed, "failure_type": "error", "is_interrupt": False}
        return cursor("postToolUseFailure", project, **tool, **told)
    output = json.dumps({"output": printed, "exitCode": code})
    return cursor("postToolUse", project, **tool, tool_output=output, cwd="", duration=12)


_RAN: Mapping[str, Callable[[Path, str, int, str], Payload]] = {
    "claude-code": _claude_ran,
    "codex": _codex_ran,
    "gemini": _gemini_ran,
    "copilot": _copilot_ran,
    "vscode": _vscode_ran,
    "cursor": _cursor_ran,
}


def edited(client: str, project: Path, path: str = "src/refund.py") -> Payload:
    """A file has changed: one line is another one now, and one is new."""
    file = str(project / path)
    given: dict[str, Any] = {"file_path": file, "old_string": OLD, "new_string": NEW}
    if client == "claude-code":
        answer: Any = {"filePath": file, "originalFile": OLD, "userModified": False}
        tool = {"tool_name": "Edit", "tool_input": given, "tool_response": answer}
        return claude("PostToolUse", project, **tool)
    if client == "codex":
        lines = "@@\n-rate = 0.1\n+rate = 0.2\n+more = 1"
        patch = f"*** Begin Patch\n*** Update File: {path}\n{lines}\n*** End Patch\n"
        tool = {"tool_name": "apply_patch", "tool_input": {"command": patch}}
        return codex("PostToolUse", project, **tool, tool_response="Success.")
    if client == "gemini":
        answer = {"llmContent": "Successfully modified file", "returnDisplay": {"filePath": file}}
        tool = {"tool_name": "replace", "tool_input": given, "tool_response": answer}
        return gemini("AfterTool", project, **tool)
    if client == "copilot":
        arguments = {"path": file, "old_str": OLD, "new_str": NEW}
        answer = {"resultType": "success", "textResultForLlm": f"File {file} updated."}
        return copilot(project, toolName="edit", toolArgs=arguments, toolResult=answer)
    if client == "vscode":
        arguments = {"filePath": file, "oldString": OLD, "newString": NEW}
        tool = {"tool_name": "replace_string_in_file", "tool_input": arguments}
        return vscode("PostToolUse", project, **tool, tool_response="The file was edited.")
    tool = {"tool_name": "Write", "tool_input": given, "tool_output": "{}"}
    return cursor("postToolUse", project, **tool, cwd="")


def answered(client: str, project: Path, answer: str, goal: str = "Mend it") -> Payload:
    """`context_save` has answered."""
    given = {"goal": goal}
    content = {"content": [{"type": "text", "text": answer}], "isError": False}
    if client == "claude-code":
        tool = {"tool_name": "mcp__sentinel-memory__context_save", "tool_input": given}
        return claude("PostToolUse", project, **tool, tool_response=json.dumps({"result": answer}))
    if client == "codex":
        tool = {"tool_name": "mcp__sentinel_memory__context_save", "tool_input": given}
        return codex("PostToolUse", project, **tool, tool_response=content)
    if client == "gemini":
        fenced = [{"text": f"<untrusted_context>\n{answer}\n</untrusted_context>"}]
        tool = {"tool_name": "mcp_sentinel-memory_context_save", "tool_input": given}
        said = {"llmContent": fenced, "returnDisplay": answer}
        return gemini("AfterTool", project, **tool, tool_response=said)
    if client == "copilot":
        text = f"{answer}\n\n{json.dumps({'result': answer})}"
        said = {"resultType": "success", "textResultForLlm": text}
        tool = {"toolName": "sentinel-memory-context_save", "toolArgs": given}
        return copilot(project, **tool, toolResult=said)
    if client == "vscode":
        tool = {"tool_name": "mcp_sentinel-memor_context_save", "tool_input": given}
        return vscode("PostToolUse", project, **tool, tool_response=answer)
    tool = {"tool_name": "MCP:context_save", "tool_input": given}
    return cursor("postToolUse", project, **tool, tool_output=json.dumps(content), cwd="")
