"""Tests that the doctor sees all that setup writes: each file is written, broken, and mended again.

The command that the doctor names is carried out as it stands.
"""

import json
import os
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from commands.doctor.codex import unreviewed
from commands.doctor.set_up import start_of
from commands.setup.client_table import CLIENTS, LINE
from commands.setup.files import LEVELS
from commands.setup.hooks import handler_of
from tests.support.cli_process import Run
from tests.support.costly import one_in
from tests.support.doctor_desk import Desk
from tests.support.git_clones import git
from tests.support.said import sentences
from tests.support.stdio_client import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands of a POSIX shell")

KEYS = [row.key for row in CLIENTS]
WITH_HOOKS = [row for row in CLIENTS if row.hooks]
PROGRAM = str(ROOT / "cli.py")
Break = Callable[[Desk], object]
Kinds = set[tuple[str, str]]


def found_by(desk: Desk) -> list[dict[str, Any]]:
    """What the doctor says of clients, but where all is well; its status follows from it."""
    done = desk.doctor("--json")
    found = [it for it in done.findings if it["kind"].startswith(("client_", "team_"))]
    assert (done.code, done.errors) == (int(any(it["severity"] != "note" for it in found)), "")
    return found


def kinds_of(found: list[dict[str, Any]]) -> Kinds:
    return {(it["kind"], it["severity"]) for it in found}


def set_up(desk: Desk, *words: str) -> None:
    done = desk.run("setup", *words, "--yes")
    assert (done.code, done.errors) == (0, "")


def mended(desk: Desk, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Type each command that is named, once; what the doctor then says."""
    commands = {str(it["facts"]["command"]) for it in found if it["severity"] != "note"}
    commands = commands or {str(it["facts"]["command"]) for it in found if "command" in it["facts"]}
    assert commands
    for line in sorted(commands):
        done = typed(desk, line)
        assert (done.code, done.errors) == (0, "")
    return found_by(desk)


def typed(desk: Desk, line: str) -> Run:
    """Type a line into a shell; a command of this program alone runs here, which is faster."""
    words = shlex.split(line)
    if words[:2] == [sys.executable, PROGRAM] and not {"&&", ";", "|"} & {*words}:
        return desk.run(*words[2:], "--yes")
    asks = f"{PROGRAM} " in line
    return Run.process("sh", "-c", f"{line} --yes" if asks else line, **desk.place())


def changed(old: str, new: str, *files: str) -> Break:
    """Put a text in the place of another in files of the project, where it stands."""

    def change(desk: Desk) -> None:
        for path in (desk.root / file for file in files):
            text = path.read_text(encoding="utf-8")
            assert old in text
            path.write_text(text.replace(old, new), encoding="utf-8")

    return change


def gone(file: str) -> Break:
    return lambda desk: (desk.root / file).unlink()


def edited(file: str, edit: Callable[[Any], object]) -> Break:
    """Change the data of a JSON file."""

    def change(desk: Desk) -> None:
        path = desk.root / file
        data = json.loads(path.read_text(encoding="utf-8"))
        edit(data)
        path.write_text(json.dumps(data), encoding="utf-8")

    return change


class Case(NamedTuple):
    """A setup that breaks. by_hand: what a person does first, where setup leaves the file alone."""

    words: tuple[str, ...]
    broken: Break
    said: Kinds
    by_hand: Break | None = None


def without_event(data: Any) -> None:
    del data["hooks"][next(iter(data["hooks"]))]


def as_list(data: Any) -> None:
    """The form in which hooks once were: a command, and a list of arguments."""
    for groups in data["hooks"].values():
        for handler in groups[0]["hooks"]:
            command, *words = handler["command"].removesuffix(" || :").split(" ")
            handler |= {"command": command, "args": words}


def one_tool_less(data: Any) -> None:
    data["permissions"]["allow"].pop()


CLAUDE, LOCAL = ".claude/settings.json", ".claude/settings.local.json"
RULE = ".cursor/rules/sentinel-memory.mdc"
CODEX, HOOKS = ".codex/config.toml", ".codex/hooks.json"
ROOMS = ("--rooms", "lessons,sessions")
UNREAD: Kinds = {("client_unread", "error")}
CASES: dict[str, Case] = {
    # entries
    "the entry's interpreter is gone": Case(
        ("codex",), changed(sys.executable, "/gone/python", CODEX),
        {("client_command_missing", "error")}),
    "the entry's checkout is gone": Case(
        ("claude-code",), changed(str(ROOT / "server.py"), "/gone/server.py", ".mcp.json"),
        {("client_script_missing", "error")}),
    "the entry names a project that is gone": Case(
        ("codex",), changed('"--project", "', '"--project", "/gone', CODEX),
        {("client_project_missing", "error")}),
    "the entry of an older setup": Case(
        ("codex",), changed("required = true\n", "", CODEX),
        {("client_entry_outdated", "warning")}),
    "another key of an older setup": Case(
        ("claude-code",), changed(',\n      "alwaysLoad": true', "", ".mcp.json"),
        {("client_entry_outdated", "warning")}),
    "the file with the entry is gone": Case(
        ("claude-code",), gone(".mcp.json"), {("client_entry_absent", "warning")}),
    "the file with the entry is torn": Case(
        ("claude-code",), changed("}\n}", "", ".mcp.json"), UNREAD, gone(".mcp.json")),
    "the file with the entry is no TOML": Case(
        ("codex",), changed("]\n", "\n", CODEX), UNREAD, gone(CODEX)),
    # hooks
    "the hooks' file is gone": Case(
        ("codex",), gone(HOOKS), {("client_hooks_absent", "note")}),
    "an event is missing": Case(
        ("codex",), edited(HOOKS, without_event), {("client_hooks_outdated", "warning")}),
    "hooks of an older form": Case(
        ("codex",), edited(HOOKS, as_list), {("client_hooks_outdated", "warning")}),
    "hooks for another project": Case(
        ("codex",), changed("--project /", "--project /other/", HOOKS),
        {("client_hooks_outdated", "warning")}),
    "hooks in two files": Case(
        ("claude-code",), lambda desk: edited(LOCAL, lambda data: data.update(
            json.loads((desk.root / CLAUDE).read_text())))(desk),
        {("client_hooks_outdated", "warning")}),
    "the room whose hooks are there is gone": Case(
        ("codex", *ROOMS), changed(', "--rooms", "lessons,sessions"', "", CODEX),
        {("client_hooks_idle", "warning"), ("client_rules_outdated", "warning")}),
    "the hooks of a room are gone": Case(
        ("codex", *ROOMS), edited(HOOKS, lambda data: data["hooks"].pop("PostToolUse")),
        {("client_hooks_missing", "warning")}),
    "a comment where none is read": Case(
        ("claude-code",), changed('{\n  "hooks"', '{\n  // ours\n  "hooks"', CLAUDE), UNREAD,
        changed("  // ours\n", "", CLAUDE)),
    "a comma too many": Case(
        ("codex",), changed("  }\n}", "  },\n}", HOOKS), UNREAD,
        changed("  },\n}", "  }\n}", HOOKS)),
    "half a file of hooks": Case(
        ("codex",), changed("  }\n}", "", HOOKS), UNREAD, gone(HOOKS)),
    "not UTF-8": Case(
        ("codex",), lambda desk: (desk.root / HOOKS).write_bytes("훅 cli.py".encode("cp949")),
        UNREAD, gone(HOOKS)),
    "a key twice": Case(
        ("codex",), changed('{\n  "hooks"', '{\n  "hooks": {},\n  "hooks"', HOOKS),
        {("client_left_alone", "warning")}, changed('  "hooks": {},\n', "", HOOKS)),
    # approvals
    "a tool that is not allowed": Case(
        ("claude-code",), edited(LOCAL, one_tool_less), {("client_approvals_outdated", "warning")}),
    "no approvals": Case(
        ("claude-code",), gone(LOCAL), {("client_approvals_absent", "note")}),
    "an entry that is not trusted": Case(
        ("gemini",), changed('"trust": true', '"timeout": 600', ".gemini/settings.json"),
        {("client_approvals_absent", "note")}),
    "approvals that git has": Case(
        ("claude-code",), lambda desk: git(desk.root, "add", "--force", LOCAL),
        {("client_approvals_tracked", "warning")}),
    "files of this machine that git would take": Case(
        ("claude-code",), lambda desk: (desk.root / ".git/info/exclude").unlink(),
        {("client_shown_to_git", "warning")}),
    # rules
    "older rules": Case(
        ("codex",), changed("log_memory", "save_memory", "AGENTS.md"),
        {("client_rules_outdated", "warning")}),
    "older rules in a file of our own": Case(
        ("cursor",), changed("log_memory", "save", RULE),
        {("client_rules_outdated", "warning")}),
    "no rules": Case(
        ("codex", "vscode"), gone("AGENTS.md"), {("client_rules_absent", "note")}),
    "rules in two files": Case(
        ("cursor",), lambda desk: (desk.root / "AGENTS.md").write_bytes(
            (desk.root / RULE).read_bytes().partition(b"---\n\n")[2]),
        {("client_rules_surplus", "warning")}),
    "half a block": Case(
        ("codex",), changed("<!-- sentinel-memory rules: end -->", "", "AGENTS.md"),
        {("client_left_alone", "warning")}, gone("AGENTS.md")),
}  # fmt: skip


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("case", one_in(8, CASES))
def test_what_breaks_is_told_and_the_command_that_is_named_mends_it(
    project: Desk, case: str
) -> None:
    words, broken, said, by_hand = CASES[case]
    set_up(project, *words)
    assert found_by(project) == []
    broken(project)
    found = found_by(project)
    assert kinds_of(found) == said
    if by_hand:
        by_hand(project)
    if by_hand and not found_by(project):
        return
    assert mended(project, found) == []


# Where setup has written.


def of_level(level: str) -> list[str]:
    rows = [row for row in WITH_HOOKS if row.of_user or level != "user"]
    return [row.key for row in rows]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("missing", "other"),
    one_in(2, [(sys.executable, "/gone/python"), (PROGRAM, "/gone/cli.py")], names=2),
)
@pytest.mark.parametrize("level", one_in(2, LEVELS))
def test_hooks_that_start_what_is_gone_are_told_for_every_client_and_level(
    project: Desk, level: str, missing: str, other: str
) -> None:
    options = ["--user"] if level == "user" else []
    set_up(project, *of_level(level), *options)
    before = found_by(project)
    assert all(it["kind"] in ("client_rules_twice", "client_unseen") for it in before)
    for path in (*project.root.rglob("*.json"), *project.home.rglob("*.json")):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        gone = [it.replace(missing, other, 1) if " hook " in it else it for it in lines]
        path.write_text("".join(gone), encoding="utf-8")
    found = [it for it in found_by(project) if it["kind"] == "client_hooks_gone"]
    assert kinds_of(found) == {("client_hooks_gone", "error")}
    assert {it["facts"]["word"] for it in found} == {other}
    told = {it["facts"]["client"] for it in found}
    assert told == {row.name for row in WITH_HOOKS if row.key in of_level(level)}
    commands = [str(it["facts"]["command"]) for it in found]
    assert all(option in line for line in commands for option in options)
    assert mended(project, found) == before


@pytest.mark.long
def test_entries_that_start_what_is_gone_are_told_for_every_client(project: Desk) -> None:
    set_up(project, *KEYS)
    before = found_by(project)
    files = [it for it in (*project.root.rglob("*"), *project.home.rglob("*")) if it.is_file()]
    for path in files:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(str(ROOT / "server.py"), "/gone/server.py"), encoding="utf-8")
    found = [it for it in found_by(project) if it not in before]
    assert {(it["kind"], it["facts"]["client"]) for it in found} == {
        ("client_script_missing", row.name) for row in CLIENTS
    }
    assert mended(project, found) == before


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("level", one_in(2, ["project", "user"]))
def test_what_a_user_has_left_out_is_a_note_and_no_other_command_brings_it(
    project: Desk, level: str
) -> None:
    options = ["--user"] if level == "user" else []
    parts = ("hooks", "rules", "approvals")
    set_up(project, "codex", *options, *(f"--no-{part}" for part in parts))
    assert kinds_of(found_by(project)) == {(f"client_{part}_absent", "note") for part in parts}
    for part in parts:
        [line] = {
            str(it["facts"]["command"])
            for it in found_by(project)
            if it["kind"] == f"client_{part}_absent"
        }
        assert typed(project, line).code == 0
        kinds = {kind for kind, _ in kinds_of(found_by(project))}
        assert {kind for kind in kinds if kind.endswith("_absent")} == {
            f"client_{left}_absent" for left in parts[parts.index(part) + 1 :]
        }


@pytest.mark.long  # it costs much
def test_a_level_that_has_a_part_is_enough(project: Desk) -> None:
    set_up(project, "codex", "--user")
    set_up(project, "codex", "--no-hooks", "--no-rules")
    assert kinds_of(found_by(project)) == {("client_unseen", "warning")}


@pytest.mark.long  # it costs much
def test_rules_of_the_user_and_of_the_project_are_a_note(project: Desk) -> None:
    set_up(project, "codex", "--user")
    set_up(project, "codex", "--no-hooks")
    [found] = [it for it in found_by(project) if it["kind"] == "client_rules_at_both"]
    assert found["text"] == (
        f"Codex reads the rules twice: those of the user ({project.home}/.codex/AGENTS.md) and"
        " those of the project (AGENTS.md)."
    )


@pytest.mark.long  # it costs much
def test_what_is_only_missing_here_in_a_file_that_git_has_is_a_note(project: Desk) -> None:
    set_up(project, "codex", "claude-code")
    files = (CODEX, HOOKS, ".mcp.json", CLAUDE)
    changed(sys.executable, "/gone/python", *files)(project)
    assert kinds_of(found_by(project)) == {
        ("client_command_missing", "error"),
        ("client_hooks_gone", "error"),
    }
    git(project.root, "add", *files)
    assert kinds_of(found_by(project)) == {
        ("client_command_missing", "note"),
        ("client_hooks_gone", "note"),
    }


@pytest.mark.long  # it costs much
def test_another_installation_that_is_there_is_as_good(project: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other tool"
    other.mkdir()
    for name in ("server.py", "cli.py"):
        (other / name).write_bytes(b"")
    (other / "python").symlink_to(sys.executable)
    set_up(project, *KEYS)
    before = found_by(project)
    for path in [it for it in project.root.rglob("*") if it.is_file() and ".git/" not in str(it)]:
        text = path.read_text(encoding="utf-8")
        for old, new in ((sys.executable, other / "python"), (str(ROOT), other)):
            text = text.replace(f"{old} ", f"'{new}' ").replace(f"{old}/", f"{new}/")
            text = text.replace(f'"{old}"', f'"{new}"').replace(f"{new}/cli.py", f"'{new}/cli.py'")
        path.write_text(text, encoding="utf-8")
    assert found_by(project) == before


@pytest.mark.parametrize("shell", ["powershell", "cmd", "sh"])
@pytest.mark.parametrize("place", ["/opt/tool", "C:/Program Files/It's/도구"])
def test_the_words_that_a_hook_starts_are_found_in_its_line(shell: str, place: str) -> None:
    """As setup writes it for the shell of each client."""
    hooks = next(row.hooks for row in WITH_HOOKS if row.hooks)._replace(
        shell="cmd" if shell == "cmd" else "powershell", handler={"command": LINE}, windows={}
    )
    windows = shell != "sh"
    for start in [f"{place}/python", f"{place}/cli.py"], ["uv", "run", f"{place}/cli.py"]:
        words = [*start, "hook", "stop", "--client", "cursor", "--project", "a hook"]
        line = handler_of(hooks, words, "stop", windows=windows)["command"]
        assert start_of(line, windows=windows) == tuple(start)
    for other in ("date", "git hook", "/their/cli.py hooks", "'", ""):
        assert start_of(other, windows=windows) == ()


@pytest.mark.long  # it costs much
def test_nothing_of_a_hook_reaches_the_terminal_as_a_command(project: Desk) -> None:
    set_up(project, "codex")
    hostile = "/gone/\x1b[2J\u202e##[group]"
    edit = changed(sys.executable, json.dumps(f"'{hostile}'")[1:-1], HOOKS)
    edit(project)
    done = project.doctor()
    assert "the hooks start /gone/" in done.out
    assert {char for char in done.out if not char.isprintable()} == {"\n"}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("seed", one_in(8, range(8)))
def test_no_file_of_a_client_however_torn_makes_the_doctor_fail(project: Desk, seed: int) -> None:
    set_up(project, *KEYS)
    (project.home / ".codex").mkdir()
    (project.home / ".codex" / "config.toml").write_text(known_to_codex(project))
    random = Random(seed)
    files = [it for it in (*project.root.rglob("*"), *project.home.rglob("*")) if it.is_file()]
    for path in [it for it in files if not {".git", ".context"} & {*it.parts}]:
        data = bytearray(path.read_bytes())
        for _ in range(random.randrange(4)):
            at = random.randrange(len(data) + 1)
            data[at : at + random.randrange(40)] = random.choice(
                (b"", b"[]", b'"', b"{", b"1", b"null", b"\xff", b"\n", b"true")
            )
        path.write_bytes(data)
    found_by(project)


ODD = ("[]", "1", "null", '"a"', "{}", '{"hooks": []}', '{"hooks": {"Stop": [1, {"hooks": 2}]}}')


@pytest.mark.parametrize("odd", one_in(7, ODD))
@pytest.mark.long
def test_no_odd_value_in_a_file_of_a_client_makes_the_doctor_fail(project: Desk, odd: str) -> None:
    set_up(project, *KEYS)
    for path in project.root.rglob("*.json"):
        path.write_text(odd)
    for known in ("projects = 1", "hooks = 1", "[projects]\na = 1\n[hooks]\nstate = 1"):
        (project.home / ".codex").mkdir(exist_ok=True)
        (project.home / ".codex" / "config.toml").write_text(known)
        found_by(project)


# What only the client knows.


def known_to_codex(project: Desk) -> str:
    """What Codex notes when somebody trusts the project."""
    return f'[projects."{project.root}"]\ntrust_level = "trusted"\n'


@pytest.mark.long  # it costs much
def test_a_client_that_serves_another_project_from_here_is_a_warning(project: Desk) -> None:
    other = project.home / "other"
    other.mkdir()
    config = project.home / ".codex" / "config.toml"
    config.parent.mkdir()
    words = [str(ROOT / "server.py"), "--project", str(other)]
    head = f'[mcp_servers.sentinel-memory]\ncommand = "{sys.executable}"\nargs = '
    config.write_text(head + json.dumps(words))
    [found] = found_by(project)
    assert (found["kind"], found["severity"]) == ("client_elsewhere", "warning")
    after = mended(project, [found])
    assert kinds_of(after) == {("client_untrusted", "warning")}


@pytest.mark.long  # it costs much
def test_what_codex_has_not_been_allowed_is_told(project: Desk) -> None:
    config = project.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("")
    set_up(project, "codex")
    assert kinds_of(found_by(project)) == {("client_untrusted", "warning")}
    config.write_text(known_to_codex(project))
    assert kinds_of(found_by(project)) == {("client_unseen", "warning")}


# The checksums are those that Codex 0.169 gave for these hooks.
REVIEWED = {
    "session_start:0:0": "106afd88eddd65fb98fad4fcf62b5d9971af71f3ff2df5b7ff8c0d40a9902b4c",
    "pre_tool_use:0:0": "1117584eec9f99a45042bc1624b8225a7198281621c8475a3d91f3ae2e72a216",
}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        ("session_start", "stop", "unseen"),
        ("session_start:0", "session_start:1", "unseen"),
        ("sha256:106afd", "sha256:a06afd", "changed"),
        ("trusted_hash", "enabled = false\ntrusted_hash", "off"),
    ],
)
@pytest.mark.parametrize("more", [False, True])
def test_codex_runs_hooks_only_as_they_were_reviewed(
    old: str, new: str, said: str, more: bool
) -> None:
    cli = "/opt/sentinel-memory/.venv/bin/python /opt/sentinel-memory/cli.py"
    groups: dict[str, Any] = {}
    for event, ours in (("SessionStart", "session-start"), ("PreToolUse", "before-action")):
        line = f"{cli} hook {ours} --client codex --project '/srv/우리 가게' || :"
        groups[event] = [{"hooks": [{"type": "command", "command": line, "timeout": 10}]}]
    groups["PreToolUse"][0]["matcher"] = "^(Bash|apply_patch|Edit|Write)$"
    if more:  # hooks of others are none of ours, and of what is unknown no checksum can be told
        groups["SessionStart"][0]["hooks"].append({"type": "command", "command": "date"})
        groups["SessionStart"][0]["hooks"][0]["statusMessage"] = "reading"
    text = json.dumps({"hooks": groups}, ensure_ascii=False)
    known = "".join(
        f'[hooks.state."/srv/hooks.json:{place}"]\ntrusted_hash = "sha256:{check}"\n'
        for place, check in REVIEWED.items()
    ).replace(old, new)
    state = unreviewed("/srv/hooks.json", text, tomllib.loads(known))
    assert state == ("" if more and said == "changed" else said)


# The words.


def test_every_reason_for_which_setup_leaves_a_file_alone_has_words_here() -> None:
    ours = list(sentences("en"))
    begins, ends = ours.index("setup.unreadable"), ours.index("setup.no_packages")
    reasons = {key.removeprefix("setup.") for key in ours[begins:ends] if not key.endswith("_out")}
    reasons |= {"leads_out"}
    left = "doctor.left_"
    assert {key.removeprefix(left) for key in ours if key.startswith(left)} == reasons
