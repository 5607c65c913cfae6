"""Writes the parts of the documents that the program knows: python docs/generated.py [--check]

A part stands between two comments with square brackets, of cog (https://cog.readthedocs.io). The
first one holds a call of a function below, which prints the part. The words beside what the program
knows are in `tables.toml`, those beside measured figures in `figures.toml`. `--check` changes
nothing, and ends with 1 where a part is an old one.
"""

import argparse
import inspect
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cogapp import Cog

import cli
from commands.clients.merge import with_value
from commands.clients.table import CLIENTS, KEY_VARIABLE, Client, Level, Place
from commands.options import about_of, explain, parser_of
from core import program
from core.config import DEFAULT_BUDGET_CHARS, NAME_CHARS, Settings
from core.data import rules
from core.lessons import anchors, record
from core.messages import Language, language, use_language
from rooms.fragments import draft, fragment, texts
from rooms.fragments import room as fragments_room
from rooms.sessions import config as sessions_config
from rooms.sessions import session

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "benchmarks/README.md", *sorted(ROOT.glob("docs/*.md"))]
WORDS = tomllib.loads((ROOT / "docs/tables.toml").read_text(encoding="utf-8"))
FIGURES = tomllib.loads((ROOT / "docs/figures.toml").read_text(encoding="utf-8"))
RESULTS = json.loads((ROOT / "benchmarks/results.json").read_text(encoding="utf-8"))
PROGRAM = program.CLI  # as it was when the commands were imported


def table(head: Iterable[str], rows: Iterable[Iterable[str]], right: Iterable[int] = ()) -> None:
    """Print a table. right: the numbers of the columns with figures."""
    head = [*head]
    rules = ["---:" if number in {*right} else "---" for number in range(len(head))]
    for row in (head, rules, *rows):
        print(f"| {' | '.join(row)} |")


def listed(rows: Iterable[tuple[str, str]]) -> None:
    """Print a list of names and what each is."""
    for name, about in rows:
        print(f"- {name}: {about}")


# The commands.

# The document that says more of a command.
MORE = {
    "setup": "clients",
    "doctor": "troubleshooting",
    "sessions": "sessions",
    "fragments": "fragments",
    "import": "reference",
    "export": "reference",
    "report": "ci",
    "scan": "SECURITY",
    "hook": "hooks",
}


def commands(spoken: Language) -> None:
    """Every command with its options, of docs/commands.md or docs/commands.ko.md."""
    before, program.CLI = program.CLI, program.NAME  # as it is called where it is installed
    try:
        with use_language(spoken):
            print()
            groups = [*dict.fromkeys(row.group for row in cli.COMMANDS.values())]
            for number, group in enumerate(groups, 1):
                print(f"## {number}. {explain(group)}\n")
                names = [name for name, row in cli.COMMANDS.items() if row.group == group]
                for name in dict.fromkeys(it.partition(" ")[0] for it in names):
                    print(*_command(name), sep="\n")
    finally:
        program.CLI = before


def _command(name: str) -> Iterator[str]:
    actions = [other for other in cli.COMMANDS if other.startswith(f"{name} ")]
    yield f"### {name}\n"
    yield f"{about_of(name)}\n"
    if name in MORE:
        korean = f"{MORE[name]}.ko.md"
        is_korean = language() == "ko" and (ROOT / "docs" / korean).exists()
        file = korean if is_korean else f"{MORE[name]}.md"
        yield f"{WORDS['commands'][language()]['more']}: [{file}]({file})\n"
    own = [name] if name in cli.COMMANDS else []
    examples = list[str]()
    for each in (*own, *actions):
        start = re.compile(rf" +{re.escape(PROGRAM)} ({each} .*|{each})")
        lines = (parser_of(each, cli.COMMANDS).epilog or "").splitlines()
        examples += [found[1] for line in lines if (found := start.fullmatch(line))]
    if shown := examples[:MOST_EXAMPLES]:
        yield "\n".join(["```sh", *(f"{program.NAME} {it}" for it in shown), "```", ""])
    yield from _options(parser_of(name, cli.COMMANDS))
    for action in actions:
        yield f"**`{action}`**: {about_of(action)}\n"
        yield from _options(parser_of(action, cli.COMMANDS))


def common_options(spoken: Language) -> None:
    """The options that mean the same for many commands, which need no line at each of them."""
    with use_language(spoken):
        listed(_common())


COMMON = 2  # an option of fewer commands is explained at each of them
MOST_EXAMPLES = 2  # further ones are in the help of the command


def _common() -> list[tuple[str, str]]:
    parsers = (parser_of(name, cli.COMMANDS) for name in cli.COMMANDS)
    times = Counter(row for parser in parsers for row in _rows(parser))
    return [row for row, number in times.items() if number >= COMMON and row[0].startswith("`-")]


def _rows(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        if action.dest in ("help", "project", "action"):
            continue
        about = str(action.help)
        about = about if language() == "ko" else about[:1].upper() + about[1:]
        values: list[str | None] = [str(action.metavar)] if action.metavar else [None]
        if action.choices and not action.metavar:
            values = [*action.choices]
        names = action.option_strings or [""]
        said = [f"{name} {value}" if value else name for name in names for value in values]
        yield ", ".join(f"`{it.strip()}`" for it in said), about


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    common = _common()
    rows = [*_rows(parser)]
    lines = [f"- {name}: {about}" for name, about in rows if (name, about) not in common]
    # The long spelling of a common option, without its value.
    names = [name.split(", ")[-1].strip("`") for name, about in rows if (name, about) in common]
    if also := ", ".join(f"`{name.split()[0]}`" for name in names):
        lines.append(f"- {WORDS['commands'][language()]['also']} {also}")
    if lines:
        yield "\n".join([*lines, ""])


# The tools.


def tools(room: str) -> None:
    """The tools of a room, with what a model reads of each; of the log with their parameters."""
    surface = "tool_surface" if room == "lessons" else f"tool_surface_{room}"
    offered = json.loads((ROOT / f"tests/data/{surface}.json").read_text(encoding="utf-8"))
    for tool in offered:
        names = ", ".join(f"`{it}`" for it in tool["inputSchema"]["properties"])
        inside = f" ({names})" if room == "lessons" else ""
        print(f"- `{tool['name']}`{inside}: {' '.join(tool['description'].split())}")


# Settings and limits.


def settings() -> None:
    """Every environment variable, of docs/reference.md."""
    values = Settings()._asdict()
    rows = [
        (f"`{name}`" + (f" (`{default.format(**values)}`)" if default else ""), meaning)
        for name, (default, meaning) in WORDS["settings"].items()
    ]
    listed(rows)


def keys(room: str) -> None:
    """Every key of a room's `config.json`."""
    rows = []
    module: Any = sessions_config if room == "sessions" else fragments_room
    defaults = sessions_config.Config() if room == "sessions" else fragments_room.Config(Path())
    assert {*WORDS["keys"][room]} == {*module._KEYS}
    for key, (field, _) in module._KEYS.items():
        if field in fragment.TYPES:
            value: Any = fragment.TYPES[field].stale_days
        elif field == "doubtful_days":
            value = fragment.TYPES["procedure"].doubtful_days
        elif field == "recency_weight":
            value = 1 - fragments_room.Config(Path()).importance_weight
        else:
            value = getattr(defaults, field)
        shown = value if isinstance(value, tuple) else [value]
        said = [it if isinstance(it, str) else json.dumps(it) for it in shown]
        default = "" if value is None else f" ({', '.join(f'`{it}`' for it in said)})"
        rows.append((f"`{key}`{default}", WORDS["keys"][room][key]))
    listed(rows)


def limits(room: str) -> None:
    """The limits of a room's texts."""
    values: dict[str, Any] = {"NAME_CHARS": NAME_CHARS, "BUDGET_CHARS": DEFAULT_BUDGET_CHARS}
    modules = {
        "lessons": (record, anchors),
        "sessions": (session,),
        "fragments": (fragment, draft, texts),
    }
    for module in modules[room]:
        values |= {name: value for name, value in vars(module).items() if name.isupper()}
    values |= Settings()._asdict() | record.LIMITS_BYTES
    rows = [(name, limit.format(**values)) for name, limit in WORDS["limits"][room].items()]
    listed(rows)


# The clients.

# What a place of clients.json begins with, as people write it.
DIRECTORIES = {
    "root": "",
    "home": "~/",
    "claude": "~/",
    "claude-home": "~/.claude/",
    "codex": "~/.codex/",
    "copilot": "~/.copilot/",
}


def client_files(level: Level) -> None:
    """What setup writes for each client, in a project or for a user."""
    rows = []
    for client in CLIENTS:
        if level not in client.entry:
            continue
        said = [_server(client, level)]
        place = getattr(client.approvals, level) if client.approvals else ""
        approvals = ", ".join(f"`{key}` in the entry" for key in client.allows)
        if client.approvals and place:
            of_repository = ".".join(client.approvals.keys).replace("$top", "REPOSITORY")
            approvals = f"`{of_repository}` in {_shown(place)}"
        hooks = getattr(client.hooks, level) if client.hooks else ""
        rules = ""
        if client.rules and level == "user":
            rules = _shown(client.rules.user) if client.rules.user else ""
        elif client.rules:
            [home, *_] = client.rules.homes
            rules = "`AGENTS.md`" if home == "AGENTS.md" else f"`AGENTS.md`, imported by `{home}`"
        said += [f"approvals {approvals}"] if approvals else []
        said += [f"hooks {_shown(hooks)}"] if hooks else []
        said += [f"rules {rules}"] if rules else []
        rows.append((client.name, "; ".join(said)))
    listed(rows)


def _server(client: Client, level: Level) -> str:
    directory, _, file = client.entry[level].partition(":")
    if directory not in DIRECTORIES:
        return f"its own `{Path(file).name}`, for one project"
    left_out = client.not_of_user if level == "user" else ()
    switches = [f"`{key}`" for key, value in client.stdio.items() if value is True]
    kept = [it for it in switches if it.strip("`") not in left_out]
    return ", with ".join([_shown(client.entry[level]), *kept])


def _shown(place: Place) -> str:
    directory, _, file = place.partition(":")
    return f"`{DIRECTORIES[directory]}{file}`"


def team_entries() -> None:
    """The entry that each client gets of a server that others run."""
    rows = []
    for client in CLIENTS:
        if client.http:
            *keys, key = client.key_in
            entry = with_value({**client.http, **client.allows}, keys, key)
            text = json.dumps(entry).replace("$url", "https://memory.example.com/mcp")
            text = text.replace("$key", KEY_VARIABLE)
            if client.entry["project"].endswith(".toml"):
                text = re.sub(r'"(\w+)": ', r"\1 = ", text).replace("{", "{ ").replace("}", " }")
            place = f"{_shown(client.entry['project'])}, `{client.under}`"
            rows.append((client.name, f"{place}: `{text}`"))
    listed(rows)


# What was measured.

SERVERS = ("Sentinel-Memory", "server-memory", "mcp-memory-libsql")
NOISE = 0.95


def say(name: str) -> None:
    """A text with figures, or a table of such rows."""
    words = FIGURES["said"][name]
    if isinstance(words, str):
        print(_filled(words, name).strip())
    else:
        head, *rows = [[_filled(cell, name) for cell in row] for row in words]
        table(head, rows, right=range(1, len(head)) if not name.startswith("rooms") else ())


def _filled(words: str, name: str) -> str:
    """Put figures into `{part/name|format}`, of a comparison into `{part/name/server}`."""
    place = r"\{([^{}|]+)(?:\|([^{}]*))?\}"
    text = re.sub(place, lambda it: _shown_figure(it[1], it[2]), words)
    return text if name.endswith("ko") else re.sub(r"(?<=\d)%", " %", text)


def _shown_figure(path: str, form: str | None) -> str:
    part, name, *server = path.split("/")
    value = (_of_program() if part == "program" else RESULTS[part]["figures"])[name]
    if server:
        value = value["values"][server[0]]
    if isinstance(value, str) or value is None:
        return str(value or "–")
    if form is None:
        form = ",.0f" if float(value).is_integer() or value >= 100 else ".3g"
    return format(value, form)


@cache
def _of_program() -> dict[str, Any]:
    """Figures that need no measuring: the rules of redaction, and what the day of a document costs.

    Of the day, the tokens of all answers in docs/fragments.md.
    """
    encoding = import_module("bpe_openai").get_encoding("o200k_base")
    found = {"rules": len(rules())}
    for spoken, name in (("en", "fragments.md"), ("ko", "fragments.ko.md")):
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        calls = re.findall(r"^```text\n(\w+\(.*?)^```$", text, re.M | re.S)
        answers = [call.partition(")\n\n")[2].strip() for call in calls]
        found[f"day, {spoken}"] = sum(len(encoding.encode(it)) for it in answers)
    return found


def costs(spoken: Language) -> None:
    """The table of costs of a README; the best figure of a row is bold."""
    rows = []
    for label, part, name, unit, best in FIGURES["costs"][spoken]["rows"]:
        values = [RESULTS[part]["figures"][name]["values"][server] for server in SERVERS]
        numbers = [float(str(it).partition(" ")[0]) for it in values if str(it)[0].isdigit()]
        wanted = f"{(min if best == 'least' else max)(numbers):g}"
        cells = []
        for value in values:
            text = str(value).partition(" (")[0]
            number = _number(value) if isinstance(value, int | float) else text
            said = f"{FIGURES['costs'][spoken].get(text, number)} {unit}".strip()
            is_best = text[0].isdigit() and f"{float(text):g}" == wanted
            cells.append(f"**{said}**" if is_best else said)
        rows.append((label, *cells))
    table(("", *SERVERS), rows, right=(1, 2, 3))


def compared(*parts: str) -> None:
    """The rows of parts of the comparison, with the ratios to this server."""
    found = [row for part in parts for row in RESULTS[f"compare, {part}"]["figures"].items()]
    rows = [row for row in found if row[0] != "version" and not row[0].endswith("refused")]
    columns = [*dict.fromkeys(name for _, it in rows for name in it["values"])]
    lines = []
    for label, it in rows:
        cells = []
        for name in columns:
            times = f" ({it['ratios'][name]:.2f} x)" if name in it["ratios"] else ""
            cells.append(_number(it["values"].get(name)) + times)
        lines.append((label, *cells))
    table(("", *columns), lines, right=range(1, len(columns) + 1))


def _number(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    if isinstance(value, int) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


SECTIONS = ("start", "memory", "calls", "tokens", "concurrency", "kills", "damage")


def compared_when() -> None:
    """When each section of the comparison was measured, on what, with which versions."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for section in SECTIONS:
        it = RESULTS[f"compare, {section}"]
        of_servers = it["figures"]["version"]["values"].items()
        versions = ", ".join(f"{name} {version}" for name, version in of_servers)
        found.setdefault((it["date"], it["machine"], versions), []).append(section)
    for (date, machine, versions), sections in found.items():
        print(f"- {date} ({', '.join(sections)}): {machine}; {versions}")


def behind() -> None:
    """Where another memory server needs less than this one, by more than noise."""
    for server in SERVERS[1:]:
        said = []
        for section in SECTIONS:
            rows = RESULTS[f"compare, {section}"]["figures"].values()
            times = [it.get("ratios", {}).get(server) or 1.0 for it in rows]
            less = sorted(it for it in times if it < NOISE)
            if less:
                said.append(f"{section} ({len(less)} rows, {less[0]:.2f} x to {less[-1]:.2f} x)")
        print(f"- {server}: {'; '.join(said)}")


def measured_when() -> None:
    """When the figures of each part were measured, as far as it is known."""
    found: dict[tuple[str, str], list[str]] = {}
    for part, it in RESULTS.items():
        by = "by a former script" if it.get("carried over") else "by today's"
        found.setdefault((it["date"], by), []).append(part.replace("compare, ", "compare: "))
    for (date, by), parts in sorted(found.items()):
        print(f"- {date}, {by}: {'; '.join(parts)}")


# Writing.


def run(*arguments: str) -> int:
    """Write the parts of all documents, or check them. Returns 1 for one that is an old one."""
    names = [str(path) for path in DOCUMENTS]
    functions = {name: it for name, it in globals().items() if inspect.isfunction(it)}
    cog = Cog()
    cog.options.defines.update(functions)
    how = [*arguments] if "--check" in arguments else ["-r", *arguments]
    return int(cog.main(["cog", *how, "--verbosity=1", "-P", *names]))


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
