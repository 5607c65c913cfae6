"""Tests rooms in which many processes save, in which they are killed, and on a disk that fails."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import SentinelError
from core.room.database import DatabaseError
from tests.rooms.crowds import CROWDS, Crowd, Sessions, Told, all_of, told
from tests.support.faults import Child, fill_disk
from tests.support.nursery import bound_by_permissions
from tests.support.tables import ROOT

PROCESSES, SAVES, SAVED = 8, 100, 5
KILLS, SEED = 40, 20261123


@pytest.fixture(params=CROWDS)
def room(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def crowd(room: str, tmp_path: Path) -> Crowd:
    return CROWDS[room](tmp_path)


@pytest.fixture
def before(crowd: Crowd) -> Told:
    """The rows that another process has saved and left whole on disk."""
    return crowd.left_whole("before", SAVED)


@contextlib.contextmanager
def reading(crowd: Crowd) -> Iterator[list[str]]:
    """Read all the while, as another process does; the list has every wrong reading."""
    ends, wrong = threading.Event(), list[str]()

    def read() -> None:
        before = 0
        while not ends.is_set():
            with contextlib.suppress(FileNotFoundError):
                if isinstance(crowd, Sessions):
                    crowd.shown()  # torn, it raises
                count = len(crowd.kept())
                if count < before:
                    wrong.append(f"{count} rows after {before}")
                before = count

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield wrong
    finally:
        ends.set()
        thread.join()


@pytest.mark.row("002 2.95", "003 T83")
@pytest.mark.long
def test_eight_processes_that_save_a_hundred_times_lose_nothing(crowd: Crowd) -> None:
    with all_of([crowd.process(f"p{at}", SAVES) for at in range(PROCESSES)]) as children:
        children[0].hear()
        with reading(crowd) as wrong:
            ends = [child.end() for child in children]
    assert [code for code, _ in ends] == [0] * PROCESSES, ends[0][1][-200:]
    acknowledged = told("".join(said for _, said in ends))
    assert wrong == []
    assert acknowledged.keys() == set(range(1, PROCESSES * SAVES + 1))
    assert crowd.kept() == acknowledged
    assert crowd.wrong_with(acknowledged) + crowd.wrong_shown() == []


@pytest.mark.row("002 2.80")
@pytest.mark.long
def test_processes_that_begin_at_once_share_one_new_database(room: str, tmp_path: Path) -> None:
    for turn in range(5):
        root = tmp_path / str(turn)
        root.mkdir()
        crowd = CROWDS[room](root)
        with all_of([crowd.process(f"p{at}", 2) for at in range(6)]) as children:
            ends = [child.end() for child in children]
        assert [code for code, _ in ends] == [0] * 6, ends
        assert crowd.wrong_with(told("".join(said for _, said in ends))) == []
        assert len(crowd.kept()) == 12


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.12.h", "003 T83")
def test_the_same_of_one_client_in_many_processes_is_one(crowd: Crowd) -> None:
    def work(_: object) -> str:
        store = crowd.opened(60)
        for _ in range(5):
            crowd.save_the_same(store)
        return ""

    with all_of([Child(work) for _ in range(4)]) as children:
        assert [child.end()[0] for child in children] == [0] * 4
    assert list(crowd.kept()) == [1]


@pytest.mark.row("002 2.95", "003 T83")
@pytest.mark.long
def test_processes_killed_at_any_moment_lose_nothing_and_leave_no_litter(crowd: Crowd) -> None:
    chance, acknowledged = random.Random(SEED), Told()
    for turn in range(KILLS):
        with all_of([crowd.process(f"k{turn}-{at}", 10_000) for at in range(2)]) as pair:
            if turn % 4:  # else one dies while it opens
                pair[0].hear()
            for child in pair:
                time.sleep(chance.uniform(0, 0.02))  # spreads the kills over a save
                child.kill()
            for child in pair:
                code, said = child.end()
                assert code == -signal.SIGKILL, said[-300:]
                new = told(said)
                assert not acknowledged.keys() & new.keys(), "a number was given twice"
                acknowledged.update(new)
        with crowd.process(f"after{turn}", 1) as after:  # the next start just works
            code, said = after.end()
        assert code == 0, said
        acknowledged.update(told(said))
        assert crowd.wrong_with(acknowledged) + crowd.wrong_shown() == []
    assert len(acknowledged) > KILLS
    assert len(crowd.kept()) - len(acknowledged) <= 2 * KILLS  # stored, not yet told


def test_a_process_killed_before_its_first_save_leaves_nothing_in_the_way(crowd: Crowd) -> None:
    """Such a process leaves a directory and empty files at most."""
    crowd.folder.mkdir(parents=True)
    for name in (crowd.file, *crowd.companions - {"current.json"}):
        (crowd.folder / name).touch()
    if "current.json" in crowd.companions:
        (crowd.folder / ".current.json.tmp").touch()
    assert crowd.wrong_with(crowd.left_whole("after", 1)) + crowd.wrong_shown() == []
    if ".gitignore" in crowd.companions:
        assert (crowd.folder / ".gitignore").read_text().startswith("#")


# Disks.


def outcome(crowd: Crowd, word: str = "more") -> str:
    """The sentence of a save that fails; "" for one that works. Other errors are raised."""
    try:
        crowd.save(crowd.opened(), word, 0)
    except SentinelError as error:
        return str(error)
    return ""


def wrong_after(crowd: Crowd, before: Told, said: str) -> list[str]:
    """The faults after a save that ended with this sentence, "" for a save that worked."""
    wrong, count = [], sum("more" in text for _, text in crowd.kept().values())
    if count != (not said):
        wrong.append(f"{said!r}, but it is there {count} times")
    wrong += crowd.wrong_with(before)
    if outcome(crowd, "after"):
        wrong.append("the next save failed")
    return wrong


@pytest.mark.row("002 2.96")
@pytest.mark.long
def test_wherever_a_disk_is_full_the_save_is_there_or_was_never_acknowledged(
    tmp_path: Path, crowd: Crowd, before: Told
) -> None:
    """No file may grow above a limit; each limit fails another write."""
    wrong, failed = [], 0
    shutil.copytree(crowd.folder, tmp_path / "whole")
    for limit in (*range(0, 60_000, 3_000), *range(60_000, 300_000, 20_000)):
        shutil.rmtree(crowd.folder)
        shutil.copytree(tmp_path / "whole", crowd.folder)

        def work(_: object, limit: int = limit) -> str:
            fill_disk(limit)
            return outcome(crowd)

        with Child(work) as child:
            code, said = child.end()
        if code:
            wrong.append(f"{limit}: ended with {code} {said[-200:]}")
        if said and "It is unchanged, and nothing was saved" not in said:
            wrong.append(f"{limit}: {said}")
        failed += bool(said)
        wrong += [f"{limit}: {it}" for it in wrong_after(crowd, before, said)]
    assert wrong == [] and 3 < failed < 31


def traced(room: str, root: Path, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run these lines, with `crowd` of this room, under strace."""
    if not shutil.which("strace"):
        pytest.skip("needs strace")
    before = (
        "import sys; from pathlib import Path\n"
        "from tests.rooms.test_crowds import CROWDS, outcome\n"
        "crowd = CROWDS[sys.argv[1]](Path(sys.argv[2]))\n"
    )
    command = ["strace", "-f", *options, sys.executable, "-c", before + code, room, str(root)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.parametrize("call", ["fdatasync", "pwrite64", "ftruncate", "openat", "rename"])
def test_a_call_of_the_system_that_fails_is_said_and_undoes_the_save(
    tmp_path: Path, room: str, crowd: Crowd, before: Told, call: str
) -> None:
    """The disk fails below Python, at each call in turn."""
    names = (crowd.file, f"{crowd.file}-wal", f"{crowd.file}-shm", "current.json")
    only = [part for name in names for part in ("-P", str(crowd.folder / name))]
    shutil.copytree(crowd.folder, tmp_path / "whole")
    wrong, failed = [], 0
    for at in range(1, 9):
        shutil.rmtree(crowd.folder)
        shutil.copytree(tmp_path / "whole", crowd.folder)
        fault = ("-o", os.devnull, *only, "-e", f"inject={call}:error=EIO:when={at}")
        done = traced(room, tmp_path, "print('said:' + outcome(crowd))", *fault)
        if not done.stdout.startswith("said:"):
            wrong.append(f"{at}: {done.stdout} {done.stderr[-300:]}")
            continue
        said = done.stdout.removeprefix("said:").strip()
        failed += bool(said)
        wrong += [f"{at}: {it}" for it in wrong_after(crowd, before, said)]
    assert wrong == []
    assert failed or call in ("ftruncate", "rename")


@pytest.mark.long
def test_a_save_waits_for_the_disk_once(tmp_path: Path) -> None:
    """Disks differ in speed: all else of a save is work of the processor."""
    syncs = []
    for saves in (5, 25):
        root, trace = tmp_path / str(saves), tmp_path / f"{saves}.txt"
        root.mkdir()
        code = f"store = crowd.opened()\nfor at in range({saves}): crowd.save(store, 'p', at)"
        watched = ("-o", str(trace), "-e", "trace=fsync,fdatasync,sync_file_range")
        assert traced("sessions", root, code, *watched).returncode == 0
        syncs.append(trace.read_text().count("sync("))
    assert syncs[1] - syncs[0] == 20


# permissions


def as_ordinary_user(work: Callable[[], str]) -> str:
    """The result of this work in a process that is bound by the permissions of files."""

    def bound(_: object) -> str:
        bound_by_permissions()
        return work()

    with Child(bound) as child:
        code, said = child.end()
    assert code == 0, said
    return said


MODES = [(0o500, 0o600), (0o500, 0o400), (0o700, 0o400)]  # of the directory, of its files


@pytest.mark.parametrize(
    ("directory", "files", "is_open"), [(*it, False) for it in MODES] + [(0o500, 0o400, True)]
)
def test_a_database_that_may_only_be_read_is_read_and_a_save_is_refused(
    crowd: Crowd, before: Told, directory: int, files: int, is_open: bool
) -> None:
    """is_open: another process has its journals there."""
    store = crowd.opened()
    if is_open:
        crowd.save(store, "open", 0)
        before = crowd.kept()
    for path in crowd.folder.iterdir():
        path.chmod(files)
    crowd.folder.chmod(directory)
    names = sorted(os.listdir(crowd.folder))

    def work() -> str:
        store = crowd.opened()
        assert {it: crowd.get(store, it, id_) for it, (id_, _) in before.items()} == before
        crowd.search(store)
        return outcome(crowd)

    try:
        said = as_ordinary_user(work)
    finally:
        crowd.folder.chmod(0o700)
    if (directory, files) == (0o500, 0o600):
        assert said == "" or "nothing was saved" in said  # its journals may be there already
    else:
        assert "nothing was saved" in said and str(crowd.path) in said
        assert crowd.kept() == before
    if directory == 0o500:
        journals = f"{crowd.file}-shm", f"{crowd.file}-wal"
        assert set(os.listdir(crowd.folder)) <= {*names, *journals}


@pytest.mark.long  # it costs much
def test_a_database_that_may_not_be_read_is_said_and_is_not_taken_for_empty(
    crowd: Crowd, before: Told
) -> None:
    def work() -> str:
        with pytest.raises(DatabaseError) as caught:
            crowd.get(crowd.opened(), 1, before[1][0])
        assert outcome(crowd)
        return str(caught.value)

    for path, mode in ((crowd.path, 0o600), (crowd.folder, 0o700)):
        path.chmod(0)
        try:
            said = as_ordinary_user(work)
        finally:
            path.chmod(mode)
        assert str(path) in said
        assert path == crowd.folder or "This does not mean that it is empty" in said
    assert crowd.kept() == before


# damage


@pytest.mark.row("002 2.96")
@pytest.mark.long
def test_a_damaged_page_anywhere_is_said_or_does_no_harm(crowd: Crowd, before: Told) -> None:
    everything, wrong, met = {**before, **crowd.left_whole("more", 40)}, [], 0
    for journal in crowd.folder.glob(f"{crowd.file}-*"):
        journal.unlink()
    data = crowd.path.read_bytes()
    for at in range(0, len(data), 4096):
        spoilt = data[: at + 100] + b"\xa5" * 3_900 + data[at + 4_000 :]
        crowd.path.write_bytes(spoilt)
        store, said = crowd.opened(), ""
        for number, saved in everything.items():
            try:
                found = crowd.get(store, number, saved[0])
                if found != saved:
                    wrong.append(f"page {at // 4096}: {found} instead of {saved}")
            except SentinelError as error:
                said = str(error)
        crowd.close(store)
        met += bool(said)
        if said and "is damaged" not in said:
            wrong.append(f"page {at // 4096}: {said}")
        if crowd.path.read_bytes() != spoilt:
            wrong.append(f"page {at // 4096}: a reader has written")
        for journal in crowd.folder.glob(f"{crowd.file}-*"):
            journal.unlink()
    assert wrong == [] and met > 3
