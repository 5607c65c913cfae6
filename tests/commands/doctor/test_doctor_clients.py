"""Tests that the doctor sees what is wrong with a client, and names the command that mends it."""

import json
import os
import shlex
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest

from commands.clients.table import CLIENTS, TEAM_ENTRY
from core import program
from tests.support.cli_process import Run
from tests.support.doctor_desk import Desk
from tests.support.git_clones import git
from tests.support.stdio_client import ROOT

pytestmark = [
    pytest.mark.long,  # it costs much
    pytest.mark.skipif(os.name == "nt", reason="the commands of a POSIX shell"),
]
KEYS = [row.key for row in CLIENTS]
CLAUDE, LOCAL = ".claude/settings.json", ".claude/settings.local.json"
CODEX, HOOKS, GEMINI = ".codex/config.toml", ".codex/hooks.json", ".gemini/settings.json"
PYTHON, SERVER = sys.executable, str(ROOT / "server.py")
Break = Callable[[Desk], object]


def found_by(desk: Desk, *options: str, **variables: str) -> list[dict[str, Any]]:
    """What the doctor says of clients; its status follows from that."""
    done = desk.doctor("--json", *options, **variables)
    found = [it for it in done.findings if it["kind"].startswith(("client_", "team_"))]
    assert (done.code, done.errors) == (int(any(it["severity"] != "note" for it in found)), "")
    return found


def kinds_of(found: list[dict[str, Any]]) -> list[str]:
    return [f"{it['severity']} {it['kind'].partition('_')[2]}" for it in found]


def set_up(desk: Desk, *words: str) -> None:
    done = desk.run("setup", *words, "--yes")
    assert (done.code, done.errors) == (0, "")


def changed(old: str, new: str, *files: str) -> Break:
    """Put a text in the place of another in files of the project."""

    def change(desk: Desk) -> None:
        for path in (desk.root / file for file in files):
            text = path.read_text(encoding="utf-8")
            assert old in text
            path.write_text(text.replace(old, new), encoding="utf-8")

    return change


def gone(file: str) -> Break:
    return lambda desk: (desk.root / file).unlink()


def edited(file: str, edit: Callable[[Any], object]) -> Break:
    """Change the data of a JSON file, which may be a new one."""

    def change(desk: Desk) -> None:
        path = desk.root / file
        path.parent.mkdir(exist_ok=True)
        data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        edit(data)
        path.write_text(json.dumps(data), encoding="utf-8")

    return change


# What breaks, what is said, and what a person does first where setup leaves the file alone.
CASES: dict[str, tuple[str, Break, list[str], Break | None]] = {
    "the interpreter is gone": (
        "codex", changed(PYTHON, "/gone/python", CODEX, HOOKS), ["error gone"], None),
    "the checkout is gone": (
        "claude-code", changed(SERVER, "/gone/server.py", ".mcp.json"), ["error gone"], None),
    "the entry names a project that is gone": (
        "codex", changed('"--project", "', '"--project", "/gone', CODEX),
        ["error project_missing"], None),
    "the entry of an older setup": (
        "codex", changed("required = true\n", "", CODEX), ["warning outdated"], None),
    "the file with the entry is gone": (
        "claude-code", gone(".mcp.json"), ["warning no_entry"], None),
    "the file with the entry is torn": (
        "codex", changed("]\n", "\n", CODEX), ["error unread"], gone(CODEX)),
    "the hooks' file is gone": ("codex", gone(HOOKS), ["note no_hooks"], None),
    "an event is missing": (
        "codex", edited(HOOKS, lambda data: data["hooks"].popitem()), ["warning outdated"], None),
    "hooks for another project": (
        "codex", changed("--project /", "--project /other/", HOOKS), ["warning outdated"], None),
    "hooks that start what is gone": (
        "codex", changed(PYTHON, "/gone/python", HOOKS), ["warning outdated"], None),
    "a comment where none is read": (
        "codex", changed('{\n', '{\n  // ours\n', HOOKS), ["error unread"],
        changed("  // ours\n", "", HOOKS)),
    "a tool that is not allowed": (
        "claude-code", edited(LOCAL, lambda data: data["permissions"]["allow"].pop()),
        ["warning outdated"], None),
    "no approvals": ("claude-code", gone(LOCAL), ["note no_approvals"], None),
    "approvals that git has": (
        "claude-code", lambda desk: git(desk.root, "add", "--force", LOCAL),
        ["warning approvals_tracked"], None),
    "files of this machine that git would take": (
        "claude-code", lambda desk: (desk.root / ".git/info/exclude").unlink(),
        ["warning outdated"], None),
    "older rules": (
        "codex", changed("log_memory", "save_memory", "AGENTS.md"), ["warning outdated"], None),
    "no rules": ("codex", gone("AGENTS.md"), ["note no_rules"], None),
    "hooks switched off": (
        "claude-code", edited(LOCAL, lambda data: data.update(disableAllHooks=True)),
        ["warning switched_off"], edited(LOCAL, lambda data: data.pop("disableAllHooks"))),
    "the server switched off": (
        "claude-code",
        edited(LOCAL, lambda data: data.update(disabledMcpjsonServers=["sentinel-memory"])),
        ["warning switched_off"], edited(LOCAL, lambda data: data.pop("disabledMcpjsonServers"))),
    "the hooks of Gemini switched off": (
        "gemini", edited(GEMINI, lambda data: data.update(hooksConfig={"enabled": False})),
        ["warning switched_off"], edited(GEMINI, lambda data: data.pop("hooksConfig"))),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_breaks_is_told_and_the_command_that_is_named_mends_it(
    project: Desk, case: str
) -> None:
    words, broken, said, by_hand = CASES[case]
    set_up(project, *words.split())
    assert found_by(project) == []
    broken(project)
    found = found_by(project)
    assert kinds_of(found) == said
    assert all(str(project.root) in it["text"] for it in found if "switched" in it["kind"])
    if by_hand:
        by_hand(project)
    for line in {str(it["facts"]["command"]) for it in found if "command" in it["facts"]}:
        typed(project, line)
    assert found_by(project) == []


def typed(desk: Desk, line: str) -> None:
    """Type a line into a shell; a command of this program runs here, which is faster."""
    if line.startswith(program.CLI):
        set_up(desk, *shlex.split(line.removeprefix(program.CLI))[1:])
    else:
        assert Run.process("sh", "-c", line, **desk.place()).code == 0


def test_nothing_is_said_of_what_setup_has_just_written_and_much_of_what_is_gone(
    project: Desk,
) -> None:
    set_up(project, *KEYS)
    assert found_by(project) == []
    files = [it for it in (*project.root.rglob("*"), *project.home.rglob("*")) if it.is_file()]
    for path in files:
        if ".git/" not in str(path):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(SERVER, "/gone/server.py"), encoding="utf-8")
    found = found_by(project)
    assert [it["facts"]["client"] for it in found] == [row.name for row in CLIENTS]
    assert {(it["kind"], it["facts"]["word"]) for it in found} == {
        ("client_gone", "/gone/server.py")
    }
    assert not any("absolute" in it["text"] for it in found)


def test_a_file_that_clients_share_is_named_once_and_one_command_mends_it(project: Desk) -> None:
    set_up(project, *KEYS)
    changed("log_memory", "save_memory", "AGENTS.md")(project)
    [found] = found_by(project)
    assert found["facts"]["files"] == "AGENTS.md"
    typed(project, str(found["facts"]["command"]))
    assert found_by(project) == []


def test_a_clone_of_files_of_another_machine_is_told_in_notes(
    project: Desk, tmp_path: Path
) -> None:
    set_up(project, "codex", "claude-code", "copilot")
    project.commit()
    git(tmp_path, "clone", "--quiet", str(project.root), "clone")
    clone = Desk(tmp_path / "clone", project.home)
    assert kinds_of(found_by(clone)) == [
        *("note no_approvals", "note elsewhere", "note elsewhere", "note no_approvals")
    ]


def test_what_is_only_missing_here_in_a_file_that_git_has_is_a_note(project: Desk) -> None:
    set_up(project, "codex", "claude-code")
    files = (CODEX, HOOKS, ".mcp.json", CLAUDE)
    changed(PYTHON, "/gone/python", *files)(project)
    assert kinds_of(found_by(project)) == ["error gone"] * 2
    git(project.root, "add", *files)
    assert kinds_of(found_by(project)) == ["note gone_shared"] * 2


def test_what_a_user_has_left_out_is_a_note_and_no_other_command_brings_it(project: Desk) -> None:
    parts = ("hooks", "rules", "approvals")
    set_up(project, "codex", *(f"--no-{part}" for part in parts))
    for at in range(len(parts)):
        found = found_by(project)
        assert kinds_of(found) == [f"note no_{it}" for it in parts[at:]]
        typed(project, next(str(it["facts"]["command"]) for it in found))
    assert found_by(project) == []


def test_another_installation_that_is_there_is_as_good(project: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other tool"
    other.mkdir()
    for name in ("server.py", "cli.py"):
        (other / name).write_bytes(b"")
    (other / "python").symlink_to(PYTHON)
    set_up(project, "codex", "claude-code")
    for path in [it for it in project.root.rglob("*") if it.is_file() and ".git/" not in str(it)]:
        text = path.read_text(encoding="utf-8")
        for old, new in ((PYTHON, other / "python"), (str(ROOT), other)):
            text = text.replace(f"{old} ", f"'{new}' ").replace(f"{old}/", f"{new}/")
            text = text.replace(f'"{old}"', f'"{new}"').replace(f"{new}/cli.py", f"'{new}/cli.py'")
        path.write_text(text, encoding="utf-8")
    assert found_by(project) == []


def test_a_client_of_another_project_is_a_warning_and_codex_wants_trust(project: Desk) -> None:
    config = project.home / ".codex" / "config.toml"
    config.parent.mkdir()
    words = [SERVER, "--project", str(project.home)]
    head = f'[mcp_servers.sentinel-memory]\ncommand = "{PYTHON}"\nargs = '
    config.write_text(head + json.dumps(words))
    [found] = [it for it in found_by(project) if it["kind"] == "client_elsewhere"]
    assert found["severity"] == "warning"
    typed(project, str(found["facts"]["command"]))
    assert "warning untrusted" in kinds_of(found_by(project))
    config.write_text(f'[projects."{project.root}"]\ntrust_level = "trusted"\n')
    assert found_by(project) == []


def test_nothing_of_a_file_reaches_the_terminal_as_a_command(project: Desk) -> None:
    set_up(project, "codex")
    changed(PYTHON, "/gone/\\u001b[2J\\u202e##[group]", CODEX)(project)
    done = project.doctor()
    assert "starts /gone/" in done.out
    assert {char for char in done.out if not char.isprintable()} == {"\n"}


@pytest.mark.parametrize("seed", range(4))
def test_no_file_of_a_client_however_torn_makes_the_doctor_fail(project: Desk, seed: int) -> None:
    set_up(project, *KEYS)
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
    for odd in ("[]", "1", '{"hooks": []}', '{"hooks": {"Stop": [1, {"hooks": 2}]}}'):
        for path in project.root.rglob("*.json"):
            path.write_text(odd)
        found_by(project)


# A server that others run

URL, KEY = "https://memory.example.com/mcp", "smk_" + "k" * 43


def write(desk: Desk, url: str, sent: str = "Bearer ${SENTINEL_MEMORY_KEY}") -> None:
    entry = {"type": "http", "url": url, "headers": {"Authorization": sent}}
    text = json.dumps({"mcpServers": {TEAM_ENTRY: entry}})
    (desk.root / ".mcp.json").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("client", [row.key for row in CLIENTS if row.http])
def test_what_setup_writes_for_a_url_is_well_where_the_variable_is_set(
    client: str, healthy: Desk
) -> None:
    set_up(healthy, client, "--url", URL)
    assert found_by(healthy, SENTINEL_MEMORY_KEY=KEY) == []
    assert kinds_of(found_by(healthy)) == ["warning key_unset"]
    set_up(healthy, client, "--url", URL, "--oauth")
    assert found_by(healthy) == []


def test_a_key_and_an_odd_address_are_said_and_not_shown(healthy: Desk) -> None:
    for url, sent, said in (
        (URL, f"Bearer {KEY}", ["error key_in_file"]),
        (f"{URL}?key={KEY}", "Bearer ${SENTINEL_MEMORY_KEY}", ["error bad_url"]),
        ("http://memory.example.com/mcp", "", ["warning plain_http"]),
    ):
        write(healthy, url, sent)
        assert kinds_of(found_by(healthy)) == said
        for lang in ("en", "ko"):
            assert KEY not in healthy.doctor("--json", SENTINEL_MEMORY_LANG=lang).out


class _Health(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []
    answers: ClassVar[list[tuple[int, str]]] = []

    def do_GET(self) -> None:
        self.asked.append(f"{self.path} {self.headers.get('authorization')}")
        code, body = self.answers.pop(0)
        self.send_response(code)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    """Says that it is well, that it is not, and that there is no such page."""
    answers = [(200, '{"status": "ok"}'), (503, '{"status": "down"}'), (404, "Not Found")]
    monkeypatch.setattr(_Health, "asked", [])
    monkeypatch.setattr(_Health, "answers", answers)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_server_is_asked_only_on_demand_once_and_without_the_key(
    healthy: Desk, server: ThreadingHTTPServer
) -> None:
    address = f"http://127.0.0.1:{server.server_port}/mcp"
    set_up(healthy, "cursor", "--url", address)
    write(healthy, f"{address}/")  # the same address
    asked = {"SENTINEL_MEMORY_KEY": KEY}
    assert (found_by(healthy, **asked), _Health.asked) == ([], [])
    told = healthy.doctor("--online", **asked).out
    assert f"✓ {address} answers" in told and f"{server.server_port}/health" in told
    assert kinds_of(found_by(healthy, "--online", **asked)) == ["error unwell"]
    assert kinds_of(found_by(healthy, "--online", **asked)) == ["error silent"]
    assert _Health.asked == ["/health None"] * 3


@pytest.mark.parametrize(("code", "said"), [(401, ["error key_wrong"]), (200, [])])
def test_a_key_is_tried_where_the_users_own_file_sends_it(
    healthy: Desk, server: ThreadingHTTPServer, code: int, said: list[str]
) -> None:
    well = '{"status": "ok"}'
    _Health.answers[:] = [(200, well), (code, well)] * 3
    address = f"http://127.0.0.1:{server.server_port}/mcp"
    write(healthy, address)  # a file of the project, which may be a stranger's
    found = found_by(healthy, "--online", SENTINEL_MEMORY_KEY=KEY)
    assert (kinds_of(found), _Health.asked) == (["note key_untried"], ["/health None"])
    _Health.answers.pop(0)
    own = healthy.home / ".claude.json"
    entry = {"type": "http", "url": address, "headers": {"Authorization": "Bearer ${TEAM_KEY}"}}
    own.write_text(json.dumps({"mcpServers": {TEAM_ENTRY: entry}}), encoding="utf-8")
    (healthy.root / ".mcp.json").unlink()
    found = found_by(healthy, "--online", TEAM_KEY=KEY)
    assert kinds_of(found) == said
    assert _Health.asked[1:] == ["/health None", f"/health Bearer {KEY}"]
    assert all(it["facts"]["variable"] == "TEAM_KEY" for it in found)
    assert KEY not in healthy.doctor("--online", TEAM_KEY=KEY).out


def test_a_certificate_that_is_not_trusted_is_told_from_silence(
    healthy: Desk, server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost")
    files = [str(tmp_path / name) for name in ("key.pem", "cert.pem")]
    done = Run.process(*made, "-keyout", files[0], "-out", files[1], "-days", "1")
    assert done.code == 0, done.errors
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files[1], files[0])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    write(healthy, f"https://localhost:{server.server_port}/mcp")
    told = healthy.doctor("--online", SENTINEL_MEMORY_KEY=KEY)
    assert "does not trust the server's certificate" in told.out and "self-signed" in told.out
    assert KEY not in told.out and _Health.asked == []
