"""Holds the arguments of commands, and makes a command's parser."""

import argparse
from collections.abc import Mapping
from typing import Any

from commands import Command
from commands.terminal.ask import file_name, id_text, moment, positive
from core.messages import has_sentence, language, say
from core.parser import Parser, add_project, one_of
from core.program import CLI
from rooms.room import room_names


def _facts_of_rooms() -> dict[str, str]:
    return {"rooms": ", ".join(room_names())}


def _facts_of_hooks() -> dict[str, str]:
    from commands.clients.table import EVENTS, HOOKS  # no other command needs the clients

    return {"events": ", ".join(EVENTS), "clients": ", ".join(HOOKS)}


EXPORT_FORMATS = ("jsonl", "markdown", "html")


def _facts_of_clients() -> dict[str, str]:
    from commands.clients.table import CLIENTS

    return {"clients": ", ".join(client.key for client in CLIENTS)}


def _client(text: str) -> str:
    return one_of(_facts_of_clients()["clients"].split(", "))(text)


# Arguments of `add_argument`, by the name in a row of the table of commands. The help is the
# sentence `help.NAME`, and "facts" is a function that returns the facts of it.
OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    # several commands
    "id": (("id",), {"metavar": "ID", "type": id_text}),
    "any_id": (("ids",), {"metavar": "ID", "nargs": "+", "type": id_text}),
    "words": (("words",), {"metavar": "WORD"}),
    "kind": (("--kind",), {"metavar": "KIND"}),
    "topic": (("--topic",), {"metavar": "TOPIC", "action": "append"}),
    "room": (("--room",), {"metavar": "ROOM", "action": "append", "facts": _facts_of_rooms}),
    "public": (("--public",), {"action": "store_true"}),
    "output": (("-o", "--output"), {"metavar": "FILE", "type": file_name}),
    "since": (("--since",), {"metavar": "WHEN", "type": moment}),
    "limit": (("--limit",), {"metavar": "N", "type": positive}),
    "json": (("--json",), {"action": "store_true"}),
    "force": (("--force",), {"action": "store_true"}),
    "yes": (("-y", "--yes"), {"action": "store_true"}),
    "dry_run": (("-n", "--dry-run"), {"action": "store_true"}),
    # list, show, forget, restore
    "forgotten": (("--forgotten",), {"action": "store_true"}),
    "versions": (("--versions",), {"action": "store_true"}),
    "hard": (("--hard",), {"action": "store_true"}),
    "originals": (("--originals",), {"action": "store_true"}),
    # view
    "view_open": (("--open",), {"action": "store_true"}),
    # add, edit
    "add_topic": (("--topic",), {"metavar": "TOPIC"}),
    "add_missing": (("--missing",), {"metavar": "TEXT"}),
    "add_lesson": (("--lesson",), {"metavar": "TEXT"}),
    "add_ask": (("--ask",), {"metavar": "TEXT"}),
    "add_path": (("--path",), {"metavar": "PATH", "action": "append"}),
    "add_when": (("--when",), {"metavar": "TEXT", "action": "append"}),
    "add_fragment": (("--fragment",), {"metavar": "ID", "type": id_text}),
    "from": (("--from",), {"metavar": "FILE", "dest": "source", "type": file_name}),
    # topics, compact, keys
    "compact_topic": (("topic",), {"metavar": "TOPIC", "nargs": "?"}),
    "topics_old": (("old",), {"metavar": "OLD"}),
    "topics_new": (("new",), {"metavar": "NEW"}),
    "keys_name": (("name",), {"metavar": "NAME"}),
    "keys_agent": (("--agent",), {"metavar": "AGENT"}),
    # hook
    "hook_event": (("event",), {"metavar": "EVENT", "facts": _facts_of_hooks}),
    "hook_client": (
        ("--client",),
        {"metavar": "CLIENT", "required": True, "facts": _facts_of_hooks},
    ),
    "hook_lang": (("--lang",), {"choices": ("en", "ko")}),
    # doctor
    "doctor_fix": (("--fix",), {"action": "store_true"}),
    "doctor_online": (("--online",), {"action": "store_true"}),
    # report
    "report_range": (("range",), {"metavar": "RANGE"}),
    "report_staged": (("--staged",), {"action": "store_true"}),
    "report_strict": (("--strict",), {"action": "store_true"}),
    "report_github": (("--github",), {"action": "store_true"}),
    "report_output": (("-o", "--output"), {"type": file_name, "metavar": "FILE"}),
    # scan
    "scan_paths": (("paths",), {"metavar": "PATH", "default": []}),
    "scan_staged": (("--staged",), {"action": "store_true"}),
    "scan_history": (("--history",), {"action": "store_true"}),
    "scan_redact": (("--redact",), {"action": "store_true"}),
    # export, import
    "export_format": (
        ("--format",),
        {
            "metavar": "FORMAT",
            "type": one_of(EXPORT_FORMATS),
            "facts": lambda: {"formats": ", ".join(EXPORT_FORMATS)},
        },
    ),
    "export_block": (("--block",), {"metavar": "FILE", "type": file_name}),
    "export_remove": (("--remove",), {"action": "store_true"}),
    "import_file": (("file",), {"metavar": "FILE", "type": file_name}),
    "import_topic": (("--topic",), {"metavar": "TOPIC", "dest": "import_topic"}),
    "import_agent": (("--agent",), {"metavar": "NAME", "dest": "import_agent", "default": ""}),
    # sessions, fragments
    "sessions_before": (
        ("--before",),
        {"metavar": "DATE", "dest": "before", "type": moment, "required": True},
    ),
    "sessions_open": (("--open",), {"action": "store_true"}),
    "fragments_id": (("ids",), {"metavar": "FRAGMENT", "nargs": "+"}),
    "sessions_off": (("--off",), {"action": "store_true"}),
    "migrate_sql": (("--sql",), {"action": "store_true"}),
    # setup
    "setup_clients": (
        ("clients",),
        {"metavar": "CLIENT", "type": _client, "facts": _facts_of_clients},
    ),
    "setup_remove": (("--remove",), {"action": "store_true"}),
    "setup_user": (("--user",), {"action": "store_true"}),
    "setup_rooms": (("--rooms",), {"metavar": "ROOMS"}),
    "setup_no_rules": (("--no-rules",), {"action": "store_true"}),
    "setup_no_hooks": (("--no-hooks",), {"action": "store_true"}),
    "setup_no_approvals": (("--no-approvals",), {"action": "store_true"}),
    "setup_url": (("--url",), {"metavar": "URL"}),
    "setup_oauth": (("--oauth",), {"action": "store_true"}),
    # help
    "help_command": (("about",), {"metavar": "COMMAND", "nargs": "*"}),
}


def parser_of(name: str, commands: Mapping[str, Command]) -> Parser:
    """Return the parser of a command or action; without a row an action is required."""
    row = commands.get(name)
    actions = [other.partition(" ")[2] for other in commands if other.startswith(f"{name} ")]
    parser = Parser(prog=f"{CLI} {name}", description=about_of(name))
    parser.set_defaults(command=name, commands=commands, refuse=parser.error)
    if row is None or row.of_project:
        add_project(parser)
    if actions:
        count = "?" if row else None
        about = explain("action", actions=", ".join(actions))
        parser.add_argument(
            "action", metavar="ACTION", nargs=count, type=one_of(actions), help=about
        )
    for word in row.takes.split() if row else ():
        names = word.split("/")
        into = parser.add_mutually_exclusive_group() if len(names) > 1 else parser
        for name_and_count in names:
            _add_option(into, name_and_count)
    wide = max(map(len, actions), default=0) + 2
    lines = [f"  {action:{wide}}{explain(f'{name}_{action}')}" for action in actions]
    lines = [f"{explain('actions')}:", *lines, ""] if actions else []
    if row and row.examples:
        lines += [f"{explain('examples')}:", *(f"  {CLI} {example}" for example in row.examples)]
    parser.epilog = "\n".join(lines).rstrip("\n")
    return parser


def about_of(name: str) -> str:
    """Return the summary of a command or action, and its further sentences."""
    key = name.replace(" ", "_")
    summary = explain(key if " " in name else f"cmd_{key}")
    summary = f"{summary if language() == 'ko' else summary[:1].upper() + summary[1:]}."
    return f"{summary} {explain(f'about_{key}')}" if has_sentence(f"help.about_{key}") else summary


def _add_option(into: argparse._ActionsContainer, word: str) -> None:
    """Add one name of a row, such as `scan_paths*`."""
    name = word.rstrip("?*+")
    names, settings = OPTIONS[name]
    more = {key: value for key, value in settings.items() if key != "facts"}
    if count := word[len(name) :]:
        more["nargs"] = count
    facts = settings["facts"]() if "facts" in settings else {}
    into.add_argument(*names, help=explain(name, **facts), **more)


def explain(key: str, **facts: str | int) -> str:
    return say(f"help.{key}", **facts)
