"""Tests that sessions are found by words and filters, in their order, here and in all projects."""

import random
import sqlite3
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.config import Settings
from rooms.sessions.config import Config
from rooms.sessions.rows import TOKENIZERS, update_index, write_session
from rooms.sessions.search import Candidates, Criteria, Page, find_similar, search
from rooms.sessions.session import Session
from rooms.sessions.store import SessionStore, open_sessions
from rooms.sessions.upkeep import delete_session
from tests.support.session_samples import a_room, keep, make_sample_store, sample_sessions, saved
from tests.support.tables import ROOT, none_of, table

sys.path.insert(0, str(ROOT / "benchmarks"))

from labelled import labelled_sets, ndcg_at_10

TABLE = table("sessions/questions")
HOSTILE = [text * times for text, times in TABLE["hostile"]]
CHECK = "INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')"


def with_sessions(store: SessionStore, *goals: str) -> SessionStore:
    """The store with sessions of these goals, a day apart, the first one on 1 January."""
    with store.writing() as connection:
        for day, goal in enumerate(goals, 1):
            write_session(connection, session(day, goal, f"2026-01-{day:02d}T10:00:00+00:00"))
    return store


def session(number: int, goal: str, moment: str = "", **fields: object) -> Session:
    dates = dict.fromkeys(("started_at", "created_at", "updated_at"), moment)
    values = {"number": number, "id": f"ctx_{number:012x}", "goal": goal, **dates, **fields}
    return Session(**values)  # type: ignore[arg-type]


def find_numbers(store: SessionStore, query: str = "", **criteria: object) -> list[int]:
    page = search(store, Criteria(query=query, **criteria), limit=20)  # type: ignore[arg-type]
    assert page.total == len(page.hits)
    return [hit.session.number for hit in page.hits]


# words, filters, pages


@pytest.mark.row("003 T35.a", "003 T37")
def test_the_session_with_most_of_the_question_comes_first_and_has_its_level(
    store: SessionStore,
) -> None:
    def levels(query: str) -> list[tuple[int, str | None]]:
        page = search(store, Criteria(query=query), limit=5)
        return [(hit.session.number, hit.level) for hit in page.hits]

    goals = ("Fix the redirect loop", "Fix a typing error", "Write the redirect of old pages")
    with_sessions(
        store, *goals, *("deploy the shop",) * 3, "로그인 화면", "블로그 글", "인기 상품", "주문"
    )
    assert levels("redirect loop") == [(1, "high"), (3, "medium")]
    # A word that no session has hides no other; a question without any other finds nothing.
    assert levels("deploy to kubernetes") == [(6, "low"), (5, "low"), (4, "low")]
    assert {hit.level for hit in find_similar(store, "deploy to kubernetes", limit=5)} == {"low"}
    assert find_similar(store, "deploy to kubernetes by argo with helm", limit=5) == []
    for query in ("the of and", "?!", "a", "zzqx", '"', "\0", "결제"):
        assert search(store, Criteria(query=query), limit=5) == Page([], 0)
    assert find_numbers(store, "로그인") == [7]  # a pair of letters is no hit


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T43")
def test_pages_hold_every_hit_once_and_the_same_total(project: Path) -> None:
    store = make_sample_store(project, 200)
    for criteria in (
        Criteria(query="sign in"),
        Criteria(query="로그인 주문"),
        Criteria(),
        Criteria(query="sign in", status="completed"),
        Criteria(tags=("auth",)),
    ):
        total = search(store, criteria, limit=7).total
        pages = [search(store, criteria, limit=7, offset=i) for i in range(0, total + 7, 7)]
        numbers = [hit.session.number for page in pages for hit in page.hits]
        assert {page.total for page in pages} == {total}
        assert len(numbers) == len(set(numbers)) == total > 7
        large_pages = [search(store, criteria, limit=20, offset=i) for i in range(0, total, 20)]
        assert [hit.session.number for page in large_pages for hit in page.hits] == numbers
    assert search(store, Criteria(), limit=5, offset=10**30).hits == []


@pytest.mark.row("003 T78")
@pytest.mark.long
def test_a_hostile_question_is_answered_in_time(project: Path) -> None:
    store = make_sample_store(project, 60)
    slow = list[str]()
    for query in HOSTILE:
        started_s = time.thread_time()
        search(store, Criteria(query=query), limit=5)
        search(store, Criteria(query=query, tags=(query,), agent="a", status="x"), limit=5)
        find_similar(store, query, limit=5)
        if time.thread_time() - started_s > 20:
            slow.append(query[:20])
    none_of(slow)


def test_a_session_that_others_write_is_seen_at_once(project: Path) -> None:
    store, other_store = (open_sessions(project, Settings(threshold=n)) for n in (50, 60))
    assert store is not other_store
    first = saved(other_store, "a redirect loop")
    assert find_numbers(store, "redirect") == [1]
    saved(other_store, "a cookie", id=first.id)
    assert (find_numbers(store, "redirect"), find_numbers(store, "cookies")) == ([], [1])
    with other_store.writing() as connection:
        delete_session(connection, other_store.get("1"))
    assert find_numbers(store, "cookie") == []


@pytest.mark.long  # it costs much
def test_a_verb_is_found_in_all_its_forms(tmp_path: Path) -> None:
    """Whichever form was saved, and whichever is sought."""
    for i, words in enumerate(TABLE["forms"]):
        for number, form in enumerate(words):
            store = a_room(tmp_path / f"{i}-{number}")
            with_sessions(store, form, "결점을 찾는다", "우리 화면 정리")
            for query in words:
                assert find_numbers(store, query.split()[-1]) == [1], (form, query)
    assert find_numbers(store, "결정") == find_numbers(store, "우려") == []


# the index


def open_with(root: Path, tokenizer: str = "unicode61") -> SessionStore:
    return SessionStore(root, Config(tokenizer=tokenizer), Settings())


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_no_form_of_a_word_hides_a_hit(project: Path, tokenizer: str) -> None:
    store = with_sessions(open_with(project, tokenizer), *(goal for goal, *_ in TABLE["rows"]))
    known_gaps = {("trigram", "값")}  # one character is no word of three
    none_of(
        (query, goal)
        for number, (goal, *queries) in enumerate(TABLE["rows"], 1)
        for query in queries
        if (tokenizer, query) not in known_gaps and number not in find_numbers(store, query)
    )


def size_of(connection: sqlite3.Connection) -> int:
    """How many different words the index has."""
    connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('optimize')")
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS"
        " temp.words USING fts5vocab('main', 'contexts_fts', 'row')"
    )
    return int(connection.execute("SELECT count(*) FROM temp.words").fetchone()[0])


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_the_index_takes_back_every_word_it_was_given(project: Path, tokenizer: str) -> None:
    store, samples = open_with(project, tokenizer), sample_sessions(20)
    keep(store, samples)
    texts = [text[:400] for text in HOSTILE if "\ud800" not in text and text.strip()]
    with store.writing() as connection:
        assert size_of(connection) > 100
        for number in range(1, 21):
            before = store.find(connection, str(number))
            sample, _ = samples[-number]
            after = replace(sample, number=number, id=before.id, parent_id="")
            write_session(connection, after, before=before)
            delete_session(connection, after)
        assert size_of(connection) == 0
        entries = (session(0, text, id=f"c{i}") for i, text in enumerate(texts))
        rows = [write_session(connection, entry) for entry in entries]
        connection.execute(CHECK)
        for row in rows:
            delete_session(connection, row)
        assert size_of(connection) == 0
        connection.execute(CHECK)


@pytest.mark.row("003 T76")
def test_another_tokenizer_makes_the_index_anew_at_the_next_write(project: Path) -> None:
    keep(open_with(project), sample_sessions(30))
    with open_with(project).writing() as connection:
        plain, changes = size_of(connection), connection.total_changes
        update_index(connection, "unicode61")  # it is current, and left alone
        assert connection.total_changes == changes
    for tokenizer in ("porter", "trigram", "ascii", "unicode61"):
        with open_with(project, tokenizer).writing() as connection:
            schema = "SELECT sql FROM sqlite_schema WHERE name = 'contexts_fts'"
            assert f"tokenize='{tokenizer}'" in connection.execute(schema).fetchone()[0]
            connection.execute(CHECK)
            assert tokenizer != "unicode61" or size_of(connection) == plain


@pytest.mark.long  # it costs much
def test_another_version_of_the_index_makes_it_anew_in_the_same_transaction(
    store: SessionStore,
) -> None:
    keep(store, sample_sessions(700))  # more than are read at once
    statement = "SELECT count(*) FROM contexts_fts WHERE contexts_fts MATCH 'sign OR 로그인'"
    with store.writing() as connection:
        before = connection.execute(statement).fetchone()
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('delete-all')")
        connection.execute("UPDATE counters SET value = 0 WHERE name = 'index'")
    with pytest.raises(ValueError), store.writing() as connection:
        assert connection.execute(statement).fetchone() == before
        raise ValueError
    with store.reading() as connection:
        assert connection.execute(statement).fetchone() == (0,)
    saved(store, "one more")
    with store.reading() as connection:
        assert connection.execute(statement).fetchone() == before


def other_sessions(count: int) -> Iterator[Session]:
    """So many sessions beside; their words are those of the samples, mixed."""
    chance = random.Random(5)
    samples = [session for session, _ in sample_sessions(200)]
    words = " ".join(f"{sample.goal} {sample.summary}" for sample in samples).split()
    for number in range(1, count + 1):
        summary = " ".join(chance.choices(words, k=20))
        sample, id_ = samples[number % len(samples)], f"ctx_{number:012x}"
        yield replace(sample, number=number, id=id_, parent_id="", summary=summary)


@pytest.mark.row("003 T66")
@pytest.mark.parametrize(
    "count",
    [100, *(pytest.param(count, marks=getattr(pytest.mark, mark))
            for count, mark in ((5_000, "long"), (100_000, "night")))],
)  # fmt: skip
def test_a_session_is_found_by_every_form_of_its_words(store: SessionStore, count: int) -> None:
    goals = dict(zip(range(count // 6, count, count // 6), TABLE["made"], strict=False))
    with store.writing() as connection:
        for entry in other_sessions(count):
            if goal := goals.get(entry.number):
                entry = replace(entry, goal=goal, approaches=(), blockers=(), decisions=())
            write_session(connection, entry)
    faults = list[tuple[str, str]]()
    for goal, queries in TABLE["made"].items():
        for query in queries:
            hits = search(store, Criteria(query=query), limit=5).hits
            if goal not in {hit.session.goal for hit in hits}:
                faults.append((query, goal))
        best, *_ = find_similar(store, f"{goal}: 2", limit=3)
        if (best.session.goal, best.level) != (goal, "high"):
            faults.append((goal, best.session.goal))
    none_of(faults)


FLOORS = {"turns": 0.33, "observations": 0.75, "lessons": 0.91, "lessons among others": 0.71}


@pytest.mark.row("003 T37")
@pytest.mark.long
@pytest.mark.parametrize("name", FLOORS)
def test_the_sessions_that_answer_come_first(
    store: SessionStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rooms.sessions.search.LEAST_SHARE", 0.0)  # the order of all
    labelled = labelled_sets()[name]
    with store.writing() as connection:
        for number, text in enumerate(labelled.texts, 1):
            goal, _, rest = text.partition("\n")
            write_session(connection, session(number, goal, summary=rest))
    with store.reading() as connection:

        def order(query: str, _: object) -> list[int]:
            candidates = Candidates(connection, query)
            return [hit.session.number - 1 for hit in candidates.page_of(0, len(labelled.texts))]

        measured = ndcg_at_10(order, labelled)
    assert measured >= FLOORS[name]
