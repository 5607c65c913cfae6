"""Tests that secrets are found wherever fragments are kept, and are gone from the bytes then."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.room.copies import copies_of
from rooms.fragments.fragment import (
    Activity,
    Embedding,
    Fragment,
    TaskFeedback,
    ToolFeedback,
    Version,
    Wanted,
    hash_of,
)
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.upkeep.secrets import redact_held, secrets_held
from tests.support.cli_process import TOKEN
from tests.support.room import every_byte

WORD = "Xk29vQp7Lm"  # a secret only where something says so
MARKER = "[REDACTED]"
DATE = "2026-05-01T10:00:00+00:00"


@pytest.fixture
def engine(tmp_path: Path) -> SqliteEngine:
    """A clean fragment, and secrets in every place that there is."""
    engine = SqliteEngine(tmp_path / "memory.db", timeout_s=5)
    with engine.writing() as writing:
        *_, last = writing.add([
            Fragment(id="clean", content="The shop runs on Node 20", created_at=DATE),
            Fragment(id="content", content=f"Rotate {TOKEN}", created_at=DATE),
            Fragment(id="split", content=f"password: {WORD}", created_at=DATE),
            Fragment(id="others", content="fine", topic=TOKEN[:50], keywords=("k", TOKEN),
                     source=TOKEN, agent=TOKEN, session=TOKEN, created_at=DATE),
            Fragment(id="bin", content=TOKEN, created_at=DATE, deleted_at=DATE),
            Fragment(id="broken", content="fine", created_at=DATE),
        ])  # fmt: skip
        writing.put_vectors([Embedding(last.number - 4, b"1234")])
        writing.note([
            Version(fragment_id="split", content=f"tried {WORD} again", amended_at=DATE),
            Version(fragment_id="gone", content=TOKEN, keywords=(TOKEN,), amended_at=DATE),
            ToolFeedback(tool_name="recall", relevant=True, sufficient=True, created_at=DATE,
                         suggestion=TOKEN, context=TOKEN),
            TaskFeedback(tool_pain_points=("fine", TOKEN), created_at=DATE),
            Activity(session_id=TOKEN, agent=TOKEN, started_at=DATE, last_at=DATE),
        ])  # fmt: skip
        writing.set_state({"model": f"https://user:{WORD}{WORD}@host/v1", "purged": "3"})
    with closing(sqlite3.connect(engine.path)) as connection:
        connection.execute(
            "UPDATE fragments SET keywords = ? WHERE id = 'broken'", (f'{{["{TOKEN}"',)
        )
        connection.commit()
    return engine


def test_every_place_is_named_without_its_value(engine: SqliteEngine) -> None:
    names = [it.name for it in secrets_held(engine)]
    assert names == ["content", "split", "others", "bin", "broken", *[""] * 5]
    told = repr(secrets_held(engine))
    assert (TOKEN in told, WORD in told) == (False, False)


@pytest.mark.row("002 2.94")
def test_a_redaction_leaves_no_byte_and_all_else_as_it_was(
    engine: SqliteEngine, tmp_path: Path
) -> None:
    engine.keep_copy()
    [copy] = copies_of(engine.path)
    assert TOKEN.encode() in copy.read_bytes()
    done = redact_held(engine)
    assert (len(done.changed), done.left, done.unpurged) == (10, [], [])
    for found in (every_byte(tmp_path), _closed(engine, tmp_path)):
        assert TOKEN.encode() not in found and WORD.encode() not in found
        assert TOKEN[4:24].lower().encode() not in found
    with engine.reading() as reading:
        clean, content, split, others, *_ = reading.find(Wanted(state="all"))
        assert clean.content == "The shop runs on Node 20"
        assert content.content == f"Rotate {MARKER}"
        assert content.content_hash == hash_of(content.content)
        assert MARKER in split.content
        assert others.keywords == ("k", MARKER) and others.source == MARKER
        assert reading.find(Wanted(keywords=(MARKER,))) == [others]
        assert reading.find(Wanted(topics=(others.topic,))) == [others]
        assert reading.vectors([content.number]) == []  # it was of the secret
        assert WORD not in reading.entries(Version, of="split")[0].content
        assert reading.entries(TaskFeedback)[0].tool_pain_points == ("fine", MARKER)
        assert reading.state()["purged"] == "3"
        assert reading.holding("rotate", 9).shares(0.25).keys() == {content.number}
    with engine.writing() as writing:
        assert writing.drop(["content", "others"]) == 2


def _closed(engine: SqliteEngine, folder: Path) -> bytes:
    engine.close()
    return every_byte(folder)


def test_where_there_is_nothing_nothing_is_made(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "none" / "memory.db", timeout_s=5)
    assert secrets_held(engine) == []
    assert redact_held(engine) == ([], [], [])
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_another_process_reads_stay_and_are_named(engine: SqliteEngine) -> None:
    impatient = SqliteEngine(engine.path, timeout_s=1)
    with closing(sqlite3.connect(engine.path)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM fragments").fetchone()
        done = redact_held(impatient)
    assert (done.left, done.unpurged) == ([], [engine.path])
    assert redact_held(impatient).unpurged == []
    assert json.dumps(TOKEN).encode() not in engine.path.read_bytes()
