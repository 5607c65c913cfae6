"""Tests that a failing disk or a killed writer leaves the old file or the new one, whole."""

import errno
import logging
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from core.config import LOG_NAME
from core.errors import BusyError, DiskError
from core.lessons.file import LOCK_SUFFIX, LogFile
from core.store import MemoryStore
from tests import torture
from tests.core.lessons import rehearsals
from tests.support import faults
from tests.support.samples import LATER, a_draft, a_record
from tests.support.sentences import raised

SEED, KILLS = 20261121, 8
EVERY = 10  # the costlier kinds try every tenth call here, each scenario other ones
ALIKE = {"an update in the middle", "a principle", "a bringing back"}  # calls of a new record

by_name = {scenario.name: scenario for scenario in rehearsals.SCENARIOS}


@pytest.fixture(autouse=True)
def without_patience(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Hundreds of saves find the log gone on purpose; none waits whether it comes back."""
    monkeypatch.setattr("core.lessons.file._SETTLE_S", 0.0)
    caplog.set_level(logging.CRITICAL, "sentinel_memory")


@lru_cache
def rehearsed(scenario: rehearsals.Scenario, folder: Path) -> rehearsals.Rehearsal:
    return rehearsals.rehearse(scenario, folder / "rehearsal")


# The failures, their calls, and how many of them are tried: all, some, or most ("most" leaves out
# scenarios that are like another one).
TRIED: dict[str, tuple[tuple[str, ...], dict[str, list[str]], str]] = {
    "refused": (("refused",), {"but": ["unlock"]}, "most"),
    "a disk that dies": (("refused from there on",), {"but": ["unlock"]}, "some"),
    "failed after its work": (("failed afterwards",), {"but": ["replace", "unlock"]}, "all"),
    "a rename that happened": (("failed afterwards",), {"only": ["replace"]}, "all"),
    "a lock not released": (("refused",), {"only": ["unlock"]}, "all"),
    "a lock released": (("failed afterwards",), {"only": ["unlock"]}, "all"),
    "half a write": (("torn",), {}, "all"),
    "a write cut short": (("cut short",), {}, "all"),
    "a folder that goes": (("folder removed",), {}, "some"),
    "a file for the folder": (("folder usurped",), {}, "some"),
    "a kill": (faults.KILLING, {}, "most"),
}


def cells() -> Iterator[Any]:
    """Each kind for each scenario; but for one of these it costs much."""
    for name, scenario in product([*TRIED, "a full disk"], rehearsals.SCENARIOS):
        is_usual = (name, scenario.name) == ("refused", "a change that sets aside")
        marks = () if is_usual else pytest.mark.long
        yield pytest.param(name, scenario, id=f"{name}-{scenario}", marks=marks)


@pytest.mark.row("001 5-1.c", "I12", "P1", "P2", "P3", "P4")
@pytest.mark.parametrize(("name", "scenario"), list(cells()))
def test_no_fault_costs_the_file_or_the_lock_or_the_next_save(
    name: str,
    scenario: rehearsals.Scenario,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rehearsal = rehearsed(scenario, tmp_path_factory.getbasetemp())
    planned = [faults.Fault(limit, "full") for limit in (0, 30, 700, 1800)]
    if name in TRIED:
        modes, calls, how_many = TRIED[name]
        planned = [it for mode in modes for it in rehearsals.faults_of(rehearsal, mode, **calls)]
        # To die before a call is to die after the one before it, and after one that only looks at
        # something nothing is different.
        planned = [it for it in planned if it.mode != "killed before" or it.at == 1]
        if how_many == "some" or (how_many == "most" and scenario.name in ALIKE):
            planned = planned[rehearsals.SCENARIOS.index(scenario) % EVERY :: EVERY]
    assert [it for fault in planned for it in rehearsals.attempt(rehearsal, fault, tmp_path)] == []


@pytest.mark.long  # it costs much
@pytest.mark.row("P4")
@pytest.mark.parametrize("code", faults.CODES)
def test_a_read_that_fails_is_an_error_and_not_an_empty_memory(tmp_path: Path, code: int) -> None:
    path = by_name["a new record"].begin(tmp_path)
    with faults.Faults(tmp_path) as undisturbed:
        LogFile(path, lock_timeout_s=1).read()
    told = set()
    for at in range(1, len(undisturbed.calls) + 1):
        with faults.Faults(tmp_path, faults.Fault(at, "refused", code)):
            try:
                told.add(LogFile(path, lock_timeout_s=1).read())
            except Exception as error:
                told.add(type(error).__name__.encode())
    assert told == ({b""} if code == errno.ENOENT else {b"LogReadError"})


@pytest.mark.long  # it costs much
def test_a_reader_and_the_next_writer_of_a_stopped_one_are_not_led_astray(tmp_path: Path) -> None:
    scenario = by_name["a new record"]
    rehearsal = rehearsals.rehearse(scenario, tmp_path / "rehearsal")
    # All of them while the lock is held, however it was taken: from where the log is opened to the
    # last call about another file than the lock.
    calls = list(enumerate(rehearsal.calls, 1))
    opened = next(at for at, call in calls if call.name == "open" and call.path.endswith(LOG_NAME))
    written = next(at for at, call in calls if call.name == "write" and at > opened)
    renamed = next(at for at, call in calls if call.name == "replace")
    last = max(at for at, call in calls if Path(call.path).suffix != LOCK_SUFFIX)
    stops = sorted({opened, written, renamed, renamed + 1, last})
    roots = [tmp_path / f"stopped at {at}" for at in stops]
    paths = [scenario.begin(root) for root in roots]

    def is_told_to_wait(path: Path) -> bool:
        with raised(BusyError, "log_busy"):
            rehearsals.a_store(path).upsert_log(a_draft("behind"))
        return True

    with ExitStack() as running, ThreadPoolExecutor(len(stops)) as pool:
        children = [
            running.enter_context(
                rehearsals.act_in_child(scenario, path, faults.Fault(at, "stopped"), root)
            )
            for at, path, root in zip(stops, paths, roots, strict=True)
        ]
        assert [child.wait_for_stop() for child in children] == [True] * len(stops)
        read = [LogFile(path, lock_timeout_s=1).read() for path in paths]
        assert read == [rehearsals.DATA if at <= renamed else rehearsal.data for at in stops]
        assert list(pool.map(is_told_to_wait, paths)) == [True] * len(stops)
        assert [LogFile(path, lock_timeout_s=1).read() for path in paths] == read
        for child in children:
            child.go_on()
        assert [child.end() for child in children] == [(0, "done")] * len(stops)
    assert [path.read_bytes() for path in paths] == [rehearsal.data] * len(stops)
    assert [what for at in zip(paths, roots, strict=True) for what in rehearsals.recover(*at)] == []


def test_a_writer_that_is_stopped_before_its_turn_holds_nobody_up(tmp_path: Path) -> None:
    scenario = by_name["a new record"]
    rehearsal = rehearsals.rehearse(scenario, tmp_path / "rehearsal")
    path = scenario.begin(tmp_path / "root")
    at = [call.name for call in rehearsal.calls].index("open") + 1  # it holds nothing yet
    fault = faults.Fault(at, "stopped")
    with rehearsals.act_in_child(scenario, path, fault, tmp_path / "root") as child:
        assert child.wait_for_stop()
        rehearsals.a_store(path).upsert_log(a_draft("meanwhile"))
        child.go_on()
        assert child.end() == (0, "done")
    added = [a_record(gap, now=LATER).to_line() for gap in ("meanwhile", "fifth")]
    assert path.read_bytes() == rehearsals.DATA + b"".join(added)


@pytest.mark.row("P3")
def test_a_store_that_failed_once_saves_again_and_so_does_a_fork_of_it(tmp_path: Path) -> None:
    path = by_name["a new record"].begin(tmp_path)
    store = MemoryStore(path, lock_timeout_s=1, now=lambda: LATER)
    dead = faults.Fault(1, "refused from there on")
    with faults.Faults(tmp_path, dead), raised(DiskError, "log_write"):
        store.upsert_log(a_draft("fifth"))
    store.upsert_log(a_draft("fifth"))
    assert path.read_bytes() == rehearsals.DATA + a_record("fifth", now=LATER).to_line()
    assert not rehearsals.is_held(path.with_name(f"{path.name}.lock"))

    def work(_: faults.Say) -> str:
        store.upsert_log(a_draft("sixth"))
        return "done"

    with faults.Child(work) as child:
        assert child.end() == (0, "done")
    added = [a_record(gap, now=LATER).to_line() for gap in ("fifth", "sixth")]
    assert path.read_bytes() == rehearsals.DATA + b"".join(added)


@pytest.mark.row("P2")
@pytest.mark.long
def test_a_writer_that_is_killed_ever_again_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    writers = torture.Writers(tmp_path, random.Random(SEED))
    assert sum(writers.step() for _ in range(KILLS)) == 2 * KILLS
    done = torture.run(1.0, SEED, (torture.Calls,), folder=tmp_path)  # one kind always has a turn
    assert all(done.values())


TestDisturbed = pytest.mark.row("I14")(torture.Disturbed.TestCase)
