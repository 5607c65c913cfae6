"""Tests which files setup changes, against golden files, and what it leaves alone."""

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands.clients.table import EVENTS
from commands.clients.text_file import ExportError, UserFile
from commands.hook.events import event_of
from commands.setup.client_machine import machine_of
from commands.setup.client_table import CLIENTS, RECORDING
from commands.setup.configured import configured_clients
from commands.setup.entries import entry_for
from commands.setup.files import Change, Installation, Job, Remark
from commands.setup.here import installed, runner_of
from commands.setup.hooks import handler_of, hook_strings
from commands.setup.lines import change_lines
from core.lessons.file import COMPANIONS
from core.lessons.rules import rules
from tests.support.cli_process import Run
from tests.support.said import sentences
from tests.support.sentences import in_language
from tests.support.setup_bench import WITH_SESSIONS, Bench, cases
from tests.support.tables import table

ROWS = table("commands/plan")

KEYS = [client.key for client in CLIENTS]
NAMES = {client.key: client.name for client in CLIENTS}
BEGIN, END = "<!-- sentinel-memory rules: begin -->\n", "<!-- sentinel-memory rules: end -->\n"
RULES = BEGIN + rules("en") + END

posix = pytest.mark.skipif(os.name == "nt", reason="the golden files hold paths of POSIX")
pytestmark = posix


def remarks(found: tuple[Remark, ...]) -> list[str]:
    return [remark.key for remark in found]


@pytest.mark.long  # it costs much
@pytest.mark.row("001 2-2.b")
@pytest.mark.parametrize(("client", "case"), cases())
def test_a_client_is_set_up_and_removed_as_the_golden_files_show(
    client: str, case: str, bench: Bench
) -> None:
    before = bench.golden(client, case, "before")
    bench.put(before)
    planned = bench.do(client, rooms=WITH_SESSIONS if case == "sessions" else None)
    assert (planned.problems, planned.notes) == ((), ())
    assert bench.files() == bench.golden(client, case, "after")
    assert bench.plan(client).changes == ()
    bench.do(client, remove=True)
    nothing = {} if case == "outdated" else before
    assert bench.files() == (bench.golden(client, case, "removed") or nothing)
    assert bench.plan(client, remove=True).changes == ()


@pytest.mark.parametrize(("client", "case"), cases())
def test_the_doctor_finds_the_client_configured_for_the_project(
    client: str, case: str, bench: Bench
) -> None:
    bench.put(bench.golden(client, case, "after"))
    found = configured_clients(
        bench.root,
        server=bench.tool / "server.py",
        home=bench.home,
        environment={},
        platform="linux",
    )
    facts = [(it.client, it.project, it.problem) for it in found]
    assert facts == [(NAMES[client], bench.root, "")]


def test_a_diff_redacts_secrets_in_comments_and_rules(bench: Bench) -> None:
    secret = "ghp_" + "Ab3" * 12
    bench.put({"root/.vscode/mcp.json": f'{{\n  "inputs": [] // {secret}\n}}\n'})
    bench.put({"root/AGENTS.md": f"The key is {secret}.\n"})
    changes = bench.plan("vscode", hooks=False).changes
    assert [change.path.name for change in changes] == ["mcp.json", "AGENTS.md", *COMPANIONS]
    for change in changes[:2]:
        assert secret in (change.before or "")
        assert secret not in "\n".join(change_lines(change, bench.root))


def test_a_diff_of_toml_hides_texts_of_several_lines(bench: Bench) -> None:
    text = 'key = """\nfirst secret\nname = second\nthird"""\na = true\n'
    bench.put({"root/.codex/config.toml": text})
    [change] = [it for it in bench.plan("codex").changes if it.path.suffix == ".toml"]
    lines = change_lines(change, bench.root)
    assert lines[3:8] == ["@@ -3,3 +3,10 @@", " …", " …", " a = true", "+"]


def test_a_diff_shows_what_is_put_in_and_what_it_replaces(bench: Bench) -> None:
    bench.put(bench.golden("cursor", "outdated", "before"))
    change = bench.plan("cursor").changes[0]
    assert change_lines(change, bench.root) == [
        ".cursor/mcp.json: server entry (Cursor)",
        "--- .cursor/mcp.json",
        "+++ .cursor/mcp.json",
        "@@ -1,9 +1,11 @@",
        " {",
        '   "mcpServers": {',
        '     "memory-sentinel": {',
        '-      "command": "/old/python",',
        f'+      "command": "{bench.python}",',
        '       "args": [',
        f'-        "{bench.tool}/server.py"',
        f'+        "{bench.tool}/server.py",',
        '+        "--project",',
        '+        "${workspaceFolder}"',
        "       ],",
        '       "env": {"SENTINEL_MEMORY_LANG": "…"}',
        "     },",
    ]


def test_a_file_that_goes_is_shown_as_deleted(bench: Bench) -> None:
    bench.do("claude-code")
    [change] = [
        it for it in bench.plan("claude-code", remove=True).changes if it.path.suffix == ".md"
    ]
    lines = in_language("ko", change_lines, change, bench.root)
    assert lines[:4] == [
        "CLAUDE.md(삭제): 규칙",
        "--- CLAUDE.md",
        "+++ /dev/null",
        f"@@ -1,{len(RULES.splitlines())} +0,0 @@",
    ]


# What cannot be edited.


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("client", "file", "content", "key"),
    [
        ("cursor", "root/.cursor/mcp.json", "{,}", "json_syntax"),
        ("cursor", "root/.cursor/mcp.json", '{\n// "a"\n}', "json_comments"),
        ("cursor", "root/.cursor/mcp.json", b"\xff\xfe{", "not_utf8"),
        ("cursor", "root/.cursor/mcp.json", '{"mcpServers": []}', "other_kind"),
        ("cursor", "root/.cursor/mcp.json", '{"mcpServers": null}', "other_kind"),
        ("cursor", "root/.cursor/mcp.json", "[1]", "other_kind"),
        ("cursor", "root/.cursor/mcp.json", '{"a": 1, "a": 2}', "json_twice"),
        ("cursor", "root/.cursor/mcp.json", '{"a":' * 5000, "json_depth"),
        (
            "cursor",
            "root/.cursor/mcp.json",
            '{"mcpServers": {"sentinel-memory": {"command": "x"}}}',
            "foreign_entry",
        ),
        ("cursor", "root/.cursor/hooks.json", "[1]", "other_kind"),
        ("cursor", "root/.cursor/hooks.json", '{"hooks": {"stop": {}}}', "other_kind"),
        ("claude-code", "root/.claude/settings.json", '{"hooks": []}', "other_kind"),
        ("codex", "root/.codex/config.toml", "a = \n", "toml_syntax"),
        ("codex", "root/.codex/config.toml", "mcp_servers = {}\n", "toml_form"),
        ("claude-code", "root/CLAUDE.md", BEGIN, "broken_block"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_alone_and_the_others_are_done(
    client: str, file: str, content: str | bytes, key: str, bench: Bench
) -> None:
    fresh = bench.golden(client, "fresh", "after")
    bench.put({file: content})
    planned = bench.do(client)
    assert remarks(planned.problems) == [key]
    assert planned.problems[0].facts["path"] == str(bench.path(file))
    left = content.encode() if isinstance(content, str) else content
    assert bench.files() == {**fresh, file: left}


def test_the_table_to_paste_is_shown_where_it_cannot_be_put_in(bench: Bench) -> None:
    bench.put({"root/.codex/config.toml": "mcp_servers = {}\n"})
    [problem] = bench.plan("codex").problems
    table = bench.golden("codex", "fresh", "after")["root/.codex/config.toml"].decode()
    assert f"{problem.facts['block']}\n" == table


def test_an_entry_of_another_server_stays_when_ours_is_removed(bench: Bench) -> None:
    bench.put({"root/.mcp.json": '{"mcpServers": {"sentinel-memory": {"command": "x"}}}'})
    planned = bench.plan("claude-code", remove=True)
    assert (planned.changes, planned.problems) == ((), ())


FOREIGN = {
    "azure-sentinel": {"command": "uv", "args": ["run", "/opt/azure/server.py"]},
    "sentinel-siem": {"command": "python", "args": ["/opt/siem/server.py", "--project", "x"]},
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_server_of_others_that_is_named_after_a_sentinel_is_left_alone(
    name: str, bench: Bench
) -> None:
    text = json.dumps({"mcpServers": {name: FOREIGN[name]}}, indent=2) + "\n"
    bench.put({"root/.cursor/mcp.json": text})
    assert bench.plan("cursor", remove=True, rules=False).changes == ()
    bench.do("cursor")
    data = json.loads(bench.files()["root/.cursor/mcp.json"])
    assert list(data["mcpServers"]) == [name, "sentinel-memory"]
    assert data["mcpServers"][name] == FOREIGN[name]
    bench.do("cursor", remove=True)
    assert bench.files() == {"root/.cursor/mcp.json": text.encode()}


# A file of the user serves one project.


def test_claude_desktop_tells_which_project_it_served_until_now(bench: Bench) -> None:
    other = bench.top / "other"
    file = "home/.config/Claude/claude_desktop_config.json"
    bench.do("claude-desktop")
    bench.put({file: bench.files()[file].replace(str(bench.root).encode(), str(other).encode())})
    planned = bench.do("claude-desktop")
    facts: dict[str, str | int] = {"client": "Claude Desktop", "project": str(other)}
    assert planned.notes == (Remark("served_before", facts),)
    assert bench.files() == bench.golden("claude-desktop", "fresh", "after")
    assert bench.plan("claude-desktop").notes == ()


@pytest.mark.parametrize("named", ["--project", "env"])
def test_an_entry_of_claude_desktop_for_another_project_is_not_taken_out(
    named: str, bench: Bench
) -> None:
    other = str(bench.top / "other")
    entry: dict[str, Any] = {"command": "python", "args": ["/t/server.py"]}
    if named == "env":
        entry["env"] = {"SENTINEL_MEMORY_PROJECT": other}
    else:
        entry["args"] += ["--project", other]
    text = json.dumps({"mcpServers": {"sentinel-memory": entry}})
    file = "home/.config/Claude/claude_desktop_config.json"
    bench.put({file: text})
    planned = bench.do("claude-desktop", remove=True)
    facts: dict[str, str | int] = {"client": "Claude Desktop", "project": other}
    assert planned.notes == (Remark("entry_stays", facts),)
    assert bench.files() == {file: text.encode()}


@pytest.mark.parametrize("args", [["/t/server.py"], ["/t/server.py", "--project", "a\0b"]])
def test_an_entry_of_claude_desktop_that_names_no_project_is_taken_out(
    args: list[str], bench: Bench
) -> None:
    entry = {"command": "python", "args": args}
    text = json.dumps({"mcpServers": {"sentinel-memory": entry, "db": {"command": "db-mcp"}}})
    file = "home/.config/Claude/claude_desktop_config.json"
    bench.put({file: text})
    assert bench.do("claude-desktop", remove=True).notes == ()
    assert json.loads(bench.files()[file]) == {"mcpServers": {"db": {"command": "db-mcp"}}}


# Signs of variables in paths.


def test_gemini_finds_a_project_whose_path_it_would_take_for_a_variable(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "$HOME" / "${x}")
    bench.put({})
    machine = replace(bench.machine, server=tmp_path / "server.py", environment={"HOME": "/h"})
    tool = installed((sys.executable,), str(tmp_path), windows=False)
    (tmp_path / "server.py").write_bytes(b"")
    planned = bench.plan("gemini", machine=machine, installation=tool)
    assert planned.notes == ()
    bench.take(planned)
    [found] = configured_clients(
        bench.root, server=machine.server, home=bench.home, environment={"HOME": "/h"}
    )
    assert (found.project, found.source, found.problem) == (bench.root, "cwd", "")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("client", "directory", "sign"),
    ROWS["a_client_that_would_expand_the_path_of_the_server_is_told"],
)
def test_a_client_that_would_expand_the_path_of_the_server_is_told(
    client: str, directory: str, sign: str, bench: Bench
) -> None:
    tool = installed(("/bin/python",), directory, windows=False)
    path = f"{directory}/server.py"
    facts: dict[str, str | int] = {"client": NAMES[client], "path": path, "sign": sign}
    expected = (Remark("variable", facts),) if sign else ()
    assert bench.plan(client, installation=tool).notes == expected
    assert bench.plan(client, installation=tool, remove=True).notes == ()


# The language.


def spoken(bench: Bench, client: str) -> set[str]:
    """The language in the entry and in every hook of a client."""
    [row] = [it for it in CLIENTS if it.key == client]
    found = set[str]()
    for name, data in bench.files().items():
        text = data.decode()
        if row.hooks and name == f"root/{row.hooks.file}":
            lines = [it for it in hook_strings(text, row.hooks) if " hook " in it]
            found |= {it.partition(" --lang ")[2][:2] for it in lines}
        found |= set(re.findall(r'SENTINEL_MEMORY_LANG"?\W+(\w+)', text))
    return found


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", KEYS)
def test_a_language_that_was_asked_for_is_written_kept_and_changed(
    client: str, bench: Bench
) -> None:
    bench.apply(client, chosen="ko")
    assert spoken(bench, client) == {"ko"}
    assert bench.plan(client, chosen="ko").changes == ()
    assert bench.plan(client).changes == ()
    bench.apply(client, chosen="en")
    assert spoken(bench, client) == ({"en"} if client == "claude-desktop" else {"", "en"})
    bench.do(client, remove=True)
    assert bench.files() == {}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", KEYS)
def test_english_is_not_written(client: str, bench: Bench) -> None:
    bench.apply(client, chosen="en")
    assert bench.files() == bench.golden(client, "fresh", "after")


def test_a_language_joins_what_the_user_has_in_the_environment(bench: Bench) -> None:
    file = "home/.config/Claude/claude_desktop_config.json"
    entry = {"command": bench.python, "args": [str(bench.tool / "server.py")], "env": {"A": "b"}}
    bench.put({file: json.dumps({"mcpServers": {"sentinel-memory": entry}})})
    bench.apply("claude-desktop", chosen="ko")
    [made] = json.loads(bench.files()[file])["mcpServers"].values()
    assert made["env"] == {"A": "b", "SENTINEL_MEMORY_LANG": "ko"}


def test_an_environment_of_codex_in_one_line_is_told_with_both_tables(bench: Bench) -> None:
    text = '[mcp_servers.sentinel-memory]\ncommand = "x"\nargs = ["/t/server.py"]\n'
    text += 'env = { A = "b" }\n'
    bench.put({"root/.codex/config.toml": text})
    [problem] = bench.plan("codex", chosen="ko").problems
    assert problem.key == "toml_form"
    table = '\n\n[mcp_servers.sentinel-memory.env]\nSENTINEL_MEMORY_LANG = "ko"'
    assert str(problem.facts["block"]).endswith(table)


# What was empty.


def indented(text: str) -> str:
    return json.dumps(json.loads(text), indent=2) + "\n"


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("client", "file", "text"),
    [
        ("claude-code", "root/.mcp.json", "{}"),
        ("claude-code", "root/.mcp.json", "{}\r\n"),
        ("claude-code", "root/.mcp.json", '{"mcpServers": {}}'),
        ("claude-code", "root/.mcp.json", '{"mcpServers":{}}\n'),
        ("claude-code", "root/.claude/settings.json", '{"hooks": {}}\n'),
        ("claude-code", "root/.claude/settings.json", '{"hooks": {"Stop": []}}'),
        ("claude-code", "root/.claude/settings.json", indented('{"hooks": {"Stop": []}}')),
        ("cursor", "root/.cursor/hooks.json", '{"version": 1, "hooks": {"stop": []}}'),
        ("cursor", "root/.cursor/hooks.json", '{"version":1,"hooks":{"stop":[]}}\n'),
        ("cursor", "root/.cursor/hooks.json", '{"version": 1}'),
        ("codex", "root/.codex/config.toml", "\n"),
        ("gemini", "root/.gemini/settings.json", '{"hooks": {}, "mcpServers": {}}'),
        ("gemini", "root/.gemini/settings.json", "{}"),
        ("vscode", "root/.vscode/mcp.json", "{\n  // none yet\n}\n"),
        ("claude-desktop", "home/.config/Claude/claude_desktop_config.json", "{}"),
    ],
)
def test_a_file_in_which_nothing_stood_is_given_back(
    client: str, file: str, text: str, bench: Bench
) -> None:
    bench.put({file: text})
    bench.do(client)
    assert b"sentinel-memory" in bench.files()[file] or b"cli.py" in bench.files()[file]
    bench.do(client, remove=True)
    assert bench.files() == {file: text.encode()}


def test_what_stands_as_setup_would_have_made_it_goes(bench: Bench) -> None:
    """Whose an empty file or object was cannot be told then."""
    bench.put({"root/.mcp.json": indented('{"mcpServers": {}}'), "root/.cursor/mcp.json": "{}\n"})
    bench.do("claude-code", "cursor")
    bench.do("claude-code", "cursor", remove=True)
    assert bench.files() == {}


def test_what_the_user_adds_behind_ours_stays_alone(bench: Bench) -> None:
    file = "root/.gemini/settings.json"
    bench.do("gemini")
    text = bench.files()[file].decode().removesuffix("\n}\n")
    bench.put({file: f'{text},\n  "model": "pro"\n}}\n'})
    bench.do("gemini", remove=True)
    assert bench.files() == {file: b'{\n  "model": "pro"\n}\n'}


def test_an_entry_in_a_form_that_cannot_be_taken_out_is_told(bench: Bench) -> None:
    text = '[mcp_servers]\nsentinel-memory = { command = "x", args = ["/t/server.py"] }\n'
    bench.put({"root/.codex/config.toml": text})
    assert remarks(bench.plan("codex", remove=True).problems) == ["toml_form_out"]


# Hooks.


def test_a_hook_for_each_prompt_that_a_person_wrote_stays(bench: Bench) -> None:
    bench.do("claude-code")
    path = bench.root / ".claude/settings.json"
    data = json.loads(path.read_bytes())
    assert "UserPromptSubmit" not in data["hooks"]
    [[start]] = [it["hooks"] for it in data["hooks"]["Stop"]]
    line = start["command"].replace("hook stop", "hook prompt")
    data["hooks"]["UserPromptSubmit"] = [{"hooks": [start | {"command": line}]}]
    path.write_text(json.dumps(data, indent=2) + "\n")
    assert bench.plan("claude-code").changes == ()
    bench.do("claude-code", remove=True)
    assert bench.files() == {}


def test_vs_code_has_hooks_of_its_own_beside_those_of_claude_code(bench: Bench) -> None:
    file = "root/.github/hooks/sentinel-memory.json"
    bench.do("claude-code", "vscode")
    assert bench.files()[file] == bench.golden("vscode", "fresh", "after")[file]
    bench.do("claude-code", remove=True)
    assert bench.files()[file] == bench.golden("vscode", "fresh", "after")[file]


@pytest.mark.parametrize("client", NAMES)
def test_hooks_stand_at_the_events_that_the_hook_answers(client: str) -> None:
    [row] = [it for it in CLIENTS if it.key == client]
    for event in row.hooks.events if row.hooks else ():
        assert event.ours in EVENTS
        assert event_of(client, event.ours)


OLD_CLI = """import argparse
parser = argparse.ArgumentParser()
parser.add_subparsers().add_parser("doctor")
parser.parse_args()
"""


@pytest.mark.long
@pytest.mark.parametrize("gone", ["interpreter", "scripts", "command"])
@pytest.mark.parametrize("client", [key for key in KEYS if key != "claude-desktop"])
def test_a_hook_of_an_installation_that_is_gone_does_not_stop_a_tool(
    client: str, gone: str, bench: Bench
) -> None:
    """Other codes than 0 are a veto in some clients, and stdout is an answer."""
    (bench.tool / "cli.py").write_text(OLD_CLI)
    python = bench.python if gone == "interpreter" else sys.executable
    directory = bench.top / "gone" if gone == "scripts" else bench.tool
    made = installed((python,), str(directory), windows=False)
    [hooks] = [it.hooks for it in CLIENTS if it.key == client]
    assert hooks
    [change] = [
        it
        for it in bench.plan(client, installation=made, rules=False).changes
        if it.path == bench.root / hooks.file
    ]
    lines = {it for it in hook_strings(change.text, hooks) if " hook " in it}
    assert len(lines) == len({event.ours for event in hooks.events} - {"prompt", RECORDING})
    for line in sorted(lines):
        for shell in ("sh", "bash"):
            done = Run.process(shell, "-c", line, given=b"{}", cwd=bench.root)
            assert (done.code, done.out, bool(done.errors)) == (0, "", True)


def test_a_hook_of_somebody_else_with_our_words_stays(bench: Bench) -> None:
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "python tools/cli.py hook stop"}]}]}}'
    bench.put({"root/.claude/settings.json": text})
    bench.do("claude-code")
    assert bench.files()["root/.claude/settings.json"].count(b"tools/cli.py hook stop") == 1
    bench.do("claude-code", remove=True)
    assert bench.files()["root/.claude/settings.json"].decode() == text


def test_hooks_without_the_ending_change_in_place(bench: Bench) -> None:
    file = "root/.cursor/hooks.json"
    after = bench.golden("cursor", "fresh", "after")[file]
    bench.put({file: after.replace(b" || :", b"")})
    bench.do("cursor")
    assert bench.files()[file] == after


def test_codex_hooks_in_both_files_are_told(bench: Bench) -> None:
    bench.put({"root/.codex/config.toml": "[hooks]\n"})
    assert remarks(bench.plan("codex").notes) == ["codex_hooks_twice"]


def test_hooks_and_rules_can_be_left_out(bench: Bench) -> None:
    for client in KEYS:
        planned = bench.plan(client, hooks=False, rules=False, approvals=False)
        parts = [part for change in planned.changes for part, _ in change.parts]
        assert parts == ["entry", "memory", "memory"]


# Writing.


def test_a_file_that_changed_after_the_plan_is_not_overwritten(bench: Bench) -> None:
    planned = bench.plan("codex")
    bench.put({"root/AGENTS.md": "new"})
    [change] = [it for it in planned.changes if it.path.name == "AGENTS.md"]
    with pytest.raises(ExportError, match="Another program changed"):
        change.write(bench.root)
    assert bench.files() == {"root/AGENTS.md": b"new"}


def test_a_file_that_is_deleted_after_the_plan_is_not_written(bench: Bench) -> None:
    bench.put({"root/AGENTS.md": "Be kind.\n"})
    [change] = [it for it in bench.plan("codex").changes if it.path.name == "AGENTS.md"]
    (bench.root / "AGENTS.md").unlink()
    with pytest.raises(ExportError, match="Another program changed"):
        change.write(bench.root)
    assert bench.files() == {}


@pytest.mark.parametrize("remove", [False, True])
def test_a_file_that_its_owner_may_not_write_is_left_alone(remove: bool, bench: Bench) -> None:
    fresh = bench.golden("codex", "fresh", "after")
    bench.put(fresh if remove else {"root/AGENTS.md": "Be kind.\n"})
    before, path = bench.files()["root/AGENTS.md"], bench.root / "AGENTS.md"
    path.chmod(0o444)
    planned = bench.do("codex", remove=remove)
    assert planned.problems == (Remark("read_only", {"path": str(path)}),)
    assert bench.files()["root/AGENTS.md"] == before
    assert ("root/.codex/hooks.json" in bench.files()) != remove


def test_a_read_only_file_that_needs_no_change_is_no_problem(bench: Bench) -> None:
    bench.do("codex")
    (bench.root / "AGENTS.md").chmod(0o444)
    planned = bench.plan("codex")
    assert (planned.changes, planned.problems) == ((), ())


def test_a_packaged_claude_desktop_is_set_up_as_well(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    packaged = "home/AppData/Local/Packages/Claude_x/LocalCache/Roaming/Claude"
    bench.put({f"{packaged}/claude_desktop_config.json": "{}"})
    machine = bench.machine_on("win32")
    planned = bench.plan("claude-desktop", machine=machine)
    names = [str(it.path.relative_to(tmp_path)) for it in planned.changes]
    assert [name.removeprefix("home/") for name in names if name.startswith("home/")] == [
        "AppData/Roaming/Claude/claude_desktop_config.json",
        f"{packaged.removeprefix('home/')}/claude_desktop_config.json",
    ]


# Windows and uv.

PLACES = {
    "plain": ("C:\\도구\\.venv\\Scripts\\python.exe", "C:\\도구"),
    "spaces": ("C:\\Program Files\\it's\\python.exe", "C:\\my tools"),
}


def entry_of(client: str, installation: Installation, root: str) -> dict[str, Any]:
    """The entry for a project at `root`, whatever this system makes of such a path."""
    [row] = [it for it in CLIENTS if it.key == client]
    machine = machine_of(Path("/"), server=Path("/s"), home=Path("/h"), environment={})
    job = Job(
        clients=(client,),
        present=frozenset(),
        machine=replace(machine, root=Path(root)),
        installation=installation,
    )
    return entry_for(row, job)


def entry_on_windows(place: str, client: str) -> dict[str, Any]:
    python, tool = PLACES[place]
    return entry_of(client, installed((python,), tool, windows=True), "C:/내 문서/my app")


def test_paths_of_windows_have_forward_slashes() -> None:
    assert entry_on_windows("spaces", "codex") == {
        "command": "C:/Program Files/it's/python.exe",
        "args": ["C:/my tools/server.py", "--project", "C:/내 문서/my app"],
        "startup_timeout_sec": 30,
        "required": True,
    }


@pytest.mark.parametrize(
    ("client", "place", "handler"),
    ROWS["hooks_are_written_for_the_shell_that_a_client_uses_on_windows"],
)
def test_hooks_are_written_for_the_shell_that_a_client_uses_on_windows(
    client: str, place: str, handler: dict[str, Any]
) -> None:
    python, tool = PLACES[place]
    [hooks] = [it.hooks for it in CLIENTS if it.key == client]
    made = installed((python,), tool, windows=True)
    assert hooks
    assert handler_of(hooks, [*made.cli, "hook", "stop"], "stop", windows=True) == handler


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", [key for key in KEYS if key != "claude-desktop"])
@pytest.mark.parametrize("place", PLACES)
def test_the_forms_of_windows_are_found_again_and_taken_out(
    client: str, place: str, bench: Bench
) -> None:
    python, tool = PLACES[place]
    made = installed((python,), tool, windows=True)
    machine = bench.machine_on("win32")
    for change in bench.plan(client, machine=machine, installation=made).changes:
        change.write(bench.root)
    again = bench.plan(client, machine=machine, installation=made)
    assert again.changes == ()
    for change in bench.plan(client, machine=machine, installation=made, remove=True).changes:
        change.write(bench.root)
    assert bench.files() == {}


@pytest.mark.parametrize(
    ("interpreter", "environment", "runner"),
    [
        ("/opt/tool/.venv/bin/python", {"UV": "/bin/uv"}, ("/opt/tool/.venv/bin/python",)),
        ("/h/.cache/uv/environments-v2/cli-1/bin/python", {"UV": "/bin/uv"}, ("/bin/uv", "run")),
        ("/h/.cache/uv/archive-v0/x/bin/python", {"UV": "/bin/uv"}, ("/bin/uv", "run")),
        ("/h/.cache/uv/environments-v2/cli-1/bin/python", {"PATH": "/nowhere"}, None),
    ],
)
def test_a_temporary_environment_of_uv_is_not_written_down(
    interpreter: str, environment: dict[str, str], runner: tuple[str, ...] | None
) -> None:
    assert runner_of(interpreter, environment) == runner


def test_uv_starts_the_server_with_run() -> None:
    made = installed(("/bin/uv", "run"), "/t", windows=False)
    assert entry_of("claude-code", made, "/p") == {
        "type": "stdio",
        "command": "/bin/uv",
        "args": ["run", "/t/server.py"],
        "alwaysLoad": True,
    }


# The words.


def test_every_remark_of_setup_has_a_sentence() -> None:
    built = {f"next_{key}" for key in KEYS} | {
        f"json_{kind}" for kind in ("syntax", "twice", "depth", "comments", "commas", "mark")
    }
    for row in CLIENTS:
        traits = {
            "hooks_twice": row.hooks and row.hooks.merged_with,
            "by_claude": row.rules and row.rules.unsure,
            "cuts": row.rules and row.rules.most_bytes,
        }
        built |= {f"{row.key}_{trait}" for trait, has_it in traits.items() if has_it}
    assert {f"setup.{key}" for key in built} <= sentences("en").keys()


def test_a_change_has_no_text_where_there_is_no_file(tmp_path: Path) -> None:
    assert Change(UserFile(tmp_path, "", None, tmp_path), None).text == ""
