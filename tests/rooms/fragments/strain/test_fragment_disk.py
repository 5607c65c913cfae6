"""Tests the fragments on a disk that is full, fails, may not be written, or holds others' data."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.disk.database import DatabaseError
from core.errors import SentinelError
from rooms.fragments.engine import Wanted
from rooms.fragments.saving.drafting import Draft
from rooms.fragments.saving.remembering import remember
from tests.support.faults import Child
from tests.support.fragment_crowd import NAME, Rememberer, fresh, kept, wrong_with
from tests.support.session_crowd import told
from tests.support.spoilt_files import PLACES, as_ordinary_user, state
from tests.support.stdio_client import ROOT

resource = pytest.importorskip("resource", reason="faults as POSIX makes them")

SAVED = 5
Stored = dict[int, tuple[str, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "fragments"


@pytest.fixture
def before(folder: Path) -> Stored:
    """Fragments that another process has remembered and left whole on disk."""
    return left_whole(folder, "before", SAVED)


def left_whole(folder: Path, name: str, saves: int) -> Stored:
    with Child(Rememberer(folder, name, saves)) as child:
        code, said = child.end()
    assert code == 0, said
    with contextlib.closing(sqlite3.connect(folder / NAME)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return told(said)


def outcome(folder: Path, word: str = "more") -> str:
    """The sentence of a save that fails; "" for one that works. Other errors are raised."""
    draft = Draft(content=f"zebra {word} " + "words " * 100, topic=word, keywords=("crowd",))
    try:
        remember(fresh(folder), draft)
    except SentinelError as error:
        return str(error)
    return ""


def count_of(folder: Path, word: str) -> int:
    return sum(f"zebra {word} " in content for _, content in kept(folder).values())


def wrong_after(folder: Path, before: Stored, said: str) -> list[str]:
    wrong = []
    if count_of(folder, "more") != (not said):
        wrong.append(f"{said!r}, but it is there {count_of(folder, 'more')} times")
    wrong += wrong_with(folder, before)
    if outcome(folder, "after"):
        wrong.append("the next save failed")
    return wrong


@pytest.mark.row("002 2.96")
@pytest.mark.long
def test_wherever_a_disk_is_full_the_save_is_there_or_was_never_acknowledged(
    tmp_path: Path, folder: Path, before: Stored
) -> None:
    """No file may grow above a limit; each limit fails another write."""
    wrong, failed = [], 0
    shutil.copytree(folder, tmp_path / "kept")
    for limit in (*range(0, 60_000, 3_000), *range(60_000, 300_000, 20_000)):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "kept", folder)

        def work(_: object, limit: int = limit) -> str:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            return outcome(folder)

        with Child(work) as child:
            code, said = child.end()
        if code:
            wrong.append(f"{limit}: ended with {code} {said[-200:]}")
        if said and "It is unchanged, and nothing was saved" not in said:
            wrong.append(f"{limit}: {said}")
        failed += bool(said)
        wrong += [f"{limit}: {it}" for it in wrong_after(folder, before, said)]
    assert wrong == [] and 3 < failed < 31


@pytest.mark.long
@pytest.mark.parametrize("call", ["fdatasync", "pwrite64", "openat"])
def test_a_call_of_the_system_that_fails_is_said_and_undoes_the_save(
    tmp_path: Path, folder: Path, before: Stored, call: str
) -> None:
    """The disk fails below Python, at each call in turn."""
    if not shutil.which("strace"):
        pytest.skip("needs strace")
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.rooms.fragments.strain.test_fragment_disk import outcome\n"
        "print('said:' + outcome(Path(sys.argv[1])))"
    )
    shutil.copytree(folder, tmp_path / "kept")
    wrong, failed = [], 0
    only = [part for end in ("", "-wal", "-shm") for part in ("-P", str(folder / f"{NAME}{end}"))]
    for at in range(1, 6):
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "kept", folder)
        done = subprocess.run(
            ["strace", "-f", "-o", os.devnull, *only, "-e", f"inject={call}:error=EIO:when={at}",
             sys.executable, "-c", code, str(folder)],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if not done.stdout.startswith("said:"):
            wrong.append(f"{at}: {done.stdout} {done.stderr[-300:]}")
            continue
        said = done.stdout.removeprefix("said:").strip()
        failed += bool(said)
        wrong += [f"{at}: {it}" for it in wrong_after(folder, before, said)]
    assert wrong == [] and failed


MODES = [(0o500, 0o600), (0o500, 0o400), (0o700, 0o400)]  # of the directory, of its files


@pytest.mark.parametrize(("directory", "files"), MODES)
def test_what_may_only_be_read_is_read_and_a_save_is_refused(
    folder: Path, before: Stored, directory: int, files: int
) -> None:
    for path in folder.iterdir():
        path.chmod(files)
    folder.chmod(directory)

    def work() -> str:
        with fresh(folder).engine.reading() as reading:
            assert len(reading.find(Wanted(), order="worth")) == SAVED
            assert len(reading.with_keywords(["crowd"], Wanted(), 9)) == SAVED
            assert len(reading.holding("zebra", 99).shares(0.25)) == SAVED
        return outcome(folder)

    try:
        said = as_ordinary_user(work)
    finally:
        folder.chmod(0o700)
    if (directory, files) != (0o500, 0o600):  # there its journals may be there already
        assert "nothing was saved" in said and str(folder / NAME) in said
        assert kept(folder) == before


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.10.h")
@pytest.mark.parametrize("spoil", PLACES, ids=lambda spoil: spoil.__name__)
def test_whatever_is_in_its_place_is_said_and_stays_as_it_is(
    folder: Path, before: Stored, spoil: Callable[[Path], None]
) -> None:
    for suffix in ("-wal", "-shm"):
        folder.joinpath(f"{NAME}{suffix}").unlink(missing_ok=True)
    spoil(folder / NAME)
    seen = state(folder)
    with pytest.raises(DatabaseError) as caught, fresh(folder).engine.reading() as reading:
        reading.find(Wanted(state="all"))
        reading.holding("zebra", 99)
        reading.with_keywords(["crowd"], Wanted(), 9)
    said = str(caught.value)
    assert PLACES[spoil] in said and str(folder / NAME) in said
    assert "Nothing was" in said or "Nothing in it was changed" in said
    assert ("try again" in said) or ("doctor --fix" in said)
    assert said.count("\n") == 0 and "zebra" not in said
    assert outcome(folder), "nothing may be made anew in its place"
    assert state(folder) == seen


@pytest.mark.row("002 2.96")
@pytest.mark.long
def test_a_damaged_page_anywhere_is_said_or_does_no_harm(folder: Path, before: Stored) -> None:
    everything = {**before, **left_whole(folder, "more", 40)}
    path, wrong, met = folder / NAME, [], 0
    for journal in folder.glob(f"{NAME}-*"):
        journal.unlink()
    data = path.read_bytes()
    for at in range(0, len(data), 4096):
        spoilt = data[: at + 100] + b"\xa5" * 3_900 + data[at + 4_000 :]
        path.write_bytes(spoilt)
        engine, said = fresh(folder).engine, ""
        for number, told_before in everything.items():
            try:
                with engine.reading() as reading:
                    [it] = reading.by_ids([told_before[0]])
                    if (it.number, it.content) != (number, told_before[1]):
                        wrong.append(f"page {at // 4096}: {it.content[:30]!r}")
            except ValueError as error:
                wrong.append(f"page {at // 4096}: {told_before[0]} is not there: {error}")
            except SentinelError as error:
                said = str(error)
        engine.close()
        met += bool(said)
        if said and "is damaged" not in said:
            wrong.append(f"page {at // 4096}: {said}")
        if path.read_bytes() != spoilt:
            wrong.append(f"page {at // 4096}: a reader has written")
        for journal in folder.glob(f"{NAME}-*"):
            journal.unlink()
    assert wrong == [] and met > 3
