"""A long log is neither copied to be written, nor kept to be read."""

from pathlib import Path

import pytest

from core.disk.atomic import is_joined, read_regular
from core.lessons.lines import Spliced, split_lines
from core.lessons.log import MemoryLog, log_of_passing
from core.lessons.record import new_record
from core.store import MemoryStore
from tests.support.samples import NOW, a_draft

LINES = [new_record(a_draft(f"gap {at}"), now=NOW).to_line() for at in range(5)]
FILES = {
    "records": b"".join(LINES),
    "a mark in front": b"\xef\xbb\xbf" + b"".join(LINES),
    "no last line end": b"".join(LINES)[:-1],
    "other lines": b"".join([b"note\n", LINES[0], b"\n", b"{torn\n", LINES[1]]),
    "a conflict": b"".join(
        [b"<<<<<<< a\n", LINES[0], b"||||||| b\n", LINES[1], b"=======\n", b">>>>>>> c\n", LINES[2]]
    ),
    "one id twice": LINES[0] + LINES[1] + LINES[0],
    "nothing": b"",
}


@pytest.mark.parametrize("label", FILES)
def test_a_log_that_is_not_kept_shows_what_the_whole_one_shows(label: str) -> None:
    whole = MemoryLog.parse(FILES[label])
    passing = log_of_passing(iter(split_lines(FILES[label])))

    for name in ("records", "topics", "skipped", "conflicts", "conflict", "leftovers"):
        assert getattr(passing, name) == getattr(whole, name), name


def test_a_log_that_is_not_kept_cannot_be_written() -> None:
    log = log_of_passing(LINES)
    with pytest.raises(TypeError):
        log.to_bytes()
    with pytest.raises(TypeError):
        log.rewritten({0}, {}).to_bytes()


def test_a_long_file_reads_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory_log.jsonl"
    path.write_bytes(FILES["other lines"])
    known = MemoryStore(path).read_all()
    monkeypatch.setattr("core.lessons.log_file.LONG_BYTES", 1)
    assert MemoryStore(path).read_all() == known
    path.unlink()
    assert MemoryStore(path).read_all() == []


def test_spliced_lines_are_those_that_were_taken() -> None:
    old, lines = split_lines(b"one\ntwo\nthree"), Spliced()
    lines.take(old, 1, 3)
    lines.take([b"new\n"], 0, 1)
    lines.take(old, 0, 0)
    twice = Spliced()
    twice.take(lines, 0, 2)
    twice.take(old, 0, 1)

    assert list(lines) == [b"two\n", b"three\n", b"new\n"] == lines
    assert lines[-1] == b"new\n"
    assert b"".join(lines.pieces()) == b"two\nthree\nnew\n"
    assert b"".join(twice.pieces()) == b"two\nthree\none\n"


@pytest.mark.parametrize(
    ("pieces", "same"), [([b"ab", memoryview(b"c")], True), ([b"ab"], False), ([b"abcd"], False)]
)
def test_pieces_are_compared_with_the_whole(pieces: list[bytes], same: bool) -> None:
    assert is_joined(b"abc", pieces) is same


def test_the_same_bytes_are_read_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    known = bytes(bytearray(b"abc"))
    assert read_regular(path, known)[0] is known
    path.write_bytes(b"abd")
    assert read_regular(path, known)[0] == b"abd"
