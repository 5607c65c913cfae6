"""Tests that a new row of the table is a client of every command, and nothing else is needed."""

import json
import sys

import pytest

from commands.setup.client_table import CLIENTS
from core.lessons.rules import rules
from tests.support.cli_process import Run
from tests.support.desk import Desk
from tests.support.stdio_client import ROOT

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
    ),
)
import cli

sys.exit(cli.main(sys.argv[2:]))
"""


def with_a_row(desk: Desk, *words: str) -> Run:
    """Carry out a command of a program whose table has one row more."""
    return Run.process(sys.executable, "-c", WITH_A_ROW, str(ROOT), *words, **desk.place())


@pytest.mark.long  # it costs much
def test_a_new_row_is_set_up_found_by_the_doctor_and_taken_out(desk: Desk) -> None:
    (desk.root / ".acme").mkdir()
    code, out, errors = with_a_row(desk, "setup", "--all", "--yes")
    assert (code, errors) == (0, "")
    assert f"Acme Code ({desk.root / '.acme'})" in out.splitlines()[1]
    assert "\n- Acme Code: start it again.\n" in out
    entry = json.loads((desk.root / ".acme/mcp.json").read_bytes())["mcpServers"]["sentinel-memory"]
    assert entry["args"][-2:] == ["--project", desk.root.as_posix()]
    assert rules("en") in (desk.root / "ACME.md").read_text(encoding="utf-8")

    code, out, errors = with_a_row(desk, "doctor", "--json")
    [clients] = [it for it in json.loads(out)["findings"] if it["kind"] == "clients_ok"]
    assert "Acme Code" in clients["facts"]["clients"]

    code, out, errors = with_a_row(desk, "setup", "acme", "--remove", "--yes")
    assert (code, errors, desk.files("shop")) == (0, "", {})
    code, out, errors = with_a_row(desk, "setup", "emacs")
    assert (code, errors.splitlines()[0].endswith(f", {CLIENTS[-1].key}, acme.")) == (2, True)


def test_the_keys_and_names_of_clients_are_told_apart() -> None:
    for texts in ([row.key for row in CLIENTS], [row.name for row in CLIENTS]):
        assert len(set(texts)) == len(texts)
