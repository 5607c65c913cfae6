"""Tests that embedding in the background delays nobody, goes on after failures, and ends."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rooms.fragments.draft import Draft, remember
from rooms.fragments.fragment import Wanted
from rooms.fragments.models.vectors import BACKGROUND, Background, fill_in_background
from rooms.fragments.room import Room
from tests.support.embedding_service import embedder, embeddings, environment_of
from tests.support.fragments_room import a_room
from tests.support.stand_in_service import Answer, Asked, StandIn, stand_in
from tests.support.stdio_client import ROOT

LONG_S = 60.0


@pytest.fixture
def service() -> Iterator[StandIn]:
    with stand_in(embeddings) as running:
        yield running


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return a_room(tmp_path)


def save(room: Room, content: str) -> None:
    remember(room, Draft(content=content))


def left(room: Room) -> int:
    with room.engine.reading() as reading:
        return sum(reading.count(Wanted(has_vector=False)).values())


def failure_of(background: Background) -> str:
    return background.failure.key if background.failure else ""


def threads() -> list[threading.Thread]:
    return [it for it in threading.enumerate() if it.name == "embeddings"]


@pytest.mark.row("004 4.10.a")
def test_a_save_is_embedded_soon_and_the_thread_ends(
    room: Room, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment_of(service).items():
        monkeypatch.setenv(name, value)
    save(room, "the port is 8080")
    fill_in_background(room)
    assert BACKGROUND.wait(LONG_S)
    assert left(room) == 0
    assert BACKGROUND.failure is None


def test_without_a_model_no_thread_begins(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    background = Background()
    monkeypatch.delenv("SENTINEL_MEMORY_EMBEDDINGS", raising=False)
    fill_in_background(room, background=background)
    monkeypatch.setenv("SENTINEL_MEMORY_EMBEDDINGS", "no address")
    fill_in_background(room, background=background)
    assert background.wait(0)
    assert threads() == []


@pytest.mark.row("002 2.53.c", "004 4.10.a")
def test_a_slow_service_delays_no_answer_and_one_thread_serves_all(
    room: Room, service: StandIn
) -> None:
    goes_on, background, answered = threading.Event(), Background(), list[Asked]()

    def slow(asked: Asked) -> Answer:
        goes_on.wait(LONG_S)
        answered.append(asked)
        return embeddings(asked)

    service.answer = slow
    used = embedder(service)
    for number in range(5):
        save(room, f"fact {number}")
        fill_in_background(room, used, background=background)
        assert len(threads()) == 1
        assert threads()[0].daemon
    assert not answered
    assert not background.wait(0)
    goes_on.set()
    assert background.wait(LONG_S)
    assert left(room) == 0


def test_a_failure_ends_it_until_the_next_save(room: Room, service: StandIn) -> None:
    background = Background()
    service.answer = lambda _: Answer({}, 401)
    save(room, "the port is 8080")
    fill_in_background(room, embedder(service), background=background)
    assert background.wait(LONG_S)
    assert failure_of(background) == "no_access"
    assert len(service.asked) == 1
    service.answer = embeddings
    used = embedder(service, OPENAI_API_KEY="good")
    fill_in_background(room, used, background=background)
    assert background.wait(LONG_S)
    assert (left(room), failure_of(background)) == (0, "")


def test_what_nobody_expected_ends_the_thread_and_not_the_work_after_it(
    room: Room, service: StandIn
) -> None:
    background, said = Background(), list[object]()
    before = threading.excepthook
    threading.excepthook = said.append
    try:
        background.do("broken", lambda: [][0])
        assert background.wait(LONG_S)
    finally:
        threading.excepthook = before
    assert len(said) == 1
    save(room, "the port is 8080")
    fill_in_background(room, embedder(service), background=background)
    assert background.wait(LONG_S)
    assert left(room) == 0


ENDING = """
import sys
from pathlib import Path
from rooms.fragments.models.vectors import fill_in_background
from rooms.fragments.draft import Draft
from rooms.fragments.draft import remember
from tests.support.fragments_room import a_room
room = a_room(Path(sys.argv[1]))
remember(room, Draft(content="the port is 8080"))
fill_in_background(room)
print("saved", flush=True)
sys.stdin.readline()
"""


@pytest.mark.long  # it costs much
def test_a_process_ends_at_once_whatever_its_thread_waits_for(
    room: Room, service: StandIn, tmp_path: Path
) -> None:
    asked, goes_on, answered = threading.Event(), threading.Event(), list[Asked]()

    def slow(request: Asked) -> Answer:
        asked.set()
        goes_on.wait(LONG_S)
        answered.append(request)
        return embeddings(request)

    service.answer = slow
    environment = {**os.environ, **environment_of(service), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", ENDING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert asked.wait(LONG_S)
        printed, complaints = process.communicate(b"end\n", LONG_S)
    assert not answered
    assert (process.returncode, printed, complaints) == (0, b"saved\n", b"")
    goes_on.set()
    service.answer = embeddings
    assert left(room) == 1
    fill_in_background(room, embedder(service), background=(background := Background()))
    assert background.wait(LONG_S)
    assert left(room) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_gets_a_thread_of_its_own(service: StandIn, tmp_path: Path) -> None:
    goes_on, background = threading.Event(), Background()
    background.do("of the parent", lambda: goes_on.wait(LONG_S))
    child = os.fork()
    if not child:
        done = threading.Event()
        background.do("of the child", done.set)
        os._exit(0 if done.wait(LONG_S) else 1)
    _, status = os.waitpid(child, 0)
    goes_on.set()
    assert background.wait(LONG_S)
    assert os.waitstatus_to_exitcode(status) == 0
