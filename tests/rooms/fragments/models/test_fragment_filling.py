"""Tests that fragments get their vectors, those of one model only, and that nobody waits for it."""

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import Fragment, Wanted, hash_of
from rooms.fragments.models.embedding import vector_of
from rooms.fragments.models.vectors import (
    BACKGROUND,
    Background,
    Filled,
    fill,
    fill_in_background,
    reembed,
)
from rooms.fragments.room import Room
from tests.support.both_engines import IN_A_FILE
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.embedding_service import (
    batches_of,
    embedder,
    embeddings,
    environment_of,
    numbers_of,
    texts_of,
)
from tests.support.embedding_service import service as service
from tests.support.fragments_room import Clock, add, is_unused, links_of
from tests.support.fragments_room import clock as clock
from tests.support.fragments_room import room as room
from tests.support.fragments_room import state_of as state
from tests.support.stand_in_service import Answer, Asked, StandIn, stand_in
from tests.support.stdio_client import ROOT

LONG_S = 60.0
PORT, HOST = "the port is 8080", "the host is shop.test"


def saved(room: Room, *contents: str) -> list[Fragment]:
    drafts = [Draft(content=it, topic="shop", keywords=("private",)) for it in contents]
    return [remember(room, draft).fragment for draft in drafts]


def many(room: Room, count: int) -> None:
    add(room, *(f"fact number {number}" for number in range(count)))


def vectors(room: Room) -> dict[str, bytes]:
    """The stored vectors by the content that they are of."""
    with room.engine.reading() as reading:
        having = reading.find(Wanted(state="all", has_vector=True), limit=1_000)
        stored = dict(reading.vectors(it.number for it in having))
    return {it.content: stored[it.number] for it in having}


def changed(room: Room, fragment: Fragment, **fields: Any) -> None:
    if "content" in fields:
        fields["content_hash"] = hash_of(fields["content"])
    with room.engine.writing() as writing:
        writing.replace([replace(fragment, **fields)])


def test_what_has_no_vector_gets_one_and_nothing_else_is_sent(room: Room, service: StandIn) -> None:
    assert fill(room, embedder(service)) == Filled(0, 0)
    assert is_unused(room) and service.asked == []
    texts = [PORT, "결제는 토스를 쓴다"]
    saved(room, *texts)
    assert fill(room, embedder(service)) == Filled(2, 0)
    assert vectors(room) == {text: vector_of(numbers_of(text)) for text in texts}
    assert texts_of(service) == texts
    assert state(room)["embedding_model"] == "bge-m3"
    assert state(room)["embedding_dimensions"] == "8"
    assert fill(room, embedder(service)).count == 0
    assert len(batches_of(service)) == 1


def test_many_go_in_batches_with_their_progress(room: Room, service: StandIn) -> None:
    many(room, 70)
    told = list[tuple[int, int]]()
    assert fill(room, embedder(service), progress=lambda *it: told.append(it)) == Filled(70, 0)
    assert told == [(32, 70), (64, 70), (70, 70)]
    assert list(map(len, batches_of(service))) == [32, 32, 6]


def test_a_failure_keeps_what_was_embedded_before_it(room: Room, service: StandIn) -> None:
    many(room, 40)
    service.answer = lambda it: embeddings(it) if len(service.asked) == 1 else Answer({}, 503)
    with pytest.raises(ServiceError) as caught:
        fill(room, embedder(service))
    assert (caught.value.key, len(vectors(room))) == ("overloaded", 32)


def test_a_text_that_the_model_refuses_keeps_no_other_from_its_vector(
    room: Room, service: StandIn
) -> None:
    saved(room, *(f"fact {number}" for number in range(5)), "poison", "fact 6")

    def answer(asked: Asked) -> Answer:
        return Answer({}, 400) if "poison" in asked.body["input"] else embeddings(asked)

    service.answer = answer
    assert fill(room, embedder(service)) == Filled(6, 1)
    assert "poison" not in vectors(room)


def test_a_service_that_refuses_everything_is_not_asked_text_by_text(
    room: Room, service: StandIn
) -> None:
    many(room, 40)
    service.says({}, 400)
    with pytest.raises(ServiceError):
        fill(room, embedder(service))
    assert len(service.asked) == 4


def test_what_was_changed_or_removed_meanwhile_gets_no_vector_of_its_former_text(
    room: Room, service: StandIn
) -> None:
    first, second, _ = saved(room, PORT, "gone soon", "stays")

    def answer(asked: Asked) -> Answer:
        if len(service.asked) == 1:
            changed(room, first, content="the port is 9090")
            with room.engine.writing() as writing:
                writing.drop([second.id])
        return embeddings(asked)

    service.answer = answer
    used = embedder(service)
    assert fill(room, used) == Filled(1, 1)
    assert list(vectors(room)) == ["stays"]
    fill(room, used)
    assert vectors(room)["the port is 9090"] == vector_of(numbers_of("the port is 9090"))


def test_an_amended_fragment_loses_its_vector_and_gets_another(
    room: Room, service: StandIn
) -> None:
    [fragment] = saved(room, PORT)
    used = embedder(service)
    fill(room, used)
    changed(room, fragment, importance=0.9)
    assert list(vectors(room)) == [PORT]
    changed(room, fragment, content="the port is 9090")
    assert vectors(room) == {}
    fill(room, used)
    assert vectors(room) == {"the port is 9090": vector_of(numbers_of("the port is 9090"))}


@pytest.mark.row("002 2.75.d")
def test_another_model_is_refused_and_changes_nothing(room: Room, service: StandIn) -> None:
    saved(room, PORT)
    fill(room, embedder(service))
    saved(room, HOST)
    before = vectors(room), state(room)
    with pytest.raises(ServiceError) as caught:
        fill(room, embedder(service, EMBEDDING_MODEL="other"))
    assert "python cli.py fragments embed" in str(caught.value)
    assert (vectors(room), state(room)) == before
    assert len(batches_of(service)) == 1


@pytest.mark.row("002 2.75.b")
def test_other_dimensions_of_the_same_model_are_refused(room: Room, service: StandIn) -> None:
    saved(room, PORT)
    fill(room, embedder(service, EMBEDDING_MODEL="sized"))
    saved(room, HOST)
    with pytest.raises(ServiceError, match="another model"):
        fill(room, embedder(service, EMBEDDING_MODEL="sized", EMBEDDING_DIMENSIONS="4"))
    service.answer = lambda _: Answer({"data": [{"index": 0, "embedding": [1, 2]}]})
    with pytest.raises(ServiceError, match="another model"):  # known only when it has answered
        fill(room, embedder(service, EMBEDDING_MODEL="sized", OPENAI_API_KEY="another"))
    assert list(vectors(room)) == [PORT]


@pytest.mark.row("002 2.75.d")
def test_reembedding_puts_vectors_of_the_new_model_in_the_place_of_all(
    room: Room, service: StandIn
) -> None:
    many(room, 40)
    fill(room, embedder(service))
    former = vectors(room)
    service.answer = lambda asked: Answer(
        {"data": [{"embedding": numbers_of(text, 4)} for text in asked.body["input"]]}
    )
    told = list[tuple[int, int]]()
    used = embedder(service, EMBEDDING_MODEL="other")
    done = reembed(room, used, progress=lambda *it: told.append(it))
    assert done == Filled(40, 0)
    assert told == [(32, 40), (40, 40)]
    assert vectors(room).keys() == former.keys()
    assert {len(vector) for vector in vectors(room).values()} == {16}
    assert state(room)["embedding_model"] == "other"
    assert state(room)["embedding_dimensions"] == "4"
    service.answer = embeddings  # by the same name, which gives others now
    again = embedder(service, EMBEDDING_MODEL="other", OPENAI_API_KEY="another")
    assert reembed(room, again) == Filled(40, 0)
    assert {len(vector) for vector in vectors(room).values()} == {32}


def test_reembedding_costs_nothing_while_the_service_does_not_answer(
    room: Room, service: StandIn
) -> None:
    many(room, 40)
    fill(room, embedder(service))
    before = vectors(room), state(room)
    service.says({}, 401)
    with pytest.raises(ServiceError):
        reembed(room, embedder(service, EMBEDDING_MODEL="other"))
    assert (vectors(room), state(room)) == before


def test_reembedding_that_ended_early_goes_on_where_it_was(room: Room, service: StandIn) -> None:
    many(room, 70)
    fill(room, embedder(service))
    begun = len(service.asked)

    def answer(asked: Asked) -> Answer:
        return embeddings(asked) if len(service.asked) <= begun + 2 else Answer({}, 401)

    service.answer = answer
    with pytest.raises(ServiceError):
        reembed(room, embedder(service, EMBEDDING_MODEL="other"))
    assert len(vectors(room)) == 32
    service.answer = embeddings
    sent = len(texts_of(service))
    done = reembed(room, embedder(service, EMBEDDING_MODEL="other", OPENAI_API_KEY="good"))
    assert done.left == 0
    assert len(vectors(room)) == 70
    assert len(texts_of(service)) - sent == 38 + 3  # three to learn the dimensions
    assert state(room)["embedding_model"] == "other"


def test_reembedding_what_needs_none_asks_nobody(room: Room, service: StandIn) -> None:
    used = embedder(service)
    assert reembed(room, used).count == 0
    assert is_unused(room)
    assert service.asked == []
    many(room, 5)
    fill(room, used)
    before, asked = vectors(room), len(service.asked)
    assert reembed(room, used).count == 0
    assert (vectors(room), len(service.asked)) == (before, asked)


def test_reembedding_lets_go_of_vectors_that_only_the_bin_has(room: Room, service: StandIn) -> None:
    [fragment] = saved(room, PORT)
    fill(room, embedder(service))
    changed(room, fragment, deleted_at=room.clock(), deletion="forgotten")
    other = embedder(service, EMBEDDING_MODEL="other")
    assert reembed(room, other).left == 0
    assert vectors(room) == {}
    saved(room, HOST)
    assert fill(room, other).count == 1


def test_what_was_just_saved_is_linked_by_its_meaning(room: Room, clock: Clock) -> None:
    """At its saving a fragment has no vector yet; words alone link nothing here."""
    near = {"Billing": [1.0, 0.0], "Payments": [0.8, 0.6], "Colours": [0.0, 1.0]}

    def by_first_word(asked: Asked) -> Answer:
        rows = [{"embedding": near[text.split()[0]]} for text in asked.body["input"]]
        return Answer({"data": rows})

    error, old, _ = saved(room, "Payments break at noon", "Payments at dusk", "Colours are red")
    clock.wait(hours=2)
    [fresh] = saved(room, "Billing stops in the middle of a day")
    with stand_in(by_first_word) as running:
        fill(room, embedder(running))
    assert links_of(room, fresh.id) == {
        (fresh.id, "related", error.id),
        (fresh.id, "related", old.id),
    }


# In the background.


def left(room: Room) -> int:
    with room.engine.reading() as reading:
        return sum(reading.count(Wanted(has_vector=False)).values())


def threads() -> list[threading.Thread]:
    return [it for it in threading.enumerate() if it.name == "embeddings"]


@pytest.mark.row("004 4.10.a")
@IN_A_FILE
def test_a_save_is_embedded_soon_where_a_model_is_named_and_the_thread_ends(
    room: Room, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(room, PORT)
    for value in ("", "no address"):
        monkeypatch.setenv("SENTINEL_MEMORY_EMBEDDINGS", value)
        fill_in_background(room, background=(unused := Background()))
        assert unused.wait(0) and threads() == []
    for name, value in environment_of(service).items():
        monkeypatch.setenv(name, value)
    fill_in_background(room)
    assert BACKGROUND.wait(LONG_S)
    assert (left(room), threads()) == (0, [])


@pytest.mark.row("002 2.53.c", "004 4.10.a")
@IN_A_FILE
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
        saved(room, f"fact {number}")
        fill_in_background(room, used, background=background)
        assert [it.daemon for it in threads()] == [True]
    assert not answered and not background.wait(0)
    goes_on.set()
    assert background.wait(LONG_S)
    assert left(room) == 0


@IN_A_FILE
def test_a_failure_ends_it_until_the_next_save(
    room: Room, service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    background, said = Background(), list[object]()
    saved(room, PORT)
    with monkeypatch.context() as patch:
        patch.setattr(threading, "excepthook", said.append)
        background.do("broken", lambda: [][0])  # what nobody expected
        assert background.wait(LONG_S)
    service.says({}, 401)
    fill_in_background(room, embedder(service), background=background)
    assert background.wait(LONG_S)
    assert (left(room), len(service.asked), len(said)) == (1, 1, 1)
    service.answer = embeddings
    used = embedder(service, OPENAI_API_KEY="good")
    fill_in_background(room, used, background=background)
    assert background.wait(LONG_S)
    assert left(room) == 0


ENDING = """
import sys
from pathlib import Path
from rooms.fragments.models.vectors import fill_in_background
from rooms.fragments.draft import Draft, remember
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

    def slow(request: Asked) -> Answer:
        asked.set()
        goes_on.wait(LONG_S)
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
    assert not goes_on.is_set()
    goes_on.set()
    assert (process.returncode, printed, complaints) == (0, b"saved\n", b"")
    assert left(room) == 1
    assert fill(room, embedder(service)) == Filled(1, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@IN_A_FILE
def test_a_forked_process_gets_a_thread_of_its_own() -> None:
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
