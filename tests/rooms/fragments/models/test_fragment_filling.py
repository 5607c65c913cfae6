"""Tests that fragments get their vectors, and keep those of one model only."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import OtherModelError, ServiceError
from rooms.fragments.fragment import Fragment, Wanted, hash_of
from rooms.fragments.models.embedding import vector_of
from rooms.fragments.models.vectors import (
    fill,
    reembed,
)
from rooms.fragments.room import Room
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.embedding_service import (
    batches_of,
    embedder,
    embeddings,
    numbers_of,
    texts_of,
)
from tests.support.fragments_room import Clock, a_room, is_unused
from tests.support.stand_in_service import Answer, Asked, StandIn, stand_in


@pytest.fixture
def service() -> Iterator[StandIn]:
    with stand_in(embeddings) as running:
        yield running


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return a_room(tmp_path)


def saved(room: Room, *contents: str) -> list[Fragment]:
    drafts = [Draft(content=it, topic="shop", keywords=("private",)) for it in contents]
    return [remember(room, draft).fragment for draft in drafts]


def many(room: Room, count: int) -> list[Fragment]:
    """As many fragments in one transaction."""
    contents = [f"fact number {number}" for number in range(count)]
    with room.engine.writing() as writing:
        return writing.add(
            [
                Fragment(id=f"id{at}", content=it, content_hash=hash_of(it))
                for at, it in enumerate(contents)
            ]
        )


def vectors(room: Room) -> dict[str, bytes]:
    """The stored vectors by the content that they are of."""
    with room.engine.reading() as reading:
        having = reading.find(Wanted(state="all", has_vector=True), limit=1_000)
        stored = dict(reading.vectors(it.number for it in having))
    return {it.content: stored[it.number] for it in having}


def state(room: Room) -> dict[str, str]:
    with room.engine.reading() as reading:
        return reading.state()


def amended(room: Room, fragment: Fragment, content: str) -> None:
    with room.engine.writing() as writing:
        writing.replace([replace(fragment, content=content, content_hash=hash_of(content))])


def test_what_has_no_vector_gets_one_and_nothing_else_is_sent(room: Room, service: StandIn) -> None:
    saved(room, "the port is 8080", "결제는 토스를 쓴다")
    done = fill(room, embedder(service))
    assert (done.count, done.left) == (2, 0)
    assert vectors(room) == {
        text: vector_of(numbers_of(text)) for text in ("the port is 8080", "결제는 토스를 쓴다")
    }
    assert texts_of(service) == ["the port is 8080", "결제는 토스를 쓴다"]
    assert state(room)["embedding_model"] == "bge-m3"
    assert state(room)["embedding_dimensions"] == "8"
    assert fill(room, embedder(service)).count == 0
    assert len(batches_of(service)) == 1


def test_many_go_in_batches_with_their_progress(room: Room, service: StandIn) -> None:
    many(room, 70)
    told = list[tuple[int, int]]()
    done = fill(room, embedder(service), progress=lambda *it: told.append(it))
    assert (done.count, done.left) == (70, 0)
    assert told == [(32, 70), (64, 70), (70, 70)]
    assert list(map(len, batches_of(service))) == [32, 32, 6]


def test_a_limit_leaves_the_rest_for_the_next_call(room: Room, service: StandIn) -> None:
    many(room, 40)
    used = embedder(service)
    done = fill(room, used, limit=35)
    assert (done.count, done.left) == (35, 5)
    done = fill(room, used, limit=35)
    assert (done.count, done.left) == (5, 0)
    assert len(texts_of(service)) == 40


def test_a_room_without_fragments_asks_nobody_and_makes_no_file(
    room: Room, service: StandIn
) -> None:
    done = fill(room, embedder(service))
    assert (done.count, done.left) == (0, 0)
    assert service.asked == []
    assert is_unused(room)


def test_a_failure_keeps_what_was_embedded_before_it(room: Room, service: StandIn) -> None:
    many(room, 40)

    def answer(asked: Asked) -> Answer:
        return embeddings(asked) if len(service.asked) == 1 else Answer({}, 503)

    service.answer = answer
    with pytest.raises(ServiceError) as caught:
        fill(room, embedder(service))
    assert caught.value.key == "overloaded"
    assert len(vectors(room)) == 32


def test_a_text_that_the_model_refuses_keeps_no_other_from_its_vector(
    room: Room, service: StandIn
) -> None:
    saved(room, *(f"fact {number}" for number in range(5)), "poison", "fact 6")

    def answer(asked: Asked) -> Answer:
        return Answer({}, 400) if "poison" in asked.body["input"] else embeddings(asked)

    service.answer = answer
    done = fill(room, embedder(service))
    assert (done.count, done.left) == (6, 1)
    assert "poison" not in vectors(room)


def test_a_service_that_refuses_everything_is_not_asked_text_by_text(
    room: Room, service: StandIn
) -> None:
    many(room, 40)
    service.answer = lambda _: Answer({}, 400)
    with pytest.raises(ServiceError):
        fill(room, embedder(service))
    assert len(service.asked) == 4


def test_what_was_changed_or_removed_meanwhile_gets_no_vector_of_its_former_text(
    room: Room, service: StandIn
) -> None:
    first, second, _ = saved(room, "the port is 8080", "gone soon", "stays")

    def answer(asked: Asked) -> Answer:
        if len(service.asked) == 1:
            amended(room, first, "the port is 9090")
            with room.engine.writing() as writing:
                writing.drop([second.id])
        return embeddings(asked)

    service.answer = answer
    used = embedder(service)
    done = fill(room, used)
    assert (done.count, done.left) == (1, 1)
    assert list(vectors(room)) == ["stays"]
    fill(room, used)
    assert vectors(room)["the port is 9090"] == vector_of(numbers_of("the port is 9090"))


def test_an_amended_fragment_loses_its_vector_and_gets_another(
    room: Room, service: StandIn
) -> None:
    [fragment] = saved(room, "the port is 8080")
    used = embedder(service)
    fill(room, used)
    with room.engine.writing() as writing:
        writing.replace([replace(fragment, importance=0.9)])
    assert list(vectors(room)) == ["the port is 8080"]
    amended(room, fragment, "the port is 9090")
    assert vectors(room) == {}
    fill(room, used)
    assert vectors(room) == {"the port is 9090": vector_of(numbers_of("the port is 9090"))}


@pytest.mark.row("002 2.75.d")
def test_another_model_is_refused_and_changes_nothing(room: Room, service: StandIn) -> None:
    saved(room, "the port is 8080")
    fill(room, embedder(service))
    saved(room, "the host is shop.test")
    before = vectors(room), state(room)
    with pytest.raises(OtherModelError) as caught:
        fill(room, embedder(service, EMBEDDING_MODEL="other"))
    assert "python cli.py fragments embed" in str(caught.value)
    assert (vectors(room), state(room)) == before
    assert len(batches_of(service)) == 1


@pytest.mark.row("002 2.75.b")
def test_other_dimensions_of_the_same_model_are_refused(room: Room, service: StandIn) -> None:
    saved(room, "the port is 8080")
    fill(room, embedder(service, EMBEDDING_MODEL="sized"))
    saved(room, "the host is shop.test")
    with pytest.raises(OtherModelError):
        fill(room, embedder(service, EMBEDDING_MODEL="sized", EMBEDDING_DIMENSIONS="4"))
    service.answer = lambda _: Answer({"data": [{"index": 0, "embedding": [1, 2]}]})
    with pytest.raises(OtherModelError):  # known only when it has answered
        fill(room, embedder(service, EMBEDDING_MODEL="sized", OPENAI_API_KEY="another"))
    assert list(vectors(room)) == ["the port is 8080"]


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
    assert (done.count, done.left) == (40, 0)
    assert told == [(40, 40)]
    assert vectors(room).keys() == former.keys()
    assert {len(vector) for vector in vectors(room).values()} == {16}
    assert state(room)["embedding_model"] == "other"
    assert state(room)["embedding_dimensions"] == "4"


def test_reembedding_costs_nothing_while_the_service_does_not_answer(
    room: Room, service: StandIn
) -> None:
    many(room, 40)
    fill(room, embedder(service))
    before = vectors(room), state(room)
    service.answer = lambda _: Answer({}, 401)
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


def test_other_dimensions_by_the_same_name_are_noticed(room: Room, service: StandIn) -> None:
    many(room, 5)
    fill(room, embedder(service))
    service.answer = lambda asked: Answer(
        {"data": [{"embedding": numbers_of(text, 4)} for text in asked.body["input"]]}
    )
    assert reembed(room, embedder(service, OPENAI_API_KEY="another")).count == 5
    assert {len(vector) for vector in vectors(room).values()} == {16}


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
    [fragment] = saved(room, "the port is 8080")
    fill(room, embedder(service))
    with room.engine.writing() as writing:
        writing.replace([replace(fragment, deleted_at=room.clock(), deletion="forgotten")])
    other = embedder(service, EMBEDDING_MODEL="other")
    assert reembed(room, other).left == 0
    assert vectors(room) == {}
    saved(room, "the host is shop.test")
    assert fill(room, other).count == 1


def test_what_was_just_saved_is_linked_by_its_meaning(tmp_path: Path) -> None:
    """At its saving a fragment has no vector yet; words alone link nothing here."""
    clock = Clock()
    room = a_room(tmp_path, clock=clock)

    near = {"Billing": [1.0, 0.0], "Payments": [0.8, 0.6], "Colours": [0.0, 1.0]}

    def by_first_word(asked: Asked) -> Answer:
        rows = [
            {"index": at, "embedding": near[text.split()[0]]}
            for at, text in enumerate(asked.body["input"])
        ]
        return Answer({"data": rows, "model": asked.body["model"]})

    error, old, other = saved(room, "Payments break at noon", "Payments at dusk", "Colours are red")
    clock.wait(hours=2)
    [fresh] = saved(room, "Billing stops in the middle of a day")
    with stand_in(by_first_word) as running:
        fill(room, embedder(running))
    with room.engine.reading() as reading:
        links = reading.links([fresh.id])
    assert {(it.from_id, it.to_id, it.relation) for it in links} == {
        (fresh.id, error.id, "related"),
        (fresh.id, old.id, "related"),
    }
    assert other.id not in {it.to_id for it in links}
