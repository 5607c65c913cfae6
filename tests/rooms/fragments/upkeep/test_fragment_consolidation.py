"""Tests runs of the upkeep: killed, stopped, two at once, a bit of it each day, and by a server.

Each of its steps is told in the lives, in `tests/stories/lives/upkeep.txt`.
"""

import errno
import json
import math
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.config import FRAGMENTS_VARIABLE, Settings
from core.program import Cancellation
from core.room.copies import copies_of
from rooms.fragments.fragment import Activity, Amendment, Filter, Link, UpkeepBusyError, UpkeepError
from rooms.fragments.models.judge import Verdict
from rooms.fragments.models.vectors import Embedder
from rooms.fragments.room import Room, open_room
from rooms.fragments.storage.rows import Engine, Rows
from rooms.fragments.storage.sqlite import LOCK_SUFFIX
from rooms.fragments.upkeep import consolidation
from rooms.fragments.upkeep.consolidation import ServedFragments, consolidate, tend
from rooms.fragments.upkeep.passes import PASSES, STEPS
from rooms.fragments.versions import amend, forget
from tests.support import fragments_room as kit
from tests.support.sentences import in_language
from tests.support.servers import until
from tests.support.team_engines import IN_A_FILE
from tests.support.team_engines import kept_in as kept_in

KILLED = 9


def filled(room: Room, clock: kit.Clock) -> None:
    """A room in which each step has something to do, several pages of it where that is cheap."""
    contents = (f"Part {at} of the shop" for at in range(290))
    old = kit.add(room, *contents, stale_days=60, checked_at=clock())
    if not room.engine.keeps_agents_apart:  # a server takes no such link
        with room.engine.writing() as rows:
            rows.put_links([Link(from_id=old[0].id, to_id="nobody")])
    forget(room, id=old[1].id)
    clock.wait(days=61)
    kit.saved(room, "Check the token first", importance=0.9, access_count=12)
    for at in range(6):
        kit.saved(room, f"The pool of service {at} holds 20 connections", topic=f"p{at}")
        kit.saved(room, f"The pool of service {at} holds 50 connections", topic=f"p{at}")
    first = kit.saved(room, "Deploys happen on Mondays")
    equal = kit.saved(room, "Deploys happen on Tuesdays", importance=0.9)
    kit.changed(room, equal, content=first.content, content_hash=first.content_hash)
    kit.saved(room, "The test server listens on 8081", type="working")
    clock.wait(days=3)


def twins(
    tmp_path: Path, clock: kit.Clock, fill: Callable[[Room, kit.Clock], None]
) -> tuple[Room, Room]:
    """A room that was filled, and the same in another directory."""
    room = kit.a_room(tmp_path / "one", clock=clock)
    fill(room, clock)
    room.engine.close()
    kit.here.copy(room.config.path, tmp_path / "other" / "memory.db")
    return room, kit.a_room(tmp_path / "other", clock=clock)


def all_that_is_left(room: Room) -> object:
    """All that a room holds, but for when and how far its upkeep is; and the figures of that."""
    passing = ("upkeep", "upkeep_at", "embedding_cosines")
    state = {it: value for it, value in kit.state_of(room).items() if it not in passing}
    return kit.everything(room), state


def begun(action: Callable[[], object]) -> int:
    """The id of a process that does something and ends with 0, or with 70 for an error."""
    pid = os.fork()
    if not pid:
        code = 70
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return pid


def ended(pid: int) -> int:
    """The exit code of a process, once it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Mortal:
    """An engine whose process dies in its second transaction, before that is on disk."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._is_next = engine, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Rows]:
        with self._engine.writing(wait_s=wait_s) as rows:
            yield rows
            if self._is_next:
                os._exit(KILLED)
            self._is_next = True


class Numbers:
    """A model that gives each text two numbers."""

    def numbers_of(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        return [(1.0, float(len(it))) for it in texts]


@pytest.mark.row("002 2.65.a")
@pytest.mark.long
def test_a_run_that_is_killed_in_every_page_ends_with_the_same_figures(
    tmp_path: Path, clock: kit.Clock
) -> None:
    room, other = twins(tmp_path, clock, filled)
    embedder = Embedder(Numbers(), "small")
    figures = kit.figures_of(consolidate(room, embedder=embedder))
    assert {*figures} > {"tiers", "decay", "expiry", "duplicates", "embeddings", "utility"}
    assert figures["expiry"] == {"expired": 1, "stale": 289, "purged": 1}
    assert figures["contradictions"]["checked"] == 14

    def one_page_then_die() -> None:
        mortal = replace(other, engine=cast(Engine, Mortal(other.engine)))
        consolidate(mortal, embedder=embedder)

    passes = list[str]()
    while ended(begun(one_page_then_die)) == KILLED:
        passes.append(json.loads(kit.state_of(other)["upkeep"])[2])
        clock.wait(hours=1)  # a run keeps the moment of its first page
    assert list(dict.fromkeys(passes)) == [it.name for it in PASSES]
    assert len(passes) > len(PASSES)  # some have several pages
    assert all_that_is_left(other) == all_that_is_left(room)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.65.a")
def test_while_one_process_is_at_it_another_is_refused_and_may_save(
    tmp_path: Path, clock: kit.Clock
) -> None:
    room = kit.a_room(tmp_path, clock=clock, lock_timeout_s=0.1)
    kit.saved(room, "The shop runs on Node 20")
    said, heard = os.pipe(), os.pipe()

    def waits(place: int, count: int, name: str) -> None:
        if place == 9:
            os.write(said[1], b"x")
            os.read(heard[0], 1)

    pid = begun(lambda: consolidate(kit.a_room(tmp_path, clock=clock), progress=waits))
    os.read(said[0], 1)
    with pytest.raises(UpkeepBusyError) as caught:
        consolidate(room)
    assert room.engine.name in str(caught.value)
    patient = kit.a_room(tmp_path, clock=clock, lock_timeout_s=3_600)  # and none of these waits
    tend(patient)
    kit.saved(patient, "Deploys happen on Mondays")
    os.write(heard[1], b"x")
    assert ended(pid) == 0 and "upkeep_at" in kit.state_of(room)
    assert kit.figures_of(consolidate(room))["contradictions"] == {"checked": 1}


def test_a_call_that_is_cancelled_stops_between_pages_and_the_next_goes_on(
    tmp_path: Path, clock: kit.Clock
) -> None:
    room = kit.a_room(tmp_path, clock=clock, lock_timeout_s=0.1)
    kit.saved(room, "The shop runs on Node 20")
    with room.engine.locked_upkeep(timeout_s=0), pytest.raises(UpkeepBusyError):
        consolidate(room)  # a thread of this process is at it
    is_requested = False
    cancellation = Cancellation(is_requested=lambda: is_requested)
    engine = kit.here.engine_at(room.config.path, cancellation)

    def cancels(place: int, count: int, name: str) -> None:
        nonlocal is_requested
        is_requested = is_requested or place == 6

    with pytest.raises(UpkeepError) as caught:
        consolidate(replace(room, engine=engine), progress=cancels)
    assert "was stopped in step 6 of 11" in str(caught.value)
    assert "정리가 할 일 11가지 중 6번째에서" in in_language("ko", str, caught.value)
    seen = list[str]()
    consolidate(room, progress=lambda place, count, name: seen.append(name))
    assert seen[0] == "utility"


@pytest.mark.row("002 2.65.a")
def test_the_figures_of_several_pages_add_up_wherever_a_run_is_cut(
    tmp_path: Path, clock: kit.Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(room: Room, clock: kit.Clock) -> None:
        parts = [f"Part {at} of the shop" for at in range(350)]
        kit.add(room, *parts[:20], checked_at=clock(), stale_days=60)
        kit.add(room, *parts[20:330], *parts[20:75], checked_at=clock())
        kit.add(room, *parts[330:], checked_at=clock(), stale_days=60)
        clock.wait(days=61)

    room, other = twins(tmp_path, clock, fill)
    figures = kit.figures_of(consolidate(room))
    assert (figures["expiry"], figures["duplicates"]) == ({"stale": 40}, {"merged": 55})
    assert (figures["decay"], figures["utility"]) == ({"decayed": 405}, {"updated": 310})
    monkeypatch.setattr(consolidation, "PIECE_S", 0.0)  # a page each
    calls = 0
    while "upkeep_at" not in kit.state_of(other):
        tend(other)
        calls += 1
        clock.wait(hours=1)  # a run keeps the moment of its first page
    assert calls == len(PASSES) + 4  # the pass over all rows has two pages, the merging, too
    assert all_that_is_left(other) == all_that_is_left(room)


def test_a_pair_that_changes_while_it_is_judged_is_not_settled(room: Room) -> None:
    gone, amended = (
        [kit.saved(room, f"The {topic} holds {at} connections", topic=topic) for at in (20, 50)]
        for topic in ("pool", "cache")
    )

    def verdict(earlier: str, later: str) -> Verdict:
        if "pool" in earlier:
            forget(room, id=gone[0].id)
        else:
            amend(room, Amendment(id=amended[0].id, content="The cache has no limit"))
        return Verdict("contradiction", 0.99)

    judge: Any = SimpleNamespace(verdict=verdict)
    assert kit.figures_of(consolidate(room, judge=judge))["contradictions"]["judged"] == 2
    with room.engine.reading() as rows:
        assert rows.links([it.id for it in (*gone, *amended)], ["contradicts"]) == []


@IN_A_FILE
def test_the_daily_copy_is_made_beside_the_upkeep_and_again_after_a_removal(room: Room) -> None:
    path = room.config.path
    gone = kit.saved(room, "The vault has two doors")
    tend(room)
    [copy] = copies_of(path)
    tend(room)
    assert copies_of(path) == [copy]
    kit.saved(room, "The shop runs on Node 20")
    forget(room, id=gone.id, hard=True)
    assert copies_of(path) == []
    tend(room)  # the upkeep of the day is done, and there is a copy all the same
    [copy] = copies_of(path)
    data = copy.read_bytes()
    assert (b"Node 20" in data, b"vault" in data) == (True, False)


@pytest.mark.row("002 2.65")
@IN_A_FILE
def test_the_daily_upkeep_never_fails_a_write(
    room: Room, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.saved(room, "The shop runs on Node 20")
    lock, target = Path(f"{room.config.path}{LOCK_SUFFIX}"), tmp_path / "target"
    lock.mkdir()
    tend(room)
    assert "the daily upkeep of the fragments was not done" in caplog.text
    with pytest.raises(UpkeepError, match="cannot be opened"):
        consolidate(room)
    lock.rmdir()
    target.write_text("mine")
    lock.symlink_to(target)
    with pytest.raises(OSError, match="symbolic link"):
        consolidate(room)
    tend(room)
    assert target.read_text() == "mine"
    lock.unlink()
    assert "upkeep" not in kit.state_of(room)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("core.room.copies.keep_copy", full)
        tend(room)
    assert f"The daily copy of the database {room.config.path} could not be made" in caplog.text
    assert "upkeep_at" in kit.state_of(room)


@pytest.mark.row("002 2.65.a")
def test_the_eleven_steps_of_the_specification_run_in_their_order_in_eight_passes() -> None:
    assert [[it.name for it in some.steps] for some in PASSES] == [
        ["tiers", "decay", "expiry"],
        *(["duplicates"], ["embeddings"]),
        ["utility", "anchors"],
        *(["contradictions"], ["suspicions"], ["feedback"], ["tidying"]),
    ]
    assert len(STEPS) == 11


@pytest.mark.row("002 2.10.e", "002 2.64")
@IN_A_FILE  # a server takes no such link, and keeps no such index
def test_an_index_or_link_out_of_step_is_mended(room: Room) -> None:
    one = kit.saved(room, "The shop runs on Node 20", keywords=("node",))
    with room.engine.writing() as rows:
        rows.put_links([Link(from_id=one.id, to_id="nobody"), Link(from_id="no", to_id=one.id)])
    with closing(sqlite3.connect(room.config.path)) as connection, connection:
        connection.execute("DELETE FROM fragments_fts")
        connection.execute("INSERT INTO fragment_keywords VALUES ('ghost', 1, 99)")
    room.engine.close()
    assert kit.figures_of(consolidate(room))["tidying"] == {"index": 1, "links": 2}
    with room.engine.reading() as rows:
        assert rows.links([one.id]) == []
        assert rows.count_keywords(["node", "ghost"], Filter(), 5) == [(one.number, 1)]
        assert [*rows.coverage("Node", 5).shares()] == [one.number]
    assert "tidying" not in kit.figures_of(consolidate(room))


# By a server over HTTP, for its operator


def tended(served: ServedFragments, condition: Callable[[], object]) -> None:
    """Have its upkeep done by a thread of this process until a condition holds."""
    stop = threading.Event()
    thread = threading.Thread(target=served.tend, args=(stop,))
    thread.start()
    try:
        until(condition)
    finally:
        stop.set()
        thread.join()


@pytest.mark.row("002 2.46", "002 2.53", "002 2.65")
@IN_A_FILE
def test_a_server_has_figures_and_ends_silent_sessions_as_its_operator_says(tmp_path: Path) -> None:
    environment = {FRAGMENTS_VARIABLE: str(tmp_path / "memory.db")}
    room, now = open_room(Settings(), environment), datetime.now(UTC)
    gone = kit.saved(room, "The old server is called heron")
    kit.saved(room, "The shop runs on Node 20")
    forget(room, id=gone.id)
    moments = [(now - timedelta(minutes=it)).isoformat(timespec="seconds") for it in (61, 5)]
    with room.engine.writing() as rows:
        rows.put_entries(Activity(session_id=f"s{it}", last_at=it, started_at=it) for it in moments)

    def ended() -> list[bool]:
        with room.engine.reading() as rows:
            return [bool(it.ended_at) for it in rows.entries(Activity)]

    an_hour = timedelta(minutes=60)
    served = ServedFragments(Settings(), environment, idle_limit=an_hour, pause_s=0.01)
    done = "fragments_last_upkeep_timestamp_seconds"
    tended(served, lambda: any(ended()) and served.figures.get(done))
    assert ended() == [True, False]
    assert served.figures == {
        **{"fragments_live": 1, "fragments_superseded": 0, "fragments_in_bin": 1},
        **{"fragments_missing_vectors": 1, "judge_failures": 0, "embedding_failures": 0},
        done: datetime.fromisoformat(kit.state_of(room)["upkeep_at"]).timestamp(),
    }
    room.engine.close()
    room.config.path.write_bytes(b"no database")  # of which nothing can be read
    tended(served, lambda: not served.figures)
    assert all(map(math.isnan, (gauge() for gauge in served.gauges().values())))


@IN_A_FILE
def test_a_failure_that_returns_is_told_again(room: Room, caplog: pytest.LogCaptureFixture) -> None:
    kit.saved(room, "The shop runs on Node 20")
    place, lock = str(room.config.path), Path(f"{room.config.path}{LOCK_SUFFIX}")
    always: Any = {"idle_limit": timedelta(0), "pause_s": 0.01}
    served = ServedFragments(Settings(), {FRAGMENTS_VARIABLE: place}, **always)
    for _ in range(2):
        lock.unlink(missing_ok=True)
        lock.mkdir()
        tended(served, lambda: "has to wait, and is tried again" in caplog.text)
        lock.rmdir()
        tended(served, lambda: served.figures)
        caplog.clear()


@pytest.mark.row("002 2.65")
@IN_A_FILE
def test_a_database_that_is_away_is_logged_once_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class AfterThreeLooks(threading.Event):
        looks = 0

        def wait(self, timeout: float | None = None) -> bool:
            self.looks += 1
            if self.looks == 3:
                self.set()
            return super().wait(timeout)

    place, stop = "postgresql://u:hidden@127.0.0.1:9/none", AfterThreeLooks()
    away = {FRAGMENTS_VARIABLE: place, "DB_CONN_TIMEOUT_MS": "100"}
    ServedFragments(Settings(), away, pause_s=0.01).tend(stop)
    assert stop.looks == 3
    assert caplog.text.count("has to wait, and is tried again") == 1
    assert "hidden" not in caplog.text
