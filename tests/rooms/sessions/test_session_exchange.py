"""Tests the documents of an export, every text as text, and imports of former directories, of
databases and of our own exports.
"""

import gzip
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.config import Settings
from rooms.sessions import upkeep
from rooms.sessions.document import FORMS, Entry, FormName, Head, export
from rooms.sessions.draft import redact_session
from rooms.sessions.session import ACTION, SESSION, Action, Changes, Point, Session
from rooms.sessions.source import Plan, plan_import, read_source, save_plan
from rooms.sessions.store import SessionStore, open_sessions
from rooms.sessions.upkeep import archive_before
from tests.support.session_samples import (
    OLD,
    a_room,
    act,
    every_byte,
    keep,
    make_sample_store,
    sample_sessions,
    saved,
)
from tests.support.tables import DATA, table

DAY = "2026-11-20T10:00:00+00:00"
TABLE = table("sessions/exports")
TEXTS = st.lists(st.sampled_from(TABLE["signs"]), min_size=1, max_size=8).map("".join)


def document(
    sessions: Iterable[tuple[Session, Sequence[Action]]], name: FormName, *, project: str = "shop"
) -> str:
    """The document of these sessions, as the tool writes it."""
    form, entries = FORMS[name], [redact_session(*entry) for entry in sessions]
    numbers = {session.id: session.number for session, _, _ in entries}
    texts = [
        form.render_session(Entry(session, actions, numbers.get(session.parent_id, 0)))
        for session, actions, _ in entries
    ]
    head = form.render_head(Head(project, len(entries), DAY))
    return head + form.separator.join(texts) + form.render_end(0)


def hostile(text: str) -> tuple[Session, list[Action]]:
    """A session with this text wherever one stands."""
    fields: Any = dict.fromkeys(("goal", "summary", "status", "agent"), text)
    fields |= dict.fromkeys(("started_at", "created_at", "updated_at"), DAY)
    session = Session(
        number=7,
        id="ctx_00000000000a",
        tags=(text,),
        decisions=(Point(text=text, why=text, made_by=text),),
        approaches=(Point(text=text, result="failed", why=text),),
        blockers=(Point(text=text, why=text),),
        changes=Changes(modified_files=(text,), summary=text),
        **fields,
    )
    action = Action(id="act_1", kind=text, content=text, result=text, file_path=f"{text}x")
    return session, [action]


class Tags(HTMLParser):
    """The tags of a page with their attributes, and whether anything else is in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found = list[tuple[str, tuple[str, ...]]]()
        self.comments = list[str]()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs if name not in ("lang", "dir"))))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def blocks(text: str) -> list[str]:
    """The kinds of the blocks and spans of a Markdown document, but for those of plain text."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    kinds = []
    for token in parser.parse(text):
        kinds += [token.type, *(child.type for child in token.children or ())]
    plain = {"text", "inline", "softbreak", "hardbreak", "code_inline", "text_special"}
    return [kind for kind in kinds if kind not in plain]


@pytest.mark.long  # it costs much
@given(TEXTS)
@example("<script>")
@example("# x```")
@example("  1. x`")
@example("x\n# heading\n| a |\n| - |\n[l](u)")
def test_no_text_becomes_markup_in_any_form(text: str) -> None:
    plain, odd = hostile("x"), hostile(text)
    page, markdown, text_of_json = (document([odd], form) for form in ("html", "markdown", "json"))
    expected_tags, tags = Tags(document([plain], "html")), Tags(page)
    assert {*tags.found} - {("br", ())} <= {*expected_tags.found}
    for tag in ("h1", "h2", "h3", "strong"):
        assert tags.found.count((tag, ())) <= expected_tags.found.count((tag, ()))
    assert tags.comments == expected_tags.comments
    expected_kinds = blocks(document([plain], "markdown"))
    assert set(blocks(markdown)) <= set(expected_kinds)
    assert blocks(markdown).count("heading_open") <= expected_kinds.count("heading_open")
    assert json.loads(text_of_json)["contexts"][0]["goal"] == text
    assert {"\x1b", "\x00", "\u202e", "\ud800"}.isdisjoint(page + markdown + text_of_json)


@pytest.mark.row("003 T59", "003 T63")
@pytest.mark.parametrize("form", FORMS)
def test_an_answer_keeps_to_its_budget_with_whole_sessions_and_a_file_has_all(
    store: SessionStore, form: FormName
) -> None:
    keep(store, sample_sessions(24))
    small = open_sessions(store.root, Settings(budget_tokens=2_000, budget_chars=9_000))
    answer = export(small, form)
    assert 0 < answer.count < 24
    assert len(answer.text) <= 9_000 or form == "html"  # whose style alone is half of that
    assert f": {24 - answer.count}. Give output a file" in answer.text
    output = f"all{FORMS[form].suffixes[0]}"
    export(small, form, output=output)
    text = (store.root / output).read_text(encoding="utf-8")
    begins = {"markdown": "^## ", "html": "^<h2>", "json": '^{"id": '}
    assert len(re.findall(begins[form], text, re.M)) == 24
    if form == "json":  # the declared objects with their actions
        assert len(json.loads(answer.text)["contexts"]) == answer.count
        data, (session, actions) = json.loads(text), sample_sessions(24)[-1]
        assert (data["format"], data["version"]) == ("sentinel-memory-sessions", 1)
        expected = {**SESSION.as_json(session), "updatedAt": session.updated_at}
        objects = [ACTION.as_json(action) for action in actions]
        assert data["contexts"][0] == {**expected, "actions": objects}
    # An answer without room for one session has none.
    tiny = open_sessions(store.root, Settings(budget_tokens=1_000, budget_chars=1_500))
    keep(store, [(replace(hostile("x " * 900)[0], number=99, id="ctx_99"), [])])
    answer = export(tiny, form, names=["99"])
    assert answer.count == 0 and ": 1. Give output a file" in answer.text


# former directories


Former = dict[str, Any]


def former(goal: str = "Build the login", **changes: Any) -> Former:
    """A context as the former program keeps it in `current.json`."""
    context: Former = {**table("sessions/former"), **changes}
    context["currentWork"]["goal"] = goal
    return context


@pytest.fixture
def folder(store: SessionStore) -> Path:
    """A former directory, still empty."""
    path = store.root / ".context-sync"
    (path / "snapshots").mkdir(parents=True)
    return path


def put(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def take(store: SessionStore, path: Path) -> tuple[Plan, list[Session]]:
    """Carry out an import; a second one would bring nothing."""
    plan = plan_import(store, read_source(path))
    sessions = save_plan(store, plan)
    again = plan_import(store, read_source(path))
    assert (again.new_sessions, again.known_count) == ([], len(sessions) + plan.known_count)
    return plan, sessions


def expand(value: Any) -> Any:
    """The files of a case, in which `{"former": GOAL, …}` is a context with these changes."""
    if isinstance(value, dict) and "former" in value:
        changes = {name: item for name, item in value.items() if name != "former"}
        return former(value["former"], **changes)
    if isinstance(value, dict):
        return {name: expand(item) for name, item in value.items()}
    return value


def has_all_of(value: Any, expected: Any) -> bool:
    """Whether all that is expected is there; an object may have more."""
    if isinstance(expected, dict):
        return all(has_all_of(value.get(name), item) for name, item in expected.items())
    if isinstance(expected, list) and isinstance(value, list):
        pairs = zip(value, expected, strict=False)
        return len(value) == len(expected) and all(has_all_of(*pair) for pair in pairs)
    return bool(value == expected)


def make_history(path: Path, rows: list[dict[str, Any]]) -> None:
    """A `history.db` of the specification, with an action for each session."""
    noon = "2025-12-21 12:00:00"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript((DATA / "sessions/former_history.sql").read_text("utf-8"))
        for row in rows:
            values = {"started_at": noon, "created_at": noon, **row}
            places = ", ".join("?" * len(values))
            statement = f"INSERT INTO contexts ({', '.join(values)}) VALUES ({places})"
            connection.execute(statement, tuple(values.values()))
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
    row = table("sessions/imports")[case]
    for name, value in row["files"].items():
        put(folder / name, expand(value))
    if "database" in row:
        make_history(folder / "history.db", row["database"])
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    plan, sessions = take(store, folder)
    assert plan.version_count == row["versions"]
    assert (store.path.parent / "current.json").is_file()
    goals = {session.id: session.goal for session in sessions}
    objects = [
        {
            **SESSION.as_json(session),
            **{"updatedAt": session.updated_at, "hasWarnings": session.has_warnings},
            "parent": goals.get(session.parent_id),
            "actions": [action.content for action in store.actions_of(session)],
        }
        for session in sorted(sessions, key=lambda session: session.goal)
    ]
    assert has_all_of(objects, row["expected"]), objects
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.row("003 T81")
def test_an_export_and_our_own_current_json_come_back_as_they_were(
    store: SessionStore, tmp_path: Path
) -> None:
    other = make_sample_store(a_room(tmp_path / "other").root, 20)
    second = "2026-01-02T03:04:05+00:00"  # in which several are saved, which keep their order
    goals = [saved(other, f"Step {number}", second).goal for number in range(9)]
    export(other, "json", output="all.json")
    plan, sessions = take(store, other.root / "all.json")
    assert (len(sessions), plan.cut_count, plan.faults) == (29, 0, [])
    objects, same = (json.loads(export(room, "json").text)["contexts"] for room in (store, other))
    assert objects == same
    steps = {session.number: session.goal for session in sessions if session.goal in goals}
    assert [steps[number] for number in sorted(steps)] == goals
    for path in (other.path, other.path.parent):
        assert plan_import(store, read_source(path)).known_count == 29
    third, alone = a_room(tmp_path / "third"), make_sample_store(a_room(tmp_path / "one").root, 1)
    assert alone.write_current()
    _, [saved_alone] = take(third, alone.current_path)
    assert saved_alone == alone.get("1")


@pytest.mark.row("003 T73.a")
def test_a_plan_changes_nothing_and_a_session_that_came_in_meanwhile_is_left_alone(
    store: SessionStore, folder: Path
) -> None:
    put(folder / "current.json", former())
    plans = [plan_import(store, read_source(folder)) for _ in range(2)]
    assert [len(plan.new_sessions) for plan in plans] == [1, 1]
    assert os.listdir(store.root) == [".context-sync"]
    assert [len(save_plan(store, plan)) for plan in plans] == [1, 0]


def test_an_error_in_the_middle_leaves_nothing(store: SessionStore, folder: Path) -> None:
    put(folder / "snapshots" / "a.json", former("One", id="a"))
    put(folder / "snapshots" / "b.json", former("Two", id="b"))
    plan = plan_import(store, read_source(folder))
    plan.new_sessions[1][1].append(None)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        save_plan(store, plan)
    assert plan_import(store, read_source(folder)).known_count == 0


# files of an older version


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
    [archive] = old.list_former_archives()
    before, data = tables_of(old.path), archive.read_bytes()
    new = a_room(tmp_path / "new")
    for store in (old, new):
        saved(store, "A save of this version")
    assert tables_of(old.path) == before
    assert archive.read_bytes() == data
    assert "반올림".encode() in every_byte(old.root)
    new_tables, old_tables = (
        {row for row in tables if "_fts_" not in row[0]} for tables in (tables_of(new.path), before)
    )
    assert new_tables == old_tables


def test_a_session_that_changes_meanwhile_is_not_archived(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, write = saved(store, "Fix the login", OLD), upkeep._write_archive
    other = saved(store, "Mend the cart", OLD)

    def write_and_change(*arguments: object) -> Path:
        path = write(*arguments)  # type: ignore[arg-type]
        saved(store, session.goal, id=session.id, summary="Saved meanwhile")
        act(store, other, "npm test")
        return path

    monkeypatch.setattr(upkeep, "_write_archive", write_and_change)
    assert archive_before(store, "2026-01-01").sessions == []
    assert store.get("1").summary == "Saved meanwhile"
    assert [action.content for action in store.actions_of(other)] == ["npm test"]
