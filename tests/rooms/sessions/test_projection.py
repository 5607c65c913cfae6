"""Tests `current.json`: the session saved last, whole or not at all, and never a reason to fail."""

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.program import LOGGER
from rooms.sessions.session import Draft, Point
from rooms.sessions.store import SessionStore, delete, open_sessions

NOON = "2026-03-01T12:00:00+00:00"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return open_sessions(tmp_path, Settings())


def save(store: SessionStore, goal: str, now: str = "", **fields: Any) -> bool:
    """Whether the projection shows it."""
    draft = Draft(**{"goal": goal, **fields})
    return store.save(draft, agent="codex", process="p", now=now).projected


def current(store: SessionStore) -> Any:
    return json.loads((store.path.parent / "current.json").read_text("utf-8"))


def names(store: SessionStore) -> list[str]:
    found = (name for name in os.listdir(store.path.parent) if not name.startswith("history.db"))
    return sorted(found)


def test_it_shows_the_session_as_declared_for_people(store: SessionStore) -> None:
    assert save(store, "로그인 수정", now=NOON, tags=("인증",), status="completed")
    session = store.get("#1")
    assert current(store) == {**session.as_json(), "updatedAt": NOON}
    text = (store.path.parent / "current.json").read_text("utf-8")
    assert "로그인 수정" in text and text.endswith("}\n") and text.count("\n") > 10
    assert names(store) == [".gitignore", "current.json"]


@pytest.mark.row("003 T2.a")
def test_the_last_one_saved_wins_also_within_a_second(store: SessionStore) -> None:
    for goal in ("a", "b", "c", "a"):
        save(store, goal, now=NOON)
        assert current(store)["goal"] == goal


def test_a_session_that_another_one_resolves_is_not_the_last_one_saved(
    store: SessionStore,
) -> None:
    save(store, "a", now=NOON, blockers=(Point(text="b"),))
    save(store, "c", now=NOON, parent="#1", blockers=(Point(text="b", is_resolved=True),))
    assert not store.get("#1").has_warnings
    assert current(store)["goal"] == "c"


def test_without_a_session_nothing_is_written(store: SessionStore) -> None:
    save(store, "a")
    with store.writing() as connection:
        delete(connection, store.get("#1"))
    (store.path.parent / "current.json").unlink()
    assert store.project()
    assert names(store) == [".gitignore"]


@pytest.mark.row("003 T2.a")
def test_a_failure_is_no_failed_save_and_is_said_once_until_it_works_again(
    store: SessionStore, caplog: pytest.LogCaptureFixture
) -> None:
    (store.path.parent / "current.json").mkdir(parents=True)
    with caplog.at_level(logging.WARNING, LOGGER):
        assert [save(store, goal) for goal in "abc"] == [False] * 3
        assert len(caplog.records) == 1
        assert "current.json: not written" in caplog.text
        (store.path.parent / "current.json").rmdir()
        assert save(store, "d") and current(store)["goal"] == "d"
        (store.path.parent / "current.json").unlink()
        (store.path.parent / "current.json").mkdir()
        assert not save(store, "e")
        assert len(caplog.records) == 2
    assert [store.get(f"#{at}").goal for at in range(1, 6)] == list("abcde")
    assert names(store) == [".gitignore", "current.json"]  # no litter


@pytest.mark.skipif(os.name == "nt", reason="links as POSIX has them")
@pytest.mark.parametrize("name", ["current.json", ".current.json.tmp"])
def test_a_link_in_its_place_is_replaced_and_not_followed(
    store: SessionStore, tmp_path: Path, name: str
) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    store.path.parent.mkdir(parents=True)
    (store.path.parent / name).symlink_to(theirs)
    assert save(store, "a")
    assert theirs.read_text() == "theirs"
    assert not (store.path.parent / "current.json").is_symlink()
    assert current(store)["goal"] == "a"
    assert names(store) == [".gitignore", "current.json"]


def test_what_a_killed_process_left_is_cleared_away(store: SessionStore) -> None:
    store.path.parent.mkdir(parents=True)
    (store.path.parent / ".current.json.tmp").write_text('{"torn')
    assert save(store, "a")
    assert names(store) == [".gitignore", "current.json"]
    assert current(store)["goal"] == "a"
