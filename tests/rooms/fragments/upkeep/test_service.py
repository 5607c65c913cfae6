"""Tests what a server over HTTP does for its operator: figures, and the end of idle sessions."""

import math
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.config import Settings
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Activity, Draft
from rooms.fragments.room import open_room
from rooms.fragments.upkeep.consolidation import ServedFragments
from rooms.fragments.versions import forget
from tests.support.fragments_room import state_of


def tended(served: ServedFragments, until: Callable[[], object]) -> None:
    """Have its upkeep done by a thread of this process until a condition holds."""
    stop = threading.Event()
    thread = threading.Thread(target=served.tend, args=(stop,))
    thread.start()
    ends = datetime.now(UTC) + timedelta(seconds=60)
    while not until() and datetime.now(UTC) < ends:
        stop.wait(0.01)
    stop.set()
    thread.join()


def test_a_server_has_figures_for_its_operator_which_are_none_while_nothing_can_be_read(
    tmp_path: Path,
) -> None:
    environment = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}
    room = open_room(Settings(), environment)
    gone = remember(room, Draft(content="The old server is called heron")).fragment
    remember(room, Draft(content="The shop runs on Node 20"))
    forget(room, id=gone.id)
    served = ServedFragments(Settings(), environment, pause_s=0.01)
    tended(served, lambda: served.figures.get("fragments_last_upkeep_timestamp_seconds"))
    ended = datetime.fromisoformat(state_of(room)["upkeep_at"]).timestamp()
    assert served.figures == {
        "fragments_live": 1,
        "fragments_superseded": 0,
        "fragments_in_bin": 1,
        "fragments_missing_vectors": 1,
        "fragments_last_upkeep_timestamp_seconds": ended,
        "judge_failures": 0,
        "embedding_failures": 0,
    }
    room.engine.close()
    room.config.path.write_bytes(b"no database")
    tended(served, lambda: not served.figures)
    assert served.figures == {}
    assert all(map(math.isnan, (gauge() for gauge in served.gauges().values())))


def test_a_server_ends_sessions_that_were_silent_for_as_long_as_its_operator_says(
    tmp_path: Path,
) -> None:
    environment = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}
    room, now = open_room(Settings(), environment), datetime.now(UTC)
    remember(room, Draft(content="The shop runs on Node 20"))
    moments = [(now - timedelta(minutes=it)).isoformat(timespec="seconds") for it in (61, 5)]
    with room.engine.writing() as rows:
        rows.note(Activity(session_id=f"s{it}", last_at=it, started_at=it) for it in moments)

    def ended() -> list[bool]:
        with room.engine.reading() as rows:
            return [bool(it.ended_at) for it in rows.entries(Activity)]

    silent_for = timedelta(minutes=60)
    served = ServedFragments(Settings(), environment, silent_for=silent_for, pause_s=0.01)
    tended(served, lambda: any(ended()))
    assert ended() == [True, False]
