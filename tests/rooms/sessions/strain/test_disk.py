"""Tests the sessions on a disk that is full, fails, may not be written, or holds something else."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.disk.database import DatabaseError
from core.errors import SentinelError
from core.settings import Settings
from rooms.sessions.config import FOLDER, Config
from rooms.sessions.session import Draft
from rooms.sessions.store import SessionStore
from tests.support.faults import Child
from tests.support.session_crowd import Saver, kept, rows, told, wrong_with
from tests.support.spoilt_files import PLACES, as_ordinary_user, state
from tests.support.stdio_client import ROOT

resource = pytest.importorskip("resource", reason="faults as POSIX makes them")

SAVED = 5


def fresh(root: Path, timeout_s: int = 5) -> SessionStore:
    """A store that has kept nothing from before."""
    return SessionStore(root, Config(), Settings(lock_timeout_s=timeout_s))


@pytest.fixture
def before(tmp_path: Path) -> dict[int, tuple[str, str]]:
    """Sessions that another process has saved and left whole on disk."""
    with Child(Saver(tmp_path, "before", SAVED)) as child:
        code, said = child.end()
    assert code == 0, said
    with contextlib.closing(sqlite3.connect(tmp_path / FOLDER / "history.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return told(said)


def outcome(root: Path, goal: str = "more") -> str:
    """The sentence of a save that fails; "" for one that works. Other errors are raised."""
    try:
        fresh(root).save(Draft(goal=goal, summary="summary " * 200), agent="a", process="p")
    except SentinelError as error:
        return str(error)
    return ""


# full disks


@pytest.mark.long
def test_wherever_a_disk_is_full_the_save_is_there_or_was_never_acknowledged(
    tmp_path: Path, before: dict[int, tuple[str, str]]
) -> None:
    """No file may grow above a limit; each limit fails another write."""
    folder, wrong, failed = tmp_path / FOLDER, [], 0
    shutil.copytree(folder, tmp_path / "kept")
    for limit in (*range(0, 60_000, 1_500), *range(60_000, 160_000, 10_000)):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "kept", folder)

        def work(_: object, limit: int = limit) -> str:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            return outcome(tmp_path)

        with Child(work) as child:
            code, said = child.end()
        if code:
            wrong.append(f"{limit}: ended with {code} {said[-200:]}")
        if said and "It is unchanged, and nothing was saved" not in said:
            wrong.append(f"{limit}: {said}")
        failed += bool(said)
        goals = [goal for _, goal in kept(tmp_path).values()]
        if goals.count("more") != (not said):
            wrong.append(f"{limit}: {said!r}, but {goals}")
        wrong += [f"{limit}: {it}" for it in wrong_with(tmp_path, before)]
        if outcome(tmp_path, "after"):
            wrong.append(f"{limit}: the next save failed")
    assert wrong == [] and 5 < failed < 50


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with little room, where this machine lets the tests have one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)]
    if not sys.platform.startswith("linux") or not shutil.which("mount"):
        pytest.skip("needs a disk of its own")
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("nobody may mount here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_that_fills_up_keeps_what_was_acknowledged_and_is_read_on(small_disk: Path) -> None:
    store, acknowledged = fresh(small_disk), list[str]()
    with pytest.raises(DatabaseError) as caught:
        for at in range(1_000):
            draft = Draft(goal=f"goal {at}", summary=f"{at} words " * 200)
            store.save(draft, agent="a", process="p")
            acknowledged.append(f"goal {at}")
    assert "nothing was saved. Make room" in str(caught.value)
    assert len(acknowledged) > 3
    assert store.get("#1").goal == "goal 0"
    store.database.close()
    again = fresh(small_disk)
    assert again.get(f"#{len(acknowledged)}").goal == acknowledged[-1]
    again.database.close()
    goals = [goal for (goal,) in rows(store.path, "SELECT goal FROM contexts ORDER BY number")]
    assert goals == acknowledged
    assert rows(store.path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.long
@pytest.mark.parametrize("call", ["fdatasync", "pwrite64", "ftruncate", "openat", "rename"])
def test_a_call_of_the_system_that_fails_is_said_and_undoes_the_save(
    tmp_path: Path, before: dict[int, tuple[str, str]], call: str
) -> None:
    """The disk fails below Python, at each call in turn."""
    if not shutil.which("strace"):
        pytest.skip("needs strace")
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.rooms.sessions.strain.test_disk import outcome\n"
        "print('said:' + outcome(Path(sys.argv[1])))"
    )
    folder = tmp_path / FOLDER
    shutil.copytree(folder, tmp_path / "kept")
    wrong, failed = [], 0
    for at in range(1, 9):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "kept", folder)
        only = [part for name in ("history.db", "history.db-wal", "history.db-shm", "current.json")
                for part in ("-P", str(folder / name))]  # fmt: skip
        done = subprocess.run(
            ["strace", "-f", "-o", os.devnull, *only, "-e", f"inject={call}:error=EIO:when={at}",
             sys.executable, "-c", code, str(tmp_path)],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if not done.stdout.startswith("said:"):
            wrong.append(f"{at}: {done.stdout} {done.stderr[-300:]}")
            continue
        said = done.stdout.removeprefix("said:").strip()
        failed += bool(said)
        goals = [goal for _, goal in kept(tmp_path).values()]
        if goals.count("more") != (not said):
            wrong.append(f"{at}: {said!r}, but {goals}")
        wrong += [f"{at}: {it}" for it in wrong_with(tmp_path, before)]
        if outcome(tmp_path, "after"):
            wrong.append(f"{at}: the next save failed")
    assert wrong == []
    assert failed or call in ("ftruncate", "rename")


@pytest.mark.long
def test_a_save_waits_for_the_disk_once(tmp_path: Path) -> None:
    """Whatever a disk costs: all else of a save is work of the processor."""
    if not shutil.which("strace"):
        pytest.skip("needs strace")
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.support.session_crowd import Saver\n"
        "Saver(Path(sys.argv[1]), 'p', int(sys.argv[2]))(lambda text: None)"
    )
    syncs = []
    for saves in (5, 25):
        root, trace = tmp_path / str(saves), tmp_path / f"{saves}.txt"
        root.mkdir()
        subprocess.run(
            ["strace", "-f", "-o", str(trace), "-e", "trace=fsync,fdatasync,sync_file_range",
             sys.executable, "-c", code, str(root), str(saves)],
            cwd=ROOT, capture_output=True, check=True,
        )  # fmt: skip
        syncs.append(trace.read_text().count("sync("))
    assert syncs[1] - syncs[0] == 20


# permissions


MODES = [(0o500, 0o600), (0o500, 0o400), (0o700, 0o400)]  # of the directory, of its files


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("directory", "files"), MODES)
def test_what_may_only_be_read_is_read_and_a_save_is_refused(
    tmp_path: Path, before: dict[int, tuple[str, str]], directory: int, files: int
) -> None:
    folder = tmp_path / FOLDER
    for path in folder.iterdir():
        path.chmod(files)
    folder.chmod(directory)
    names = sorted(os.listdir(folder))

    def work() -> str:
        store = fresh(tmp_path)
        assert store.get("#1").goal == "goal-before-0"
        assert len(store.chain(store.get("#2"))) == 1
        return outcome(tmp_path)

    try:
        said = as_ordinary_user(work)
    finally:
        folder.chmod(0o700)
    if (directory, files) == (0o500, 0o600):
        assert said == "" or "nothing was saved" in said  # its journals may be there already
    else:
        assert "nothing was saved" in said and str(folder / "history.db") in said
        assert kept(tmp_path) == before
    if directory == 0o500:
        assert set(os.listdir(folder)) <= {*names, "history.db-shm", "history.db-wal"}


@pytest.mark.long  # it costs much
def test_what_may_not_be_read_is_said_and_is_not_taken_for_empty(
    tmp_path: Path, before: dict[int, tuple[str, str]]
) -> None:
    folder = tmp_path / FOLDER
    (folder / "history.db").chmod(0)

    def work() -> str:
        with pytest.raises(DatabaseError) as caught:
            fresh(tmp_path).get("#1")
        assert outcome(tmp_path)
        return str(caught.value)

    assert "This does not mean that it is empty" in as_ordinary_user(work)
    (folder / "history.db").chmod(0o600)
    folder.chmod(0)
    try:
        said = as_ordinary_user(work)
    finally:
        folder.chmod(0o700)
    assert str(folder) in said
    assert kept(tmp_path) == before


# something else in its place


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("spoil", PLACES, ids=lambda spoil: spoil.__name__)
def test_whatever_is_in_its_place_is_said_and_stays_as_it_is(
    tmp_path: Path, before: dict[int, tuple[str, str]], spoil: Callable[[Path], None]
) -> None:
    folder = tmp_path / FOLDER
    for suffix in ("-wal", "-shm"):
        folder.joinpath(f"history.db{suffix}").unlink(missing_ok=True)
    spoil(folder / "history.db")
    seen = state(folder)
    with pytest.raises(DatabaseError) as caught:
        store = fresh(tmp_path)
        for number in range(1, SAVED + 1):
            store.get(f"#{number}")
    said = str(caught.value)
    assert PLACES[spoil] in said and str(folder / "history.db") in said
    assert "Nothing was" in said or "Nothing in it was changed" in said
    assert ("try again" in said) or ("doctor --fix" in said)
    assert said.count("\n") == 0 and "goal-before" not in said
    assert outcome(tmp_path), "nothing may be made anew in its place"
    assert state(folder) == seen


@pytest.mark.long
def test_a_damaged_page_anywhere_is_said_or_does_no_harm(
    tmp_path: Path, before: dict[int, tuple[str, str]]
) -> None:
    with Child(Saver(tmp_path, "more", 60)) as child:
        more = told(child.end()[1])
    path, wrong, met = tmp_path / FOLDER / "history.db", [], 0
    rows(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    for journal in path.parent.glob("history.db-*"):
        journal.unlink()
    data = path.read_bytes()
    for at in range(0, len(data), 4096):
        spoilt = data[: at + 100] + b"\xa5" * 3_900 + data[at + 4_000 :]
        path.write_bytes(spoilt)
        store, said = fresh(tmp_path), ""
        for number, (id_, goal) in {**before, **more}.items():
            try:
                session = store.get(f"#{number}")
                if (session.id, session.goal) != (id_, goal):
                    wrong.append(f"page {at // 4096}: {session.goal!r} instead of {goal!r}")
            except SentinelError as error:
                said = str(error)
        store.database.close()
        met += bool(said)
        if said and "is damaged" not in said:
            wrong.append(f"page {at // 4096}: {said}")
        if path.read_bytes() != spoilt:
            wrong.append(f"page {at // 4096}: a reader has written")
        for journal in path.parent.glob("history.db-*"):
            journal.unlink()
    assert wrong == [] and met > 3
