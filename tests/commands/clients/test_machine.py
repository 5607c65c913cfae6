"""Tests what the program finds in clients' configuration files without starting a client."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commands.clients.entries import Configured, configured_clients, team_entries
from commands.clients.machine import machine_of
from commands.clients.table import CLIENTS, ENTRY, TEAM_ENTRY
from tests.support.desk import Desk as AnyDesk
from tests.support.documents import text_of
from tests.support.tables import table

ROWS = table("commands/configured")


class Desk(AnyDesk):
    """A project, a home directory and an installation of the server, all below one directory."""

    @property
    def server(self) -> Path:
        return self.root.parent / "tool" / "server.py"

    @property
    def python(self) -> Path:
        return self.root.parent / "tool" / ".venv" / "bin" / "python"

    def put(self, path: str, content: str | bytes | Mapping[str, Any]) -> Path:
        """Write a file named from the desk, such as `home/.cursor/mcp.json`."""
        file = self.root.parent / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def entry(self, *arguments: str, **more: object) -> dict[str, object]:
        """An entry that runs the server of this desk."""
        return {"command": str(self.python), "args": [str(self.server), *arguments], **more}

    def find(self, platform: str = "linux", **environment: str) -> list[Configured]:
        return configured_clients(
            machine_of(
                self.root,
                server=self.server,
                home=self.home,
                environment=environment,
                platform=platform,
            )
        )

    def facts(self, platform: str = "linux", **environment: str) -> list[tuple[Any, ...]]:
        """What differs between entries: the project, its source and the problem."""
        found = self.find(platform, **environment)
        return [(it.project, it.source, it.problem) for it in found]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path / "root", tmp_path / "home")
    made.put("tool/server.py", "")
    made.put("tool/.venv/bin/python", "")
    return made


def file_with(entry: object, file: str = "", **others: Any) -> dict[str, object]:
    """What a file with our entry holds, and with others."""
    under = "servers" if file.endswith(("/User/mcp.json", ".vscode/mcp.json")) else "mcpServers"
    return {under: {ENTRY: entry, **others}}


@pytest.mark.parametrize(
    ("client", "file", "source"), ROWS["the_configuration_of_the_document_leads_to_the_project"]
)
def test_the_configuration_of_the_document_leads_to_the_project(
    client: str, file: str, source: str, desk: Desk
) -> None:
    part = text_of("docs/clients.md").split(f"\n### {client}\n", 1)[1]
    sample = re.findall(r"^```(?:json|toml)\n(.*?)^```", part, re.M | re.S)[0]
    sample = sample.replace("/opt/sentinel-memory", desk.server.parent.as_posix())
    path = desk.put(file, sample.replace("/absolute/path/to/your-project", desk.root.as_posix()))
    [found] = desk.find()
    [key] = [row.key for row in CLIENTS if row.name == client]
    assert (found.client, found.path, found.entry) == (key, path, ENTRY)
    assert (found.project, found.source, found.problem) == (desk.root, source, "")


@pytest.mark.parametrize(
    ("file", "argument", "expected"), ROWS["each_client_expands_its_own_variables"]
)
def test_each_client_expands_its_own_variables(
    file: str, argument: str, expected: str, desk: Desk
) -> None:
    argument = argument.replace("%s", str(desk.home))
    desk.put(file, file_with(desk.entry("--project", argument)))
    [found] = desk.find(HERE=str(desk.home))
    if expected:
        assert (found.project, found.problem) == (desk.root.parent / expected, "")
    else:
        assert (found.source, found.problem) == ("CLAUDE_PROJECT_DIR", "unexpanded")


@pytest.mark.parametrize(("platform", "file", "variable"), ROWS["every_system_has_its_own_places"])
def test_every_system_has_its_own_places(
    platform: str, file: str, variable: str, desk: Desk
) -> None:
    path = desk.put(file, file_with(desk.entry("--project", str(desk.root)), file))
    environment = {variable: str(desk.root.parent / "moved")} if variable else {}
    assert [it.path for it in desk.find(platform, **environment)] == [path]


@pytest.mark.parametrize(
    ("file", "words", "more", "expected"),
    ROWS["what_becomes_of_an_entry"],
)
def test_what_becomes_of_an_entry(
    file: str, words: list[str], more: dict[str, Any], expected: tuple[Any, ...], desk: Desk
) -> None:
    (desk.root / "sub").mkdir()
    facts = {"home": desk.home, "root": desk.root, "server": desk.server}
    facts |= {"uv": desk.put("tool/uv", ""), "tool": desk.server.parent}
    text = json.dumps(file_with({**desk.entry(*words), **more}))
    for name, fact in facts.items():
        text = text.replace(f"{{{name}}}", str(fact))
    desk.put(f"root/{file}", text)
    project, *rest = expected
    place = desk.root.parent / project if project else None
    assert desk.facts(SENTINEL_MEMORY_PROJECT=str(desk.home)) == [(place, *rest)]


def test_our_entries_are_told_from_those_of_others(desk: Desk) -> None:
    link = desk.home / "server.py"
    link.symlink_to(desk.server)
    others: dict[str, Any] = {
        "notes": {"command": str(desk.python), "args": [str(link)]},
        "the command": {"command": "/elsewhere/sentinel-memory-server.exe"},
        "sentinel-one": {"command": "node", "args": ["/elsewhere/server.py"]},
        "other": {"url": "https://example.com/server.py"},
    }
    ours = {"command": "python", "args": ["C:\\old\\server.py"]}
    desk.put("root/.mcp.json", file_with(ours, **others))
    assert [it.entry for it in desk.find()] == [ENTRY, "notes", "the command"]


def test_the_project_of_a_user_is_the_one_that_is_open(desk: Desk) -> None:
    folder, nothing = desk.entry("--project", "${workspaceFolder}"), desk.entry()
    home = {"command": "~/py", "args": [str(desk.server), "--project", "~"]}
    desk.put("home/py", "")
    file = "home/.config/Code/User/mcp.json"
    desk.put(file, file_with(folder, file, nothing=nothing, home=home))
    assert desk.facts() == [
        (None, "", "unexpanded"),
        (None, "", "no_project"),
        (desk.home, "--project", ""),
    ]
    projects = {str(desk.root): file_with(nothing), "/elsewhere": file_with(nothing)}
    desk.put("home/.claude.json", {**file_with(nothing), "projects": projects})
    found = [it for it in desk.find() if it.client == "claude-code"]
    assert [it.project for it in found] == [desk.root, desk.root]


def test_an_entry_for_a_server_of_others_is_read_without_its_key(desk: Desk) -> None:
    url = "https://memory.example.com/mcp"
    files = {
        "root/.cursor/mcp.json": {"url": url, "headers": {"Authorization": "Bearer ${env:MINE}"}},
        "root/.mcp.json": {"url": url, "headers": {"Authorization": "Bearer smk_secret"}},
        "root/.gemini/settings.json": {"httpUrl": url},
    }
    for file, entry in files.items():
        desk.put(file, {"mcpServers": {TEAM_ENTRY: entry, "x": {"url": "y"}}})
    machine = machine_of(desk.root, home=desk.home, environment={})
    found = [(it.client.key, it.url, it.variable, it.has_key) for it in team_entries(machine)]
    assert found == [
        ("cursor", url, "MINE", False),
        ("claude-code", url, "", True),
        ("gemini", url, "", False),
    ]


@pytest.mark.parametrize(
    ("client", "file", "content"),
    [
        ("cursor", "home/.cursor/mcp.json", "{"),
        ("claude-code", "home/.claude.json", "[" * 200_000),
        ("vscode", "root/.vscode/mcp.json", '{"a": "b'),
        ("vscode", "root/.vscode/mcp.json", "{" + '"' + '\\"' * 100_000),
        ("vscode", "root/.vscode/mcp.json", "{" + "/*" * 100_000),
        ("codex", "root/.codex/config.toml", "[mcp_servers"),
        ("codex", "home/.codex/config.toml", "a." * 200_000 + "b = 1"),
        ("gemini", "root/.gemini/settings.json", b"\xff\xfe{\x00}\x00"),
    ],
)
def test_a_file_that_nobody_can_read_is_reported(
    client: str, file: str, content: str | bytes, desk: Desk
) -> None:
    path = desk.put(file, content)
    [found] = desk.find()
    assert (found.client, found.path, found.problem) == (client, path, "unreadable")
    path.unlink()
    path.mkdir()
    assert [it.problem for it in desk.find()] == ["unreadable"]


@pytest.mark.parametrize("odd", [None, 1, ["text"], {"a": None}, "\0", "~\0", "\ud800"])
def test_values_of_odd_types_are_passed_over(odd: object, desk: Desk) -> None:
    entries = {
        "1": odd,
        ENTRY: {"command": odd, "args": odd, "env": odd, "cwd": odd},
        "3": desk.entry(env=odd, cwd=odd),
        "4": desk.entry(env={"SENTINEL_MEMORY_PROJECT": odd, "PATH": odd}),
        "5": {"command": odd, "args": [odd, str(desk.server), "--project", odd]},
    }
    for keys in ("mcpServers", "servers", "projects"):
        for document in ({keys: odd}, {keys: entries}, {"projects": {str(desk.root): odd}}):
            for file in ("root/.mcp.json", "root/.gemini/settings.json", "root/.vscode/mcp.json"):
                desk.put(file, document)
            desk.put("home/.claude.json", document)
            assert all(it.client and it.problem != "unreadable" for it in desk.find())
