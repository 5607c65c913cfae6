"""Tests what people look after: damage is noticed and repaired by the daily copy, a forgotten
session is gone from every file, and secrets are found wherever sessions are kept, and taken out.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.config import STATE_VARIABLE, Settings
from core.lessons.record import utc_now
from core.lessons.upkeep import Finding
from core.room.copies import copies_of, date_of
from core.room.database import DatabaseDamagedError
from core.room.redaction import clean_file
from rooms.sessions.search import Criteria, search
from rooms.sessions.session import NoSuchSessionError, Point
from rooms.sessions.store import ARCHIVE, SessionStore, keep_copy
from rooms.sessions.upkeep import delete, examine, forget, redact_held, secrets_held
from tests.support.cli_process import TOKEN
from tests.support.session_samples import OLD, a_room, act, every_byte, failed, saved, stored

SETTINGS = Settings(lock_timeout_s=5)
PAGE = 4096
ZEBRAS = range(11, 21)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty sessions of a page or so each, with two actions; ten of zebras; number 5 is gone."""
    top = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(STATE_VARIABLE, str(top / "state"))
        store = a_room(top / "shop")
        for at in range(1, 61):
            animal, tag = ("zebra", "얼룩말") if at in ZEBRAS else ("giraffe", "기린")
            tried = (failed(f"hay for a {animal}"),)
            texts = {"summary": f"word{at} {animal} " * 120, "tags": (animal, tag)}
            session = saved(store, f"Feed the {animal}s {at}", OLD, approaches=tried, **texts)
            act(store, session, f"npm run {animal}", "npm test")
        with store.writing() as connection:
            delete(connection, store.get("5"))
        close(store)
    return top / "shop"


@pytest.fixture
def zoo(made: Path, tmp_path: Path) -> SessionStore:
    shutil.copytree(made, tmp_path / "zoo")
    return a_room(tmp_path / "zoo")


def close(store: SessionStore) -> None:
    """Nobody has the database open, and it is one file."""
    store.database.close()
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def look(store: SessionStore, settings: Settings = SETTINGS) -> list[Finding]:
    """What is not well."""
    found = examine(store.root, settings, os.environ)
    return [it for it in found if it.severity != "ok"]


def kinds(store: SessionStore) -> list[tuple[str, str, bool]]:
    return [
        (it.kind.removeprefix("sessions.health."), it.severity, it.fixable) for it in look(store)
    ]


def mended(store: SessionStore, settings: Settings = SETTINGS) -> dict[str, object]:
    """What the repair of all that can be repaired says."""
    fixes = [it.fix for it in look(store, settings) if it.fix]
    return {name: fact for fix in fixes for name, fact in (fix() or {}).items()}


def matching(store: SessionStore, word: str) -> list[int]:
    with closing(sqlite3.connect(store.path)) as connection:
        match = "SELECT rowid FROM contexts_fts WHERE contexts_fts MATCH ?"
        return [number for (number,) in connection.execute(match, (word,))]


# damage and repairs


def damage_page(path: Path) -> None:
    """Fill the last page of the table that holds a certain word with what is none."""
    data = path.read_bytes()
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    at = max(at for at, page in enumerate(pages) if at and page[0] == 13 and b"word30 " in page)
    path.write_bytes(b"".join([*pages[:at], b"\xee" * PAGE, *pages[at + 1 :]]))


def damage_text(path: Path) -> None:
    """Put a text into a row that is not UTF-8."""
    with closing(sqlite3.connect(path)) as connection:
        odd = "CAST(x'6164ff' AS TEXT)"
        connection.execute(f"UPDATE contexts SET summary = {odd} WHERE number = 7")
        connection.commit()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "page": damage_page,
    "text": damage_text,
    "cut": lambda path: os.truncate(path, path.stat().st_size // PAGE // 2 * PAGE),
    "garbage": lambda path: path.write_bytes(b"overwritten by something else " * 900),
}


@pytest.mark.row("003 T3.a")
@pytest.mark.parametrize("damage", DAMAGES)
def test_the_daily_copy_comes_back_and_the_damaged_file_stays(
    zoo: SessionStore, damage: str
) -> None:
    keep_copy(zoo)
    [copy] = copies_of(zoo.path)
    saved(zoo, "After the copy")
    close(zoo)
    DAMAGES[damage](zoo.path)
    before = zoo.path.read_bytes()
    assert kinds(zoo) == [("damaged", "error", True)]
    if damage != "text":
        with pytest.raises(DatabaseDamagedError) as caught:
            search(zoo, Criteria(), limit=5)
        assert f"There is a daily copy of {date_of(copy)}" in str(caught.value)

    told = mended(zoo)
    aside = Path(str(told["aside"]))
    assert (told["copy"], aside.read_bytes()) == (date_of(copy), before)
    assert aside.name.startswith("history.db.damaged-2")
    assert kinds(zoo) == [("aside", "note", False)]
    assert zoo.get("60").goal == "Feed the giraffes 60"
    assert [it.content for it in zoo.actions(zoo.get("60"))] == ["npm run giraffe", "npm test"]
    assert search(zoo, Criteria(query="feed"), limit=5).total == 59
    assert "giraffes 60" in zoo.current.read_text(encoding="utf-8")
    assert saved(zoo, "The next one").number == 61


# forgetting


@pytest.mark.row("003 T91")
def test_nothing_of_it_is_left_in_any_file_and_the_others_are_whole(
    zoo: SessionStore, state: Path
) -> None:
    keep_copy(zoo)
    state.mkdir()
    (state / "global.db").write_bytes(b"zebra, of an older version")
    zebras = [zoo.get(str(at)) for at in ZEBRAS]
    before = every_byte(zoo.root, state)
    assert b"zebra" in before and "얼룩말".encode() in before
    assert len(copies_of(zoo.path)) == 1
    done = forget(zoo, [it.id for it in zebras])
    assert ([it.number for it in done.sessions], done.unpurged) == ([*ZEBRAS], [])
    assert copies_of(zoo.path) == []
    after = every_byte(zoo.root, state)
    assert (b"zebra" in after, "얼룩말".encode() in after) == (False, False)
    assert [it.id.encode() in after for it in zebras] == [False] * 10

    assert search(zoo, Criteria(), limit=50).total == 49
    assert search(zoo, Criteria(query="zebra"), limit=99).total == 0
    with closing(sqlite3.connect(zoo.path)) as connection:
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('optimize')")
    assert (matching(zoo, "zebra"), len(matching(zoo, "giraffe"))) == ([], 49)
    session = zoo.get("2")
    assert session.summary == "word2 giraffe " * 120
    assert [it.content for it in zoo.actions(session)] == ["npm run giraffe", "npm test"]
    with pytest.raises(NoSuchSessionError):
        zoo.get("11")
    forget(zoo, [zoo.get("60").id])
    assert saved(zoo, "Feed the lions").number == 61  # a number is not given again


# secrets

WORD = "Xk29vQp7Lm"  # a secret only where something says so
MARKER = "[REDACTED]"


@pytest.fixture
def leaky(store: SessionStore) -> SessionStore:
    """A clean session, and four that hold secrets in every place that there is."""
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
    shown = json.loads(store.current.read_bytes())
    shown["note"] = f"password: {WORD}"
    store.current.write_text(json.dumps(shown), encoding="utf-8")
    keep_copy(store)
    return store


def held(store: SessionStore) -> list[tuple[str, str]]:
    return [(Path(it.path).name, it.name) for it in secrets_held(store)]


@pytest.mark.row("003 T86", "003 T91")
def test_every_place_is_named_without_its_value_and_after_a_redaction_no_value_is_left(
    leaky: SessionStore, state: Path
) -> None:
    assert held(leaky) == [
        *(("history.db", "#2"), ("history.db", "#3"), ("history.db", "#4")),
        ("history.db", ""),  # actions of no session, those that wait for one among them
        *(("archive-2024.db", "#2"), ("archive-2024.db", "#3"), ("archive-2024.db", "#4")),
        *(("archive-2024.db", ""), ("archive-2024.db", "")),
        *(("current.json", ""), ("sessions-2024-03-01T100000.json", "")),
    ]
    told = repr(secrets_held(leaky))
    assert (TOKEN in told, WORD in told) == (False, False)
    assert TOKEN.encode() in every_byte(leaky.root, state)
    assert len(list(leaky.path.parent.glob("*.copy-*"))) == 1
    done = redact_held(leaky)
    assert len(done.changed) == 11
    assert (done.left, done.unpurged, held(leaky)) == ([], [], [])
    data = every_byte(leaky.root, state)
    for value in (TOKEN, WORD, TOKEN[:12], TOKEN[4:].lower()):
        assert value.encode() not in data, value

    # What is no secret stays, and is found.
    assert (leaky.get("2").goal, leaky.get("2").tags) == (f"Rotate {MARKER}", ("auth", MARKER))
    session = leaky.get("3")
    [action] = leaky.actions(session)
    assert session.summary == f"password: {MARKER}"
    assert session.approaches[0].text == f"tried {MARKER} again"
    assert action.content.startswith("curl -H 'Authorization: Bearer ")
    assert (session.updated_at, leaky.get("1").goal) == (OLD, "Fix the login")
    assert search(leaky, Criteria(query="rotate"), limit=5).total == 1
    assert matching(leaky, "rotate") == [2]


# What others put into a row; its second part is what stands there afterwards, None for anything.
def test_a_reader_that_holds_the_old_state_is_told_of_and_the_next_run_completes_it(
    store: SessionStore,
) -> None:
    first = saved(store, "Feed the zebra")
    stored(store, goal=f"Rotate {TOKEN}")
    with closing(sqlite3.connect(store.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchone()
        hasty = a_room(store.root, lock_timeout_s=1)
        assert redact_held(hasty).unpurged == [store.path]
        assert forget(hasty, [first.id]).unpurged == [store.path]
    assert TOKEN.encode() in every_byte(store.root)
    assert redact_held(store) == ([], [], [])
    assert forget(store, []).unpurged == []
    data = every_byte(store.root)
    assert (TOKEN.encode() in data, b"zebra" in data) == (False, False)


def test_a_file_that_is_too_large_is_not_cut_by_a_redaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.room.redaction.MOST_FILE_BYTES", 100)
    text = f"password: {TOKEN}\n" + "x" * 100
    (tmp_path / "large").write_text(text)
    clean_file(tmp_path / "large")
    assert (tmp_path / "large").read_text() == text
