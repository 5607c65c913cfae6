"""Tests what vectors do: meaning counts for half of a question, and for how alike two texts are."""

import array
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import ServiceError
from rooms.fragments.fragment import Embedding, Fragment, Wanted
from rooms.fragments.links import Alike, alike
from rooms.fragments.models.embedding import PROBES, Embedder
from rooms.fragments.models.vectors import LEAST_COSINE, Cosines, cosines_of, fill
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.fragments_room import Clock, a_room, add

_FIELDS = ("car automobile vehicle", "bread baker loaf", "rain weather umbrella")


class _Source:
    """A model: a text is near to the fields whose words it has, or to one for all others."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = ""

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        self.asked += texts
        if self.fails:
            raise ServiceError(self.fails, variable="SENTINEL_MEMORY_EMBEDDINGS")
        return [list(self._of(text.lower())) for text in texts]

    def _of(self, text: str) -> Iterator[float]:
        counts = [sum(word in text for word in field.split()) for field in _FIELDS]
        yield from (0.01 + count for count in counts)
        yield 0.01 + (not any(counts))


@pytest.fixture
def source() -> _Source:
    return _Source()


@pytest.fixture
def room(tmp_path: Path, source: _Source) -> Room:
    made = a_room(tmp_path)
    add(made, "The automobile stands behind the house", "A loaf is in the kitchen", "Umbrella")
    fill(made, Embedder(source, "small"))
    source.asked.clear()
    return made


def _ids(fragments: Sequence[Fragment]) -> list[str]:
    return [it.id for it in fragments]


@pytest.mark.row("002 2.20.c", "002 2.22", "002 2.38.d")
def test_what_means_the_same_is_found_without_a_common_word(room: Room, source: _Source) -> None:
    assert not recall(room, Query(text="our vehicle")).fragments
    answer = recall(room, Query(text="our vehicle"), embedder=Embedder(source, "small"))
    assert (_ids(answer.fragments), answer.failure) == (["f0"], None)


@pytest.mark.row("002 2.24.b", "004 4.5")
def test_words_and_meaning_each_count_for_half(room: Room, source: _Source) -> None:
    add(room, "The baker of the house")  # without a vector
    embedder = Embedder(source, "small")
    assert _ids(recall(room, Query(text="loaf kitchen"), embedder=embedder).fragments)[0] == "f1"
    answer = recall(room, Query(text="baker house automobile"), embedder=embedder)
    assert {"f0", "f3"} <= set(_ids(answer.fragments))


@pytest.mark.row("002 2.22.a")
def test_the_threshold_counts_for_what_meaning_alone_has_found(room: Room, source: _Source) -> None:
    embedder = Embedder(source, "small")
    for threshold, expected in ((0.0, ["f0", "f1", "f2"]), (0.6, ["f0", "f2"]), (0.9, ["f2"])):
        query = Query(text="vehicle umbrella", threshold=threshold)
        found = recall(room, query, embedder=embedder).fragments
        assert sorted(_ids(found)) == expected, threshold


def test_an_irrelevant_question_is_near_to_nothing(room: Room, source: _Source) -> None:
    embedder = Embedder(source, "small")
    assert not recall(room, Query(text="zebra giraffe"), embedder=embedder).fragments


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.23")
@pytest.mark.parametrize("key", ["unreachable", "timeout", "bad_answer"])
def test_a_model_that_fails_leaves_the_words_and_says_so(
    room: Room, source: _Source, key: str
) -> None:
    source.fails = key
    answer = recall(room, Query(text="umbrella"), embedder=Embedder(source, "small"))
    assert _ids(answer.fragments) == ["f2"]
    assert answer.failure is not None
    assert answer.failure.key == key


def test_vectors_of_another_model_are_not_compared(room: Room, source: _Source) -> None:
    answer = recall(room, Query(text="umbrella"), embedder=Embedder(source, "large"))
    assert _ids(answer.fragments) == ["f2"]
    assert answer.failure is not None
    assert source.asked == []


@pytest.mark.row("002 2.22")
def test_a_model_is_asked_only_where_it_can_help(tmp_path: Path, source: _Source) -> None:
    room, embedder = a_room(tmp_path), Embedder(source, "small")
    add(room, "Umbrella")
    for query in (Query(), Query(text="umbrella"), Query(topic="general")):
        assert _ids(recall(room, query, embedder=embedder).fragments) == ["f0"]
    assert source.asked == []


@pytest.mark.row("002 2.10.e", "002 2.20.b", "002 2.24.b")
def test_keywords_that_enough_fragments_have_ask_for_no_meaning(
    room: Room, source: _Source
) -> None:
    add(room, "Another vehicle", keywords=("fleet",))
    query = Query(keywords=("fleet",), limit=1)
    answer = recall(room, query, embedder=Embedder(source, "small"))
    assert _ids(answer.fragments) == ["f3"]


def _cosines(room: Room) -> Cosines:
    with room.engine.reading() as reading:
        return cosines_of(reading.state())


def _near(cosine: float) -> list[float]:
    return [cosine, math.sqrt(1 - cosine * cosine)]


class _Known:
    """A model of known cosines: `cosines` by text, and those of the questions that it measures."""

    def __init__(self, probes: Sequence[float], **cosines: float) -> None:
        self.cosines = {**dict(zip(PROBES, cycle(probes), strict=False)), **cosines}

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        return [_near(self.cosines.get(text, 1.0)) for text in texts]


@pytest.mark.row("002 2.22.a")
@pytest.mark.parametrize(("probes", "least"), [((0.1, 0.3), 0.4), ((0.8, 0.8), 0.82)])
def test_how_near_is_near_enough_depends_on_what_a_model_calls_near(
    tmp_path: Path, probes: Sequence[float], least: float
) -> None:
    room = a_room(tmp_path)
    add(room, "The vault has two doors")
    source = _Known(probes, above=least + 0.01, below=least - 0.01)
    model = Embedder(source, "known")
    fill(room, model)
    assert _cosines(room).least == pytest.approx(least, abs=1e-3)
    assert _ids(recall(room, Query(text="above"), embedder=model).fragments) == ["f0"]
    assert not recall(room, Query(text="below"), embedder=model).fragments
    chosen = replace(room, config=room.config._replace(least_cosine=0.1))
    assert _ids(recall(chosen, Query(text="below"), embedder=model).fragments) == ["f0"]
    asked = Query(text="above", threshold=1.0)
    assert not recall(chosen, asked, embedder=model).fragments


def test_nearness_is_measured_anew_with_time_and_growth_and_never_for_another_model(
    tmp_path: Path,
) -> None:
    clock = Clock()
    room = a_room(tmp_path, clock=clock)
    source = _Known((0.2,))
    model = Embedder(source, "known")
    assert (fill(room, model).count, _cosines(room)) == (0, Cosines())
    add(room, *"abcd")
    fill(room, model)
    first = _cosines(room)
    assert (first.model, first.mean, first.texts) == ("known", 0.2, 4)
    add(room, "e")
    fill(room, model)
    assert _cosines(room) == first
    add(room, "f")
    fill(room, model)
    assert _cosines(room).texts == 6
    clock.wait(days=1)
    fill(room, model)
    assert _cosines(room).measured_at == clock()
    with room.engine.writing() as writing:
        writing.set_state({"embedding_model": "another"})
    assert _cosines(room).least == LEAST_COSINE
    for torn in ("{", "[1, 2]", "null", '["known", "x", 0, 1, ""]'):
        assert cosines_of({"embedding_model": "known", "embedding_cosines": torn}) == Cosines()


def test_a_few_words_of_a_question_answer_it_only_where_the_meaning_agrees(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    add(room, "The summer release removes the old parser", "Payments are retried", "Logs rotate")
    question = "when is the summer party of the department"
    source = _Known((0.2,), **{question: 0.1})
    model = Embedder(source, "known")
    fill(room, model)
    assert _ids(recall(room, Query(text=question)).fragments) == ["f0"]
    assert not recall(room, Query(text=question), embedder=model).fragments
    source.cosines[question] = 0.3
    assert "f0" in _ids(recall(room, Query(text=question), embedder=model).fragments)


def _saved(room: Room, content: str, topic: str = "shop") -> Fragment:
    return remember(room, Draft(content=content, topic=topic)).fragment


def _alike(room: Room, fragment: Fragment, least: float = 0.5, topic: str = "") -> list[Alike]:
    wanted = Wanted(topics=(topic,) if topic else ())
    with room.engine.reading() as reading:
        return alike(reading, fragment, wanted=wanted, most=3, least=least)


@pytest.mark.row("002 2.24.d")
def test_the_same_words_are_alike_and_others_are_not(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    same = _saved(room, "The connection pool of the shop is limited to 20 connections")
    _saved(room, "Comments in the code are written in Korean")
    new = _saved(room, "The connection pool of the shop is limited to 30 connections")
    [found] = _alike(room, new)
    assert found.fragment.id == same.id
    assert 0.5 < found.similarity < 1
    stranger = replace(new, number=0, id="other", content=same.content)
    assert _alike(room, stranger, 0.9)[0].similarity == 1.0


def test_korean_words_are_compared_too(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    same = _saved(room, "배포 전에 마이그레이션을 먼저 실행한다")
    _saved(room, "코드 주석은 한국어로 작성한다")
    new = _saved(room, "배포 전에는 마이그레이션을 꼭 먼저 실행한다")
    assert [it.fragment.id for it in _alike(room, new)] == [same.id]


@pytest.mark.row("002 2.24.d")
def test_a_short_text_is_not_alike_to_a_long_one_that_holds_it(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    long = "Redis keeps the sessions of the shop; payments, invoices, refunds and mail never use it"
    _saved(room, long)
    assert not _alike(room, _saved(room, "Redis sessions"), 0.7)


@pytest.mark.row("002 2.13.b")
def test_only_what_is_wanted_counts_and_topics_are_compared_without_case(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    text = "Refunds above 100 euros need a second pair of eyes"
    kept = _saved(room, text, "Payment")
    new = Fragment(id="new", content=text)
    assert [it.fragment.id for it in _alike(room, new, topic="payment")] == [kept.id]
    assert not _alike(room, new, topic="deployment")


def _vector(*values: float) -> bytes:
    return array.array("f", values).tobytes()


@pytest.mark.row("002 2.24.d")
def test_where_both_have_a_vector_its_cosine_counts(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    first = _saved(room, "The shop runs on Node 20")
    far = _saved(room, "The shop runs on Node 18")
    without = _saved(room, "The shop runs on Node 16")
    other = _saved(room, "Rechnungen gehen nachts raus")
    with room.engine.writing() as writing:
        writing.put_vectors(
            [
                Embedding(first.number, _vector(1, 0)),
                Embedding(far.number, _vector(0, 1)),
                Embedding(other.number, _vector(0.8, 0.6)),
            ]
        )
    found = {it.fragment.id: round(it.similarity, 2) for it in _alike(room, first)}
    assert found[other.id] == 0.8
    assert far.id not in found
    assert without.id in found
