"""A client is a row of the table, and nothing else: a new row is a client of every command."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from commands.clients.table import CLIENTS
from core.lessons.agent_rules import rules
from core.lessons.record import new_record
from tests.support.samples import NOW, a_principle

ROOT = Path(__file__).resolve().parents[3]
WITH_A_ROW = """
import sys
sys.path.insert(0, sys.argv[1])
from commands.clients import table

table.CLIENTS += (
    table.Client(
        key="acme",
        name="Acme Code",
        places=(table.Place("root", ".acme/mcp.json"), table.Place("home", ".acme/mcp.json")),
        traces=(("root", ".acme"), ("home", ".acme")),
        rules=table.Rules(reads=("ACME.md",), home="ACME.md"),
        topics=table.Topics(".acme/rules", ".md", "paths"),
    ),
)
import cli

sys.exit(cli.main(sys.argv[2:]))
"""


@dataclass(frozen=True)
class Desk:
    """A project and a home directory, and a program whose table has one row more."""

    top: Path

    @property
    def root(self) -> Path:
        return self.top / "shop"

    def run(self, *words: str) -> tuple[int, str, str]:
        home = str(self.top / "home")
        kept = {key: os.environ[key] for key in ("SYSTEMROOT", "PATH") if key in os.environ}
        done = subprocess.run(
            [sys.executable, "-c", WITH_A_ROW, str(ROOT), *words],
            cwd=self.root,
            env={**kept, **dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def files(self) -> list[str]:
        found = (path for path in self.root.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.root).as_posix() for path in found)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    for name in ("shop/.acme", "home"):
        (tmp_path / name).mkdir(parents=True)
    return made


def test_a_new_row_is_set_up_found_by_the_doctor_and_taken_out(desk: Desk) -> None:
    code, out, errors = desk.run("setup", "--all", "--yes")
    assert (code, errors) == (0, "")
    assert f"Acme Code ({desk.root / '.acme'})" in out.splitlines()[1]
    assert "\n- Acme Code: start it again in the project.\n" in out
    entry = json.loads((desk.root / ".acme/mcp.json").read_bytes())["mcpServers"]["sentinel-memory"]
    assert entry["args"][-2:] == ["--project", desk.root.as_posix()]
    assert rules("en") in (desk.root / "ACME.md").read_text(encoding="utf-8")

    code, out, errors = desk.run("doctor", "--json")
    clients = [(it["kind"], it["facts"]["client"]) for it in json.loads(out)["clients"]]
    assert ("client_here", "Acme Code") in clients

    code, out, errors = desk.run("setup", "acme", "--remove", "--yes")
    assert (code, errors, desk.files()) == (0, "", [])
    code, out, errors = desk.run("setup", "emacs")
    assert (code, errors.splitlines()[-1].endswith(", gemini, acme")) == (2, True)


def test_a_new_row_is_listed_by_the_export_and_gets_its_rules(desk: Desk) -> None:
    log = desk.root / ".context" / "memory_log.jsonl"
    log.parent.mkdir()
    record = new_record(a_principle(paths=["src/payment/**"]), now=NOW)
    log.write_bytes(record.to_line())
    code, out, errors = desk.run("export", "--rules", "acme")
    assert (code, errors) == (0, "")
    assert out.splitlines()[-1].startswith("Created: .acme/rules/sentinel-memory-")
    listed = "".join(desk.run("export", "--help")[1].split())
    assert "--rules{cursor,claude-code,vscode,acme}" in listed


def test_the_keys_and_names_of_clients_are_told_apart() -> None:
    for texts in ([row.key for row in CLIENTS], [row.name for row in CLIENTS]):
        assert len(set(texts)) == len(texts)
