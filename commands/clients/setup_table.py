"""What setup puts into a project for each client: the server's entry and the hooks.

The forms are those that the clients document; where two of them read the same file, the form is
one that both understand. A hook stands at events that can add to what a model reads; the end of a
turn is one only where the client lets it pass without a new turn, or bounds those.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from commands.clients.events import EVENTS
from commands.clients.table import CLIENTS, Client

ENTRY = "sentinel-memory"
TIMEOUT_S = 10
Shell = Literal["powershell", "cmd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What starts this program: an interpreter, or uv and `run`; and its two scripts."""

    runner: tuple[str, ...]
    server: str
    cli: str
    windows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """When a client calls us. name: the client's event. ours: the one of `cli.py hook`.

    matcher: for which tools; "" for all, or where the client has no such choice.
    """

    name: str
    ours: str
    matcher: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The hooks of a client: their file in the project, their form and their events.

    grouped: whether a handler stands in a group with the matcher, or holds the matcher itself.
    version: whether the file says `"version": 1`. named: whether a line names the project, where
    the client tells its hooks no more than a working directory.
    """

    file: str
    grouped: bool
    version: bool = False
    named: bool = False
    handler: Callable[[Sequence[str], bool], dict[str, Any]]
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A client that can be set up. key: its name on the command line. client: where entries stand.

    project: how the entry names the project: `${workspaceFolder}`, "" for not at all, else None
    for the path itself. first, last: keys of a new entry around the command.
    commands, traces: what shows that the client is here: programs, and files by directory.
    """

    key: str
    client: Client
    project: str | None = None
    first: tuple[tuple[str, Any], ...] = ()
    last: tuple[tuple[str, Any], ...] = ()
    hooks: Hooks | None = None
    commands: tuple[str, ...] = ()
    traces: tuple[tuple[str, str], ...]

    def entry(self, installation: Installation, root: str) -> dict[str, Any]:
        """The entry that starts the server for the project `root`."""
        command, *before = installation.runner
        project = root if self.project is None else self.project
        named = ["--project", project] if project else []
        started = {"command": command, "args": [*before, installation.server, *named]}
        return {**dict(self.first), **started, **dict(self.last)}


# The command line of a hook. Configurations are read by other clients than their own as well, and
# not all of them know a form with a list of arguments: it is a line for a shell. Such a line
# outlives what it starts: an interpreter that is gone, a checkout that has moved or is an old one
# must not fail with a status that a client takes for a veto of its tool call.

_ENDS = {"powershell": "; exit 0", "cmd": " & exit /b 0"}


def hook_line(words: Sequence[str], *, windows: bool, shell: Shell) -> str:
    """The words as a line that always ends with status 0, whatever is left of what it starts."""
    end = _ENDS[shell] if windows else " || :"
    return command_line(words, windows=windows, shell=shell) + end


def command_line(words: Sequence[str], *, windows: bool, shell: Shell) -> str:
    """The words as a line for a shell of the system; `shell` is the one of Windows."""
    if not windows:
        return shlex.join(words)
    if all(re.fullmatch(r"[\w.:/+=-]+", word) for word in words):
        return " ".join(words)
    if shell == "powershell":
        return "& " + " ".join("'" + word.replace("'", "''") + "'" for word in words)
    # A line that begins with a quote would lose its outermost quotes in cmd.
    return "call " + " ".join(f'"{word}"' for word in words)


def _claude(words: Sequence[str], windows: bool) -> dict[str, Any]:
    line = hook_line(words, windows=windows, shell="powershell")
    shell = {"shell": "powershell"} if windows else {}  # else Git Bash, where that is installed
    return {"type": "command", "command": line, **shell, "timeout": TIMEOUT_S}


def _cursor(words: Sequence[str], windows: bool) -> dict[str, Any]:
    return {
        "command": hook_line(words, windows=windows, shell="powershell"),
        "timeout": TIMEOUT_S,
    }


def _copilot(words: Sequence[str], windows: bool) -> dict[str, Any]:
    line = hook_line(words, windows=windows, shell="powershell")
    key = "powershell" if windows else "bash"
    return {"type": "command", key: line, "timeoutSec": TIMEOUT_S}


def _codex(words: Sequence[str], windows: bool) -> dict[str, Any]:
    line = hook_line(words, windows=windows, shell="cmd")
    return {"type": "command", "command": line, "timeout": TIMEOUT_S}


def _gemini(words: Sequence[str], windows: bool) -> dict[str, Any]:
    line = hook_line(words, windows=windows, shell="powershell")
    name = f"{ENTRY}-{next(word for word in words if word in EVENTS)}"
    return {"name": name, "type": "command", "command": line, "timeout": TIMEOUT_S * 1000}


def _client(name: str) -> Client:
    return next(client for client in CLIENTS if client.name == name)


TARGETS = (
    Target(
        key="cursor",
        client=_client("Cursor"),
        project="${workspaceFolder}",
        hooks=Hooks(  # cursor.com/docs/hooks; only after a tool is context part of the format
            file=".cursor/hooks.json",
            grouped=False,
            version=True,
            handler=_cursor,
            events=(
                Event(name="sessionStart", ours="session-start"),
                Event(name="postToolUse", ours="before-action", matcher="Write|Delete|Shell"),
                Event(name="stop", ours="stop"),
            ),
        ),
        commands=("cursor", "cursor-agent"),
        traces=(("root", ".cursor"), ("home", ".cursor")),
    ),
    Target(
        key="claude-code",
        client=_client("Claude Code"),
        project="",
        first=(("type", "stdio"),),
        hooks=Hooks(  # code.claude.com/docs/en/hooks
            file=".claude/settings.json",
            grouped=True,
            handler=_claude,
            events=(
                Event(name="SessionStart", ours="session-start"),
                Event(name="SubagentStart", ours="session-start"),
                Event(name="UserPromptSubmit", ours="prompt"),
                Event(
                    name="PreToolUse",
                    ours="before-action",
                    matcher="Edit|Write|NotebookEdit|Bash|PowerShell",
                ),
                Event(name="Stop", ours="stop"),
            ),
        ),
        commands=("claude",),
        traces=(("root", ".claude"), ("root", ".mcp.json"), ("home", ".claude")),
    ),
    Target(
        key="claude-desktop",
        client=_client("Claude Desktop"),
        traces=(("config", "Claude"), ("packages", "Claude_*")),
    ),
    Target(
        key="vscode",
        client=_client("VS Code"),
        project="${workspaceFolder}",
        first=(("type", "stdio"),),
        hooks=Hooks(  # docs.github.com, "Hooks reference"; a failing preToolUse would deny the tool
            file=".github/hooks/sentinel-memory.json",
            grouped=False,
            version=True,
            handler=_copilot,
            events=(
                Event(name="sessionStart", ours="session-start"),
                Event(name="subagentStart", ours="session-start"),
                Event(name="postToolUse", ours="before-action"),
            ),
        ),
        commands=("code",),
        traces=(("root", ".vscode"), ("config", "Code/User")),
    ),
    Target(
        key="codex",
        client=_client("Codex"),
        last=(("startup_timeout_sec", 30),),
        hooks=Hooks(  # learn.chatgpt.com/docs/hooks
            file=".codex/hooks.json",
            grouped=True,
            named=True,
            handler=_codex,
            events=(
                Event(name="SessionStart", ours="session-start"),
                Event(name="SubagentStart", ours="session-start"),
                Event(name="UserPromptSubmit", ours="prompt"),
                Event(
                    name="PreToolUse",
                    ours="before-action",
                    matcher="^(Bash|apply_patch|Edit|Write)$",
                ),
            ),
        ),
        commands=("codex",),
        traces=(("root", ".codex"), ("codex", "")),
    ),
    Target(
        key="gemini",
        client=_client("Gemini CLI"),
        project="",  # a path may hold what this client takes for a variable
        hooks=Hooks(  # geminicli.com/docs/hooks; before a tool no context can be added
            file=".gemini/settings.json",
            grouped=True,
            handler=_gemini,
            events=(
                Event(name="SessionStart", ours="session-start"),
                Event(name="BeforeAgent", ours="prompt"),
                Event(
                    name="AfterTool",
                    ours="before-action",
                    matcher="^(write_file|replace|run_shell_command)$",
                ),
            ),
        ),
        commands=("gemini",),
        traces=(("root", ".gemini"), ("home", ".gemini")),
    ),
)
