"""Tests which session an action belongs to: the one that its own conversation has saved."""

from pathlib import Path

import pytest

from core.messages import Language
from rooms.sessions.actions import Caller, Deed, record, record_save
from rooms.sessions.rows import IS_WAITING
from rooms.sessions.session import Action, Draft, Session
from rooms.sessions.store import SessionStore
from tests.support.room import a_room
from tests.support.sentences import sentence

DAY = "2026-05-{:02}T10:00:00+00:00"


class Window:
    """A conversation of Claude Code in a project."""

    def __init__(self, store: SessionStore, name: str, state: Path) -> None:
        self.store, self.caller = store, Caller("claude-code", name)
        self.environment = {"SENTINEL_MEMORY_STATE": str(state)}

    def run(self, command: str, now: str = DAY.format(1)) -> None:
        assert record(
            self.store.root, [Deed("command", command)], self.caller, self.environment, now=now
        )

    def save(self, goal: str, status: str = "coding", now: str = DAY.format(1)) -> Session:
        """Save by the tool; then the hook of the client sees its answer."""
        draft = Draft(goal=goal, status=status)
        done = self.store.save(draft, agent="claude-code", process=self.caller[1], now=now).session
        answer = f"Saved #{done.number}. Related:\n#77 2025-01-01 something"
        assert record_save(self.store.root, self.caller, answer, self.environment, now=now)
        return done


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    (tmp_path / "shop" / ".context").mkdir(parents=True)
    return a_room(tmp_path / "shop")


@pytest.fixture
def windows(store: SessionStore, tmp_path: Path) -> tuple[Window, Window]:
    return Window(store, "first", tmp_path / "state"), Window(store, "second", tmp_path / "state")


def commands(store: SessionStore, session: Session) -> list[str]:
    actions: list[Action] = store.actions(session)
    return [action.content for action in actions]


def count_waiting(store: SessionStore) -> int:
    with store.database.reading() as connection:
        assert connection
        statement = f"SELECT count(*) FROM actions WHERE {IS_WAITING}"
        return int(connection.execute(statement).fetchone()[0])


@pytest.mark.row("003 T26.a")
def test_two_windows_of_one_client_keep_their_actions_apart(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, two = windows
    one.run("npm test one-1")
    two.run("npm test two-1")
    one.run("npm test one-2")
    second = two.save("the second goal")  # saves first, and must not take what the other did
    two.run("npm test two-2")
    one.run("npm test one-3")
    first = one.save("the first goal")
    one.run("npm test one-4")
    two.run("npm test two-3")
    assert commands(store, first) == [f"npm test one-{at}" for at in (1, 2, 3, 4)]
    assert commands(store, second) == [f"npm test two-{at}" for at in (1, 2, 3)]
    assert count_waiting(store) == 0


def test_a_window_that_has_done_nothing_takes_nothing_from_another(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, two = windows
    one.run("npm test one")
    assert commands(store, two.save("another goal")) == []
    assert commands(store, one.save("a goal")) == ["npm test one"]


def test_what_follows_the_end_of_a_session_belongs_to_the_next_of_the_conversation(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, _ = windows
    one.run("npm test 1")
    first = one.save("first", status="completed")
    one.run("npm test 2")
    assert commands(store, first) == ["npm test 1"]
    second = one.save("second")
    assert (commands(store, first), commands(store, second)) == (["npm test 1"], ["npm test 2"])


@pytest.mark.row("003 T26.a")
def test_what_follows_the_last_session_of_a_conversation_is_part_of_it_after_a_day(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, two = windows
    last = one.save("the goal", status="completed")
    one.run("git push")
    two.save("on the same day")
    assert commands(store, last) == []
    two.save("two days later", now=DAY.format(3))
    assert commands(store, last) == ["git push"]


def test_what_no_save_has_claimed_goes_after_thirty_days(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, two = windows
    one.run("npm test", now=DAY.format(1))
    two.save("within the month", now=DAY.format(30))
    assert count_waiting(store) == 1
    two.save("a month later", now="2026-06-02T10:00:00+00:00")
    assert count_waiting(store) == 0


def test_where_nobody_saves_the_next_action_lets_the_old_ones_go(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, two = windows
    last = one.save("the goal", status="completed")
    one.run("git push")
    two.run("npm test")
    two.run("npm test again", now=DAY.format(31))
    assert count_waiting(store) == 3
    two.run("npm test still", now="2026-06-02T10:00:00+00:00")
    assert (commands(store, last), count_waiting(store)) == (["git push"], 2)


def test_only_a_session_that_was_just_saved_is_bound(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, two = windows
    old = one.save("an old goal", now=DAY.format(1))
    two.run("npm test", now=DAY.format(2))
    answers = (f"#{old.number}: archived", "no name", "#999", "##1", "#" + "9" * 30, "", old.id)
    for answer in answers:
        record_save(store.root, two.caller, answer, two.environment, now=DAY.format(2))
    assert commands(store, old) == []
    assert count_waiting(store) == 1


def test_a_session_is_known_by_its_id_as_well(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, two = windows
    session = one.save("a goal")
    two.run("npm test")
    answer = f'{{"id":"{session.id}","message":"Saved #{session.number}."}}'
    record_save(store.root, two.caller, answer, two.environment, now=DAY.format(1))
    assert commands(store, session) == ["npm test"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("key", ["saved_new", "saved_again"])
def test_a_session_is_known_by_the_answer_in_either_language(
    key: str, lang: Language, store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, two = windows
    session = one.save("a goal")
    for name in (f"#{session.number}", session.id):
        two.caller = Caller("claude-code", name)
        two.run(f"npm test {name}")
        answer = sentence(lang, f"sessions.answers.{key}", name=name)
        record_save(store.root, two.caller, answer, two.environment, now=DAY.format(1))
        assert commands(store, session)[-1] == f"npm test {name}"


def test_another_client_with_the_same_id_has_another_conversation(
    store: SessionStore, windows: tuple[Window, Window]
) -> None:
    one, _ = windows
    one.run("npm test")
    one.caller = Caller("codex", "first")
    assert commands(store, one.save("a goal")) == []
