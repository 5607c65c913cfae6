"""Sets up clients over files of many kinds, and says what stands in them afterwards.

    python -m tests.support.setup_cases          records what setup writes now

A file is recorded as the data it holds, so that a change of its layout alone is none.
"""

import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from commands.clients.files import Tree
from commands.clients.machine import installed
from tests.support.cli_process import CLI
from tests.support.setup_bench import Bench

RECORDED = Path(__file__).parents[1] / "data" / "setup" / "cases.jsonl"
CLIENTS = "cursor", "claude-code", "claude-desktop", "vscode", "codex", "gemini", "copilot"
LEVELS: Mapping[str, Mapping[str, str]] = {
    "project": {},
    "user": {"level": "user"},
    "url": {"url": "https://memory.example.com/mcp"},
}
ROOMS = "lessons", "lessons,sessions", "lessons,sessions,fragments"
STATES = "empty", "own", "foreign", "commented"
_ITEM = {"type": "command", "command": "./theirs.sh", "timeout": 5}
_FOREIGN: Mapping[str, Any] = {  # by a key of ours, what stands below it of others
    "mcpServers": {"theirs": {"command": "node", "args": ["theirs.js"], "env": {"A": "1"}}},
    "servers": {"theirs": {"type": "stdio", "command": "node", "args": ["theirs.js"]}},
    "permissions": {"allow": ["Bash(ls)"], "deny": ["Read(.env)"]},
}
_TOML = 'model = "theirs"\n\n[mcp_servers.theirs]\ncommand = "node"\nargs = ["theirs.js"]\n'


class Case(NamedTuple):
    """One call of setup. state: what stands in the client's files before it."""

    client: str
    level: str
    rooms: str
    state: str

    @property
    def name(self) -> str:
        return " ".join(self)

    def done(self, bench: Bench, rooms: str = "") -> int:
        """Carry it out on a bench; the status that it ends with."""
        planned = bench.do(
            self.client,
            rooms=tuple((rooms or self.rooms).split(",")),
            installation=installed((sys.executable,), str(CLI.parent), windows=False),
            tree=Tree(bench.root / ".git/info/exclude", "", frozenset()),
            **LEVELS[self.level],
        )
        return int(bool(planned.problems))


def cases() -> Iterator[Case]:
    """Every case."""
    for client in CLIENTS:
        for level in LEVELS:
            for rooms in ROOMS:
                yield from (Case(client, level, rooms, state) for state in STATES)


def result_of(case: Case, top: Path) -> dict[str, Any]:
    """What setup ends with, and every file below the project and the home directory."""
    bench, made = Bench(top), Bench(top / "made")
    for one in (bench, made):
        one.put({})
    if case.state == "own":
        case.done(bench, "lessons")
    elif case.state != "empty":
        case.done(made)
        for name, content in _files(made).items():
            bench.put({name: theirs(name, content, with_comments=case.state == "commented")})
    code = case.done(bench)
    files = {
        name.replace("root/", "a project/", 1): _data(name, _named(content, bench))
        for name, content in _files(bench).items()
    }
    return {"case": case.name, "exit": code, "files": files}


def theirs(name: str, content: str, *, with_comments: bool) -> str:
    """What a user may have in a file of which we know what setup writes there."""
    if name.endswith(".toml"):
        return f"# theirs\n{_TOML}" if with_comments else _TOML
    if not name.endswith(".json"):
        return "# Our rules\n\nBe kind.\n"
    ours = json.loads(content)
    data: dict[str, Any] = {key: _FOREIGN[key] for key in ours if key in _FOREIGN}
    data |= {"theirs": {"a": [1, 2.5, "넷"]}}
    if events := ours.get("hooks"):
        is_grouped = "hooks" in next(iter(events.values()))[0]
        item = {"matcher": "theirs", "hooks": [_ITEM]} if is_grouped else _ITEM
        data["hooks"] = {next(iter(events)): [item]}
    text = json.dumps(data, ensure_ascii=False, indent=4) + "\n"
    return text.replace("{\n", "{\n    // theirs\n", 1) if with_comments else text


def _files(bench: Bench) -> dict[str, str]:
    """The text of every file that belongs to a client, by its place."""
    files = bench.files().items()
    return {name: content.decode() for name, content in files if ".git/" not in name}


def _named(text: str, bench: Bench) -> str:
    """A text without what differs from one machine to another."""
    for place, name in ((str(bench.root), "@TOP@/a project"), (str(bench.top), "@TOP@"),
                        (sys.executable, "@PYTHON@"), (str(CLI), "@CLI@"),
                        (str(CLI.parent), "@PROGRAM@")):  # fmt: skip
        text = text.replace(place, name)
    return re.sub(r"(?s)(?<=rules: begin -->\n).*?(?=\n<!-- sentinel)", _rules_name, text)


def _rules_name(rules: re.Match[str]) -> str:
    """The name of these rules: what they say is no matter of setup."""
    parts = {
        "has a .context directory": "user",
        "[Sessions]": "sessions",
        "[Fragments]": "fragments",
    }
    return " ".join(["@RULES@", *(name for sign, name in parts.items() if sign in rules[0])])


def _data(name: str, text: str) -> Any:
    try:
        if name.endswith(".json"):
            return json.loads(text)
        return tomllib.loads(text) if name.endswith(".toml") else text
    except ValueError:  # with comments
        return text


def recorded() -> dict[str, dict[str, Any]]:
    """What was recorded, by the name of its case."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    return {it["case"]: it for it in map(json.loads, lines)}


def main() -> None:
    """Record every case."""
    lines = list[str]()
    for case in cases():
        with tempfile.TemporaryDirectory() as top:
            result = result_of(case, Path(top).resolve())
        lines.append(json.dumps(result, ensure_ascii=False, sort_keys=True))
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
