"""Tests that a fragment's text is data: whatever it says, it is stored as it is and found."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rooms.fragments.bin import forget
from rooms.fragments.draft import Draft, prepared, remember
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import IN_A_FILE
from tests.support.fragments_room import a_room, stored
from tests.support.hostile_texts import HOSTILE

ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


def a_draft(text: str) -> Draft:
    """This text in every field."""
    keywords = (f"k {text}"[:50].strip(), "crowd")
    short = f"t {text}"[:50].strip()
    return Draft(content=f"c {text}", topic=short, keywords=keywords, source=f"s {text}"[:200])


def saved_as_it_is(room: Room, draft: Draft) -> Fragment:
    """Saved, every text comes back as it was cleaned, from the store and from outside."""
    expected = prepared(draft).draft
    saved = remember(room, draft).fragment
    assert stored(room, saved.id) == [saved]
    texts = (saved.content, saved.topic, saved.keywords, saved.source)
    assert texts == (expected.content, expected.topic, expected.keywords, expected.source)
    if not room.engine.keeps_agents_apart:  # a server keeps no NUL as it is
        with closing(sqlite3.connect(room.engine.name)) as connection:
            statement = "SELECT content, topic, source FROM fragments WHERE id = ?"
            [row] = connection.execute(statement, (saved.id,))
        assert row == (expected.content, expected.topic, expected.source)
    is_in_step(room)
    return saved


def is_in_step(room: Room) -> None:
    """The index says what the rows say, and nothing of a row that is gone."""
    if not room.engine.keeps_agents_apart:
        with closing(sqlite3.connect(room.engine.name)) as connection:
            check = "INSERT INTO fragments_fts(fragments_fts) VALUES ('integrity-check')"
            connection.execute(check)
    with room.engine.writing() as rows:
        assert not rows.mend_index()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_is_stored_found_changed_and_removed_as_text(room: Room, kind: str) -> None:
    text = HOSTILE[kind]
    saved = saved_as_it_is(room, a_draft(text))
    with room.engine.reading() as rows:
        assert rows.find(Wanted(topics=(saved.topic,), keywords=saved.keywords)) == [saved]
    for asked in (text, text[:20], f'"{text}"'):
        recall(room, Query(text=asked))
        recall(room, Query(keywords=(asked,), topic=asked, tags=(asked,)))
        with pytest.raises(FragmentsError):
            recall(room, Query(since=asked))
    amend(room, Amendment(id=saved.id, content=f"other {text}"))
    forget(room, id=saved.id, hard=True)
    is_in_step(room)


@pytest.mark.long  # it costs much
@IN_A_FILE
@settings(max_examples=min(settings().max_examples, 60), deadline=None)
@given(text=ANY, topic=st.text(max_size=10))
def test_any_text_comes_back_and_any_question_is_answered(
    tmp_path_factory: pytest.TempPathFactory, text: str, topic: str
) -> None:
    room = a_room(tmp_path_factory.mktemp("any"))  # in which no other says the same already
    saved = saved_as_it_is(room, a_draft(text))
    recall(room, Query(text=text, keywords=(text,), topic=topic, tags=(text, topic)))
    recall(room, Query(text=text, keywords=(text,)))
    with room.engine.reading() as rows:
        found = rows.find(Wanted(topics=(saved.topic,), keywords=saved.keywords))
    assert [each.id for each in found] == [saved.id]  # whose use is counted by now
    room.engine.close()
