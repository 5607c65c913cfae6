"""Tests a week of two people with every room: each lesson gets to where it belongs, once.

How the rooms answer beside one another is told by tests/stories/fragments_beside.txt.
"""

import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from http_server.keys import Keys
from http_server.papers import papers_of
from tests.conftest import StartServer
from tests.support.cli_process import TOKEN, Run
from tests.support.client_events import Payload, claude, codex, ran, run_hook
from tests.support.git_clones import git, run_git, saved
from tests.support.servers import HttpServer, ServerProcess, until
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

pytestmark = [
    pytest.mark.long,  # it costs much
    pytest.mark.skipif(not shutil.which("git"), reason="git is not installed"),
]

ROOMS = "lessons,sessions,fragments"
SECRETS = (TOKEN, "Gx7-quiet-Otter-41")
PASTED = "배포에 쓰는 토큰은 {}, 주소는 postgresql://app:{}@db.example.com/shop".format(*SECRETS)
APPROVAL = "A refund above 500 EUR waits for a second approver."
REFUND = {
    "topic": "refunds",
    "missing_context": "Who has to approve a refund",
    "lesson": APPROVAL,
    "paths": ["src/refund.py"],
}
ERROR = "The shop serves the old bundle after a release."
CURE = "Purge the CDN cache before the shop is deployed."
STALE = "Which cache holds the old bundle when the shop is deployed?"
DECISION = "업로드는 5MB 조각으로 나눈다."
SILENT = "The staging database is reset every Sunday."
PRINCIPLE = "`make lint` decides on style: run it, and argue with its settings, not in a review."


@dataclass
class Person:
    """Somebody with a home of their own, a clone of the project in it, and a client.

    client: as its hooks name it, `claude-code` or `codex`. start: starts a server as the fixture
    `start_server` does.
    """

    home: Path
    lang: str
    client: str
    start: Callable[..., ServerProcess]

    def __post_init__(self) -> None:
        self.clone = self.home / "shop"
        names = {"HOME": "", "XDG_DATA_HOME": "data", "XDG_STATE_HOME": "state"}
        places = {name: str(self.home / folder) for name, folder in names.items()}
        here = {"PATH": os.environ["PATH"], "SENTINEL_MEMORY_LANG": self.lang, **places}
        self.where: dict[str, Any] = {"cwd": self.home, "environment": here}
        self.home.mkdir()
        git(self.home, "clone", "--quiet", str(self.home.parent / "shop.git"), str(self.clone))

    def opens(self) -> ServerProcess:
        """Open the client: it starts a server with every room."""
        words = ("--project", str(self.clone), "--rooms", ROOMS)
        name = {"codex": "codex-mcp-client"}.get(self.client, self.client)
        return self.start(*words, client=name, **self.where)

    def hook(self, event: str, given: Payload) -> str:
        """Run a hook as the client does; what reaches the model."""
        return run_hook(event, "--client", self.client, given=given, **self.where).text

    def types(self, *words: str, **variables: str) -> Run:
        """Type a command in the clone; it succeeds. variables: more of the environment."""
        environment = {**self.where["environment"], **variables}
        # The socket of the team's database is root's.
        is_bound = not variables
        done = Run.placed(*words, cwd=self.clone, environment=environment, is_bound=is_bound)
        assert done.code == 0, done
        return done

    def push(self, message: str) -> None:
        """Commit all there is, take in what others have pushed, and push."""
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "--message", message)
        if run_git(self.clone, "rev-parse", "--verify", "--quiet", "origin/main").stdout:
            self.pull()
        git(self.clone, "push", "--quiet", "origin", "HEAD:main")

    def pull(self) -> None:
        """Take in what others have pushed, by a merge where both have something new."""
        git(self.clone, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")


@dataclass
class Team:
    """What the two share on a server: fragments on PostgreSQL, behind a key for each.

    Its project is the second person's clone.
    """

    server: HttpServer
    keys: dict[str, str]

    def call(self, agent: str, name: str, **arguments: Any) -> str:
        params = {"name": name, "arguments": arguments}
        _, _, answer = self.server.call("tools/call", params, key=self.keys[agent])
        return str(answer["result"]["content"][0]["text"])


def sources(answer: str) -> list[str]:
    """The source of each line of a recall over several rooms; a relation is below its line."""
    return [line.partition(" ")[0] for line in answer.splitlines() if not line.startswith(" ")]


def remembered(answer: str) -> str:
    found = re.match(r"Remembered: (\w+)", answer)
    assert found, answer
    return found[1]


def keep_error_and_cure(call: Callable[..., str], **fields: Any) -> tuple[str, str]:
    """Keep an error and its cure, linked, as fragments."""
    error, cure = (
        remembered(call("remember", content=text, type=type_, topic="deploy", **fields))
        for type_, text in (("error", ERROR), ("procedure", CURE))
    )
    call("link", fromId=error, toId=cure, relationType="resolved_by")
    return error, cure


def use(person: Person, server: ServerProcess, error: str, sessions: int) -> None:
    """The agent asks for the cure, in so many sessions by now."""

    def is_counted() -> bool:
        said = server.call("recall", query=STALE)  # again, where a busy database dropped the count
        assert ERROR in said and CURE in said
        shown = person.types("show", error, "--json").told["fragments"]["items"][0]
        return bool(shown["sessions_count"] == sessions)

    until(is_counted)  # the answer comes first


@pytest.fixture
def people(tmp_path: Path, start_server: StartServer) -> tuple[Person, Person]:
    git(tmp_path, "init", "--quiet", "--bare", str(tmp_path / "shop.git"))
    return (
        Person(tmp_path / "first", "en", "claude-code", start_server),
        Person(tmp_path / "second", "ko", "codex", start_server),
    )


@pytest.fixture
def dsn(team_server: TeamServer) -> str:
    return team_server.new_dsn()


@pytest.fixture
def team(people: tuple[Person, Person], dsn: str, tmp_path: Path) -> Iterator[Team]:
    environment = {"SENTINEL_MEMORY_FRAGMENTS": dsn}
    papers = papers_of(environment)
    keys = Keys(papers, keeps_agents_apart=True)
    secrets = {agent: keys.add(f"laptop of {agent}", agent) for agent in ("default", "second")}
    papers.close()
    given = ("--rooms", ROOMS, "--project", str(people[1].clone))
    with HttpServer(tmp_path / "server", *given, environment=environment) as running:
        yield Team(running, secrets)


def test_a_week_brings_each_lesson_once_to_where_it_belongs(
    people: tuple[Person, Person],
    team: Team,
    dsn: str,
    team_server: TeamServer,
    tmp_path: Path,
    start_server: StartServer,
) -> None:
    first, second = people
    error = begin(first)
    paste(second, team)
    first.pull()
    server = first.opens()
    use(first, server, error, 2)
    server.call("remember", content=SILENT, topic="staging")
    server.close()  # without a reflection, which the next session is told of
    ids = keep_error_and_cure(lambda *given, **more: team.call("default", *given, **more),
                              privacy_scope="team")  # fmt: skip
    assert sources(team.call("second", "recall", query=STALE)) == ["fragment", "fragment"]
    assert CURE in team.call("default", "memory_consolidate").partition("Worth a lesson")[2]
    earn(first, error)
    second.pull()
    theirs = second.opens()
    [line] = theirs.call("recall", query=STALE).splitlines()
    assert line.startswith("lesson ") and line.endswith(f"[deploy] {ERROR} → {CURE}")
    assert sources(team.call("second", "recall", query=STALE)) == ["lesson"]
    theirs.close()
    promote_of_the_team(second, team, dsn, ids[0])
    first.pull()
    check_texts(people, team_server, dsn, [tmp_path, server.stderr_path.parent])
    check_newcomer(Person(tmp_path / "new", "en", "claude-code", start_server))


def begin(first: Person) -> str:
    """A lesson, a session, and an error with its cure; return the id of the error."""
    server = first.opens()
    assert first.hook("session-start", claude("SessionStart", first.clone)) == ""
    server.call("context_save", goal="Speed up the upload", status="coding")
    server.call("log_memory", **REFUND)
    error, _ = keep_error_and_cure(server.call, importance=0.9)
    use(first, server, error, 1)
    server.close()
    first.push("Log what a refund needs")
    return error


def paste(second: Person, team: Team) -> None:
    """A lesson is shown before an edit; secrets are pasted wherever there is room for a text."""
    second.pull()
    assert APPROVAL in second.hook("session-start", codex("SessionStart", second.clone))
    server = second.opens()
    said = [
        server.call("context_save", goal="환불 승인 화면 고치기", summary=PASTED, status="coding"),
        server.call("log_memory", topic="배포", missing_context="토큰은 어디에", lesson=PASTED),
        server.call("remember", content=PASTED, topic="배포"),
        server.call("reflect", summary=PASTED, decisions=[DECISION]),
        server.call("recall", query=PASTED),
        server.call("context_search", query=PASTED),
        team.call("second", "remember", content=PASTED),
    ]
    assert not any(secret in answer for secret in SECRETS for answer in said)
    call = f"curl -H 'Authorization: Bearer {TOKEN}' {PASTED}"
    second.hook("after-action", ran("codex", second.clone, call, 7, PASTED))
    for path, text, is_told in (("src/refund.py", "now", True), ("ops/배포.sh", PASTED, False)):
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-pass\n+{text}\n*** End Patch\n"
        tool = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "turn_id": "1"}
        shown = second.hook("before-action", codex("PreToolUse", second.clone, **tool))
        assert (APPROVAL in shown) == is_told
    assert server.call("recall", type="decision").count(DECISION) == 1
    server.close()
    second.push("환불 승인을 두 사람이 한다")


def earn(first: Person, error: str) -> None:
    """What helped in three sessions becomes a lesson, and back, and one again."""
    server = first.opens()
    told = server.call("recall", topic="session")
    assert told.count("without reflect. Calls: ") == 2, told
    use(first, server, error, 3)
    assert error in server.call("memory_consolidate").partition("Worth a lesson of the team")[2]
    add, back = ("add", "--fragment", error, "--yes"), ("restore", error, "--yes")
    for words in (add, back, add):
        first.types(*words)
    assert sources(server.call("recall", query=STALE)) == ["lesson"]
    assert error not in server.call("memory_consolidate")
    for gap in ("Line length of the templates", "Order of the imports"):
        server.call("log_memory", topic="style", missing_context=gap, lesson="Ask make lint.")
    listed = re.findall(r"\w{16}@\w+", server.call("compact_memory", target_topic="style"))
    given = {"topic": "style", "missing_context": "", "lesson": PRINCIPLE}
    server.call("log_memory", type="principle", source_ids=sorted({*listed}), **given)
    server.close()
    first.push("Log how a stale bundle is cured")


def promote_of_the_team(second: Person, team: Team, dsn: str, error: str) -> None:
    """What the log has already joins the record that is there, which stays when it is undone."""
    before = saved(second.clone)
    asked = {"topic": "deploy", "type": "error"}
    assert error in team.call("default", "recall", **asked)
    second.types("add", "--fragment", error, "--yes", SENTINEL_MEMORY_FRAGMENTS=dsn)
    assert ERROR not in team.call("default", "recall", **asked)
    second.types("restore", error, "--yes", SENTINEL_MEMORY_FRAGMENTS=dsn)
    assert ERROR in team.call("default", "recall", **asked)
    assert saved(second.clone) == before


def check_texts(
    people: tuple[Person, Person], team_server: TeamServer, dsn: str, folders: list[Path]
) -> None:
    """Every lesson is in the log, once; no file has a secret, whereas all that was told is in one.

    Nor has a commit, an archive, the database of the team or what its server has logged.
    """
    lessons = [it.lesson for it in saved(people[0].clone)]
    expected = {APPROVAL, CURE, PRINCIPLE}
    [redacted] = {*lessons} - expected
    assert sorted(lessons) == sorted([*expected, redacted]) and "[REDACTED" in redacted
    for person in people:
        assert git(person.clone, "status", "--porcelain") == ""
        person.types("scan", "--history")
    shown = people[0].types("list", "--room", "fragments", "--json").told["fragments"]["items"]
    texts = [it["content"] for it in shown]
    assert ERROR not in texts and len(texts) == len({*texts})
    kept = [it for folder in folders for it in everything_in(folder)]
    dump = team_server.postgres.run("pg_dump", dsn)
    log = team_server.postgres.directory / "log"
    kept += [(Path("pg_dump"), dump.encode()), (log, log.read_bytes())]
    for text in (CURE, DECISION, SILENT):
        assert any(text.encode() in data for _, data in kept)
    assert CURE in dump
    assert [path for path, data in kept for it in SECRETS if it.encode() in data] == []


def everything_in(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """All files below a folder, unpacked, and all that git keeps there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            yield path, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if path.name == "objects" and path.is_dir():
            words = ("git", "cat-file", "--batch", "--batch-all-objects")
            yield path, subprocess.run(words, cwd=path.parent, check=True, stdout=-1).stdout


def check_newcomer(new: Person) -> None:
    """Somebody new, who has nothing but a clone, gets the lessons at once."""
    started = new.hook("session-start", claude("SessionStart", new.clone, source="startup"))
    for lesson in (CURE, PRINCIPLE, APPROVAL):
        assert lesson in started
    server = new.opens()
    [line] = server.call("recall", query=STALE).splitlines()
    assert line.startswith("lesson ") and CURE in line
    assert CURE in server.call("search_memory", query="deploy cache")
    assert server.call("context_search") == "No session found."
    server.close()
