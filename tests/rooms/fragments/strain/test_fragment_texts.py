"""Tests that a fragment's text is data: whatever it says, it is stored as it is and found."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.bin import forget
from rooms.fragments.draft import Draft, prepared, remember
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Fragment, Wanted
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.versions import Amendment, amend
from tests.support.both_engines import IN_A_FILE
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.fragments_room import a_room, stored
from tests.support.hostile_texts import HOSTILE


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return a_room(tmp_path)


def a_draft(text: str) -> Draft:
    """This text in every field."""
    keywords = (f"k {text}"[:50].strip(), "crowd")
    short = f"t {text}"[:50].strip()
    return Draft(content=f"c {text}", topic=short, keywords=keywords, source=f"s {text}"[:200])


def assert_comes_back(room: Room, draft: Draft) -> Fragment:
    """Saved, every text comes back as it was cleaned, from the store and from outside."""
    expected = prepared(draft).draft
    saved = remember(room, draft).fragment
    assert stored(room, saved.id) == [saved]
    told = (saved.content, saved.topic, saved.keywords, saved.source)
    assert told == (expected.content, expected.topic, expected.keywords, expected.source)
    if not room.engine.keeps_agents_apart:  # a server keeps no NUL as it is
        with closing(sqlite3.connect(room.engine.name)) as connection:
            statement = "SELECT content, topic, source FROM fragments WHERE id = ?"
            [row] = connection.execute(statement, (saved.id,))
        assert row == (expected.content, expected.topic, expected.source)
    assert_is_in_step(room)
    return saved


def assert_is_in_step(room: Room) -> None:
    """What finds texts says what the rows say, and of no row that is gone."""
    if not room.engine.keeps_agents_apart:
        with closing(sqlite3.connect(room.engine.name)) as connection:
            connection.execute(
                "INSERT INTO fragments_fts(fragments_fts) VALUES ('integrity-check')"
            )
    with room.engine.writing() as writing:
        assert not writing.mend_index()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_is_stored_found_changed_and_removed_as_text(room: Room, kind: str) -> None:
    text = HOSTILE[kind]
    saved = assert_comes_back(room, a_draft(text))
    wanted = Wanted(topics=(saved.topic,), keywords=saved.keywords)
    with room.engine.reading() as reading:
        assert reading.find(wanted) == [saved]
    for asked in (text, text[:20], f'"{text}"'):
        recall(room, Query(text=asked))
        recall(room, Query(keywords=(asked,), topic=asked, tags=(asked,)))
        with pytest.raises(FragmentsError):
            recall(room, Query(since=asked))
    amend(room, Amendment(id=saved.id, content=f"other {text}"))
    forget(room, id=saved.id, hard=True)
    assert_is_in_step(room)


ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


@pytest.mark.long  # it costs much
@IN_A_FILE
@given(text=ANY)
def test_any_text_comes_back_and_is_asked_for(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    room = a_room(tmp_path_factory.mktemp("any"))  # in which no other says the same already
    saved = assert_comes_back(room, a_draft(text))
    recall(room, Query(text=text, keywords=(text,)))
    with room.engine.reading() as reading:
        found = reading.find(Wanted(topics=(saved.topic,), keywords=saved.keywords))
    assert [it.id for it in found] == [saved.id]  # whose use is counted by now
    room.engine.close()
