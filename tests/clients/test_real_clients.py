"""Tests Claude Code, Codex, Gemini CLI and Copilot CLI with the files that setup writes for them.

Nobody is asked anything: a stand-in for the model plays a script, and the client's requests show
which tools it offers, which calls it carries out, and which texts hooks have added.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from commands.clients.table import TOOLS, client_of
from rooms.fragments.models.judge import PROMPT, Verdict, is_private, judge_of
from tests.clients.desk import (
    CLAUDE_CODE,
    CLIENTS,
    CODEX,
    GEMINI,
    LESSON,
    NEEDS_CLIENTS,
    Client,
    Desk,
    each_client,
    offered,
    rows_of,
)
from tests.clients.desk import cache as cache
from tests.clients.stand_in_model import Call, Events, Request, Say, Script, StandInModel, Step
from tests.support.git_clones import commit, git
from tests.support.sentences import pair

pytestmark = NEEDS_CLIENTS

EVERY = ("lessons", "sessions", "fragments")
AT_AN_ACTION, AT_THE_END = pair("answers.recall_head")[0], pair("answers.reminder")[0]
GAP = {"topic": "payment", "missing_context": "the tax rate", "lesson": "Ask for the country"}
DATABASE = ".local/share/sentinel-memory/memory.db"


def slow_down(desk: Desk, client: Client) -> None:
    """Let the server take two seconds more to start, as on a machine that is busy."""
    slow = desk.home / "slow-python"
    slow.write_text(f'#!/bin/sh\nsleep 2\nexec {shlex.quote(sys.executable)} "$@"\n')
    slow.chmod(0o755)
    entry = desk.project / client_of(client.key).entry["project"].removeprefix("root:")
    text = entry.read_text("utf-8")
    assert text.count(f'"{sys.executable}"') == 1
    entry.write_text(text.replace(sys.executable, str(slow)), "utf-8")


def summed_up(compaction: str) -> Step:
    """The call that replaces the records that a compaction has listed."""
    tokens = re.findall(r"\b[0-9a-f]{16}@[0-9a-f]+", compaction)
    principle = {"type": "principle", "topic": "payment", "missing_context": ""}
    return Call("log_memory", {**principle, "lesson": "All of it.", "source_ids": tokens})


@each_client
def test_a_task_has_tools_rules_and_lessons_from_its_first_request_to_its_last(
    client: Client, tmp_path: Path, cache: Path
) -> None:
    desk = Desk(tmp_path, cache)
    (desk.project / "AGENTS.md").write_text("# Team\n\nBe kind to zebras.\n")
    desk.set_up(client.key)
    slow_down(desk, client)
    script: Script = [
        client.edit(desk.project),
        # in Claude Code this is where the hook for the end of a turn asks for another one
        *([Say("Done.")] if client is CLAUDE_CODE else []),
        Call("search_memory", {"query": "refund"}),
        Call("log_memory", GAP),
        Call("compact_memory", {}),
        summed_up,
    ]
    requests = desk.run(client, script)
    first = requests[0]
    assert offered(first) == sorted(TOOLS["lessons"])  # of a server that is slow to start
    rule = "Judge yourself which lessons apply"
    assert (first.text.count(rule), first.text.count("zebras")) == (1, 1)
    assert LESSON in first.text
    assert [AT_AN_ACTION in it.text for it in requests[:2]] == [False, True]
    asked = [AT_THE_END in request.text for request in requests]
    assert asked.index(True) == 2 if client is CLAUDE_CODE else not any(asked)
    found, saved, listed, replaced = requests[-1].answers[1:]
    assert LESSON in found
    assert pair("answers.saved_new")[0].partition("{")[0] in saved
    assert GAP["lesson"] in listed
    assert pair("answers.replaced")[0].format(count=2) in replaced
    [line] = desk.log.read_text("utf-8").splitlines()
    assert "All of it." in line


@each_client
def test_one_setup_for_all_projects_serves_a_directory_below_a_project(
    client: Client, tmp_path: Path, cache: Path
) -> None:
    """It also uses a profile of the fragments with some of their tools."""
    rooms = ("lessons", "fragments:core")
    desk = Desk(tmp_path, cache, f"{client.key} --user --rooms {','.join(rooms)}")
    known = {"content": "Port 5432 is taken by an old container"}
    script = [
        Call("search_memory", {"query": "refund"}),
        Call("log_memory", GAP),
        Call("remember", known),
        Call("recall", {"query": "port taken"}),
    ]
    started = client.with_words(*client.of_user)
    requests = desk.run(started, script, below="src")
    assert offered(requests[0]) == sorted(tool for room in rooms for tool in TOOLS[room])
    assert LESSON in requests[0].text
    found, _, _, recalled = requests[-1].answers
    assert LESSON in found and known["content"] in recalled
    assert len(desk.log.read_bytes().splitlines()) == 2
    assert not (desk.project / "src" / ".context").exists()


def test_a_memory_of_one_client_is_found_by_the_next_wherever_the_user_keeps_it(
    tmp_path: Path, cache: Path
) -> None:
    """A fragment that one session keeps for itself is not seen by another."""
    keys = " ".join(client.key for client in CLIENTS)
    desk = Desk(tmp_path, cache, f"{keys} --rooms lessons,fragments")
    lesson, known, own = LESSON, list[str](), list[str]()
    for client in CLIENTS:
        known.append(f"Container {client.key} takes the port")
        own.append(f"The refund of {client.key} is half mended")
        gap = {**GAP, "missing_context": client.key, "lesson": f"from {client.key}"}
        script = [
            Call("search_memory", {"query": "payment"}),
            Call("log_memory", gap),
            Call("remember", {"content": own[-1], "scope": "session"}),
            Call("remember", {"content": known[-1]}),
            Call("recall", {"query": "container takes the port, refund half mended"}),
        ]
        started = client.with_variables(XDG_DATA_HOME=str(tmp_path / "data"))
        answers = desk.run(started, script)[-1].answers
        assert lesson in answers[0]
        assert [it for it in (*known, *own) if it in answers[-1]] == [*known, own[-1]]
        lesson = gap["lesson"]
    assert (tmp_path / "data/sentinel-memory/memory.db").exists()
    assert not (desk.home / DATABASE).exists()


GOOD, BAD = "python3 -c 'print(1)'", "python3 -c 'raise SystemExit(3)'"
EDIT = ("edit", "Write refund.py (+1 -0)", "success", "refund.py")


@pytest.mark.row("003 T26")
@each_client
def test_commands_and_edits_belong_to_the_session_that_their_conversation_saves(
    client: Client, tmp_path: Path, cache: Path
) -> None:
    tool, parameter, words = client.shell
    desk = Desk(tmp_path, cache, f"{client.key} --rooms lessons,sessions")
    more = {"description": "Run it"} if client is not CODEX else {}
    started = client.with_words(*words)
    if client is GEMINI:  # it takes one of the two
        kept = [it for it in started.arguments if it not in ("--approval-mode", "auto_edit")]
        started = started._replace(arguments=tuple(kept))
    script = [
        Call(tool, {parameter: GOOD, **more}),
        Call(tool, {parameter: BAD, **more}),
        client.edit(desk.project),
        Call("context_save", {"goal": "Mend the refund"}),
        Call(tool, {parameter: "ls", **more}),
    ]
    requests = desk.run(started, script)
    assert "#1" in requests[-1].answers[-2]
    path = desk.project / ".context" / "sessions" / "history.db"
    actions = rows_of(
        path,
        "SELECT type, content, coalesce(result, ''), coalesce(file_path, '')"
        " FROM actions JOIN contexts c ON c.id = context_id WHERE c.goal = 'Mend the refund'",
    )
    if client is CODEX:  # no result of a command, no event after a patch that a shell applies
        expected = [("command", GOOD, "", ""), ("command", BAD, "", "")]
    else:
        expected = [("command", GOOD, "success", ""), ("error", BAD, client.failed, ""), EDIT]
    [[waiting]] = rows_of(path, "SELECT count(*) FROM actions WHERE context_id LIKE 'conv:%'")
    assert (sorted(actions), waiting) == (sorted(expected), 0)


ERROR, CURE = "Port 5432 is taken by an old container", "Stop the old container before the tests"
STEP = "Half of the refund is mended"  # of one session
RATED = {"tool_name": "recall", "relevant": True, "sufficient": True}
LEARNED = {
    "summary": "The tests run again",
    "decisions": ["Tests get a port of their own"],
    "task_effectiveness": {"overall_success": True},
}


@each_client
def test_every_tool_of_the_fragments_runs_and_leaves_nothing_in_the_project(
    client: Client, tmp_path: Path, cache: Path
) -> None:
    desk = Desk(tmp_path, cache, f"{client.key} --rooms {','.join(EVERY)}")
    commit(desk.project)
    ids = list[str]()

    def saved(answer: str) -> list[str]:
        ids.extend(re.findall(r"Remembered: ([0-9a-z]{8})\b", answer))
        return ids

    def cure(answer: str) -> Step:
        saved(answer)
        return Call("remember", {"content": CURE, "type": "procedure", "tags": ["docker"]})

    def link(answer: str) -> Step:
        error, cure = saved(answer)
        return Call("link", {"fromId": error, "toId": cure, "relationType": "resolved_by"})

    error = {"content": ERROR, "type": "error", "topic": "ports", "keywords": ["postgres"]}
    script: list[tuple[Any, str]] = [  # each call, and a part of its answer
        (Call("context", {}), "No pinned or important fragment"),
        (Call("remember", error), "Remembered: "),
        (cure, "Remembered: "),
        (link, "Linked: "),
        (Call("remember", {"content": STEP, "scope": "session"}), "Remembered: "),
        (Call("recall", {"query": "port taken", "filters": {"type": "error"}}), ERROR),
        (lambda _: Call("graph_explore", {"startId": ids[0]}), CURE),
        (lambda _: Call("amend", {"id": ids[0], "importance": 0.9}), "Amended: "),
        (lambda _: Call("pin", {"id": ids[1]}), "Pinned: "),
        (lambda _: Call("unpin", {"id": ids[1]}), "No longer pinned: "),
        (Call("tool_feedback", RATED), "Noted."),
        (Call("reflect", LEARNED), "Kept from this session: 2 ("),
        (Call("memory_consolidate", {}), "Upkeep done: "),  # tells of its progress meanwhile
        (Call("memory_stats", {}), "Fragments: 5 "),
        (Call("context", {}), STEP),
        (Call("forget", {"topic": "ports"}), "In the bin for 30 days: 1 "),
    ]
    requests = desk.run(client, [step for step, _ in script])
    assert offered(requests[0]) == sorted(tool for room in EVERY for tool in TOOLS[room])
    expected = [said for _, said in script]
    if client_of(client.key).approvals:  # a list of tools, in which the last one is not
        expected[-1] = "ermission"
    answers = requests[-1].answers
    wrong = [it for it in zip(answers, expected, strict=True) if it[1] not in it[0]]
    assert wrong == []
    assert git(desk.project, "status", "--porcelain") == ""
    if client in (CLAUDE_CODE, GEMINI):  # they wait for their servers; the others kill them
        working = "SELECT deletion FROM fragments WHERE lifetime = 'working'"
        assert rows_of(desk.home / DATABASE, working) == [("ended",)]


# The judge: the real Gemini command line, which decides over two texts and has nothing to act with.

SPY = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('started'); sys.stdin.read()"


class Model(StandInModel):
    """A model that decides, and keeps all requests."""

    def __init__(self) -> None:
        super().__init__([])
        self.bodies: list[dict[str, Any]] = []

    def answer(self, request: Request) -> Events:
        self.bodies.append(request.body)
        return request.say('{"label": "contradiction", "confidence": 0.9}')


@pytest.fixture
def home() -> Iterator[Path]:
    """A home with a server and a hook; the program takes no settings from a directory for all."""
    here = Path(__file__).parent
    if not is_private(here):
        pytest.skip("others can write to a directory above this one")
    with TemporaryDirectory(prefix=".home-", dir=here, ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        GEMINI.settle(home)
        settings = json.loads((home / ".gemini/settings.json").read_text())
        settings["model"] = {"name": "gemini-2.5-pro"}
        spy = {"command": sys.executable, "args": ["-c", SPY, str(home / "server")]}
        settings["mcpServers"] = {"spy": spy}
        hook = {"type": "command", "command": f"touch {home}/hook; echo '{{}}'"}
        settings["tools"] = {"enableHooks": True}
        settings["hooks"] = {"SessionStart": [{"hooks": [hook]}]}
        (home / ".gemini/settings.json").write_text(json.dumps(settings))
        yield home


def test_it_gets_the_rule_and_the_texts_and_no_tool_hook_or_server(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "bin").mkdir()
    words = " ".join(f"'{word}'" for word in GEMINI.command)
    (home / "bin/gemini").write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    (home / "bin/gemini").chmod(0o755)
    with Model() as model:
        for name in [name for name in os.environ if name.startswith(("XDG_", "GEMINI"))]:
            monkeypatch.delenv(name)
        for name, value in GEMINI.environment.items():
            if name != "GEMINI_CLI_TRUST_WORKSPACE":
                monkeypatch.setenv(name, value.replace("URL", model.url))
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("PATH", f"{home}/bin{os.pathsep}{os.environ['PATH']}")
        judge = judge_of({**os.environ, "SENTINEL_MEMORY_JUDGE": "gemini"})
        assert judge
        assert judge.verdict("port 8080", "port 9090") == Verdict("contradiction", 0.9)
    [body] = model.bodies
    assert [it for group in body["tools"] for it in group.get("functionDeclarations", [])] == []
    assert body["systemInstruction"]["parts"][0]["text"].startswith(PROMPT)
    assert body["contents"][-1]["parts"][-1]["text"].strip() == json.dumps(
        {"earlier": "port 8080", "later": "port 9090"}
    )
    assert sorted(it.name for it in home.iterdir()) == [".gemini", "bin"]
