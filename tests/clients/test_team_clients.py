"""Tests the real clients against a team's server: HTTP, PostgreSQL, a key or a login each.

Nobody is asked anything, as in test_real_clients.py: what runs was allowed by setup alone.
"""

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.clients.table import KEY_VARIABLE, TEAM_ENTRY, TOOLS
from tests.clients.desk import NEEDS_CLIENTS, WAIT_S, Desk, a_desk
from tests.clients.headless import CLAUDE_CODE, CLIENTS, CODEX, Headless, filled
from tests.clients.stand_in_model import Call, Request, Script, Step
from tests.clients.team import OFFERED, Team
from tests.support.stdio_client import ROOT
from tests.support.team_engines import TeamServer, team_server

__all__ = ["team_server"]

pytestmark = NEEDS_CLIENTS

# Which call without a session, as the newest protocol does: theirs is the client and the day.
STATELESS = {"claude-code": "claude-code", "copilot": "copilot-cli"}
OWN, KNOWN = "The refund is half mended", "The shop runs on Node 20"
LOGIN = ("mcp", "login", TEAM_ENTRY)
TRUSTED = ("-c", 'projects={"PROJECT"={trust_level="trusted"}}')


@pytest.fixture(scope="module")
def team(team_server: TeamServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with Team(team_server.new_dsn(), tmp_path_factory.mktemp("team")) as running:
        yield running


def offered(request: Request) -> set[str]:
    """The tools of the team's server without what a client puts before their names."""
    named = [re.split(r"sentinel.memory.team", f"{it.space}_{it.name}") for it in request.tools]
    return {parts[1].strip("-_") for parts in named if len(parts) > 1}


def with_key(client: Headless, key: str) -> Headless:
    return client._replace(environment={**client.environment, KEY_VARIABLE: key})


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.key)
def test_two_agents_remember_apart_and_go_on_over_a_restart(
    client: Headless, team: Team, tmp_path: Path, cache: Path
) -> None:
    words = f"--url {team.url} --rooms {OFFERED}"
    desk = a_desk(tmp_path, cache, f"{client.key} {words}")
    goal, first, second = f"Mend it with {client.key}", f"ann-{client.key}", f"bob-{client.key}"

    def restarted(_: str) -> Step:
        team.restart()
        return Call("recall", {"query": "what the shop runs on, the refund"})

    script: Script = [
        Call("remember", {"content": KNOWN}),
        Call("remember", {"content": OWN, "scope": "session"}),
        restarted,
        Call("context_save", {"goal": goal}),
    ]
    requests = desk.run(with_key(client, team.key(first)), script)
    assert offered(requests[0]) == {*TOOLS["fragments"], *TOOLS["sessions"]}
    *saved, found, _ = requests[-1].answers
    assert [it for it in saved if "Remembered: " not in it] == []
    assert KNOWN in found and OWN in found
    assert team.worked(goal) == [client.key]
    [[session]] = team.rows(
        "SELECT session_id FROM agent_memory.fragments"
        f" WHERE agent_id = '{first}' AND lifetime = 'working'"
    )
    form = (
        rf"{STATELESS[client.key]} \d{{4}}-\d\d-\d\d" if client.key in STATELESS else "[0-9a-f]{32}"
    )
    assert re.fullmatch(form, session)

    asked = Call("recall", {"query": "what the shop runs on, the refund"})
    other = desk.run(with_key(client, team.key(second)), [asked])[-1].answers[0]
    assert KNOWN not in other and OWN not in other


def log_in(client: Headless, desk: Desk, key: str) -> None:
    """Start the login of a client in a terminal; a browser opens, and a person types the key."""
    browser = desk.home / "browser"
    browser.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m'
        ' tests.support.consent_browser "$1"\n')  # fmt: skip
    browser.chmod(0o755)
    import pty  # which Windows has not

    more = [filled(it, {"PROJECT": str(desk.project)}) for it in TRUSTED] if client is CODEX else []
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [*client.command, *LOGIN, *more],
            cwd=desk.project,
            env={
                **desk.environment(),
                **{name: it for name, it in client.environment.items() if it != "URL"},
                "BROWSER": str(browser),
                "CONSENT_KEY": key,
                "TERM": "xterm",
            },
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ) as process:
            threading.Thread(target=drained, args=[ours], daemon=True).start()
            assert process.wait(WAIT_S) == 0
    finally:
        os.close(theirs)


def drained(terminal: int) -> None:
    """Read what is printed until nobody prints."""
    with contextlib.suppress(OSError), os.fdopen(terminal, "rb") as printed:
        printed.read()


@pytest.mark.parametrize("client", [CODEX, CLAUDE_CODE], ids=lambda client: client.key)
def test_a_client_logs_in_once_and_renews_its_token_in_the_middle_of_its_work(
    client: Headless, team: Team, tmp_path: Path, cache: Path
) -> None:
    # in a project, Claude Code wants to be asked about the server before it logs in
    level = "--user" if client is CLAUDE_CODE else ""
    desk = a_desk(tmp_path, cache, f"{client.key} --url {team.url} --oauth {level}")
    agent, before = f"eve-{client.key}", team.expire()
    log_in(client, desk, team.key(agent))
    expired = list[int]()

    def hour_later(_: str) -> Step:
        expired.append(team.expire())
        return Call("recall", {"query": "what the shop runs on"})

    _, found = desk.run(client, [Call("remember", {"content": KNOWN}), hour_later])[-1].answers
    assert KNOWN in found
    assert team.expire() > expired[0] > before
    [[owner]] = team.rows(
        "SELECT agent_id FROM agent_memory.fragments ORDER BY created_at DESC LIMIT 1"
    )
    assert owner == agent
