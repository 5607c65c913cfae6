"""Tests what is recorded of a client's deeds: which, how it is written, and to which session."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from core.config import state_directory
from core.messages import Language
from core.room.documents import ConfigError
from rooms.sessions import actions
from rooms.sessions.actions import (
    MOST_CHARS,
    Caller,
    Deed,
    commands_in,
    dropped,
    is_recorded,
    record,
    record_save,
)
from rooms.sessions.config import EXCLUDED, INCLUDED, config_path
from rooms.sessions.session import Draft, Session
from rooms.sessions.store import SessionStore
from tests.support.sentences import sentence
from tests.support.stdio_client import ROOT

DATA = ROOT / "tests/data"
DAY = "2026-05-{:02}T10:00:00+00:00"
TOKEN = "ghp_" + "Ab3" * 12
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
        return record(self.store.root, deeds, self.caller, os.environ, strict=strict, now=now)

    def run(self, *commands: str, now: str = DAY.format(1)) -> None:
        for command in commands:
            assert self.tell(Deed("command", command), now=now)

    def answer(self, text: str, now: str = DAY.format(1)) -> bool:
        return record_save(self.store.root, self.caller, text, os.environ, now=now)

    def save(self, goal: str, status: str = "coding", now: str = DAY.format(1)) -> Session:
        """Save by the tool; then the hook of the client sees its answer."""
        draft = Draft(goal=goal, status=status)
        done = self.store.save(draft, agent="claude-code", process=self.caller[1], now=now).session
        assert self.answer(f"Saved #{done.number}. Related:\n#77 2025-01-01 something", now)
        return done


@pytest.fixture
def one(store: SessionStore) -> Window:
    return Window(store, "first")


@pytest.fixture
def two(store: SessionStore) -> Window:
    return Window(store, "second")


def commands(window: Window, session: Session) -> list[str]:
    return [action.content for action in window.store.actions(session)]


def waiting(window: Window) -> list[tuple[Any, ...]]:
    """What waits for a session in any conversation."""
    if not window.store.path.exists():
        return []
    with closing(sqlite3.connect(window.store.path)) as connection:
        statement = "SELECT type, content, result, file_path FROM actions"
        return connection.execute(
            f"{statement} WHERE context_id LIKE 'conv:%' ORDER BY rowid"
        ).fetchall()


# which commands


def is_default(line: str) -> bool:
    return is_recorded(line, INCLUDED, EXCLUDED)


@pytest.mark.row("003 T26", "003 T29", "003 T30")
def test_a_command_line_is_recorded_for_a_command_that_is_included_and_not_excluded() -> None:
    recorded = (DATA / "commands_recorded.txt").read_text("utf-8").splitlines()
    passed_over = (DATA / "commands_passed_over.txt").read_text("utf-8").splitlines()
    assert len(recorded) > 30 and len(passed_over) > 20
    assert [line for line in recorded if not is_default(line)] == []
    assert [line for line in passed_over if is_default(line)] == []


# fmt: off
POLICIES: list[tuple[str, list[str], list[str], bool]] = [
    ("git push", ["git"], ["git status"], True),
    ("git status", ["git"], ["git status"], False),
    ("git status", ["git status"], ["git"], False),
    ("npm test", ["npm"], ["npm test"], False),
    ("npm run x && npm test", ["npm"], ["npm test"], True),
    ("cargo build", [], [*EXCLUDED], True),  # no include stands for every command
    ("cd a; ls", [], [*EXCLUDED], False),
    ("", [], [], False),
    ("cargo build", ["", "  "], [], False),
    ("python3 x.py", ["python"], [], True),  # a version may be left out
    ("python3 x.py", ["python3"], [], True),
    ("python x.py", ["python3"], [], False),
    ("7z x", [""], [], False),
    ("cat > a <<'END'\nnpm test\nEND", [*INCLUDED], [*EXCLUDED], False),  # what a command reads
    ("cat > a <<-EOF\nnpm test\n  EOF", [*INCLUDED], [*EXCLUDED], False),
    ("cat > a <<END\nnpm test", [*INCLUDED], [*EXCLUDED], False),
    ("cat > a <<END\nls\nEND\nnpm test", [*INCLUDED], [*EXCLUDED], True),
    ("ls\nnpm test", [*INCLUDED], [*EXCLUDED], True),
]
# fmt: on


@pytest.mark.row("003 T29", "003 T30")
def test_the_settings_say_which_commands_and_what_is_excluded_wins() -> None:
    wrong = [it for it in POLICIES if is_recorded(*it[:3]) != it[3]]
    assert wrong == []


def test_the_words_of_each_command_are_read_as_a_shell_does() -> None:
    line = r"""A=1 git -c "user.name=a b" commit -m 'it'\''s; done' && (npm test) | tee out"""
    assert list(commands_in(line)) == [
        ["git", "-c", "user.name=a b", "commit", "-m", "it's; done"],
        ["npm", "test"],
        ["tee", "out"],
    ]


@pytest.mark.long  # it costs much
def test_odd_lines_end_soon() -> None:
    for text in ("'", '"', "`", "\\", "$(", "<<A\n", "a 'b\" ", "sudo ", "sh -c ", "-", "&", "\0"):
        assert not is_recorded(text * (2 * MOST_CHARS), ["npm test"], ())


def test_settings_that_cannot_be_used_record_nothing(one: Window) -> None:
    path = config_path(one.store.root)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"actionLogging": {"enabled": "yes"}}))
    with pytest.raises(ConfigError):
        one.run("npm test")


# how an action is written


def test_a_deed_waits_with_its_result_until_a_session_is_saved(one: Window) -> None:
    assert one.tell(
        Deed("command", "npm test", False, "ok"),
        Deed("command", "npm test", True, "1 failed\n"),
        Deed("command", "npm install"),
        Deed("edit", "Edit src/a.py (+3 -1)", False, "", "src/a.py"),
        Deed("edit", "Edit src/b.py", True, "no match", "src/b.py"),
        Deed("command", "ls", True, "no such file"),
    )
    assert waiting(one) == [
        ("command", "npm test", "success", None),
        ("error", "npm test", "failed: 1 failed", None),
        ("command", "npm install", None, None),
        ("edit", "Edit src/a.py (+3 -1)", "success", "src/a.py"),
        ("error", "Edit src/b.py", "failed: no match", "src/b.py"),
    ]
    assert (one.store.path.parent / ".gitignore").exists()


def test_what_two_hooks_tell_at_once_is_recorded_once(one: Window) -> None:
    again = [Deed("command", "npm test", False), Deed("command", "npm test", True)]
    for second in (0, 1, 2, 30):
        for _ in range(2):
            one.tell(*again, now=f"2026-05-01T10:00:{second:02}+00:00")
    assert len(waiting(one)) == 4
    session = one.save("a goal", now="2026-05-01T10:01:00+00:00")
    for _ in range(2):
        one.tell(*again, now="2026-05-01T10:02:00+00:00")
    assert len(commands(one, session)) == 6


def test_secrets_are_out_of_every_text_before_it_is_written(one: Window) -> None:
    shown = f"{TOKEN[:10]}\u200b{TOKEN[10:]}"
    one.tell(Deed("command", f"TOKEN={TOKEN} npm test", True, f"denied {shown}", f"src/{TOKEN}.py"))
    [(_, content, result, path)] = waiting(one)
    assert "npm test" in content and "denied" in result and path.startswith("src/")
    for file in one.store.root.rglob("*"):
        assert file.is_dir() or TOKEN.encode() not in file.read_bytes()
    one.tell(Deed("command", f"npm run --token {TOKEN}"), Deed("command", "npm run"), strict=True)
    assert [row[1] for row in waiting(one)][1:] == ["npm run"]


def test_a_secret_across_a_cut_leaves_no_part_of_itself(one: Window) -> None:
    for before in range(470, 500, 3):
        command = f"npm test {'x' * (before - 9)} {TOKEN}"
        one.tell(Deed("command", command, True, f"{TOKEN}{'y' * before}"))
    for _, content, result, _ in waiting(one):
        assert "ghp_" not in content and "Ab3Ab3" not in content + result


def test_no_part_of_a_secret_stays_where_what_is_read_ends(one: Window) -> None:
    lines = "MIIEpAIBAAKCAQEA" * 238
    key = f"'-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----'"  # is short
    before = f"npm run {key} "
    command = f"{before}{'x' * (4_000 - 21 - len(before))} {TOKEN} done"  # when it is redacted
    output = f"{TOKEN} {key}{'x' * (4_000 - 15 - len(key))}\nok"
    assert one.tell(Deed("command", command, True, output))
    [(_, content, result, _)] = waiting(one)
    assert content.endswith("x")
    assert result.startswith("failed: '[REDACTED]'xx")
    for kept in (content, result):
        assert not any(TOKEN[at : at + 6] in kept for at in range(len(TOKEN) - 6))


def test_long_texts_keep_the_beginning_of_a_command_and_the_end_of_an_output(one: Window) -> None:
    command, output = f"npm test {'가' * 100_000}", f"{'x' * 200_000}\nlast line\n"
    one.tell(Deed("command", command, True, output))
    [(_, content, result, _)] = waiting(one)
    assert (len(content), len(result)) == (500, 300)
    assert content.startswith("npm test 가") and content.endswith("…")
    assert result.startswith("failed: …x") and result.endswith("x\nlast line")


@pytest.mark.parametrize(
    "text",
    ["npm test \ud800", "npm test \0 x", "npm test '; DROP TABLE actions; --", "npm test \x1b[2J"],
)
def test_hostile_texts_are_stored_as_texts(text: str, store: SessionStore) -> None:
    window = Window(store, text.replace("\ud800", "?"), "codex")
    window.tell(Deed("command", text, True, text, text))
    [(_, content, result, path)] = waiting(window)
    assert content == path == text.replace("\ud800", "?").replace("\0", "?")
    assert result == f"failed: {content}"


def test_only_the_last_actions_of_a_conversation_wait(
    one: Window, two: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST_WAITING", 3)
    two.run("npm test other")
    one.run(*(f"npm test {at}" for at in range(5)))
    kept = ["npm test other", *(f"npm test {at}" for at in (2, 3, 4))]
    assert [row[1] for row in waiting(one)] == kept


@contextmanager
def held(store: SessionStore) -> Iterator[None]:
    """While another process writes."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stdout.readline() == b"held\n"
        yield
        process.kill()


@pytest.mark.row("003 T26.b")
def test_while_another_process_writes_an_action_is_dropped_and_counted(one: Window) -> None:
    session, root = one.save("Mend it"), one.store.root
    assert dropped(root, os.environ) == 0
    with held(one.store):
        assert not one.tell(Deed("command", "npm test"))
        assert not one.answer(f"#{session.number}")
    assert dropped(root, os.environ) == 2
    assert commands(one, session) == []
    one.run("npm test")
    assert commands(one, session) == ["npm test"]
    path = os.path.join(state_directory(str(root), os.environ), actions.DROPPED)
    with open(path, "a") as file:
        file.write("2020-01-01T00:00:00+00:00\nnonsense\n")  # the old one is not counted
    assert dropped(root, os.environ) == 3  # a line that nobody can read is one, too


# to which session


@pytest.mark.row("003 T26.a")
def test_two_windows_of_one_client_keep_their_actions_apart(one: Window, two: Window) -> None:
    one.run("npm test one-1")
    two.run("npm test two-1")
    one.run("npm test one-2")
    second = two.save("the second goal")  # saves first, and must not take what the other did
    two.run("npm test two-2")
    one.run("npm test one-3")
    first = one.save("the first goal")
    one.run("npm test one-4")
    two.run("npm test two-3")
    assert commands(one, first) == [f"npm test one-{at}" for at in (1, 2, 3, 4)]
    assert commands(one, second) == [f"npm test two-{at}" for at in (1, 2, 3)]
    assert waiting(one) == []


def test_a_window_that_has_done_nothing_takes_nothing_from_another(
    one: Window, two: Window
) -> None:
    one.run("npm test one")
    assert commands(two, two.save("another goal")) == []
    other_client = Window(one.store, "first", "codex")
    assert commands(one, other_client.save("a third goal")) == []
    assert commands(one, one.save("a goal")) == ["npm test one"]


@pytest.mark.row("003 T26.a")
def test_what_follows_the_end_of_a_session_belongs_to_the_next_or_after_a_day_to_it(
    one: Window, two: Window
) -> None:
    one.run("npm test 1")
    first = one.save("first", status="completed")
    one.run("npm test 2")
    assert commands(one, first) == ["npm test 1"]
    second = one.save("second", status="completed")
    assert (commands(one, first), commands(one, second)) == (["npm test 1"], ["npm test 2"])
    one.run("git push")
    two.save("on the same day")
    assert commands(one, second) == ["npm test 2"]
    two.save("two days later", now=DAY.format(3))
    assert commands(one, second) == ["npm test 2", "git push"]


def test_what_no_save_has_claimed_goes_after_thirty_days(one: Window, two: Window) -> None:
    one.run("npm test", now=DAY.format(1))
    two.save("within the month", now=DAY.format(30))
    assert len(waiting(one)) == 1
    two.save("a month later", now="2026-06-02T10:00:00+00:00")
    assert waiting(one) == []


def test_where_nobody_saves_the_next_action_lets_the_old_ones_go(one: Window, two: Window) -> None:
    last = one.save("the goal", status="completed")
    one.run("git push")
    two.run("npm test")
    two.run("npm test again", now=DAY.format(31))
    assert len(waiting(one)) == 3
    two.run("npm test still", now="2026-06-02T10:00:00+00:00")
    assert (commands(one, last), len(waiting(one))) == (["git push"], 2)


def test_only_a_session_that_was_just_saved_is_bound_by_its_number_or_its_id(
    one: Window, two: Window
) -> None:
    old = one.save("an old goal", now=DAY.format(1))
    two.run("npm test", now=DAY.format(2))
    answers = (f"#{old.number}: archived", "no name", "#999", "##1", "#" + "9" * 30, "", old.id)
    for answer in answers:
        two.answer(answer, DAY.format(2))
    assert (commands(one, old), len(waiting(two))) == ([], 1)
    fresh = one.save("a new goal", now=DAY.format(2))
    two.answer(f'{{"id":"{fresh.id}","message":"Saved #{fresh.number}."}}', DAY.format(2))
    assert commands(one, fresh) == ["npm test"]


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("key", ["saved_new", "saved_again"])
def test_a_session_is_known_by_the_answer_in_either_language(
    key: str, lang: Language, one: Window
) -> None:
    session = one.save("a goal")
    for name in (f"#{session.number}", session.id):
        other = Window(one.store, name)
        other.run(f"npm test {name}")
        other.answer(sentence(lang, f"sessions.answers.{key}", name=name))
        assert commands(one, session)[-1] == f"npm test {name}"
