"""Tests the one door to the memory log."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from core.errors import DiskError
from core.lessons.record import new_record
from core.sanitizer import MARKER
from core.store import MemoryStore
from tests.support.samples import LATER, a_draft, a_principle, a_record
from tests.support.sentences import raised

KEY = "ghp" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
PASSWORD = "vX7kQ2" + "mZp9Lt"
ONE, TWO = a_record("one"), a_record("two")
RULE = new_record(a_principle(), now=LATER)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    seconds: Iterator[int] = count()
    return MemoryStore(
        tmp_path / ".context" / "memory_log.jsonl",
        lock_timeout_s=2,
        now=lambda: f"2026-03-01T09:00:{next(seconds):02d}+00:00",
    )


def holding(store: MemoryStore, data: bytes) -> MemoryStore:
    """The store, with these bytes in its file."""
    store.path.parent.mkdir(exist_ok=True)
    store.path.write_bytes(data)
    return store


@pytest.mark.row("001 5-1.e")
def test_unreadable_lines_are_counted_on_the_log_without_their_text(
    store: MemoryStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert holding(store, b"private words\n" + ONE.to_line()).read().count == 1
    assert "unreadable lines skipped: 1. Run python cli.py doctor" in caplog.text
    caplog.clear()
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")  # an operator's, while a model is answered
    MemoryStore(store.path).read()
    assert "건너뛴 줄이 1개 있습니다" in caplog.text
    assert "private" not in caplog.text


# Records that are added.


def test_added_records_lose_their_secrets(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = a_record(f"gap {KEY}", lesson=f"rule {KEY}", topic=f"t {KEY}", ask_next_time=f"{KEY}?")
    given = replace(given, extra={"note": KEY}, meta_extra={"by": KEY}, former=("abcdef",))
    tried, offers = store.add_all([given, replace(ONE, lesson=" ")], dry_run=True)
    store.delete_by_ids(["0123456789abcdef"])  # nor does a deletion that names nothing
    assert not store.path.parent.exists()  # a trial writes nothing and takes no lock
    monkeypatch.setattr("core.sanitizer.find_secrets", None)  # nobody looks for a secret again
    added, again = store.add_all(offers)
    assert [it.status for it in again] == ["added", "refused"]
    [record] = store.read().records
    assert added.records == tried.records == (record,)
    assert record == replace(
        a_record(f"gap {MARKER}", lesson=f"rule {MARKER}", topic=f"t {MARKER}"),
        ask_next_time=f"{MARKER}?",
        extra={"note": MARKER},
        meta_extra={"by": MARKER},
    )
    assert offers[0].secret_kinds == ("github-token",) * 6
    assert KEY.encode() not in store.read_bytes()


def test_added_records_stand_behind_all_lines(store: MemoryStore) -> None:
    original = store.upsert_log(a_draft("here")).record
    store.path.write_bytes(b"a note\n" + store.read_bytes() + b"<<torn")
    before = store.read_bytes() + b"\n"
    there = replace(a_record("there"), seen=3, updated=LATER, extra={"by": "me"})
    rule = replace(RULE, source_count=4, source_ids=(original.version_id,))
    added, _ = store.add_all([there, rule])
    assert (added.records, added.hidden_records) == ((there, rule), [original])
    assert store.read().records == [there, rule]
    assert store.read_bytes() == before + there.to_line() + rule.to_line()


# Files that are no log of ours.

LINE = ONE.to_line().decode()
LIKE_UTF_16 = {
    "a mark": LINE.encode("utf-16"),
    "the other mark": ("\ufeff" + LINE).encode("utf-16-be"),
    "no mark": LINE.encode("utf-16-le"),
    "no mark, the other order": LINE.encode("utf-16-be"),
    "a mark alone": b"\xff\xfe",
    "an empty line": "\r\n".encode("utf-16"),
    "cut off": LINE.encode("utf-16")[:-1],
    "then UTF-8": LINE.encode("utf-16") + TWO.to_line(),
    "UTF-8 after a line of it": b'\xff\xfe{\0"\0\n' + ONE.to_line(),
}
LEFT_BY_A_FILTER = (b"version https://git-lfs.github.com/spec/v1\n", b"\0GITCRYPT\0")


@pytest.mark.row("P4", "P10")
def test_nothing_is_written_into_utf_16_or_a_file_that_a_filter_left(store: MemoryStore) -> None:
    for name, data in LIKE_UTF_16.items():
        log = holding(store, data).read()
        assert log.count + log.unreadable_count > 0 or name == "a mark alone"
        with raised(DiskError, "log_encoding") as refused:
            store.upsert_log(a_draft("three"))
        assert "begins like UTF-16" in str(refused.value)
        for dry_run in (True, False):
            for change in (store.bring_back, store.add_all):
                with raised(DiskError, "log_encoding"):
                    change([ONE], dry_run=dry_run)
        assert not store.repair(aside_name="aside")
        assert store.path.read_bytes() == data, name
    for data in LEFT_BY_A_FILTER:
        with raised(DiskError, "log_filtered"):
            holding(store, data).upsert_log(a_draft("three"))
        assert not store.repair(aside_name="aside") and store.path.read_bytes() == data
    assert not store.file.side_path.exists()
    for data in (b"\xff\xfe" + ONE.to_line(), b"\0\0\0\0\n", b"\0x\n"):  # these hinder no save
        holding(store, data).upsert_log(a_draft("three"))
        assert store.path.read_bytes().startswith(data)


@pytest.mark.row("P5", "P9", "P10", "P11")
@pytest.mark.long  # it costs much
def test_a_log_of_ten_thousand_records_keeps_its_lines_as_a_short_one(store: MemoryStore) -> None:
    lines = [a_record(f"gap {at}", lesson="x" * 700).to_line() for at in range(10_000)]
    odd = [b"a note\n", b"{torn\n", b"\xff\xfe\n", lines[0].replace(b"\n", b"\r\n")]
    theirs = [b"<<<<<<< a\n", lines[1], b"||||||| b\n", lines[2], b"=======\n", b">>>>>>> c\n"]
    data = b"".join([*lines[3:5_000], *odd, *theirs, *lines[5_000:]]).removesuffix(b"\n")
    read = holding(store, data).read()
    assert len(data) > 8_000_000
    assert (read.count, read.unreadable_count, read.conflict_count) == (9_999, 3, 1)
    other = MemoryStore(store.path, lock_timeout_s=2)
    added = [it.upsert_log(a_draft(gap)).record for it, gap in ((store, "new"), (other, "theirs"))]
    ending = b"\n" + b"".join(record.to_line() for record in added)
    assert store.read_bytes() == data + ending
    with store.path.open("ab") as editor:
        editor.write(a_record("by hand").to_line())
    old = store.read().records[7]
    outcome = store.delete_by_ids([old.version_id])
    assert (list(outcome.removed_records), outcome.log.count) == ([old], 10_001)
    left = data.replace(old.to_line(), b"") + ending + a_record("by hand").to_line()
    assert store.read_bytes() == left
