"""Tests what an import makes of former directories, of databases and of our own exports."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from rooms.sessions.document import export
from rooms.sessions.import_plan import Plan, carry_out, planned
from rooms.sessions.session import ExchangeError, Session
from rooms.sessions.source import read_source, read_text
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.cli_process import TOKEN
from tests.support.room import a_room, saved
from tests.support.session_samples import make_sample_store

UUID = "2f1d3c4b-0a19-4e58-9d67-1b2c3d4e5f60"
Former = dict[str, Any]


def former(goal: str = "Build the login", **changes: Any) -> Former:
    """A context as the former program keeps it in `current.json`."""
    work = {"goal": goal, "status": "coding", "startedAt": "2025-12-20T09:00:00.000Z"}
    context = {
        "id": UUID,
        "projectPath": "/home/kim/shop",
        "currentWork": {**work, "lastActiveAt": "2025-12-20T11:30:00.000Z", "activeFiles": []},
        "conversationSummary": {
            "keyDecisions": [
                {
                    "id": "d1",
                    "what": "JWT in a cookie",
                    "why": "No state on the server",
                    "madeBy": "claude-code",
                    "timestamp": "2025-12-20T10:00:00.000Z",
                }
            ],
            "triedApproaches": [
                {"id": "a1", "description": "Axios", "result": "failed", "reason": "CORS"}
            ],
            "blockers": [
                {
                    "id": "b1",
                    "description": "No client id",
                    "resolved": True,
                    "discoveredAt": "2025-12-20T10:10:00.000Z",
                    "resolvedAt": "2025-12-20T10:20:00.000Z",
                    "resolution": "Asked the platform team",
                }
            ],
            "nextSteps": ["Write tests", "Refresh tokens"],
        },
        "codeChanges": {
            "modifiedFiles": ["src/login.ts"],
            "summary": "A form",
            "uncommittedChanges": True,
        },
        "agentChain": [
            {"from": "unknown", "to": "cursor", "summary": "", "timestamp": "2025-12-20T09:00:00Z"},
            {"from": "cursor", "to": "claude-code", "summary": "", "timestamp": "x"},
        ],
        "createdAt": "2025-12-20T09:00:00.000Z",
        "updatedAt": "2025-12-20T11:30:00.000Z",
        "version": 3,
    }
    return {**context, **changes}


def snapshot(name: str, data: Former, timestamp: str = "2025-12-19T08:00:00.000Z") -> Former:
    reason = "milestone"
    return {"id": name, "contextId": UUID, "data": data, "reason": reason, "timestamp": timestamp}


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    root = tmp_path / "shop"
    root.mkdir()
    return open_sessions(root, Settings())


@pytest.fixture
def folder(store: SessionStore) -> Path:
    """A former directory, still empty."""
    made = store.root / ".context-sync"
    (made / "snapshots").mkdir(parents=True)
    return made


def put(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def take(store: SessionStore, path: Path) -> tuple[Plan, list[Session]]:
    """Carry out an import; what a second one would bring is nothing."""
    plan = planned(store, read_source(path))
    saved = carry_out(store, plan)
    again = planned(store, read_source(path))
    assert (again.new, again.known) == ([], len(saved) + plan.known)
    return plan, saved


@pytest.mark.row("003 T73", "003 T81")
def test_a_former_current_json_becomes_a_session(store: SessionStore, folder: Path) -> None:
    put(folder / "current.json", former())
    _, [saved] = take(store, folder)
    told = store.get("1").as_json()
    assert told == {
        "id": saved.id,
        "goal": "Build the login",
        "summary": "Next steps: Write tests; Refresh tokens",
        "status": "coding",
        "tags": [],
        "agent": "cursor",
        "metadata": {
            "decisions": [
                {
                    "what": "JWT in a cookie",
                    "why": "No state on the server",
                    "madeBy": "claude-code",
                    "timestamp": "2025-12-20T10:00:00+00:00",
                }
            ],
            "approaches": [
                {"description": "Axios", "result": "failed", "reason": "CORS", "timestamp": ""}
            ],
            "blockers": [
                {
                    "description": "No client id",
                    "resolved": True,
                    "resolution": "Asked the platform team",
                    "discoveredAt": "2025-12-20T10:10:00+00:00",
                    "resolvedAt": "2025-12-20T10:20:00+00:00",
                }
            ],
            "codeChanges": {"modifiedFiles": ["src/login.ts"], "summary": "A form"},
        },
        "startedAt": "2025-12-20T09:00:00+00:00",
        "createdAt": "2025-12-20T09:00:00+00:00",
    }
    assert saved.updated_at == "2025-12-20T11:30:00+00:00"
    assert saved.has_warnings
    assert (store.path.parent / "current.json").is_file()


@pytest.mark.row("003 T74")
def test_texts_stand_for_objects_and_an_unknown_status_is_a_pause(
    store: SessionStore, folder: Path
) -> None:
    talk = {
        "keyDecisions": ["Use JWT", "Use JWT", {"decision": "No cookies", "reason": "CSRF"}, 7, ""],
        "triedApproaches": ["Axios", {"description": "fetch", "result": "so so"}],
        "blockers": ["No access", None],
    }
    work = {"goal": "g", "status": "in_progress", "startedAt": "2025-12-20"}
    put(folder / "current.json", {"id": 5, "currentWork": work, "conversationSummary": talk})
    _, [saved] = take(store, folder)
    assert [(it.text, it.why) for it in saved.decisions] == [
        ("Use JWT", ""),
        ("No cookies", "CSRF"),
    ]
    assert [(it.text, it.result) for it in saved.approaches] == [
        ("Axios", "partial"),
        ("fetch", "partial"),
    ]
    assert [(it.text, it.is_resolved) for it in saved.blockers] == [("No access", False)]
    assert (saved.status, saved.ended_at) == ("paused", "2025-12-20T00:00:00+00:00")
    assert saved.agent == ""


@pytest.mark.row("003 T74")
def test_snapshots_of_one_goal_are_one_session_with_all_that_any_of_them_says(
    store: SessionStore, folder: Path
) -> None:
    old = former(updatedAt="2025-12-19T08:00:00.000Z")
    old["conversationSummary"] = {"keyDecisions": ["An older one"], "blockers": []}
    put(folder / "snapshots" / "s1.json", snapshot("s1", old))
    put(folder / "snapshots" / "s2.json", snapshot("s2", former()))
    put(folder / "current.json", former())
    plan, [saved] = take(store, folder)
    assert plan.versions == 2
    assert [it.text for it in saved.decisions] == ["An older one", "JWT in a cookie"]


def test_a_context_that_went_from_goal_to_goal_becomes_a_chain(
    store: SessionStore, folder: Path
) -> None:
    for at, goal in enumerate(("First", "Second")):
        day = f"2025-12-1{at}T08:00:00.000Z"
        put(folder / "snapshots" / f"{at}.json", snapshot(f"s{at}", former(goal, updatedAt=day)))
    put(folder / "current.json", former("Third"))
    _, saved = take(store, folder)
    assert [it.goal for it in store.chain(saved[-1])] == ["First", "Second", "Third"]


NOON = "2025-12-21 12:00:00"
SCHEMA = """
CREATE TABLE contexts (id TEXT PRIMARY KEY, parent_id TEXT, goal TEXT NOT NULL, goal_short TEXT,
  summary TEXT, summary_short TEXT, status TEXT DEFAULT 'planning', tags TEXT DEFAULT '[]',
  agent TEXT, metadata TEXT DEFAULT '{}', has_warnings BOOLEAN DEFAULT 0, project_path TEXT,
  started_at TEXT NOT NULL, ended_at TEXT, created_at TEXT DEFAULT CURRENT_TIMESTAMP,
  updated_at TEXT, version INTEGER DEFAULT 1);
CREATE TABLE actions (id TEXT PRIMARY KEY, context_id TEXT NOT NULL, type TEXT NOT NULL,
  content TEXT NOT NULL, result TEXT, file_path TEXT, created_at TEXT DEFAULT CURRENT_TIMESTAMP);
"""


def make_history(folder: Path, *rows: dict[str, Any]) -> None:
    """A `history.db` of the specification, with an action for each session."""
    with closing(sqlite3.connect(folder / "history.db")) as connection:
        connection.executescript(SCHEMA)
        for row in rows:
            given = {"started_at": NOON, "created_at": NOON, **row}
            places = ", ".join("?" * len(given))
            statement = f"INSERT INTO contexts ({', '.join(given)}) VALUES ({places})"
            connection.execute(statement, tuple(given.values()))
            action = (f"a-{row['id']}", row["id"], "command", "npm test", "success", None)
            connection.execute(
                "INSERT INTO actions (id, context_id, type, content, result, file_path)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                action,
            )
        connection.commit()


@pytest.mark.row("003 T74")
def test_a_former_database_brings_rows_actions_and_chains(
    store: SessionStore, folder: Path
) -> None:
    metadata = json.dumps({"approaches": [{"description": "Axios", "result": "failed"}]})
    first = {"id": "x1", "goal": "One", "tags": '["auth"]', "metadata": metadata}
    second = {"id": "x2", "goal": "Two", "parent_id": "x1", "summary": "s", "status": "completed"}
    make_history(folder, second, first)
    before = (folder / "history.db").read_bytes()
    _, saved = take(store, folder)
    one, two = sorted(saved, key=lambda it: it.goal)
    assert (one.tags, one.has_warnings, two.parent_id) == (("auth",), True, one.id)
    assert [it.content for it in store.actions(two)] == ["npm test"]
    assert two.ended_at == "2025-12-21T12:00:00+00:00"
    assert (folder / "history.db").read_bytes() == before
    assert sorted(os.listdir(folder)) == ["history.db", "snapshots"]


@pytest.mark.row("003 T73.a")
def test_what_a_database_and_files_both_have_comes_once(store: SessionStore, folder: Path) -> None:
    put(folder / "current.json", former())
    put(folder / "snapshots" / "s1.json", snapshot("s1", former("Earlier", updatedAt="")))
    rows = [{"id": UUID, "goal": "Build the login", "summary": "Done by the new one"}]
    make_history(folder, *rows, {"id": "s1", "goal": "Earlier"})
    plan, saved = take(store, folder)
    assert sorted(it.goal for it in saved) == ["Build the login", "Earlier"]
    assert plan.versions == 2
    assert "Done by the new one" in {it.summary for it in saved}


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T81")
def test_an_export_comes_back_as_it_was(store: SessionStore, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = make_sample_store(tmp_path / "other", 20)
    export(other, "json", output="all.json")
    plan, saved = take(store, tmp_path / "other" / "all.json")
    assert (len(saved), plan.shortened, plan.faults) == (20, 0, [])
    ours, theirs = (json.loads(export(it, "json").text)["contexts"] for it in (store, other))
    assert ours == theirs
    assert planned(store, read_source(other.path)).known == 20
    assert planned(store, read_source(other.path.parent)).known == 20


@pytest.mark.row("003 T81")
def test_our_own_current_json_is_a_session_with_its_id(store: SessionStore, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = make_sample_store(tmp_path / "other", 1)
    assert other.project()
    _, [saved] = take(store, other.path.parent / "current.json")
    assert saved == other.get("1")


@pytest.mark.row("003 T73.a")
def test_a_plan_changes_nothing(store: SessionStore, folder: Path) -> None:
    put(folder / "current.json", former())
    assert len(planned(store, read_source(folder)).new) == 1
    assert os.listdir(store.root) == [".context-sync"]


def test_secrets_go_and_long_texts_are_shortened(store: SessionStore, folder: Path) -> None:
    context = former(f"Use {TOKEN} {'x' * 600}")
    context["conversationSummary"]["keyDecisions"] = [f"d{at}" for at in range(120)]
    context["codeChanges"]["summary"] = f"{TOKEN} once more"
    put(folder / "current.json", context)
    plan, [saved] = take(store, folder)
    assert TOKEN not in json.dumps(saved.as_json())
    assert (len(saved.goal), saved.goal[-1]) == (500, "…")
    assert [it.text for it in saved.decisions] == [f"d{at}" for at in range(20, 120)]
    assert plan.shortened == 2
    assert plan.redacted.total() == 2


def test_no_secret_goes_into_an_id(store: SessionStore) -> None:
    goals = [f"Use {TOKEN} here", f"Use {TOKEN[:-4]}wXyZ here", "Use none here"]
    found = [read_text(json.dumps(former(goal)).encode(), "x").items[0] for goal in goals]
    ids = [it.session.id for it in found]
    assert ids[0] == ids[1] != ids[2]


def test_a_strict_store_takes_no_session_with_a_secret(tmp_path: Path) -> None:
    store = open_sessions(tmp_path, Settings(strict=True))
    listed = [former(f"Use {TOKEN}"), former("Another", id="y")]
    plan = planned(store, read_text(json.dumps(listed).encode(), "two.json"))
    assert [session.goal for session, _ in plan.new] == ["Another"]
    assert plan.faults == [("two.json (1)", "secret")]


@pytest.mark.parametrize("text", ["\ud800 half", "a\0b", "'; DROP TABLE contexts; --", "\x1b[31m"])
def test_hostile_texts_come_as_texts(store: SessionStore, folder: Path, text: str) -> None:
    put(folder / "current.json", former(text))
    _, [saved] = take(store, folder)
    assert saved.goal == text.replace("\ud800", "\ufffd")
    assert store.get("1") == saved


def break_text(path: Path) -> None:
    path.write_text('{"currentWork": ', encoding="utf-8")


def break_kind(path: Path) -> None:
    path.write_text('{"other": 1}', encoding="utf-8")


def without_goal(path: Path) -> None:
    put(path, former(" "))


def nested(path: Path) -> None:
    path.write_text("[" * 100_000, encoding="utf-8")


def linked(path: Path) -> None:
    secret = path.parents[3] / "secret.json"
    put(secret, former("Secret"))
    path.symlink_to(secret)


def piped(path: Path) -> None:
    os.mkfifo(path)


def is_database(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + bytes(1_000))


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (break_text, "not_json"),
        (break_kind, "not_a_session"),
        (without_goal, "no_goal"),
        (nested, "not_json"),
        (is_database, "unreadable"),
        pytest.param(linked, "link", marks=pytest.mark.skipif(os.name == "nt", reason="POSIX")),
        pytest.param(
            piped, "not_a_file", marks=pytest.mark.skipif(os.name == "nt", reason="POSIX")
        ),
    ],
)
def test_a_broken_file_costs_only_itself(
    store: SessionStore, folder: Path, damage: Callable[[Path], None], why: str
) -> None:
    put(folder / "snapshots" / "b.json", snapshot("b", former()))
    damage(folder / "snapshots" / "a.json")
    plan, saved = take(store, folder)
    assert [it.goal for it in saved] == ["Build the login"]
    assert plan.faults == [("snapshots/a.json", why)]


def test_a_view_in_the_place_of_the_table_is_not_read(store: SessionStore, folder: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    with closing(sqlite3.connect(folder / "history.db")) as connection:
        connection.execute(f"CREATE VIEW contexts AS {endless}")
    with pytest.raises(ExchangeError, match="contains no sessions"):
        read_source(folder)


@pytest.mark.parametrize("name", ["none.json", "list.json", "folder"])
def test_what_holds_no_session_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    put(tmp_path / "none.json", {"a": 1})
    put(tmp_path / "list.json", {"contexts": []})
    with pytest.raises(ExchangeError) as refused:
        read_source(tmp_path / name)
    assert refused.value.key == "no_source"


def test_an_export_of_a_newer_version_is_refused() -> None:
    text = b'{"format": "sentinel-memory-sessions", "version": 2, "contexts": []}'
    with pytest.raises(ExchangeError, match=r"newer version of this program \(format 2\)"):
        read_text(text, "x.json")


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_an_export_for_people_is_refused(tmp_path: Path, form: Any) -> None:
    text = export(make_sample_store(tmp_path, 2), form).text
    with pytest.raises(ExchangeError, match="export of sessions for people"):
        read_text(text.encode(), "x")


def test_chains_in_a_circle_are_cut(store: SessionStore) -> None:
    ids = [f"ctx_00000000000{at}" for at in range(3)]
    listed = [
        {"id": id_, "parentId": ids[at - 1], "goal": f"g{at}", "updatedAt": f"2026-01-0{at + 1}"}
        for at, id_ in enumerate(ids)
    ]
    plan = planned(store, read_text(json.dumps(listed).encode(), "x.json"))
    saved = carry_out(store, plan)
    assert sorted(bool(it.parent_id) for it in saved) == [False, True, True]


def test_a_parent_that_is_nowhere_is_left_out_and_one_that_is_here_is_kept(
    store: SessionStore,
) -> None:
    here = make_sample_store(store.root, 1).get("1")
    listed = [
        {"id": "ctx_aaaaaaaaaaaa", "parentId": here.id, "goal": "a"},
        {"id": "ctx_bbbbbbbbbbbb", "parentId": "ctx_cccccccccccc", "goal": "b"},
    ]
    saved = carry_out(store, planned(store, read_text(json.dumps(listed).encode(), "x.json")))
    assert {it.goal: it.parent_id for it in saved} == {"a": here.id, "b": ""}


def test_one_that_came_in_meanwhile_is_left_alone(store: SessionStore, folder: Path) -> None:
    put(folder / "current.json", former())
    plans = [planned(store, read_source(folder)) for _ in range(2)]
    assert [len(carry_out(store, plan)) for plan in plans] == [1, 0]


def test_an_error_in_the_middle_leaves_nothing(store: SessionStore, folder: Path) -> None:
    put(folder / "snapshots" / "a.json", former("One", id="a"))
    put(folder / "snapshots" / "b.json", former("Two", id="b"))
    plan = planned(store, read_source(folder))
    plan.new[1][1].append(None)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        carry_out(store, plan)
    assert planned(store, read_source(folder)).known == 0


def test_sessions_of_one_second_come_back_in_their_order(tmp_path: Path) -> None:
    before, after = a_room(tmp_path / "before"), a_room(tmp_path / "after")
    goals = [f"Step {number}" for number in range(1, 13)]
    for goal in goals:
        saved(before, goal, "2026-01-02T03:04:05+00:00")
    data = export(before, "json").text.encode("utf-8")
    carry_out(after, planned(after, read_text(data, "sessions.json")))
    assert [after.get(str(number)).goal for number in range(1, 13)] == goals
