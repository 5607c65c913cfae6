"""Tests the store of the sessions: what a save makes and continues, how sessions hang together, and
`current.json`, which shows the one saved last.
"""

import json
import logging
import os
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest

from core.config import Settings
from core.program import LOGGER
from rooms.sessions.config import IGNORED, Config
from rooms.sessions.session import Changes, Draft, NoSuchSessionError, Point, Session, SessionsError
from rooms.sessions.store import Saved, SessionStore, delete, exist_in, open_sessions
from tests.support.cli_process import TOKEN
from tests.support.git_clones import git

NOON = "2026-03-01T12:00:00+00:00"
Save = Callable[..., Saved]


@pytest.fixture
def save(store: SessionStore) -> Save:
    def saved(
        goal: str = "g", agent: str = "codex", process: str = "p1", now: str = NOON, **fields: Any
    ) -> Saved:
        draft = Draft(**{"goal": goal, **fields})
        return store.save(draft, agent=agent, process=process, now=now)

    return saved


def run(store: SessionStore, statement: str, *values: object) -> list[Any]:
    """What another program gets for a statement; it is kept."""
    with closing(connect(store.path)) as other, other:
        return other.execute(statement, values).fetchall()


def refusal(save: Save, **fields: Any) -> str:
    with pytest.raises(SessionsError) as caught:
        save(**fields)
    return str(caught.value)


# what is made


def test_reading_and_a_refused_draft_make_nothing(store: SessionStore, save: Save) -> None:
    with pytest.raises(NoSuchSessionError):
        store.get("#1")
    ghost = Session(number=1, id="ctx_1", goal="g")
    assert (store.actions(ghost), store.chain(ghost), store.count()) == ([], [ghost], 0)
    assert not exist_in(store.root)
    refusal(save, goal=" ")
    assert os.listdir(store.root) == []


@pytest.mark.row("003 T1.c", "003 T2")
def test_the_first_save_makes_the_directory_and_keeps_the_database_out_of_git(
    save: Save, store: SessionStore
) -> None:
    git(store.root, "init", "-q")
    assert save().session.number == 1
    assert exist_in(store.root)
    ignored = store.path.parent / ".gitignore"
    assert ignored.read_text() == IGNORED
    seen = git(store.root, "status", "--porcelain", "--untracked-files=all").split()
    assert [name for name in seen if name != "??"] == [".context/sessions/.gitignore"]
    if os.name == "posix":
        assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    ignored.write_text("own\n")
    save("h")
    assert ignored.read_text() == "own\n"
    ignored.write_text("")  # whoever made it was killed in between
    save("i")
    assert ignored.read_text() == IGNORED


@pytest.mark.parametrize("kind", ["link", "broken link", "directory"])
def test_a_gitignore_that_git_would_not_read_is_refused(
    save: Save, store: SessionStore, kind: str, tmp_path: Path
) -> None:
    store.path.parent.mkdir(parents=True)
    ignored, theirs = store.path.parent / ".gitignore", tmp_path / "theirs"
    theirs.write_text("theirs")
    if kind == "directory":
        ignored.mkdir()
    else:
        ignored.symlink_to(theirs if kind == "link" else tmp_path / "nowhere")
    said = refusal(save)
    assert str(ignored) in said and "Nothing was saved or changed" in said
    assert theirs.read_text() == "theirs" and not store.path.exists()
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", [".context", ".context/sessions"])
def test_a_file_in_the_place_of_the_directory_is_said(save: Save, project: Path, name: str) -> None:
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("theirs")
    assert "could not be made" in refusal(save)
    assert path.read_text() == "theirs"


def test_other_settings_and_another_place_are_another_store(project: Path) -> None:
    one = open_sessions(project, Settings())
    assert open_sessions(project, Settings()) is one
    strict = open_sessions(project, Settings(strict=True))
    assert strict is not one and strict.path == one.path
    strict.save(Draft(goal="a"), agent="x", process="p")
    assert one.get("#1").goal == "a"
    config = project / ".context" / "sessions" / "config.json"
    config.write_text('{"storage": {"location": "data", "dbFile": "own.db"}}')
    other = open_sessions(project, Settings())
    assert other.path == project / "data" / "own.db" and not exist_in(project)
    other.save(Draft(goal="b"), agent="x", process="p")
    assert sorted(path.name for path in (project / "data").glob("[!.]*.*")) == [
        "current.json", "own.db", "own.db-shm", "own.db-wal",
    ]  # fmt: skip
    assert SessionStore(project, Config(), Settings()).get("#1").goal == "a"


# numbers and names


@pytest.mark.row("003 T48")
def test_a_session_is_found_by_number_and_by_id_and_by_nothing_else(
    save: Save, store: SessionStore
) -> None:
    session = save().session
    assert session.id.startswith("ctx_") and len(session.id) == 16
    for name in ("#1", "1", " #1 ", session.id, f" {session.id}\n"):
        assert store.get(name) == session
    odd = ["#2", "0", "", "#", "ctx_", "1.0", "-1", "١", "9" * 400, "1; DROP TABLE contexts", "%",
           "a\ud800", "a\x00", session.id.upper(), "x" * 10_000]  # fmt: skip
    for name in odd:
        with pytest.raises(NoSuchSessionError) as caught:
            store.get(name)
        assert len(str(caught.value)) < 300 and "\n" not in str(caught.value)
        str(caught.value).encode()


def test_a_number_is_never_given_twice(save: Save, store: SessionStore) -> None:
    save("a")
    with store.writing() as connection:
        delete(connection, store.get("#1"))
    assert save("b").session.number == 2


# continuing


@pytest.mark.row("003 T82")
def test_an_id_continues_whatever_the_goal_the_process_and_the_day(
    save: Save, store: SessionStore
) -> None:
    first = save("a", status="completed").session
    again = save("b", agent="cursor", process="p2", now="2026-09-01", id="#1", status="coding")
    assert (again.is_new, again.session.number, again.session.id) == (False, 1, first.id)
    assert store.get("#1").goal == "b"
    assert (store.get("#1").agent, store.get("#1").ended_at) == ("cursor", "")
    assert "no such session" in refusal(save, id="#9")
    assert "no such session" in refusal(save, parent="ctx_none")
    assert store.count() == 1


@pytest.mark.row("003 T82", "003 T87")
def test_the_same_process_or_client_and_goal_go_on_within_a_day(save: Save) -> None:
    save("a")
    again = save(" a ", agent="cursor", now="2026-03-02T11:59:59+00:00")
    assert (again.is_new, again.session.number) == (False, 1)
    assert save("a", agent="cursor", now="2026-03-04T12:00:00+00:00").is_new
    save("b")
    assert not save("b", process="p2", now="2026-03-02T11:59:59+00:00").is_new
    save("c")
    assert save("c", process="p2", now="2026-03-02T12:00:01+00:00").is_new


@pytest.mark.row("003 T82")
@pytest.mark.parametrize("process", ["p1", "p2"])
@pytest.mark.parametrize("status", ["completed", "paused"])
def test_a_session_that_has_ended_keeps_all_it_says_when_its_goal_comes_again(
    save: Save, store: SessionStore, status: str, process: str
) -> None:
    save("a")
    ended = save("a", status=status, summary="the first", tags=("one",)).session
    assert ended.number == 1
    for moment in (NOON, "2026-04-05T12:00:00+00:00"):
        again = save("a", process=process, status=status, summary="the next", now=moment)
        assert again.is_new
    assert store.get("#1") == ended
    assert store.count() == 3
    reopened = save("a", id="#1", status="coding")
    assert (reopened.is_new, reopened.session.summary) == (False, "the first")


def test_a_process_goes_on_with_its_own_session_before_a_newer_one_of_its_client(
    save: Save,
) -> None:
    save(process="p1", agent="cursor")
    save(process="p2")
    assert save(process="p1").session.number == 1
    assert save(process="p3").session.number == 2


@pytest.mark.row("003 T82")
def test_another_goal_or_client_and_one_without_a_name_begin_anew(save: Save) -> None:
    assert save("s", agent=f"client {TOKEN}", process="").session.agent == ""  # a secret is no name
    save("a", process="p1")
    assert save("b", process="p2").is_new
    assert save("a", process="p3", agent="cursor").is_new
    save("d", agent="", process="")
    assert save("d", agent="", process="").is_new


def test_odd_dates_that_others_wrote_continue_nothing(save: Save, store: SessionStore) -> None:
    for at, odd in enumerate(("garbage", "", None, "2026-99-99", "1e400")):
        save(f"goal {at}")
        run(store, "UPDATE contexts SET updated_at = ? WHERE number = ?", odd, 2 * at + 1)
        assert save(f"goal {at}", process="p2").is_new
        assert store.get(f"#{2 * at + 1}").date is not None


def test_saves_that_add_up_to_too_much_are_refused_and_change_nothing(
    save: Save, store: SessionStore
) -> None:
    save(decisions=tuple(Point(text=f"{at}") for at in range(100)))
    assert "decisions: 101 given" in refusal(save, decisions=(Point(text="more"),))
    assert len(store.get("#1").decisions) == 100
    files = tuple(f"{at}.py" for at in range(500))
    save("h", changes=Changes(modified_files=files))
    said = refusal(save, goal="h", changes=Changes(modified_files=("more.py",)))
    assert "codeChanges: 501 given" in said
    assert len(store.get("#2").changes.modified_files) == 500


def test_a_session_that_an_older_version_archived_is_not_continued(
    save: Save, store: SessionStore
) -> None:
    save("a")
    run(store, "UPDATE contexts SET archive = 'archive-2024.db'")
    assert "#1 is archived" in refusal(save, goal="x", id="#1")
    assert save("a").is_new
    assert save("b", parent="#1").session.parent_id == store.get("#1").id


# chains and blockers


@pytest.mark.row("003 T8", "003 T69")
def test_a_chain_is_told_from_its_first_to_its_last(save: Save, store: SessionStore) -> None:
    first = save("a").session
    second = save("b", parent="#1").session
    third = save("c", parent=second.id).session
    side = save("d", parent="1").session
    assert second.parent_id == first.id
    assert [it.number for it in store.chain(second)] == [1, 2, 3]
    assert [it.number for it in store.chain(first)] == [1, 2, 3, 4]
    assert [it.number for it in store.chain(third)] == [1, 2, 3]
    assert [it.number for it in store.chain(side)] == [1, 4]
    run(store, "DELETE FROM contexts WHERE number = 1")  # a parent that is gone ends it
    assert [it.number for it in store.chain(third)] == [2, 3]


@pytest.mark.row("003 T34")
def test_no_session_continues_itself_or_one_behind_it(save: Save, store: SessionStore) -> None:
    save("a")
    save("b", parent="#1")
    save("c", parent="#2")
    for own, parent in (("#1", "#1"), ("#1", "#3"), ("#2", "#3")):
        said = refusal(save, goal="x", id=own, parent=parent)
        assert said.startswith("parentId: a session cannot continue itself")
    assert [store.get(f"#{at}").goal for at in (1, 2, 3)] == ["a", "b", "c"]


@pytest.mark.row("003 T69")
def test_a_circle_that_others_tied_ends(save: Save, store: SessionStore) -> None:
    ids = [save(name).session.id for name in "abc"]
    for own, parent in zip(ids, (ids[2], ids[0], ids[1]), strict=True):
        run(store, "UPDATE contexts SET parent_id = ? WHERE id = ?", parent, own)
    assert {it.number for it in store.chain(store.get("#1"))} == {1, 2, 3}
    blocked = (Point(text="b", is_resolved=True),)
    assert save("d", parent="#2", blockers=blocked).is_new


@pytest.mark.row("003 T14.a", "003 T16")
def test_what_a_child_resolves_takes_the_flag_from_all_before_it(
    save: Save, store: SessionStore
) -> None:
    open_one = (Point(text="no access"),)
    save("a", blockers=open_one)
    save("b", parent="#1", blockers=open_one)
    save("c", blockers=open_one)  # of another chain
    failed = (Point(text="x", result="failed"),)
    save("d", blockers=open_one, approaches=failed)
    cure = (Point(text="No access", is_resolved=True, why="asked"),)
    done = save("e", parent="#2", blockers=cure)
    assert [it.number for it in done.resolved] == [2, 1]
    save("f", parent="#4", blockers=cure)
    flags = [store.get(f"#{at}").has_warnings for at in range(1, 6)]
    assert flags == [False, False, True, True, False]  # something else has failed in the fourth
    [before] = store.get("#1").blockers
    assert (before.is_resolved, before.why, before.resolved_at) == (True, "asked", NOON)


# index and rows


@pytest.mark.row("003 T3", "003 T5")
def test_the_index_finds_a_session_by_what_it_says_now(save: Save, store: SessionStore) -> None:
    def found(word: str) -> list[int]:
        statement = "SELECT rowid FROM contexts_fts WHERE contexts_fts MATCH ?"
        return [number for (number,) in run(store, statement, word)]

    save("first words", summary="about lions")
    assert found("lions") == [1]
    save("first words", summary="about tigers", tags=("zoo",))
    assert (found("lions"), found("tigers"), found("zoo")) == ([], [1], [1])
    with store.writing() as connection:
        delete(connection, store.get("#1"))
    assert found("tigers") == []
    run(store, "INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')")


@pytest.mark.row("003 T8")
def test_deleting_leaves_those_that_continue_it(save: Save, store: SessionStore) -> None:
    session = save("a").session
    save("b", parent="#1")
    insert = "INSERT INTO actions (id, context_id, type, content) VALUES ('x', ?, 'edit', 'y')"
    run(store, insert, session.id)
    with store.writing() as connection:
        delete(connection, session)
    assert store.get("#2").parent_id == ""
    assert store.actions(session) == []


# current.json


def current(store: SessionStore) -> Any:
    return json.loads(store.current.read_text("utf-8"))


def names(store: SessionStore) -> list[str]:
    found = (name for name in os.listdir(store.path.parent) if not name.startswith("history.db"))
    return sorted(found)


def test_it_shows_the_session_as_declared_for_people(save: Save, store: SessionStore) -> None:
    assert save("로그인 수정", tags=("인증",), status="completed").projected
    assert current(store) == {**store.get("#1").as_json(), "updatedAt": NOON}
    text = store.current.read_text("utf-8")
    assert "로그인 수정" in text and text.endswith("}\n") and text.count("\n") > 10
    assert names(store) == [".gitignore", "current.json"]


@pytest.mark.row("003 T2.a")
def test_the_last_one_saved_wins_also_within_a_second(save: Save, store: SessionStore) -> None:
    for goal in ("a", "b", "c", "a"):
        save(goal)
        assert current(store)["goal"] == goal
    save("d", blockers=(Point(text="b"),))
    save("e", parent="#4", blockers=(Point(text="b", is_resolved=True),))
    assert not store.get("#4").has_warnings
    assert current(store)["goal"] == "e"  # and not the one that it has resolved


def test_without_a_session_nothing_is_written(save: Save, store: SessionStore) -> None:
    save("a")
    with store.writing() as connection:
        delete(connection, store.get("#1"))
    store.current.unlink()
    assert store.project()
    assert names(store) == [".gitignore"]


@pytest.mark.row("003 T2.a")
def test_a_failure_is_no_failed_save_and_is_said_once_until_it_works_again(
    save: Save, store: SessionStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.current.mkdir(parents=True)
    with caplog.at_level(logging.WARNING, LOGGER):
        assert [save(goal).projected for goal in "abc"] == [False] * 3
        assert len(caplog.records) == 1
        assert "current.json: not written" in caplog.text
        store.current.rmdir()
        assert save("d").projected and current(store)["goal"] == "d"
        store.current.unlink()
        store.current.mkdir()
        assert not save("e").projected
        assert len(caplog.records) == 2
    assert [store.get(f"#{at}").goal for at in range(1, 6)] == list("abcde")
    assert names(store) == [".gitignore", "current.json"]  # no litter


@pytest.mark.skipif(os.name == "nt", reason="links as POSIX has them")
@pytest.mark.parametrize("name", ["current.json", ".current.json.tmp"])
@pytest.mark.parametrize("is_link", [True, False])
def test_a_link_in_its_place_is_replaced_and_not_followed(
    save: Save, store: SessionStore, tmp_path: Path, name: str, is_link: bool
) -> None:
    theirs, path = tmp_path / "theirs", store.path.with_name(name)
    theirs.write_text("theirs")
    path.parent.mkdir(parents=True)
    if is_link:
        path.symlink_to(theirs)
    else:
        path.write_text('{"torn')  # by a process that was killed
    assert save("a").projected
    assert theirs.read_text() == "theirs"
    assert not store.current.is_symlink()
    assert current(store)["goal"] == "a"
    assert names(store) == [".gitignore", "current.json"]
