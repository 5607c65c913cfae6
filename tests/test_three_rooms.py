"""Tests a week of two people with every room: each lesson gets to where it belongs, once."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from http_server.keys import Keys
from http_server.papers import papers_of
from tests.conftest import StartServer
from tests.support.after_events import answered, edited, ran
from tests.support.cli_process import TOKEN, Run
from tests.support.client_events import Payload, claude, codex
from tests.support.git_clones import git, saved
from tests.support.http_server import HttpServer
from tests.support.stdio_client import ServerProcess
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server
from tests.support.three_rooms import ROOMS, Person, everything_in, sources
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

PASSWORD = "Gx7-quiet-Otter-41"
SECRETS = (TOKEN, PASSWORD)
FILE, BAD, GOOD = "src/refund.py", "refund_now(order)\n", "request_refund(order)\n"
GOAL = "Speed up the upload of the checkout"
FAILED = "Replace axios with fetch in the upload"
WHY = "The proxy drops every CORS preflight"
APPROVAL = "A refund above 500 EUR waits for a second approver."
REFUND = {
    "topic": "refunds",
    "missing_context": "Who has to approve a refund",
    "lesson": APPROVAL,
    "paths": [FILE],
    "when": ["refund_now("],
}
ERROR = "The shop serves the old bundle after a release."
CURE = "Purge the CDN cache before the shop is deployed."
STALE = "Which cache holds the old bundle when the shop is deployed?"
KOREAN_GOAL = "환불 승인 화면 고치기"
KOREAN_FAILED = "승인 결과를 화면 쪽 캐시에 저장하기"
KOREAN_WHY = "새로 고침하면 승인자가 사라진다"
QUESTION = "프록시 규칙은 누가 관리하나?"
DECISION = "업로드는 5MB 조각으로 나눈다."
RESET = "비밀번호 교체 뒤 워커가 연결을 잃으면 make restart로 다시 시작한다."
SILENT = "The staging database is reset every Sunday."
LINTS = ("Line length of the templates", "Order of the imports", "Names of the fixtures")
PRINCIPLE = "`make lint` decides on style: run it, and argue with its settings, not in a review."


@dataclass
class Week:
    """What two people do from Monday to Friday.

    opened: the server of the client that each has left open for the night. team: what they share
    beside git, if anything. ids: of the fragments, by what they are here.
    """

    first: Person
    second: Person
    team: "Team | None" = None
    opened: dict[str, ServerProcess] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def monday(self) -> None:
        """What failed becomes a lesson by a call that is ready; an error and its cure are kept."""
        first, server = self.first, self.first.opens()
        assert first.hook("session-start", claude("SessionStart", first.clone)) == ""
        assert server.call("context_warn", currentGoal=GOAL).startswith("No failure found")
        failed = {"description": FAILED, "result": "failed", "reason": WHY}
        given = {"goal": GOAL, "tags": ["upload"], "status": "coding", "approaches": [failed]}
        said = server.call("context_save", **given)
        assert said.endswith(": log_memory.")
        first.hook("after-action", answered("claude-code", first.clone, said, GOAL))
        first.hook("after-action", ran("claude-code", first.clone, "npm test", 3, "CORS"))
        lesson = {"topic": "upload", "missing_context": WHY, "lesson": f"Do not: {FAILED}"}
        server.call("log_memory", **lesson)
        assert "The memory log has it" in server.call("context_save", **given)
        assert "npm test → failed: Exit code 3 CORS" in server.call("context_get", id="#1")
        server.call("log_memory", **REFUND)
        for name, type_, text in (("error", "error", ERROR), ("cure", "procedure", CURE)):
            fields = {"type": type_, "topic": "deploy", "importance": 0.9}
            self.ids[name] = remembered(server.call("remember", content=text, **fields))
        facts = {"fromId": self.ids["error"], "toId": self.ids["cure"]}
        server.call("link", relationType="resolved_by", **facts)
        self.uses(server, 1)
        server.close()
        first.push("Log what an upload and a refund need")

    def uses(self, server: ServerProcess, sessions: int) -> None:
        """The first person's agent asks for the cure, in so many sessions by now."""
        said = server.call("recall", query=STALE)
        assert ERROR in said and CURE in said
        until(lambda: self.is_counted(sessions))  # the answer comes first

    def is_counted(self, sessions: int) -> bool:
        shown = self.first.types("show", self.ids["error"], "--json").told
        return bool(shown["fragments"]["items"][0]["sessions_count"] == sessions)

    def tuesday(self) -> None:
        """A lesson is shown before an edit; secrets are pasted everywhere."""
        second = self.second
        second.pull()
        started = second.hook(
            "session-start", codex("SessionStart", second.clone, source="startup")
        )
        assert FAILED in started and APPROVAL in started
        self.opened["second"] = server = second.opens()
        tried = {"description": KOREAN_FAILED, "result": "failed", "reason": KOREAN_WHY}
        said = server.call(
            "context_save", goal=KOREAN_GOAL, tags=["환불"], status="coding", approaches=[tried]
        )
        assert said.endswith(": log_memory.")
        second.hook("after-action", answered("codex", second.clone, said, KOREAN_GOAL))
        assert APPROVAL in second.hook("before-action", a_patch(second.clone, FILE, BAD))
        (second.clone / "src").mkdir()
        for text in (BAD, GOOD):
            (second.clone / FILE).write_text(text, encoding="utf-8")
            second.hook("after-action", edited("codex", second.clone, FILE))
        self.paste(server)
        second.push("환불 승인을 두 사람이 한다")
        self.first.pull()

    def paste(self, server: ServerProcess) -> None:
        """Somebody pastes secrets wherever there is room for a text."""
        url = f"postgresql://app:{PASSWORD}@db.example.com/shop"
        text = f"배포에 쓰는 토큰은 {TOKEN}, 주소는 {url}"
        call = f"curl -H 'Authorization: Bearer {TOKEN}' {url}"
        second = self.second
        second.hook("after-action", ran("codex", second.clone, call, 7, text))
        second.hook("before-action", a_patch(second.clone, "ops/배포.sh", text))
        said = [
            server.call("context_save", goal=KOREAN_GOAL, summary=text),
            server.call("log_memory", topic="배포", missing_context="토큰은 어디에", lesson=text),
            server.call("remember", content=text, topic="배포"),
            server.call("recall", query=text),
            server.call("context_search", query=text),
            *([self.team.call("second", "remember", content=text)] if self.team else []),
        ]
        assert not any(secret in answer for secret in SECRETS for answer in said)

    def wednesday(self) -> None:
        """What was learnt is parted by rooms; who just ends a client has it noted."""
        server = self.opened["second"]
        said = server.call(
            "reflect",
            summary="환불 승인을 두 사람이 하게 바꿨다.",
            decisions=[DECISION],
            errors_resolved=[RESET],
            open_questions=[QUESTION],
        )
        assert "조각 4개" in said, said
        assert server.call("recall", type="decision").count(DECISION) == 1
        assert QUESTION in server.call("recall", query=QUESTION, type="fact")
        server.close()
        server = self.first.opens()
        self.uses(server, 2)
        server.call("remember", content=SILENT, topic="staging")
        server.close()
        if self.team:
            self.team.knows_it_too()

    def thursday(self) -> None:
        """What earned it becomes a lesson, and comes to the other person as one, once."""
        server = self.first.opens()
        told = server.call("recall", topic="session")
        assert told.count("without reflect. Calls: ") == 2, told  # Monday's and Wednesday's
        assert "Calls: 1. Fragments written: 1." in told
        self.uses(server, 3)
        listed = server.call("memory_consolidate").partition("Worth a lesson of the team")[2]
        assert self.ids["error"] in listed and self.ids["cure"] in listed
        add = ("add", "--fragment", self.ids["error"], "--yes")
        back = ("restore", self.ids["error"], "--yes")
        for words in (add, back, add):  # there, back, and there again
            done = self.first.types(*words)
            assert done.code == 0, done.errors
        assert sources(server.call("recall", query=STALE)) == ["lesson"]
        listed = server.call("memory_consolidate")
        assert self.ids["error"] not in listed and self.ids["cure"] not in listed
        self.compact(server)
        self.opened["first"] = server
        self.first.push("Log how a stale bundle is cured")
        self.second.pull()
        self.opened["second"] = server = self.second.opens()
        [line] = server.call("recall", query=STALE).splitlines()
        assert line.startswith("lesson ") and line.endswith(f"[deploy] {ERROR} → {CURE}")
        shown = injected(server, STALE).splitlines()[1:]
        assert shown == [line]
        if self.team:
            self.team.has_the_lesson_once()

    def compact(self, server: ServerProcess) -> None:
        """Three lessons of one kind become a principle."""
        for gap in LINTS:
            server.call("log_memory", topic="style", missing_context=gap, lesson="Ask make lint.")
        told = server.call("compact_memory", target_topic="style")
        tokens = re.findall(r"[0-9a-f]{16}@[0-9a-f]+", told)
        assert len(set(tokens)) == len(LINTS)
        given = {"topic": "style", "missing_context": "", "lesson": PRINCIPLE}
        server.call("log_memory", type="principle", source_ids=sorted(set(tokens)), **given)

    def friday(self) -> None:
        """A task like one that failed is warned of; two save at once, and git joins them."""
        first, second = self.opened["first"], self.opened["second"]
        warned = second.call("context_warn", currentGoal="환불 승인 화면에 캐시 넣기")
        assert KOREAN_FAILED in warned and "#1" in warned
        warned = second.call("context_warn", currentGoal=f"{GOAL} with fetch")
        assert f"Do not: {FAILED}" in warned
        gaps = {"first": "Which port the worker has", "second": "로그 보관 기간"}
        mine = {"topic": "worker", "missing_context": gaps["first"], "lesson": "It is 9100."}
        theirs = {"topic": "로그", "missing_context": gaps["second"], "lesson": "30일 보관한다."}
        asked = first.ask_tool("log_memory", **mine), second.ask_tool("log_memory", **theirs)
        assert "new log" in first.tool_text(asked[0]) and "로그" in second.tool_text(asked[1])
        assert (first.close(), second.close()) == (0, 0)
        self.first.push("Log the port")
        self.second.push("로그 보관 기간을 적는다")
        self.first.pull()
        assert saved(self.first.clone) == saved(self.second.clone)


@dataclass
class Team:
    """What the two share on a server: fragments on PostgreSQL, behind a key for each.

    Its project is the second person's clone.
    """

    server: HttpServer
    keys: dict[str, str]
    dsn: str

    def call(self, agent: str, name: str, **arguments: Any) -> str:
        params = {"name": name, "arguments": arguments}
        _, _, answer = self.server.call("tools/call", params, key=self.keys[agent])
        return str(answer["result"]["content"][0]["text"])

    def knows_it_too(self) -> None:
        """By the key of what is meant for all, the first person tells what is no lesson yet."""
        ids = list[str]()
        for type_, text in (("error", ERROR), ("procedure", CURE)):
            fields = {"type": type_, "topic": "deploy", "privacy_scope": "team"}
            ids.append(remembered(self.call("default", "remember", content=text, **fields)))
        facts = {"fromId": ids[0], "toId": ids[1]}
        self.call("default", "link", relationType="resolved_by", **facts)
        assert sources(self.call("second", "recall", query=STALE)) == ["fragment", "fragment"]
        assert CURE in self.call("default", "memory_consolidate").partition("Worth a lesson")[2]

    def has_the_lesson_once(self) -> None:
        """The pulled lesson stands in the place of what says the same."""
        assert sources(self.call("second", "recall", query=STALE)) == ["lesson"]

    def is_a_lesson_and_back(self, types: Callable[..., Run], clone: Path) -> None:
        """What the log has already joins the record that is there, which stays."""
        before, asked = saved(clone), {"topic": "deploy", "type": "error"}
        found = self.call("default", "recall", **asked)
        id_ = found.split()[1]
        done = types("add", "--fragment", id_, "--yes", "-p", str(clone))
        assert (done.code, f"{id_} is a lesson now" in done.out) == (0, True), done
        assert ERROR not in self.call("default", "recall", **asked)
        back = types("restore", id_, "--yes")
        assert back.code == 0, back
        assert ERROR in self.call("default", "recall", **asked)
        assert saved(clone) == before


def remembered(answer: str) -> str:
    found = re.match(r"Remembered: (\w+)", answer)
    assert found, answer
    return found[1]


def a_patch(project: Path, path: str, text: str) -> Payload:
    """Codex is about to put this line into a file."""
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-pass\n+{text.strip()}\n*** End Patch\n"
    tool = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "turn_id": "1"}
    return codex("PreToolUse", project, **tool)


def injected(server: ServerProcess, question: str) -> str:
    """What the prompt over all rooms shows."""
    given = {"query": question, "token_budget": "600"}
    found = server.request("prompts/get", {"name": "memory_injection", "arguments": given})
    return str(found["result"]["messages"][0]["content"]["text"])


@pytest.fixture
def week(tmp_path: Path, start_server: StartServer) -> Week:
    origin = tmp_path / "shop.git"
    git(tmp_path, "init", "--quiet", "--bare", str(origin))
    first = Person(tmp_path / "first", "en", "claude-code", start_server)
    second = Person(tmp_path / "second", "ko", "codex", start_server)
    for person in (first, second):
        person.join(origin)
    return Week(first, second)


@pytest.fixture
def shared_week(week: Week, team_server: TeamServer, tmp_path: Path) -> Iterator[Week]:
    dsn = team_server.new_dsn()
    environment = {"SENTINEL_MEMORY_FRAGMENTS": dsn}
    papers = papers_of(environment)
    keys = Keys(papers, keeps_agents_apart=True)
    secrets = {agent: keys.add(f"laptop of {agent}", agent) for agent in ("default", "second")}
    papers.close()
    given = ("--rooms", ROOMS, "--project", str(week.second.clone))
    with HttpServer(tmp_path / "server", *given, environment=environment) as running:
        week.team = Team(running, secrets, dsn)
        yield week


def check(week: Week, tmp_path: Path, start_server: StartServer) -> None:
    for day in (week.monday, week.tuesday, week.wednesday, week.thursday, week.friday):
        day()
    check_log(week)
    check_secrets(tmp_path, week.opened["first"].stderr_path.parent)
    check_newcomer(tmp_path, start_server)


def check_log(week: Week) -> None:
    """Every lesson is in the log, once, and says where it is from."""
    lessons = [it.lesson for it in saved(week.first.clone)]
    assert len(lessons) == len(set(lessons))
    expected = {f"Do not: {FAILED}", APPROVAL, CURE, PRINCIPLE}
    expected |= {"It is 9100.", "30일 보관한다."}
    [redacted] = set(lessons) - expected
    assert set(lessons) > expected and "[REDACTED" in redacted
    for person in (week.first, week.second):
        assert git(person.clone, "status", "--porcelain") == ""
        assert person.types("scan", "--history").code == 0
    shown = week.first.types("list", "--room", "fragments", "--json").told["fragments"]
    texts = [it["content"] for it in shown["items"]]
    assert ERROR not in texts and len(texts) == len(set(texts))


def check_secrets(*folders: Path) -> None:
    """No file below these folders has a secret, whereas all that was told is in one."""
    kept = [it for folder in folders for it in everything_in(folder)]
    for text in (CURE, KOREAN_WHY, DECISION, SILENT):
        assert any(text.encode() in data for _, data in kept)
    found = [path for path, data in kept for secret in SECRETS if secret.encode() in data]
    assert found == []


def check_newcomer(tmp_path: Path, start_server: StartServer) -> None:
    """Somebody new, who has nothing but a clone, gets the lessons at once."""
    new = Person(tmp_path / "new", "en", "claude-code", start_server)
    new.join(tmp_path / "shop.git")
    started = new.hook("session-start", claude("SessionStart", new.clone, source="startup"))
    for lesson in (CURE, PRINCIPLE, APPROVAL, "30일 보관한다."):
        assert lesson in started
    server = new.opens()
    [line] = server.call("recall", query=STALE).splitlines()
    assert line.startswith("lesson ") and CURE in line
    assert CURE in server.call("search_memory", query="deploy cache")
    assert server.call("context_search") == "No session found."
    server.close()


@pytest.mark.long  # it costs much; stories tell how the three rooms answer beside one another
def test_a_week_brings_each_lesson_once_to_where_it_belongs(
    week: Week, tmp_path: Path, start_server: StartServer
) -> None:
    check(week, tmp_path, start_server)


@pytest.mark.long
def test_a_week_with_fragments_of_a_team_over_http(
    shared_week: Week,
    tmp_path: Path,
    start_server: StartServer,
    team_server: TeamServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check(shared_week, tmp_path, start_server)
    team = shared_week.team
    assert team
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", team.dsn)
    team.is_a_lesson_and_back(partial(Run.of, capsys), shared_week.second.clone)
    dump = team_server.postgres.run("pg_dump", team.dsn)
    assert CURE in dump
    said = (team_server.postgres.directory / "log").read_text(encoding="utf-8")
    assert not any(secret in text for text in (dump, said) for secret in SECRETS)
