"""Tests the store: the session that a save continues, `current.json`, every key of `config.json`,
and the recorded actions of a client.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest

from core.config import Settings, state_directory
from core.errors import RefusedError
from core.program import LOGGER
from core.room.redaction import redact_file, redact_rows
from rooms.sessions import actions
from rooms.sessions.actions import Caller, Deed
from rooms.sessions.config import CONFIG, EXCLUDED, INCLUDED, Config, read_config
from rooms.sessions.session import Draft, Point, Session
from rooms.sessions.store import SaveOutcome, SessionStore, open_sessions
from rooms.sessions.upkeep import forget, redact_secrets
from tests.support.cli_process import TOKEN
from tests.support.session_samples import a_room, every_byte, saved, store_unchecked
from tests.support.tables import DATA, none_of, table, with_tuples

NOON = "2026-03-01T12:00:00+00:00"
Save = Callable[..., SaveOutcome]


@pytest.fixture
def save(store: SessionStore) -> Save:
    def save_draft(
        goal: str = "g", agent: str = "codex", process: str = "p1", now: str = NOON, **fields: Any
    ) -> SaveOutcome:
        return store.save(Draft(goal=goal, **fields), agent=agent, process=process, now=now)

    return save_draft


def run(store: SessionStore, statement: str, *values: object) -> list[Any]:
    """The rows that another program gets for a statement, which it commits."""
    with closing(connect(store.path)) as other, other:
        return other.execute(statement, values).fetchall()


# continuing


@pytest.mark.row("003 T82", "003 T87")
def test_the_same_process_or_client_and_goal_go_on_within_a_day(
    save: Save, store: SessionStore
) -> None:
    save("a")
    outcome = save(" a ", agent="cursor", now="2026-03-02T11:59:59+00:00")
    assert (outcome.is_new, outcome.session.number) == (False, 1)
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
        stored_session = save("h", status="paused").session
        assert save("h", process=process, now=now).is_new
        assert store.get(stored_session.id) == stored_session
        save("h", process=process, now=now, status="completed")
    # A process goes on with its own session, also when another one has changed that.
    blocked = save("i", blockers=(Point(text="x"),)).session
    save("j", process="p2", parent=blocked.id, blockers=(Point(text="x", is_resolved=True),))
    assert not save("i", agent="cursor").is_new
    # It does before a newer one of its client.
    number = save("g", agent="cursor").session.number
    newer_number = save("g", process="p2").session.number
    assert save("g").session.number == number
    assert save("g", process="p3").session.number == newer_number
    # Odd dates that others wrote continue nothing.
    for i, date in enumerate(("garbage", "", None, "2026-99-99", "1e400")):
        number = save(f"goal {i}").session.number
        run(store, "UPDATE contexts SET updated_at = ? WHERE number = ?", date, number)
        assert save(f"goal {i}", process="p2").is_new
        assert store.get(f"#{number}").date is not None


# current.json


@pytest.mark.row("003 T2.a")
def test_a_failure_is_no_failed_save_and_is_said_once_until_it_works_again(
    save: Save, store: SessionStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.current_path.mkdir(parents=True)
    with caplog.at_level(logging.WARNING, LOGGER):
        assert [save(goal).is_current_written for goal in "abc"] == [False] * 3
        assert len(caplog.records) == 1
        assert "current.json: not written" in caplog.text
        store.current_path.rmdir()
        assert save("d").is_current_written
        store.current_path.unlink()
        store.current_path.mkdir()
        assert not save("e").is_current_written
        assert len(caplog.records) == 2
    assert [store.get(f"#{number}").goal for number in range(1, 6)] == list("abcde")
    names = {name for name in os.listdir(store.path.parent) if not name.startswith("history.db")}
    assert names == {".gitignore", "current.json"}  # no litter


def test_another_process_may_save_before_a_save_that_goes_on_writes_it(store: SessionStore) -> None:
    class Overtaken(SessionStore):
        def write_current(self) -> bool:
            return bool(saved(a_room(self.root), "another")) and super().write_current()

    save = Overtaken(store.root, store.config, store.settings).save
    *_, last = (save(Draft(goal=goal), agent="codex", process="p1") for goal in "abb")
    assert not last.is_new and last.is_current_written


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


def refusal_of(root: Path) -> str:
    """The refusal of the file; no store opens, either, and nothing is made."""
    with pytest.raises(RefusedError) as caught:
        read_config(root)
    with pytest.raises(type(caught.value)):
        open_sessions(root, Settings())
    return str(caught.value)


@pytest.mark.row("003 T1.a", "003 T75", "003 T76", "003 T77")
def test_each_key_changes_its_setting_and_nothing_else(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    assert Config().database_path(tmp_path) == tmp_path / ".context" / "sessions" / "history.db"
    assert os.listdir(tmp_path) == []
    for name, (value, fields) in SETTINGS["changed"].items():
        write(tmp_path, with_value(name, value))
        assert read_config(tmp_path) == Config(**with_tuples(fields)), name
    # Keys that nobody knows and a mark before the file are read over.
    text = '{"other": 1, "storage": {"keepJsonSync": false, "other": [1]}, "search": {}}'
    write(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert read_config(tmp_path) == Config(keeps_json=False)


@pytest.mark.row("003 T77.a")
def test_every_wrong_value_is_refused_by_its_key(tmp_path: Path) -> None:
    faults = []
    for name, values in SETTINGS["wrong"].items():
        for value in values:
            path = write(tmp_path, with_value(name, value))
            text = refusal_of(tmp_path)
            if not (text.startswith(f"{path}: {name} must be ") and "Nothing was saved" in text):
                faults.append((name, value, text))
    none_of(faults)


# In Latin-1: texts, each so many times.
HOSTILE = {
    kind: "".join(text * times for text, times in texts).encode("latin-1")
    for kind, texts in SETTINGS["hostile"].items()
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_without_a_json_object_is_said_and_stays_as_it_is(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, HOSTILE[kind])
    sentence = refusal_of(tmp_path)
    expected = "search.defaultLimit must be" if kind == "a huge number" else "is not a JSON object"
    assert str(path) in sentence and (expected in sentence or "is not a JSON object" in sentence)
    assert path.read_bytes() == HOSTILE[kind]
    assert sorted(os.listdir(path.parent)) == ["config.json"]


# actions of a client


DAY = "2026-05-01T10:00:00+00:00"
HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


class Window:
    """A conversation of a client in a project, as its hooks report it."""

    def __init__(self, store: SessionStore, name: str, agent: str = "claude-code") -> None:
        self.store, self.caller = store, Caller(agent, name)

    def tell(self, *deeds: Deed, now: str = DAY) -> bool:
        root, caller = self.store.root, self.caller
        return actions.record_actions(root, deeds, caller, os.environ, strict=False, now=now)

    def answer(self, text: str, now: str = DAY) -> bool:
        return actions.bind_conversation(self.store.root, self.caller, text, os.environ, now=now)

    def save(self, goal: str, now: str = DAY) -> Session:
        """Save by the tool; then the hook of the client sees its answer."""
        draft = Draft(goal=goal, status="coding")
        outcome = self.store.save(draft, agent="claude-code", process=self.caller[1], now=now)
        assert self.answer(f"Saved #{outcome.session.number}. Related:\n#77 2025-01-01 else", now)
        return outcome.session

    def waiting(self) -> list[tuple[Any, ...]]:
        """The actions that wait for a session in any conversation."""
        columns = "SELECT type, content, result, file_path FROM actions"
        return run(self.store, f"{columns} WHERE context_id LIKE 'conv:%' ORDER BY rowid")


@pytest.fixture
def window(store: SessionStore) -> Window:
    return Window(store, "first")


# which commands


@pytest.mark.row("003 T26", "003 T29", "003 T30")
def test_a_command_line_is_recorded_for_a_command_that_is_included_and_not_excluded() -> None:
    paths = (DATA / f"commands_{name}.txt" for name in ("recorded", "passed_over"))
    recorded, passed_over = (path.read_text("utf-8").splitlines() for path in paths)
    assert len(recorded) > 30 and len(passed_over) > 20
    assert [line for line in recorded if not actions.is_recorded(line, INCLUDED, EXCLUDED)] == []
    assert [line for line in passed_over if actions.is_recorded(line, INCLUDED, EXCLUDED)] == []
    # By line: include and exclude, null for the defaults, and whether it is recorded.
    for line, include, exclude, is_wanted in table("sessions/recorded"):
        include = INCLUDED if include is None else include
        exclude = EXCLUDED if exclude is None else exclude
        assert actions.is_recorded(line, include, exclude) is is_wanted, line
    line = r"""A=1 git -c "user.name=a b" commit -m 'it'\''s; done' && (npm test) | tee out"""
    commit = ["git", "-c", "user.name=a b", "commit", "-m", "it's; done"]
    assert list(actions.commands_in(line)) == [commit, ["npm", "test"], ["tee", "out"]]


@pytest.mark.long  # it costs much
def test_odd_lines_end_soon() -> None:
    for text in ("'", '"', "`", "\\", "$(", "<<A\n", "a 'b\" ", "sudo ", "sh -c ", "-", "&", "\0"):
        assert not actions.is_recorded(text * (2 * actions.MOST_CHARS), ["npm test"], ())


# how an action is written


def test_an_action_that_two_hooks_tell_at_once_is_recorded_once(window: Window) -> None:
    deeds = [Deed("command", "npm test", False), Deed("command", "npm test", True)]
    for second in (0, 1, 2, 30):
        for _ in range(2):
            window.tell(*deeds, now=f"2026-05-01T10:00:{second:02}+00:00")
    assert len(window.waiting()) == 4
    session = window.save("a goal", now="2026-05-01T10:01:00+00:00")
    for _ in range(2):
        window.tell(*deeds, now="2026-05-01T10:02:00+00:00")
    assert len(window.store.actions_of(session)) == 6


def test_a_secret_across_a_cut_leaves_no_part_of_itself(window: Window) -> None:
    for length in range(470, 500, 3):
        command = f"npm test {'x' * (length - 9)} {TOKEN}"
        window.tell(Deed("command", command, True, f"{TOKEN}{'y' * length}"))
    # Nor at the end of the part that is read; a private key is short when it is redacted.
    lines = "MIIEpAIBAAKCAQEA" * 238
    key = f"'-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----'"
    begin = f"npm run {key} "
    command = f"{begin}{'x' * (4_000 - 21 - len(begin))} {TOKEN} done"
    output = f"{TOKEN} {key}{'x' * (4_000 - 15 - len(key))}\nok"
    assert window.tell(Deed("command", command, True, output))
    for _, content, result, _ in window.waiting():
        assert not any(TOKEN[i : i + 6] in content + result for i in range(len(TOKEN) - 6))
    assert content.endswith("x")
    assert result.startswith("failed: '[REDACTED]'xx")


def test_only_the_last_actions_of_a_conversation_wait(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST_WAITING", 3)
    Window(window.store, "second").tell(Deed("command", "npm test other"))
    window.tell(*(Deed("command", f"npm test {i}") for i in range(5)))
    commands = ["npm test other", *(f"npm test {i}" for i in (2, 3, 4))]
    assert [row[1] for row in window.waiting()] == commands
    assert {row[2] for row in window.waiting()} == {None}  # nobody told how they ended


@pytest.mark.row("003 T26.b")
def test_while_another_process_writes_an_action_is_dropped_and_counted(window: Window) -> None:
    session, root = window.save("Mend it"), window.store.root
    assert actions.count_dropped(root, os.environ) == 0
    command = [sys.executable, "-c", HOLD, str(window.store.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"held\n"
        assert not window.tell(Deed("command", "npm test"))
        assert not window.answer(f"#{session.number}")
        process.kill()
    assert actions.count_dropped(root, os.environ) == 2
    assert window.store.actions_of(session) == []
    assert window.tell(Deed("command", "npm test"))
    assert [action.content for action in window.store.actions_of(session)] == ["npm test"]
    path = os.path.join(state_directory(str(root), os.environ), actions.DROPPED)
    with open(path, "a") as file:
        file.write("2020-01-01T00:00:00+00:00\nnonsense\n")  # the old one is not counted
    assert actions.count_dropped(root, os.environ) == 3  # a line that nobody can read is one, too


def test_without_a_home_no_file_beside_the_user_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "state_directory", lambda *_: "")
    monkeypatch.chdir(tmp_path)
    Path(actions.DROPPED).write_text("9999-12-31")
    assert actions.count_dropped(tmp_path, {}) == 0


# sessions that are gone for good


def test_of_two_names_that_are_secrets_neither_value_is_lost() -> None:
    data = {TOKEN: 1, TOKEN[:4] + TOKEN[:3:-1]: 2}
    [row], _ = redact_rows([{"metadata": json.dumps(data)}], ["metadata"])
    assert json.loads(row["metadata"]) == {"[REDACTED]": 1, "[REDACTED]_": 2}


def test_a_reader_that_holds_the_old_state_is_told_of_and_the_next_run_completes_it(
    store: SessionStore,
) -> None:
    first = saved(store, "Feed the zebra")
    store_unchecked(store, goal=f"Rotate {TOKEN}")
    with closing(connect(store.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchone()
        hasty = a_room(store.root, lock_timeout_s=0)
        assert redact_secrets(hasty).unpurged_files == [store.path]
        assert forget(hasty, [first.id]).unpurged == [store.path]
    assert TOKEN.encode() in every_byte(store.root)
    assert redact_secrets(store) == ([], [], [])
    assert forget(store, []).unpurged == []
    data = every_byte(store.root)
    assert (TOKEN.encode() in data, b"zebra" in data) == (False, False)


def test_a_file_that_is_too_large_is_not_cut_by_a_redaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.room.redaction.MOST_FILE_BYTES", 100)
    text = f"password: {TOKEN}\n" + "x" * 100
    (tmp_path / "large").write_text(text)
    redact_file(tmp_path / "large")
    assert (tmp_path / "large").read_text() == text
