"""The clients: one row for each, with all that Sentinel-Memory has to know of it.

`docs/hooks.md` says what a new row needs. A row is data; the code that reads it stands beside this
file, in `commands/setup` and in `commands/exchange`. Every hook imports this file, which therefore
imports nothing else of ours and has named tuples: a dataclass takes five times as long to make.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

ENTRY = "sentinel-memory"
THE_PROJECT = "<the project>"  # among keys: the one that is the project's own path
LINE, EVENT = "<line>", "<event>"  # in a handler: the command line, and the event of `cli.py hook`

AGENTS = "AGENTS.md"
CLAUDE, LOCAL = ("CLAUDE.md", ".claude/CLAUDE.md"), "CLAUDE.local.md"

Directory = Literal["root", "home", "config", "packages", "claude", "codex"]
Variables = Literal["", "${env:NAME}", "${env:NAME} ~", "${NAME:-default}", "$NAME"]


class Place(NamedTuple):
    """A file that may hold entries, as a pattern below one of the directories of a Machine.

    keys: the paths of keys under which the entries stand, the project's own before the user's.
    knows_project: False where an entry starts outside the project and cannot name its folder.
    """

    directory: Directory
    file: str
    keys: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    knows_project: bool = True


class Event(NamedTuple):
    """When a client calls us. name: the client's event. ours: the one of `cli.py hook`.

    matcher: for which tools; "" for all, or where the client has no such choice.
    key: under which the client takes a text; "" for an answer that names the event.
    """

    name: str
    ours: str
    matcher: str = ""
    key: str = ""


class Hooks(NamedTuple):
    """The hooks of a client: their file in the project, their form and their events.

    handler: what is written for an event; windows: the same on Windows, where that differs, with
    a line for this shell.
    grouped: a handler stands in a group with the matcher; it holds the matcher itself otherwise.
    version: the file says `"version": 1`.
    names_project: the line names the project, since the client tells no more than a directory.
    nameless: an input without the name of its event gets an answer without it.
    gives_project: a hook finds the project in CLAUDE_PROJECT_DIR.
    shared: other clients run these hooks, too, and have their own.
    merged_with: a TOML file whose hooks the client adds, with a warning (sentence KEY_hooks_twice).
    """

    file: str
    events: tuple[Event, ...]
    handler: Mapping[str, Any]
    windows: Mapping[str, Any] = {}
    shell: Literal["powershell", "cmd"] = "powershell"
    grouped: bool = False
    version: bool = False
    names_project: bool = False
    nameless: bool = False
    gives_project: bool = False
    shared: bool = False
    merged_with: str = ""


class Rules(NamedTuple):
    """The files of a project in which a client looks for rules.

    home: the one that gets ours when the client reads no other that has them.
    own_file: `home` is made for our rules alone, with front matter.
    instead: the file that takes the place of all others where it is there.
    setting: the keys in the client's configuration that name other files.
    imports: the client follows `@path`. hides_agents: it reads AGENTS.md only without own files.
    unsure: files that a setting of the user may switch off (sentence KEY_by_claude).
    most_bytes: how much of a file it reads, 0 for all of it (sentence KEY_cuts).
    """

    reads: tuple[str, ...]
    home: str
    own_file: bool = False
    instead: str = ""
    setting: tuple[str, ...] = ()
    imports: bool = False
    hides_agents: bool = False
    unsure: tuple[str, ...] = ()
    most_bytes: int = 0


class Topics(NamedTuple):
    """Where a client looks for rules about some files: `cli.py export --rules` writes one a topic.

    head: how the front matter names the files, a key of `HEADS` in `commands/exchange/rule_files`.
    also: the clients whose rules it reads as well.
    """

    folder: str
    suffix: str
    head: Literal["globs", "paths", "applyTo"]
    also: tuple[str, ...] = ()


class Client(NamedTuple):
    """A client. key: its name on the command line. name: its name in sentences.

    places: where its entries stand; setup writes into the first, and into those of packages.
    traces: what shows that it is here, as patterns by directory; commands: programs that do.
    variables: those that it fills in when it reads an entry, by example.
    sets: the environment variables in which it gives the server the project.
    starts_in_project: servers start in the project when their entry has no `cwd`.
    honours_cwd: the `cwd` of an entry is where its server starts.
    project: how our entry names the project: "" for not at all, None for its path.
    first, last: keys of our entry around the command.
    """

    key: str
    name: str
    places: tuple[Place, ...]
    traces: tuple[tuple[Directory, str], ...]
    commands: tuple[str, ...] = ()
    form: Literal["json", "jsonc", "toml"] = "json"
    variables: Variables = ""
    sets: tuple[str, ...] = ()
    starts_in_project: bool = False
    honours_cwd: bool = False
    project: str | None = None
    first: tuple[tuple[str, Any], ...] = ()
    last: tuple[tuple[str, Any], ...] = ()
    hooks: Hooks | None = None
    rules: Rules | None = None
    topics: Topics | None = None


# Sources: the clients' own documents. A hook stands at events that can add to what a model reads
# without holding up its work; the end of a turn is one only where the client lets it pass without a
# new turn, or bounds those.
CLIENTS: tuple[Client, ...] = (
    Client(  # cursor.com/docs: context/mcp, hooks, rules; its users report that `cwd` is ignored
        key="cursor",
        name="Cursor",
        places=(Place("root", ".cursor/mcp.json"), Place("home", ".cursor/mcp.json")),
        traces=(("root", ".cursor"), ("home", ".cursor")),
        commands=("cursor", "cursor-agent"),
        variables="${env:NAME}",
        project="${workspaceFolder}",
        hooks=Hooks(  # only after a tool is context part of the format
            file=".cursor/hooks.json",
            events=(
                Event("sessionStart", "session-start", key="additional_context"),
                Event(
                    "postToolUse", "before-action", "Write|Delete|Shell", key="additional_context"
                ),
                Event("stop", "stop", key="followup_message"),
            ),
            handler={"command": LINE, "timeout": 10},
            version=True,
        ),
        rules=Rules(
            reads=(AGENTS, ".cursorrules", ".cursor/rules/sentinel-memory.mdc", CLAUDE[0]),
            home=".cursor/rules/sentinel-memory.mdc",
            own_file=True,
            unsure=(CLAUDE[0],),
        ),
        topics=Topics(".cursor/rules", ".mdc", "globs"),
    ),
    Client(  # code.claude.com/docs/en: mcp, hooks, memory; `cwd` is ignored: its issue 17565
        key="claude-code",
        name="Claude Code",
        places=(
            Place("root", ".mcp.json"),
            Place(
                "claude",
                ".claude.json",
                keys=(("projects", THE_PROJECT, "mcpServers"), ("mcpServers",)),
            ),
        ),
        traces=(("root", ".claude"), ("root", ".mcp.json"), ("home", ".claude")),
        commands=("claude",),
        variables="${NAME:-default}",
        sets=("CLAUDE_PROJECT_DIR",),
        starts_in_project=True,
        project="",
        first=(("type", "stdio"),),
        hooks=Hooks(
            file=".claude/settings.json",
            events=(
                Event("SessionStart", "session-start"),
                Event("SubagentStart", "session-start"),
                Event("UserPromptSubmit", "prompt"),
                Event("PreToolUse", "before-action", "Edit|Write|NotebookEdit|Bash|PowerShell"),
                Event("Stop", "stop"),
            ),
            handler={"type": "command", "command": LINE, "timeout": 10},
            # else Git Bash, where that is installed
            windows={"type": "command", "command": LINE, "shell": "powershell", "timeout": 10},
            grouped=True,
            gives_project=True,
            shared=True,
        ),
        # From 2.1.277 on it reads AGENTS.md where it has none of these.
        rules=Rules(reads=(*CLAUDE, LOCAL), home=CLAUDE[0], imports=True, hides_agents=True),
        topics=Topics(".claude/rules", ".md", "paths"),
    ),
    Client(  # modelcontextprotocol.io, "Connect to local MCP servers" and "Debugging"
        key="claude-desktop",
        name="Claude Desktop",
        places=(
            Place("config", "Claude/claude_desktop_config.json"),
            Place("packages", "Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json"),
        ),
        traces=(("config", "Claude"), ("packages", "Claude_*")),
    ),
    Client(  # code.visualstudio.com: "MCP configuration reference", "Custom instructions"
        key="vscode",
        name="VS Code",
        places=(
            Place("root", ".vscode/mcp.json", keys=(("servers",),)),
            # the user's entries know no folder and start at home: vscode, extHostMcpNode.ts
            Place("config", "Code/User/mcp.json", keys=(("servers",),), knows_project=False),
        ),
        traces=(("root", ".vscode"), ("config", "Code/User")),
        commands=("code",),
        form="jsonc",
        variables="${env:NAME} ~",
        starts_in_project=True,
        honours_cwd=True,
        project="${workspaceFolder}",
        first=(("type", "stdio"),),
        hooks=Hooks(  # docs.github.com, "Hooks reference"; a failing preToolUse would deny the tool
            file=".github/hooks/sentinel-memory.json",
            events=(
                Event("sessionStart", "session-start"),
                Event("subagentStart", "session-start"),
                Event("postToolUse", "before-action"),
            ),
            handler={"type": "command", "bash": LINE, "timeoutSec": 10},
            windows={"type": "command", "powershell": LINE, "timeoutSec": 10},
            version=True,
            nameless=True,  # its agent host, which reads the same file
        ),
        rules=Rules(reads=(AGENTS, *CLAUDE, LOCAL, ".github/copilot-instructions.md"), home=AGENTS),
        topics=Topics(".github/instructions", ".instructions.md", "applyTo", also=("claude-code",)),
    ),
    Client(  # developers.openai.com/codex/mcp; the environment it passes on is a short list
        key="codex",
        name="Codex",
        places=(
            Place("root", ".codex/config.toml", keys=(("mcp_servers",),)),
            Place("codex", "config.toml", keys=(("mcp_servers",),)),
        ),
        traces=(("root", ".codex"), ("codex", "")),
        commands=("codex",),
        form="toml",
        starts_in_project=True,
        honours_cwd=True,
        last=(("startup_timeout_sec", 30),),
        hooks=Hooks(  # learn.chatgpt.com/docs/hooks
            file=".codex/hooks.json",
            events=(
                Event("SessionStart", "session-start"),
                Event("SubagentStart", "session-start"),
                Event("UserPromptSubmit", "prompt"),
                Event("PreToolUse", "before-action", "^(Bash|apply_patch|Edit|Write)$"),
            ),
            handler={"type": "command", "command": LINE, "timeout": 10},
            shell="cmd",
            grouped=True,
            names_project=True,
            merged_with=".codex/config.toml",
        ),
        rules=Rules(  # most_bytes: project_doc_max_bytes, where nobody has set it
            reads=(AGENTS,), home=AGENTS, instead="AGENTS.override.md", most_bytes=32 * 1024
        ),
    ),
    Client(  # geminicli.com: "Gemini CLI configuration", "MCP servers with Gemini CLI", hooks
        key="gemini",
        name="Gemini CLI",
        places=(Place("root", ".gemini/settings.json"), Place("home", ".gemini/settings.json")),
        traces=(("root", ".gemini"), ("home", ".gemini")),
        commands=("gemini",),
        form="jsonc",
        variables="$NAME",
        starts_in_project=True,
        honours_cwd=True,
        project="",  # a path may hold what this client takes for a variable
        hooks=Hooks(  # before a tool no context can be added
            file=".gemini/settings.json",
            events=(
                Event("SessionStart", "session-start"),
                Event("BeforeAgent", "prompt"),
                Event("AfterTool", "before-action", "^(write_file|replace|run_shell_command)$"),
            ),
            handler={
                "name": f"{ENTRY}-{EVENT}",
                "type": "command",
                "command": LINE,
                "timeout": 10_000,
            },
            grouped=True,
            gives_project=True,
        ),
        rules=Rules(
            reads=("GEMINI.md",),
            home="GEMINI.md",
            setting=("context", "fileName"),
            imports=True,
        ),
    ),
)
