"""Tests what an import makes of former directories, of databases and of our own exports, and that
old sessions move to a file whole, and come back.
"""

import gzip
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from rooms.sessions import upkeep
from rooms.sessions.document import export
from rooms.sessions.session import SESSION, Session
from rooms.sessions.source import Plan, Source, carry_out, planned, read_source, read_text
from rooms.sessions.store import SessionStore, open_sessions
from rooms.sessions.upkeep import archive_before
from tests.support.cli_process import TOKEN
from tests.support.session_samples import (
    OLD,
    a_room,
    every_byte,
    make_sample_store,
    saved,
)
from tests.support.tables import DATA, table

Former = dict[str, Any]


def former(goal: str = "Build the login", **changes: Any) -> Former:
    """A context as the former program keeps it in `current.json`."""
    context: Former = {**table("sessions/former"), **changes}
    context["currentWork"]["goal"] = goal
    return context


@pytest.fixture
def folder(store: SessionStore) -> Path:
    """A former directory, still empty."""
    made = store.root / ".context-sync"
    (made / "snapshots").mkdir(parents=True)
    return made


def put(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def listed(*contexts: Former) -> Source:
    """What is read of these in one file."""
    return read_text(json.dumps(contexts).encode(), "x.json")


def take(store: SessionStore, path: Path) -> tuple[Plan, list[Session]]:
    """Carry out an import; what a second one would bring is nothing."""
    plan = planned(store, read_source(path))
    saved = carry_out(store, plan)
    again = planned(store, read_source(path))
    assert (again.new, again.known) == ([], len(saved) + plan.known)
    return plan, saved


def expanded(value: Any) -> Any:
    """The files of a case, in which `{"former": GOAL, …}` is a context with these changes."""
    if isinstance(value, dict) and "former" in value:
        changes = {name: it for name, it in value.items() if name != "former"}
        return former(value["former"], **changes)
    if isinstance(value, dict):
        return {name: expanded(it) for name, it in value.items()}
    return value


def makes(found: Any, expected: Any) -> bool:
    """Whether all that is expected is there; an object may have more."""
    if isinstance(expected, dict):
        return all(makes(found.get(name), it) for name, it in expected.items())
    if isinstance(expected, list) and isinstance(found, list):
        pairs = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(makes(*pair) for pair in pairs)
    return bool(found == expected)


def make_history(path: Path, rows: list[dict[str, Any]]) -> None:
    """A `history.db` of the specification, with an action for each session."""
    noon = "2025-12-21 12:00:00"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript((DATA / "sessions/former_history.sql").read_text("utf-8"))
        for row in rows:
            given = {"started_at": noon, "created_at": noon, **row}
            places = ", ".join("?" * len(given))
            statement = f"INSERT INTO contexts ({', '.join(given)}) VALUES ({places})"
            connection.execute(statement, tuple(given.values()))
            connection.execute(
                "INSERT INTO actions (id, context_id, type, content, result)"
                " VALUES (?, ?, 'command', 'npm test', 'success')",
                (f"a-{row['id']}", row["id"]),
            )


@pytest.mark.row("003 T73", "003 T73.a", "003 T74", "003 T81")
@pytest.mark.parametrize("case", table("sessions/imports"))
def test_a_former_directory_becomes_sessions_and_stays_as_it_was(
    store: SessionStore, folder: Path, case: str
) -> None:
    given = table("sessions/imports")[case]
    for name, value in given["files"].items():
        put(folder / name, expanded(value))
    if "database" in given:
        make_history(folder / "history.db", given["database"])
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    plan, taken = take(store, folder)
    assert plan.versions == given["versions"]
    assert (store.path.parent / "current.json").is_file()
    goals = {it.id: it.goal for it in taken}
    found = [
        {
            **{**SESSION.as_json(it), "updatedAt": it.updated_at, "hasWarnings": it.has_warnings},
            "parent": goals.get(it.parent_id),
            "actions": [action.content for action in store.actions(it)],
        }
        for it in sorted(taken, key=lambda it: it.goal)
    ]
    assert makes(found, given["expected"]), found
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.row("003 T81")
def test_an_export_and_our_own_current_json_come_back_as_they_were(
    store: SessionStore, tmp_path: Path
) -> None:
    other = make_sample_store(a_room(tmp_path / "other").root, 20)
    second = "2026-01-02T03:04:05+00:00"  # in which several are saved, which keep their order
    goals = [saved(other, f"Step {number}", second).goal for number in range(9)]
    export(other, "json", output="all.json")
    plan, taken = take(store, other.root / "all.json")
    assert (len(taken), plan.shortened, plan.faults) == (29, 0, [])
    ours, theirs = (json.loads(export(it, "json").text)["contexts"] for it in (store, other))
    assert ours == theirs
    steps = sorted((it for it in taken if it.goal in goals), key=lambda it: it.number)
    assert [it.goal for it in steps] == goals
    for path in (other.path, other.path.parent):
        assert planned(store, read_source(path)).known == 29
    third, alone = a_room(tmp_path / "third"), make_sample_store(a_room(tmp_path / "one").root, 1)
    assert alone.project()
    _, [saved_alone] = take(third, alone.current)
    assert saved_alone == alone.get("1")


@pytest.mark.row("003 T73.a")
def test_a_plan_changes_nothing_and_what_came_in_meanwhile_is_left_alone(
    store: SessionStore, folder: Path
) -> None:
    put(folder / "current.json", former())
    plans = [planned(store, read_source(folder)) for _ in range(2)]
    assert [len(plan.new) for plan in plans] == [1, 1]
    assert os.listdir(store.root) == [".context-sync"]
    assert [len(carry_out(store, plan)) for plan in plans] == [1, 0]


def test_secrets_go_and_long_texts_are_shortened(store: SessionStore, folder: Path) -> None:
    context = former(f"Use {TOKEN} {'x' * 600}")
    context["conversationSummary"]["keyDecisions"] = [f"d{at}" for at in range(120)]
    context["codeChanges"]["summary"] = f"{TOKEN} once more"
    put(folder / "current.json", context)
    plan, [saved] = take(store, folder)
    assert TOKEN not in json.dumps(SESSION.as_json(saved))
    assert (len(saved.goal), saved.goal[-1]) == (500, "…")
    assert [it.text for it in saved.decisions] == [f"d{at}" for at in range(20, 120)]
    assert (plan.shortened, plan.redacted.total()) == (2, 2)
    # No secret goes into an id, from which somebody could guess it.
    goals = [f"Use {TOKEN} here", f"Use {TOKEN[:-4]}wXyZ here", "Use none here"]
    ids = [listed(former(goal)).items[0].session.id for goal in goals]
    assert ids[0] == ids[1] != ids[2]
    strict = open_sessions(store.root, Settings(strict=True))
    plan = planned(strict, listed(former(f"Use {TOKEN}"), former("Another", id="y")))
    assert [session.goal for session, _ in plan.new] == ["Another"]
    assert plan.faults == [("x.json (1)", "secret")]


def test_an_error_in_the_middle_leaves_nothing(store: SessionStore, folder: Path) -> None:
    put(folder / "snapshots" / "a.json", former("One", id="a"))
    put(folder / "snapshots" / "b.json", former("Two", id="b"))
    plan = planned(store, read_source(folder))
    plan.new[1][1].append(None)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        carry_out(store, plan)
    assert planned(store, read_source(folder)).known == 0


# what an older version kept


@pytest.fixture
def old(store: SessionStore) -> SessionStore:
    """Three sessions, of which the first two were moved to an archive, and an action that waits."""
    store.path.parent.mkdir(parents=True)
    for path in (DATA / "sessions").glob("*.db.gz"):
        target = store.path.parent / path.name.removesuffix(".gz")
        target.write_bytes(gzip.decompress(path.read_bytes()))
    return store


def tables_of(path: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        statement = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        return set(connection.execute(statement))


def test_the_tables_and_archives_stay_so_that_both_versions_can_use_the_files(
    old: SessionStore, tmp_path: Path
) -> None:
    [archive] = old.former_archives()
    before, archived = tables_of(old.path), archive.read_bytes()
    new = a_room(tmp_path / "new")
    for store in (old, new):
        saved(store, "A save of this version")
    assert tables_of(old.path) == before
    assert archive.read_bytes() == archived
    assert "반올림".encode() in every_byte(old.root)
    ours, theirs = (
        {it for it in tables if "_fts_" not in it[0]} for tables in (tables_of(new.path), before)
    )
    assert ours == theirs


def test_a_session_that_changes_meanwhile_is_not_archived(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, write = saved(store, "Fix the login", OLD), upkeep._exported

    def written(*given: object) -> Path:
        path = write(*given)  # type: ignore[arg-type]
        saved(store, session.goal, id=session.id, summary="Saved meanwhile")
        return path

    monkeypatch.setattr(upkeep, "_exported", written)
    archive_before(store, "2026-01-01")
    assert store.get("1").summary == "Saved meanwhile"
