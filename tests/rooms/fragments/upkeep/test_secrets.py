"""Tests that no byte of a secret reaches a disk, by whatever field of a fragment it comes, and that
one which is there already is found wherever fragments are kept, and is gone from the bytes then.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from core.room.copies import copies_of
from rooms.fragments import fragment
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Activity, Draft, Fragment, FragmentsError, Version, hash_of
from rooms.fragments.room import Room
from rooms.fragments.storage.columns import is_moment
from rooms.fragments.storage.rows import Engine
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.upkeep.health import redact_held, secrets_held
from tests.rooms.fragments.lives import VERBS, Life
from tests.support.cli_process import TOKEN
from tests.support.fragments_room import Clock, a_room, saved
from tests.support.secret_corpus import sampled
from tests.support.session_samples import every_byte
from tests.support.tables import table
from tests.support.team_engines import Databases

WORD = "Xk29vQp7Lm"  # a secret only where something says so
MARKER = "[REDACTED]"
DATE = "2026-05-01T10:00:00+00:00"
VECTOR = b"\0\0\x80?\0\0\0\0"
IDS = ("id", "fragment_id", "content_hash")  # which nobody writes
FEEDBACK = {"tool_name": "recall", "relevant": True, "sufficient": True, "created_at": DATE}
SAMPLES: dict[type[Any], dict[str, Any]] = {
    Version: {"fragment_id": "clean", "content": "before", "amended_at": DATE},
    fragment.ToolFeedback: FEEDBACK,
    fragment.TaskFeedback: {"session_id": "s", "created_at": DATE},
    Activity: {"session_id": "s", "started_at": DATE, "last_at": DATE},
}
SAMPLE, SEED = 120, 20261123
# By what a caller does with a text: the verb and its arguments.
WAYS: dict[str, tuple[str, dict[str, Any]]] = table("fragment_texts")["ways"]


def done(room: Room, way: str, text: str) -> None:
    """Do this with a text."""

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(it) for name, it in value.items()}
        if isinstance(value, list):
            return [filled(it) for it in value]
        words = {"TEXT": text, "SHORT": text[:200], "c NEW": f"c{len(text)}"}
        return words.get(value, value)

    verb, given = WAYS[way]
    given = filled(given)
    if "id" in given:
        given["id"] = saved(room, f"before {way} {len(text)}").id
    if way == "feedback":
        given["suggestion"] = text[:500]
    life = Life(room, Clock())
    values = {name: life.meant(name, value) for name, value in given.items()}
    VERBS[verb](life, **values)


@pytest.mark.long  # it costs much
def test_no_byte_of_a_secret_is_on_disk(tmp_path: Path) -> None:
    """Sampled: a text that the redactor misses is its own business, and none is here."""
    room, told = a_room(tmp_path), list[tuple[str, str, str]]()
    for way, case, secrets in sampled([*WAYS], SAMPLE, SEED):
        try:
            done(room, way, case.text)
        except FragmentsError as error:  # too long for its field, a topic or a keyword most of all
            assert error.key in ("too_long", "too_large", "same_content"), error
            continue
        told += [(way, case.kind, secret) for secret in secrets]
    assert len(told) > SAMPLE / 3 and {way for way, _, _ in told} >= {"content", "amend", "reflect"}
    written = every_byte(tmp_path)
    room.engine.close()
    for data in (written, every_byte(tmp_path)):
        assert [it for it in told if it[2].encode() in data] == []


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("way", WAYS)
def test_a_token_of_any_field_is_in_no_byte_whole_or_split(tmp_path: Path, way: str) -> None:
    room, parts = a_room(tmp_path), (TOKEN[:9], TOKEN[9:21], TOKEN[21:])
    done(room, way, f"one {TOKEN}")
    done(room, way, "two " + "\u200b".join(parts))
    data = every_byte(tmp_path)
    assert [it for it in (TOKEN[4:9], *parts[1:]) if it.encode() in data] == []
    assert TOKEN[4:].lower().encode() not in data  # an index spells words small


@pytest.mark.parametrize("way", ["content", "topic", "keywords", "source", "reflect"])
def test_a_refused_secret_leaves_nothing_on_disk(tmp_path: Path, way: str) -> None:
    with pytest.raises(FragmentsError) as caught:
        done(a_room(tmp_path, strict=True), way, TOKEN)
    assert "this looks like a secret (" in str(caught.value)
    assert TOKEN not in str(caught.value) and list(tmp_path.iterdir()) == []


def test_a_session_is_not_named_by_a_secret(tmp_path: Path) -> None:
    life = Life(a_room(tmp_path), Clock())
    for verb, given in (
        ("save", {"content": "one", "is_working": True}),
        ("save", {"content": "two"}),
        ("reflect", {"summary": "three"}),
    ):
        with pytest.raises(FragmentsError) as caught:
            VERBS[verb](life, session=TOKEN, **given)
        assert caught.value.key == "secret_refused" and TOKEN not in str(caught.value)
    assert TOKEN.encode() not in every_byte(tmp_path)


@pytest.mark.parametrize("separator", [",", ";", "，"])
def test_a_secret_is_not_parted_where_keywords_are(tmp_path: Path, separator: str) -> None:
    first, second = "Xk29v", "Qp7LmR4tZ"
    address = f"postgres://admin:{first}{separator}{second}@db.shop.io/main"
    done = remember(a_room(tmp_path), Draft(content="x", keywords=(f"redis, {address}; shop",)))
    assert {*done.fragment.keywords} > {"redis", "shop"} and len(done.fragment.keywords) == 3
    data = every_byte(tmp_path)
    assert first.encode() not in data and second.encode() not in data


# What is there already.


@pytest.fixture(params=["file", "server"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An engine with one fragment without secrets."""
    if request.param == "file":
        engine: Engine = SqliteEngine(tmp_path / "memory.db", timeout_s=1)
    else:
        server: Databases = request.getfixturevalue("databases")
        engine = server.engine_at(tmp_path / "memory.db")
        request.addfinalizer(server.empty)
    with engine.writing() as rows:
        [clean] = rows.add([a_fragment("clean", "The shop runs on Node 20")])
        rows.put_vectors([fragment.Embedding(clean.number, VECTOR)])
    yield engine
    engine.close()


def a_fragment(id_: str, content: str = "fine", **values: Any) -> Fragment:
    return Fragment(
        id=id_, content=content, created_at=DATE, content_hash=hash_of(content), **values
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
    kinds: list[type[Any]] = [Fragment, *SAMPLES]
    for kind in kinds:
        for field in fields(kind):
            is_text = field.type in (str, tuple[str, ...]) and not is_moment(field.name)
            if not is_text or field.name in IDS:
                continue
            text: Any = {field.name: TOKEN if field.type is str else ("k", TOKEN)}
            if kind is Fragment:
                yield a_fragment(f"in-{field.name}", **text)
            else:
                yield kind(**SAMPLES[kind] | text)


@pytest.mark.row("002 2.94")
def test_a_token_of_any_column_is_found_and_leaves_no_byte(engine: Engine) -> None:
    rows_with_tokens = list(planted())
    fragments = [it for it in rows_with_tokens if isinstance(it, Fragment)]
    assert len(fragments) > 7 and len(rows_with_tokens) > 20
    with engine.writing() as rows:
        rows.add(fragments)
        rows.note([it for it in rows_with_tokens if not isinstance(it, Fragment)])
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
        assert len(rows.entries(Version, of="clean")) == sum(
            isinstance(it, Version) for it in rows_with_tokens
        )


def test_what_one_text_gives_away_goes_from_all_and_all_else_stays(engine: Engine) -> None:
    with engine.writing() as rows:
        texts = {"split": f"password: {WORD}", "found": f"Rotate {TOKEN}"}
        [_, found] = rows.add([a_fragment(*it) for it in texts.items()])
        rows.put_vectors([fragment.Embedding(found.number, VECTOR)])
        said = [("split", f"tried {WORD} again"), ("gone", TOKEN), ("gone", "fine")]
        rows.note(Version(fragment_id=of, content=it, amended_at=DATE) for of, it in said)
        rows.note(Activity(session_id=it, started_at=DATE, last_at=DATE) for it in (TOKEN, MARKER))
    assert [it.name for it in redact_held(engine).changed] == ["split", "found", "", ""]
    with engine.reading() as rows:
        [split, found] = rows.by_ids(["split", "found"])
        assert WORD not in split.content + rows.entries(Version, of="split")[0].content
        assert found.content == f"Rotate {MARKER}" and found.content_hash == hash_of(found.content)
        assert rows.vectors([found.number]) == []  # it was of the secret
        assert rows.holding("rotate", 9).shares(0.25).keys() == {found.number}
        assert [it.content for it in rows.entries(Version, of="gone")] == [MARKER, "fine"]
        assert [it.session_id for it in rows.entries(Activity)] == [MARKER]
    assert redact_held(engine).changed == []


@pytest.mark.parametrize("engine", ["file"], indirect=True)
def test_bytes_that_another_process_reads_stay_and_are_named(engine: SqliteEngine) -> None:
    with closing(sqlite3.connect(engine.path)) as connection, connection:
        no_list = f'{{["{TOKEN}"'  # is looked at as it stands
        connection.execute("UPDATE fragments SET keywords = ?", (no_list,))
    engine.keep_copy()
    [copy] = copies_of(engine.path)
    assert TOKEN.encode() in copy.read_bytes()
    with closing(sqlite3.connect(engine.path)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM fragments").fetchone()
        done = redact_held(engine)
    assert ([it.name for it in done.changed], done.left) == (["clean"], [])
    assert done.unpurged == [engine.path] and copies_of(engine.path) == []
    assert redact_held(engine).unpurged == []
    assert TOKEN.encode() not in all_bytes(engine)


def test_where_there_is_nothing_nothing_is_made(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "none" / "memory.db", timeout_s=5)
    assert secrets_held(engine) == []
    assert redact_held(engine) == ([], [], [])
    assert list(tmp_path.iterdir()) == []
