"""Tests that vectors are found alike with numpy and without, from memory and from the file."""

import array
import math
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.fragment import Embedding, Fragment, Wanted
from rooms.fragments.storage.sqlite import SqliteEngine, Vectors

HAS_NUMPY = find_spec("numpy") is not None
with_numpy = pytest.mark.skipif(not HAS_NUMPY, reason="needs numpy")


def a_vector(*numbers: float) -> bytes:
    return array.array("f", numbers).tobytes()


def of_length_1(numbers: Sequence[float]) -> bytes:
    length = math.sqrt(sum(it * it for it in numbers)) or 1.0
    return a_vector(*(it / length for it in numbers))


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE TABLE fragment_vectors (revision INTEGER PRIMARY KEY AUTOINCREMENT,"
            " number INTEGER NOT NULL UNIQUE, embedding BLOB NOT NULL)"
        )
        yield connection


def put(connection: sqlite3.Connection, vectors: dict[int, Any]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO fragment_vectors (number, embedding) VALUES (?, ?)",
        vectors.items(),
    )


@pytest.mark.row("002 2.14", "004 4.10")
@with_numpy
@given(
    st.lists(
        st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4).map(of_length_1),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 6),
    st.sets(st.integers(1, 40)),
)
def test_numpy_and_python_say_the_same(vectors: list[bytes], most: int, allowed: set[int]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE TABLE fragment_vectors (revision INTEGER PRIMARY KEY AUTOINCREMENT,"
            " number INTEGER NOT NULL UNIQUE, embedding BLOB NOT NULL)"
        )
        put(connection, dict(enumerate(vectors, 1)))
        by_numpy, by_python = (
            Vectors(uses_numpy=uses).near(connection, 1, vectors[0], allowed, most)
            for uses in (True, False)
        )
    assert [number for number, _ in by_numpy] == [number for number, _ in by_python]
    for (_, one), (_, other) in zip(by_numpy, by_python, strict=True):
        assert one == pytest.approx(other, abs=2e-6)


@pytest.mark.parametrize("uses_numpy", [False, pytest.param(True, marks=with_numpy)])
def test_what_is_no_vector_of_this_length_is_passed_over(
    connection: sqlite3.Connection, uses_numpy: bool
) -> None:
    put(connection, {
        1: a_vector(0.6, 0.8),
        2: a_vector(1.0),
        3: a_vector(math.nan, 1.0),
        4: a_vector(math.inf, 0.0),
        5: "1234 678",
        6: b"odd",
        7: b"",
        8: a_vector(1.0, 0.0, 0.0),
    })  # fmt: skip
    vectors, allowed = Vectors(uses_numpy=uses_numpy), range(1, 10)
    for _ in range(2):
        assert vectors.near(connection, 1, a_vector(0.0, 1.0), allowed, 9) == [(1, 0.8)]
    assert vectors.near(connection, 1, a_vector(math.nan, 1.0), allowed, 9) == []
    assert vectors.near(connection, 1, a_vector(1.0), allowed, 9) == [(2, 1.0)]  # another model's
    assert vectors.near(connection, 1, a_vector(0.0, 1.0), allowed, 9) == [(1, 0.8)]


@pytest.mark.parametrize("uses_numpy", [False, pytest.param(True, marks=with_numpy)])
def test_many_of_another_model_in_the_place_of_those_before(
    connection: sqlite3.Connection, uses_numpy: bool
) -> None:
    vectors, chance = Vectors(uses_numpy=uses_numpy), random.Random(1)
    stored = dict[int, bytes]()
    for _ in range(60):
        some = {chance.randint(1, 12): of_length_1([chance.gauss(0, 1) for _ in "abc"])}
        put(connection, some)
        stored |= some
        asked = of_length_1([chance.gauss(0, 1) for _ in "abc"])
        kept = vectors.near(connection, 1, asked, stored.keys(), 5)
        fresh = Vectors(uses_numpy=uses_numpy).near(connection, 1, asked, stored.keys(), 5)
        assert kept == fresh
        assert {number for number, _ in kept} <= stored.keys()


def test_a_file_that_took_the_place_of_another_is_read_anew(tmp_path: Path) -> None:
    path, asked = tmp_path / "memory.db", a_vector(1.0, 0.0)
    engine = SqliteEngine(path, timeout_s=5)
    for cosines in ((1.0, 0.0), (0.0, 1.0)):
        other = SqliteEngine(tmp_path / "other" / "memory.db", timeout_s=5)
        with other.writing() as writing:
            date = "2026-05-01T10:00:00+00:00"
            [it] = writing.add([Fragment(id="f", content="c", created_at=date)])
            writing.put_vectors([Embedding(it.number, a_vector(*cosines))])
        assert other.purge()
        other.close()
        for name in ("-wal", "-shm"):
            Path(f"{path}{name}").unlink(missing_ok=True)
        other.path.replace(path)
        with engine.reading() as reading:
            assert reading.near(asked, Wanted(), 5) == [(1, cosines[0])]


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.10")
def test_numpy_is_not_loaded_before_the_first_vector(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import sys; from pathlib import Path\n"
        "from rooms.fragments.storage.sqlite import SqliteEngine\n"
        "from rooms.fragments.fragment import Fragment\n"
        "from rooms.fragments.fragment import Wanted\n"
        "engine = SqliteEngine(Path(sys.argv[1]), timeout_s=5)\n"
        "with engine.writing() as writing: writing.add([Fragment(id='f', content='c')])\n"
        "with engine.reading() as reading: reading.find(Wanted()), reading.holding('c', 9)\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "m.db")], check=True)
