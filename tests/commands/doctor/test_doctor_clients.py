"""Tests that the doctor sees what is wrong with a client, and names the command that mends it."""

import json
import os
import shlex
import ssl
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest

from commands.clients.table import CLIENTS, TEAM_ENTRY
from core import program
from tests.commands.doctor.conftest import Desk
from tests.support.cli_process import Run
from tests.support.git_clones import git
from tests.support.tables import ROOT, table

pytestmark = [
    pytest.mark.long,  # it costs much
    pytest.mark.skipif(os.name == "nt", reason="the commands of a POSIX shell"),
]
KEYS = [row.key for row in CLIENTS]
# What breaks, what is said, and what a person does first where setup leaves the file alone.
CASES = table("commands/doctor_clients")
CLAUDE, CODEX, HOOKS = ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json"
PYTHON, SERVER = sys.executable, str(ROOT / "server.py")


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


def typed(desk: Desk, found: list[dict[str, Any]]) -> None:
    """Type the commands that are named; one of this program runs here, which is faster."""
    for line in {str(it["facts"]["command"]) for it in found if "command" in it["facts"]}:
        if line.startswith(program.CLI):
            set_up(desk, *shlex.split(line.removeprefix(program.CLI))[1:])
        else:
            assert Run.process("sh", "-c", line, **desk.place()).code == 0


def changed(desk: Desk, old: str, new: str, *files: str) -> None:
    """Put a text in the place of another in files of the project."""
    for path in (desk.root / file for file in files):
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


def files_of(desk: Desk) -> list[Path]:
    """What setup has written."""
    found = (*desk.root.rglob("*"), *desk.home.rglob("*"))
    return [it for it in found if it.is_file() and not {".git", ".context"} & {*it.parts}]


def break_it(desk: Desk, verb: str, file: str, *more: Any) -> None:
    """Carry out one step of a case."""
    path = desk.root / file
    if verb == "gone":
        path.unlink()
    elif verb == "git":
        git(desk.root, file, *more)
    elif verb == "text":
        old, new = (it.replace("{python}", PYTHON).replace("{server}", SERVER) for it in more)
        changed(desk, old, new, file)
    else:
        data = below = json.loads(path.read_text(encoding="utf-8"))
        if verb == "last":
            for key in more:
                below = below[key]
            below.pop(*([] if isinstance(below, list) else [[*below][-1]]))
        elif more[1] is None:
            del data[more[0]]
        else:
            data[more[0]] = more[1]
        path.write_text(json.dumps(data), encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_what_breaks_is_told_and_the_named_command_mends_it(project: Desk, case: str) -> None:
    client, steps, said, by_hand = CASES[case]
    set_up(project, client)
    assert found_by(project) == []
    for step in steps:
        break_it(project, *step)
    found = found_by(project)
    assert kinds_of(found) == said
    assert all(str(project.root) in it["text"] for it in found if "switched" in it["kind"])
    for step in by_hand:
        break_it(project, *step)
    typed(project, found)
    assert found_by(project) == []


def test_all_clients_are_well_until_what_they_share_or_start_is_gone(project: Desk) -> None:
    set_up(project, *KEYS)
    assert found_by(project) == []
    changed(project, "log_memory", "save_memory", "AGENTS.md")
    [found] = found_by(project)  # a file that clients share is named once
    assert found["facts"]["files"] == "AGENTS.md"
    typed(project, [found])
    assert found_by(project) == []
    for path in files_of(project):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(SERVER, "/gone/server.py"), encoding="utf-8")
    gone = found_by(project)
    assert [it["facts"]["client"] for it in gone] == [row.name for row in CLIENTS]
    assert {(it["kind"], it["facts"]["word"]) for it in gone} == {
        ("client_gone", "/gone/server.py")
    }
    assert not any("absolute" in it["text"] for it in gone)


def test_what_is_only_missing_here_in_files_of_git_is_a_note(project: Desk, tmp_path: Path) -> None:
    set_up(project, "codex", "claude-code", "copilot")
    project.commit()
    git(tmp_path, "clone", "--quiet", str(project.root), "clone")
    assert kinds_of(found_by(Desk(tmp_path / "clone", project.home))) == [
        *("note no_approvals", "note elsewhere", "note elsewhere", "note no_approvals")
    ]
    files = (CODEX, HOOKS, ".mcp.json", CLAUDE)
    changed(project, PYTHON, "/gone/python", *files)
    assert kinds_of(found_by(project)) == ["note gone_shared"] * 2
    git(project.root, "rm", "--quiet", "--cached", *files)
    assert kinds_of(found_by(project)) == ["error gone"] * 2


def test_another_installation_that_is_there_is_as_good(project: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other tool"
    other.mkdir()
    for name in ("server.py", "cli.py"):
        (other / name).write_bytes(b"")
    (other / "python").symlink_to(PYTHON)
    set_up(project, "codex", "claude-code")
    for path in files_of(project):
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
    found = [it for it in found_by(project) if it["kind"] == "client_elsewhere"]
    assert [it["severity"] for it in found] == ["warning"]
    typed(project, found)
    assert "warning untrusted" in kinds_of(found_by(project))
    config.write_text(f'[projects."{project.root}"]\ntrust_level = "trusted"\n')
    assert found_by(project) == []
    changed(project, PYTHON, "/gone/\\u001b[2J\\u202e##[group]", CODEX)
    done = project.doctor()  # nothing of a file reaches the terminal as a command
    assert "starts /gone/" in done.out
    assert {char for char in done.out if not char.isprintable()} == {"\n"}


@pytest.mark.parametrize("seed", range(4))
def test_no_file_of_a_client_however_torn_makes_the_doctor_fail(project: Desk, seed: int) -> None:
    set_up(project, *KEYS)
    random = Random(seed)
    for path in files_of(project):
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


def write(path: Path, url: str, sent: str = "Bearer ${SENTINEL_MEMORY_KEY}") -> None:
    """A file with the entry of a team's server."""
    entry = {"type": "http", "url": url, "headers": {"Authorization": sent}}
    path.write_text(json.dumps({"mcpServers": {TEAM_ENTRY: entry}}), encoding="utf-8")


@pytest.mark.parametrize("client", [row.key for row in CLIENTS if row.http])
def test_what_setup_writes_for_a_url_is_well_with_the_variable(client: str, healthy: Desk) -> None:
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
        write(healthy.root / ".mcp.json", url, sent)
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


def test_a_server_is_asked_on_demand_once_without_key(
    healthy: Desk, server: ThreadingHTTPServer
) -> None:
    address = f"http://127.0.0.1:{server.server_port}/mcp"
    set_up(healthy, "cursor", "--url", address)
    write(healthy.root / ".mcp.json", f"{address}/")  # the same address
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
    of_project = healthy.root / ".mcp.json"  # which may be a stranger's
    write(of_project, address)
    found = found_by(healthy, "--online", SENTINEL_MEMORY_KEY=KEY)
    assert (kinds_of(found), _Health.asked) == (["note key_untried"], ["/health None"])
    _Health.answers.pop(0)
    of_project.unlink()
    write(healthy.home / ".claude.json", address, "Bearer ${TEAM_KEY}")
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
    write(healthy.root / ".mcp.json", f"https://localhost:{server.server_port}/mcp")
    told = healthy.doctor("--online", SENTINEL_MEMORY_KEY=KEY)
    assert "does not trust the server's certificate" in told.out and "self-signed" in told.out
    assert KEY not in told.out and _Health.asked == []
