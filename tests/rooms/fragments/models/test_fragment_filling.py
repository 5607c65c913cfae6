"""Tests that a service gives fragments their vectors, and that nobody waits for it.

Which get one, and from which model, is told in `tests/stories/lives/vectors.txt`.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rooms.fragments.fragment import Wanted, hash_of
from rooms.fragments.models.vectors import Embedder, Filled, fill, fill_in_background, vector_of
from rooms.fragments.room import Room
from tests.support import stand_in_service as stand
from tests.support.fragments_room import all_of, changed, saved
from tests.support.stand_in_service import Asked, StandIn, embedder, embeddings
from tests.support.stand_in_service import service as service
from tests.support.tables import ROOT
from tests.support.team_engines import IN_A_FILE
from tests.support.team_engines import kept_in as kept_in

LONG_S = 60.0
PORT = "the port is 8080"


def left(room: Room) -> int:
    return len(all_of(room, Wanted(has_vector=False)))


def test_what_was_changed_or_removed_meanwhile_gets_no_vector_of_its_former_text(
    room: Room, service: StandIn
) -> None:
    first, second = saved(room, PORT), saved(room, "gone soon")
    stays, other = saved(room, "stays"), "the port is 9090"

    def answer(asked: Asked) -> stand.Answer:
        if len(service.asked) == 1:
            changed(room, first, content=other, content_hash=hash_of(other))
            with room.engine.writing() as writing:
                writing.drop([second.id])
        return embeddings(asked)

    service.answer = answer
    used = embedder(service)
    assert fill(room, used) == Filled(1, 1)
    assert [it.id for it in all_of(room, Wanted(has_vector=True))] == [stays.id]
    fill(room, used)
    with room.engine.reading() as reading:
        assert reading.vectors([first.number]) == [
            (first.number, vector_of(stand.numbers_of(other)))
        ]


# In the background.


def threads() -> list[threading.Thread]:
    return [it for it in threading.enumerate() if it.name == "embeddings"]


def first_doing(work: Callable[[], object]) -> Embedder:
    """A model of this process, which does something before it answers."""

    class Model:
        def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
            work()
            return [[1.0] for _ in texts]

    return Embedder(Model(), "one number")


def has_ended() -> bool:
    for thread in threads():
        thread.join(LONG_S)
    return threads() == []


@pytest.mark.row("004 4.10.a")
def test_a_save_is_embedded_soon_where_a_model_is_named_and_the_thread_ends(
    room: Room, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(room, PORT)
    for value in ("", "no address"):
        monkeypatch.setenv("SENTINEL_MEMORY_EMBEDDINGS", value)
        fill_in_background(room)
        assert threads() == []
    for name, value in stand.environment_of(service).items():
        monkeypatch.setenv(name, value)
    fill_in_background(room)
    assert has_ended() and left(room) == 0


@pytest.mark.row("002 2.53.c", "004 4.10.a")
def test_a_slow_service_delays_no_answer_and_one_thread_serves_all(
    room: Room, service: StandIn
) -> None:
    goes_on, answered = threading.Event(), list[Asked]()

    def slow(asked: Asked) -> stand.Answer:
        goes_on.wait(LONG_S)
        answered.append(asked)
        return embeddings(asked)

    service.answer = slow
    used = embedder(service)
    for number in range(5):
        saved(room, f"fact {number}")
        fill_in_background(room, used)
        assert [it.daemon for it in threads()] == [True]
    assert not answered
    goes_on.set()
    assert has_ended() and left(room) == 0


def test_a_failure_ends_it_until_the_next_save(
    room: Room, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = list[object]()
    saved(room, PORT)
    with monkeypatch.context() as patch:
        patch.setattr(threading, "excepthook", said.append)
        fill_in_background(room, first_doing(lambda: 1 / 0))  # what nobody expected
        assert has_ended()
    service.says({}, 401)
    fill_in_background(room, embedder(service))
    assert has_ended()
    assert (left(room), len(service.asked), len(said)) == (1, 1, 1)
    service.answer = embeddings
    used = embedder(service, OPENAI_API_KEY="good")
    fill_in_background(room, used)
    assert has_ended() and left(room) == 0


ENDING = """
import sys
from pathlib import Path
from rooms.fragments.models.vectors import fill_in_background
from rooms.fragments.draft import remember
from rooms.fragments.fragment import Draft
from tests.support.fragments_room import a_room
room = a_room(Path(sys.argv[1]))
remember(room, Draft(content="the port is 8080"))
fill_in_background(room)
print("saved", flush=True)
sys.stdin.readline()
"""


@pytest.mark.long  # it costs much
@IN_A_FILE
def test_a_process_ends_at_once_whatever_its_thread_waits_for(
    room: Room, service: StandIn, tmp_path: Path
) -> None:
    asked, goes_on = threading.Event(), threading.Event()

    def slow(request: Asked) -> stand.Answer:
        asked.set()
        goes_on.wait(LONG_S)
        return embeddings(request)

    service.answer = slow
    environment = {**os.environ, **stand.environment_of(service), "PYTHONPATH": str(ROOT)}
    command, pipe = [sys.executable, "-c", ENDING, str(tmp_path)], subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    ) as process:
        assert asked.wait(LONG_S)
        printed, complaints = process.communicate(b"end\n", LONG_S)
    goes_on.set()
    assert (process.returncode, printed, complaints) == (0, b"saved\n", b"")
    assert fill(room, embedder(service)) == Filled(1, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@IN_A_FILE
def test_a_forked_process_gets_a_thread_of_its_own(room: Room) -> None:
    asked, goes_on = threading.Event(), threading.Event()
    saved(room, PORT)

    def wait() -> None:
        asked.set()
        goes_on.wait(LONG_S)

    fill_in_background(room, first_doing(wait))
    assert asked.wait(LONG_S)
    child = os.fork()
    if not child:
        try:
            fill_in_background(room, first_doing(bool))
            os._exit(0 if has_ended() and left(room) == 0 else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    goes_on.set()
    assert has_ended()
    assert os.waitstatus_to_exitcode(status) == 0
