import json
import logging
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from core.store import MEMORY_LOG_PATH, count, delete_by_ids, read_all, upsert_log
from tests.contract.given import (
    GAP,
    LOG,
    QUESTION,
    REPLACED,
    ROOT,
    SECRET,
    as_line,
    digest,
    full_disk,
    lines,
    log,
    many,
    on_disk,
    principle,
    stored,
    write,
)

WAIT_S = 60.0
TORN = '{"id": "a1b2c3d4e5f6a7b8", "type": "log", "top\n'
MARKER = "<<<<<<< HEAD\n"
NOTE = "Do not forget: ask Kim about this file.\n"
SHORT = as_line({"id": "a1b2c3d4e5f6a7b8", "type": "log", "topic": "auth"})
WRONG = as_line(stored(log()) | {"lesson": 5})


@pytest.mark.row("001 5-1.d")
def test_a_bad_line_is_skipped_and_counted(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    write(log("a"), TORN, log("b"), NOTE, SHORT, WRONG)
    assert [record["topic"] for record in read_all()] == ["a", "b"]
    assert count() == 2
    told = caplog.text + capfd.readouterr().err
    assert re.search(r"\b4\b", told)
    assert "ask Kim" not in told


@pytest.mark.row("001 5-1.d")
def test_marks_of_a_conflict_count_as_skipped_lines(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    write(log("a"), MARKER, log("b"), "=======\n", log("c"), ">>>>>>> theirs\n", NOTE)
    assert count() == 3
    assert re.search(r"\b4\b", caplog.text + capfd.readouterr().err)


@pytest.mark.row("001 5-1.d")
def test_a_rewrite_keeps_the_bad_lines_in_their_places() -> None:
    write(log("a"), TORN, log("b"), MARKER, NOTE, SHORT, WRONG, log("c"))
    before = LOG.read_bytes().splitlines(keepends=True)
    upsert_log(log("d"))
    assert LOG.read_bytes().splitlines(keepends=True)[:-1] == before
    delete_by_ids([digest("b" + GAP)])
    assert LOG.read_bytes().splitlines(keepends=True)[:-1] == before[:2] + before[3:]


def test_bytes_that_are_not_utf8_are_kept() -> None:
    write(log("a"))
    odd = b"\xff\xfe no text\n"
    LOG.write_bytes(LOG.read_bytes() + odd)
    assert count() == 1
    upsert_log(log("b"))
    assert odd in LOG.read_bytes()
    assert count() == 2


def test_an_untouched_line_stays_byte_for_byte() -> None:
    record = stored(log("a", "\\uae30", "lesson"))
    odd = json.dumps(dict(reversed(record.items())), separators=(" ,  ", ":")) + "\n"
    write(odd, log("b"))
    upsert_log(log("b", lesson="a newer lesson"))
    assert LOG.read_bytes().startswith(odd.encode())
    assert count() == 2


def test_a_mark_at_the_start_and_windows_line_ends_are_read() -> None:
    write("\ufeff", log("a"), log("b"))
    LOG.write_bytes(LOG.read_bytes().replace(b"\n", b"\r\n"))
    assert [record["topic"] for record in read_all()] == ["a", "b"]
    upsert_log(log("c"))
    assert [record["topic"] for record in read_all()] == ["a", "b", "c"]


def test_a_missing_last_line_end_does_not_glue_records() -> None:
    write(log("a"))
    LOG.write_bytes(LOG.read_bytes().rstrip(b"\n"))
    upsert_log(log("b"))
    assert [record["topic"] for record in on_disk()] == ["a", "b"]


def test_the_same_line_twice_is_one_record() -> None:
    write(log(), log())
    assert len(read_all()) == count() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "shared.jsonl"
    target.write_bytes(as_line(stored(log("a"))).encode())
    LOG.parent.mkdir()
    LOG.symlink_to(target)
    upsert_log(log("b"))
    assert LOG.is_symlink()
    assert target.read_bytes().count(b"\n") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_the_mode_of_the_file_is_kept() -> None:
    write(log("a"))
    LOG.chmod(0o640)
    upsert_log(log("b"))
    assert LOG.stat().st_mode & 0o777 == 0o640


@pytest.mark.row("001 3-2.m")
def test_a_write_replaces_the_file_as_a_whole() -> None:
    write(log("a"))
    with LOG.open("rb") as before:
        upsert_log(log("b"))
        assert len(before.read().splitlines()) == 1
    assert count() == 2


@pytest.mark.parametrize("existing", [[], many(3)])
def test_a_failed_write_raises_and_changes_nothing(
    existing: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if existing:
        write(*existing)
    before = LOG.read_bytes() if existing else None

    with full_disk(monkeypatch), pytest.raises((OSError, ValueError)):
        upsert_log(log("new"))
    assert (LOG.read_bytes() if LOG.exists() else None) == before
    kept = {LOG.name, LOG.name + ".lock", ".gitignore", ".gitattributes", REPLACED.name}
    assert {path.name for path in LOG.parent.iterdir()} <= kept
    upsert_log(log("new"))
    assert count() == len(existing) + 1


def test_a_reader_never_sees_half_a_file() -> None:
    write(*many(20))
    done = threading.Event()
    sizes: list[int] = []

    def look() -> None:
        while not done.is_set():
            sizes.append(len(on_disk()))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for number in range(15):
            upsert_log(log("later", f"gap {number}"))
    finally:
        done.set()
        watcher.join()
    assert sizes == sorted(sizes)
    assert sizes and sizes[0] >= 20 and len(on_disk()) == 35


def test_threads_lose_nothing() -> None:
    def work(worker: int) -> None:
        for number in range(5):
            upsert_log(log("shared", f"gap {worker} {number}"))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count() == len(on_disk()) == 30


def test_processes_lose_nothing() -> None:
    code = (
        "import sys; from core.store import upsert_log\n"
        "for number in range(8):\n"
        "    upsert_log({'type': 'log', 'topic': 'shared', 'lesson': 'lesson',"
        " 'missing_context': f'gap {sys.argv[1]} {number}'})"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(worker)], env=environment)
        for worker in range(3)
    ]
    assert [worker.wait(timeout=WAIT_S) for worker in workers] == [0, 0, 0]
    assert count() == len(on_disk()) == 24


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for the lock waits for longer than any of these tests."""
    monkeypatch.setenv("SENTINEL_MEMORY_LOCK_TIMEOUT_S", f"{2 * WAIT_S:.0f}")


@pytest.mark.row("001 3-2.m")
def test_a_writer_waits_for_a_stranger_who_holds_the_lock(patient: None) -> None:
    write(log("a"))
    writer = threading.Thread(target=upsert_log, args=(log("b"),))
    with FileLock(str(MEMORY_LOG_PATH) + ".lock"):
        writer.start()
        writer.join(0.4)
        assert writer.is_alive()
        assert len(lines()) == 1
    writer.join(WAIT_S)
    assert len(lines()) == 2


@pytest.mark.row("001 5-1.f")
def test_a_reader_does_not_wait_for_the_lock(patient: None) -> None:
    write(log("a"))
    with (
        ThreadPoolExecutor(1) as threads,
        FileLock(str(MEMORY_LOG_PATH) + ".lock"),
    ):
        assert threads.submit(lambda: (count(), len(read_all()))).result(WAIT_S) == (1, 1)


@pytest.mark.row("001 5-1.f")
@pytest.mark.long
def test_a_writer_gives_up_with_an_error_after_about_ten_seconds() -> None:
    write(log("a"))
    with FileLock(str(MEMORY_LOG_PATH) + ".lock"):
        start = time.monotonic()
        with pytest.raises((OSError, ValueError)):
            upsert_log(log("b"))
        assert 8 < time.monotonic() - start < WAIT_S
    assert len(lines()) == 1


def test_the_folder_gets_its_own_files_for_git() -> None:
    upsert_log(log())
    attributes = (LOG.parent / ".gitattributes").read_text("utf-8")
    assert "memory_log.jsonl merge=union text eol=lf" in attributes
    assert (LOG.parent / ".gitignore").is_file()


def test_files_for_git_that_exist_are_left_alone() -> None:
    LOG.parent.mkdir()
    for name in (".gitignore", ".gitattributes"):
        (LOG.parent / name).write_text("# mine\n")
    upsert_log(log())
    for name in (".gitignore", ".gitattributes"):
        assert (LOG.parent / name).read_text() == "# mine\n"


@pytest.mark.row("001 1-1.b", "001 1-2.c")
def test_git_sees_the_log_and_nothing_that_passes(project: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    upsert_log(log())
    upsert_log(log(lesson="a newer lesson"))
    assert REPLACED.exists()
    seen = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-standard"], check=True, capture_output=True, text=True
    ).stdout.split()
    assert sorted(seen) == [".context/.gitattributes", ".context/.gitignore", LOG.as_posix()]


@pytest.mark.row("001 5-1.n")
def test_what_is_taken_out_is_kept_beside_the_log() -> None:
    upsert_log(log(lesson="the first way"))
    upsert_log(log(lesson="the second way"))
    delete_by_ids([digest("payment" + GAP)])
    upsert_log(principle())
    kept = REPLACED.read_text("utf-8")
    assert "the first way" in kept
    assert "the second way" in kept


@pytest.mark.row("001 5-1.n")
def test_what_is_kept_beside_the_log_is_redacted() -> None:
    write(log(lesson=f"the key is {SECRET} for tests"))
    delete_by_ids([digest("payment" + GAP)])
    assert SECRET not in REPLACED.read_text("utf-8")
    assert "[REDACTED]" in REPLACED.read_text("utf-8")


@pytest.mark.row("001 7-1.a")
def test_fifty_ordinary_records_take_about_25_kilobytes() -> None:
    for number in range(50):
        upsert_log(log(gap=f"{GAP} {number}", ask_next_time=QUESTION))
    assert LOG.stat().st_size < 30_000
