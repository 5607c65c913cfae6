"""Tests the hooks that setup writes, and what it grants: calls of our tools without a question."""

import json
import os
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.documents.json_tree import data_of, object_of
from commands.setup.client_table import CLIENTS, TOOLS, Hooks
from commands.setup.files import Installation, Tree
from commands.setup.here import installed
from commands.setup.hooks import Call, hook_strings, with_hooks, without_hooks
from tests.commands.documents.test_edit_json import texts
from tests.support.setup_bench import Bench
from tests.support.tables import table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")

LOCAL = "root/.claude/settings.local.json"
OURS = [f"mcp__sentinel-memory__{tool}" for tool in TOOLS["lessons"]]


def read(bench: Bench, name: str) -> Any:
    return json.loads(bench.files()[name])


def parts(bench: Bench, client: str, **asked: Any) -> set[str]:
    changes = bench.plan(client, **asked).changes
    return {part for change in changes for part, _ in change.parts}


def test_claude_code_may_call_the_three_tools_by_the_file_of_one_person(bench: Bench) -> None:
    bench.do("claude-code")
    assert read(bench, LOCAL) == {"permissions": {"allow": OURS}}
    assert "permissions" not in read(bench, "root/.claude/settings.json")


def test_codex_and_gemini_are_told_in_the_entry(bench: Bench) -> None:
    bench.do("codex", "gemini")
    config = tomllib.loads(bench.files()["root/.codex/config.toml"].decode())
    entry = config["mcp_servers"]["sentinel-memory"]
    assert (entry["default_tools_approval_mode"], entry["required"]) == ("approve", True)
    settings = read(bench, "root/.gemini/settings.json")
    assert settings["mcpServers"]["sentinel-memory"]["trust"] is True


def test_copilot_is_told_for_the_repository_among_what_its_user_has_allowed(bench: Bench) -> None:
    name = "home/.copilot/permissions-config.json"
    theirs = '{\n  // mine\n  "locations": {"/other": {"tool_approvals": []}}\n}\n'
    bench.put({name: theirs})
    tree = Tree(bench.root / "exclude", "", frozenset())
    below = Tree(bench.top / "exclude", f"{bench.root.name}/", frozenset())
    for top, said in ((bench.root, tree), (bench.top, below)):
        bench.take(bench.plan("copilot", tree=said))
        locations = object_of(bench.files()[name].decode())["locations"]
        listed = locations[str(top)]["tool_approvals"]
        assert [(it["kind"], it["serverName"], it["toolName"]) for it in listed] == [
            ("mcp", "sentinel-memory", tool) for tool in TOOLS["lessons"]
        ]
        bench.take(bench.plan("copilot", tree=said, remove=True))
        assert bench.files() == {name: theirs.encode()}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "copilot"])
def test_approvals_can_be_left_out_and_are_then_left_alone(client: str, bench: Bench) -> None:
    assert "approvals" in parts(bench, client)
    assert "approvals" not in parts(bench, client, approvals=False)
    bench.do(client)
    assert bench.plan(client, approvals=False).changes == ()


@pytest.mark.parametrize("client", ["cursor", "claude-desktop", "vscode"])
def test_a_client_that_keeps_no_such_list_gets_none(client: str, bench: Bench) -> None:
    assert "approvals" not in parts(bench, client)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("permissions", "allowed"),
    [
        ({"allow": ["Bash(ls)"]}, ["Bash(ls)", *OURS]),
        ({"allow": [OURS[1]]}, [OURS[1], OURS[0], OURS[2]]),
        ({"allow": ["mcp__sentinel-memory"]}, ["mcp__sentinel-memory"]),
        ({"allow": ["mcp__sentinel-memory__*"]}, ["mcp__sentinel-memory__*"]),
        ({"allow": [], "ask": [OURS[2]]}, OURS[:2]),
        ({"allow": [], "deny": [OURS[1]]}, [OURS[0], OURS[2]]),
        ({"allow": [], "deny": ["mcp__sentinel-memory"]}, []),
    ],
)
def test_what_the_user_has_decided_of_the_tools_stays(
    permissions: dict[str, list[str]], allowed: list[str], bench: Bench
) -> None:
    bench.put({LOCAL: json.dumps({"permissions": permissions})})
    bench.do("claude-code")
    assert read(bench, LOCAL)["permissions"] == {**permissions, "allow": allowed}


def test_the_mode_that_a_user_of_codex_has_chosen_stays(bench: Bench) -> None:
    bench.do("codex")
    path = bench.path("root/.codex/config.toml")
    chosen = path.read_text("utf-8").replace('"approve"', '"prompt"')
    path.write_text(chosen, "utf-8")
    bench.do("codex")
    assert path.read_text("utf-8") == chosen


def test_only_ours_is_taken_out_of_what_is_allowed(bench: Bench) -> None:
    text = '{\n  "permissions": {\n    "allow": [\n      "Bash(ls)",\n      "Edit"\n    ]\n  }\n}\n'
    bench.put({LOCAL: text})
    bench.do("claude-code")
    assert read(bench, LOCAL)["permissions"]["allow"] == ["Bash(ls)", "Edit", *OURS]
    bench.do("claude-code", remove=True)
    assert bench.files() == {LOCAL: text.encode()}


def test_a_renamed_entry_is_allowed_by_its_name(bench: Bench) -> None:
    entry = {"command": bench.python, "args": [str(bench.tool / "server.py")]}
    bench.put({"root/.mcp.json": json.dumps({"mcpServers": {"memory": entry}})})
    bench.do("claude-code")
    allowed = [f"mcp__memory__{tool}" for tool in TOOLS["lessons"]]
    assert read(bench, LOCAL)["permissions"]["allow"] == allowed
    bench.do("claude-code", remove=True)
    assert "permissions" not in bench.files()


def test_a_comment_in_what_claude_code_reads_is_refused(bench: Bench) -> None:
    text = '{\n  // mine\n  "permissions": {}\n}\n'
    bench.put({LOCAL: text})
    [problem] = bench.do("claude-code").problems
    assert (problem.key, problem.facts["line"]) == ("json_comments", 2)
    assert bench.files()[LOCAL] == text.encode()


ROWS = table("commands/hooks")

HOOKS: dict[str, Hooks] = {it.key: it.hooks for it in CLIENTS if it.hooks}
TOOL = installed(("/새 폴더/python",), "/t", windows=False)
OLD = installed(("/bin/uv", "run"), "/o dir", windows=False)
THEIRS = ROWS["theirs"]
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(st.sampled_from(THEIRS), min_size=1, max_size=2)},
    optional={"matcher": st.just("Bash")},
)


def call(client: str, installation: Installation = TOOL) -> Call:
    return Call(installation=installation, client=client)


def documents(hooks: Hooks) -> st.SearchStrategy[dict[str, Any]]:
    """Files in which hooks of the user stand, or none."""
    item = GROUPS if hooks.grouped else st.sampled_from(THEIRS)
    events = st.sampled_from([*(event.name for event in hooks.events), "other"])
    listed = st.dictionaries(events, st.lists(item, min_size=1, max_size=2), min_size=1)
    version = {"version": st.just(1)} if hooks.version else {"model": st.just("x")}
    return st.fixed_dictionaries(version, optional={"hooks": listed})


@pytest.mark.long  # it costs much
@given(client=st.sampled_from(list(HOOKS)), data=st.data())
def test_taking_out_what_was_put_in_gives_the_text_back(client: str, data: st.DataObject) -> None:
    hooks = HOOKS[client]
    text = data.draw(texts(documents(hooks)))
    assert without_hooks(text, hooks) == text
    put_in = with_hooks(text, hooks, call(client))
    assert list(hook_strings(put_in, hooks))
    assert with_hooks(put_in, hooks, call(client)) == put_in
    assert without_hooks(put_in, hooks) == text


@given(client=st.sampled_from(list(HOOKS)), data=st.data())
def test_another_installation_takes_the_place_of_the_first(
    client: str, data: st.DataObject
) -> None:
    hooks = HOOKS[client]
    text = data.draw(texts(documents(hooks)))
    moved = with_hooks(with_hooks(text, hooks, call(client, OLD)), hooks, call(client))
    fresh = with_hooks(text, hooks, call(client))
    assert data_of(moved) == data_of(fresh)
    assert "/o dir/cli.py" not in "".join(hook_strings(moved, hooks))
