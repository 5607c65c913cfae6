"""Tests how a wait for the lock ends: in time, for a cancelled call, with the process."""

import errno
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from core.disk import locked_file
from core.errors import BusyError, DiskError, WaitEndedError
from core.program import Cancellation
from tests.support.nursery import bound_by_permissions_here
from tests.support.sentences import raised

CANCELLED = Cancellation(is_requested=lambda: True)
ENDING = Cancellation(is_ending=lambda: True)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "log.lock")


def test_a_held_lock_is_waited_for_no_longer_than_said(path: str) -> None:
    had = threading.Event()

    def wait_long() -> None:
        with locked_file(path, timeout_s=600):
            had.set()

    patient = threading.Thread(target=wait_long)
    with FileLock(path):
        patient.start()
        began = time.monotonic()
        with raised(BusyError, "log_busy") as caught, locked_file(path, timeout_s=0.2):
            pass
        assert isinstance(caught.value, TimeoutError)
        assert time.monotonic() - began >= 0.2
        assert patient.is_alive() and not had.is_set()  # so the wait ended before this one
    patient.join()
    assert had.is_set()


def test_a_free_lock_is_taken_when_the_process_ends_and_not_for_a_cancelled_call(path: str) -> None:
    with locked_file(path, timeout_s=1, cancellation=ENDING):
        pass
    with pytest.raises(WaitEndedError), locked_file(path, timeout_s=1, cancellation=CANCELLED):
        pass
    with FileLock(path, timeout=0):  # it was let go
        for cancellation in (CANCELLED, ENDING):  # who waits does so no longer
            is_late = threading.Event()
            minute = threading.Timer(60, is_late.set)
            minute.start()
            waiting = locked_file(path, timeout_s=120, cancellation=cancellation)
            with pytest.raises(WaitEndedError), waiting:
                pass
            minute.cancel()
            assert not is_late.is_set()


def test_threads_that_wait_for_their_turn_end_with_the_one_that_polls(path: str) -> None:
    ends = threading.Event()
    cancellation = Cancellation(is_ending=ends.is_set)
    ended = []

    def wait() -> None:
        try:
            with locked_file(path, timeout_s=600, cancellation=cancellation):
                pass
        except WaitEndedError:
            ended.append(1)

    threads = [threading.Thread(target=wait) for _ in range(50)]
    with FileLock(path):
        for thread in threads:
            thread.start()
        ends.set()
        for thread in threads:
            thread.join()
    assert len(ended) == 50


def test_a_lock_file_of_another_user_is_named(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def open_of_another(name: Any, *rest: Any, **more: Any) -> int:
        if name == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        return real(name, *rest, **more)

    monkeypatch.setattr(os, "open", open_of_another)
    with pytest.raises(PermissionError), locked_file(path, timeout_s=1):  # no file may be made here
        pass
    Path(path).touch()
    with raised(DiskError, "lock_file") as caught, locked_file(path, timeout_s=1):
        pass
    assert str(caught.value).startswith(f"{path} is the lock file of the memory")
    assert f"(rm -f {path})" in str(caught.value)


def test_a_lock_file_in_a_directory_that_may_not_be_written_is_no_other_user_s(path: str) -> None:
    """To remove it would fail, and would help nobody."""
    Path(path).touch(0o400)
    folder = Path(path).parent
    folder.chmod(0o500)
    lock = locked_file(path, timeout_s=1)
    try:
        with bound_by_permissions_here(), pytest.raises(PermissionError), lock:
            pass
    finally:
        folder.chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_lock_file_that_root_makes_belongs_to_the_owner_of_its_directory(path: str) -> None:
    os.chown(os.path.dirname(path), 12345, 54321)
    with locked_file(path, timeout_s=1):
        pass
    status = os.stat(path)
    assert (status.st_uid, status.st_gid) == (12345, 54321)
