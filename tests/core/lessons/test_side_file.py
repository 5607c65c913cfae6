"""Tests that what a save or a compaction takes out of the log is kept beside it."""

import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import LogReadError
from core.lessons.changes import Replaced, cleaned, replaced_between, replaced_in
from core.lessons.file import MOST_SIDE_BYTES, REPLACED_NAME, LogFile, Replacement
from core.lessons.history import History
from core.lessons.record import Record
from core.store import MemoryStore
from tests.support.changes import log_of
from tests.support.cli_process import TOKEN
from tests.support.git_clones import git, new_project, store_of
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    (tmp_path / ".context").mkdir()
    return MemoryStore(tmp_path / ".context" / "memory_log.jsonl", now=lambda: NOW)


def side_of(store: MemoryStore) -> Path:
    return store.path.with_name(REPLACED_NAME)


def kept(store: MemoryStore) -> list[Replaced]:
    side = side_of(store)
    return list(replaced_in(side.read_bytes())) if side.exists() else []


@pytest.mark.parametrize("changed", [{"lesson": "second"}, {"when": []}], ids=str)
def test_a_former_version_is_kept_with_what_followed_it(
    store: MemoryStore, changed: dict[str, Any]
) -> None:
    first = store.upsert_log(a_draft(lesson="first", when=["call("])).record
    second = store.upsert_log(a_draft(**{"lesson": "first", "when": ["call("]} | changed)).record
    [version] = kept(store)
    assert (version.record, version.token) == (first, first.token)
    assert (version.at, version.by) == (NOW, second.token)


@pytest.mark.row("P12")
def test_originals_are_kept_with_their_principle_and_a_deleted_record_without(
    store: MemoryStore,
) -> None:
    originals = [store.upsert_log(a_draft(gap)).record for gap in ("one", "two")]
    principle = store.upsert_log(a_principle(), [it.token for it in originals]).record
    store.delete_by_ids([principle.token])
    assert [(it.record, it.by) for it in reversed(kept(store))] == [
        *((it, principle.token) for it in originals),
        (principle, ""),
    ]


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


def test_a_cleaning_takes_the_secrets_out_of_what_was_replaced(store: MemoryStore) -> None:
    for gap in ("one", "another", "one"):
        store.upsert_log(a_draft(gap))
    later = MemoryStore(store.path, now=lambda: LATER)
    assert later.upsert_log(a_draft("one")).record.seen == 2
    side = side_of(store)
    assert not side.exists()  # nothing is kept of a new record or of one that counts anew
    side.write_bytes(a_record(lesson=f"the token is {TOKEN}").to_line() + b"torn\n")
    store.clean()
    assert TOKEN.encode() not in side.read_bytes()
    assert cleaned(side.read_bytes()) == side.read_bytes()
    record, hider = replace(a_record(), id=TOKEN), replace(a_record("x"), id=TOKEN)
    hider = replace(hider, source_ids=(record.token,))
    [version] = replaced_between(log_of(record), log_of(hider), lambda: NOW)
    assert TOKEN.encode() not in version.to_line()


def test_a_version_id_counts_only_where_redaction_may_have_changed_it() -> None:
    wanted, forged = a_record(), a_record(lesson="forged")
    for lesson, token in (("forged", forged.token), ("forged [REDACTED]", wanted.token)):
        line = Replaced(record=replace(forged, lesson=lesson), token=wanted.token, at=NOW).to_line()
        assert [it.token for it in replaced_in(line)] == [token]


def test_what_git_has_is_not_taken_from_the_side_file(tmp_path: Path) -> None:
    project = new_project(tmp_path / "shop", "one")
    store = store_of(project)
    [record] = store.read_all()
    store.delete_by_ids([record.token])
    forged = Replaced(record=replace(record, lesson="[REDACTED]"), token=record.token, at=NOW)
    side_of(store).write_bytes(forged.to_line())
    history = History(store.path, store.read(), store.read_replaced())
    assert history.find_versions([record.token]) == {record.token: record}


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


@pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_rules_for_git_that_are_no_file_hold_up_no_change(
    store: MemoryStore, make: Callable[[Path], None]
) -> None:
    make(store.path.with_name(".gitignore"))
    store.upsert_log(a_draft(lesson="first"))
    store.upsert_log(a_draft(lesson="second"))
    assert [it.record.lesson for it in kept(store)] == ["first"]


def keep(store: MemoryStore, *lines: bytes) -> bytes:
    """The side file after one change of the log that these lines left."""
    change = Replacement(store.read_bytes() + b"\n", None, replaced=b"".join(lines))
    LogFile(store.path, lock_timeout_s=1).rewrite(lambda _: change)
    return side_of(store).read_bytes()


@pytest.mark.row("P8")
def test_no_more_than_a_megabyte_is_kept_unless_one_change_replaced_more(
    store: MemoryStore,
) -> None:
    large = [left(a_record(f"gap {number}", lesson="x" * 100_000)).to_line() for number in range(9)]
    assert keep(store, *large) == b"".join(large)
    newest = keep(store, *large)
    assert newest == b"".join([*large[-4:], *large])  # the whole lines of the newest half
    assert keep(store, *large[:1]) == b"".join([*large[-4:], large[0]])


def test_what_was_kept_before_is_not_written_again(store: MemoryStore) -> None:
    lines = [left(a_record(f"gap {number}")).to_line() for number in range(2)]
    keep(store, lines[0])
    before = side_of(store).stat().st_ino
    assert keep(store, lines[1]) == b"".join(lines)
    assert side_of(store).stat().st_ino == before


def test_a_line_that_a_killed_save_has_torn_costs_no_other(store: MemoryStore) -> None:
    lines = [left(a_record(f"gap {number}")).to_line() for number in range(3)]
    keep(store, lines[0])
    with side_of(store).open("ab") as side:
        side.write(lines[1][:100])
    assert keep(store, lines[2]) == lines[0] + lines[1][:100] + b"\n" + lines[2]
    assert [it.record.missing_context for it in kept(store)] == ["gap 2", "gap 0"]


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


def test_the_side_file_cannot_be_read_and_nothing_is_replaced(store: MemoryStore) -> None:
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


def test_git_does_not_track_it_where_an_older_version_made_its_files(tmp_path: Path) -> None:
    project = new_project(tmp_path / "shop", "one")
    ignored = project / ".context" / ".gitignore"
    ignored.write_text("memory_log.jsonl.lock\n", encoding="ascii")
    git(project, "commit", "--quiet", "--all", "--message", "older")
    [record] = store_of(project).read_all()
    store_of(project).delete_by_ids([record.token])
    assert (project / ".context" / REPLACED_NAME).exists()
    changed = git(project, "status", "--short").split("\n")
    assert not [line for line in changed if REPLACED_NAME in line]
