"""Tests what is recorded of a client's deeds: which, how it is written, and to which session."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import Any

import pytest

from core.config import state_directory
from rooms.sessions import actions
from rooms.sessions.actions import Caller, Deed
from rooms.sessions.config import EXCLUDED, INCLUDED
from rooms.sessions.session import Draft, Session
from rooms.sessions.store import SessionStore
from tests.support.cli_process import TOKEN
from tests.support.tables import DATA, table

DAY = "2026-05-{:02}T10:00:00+00:00"
MONTH_LATER = "2026-06-02T10:00:00+00:00"
HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


class Window:
    """A conversation of a client in a project, as its hooks tell of it."""

    def __init__(self, store: SessionStore, name: str, agent: str = "claude-code") -> None:
        self.store, self.caller = store, Caller(agent, name)

    def tell(self, *deeds: Deed, now: str = DAY.format(1), strict: bool = False) -> bool:
        return actions.record(
            self.store.root, deeds, self.caller, os.environ, strict=strict, now=now
        )

    def run(self, *commands: str, now: str = DAY.format(1)) -> None:
        for command in commands:
            assert self.tell(Deed("command", command), now=now)

    def answer(self, text: str, now: str = DAY.format(1)) -> bool:
        return actions.record_save(self.store.root, self.caller, text, os.environ, now=now)

    def save(self, goal: str, status: str = "coding", now: str = DAY.format(1)) -> Session:
        """Save by the tool; then the hook of the client sees its answer."""
        draft = Draft(goal=goal, status=status)
        done = self.store.save(draft, agent="claude-code", process=self.caller[1], now=now).session
        assert self.answer(f"Saved #{done.number}. Related:\n#77 2025-01-01 something", now)
        return done

    def of(self, session: Session) -> list[str]:
        """What was recorded of a session."""
        return [action.content for action in self.store.actions(session)]

    def waiting(self) -> list[tuple[Any, ...]]:
        """What waits for a session in any conversation."""
        statement = (
            "SELECT type, content, result, file_path FROM actions"
            " WHERE context_id LIKE 'conv:%' ORDER BY rowid"
        )
        with closing(sqlite3.connect(self.store.path)) as connection:
            return connection.execute(statement).fetchall()


@pytest.fixture
def one(store: SessionStore) -> Window:
    return Window(store, "first")


@pytest.fixture
def two(store: SessionStore) -> Window:
    return Window(store, "second")


# which commands


@pytest.mark.row("003 T26", "003 T29", "003 T30")
def test_a_command_line_is_recorded_for_a_command_that_is_included_and_not_excluded() -> None:
    recorded, passed_over = (
        (DATA / f"commands_{name}.txt").read_text("utf-8").splitlines()
        for name in ("recorded", "passed_over")
    )
    assert len(recorded) > 30 and len(passed_over) > 20
    assert [line for line in recorded if not actions.is_recorded(line, INCLUDED, EXCLUDED)] == []
    assert [line for line in passed_over if actions.is_recorded(line, INCLUDED, EXCLUDED)] == []
    # By line: include and exclude, null for the defaults, and whether it is recorded.
    for line, include, exclude, is_wanted in table("sessions/recorded"):
        include = INCLUDED if include is None else include
        exclude = EXCLUDED if exclude is None else exclude
        assert actions.is_recorded(line, include, exclude) is is_wanted, line
    line = r"""A=1 git -c "user.name=a b" commit -m 'it'\''s; done' && (npm test) | tee out"""
    assert list(actions.commands_in(line)) == [
        ["git", "-c", "user.name=a b", "commit", "-m", "it's; done"],
        ["npm", "test"],
        ["tee", "out"],
    ]


@pytest.mark.long  # it costs much
def test_odd_lines_end_soon() -> None:
    for text in ("'", '"', "`", "\\", "$(", "<<A\n", "a 'b\" ", "sudo ", "sh -c ", "-", "&", "\0"):
        assert not actions.is_recorded(text * (2 * actions.MOST_CHARS), ["npm test"], ())


# how an action is written


def test_what_two_hooks_tell_at_once_is_recorded_once(one: Window) -> None:
    again = [Deed("command", "npm test", False), Deed("command", "npm test", True)]
    for second in (0, 1, 2, 30):
        for _ in range(2):
            one.tell(*again, now=f"2026-05-01T10:00:{second:02}+00:00")
    assert len(one.waiting()) == 4
    session = one.save("a goal", now="2026-05-01T10:01:00+00:00")
    for _ in range(2):
        one.tell(*again, now="2026-05-01T10:02:00+00:00")
    assert len(one.of(session)) == 6


def test_secrets_are_out_of_every_text_before_it_is_written(one: Window) -> None:
    shown = f"{TOKEN[:10]}\u200b{TOKEN[10:]}"
    one.tell(Deed("command", f"TOKEN={TOKEN} npm test", True, f"denied {shown}", f"src/{TOKEN}.py"))
    [(_, content, result, path)] = one.waiting()
    assert "npm test" in content and "denied" in result and path.startswith("src/")
    for file in one.store.root.rglob("*"):
        assert file.is_dir() or TOKEN.encode() not in file.read_bytes()
    one.tell(Deed("command", f"npm run --token {TOKEN}"), Deed("command", "npm run"), strict=True)
    assert [row[1] for row in one.waiting()][1:] == ["npm run"]


def test_a_secret_across_a_cut_leaves_no_part_of_itself(one: Window) -> None:
    for before in range(470, 500, 3):
        command = f"npm test {'x' * (before - 9)} {TOKEN}"
        one.tell(Deed("command", command, True, f"{TOKEN}{'y' * before}"))
    # Nor where what is read of a text ends; a private key is short when it is redacted.
    lines = "MIIEpAIBAAKCAQEA" * 238
    key = f"'-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----'"
    begin = f"npm run {key} "
    command = f"{begin}{'x' * (4_000 - 21 - len(begin))} {TOKEN} done"
    output = f"{TOKEN} {key}{'x' * (4_000 - 15 - len(key))}\nok"
    assert one.tell(Deed("command", command, True, output))
    for _, content, result, _ in one.waiting():
        assert not any(TOKEN[at : at + 6] in content + result for at in range(len(TOKEN) - 6))
    assert content.endswith("x")
    assert result.startswith("failed: '[REDACTED]'xx")


def test_a_text_is_stored_as_a_text_a_long_one_in_part(one: Window) -> None:
    """The beginning of a command, and the end of an output."""
    command, output = f"npm test {'가' * 100_000}", f"{'x' * 200_000}\nlast line\n"
    one.tell(Deed("command", command, True, output))
    [(_, content, result, _)] = one.waiting()
    assert (len(content), len(result)) == (500, 300)
    assert content.startswith("npm test 가") and content.endswith("…")
    assert result.startswith("failed: …x") and result.endswith("x\nlast line")
    for end in ("\ud800", "\0 x", "'; DROP TABLE actions; --", "\x1b[2J"):
        text = f"npm test {end}"
        kept = text.replace("\ud800", "?").replace("\0", "?")
        window = Window(one.store, kept, "codex")
        window.tell(Deed("command", text, True, text, text))
        assert window.waiting()[-1] == ("error", kept, f"failed: {kept}", kept)


def test_only_the_last_actions_of_a_conversation_wait(
    one: Window, two: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST_WAITING", 3)
    two.run("npm test other")
    one.run(*(f"npm test {at}" for at in range(5)))
    kept = ["npm test other", *(f"npm test {at}" for at in (2, 3, 4))]
    assert [row[1] for row in one.waiting()] == kept
    assert {row[2] for row in one.waiting()} == {None}  # nobody told how they ended


@pytest.mark.row("003 T26.b")
def test_while_another_process_writes_an_action_is_dropped_and_counted(one: Window) -> None:
    session, root = one.save("Mend it"), one.store.root
    assert actions.dropped(root, os.environ) == 0
    command = [sys.executable, "-c", HOLD, str(one.store.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline() == b"held\n"
        assert not one.tell(Deed("command", "npm test"))
        assert not one.answer(f"#{session.number}")
        other.kill()
    assert actions.dropped(root, os.environ) == 2
    assert one.of(session) == []
    one.run("npm test")
    assert one.of(session) == ["npm test"]
    path = os.path.join(state_directory(str(root), os.environ), actions.DROPPED)
    with open(path, "a") as file:
        file.write("2020-01-01T00:00:00+00:00\nnonsense\n")  # the old one is not counted
    assert actions.dropped(root, os.environ) == 3  # a line that nobody can read is one, too


# to which session
