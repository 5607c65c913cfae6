"""Tests that secrets are found wherever fragments are kept, and are gone from the bytes then."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from core.room.copies import copies_of
from rooms.fragments import fragment
from rooms.fragments.storage import Engine
from rooms.fragments.storage.columns import is_moment
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.upkeep.health import redact_held, secrets_held
from tests.support.cli_process import TOKEN
from tests.support.session_samples import every_byte
from tests.support.team_engines import Databases

WORD = "Xk29vQp7Lm"  # a secret only where something says so
MARKER = "[REDACTED]"
DATE = "2026-05-01T10:00:00+00:00"
IDS = ("id", "fragment_id", "content_hash")  # which nobody writes
SAMPLES: dict[type[Any], dict[str, Any]] = {
    fragment.Version: {"fragment_id": "clean", "content": "before", "amended_at": DATE},
    fragment.ToolFeedback: {
        **{"tool_name": "recall", "relevant": True, "sufficient": True, "created_at": DATE}
    },
    fragment.TaskFeedback: {"session_id": "s", "created_at": DATE},
    fragment.Activity: {"session_id": "s", "started_at": DATE, "last_at": DATE},
}


@pytest.fixture(params=["file", "server"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An engine with one fragment without secrets."""
    if request.param == "file":
        engine: Engine = SqliteEngine(tmp_path / "memory.db", timeout_s=5)
    else:
        server: Databases = request.getfixturevalue("databases")
        engine = server.engine_at(tmp_path / "memory.db")
        request.addfinalizer(server.empty)
    with engine.writing() as rows:
        [clean] = rows.add([a_fragment("clean", "The shop runs on Node 20")])
        rows.put_vectors([fragment.Embedding(clean.number, b"\0\0\x80?\0\0\0\0")])
    yield engine
    engine.close()


def a_fragment(id_: str, content: str = "fine", **values: Any) -> fragment.Fragment:
    return fragment.Fragment(
        id=id_, content=content, created_at=DATE, content_hash=fragment.hash_of(content), **values
    )


def all_bytes(engine: Engine) -> bytes:
    """All that the engine keeps: the files, or every row of a server."""
    if isinstance(engine, SqliteEngine):
        engine.close()
        return every_byte(engine.path.parent)
    with engine.reading() as rows:
        names = rows.run(
            "SELECT table_name::text FROM information_schema.tables"
            " WHERE table_schema = 'agent_memory' AND table_type = 'BASE TABLE'"
        ).fetchall()
        found = [rows.run(f"SELECT t::text FROM {name} t").fetchall() for (name,) in names]
    return repr(found).encode()


def planted() -> Iterator[Any]:
    """A row of each kind for each field that holds a text, with a token there."""
    kinds: list[type[Any]] = [fragment.Fragment, *SAMPLES]
    for kind in kinds:
        for field in fields(kind):
            if field.type not in (str, tuple[str, ...]) or is_moment(field.name):
                continue
            text: Any = {field.name: TOKEN if field.type is str else ("k", TOKEN)}
            if field.name in IDS:
                continue
            if kind is fragment.Fragment:
                yield a_fragment(f"in-{field.name}", **text)
            else:
                yield kind(**SAMPLES[kind] | text)


@pytest.mark.row("002 2.94")
def test_a_token_of_any_column_is_found_and_leaves_no_byte(engine: Engine) -> None:
    rows_with_tokens = list(planted())
    fragments = [it for it in rows_with_tokens if isinstance(it, fragment.Fragment)]
    assert len(fragments) > 7 and len(rows_with_tokens) > 20
    with engine.writing() as rows:
        rows.add(fragments)
        rows.note([it for it in rows_with_tokens if not isinstance(it, fragment.Fragment)])
        rows.set_state({"model": f"https://user:{WORD}{WORD}@host/v1", "purged": "3"})
    engine.keep_copy()
    held = secrets_held(engine)
    names = ["clean", *(it.id for it in fragments), *[""] * 4]
    assert [it.name for it in held] == names and TOKEN not in repr(held)
    done = redact_held(engine)
    assert (done.changed, done.left, done.unpurged) == (held, [], [])
    data = all_bytes(engine)
    assert TOKEN.encode() not in data and WORD.encode() not in data
    assert TOKEN[4:24].lower().encode() not in data  # an index spells words small
    with engine.reading() as rows:
        assert rows.state()["purged"] == "3"
        assert rows.by_ids(["clean"])[0].content == "The shop runs on Node 20"
        assert len(rows.entries(fragment.Version, of="clean")) == sum(
            isinstance(it, fragment.Version) for it in rows_with_tokens
        )


def test_what_one_text_gives_away_goes_from_all_and_all_else_stays(engine: Engine) -> None:
    with engine.writing() as rows:
        [split, found] = rows.add(
            [a_fragment("split", f"password: {WORD}"), a_fragment("found", f"Rotate {TOKEN}")]
        )
        rows.put_vectors([fragment.Embedding(found.number, b"\0\0\x80?\0\0\0\0")])
        rows.note(
            [
                fragment.Version(
                    fragment_id="split", content=f"tried {WORD} again", amended_at=DATE
                ),
                fragment.Version(fragment_id="gone", content=TOKEN, amended_at=DATE),
                fragment.Version(fragment_id="gone", content="fine", amended_at=DATE),
                fragment.Activity(session_id=TOKEN, started_at=DATE, last_at=DATE),
                fragment.Activity(session_id=MARKER, started_at=DATE, last_at=DATE),
            ]
        )
    assert [it.name for it in redact_held(engine).changed] == ["split", "found", "", ""]
    with engine.reading() as rows:
        [split, found] = rows.by_ids(["split", "found"])
        assert WORD not in split.content + rows.entries(fragment.Version, of="split")[0].content
        assert (found.content, found.content_hash) == (
            f"Rotate {MARKER}",
            fragment.hash_of(f"Rotate {MARKER}"),
        )
        assert rows.vectors([found.number]) == []  # it was of the secret
        assert rows.holding("rotate", 9).shares(0.25).keys() == {found.number}
        assert [it.content for it in rows.entries(fragment.Version, of="gone")] == [MARKER, "fine"]
        assert [it.session_id for it in rows.entries(fragment.Activity)] == [MARKER]
    assert redact_held(engine).changed == []


def test_what_is_no_list_is_looked_at_as_it_stands(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "memory.db", timeout_s=5)
    with engine.writing() as rows:
        rows.add([a_fragment("broken")])
    with closing(sqlite3.connect(engine.path)) as connection:
        connection.execute("UPDATE fragments SET keywords = ?", (f'{{["{TOKEN}"',))
        connection.commit()
    engine.keep_copy()
    [copy] = copies_of(engine.path)
    assert TOKEN.encode() in copy.read_bytes()
    assert [it.name for it in redact_held(engine).changed] == ["broken"]
    assert TOKEN.encode() not in all_bytes(engine)
    assert copies_of(engine.path) == []


def test_where_there_is_nothing_nothing_is_made(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "none" / "memory.db", timeout_s=5)
    assert secrets_held(engine) == []
    assert redact_held(engine) == ([], [], [])
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_another_process_reads_stay_and_are_named(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "memory.db", timeout_s=1)
    with engine.writing() as rows:
        rows.add([a_fragment("found", TOKEN)])
    with closing(sqlite3.connect(engine.path)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM fragments").fetchone()
        done = redact_held(engine)
    assert (done.left, done.unpurged) == ([], [engine.path])
    assert redact_held(engine).unpurged == []
    assert TOKEN.encode() not in all_bytes(engine)
