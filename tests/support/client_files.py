"""Finds every file that setup writes for a client, and makes files of users in its place."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands.setup.client_table import CLIENTS
from commands.setup.files import LEVELS, Level, Tree
from commands.setup.plan import Plan
from tests.support.setup_bench import Bench

NOWHERE = Bench(Path("/nowhere/at all"))
# What clients take beside JSON, seen when they were run; where nothing is said, nothing. VS Code
# and the files of Cursor and Claude Desktop as their documents say.
TAKES: Mapping[str, str] = {
    "root/.mcp.json": "mark",
    "root/.claude/settings.json": "mark",
    "root/.claude/settings.local.json": "mark",
    "home/.claude/settings.json": "mark",
    "home/.claude.json": "mark",
    "root/.vscode/mcp.json": "comments commas mark",
    "root/.gemini/settings.json": "comments",
    "home/.gemini/settings.json": "comments",
    "home/.copilot/mcp-config.json": "comments commas mark",
    "home/.copilot/permissions-config.json": "comments commas mark",
}


@dataclass(frozen=True)
class Target:
    """A file that setup writes for a client. fresh: its text where there was none."""

    client: str
    level: Level
    name: str  # as `Bench.put` takes it
    fresh: str

    @property
    def kind(self) -> str:
        suffix = Path(self.name).suffix
        return suffix[1:] if suffix in (".json", ".toml") else "text"

    @property
    def takes(self) -> str:
        """What the client reads there that is no JSON."""
        return TAKES.get(self.name, "")

    def fresh_in(self, bench: Bench) -> str:
        """The same text as it is there."""
        return self.fresh.replace(str(NOWHERE.top), str(bench.top))

    def plan(self, bench: Bench, *, remove: bool = False) -> Plan:
        """What setup would change for this client, rules and all else apart."""
        is_rules = self.fresh.endswith("end -->\n")
        return bench.plan(
            self.client,
            level=self.level,
            remove=remove,
            rules=is_rules,
            hooks=not is_rules,
            tree=tree_in(bench),
        )

    def __str__(self) -> str:
        return f"{self.client}-{self.level}-{self.name}"


def targets() -> Iterator[Target]:
    """Every file of every client on each level, from the plan for a project without any."""
    for row in CLIENTS:
        for level in LEVELS:
            for change in NOWHERE.plan(row.key, level=level, tree=tree_in(NOWHERE)).changes:
                directory = "root" if change.path.is_relative_to(NOWHERE.root) else "home"
                below = change.path.relative_to(NOWHERE.path(f"{directory}/")).as_posix()
                if any(part != "memory" for part, _ in change.parts):
                    yield Target(row.key, level, f"{directory}/{below}", change.text)


def tree_in(bench: Bench) -> Tree:
    """A work tree of git that has no file of the project."""
    return Tree(bench.root / ".git" / "info" / "exclude", "", frozenset())


def theirs(target: Target) -> str:
    """A file of the same form in which all that is ours is a user's."""
    if target.kind == "json":
        return json.dumps(_foreign(json.loads(target.fresh)), indent=2, ensure_ascii=False) + "\n"
    if target.kind == "toml":
        text = re.sub(r'"[^"]*[/\\][^"]*"', '"/그들의 도구/run"', target.fresh)
        return f'model = "o"\n\n{text.replace("sentinel-memory", "their-db")}'
    return "# 우리 규칙\n\nBe kind.\n\n- one\n- two\n"


def _foreign(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key.replace("sentinel-memory", "그들의 db"): _foreign(it) for key, it in value.items()
        }
    if isinstance(value, list):
        return [_foreign(it) for it in value]
    if isinstance(value, str) and ("sentinel" in value or "/" in value):
        return "mcp__their__tool" if value.startswith("mcp__") else "/그들의 도구/run --all"
    return value


# What a client makes of a file.


def as_read(target: Target, data: bytes) -> Any:
    """The data that the client reads there. Raises ValueError where it reads none."""
    text = data.decode("utf-8")
    if target.kind == "text":
        return text.removeprefix("\ufeff").splitlines()
    if target.kind == "toml":
        return tomllib.loads(text.removeprefix("\ufeff"))
    if "mark" in target.takes:
        text = text.removeprefix("\ufeff")
    if "comments" in target.takes:
        text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', r"\1 ", text, flags=re.DOTALL)
    if "commas" in target.takes:
        text = re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', r"\1", text)
    return json.loads(text)


def holds(whole: Any, part: Any) -> bool:
    """Whether all of one value is in another, lists in their order."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and holds(whole[key], value) for key, value in part.items()
        )
    if isinstance(part, list):
        rest = iter(whole if isinstance(whole, list) else [])
        return all(any(holds(there, item) for there in rest) for item in part)
    return bool(whole == part and type(whole) is type(part))
