"""Tests that secrets are found wherever sessions are kept, and are gone from the bytes then."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.config import STATE_VARIABLE
from core.lessons.record import utc_now
from core.room.redaction import MOST_FILE_BYTES, clean_file
from rooms.sessions.removal import redact_held, secrets_held
from rooms.sessions.search import Criteria, search
from rooms.sessions.session import Point
from rooms.sessions.store import ARCHIVE, SessionStore, keep_copy
from tests.support.cli_process import TOKEN
from tests.support.room import OLD, a_room, act, every_byte, saved, stored

WORD = "Xk29vQp7Lm"  # a secret only where something says so
MARKER = "[REDACTED]"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    """A clean session, and four that hold secrets in every place that there is."""
    store = a_room(tmp_path / "shop")
    saved(store, "Fix the login")
    stored(store, goal=f"Rotate {TOKEN}", tags=("auth", TOKEN))
    stored(
        store,
        goal="Old one with a long goal that is cut right in the middle of " + TOKEN,
        summary=f"password: {WORD}",
        approaches=(Point(text=f"tried {WORD} again", result="success"),),
        **dict.fromkeys(("created_at", "updated_at", "ended_at"), OLD),
    )
    act(store, store.get("3"), f"curl -H 'Authorization: Bearer {TOKEN}'")
    stored(store, goal="Has an action")
    act(store, store.get("4"), f"export TOKEN={TOKEN}")
    with store.writing() as connection:
        connection.execute(
            "INSERT INTO waiting_actions VALUES ('w', 'cursor', 's', 'command', ?, '', '', ?)",
            (f"echo {TOKEN}", utc_now()),
        )
        connection.execute(
            "INSERT INTO actions VALUES ('o', 'ctx_gone', 'command', ?, '', '', '')",
            (f"echo {TOKEN}",),
        )
    store.database.close()
    store.path.with_name("archive-2024.db").write_bytes(store.path.read_bytes())
    folder = store.path.parent / ARCHIVE
    folder.mkdir()
    (folder / "sessions-2024-03-01T100000.json").write_text(f'{{"goal": "Rotate {TOKEN}"}}')
    saved(store, "Add a basket")
    path = store.path.parent / "current.json"
    shown = json.loads(path.read_bytes())
    path.write_text(json.dumps({**shown, "note": f"password: {WORD}"}), encoding="utf-8")
    keep_copy(store)
    return store


def held(store: SessionStore) -> list[tuple[str, str]]:
    return [(Path(it.path).name, it.name) for it in secrets_held(store)]


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T91")
def test_every_place_is_named_without_its_value(store: SessionStore) -> None:
    assert held(store) == [
        *(("history.db", "#2"), ("history.db", "#3"), ("history.db", "#4")),
        ("history.db", ""),  # actions of no session, those that wait for one among them
        *(("archive-2024.db", "#2"), ("archive-2024.db", "#3"), ("archive-2024.db", "#4")),
        *(("archive-2024.db", ""), ("archive-2024.db", "")),
        *(("current.json", ""), ("sessions-2024-03-01T100000.json", "")),
    ]
    told = repr(secrets_held(store))
    assert (TOKEN in told, WORD in told) == (False, False)


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T86")
def test_after_a_redaction_no_value_is_left_in_any_file(store: SessionStore, state: Path) -> None:
    assert TOKEN.encode() in every_byte(store.root, state)
    assert len(list(store.path.parent.glob("*.copy-*"))) == 1
    done = redact_held(store)
    assert len(done.changed) == 11
    assert (done.left, done.unpurged, held(store)) == ([], [], [])
    data = every_byte(store.root, state)
    for value in (TOKEN, WORD, TOKEN[:12], TOKEN[4:].lower()):
        assert value.encode() not in data, value


@pytest.mark.long  # it costs much
def test_what_is_no_secret_stays_and_is_found(store: SessionStore) -> None:
    redact_held(store)
    assert store.get("2").goal == f"Rotate {MARKER}"
    assert store.get("2").tags == ("auth", MARKER)
    session = store.get("3")
    [action] = store.actions(session)
    assert session.summary == f"password: {MARKER}"
    assert session.approaches[0].text == f"tried {MARKER} again"
    assert action.content.startswith("curl -H 'Authorization: Bearer ")
    assert search(store, Criteria(query="rotate"), limit=5).total == 1
    assert (store.get("3").updated_at, store.get("1").goal) == (OLD, "Fix the login")
    with closing(sqlite3.connect(store.path)) as connection:
        match = "SELECT rowid FROM contexts_fts WHERE contexts_fts MATCH 'rotate'"
        assert connection.execute(match).fetchall() == [(2,)]


def test_what_this_program_does_not_know_of_a_row_stays(tmp_path: Path) -> None:
    store = a_room(tmp_path / "bank")
    saved(store, "One")
    with store.writing() as connection:
        connection.execute("UPDATE contexts SET metadata = ?", (
            json.dumps({"mine": [1, {"deep": f"password: {WORD}"}], "other": None}),
        ))  # fmt: skip
    redact_held(store)
    with store.database.reading() as reader:
        assert reader is not None
        [metadata] = reader.execute("SELECT metadata FROM contexts").fetchone()
    assert json.loads(metadata) == {
        "mine": [1, {"deep": f"password: {MARKER}"}],
        "other": None,
    }


ODD = {
    "deep": "[" * 800 + f'"password: {WORD}"' + "]" * 800,
    "too deep": "[" * 90_000 + f'"password: {WORD}"',
    "cut": '{"decisions": [{"what": "password: ' + WORD,
    "half a character": '"\\ud800 password: ' + WORD + '"',
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("text", ODD.values(), ids=[*ODD])
def test_odd_metadata_is_looked_at_as_a_text(tmp_path: Path, text: str) -> None:
    store = a_room(tmp_path / "bank")
    saved(store, "One")
    with store.writing() as connection:
        connection.execute("UPDATE contexts SET metadata = ?", (text,))
    assert held(store) == [("history.db", "#1")]
    assert redact_held(store).left == []


def test_without_sessions_nothing_is_written(tmp_path: Path) -> None:
    store = a_room(tmp_path / "bank")
    assert redact_held(store) == ([], [], [])
    assert list(store.root.iterdir()) == []


@pytest.mark.long
def test_a_reader_that_holds_the_old_state_is_told_of_and_the_next_run_completes_it(
    store: SessionStore,
) -> None:
    with closing(sqlite3.connect(store.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchone()
        assert redact_held(store).unpurged == [store.path]
    assert TOKEN.encode() in every_byte(store.root)
    assert redact_held(store) == ([], [], [])
    assert TOKEN.encode() not in every_byte(store.root)


def test_a_projection_that_leads_elsewhere_is_neither_read_nor_copied(tmp_path: Path) -> None:
    store = a_room(tmp_path / "shop")
    saved(store, "Fix the login")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(f"private\npassword: {TOKEN}\n")
    path = store.path.parent / "current.json"
    path.unlink()
    path.symlink_to(elsewhere)
    assert secrets_held(store) == []
    redact_held(store)
    assert path.is_symlink()
    assert elsewhere.read_text() == f"private\npassword: {TOKEN}\n"


def test_a_projection_that_is_too_large_is_not_cut(tmp_path: Path) -> None:
    store = a_room(tmp_path / "shop")
    saved(store, "Fix the login")
    path = store.path.parent / "current.json"
    text = f"password: {TOKEN}\n" + "x" * MOST_FILE_BYTES
    path.write_text(text)
    clean_file(path)
    assert path.read_text() == text
