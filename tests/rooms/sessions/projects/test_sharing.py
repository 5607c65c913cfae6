"""Tests which projects share their sessions, what leaves them, and that it stays in step."""

import logging
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.config import STATE_VARIABLE
from rooms.sessions.projects.consent import consent_path, global_path, is_shared
from rooms.sessions.projects.sharing import SharingError, share, unshare
from rooms.sessions.store import delete
from tests.support.room import a_room, act, failed, saved
from tests.support.stdio_client import ROOT


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state"


def hints(state: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(state / "global.db")) as connection:
        return connection.execute("SELECT number, goal, has_warnings FROM hints").fetchall()


@pytest.mark.row("003 T72")
def test_without_consent_nothing_is_written_outside_of_the_project(
    tmp_path: Path, state: Path
) -> None:
    saved(a_room(tmp_path / "shop"), "Fix the login")
    assert not state.exists()


def test_consent_shares_what_is_there_and_what_comes(tmp_path: Path, state: Path) -> None:
    store = a_room(tmp_path / "shop")
    saved(store, "Fix the login")
    assert not is_shared(store.root, os.environ)
    assert share(store, os.environ) == 1
    assert is_shared(store.root, os.environ)
    saved(store, "Add a basket " * 9, approaches=(failed("one table"),))
    assert hints(state) == [
        (1, "Fix the login", 0),
        (2, "Add a basket Add a basket Add a basket Add a bask…", 1),
    ]


def test_only_a_hint_leaves_the_project(tmp_path: Path, state: Path) -> None:
    store = a_room(tmp_path / "shop")
    session = saved(
        store,
        "Fix the login " * 5 + "in the cellar",
        summary="summary that stays",
        approaches=(failed("approach that stays", "reason that stays"),),
        tags=("auth",),
    )
    act(store, session, "command that stays")
    share(store, os.environ)
    data = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert b"auth" in data and session.id.encode() in data
    assert (b"stays" in data, b"cellar" in data) == (False, False)


def test_without_consent_the_hints_are_gone_from_the_bytes(tmp_path: Path, state: Path) -> None:
    store, other = a_room(tmp_path / "shop"), a_room(tmp_path / "bank")
    saved(store, "Fix the zebra crossing")
    saved(other, "Pay the giraffe")
    share(store, os.environ)
    share(other, os.environ)
    assert unshare(store.root, os.environ) == 1
    assert not is_shared(store.root, os.environ)
    data = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert (b"zebra" in data, b"giraffe" in data) == (False, True)
    saved(store, "Fix the zebra crossing again")
    assert hints(state) == [(1, "Pay the giraffe", 0)]
    assert unshare(store.root, os.environ) == 0


def test_a_removed_session_is_no_hint_after_the_next_save(tmp_path: Path, state: Path) -> None:
    store = a_room(tmp_path / "shop")
    first = saved(store, "Fix the login")
    share(store, os.environ)
    with store.writing() as connection:
        delete(connection, first)
    saved(store, "Add a basket")
    assert hints(state) == [(2, "Add a basket", 0)]


def test_a_database_that_was_made_anew_replaces_the_former_hints(
    tmp_path: Path, state: Path
) -> None:
    store = a_room(tmp_path / "shop")
    for goal in ("one", "two", "three"):
        saved(store, goal)
    share(store, os.environ)
    store.database.close()
    for path in store.path.parent.glob("history.db*"):
        path.unlink()
    saved(store, "four")
    assert hints(state) == [(1, "four", 0)]


def test_a_blocker_that_a_child_resolves_clears_the_flag_of_the_hint(
    tmp_path: Path, state: Path
) -> None:
    from rooms.sessions.session import Blocker

    store = a_room(tmp_path / "shop")
    share(store, os.environ)
    first = saved(store, "one", blockers=(Blocker(description="no key"),))
    assert hints(state) == [(1, "one", 1)]
    saved(store, "two", parent=first.id, blockers=(Blocker(description="no key", resolved=True),))
    assert hints(state) == [(1, "one", 0), (2, "two", 0)]


def test_a_global_database_that_cannot_be_used_does_not_fail_a_save(
    tmp_path: Path, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = a_room(tmp_path / "shop")
    share(store, os.environ)
    (state / "global.db").write_bytes(b"nothing of the kind" * 400)
    with caplog.at_level(logging.WARNING):
        assert saved(store, "Fix the login").number == 1
    assert caplog.messages == [
        "#1 is saved, but other projects do not find it yet (DatabaseDamagedError)"
    ]
    (state / "global.db").unlink()
    saved(store, "Add a basket")
    assert [number for number, *_ in hints(state)] == [1, 2]


def test_the_consent_is_for_one_directory_on_this_machine(tmp_path: Path, state: Path) -> None:
    """A name that only looks the same, as a checksum that another path has, gives none."""
    store = a_room(tmp_path / "shop")
    share(store, os.environ)
    path = Path(consent_path(store.root, os.environ))
    assert (path.stat().st_mode & 0o777, path.parent.parent) == (0o600, state)
    path.write_text(f"{store.root}2", encoding="utf-8")
    assert not is_shared(store.root, os.environ)


def test_an_account_without_a_home_directory_cannot_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = a_room(tmp_path / "shop")
    environment = {"XDG_STATE_HOME": "relative"}
    monkeypatch.setenv("HOME", "nowhere")
    assert global_path(store.root, environment) == ""
    with pytest.raises(SharingError):
        share(store, environment)
    assert unshare(store.root, environment) == 0


@pytest.mark.long  # it costs much
def test_a_save_that_does_not_share_loads_none_of_it(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.support.room import a_room, saved;"
        f" saved(a_room(Path({str(tmp_path / 'shop')!r})), 'Fix the login');"
        " print([name for name in sys.modules if name.startswith('rooms.sessions.projects.')])"
    )
    done = subprocess.run(
        (sys.executable, "-c", program), cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert sorted(eval(done.stdout)) == [
        "rooms.sessions.projects.consent",
        "rooms.sessions.projects.noting",
    ]
