"""Tests Claude Code, Codex, Gemini CLI and Copilot CLI with what setup writes for them.

Nobody is asked anything: a stand-in for the model plays a script, and what the client sent to it
tells which tools it offers, which calls it carries out, and what hooks have added.
"""

import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from commands.clients.table import client_of
from tests.clients.desk import LESSON, NEEDS_CLIENTS, Desk, a_desk
from tests.clients.headless import CLAUDE_CODE, CLIENTS, Headless
from tests.clients.stand_in_model import Call, Request, Say, Script, Step
from tests.support.sentences import pair

pytestmark = NEEDS_CLIENTS

TOOLS = {"search_memory", "log_memory", "compact_memory"}
# What a setup for all projects leaves to the one who starts a client: to wait for the server, which
# would keep Codex from every project once it is gone, and an approval for each repository.
OF_USER = {
    "codex": ("-c", "mcp_servers.sentinel-memory.required=true"),
    "copilot": ("--allow-tool", "sentinel-memory"),
}
AT_AN_ACTION, AT_THE_END = pair("answers.recall_head")[0], pair("answers.reminder")[0]


def slow_down(desk: Desk, client: Headless) -> None:
    """Let the server take two seconds more to start, as on a machine that is busy."""
    slow = desk.home / "slow-python"
    slow.write_text(f'#!/bin/sh\nsleep 2\nexec {shlex.quote(sys.executable)} "$@"\n')
    slow.chmod(0o755)
    entry = client_of(client.key).entry["project"].removeprefix("root:")
    text = (desk.project / entry).read_text("utf-8")
    assert text.count(f'"{sys.executable}"') == 1
    (desk.project / entry).write_text(text.replace(sys.executable, str(slow)), "utf-8")


def offered(request: Request) -> set[str]:
    """Which of our tools a client offers."""
    return {tool for tool in TOOLS for known in request.tools if known.name.endswith(tool)}


class Task(NamedTuple):
    """A task that a client has carried out, from its first request to its last."""

    client: Headless
    desk: Desk
    requests: list[Request]


def summed_up(compaction: str) -> Step:
    """The call that replaces what a compaction has listed."""
    tokens = re.findall(r"\b[0-9a-f]{16}@[0-9a-f]+", compaction)
    principle = {"type": "principle", "topic": "payment", "missing_context": ""}
    return Call("log_memory", {**principle, "lesson": "All of it.", "source_ids": tokens})


@pytest.fixture(scope="module", params=CLIENTS, ids=lambda client: client.key)
def task(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache: Path
) -> Task:
    client: Headless = request.param
    desk = a_desk(tmp_path_factory.mktemp("task"), cache, client.key)
    slow_down(desk, client)
    gap = {"topic": "payment", "missing_context": "the tax rate", "lesson": "Ask for the country"}
    script: Script = [
        client.edit(desk.project),
        # in Claude Code this is where the hook for the end of a turn asks for another one
        *([Say("Done.")] if client is CLAUDE_CODE else []),
        Call("search_memory", {"query": "refund"}),
        Call("log_memory", gap),
        Call("compact_memory", {}),
        summed_up,
    ]
    return Task(client, desk, desk.run(client, script))


def test_the_first_request_offers_the_tools_of_a_server_that_is_slow_to_start(task: Task) -> None:
    assert offered(task.requests[0]) == TOOLS


def test_a_search_a_save_and_a_compaction_run_to_the_end(task: Task) -> None:
    found, saved, listed, replaced = task.requests[-1].answers[1:]
    assert LESSON in found
    assert pair("answers.saved_new")[0].partition("{")[0] in saved
    assert "Ask for the country" in listed
    assert pair("answers.replaced")[0].format(count=2) in replaced
    [line] = (task.desk.project / ".context" / "memory_log.jsonl").read_text("utf-8").splitlines()
    assert "All of it." in line


def test_the_session_start_shows_the_records_before_anything_is_asked(task: Task) -> None:
    assert LESSON in task.requests[0].text


def test_an_edit_is_shown_the_record_about_its_file(task: Task) -> None:
    assert AT_AN_ACTION not in task.requests[0].text
    assert AT_AN_ACTION in task.requests[1].text


def test_the_end_of_a_turn_asks_for_what_was_missing_where_a_client_takes_that(task: Task) -> None:
    asked = [AT_THE_END in request.text for request in task.requests]
    assert asked.index(True) == 2 if task.client is CLAUDE_CODE else not any(asked)


def test_what_one_client_logs_the_next_one_finds(tmp_path: Path, cache: Path) -> None:
    desk = a_desk(tmp_path, cache, " ".join(client.key for client in CLIENTS))
    expected = LESSON
    for client in CLIENTS:
        gap = {"topic": "payment", "missing_context": client.key, "lesson": f"from {client.key}"}
        search = Call("search_memory", {"query": "payment"})
        found, _ = desk.run(client, [search, Call("log_memory", gap)])[-1].answers
        assert expected in found
        expected = gap["lesson"]


def check_below(desk: Desk, client: Headless) -> None:
    """Start a client in a directory of the project: it works with the memory of the project."""
    gap = {"topic": "payment", "missing_context": "the tax rate", "lesson": "Ask for the country"}
    script = [Call("search_memory", {"query": "refund"}), Call("log_memory", gap)]
    requests = desk.run(client, script, below="src")
    assert offered(requests[0]) == TOOLS
    assert LESSON in requests[0].text
    assert LESSON in requests[-1].answers[0]
    assert len((desk.project / ".context" / "memory_log.jsonl").read_bytes().splitlines()) == 2
    assert not (desk.project / "src" / ".context").exists()


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.key)
def test_the_rules_and_the_text_of_a_team_reach_every_client_once(
    client: Headless, tmp_path: Path, cache: Path
) -> None:
    desk = a_desk(tmp_path, cache)
    (desk.project / "AGENTS.md").write_text("# Team\n\nBe kind to zebras.\n")
    desk.set_up(client.key)
    [first, *_] = desk.run(client, [Say("Done.")])
    rule = "Judge yourself which lessons apply"
    assert (first.text.count(rule), first.text.count("zebras")) == (1, 1)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.key)
def test_one_setup_for_all_projects_serves_a_directory_below_a_project(
    client: Headless, tmp_path: Path, cache: Path
) -> None:
    started = client._replace(arguments=(*client.arguments, *OF_USER.get(client.key, ())))
    check_below(a_desk(tmp_path, cache, f"{client.key} --user"), started)
