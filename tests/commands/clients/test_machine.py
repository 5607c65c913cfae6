"""Tests what the program finds in clients' configuration files without starting a client."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commands.clients.machine import (
    Configured,
    Machine,
    configured_clients,
    machine_of,
    team_entries,
)
from commands.clients.table import CLIENTS, TEAM_ENTRY
from tests.support.desk import Desk as AnyDesk
from tests.support.tables import table

ROWS = table("commands/configured")

DOCUMENT = Path(__file__).parents[3] / "docs" / "clients.md"
NAMED = "sentinel-memory"


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
        if not isinstance(content, str | bytes):
            content = json.dumps(content, ensure_ascii=False)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def entry(self, *arguments: str, **more: object) -> dict[str, object]:
        """An entry that runs the server of this desk."""
        return {"command": str(self.python), "args": [str(self.server), *arguments], **more}

    def find(self, platform: str = "linux", **environment: str) -> list[Configured]:
        return configured_clients(self.machine(self.root, platform, **environment))

    def machine(self, root: Path, platform: str = "linux", **environment: str) -> Machine:
        return machine_of(
            root,
            server=self.server,
            home=self.home,
            environment=environment,
            platform=platform,
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


def servers(**entries: object) -> dict[str, object]:
    """A file with `mcpServers`; underscores of a name stand for hyphens."""
    return {"mcpServers": {name.replace("_", "-"): entry for name, entry in entries.items()}}


def sample(client: str, number: int = 0) -> str:
    """A configuration that the document on clients shows for one."""
    text = DOCUMENT.read_text(encoding="utf-8")
    part = text.split(f"\n### {client}\n", 1)[1].split("\n### ", 1)[0]
    samples: list[str] = re.findall(r"^```(?:json|toml)\n(.*?)^```", part, re.M | re.S)
    return samples[number]


def filled(desk: Desk, text: str) -> str:
    text = text.replace("/opt/sentinel-memory", desk.server.parent.as_posix())
    return text.replace("/absolute/path/to/your-project", desk.root.as_posix())


@pytest.mark.parametrize(
    ("client", "file", "source"), ROWS["the_configuration_of_the_document_leads_to_the_project"]
)
def test_the_configuration_of_the_document_leads_to_the_project(
    client: str, file: str, source: str, desk: Desk
) -> None:
    path = desk.put(file, filled(desk, sample(client)))
    [key] = [row.key for row in CLIENTS if row.name == client]
    assert desk.find() == [
        Configured(client=key, path=path, entry=NAMED, project=desk.root, source=source)
    ]


def test_the_project_in_cwd_is_not_known_where_cursor_ignores_it(desk: Desk) -> None:
    desk.put("root/.cursor/mcp.json", filled(desk, sample("Cursor", 1)))
    assert desk.facts() == [(None, "", "no_project")]


@pytest.mark.parametrize("arguments", [["--project", "{}"], ["--project=/gone", "--project={}"]])
def test_both_ways_of_writing_the_option_count_and_the_last_one_wins(
    arguments: list[str], desk: Desk
) -> None:
    filled_in = [argument.format(desk.home) for argument in arguments]
    desk.put("root/.mcp.json", servers(sentinel_memory=desk.entry(*filled_in)))
    assert desk.facts() == [(desk.home, "--project", "")]


def test_uv_starts_the_script_in_the_directory_that_it_is_given(desk: Desk) -> None:
    uv = desk.put("tool/uv", "")
    words = ["run", "--directory", str(desk.server.parent), "server.py"]
    desk.put("root/.cursor/mcp.json", servers(sentinel_memory={"command": str(uv), "args": words}))
    assert desk.facts() == [(desk.server.parent, "cwd", "")]


def test_an_entry_may_name_another_project(desk: Desk) -> None:
    desk.put("root/.codex/config.toml", "")
    desk.put(
        "home/.codex/config.toml",
        f"[mcp_servers.sentinel-memory]\ncommand = '{desk.python}'\nargs = ['{desk.server}']\n"
        f"env = {{ SENTINEL_MEMORY_PROJECT = '{desk.home}' }}\n",
    )
    assert desk.facts() == [(desk.home, "SENTINEL_MEMORY_PROJECT", "")]


def test_variables_of_the_user_do_not_reach_the_server(desk: Desk) -> None:
    desk.put("root/.gemini/settings.json", servers(sentinel_memory=desk.entry()))
    found = desk.facts(SENTINEL_MEMORY_PROJECT=str(desk.home), CLAUDE_PROJECT_DIR=str(desk.home))
    assert found == [(desk.root, "cwd", "")]


def test_a_directory_that_is_not_there_is_a_problem(desk: Desk) -> None:
    desk.put(
        "root/.mcp.json", servers(sentinel_memory=desk.entry("--project", str(desk.root / "gone")))
    )
    assert desk.facts() == [(desk.root / "gone", "--project", "project_missing")]


@pytest.mark.parametrize(
    ("file", "argument", "expected"), ROWS["each_client_expands_its_own_variables"]
)
def test_each_client_expands_its_own_variables(
    file: str, argument: str, expected: str, desk: Desk
) -> None:
    argument = argument.replace("%s", str(desk.home))
    desk.put(file, servers(sentinel_memory=desk.entry("--project", argument)))
    [found] = desk.find(HERE=str(desk.home))
    if expected:
        assert (found.project, found.problem) == (desk.root.parent / expected, "")
    else:
        assert (found.source, found.problem) == ("CLAUDE_PROJECT_DIR", "unexpanded")


def test_the_names_of_variables_have_no_case_on_windows(desk: Desk) -> None:
    desk.put(
        "root/.cursor/mcp.json", servers(sentinel_memory=desk.entry("--project", "${env:Here}"))
    )
    found = [desk.facts("win32", HERE=str(desk.home)), desk.facts("linux", HERE=str(desk.home))]
    assert found == [[(desk.home, "--project", "")], [(None, "", "no_project")]]


@pytest.mark.parametrize(
    ("file", "left", "expected"),
    [
        ("root/.cursor/mcp.json", "${workspaceRoot}", (None, "")),
        ("root/.mcp.json", "${workspaceFolder}", ("root", "CLAUDE_PROJECT_DIR")),
        ("home/.config/Claude/claude_desktop_config.json", "${HERE}", (None, "")),
        ("root/.gemini/settings.json", "${workspaceFolder}", ("root", "cwd")),
    ],
)
def test_a_variable_that_is_left_is_reported_and_the_next_source_counts(
    file: str, left: str, expected: tuple[str | None, str], desk: Desk
) -> None:
    desk.put(file, servers(sentinel_memory=desk.entry("--project", left)))
    project, source = expected
    assert desk.facts(HERE=str(desk.home)) == [
        (desk.root.parent / project if project else None, source, "unexpanded")
    ]


def test_the_working_directory_of_an_entry_counts_where_it_is_honoured(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    entry = desk.entry(cwd="${workspaceFolder}/sub")
    desk.put("root/.vscode/mcp.json", {"servers": {NAMED: entry}})
    desk.put(
        "root/.codex/config.toml",
        f"[mcp_servers.{NAMED}]\ncommand = '{desk.python}'\nargs = ['{desk.server}']\ncwd = 'sub'",
    )
    assert desk.facts() == [(desk.root / "sub", "cwd", "")] * 2


@pytest.mark.parametrize(("platform", "file", "variable"), ROWS["every_system_has_its_own_places"])
def test_every_system_has_its_own_places(
    platform: str, file: str, variable: str, desk: Desk
) -> None:
    entry = desk.entry("--project", str(desk.root))
    is_of_vs_code = file.endswith("/User/mcp.json")
    path = desk.put(
        file, {"servers": {NAMED: entry}} if is_of_vs_code else servers(sentinel_memory=entry)
    )
    environment = {variable: str(desk.root.parent / "moved")} if variable else {}
    assert [it.path for it in desk.find(platform, **environment)] == [path]


@pytest.mark.parametrize("command", ["/nowhere/python", "no-such-command", "", "${HERE}/python"])
def test_a_command_that_is_not_there_is_a_problem(command: str, desk: Desk) -> None:
    entry = {"command": command, "args": [str(desk.server), "--project", str(desk.root)]}
    desk.put("home/.config/Claude/claude_desktop_config.json", servers(sentinel_memory=entry))
    assert desk.facts(PATH=str(desk.home)) == [(desk.root, "--project", "command_missing")]


def test_a_bare_command_is_looked_for_on_the_path(desk: Desk) -> None:
    program = desk.put("bin/python.exe", "")
    program.chmod(0o755)
    entry = {"command": "python.exe", "args": [str(desk.server)]}
    desk.put("root/.mcp.json", servers(sentinel_memory=entry))
    found = [desk.facts(PATH=str(program.parent)), desk.facts()]
    assert [problem for [(_, _, problem)] in found] == ["", "command_missing"]


@pytest.mark.parametrize("script", ["/nowhere/server.py", "tools/server.py", "${HERE}/server.py"])
def test_a_script_that_is_not_there_is_a_problem(script: str, desk: Desk) -> None:
    entry = {"command": str(desk.python), "args": [script]}
    desk.put("root/.mcp.json", servers(sentinel_memory=entry))
    assert desk.facts() == [(desk.root, "CLAUDE_PROJECT_DIR", "script_missing")]


COMMENTED = r"""// a comment with "quotes"
{
  /* more, and a comma: , ] */
  "inputs": ["//no comment", "/* nor this */", "a \" // b", "\\", "kept: ,]", ],
  "servers": {
    "sentinel-memory": {  // the rest of the line
      "command": "%s", /**/
      "args": ["%s", "--project", "%s",],
    } /* between */ ,
  },
}"""


def test_comments_and_trailing_commas_are_passed_over_outside_of_texts(desk: Desk) -> None:
    odd = desk.root / "odd, ] //name"
    odd.mkdir(parents=True)
    text = COMMENTED % (desk.python.as_posix(), desk.server.as_posix(), odd.as_posix())
    desk.put("root/.vscode/mcp.json", text)
    assert desk.facts() == [(odd, "--project", "")]


@pytest.mark.parametrize(
    ("client", "file", "content"),
    [
        ("cursor", "home/.cursor/mcp.json", "{"),
        ("claude-code", "home/.claude.json", "[" * 200_000),
        ("vscode", "root/.vscode/mcp.json", "[" * 200_000),
        ("vscode", "root/.vscode/mcp.json", '{"a": 1 /*'),
        ("vscode", "root/.vscode/mcp.json", '{"a": "b'),
        ("vscode", "root/.vscode/mcp.json", "{} /*/"),
        ("codex", "root/.codex/config.toml", "[mcp_servers"),
        ("codex", "home/.codex/config.toml", "a = " + "[" * 100_000),
        ("gemini", "root/.gemini/settings.json", b"\xff\xfe{\x00}\x00"),
    ],
)
def test_a_file_that_nobody_can_read_is_reported(
    client: str, file: str, content: str | bytes, desk: Desk
) -> None:
    path = desk.put(file, content)
    assert desk.find() == [
        Configured(
            client=client, path=path, entry="", project=None, source="", problem="unreadable"
        )
    ]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "odd", [None, 1, True, "text", ["text"], {"a": None}, "\0", "~\0", "\ud800"]
)
def test_values_of_odd_types_are_passed_over(odd: object, desk: Desk) -> None:
    script = str(desk.server)
    entries = {
        "sentinel-1": odd,
        "sentinel-2": {"command": odd, "args": odd, "env": odd, "cwd": odd},
        "sentinel-3": desk.entry(env=odd, cwd=odd),
        "sentinel-4": desk.entry(env={"SENTINEL_MEMORY_PROJECT": odd, "PATH": odd}),
        "sentinel-5": {"command": odd, "args": [odd, script, "--project", odd]},
        "sentinel-6": {"command": odd, "args": [f"{odd}/server.py", "--project"]},
    }
    for keys in ("mcpServers", "servers", "projects"):
        documents = [{keys: odd}, {keys: entries}, {"projects": {str(desk.root): odd}}]
        for document in documents:
            for file in ("root/.mcp.json", "root/.cursor/mcp.json", "root/.gemini/settings.json"):
                desk.put(file, json.dumps(document))
            desk.put("root/.vscode/mcp.json", json.dumps(document))
            desk.put("home/.claude.json", json.dumps(document))
            assert all(it.client and it.problem != "unreadable" for it in desk.find())


def test_our_entries_are_told_from_those_of_others(desk: Desk) -> None:
    link = desk.home / "server.py"
    link.symlink_to(desk.server)
    entries = servers(
        notes={"command": str(desk.python), "args": [str(link)]},
        the_command={"command": "/elsewhere/sentinel-memory-server.exe"},
        sentinel_memory={"command": "python", "args": ["C:\\old\\server.py"]},
        sentinel_one={"command": "node", "args": ["/elsewhere/server.py"]},
        other={"url": "https://example.com/server.py"},
    )
    desk.put("root/.mcp.json", entries)
    assert [it.entry for it in desk.find()] == ["notes", "the-command", "sentinel-memory"]


def test_the_project_of_a_user_is_the_one_that_is_open(desk: Desk) -> None:
    entries = {
        "sentinel-memory": desk.entry("--project", "${workspaceFolder}"),
        "notes": desk.entry(),
        "home": {"command": "~/py", "args": [str(desk.server), "--project", "~"]},
    }
    desk.put("home/py", "")
    desk.put("home/.config/Code/User/mcp.json", {"servers": entries})
    assert desk.facts() == [
        (None, "", "unexpanded"),
        (None, "", "no_project"),
        (desk.home, "--project", ""),
    ]
    projects = {str(desk.root): servers(notes=desk.entry()), "/x": servers(notes=desk.entry())}
    desk.put("home/.claude.json", {**servers(sentinel_memory=desk.entry()), "projects": projects})
    found = [it for it in desk.find() if it.client == "claude-code"]
    assert [(it.entry, it.project) for it in found] == [
        ("sentinel-memory", desk.root),
        ("notes", desk.root),
    ]


def test_an_entry_for_a_server_of_others_is_read_without_its_key(desk: Desk) -> None:
    url = "https://memory.example.com/mcp"
    key = {"Authorization": "Bearer smk_secret"}
    files = {
        "root/.cursor/mcp.json": {"url": url, "headers": {"Authorization": "Bearer ${env:MINE}"}},
        "root/.mcp.json": {"type": "http", "url": url, "headers": key},
        "root/.gemini/settings.json": {"httpUrl": url},
    }
    for file, entry in files.items():
        desk.put(file, {"mcpServers": {TEAM_ENTRY: entry, "x": {"url": "y"}}})
    found = [
        (it.client.key, it.url, it.variable, it.has_key)
        for it in team_entries(desk.machine(desk.root))
    ]
    assert found == [
        ("cursor", url, "MINE", False),
        ("claude-code", url, "", True),
        ("gemini", url, "", False),
    ]
