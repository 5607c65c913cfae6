"""Tests that what a save or a compaction takes out of the log is kept beside it."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import LogReadError
from core.lessons.changes import Replaced, cleaned, replaced_between, replaced_in
from core.lessons.file import MOST_SIDE_BYTES, REPLACED_NAME, LogFile, Replacement
from core.lessons.history import History
from core.lessons.record import Record
from core.store import MemoryStore
from tests.support.changes import log_of
from tests.support.cli_process import TOKEN
from tests.support.git_clones import new_project, store_of
from tests.support.samples import LATER, NOW, a_draft, a_record


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    (tmp_path / ".context").mkdir()
    return MemoryStore(tmp_path / ".context" / "memory_log.jsonl", now=lambda: NOW)


def side_of(store: MemoryStore) -> Path:
    return store.path.with_name(REPLACED_NAME)


def kept(store: MemoryStore) -> list[Replaced]:
    side = side_of(store)
    return list(replaced_in(side.read_bytes())) if side.exists() else []


def test_what_a_line_from_elsewhere_had_hidden_is_kept_and_no_secret(store: MemoryStore) -> None:
    record, leaky = a_record(), a_record("leaky", lesson=f"the token is {TOKEN}")
    hider = replace(a_record("", type="principle", lesson="x"), source_ids=(record.token,))
    data = record.to_line() + hider.to_line() + leaky.to_line()
    for change, also in (
        (store.clean, []),
        (lambda: store.upsert_log(a_draft("another")), []),
        (lambda: store.delete_by_ids([leaky.token]), [leaky]),
    ):
        store.path.write_bytes(data)
        side_of(store).unlink(missing_ok=True)
        change()
        assert {it.token for it in kept(store)} == {it.token for it in (record, *also)}
        assert [it.record for it in kept(store) if it.token == record.token] == [record]
        assert TOKEN.encode() not in side_of(store).read_bytes()
    [version] = [it for it in kept(store) if it.token == leaky.token]
    assert "[REDACTED]" in version.record.lesson


def test_nothing_is_kept_of_what_is_new_or_counts_anew_and_no_id_is_a_secret(
    store: MemoryStore,
) -> None:
    for gap in ("one", "another", "one"):
        store.upsert_log(a_draft(gap))
    later = MemoryStore(store.path, now=lambda: LATER)
    assert later.upsert_log(a_draft("one")).record.seen == 2
    assert not side_of(store).exists()
    cleaned_once = cleaned(a_record(lesson=f"the token is {TOKEN}").to_line() + b"torn\n")
    assert TOKEN.encode() not in cleaned_once
    assert cleaned(cleaned_once) == cleaned_once
    record, hider = replace(a_record(), id=TOKEN), replace(a_record("x"), id=TOKEN)
    hider = replace(hider, source_ids=(record.token,))
    [version] = replaced_between(log_of(record), log_of(hider), lambda: NOW)
    assert TOKEN.encode() not in version.to_line()


def test_a_version_id_counts_only_where_redaction_may_have_changed_it() -> None:
    wanted, forged = a_record(), a_record(lesson="forged")
    for lesson, token in (("forged", forged.token), ("forged [REDACTED]", wanted.token)):
        line = Replaced(record=replace(forged, lesson=lesson), token=wanted.token, at=NOW).to_line()
        assert [it.token for it in replaced_in(line)] == [token]


def test_of_a_very_large_file_only_the_end_is_read(store: MemoryStore) -> None:
    store.upsert_log(a_draft(lesson="first"))
    side = side_of(store)
    with open(side, "wb") as file:
        file.truncate(3 * MOST_SIDE_BYTES)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + left(a_record("kept before")).to_line())
    assert len(store.read_replaced()) == 1
    store.upsert_log(a_draft(lesson="second"))
    assert [it.record.lesson for it in kept(store)][:1] == ["first"]
    assert len(kept(store)) == 2
    assert side.stat().st_size < MOST_SIDE_BYTES


def keep(store: MemoryStore, *lines: bytes) -> bytes:
    """The side file after one change of the log that these lines left."""
    change = Replacement(store.read_bytes() + b"\n", None, replaced=b"".join(lines))
    LogFile(store.path, lock_timeout_s=1).rewrite(lambda _: change)
    return side_of(store).read_bytes()


@pytest.mark.row("P8")
def test_a_line_is_added_behind_a_torn_one_and_a_megabyte_is_kept(store: MemoryStore) -> None:
    lines = [left(a_record(f"gap {number}")).to_line() for number in range(3)]
    keep(store, lines[0])
    before = side_of(store).stat().st_ino
    assert keep(store, lines[1]) == b"".join(lines[:2])
    assert side_of(store).stat().st_ino == before  # what was there is not written again
    with side_of(store).open("ab") as side:
        side.write(lines[2][:100])  # as a killed save has left it
    torn = [*lines[:2], lines[2][:100] + b"\n", lines[2]]
    assert keep(store, lines[2]) == b"".join(torn)
    assert [it.record.missing_context for it in kept(store)] == ["gap 2", "gap 1", "gap 0"]
    side_of(store).unlink()
    large = [left(a_record(f"gap {number}", lesson="x" * 100_000)).to_line() for number in range(9)]
    assert keep(store, *large) == b"".join(large)  # of one change, however much it is
    newest = keep(store, *large)
    assert newest == b"".join([*large[-4:], *large])  # the whole lines of the newest half
    assert keep(store, *large[:1]) == b"".join([*large[-4:], large[0]])


def left(record: Record) -> Replaced:
    return Replaced(record=record, token=record.token, at=NOW)


def test_each_version_is_read_once_whatever_stands_between() -> None:
    with_key, other = replace(a_record(), extra={"team": "blue"}), a_record("other")
    twice = left(with_key).to_line()
    assert json.loads(twice) == with_key.as_json() | {"replaced": {"at": NOW}}
    torn = b'torn\n{"replaced": 1}\n\xff\n'
    log, moved = log_of(with_key, other), log_of(other, with_key)
    assert replaced_between(log, moved, lambda: NOW) == []  # none has left the file
    data = twice + other.to_line() + torn + twice  # one in the form of the log
    assert [(it.record, it.token) for it in replaced_in(data)] == [
        (with_key, with_key.token),
        (other, other.token),
    ]


def test_an_unreadable_side_file_stops_a_change_and_odd_rules_do_not(store: MemoryStore) -> None:
    record = store.upsert_log(a_draft(lesson="first")).record
    before = store.read_bytes()
    side_of(store).mkdir()
    with pytest.raises(LogReadError, match=REPLACED_NAME):
        store.upsert_log(a_draft(lesson="second"))
    assert store.read_bytes() == before
    side_of(store).rmdir()
    store.path.chmod(0o600)  # who may not read the log may not read what was replaced
    store.delete_by_ids([record.token])
    assert os.name == "nt" or stat.S_IMODE(side_of(store).stat().st_mode) == 0o600
    rules = store.path.with_name(".gitignore")
    rules.unlink()
    rules.mkdir()
    store.upsert_log(a_draft(lesson="one"))
    rules.rmdir()
    if os.name == "posix":
        os.mkfifo(rules)  # which does not block
    store.upsert_log(a_draft(lesson="another"))
    assert [it.record.lesson for it in kept(store)] == ["one", "first"]


def test_what_git_has_is_not_taken_from_it(tmp_path: Path) -> None:
    store = store_of(new_project(tmp_path / "shop", "one"))
    [record] = store.read_all()
    store.delete_by_ids([record.token])
    forged = Replaced(record=replace(record, lesson="[REDACTED]"), token=record.token, at=NOW)
    side_of(store).write_bytes(forged.to_line())
    history = History(store.path, store.read(), store.read_replaced())
    assert history.find_versions([record.token]) == {record.token: record}
