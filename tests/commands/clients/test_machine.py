"""Tests the entries that are found in clients' configuration, without starting a client."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from commands.clients.entries import ServerEntry, server_entries, team_entries
from commands.clients.machine import find_commands, runner_of
from commands.clients.table import CLIENTS, COMMANDS, ENTRY, TEAM_ENTRY
from tests.commands.clients.conftest import Bench
from tests.support.documents import text_of
from tests.support.tables import table

ROWS = table("commands/configured")


def filled(value: Any, bench: Bench) -> Any:
    """The value with the places of a bench filled in."""
    places = {"home": bench.home, "root": bench.root, "tool": bench.tool, "python": bench.python}
    places |= {"server": bench.path("tool/server.py"), "uv": bench.path("tool/uv")}
    text = json.dumps(value, ensure_ascii=False)
    for name, place in places.items():
        text = text.replace(f"{{{name}}}", str(place))
    return json.loads(text)


def our_entry(bench: Bench, *arguments: str, **more: object) -> dict[str, object]:
    words = [str(bench.path("tool/server.py")), *arguments]
    return {"command": bench.python, "args": words, **more}


def find(bench: Bench, platform: str = "linux", **environment: str) -> list[ServerEntry]:
    return server_entries(bench.machine_on(platform, **environment))


@pytest.mark.parametrize(
    ("client", "file"), ROWS["the_configuration_of_the_document_leads_to_the_project"]
)
def test_a_documented_configuration_is_found(client: str, file: str, bench: Bench) -> None:
    part = text_of("docs/clients.md").split(f"\n### {client}\n", 1)[1]
    sample = re.findall(r"^```(?:json|toml)\n(.*?)^```", part, re.M | re.S)[0]
    sample = sample.replace("/opt/sentinel-memory", bench.tool.as_posix())
    bench.put({file: sample.replace("/absolute/path/to/your-project", bench.root.as_posix())})
    [found] = find(bench)
    [key] = [row.key for row in CLIENTS if row.name == client]
    assert (found.client, found.path, found.entry) == (key, bench.path(file), ENTRY)
    assert (found.project, found.problem) == (bench.root, "")


@pytest.mark.parametrize(("platform", "file", "variable"), ROWS["every_system_has_its_own_places"])
def test_systems_have_their_places(platform: str, file: str, variable: str, bench: Bench) -> None:
    under = "servers" if file.endswith("/User/mcp.json") else "mcpServers"
    bench.put({file: {under: {ENTRY: our_entry(bench, "--project", str(bench.root))}}})
    environment = {variable: str(bench.path("moved"))} if variable else {}
    assert [it.path for it in find(bench, platform, **environment)] == [bench.path(file)]


@pytest.mark.parametrize("row", ROWS["an_entry_gives_its_project_or_problem"])
def test_an_entry_gives_its_project_or_problem(row: list[Any], bench: Bench) -> None:
    file, words, more, expected = row
    bench.put({"root/sub/x": "", "tool/uv": ""})
    entry = {**our_entry(bench, *words), **more}
    bench.put({f"root/{file}": filled({"mcpServers": {ENTRY: entry}}, bench)})
    [found] = find(bench, SENTINEL_MEMORY_PROJECT=str(bench.home), HERE=str(bench.home))
    project = str(found.project).replace(str(bench.top), "").removeprefix("/")
    assert [project if found.project else None, found.problem] == expected


@pytest.mark.parametrize("case", ROWS["found"])
def test_our_entries_are_found_among_others_with_their_project(case: str, bench: Bench) -> None:
    """A case is the files, and the name, the project and the problem of each entry of ours."""
    (bench.home / "server.py").symlink_to(bench.path("tool/server.py"))
    files, expected = filled(ROWS["found"][case], bench)
    bench.put(files)
    found = [[it.entry, str(it.project or ""), it.problem] for it in find(bench)]
    assert found == expected


def test_an_entry_for_a_server_of_others_is_read_without_its_key(bench: Bench) -> None:
    url = "https://memory.example.com/mcp"
    files = {
        "root/.cursor/mcp.json": {"url": url, "headers": {"Authorization": "Bearer ${env:MINE}"}},
        "root/.mcp.json": {"url": url, "headers": {"Authorization": "Bearer $mk-secret"}},
        "root/.gemini/settings.json": {"httpUrl": url, "headers": {"Authorization": "${input:k}"}},
        "home/.cursor/mcp.json": {"url": url, "command": "npx"},
    }
    for file, entry in files.items():
        bench.put({file: {"mcpServers": {TEAM_ENTRY: entry, "x": {"url": "y"}}}})
    teams = team_entries(bench.machine)
    found = [(it.client.key, it.url, it.variable, it.has_key) for it in teams]
    of_files = [("claude-code", url, "", True), ("gemini", url, "", False)]
    assert found == [("cursor", url, "MINE", False), *of_files]


@pytest.mark.parametrize("row", ROWS["unreadable"])
def test_a_file_that_nobody_can_read_is_reported(row: list[Any], bench: Bench) -> None:
    client, file, head, more, times, end = row
    bench.put({file: (head + more * times + end).encode("latin-1")})
    [found] = find(bench)
    assert (found.client, found.path, found.problem) == (client, bench.path(file), "unreadable")
    bench.path(file).unlink()
    bench.path(file).mkdir()
    assert [it.problem for it in find(bench)] == ["unreadable"]


@pytest.mark.parametrize("odd", [None, 1, ["text"], {"a": None}, "\0", "~\0", "\ud800"])
def test_values_of_odd_types_are_passed_over(odd: object, bench: Bench) -> None:
    entries = {
        "1": odd,
        ENTRY: {"command": odd, "args": odd, "env": odd, "cwd": odd},
        "3": our_entry(bench, env=odd, cwd=odd),
        "4": our_entry(bench, env={"SENTINEL_MEMORY_PROJECT": odd, "PATH": odd}),
        "5": {"command": odd, "args": [odd, str(bench.path("tool/server.py")), "--project", odd]},
    }
    for keys in ("mcpServers", "servers", "projects"):
        for document in ({keys: odd}, {keys: entries}, {"projects": {str(bench.root): odd}}):
            for file in ("root/.mcp.json", "root/.gemini/settings.json", "root/.vscode/mcp.json"):
                bench.put({file: document})
            bench.put({"home/.claude.json": document})
            assert all(it.client and it.problem != "unreadable" for it in find(bench))


# The commands that are written for this machine.


def test_commands_on_the_path_are_written_without_their_path(bench: Bench, tmp_path: Path) -> None:
    scripts, linked = tmp_path / "venv" / "bin", tmp_path / "linked"
    for folder in (scripts, linked):
        folder.mkdir(parents=True)
    for name in COMMANDS:
        (scripts / name).write_text("#!/bin/sh\n")
        (scripts / name).chmod(0o755)
        (linked / name).symlink_to(scripts / name)
    python, keys = str(scripts / "python"), [client.key for client in CLIENTS]
    found = find_commands(python, {"PATH": str(linked)})
    assert found == find_commands(python, {"PATH": str(scripts)})
    assert find_commands(sys.executable, {"PATH": str(scripts)}) is None
    assert find_commands("/c/archive-v0/x/python", {"PATH": str(scripts)}) is None
    bench.do(*keys, installation=found)
    of_project = {name: data for name, data in bench.files().items() if name.startswith("root/")}
    for text in (str(bench.root), str(scripts)):
        assert [name for name, data in of_project.items() if text.encode() in data] == []
    assert bench.plan(*keys, installation=found).changes == []
    (scripts / COMMANDS[1]).unlink()
    assert find_commands(python, {"PATH": str(scripts)}) is None


def test_a_temporary_environment_of_uv_is_not_written_down() -> None:
    for interpreter, environment, runner in (
        ("/opt/tool/.venv/bin/python", {"UV": "/bin/uv"}, ("/opt/tool/.venv/bin/python",)),
        ("/h/.cache/uv/environments-v2/cli-1/bin/python", {"UV": "/bin/uv"}, ("/bin/uv", "run")),
        ("/h/.cache/uv/archive-v0/x/bin/python", {"UV": "/bin/uv"}, ("/bin/uv", "run")),
        ("/h/.cache/uv/environments-v2/cli-1/bin/python", {"PATH": "/nowhere"}, None),
    ):
        assert runner_of(interpreter, environment) == runner
