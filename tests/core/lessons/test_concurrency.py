"""Tests many writers and readers of one memory log at once."""

import json
import os
import threading
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from filelock import FileLock

from core.config import LOG_NAME
from core.errors import SentinelError
from core.lessons.file import REPLACED_NAME
from core.lessons.log import MemoryLog
from core.lessons.record import Draft
from core.store import MemoryStore
from tests.support.git_clones import path_of
from tests.support.servers import WAIT_S

WRITERS, WRITES, GAPS = 8, 60, 48

Acknowledged = list[tuple[str, int, str]]  # id, seen and lesson as the store gave them back

_barriers: list[Barrier] = []


def save_many(store: MemoryStore, writer: int, writes: int) -> Acknowledged:
    """Save gaps that other writers save as well; the acknowledged records."""
    acknowledged = []
    for number in range(writes):
        gap = (writer * 17 + number) % GAPS
        topic, lesson = f"topic {gap % 7}", f"lesson {number} of writer {writer}"
        draft = Draft(topic=topic, missing_context=f"빠진 것 {gap}", lesson=lesson)
        record = store.upsert_log(draft).record
        acknowledged.append((record.id, record.seen, record.lesson))
    return acknowledged


def take_barrier(barrier: Barrier) -> None:
    _barriers.append(barrier)


def write_with_others(path: Path, writer: int) -> Acknowledged:
    """The work of one process; all begin together."""
    _barriers[0].wait(WAIT_S)
    try:
        return save_many(MemoryStore(path, lock_timeout_s=WAIT_S), writer, WRITES)
    except SentinelError as error:  # it cannot travel between processes, its sentence can
        raise RuntimeError(str(error)) from None


def assert_nothing_lost(path: Path, acknowledged: Acknowledged) -> None:
    """Each save counted once more than the one before it, and the file ends where they ended."""
    told: dict[str, dict[int, str]] = defaultdict(dict)
    for record_id, seen, lesson in acknowledged:
        assert seen not in told[record_id], "two saves were told the same count"
        told[record_id][seen] = lesson
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    kept = [(line["id"], line["meta"].get("seen", 1), line["lesson"]) for line in lines]
    assert sorted(kept) == sorted((key, max(seen), seen[max(seen)]) for key, seen in told.items())
    assert {key: sorted(seen) for key, seen in told.items()} == {
        record_id: list(range(1, seen + 1)) for record_id, seen, _ in kept
    }


def assert_only_our_files(directory: Path) -> None:
    names = [".gitattributes", ".gitignore", LOG_NAME, f"{LOG_NAME}.lock"]
    assert sorted(set(os.listdir(directory)) - {REPLACED_NAME}) == names


@pytest.mark.row("001 3-2.m", "001 8.b", "P1", "P5", "P8")
@pytest.mark.long
def test_no_save_of_many_processes_is_lost_and_a_reader_sees_whole_versions(tmp_path: Path) -> None:
    path = path_of(tmp_path)
    first = MemoryStore(path).upsert_log(Draft(topic="x", missing_context="gap", lesson="x")).record
    spawn = get_context("spawn")
    barrier = spawn.Barrier(WRITERS)
    versions: list[bytes] = []
    with ProcessPoolExecutor(WRITERS, spawn, take_barrier, (barrier,)) as pool:
        futures = [pool.submit(write_with_others, path, writer) for writer in range(WRITERS)]
        while wait(futures, timeout=0.005).not_done:  # this process reads at full speed
            versions.append(path.read_bytes())
        acknowledged = [saved for future in futures for saved in future.result()]
    assert len(acknowledged) == WRITERS * WRITES
    assert_nothing_lost(path, [*acknowledged, (first.id, first.seen, first.lesson)])
    assert_only_our_files(path.parent)
    logs = [MemoryLog.parse(version) for version in dict.fromkeys(versions)]
    assert len(logs) > 10
    assert not [version for version in versions if not version.endswith(b"}\n")]
    assert not any(log.unreadable_count for log in logs)
    saves = [sum(record.seen for record in log.records) for log in logs]
    assert saves == sorted(set(saves))


@pytest.mark.long  # it costs much
@pytest.mark.row("001 8.b", "P5")
def test_no_save_of_many_threads_is_lost_or_counted_twice(tmp_path: Path) -> None:
    path = path_of(tmp_path)
    store = MemoryStore(path, lock_timeout_s=WAIT_S)
    together = threading.Barrier(WRITERS)

    def work(writer: int) -> Acknowledged:
        together.wait(WAIT_S)
        return save_many(store, writer, 20)

    with ThreadPoolExecutor(WRITERS) as pool:
        acknowledged = [saved for told in pool.map(work, range(WRITERS)) for saved in told]
    assert_nothing_lost(path, acknowledged)
    assert_only_our_files(path.parent)


@pytest.mark.row("001 5-1.f", "P6")
def test_readers_are_not_held_up_by_a_writer_that_holds_the_lock(tmp_path: Path) -> None:
    path = path_of(tmp_path)
    store = MemoryStore(path, lock_timeout_s=WAIT_S)
    acknowledged = save_many(store, 0, 5)
    with ThreadPoolExecutor(1) as pool, FileLock(f"{path}.lock"):
        reading = pool.submit(store.read)
        assert reading.result(WAIT_S).count == len(acknowledged)
