"""Tests findings and repairs of the fragments' file, and secrets: no byte of a secret reaches a
disk, and one that is there already is found, and then gone from the bytes.
"""

import os
import sqlite3
from array import array
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from core.config import FRAGMENTS_VARIABLE, Settings
from core.lessons.upkeep import Finding
from core.room.copies import copies_of
from core.room.database import DatabaseError
from rooms.fragments import fragment
from rooms.fragments.fragment import Activity, Embedding, Fragment, FragmentsError, Version, hash_of
from rooms.fragments.room import Room
from rooms.fragments.storage.columns import is_moment
from rooms.fragments.storage.rows import Engine
from rooms.fragments.storage.sqlite import SqliteEngine, migrations
from rooms.fragments.upkeep.health import examine, find_secrets, redact_secrets
from tests.core.guard.secret_corpus import sampled
from tests.rooms.fragments.test_lives import VERBS, Life
from tests.support.cli_process import TOKEN
from tests.support.fragments_room import Clock, a_room, add, saved, stored
from tests.support.sentences import raised
from tests.support.session_samples import every_byte
from tests.support.tables import table
from tests.support.team_engines import Databases

SETTINGS = Settings(lock_timeout_s=5)
COUNT = 20
WORD = "Xk29vQp7Lm"  # a secret only where something says so
MARKER = "[REDACTED]"
DATE = "2026-05-01T10:00:00+00:00"
VECTOR = array("f", (0.6, 0.8)).tobytes()
IDS = ("id", "fragment_id", "content_hash")  # which nobody writes
FEEDBACK = {"tool_name": "recall", "relevant": True, "sufficient": True, "created_at": DATE}
SAMPLES: dict[type[Any], dict[str, Any]] = {
    Version: {"fragment_id": "clean", "content": "before", "amended_at": DATE},
    fragment.ToolFeedback: FEEDBACK,
    fragment.TaskFeedback: {"session_id": "s", "created_at": DATE},
    Activity: {"session_id": "s", "started_at": DATE, "last_at": DATE},
}
SAMPLE, SEED = 120, 20261123
# By the action of a caller with a text: the verb and its arguments.
WAYS: dict[str, tuple[str, dict[str, Any]]] = table("fragment_texts")["ways"]


def done(room: Room, way: str, text: str) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(it) for name, it in value.items()}
        if isinstance(value, list):
            return [filled(it) for it in value]
        words = {"TEXT": text, "SHORT": text[:200], "c NEW": f"{way} {len(text)}"}
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


@pytest.fixture
def place(tmp_path: Path) -> Mapping[str, str]:
    return {FRAGMENTS_VARIABLE: str(tmp_path / "memory.db")}


@pytest.fixture
def path(room: Room) -> Path:
    """The file of some fragments with vectors; one is in the bin."""
    added = add(room, *(f"word{at} zebra" for at in range(COUNT)))
    with room.engine.writing() as rows:
        rows.put_vectors([Embedding(it.number, VECTOR) for it in added])
        rows.set_fields([added[0].number], {"deleted_at": room.clock(), "deletion": "forgotten"})
    room.engine.close()
    return room.config.path


def wrong(place: Mapping[str, str]) -> list[Finding]:
    return [it for it in examine(SETTINGS, place) if it.severity != "ok"]


def kinds(place: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    prefix = "fragments.health."
    return [(it.kind.removeprefix(prefix), it.severity, it.fixable) for it in wrong(place)]


def mend(place: Mapping[str, str]) -> None:
    """Repair the only thing that is wrong."""
    [fix] = (it.fix for it in wrong(place) if it.fix)
    fix()


def test_where_nothing_was_ever_saved_there_is_nothing_to_say_or_to_make(
    tmp_path: Path, place: Mapping[str, str]
) -> None:
    engine = SqliteEngine(tmp_path / "none" / "memory.db", timeout_s=5)
    assert (examine(SETTINGS, place), find_secrets(engine)) == ([], [])
    assert redact_secrets(engine) == ([], [], [])
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_well_says_how_many_and_how_large(
    path: Path, place: Mapping[str, str]
) -> None:
    before = path.read_bytes()
    [well] = examine(SETTINGS, place)
    counts = {"count": COUNT - 1, "in_bin": 1, "schema": len(migrations()), "agents": 0}
    file = {"path": str(path), "bytes": len(before), "mode": "600", "engine": ""}
    assert (well.severity, well.facts) == ("ok", counts | file)
    assert path.read_bytes() == before


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("statement", [
    "UPDATE fragments SET content = 'a walrus' WHERE id = 'f7'",
    "UPDATE fragments SET deleted_at = '2026-05-01T10:00:00+00:00' WHERE id = 'f7'",
    "DELETE FROM fragments WHERE id = 'f7'",
    "DELETE FROM fragments_fts WHERE rowid = 8",
])  # fmt: skip
def test_an_index_out_of_step_is_noticed_and_made_anew(
    room: Room, path: Path, place: Mapping[str, str], statement: str
) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    assert kinds(place) == [("index", "warning", True)]
    mend(place)
    assert kinds(place) == []
    with room.engine.reading() as reading:
        having = reading.coverage("word7", 99).shares(0.25)
    is_found = any(it.is_live and "word7" in it.content for it in stored(room, "f7"))
    assert (8 in having) == is_found


def test_a_file_that_others_may_read_is_made_the_users_own_and_vectors_of_several_lengths_named(
    room: Room, path: Path, place: Mapping[str, str]
) -> None:
    path.chmod(0o644)
    assert kinds(place) == [("mode", "warning", True)]
    mend(place)
    assert path.stat().st_mode & 0o777 == 0o600
    assert kinds(place) == []
    with room.engine.writing() as writing:
        writing.put_vectors([Embedding(3, array("f", (1.0,)).tobytes())])
    assert kinds(place) == [("vectors", "warning", False)]
    assert wrong(place)[0].facts["lengths"] == f"2 ({COUNT - 1}), 1 (1)"


def test_a_place_that_is_no_path_and_a_foreign_file_are_said(
    tmp_path: Path, place: Mapping[str, str]
) -> None:
    assert kinds({FRAGMENTS_VARIABLE: "here.db"}) == [("config", "error", False)]
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    (tmp_path / "memory.db").chmod(0o600)
    assert kinds(place) == [("unusable", "error", False)]


@pytest.mark.skipif(os.getuid() == 0, reason="needs permissions that hold")
def test_a_repair_that_may_not_write_says_so(path: Path, place: Mapping[str, str]) -> None:
    path.write_bytes(b"no database " * 900)
    path.parent.chmod(0o500)
    try:
        with raised(DatabaseError, "not_mended"):
            mend(place)
    finally:
        path.parent.chmod(0o700)


# Secrets.


@pytest.mark.long  # it costs much
def test_no_byte_of_a_secret_is_on_disk_whole_or_split_or_spelled_small(tmp_path: Path) -> None:
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
    parts = (TOKEN[:9], TOKEN[9:21], TOKEN[21:])
    for way in WAYS:
        done(room, way, f"{way[:2]}1 {TOKEN}")
        done(room, way, f"{way[:2]}2 " + "\u200b".join(parts))
    told += [("any", "token", it) for it in (TOKEN[4:9], *parts[1:], TOKEN[4:].lower())]
    written = every_byte(tmp_path)
    room.engine.close()
    for data in (written, every_byte(tmp_path)):
        assert [it for it in told if it[2].encode() in data] == []


# Secrets that are there already.


@pytest.fixture(params=["file", "server"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An engine with one fragment without secrets."""
    if request.param == "file":
        engine: Engine = SqliteEngine(tmp_path / "memory.db", timeout_s=1)
    else:
        server: Databases = request.getfixturevalue("databases")
        engine = server.engine_at(tmp_path / "memory.db")
    with engine.writing() as rows:
        [clean] = rows.add([a_fragment("clean", "The shop runs on Node 20")])
        rows.put_vectors([Embedding(clean.number, VECTOR)])
    yield engine
    engine.close()


def a_fragment(id_: str, content: str = "fine", **values: Any) -> Fragment:
    values |= {"created_at": DATE, "content_hash": hash_of(content)}
    return Fragment(id=id_, content=content, **values)


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
        rows.put_entries([it for it in rows_with_tokens if not isinstance(it, Fragment)])
        rows.set_state({"model": f"https://user:{WORD}{WORD}@host/v1", "purged": "3"})
    engine.keep_copy()
    held = find_secrets(engine)
    names = ["clean", *(it.id for it in fragments), *[""] * 4]
    assert [it.name for it in held] == names and TOKEN not in repr(held)
    done = redact_secrets(engine)
    assert (done.redacted_places, done.left_places, done.unpurged_files) == (held, [], [])
    data = all_bytes(engine)
    assert TOKEN.encode() not in data and WORD.encode() not in data
    assert TOKEN[4:24].lower().encode() not in data  # an index spells words small
    with engine.reading() as rows:
        assert rows.state()["purged"] == "3"
        assert rows.by_ids(["clean"])[0].content == "The shop runs on Node 20"
        assert len(rows.entries(Version, subject="clean")) == sum(
            isinstance(it, Version) for it in rows_with_tokens
        )


def test_a_secret_that_one_text_gives_away_goes_from_all_and_all_else_stays(engine: Engine) -> None:
    with engine.writing() as rows:
        texts = {"split": f"password: {WORD}", "found": f"Rotate {TOKEN}"}
        [_, found] = rows.add([a_fragment(*it) for it in texts.items()])
        rows.put_vectors([Embedding(found.number, VECTOR)])
        said = [("split", f"tried {WORD} again"), ("gone", TOKEN), ("gone", "fine")]
        rows.put_entries(Version(fragment_id=of, content=it, amended_at=DATE) for of, it in said)
        names = TOKEN, MARKER
        rows.put_entries(Activity(session_id=it, started_at=DATE, last_at=DATE) for it in names)
    assert [it.name for it in redact_secrets(engine).redacted_places] == ["split", "found", "", ""]
    with engine.reading() as rows:
        [split, found] = rows.by_ids(["split", "found"])
        assert WORD not in split.content + rows.entries(Version, subject="split")[0].content
        assert found.content == f"Rotate {MARKER}" and found.content_hash == hash_of(found.content)
        assert rows.vectors([found.number]) == []  # it was of the secret
        assert rows.coverage("rotate", 9).shares(0.25).keys() == {found.number}
        assert [it.content for it in rows.entries(Version, subject="gone")] == [MARKER, "fine"]
        assert [it.session_id for it in rows.entries(Activity)] == [MARKER]
    assert redact_secrets(engine).redacted_places == []


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
        done = redact_secrets(engine)
    assert ([it.name for it in done.redacted_places], done.left_places) == (["clean"], [])
    assert done.unpurged_files == [engine.path] and copies_of(engine.path) == []
    assert redact_secrets(engine).unpurged_files == []
    assert TOKEN.encode() not in all_bytes(engine)
