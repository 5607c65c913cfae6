"""Tests the store of the sessions: what a save makes and continues, how sessions hang together,
`current.json`, which shows the one saved last, and `config.json`, of which every key works.
"""

import json
import logging
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest

from core.config import Settings
from core.errors import RefusedError
from core.program import LOGGER
from rooms.sessions.config import CONFIG, Config, read_config
from rooms.sessions.session import Draft
from rooms.sessions.store import Saved, SessionStore, exist_in, open_sessions
from tests.support.cli_process import TOKEN
from tests.support.tables import none_of, table

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


# continuing


@pytest.mark.row("003 T82", "003 T87")
def test_the_same_process_or_client_and_goal_go_on_within_a_day(
    save: Save, store: SessionStore
) -> None:
    save("a")
    again = save(" a ", agent="cursor", now="2026-03-02T11:59:59+00:00")
    assert (again.is_new, again.session.number) == (False, 1)
    assert save("a", agent="cursor", now="2026-03-04T12:00:00+00:00").is_new
    save("b")
    assert not save("b", process="p2", now="2026-03-02T11:59:59+00:00").is_new
    save("c")
    assert save("c", process="p2", now="2026-03-02T12:00:01+00:00").is_new
    # Another goal or client begins anew, as does one without a name: a secret is none.
    save("d")
    assert save("e", process="p2").is_new
    assert save("d", process="p3", agent="cursor").is_new
    assert save("f", agent=f"client {TOKEN}", process="").session.agent == ""
    assert save("f", agent="", process="").is_new
    # One that has ended is left as it is, whoever tells its goal again and when.
    for process, now in (("p1", NOON), ("p2", NOON), ("p2", "2026-04-05T12:00:00+00:00")):
        ended = save("h", status="paused").session
        assert save("h", process=process, now=now).is_new
        assert store.get(ended.id) == ended
        save("h", process=process, now=now, status="completed")
    # A process goes on with its own session before a newer one of its client.
    own = save("g", agent="cursor").session.number
    newer = save("g", process="p2").session.number
    assert save("g").session.number == own
    assert save("g", process="p3").session.number == newer
    # Odd dates that others wrote continue nothing.
    for at, odd in enumerate(("garbage", "", None, "2026-99-99", "1e400")):
        number = save(f"goal {at}").session.number
        run(store, "UPDATE contexts SET updated_at = ? WHERE number = ?", odd, number)
        assert save(f"goal {at}", process="p2").is_new
        assert store.get(f"#{number}").date is not None


# current.json


def names(store: SessionStore) -> list[str]:
    found = (name for name in os.listdir(store.path.parent) if not name.startswith("history.db"))
    return sorted(found)


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
        assert save("d").projected
        store.current.unlink()
        store.current.mkdir()
        assert not save("e").projected
        assert len(caplog.records) == 2
    assert [store.get(f"#{at}").goal for at in range(1, 6)] == list("abcde")
    assert names(store) == [".gitignore", "current.json"]  # no litter


SETTINGS = table("sessions/settings")  # values by key: taken with the field they set, and refused


def write(root: Path, content: object) -> Path:
    """Write settings: bytes as they are, anything else as JSON."""
    path = root / CONFIG
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def with_value(name: str, value: object) -> object:
    """The settings with one key, given as `storage.location`."""
    for key in reversed(name.split(".")):
        value = {key: value}
    return value


def said_of(root: Path) -> str:
    """What is said of the file; nothing else can be done either, and nothing is made."""
    with pytest.raises(RefusedError) as caught:
        read_config(root)
    for action in (lambda: open_sessions(root, Settings()), lambda: exist_in(root)):
        with pytest.raises(type(caught.value)):
            action()
    return str(caught.value)


@pytest.mark.row("003 T1.a", "003 T75", "003 T76", "003 T77")
def test_each_key_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    assert Config().database(tmp_path) == tmp_path / ".context" / "sessions" / "history.db"
    assert os.listdir(tmp_path) == []
    for name, (value, fields) in SETTINGS["changed"].items():
        write(tmp_path, with_value(name, value))
        expected: Any = {
            field: tuple(it) if isinstance(it, list) else it for field, it in fields.items()
        }
        assert read_config(tmp_path) == Config(**expected), name
    # Keys that nobody knows and a mark before the file are read over.
    known = {"keepJsonSync": False, "other": [1]}
    text = json.dumps({"other": 1, "storage": known, "search": {}})
    write(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert read_config(tmp_path) == Config(keeps_json=False)


@pytest.mark.row("003 T77.a")
def test_every_wrong_value_is_refused_by_its_key(tmp_path: Path) -> None:
    passed = []
    for name, values in SETTINGS["wrong"].items():
        for value in values:
            path = write(tmp_path, with_value(name, value))
            said = said_of(tmp_path)
            if not (said.startswith(f"{path}: {name} must be ") and "Nothing was saved" in said):
                passed.append((name, value, said))
    none_of(passed)


# In Latin-1: texts, each so many times.
HOSTILE = {
    kind: "".join(text * times for text, times in texts).encode("latin-1")
    for kind, texts in SETTINGS["hostile"].items()
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_json_object_is_said_and_stays_as_it_is(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, HOSTILE[kind])
    said = said_of(tmp_path)
    expected = "search.defaultLimit must be" if kind == "a huge number" else "is not a JSON object"
    assert str(path) in said and (expected in said or "is not a JSON object" in said)
    assert path.read_bytes() == HOSTILE[kind]
    assert sorted(os.listdir(path.parent)) == ["config.json"]


# links, and what is no file
