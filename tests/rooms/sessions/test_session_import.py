"""Tests what an import makes of former directories, of databases and of our own exports, and that
old sessions move to a file whole, and come back.
"""

import gzip
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.lessons.record import utc_now
from core.room.database import SQLITE
from rooms.sessions import upkeep
from rooms.sessions.actions import Caller, record_save
from rooms.sessions.document import export
from rooms.sessions.search import Criteria, find_session, former_archive, search
from rooms.sessions.session import SESSION, Changes, Point, Session, SessionsError
from rooms.sessions.source import Plan, Source, carry_out, planned, read_source, read_text
from rooms.sessions.store import SessionStore, open_sessions
from rooms.sessions.upkeep import archive_before
from tests.support.cli_process import TOKEN
from tests.support.session_samples import (
    OLD,
    a_room,
    act,
    every_byte,
    failed,
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


def snapshot(name: str, data: Former) -> Former:
    return {"id": name, "data": data, "reason": "milestone", "timestamp": "2025-12-19T08:00:00Z"}


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


def linked(path: Path) -> None:
    secret = path.parents[3] / "secret.json"
    put(secret, former("Secret"))
    path.symlink_to(secret)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (lambda path: path.write_text('{"currentWork": '), "not_json"),
    "something else": (lambda path: path.write_text('{"other": 1}'), "not_a_session"),
    "without a goal": (lambda path: put(path, former(" ")), "no_goal"),
    "deep": (lambda path: path.write_text("[" * 100_000), "not_json"),
    "no database": (lambda path: path.write_bytes(SQLITE + bytes(1_000)), "unreadable"),
    "a link": (linked, "link"),
    "a pipe": (os.mkfifo, "unreadable"),
}  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="links and pipes as POSIX has them")
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_costs_only_itself(store: SessionStore, folder: Path, kind: str) -> None:
    damage, why = BROKEN[kind]
    goals = ["\ud800 half", "a\0b", "'; DROP TABLE contexts; --", "\x1b[31m"]
    for at, goal in enumerate(goals):  # hostile texts come as texts
        put(folder / "snapshots" / f"b{at}.json", snapshot(f"b{at}", former(goal, id=f"{at}")))
    damage(folder / "snapshots" / "a.json")
    plan, saved = take(store, folder)
    expected = {goal.replace("\ud800", "\ufffd") for goal in goals}
    assert {it.goal for it in saved} == expected
    assert {store.get(it.id).goal for it in saved} == expected
    assert plan.faults == [("snapshots/a.json", why)]


def test_what_holds_no_session_is_refused(store: SessionStore, tmp_path: Path) -> None:
    for name in ("folder", "view"):
        (tmp_path / name).mkdir()
    put(tmp_path / "none.json", {"a": 1})
    put(tmp_path / "list.json", {"contexts": []})
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    with closing(sqlite3.connect(tmp_path / "view" / "history.db")) as connection:
        connection.execute(f"CREATE VIEW contexts AS {endless}")  # which is never read
    for name in ("none.json", "list.json", "folder", "view"):
        with pytest.raises(SessionsError, match="contains no sessions") as refused:
            read_source(tmp_path / name)
        assert refused.value.key == "no_source"
    newer = b'{"format": "sentinel-memory-sessions", "version": 2, "contexts": []}'
    with pytest.raises(SessionsError, match=r"newer version of this program \(format 2\)"):
        read_text(newer, "x.json")
    saved(store, "One")
    for text in (export(store, "markdown").text, export(store, "html").text):
        with pytest.raises(SessionsError, match="export of sessions for people"):
            read_text(text.encode(), "x")


def test_chains_in_a_circle_are_cut_and_a_parent_that_is_nowhere_is_left_out(
    project: Path,
) -> None:
    store = make_sample_store(project, 1)
    here, ids = store.get("1"), [f"ctx_00000000000{at}" for at in range(2, 5)]
    circle = [
        {"id": id_, "parentId": ids[at - 1], "goal": f"g{at}", "updatedAt": f"2026-01-0{at + 1}"}
        for at, id_ in enumerate(ids)
    ]
    a = {"id": "ctx_aaaaaaaaaaaa", "parentId": here.id, "goal": "a"}
    b = {"id": "ctx_bbbbbbbbbbbb", "parentId": "ctx_cccccccccccc", "goal": "b"}
    taken = carry_out(store, planned(store, listed(*circle, a, b)))
    parents = {it.goal: it.parent_id for it in taken}
    assert (parents.pop("a"), parents.pop("b")) == (here.id, "")
    assert sorted(map(bool, parents.values())) == [False, True, True]


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


@pytest.mark.row("003 T74")
def test_an_import_of_an_archive_brings_whole_sessions_back(old: SessionStore) -> None:
    shown = ".context/sessions/archive-2024.db"  # a hint says which file has its texts
    assert [former_archive(old, old.get(name)) for name in ("1", "2")] == [shown, shown]
    [path] = old.former_archives()
    assert [it.number for it in carry_out(old, planned(old, read_source(path)))] == [1, 2]
    first, second = old.get("1"), old.get("2")
    assert first.goal == "Let users log in with Google, and keep them logged in for a month"
    assert [it.text for it in first.points()] == [
        "Exchange the code on the server",
        "Exchange the code with fetch",
        "No client secret",
    ]
    assert [it.content for it in old.actions(first)] == ["npm test", "git commit -m login"]
    assert (second.parent_id, second.summary) == (first.id, "금액이 반올림되지 않았다.")
    assert [it.archive for it in (first, second)] == ["", ""]
    assert search(old, Criteria(query="반올림"), limit=5).total == 1
    assert carry_out(old, planned(old, read_source(path))) == []


def test_what_an_older_version_names_leads_nowhere_else_and_its_actions_find_their_session(
    old: SessionStore,
) -> None:
    with old.writing() as connection:
        connection.execute("UPDATE contexts SET archive = '../../secret.db'")
        connection.execute("UPDATE waiting_actions SET created_at = ?", (utc_now(),))
    assert former_archive(old, old.get("1")) == ""
    session = saved(old, "Go on with the cart", utc_now(), status="coding")
    caller = Caller("claude-code", "talk-1")
    assert record_save(old.root, caller, f"Saved #{session.number}.", os.environ)
    assert [it.content for it in old.actions(session)] == ["npm run build"]


DAY = "2026-01-01"


def a_full_session(store: SessionStore, goal: str = "Fix the login of the shop " * 3) -> Session:
    fields = {
        "summary": "The token expired too early. " * 8,
        "tags": ("auth", "인증"),
        "decisions": (Point(text="use fetch", why="it is there"),),
        "approaches": (failed("retry in a loop", "the server locks the account"),),
        "blockers": (Point(text="no account", is_resolved=True, why="asked for one"),),
        "changes": Changes(modified_files=("src/login.ts",), summary="the expiry"),
    }
    session = saved(store, goal, OLD, **{**fields, "summary": "A first try."})
    act(store, session, "npm test", "git commit -m fix")
    return saved(store, goal, OLD, **fields, id=session.id)


def everything(store: SessionStore) -> list[tuple[Session, list[str]]]:
    sessions = [it.session for it in search(store, Criteria(), limit=999).hits]
    sessions.sort(key=lambda it: it.number)
    return [(it, [action.content for action in store.actions(it)]) for it in sessions]


@pytest.mark.row("003 T78", "003 T78.a")
def test_an_import_brings_archived_sessions_back_as_they_were(store: SessionStore) -> None:
    first = a_full_session(store)
    second = saved(store, "Test the login", OLD, parent=first.id)
    saved(store, "Newer")
    assert store.get("1").former
    before = everything(store)
    done = archive_before(store, DAY)
    assert ([it.id for it in done.sessions], done.open, done.kept) == ([first.id, second.id], 0, [])
    assert [it.number for it, _ in everything(store)] == [3]
    assert search(store, Criteria(query="인증"), limit=5).hits == []
    assert done.path and done.path.stat().st_mode & 0o777 == 0o600
    assert done.path.with_name(".gitignore").read_text() == "*\n"
    for name in ("#1", "1", first.id):
        with pytest.raises(SessionsError) as caught:
            find_session(store, name)
        shown = done.path.relative_to(store.root).as_posix()
        assert f"import {shown}` brings it back" in str(caught.value)
        assert f"archived on {done.path.stem[9:19]}" in str(caught.value)
    back = [carry_out(store, planned(store, read_source(done.path))) for _ in range(2)]
    assert [sorted(it.number for it in sessions) for sessions in back] == [[1, 2], []]
    assert everything(store) == before
    assert [it.number for it in store.chain(second)] == [1, 2]


def test_a_session_with_an_open_blocker_or_a_child_that_stays_stays_and_is_named(
    store: SessionStore,
) -> None:
    first = saved(store, "Plan the login", OLD)
    second = saved(store, "Build the login", OLD, parent=first.id)
    saved(store, "Go on with the login", parent=second.id)
    blocked = saved(store, "Ask for an account", OLD, blockers=(Point(text="no account"),))
    alone = saved(store, "Print the invoices", OLD)
    still_open = saved(store, "Old and open", OLD, status="coding")
    tried = archive_before(store, DAY, dry_run=True)
    assert (tried.sessions, tried.open, tried.path) == ([alone], 1, None)
    assert len(everything(store)) == 6
    done = archive_before(store, DAY)
    assert (done.sessions, done.kept) == ([alone], [first, second, blocked])
    assert [it.number for it, _ in everything(store)] == [1, 2, 3, 4, 6]
    assert archive_before(store, DAY, dry_run=True, with_open=True).sessions == [still_open]


def test_every_form_of_a_date_means_the_same_day_and_what_is_none_archives_nothing(
    store: SessionStore,
) -> None:
    assert archive_before(store, DAY) == ([], None, 0, [])
    assert os.listdir(store.root) == []
    saved(store, "Fix the login", "2025-12-31T10:00:00+00:00")
    saved(store, "Fix the logout", "2026-05-01T10:00:00+00:00")
    for date in ("20260101", "2026-W01-4", "2026-01-01T09:00+09:00"):
        found = archive_before(store, date, dry_run=True)
        assert [it.number for it in found.sessions] == [1]
    with pytest.raises(SessionsError, match="not a date"):
        archive_before(store, "yesterday")


def test_a_session_that_would_come_back_otherwise_stays(store: SessionStore) -> None:
    a_full_session(store)
    (store.path.parent / "archive").write_text("a file in the way")
    with pytest.raises(SessionsError, match="every session is still here"):
        archive_before(store, DAY)
    (store.path.parent / "archive").unlink()
    with store.writing() as connection:  # by another program, which knows another status
        connection.execute("UPDATE contexts SET status = 'done'")
    with pytest.raises(SessionsError, match="would not be the same"):
        archive_before(store, DAY)
    assert [it.status for it, _ in everything(store)] == ["done"]
    assert store.archives() == []


def test_a_session_that_changes_meanwhile_stays(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = a_full_session(store)
    write = upkeep._exported

    def written(*given: object) -> Path:
        path = write(*given)  # type: ignore[arg-type]
        saved(store, session.goal, id=session.id, summary="Saved meanwhile")
        return path

    monkeypatch.setattr(upkeep, "_exported", written)
    archive_before(store, DAY)
    assert [it.summary for it, _ in everything(store)] == ["Saved meanwhile"]
