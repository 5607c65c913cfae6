"""Tests what the program finds in clients' configuration files without starting a client."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commands.setup.configured import Configured, configured_clients
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
        return configured_clients(
            self.root,
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
    assert desk.find() == [
        Configured(client=client, path=path, entry=NAMED, project=desk.root, source=source)
    ]


def test_the_project_in_cwd_is_not_known_where_cursor_ignores_it(desk: Desk) -> None:
    desk.put("root/.cursor/mcp.json", filled(desk, sample("Cursor", 1)))
    assert desk.facts() == [(None, "", "no_project")]


def test_clients_come_in_their_order_and_the_file_of_the_project_first(desk: Desk) -> None:
    for file in [
        *("home/.gemini/settings.json", "root/.gemini/settings.json", "home/.cursor/mcp.json"),
        *("root/.mcp.json", "root/.cursor/mcp.json"),
    ]:
        desk.put(file, servers(sentinel=desk.entry()))
    assert [(it.client, it.path.relative_to(desk.root.parent).parts[0]) for it in desk.find()] == [
        *(("Cursor", "root"), ("Cursor", "home"), ("Claude Code", "root")),
        *(("Gemini CLI", "root"), ("Gemini CLI", "home")),
    ]


def test_nothing_is_found_where_nothing_is_configured(desk: Desk) -> None:
    assert [desk.find(platform) for platform in ("linux", "darwin", "win32")] == [[], [], []]


def test_in_the_home_directory_a_file_counts_once(desk: Desk) -> None:
    desk.put("home/.gemini/settings.json", servers(sentinel=desk.entry()))
    found = configured_clients(
        desk.home, server=desk.server, home=desk.home, environment={}, platform="linux"
    )
    assert [it.project for it in found] == [desk.home]


@pytest.mark.parametrize("name", ["내 프로젝트", "with spaces", "a$b", "${userHome}"])
def test_the_folder_may_have_any_name(name: str, desk: Desk) -> None:
    root = desk.root.parent / name
    root.mkdir()
    path = desk.put(f"{name}/.vscode/mcp.json", filled(desk, sample("VS Code")))
    found = configured_clients(root, server=desk.server, home=desk.home, environment={})
    unexpanded = "unexpanded" if "${" in name else ""  # to the server it looks like one
    assert found == [
        Configured(
            client="VS Code",
            path=path,
            entry=NAMED,
            project=root,
            source="cwd" if unexpanded else "--project",
            problem=unexpanded,
        )
    ]


def test_a_windows_path_is_ours_by_the_name_of_the_entry(desk: Desk) -> None:
    windows = {"command": str(desk.python), "args": [r"C:\tools\sm\server.py"]}
    desk.put("root/.mcp.json", servers(My_Sentinel=windows, other=windows))
    assert [it.entry for it in desk.find("win32")] == ["My-Sentinel"]


def test_a_windows_path_is_ours_when_it_is_that_of_the_server(desk: Desk) -> None:
    desk.put("root/.mcp.json", servers(notes={"args": [r"c:\Tools\SM\server.py"]}))
    found = configured_clients(
        desk.root,
        server=Path("C:/tools/sm/server.py"),
        home=desk.home,
        environment={},
        platform="win32",
    )
    assert [it.entry for it in found] == ["notes"]


def test_entries_of_others_are_passed_over(desk: Desk) -> None:
    others = servers(
        other_server={"command": "node", "args": ["/elsewhere/server.py"]},
        sentinel_one={"command": "node", "args": ["/elsewhere/server.js", "myserver.py"]},
        sentinel_two={"url": "https://example.com/server.py"},
        relative={"command": "python", "args": ["server.py"]},
    )
    desk.put("root/.mcp.json", others)
    assert desk.find() == []


def test_a_link_to_the_server_is_the_server(desk: Desk) -> None:
    link = desk.home / "server.py"
    try:
        link.symlink_to(desk.server)
    except OSError:
        pytest.skip("this system makes no links")
    desk.put("root/.mcp.json", servers(notes={"command": str(desk.python), "args": [str(link)]}))
    assert [it.entry for it in desk.find()] == ["notes"]


def test_a_file_that_is_the_command_itself_is_ours(desk: Desk) -> None:
    desk.put("root/.mcp.json", servers(notes={"command": str(desk.server)}))
    assert desk.facts() == [(desk.root, "CLAUDE_PROJECT_DIR", "")]


@pytest.mark.parametrize("arguments", [["--project", "{}"], ["--project=/gone", "--project={}"]])
def test_both_ways_of_writing_the_option_count_and_the_last_one_wins(
    arguments: list[str], desk: Desk
) -> None:
    filled_in = [argument.format(desk.home) for argument in arguments]
    desk.put("root/.mcp.json", servers(sentinel=desk.entry(*filled_in)))
    assert desk.facts() == [(desk.home, "--project", "")]


def test_an_option_before_the_script_belongs_to_what_starts_it(desk: Desk) -> None:
    words = ["run", "--project", "/elsewhere", str(desk.server)]
    desk.put("root/.mcp.json", servers(sentinel={"command": str(desk.python), "args": words}))
    assert desk.facts() == [(desk.root, "CLAUDE_PROJECT_DIR", "")]


def test_uv_starts_the_script_in_the_directory_that_it_is_given(desk: Desk) -> None:
    uv = desk.put("tool/uv", "")
    words = ["run", "--directory", str(desk.server.parent), "server.py"]
    desk.put("root/.cursor/mcp.json", servers(sentinel={"command": str(uv), "args": words}))
    assert desk.facts() == [(desk.server.parent, "cwd", "")]


def test_an_entry_may_name_another_project(desk: Desk) -> None:
    desk.put("root/.codex/config.toml", "")
    desk.put(
        "home/.codex/config.toml",
        f"[mcp_servers.sentinel]\ncommand = '{desk.python}'\nargs = ['{desk.server}']\n"
        f"env = {{ SENTINEL_MEMORY_PROJECT = '{desk.home}' }}\n",
    )
    assert desk.facts() == [(desk.home, "SENTINEL_MEMORY_PROJECT", "")]


def test_the_nearest_memory_of_the_repository_is_the_project(desk: Desk) -> None:
    for directory in (".git", ".context", "web/.context", "web/src"):
        (desk.root / directory).mkdir(parents=True)
    entries = servers(
        sentinel_root=desk.entry("--project", "${workspaceFolder}"),
        sentinel_sub=desk.entry("--project", "${workspaceFolder}${/}web${/}src"),
    )
    desk.put("root/.cursor/mcp.json", entries)
    assert desk.facts() == [(desk.root, "--project", ""), (desk.root / "web", "--project", "")]


def test_variables_of_the_user_do_not_reach_the_server(desk: Desk) -> None:
    desk.put("root/.gemini/settings.json", servers(sentinel=desk.entry()))
    found = desk.facts(SENTINEL_MEMORY_PROJECT=str(desk.home), CLAUDE_PROJECT_DIR=str(desk.home))
    assert found == [(desk.root, "cwd", "")]


def test_a_directory_that_is_not_there_is_a_problem(desk: Desk) -> None:
    desk.put("root/.mcp.json", servers(sentinel=desk.entry("--project", str(desk.root / "gone"))))
    assert desk.facts() == [(desk.root / "gone", "--project", "project_missing")]


def test_a_relative_project_is_unknown_where_the_start_is(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    for file in ("root/.cursor/mcp.json", "root/.gemini/settings.json"):
        desk.put(file, servers(sentinel=desk.entry("--project", "sub")))
    assert desk.facts() == [(None, "--project", "no_project"), (desk.root / "sub", "--project", "")]


@pytest.mark.parametrize(
    ("file", "argument", "expected"), ROWS["each_client_expands_its_own_variables"]
)
def test_each_client_expands_its_own_variables(
    file: str, argument: str, expected: str, desk: Desk
) -> None:
    argument = argument.replace("%s", str(desk.home))
    desk.put(file, servers(sentinel=desk.entry("--project", argument)))
    [found] = desk.find(HERE=str(desk.home))
    if expected:
        assert (found.project, found.problem) == (desk.root.parent / expected, "")
    else:
        assert (found.source, found.problem) == ("CLAUDE_PROJECT_DIR", "unexpanded")


def test_the_names_of_variables_have_no_case_on_windows(desk: Desk) -> None:
    desk.put("root/.cursor/mcp.json", servers(sentinel=desk.entry("--project", "${env:Here}")))
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
    desk.put(file, servers(sentinel=desk.entry("--project", left)))
    project, source = expected
    assert desk.facts(HERE=str(desk.home)) == [
        (desk.root.parent / project if project else None, source, "unexpanded")
    ]


def test_a_variable_left_in_cwd_is_reported_where_cwd_counts(desk: Desk) -> None:
    entry = servers(sentinel=desk.entry(cwd="${workspaceFolder}"))
    desk.put("root/.mcp.json", entry)
    desk.put("root/.gemini/settings.json", entry)
    assert desk.facts() == [(desk.root, "CLAUDE_PROJECT_DIR", ""), (None, "", "unexpanded")]


def test_the_working_directory_of_an_entry_counts_where_it_is_honoured(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    entry = desk.entry(cwd="${workspaceFolder}/sub")
    desk.put("root/.vscode/mcp.json", {"servers": {"sentinel": entry}})
    desk.put(
        "root/.codex/config.toml",
        f"[mcp_servers.sentinel]\ncommand = '{desk.python}'\nargs = ['{desk.server}']\ncwd = 'sub'",
    )
    assert desk.facts() == [(desk.root / "sub", "cwd", "")] * 2


def test_the_user_entries_of_vs_code_know_no_folder(desk: Desk) -> None:
    entries = {
        "sentinel-folder": desk.entry("--project", "${workspaceFolder}"),
        "sentinel-nothing": desk.entry(),
        "sentinel-home": {"command": "~/py", "args": [str(desk.server), "--project", "~"]},
    }
    desk.put("home/py", "")
    desk.put("home/.config/Code/User/mcp.json", {"servers": entries})
    assert desk.facts() == [
        (None, "", "unexpanded"),
        (None, "", "no_project"),
        (desk.home, "--project", ""),
    ]


def test_the_entries_for_one_project_of_claude_code_are_found(desk: Desk) -> None:
    projects = {
        str(desk.home): servers(sentinel_elsewhere=desk.entry()),
        str(desk.root): servers(sentinel_local=desk.entry()),
    }
    path = desk.put(
        "home/.claude.json", {**servers(sentinel_user=desk.entry()), "projects": projects}
    )
    assert desk.find() == [
        Configured(
            client="Claude Code",
            path=path,
            entry=name,
            project=desk.root,
            source="CLAUDE_PROJECT_DIR",
        )
        for name in ("sentinel-local", "sentinel-user")
    ]


@pytest.mark.parametrize(("platform", "file", "variable"), ROWS["every_system_has_its_own_places"])
def test_every_system_has_its_own_places(
    platform: str, file: str, variable: str, desk: Desk
) -> None:
    entry = desk.entry("--project", str(desk.root))
    is_of_vs_code = file.endswith("/User/mcp.json")
    path = desk.put(file, {"servers": {NAMED: entry}} if is_of_vs_code else servers(sentinel=entry))
    environment = {variable: str(desk.root.parent / "moved")} if variable else {}
    assert [it.path for it in desk.find(platform, **environment)] == [path]


def test_codex_home_replaces_the_directory_of_codex(desk: Desk) -> None:
    text = filled(desk, sample("Codex"))
    desk.put("home/.codex/config.toml", text)
    path = desk.put("moved/config.toml", text)
    assert [it.path for it in desk.find(CODEX_HOME=str(path.parent))] == [path]


@pytest.mark.parametrize("command", ["/nowhere/python", "no-such-command", "", "${HERE}/python"])
def test_a_command_that_is_not_there_is_a_problem(command: str, desk: Desk) -> None:
    entry = {"command": command, "args": [str(desk.server), "--project", str(desk.root)]}
    desk.put("home/.config/Claude/claude_desktop_config.json", servers(sentinel=entry))
    assert desk.facts(PATH=str(desk.home)) == [(desk.root, "--project", "command_missing")]


def test_a_bare_command_is_looked_for_on_the_path(desk: Desk) -> None:
    program = desk.put("bin/python.exe", "")
    program.chmod(0o755)
    entry = {"command": "python.exe", "args": [str(desk.server)]}
    desk.put("root/.mcp.json", servers(sentinel=entry))
    found = [desk.facts(PATH=str(program.parent)), desk.facts()]
    assert [problem for [(_, _, problem)] in found] == ["", "command_missing"]


def test_on_windows_a_command_may_lack_its_ending(desk: Desk) -> None:
    desk.put("tool/py.exe", "")
    entry = {"command": str(desk.server.parent / "py"), "args": [str(desk.server)]}
    desk.put("root/.mcp.json", servers(sentinel=entry))
    assert [desk.facts("win32")[0][2], desk.facts("linux")[0][2]] == ["", "command_missing"]


@pytest.mark.parametrize("script", ["/nowhere/server.py", "tools/server.py", "${HERE}/server.py"])
def test_a_script_that_is_not_there_is_a_problem(script: str, desk: Desk) -> None:
    entry = {"command": str(desk.python), "args": [script]}
    desk.put("root/.mcp.json", servers(sentinel=entry))
    assert desk.facts() == [(desk.root, "CLAUDE_PROJECT_DIR", "script_missing")]


def test_a_script_relative_to_an_unknown_directory_is_not_called_missing(desk: Desk) -> None:
    entry = {"command": "./python", "args": ["./server.py", "--project", str(desk.root)]}
    desk.put("root/.cursor/mcp.json", servers(sentinel=entry))
    assert desk.facts() == [(desk.root, "--project", "")]


COMMENTED = r"""// a comment with "quotes"
{
  /* more, and a comma: , ] */
  "inputs": ["//no comment", "/* nor this */", "a \" // b", "\\", "kept: ,]", ],
  "servers": {
    "sentinel": {  // the rest of the line
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


def test_a_mark_at_the_beginning_of_a_file_is_passed_over(desk: Desk) -> None:
    text = json.dumps(servers(sentinel=desk.entry()))
    desk.put("root/.mcp.json", b"\xef\xbb\xbf" + text.encode())
    assert desk.facts() == [(desk.root, "CLAUDE_PROJECT_DIR", "")]


@pytest.mark.parametrize(
    ("client", "file", "content"),
    [
        ("Cursor", "home/.cursor/mcp.json", "{"),
        ("Cursor", "root/.cursor/mcp.json", ""),
        ("Claude Code", "root/.mcp.json", "{} // a comment"),
        ("Claude Code", "home/.claude.json", "[" * 200_000),
        ("VS Code", "root/.vscode/mcp.json", "[" * 200_000),
        ("VS Code", "root/.vscode/mcp.json", '{"a": 1 /*'),
        ("VS Code", "root/.vscode/mcp.json", '{"a": "b'),
        ("VS Code", "root/.vscode/mcp.json", "{} /*/"),
        ("Codex", "root/.codex/config.toml", "[mcp_servers"),
        ("Codex", "home/.codex/config.toml", "a = " + "[" * 100_000),
        ("Gemini CLI", "root/.gemini/settings.json", b"\xff\xfe{\x00}\x00"),
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


def test_a_directory_in_the_place_of_a_file_is_reported(desk: Desk) -> None:
    (desk.root / ".mcp.json").mkdir()
    assert desk.facts() == [(None, "", "unreadable")]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("part", ['"' + '\\"' * 100_000, "/*" * 100_000, "/" * 100_000, ", " * 9])
def test_a_hostile_file_takes_no_longer_than_its_length(part: str, desk: Desk) -> None:
    desk.put("root/.vscode/mcp.json", "{" + part)
    assert desk.facts() == [(None, "", "unreadable")]


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
        documents = [odd, {keys: odd}, {keys: entries}, {"projects": {str(desk.root): odd}}]
        for document in documents:
            for file in ("root/.mcp.json", "root/.cursor/mcp.json", "root/.gemini/settings.json"):
                desk.put(file, json.dumps(document))
            desk.put("root/.vscode/mcp.json", json.dumps(document))
            desk.put("home/.claude.json", json.dumps(document))
            assert all(it.client and it.problem != "unreadable" for it in desk.find())


def test_no_value_of_the_environment_is_shown(desk: Desk) -> None:
    entry = desk.entry(env={"TOKEN": "a-secret", "OTHER": "${THEIRS}"})
    desk.put("root/.mcp.json", servers(sentinel=entry))
    shown = repr(desk.find(THEIRS="b-secret", SENTINEL_MEMORY_PROJECT="c-secret"))
    assert [secret for secret in ("a-secret", "b-secret", "c-secret") if secret in shown] == []


def test_reading_changes_nothing(desk: Desk) -> None:
    desk.put("root/.mcp.json", servers(sentinel=desk.entry()))
    before = sorted(desk.root.parent.rglob("*"))
    desk.find()
    assert sorted(desk.root.parent.rglob("*")) == before
