"""Tests `server.py --http` with the official conformance suite of MCP, over HTTP on loopback.

The suite wants tools, resources and prompts of its own; what needs none of them has to pass. That
FastMCP passes the rest is for FastMCP, which runs the suite itself.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.node_packages import command_of, needs_packages
from tests.support.servers import WAIT_S, HttpServer

INSTALLED = "tests/conformance"
SUITE = "@modelcontextprotocol/conformance/dist/index.js"

PASSES_AS_IT_IS = {
    "localhost-host-rebinding-rejected",
    "localhost-host-valid-accepted",
    "logging-set-level",
    "ping",
    "prompts-list",
    "resources-list",
    "server-accepts-multiple-post-streams",
    "server-initialize",
    "tools-list",
}

pytestmark = [pytest.mark.night, needs_packages(INSTALLED)]

Checks = dict[tuple[str, str], tuple[str, str]]  # scenario and check: status and what was wrong


def checks_at(address: str, here: Path) -> Checks:
    """What the suite finds at an address. That it fails in something is no error here."""
    results = here / "results"
    command = [*command_of(INSTALLED, SUITE), "server", "--url", address, "--suite", "all"]
    done = subprocess.run(
        [*command, "--output-dir", str(results)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=here,
        env={**os.environ, "HOME": str(here), "NO_COLOR": "1"},
        timeout=WAIT_S,
        check=False,
    )
    ran = re.findall(r"^=== Running scenario: (\S+) ===$", done.stdout, re.MULTILINE)
    assert ran, done.stdout + done.stderr
    checks: Checks = {}
    for scenario in ran:
        [path] = results.glob(f"server-{scenario}-20*/checks.json")
        for check in json.loads(path.read_text("utf-8")):
            found = check["status"], check.get("errorMessage", "")
            assert checks.setdefault((scenario, check["id"]), found) == found
    return checks


def test_the_server_over_http_passes_what_needs_none_of_the_offers(tmp_path: Path) -> None:
    with HttpServer(tmp_path, "--no-auth", key="") as server:
        found = checks_at(server.url, tmp_path)
    passed = {check for (_, check), (status, _) in found.items() if status == "SUCCESS"}
    assert passed >= PASSES_AS_IT_IS
