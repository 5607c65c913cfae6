"""Tests the server with the official conformance suite of MCP, over HTTP on loopback.

The suite wants tools, resources and prompts of its own. So it runs twice: against the server of
`server.py`, and against a FastMCP as it comes, both with the same offers
(`tests/support/conformance_offers.py`). What only one of them passes or fails is ours: the
middleware, the listings, the look-ups, or the import that builds models late. What both fail alike
is FastMCP's, its transport or a feature that it does not offer, and no change of this project;
`FAILS_IN_FASTMCP` lists it, so that a suite that reaches no server is no success. A third run meets
`server.py --http` itself, which refuses foreign hosts, as a plain one does not.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.http_server import HttpServer
from tests.support.node_packages import command_of, needs_packages
from tests.support.stdio_client import ROOT, WAIT_S

INSTALLED = "tests/conformance"
SUITE = "@modelcontextprotocol/conformance/dist/index.js"
FAILS_IN_FASTMCP = {
    "json-schema-2020-12-$defs": "a definition is put where it is referred to",
    "localhost-host-rebinding-rejected": "foreign hosts are refused only when that is asked for",
    "resources-subscribe": "not offered",
    "resources-unsubscribe": "not offered",
}

# What the server as people start it has to pass, without the offers; the rest asks for those.
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


@contextmanager
def served(kind: str, here: Path) -> Iterator[str]:
    """The address of a server that runs meanwhile."""
    with (here / f"{kind}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.conformance_server", kind],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            cwd=here,
            env={**os.environ, "PYTHONPATH": str(ROOT), "FASTMCP_ENV_FILE": os.devnull},
        )
    try:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address, Path(log.name).read_text("utf-8")
        yield address
    finally:
        process.kill()
        process.communicate()


def checks_of(kind: str, here: Path) -> Checks:
    """What the suite finds of a server with the offers."""
    with served(kind, here) as address:
        return checks_at(address, kind, here)


def checks_at(address: str, kind: str, here: Path) -> Checks:
    """What the suite finds at an address. That it fails in something is no error here."""
    results = here / kind
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


def test_the_suite_finds_the_same_of_this_server_and_of_a_plain_one(tmp_path: Path) -> None:
    plain, ours = checks_of("plain", tmp_path), checks_of("ours", tmp_path)
    failed = {check for (_, check), (status, _) in plain.items() if status == "FAILURE"}
    passed = [status for status, _ in plain.values() if status == "SUCCESS"]
    assert (failed - FAILS_IN_FASTMCP.keys(), len(passed) > 30) == (set(), True)
    assert ours == plain


def test_the_server_over_http_passes_what_needs_none_of_the_offers(tmp_path: Path) -> None:
    with HttpServer(tmp_path, "--no-auth", key="") as server:
        found = checks_at(server.url, "served", tmp_path)
    passed = {check for (_, check), (status, _) in found.items() if status == "SUCCESS"}
    assert passed >= PASSES_AS_IT_IS
