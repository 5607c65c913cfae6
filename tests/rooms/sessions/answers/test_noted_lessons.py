"""Tests that what an older version noted of lessons in a session can still be read."""

import pytest

from rooms.sessions.actions.kinds import lessons_in
from rooms.sessions.answers import whole
from rooms.sessions.exchange.exporting import FormName, export
from rooms.sessions.store import SessionStore
from tests.support.room_samples import RECORD, a_lesson, a_session
from tests.support.sentences import in_language
from tests.support.session_samples import keep, make_sample_store

NAME = f"{RECORD.id}: Run make redis"


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> SessionStore:
    """A session with a lesson that was followed in one file and shown in another."""
    actions = [a_lesson(1, "shown"), a_lesson(1, "followed"), a_lesson(1, "shown", file="b.py")]
    store = make_sample_store(tmp_path_factory.mktemp("shop"), 0)
    keep(store, [(a_session(1), actions)])
    return store


def test_the_answer_has_a_line_on_each_kind_in_both_languages(store: SessionStore) -> None:
    session = store.get("1")
    actions = store.actions(session)
    said = whole.text(session, actions=actions, how="x").splitlines()
    assert f"lessons followed: {NAME} (a.py)" in said
    assert f"lessons shown, not followed so far: {NAME} (b.py)" in said
    assert not [line for line in said if line.startswith("- lesson")]
    assert f"따른 교훈: {NAME} (a.py)" in in_language(
        "ko", whole.text, session, actions=actions, how="x"
    )


def test_of_two_notes_on_one_lesson_the_last_counts() -> None:
    noted = lessons_in([a_lesson(1, "followed"), a_lesson(1, "shown")])
    assert [it.result for it in noted] == ["shown"]


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("markdown", f"lesson: `{NAME} a.py` → followed"),
        ("html", f"lesson: <code>{NAME} a.py</code> → followed"),
        ("json", f'"type": "lesson", "content": "{NAME}", "result": "followed"'),
    ],
)
def test_an_export_names_it(store: SessionStore, form: FormName, told: str) -> None:
    assert told in export(store, form).text
