"""Tests that every command works on fragments that a server keeps, as whoever runs it has them."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.postgres.pool import Pool
from core.text.plain import estimate_tokens
from rooms.fragments.fragment import (
    Activity,
    Fragment,
    Link,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
    Wanted,
    hash_of,
)
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.sqlite import SqliteEngine
from tests.support.cli_process import Run
from tests.support.desk import Desk
from tests.support.team_engines import TeamServer, a_server, team_server

__all__ = ["team_server"]  # a fixture

PASSWORD = "correct-horse-battery"
DAY = "2026-05-0{}T10:00:00+00:00"
Told = Callable[..., Run]


def a_fragment(id_: str, content: str, agent: str, day: int, **more: Any) -> Fragment:
    """A fragment of an agent with something in each of its fields."""
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
def dsn(team_server: TeamServer) -> str:
    """Fragments of two agents and of all, with a link, a version and a pin."""
    dsn = team_server.new_dsn(password=PASSWORD)
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    with engine.writing() as writing:
        writing.add([
            a_fragment("alice001", "The deploy serves the old bundle.", "alice", 1),
            a_fragment("alice002", "Purge the cache before a deploy.", "alice", 2, is_anchor=True),
            a_fragment("robert01", "The deploy needs two reviewers.", "robert", 3,
                       privacy="public"),
            a_fragment("common01", "The deploy window is on Tuesday.", "default", 4),
        ])  # fmt: skip
        writing.put_links([Link(from_id="alice001", to_id="alice002", created_at=DAY.format(2))])
        writing.note([Version(fragment_id="alice001", content="The deploy is stale.")])
    engine.close()
    return dsn


@pytest.fixture
def told(desk: Desk, dsn: str) -> Told:
    """Carries out a command, which never says the password."""

    def run(*words: str, code: int = 0, **variables: str) -> Run:
        done = on_server(desk, dsn, *words, **variables)
        assert done.code == code, (words, done)
        assert "machine" not in done.out + done.errors
        return done

    return run


def on_server(desk: Desk, dsn: str, *words: str, **variables: str) -> Run:
    """With all rights of whoever runs the tests: the server's socket is in a folder of its own."""
    given = {"SENTINEL_MEMORY_FRAGMENTS": dsn, **variables}
    done = Run.placed(*words, **desk.place(**given), is_bound=False)
    assert PASSWORD not in done.out + done.errors
    return done


def ids_of(run: Run) -> set[str]:
    return {it["id"] for it in run.told["fragments"]["items"]}


def kept(dsn: str) -> dict[str, Fragment]:
    """All fragments by id."""
    engine = PostgresEngine(a_server(dsn), timeout_s=5)
    with engine.reading() as reading:
        found = {it.id: it for it in reading.find(Wanted(state="all"))}
    engine.close()
    return found


@pytest.mark.long  # it costs much
def test_whoever_runs_the_server_reads_what_all_agents_know(told: Told) -> None:
    everything = {"alice001", "alice002", "robert01", "common01"}
    assert ids_of(told("list", "--json")) == everything
    last = told("list", "--room", "fragments").lines[-1]
    assert last == "Fragments: 4 of 4, the newest first."
    assert ids_of(told("search", "deploy", "--json")) == everything
    shown = told("show", "alice001").lines
    assert "  agent: alice" in shown
    assert "  related to: alice002: Purge the cache before a deploy." in shown
    assert any("The deploy is stale." in it for it in told("show", "alice001", "--versions").lines)
    unknown = told("show", "nothere1", code=1)
    assert unknown.errors.startswith("nothere1: nothing has this id.")


@pytest.mark.long  # it costs much
def test_whoever_runs_the_server_corrects_what_any_agent_has_saved(told: Told, dsn: str) -> None:
    assert told("fragments", "pin", "robert01").lines[0].startswith("Pinned: robert01.")
    assert kept(dsn)["robert01"].is_anchor
    refused = told("forget", "robert01", "--yes", code=1)
    assert refused.errors.startswith("robert01: this fragment is pinned.")
    told("fragments", "unpin", "robert01", "alice002")
    told("forget", "robert01", "--yes")
    assert kept(dsn)["robert01"].deleted_at
    assert ids_of(told("list", "--forgotten", "--json")) == {"robert01"}
    told("restore", "robert01", "--yes")
    assert kept(dsn)["robert01"].is_live
    told("forget", *kept(dsn), "--hard", "--yes")
    assert kept(dsn) == {}


@pytest.mark.long  # it costs much
def test_a_consolidation_is_of_all_agents(told: Told, dsn: str) -> None:
    steps = told("fragments", "consolidate", "--json").told["steps"]
    assert len(steps) == 11
    assert {it.agent for it in kept(dsn).values()} == {"alice", "robert", "default"}


@pytest.mark.long  # it costs much
def test_an_export_has_what_all_agents_know(told: Told, desk: Desk) -> None:
    name = "a.jsonl"
    only = ("export", "--room", "fragments")
    assert told(*only, "-o", name).lines == [f"Written: {name} (Fragments 4)."]
    text = (desk.root / name).read_text(encoding="utf-8")
    if os.name == "posix":  # it has what all of them keep to themselves
        assert (desk.root / name).stat().st_mode & 0o777 == 0o600
    for content in ("old bundle", "Purge the cache", "two reviewers", "on Tuesday"):
        assert content in text
    public = told(*only, "--public", "--format", "jsonl").lines
    assert [json.loads(it)["row"].get("id") for it in public[1:]] == ["robert01"]


def test_statistics_and_the_page_show_what_all_agents_know(told: Told, desk: Desk) -> None:
    figures = told("stats", "--json").told["fragments"]
    assert (figures["live"], figures["pinned"]) == (4, 1)
    assert figures["agents"] == {"alice": 2, "default": 1, "robert": 1}
    assert told("stats").out
    told("view", "--room", "fragments", "--output", "page.html")
    page = (desk.root / "page.html").read_text(encoding="utf-8")
    for content in ("old bundle", "two reviewers", "on Tuesday"):
        assert content in page
    assert PASSWORD not in page


@pytest.mark.long  # it costs much
def test_rows_of_elsewhere_are_imported_for_their_agents(told: Told, desk: Desk, dsn: str) -> None:
    row = {"id": "carol001", "content": "Canary deploys take an hour.", "topic": "deploy"}
    file = desk.root / "dump.jsonl"
    file.write_text(json.dumps({**row, "agent_id": "carol"}) + "\n", encoding="utf-8")
    told("import", "dump.jsonl", "--dry-run")
    assert "carol001" not in kept(dsn)
    assert "Saved: 1." in told("import", "dump.jsonl", "--yes").out
    assert kept(dsn)["carol001"].agent == "carol"
    assert "Nothing to save." in told("import", "dump.jsonl", "--yes").out


@pytest.mark.long  # it costs much
def test_an_empty_server_is_told_like_an_empty_machine(desk: Desk, team_server: TeamServer) -> None:
    dsn = team_server.empty_dsn()
    named = ("--room", "fragments")
    for words in (("list", *named), ("search", "deploy", *named)):
        done = on_server(desk, dsn, *words)
        assert (done.code, done.lines[0]) == (0, "There are no fragments yet.")
    assert on_server(desk, dsn, "fragments", "consolidate").code == 0
    pool = Pool(a_server(dsn))
    with pool.as_login(changes=False) as connection:
        found = connection.execute("SELECT to_regnamespace('agent_memory')").fetchone()
    pool.close()
    assert found == (None,)


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


def run(desk: Desk, place: str, *words: str, is_private: bool = False) -> Run:
    """is_private: whether it says that what it has written is."""
    done = on_server(desk, place, *words)
    assert (done.code, done.errors.startswith("For you alone: ")) == (0, is_private), done
    return done


def exported(desk: Desk, place: str, name: str) -> list[Any]:
    """The lines of an export, without its head and in an order of their own."""
    run(desk, place, "export", "--room", "fragments", "-o", name, is_private=True)
    lines = (desk.root / name).read_text(encoding="utf-8").splitlines()[1:]
    rows = (json.loads(it)["row"] for it in lines)
    return sorted(rows, key=lambda it: json.dumps(it, sort_keys=True))


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
    assert {it.agent for it in kept(dsn).values()} == {"carol"}
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
    assert refused == "--agent can only be used with Fragments"
    row = '{"id": "carol001", "content": "Deploys take an hour.", "topic": "deploy"}\n'
    (desk.root / "a.jsonl").write_text(row, encoding="utf-8")
    done = desk.run("import", "a.jsonl", "--agent", "system", "--yes")
    assert (done.code, done.errors.partition(" is no name")[0]) == (1, "--agent: system")
