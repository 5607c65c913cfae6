"""Tests that every command works on fragments that a server keeps, as whoever runs it has them."""

import json
import os
from collections.abc import Callable
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
from tests.support.cli_process import Desk, Run
from tests.support.tables import table
from tests.support.team_engines import TeamServer, a_server, team_server

__all__ = ["team_server"]  # a fixture

PASSWORD = "correct-horse-battery"
ROWS = table("commands/team_fragments")
EVERY_FIELD = ROWS["every field"]
Told = Callable[..., Run]


def keep(engine: SqliteEngine | PostgresEngine, kinds: dict[str, list[dict[str, Any]]]) -> None:
    """Save these rows; a fragment has something in each of its fields."""
    with engine.writing() as writing:
        fragments = list[Fragment]()
        for row in kinds.get("fragments", ()):
            shared = {**EVERY_FIELD, "created_at": row["accessed_at"], **row}
            shared |= dict.fromkeys(("updated_at", "verified_at"), row["accessed_at"])
            content = row["content"]
            own = {"content_hash": hash_of(content), "estimated_tokens": estimate_tokens(content)}
            fragments.append(Fragment(**{**shared, **own, "keywords": ("cdn", "한글")}))
        writing.add(fragments)
        writing.put_links([Link(**row) for row in kinds.get("links", ())])
        for kind in (Version, Activity, ToolFeedback, TaskFeedback, Suspicion):
            for row in kinds.get(kind.__name__, ()):
                lists = {key: tuple(it) for key, it in row.items() if isinstance(it, list)}
                fields: dict[str, Any] = {**row, **lists}
                writing.note([kind(**fields)])
    engine.close()


@pytest.fixture
def dsn(team_server: TeamServer) -> str:
    """Fragments of two agents and of all, with a link, a version and a pin."""
    dsn = team_server.new_dsn(password=PASSWORD)
    keep(PostgresEngine(a_server(dsn), timeout_s=5), ROWS["server"])
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


def test_whoever_runs_the_server_reads_what_all_agents_know(told: Told, desk: Desk) -> None:
    contents = ("old bundle", "Purge the cache", "two reviewers", "on Tuesday")
    everything = {"alice001", "alice002", "robert01", "common01"}
    assert ids_of(told("list", "--json")) == ids_of(told("search", "deploy", "--json"))
    assert ids_of(told("list", "--json")) == everything
    last = told("list", "--room", "fragments").lines[-1]
    assert last == "Fragments: 4 of 4, the newest first."
    shown = told("show", "alice001").lines
    assert "  agent: alice" in shown
    assert "  related to: alice002: Purge the cache before a deploy." in shown
    assert any("The deploy is stale." in it for it in told("show", "alice001", "--versions").lines)
    unknown = told("show", "nothere1", code=1)
    assert unknown.errors.startswith("nothere1: nothing has this id.")
    figures = told("stats", "--json").told["fragments"]
    assert (figures["live"], figures["pinned"]) == (4, 1)
    assert figures["agents"] == {"alice": 2, "default": 1, "robert": 1}
    assert told("stats").out
    told("view", "--room", "fragments", "--output", "page.html")
    only = ("export", "--room", "fragments")
    assert told(*only, "-o", "a.jsonl").lines == ["Written: a.jsonl (Fragments 4)."]
    for name in ("page.html", "a.jsonl"):
        text = (desk.root / name).read_text(encoding="utf-8")
        assert all(it in text for it in contents) and PASSWORD not in text
    if os.name == "posix":  # it has what all of them keep to themselves
        assert (desk.root / "a.jsonl").stat().st_mode & 0o777 == 0o600
    public = told(*only, "--public", "--format", "jsonl").lines
    assert [json.loads(it)["row"].get("id") for it in public[1:]] == ["robert01"]


@pytest.mark.long  # it costs much
def test_who_runs_the_server_corrects_what_agents_saved(told: Told, desk: Desk, dsn: str) -> None:
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
    row = {"id": "carol001", "content": "Canary deploys take an hour.", "topic": "deploy"}
    rows = json.dumps({**row, "agent_id": "carol"}) + "\n"
    (desk.root / "dump.jsonl").write_text(rows, encoding="utf-8")
    told("import", "dump.jsonl", "--dry-run")
    assert "carol001" not in kept(dsn)
    assert "Saved: 1." in told("import", "dump.jsonl", "--yes").out
    assert kept(dsn)["carol001"].agent == "carol"
    assert "Nothing to save." in told("import", "dump.jsonl", "--yes").out
    assert len(told("fragments", "consolidate", "--json").told["steps"]) == 11
    assert {it.agent for it in kept(dsn).values()} == {"alice", "robert", "default", "carol"}
    told("forget", *kept(dsn), "--hard", "--yes")
    assert kept(dsn) == {}


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
    keep(SqliteEngine(path, timeout_s=5), ROWS["file"])
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
    assert refused.startswith("--agent is for Fragments, and nothing of this file goes there")
    assert refused.endswith("or add --room fragments")
    row = '{"id": "carol001", "content": "Deploys take an hour.", "topic": "deploy"}\n'
    (desk.root / "a.jsonl").write_text(row, encoding="utf-8")
    done = desk.run("import", "a.jsonl", "--agent", "system", "--yes")
    assert (done.code, done.errors.partition(" is no name")[0]) == (1, "--agent: system")
