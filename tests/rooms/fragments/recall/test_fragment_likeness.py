"""Fragments that say nearly the same are found by their vectors, else by the words they share."""

import array
from dataclasses import replace
from pathlib import Path

import pytest

from rooms.fragments.engine import Wanted
from rooms.fragments.fragment import Embedding, Fragment
from rooms.fragments.recall.likeness import Alike, alike
from rooms.fragments.room import Room
from rooms.fragments.saving.drafting import Draft
from rooms.fragments.saving.remembering import remember
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.fragments_room import a_room


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
