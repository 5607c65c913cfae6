"""Holds the arguments of commands; makes a command's parser and the pages of the help."""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from commands import Command
from commands.terminal.ask import file_name, id_text, moment_from, positive_number
from commands.terminal.screen import INDENT, named_lines, wrap_text
from core.messages import has_sentence, language, say
from core.parser import Parser, add_project, add_version, choice_of, with_nearest_name
from core.program import CLI, NAME, read_version
from rooms.room import room_names

FIRST_COMMANDS = ("setup", "add", "list", "search", "show", "forget", "view", "doctor")
EXAMPLES = ("demo", "list --since 7d", "help add")
EXPORT_FORMATS = ("jsonl", "markdown", "html")

Commands = Mapping[str, Command]


def _client_key(text: str) -> str:
    from commands.clients.table import CLIENTS  # no other command needs the clients

    return choice_of([client.key for client in CLIENTS])(text)


# Arguments of `add_argument`, by the name in a row of the table of commands. The help is the
# sentence `help.NAME`.
OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    # several commands
    "id": (("id",), {"metavar": "ID", "type": id_text}),
    "any_id": (("ids",), {"metavar": "ID", "nargs": "+", "type": id_text}),
    "words": (("words",), {"metavar": "WORD"}),
    "topic": (("--topic",), {"metavar": "TOPIC", "action": "append"}),
    "room": (("--room",), {"metavar": "ROOM", "action": "append"}),
    "output": (("-o", "--output"), {"metavar": "FILE", "type": file_name}),
    "since": (("--since",), {"metavar": "WHEN", "type": moment_from}),
    "limit": (("--limit",), {"metavar": "N", "type": positive_number}),
    "yes": (("-y", "--yes"), {"action": "store_true"}),
    "dry_run": (("-n", "--dry-run"), {"action": "store_true"}),
    # add, edit
    "add_path": (("--path",), {"metavar": "PATH", "action": "append"}),
    "add_when": (("--when",), {"metavar": "TEXT", "action": "append"}),
    "add_fragment": (("--fragment",), {"metavar": "ID", "type": id_text}),
    "from": (("--from",), {"metavar": "FILE", "dest": "source", "type": file_name}),
    # topics, compact, keys
    "compact_topic": (("topic",), {"metavar": "TOPIC", "nargs": "?"}),
    "topics_old": (("old",), {"metavar": "OLD"}),
    "topics_new": (("new",), {"metavar": "NEW"}),
    "keys_name": (("name",), {"metavar": "NAME"}),
    # hook
    "hook_event": (("event",), {"metavar": "EVENT"}),
    "hook_client": (("--client",), {"metavar": "CLIENT", "required": True}),
    "hook_lang": (("--lang",), {"choices": ("en", "ko")}),
    # report
    "report_range": (("range",), {"metavar": "RANGE"}),
    "report_output": (("-o", "--output"), {"type": file_name, "metavar": "FILE"}),
    # scan
    "scan_paths": (("paths",), {"metavar": "PATH", "default": []}),
    # export, import
    "export_format": (("--format",), {"metavar": "FORMAT", "type": choice_of(EXPORT_FORMATS)}),
    "export_block": (("--block",), {"metavar": "FILE", "type": file_name}),
    "import_file": (("file",), {"metavar": "FILE", "type": file_name}),
    "import_topic": (("--topic",), {"metavar": "TOPIC", "dest": "import_topic"}),
    "import_agent": (("--agent",), {"metavar": "NAME", "dest": "import_agent", "default": ""}),
    # sessions, fragments
    "sessions_before": (("--before",), {"metavar": "DATE", "type": moment_from, "required": True}),
    "fragments_id": (("ids",), {"metavar": "FRAGMENT", "nargs": "+"}),
    # setup
    "setup_clients": (("clients",), {"metavar": "CLIENT", "type": _client_key}),
    # help
    "help_command": (("about",), {"metavar": "COMMAND", "nargs": "*"}),
}
# Options that are named by what is behind the word of their command, some with a value.
SIMPLE = (
    "public json force forgotten versions hard originals kind=KIND view_open doctor_fix"
    " doctor_online report_staged report_strict report_github scan_staged scan_history scan_redact"
    " export_remove sessions_open sessions_off migrate_sql setup_remove setup_user setup_url=URL"
    " setup_no_rules setup_no_hooks setup_no_approvals setup_rooms=ROOMS setup_oauth"
    " keys_agent=AGENT add_topic=TOPIC add_missing=TEXT add_lesson=TEXT add_ask=TEXT"
).split()
for name, _, metavar in (words.partition("=") for words in SIMPLE):
    option = f"--{(name.partition('_')[2] or name).replace('_', '-')}"
    OPTIONS[name] = ((option,), {"metavar": metavar} if metavar else {"action": "store_true"})


def _facts_of(option: str) -> dict[str, str]:
    if option == "room":
        return {"rooms": ", ".join(room_names())}
    if option == "export_format":
        return {"formats": ", ".join(EXPORT_FORMATS)}
    if option not in ("hook_event", "hook_client", "setup_clients"):
        return {}
    from commands.clients.table import CLIENTS, EVENTS, HOOKS

    keys = HOOKS if option == "hook_client" else [client.key for client in CLIENTS]
    return {"events": ", ".join(EVENTS), "clients": ", ".join(keys)}


def parser_of(name: str, commands: Commands) -> Parser:
    """Return the parser of a command or action; without a row an action is required."""
    row = commands.get(name)
    actions = [other.partition(" ")[2] for other in commands if other.startswith(f"{name} ")]
    parser = Parser(prog=f"{CLI} {name}", description=about_of(name))
    parser.set_defaults(command=name, commands=commands, refuse=parser.error)
    if row is None or row.has_project:
        add_project(parser)
    if actions:
        nargs, text = "?" if row else None, explain("action", actions=", ".join(actions))
        parser.add_argument(
            "action", metavar="ACTION", nargs=nargs, type=choice_of(actions), help=text
        )
    for word in row.options.split() if row else ():
        names = word.split("/")
        group = parser.add_mutually_exclusive_group() if len(names) > 1 else parser
        for name_and_count in names:
            option = name_and_count.rstrip("?*+")
            flags, settings = OPTIONS[option]
            if count := name_and_count[len(option) :]:
                settings = {**settings, "nargs": count}
            group.add_argument(*flags, help=explain(option, **_facts_of(option)), **settings)
    action_lines = named_lines({action: explain(f"{name}_{action}") for action in actions})
    lines = [f"{explain('actions')}:", *action_lines, ""] if actions else []
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


def explain(key: str, **facts: str | int) -> str:
    return say(f"help.{key}", **facts)


# The pages.


def show_help(options: argparse.Namespace) -> int:
    """Print the page of a command, or all commands; always 0."""
    commands, name = options.commands, " ".join(options.about)
    if not name:
        groups = dict[str, dict[str, None]]()  # an action is told with its command, there once
        for command, row in commands.items():
            groups.setdefault(row.group, {})[command.partition(" ")[0]] = None
        lines = list[str]()
        for group, members in groups.items():
            lines += ["", explain(group), *_summary_lines(members, _names_of(commands))]
        print(_build_page(lines), end="")
        return 0
    known_names = list(dict.fromkeys([*_names_of(commands), *commands]))
    first, *more = options.about
    has_actions = any(command.startswith(f"{first} ") for command in known_names)
    if more and first in known_names and not has_actions:
        options.refuse(say("parser.too_many", value=more[0]))
    if name not in known_names:
        options.refuse(with_nearest_name(say("parser.command", value=name), name, known_names))
    print(parser_of(name, commands).format_help(), end="")
    return 0


def first_page(commands: Commands) -> str:
    """Return the newcomer's page: the commands of a day."""
    more = _paragraph("more", count=len(_names_of(commands)) - len(FIRST_COMMANDS))
    return _build_page(["", *_summary_lines(FIRST_COMMANDS, FIRST_COMMANDS), "", more])


def top_parser(commands: Commands) -> Parser:
    """Return the parser of a line without a known command."""
    parser = Parser(prog=CLI, page=lambda: first_page(commands))
    add_project(parser)
    add_version(parser, f"{NAME} {read_version()}")
    names = choice_of(_names_of(commands))
    parser.add_argument("command", metavar="COMMAND", nargs="?", type=names)
    return parser


def _names_of(commands: Commands) -> list[str]:
    return list(dict.fromkeys(name.partition(" ")[0] for name in commands))


def _summary_lines(names: Iterable[str], all_names: Iterable[str]) -> list[str]:
    return named_lines({name: explain(f"cmd_{name}") for name in names}, all_names)


def _paragraph(key: str, **facts: str | int) -> str:
    return "\n".join(wrap_text(explain(key, **facts), indent=""))


def _build_page(lines: list[str]) -> str:
    options = {
        "-p, --project DIR": explain("of_project"),
        "-h, --help": say("parser.help"),
        "-V, --version": say("parser.version"),
    }
    lines = [_paragraph("about"), "", _paragraph("usage"), *lines, "", explain("options")]
    lines += [*named_lines(options), "", explain("examples")]
    lines += [f"{INDENT}{CLI} {example}" for example in EXAMPLES]
    return "\n".join([*lines, "", _paragraph("of_command"), ""])
