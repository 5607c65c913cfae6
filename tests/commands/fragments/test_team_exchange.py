"""Tests that fragments go from a file to a server and back, and nothing of them is lost."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.text.tokens import estimate_tokens
from rooms.fragments.engine import Wanted
from rooms.fragments.fragment import (
    Activity,
    Fragment,
    Link,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
    hash_of,
)
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.sqlite.adapter import SqliteEngine
from tests.support.cli_process import Run
from tests.support.desk import Desk
from tests.support.team_engines import TeamServer, a_server, team_server

__all__ = ["team_server"]  # a fixture

DAY = "2026-05-0{}T10:00:00+00:00"


def a_fragment(id_: str, content: str, agent: str, day: int, **more: Any) -> Fragment:
    """A fragment with something in each of its fields."""
    date = DAY.format(day)
    plain = Fragment(
        id=id_, content=content, agent=agent, topic="deploy", keywords=("cdn", "한글"),
        content_hash=hash_of(content), estimated_tokens=estimate_tokens(content),
        kind="decision", importance=0.625, source="docs/runbook.md", session="s1",
        access_count=3, accessed_at=date, sessions_count=2, last_session="s1",
        created_at=date, updated_at=date, verified_at=date, utility=0.75, stale_days=90,
    )  # fmt: skip
    return replace(plain, **more)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with fragments of two agents, one of which say the same: links, versions, a pin, the
    bin, one that is superseded, two sessions of one name, what each said of the tools and of its
    work, and two fragments that may contradict each other."""
    path = tmp_path / "data" / "memory.db"
    engine = SqliteEngine(path, timeout_s=5)
    with engine.writing() as writing:
        writing.add([
            a_fragment("alice001", "The deploy serves the old bundle.", "alice", 1),
            a_fragment("robert01", "The deploy serves the old bundle.", "robert", 1),
            a_fragment("alice002", "Purge the cache.", "alice", 2, is_anchor=True, tier="permanent",
                       privacy="public"),
            a_fragment("robert02", "배포는 리뷰 두 명이 필요하다.", "robert", 3,
                       superseded_at=DAY.format(4)),
            a_fragment("robert03", "The window is on Friday.", "robert", 3,
                       deleted_at=DAY.format(4), deletion="forgotten"),
        ])  # fmt: skip
        writing.put_links([
            Link(from_id="alice001", to_id="alice002", relation="resolved_by",
                 created_at=DAY.format(2)),
            Link(from_id="robert02", to_id="robert01", relation="superseded_by",
                 created_at=DAY.format(4)),
        ])  # fmt: skip
        writing.note([
            Version(fragment_id="alice001", content="It is stale.", topic="old",
                    keywords=("one", "two"), importance=0.25, amended_at=DAY.format(1),
                    amended_by="alice"),
            Activity(session_id="s1", agent="alice", started_at=DAY.format(1),
                     last_at=DAY.format(1), calls=4, written=2),
            Activity(session_id="s1", agent="robert", started_at=DAY.format(3),
                     last_at=DAY.format(3), calls=1, reflected_at=DAY.format(3)),
            *(ToolFeedback(tool_name="recall", relevant=True, sufficient=False, session_id="s1",
                           suggestion="더 짧게 😀", created_at=DAY.format(3), agent=it)
              for it in ("alice", "robert", "robert")),
            TaskFeedback(session_id="s1", overall_success=False, tool_pain_points=("slow",),
                         created_at=DAY.format(3), agent="robert"),
            Suspicion(first_id="alice001", second_id="alice002", similarity=0.5,
                      found_at=DAY.format(4)),
        ])  # fmt: skip
    engine.close()
    return path


def run(desk: Desk, place: str, *words: str) -> Run:
    """With all rights of whoever runs the tests: the server's socket is in a folder of its own."""
    given = {"SENTINEL_MEMORY_FRAGMENTS": place}
    done = Run.placed(*words, **desk.place(**given), is_bound=False)
    assert (done.code, done.errors) == (0, ""), done
    return done


def exported(desk: Desk, place: str, name: str) -> list[Any]:
    """The lines of an export, without its head and in an order of their own."""
    run(desk, place, "fragments", "export", "-o", name)
    lines = (desk.root / name).read_text(encoding="utf-8").splitlines()[1:]
    return sorted((json.loads(it) for it in lines), key=lambda it: json.dumps(it, sort_keys=True))


@pytest.mark.long  # it costs much
def test_from_a_file_to_a_server_and_back_nothing_is_lost(
    desk: Desk, file: Path, team_server: TeamServer, tmp_path: Path
) -> None:
    first = exported(desk, str(file), "a.jsonl")
    assert len(first) == 15
    dsn = team_server.empty_dsn()
    assert "Saved: 5." in run(desk, dsn, "import", "a.jsonl", "--yes").out
    assert "Nothing to save." in run(desk, dsn, "import", "a.jsonl", "--yes").out
    assert exported(desk, dsn, "b.jsonl") == first
    back = str(tmp_path / "back" / "memory.db")
    assert "Saved: 5." in run(desk, back, "import", "b.jsonl", "--yes").out
    assert exported(desk, back, "c.jsonl") == first
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    with engine.for_agent("alice").reading() as reading:  # each sees its own, and finds it
        seen = reading.find(Wanted(state="all"))
        assert {it.id for it in seen} == {"alice001", "alice002"}
        assert reading.holding("bundle", 9).shares(0.25).keys() == {seen[0].number}
        assert [it.agent for it in reading.entries(ToolFeedback)] == ["alice"]
        assert [it.agent for it in reading.entries(Activity)] == ["alice"]
    engine.close()
    other = team_server.empty_dsn()  # and from a server to another one
    assert "Saved: 5." in run(desk, other, "import", "b.jsonl", "--yes").out
    assert exported(desk, other, "d.jsonl") == first
    assert "Nothing to save." in run(desk, back, "import", "d.jsonl", "--yes").out


@pytest.mark.long  # it costs much
def test_all_can_be_imported_as_one_agents(desk: Desk, file: Path, team_server: TeamServer) -> None:
    exported(desk, str(file), "a.jsonl")
    dsn = team_server.new_dsn()
    done = run(desk, dsn, "import", "a.jsonl", "--agent", "carol", "--yes")
    assert "Already here, by id or by what they say: 1." in done.out  # of one agent, twice is once
    listed = run(desk, dsn, "fragments", "list", "--state", "all", "--json").told["fragments"]
    assert {it["agent_id"] for it in listed} == {"carol"}
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    with engine.reading() as reading:
        assert [it.agent for it in reading.entries(Activity)] == ["carol"]
        for kind, count in ((ToolFeedback, 3), (TaskFeedback, 1)):
            assert [it.agent for it in reading.entries(kind)] == ["carol"] * count
        assert [it.amended_by for it in reading.entries(Version)] == ["alice"]
        assert len(reading.links(["alice001", "robert02"])) == 2
    engine.close()


def test_an_agent_is_named_for_fragments_only(desk: Desk) -> None:
    (desk.root / "list.md").write_text("- Run the tests first.\n", encoding="utf-8")
    refused = desk.run("import", "list.md", "--agent", "carol").refused
    assert refused == "--agent can only be used with --format fragments"
    row = '{"id": "carol001", "content": "Deploys take an hour.", "topic": "deploy"}\n'
    (desk.root / "a.jsonl").write_text(row, encoding="utf-8")
    done = desk.run("import", "a.jsonl", "--agent", "system", "--yes")
    assert (done.code, done.errors.partition(" is no name")[0]) == (1, "--agent: system")
