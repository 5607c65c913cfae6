"""Tests that real clients keep what is known across projects, with what setup writes for them.

Nobody is asked anything, as in test_real_clients.py: what runs was allowed by setup alone.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from commands.clients.table import TOOLS, client_of
from tests.clients.desk import NEEDS_CLIENTS, Desk, a_desk, rows_of
from tests.clients.headless import CLAUDE_CODE, CLIENTS, GEMINI, Headless
from tests.clients.stand_in_model import Call, Request, Script, Step

pytestmark = NEEDS_CLIENTS

EVERY = "lessons,sessions,fragments"
ERROR, CURE = "Port 5432 is taken by an old container", "Stop the old container before the tests"
STEP = "Half of the refund is mended"  # of one session
DATABASE = ".local/share/sentinel-memory/memory.db"
ENDING = (CLAUDE_CODE, GEMINI)  # they wait for their servers; the others kill them at once


class Day:
    """A session that calls every tool of the room. ids: of the fragments that it saved."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def kept(self, answer: str) -> list[str]:
        self.ids += re.findall(r"Remembered: ([0-9a-z]{8})\b", answer)
        return self.ids

    def cure(self, answer: str) -> Step:
        self.kept(answer)
        return Call("remember", {"content": CURE, "type": "procedure", "tags": ["docker"]})

    def link(self, answer: str) -> Step:
        error, cure = self.kept(answer)
        return Call("link", {"fromId": error, "toId": cure, "relationType": "resolved_by"})

    def script(self) -> tuple[Script, list[str]]:
        """The calls, and what their answers hold."""
        saved = {"content": ERROR, "type": "error", "topic": "ports", "keywords": ["postgres"]}
        rated = {"tool_name": "recall", "relevant": True, "sufficient": True}
        learned = {
            "summary": "The tests run again",
            "decisions": ["Tests get a port of their own"],
            "task_effectiveness": {"overall_success": True},
        }
        steps: list[tuple[Step | Callable[[str], Step], str]] = [
            (Call("context", {}), "No pinned or important fragment"),
            (Call("remember", saved), "Remembered: "),
            (self.cure, "Remembered: "),
            (self.link, "Linked: "),
            (Call("remember", {"content": STEP, "scope": "session"}), "Remembered: "),
            (Call("recall", {"query": "port taken", "filters": {"type": "error"}}), ERROR),
            (lambda _: Call("graph_explore", {"startId": self.ids[0]}), CURE),
            (lambda _: Call("amend", {"id": self.ids[0], "importance": 0.9}), "Amended: "),
            (lambda _: Call("pin", {"id": self.ids[1]}), "Pinned: "),
            (lambda _: Call("unpin", {"id": self.ids[1]}), "No longer pinned: "),
            (Call("tool_feedback", rated), "Noted."),
            (Call("reflect", learned), "Kept from this session: 2 ("),
            (Call("memory_consolidate", {}), "Upkeep done: "),  # tells of its progress meanwhile
            (Call("memory_stats", {}), "Fragments: 5 "),
            (Call("context", {}), STEP),
            (Call("forget", {"topic": "ports"}), "In the bin for 30 days: 1 "),
        ]
        return [step for step, _ in steps], [answer for _, answer in steps]


def offered(request: Request) -> list[str]:
    """The tools of this server without what a client puts before their names."""
    marked = [f"{tool.space}_{tool.name}" for tool in request.tools]
    return sorted(re.sub(r".*sentinel[-_]memory[-_]+", "", it) for it in marked if "sentinel" in it)


def git(desk: Desk, *words: str) -> str:
    command = ["git", "-c", "user.name=it", "-c", "user.email=it@example.org", *words]
    done = subprocess.run(command, cwd=desk.project, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.key)
def test_every_tool_of_the_room_runs_and_leaves_nothing_in_the_project(
    client: Headless, tmp_path: Path, cache: Path
) -> None:
    desk = a_desk(tmp_path, cache, f"{client.key} --rooms {EVERY}")
    git(desk, "add", "-A")
    git(desk, "commit", "-qm", "Set it up")
    script, expected = Day().script()
    requests = desk.run(client, script)
    assert offered(requests[0]) == sorted(tool for room in EVERY.split(",") for tool in TOOLS[room])
    names = Counter((tool.space, tool.name) for tool in requests[0].tools)
    assert [name for name, count in names.items() if count > 1] == []
    answers = requests[-1].answers
    assert len(answers) == len(expected)
    if client_of(client.key).approvals:  # a list of tools, in which the last one is not
        expected[-1] = "ermission"
    wrong = [(a, it) for a, it in zip(answers, expected, strict=True) if it not in a]
    assert wrong == []
    assert git(desk, "status", "--porcelain") == ""
    if client in ENDING:
        working = "SELECT deletion FROM fragments WHERE lifetime = 'working'"
        assert rows_of(desk.home / DATABASE, working) == [("ended",)]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.key)
def test_the_core_of_the_room_stands_alone(client: Headless, tmp_path: Path, cache: Path) -> None:
    desk = a_desk(tmp_path, cache, f"{client.key} --rooms fragments:core")
    script = [Call("remember", {"content": ERROR}), Call("recall", {"query": "port taken"})]
    requests = desk.run(client, script)
    assert offered(requests[0]) == sorted(TOOLS["fragments:core"])
    assert ERROR in requests[-1].answers[1]


def test_all_clients_have_one_memory_wherever_the_user_keeps_it(
    tmp_path: Path, cache: Path
) -> None:
    """And what one session keeps for itself, no other one sees."""
    keys = " ".join(client.key for client in CLIENTS)
    desk = a_desk(tmp_path, cache, f"{keys} --rooms lessons,fragments")
    known, own = list[str](), list[str]()
    for client in CLIENTS:
        place = {"XDG_DATA_HOME": str(tmp_path / "data")}
        known.append(f"Container {client.key} takes the port")
        own.append(f"The refund of {client.key} is half mended")
        script = [
            Call("remember", {"content": own[-1], "scope": "session"}),
            Call("remember", {"content": known[-1]}),
            Call("recall", {"query": "container takes the port, refund half mended"}),
        ]
        started = client._replace(environment={**client.environment, **place})
        found = desk.run(started, script)[-1].answers[-1]
        assert [it for it in (*known, *own) if it in found] == [*known, own[-1]]
    assert (tmp_path / "data/sentinel-memory/memory.db").exists()
    assert not (desk.home / DATABASE).exists()
