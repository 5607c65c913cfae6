"""Tests what setup plans for the files of clients, and what it leaves alone."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from commands.clients.files import Tree
from commands.clients.machine import commands_here, installed, runner_of
from commands.clients.merge import MARK
from commands.clients.parts import handler_of
from commands.clients.table import ASKED_FOR, CLIENTS, COMMANDS, LEVELS, RECORDING, TOOLS
from commands.clients.table import client_of as row_of
from commands.clients.text_file import ExportError
from core.messages import Language
from tests.support.cli_process import Run
from tests.support.costly import enough, one_in
from tests.support.sentences import sentence
from tests.support.setup_bench import WITH_SESSIONS, Bench
from tests.support.tables import table

ROWS = table("commands/plan")
KEYS = [client.key for client in CLIENTS]
OF_USER = [client.key for client in CLIENTS if "user" in client.entry]
DESKTOP = "home/.config/Claude/claude_desktop_config.json"
LOCAL = "root/.claude/settings.local.json"
OURS = [f"mcp__sentinel-memory__{tool}" for tool in TOOLS["lessons"]]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")


def problems(planned: Any) -> list[str]:
    return [problem.key for problem in planned.problems]


def notes(planned: Any) -> list[str]:
    return [note.key for note in planned.notes]


def holding(bench: Bench, text: str) -> list[str]:
    return [name for name, data in bench.files().items() if text.encode() in data]


# Put in, take out.


@pytest.mark.row("001 2-2.b")
@pytest.mark.parametrize(
    ("client", "level"),
    enough([(it, level) for it in KEYS for level in LEVELS if level != "user" or it in OF_USER],
           lambda client, level: client, lambda client, level: level, names=2),
)  # fmt: skip
def test_what_is_put_in_is_taken_out_without_a_trace(client: str, level: str, bench: Bench) -> None:
    tree = Tree(bench.root / ".git" / "info" / "exclude", "", frozenset())
    planned = bench.do(client, level=level, tree=tree, rooms=WITH_SESSIONS)
    assert (planned.problems, planned.notes[1:]) == ([], [])
    assert bench.plan(client, level=level, tree=tree).changes == []
    files = set(bench.files())
    place = "home/" if level == "user" or client == "claude-desktop" else "root/"
    assert any(name.startswith(place) for name in files)
    bench.do(client, level=level, tree=tree, remove=True)
    assert bench.files() == {}
    assert bench.plan(client, level=level, tree=tree, remove=True).changes == []


@pytest.mark.parametrize("client", [key for key in KEYS if key not in OF_USER])
def test_a_client_without_files_of_a_user_is_told(client: str, bench: Bench) -> None:
    planned = bench.plan(client, level="user")
    assert (planned.changes, notes(planned)) == ([], ["no_user_level"])


def test_nothing_of_a_project_stands_in_the_files_of_a_user(bench: Bench) -> None:
    bench.do(*OF_USER, level="user")
    assert holding(bench, str(bench.root)) == []


def test_hooks_and_rules_can_be_left_out(bench: Bench) -> None:
    planned = bench.plan(*KEYS, hooks=False, rules=False, approvals=False)
    assert {part.kind for change in planned.changes for part in change.parts} == {"entry", "memory"}
    entry = bench.do("codex", "gemini", approvals=False)
    assert entry and "approve" not in bench.path("root/.codex/config.toml").read_text()
    assert "trust" not in bench.path("root/.gemini/settings.json").read_text()


# What is left alone.


@pytest.mark.parametrize(
    ("client", "file", "content", "key"),
    ROWS["a_file_that_cannot_be_edited_is_left_alone"],
)
def test_a_file_that_cannot_be_edited_is_left_alone_and_the_others_are_done(
    client: str, file: str, content: str, key: str, bench: Bench
) -> None:
    bench.do(client)
    fresh = {name: data for name, data in bench.files().items() if name != file}
    bench.do(client, remove=True)
    text = content.replace("DEEP", '{"a":' * 5_000)
    bench.put({file: text.encode("latin-1" if key == "not_utf8" else "utf-8")})
    before = bench.path(file).read_bytes()
    planned = bench.do(client)
    assert problems(planned) == [key]
    [problem] = planned.problems
    assert problem.facts["path"] == str(bench.path(file))
    languages: dict[Language, tuple[str, ...]] = {
        "en": ("repeat", "by hand"),
        "ko": ("다시 실행하세요", "직접"),
    }
    for lang, steps in languages.items():
        said = sentence(lang, f"setup.{key}", **problem.facts)
        assert any(step in said for step in steps)
    others = {name: data for name, data in bench.files().items() if name != file}
    assert bench.path(file).read_bytes() == before
    assert others == fresh or client == "claude-code"


@pytest.mark.parametrize("client", ["vscode", "gemini"])
def test_what_to_paste_into_a_file_with_comments_is_what_setup_would_write(
    client: str, bench: Bench
) -> None:
    file = {"vscode": "root/.vscode/mcp.json", "gemini": "root/.gemini/settings.json"}[client]
    bench.do(client)
    fresh = bench.path(file).read_text()
    bench.do(client, remove=True)
    bench.put({file: "{ // mine\n}\n"})
    [problem] = bench.plan(client).problems
    assert problem.facts["block"] == fresh
    bench.put({file: fresh.replace("{", "{ // mine", 1)})
    planned = bench.do(client)
    assert bench.path(file) not in [it.path for it in planned.changes]
    assert bench.plan(client).problems == []
    assert problems(bench.plan(client, remove=True)) == ["json_kept_out"]
    bench.put({file: "{ // mine\n}\n"})
    assert problems(bench.plan(client, remove=True)) == []


def test_the_table_to_paste_is_shown_where_it_cannot_be_put_in(bench: Bench) -> None:
    bench.do("codex")
    fresh = bench.path("root/.codex/config.toml").read_text()
    bench.put({"root/.codex/config.toml": "mcp_servers = {}\n"})
    [problem] = bench.plan("codex").problems
    assert f"{problem.facts['block']}\n" == fresh
    text = '[mcp_servers]\nsentinel-memory = { command = "x", args = ["/t/server.py"] }\n'
    bench.put({"root/.codex/config.toml": text})
    assert problems(bench.plan("codex", remove=True)) == ["toml_form_out"]


def test_a_renamed_entry_keeps_its_name_and_is_allowed_by_it(bench: Bench) -> None:
    entry = {"command": "/old/python", "args": [str(bench.tool / "server.py")], "env": {"A": "b"}}
    bench.put({"root/.mcp.json": {"mcpServers": {"memory": entry}}})
    bench.do("claude-code")
    [(name, made)] = bench.data("root/.mcp.json")["mcpServers"].items()
    assert (name, made["command"], made["env"]) == ("memory", bench.python, {"A": "b"})
    allowed = [f"mcp__memory__{tool}" for tool in TOOLS["lessons"]]
    assert bench.data(LOCAL)["permissions"]["allow"] == allowed
    bench.do("claude-code", remove=True)
    assert bench.files() == {}


def test_a_file_that_changed_after_the_plan_is_not_overwritten(bench: Bench) -> None:
    [change] = [it for it in bench.plan("codex").changes if it.path.name == "AGENTS.md"]
    for content in (b"new", b"old"):
        bench.put({"root/AGENTS.md": content})
        with pytest.raises(ExportError, match="Another program changed"):
            change.write(bench.root)
        assert bench.files() == {"root/AGENTS.md": content}
        [change] = [it for it in bench.plan("codex").changes if it.path.name == "AGENTS.md"]
    (bench.root / "AGENTS.md").unlink()
    with pytest.raises(ExportError, match="Another program changed"):
        change.write(bench.root)
    assert bench.files() == {}


@pytest.mark.parametrize("remove", [False, True])
def test_a_file_that_its_owner_may_not_write_is_left_alone(remove: bool, bench: Bench) -> None:
    bench.put({"root/AGENTS.md": "Be kind.\n"})
    path = bench.root / "AGENTS.md"
    if remove:
        bench.do("codex")
    before = path.read_bytes()
    path.chmod(0o444)
    if remove:  # what needs no change is no problem
        assert problems(bench.plan("codex")) == []
    planned = bench.do("codex", remove=remove)
    assert problems(planned) == ["read_only"]
    assert path.read_bytes() == before
    assert ("root/.codex/hooks.json" in bench.files()) != remove


# An entry that is there.


@pytest.mark.parametrize(
    ("client", "asked", "before", "after", "noted"), ROWS["what_becomes_of_an_entry_that_is_there"]
)
def test_what_becomes_of_an_entry_that_is_there(
    client: str,
    asked: dict[str, Any],
    before: dict[str, Any],
    after: dict[str, Any],
    noted: list[str],
    bench: Bench,
) -> None:
    """Those of others, and of other projects, stay; what a user has put into ours does, too."""
    row, signs = row_of(client), {"python": bench.python, "root": str(bench.root)}
    signs["server"] = str(bench.tool / "server.py")
    path = bench.machine.path(row.entry["project"])
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [json.dumps({row.under: entries}) for entries in (before, after)]
    for sign, place in signs.items():
        texts = [text.replace(f"{{{sign}}}", place) for text in texts]
    path.write_text(texts[0])
    planned = bench.do(client, **asked)
    assert json.loads(path.read_text()) == json.loads(texts[1])
    assert (notes(planned), planned.problems) == (noted, [])
    assert all(note.facts["project"] == "/other" for note in planned.notes)


def test_an_entry_that_served_one_project_serves_each_from_then_on(bench: Bench) -> None:
    line = f'command = "{bench.python}"\nargs = ["{bench.tool}/server.py", "--project", "/other"]\n'
    bench.put({"home/.codex/config.toml": f"[mcp_servers.sentinel-memory]\n{line}"})
    planned = bench.plan("codex", level="user")
    assert notes(planned) == ["served_one_before"]
    assert '"--project"' not in planned.changes[0].text


def test_a_packaged_claude_desktop_is_set_up_as_well(bench: Bench) -> None:
    packaged = "home/AppData/Local/Packages/Claude_x/LocalCache/Roaming/Claude"
    bench.put({f"{packaged}/claude_desktop_config.json": "{}"})
    planned = bench.plan("claude-desktop", machine=bench.machine_on("win32"))
    assert [str(it.path.relative_to(bench.top)) for it in planned.changes[:2]] == [
        "home/AppData/Roaming/Claude/claude_desktop_config.json",
        f"{packaged}/claude_desktop_config.json",
    ]


@pytest.mark.parametrize(
    ("client", "directory", "sign"),
    ROWS["a_client_that_would_expand_the_path_of_the_server_is_told"],
)
def test_a_client_that_would_expand_the_path_of_the_server_is_told(
    client: str, directory: str, sign: str, bench: Bench
) -> None:
    tool = installed(("/bin/python",), directory, windows=False)
    found = [it.facts["sign"] for it in bench.plan(client, installation=tool).notes]
    assert found == ([sign] if sign else [])
    assert bench.plan(client, installation=tool, remove=True).notes == []


# Approvals.


def test_copilot_is_told_for_the_repository_among_what_its_user_has_allowed(bench: Bench) -> None:
    name = "home/.copilot/permissions-config.json"
    theirs = {"locations": {"/other": {"tool_approvals": ["x"]}}}
    bench.put({name: theirs})
    below = Tree(bench.top / "exclude", f"{bench.root.name}/", frozenset())
    for top, tree in ((bench.root, None), (bench.top, below)):
        bench.do("copilot", tree=tree)
        listed = bench.data(name)["locations"][str(top)]["tool_approvals"]
        assert [(it["kind"], it["serverName"], it["toolName"]) for it in listed] == [
            ("mcp", "sentinel-memory", tool) for tool in TOOLS["lessons"]
        ]
        bench.do("copilot", tree=tree, remove=True)
        assert bench.data(name) == theirs


@pytest.mark.parametrize(
    ("permissions", "allowed"),
    ROWS["what_the_user_has_decided_of_the_tools_stays"],
)
def test_what_the_user_has_decided_of_the_tools_stays(
    permissions: dict[str, list[str]], allowed: list[str], bench: Bench
) -> None:
    bench.put({LOCAL: {"permissions": permissions}})
    bench.do("claude-code")
    assert bench.data(LOCAL)["permissions"] == {**permissions, "allow": allowed}
    bench.do("claude-code", remove=True)
    left = [it for it in permissions["allow"] if it not in OURS]
    assert bench.data(LOCAL)["permissions"].get("allow", []) == left if left else True


def test_what_the_user_has_chosen_in_our_entry_stays(bench: Bench) -> None:
    bench.do("codex")
    path = bench.path("root/.codex/config.toml")
    chosen = path.read_text().replace('"approve"', '"prompt"').replace("true", "false")
    path.write_text(f"{chosen}enabled_tools = ['search_memory']\n")
    before = path.read_text()
    bench.do("codex")
    assert path.read_text() == before


def test_only_the_tools_of_the_rooms_are_allowed_and_none_that_removes_for_good(
    bench: Bench,
) -> None:
    for rooms, last, count in (
        (WITH_SESSIONS, "context_recommend", 10),
        (("lessons", "sessions:core"), "context_warn", 7),
        (("lessons", "fragments"), "unpin", 16),
        (("fragments:core",), "unpin", 5),
    ):
        planned = bench.do("claude-code", rooms=rooms)
        assert (planned.tools[-1], len(planned.tools)) == (last, count)
        wanted = [tool for tool in planned.tools if tool not in ASKED_FOR]
        allowed = bench.data(LOCAL)["permissions"]["allow"]
        assert allowed == [f"mcp__sentinel-memory__{tool}" for tool in wanted]
    assert "mcp__sentinel-memory__forget" not in allowed


# Hooks.


def test_a_hook_for_each_prompt_that_a_person_wrote_stays(bench: Bench) -> None:
    bench.do("claude-code")
    file = "root/.claude/settings.json"
    data = bench.data(file)
    assert "UserPromptSubmit" not in data["hooks"]
    [[stop]] = [it["hooks"] for it in data["hooks"]["Stop"]]
    line = stop["command"].replace("hook stop", "hook prompt")
    data["hooks"]["UserPromptSubmit"] = [{"hooks": [stop | {"command": line}]}]
    bench.put({file: data})
    assert bench.plan("claude-code").changes == []
    bench.do("claude-code", remove=True)
    assert bench.files() == {}


def test_hooks_without_the_ending_change_in_place(bench: Bench) -> None:
    bench.do("cursor")
    file = "root/.cursor/hooks.json"
    after = bench.files()[file]
    assert after.count(b" || :") == 3
    bench.put({file: after.replace(b" || :", b"")})
    bench.do("cursor")
    assert bench.files()[file] == after


@pytest.mark.parametrize(
    ("client", "file"),
    [("cursor", "root/.cursor/hooks.json"), ("claude-code", "root/.claude/settings.json")],
)
def test_hooks_in_the_form_of_another_client_are_renewed(
    client: str, file: str, bench: Bench
) -> None:
    bench.do(client)
    data = bench.data(file)
    for [item] in data["hooks"].values():
        handlers = item.pop("hooks", None) or [{**item}]
        other = handlers[0] if client == "claude-code" else {"hooks": handlers}
        item.clear()
        item.update(other)
    bench.put({file: data})
    assert [it.path for it in bench.do(client).changes] == [bench.path(file)]
    assert bench.plan(client).changes == []
    bench.do(client, remove=True)
    assert bench.files() == {}


def test_hooks_that_two_clients_share_stay_while_one_of_them_needs_them(bench: Bench) -> None:
    shared = ["root/.github/hooks/sentinel-memory.json"]
    bench.do("vscode", rooms=WITH_SESSIONS)
    bench.do("copilot")
    assert holding(bench, RECORDING) == shared
    assert bench.plan("vscode", "copilot").changes == []
    bench.do("vscode", rooms=("lessons",))
    assert holding(bench, RECORDING) == []
    bench.do("copilot", remove=True)
    assert holding(bench, "hook session-start") == shared
    bench.do("vscode", remove=True)
    assert bench.files() == {}


def test_no_hook_reminds_of_a_tool_that_is_not_offered(bench: Bench) -> None:
    where = ["root/.claude/settings.json"]
    bench.do("claude-code")
    assert holding(bench, "hook stop") == where
    bench.do("claude-code", rooms=("sessions:core",))
    assert (holding(bench, "hook stop"), holding(bench, "hook session-start")) == ([], where)


def test_codex_hooks_in_both_files_are_told(bench: Bench) -> None:
    bench.put({"root/.codex/config.toml": "[hooks]\n"})
    assert notes(bench.plan("codex")) == ["codex_hooks_twice"]


@pytest.mark.long
@pytest.mark.parametrize("gone", ["interpreter", "scripts"])
@pytest.mark.parametrize("client", [key for key in KEYS if row_of(key).hooks])
def test_a_hook_of_an_installation_that_is_gone_does_not_stop_a_tool(
    client: str, gone: str, bench: Bench
) -> None:
    """Other codes than 0 are a veto in some clients, and stdout is an answer."""
    python = bench.python if gone == "interpreter" else sys.executable
    made = installed((python,), str(bench.top / "gone"), windows=False)
    hooks = row_of(client).hooks
    assert hooks
    words = [*made.cli, "hook", "stop", "--client", client]
    handler = handler_of(hooks, words, "stop", windows=False)
    line = handler.get("command") or handler["bash"]
    for shell in ("sh", "bash"):
        done = Run.process(shell, "-c", line, given=b"{}", cwd=bench.root)
        assert (done.code, done.out, bool(done.errors)) == (0, "", True)


# Rooms and language.


@pytest.mark.row("002 2.81")
@pytest.mark.parametrize("client", one_in(3, KEYS))
def test_switching_on_and_off_leaves_what_a_setup_without_it_writes(
    client: str, bench: Bench
) -> None:
    bench.do(client)
    before = bench.files()
    for rooms in (WITH_SESSIONS, ("lessons", "fragments")):
        bench.do(client, rooms=rooms)
        assert holding(bench, ",".join(rooms)) != []
        has_hooks = row_of(client).hooks and rooms == WITH_SESSIONS
        assert bool(holding(bench, f"hook {RECORDING}")) == bool(has_hooks)
        assert bench.plan(client).changes == []
        bench.do(client, rooms=("lessons",))
        assert bench.files() == before


def test_an_entry_keeps_the_rooms_that_a_person_wrote(bench: Bench) -> None:
    for words, env in (
        (["--rooms", "lessons,sessions"], {}),
        (["--rooms=lessons,sessions"], {}),
        ([], {"SENTINEL_MEMORY_ROOMS": "lessons,sessions"}),
    ):
        entry = {"command": "x", "args": [str(bench.tool / "server.py"), *words], "env": env}
        bench.put({"root/.mcp.json": {"mcpServers": {"sentinel-memory": entry}}})
        bench.do("claude-code")
        made = bench.data("root/.mcp.json")["mcpServers"]["sentinel-memory"]
        assert ("lessons,sessions" in made["args"], made["env"]) == (bool(words), env)
        assert holding(bench, RECORDING) == ["root/.claude/settings.json"]
    bench.do("claude-code", rooms=("lessons",))
    assert holding(bench, RECORDING) == []


def test_codex_passes_on_where_the_fragments_are_and_keeps_the_variables_of_the_user(
    bench: Bench,
) -> None:
    def passed() -> Any:
        return bench.data("root/.codex/config.toml")["mcp_servers"]["sentinel-memory"].get(
            "env_vars"
        )

    needed = ["SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_AGENT", "XDG_DATA_HOME"]
    bench.do("codex")
    assert passed() is None
    bench.do("codex", rooms=("lessons", "fragments"))
    assert passed() == needed
    path = bench.path("root/.codex/config.toml")
    path.write_text(path.read_text().replace('["SENTINEL_MEMORY_FRAGMENTS"', '["MINE"'))
    bench.do("codex")
    assert passed() == ["MINE", *needed[1:], needed[0]] or passed() == ["MINE", *needed]
    bench.do("codex", rooms=("lessons",))
    assert passed() == ["MINE"]


def spoken(bench: Bench) -> set[str]:
    """The languages in entries and hooks."""
    text = b"\n".join(bench.files().values()).decode()
    found = re.findall(r"--lang (\w+)|LANG\"?[ :=]+\"(\w+)", text)
    return {lang for pair in found for lang in pair if lang}


@pytest.mark.parametrize("client", one_in(3, KEYS))
def test_a_language_that_was_asked_for_is_written_kept_and_changed(
    client: str, bench: Bench
) -> None:
    bench.do(client, chosen="en")
    fresh = bench.files()
    assert spoken(bench) == set()
    bench.do(client, chosen="ko")
    assert spoken(bench) == {"ko"}
    for chosen in ("ko", None):
        assert bench.plan(client, chosen=chosen).changes == []
    bench.do(client, chosen="en")
    assert spoken(bench) == {"en"}
    bench.do(client, remove=True)
    assert bench.files() == {} and fresh


# What is for one machine alone; switches; the memory.


def test_commands_on_the_path_are_written_without_a_path_of_this_machine(
    bench: Bench, tmp_path: Path
) -> None:
    scripts, linked = tmp_path / "venv" / "bin", tmp_path / "linked"
    for folder in (scripts, linked):
        folder.mkdir(parents=True)
    for name in COMMANDS:
        (scripts / name).write_text("#!/bin/sh\n")
        (scripts / name).chmod(0o755)
        (linked / name).symlink_to(scripts / name)
    python = str(scripts / "python")
    found = commands_here(python, {"PATH": str(linked)})
    assert found == commands_here(python, {"PATH": str(scripts)})
    assert commands_here(sys.executable, {"PATH": str(scripts)}) is None
    assert commands_here("/c/archive-v0/x/python", {"PATH": str(scripts)}) is None
    bench.do(*KEYS, installation=found)
    of_project = {name: data for name, data in bench.files().items() if name.startswith("root/")}
    for text in (str(bench.root), str(scripts)):
        assert [name for name, data in of_project.items() if text.encode() in data] == []
    assert bench.plan(*KEYS, installation=found).changes == []
    (scripts / COMMANDS[1]).unlink()
    assert commands_here(python, {"PATH": str(scripts)}) is None


@pytest.mark.parametrize(
    ("client", "file", "content", "switch"), ROWS["a_switch_beside_our_entry_is_said"]
)
def test_a_switch_beside_our_entry_is_said(
    client: str, file: str, content: str, switch: str, bench: Bench
) -> None:
    bench.put({file: content})
    [note] = bench.plan(client).notes
    assert (note.key, note.facts["path"]) == ("switched_off", str(bench.path(file)))
    assert note.facts["switch"] == switch
    other = content.replace("sentinel-memory", "theirs").replace(" true", " 0")
    bench.put({file: other.replace("false", "true")})
    assert notes(bench.plan(client)) == []


def test_a_memory_that_git_ignores_is_said(bench: Bench) -> None:
    tree = Tree(bench.root / "exclude", "", frozenset(), ignored=".gitignore:1:.context/")
    [note] = bench.plan("codex", tree=tree).notes
    assert (note.key, note.facts["rule"]) == ("memory_ignored", ".gitignore:1:.context/")


def test_the_approvals_of_one_person_are_kept_out_of_git_and_others_of_the_users_lines_stay(
    bench: Bench,
) -> None:
    exclude = bench.root / ".git" / "info" / "exclude"
    bench.put({"root/.git/info/exclude": "*.log\n"})
    tree = Tree(exclude, "sub dir/", frozenset())
    bench.do("claude-code", tree=tree)
    assert exclude.read_text() == f"*.log\n{MARK}\n/sub dir/.claude/settings.local.json\n"
    kept = exclude.read_text()
    for remove in (False, True):  # the entry of a team's server leaves our own approvals there
        bench.do("claude-code", tree=tree, url="https://memory.example.com/mcp", remove=remove)
        assert exclude.read_text() == kept
    bench.do("claude-code", tree=tree, remove=True)
    assert exclude.read_text() == "*.log\n"
    tracked = Tree(exclude, "", frozenset([".claude/settings.local.json"]))
    bench.do("claude-code", tree=tracked)
    assert exclude.read_text() == "*.log\n"


# Windows and uv.

PLACES = {
    "plain": ("C:\\도구\\.venv\\Scripts\\python.exe", "C:\\도구"),
    "spaces": ("C:\\Program Files\\it's\\python.exe", "C:\\my tools"),
}


@pytest.mark.parametrize(
    ("client", "place", "handler"),
    ROWS["hooks_are_written_for_the_shell_that_a_client_uses_on_windows"],
)
def test_hooks_are_written_for_the_shell_that_a_client_uses_on_windows(
    client: str, place: str, handler: dict[str, Any]
) -> None:
    python, tool = PLACES[place]
    hooks = row_of(client).hooks
    made = installed((python,), tool, windows=True)
    assert hooks
    assert handler_of(hooks, [*made.cli, "hook", "stop"], "stop", windows=True) == handler


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("client", one_in(3, KEYS))
def test_the_forms_of_windows_are_found_again_and_taken_out(
    client: str, place: str, bench: Bench
) -> None:
    python, tool = PLACES[place]
    asked: dict[str, Any] = {
        "installation": installed((python,), tool, windows=True),
        "machine": bench.machine_on("win32"),
    }
    bench.do(client, **asked)
    assert "\\\\" not in json.dumps([bench.data(it) for it in holding(bench, "server.py")])
    assert bench.plan(client, **asked).changes == []
    bench.do(client, **asked, remove=True)
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


# What is shown of a plan.


@pytest.mark.parametrize("key", KEYS)
def test_a_plan_shows_nothing_of_the_user(key: str, bench: Bench) -> None:
    """Neither beside our own parts nor what a person has put into these."""
    secret = "Hunter2wasHere"
    bench.do(key, rooms=WITH_SESSIONS)
    for name in bench.files():
        path = bench.path(name)
        if path.suffix == ".json":
            path.write_text(path.read_text().replace("{", f'{{"theirs": {{"k": "{secret}"}},'))
        elif path.suffix == ".toml":
            path.write_text(f'k = "{secret}"\n{path.read_text()}\nmine = "{secret}"\n')
    for asked in ({"remove": True}, {"chosen": "ko"}, {"rooms": ("lessons", "fragments")}):
        planned = bench.plan(key, **asked)
        pieces = [it for change in planned.changes for it in change.parts]
        assert secret not in "".join(line for it in pieces for line in (*it.before, *it.after))
