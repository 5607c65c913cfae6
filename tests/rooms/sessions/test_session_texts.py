"""Tests that a text is data: stored as it is, shown as one line, and without a byte of a secret."""

import json
import os
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rooms.sessions.answers import whole
from rooms.sessions.draft import prepared
from rooms.sessions.hints import hint
from rooms.sessions.search import Criteria, resembling, search
from rooms.sessions.session import POINTS, Changes, Draft, Point, Session, SessionsError
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep import delete
from tests.support.hostile_texts import HOSTILE, OBEYED
from tests.support.secret_corpus import sampled
from tests.support.sentences import in_language
from tests.support.session_samples import every_byte


def is_line(text: str) -> bool:
    return not OBEYED.search(text)


def a_draft(text: str, goal: str) -> Draft:
    """This text in every field that is no goal or tag, whose blanks are trimmed."""
    return Draft(
        goal=f"{goal} {text}".strip(),
        summary=text,
        tags=(f"tag {text}"[:50].strip(),),
        decisions=(Point(text=f"w {text}", why=text),),
        approaches=(Point(text=f"d {text}", result="failed", why=text),),
        blockers=(Point(text=f"b {text}", is_resolved=True, why=text),),
        changes=Changes(modified_files=(f"f {text}",), summary=text),
    )


def told_in(it: Draft | Session) -> list[object]:
    """What somebody told, without what a save adds."""
    points = [point for name in POINTS for point in getattr(it, name)]
    told = [(point.text, point.why, point.result, point.is_resolved) for point in points]
    return [it.goal, it.summary, it.tags, it.changes, *told]


def assert_comes_back(store: SessionStore, draft: Draft) -> Session:
    """Saved, every text comes back as it was cleaned, from the store and from outside."""
    expected = prepared(draft).draft
    saved = store.save(draft, agent="", process=os.urandom(8).hex()).session  # continues nothing
    session = store.get(f"#{saved.number}")
    assert session == saved
    assert told_in(session) == told_in(expected)
    with closing(sqlite3.connect(store.path)) as connection:
        statement = "SELECT goal, summary, tags, metadata FROM contexts WHERE id = ?"
        [(goal, summary, tags, metadata)] = connection.execute(statement, (session.id,))
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')")
    assert (goal, summary) == (expected.goal, expected.summary)
    assert tuple(json.loads(tags)) == expected.tags
    assert json.loads(metadata)["decisions"][0]["what"] == expected.decisions[0].text
    assert json.loads(store.current.read_bytes())["goal"] == expected.goal
    return session


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T88")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_is_stored_found_shown_and_removed_as_text(
    store: SessionStore, kind: str
) -> None:
    text = HOSTILE[kind]
    session = assert_comes_back(store, a_draft(text, "g"))
    line = hint(session)
    assert line.startswith("#1 ") and is_line(line)
    harmless = store.save(a_draft("plain words", "h"), agent="a", process="p").session
    lines = [whole(it, how="x").split("\n") for it in (session, harmless)]
    assert all(map(is_line, lines[0])), lines[0]
    first = [it.partition(":")[0] for it in lines[0][1:] if not it.startswith("  ")]
    labels = [it.partition(":")[0] for it in lines[1][1:]]
    assert set(first) <= {*labels, "Left out"} and len(first) <= len(labels) + 1
    for query in (text, text[:20], f'"{text}"'):
        assert search(store, Criteria(query=query), limit=5).total <= 2
        resembling(store, query, limit=3)
    assert search(store, Criteria(tags=(text,), agent=text), limit=5).total == 0
    with store.writing() as connection:
        delete(connection, store.get("#1"))
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')")


ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=120)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANY)
def test_any_text_comes_back(store: SessionStore, text: str) -> None:
    session = assert_comes_back(store, a_draft(text, "g"))
    assert is_line(hint(session)) and is_line(in_language("ko", hint, session))
    assert all(map(is_line, whole(session, how="x").split("\n")))


FIELDS = ("goal", "summary", "tags", "decisions", "approaches", "blockers", "codeChanges")
SAMPLE, SEED = 140, 20261123


def with_text(field: str, text: str) -> Draft:
    """A draft that says this in one field."""
    fields: dict[str, Any] = {
        "goal": {"goal": text},
        "summary": {"summary": text},
        "tags": {"tags": (text,)},
        "decisions": {"decisions": (Point(text="w", why=text),)},
        "approaches": {"approaches": (Point(text=text, result="failed"),)},
        "blockers": {"blockers": (Point(text="b", is_resolved=True, why=text),)},
        "codeChanges": {"changes": Changes(modified_files=("a.py",), summary=text)},
    }
    return Draft(**{"goal": "g", **fields[field]})


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T86")
def test_no_byte_of_a_secret_is_on_disk(store: SessionStore) -> None:
    """Sampled: a text that the redactor misses is its own business, and none is here."""
    told = list[tuple[str, str, str]]()
    for at, (field, case, secrets) in enumerate(sampled(FIELDS, SAMPLE, SEED)):
        if field == "tags" and len(case.text) > 200:
            field = "summary"
        try:
            saved = store.save(with_text(field, case.text), agent="a", process=f"p{at}")
        except SessionsError as error:  # too long for its field, tags most of all
            assert error.key == "too_long", error
            continue
        assert saved.redacted, (field, case.kind, case.placement)
        told += [(field, case.kind, secret) for secret in secrets]
    assert len(told) > SAMPLE / 2 and {field for field, _, _ in told} == set(FIELDS)
    for _ in range(2):  # with its journals, and after it was closed
        data = every_byte(store.root)
        assert [it for it in told if it[2].encode() in data] == []
        store.database.close()
