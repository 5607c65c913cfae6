"""A recall finds what answers a question, in one order, within its budget, and nothing else."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from rooms.fragments.fragment import Link
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.use import count_later
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import START, Clock, a_room, add


def found(room: Room, query: Query, agent: str = "", session: str = "") -> list[str]:
    answer = recall(room, query, agent=agent, session=session)
    return [it.content for it in answer.fragments]


@pytest.mark.row("002 2.10.d", "002 2.80")
def test_the_best_answer_comes_first_and_what_answers_nothing_is_left_out(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    assert found(room, Query(text="ledger")) == []
    assert list(tmp_path.iterdir()) == []  # nothing is made where nothing is stored
    pool = "The connection pool of the database is limited to 20 connections"
    add(room, "The database runs on port 5432", pool, "Comments are written in Korean")
    assert found(room, Query(text="how large is the connection pool of the database?"))[0] == pool
    assert "Comments are written in Korean" not in found(room, Query(text="database pool"))


def test_one_known_word_of_a_short_question_is_enough_where_little_is_known(
    tmp_path: Path,
) -> None:
    room = a_room(tmp_path)
    add(
        room,
        "The shop runs on Node 20",
        "The shop runs on Node 22",
        "The staging database is read-only",
        "코드 주석은 한국어로 작성한다",
    )
    found = recall(room, Query(text="which node version do we use?")).fragments
    assert [it.content for it in found] == ["The shop runs on Node 22", "The shop runs on Node 20"]
    assert not recall(room, Query(text="how do I bake bread in the oven of the shop?")).fragments


def test_a_whole_korean_question_finds_what_its_words_find(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    query, lock = "느린 쿼리는 하나로 묶었다", "재고는 비관적 락으로 줄인다"
    add(room, query, lock, "주소 API는 하루 1만 번까지만 부를 수 있다", "월요일 회의는 10시에 한다")
    for asked, text in (("묶기", query), ("락을", lock), ("쿼리를 왜 그렇게 처리했지?", query)):
        assert found(room, Query(text=asked)) == [text], asked
    assert found(room, Query(text="휴가 신청은 언제까지 해야 되나요?")) == []


@pytest.mark.row("002 2.20", "002 2.20.c")
def test_what_has_all_keywords_is_found_whatever_its_text_says(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    add(room, "Set the variable before the start", keywords=("Redis", "Sentinel"))
    add(room, "Set the other variable", keywords=("Redis",))
    assert found(room, Query(keywords=("redis", "SENTINEL")))[0] == (
        "Set the variable before the start"
    )


def _equals(room: Room, count: int, importances: Sequence[float]) -> None:
    for number in range(count):
        importance = importances[number] if number < len(importances) else 0.5
        add(room, f"Ledger entry {number}", importance=importance)


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.24")
@pytest.mark.parametrize(("count", "first"), [(99, 98), (100, 3)])
def test_importance_and_age_order_equals_where_there_are_many(
    tmp_path: Path, count: int, first: int
) -> None:
    room = a_room(tmp_path, activation_threshold=100)
    _equals(room, count, [0.5, 0.5, 0.5, 1.0])
    for query in (Query(), Query(text="ledger entry")):
        assert found(room, query)[0] == f"Ledger entry {first}"


@pytest.mark.row("002 2.66.a", "002 2.66.b")
@pytest.mark.parametrize(
    ("weights", "importance", "days"),
    [({}, 0.6, 300), ({"importance_weight": 0.0, "recency_weight": 1.0}, 1.0, 1)],
)
def test_the_new_comes_before_the_important_by_the_weights_of_the_settings(
    tmp_path: Path, weights: dict[str, float], importance: float, days: int
) -> None:
    clock = Clock()
    room = a_room(tmp_path, clock=clock, activation_threshold=1, **weights)
    add(room, "Old", importance=importance)
    clock.wait(days=days)
    add(room, "New", importance=0.5)
    assert found(room, Query()) == ["New", "Old"]


@pytest.mark.row("002 2.24", "002 2.24.a")
def test_relevance_comes_before_importance_and_use_counts_for_nothing(tmp_path: Path) -> None:
    room = a_room(tmp_path, activation_threshold=1)
    best = "The refund of a payment is retried three times"
    add(room, "A payment is important", importance=1.0, access_count=500, is_anchor=True)
    add(room, best, importance=0.1)
    add(room, "Nothing else")
    for _ in range(3):
        assert found(room, Query(text="refund payment retry"))[0] == best
    add(room, "Used entry one", access_count=900)
    add(room, "Used entry two", access_count=0)
    assert found(room, Query(text="used entry")) == ["Used entry two", "Used entry one"]


@pytest.mark.row("002 2.24.c")
def test_what_is_in_the_bin_superseded_or_expired_is_not_found(tmp_path: Path) -> None:
    clock = Clock()
    room = a_room(tmp_path, clock=clock)
    add(room, "Ledger one", deleted_at=START, deletion="forgotten")
    add(room, "Ledger two", superseded_at=START)
    add(room, "Ledger three", expires_at=clock.wait(hours=1))
    add(room, "Ledger four", expires_at="2026-12-01T00:00:00+00:00")
    for query in (Query(text="ledger"), Query(), Query(type="fact")):
        assert found(room, query) == ["Ledger four"]


def test_working_memory_of_another_session_is_not_found(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    add(room, "Ledger of one", session="one", lifetime="working")
    add(room, "Ledger of two", session="two", lifetime="working")
    assert found(room, Query(text="ledger"), session="one") == ["Ledger of one"]
    assert len(found(room, Query(text="ledger"))) == 2


@pytest.mark.row("002 2.13.i")
def test_what_is_linked_is_told_one_step_far_and_has_its_part_of_the_budget(tmp_path: Path) -> None:
    room = a_room(tmp_path, linked_limit=2)
    error, cause, cure, far, other = add(
        room, "NOAUTH at the start", "The variable is empty", "Export it", "Further", "Beside"
    )
    gone, old = add(room, "Gone", deleted_at=START) + add(room, "Older", superseded_at=START)
    with room.engine.writing() as writing:
        for at, to, relation in (
            (error, cure, "resolved_by"),
            (error, cause, "caused_by"),
            (cause, far, "caused_by"),
            (other, error, "part_of"),
            (error, gone, "related"),
            (old, error, "superseded_by"),
            (error, old, "caused_by"),
        ):
            writing.put_links([Link(from_id=at.id, to_id=to.id, relation=relation)])  # type: ignore[arg-type]
    answer = recall(room, Query(text="noauth start"))
    assert [it.id for it in answer.fragments] == [error.id]
    told = [(it.fragment.id, it.relation, it.to_id) for it in answer.linked]
    assert told == [(cause.id, "caused_by", error.id), (cure.id, "resolved_by", error.id)]
    assert not recall(room, Query(text="noauth start", with_links=False)).linked
    for relation, expected in (("part_of", other), ("superseded_by", old)):
        [only] = recall(room, Query(text="noauth start", relation=relation)).linked
        assert (only.fragment.id, only.leads_here) == (expected.id, False)


def test_links_are_told_where_the_answers_alone_would_fill_the_budget(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    some = add(room, *(f"Ledger entry {at}" for at in range(60)))
    [cause] = add(room, "The variable is empty")
    best = recall(room, Query(text="ledger entry")).fragments[0]
    with room.engine.writing() as writing:
        writing.put_links([Link(from_id=best.id, to_id=cause.id, relation="caused_by")])
    answer = recall(room, Query(text="ledger entry", tokens=200))
    assert [it.fragment.id for it in answer.linked] == [cause.id]
    assert 0 < len(answer.fragments) < len(some)


@pytest.mark.row("002 2.12.l", "002 2.27.a", "002 2.87.a", "004 4.16", "004 4.8.a")
def test_use_is_counted_once_a_session_and_makes_hot(tmp_path: Path) -> None:
    clock = Clock()
    room = a_room(tmp_path, clock=clock)
    add(room, "Ledger", tier="cold")
    add(room, "Ledger pinned", tier="permanent", is_anchor=True)
    clock.wait(days=1)
    for session in ("one", "one", "two", ""):
        recall(room, Query(text="ledger"), session=session)
    with room.engine.reading() as reading:
        first, pinned = reading.by_ids(["f0", "f1"])
    assert (first.access_count, first.sessions_count, first.last_session) == (4, 2, "two")
    assert (first.tier, pinned.tier) == ("hot", "permanent")
    assert first.accessed_at == clock()


def test_a_server_may_answer_before_use_is_counted(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    add(room, "Ledger")
    for session in ("one", "one", "two"):
        recall(room, Query(text="ledger"), session=session, count=count_later)
    for thread in threading.enumerate():
        if thread.name == "fragments-use":
            thread.join()
    with room.engine.reading() as reading:
        [used] = reading.by_ids(["f0"])
    assert (used.access_count, used.sessions_count) == (3, 2)


def test_a_busy_database_fails_no_recall(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    add(room, "Ledger")
    other = a_room(tmp_path)
    with other.engine.writing():
        assert found(room, Query(text="ledger")) == ["Ledger"]
    with room.engine.reading() as reading:
        assert reading.by_ids(["f0"])[0].access_count == 0
