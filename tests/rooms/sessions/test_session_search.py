"""Tests that sessions are found by words and by filters, in their order, page by page."""

import time
import unicodedata
from pathlib import Path

import pytest

from core.config import Settings
from rooms.sessions.search import Criteria, Page, resembling, search
from rooms.sessions.session import Draft, Session
from rooms.sessions.store import SessionStore, delete, insert, open_sessions
from tests.support.rows import none_of
from tests.support.session_samples import make_sample_store


def stored(root: Path, *goals: str, tags: tuple[str, ...] = ()) -> SessionStore:
    """A store of sessions with these goals, a day apart, the first one on 1 January."""
    store = open_sessions(root, Settings())
    with store.writing() as connection:
        for day, goal in enumerate(goals, 1):
            moment = f"2026-01-{day:02d}T10:00:00+00:00"
            insert(connection, session(day, goal, moment, tags=tags))
    return store


def session(number: int, goal: str, moment: str = "", **fields: object) -> Session:
    dates = {"started_at": moment, "created_at": moment, "updated_at": moment}
    told = {"number": number, "id": f"ctx_{number:012x}", "goal": goal, **dates, **fields}
    return Session(**told)  # type: ignore[arg-type]


def found(store: SessionStore, query: str = "", **criteria: object) -> list[int]:
    page = search(store, Criteria(query=query, **criteria), limit=20)  # type: ignore[arg-type]
    assert page.total == len(page.hits)
    return [hit.session.number for hit in page.hits]


def test_nothing_is_found_and_made_where_nothing_was_saved(tmp_path: Path) -> None:
    store = open_sessions(tmp_path, Settings())
    assert search(store, Criteria(), limit=5) == Page([], 0)
    assert search(store, Criteria(query="login"), limit=5) == Page([], 0)
    assert resembling(store, "login", limit=5) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.row("003 T35.a", "003 T37")
def test_the_session_with_most_of_the_question_comes_first_and_has_its_level(
    tmp_path: Path,
) -> None:
    goals = ("Fix the redirect loop", "Fix a typing error", "Write the redirect of old pages")
    store = stored(tmp_path, *goals, *("unrelated",) * 9)
    page = search(store, Criteria(query="redirect loop"), limit=5)
    assert [(hit.session.number, hit.level) for hit in page.hits] == [(1, "high"), (3, "medium")]


@pytest.mark.parametrize("query", ["the of and", "?!", "a", "zzqx", '"', "\0"])
def test_a_question_without_a_word_that_any_session_has_finds_nothing(
    tmp_path: Path, query: str
) -> None:
    store = stored(tmp_path, "Fix the redirect loop", "로그인 화면")
    assert search(store, Criteria(query=query), limit=5) == Page([], 0)


def test_a_pair_of_letters_is_no_hit(tmp_path: Path) -> None:
    store = stored(tmp_path, "로그인 화면", "블로그 글", "인기 상품", "주문")
    assert found(store, "로그인") == [1]
    assert found(store, "결제") == []


def test_a_word_that_no_session_has_hides_no_other(tmp_path: Path) -> None:
    store = stored(tmp_path, *("deploy the shop",) * 3, "other work")
    page = search(store, Criteria(query="deploy to kubernetes"), limit=5)
    assert [(hit.session.number, hit.level) for hit in page.hits] == [
        (3, "low"),
        (2, "low"),
        (1, "low"),
    ]
    assert {hit.level for hit in resembling(store, "deploy to kubernetes", limit=5)} == {"low"}
    assert resembling(store, "deploy to kubernetes by argo with helm", limit=5) == []


@pytest.mark.row("003 T36", "003 T38", "003 T39", "003 T40", "003 T41")
def test_filters_hold_together_and_with_words(tmp_path: Path) -> None:
    store = open_sessions(tmp_path, Settings())
    nfd = unicodedata.normalize("NFD", "인증")
    rows = [
        session(1, "login", "2026-01-01T00:00:00+00:00", tags=("Auth", "인증"), agent="a"),
        session(2, "login", "2026-01-02T23:59:59+00:00", tags=("auth",), status="paused"),
        session(3, "other", "2026-01-03T00:00:00+00:00", tags=("AUTH", nfd), agent="b"),
    ]
    with store.writing() as connection:
        for row in rows:
            insert(connection, row)
    assert found(store, tags=("AUTH",)) == [3, 2, 1]
    assert found(store, tags=("auth", nfd)) == [3, 1]
    assert found(store, "login", tags=("auth", "인증")) == [1]
    assert found(store, tags=("aut",)) == []
    assert found(store, tags=(" ",)) == [3, 2, 1]
    assert found(store, status="paused") == [2]
    assert found(store, "login", agent="b") == []
    assert found(store, since="2026-01-02") == [3, 2]
    assert found(store, until="2026-01-02") == [2, 1]
    assert found(store, since="2026-01-02T23:59:59Z", until="2026-01-02T23:59:59") == [2]
    assert found(store, since="2026-01-03T08:59:59+09:00", until="2026-01-02") == [2]
    assert found(store, since="9999-12-31") == found(store, until="0001-01-01") == []
    assert found(store, since="0001-01-01", until="9999-12-31") == [3, 2, 1]


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T43")
def test_pages_hold_every_hit_once_and_the_same_total(tmp_path: Path) -> None:
    store = make_sample_store(tmp_path, 200)
    for criteria in (
        Criteria(query="sign in"),
        Criteria(query="로그인 주문"),
        Criteria(),
        Criteria(query="sign in", status="completed"),
        Criteria(tags=("auth",)),
    ):
        first = search(store, criteria, limit=7)
        pages = [search(store, criteria, limit=7, offset=at) for at in range(0, first.total + 7, 7)]
        numbers = [hit.session.number for page in pages for hit in page.hits]
        assert {page.total for page in pages} == {first.total}
        assert len(numbers) == len(set(numbers)) == first.total > 7
        whole = [search(store, criteria, limit=20, offset=at) for at in range(0, first.total, 20)]
        assert [hit.session.number for page in whole for hit in page.hits] == numbers
    assert search(store, Criteria(), limit=5, offset=10**30).hits == []


def test_what_resembles_a_goal_leaves_out_a_whole_chain(tmp_path: Path) -> None:
    store = open_sessions(tmp_path, Settings())
    goal = "Fix the redirect loop after login"
    first = store.save(Draft(goal=goal), agent="a", process="1").session
    second = store.save(Draft(goal=f"{goal} 2", parent=first.id), agent="a", process="2").session
    third = store.save(Draft(goal=f"{goal} 3"), agent="a", process="3").session
    assert [it.session.id for it in resembling(store, goal, limit=9, but=second.id)] == [third.id]
    assert len(resembling(store, goal, limit=2, but="ctx_unknown")) == 2
    assert {it.level for it in resembling(store, goal, limit=9)} == {"high"}


# fmt: off
HOSTILE = [
    '"', "'", "*", "a*", "NEAR(a b, 3)", "AND", "OR", "NOT", "a AND", "(a", "a)", "a:b", "goal:a",
    "{a b}:c", "^a", "-a", "+", "a^2", "--", ";drop table contexts", "\0", "a\0b", "\ud800", "%",
    "_", "a" * 100_000, "a " * 50_000, "가" * 100_000, "가 " * 50_000, '"' * 100_000,
    "\u0301" * 100_000,
    "ﬁ", "İ", "ß", "①", "𐍈𐍈𐍈", "🙂", "é", "ｆｕｌｌ", "a_b-c_d" * 10_000,
]
# fmt: on


def ask_all(store: SessionStore, query: str) -> None:
    search(store, Criteria(query=query), limit=5)
    search(store, Criteria(query=query, tags=(query,), agent="a", status="x"), limit=5)
    resembling(store, query, limit=5)


@pytest.mark.row("003 T78")
@pytest.mark.long
def test_a_hostile_question_is_answered_in_time(tmp_path: Path) -> None:
    store = make_sample_store(tmp_path, 60)
    slow = list[str]()
    for query in HOSTILE:
        begun = time.thread_time()
        ask_all(store, query)
        if time.thread_time() - begun > 20:
            slow.append(query[:20])
    none_of(slow)


def test_a_session_of_hostile_texts_is_found_and_taken_back(tmp_path: Path) -> None:
    store = open_sessions(tmp_path, Settings())
    texts = [text[:400] for text in HOSTILE if "\ud800" not in text and text.strip()]
    with store.writing() as connection:
        kept = [insert(connection, session(0, text, id=f"c{at}")) for at, text in enumerate(texts)]
        for it in kept:
            delete(connection, it)
        rows = connection.execute("SELECT count(*) FROM contexts_fts_idx").fetchone()
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')")
    assert found(store) == [] and rows


def test_what_other_processes_write_is_seen_at_once(tmp_path: Path) -> None:
    ours, theirs = (open_sessions(tmp_path, Settings(threshold=it)) for it in (50, 60))
    assert ours is not theirs
    saved = theirs.save(Draft(goal="a redirect loop"), agent="a", process="p").session
    assert found(ours, "redirect") == [1]
    theirs.save(Draft(goal="a cookie", id=saved.id), agent="a", process="p")
    assert (found(ours, "redirect"), found(ours, "cookies")) == ([], [1])
    with theirs.writing() as connection:
        delete(connection, theirs.get("1"))
    assert found(ours, "cookie") == []


def test_a_replaced_file_is_searched(tmp_path: Path) -> None:
    store = stored(tmp_path / "one", "a redirect loop")
    other = stored(tmp_path / "two", "a cookie")
    assert found(store, "redirect") == [1]
    store.database.close()
    other.database.close()
    for name in ("", "-wal", "-shm"):
        Path(f"{store.path}{name}").unlink(missing_ok=True)
    other.path.replace(store.path)
    assert (found(store, "redirect"), found(store, "cookie")) == ([], [1])


@pytest.mark.long  # it costs much
def test_a_verb_is_found_in_all_its_forms(tmp_path: Path) -> None:
    """Whichever form was saved, and whichever is sought."""
    forms = {
        "고치": ("환불 계산 고치기", "고쳤다", "고친", "고침", "고쳐서", "고치려고"),
        "늘리": ("토큰 만료를 늘린다", "늘렸다", "늘려야", "늘리기"),
        "바꾸": ("설정을 바꾸다", "바꿨다", "바꿔서", "바꿈"),
        "끊기": ("연결이 끊긴다", "끊기는", "끊겼다"),
    }
    for name, words in forms.items():
        for number, saved in enumerate(words):
            store = stored(tmp_path / f"{name}{number}", saved, "결점을 찾는다", "우리 화면 정리")
            for sought in words:
                assert found(store, sought.split()[-1]) == [1], (saved, sought)
    assert found(store, "결정") == found(store, "우려") == []
