"""Tests the full-text index: what a stranger finds in it, and that it is kept in step."""

import sqlite3
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from core.settings import Settings
from rooms.sessions.config import TOKENIZERS, Config
from rooms.sessions.search import index
from rooms.sessions.search.found import Criteria
from rooms.sessions.search.searching import search
from rooms.sessions.session import Draft
from rooms.sessions.store import SessionStore, delete, resolve, update
from tests.support.rows import none_of
from tests.support.session_samples import keep, sample_sessions

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
        index.keep_current(connection, "unicode61")
        assert connection.total_changes == changes
