"""Tests the files that setup writes for every client, and that its parts can be removed.

    python -m tests.commands.clients.test_recorded          records the files of today's setup

A file is recorded as its data, so that a change of layout alone does not count.
"""

import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commands.clients.files import Plan, Tree
from commands.clients.machine import installation_in
from commands.clients.table import CLIENTS
from tests.commands.clients.conftest import Bench
from tests.support.cli_process import CLI
from tests.support.costly import enough
from tests.support.tables import DATA

RULES = r"(?s)(?<=rules: begin -->\n).*?(?=\n<!-- sentinel)"
LEVELS: Mapping[str, Mapping[str, str]] = {
    "project": {},
    "user": {"level": "user"},
    "url": {"url": "https://memory.example.com/mcp"},
}
ROOMS = "lessons", "lessons,sessions", "lessons,sessions,fragments"
STATES = "empty", "own", "foreign", "commented"
ITEM = {"type": "command", "command": "./theirs.sh", "timeout": 5}
FOREIGN: Mapping[str, Any] = {  # by a key of ours, the entries of others below it
    "mcpServers": {"theirs": {"command": "node", "args": ["theirs.js"], "env": {"A": "1"}}},
    "servers": {"theirs": {"type": "stdio", "command": "node", "args": ["theirs.js"]}},
    "permissions": {"allow": ["Bash(ls)"], "deny": ["Read(.env)"]},
}
TOML = 'model = "theirs"\n\n[mcp_servers.theirs]\ncommand = "node"\nargs = ["theirs.js"]\n'


class Case(NamedTuple):
    """One call of setup. state: the content of the client's files before it."""

    client: str
    level: str
    rooms: str
    state: str

    @property
    def name(self) -> str:
        return " ".join(self)

    def done(self, bench: Bench, **more: Any) -> Plan:
        tree = Tree(bench.root / ".git/info/exclude", "", frozenset())
        here = installation_in((sys.executable,), str(CLI.parent), windows=False)
        asked: dict[str, Any] = {"rooms": tuple(self.rooms.split(",")), "installation": here}
        return bench.do(self.client, **asked, tree=tree, **LEVELS[self.level], **more)

    def prepared(self, top: Path) -> Bench:
        """A bench with the files as they are before the call."""
        bench, made = Bench(top), Bench(top / "made")
        for one in (bench, made):
            one.put({})
        if self.state == "own":
            self._replace(rooms="lessons").done(bench)
        elif self.state != "empty":
            self.done(made)
            for name, content in files(made).items():
                bench.put({name: theirs(name, content, with_comments=self.state == "commented")})
        return bench

    def result(self, bench: Bench) -> dict[str, Any]:
        """Its exit status, and every file below the project and the home directory."""
        planned = self.done(bench)
        found = {
            name.replace("root/", "a project/", 1): data(name, without_places(content, bench))
            for name, content in files(bench).items()
        }
        return {"case": self.name, "exit": int(bool(planned.problems)), "files": found}


def cases() -> Iterator[Case]:
    for client in CLIENTS:
        for level in LEVELS:
            for rooms in ROOMS:
                yield from (Case(client.key, level, rooms, state) for state in STATES)


def theirs(name: str, content: str, *, with_comments: bool) -> str:
    """The content that a user may have in a file into which setup writes `content`."""
    if name.endswith(".toml"):
        return f"# theirs\n{TOML}" if with_comments else TOML
    if not name.endswith(".json"):
        return "# Our rules\n\nBe kind.\n"
    ours = json.loads(content)
    kept: dict[str, Any] = {key: FOREIGN[key] for key in ours if key in FOREIGN}
    kept |= {"theirs": {"a": [1, 2.5, "넷"]}}
    if events := ours.get("hooks"):
        is_grouped = "hooks" in next(iter(events.values()))[0]
        item = {"matcher": "theirs", "hooks": [ITEM]} if is_grouped else ITEM
        kept["hooks"] = {next(iter(events)): [item]}
    text = json.dumps(kept, ensure_ascii=False, indent=4) + "\n"
    return text.replace("{\n", "{\n    // theirs\n", 1) if with_comments else text


def files(bench: Bench) -> dict[str, str]:
    """The text of every file that belongs to a client, by its place."""
    found = bench.files().items()
    return {name: content.decode() for name, content in found if ".git/" not in name}


def without_places(text: str, bench: Bench) -> str:
    """A text with signs for the places that differ from one machine to another."""
    for place, name in ((str(bench.root), "@TOP@/a project"), (str(bench.top), "@TOP@"),
                        (sys.executable, "@PYTHON@"), (str(CLI), "@CLI@"),
                        (str(CLI.parent), "@PROGRAM@")):  # fmt: skip
        text = text.replace(place, name)
    signs = {"has a .context": "user", "[Sessions]": "sessions", "[Fragments]": "fragments"}
    return re.sub(
        RULES,
        lambda it: " ".join(["@RULES@", *(name for sign, name in signs.items() if sign in it[0])]),
        text,
    )


def data(name: str, text: str) -> Any:
    try:
        if name.endswith(".json"):
            return json.loads(text)
        return tomllib.loads(text) if name.endswith(".toml") else text
    except ValueError:  # with comments
        return text


RECORDED_FILE = DATA / "setup" / "cases.jsonl"
RECORDED = {it["case"]: it for it in map(json.loads, RECORDED_FILE.read_text("utf-8").splitlines())}


def test_every_case_is_recorded_and_nothing_of_a_project_is_in_the_files_of_a_user() -> None:
    assert [*RECORDED] == [case.name for case in cases()]
    of_user = [RECORDED[case.name]["files"] for case in cases() if case.level == "user"]
    assert "@TOP@/a project" not in json.dumps(of_user)


@pytest.mark.row("001 2-2.b", "002 2.81")
@pytest.mark.parametrize(
    "case", enough(cases(), lambda it: (it.client, it.state), lambda it: (it.level, it.rooms))
)
def test_setup_writes_the_recorded_files_and_takes_them_out(case: Case, tmp_path: Path) -> None:
    """A second call changes nothing, and rooms that are switched off leave nothing behind."""
    bench = case.prepared(tmp_path)
    before = {name: data(name, text) for name, text in files(bench).items()}
    assert case.result(bench) == RECORDED[case.name]
    assert case.done(bench).changes == []
    fewer = case._replace(rooms="lessons")
    assert fewer.result(bench)["files"] == RECORDED[fewer.name]["files"]
    case.done(bench, remove=True)
    left = {name: data(name, text) for name, text in files(bench).items()}
    assert left == ({} if case.state == "own" else before)
    assert case.done(bench, remove=True).changes == []


def main() -> None:
    lines = list[str]()
    for case in cases():
        with tempfile.TemporaryDirectory() as top:
            result = case.result(case.prepared(Path(top).resolve()))
        lines.append(json.dumps(result, ensure_ascii=False, sort_keys=True))
    RECORDED_FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
