"""Tests what the doctor says of the entries for a server that others run."""

import datetime
import json
import os
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from commands.setup.client_table import TEAM_ENTRY
from tests.support.costly import one_in
from tests.support.doctor_desk import Desk
from tests.support.git_clones import commit

pytestmark = pytest.mark.skipif(os.name == "nt", reason="places of POSIX")

URL = "https://memory.example.com/mcp"
KEY = "smk_" + "k" * 43


def found(desk: Desk, *options: str, **variables: str) -> list[tuple[str, str]]:
    told = desk.doctor("--json", *options, **variables).told
    return [
        (it["kind"], it["severity"])
        for it in told["findings"]
        if "team_" in it["kind"] and it["kind"] != "team_ok"
    ]


def write(desk: Desk, url: str, sent: str) -> None:
    entry = {"type": "http", "url": url, "headers": {"Authorization": sent}}
    text = json.dumps({"mcpServers": {TEAM_ENTRY: entry}})
    (desk.root / ".mcp.json").write_text(text, encoding="utf-8")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "client", one_in(6, ["claude-code", "cursor", "vscode", "codex", "gemini", "copilot"])
)
def test_what_setup_writes_is_well_where_the_variable_is_set(client: str, healthy: Desk) -> None:
    assert healthy.run("setup", client, "--url", URL, "--yes").code == 0
    assert found(healthy, SENTINEL_MEMORY_KEY=KEY) == []
    assert found(healthy) == [("team_key_unset", "warning")]
    assert healthy.run("setup", client, "--url", URL, "--oauth", "--yes").code == 0
    assert found(healthy) == []
    assert healthy.run("setup", client, "--remove", "--yes").code == 0
    assert found(healthy) == []


@pytest.mark.long  # it costs much
def test_a_key_in_a_file_is_an_error_and_is_not_shown(healthy: Desk) -> None:
    write(healthy, URL, f"Bearer {KEY}")
    assert found(healthy) == [("team_key_in_file", "error")]
    commit(healthy.root)
    for lang in ("en", "ko"):
        assert KEY not in healthy.doctor("--json", SENTINEL_MEMORY_LANG=lang).out
    assert found(healthy) == [("team_key_tracked", "error")]


@pytest.mark.long  # it costs much
def test_an_address_that_gives_something_away_is_said_and_not_shown(healthy: Desk) -> None:
    write(healthy, f"{URL}?key={KEY}", "Bearer ${SENTINEL_MEMORY_KEY}")
    assert found(healthy) == [("team_bad_url", "error")]
    assert KEY not in healthy.doctor("--json").out
    write(healthy, "http://memory.example.com/mcp", "Bearer ${SENTINEL_MEMORY_KEY}")
    expected = [("team_plain_http", "warning")]
    assert found(healthy, SENTINEL_MEMORY_KEY=KEY) == expected


class _Health(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(f"{self.path} {self.headers.get('authorization')}")
        code, body = (200, {"status": "ok"}) if len(self.asked) == 1 else (503, {"status": "down"})
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """Says that it is well, then that it is not."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.long  # it costs much
def test_a_server_is_asked_only_on_demand_and_without_the_key(
    healthy: Desk, server: ThreadingHTTPServer
) -> None:
    write(healthy, f"http://127.0.0.1:{server.server_port}/mcp", "Bearer ${SENTINEL_MEMORY_KEY}")
    assert found(healthy, SENTINEL_MEMORY_KEY=KEY) == []
    asked = {"SENTINEL_MEMORY_KEY": KEY}
    assert found(healthy, "--online", **asked) == [("team_answers", "ok")]
    assert found(healthy, "--online", **asked) == [("team_unwell", "error")]
    assert _Health.asked == ["/health None"] * 2
    server.shutdown()
    server.server_close()
    assert found(healthy, "--online", **asked) == [("team_silent", "error")]


def certificate(directory: Path, name: str) -> Path:
    """Make a certificate of its own authority, in a file with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    called = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = x509.CertificateBuilder(called, called, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - datetime.timedelta(days=1))
    made = made.not_valid_after(now + datetime.timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    pem = serialization.Encoding.PEM
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = directory / f"{name}.pem"
    whole = made.sign(key, hashes.SHA256()).public_bytes(pem)
    path.write_bytes(key.private_bytes(pem, form, plain) + whole)
    return path


@pytest.mark.parametrize(
    ("name", "is_known", "said"),
    [("localhost", False, "self-signed"), ("other.example", True, "Hostname mismatch")],
)
def test_a_certificate_that_is_not_trusted_is_told_from_silence(
    healthy: Desk,
    server: ThreadingHTTPServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    is_known: bool,
    said: str,
) -> None:
    path = certificate(tmp_path, name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    known = {"SSL_CERT_FILE": str(path)} if is_known else {}
    write(healthy, f"https://localhost:{server.server_port}/mcp", "Bearer ${SENTINEL_MEMORY_KEY}")
    monkeypatch.setattr(_Health, "asked", [])
    told = healthy.doctor("--online", SENTINEL_MEMORY_KEY=KEY, **known)
    assert "does not trust the server's certificate" in told.out and said in told.out
    assert KEY not in told.out and _Health.asked == []
