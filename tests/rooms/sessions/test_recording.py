"""Tests how an action is written: redacted, cut, attached, and given up when others write."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.config import state_directory
from core.room.documents import ConfigError
from rooms.sessions import actions as recording
from rooms.sessions.actions import Caller, Deed, dropped, record, record_save
from rooms.sessions.config import config_path
from tests.support.room import a_room, saved

ME = Caller("claude-code", "first")
TOKEN = "ghp_" + "Ab3" * 12

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shop" / ".context").mkdir(parents=True)
    return tmp_path / "shop"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"SENTINEL_MEMORY_STATE": str(tmp_path / "state")}


def configure(project: Path, **logging: Any) -> None:
    config_path(project).parent.mkdir(parents=True, exist_ok=True)
    config_path(project).write_text(json.dumps({"actionLogging": logging}))


def waiting(project: Path) -> list[tuple[Any, ...]]:
    statement = "SELECT type, content, result, file_path FROM actions"
    statement += " WHERE context_id LIKE 'conv:%' ORDER BY rowid"
    path = project / ".context" / "sessions" / "history.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def test_what_two_hooks_tell_at_once_is_recorded_once(
    project: Path, environment: dict[str, str]
) -> None:
    again = [Deed("command", "npm test", False), Deed("command", "npm test", True)]
    for second in (0, 1, 2, 30):
        for _ in range(2):
            record(project, again, ME, environment, now=f"2026-05-01T10:00:{second:02}+00:00")
    assert len(waiting(project)) == 4
    session = saved(a_room(project), "a goal", "2026-05-01T10:01:00+00:00", status="coding")
    record_save(project, ME, session.id, environment, now="2026-05-01T10:01:00+00:00")
    for _ in range(2):
        record(project, again, ME, environment, now="2026-05-01T10:02:00+00:00")
    assert len(a_room(project).actions(session)) == 6


def test_a_deed_waits_with_its_result_until_a_session_is_saved(
    project: Path, environment: dict[str, str]
) -> None:
    deeds = [
        Deed("command", "npm test", False, "ok"),
        Deed("command", "npm test", True, "1 failed\n"),
        Deed("command", "npm install"),
        Deed("edit", "Edit src/a.py (+3 -1)", False, "", "src/a.py"),
        Deed("edit", "Edit src/b.py", True, "no match", "src/b.py"),
        Deed("command", "ls", True, "no such file"),
    ]
    assert record(project, deeds, ME, environment)
    assert waiting(project) == [
        ("command", "npm test", "success", None),
        ("error", "npm test", "failed: 1 failed", None),
        ("command", "npm install", None, None),
        ("edit", "Edit src/a.py (+3 -1)", "success", "src/a.py"),
        ("error", "Edit src/b.py", "failed: no match", "src/b.py"),
    ]
    assert (project / ".context" / "sessions" / ".gitignore").exists()


def test_settings_that_cannot_be_used_record_nothing(
    project: Path, environment: dict[str, str]
) -> None:
    configure(project, enabled="yes")
    with pytest.raises(ConfigError):
        record(project, [Deed("command", "npm test")], ME, environment)


def test_secrets_are_out_of_every_text_before_it_is_written(
    project: Path, environment: dict[str, str]
) -> None:
    shown = f"{TOKEN[:10]}\u200b{TOKEN[10:]}"
    deed = Deed("command", f"TOKEN={TOKEN} npm test", True, f"denied {shown}", f"src/{TOKEN}.py")
    record(project, [deed], ME, environment)
    [(_, content, result, path)] = waiting(project)
    assert "npm test" in content and "denied" in result and path.startswith("src/")
    for file in project.rglob("*"):
        assert file.is_dir() or TOKEN.encode() not in file.read_bytes()


def test_where_secrets_are_refused_an_action_with_one_is_left_out(
    project: Path, environment: dict[str, str]
) -> None:
    deeds = [Deed("command", f"npm test --token {TOKEN}"), Deed("command", "npm test")]
    record(project, deeds, ME, environment, strict=True)
    assert [row[1] for row in waiting(project)] == ["npm test"]


def test_a_secret_across_the_cut_leaves_no_part_of_itself(
    project: Path, environment: dict[str, str]
) -> None:
    for before in range(470, 500, 3):
        command = f"npm test {'x' * (before - 9)} {TOKEN}"
        record(project, [Deed("command", command, True, f"{TOKEN}{'y' * before}")], ME, environment)
    for _, content, result, _ in waiting(project):
        assert "ghp_" not in content and "Ab3Ab3" not in content + result


def test_long_texts_keep_the_beginning_of_a_command_and_the_end_of_an_output(
    project: Path, environment: dict[str, str]
) -> None:
    command, output = f"npm test {'가' * 100_000}", f"{'x' * 200_000}\nlast line\n"
    record(project, [Deed("command", command, True, output)], ME, environment)
    [(_, content, result, _)] = waiting(project)
    assert (len(content), len(result)) == (500, 300)
    assert content.startswith("npm test 가") and content.endswith("…")
    assert result.startswith("failed: …x") and result.endswith("x\nlast line")


@pytest.mark.parametrize(
    "text",
    ["npm test \ud800", "npm test \0 x", "npm test '; DROP TABLE actions; --", "npm test \x1b[2J"],
)
def test_hostile_texts_are_stored_as_texts(
    text: str, project: Path, environment: dict[str, str]
) -> None:
    deed = Deed("command", text, True, text, text)
    record(project, [deed], Caller("codex", text.replace("\ud800", "?")), environment)
    [(_, content, result, path)] = waiting(project)
    assert content == path == text.replace("\ud800", "?").replace("\0", "?")
    assert result == f"failed: {content}"


def test_only_the_last_actions_of_a_conversation_wait(
    project: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MOST_WAITING", 3)
    other = Caller("claude-code", "second")
    record(project, [Deed("command", "npm test other")], other, environment)
    for at in range(5):
        record(project, [Deed("command", f"npm test {at}")], ME, environment)
    kept = ["npm test other", *(f"npm test {at}" for at in (2, 3, 4))]
    assert [row[1] for row in waiting(project)] == kept


@contextmanager
def held(project: Path) -> Iterator[None]:
    """While another process writes."""
    path = project / ".context" / "sessions" / "history.db"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stdout.readline() == b"held\n"
        yield
        process.kill()


@pytest.mark.row("003 T26.b")
def test_while_another_process_writes_an_action_is_dropped_and_counted(
    project: Path, environment: dict[str, str]
) -> None:
    session = saved(a_room(project), "Mend it", status="coding")
    assert dropped(project, environment) == 0
    with held(project):
        assert not record(project, [Deed("command", "npm test")], ME, environment)
        assert not record_save(project, ME, f"#{session.number}", environment)
    assert dropped(project, environment) == 2
    assert waiting(project) == []
    assert record(project, [Deed("command", "npm test")], ME, environment)
    assert len(waiting(project)) == 1


def test_old_drops_are_not_counted(project: Path, environment: dict[str, str]) -> None:
    recording._count_dropped(directory := state_directory(str(project), environment))
    with open(os.path.join(directory, recording.DROPPED), "a") as file:
        file.write("2020-01-01T00:00:00+00:00\nnonsense\n")
    assert dropped(project, environment) == 2  # a line that nobody can read is one, too


def test_no_part_of_a_secret_stays_where_what_is_read_ends(
    project: Path, environment: dict[str, str]
) -> None:
    lines = "MIIEpAIBAAKCAQEA" * 238
    key = f"'-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----'"  # is short
    before = f"npm run {key} "
    command = f"{before}{'x' * (4_000 - 21 - len(before))} {TOKEN} done"  # when it is redacted
    output = f"{TOKEN} {key}{'x' * (4_000 - 15 - len(key))}\nok"
    assert record(project, [Deed("command", command, True, output)], ME, environment)
    [(_, content, result, _)] = waiting(project)
    assert content.endswith("x")
    assert result.startswith("failed: '[REDACTED]'xx")
    for kept in (content, result):
        assert not any(TOKEN[at : at + 6] in kept for at in range(len(TOKEN) - 6))
