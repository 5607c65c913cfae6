"""Reads `clients.json`: a row for each client; `docs/CONTRIBUTING.md` says how to add one.

Every hook imports this file, so it imports nothing else of ours.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

ENTRY = "sentinel-memory"
TEAM_ENTRY = f"{ENTRY}-team"  # of a server that others run, beside our own
COMMANDS = "sentinel-memory-server", "sentinel-memory"  # where the program is installed
KEY_VARIABLE = "SENTINEL_MEMORY_KEY"  # holds the key of such a server, in a client's environment
RECORDING = "after-action"  # the event of `cli.py hook` that the room of sessions needs
EVENTS = ("session-start", "before-action", "prompt", "stop", RECORDING)  # of `cli.py hook`
COMPLAINT = "sentinel-memory hook: "  # how a line of a hook on standard error begins
AGENTS = "AGENTS.md"
TOOLS: Mapping[str, tuple[str, ...]] = {  # by room and profile
    "lessons": ("search_memory", "log_memory", "compact_memory"),
    "sessions": (
        *("context_save", "context_search", "context_get", "context_warn"),
        *("context_stats", "context_export", "context_recommend"),
    ),
    "sessions:core": ("context_save", "context_search", "context_get", "context_warn"),
    "fragments": (
        *("remember", "recall", "forget", "link", "amend", "reflect", "context", "tool_feedback"),
        *("memory_stats", "memory_consolidate", "graph_explore", "pin", "unpin"),
    ),
    "fragments:core": ("remember", "recall", "forget", "pin", "unpin"),
}
UNGRANTED = ("forget",)  # a tool that can remove for good: no list of approvals gets it

PARTS = ("entry", "hooks", "rules", "approvals")  # of a client's files
Level = Literal["project", "user"]
LEVELS: tuple[Level, ...] = ("project", "user")
# A place is the name of a directory and a file or a pattern below it: `home:.cursor/mcp.json`.
Place = str


class Event(NamedTuple):
    """A moment at which a client calls us."""

    name: str  # the client's own
    hook_event: str  # the event of `cli.py hook`
    matcher: str = ""  # for which tools; "" for all, or where the client has no such choice
    key: str = ""  # under which the client takes a text; "" for an answer that names the event


class Hooks(NamedTuple):
    events: Sequence[Event]
    handler: Mapping[str, Any]  # the form of a handler, with `$line` and `$event`
    project: Place
    user: Place = ""
    windows: Mapping[str, Any] = {}  # the handler on Windows, where it differs
    shell: Literal["powershell", "cmd"] = "powershell"  # which runs the line on Windows
    grouped: bool = False  # a handler stands in a group with the matcher, and does not hold it
    version: bool = False  # the file says `"version": 1`
    names_project: bool = False  # the line does, since the client tells no more than a directory
    nameless: bool = False  # an input that does not name its event gets an answer of that kind
    gives_project: bool = False  # a hook finds the project in CLAUDE_PROJECT_DIR
    called: str = ""  # the client that they name, where several have one file; "" for their own
    shared: bool = False  # other clients run these hooks, too, and have their own
    merged_with: Place = ""  # a TOML file whose hooks are added, with a warning: KEY_hooks_twice
    keys: Sequence[str] = ()  # the client ignores a file with another key; () for any
    unawaited: Mapping[str, Any] = {}  # keys of a handler that the client need not wait for
    tells_failure: bool = False  # a failure has an event or a sign of its own


class Approvals(NamedTuple):
    """Tools that a client calls unasked, listed in a file of one person."""

    keys: Sequence[str]  # to the list; `$top` is the directory of the repository
    tool: Any  # the item for a tool, with `$server` and `$tool`
    whole: Sequence[Any]  # and for all tools of a server
    project: Place
    user: Place = ""
    refused: Sequence[Sequence[str]] = ()  # to tools to refuse or to ask for


class Rules(NamedTuple):
    """The files in which a client looks for rules."""

    reads: Sequence[str]  # in a project
    homes: Sequence[str]  # gets ours, or an import of AGENTS.md: the first that is there
    user: Place = ""  # for all projects of a user
    instead: str = ""  # takes the place of AGENTS.md where it is there
    setting: Sequence[str] = ()  # keys in the client's configuration that name other files
    most_bytes: int = 0  # how much of a file it reads, 0 for all of it: KEY_cuts


class Client(NamedTuple):
    """A client; a key that its row lacks does not hold for it."""

    key: str  # on the command line
    name: str  # in sentences
    found: Sequence[Place]  # a trace of the client; `$NAME` is a program
    under: str  # the key below which the entries stand
    entry: Mapping[str, Place]  # by level, the file of our entry
    stdio: Mapping[str, Any]  # the entry that starts our server
    also_read: Sequence[Sequence[str]] = ()  # another file with entries, and the keys to them
    packaged: Place = ""  # a pattern of files that are set up like the first one
    not_of_user: Sequence[str] = ()  # keys that our entry does not get for all projects
    http: Mapping[str, Any] = {}  # the entry of a server that is reached by its URL
    key_in: Sequence[str] = ()  # the keys to its value that names the variable of the key, and it
    allows: Mapping[str, Any] = {}  # keys of an entry that let its tools be called unasked
    project: str = ""  # how our entry names the project; "" for not at all
    starts_in_project: bool = False  # where an entry has no `cwd`
    honours_cwd: bool = False  # the `cwd` of an entry is where its server starts
    variables: str = ""  # which it fills in when it reads an entry, by example
    sets: str = ""  # the variable in which it gives the server the project
    passes: str = ""  # a key of an entry: the variables that its server gets beside a few
    takes: Mapping[str, str] = {}  # by part of ours: `comments` or `mark` beside JSON
    hooks: Hooks | None = None
    approvals: Approvals | None = None
    rules: Rules | None = None
    switches: Sequence[tuple[str, str, Any]] = ()  # file, keys, and the value that turns us off


def client_from(key: str, row: Mapping[str, Any]) -> Client:
    parts: dict[str, Any] = {**row, "key": key}
    if hooks := row.get("hooks"):
        parts["hooks"] = Hooks(**{**hooks, "events": [Event(*event) for event in hooks["events"]]})
    for name, kind in ("approvals", Approvals), ("rules", Rules):
        if values := row.get(name):
            parts[name] = kind(**values)
    return Client(**parts)


with open(os.path.join(os.path.dirname(__file__), "clients.json"), encoding="utf-8") as _file:
    CLIENTS = tuple(client_from(key, row) for key, row in json.load(_file).items())
HOOKS: Mapping[str, Hooks] = {client.key: client.hooks for client in CLIENTS if client.hooks}


def value_at(data: Any, keys: Sequence[str]) -> Any:
    """Return the value below these keys, None where one is missing."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def client_of(key: str) -> Client:
    """Return a client. Raises StopIteration for an unknown key."""
    return next(client for client in CLIENTS if client.key == key)
