"""The clients: one row for each, with all that Sentinel-Memory knows of it.

`docs/hooks.md` says what a new row needs. A row is data; other files read it. Every hook imports
this file, which therefore imports nothing else of ours and has named tuples: a dataclass takes five
times as long to make.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

ENTRY = "sentinel-memory"
COMMANDS = "sentinel-memory-server", "sentinel-memory"  # where the program is installed
THE_PROJECT = "<the project>"  # among keys: the one that is the project's own path
SERVER, TOOL = "<server>", "<tool>"  # in an approval
TEAM_ENTRY = f"{ENTRY}-team"  # of a server that others run, beside our own
URL, VARIABLE = "<url>", "<variable>"  # in such an entry: its address, and what holds the key
LINE, EVENT = "<line>", "<event>"  # in a handler: the command line, and the event of `cli.py hook`
TOOLS: Mapping[str, tuple[str, ...]] = {  # by room and profile
    "lessons": ("search_memory", "log_memory", "compact_memory"),
    "sessions": (
        "context_save",
        "context_search",
        "context_get",
        "context_warn",
        "context_stats",
        "context_export",
        "context_recommend",
    ),
    "sessions:core": ("context_save", "context_search", "context_get", "context_warn"),
    "fragments": (
        "remember",
        "recall",
        "forget",
        "link",
        "amend",
        "reflect",
        "context",
        "tool_feedback",
        "memory_stats",
        "memory_consolidate",
        "graph_explore",
        "pin",
        "unpin",
    ),
    "fragments:core": ("remember", "recall", "forget", "pin", "unpin"),
}
RECORDING = "after-action"  # the event of `cli.py hook` that the room of sessions needs
AGENTS, CLAUDE, LOCAL = "AGENTS.md", ("CLAUDE.md", ".claude/CLAUDE.md"), "CLAUDE.local.md"
CURSOR_RULE = ".cursor/rules/sentinel-memory.mdc"

Directory = Literal[
    "root", "home", "config", "packages", "claude", "claude-home", "codex", "copilot"
]
Variables = Literal["", "${env:NAME}", "${env:NAME} ~", "${NAME:-default}", "$NAME"]
Takes = tuple[Literal["comments", "commas", "mark"], ...]  # beside JSON, in a file that is read

# fmt: off


class Place(NamedTuple):
    """A file that may hold entries, as a pattern below one of the directories of a Machine."""

    directory: Directory
    file: str
    # where the entries stand, the project's own before the user's
    keys: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    knows_project: bool = True  # False: an entry starts elsewhere and cannot name the folder
    takes: Takes | None = None  # where it is not as the client's


class Approvals(NamedTuple):
    """What lets a client's model call our three tools where nobody is there to be asked."""

    entry: Mapping[str, Any] = {}  # keys of the server's entry
    file: str = ""  # else a list in a file of one person, which git must not have
    directory: Directory = "root"
    keys: tuple[str, ...] = ()  # to what is allowed
    refused: tuple[tuple[str, ...], ...] = ()  # to what the user wants to be asked for, or never
    tool: Any = None  # what stands in such a list for a tool, with SERVER and TOOL in its texts
    server: tuple[Any, ...] = ()  # and for all tools of a server
    takes: Takes = ()


class Event(NamedTuple):
    """A moment at which a client calls us."""

    name: str  # the client's own
    ours: str  # the event of `cli.py hook`
    matcher: str = ""  # for which tools; "" for all, or where the client has no such choice
    key: str = ""  # under which the client takes a text; "" for an answer that names the event


class Remote(NamedTuple):
    """The entry of a server that is reached by its URL."""

    entry: Mapping[str, Any]
    key: Mapping[str, Any]  # and what names the variable that holds the key, never the key itself


class Hooks(NamedTuple):
    """The hooks of a client."""

    file: str  # in the project, or in `directory`
    handler: Mapping[str, Any]  # what is written for an event
    events: tuple[Event, ...]
    windows: Mapping[str, Any] = {}  # the handler on Windows, where it differs
    shell: Literal["powershell", "cmd"] = "powershell"  # which runs the line on Windows
    grouped: bool = False  # a handler stands in a group with the matcher, and does not hold it
    version: bool = False  # the file says `"version": 1`
    names_project: bool = False  # the line does, since the client tells no more than a directory
    nameless: bool = False  # an input that does not name its event gets an answer of that kind
    gives_project: bool = False  # a hook finds the project in CLAUDE_PROJECT_DIR
    called: str = ""  # the client that they name, where several have one file; "" for their own
    shared: bool = False  # other clients run these hooks, too, and have their own
    merged_with: str = ""  # a TOML file whose hooks are added, with a warning: KEY_hooks_twice
    takes: Takes = ()
    keys: tuple[str, ...] = ()  # with another one the client passes over the file; () for any
    directory: Directory = "root"
    beside: str = ""  # another file that the client reads: the same hooks there would run twice
    unawaited: Mapping[str, Any] = {}  # what a handler gets that the client need not wait for
    tells_failure: bool = False  # what fails has an event or a sign of its own


class Rules(NamedTuple):
    """The files of a project in which a client looks for rules."""

    reads: tuple[str, ...]
    home: str  # gets ours when the client reads no other file that has them
    own_file: bool = False  # the home is made for our rules alone, with front matter
    instead: str = ""  # takes the place of all others where it is there
    setting: tuple[str, ...] = ()  # keys in the client's configuration that name other files
    imports: bool = False  # the client follows `@path`
    hides_agents: bool = False  # it reads AGENTS.md only where it has no file of its own
    unsure: tuple[str, ...] = ()  # a setting of the user may switch them off: KEY_by_claude
    most_bytes: int = 0  # how much of a file it reads, 0 for all of it: KEY_cuts


class OfUser(NamedTuple):
    """The files that hold for all projects of a user; the entry's is among the places."""

    hooks: tuple[Directory, str]
    rules: tuple[Directory, str] | None = None
    left_out: tuple[str, ...] = ()  # keys that our entry does not get there


class Client(NamedTuple):
    """A client; what is left out of a row does not hold for it."""

    key: str  # on the command line
    name: str  # in sentences
    places: tuple[Place, ...]  # setup writes into the first, and into those of packages
    traces: tuple[tuple[Directory, str], ...]  # files that show that the client is here
    commands: tuple[str, ...] = ()  # programs that do
    form: Literal["json", "toml"] = "json"
    takes: Takes = ()  # in the files of `places`
    variables: Variables = ""  # which it fills in when it reads an entry, by example
    sets: tuple[str, ...] = ()  # the variables in which it gives the server the project
    starts_in_project: bool = False  # where an entry has no `cwd`
    honours_cwd: bool = False  # the `cwd` of an entry is where its server starts
    passes: str = ""  # a key of an entry: the variables that its server gets beside a few
    project: str | None = None  # how our entry names it: "" for not at all, None for its path
    first: tuple[tuple[str, Any], ...] = ()  # keys of our entry before the command
    last: tuple[tuple[str, Any], ...] = ()  # and behind it
    remote: Remote | None = None  # None: its files can name no such server
    approvals: Approvals | None = None
    hooks: Hooks | None = None
    rules: Rules | None = None
    of_user: OfUser | None = None


# docs.github.com, "Hooks reference"; a failing preToolUse would deny the tool
_COPILOT_HOOKS = Hooks(".github/hooks/sentinel-memory.json",
    {"type": "command", "bash": LINE, "timeoutSec": 10},
    windows={"type": "command", "powershell": LINE, "timeoutSec": 10},
    version=True, nameless=True, called="vscode", events=(
    Event("sessionStart", "session-start"),
    Event("subagentStart", "session-start"),
    Event("postToolUse", "before-action"),
    Event("postToolUse", RECORDING),
    Event("postToolUseFailure", RECORDING)))

def _bearer(variable: str) -> Mapping[str, Any]:
    return {"headers": {"Authorization": f"Bearer {variable}"}}


# A hook stands at events that can add to what a model reads without holding up its work; the end of
# a turn is one only where the client lets it pass without a new turn, or bounds those.
CLIENTS: tuple[Client, ...] = (
    # cursor.com/docs: context/mcp, hooks, rules; its users report that `cwd` is ignored
    Client("cursor", "Cursor",
        places=(Place("root", ".cursor/mcp.json"), Place("home", ".cursor/mcp.json")),
        traces=(("root", ".cursor"), ("home", ".cursor")), commands=("cursor", "cursor-agent"),
        variables="${env:NAME}", project="${workspaceFolder}",
        remote=Remote({"url": URL}, _bearer(f"${{env:{VARIABLE}}}")),
        hooks=Hooks(".cursor/hooks.json", {"command": LINE, "timeout": 10}, version=True,
            tells_failure=True, events=(
            Event("sessionStart", "session-start", key="additional_context"),
            # only after a tool is context part of the format
            Event("postToolUse", "before-action", "Write|Delete|Shell", key="additional_context"),
            Event("stop", "stop", key="followup_message"),
            Event("postToolUse", RECORDING, "Write|Delete|Shell|MCP:.*context_save"),
            Event("postToolUseFailure", RECORDING, "Write|Delete|Shell"))),
        rules=Rules((AGENTS, ".cursorrules", CURSOR_RULE, CLAUDE[0]), CURSOR_RULE,
            own_file=True, unsure=CLAUDE[:1]),
        of_user=OfUser(("home", ".cursor/hooks.json"))),  # its own rules are in no file
    # code.claude.com/docs/en: mcp, hooks, memory; that `cwd` is ignored: issue 17565 of claude-code
    Client("claude-code", "Claude Code",
        places=(
            Place("root", ".mcp.json"),
            Place("claude", ".claude.json",
                keys=(("projects", THE_PROJECT, "mcpServers"), ("mcpServers",)))),
        traces=(("root", ".claude"), ("root", ".mcp.json"), ("home", ".claude")),
        commands=("claude",), takes=("mark",),
        variables="${NAME:-default}", sets=("CLAUDE_PROJECT_DIR",),
        starts_in_project=True, project="", first=(("type", "stdio"),),
        # else its first request does not wait for the server, and later ones hide the tools
        last=(("alwaysLoad", True),),
        remote=Remote({"type": "http", "url": URL, "alwaysLoad": True},
            _bearer(f"${{{VARIABLE}}}")),
        # what the project's own settings allow counts only in a folder that somebody trusts
        approvals=Approvals(file=".claude/settings.local.json", keys=("permissions", "allow"),
            refused=(("permissions", "ask"), ("permissions", "deny")),
            tool=f"mcp__{SERVER}__{TOOL}", server=(f"mcp__{SERVER}", f"mcp__{SERVER}__*"),
            takes=("mark",)),
        hooks=Hooks(".claude/settings.json", {"type": "command", "command": LINE, "timeout": 10},
            # without a shell it takes Git Bash, where that is installed
            windows={"type": "command", "command": LINE, "shell": "powershell", "timeout": 10},
            grouped=True, gives_project=True, shared=True, takes=("mark",),
            beside=".claude/settings.local.json", unawaited={"async": True}, tells_failure=True,
            events=(
            Event("SessionStart", "session-start"),
            Event("SubagentStart", "session-start"),
            Event("UserPromptSubmit", "prompt"),
            Event("PreToolUse", "before-action", "Edit|Write|NotebookEdit|Bash|PowerShell"),
            Event("Stop", "stop"),
            Event("PostToolUse", RECORDING,
                "^(Edit|Write|NotebookEdit|Bash|PowerShell|mcp__.*__context_save)$"),
            Event("PostToolUseFailure", RECORDING, "^(Edit|Write|NotebookEdit|Bash|PowerShell)$"))),
        # from 2.1.277 on it reads AGENTS.md where it has none of these
        rules=Rules((*CLAUDE, LOCAL), CLAUDE[0], imports=True, hides_agents=True),
        of_user=OfUser(("claude-home", "settings.json"), ("claude-home", "CLAUDE.md"))),
    # modelcontextprotocol.io, "Connect to local MCP servers" and "Debugging"
    Client("claude-desktop", "Claude Desktop",
        places=(
            Place("config", "Claude/claude_desktop_config.json"),
            Place("packages", "Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json")),
        traces=(("config", "Claude"), ("packages", "Claude_*"))),
    # code.visualstudio.com: "MCP configuration reference", "Custom instructions"; entries of the
    # user know no folder and start at home: vscode, extHostMcpNode.ts
    Client("vscode", "VS Code",
        places=(
            Place("root", ".vscode/mcp.json", (("servers",),)),
            Place("config", "Code/User/mcp.json", (("servers",),), knows_project=False)),
        traces=(("root", ".vscode"), ("config", "Code/User")), commands=("code",),
        takes=("comments", "commas", "mark"),
        variables="${env:NAME} ~", starts_in_project=True, honours_cwd=True,
        project="${workspaceFolder}", first=(("type", "stdio"),),
        remote=Remote({"type": "http", "url": URL}, _bearer(f"${{env:{VARIABLE}}}")),
        hooks=_COPILOT_HOOKS,  # its agent host reads them
        rules=Rules((AGENTS, *CLAUDE, LOCAL, ".github/copilot-instructions.md"), AGENTS)),
    # developers.openai.com/codex/mcp; the environment it passes on is a short list
    Client("codex", "Codex",
        places=(
            Place("root", ".codex/config.toml", (("mcp_servers",),)),
            Place("codex", "config.toml", (("mcp_servers",),))),
        traces=(("root", ".codex"), ("codex", "")), commands=("codex",), form="toml",
        starts_in_project=True, honours_cwd=True,
        # its first request does not wait for a server that is not required
        last=(("startup_timeout_sec", 30), ("required", True)), passes="env_vars",
        remote=Remote({"url": URL, "startup_timeout_sec": 30}, {"bearer_token_env_var": VARIABLE}),
        approvals=Approvals({"default_tools_approval_mode": "approve"}),
        # learn.chatgpt.com/docs/hooks
        hooks=Hooks(".codex/hooks.json", {"type": "command", "command": LINE, "timeout": 10},
            shell="cmd", grouped=True, names_project=True, merged_with=".codex/config.toml",
            keys=("description", "hooks"), events=(
            Event("SessionStart", "session-start"),
            Event("SubagentStart", "session-start"),
            Event("UserPromptSubmit", "prompt"),
            Event("PreToolUse", "before-action", "^(Bash|apply_patch|Edit|Write)$"),
            # not after a patch that a shell applies
            Event("PostToolUse", RECORDING,
                "^(Bash|apply_patch|Edit|Write|mcp__.*__context_save)$"))),
        # most_bytes: project_doc_max_bytes, where nobody has set it
        rules=Rules((AGENTS,), AGENTS, instead="AGENTS.override.md", most_bytes=32 * 1024),
        # there, a required server that is gone would keep it from starting anywhere
        of_user=OfUser(("codex", "hooks.json"), ("codex", "AGENTS.md"), ("required",))),
    # geminicli.com: "Gemini CLI configuration", "MCP servers with Gemini CLI", hooks; its entry
    # names no project, since a path may hold what this client takes for a variable
    Client("gemini", "Gemini CLI",
        places=(Place("root", ".gemini/settings.json"), Place("home", ".gemini/settings.json")),
        traces=(("root", ".gemini"), ("home", ".gemini")), commands=("gemini",),
        takes=("comments",),
        variables="$NAME", starts_in_project=True, honours_cwd=True, project="",
        remote=Remote({"httpUrl": URL}, _bearer(f"${{{VARIABLE}}}")),
        approvals=Approvals({"trust": True}),
        hooks=Hooks(".gemini/settings.json",
            {"name": f"{ENTRY}-{EVENT}", "type": "command", "command": LINE, "timeout": 10_000},
            grouped=True, gives_project=True, takes=("comments",), tells_failure=True, events=(
            Event("SessionStart", "session-start"),
            Event("BeforeAgent", "prompt"),
            # before a tool no context can be added
            Event("AfterTool", "before-action", "^(write_file|replace|run_shell_command)$"),
            Event("AfterTool", RECORDING,
                "^(write_file|replace|run_shell_command|mcp_.*context_save)$"))),
        rules=Rules(("GEMINI.md",), "GEMINI.md", setting=("context", "fileName"), imports=True),
        of_user=OfUser(("home", ".gemini/settings.json"), ("home", ".gemini/GEMINI.md"))),
    # docs.github.com: "About GitHub Copilot CLI"; `copilot help`, `copilot mcp --help`
    Client("copilot", "Copilot CLI",
        places=(
            Place("root", ".github/mcp.json"),
            Place("copilot", "mcp-config.json", takes=("comments", "commas", "mark"))),
        traces=(("copilot", ""),), commands=("copilot",),
        starts_in_project=True, first=(("type", "stdio"),), last=(("tools", ["*"]),),
        remote=Remote({"type": "http", "url": URL, "tools": ["*"]}, _bearer(f"${{{VARIABLE}}}")),
        # seen in 1.0.102: what a user has allowed for ever, by repository; no project can
        approvals=Approvals(file="permissions-config.json", directory="copilot",
            keys=("locations", THE_PROJECT, "tool_approvals"),
            tool={"kind": "mcp", "serverName": SERVER, "toolName": TOOL},
            server=({"kind": "mcp", "serverName": SERVER, "toolName": None},),
            takes=("comments", "commas", "mark")),
        hooks=_COPILOT_HOOKS,
        rules=Rules((AGENTS, CLAUDE[0], ".github/copilot-instructions.md"), AGENTS),
        of_user=OfUser(("copilot", "hooks/sentinel-memory.json"),
            ("copilot", "copilot-instructions.md"))),
)
# fmt: on
