"""Tests the full-text index: what it finds, in which order, and that it is kept in step."""

import random
import sqlite3
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.config import Settings
from rooms.sessions.config import Config
from rooms.sessions.rows import TOKENIZERS, keep_index
from rooms.sessions.search import Candidates, Criteria, resembling, search
from rooms.sessions.session import Draft, Session
from rooms.sessions.store import SessionStore, delete, insert, open_sessions, resolve, update
from tests.support.rows import none_of
from tests.support.session_samples import keep, sample_sessions
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from ranking import labelled_sets, ndcg_at_10

SPECIFIED = """
SELECT c.* FROM contexts c
JOIN contexts_fts fts ON c.rowid = fts.rowid
WHERE contexts_fts MATCH '인증'
ORDER BY rank
LIMIT 20;
"""
WITH_FILTERS = """
SELECT c.* FROM contexts c
JOIN contexts_fts fts ON c.rowid = fts.rowid
WHERE contexts_fts MATCH '인증 OR JWT OR 로그인'
  AND c.status = 'completed'
  AND c.created_at > date('now', '-30 days')
ORDER BY rank
LIMIT 20;
"""


def made(root: Path, tokenizer: str = "unicode61") -> SessionStore:
    return SessionStore(root, Config(tokenizer=tokenizer), Settings())


def saved(store: SessionStore, goal: str, **fields: str) -> None:
    store.save(Draft(goal=goal, **fields), agent="a", process=goal)  # type: ignore[arg-type]


def goals_of(path: Path, statement: str) -> list[str]:
    """What a stranger's connection finds."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    rows = connection.execute(statement).fetchall()
    connection.close()
    return [row["goal"] for row in rows]


@pytest.mark.row("003 T66")
def test_the_examples_of_the_specification_run_for_a_stranger(tmp_path: Path) -> None:
    store = made(tmp_path)
    saved(store, "로그인인증을 고친다", status="completed")
    saved(store, "인증 서버", status="coding")
    saved(store, "Refresh the JWT", status="completed")
    saved(store, "배포 순서", status="completed")
    assert sorted(goals_of(store.path, SPECIFIED)) == ["로그인인증을 고친다", "인증 서버"]
    assert sorted(goals_of(store.path, WITH_FILTERS)) == ["Refresh the JWT", "로그인인증을 고친다"]


ROWS = (
    ("결제를 취소", "결제", "결제가", "취소했습니다"),
    ("캐시무효화는 커밋 뒤에", "캐시 무효화", "캐시무효화를", "무효화"),
    ("결제API를 부른다", "결제 API", "api", "API를"),
    (unicodedata.normalize("NFD", "배포 순서"), "배포를", unicodedata.normalize("NFD", "순서")),
    ("set feeRate of utf8", "fee_rate", "fee rate", "FeeRate", "rates", "utf"),
    ("the retry_policy caches", "retryPolicy", "retries", "caching policies"),
    ("parseURL(“login”)", "url", "parse", "login", "PARSE_URL"),
    ("값을 반올림", "값", "반올림한다"),
    ("Ｗebhook ﬁles Café", "webhook", "files", "café"),
    ("an APIs CI job", "api", "CI"),
)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_no_form_of_a_word_hides_a_hit(tmp_path: Path, tokenizer: str) -> None:
    store = made(tmp_path, tokenizer)
    for goal, *_ in ROWS:
        saved(store, goal)
    known_gaps = {("trigram", "값")}  # one character is no word of three
    none_of(
        (query, goal)
        for number, (goal, *queries) in enumerate(ROWS, 1)
        for query in queries
        if (tokenizer, query) not in known_gaps
        and number
        not in {it.session.number for it in search(store, Criteria(query=query), limit=9).hits}
    )


def size_of(connection: sqlite3.Connection) -> int:
    """How many different words the index has."""
    connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('optimize')")
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS"
        " temp.words USING fts5vocab('main', 'contexts_fts', 'row')"
    )
    return int(connection.execute("SELECT count(*) FROM temp.words").fetchone()[0])


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_the_index_takes_back_what_it_was_given(tmp_path: Path, tokenizer: str) -> None:
    store = made(tmp_path, tokenizer)
    keep(store, sample_sessions(40))
    with store.writing() as connection:
        assert size_of(connection) > 100
        for number in range(1, 41):
            before = resolve(connection, str(number))
            other = sample_sessions(40, seed=number)[0][0]
            after = replace(other, number=number, id=before.id, parent_id="")
            update(connection, before, after)
            delete(connection, after)
        assert size_of(connection) == 0


@pytest.mark.row("003 T76")
def test_another_tokenizer_makes_the_index_anew_at_the_next_write(tmp_path: Path) -> None:
    keep(made(tmp_path), sample_sessions(30))
    with made(tmp_path).writing() as connection:
        plain = size_of(connection)
    for tokenizer in ("porter", "trigram", "ascii", "unicode61"):
        with made(tmp_path, tokenizer).writing() as connection:
            [sql] = connection.execute(
                "SELECT sql FROM sqlite_schema WHERE name = 'contexts_fts'"
            ).fetchone()
            assert f"tokenize='{tokenizer}'" in sql
            connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')")
            assert tokenizer != "unicode61" or size_of(connection) == plain


@pytest.mark.long  # it costs much
def test_another_version_of_the_index_makes_it_anew_in_the_same_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = made(tmp_path)
    keep(store, sample_sessions(700))
    statement = "SELECT count(*) FROM contexts_fts WHERE contexts_fts MATCH 'sign OR 로그인'"
    with store.writing() as connection:
        before = connection.execute(statement).fetchone()
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('delete-all')")
        connection.execute("UPDATE counters SET value = 0 WHERE name = 'index'")
    with pytest.raises(ValueError), store.writing() as connection:
        assert connection.execute(statement).fetchone() == before
        raise ValueError
    with store.database.reading() as connection:
        assert connection and connection.execute(statement).fetchone() == (0,)
    saved(store, "one more")
    with store.database.reading() as connection:
        assert connection and connection.execute(statement).fetchone() == before


def test_an_index_that_is_current_is_left_alone(tmp_path: Path) -> None:
    store = made(tmp_path)
    saved(store, "one")
    with store.writing() as connection:
        changes = connection.total_changes
        keep_index(connection, "unicode61")
        assert connection.total_changes == changes


MADE: tuple[tuple[str, str], ...] = (
    (
        "환율변환 웹훅을 재시도한다",
        "환율변환 | 환율 변환 | 환율변환을 | 웹훅이 | 웹훅 재시도했습니다 | 환율표",
    ),
    ("캐시를 언제 무효화하는가", "캐시무효화 | 캐시 무효화 | 무효화했다 | 캐시는 무효화"),
    ("반올림을 feeRate에 한다", "fee_rate | feeRate를 | fee rate 반올림 | 반올림은"),
    ("Reconcile the webhook_retries of OAuth2Client", "webhookRetries | reconciling | oauth2"),
    ("An idempotent migration of utf8mb4 columns", "migrations idempotent | utf8mb4"),
)


def others(count: int) -> Iterator[Session]:
    """So many sessions beside; their words are those of the samples, mixed."""
    chance = random.Random(5)
    samples = [session for session, _ in sample_sessions(200)]
    words = " ".join(f"{it.goal} {it.summary}" for it in samples).split()
    for number in range(1, count + 1):
        yield replace(
            samples[number % len(samples)],
            number=number,
            id=f"ctx_{number:012x}",
            parent_id="",
            summary=" ".join(chance.choices(words, k=20)),
        )


def store_of(root: Path, count: int) -> SessionStore:
    """The sessions that are looked for, in the midst of so many others."""
    store = open_sessions(root, Settings())
    at = [count * place // (len(MADE) + 1) for place in range(1, len(MADE) + 1)]
    with store.writing() as connection:
        for session in others(count):
            if session.number in at:
                goal, _ = MADE[at.index(session.number)]
                session = replace(session, goal=goal, approaches=(), blockers=(), decisions=())
            insert(connection, session)
    return store


@pytest.mark.row("003 T66")
@pytest.mark.parametrize(
    "count",
    [100, *(pytest.param(many, marks=pytest.mark.long) for many in (2_000, 10_000, 100_000))],
)
def test_a_session_is_found_by_every_form_of_its_words(tmp_path: Path, count: int) -> None:
    store = store_of(tmp_path, count)
    faults = list[tuple[str, str]]()
    for goal, queries in MADE:
        for query in queries.split(" | "):
            hits = search(store, Criteria(query=query), limit=5).hits
            if goal not in {hit.session.goal for hit in hits}:
                faults.append((query, goal))
        best, *_ = resembling(store, f"{goal}: 2", limit=3)
        if (best.session.goal, best.level) != (goal, "high"):
            faults.append((goal, best.session.goal))
    none_of(faults)


FLOORS = {"turns": 0.33, "observations": 0.75, "lessons": 0.91, "lessons among others": 0.71}


@pytest.mark.row("003 T37")
@pytest.mark.long
@pytest.mark.parametrize("name", FLOORS)
def test_the_sessions_that_answer_come_first(tmp_path: Path, name: str) -> None:
    labelled = labelled_sets()[name]
    store = open_sessions(tmp_path, Settings())
    with store.writing() as connection:
        for number, text in enumerate(labelled.texts, 1):
            goal, _, rest = text.partition("\n")
            insert(connection, Session(number=number, id=f"c{number}", goal=goal, summary=rest))
    with store.database.reading() as reading:
        assert reading

        def order(query: str, _: object) -> list[int]:
            found = Candidates(reading, query, least_share=0.0)
            return [number - 1 for number in found.page(0, len(labelled.texts))]

        measured = ndcg_at_10(order, labelled)
    print(f"nDCG@10, {name}: {measured:.3f}")
    assert measured >= FLOORS[name]
