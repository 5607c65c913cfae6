"""Sets up clients over files of many kinds, and says what stands in them afterwards.

    python -m tests.support.setup_cases          records what setup writes now

A file is recorded as the data it holds, so that a change of its layout alone is none.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.cli_process import CLI
from tests.support.desk import Desk

RECORDED = Path(__file__).parents[1] / "data" / "setup" / "cases.jsonl"
CLIENTS = "cursor", "claude-code", "claude-desktop", "vscode", "codex", "gemini", "copilot"
LEVELS: Mapping[str, tuple[str, ...]] = {
    "project": (),
    "user": ("--user",),
    "url": ("--url", "https://memory.example.com/mcp"),
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

    def words(self, rooms: str = "") -> tuple[str, ...]:
        """The command line."""
        return "setup", self.client, *LEVELS[self.level], "--rooms", rooms or self.rooms, "--yes"


def cases() -> Iterator[Case]:
    """Every case."""
    for client in CLIENTS:
        for level in LEVELS:
            for rooms in ROOMS:
                yield from (Case(client, level, rooms, state) for state in STATES)


def result_of(case: Case, top: Path) -> dict[str, Any]:
    """What setup ends with, and every file below the project and the home directory."""
    desk = Desk(top / "a project", top / "home")
    subprocess.run(["git", "init", "-q", str(desk.root)], check=True)
    if case.state == "own":
        desk.run(*case.words("lessons"))
    elif case.state != "empty":
        made = Desk(top / "made" / "a project", top / "made" / "home")
        subprocess.run(["git", "init", "-q", str(made.root)], check=True)
        made.run(*case.words())
        for name, content in _files(made).items():
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(theirs(name, content, with_comments=case.state == "commented"))
    done = desk.run(*case.words())
    files = {name: _data(name, _named(content, top)) for name, content in _files(desk).items()}
    return {"case": case.name, "exit": done.code, "files": files}


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


def _files(desk: Desk) -> dict[str, str]:
    """The text of every file that belongs to a client, by its place."""
    return {
        name: content.decode()
        for name, content in desk.files().items()
        if not {".git", ".context", ".cache", ".local", "made"} & {*Path(name).parts}
    }


def _named(text: str, top: Path) -> str:
    """A text without what differs from one machine to another."""
    for place, name in ((str(top), "@TOP@"), (sys.executable, "@PYTHON@"), (str(CLI), "@CLI@"),
                        (str(CLI.parent), "@PROGRAM@")):  # fmt: skip
        text = text.replace(json.dumps(place)[1:-1], name).replace(place, name)
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
            result = result_of(case, Path(os.path.realpath(top)))
        lines.append(json.dumps(result, ensure_ascii=False, sort_keys=True))
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
