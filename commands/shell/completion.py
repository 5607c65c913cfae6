"""Prints a script with which bash, zsh or fish completes our command lines."""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import NamedTuple

from commands.clients.table import CLIENTS
from commands.rooms.choice import SESSIONS, rooms_here
from commands.terminal.console import Opened, add_examples, explain, open_memory, settings_here
from commands.terminal.safe_text import plain
from core.errors import SentinelError
from core.parser import add_project
from core.text_redaction import safe

# What a script asks this command for; gone: what left the log, sessions: numbers of the newest,
# fragments: ids of the newest, subjects: topics of fragments, things: of whatever room.
MEMORY = "topics", "ids", "gone", "sessions", "fragments", "subjects", "things"
MOST_SESSIONS = MOST_FRAGMENTS = 100
NAME = "sentinel-memory"
CLIENT_KEYS = tuple(client.key for client in CLIENTS)

# What stands for the value of an option or in the place of an argument, by its name in the help.
_VALUES = {
    **{"ID": "ids", "TOPIC": "topics", "OLD": "topics", "NEW": "topics", "SESSION": "sessions"},
    "FRAGMENT": "fragments",
    **{"DIR": "folders", "FILE": "files", "PATH": "files"},
}


class Offer(NamedTuple):
    """One thing that a command takes. names: the spellings of an option, () for an argument.

    value: what is typed for it: one of MEMORY, "folders", "files", "other", "" for nothing.
    choices: all that may be typed.
    """

    names: tuple[str, ...]
    value: str
    choices: tuple[str, ...]
    about: str


class _Shells(tuple[str, ...]):
    """The shells, which are all that a person is told; a script asks for what is remembered."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in MEMORY


SHELLS = _Shells(("bash", "zsh", "fish"))
Offers = Mapping[str, Sequence[Offer]]  # by a command, or it and its action; "" for all of them


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py completion`."""
    shell = explain("completion_for")
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=shell)
    add_project(parser)
    parser.description = "\n".join(explain(f"completion_{shell}") for shell in SHELLS)
    add_examples(parser, "completion bash", "completion fish")


def run(arguments: argparse.Namespace) -> int:
    """Print the script, or what it asks for; always 0."""
    if arguments.shell == "sessions":
        print("\n".join(_numbers_of_sessions(arguments)))
        return 0
    if arguments.shell in ("fragments", "subjects"):
        names = _names_of_fragments(topics=arguments.shell == "subjects")
        print("\n".join(name for name in names if plain(name) == name))
        return 0
    if arguments.shell in MEMORY:
        opened = open_memory(arguments)
        store = opened.store
        records = store.read().records
        names = [it.id for it in records]
        if arguments.shell == "topics":
            names = [topic for topic in dict.fromkeys(it.topic for it in records) if safe(topic)]
        if arguments.shell == "gone":
            names = [it.record.id for it in store.read_replaced() if it.record.id not in names]
        if arguments.shell == "things":
            names += _names_beside(opened, arguments)
        print("\n".join(name for name in dict.fromkeys(names) if name and plain(name) == name))
        return 0
    names = arguments.names
    parsers = arguments.parsers(*names)
    offers = {name: it for command in names for name, it in _offers(command, parsers[command])}
    ids = offers["restore"]  # which refuses what is in the log
    offers["restore"] = [it._replace(value="gone") if it.value == "ids" else it for it in ids]
    for name in ("show", "forget"):
        offers[name] = [
            it._replace(value="things") if it.value == "ids" else it for it in offers[name]
        ]
    for name in filter(_is_of_fragments, offers):
        offers[name] = [
            it._replace(value="subjects") if it.value == "topics" else it for it in offers[name]
        ]
    offers[""] = [it for it in offers_of(parsers[""]) if it.names]
    abouts = {name: explain(f"cmd_{name}") for name in names}
    print(_WRITERS[arguments.shell](offers, abouts), end="")
    return 0


def _numbers_of_sessions(arguments: argparse.Namespace) -> list[str]:
    from rooms.sessions.store import exist_in, open_sessions  # only who has sessions pays for it

    opened = open_memory(arguments)
    if not exist_in(opened.project.root):
        return []
    store = open_sessions(opened.project.root, opened.settings)
    statement = "SELECT number FROM contexts ORDER BY number DESC LIMIT ?"
    with store.database.reading() as connection:
        rows = connection.execute(statement, (MOST_SESSIONS,)) if connection else ()
        return [str(number) for (number,) in rows]


def _names_beside(opened: Opened, arguments: argparse.Namespace) -> list[str]:
    """Return the names of the newest sessions and fragments, of rooms that can be read."""
    names = list[str]()
    for room in rooms_here(opened):
        with suppress(SentinelError):
            if room == SESSIONS:
                names += [f"#{number}" for number in _numbers_of_sessions(arguments)]
            else:
                names += _names_of_fragments(topics=False)
    return names


def _names_of_fragments(*, topics: bool) -> list[str]:
    """Return the topics of what can be recalled, or the ids of the newest, the bin's among them."""
    from rooms.fragments.engine import Wanted  # only who has fragments pays for it
    from rooms.fragments.room import open_room

    room = open_room(settings_here(), os.environ)
    with room.engine.reading() as reading:
        if topics:
            return [name for name in reading.count(Wanted(), "topic") if name]
        newest = reading.find(Wanted(state="all"), order="newest", limit=MOST_FRAGMENTS)
    return [it.id for it in newest]


def _is_of_fragments(name: str) -> bool:
    return name.split(" ")[0] == "fragments"


def _offers(command: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, list[Offer]]]:
    """Yield what a command takes by its name, and what each of its actions takes by both names."""
    yield command, offers_of(parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield f"{command} {name}", offers_of(below)


def offers_of(parser: argparse.ArgumentParser) -> list[Offer]:
    """Return what a command or an action takes, each once."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], Offer] = {}
    for action in parser._actions:
        name = str(action.metavar or "")
        choices = CLIENT_KEYS if name == "CLIENT" else tuple(map(str, action.choices or ()))
        value = "" if action.nargs == 0 else _VALUES.get(name, "other")
        about = str(action.help or "") % {**vars(action), "prog": parser.prog}
        offer = Offer(tuple(action.option_strings), value, choices, about)
        found.setdefault((offer.names, offer.choices), offer)
    return list(found.values())


def bash_script(offers: Offers, abouts: Mapping[str, str]) -> str:
    """Return the script for bash."""
    lines = _cases(offers, abouts, lambda it, _: it, lambda words: f"'{' '.join(words)}'")
    return _filled("bash", lines, offers)


def zsh_script(offers: Offers, abouts: Mapping[str, str]) -> str:
    """Return the script for zsh, which shows what each word is for."""

    def described(name: str, about: str) -> str:
        return quoted(f"{name}:{about}" if about else name)

    lines = _cases(offers, abouts, described, lambda words: f"({' '.join(words)})")
    return _filled("zsh", lines, offers)


def fish_script(offers: Offers, abouts: Mapping[str, str]) -> str:
    """Return the script for fish, which shows what each word is for."""
    lines = [
        f"complete -c {NAME} -n __sentinel_memory_at -a {name} -d {quoted(about)}"
        for name, about in abouts.items()
    ]
    for command, offered in offers.items():
        at = f"-n '__sentinel_memory_at {command}'" if command else "-n __sentinel_memory_at"
        for offer in offered:
            spelled = [_fish_option(name) for name in offer.names]
            shown = [*spelled, *_fish_values(offer, is_option=bool(spelled))]
            about = ["-d", quoted(offer.about)] if spelled else []
            if shown:
                lines.append(" ".join(["complete", "-c", NAME, at, *shown, *about]))
    return _filled("fish", lines, offers)


def quoted(text: str) -> str:
    """Return a text as one word of any of the shells; it holds no line end."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"


def _fish_option(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


def _fish_values(offer: Offer, *, is_option: bool) -> list[str]:
    asked = {
        **{kind: f"-a '(__sentinel_memory_names {kind})'" for kind in MEMORY},
        "folders": "-a '(__fish_complete_directories)'",
    }
    if not offer.value:
        return []
    if offer.value == "files":
        return ["-r", "-F"] if is_option else ["-F"]
    words = f"-a '{' '.join(offer.choices)}'" if offer.choices else asked.get(offer.value, "")
    return [*(["-x"] if is_option else ()), *([words] if words else ())]


def _cases(
    offers: Offers,
    abouts: Mapping[str, str],
    described: Callable[[str, str], str],
    joined: Callable[[Iterable[str]], str],
) -> list[str]:
    """Return, as bash and zsh have it, what each command takes and each of its options."""
    lines = []
    for command, offered in offers.items():
        options = [described(name, it.about) for it in offered for name in it.names]
        places = [it for it in offered if not it.names]
        choices = [described(choice, "") for it in places for choice in it.choices]
        if not command:
            choices = [described(name, about) for name, about in abouts.items()]
        values = next((it.value for it in places if it.value != "other"), "")
        lines.append(f"        {quoted(command)})")
        lines.append(f"            options={joined(options)} choices={joined(choices)}")
        lines += [f"            values={values}", "            case $prev in"]
        for it in offered:
            if it.names and it.value:
                kept = joined(described(choice, "") for choice in it.choices)
                says = f"known=1 choices={kept} values={it.value}"
                lines.append(f"                {' | '.join(it.names)}) {says} ;;")
        lines.append("            esac ;;")
    return lines


def _filled(shell: str, lines: Sequence[str], offers: Offers) -> str:
    script = files("commands.shell").joinpath(f"completion.{shell}").read_text(encoding="utf-8")
    actions = (" " if shell == "fish" else " | ").join(quoted(it) for it in offers if " " in it)
    return script.replace("@ACTIONS@", actions).replace("@COMMANDS@", "\n".join(lines))


_WRITERS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
